"""The parts of a statement that cannot be paraphrased, and whether the session contains them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from reviewer.proposing.proof_index import ENDS, FoundQuote, ProofIndex, has, normalised
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.normalise import UNSPACED
from reviewer.text.stop_words import SPEECH_STOP_WORDS
from reviewer.text.wording import NUMBER_WORDS, UNITS

AROUND = 3_000
"""Characters on each side of a quote in which the statement's identifiers may occur: nearly
always the whole entry, as the prompt says. In a long paste, everything occurs somewhere."""
NEIGHBOURS = 2
"""Entries before and after the cited one to include."""

_QUOTED = re.compile(
    r"\"(?P<double>[^\"\n]{1,160})\"|“(?P<curly>[^”\n]{1,160})”"
    r"|(?<!\w)'(?P<single>(?=\S)[^'\n]{1,160}(?<=\S))'(?!\w)"
)
_EITHER_OR = re.compile(r"[A-Z][A-Za-z]*/[A-Z][A-Za-z]*$")
_PLACEHOLDER = re.compile(r"<[\w -]{1,40}>|\[[\w -]{1,40}\]|\{[\w -]{1,40}\}")
"""A placeholder such as `<file>` in a command or message."""
_PART = re.compile(r"\w[\w-]*")
_GROUPED = re.compile(r"(?<=\d)[ ,\u00a0\u202f_'](?=\d{3}\b)")
"""Thousands separator."""
_AMOUNT = re.compile(
    rf"(?<![\w.])[$€£#]?(?P<number>\d+(?:[.,]\d+)*|\b(?:{'|'.join(NUMBER_WORDS)})\b)"
    r"[ -]?(?P<unit>%|[^\W\d_]+)?",
    re.IGNORECASE,
)


class StatementFact(Struct, frozen=True):
    """A part of a statement that cannot be paraphrased; `kind` is None for quoted words."""

    text: str
    kind: IdentifierKind | None


def unproved(statement: str, quotes: Sequence[FoundQuote], index: ProofIndex) -> tuple[str, ...]:
    """The facts of a statement that the session lacks: names must occur anywhere, numbers in or
    around the quotes, because any number occurs somewhere by chance.
    """
    around = "\n".join(index.around(quotes, AROUND, NEIGHBOURS)).lower()
    amounts = set(_amounts(around))
    missing = (
        fact.text
        for fact in _facts(_GROUPED.sub("", statement))
        if not quotes or not _is_proved(fact, around, amounts, index.has)
    )
    return tuple(dict.fromkeys(missing))


def added(wording: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The words of a wording that none of the texts has, without function words."""
    around = normalised("\n".join(texts)).lower()
    words = (normalised(word).strip(f"{ENDS}()") for word in wording.split())
    new = (each for each in words if each and each.lower() not in SPEECH_STOP_WORDS)
    return tuple(dict.fromkeys(each for each in new if not has(around, each.lower())))


def is_number(fact: str) -> bool:
    """Whether a fact of a statement is a number, with or without a unit."""
    return any(each.kind is IdentifierKind.QUANTITY for each in _facts(fact))


def _facts(text: str) -> Iterator[StatementFact]:
    """Identifiers, paths, numbers, flags, versions and quoted words, in order."""
    found: list[tuple[int, int, StatementFact]] = []
    for match in _QUOTED.finditer(text):
        quoted = str(match[str(match.lastgroup)])
        found.append((match.start(), -match.end(), StatementFact(quoted, None)))
    for one in identifiers(text):
        if not (one.kind is IdentifierKind.PATH and _is_prose(one.text)):
            fact = StatementFact(one.text.rstrip(".:!?"), one.kind)
            found.append((one.start, -one.end, fact))
    end = 0
    for start, stop, fact in sorted(found, key=lambda item: item[:2]):
        if start >= end:
            end = -stop
            yield fact


def _is_prose(path: str) -> bool:
    """Whether words joined by a slash are prose, not a path: "editor/LSP", or words of a script
    without blanks.
    """
    return bool(_EITHER_OR.match(path) or (UNSPACED.search(path) and "." not in path))


def _is_proved(
    fact: StatementFact,
    around: str,
    amounts: set[tuple[str, str]],
    occurs: Callable[[str], bool],
) -> bool:
    """Whether a fact occurs around the quotes, whole or in all its parts; of a name, also whether
    it `occurs` elsewhere.
    """
    if fact.kind is IdentifierKind.QUANTITY:
        asked = list(_amounts(fact.text.lower()))
        return all(
            any(number == other and (not unit or not its or unit == its) for other, its in amounts)
            for number, unit in asked
        )
    wanted = normalised(fact.text).strip(ENDS).lower()
    if not wanted or has(around, wanted) or occurs(fact.text):
        return True
    if fact.kind is IdentifierKind.HASH:
        return wanted[:7] in around
    if fact.kind is IdentifierKind.URL:
        return False
    if fact.kind is None:
        pieces = (piece.strip(f"{ENDS} ") for piece in _PLACEHOLDER.split(wanted))
        return all(has(around, piece) for piece in pieces if piece)
    if fact.kind is IdentifierKind.VERSION:
        return has(around, wanted.removeprefix("v"))
    parts = _PART.findall(_PLACEHOLDER.sub(" ", wanted))
    return all(has(around, part) or has(around, part.removesuffix("s")) for part in parts)


def _amounts(text: str) -> Iterator[tuple[str, str]]:
    """The numbers of a text, normalised and in lower case, each with its unit if known."""
    for match in _AMOUNT.finditer(_GROUPED.sub("", text)):
        number = NUMBER_WORDS.get(match["number"], match["number"])
        yield number.replace(",", "."), UNITS.get(match["unit"] or "", "")
