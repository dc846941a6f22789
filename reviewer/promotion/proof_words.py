"""The proof of a statement in words: one tick for each thing that was checked."""

from __future__ import annotations

from msgspec import Struct

from reviewer.extraction.flags import INJECTION
from reviewer.proposing.values import Proof

SHOWN = 5
"""Names, places and lines that one tick lists."""


class Tick(Struct, frozen=True):
    """One check: whether it is met, and what it found."""

    met: bool
    text: str


def ticks(proof: Proof) -> list[Tick]:
    """Every check of a proof, in a fixed order; lines are counted from 0, as a view counts them."""
    missing = [quote for quote in proof.quotes if not quote.found]
    count = "1 quote" if len(proof.quotes) == 1 else f"{len(proof.quotes)} quotes"
    found = [
        Tick(
            not missing,
            f"{count} found in the session"
            if not missing
            else f"not in the session: {_listed([_quoted(quote.text) for quote in missing])}",
        ),
        Tick(
            not proof.unproved,
            f"names not in the session, numbers not near a quote: {_listed(proof.unproved)}"
            if proof.unproved
            else "every name is in the session, every number near a quote",
        ),
        Tick(
            not proof.not_alone_because,
            f"does not stand alone: {proof.not_alone_because}"
            if proof.not_alone_because
            else "stands alone",
        ),
        Tick(
            not proof.known,
            f"known already: {_listed(proof.known)}" if proof.known else "not known yet",
        ),
        Tick(
            True,  # a later mention is no objection
            "named again later: "
            + _listed([f"line {quote.line} {_quoted(quote.text)}" for quote in proof.later])
            if proof.later
            else "not named again later",
        ),
    ]
    if proof.replaces:
        found.append(Tick(False, f"replaces #{proof.replaces}: decide on both"))
    if INJECTION in proof.flags:
        origin = f" from {proof.origin}" if proof.origin else ""
        found.append(Tick(False, f"an instruction{origin}, not from the person"))
    return found


def _quoted(text: str) -> str:
    one_line = " ".join(text.split())
    return f'"{one_line[:77]}..."' if len(one_line) > 80 else f'"{one_line}"'


def _listed(parts: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return ", ".join(parts[:SHOWN]) + more
