"""Checks a proposal against its session: deterministic, without a model.

Looks up the quotes. Other checks: names and numbers in `statement_facts.py`, already known in
`promotion/rows/known_facts.py`, the rest in `proof_checks.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from reviewer.extraction.flags import INJECTION, MASKED, flags_of
from reviewer.proposing.proof_checks import instruction_origin, later, why_not_alone
from reviewer.proposing.proof_index import ENDS, FoundQuote, ProofIndex, find_whole, normalised
from reviewer.proposing.statement_facts import unproved
from reviewer.proposing.values import Proof, Proposal, Quote, QuoteProof, SessionView
from reviewer.sources.records import Role
from reviewer.text.clip import clip

NEAR_LINES = 6
"""A quote is searched within this many view lines before and after the cited one."""


def prove(
    proposal: Proposal,
    view: SessionView | ProofIndex,
    *,
    known: Callable[[str], tuple[str, ...]],
) -> Proof:
    """Check a proposal against the lines of a session.

    `known` returns the places where a statement is already known. Pass a `ProofIndex` to prove many
    proposals of one session.
    """
    index = view if isinstance(view, ProofIndex) else ProofIndex(view)
    quotes: list[QuoteProof] = []
    found_quotes: list[FoundQuote] = []
    for quote in proposal.quotes:
        found = _find(quote, index)
        if found is not None:
            found_quotes.append(found)
        line = quote.line if found is None else index.lines[found.position].line
        quotes.append(QuoteProof(line, quote.text, found=found is not None))
    cited_at = sorted({found.position for found in found_quotes})
    statement = proposal.statement
    texts = (statement, *(quote.text for quote in proposal.quotes))
    masked = any(MASKED in flags_of(text, Role.USER) for text in texts)
    origin = instruction_origin(proposal, [index.lines[position] for position in cited_at])
    return Proof(
        quotes=tuple(quotes),
        unproved=unproved(statement, found_quotes, index),
        not_alone_because=why_not_alone(statement),
        known=known(statement),
        later=later(statement, cited_at, index),
        flags=tuple(flag for flag, is_so in ((MASKED, masked), (INJECTION, origin)) if is_so),
        origin=origin,
        replaces=proposal.replaces,
    )


def reasons(proof: Proof) -> tuple[str, ...]:
    """The objections to a proposal, one sentence each."""
    found = [
        f"Line {quote.line} does not have the words {_shown(quote.text)}."
        for quote in proof.quotes
        if not quote.found
    ]
    if not proof.quotes:
        found.append("No line is quoted.")
    if proof.unproved:
        named = ", ".join(_shown(fact) for fact in proof.unproved)
        found.append(f"Not in the session, or a number far from the quotes: {named}.")
    if proof.not_alone_because:
        found.append(f"The statement does not stand alone: {proof.not_alone_because}.")
    if proof.known:
        found.append(f"It is known already: {', '.join(proof.known)}.")
    if INJECTION in proof.flags:
        found.append(
            f"It is an instruction that came from a tool, not from a person: {proof.origin}."
        )
    return tuple(found)


def _shown(text: str) -> str:
    return f'"{clip(text, 80)}"'


def _find(quote: Quote, index: ProofIndex) -> FoundQuote | None:
    """Where a quote occurs: in the cited line, or else in the nearest line around it."""
    wanted = normalised(quote.text).strip(ENDS)
    if not any(map(str.isalnum, wanted)):
        return None
    here = index.positions(quote.line)
    exact = quote.text.strip()
    middle = here[0] if here else index.first_at_or_after(quote.line)
    near = range(max(0, middle - NEAR_LINES), min(len(index.lines), middle + NEAR_LINES + 1))
    for position in (
        *(position for position in here if exact in index.lines[position].text),
        *here,
        *sorted(near, key=lambda position: abs(position - middle)),
    ):
        start = find_whole(index.normalised_at(position), wanted)
        if start >= 0:
            return FoundQuote(position, start, start + len(wanted))
    return None
