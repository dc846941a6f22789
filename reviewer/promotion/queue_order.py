"""The order of the queue, and the confidence, quality and flags of statements: `docs/design.md`,
Promotion.
"""

from __future__ import annotations

from collections.abc import Collection

from reviewer.proposing.answers import WISHES
from reviewer.proposing.values import Proof, Proposal, Proposer
from reviewer.sources.events import Speaker

MAX_SESSIONS = 99
MAX_COST = 999
CONFLICT = 4.0
"""Rank of contradictions, above every candidate."""
OWN_WORDS = 3.0
"""The rank from which rows are the person's own words."""
RECURS = 2.0
"""The rank from which rows come from several sessions."""
OF_FLEET = 0.8085
"""Rank of a fleet's most frequent statements: the highest confidence that the formula can give."""
BY_HAND = 1.0
"""Rank of a row that no rule and no reader proposed."""
RETIREMENT = 0.5
"""Rank of a proposal to retire a memory."""
SUNK = 0.0
"""Rank of an old failure of a service."""


def rank(*, own_words: bool, sessions: int, cost: int, quality: float) -> float:
    """The place of a row, the higher the earlier. `quality`, from 0 to 1, decides between equals.

    First the person's own words, then rows from several sessions, both by sessions and then calls
    lost; then rows that cost calls; then the rest.
    """
    dear = min(cost, MAX_COST) / 1_000 + quality * 0.0009
    if own_words or sessions > 1:
        first = OWN_WORDS if own_words else RECURS
        return round(first + min(sessions, MAX_SESSIONS) / 100 + dear / 100, 8)
    return round(1 + dear if cost else quality, 8)


PRIORS: dict[Proposer, float] = {
    Proposer.PERSON: 0.85,
    Proposer.MODEL: 0.7,
    Proposer.COMMAND: 0.7,
    Proposer.MEMORY: 0.6,
    Proposer.NOTES: 0.6,
    Proposer.PROGRAM: 0.6,
    Proposer.MCP: 0.55,
    Proposer.EXCERPT: 0.5,
}
"""Prior confidence of a proposer that states none of its own."""

MOST = 0.85
"""The highest confidence that a proposer may state: a model is never sure enough to be believed,
and the formula cannot exceed 1.
"""

EVEN = 0.5
"""At or above this confidence, a proposer expects its statement to be kept."""

NEEDS: dict[str, float] = {
    "instruction": 1.0,
    "preference": 0.95,
    "trap": 0.9,
    "decision": 0.85,
    "convention": 0.8,
    "environment": 0.75,
    "architecture": 0.7,
}
"""How much a maintainer needs a kind of statement; OTHER for the rest."""
OTHER = 0.65
MEANT_FOR_ONCE = "once"
"""The flag of a wish that was meant for one occasion."""
OF_AGENT = 0.85
"""Factor on a wish that is not in the person's own words."""

KNOWN, DOUBTED, SAID_LATER, PLANTED, ONCE = 0.3, 0.5, 0.9, 0.3, 0.3
"""Factors for statements that are already known, not fully proved, repeated later in the session,
worded like an order planted in data, or meant for one occasion.
"""


def prior(proposal: Proposal) -> float:
    """The confidence that a proposer states, bounded, or else the prior of its class."""
    if proposal.confidence is None:
        return PRIORS[proposal.proposer]
    return min(proposal.confidence, MOST)


def doubt(prior: float, flags: Collection[str]) -> str:
    """Why the proposer of a row doubts it, in words; empty if it does not. Such a row is deferred
    until it comes up again.
    """
    if MEANT_FOR_ONCE in flags:
        return "meant for once"
    return f"its proposer gives it {prior:.0%}" if prior < EVEN else ""


def is_own(proposal: Proposal) -> bool:
    """Whether it is in the person's words and meant to last."""
    if proposal.proposer is Proposer.PERSON:
        return True
    return proposal.speaker is Speaker.PERSON and proposal.standing


def quality(proposal: Proposal, proof: Proof, confidence: float, novelty: float) -> float:
    """The quality of a statement, 0 to 1: confidence x need x novelty, reduced for gaps in its
    proof.
    """
    need = NEEDS.get(proposal.kind, OTHER)
    if proposal.kind in WISHES and not is_own(proposal):
        need *= OF_AGENT
    figure = confidence * need * novelty
    if proof.known:
        figure *= KNOWN
    if not proof.sound:
        figure *= DOUBTED
    if _may_be_taken_back(proposal, proof):
        figure *= SAID_LATER
    if not proposal.standing:
        figure *= ONCE
    if "injection" in proof.flags:
        figure *= PLANTED
    return figure


def flags(proposal: Proposal, proof: Proof) -> tuple[str, ...]:
    """The flags by which a row shows its proof: `unproved`, `not-alone`, `known`, `taken-back`,
    `replaces`, `once` for an order meant for one occasion, and the proof's own flags.
    """
    found = set(proof.flags)
    found.update(
        flag
        for flag, raised in (
            ("unproved", bool(proof.unproved) or not all(each.found for each in proof.quotes)),
            ("not-alone", bool(proof.not_alone_because)),
            ("known", bool(proof.known)),
            ("taken-back", _may_be_taken_back(proposal, proof)),
            ("replaces", bool(proof.replaces)),
            (MEANT_FOR_ONCE, not proposal.standing),
        )
        if raised
    )
    return tuple(sorted(found))


def _may_be_taken_back(proposal: Proposal, proof: Proof) -> bool:
    """Whether later lines on the subject may retract it and the proposer did not see them; a reader
    of the whole session saw them, and is asked again if it read only a part.
    """
    return bool(proof.later) and proposal.proposer not in (Proposer.MODEL, Proposer.COMMAND)
