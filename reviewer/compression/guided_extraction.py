"""The statements of IMPORTANT turns that an extract takes first.

Guidance in words ("preserve all dollar amounts and deadlines") names kinds of values and subjects;
statements with these come first. Without guidance, the most informative statements come first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from reviewer.commits.values import Priority
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.retention import TurnCriteria
from reviewer.compression.values import AnchorPoint, Turn
from reviewer.compression.verbatim import excerpt_around
from reviewer.compression.words import content_words
from reviewer.text.identifiers import identifiers
from reviewer.text.normalise import fold
from reviewer.text.units import UnitKind, units

LONGEST = 240
"""Characters of a statement."""
MOST = 40
_MONTHS = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_KIND_LIST = (
    (
        r"amount|dollar|price|pricing|cost|budget|financ|money|euro|payment|fee|salar",
        r"[$€£]\s?\d|\b\d[\d.,]{0,30}\s?(?:usd|eur|gbp|dollars?|euros?|k|m|bn)\b",
    ),
    (
        r"deadline|date|timeline|schedule|milestone|due|when|time",
        rf"\d{{4}}-\d\d-\d\d|\b(?:{_MONTHS})[a-z]{{0,6}}\.? \d|\b\d{{1,2}}:\d\d\b|\bdeadline"
        r"|\bdue\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bq[1-4]\b|\bend of (?:the )?\w+",
    ),
    (r"number|figure|metric|quantit|value|measure|limit|threshold|statistic|percent", r"\d"),
    (r"file|path|folder|director", r"[\w-]/[\w./-]|[\w-]\.[a-z]{1,5}\b"),
    (r"command|flag|option|cli|shell", r"`[^`]+`|(?<!\w)--?[a-z][\w-]+|^\s*\$ "),
    (r"url|link|endpoint|address|host", r"https?://|\b\w+\.(?:com|org|io|net|dev)\b|\blocalhost"),
    (r"error|failure|exception|bug|problem|issue", r"error|fail|exception|traceback|broke|bug\b"),
    (r"decision|decided|choice|agreement", r"\bdecid|\bchose|\bagree|\bgoing with|\blet'?s\b"),
    (
        r"requirement|constraint|rule|must",
        r"\bmust\b|\bshall\b|\bnever\b|\balways\b|\bonly\b|\bneeds? to",
    ),
    (r"version|release", r"\bv?\d+\.\d+"),
    (r"question|open point", r"\?"),
    (
        r"name|identifier|symbol|function|class|people|person|who",
        r"`[^`]+`|\w_\w|\w\(\)|(?-i:\b[A-Z][a-z]++[A-Z]\w|(?<=[a-z,] )[A-Z][a-z])",
    ),
)
_KINDS = tuple((re.compile(name), re.compile(value, re.IGNORECASE)) for name, value in _KIND_LIST)
"""Words of guidance that name a kind of value, and the pattern of its values."""
_SPECIFIC = re.compile(r"[\d`/_$€£.()]")
"""The parts of a value that can be looked for separately."""
_GUIDING = frozenset(
    {"preserve", "keep", "retain", "all", "every", "detail", "details", "exact", "include"}
)


class Guidance(Struct, frozen=True):
    """Guidance in words, and how many of the values that it names the summary has."""

    words: str
    wanted: int
    kept: int
    known: bool = True
    """Whether the words name a kind of value that can be looked for."""

    def __str__(self) -> str:
        """`"all amounts": 2 of 3 kept`."""
        if not self.known:
            return (
                f'"{self.words}": cannot be checked, so it may be lost; name texts or patterns '
                "that must survive"
            )
        if not self.wanted:
            return f'"{self.words}": nothing of that kind occurs'
        return f'"{self.words}": {self.kept:,} of {self.wanted:,} kept'


def check_guidance(
    turns: Sequence[Turn], criteria: Sequence[TurnCriteria], summary: str
) -> tuple[Guidance, ...]:
    """Each guidance in words against a summary: the values of the kinds that it names."""
    text = fold(summary).casefold()
    asked: dict[str, set[str]] = {}
    for each in criteria:
        words = each.criteria.instructions
        if not words:
            continue
        found = asked.setdefault(words, set())
        for turn in turns if each.turn is None else (turns[each.turn],):
            if turn.priority is not Priority.SKIP:
                found |= _values_of(turn.text, _parse(words)[0])
    return tuple(
        Guidance(words, len(values), sum(value in text for value in values), bool(_parse(words)[0]))
        for words, values in asked.items()
    )


def _values_of(text: str, kinds: Sequence[re.Pattern[str]]) -> set[str]:
    """The values of some kinds; where a value is a mere word, the statement around it."""
    found: set[str] = set()
    for unit in units(text):
        content = text[unit.start : unit.end]
        for kind in kinds:
            for match in kind.finditer(content):
                value = match[0] if _SPECIFIC.search(match[0]) else content
                found.add(fold(value).casefold())
    return found


def guided_points(turns: Sequence[Turn], criteria: Sequence[TurnCriteria]) -> list[AnchorPoint]:
    """The statements that guidance or bare importance puts first, in that order."""
    by_turn = {each.turn: each.criteria.instructions for each in criteria}
    everywhere = by_turn.get(None)
    ranked: list[tuple[float, AnchorPoint]] = []
    for number, turn in enumerate(turns):
        important = turn.priority is Priority.IMPORTANT
        guidance = by_turn.get(number) or everywhere
        if turn.priority is Priority.SKIP or not (important or guidance):
            continue
        values, subjects = _parse(guidance or "")
        for unit in units(turn.text):
            if unit.kind is UnitKind.HEADING:
                continue
            content = turn.text[unit.start : unit.end]
            weight = _match(content, values, subjects) if guidance else _density(content)
            if weight <= 0:
                continue
            first = next((m for m in (v.search(content) for v in values) if m), None)
            focus = (unit.start, unit.start + 1)
            if first is not None:
                focus = (unit.start + first.start(), unit.start + first.end())
            start, end = excerpt_around(turn.text, unit.start, unit.end, focus, LONGEST)
            point = AnchorPoint(
                AnchorType.CRITICAL_FACT, turn.text[start:end], 1.0, number, start, end, "retained"
            )
            ranked.append((weight, point))
    ranked.sort(key=lambda entry: -entry[0])
    return [point for _, point in ranked[:MOST]]


def _parse(guidance: str) -> tuple[list[re.Pattern[str]], frozenset[str]]:
    """Patterns of the kinds of values that guidance names, and its other words."""
    words = content_words(guidance)
    values = [value for name, value in _KINDS if any(name.match(word) for word in words)]
    subjects = {
        word for word in words if word not in _GUIDING and not any(n.match(word) for n, _ in _KINDS)
    }
    return values, frozenset(subjects)


def _match(content: str, values: Sequence[re.Pattern[str]], subjects: frozenset[str]) -> float:
    hits = sum(1.0 for value in values if value.search(content))
    return hits + 0.5 * len(subjects & set(content_words(content)))


def _density(content: str) -> float:
    """How many names and content words a statement has for its length."""
    named = len({each.text for each in identifiers(content)})
    words = len(set(content_words(content)))
    return (2 * named + words) / (8 + len(content) / 6) if named or words > 2 else 0.0
