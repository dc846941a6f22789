"""The parts of a statement that cannot be reworded, and whether the session has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from reviewer.proposing.proof_index import ENDS, FoundQuote, ProofIndex, has, normalised
from reviewer.text.identifiers import Identifier, IdentifierKind, identifiers
from reviewer.text.wording import NUMBER_WORDS, UNITS, content_words

AROUND = 300
"""Characters on either side of a quote in which the statement's identifiers may occur. In a long
message nearly every identifier of a session occurs somewhere."""
AROUND_NUMBERS = 80
"""The same for numbers, which occur everywhere by chance."""
NEIGHBOUR_LINES = 2
"""View lines before and after the cited one that count as well."""


class Fact(Struct, frozen=True):
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


def _facts(text: str) -> Iterator[Fact]:
    """Identifiers, paths, numbers, flags, versions and quoted words, in order."""
    found: list[tuple[int, int, Fact]] = []
    for match in _QUOTED.finditer(text):
        quoted = str(match[str(match.lastgroup)])
        found.append((*match.span(), Fact(quoted, None, match.start())))
    found += [
        (one.start, one.end, Fact(one.text.rstrip(".:!?"), one.kind, one.start))
        for one in identifiers(text)
        if not (one.kind is IdentifierKind.PATH and _EITHER_OR.match(one.text))
    ]
    for match in _COUNTED.finditer(text):
        found.append((*match.span(), Fact(match[0], IdentifierKind.QUANTITY, match.start())))
    end = 0
    for start, stop, fact in sorted(found, key=lambda item: (item[0], -item[1])):
        if start >= end:
            end = stop
            yield fact


def unproved(statement: str, quotes: Sequence[FoundQuote], index: ProofIndex) -> tuple[str, ...]:
    """The facts of a statement that occur neither in its quotes nor around them."""
    facts = list(_facts(statement))
    if not quotes:
        return tuple(dict.fromkeys(fact.text for fact in facts))
    around = Evidence(index.around(quotes, AROUND, NEIGHBOUR_LINES))
    close = Evidence(index.around(quotes, AROUND_NUMBERS))

    def proved(fact: Fact) -> bool:
        if fact.kind is IdentifierKind.QUANTITY:
            if len(_value(fact.text)) > 1 and close.has(fact):
                return True
            # a single digit occurs everywhere by chance
            written = _as_written(fact, statement)
            if written != fact.text:
                return has(around.lower, written.lower())
            return around.has_with(fact, statement)
        if close.has(fact) or around.has(fact):
            return True
        last = _last_part(fact)
        return bool(last) and around.has(Fact(last, fact.kind)) and index.has(fact.text)

    return tuple(dict.fromkeys(fact.text for fact in facts if not proved(fact)))


def _last_part(fact: Fact) -> str:
    """The name of a path or a qualified name without what it lies in."""
    if fact.kind is IdentifierKind.PATH:
        return fact.text.rstrip("/").rpartition("/")[2]
    if fact.kind is IdentifierKind.NAME:
        return re.split(r"\.|::|->", fact.text)[-1]
    return ""


_VALUE = re.compile(r"(?<![\w.])[$€£#]?(\d[\d,]*(?:\.\d+)*)[ -]?(%|[^\W\d_]+)?")
_NUMBER_WORD = re.compile(rf"\b({'|'.join(NUMBER_WORDS)})\b[ -]?([^\W\d_]+)?", re.IGNORECASE)
_PART = re.compile(r"\w+")
_SIGNED = re.compile(r"(?:[<>=!]=? ?|\[:?|[:/])\d+\]?|(?<!\d)\d++(?:/|:\d+|-based)")
_DIGITS = re.compile(r"\d[\d.,]*(?<=\d)")


class Evidence:
    """The texts in which the facts of a statement are looked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.text = "\n".join(texts)
        self.lower = self.text.lower()

    def has(self, fact: Fact) -> bool:
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

    def has_with(self, quantity: Fact, statement: str) -> bool:
        """Whether a number is here beside a word that it is beside in the statement too."""
        wanted = _beside(statement, quantity.start, quantity.start + len(quantity.text))
        return self.has(quantity) and any(
            wanted & _words_beside(self.lower, number)
            for number in {_value(quantity.text), *_DIGITS.findall(quantity.text)}
        )

    def _words(self, quoted: str) -> bool:
        wanted = normalised(quoted).strip(ENDS).lower()
        return not wanted or has(self.lower, wanted) or self._code(quoted)

    def _quantity(self, text: str) -> bool:
        asked = _VALUE.search(text) or _NUMBER_WORD.search(text)
        if asked is None:
            return has(self.lower, text.lower())
        value, unit = _measured(asked)
        return any(
            value == number and (not unit or not other or unit == other)
            for number, other in self.measures
        ) or ("." in value and any(number.startswith(value + ".") for number, _ in self.measures))

    @cached_property
    def measures(self) -> set[tuple[str, str]]:
        """Numbers with their units, where that is one of measure."""
        return {
            _measured(match)
            for pattern in (_VALUE, _NUMBER_WORD)
            for match in pattern.finditer(self.text)
        }

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
        wanted = normalised(text).lower().removesuffix("()")
        if not wanted or self._one(wanted):
            return True
        inner = [one for one in identifiers(text) if one.kind is not IdentifierKind.CODE]
        covered = _without(text, inner)
        return all(self.has(Fact(one.text, one.kind)) for one in inner) and all(
            self._one(part.lower()) for part in _PART.findall(covered)
        )


def _value(quantity: str) -> str:
    """The number of a quantity in digits."""
    found = _VALUE.search(quantity) or _NUMBER_WORD.search(quantity)
    return _measured(found)[0] if found else quantity


def _as_written(quantity: Fact, statement: str) -> str:
    """A number with the signs that it has in the statement, as in `> 0`, `1:1`, `0-based`."""
    for match in _SIGNED.finditer(statement):
        if match.start() <= quantity.start < match.end():
            return match[0]
    return quantity.text


def _words_beside(text: str, number: str) -> set[str]:
    """The content words before and after each place of a number in a text."""
    found: set[str] = set()
    for match in re.finditer(rf"(?<![\w.]){re.escape(number)}(?![\w]|\.\d)", text):
        found |= _beside(text, *match.span())
    return found


def _beside(text: str, start: int, end: int) -> set[str]:
    unit = text[start:end].lstrip("0123456789.,$€£ -")
    before, after = text[max(0, start - 40) : start], unit + text[end : end + 40]
    return {*content_words(before)[-2:], *content_words(after)[:2]}


def _without(text: str, found: Sequence[Identifier]) -> str:
    for one in reversed(found):
        text = text[: one.start] + " " + text[one.end :]
    return text


def _measured(match: re.Match[str]) -> tuple[str, str]:
    """A number in digits, and its unit in one spelling; empty where it counts things."""
    number, unit = match[1].lower(), (match[2] or "").lower()
    value = NUMBER_WORDS.get(number, re.sub(r",(?=\d{3})", "", number).rstrip(".,"))
    return value, UNITS.get(unit, "")
