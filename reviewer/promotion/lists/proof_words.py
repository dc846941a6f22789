"""The proof of a statement in words."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from reviewer.extraction.flags import INJECTION
from reviewer.proposing.proof_checks import why_not_alone
from reviewer.proposing.statement_facts import added, is_number
from reviewer.proposing.values import Proof
from reviewer.text.clip import clip
from reviewer.text.numerals import count, some_of


class Tick(Struct, frozen=True):
    """A check: whether it is met, and its result."""

    met: bool
    text: str


def ticks(proof: Proof, content: str, earlier: Sequence[str] = ()) -> list[Tick]:
    """The flaws of a proof, a line each; else one line. Lines are counted from 0, as in a view.

    `earlier`: the wordings before this one, newest first; the proof is of the oldest.
    """
    new: tuple[str, ...] = ()
    if earlier:
        new = added(content, (earlier[-1], *(quote.text for quote in proof.quotes)))
        unproved = tuple(each for each in proof.unproved if each in content)
        alone = why_not_alone(content)
        proof = structs.replace(proof, unproved=unproved, not_alone_because=alone)
    missing = [quote.text for quote in proof.quotes if not quote.found]
    names = [each for each in proof.unproved if not is_number(each)]
    numbers = [each for each in proof.unproved if is_number(each)]
    lacking = [
        (missing, f"not in the session: {some_of([_quoted(text) for text in missing])}"),
        (names, f"not in the session: {some_of(names)}"),
        (numbers, f"not near a quote: {some_of(numbers)}"),
        (new, f"the new wording adds {some_of(new)}"),
        (proof.not_alone_because, f"not self-contained: {proof.not_alone_because}"),
        (proof.known, f"known already: {some_of(proof.known)}"),
        (proof.replaces, f"replaces #{proof.replaces}: decide on both"),
        (
            INJECTION in proof.flags,
            f"an instruction{f' from {proof.origin}' if proof.origin else ''}, not from the person",
        ),
    ]
    found = [Tick(False, words) for lacks, words in lacking if lacks]
    if not found:
        quotes = count(len(proof.quotes), "quote")
        found = [Tick(True, f"{quotes}, names and numbers found; meaning not checked")]
    if proof.later:
        lines = [f"{_quoted(quote.text)} at line {quote.line}" for quote in proof.later]
        found.append(Tick(True, f"named again later: {some_of(lines)}"))
    return found


def _quoted(text: str) -> str:
    return f'"{clip(text, 80)}"'
