"""What an extract takes first from IMPORTANT turns, where no model reads the guidance.

Guidance in words ("preserve all dollar amounts and deadlines") names kinds of things and subjects;
statements that hold them come first. Bare IMPORTANT takes the statements that say most.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer.commits.values import Priority
from reviewer.compression.retention import Asked
from reviewer.compression.spans import around
from reviewer.compression.values import AnchorPoint, AnchorType, Turn
from reviewer.compression.words import content_words
from reviewer.text.identifiers import identifiers
from reviewer.text.units import UnitKind, units

LONGEST = 240
MOST = 40
_MONTHS = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_KINDS = (
    (
        r"amount|dollar|price|pricing|cost|budget|financ|money|euro|payment|fee|salar",
        r"[$€£]\s?\d|\b\d[\d.,]*\s?(?:usd|eur|gbp|dollars?|euros?|k|m|bn)\b",
    ),
    (
        r"deadline|date|timeline|schedule|milestone|due|when|time",
        rf"\d{{4}}-\d\d-\d\d|\b(?:{_MONTHS})[a-z]{{0,6}}\.? \d|\b\d{{1,2}}:\d\d\b|\bdeadline"
        r"|\bdue\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bq[1-4]\b|\bend of (?:the )?\w+",
    ),
    (r"number|figure|metric|quantit|value|measure|limit|threshold|statistic|percent", r"\d"),
    (r"file|path|folder|director", r"[\w-]+/[\w./-]+|\b[\w-]+\.[a-z]{1,5}\b"),
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
        r"`[^`]+`|\w+_\w+|\w+\(\)|(?-i:\b[A-Z][a-z]+[A-Z]\w+|(?<=[a-z,] )[A-Z][a-z]+)",
    ),
)
_NAMED = tuple((re.compile(name), re.compile(thing, re.IGNORECASE)) for name, thing in _KINDS)
_GUIDING = frozenset(
    {"preserve", "keep", "retain", "all", "every", "detail", "details", "exact", "include"}
)


def careful_points(turns: Sequence[Turn], asked: Sequence[Asked]) -> list[AnchorPoint]:
    """The statements that guidance or bare importance puts first, heaviest first."""
    by_turn = {each.turn: each.criteria.instructions for each in asked}
    everywhere = by_turn.get(None)
    ranked: list[tuple[float, AnchorPoint]] = []
    for number, turn in enumerate(turns):
        important = turn.priority is Priority.IMPORTANT
        guidance = by_turn.get(number) or everywhere
        if turn.priority is Priority.SKIP or not (important or guidance):
            continue
        things, subjects = _wanted(guidance or "")
        for unit in units(turn.text):
            if unit.kind is UnitKind.HEADING:
                continue
            content = turn.text[unit.start : unit.end]
            weight = _guided(content, things, subjects) if guidance else _says(content)
            if weight <= 0:
                continue
            first = next((m for m in (t.search(content) for t in things) if m), None)
            focus = (unit.start, unit.start + 1)
            if first is not None:
                focus = (unit.start + first.start(), unit.start + first.end())
            start, end = around(turn.text, unit.start, unit.end, focus, LONGEST)
            point = AnchorPoint(
                AnchorType.CRITICAL_FACT, turn.text[start:end], 1.0, number, start, end, "retained"
            )
            ranked.append((weight, point))
    ranked.sort(key=lambda entry: -entry[0])
    return [point for _, point in ranked[:MOST]]


def _wanted(guidance: str) -> tuple[list[re.Pattern[str]], frozenset[str]]:
    """The kinds of things that guidance names, and its other words."""
    words = content_words(guidance)
    things = [thing for name, thing in _NAMED if any(name.match(word) for word in words)]
    subjects = {
        word for word in words if word not in _GUIDING and not any(n.match(word) for n, _ in _NAMED)
    }
    return things, frozenset(subjects)


def _guided(content: str, things: Sequence[re.Pattern[str]], subjects: frozenset[str]) -> float:
    hits = sum(1.0 for thing in things if thing.search(content))
    return hits + 0.5 * len(subjects & set(content_words(content)))


def _says(content: str) -> float:
    """How much a statement says for its length."""
    named = len({each.text for each in identifiers(content)})
    words = len(set(content_words(content)))
    return (2 * named + words) / (8 + len(content) / 6) if named or words > 2 else 0.0
