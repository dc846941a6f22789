"""The figures of a candidate in words."""

from __future__ import annotations

from reviewer.extraction.candidates import PRIORS
from reviewer.promotion.views import CandidateView
from reviewer.proposing.values import Proposer
from reviewer.text.numerals import count, times

_READERS: dict[str, str] = {
    Proposer.FINDING: "finding",
    Proposer.MODEL: "reader",
    Proposer.COMMAND: "reader",
    Proposer.MCP: "agent",
    Proposer.MEMORY: "memory",
}
_RULES = {prior: str(rule) for rule, prior in PRIORS.items()}


def factors(view: CandidateView) -> tuple[tuple[float, str], ...]:
    """The factors of its confidence that change it; none if it was written by hand."""
    if view.hand_authored:
        return ()
    prior = _READERS.get(view.proposer) or _RULES.get(view.prior, "rule")
    others = (view.signal, "path"), (view.freshness, "fresh")
    return (view.prior, prior), *(each for each in others if round(each[0], 2) != 1)


def author(view: CandidateView) -> str:
    """Who proposed it: a person, the reader, or a rule with its version."""
    if view.hand_authored or view.proposer == Proposer.PERSON:
        return "by hand"
    if _READERS.get(view.proposer) == "reader":
        return "proposed by the reader"
    return f"by {view.rule} {view.extractor_version}"


def came_up(view: CandidateView) -> list[str]:
    """How often it was found, and the cost of not knowing it."""
    parts = [] if view.came_up <= view.sessions > 1 else [times(view.came_up)]
    if view.sessions:
        of_whom = f" of {count(view.authors, 'person', 'people')}" if view.authors else ""
        parts.append(count(view.sessions, "session") + of_whom)
    if view.cost:
        parts.append(count(view.cost, "wasted call"))
    if view.refs:
        parts.append(count(view.refs, "later mention"))
    return parts
