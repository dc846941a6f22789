"""Cutting a record's prose into self-contained passages of at most 280 characters.

Neighbouring sentences of a paragraph are joined while they fit, since a sentence of a reply often
depends on the one before it. List items stay separate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import itemgetter

from msgspec import Struct

from reviewer.extraction.rejections import (
    LONGEST_STATEMENT,
    SHORTEST_STATEMENT,
    after_narration,
    narrated,
    rejection,
)
from reviewer.sources.records import Record
from reviewer.text.normalise import clean
from reviewer.text.sentences import split_sentences
from reviewer.text.units import Unit, UnitKind, cached_units

_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
_STRONG_BORDER = re.compile(r"[;.:]\s|\s[-–—]\s")
_WEAK_BORDER = re.compile(r",\s")
_BETWEEN = re.compile(
    r"[\s*_]*(?:(?:[-*+•–]|\(?\d{1,3}[.)]|[a-z]\))[ \t]+(?:\[[ xX~-]?\][ \t]+)?)?"
)
# `[2026-02-19-143000] Title`, `7. Title`, `ADR-007: Title`, `0007 - Title`
_TITLE_NUMBER = re.compile(
    r"\[\d{4}-\d\d-\d\d[^\]\n]{0,20}\][ ]*"
    r"|(?:ADR[- ]?\d{1,5}|\d{1,5}(?=[.:)])|0\d{2,4})[.:)]?[ ]+(?:[-–—][ ]+)?"
)
_LEANS = re.compile(
    r"(?:this|that|these|those|it|its|they|both|either|which|so|then|and|but|also|because|since"
    r"|however|otherwise"
    r"|instead|the (?:same|former|latter|fix|issue|problem|bug|reason))\b",
    re.IGNORECASE,
)
# `[Decision] ...`, `**Decision**: ...` only name a type; `Root cause:` is part of the fact.
_LABEL = re.compile(
    r"[-*+]?[ ]*(?:\[[A-Za-z][\w /-]{2,30}\][ ]+(?!\()"
    r"|(?:\*\*|__)?(?:decision|preference|requirement|constraint)(?:\*\*|__)?[ ]*:"
    r"[ ]*(?:\*\*|__)?[ ]*)",
    re.IGNORECASE,
)
_PROSE = frozenset((UnitKind.SENTENCE, UnitKind.LIST_ITEM, UnitKind.HEADING))


class Passage(Struct, frozen=True):
    """`record.text[start:end]`, its cleaned wording, and the unit that it begins with."""

    start: int
    end: int
    content: str
    unit: Unit


@lru_cache(maxsize=512)
def wording(raw: str) -> str:
    """The wording of a passage: cleaned and without bold marks, but with every word."""
    if "**" in raw:
        raw = _BOLD.sub(itemgetter(1), raw)  # a template string would run in Python
    if raw.isascii() and raw.isprintable() and raw[:1].isalpha() and "  " not in raw:
        # For most sentences this equals `clean`, at a tenth of the cost.
        stripped = raw.rstrip(".,;:!")
        if stripped[-1] != " ":
            return stripped
        if raw[-1] != " ":
            return raw
    return clean(raw)


def passages(record: Record, dropped: Callable[[str, str, int, int], None]) -> Iterator[Passage]:
    """The passages of a record. Other text goes to `dropped(reason, content, start, end)`, with the
    first 280 characters of its content.
    """
    text = record.text
    pending: Passage | None = None
    for unit in cached_units(text):
        if unit.kind not in _PROSE:
            continue
        whole = unit.end - unit.start <= LONGEST_STATEMENT
        for start, end in ((unit.start, unit.end),) if whole else _pieces(text, unit):
            start += _before(text, start, end, unit.kind)
            raw = text[start:end]
            content = wording(raw)
            reason = rejection(content, raw)
            if reason is not None:
                dropped(reason, content[:LONGEST_STATEMENT], start, end)
                if pending is not None:
                    yield pending
                    pending = None
                continue
            passage = Passage(start, end, content, unit)
            if pending is not None:
                joined = _joined(text, pending, passage)
                if joined is not None:
                    pending = joined
                    continue
                yield pending
            pending = passage
    if pending is not None:
        yield pending


def _before(text: str, start: int, end: int, kind: UnitKind) -> int:
    """Length of the text before the statement: a title's number, or narration."""
    if kind is not UnitKind.HEADING:
        return after_narration(text[start:end])
    number = _TITLE_NUMBER.match(text, start, end)
    return number.end() - start if number else 0


def _pieces(text: str, unit: Unit) -> Iterator[tuple[int, int]]:
    """The spans of the sentences and clauses of a unit that is too long."""
    for start, end in split_sentences(text, unit.start, unit.end):
        while end - start > LONGEST_STATEMENT:
            border = _border(text, start, start + LONGEST_STATEMENT)
            if border is None:
                break
            yield start, border
            start = border
        yield start, end


def _border(text: str, start: int, end: int) -> int | None:
    """The last clause boundary after the first third of a span; a comma only as a last resort."""
    for pattern in (_STRONG_BORDER, _WEAK_BORDER):
        ends = [
            match.end() for match in pattern.finditer(text, start + LONGEST_STATEMENT // 3, end)
        ]
        if ends:
            return ends[-1]
    return None


def _joined(text: str, first: Passage, second: Passage) -> Passage | None:
    """Both as one passage if they are in one paragraph and the second depends on the first."""
    if second.end - first.start > LONGEST_STATEMENT:
        return None
    if second.unit.block != first.unit.block:
        # A line that ends in a colon belongs to the first item or paragraph after it.
        if text[first.start : first.end].rstrip("*_")[-1:] != ":":
            return None
    elif not (len(second.content) < 60 or len(first.content) < 60 or _LEANS.match(second.content)):
        return None
    if _BETWEEN.fullmatch(text, first.end, second.start) is None:
        return None
    if narrated(first.content) or narrated(second.content):
        return None
    content = wording(text[first.start : second.end])
    return (
        Passage(first.start, second.end, content, first.unit)
        if len(content) <= LONGEST_STATEMENT
        else None
    )


def unlabelled(text: str, start: int, end: int, content: str) -> tuple[int, str]:
    """The start and wording of `text[start:end]`, worded as `content`, without its type label.

    In brackets it is only a label, and what is left may be too short to be proposed; in front of a
    colon it is part of a wording that would be too short without it.
    """
    label = _LABEL.match(text, start, end)
    rest = wording(text[label.end() : end]) if label else ""
    if label is None or (len(rest) < SHORTEST_STATEMENT and not label[0].rstrip().endswith("]")):
        return start, content
    return label.end(), rest
