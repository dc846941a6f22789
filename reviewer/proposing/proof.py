"""Checks a proposal against the session that it was made from: deterministic, no model."""

from __future__ import annotations

from collections.abc import Callable

from reviewer.proposing.values import Proof, Proposal, QuoteProof, SessionView
from reviewer.text.identifiers import identifiers


class ProofIndex:
    """A session view, prepared once for the proofs of many proposals."""

    def __init__(self, view: SessionView) -> None:
        self.view = view


def prove(
    proposal: Proposal,
    view: SessionView | ProofIndex,
    *,
    known: Callable[[str], tuple[str, ...]],
) -> Proof:
    """What the lines of a session say about a proposal.

    `known` gives the places where a statement is known already. Pass a `ProofIndex` to prove many
    proposals of one session.
    """
    index = view if isinstance(view, ProofIndex) else ProofIndex(view)
    texts = {line.line: line.text for line in index.view.lines}
    quotes = tuple(
        QuoteProof(quote.line, quote.text, quote.text in texts.get(quote.line, ""))
        for quote in proposal.quotes
    )
    return Proof(
        quotes=quotes,
        alone=why_not_alone(proposal.statement),
        known=known(proposal.statement),
    )


def why_not_alone(statement: str) -> str:
    """Why a statement cannot be understood without its surroundings; empty if it can."""
    return "ends as a question" if statement.rstrip().endswith("?") else ""


def facts_in(text: str) -> tuple[str, ...]:
    """Identifiers, paths, numbers, flags, versions and quoted words, in order, each once."""
    return tuple(dict.fromkeys(found.text for found in identifiers(text)))


def reasons(proof: Proof) -> tuple[str, ...]:
    """What keeps a proposal from being sound, a sentence each, for a second try or a reader."""
    return (proof.alone,) if proof.alone else ()
