"""The parts of a statement that cannot be reworded, and whether the session has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from reviewer.proposing.proof_index import ENDS, FoundQuote, ProofIndex, has, normalised
from reviewer.text.identifiers import Identifier, IdentifierKind, identifiers
from reviewer.text.wording import NUMBER_WORDS, UNITS

AROUND = 3_000
"""Characters on either side of a quote in which the statement's identifiers may occur: nearly
always the whole entry, as the reader is told; in a long paste everything occurs somewhere."""
NEIGHBOURS = 2
"""Entries before and after the cited one that count as well."""


class StatementFact(Struct, frozen=True):
    """A part of a statement that cannot be reworded; `kind` is None for quoted words."""

    text: str
    kind: IdentifierKind | None
    start: int = 0


_QUOTED = re.compile(
    r"\"(?P<double>[^\"\n]{1,160})\"|“(?P<curly>[^”\n]{1,160})”"
    r"|(?<!\w)'(?P<single>(?=\S)[^'\n]{1,160}(?<=\S))'(?!\w)"
)
_EITHER_OR = re.compile(r"[A-Z][A-Za-z]*/[A-Z][A-Za-z]*$")
"""Words with a slash between them, as in "editor/LSP": prose rather than a path."""
_COUNTED = re.compile(
    rf"\b(?:{'|'.join(NUMBER_WORDS)})[ -](?:{'|'.join(unit for unit in UNITS if len(unit) > 3)})\b",
    re.IGNORECASE,
)


def _facts(text: str) -> Iterator[StatementFact]:
    """Identifiers, paths, numbers, flags, versions and quoted words, in order."""
    found: list[tuple[int, int, StatementFact]] = []
    for match in _QUOTED.finditer(text):
        quoted = str(match[str(match.lastgroup)])
        found.append((*match.span(), StatementFact(quoted, None, match.start())))
    found += [
        (one.start, one.end, StatementFact(one.text.rstrip(".:!?"), one.kind, one.start))
        for one in identifiers(text)
        if not (one.kind is IdentifierKind.PATH and _EITHER_OR.match(one.text))
    ]
    for match in _COUNTED.finditer(text):
        found.append(
            (*match.span(), StatementFact(match[0], IdentifierKind.QUANTITY, match.start()))
        )
    end = 0
    for start, stop, fact in sorted(found, key=lambda item: (item[0], -item[1])):
        if start >= end:
            end = stop
            yield fact


def unproved(statement: str, quotes: Sequence[FoundQuote], index: ProofIndex) -> tuple[str, ...]:
    """The facts of a statement that the session does not have: names nowhere, numbers neither in
    its quotes nor around them, because a number occurs somewhere by chance.
    """
    statement = _GROUPED.sub(",", statement)
    facts = list(_facts(statement))
    if not quotes:
        return tuple(dict.fromkeys(fact.text for fact in facts))
    around = EvidenceTexts(index.around(quotes, AROUND, NEIGHBOURS))

    def proved(fact: StatementFact) -> bool:
        is_name = fact.kind is not IdentifierKind.QUANTITY
        return around.has(fact) or (is_name and index.has(fact.text))

    return tuple(dict.fromkeys(fact.text for fact in facts if not proved(fact)))


_GROUPED = re.compile(r"(?<=\d)[ \u00a0\u202f_'](?=\d{3}\b)")
"""What stands between groups of three digits, besides a comma."""
_NUMBER = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)*|(?<!\d)\.\d+|"
    rf"\b(?:{'|'.join(NUMBER_WORDS)})\b"
)
_VALUE = re.compile(
    rf"(?<![\w.])[$€£#]?(?P<number>{_NUMBER})[ -]?(?P<times>k\b|million\b|thousand\b)?"
    r"[ -]?(?P<unit>%|[^\W\d_]+)?",
    re.IGNORECASE,
)
_TIMES = {"k": 1_000, "thousand": 1_000, "million": 1_000_000}
_BASE = {
    "ms": ("s", 1e-3), "s": ("s", 1), "min": ("s", 60), "h": ("s", 3_600), "day": ("s", 86_400),
    "week": ("s", 604_800), "byte": ("byte", 1), "kb": ("byte", 1e3), "mb": ("byte", 1e6),
    "gb": ("byte", 1e9), "tb": ("byte", 1e12),
}  # fmt: skip
"""Units of one measure in terms of one of them."""
_PART = re.compile(r"\w+")
_PLACEHOLDER = re.compile(r"<[\w -]{1,40}>|\[[\w -]{1,40}\]|\{[\w -]{1,40}\}")
"""`<file>` in a command, which stands for anything."""


class Measurement(Struct, frozen=True):
    """A number in digits with its unit of measure, and its size in the base unit."""

    digits: str
    unit: str = ""
    base: float = 0.0

    def is_like(self, other: Measurement) -> bool:
        """Whether both are the same size, also in another unit; a part of a version is its own."""
        if self.unit and other.unit:
            return self.unit == other.unit and self.base == other.base
        return self.digits == other.digits or (
            "." in self.digits and other.digits.startswith(self.digits + ".")
        )


MOST_DIGITS = 18


class EvidenceTexts:
    """The texts in which the facts of a statement are looked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.text = "\n".join(texts)
        self.lower = self.text.lower()

    def has(self, fact: StatementFact) -> bool:
        match fact.kind:
            case None:
                return self._words(fact.text)
            case IdentifierKind.QUANTITY:
                return self._quantity(fact.text)
            case IdentifierKind.ISSUE:
                number = fact.text.rpartition("#")[2]
                return has(self.lower, number.lower())
            case IdentifierKind.VERSION:
                return has(self.lower, fact.text.lower().removeprefix("v")) or has(
                    self.lower, fact.text.lower()
                )
            case IdentifierKind.FLAG:
                return all(has(self.text, part) for part in fact.text.split("=", 1))
            case IdentifierKind.VARIABLE:
                return has(self.text, fact.text.strip("${}"))
            case IdentifierKind.HASH:
                return fact.text[:7] in self.lower
            case IdentifierKind.PATH:
                return self._path(fact.text)
            case IdentifierKind.CODE:
                return self._code(fact.text)
            case _:
                return self._name(fact.text)

    def _words(self, quoted: str) -> bool:
        wanted = normalised(quoted).strip(ENDS).lower()
        return not wanted or has(self.lower, wanted) or self._code(quoted)

    def _quantity(self, text: str) -> bool:
        asked = _size(text)
        if not asked.digits:
            return has(self.lower, text.lower())
        return any(asked.is_like(other) for other in self.sizes)

    @cached_property
    def sizes(self) -> set[Measurement]:
        """The numbers with their units of measure."""
        return {_measured(match) for match in _VALUE.finditer(_GROUPED.sub(",", self.text))}

    def _path(self, text: str) -> bool:
        path = re.sub(r":\d+$", "", text).strip("/").removeprefix("./").lower()
        if has(self.lower, path):
            return True
        folder, _, name = path.rpartition("/")
        stem = name.rpartition(".")[0]
        if folder:  # the name here, and its folders too
            parts = [*folder.split("/"), name]
            return all(has(self.lower, part) for part in parts if part not in ("", "~", "..", "*"))
        written = text.rpartition(".")[0]
        return (
            bool(stem) and not (written.isalpha() and written.islower()) and has(self.lower, stem)
        )

    def _name(self, text: str) -> bool:
        name = text.lower().removesuffix("()")
        if self._one(name):
            return True
        parts = [part for part in re.split(r"\.|::|->", name) if part]
        return len(parts) > 1 and all(self._one(part) for part in parts)

    def _one(self, name: str) -> bool:
        singular = name.removesuffix("s")
        return any(has(self.lower, one) for one in (name, singular, f"{singular}s") if one)

    def _code(self, text: str) -> bool:
        wanted = _PLACEHOLDER.sub(" ", normalised(text).lower()).removesuffix("()").strip()
        text = _PLACEHOLDER.sub(" ", text)
        if not wanted or self._one(wanted):
            return True
        if wanted.startswith("…") or wanted.endswith("…"):  # a part of several names
            return wanted.strip("… ") in self.lower
        inner = [one for one in identifiers(text) if one.kind is not IdentifierKind.CODE]
        covered = _without(text, inner)
        return all(self.has(StatementFact(one.text, one.kind)) for one in inner) and all(
            self._one(part.lower()) for part in _PART.findall(covered)
        )


def _size(quantity: str) -> Measurement:
    """The number of a quantity; without digits if it has none."""
    found = _VALUE.search(quantity)
    return _measured(found) if found else Measurement("")


def _without(text: str, found: Sequence[Identifier]) -> str:
    for one in reversed(found):
        text = text[: one.start] + " " + text[one.end :]
    return text


def _measured(match: re.Match[str]) -> Measurement:
    """A number in digits, and its unit in one spelling; empty where it counts things."""
    word = match["number"].lower()
    number = NUMBER_WORDS.get(word, word)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number):
        number = number.replace(",", "")
    elif re.fullmatch(r"\d+,\d+", number):
        number = number.replace(",", ".")
    if not number.replace(".", "", 1).isdecimal() or len(number) > MOST_DIGITS:
        return Measurement(number)
    value = float(number) * _TIMES.get((match["times"] or "").lower(), 1)
    unit = UNITS.get((match["unit"] or "").lower(), "")
    base, factor = _BASE.get(unit, (unit, 1))
    return Measurement(f"{value:.10g}", base, round(value * factor, 9))
