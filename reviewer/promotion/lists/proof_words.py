"""The proof of a statement in words."""

from __future__ import annotations

from msgspec import Struct

from reviewer.extraction.flags import INJECTION
from reviewer.proposing.values import Proof
from reviewer.text.numerals import count

SHOWN = 5
"""Names, places and lines listed in one tick."""


class Tick(Struct, frozen=True):
    """A check: whether it is met, and its result."""

    met: bool
    text: str


def ticks(proof: Proof) -> list[Tick]:
    """The flaws of a proof, a line each; else one line. Lines are counted from 0, as in a view."""
    missing = [quote.text for quote in proof.quotes if not quote.found]
    lacking = [
        (missing, "not in the session: " + _listed([_quoted(text) for text in missing])),
        (
            proof.unproved,
            f"names not in the session, numbers not near a quote: {_listed(proof.unproved)}",
        ),
        (proof.not_alone_because, f"not self-contained: {proof.not_alone_because}"),
        (proof.known, f"known already: {_listed(proof.known)}"),
        (proof.replaces, f"replaces #{proof.replaces}: decide on both"),
        (
            INJECTION in proof.flags,
            f"an instruction{f' from {proof.origin}' if proof.origin else ''}, not from the person",
        ),
    ]
    found = [Tick(False, words) for lacks, words in lacking if lacks]
    if not found:
        quotes = count(len(proof.quotes), "quote")
        found = [Tick(True, f"{quotes}, every name and number found")]
    if proof.later:
        lines = [f"line {quote.line} {_quoted(quote.text)}" for quote in proof.later]
        found.append(Tick(True, f"named again later: {_listed(lines)}"))
    return found


def _quoted(text: str) -> str:
    one_line = " ".join(text.split())
    return f'"{one_line[:77]}..."' if len(one_line) > 80 else f'"{one_line}"'


def _listed(parts: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return ", ".join(parts[:SHOWN]) + more
