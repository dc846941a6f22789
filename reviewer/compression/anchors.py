"""The spans of a conversation that must survive verbatim (hierarchical-summarizer.md, settled.md).

What rules detect in what was said, and what a person marked, pinned or asked to retain. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reviewer.commits.values import Priority, RetentionCriteria
from reviewer.compression.anchor_rules import (
    BASE_IMPORTANCE,
    DECLARATION,
    EMPTY_QUESTION,
    QUESTION_END,
    RULES,
    WRITING_TOOLS,
    WRITTEN_FILE,
    tells_error,
    tells_making,
)
from reviewer.compression.pattern_places import first_place
from reviewer.compression.spans import around
from reviewer.compression.values import AnchorPoint, AnchorType, Turn
from reviewer.sources.claude_words import classify
from reviewer.sources.records import Use
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.secrets import mask
from reviewer.text.units import Unit, UnitKind, units

THRESHOLD = 0.5
"""Importance below which nothing is an anchor."""
MOST = 20
"""Detected anchors of a segment; what a person marked comes on top."""
RECENCY = 0.15
"""What the last turn of a segment adds to an anchor's importance."""
SIMILAR = 0.8
"""Word Jaccard similarity above which two anchors are one."""
LONGEST, LONGEST_QUESTION = 160, 400
"""Characters of an anchor; longer statements are narrowed to the clause that counts."""
SHORTEST = 8

_WORDS = re.compile(r"\w+")
_LISTING = re.compile(r"^\s*\d+[→│|\t]|^\s*(?:[+-]{1,3}\s|@@ |//|#|\*)")
_CODE = re.compile(
    r"\b(?:raise|return|throw new|if err|catch|except|assert|def|func|log(?:ger)?\."
    r"|print)\b.*[({]|:=|=>"
    r"|[{};]\s*$|==|\bErrorf\(|\".*%[vsdwq]\b.*\""
)
_DATA = re.compile(r"[\[{(<]*[\"'“‘{\[<]|[^\n]{0,200}\":")
"""Quotations and pasted data: what they say was not said here."""
_BARE_CODE = re.compile(
    r"\s*(?:error: )?exit(?:ed)?(?: with)? (?:code|status) \d+[:.]?\s*", re.IGNORECASE
)
_NEXT_LINE = re.compile(r"\s+[^\n]+")
_ARTIFACTS = frozenset({IdentifierKind.PATH, IdentifierKind.NAME, IdentifierKind.CODE})
_ARTIFACT = re.compile(
    r"[\w.$-]{1,80}\(\)?|(?:[\w@.-]*/)*[\w@.-]+\.\w{1,8}(?::\d+)?|(?:[\w@.-]+/){1,12}[\w@.-]*"
)


def find_anchors(
    turns: Sequence[Turn],
    *,
    marked: Sequence[AnchorPoint] = (),
    retention: RetentionCriteria | None = None,
) -> tuple[AnchorPoint, ...]:
    """The anchors of a segment, in the order of the text.

    `marked`: what a person confirmed or pinned; `retention`: criteria beside those of the turns.
    Detected ones are the `MOST` most important that reach the threshold; near-equal ones are
    merged into the most important. What was said in boot text, in thinking or in tool results is
    no anchor, errors of tool results excepted; credentials never are.
    """
    wanted = [*marked, *_pinned(turns), *_retained(turns, retention)]
    chosen = _Chosen(turns)
    for point in wanted:
        chosen.take(point)
    room = len(chosen.points) + MOST
    detected = sorted(_detected(turns), key=lambda point: -point.importance)
    for point in detected:
        if len(chosen.points) >= room or point.importance < THRESHOLD:
            break
        chosen.take(point)
    return tuple(sorted(chosen.points, key=lambda point: (point.turn, point.start)))


class _Chosen:
    """What was taken so far, in falling importance, and whether another says anything new."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._masked: dict[int, str] = {}
        self._words: list[frozenset[str]] = []
        self.points: list[AnchorPoint] = []

    def take(self, point: AnchorPoint) -> None:
        """Keep the anchor unless it holds a credential or nearly stands there already."""
        words = frozenset(_WORDS.findall(point.content.lower()))
        person = point.source != "detected"
        for known, other in zip(self.points, self._words, strict=True):
            inside = known.turn == point.turn and (
                known.start <= point.start and point.end <= known.end
            )
            same = known.content == point.content if person else _jaccard(words, other) > SIMILAR
            if inside or same:
                return
        if self._shows_secret(point):
            return
        self.points.append(point)
        self._words.append(words)

    def _shows_secret(self, point: AnchorPoint) -> bool:
        """The whole turn is looked at, because what makes a value a credential stands beside it."""
        text = self._turns[point.turn].text
        masked = self._masked.get(point.turn)
        if masked is None:
            masked = self._masked[point.turn] = mask(text).text
        return point.content not in masked


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else float(one == other)


def _pinned(turns: Sequence[Turn]) -> Iterator[AnchorPoint]:
    """Turns that a person pinned as a whole."""
    for number, turn in enumerate(turns):
        text = turn.text.strip()
        if turn.priority is Priority.PINNED and text:
            start = turn.text.index(text)
            yield AnchorPoint(
                AnchorType.CRITICAL_FACT, text, 1.0, number, start, start + len(text), "pinned"
            )


def _retained(turns: Sequence[Turn], more: RetentionCriteria | None) -> Iterator[AnchorPoint]:
    """The first place of every pattern that somebody asked to retain, exactly as it matches."""
    open_patterns = list(more.patterns) if more else []
    for number, turn in enumerate(turns):
        own = turn.retention.patterns if turn.priority is Priority.IMPORTANT else ()
        for pattern in (*own, *open_patterns):
            span = first_place(pattern, turn.text)
            if span is None:
                continue
            if pattern in open_patterns:
                open_patterns.remove(pattern)
            content = turn.text[slice(*span)]
            yield AnchorPoint(AnchorType.CRITICAL_FACT, content, 1.0, number, *span, "retained")


def _detected(turns: Sequence[Turn]) -> Iterator[AnchorPoint]:
    last = _last_of_others(turns)
    for number, turn in enumerate(turns):
        weight = RECENCY * (number + 1) / len(turns)
        for kind, start, end in _found(turn, answered=last[number]):
            content = turn.text[start:end]
            if end - start < (4 if kind is AnchorType.CODE_ARTIFACT else SHORTEST):
                continue
            importance = round(min(BASE_IMPORTANCE[kind] + weight, 1.0), 4)
            yield AnchorPoint(kind, content, importance, number, start, end)


def _last_of_others(turns: Sequence[Turn]) -> list[bool]:
    """For each turn, whether somebody else says something later."""
    answered = [False] * len(turns)
    later: set[tuple[str, str]] = set()
    for number in range(len(turns) - 1, -1, -1):
        turn = turns[number]
        speaker = (turn.role, turn.name)
        answered[number] = bool(later - {speaker})
        if turn.said == "text" and turn.text.strip():
            later.add(speaker)
    return answered


def _found(turn: Turn, *, answered: bool) -> Iterator[tuple[AnchorType, int, int]]:
    if turn.said == "tool_result" or turn.role == "tool":
        yield from _errors(turn.text)
    elif turn.said == "tool_use":
        if WRITING_TOOLS.search(turn.name):
            for match in WRITTEN_FILE.finditer(turn.text):
                yield AnchorType.CODE_ARTIFACT, *match.span("path")
    elif turn.said == "text" and turn.role != "system" and turn.priority is not Priority.SKIP:
        use, text, _ = classify(turn.text) if turn.role == "user" else (Use.SAID, turn.text, {})
        if use is Use.SAID:
            yield from _said(turn.role, text, answered=answered)


def _said(role: str, text: str, *, answered: bool) -> Iterator[tuple[AnchorType, int, int]]:
    for unit in units(text):
        if unit.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM):
            yield from _stated(role, text, unit, answered=answered)
        elif unit.kind is UnitKind.CODE:
            if match := DECLARATION.search(text, unit.start, unit.end):
                yield AnchorType.CODE_ARTIFACT, *_stripped(text, *match.span())
        elif unit.kind is UnitKind.TRACE and tells_error(text[unit.start : unit.end].lower()):
            span = around(text, unit.start, unit.end, (unit.start, unit.start + 20), LONGEST)
            yield AnchorType.ERROR_CONTEXT, *span


def _stated(
    role: str, text: str, unit: Unit, *, answered: bool
) -> Iterator[tuple[AnchorType, int, int]]:
    start, end = unit.start, unit.end
    content = text[start:end]
    lower = content.lower()
    if len(lower) != len(content):  # a few letters grow; then places would not agree
        lower = content
    if _DATA.match(content):
        return
    if QUESTION_END.search(content):
        if not answered and not EMPTY_QUESTION.match(lower) and end - start >= SHORTEST:
            focus = (max(start, end - 80), end)
            span = around(text, start, end, focus, LONGEST_QUESTION)
            yield AnchorType.UNRESOLVED_QUESTION, *span
        return
    for rule in RULES:
        if role in rule.by and (match := rule.find(lower)):
            focus = (start + match.start(), start + match.end())
            yield rule.type, *around(text, start, end, focus, LONGEST)
            break
    if tells_making(lower):
        for named in identifiers(content)[:4]:
            if named.kind in _ARTIFACTS and _ARTIFACT.fullmatch(named.text):
                yield AnchorType.CODE_ARTIFACT, start + named.start, start + named.end


def _errors(text: str) -> Iterator[tuple[AnchorType, int, int]]:
    """At most the first and the last error line of what a tool printed."""
    found: list[tuple[int, int]] = []
    if not tells_error(text.lower()):
        return
    for match in re.finditer(r"[^\n]+", text):
        line = match[0][:400]
        if tells_error(line.lower()) and not _LISTING.match(line) and not _CODE.search(line):
            found[1:] = [_stripped(text, match.start(), _error_end(text, match))]
    for span in found:
        yield AnchorType.ERROR_CONTEXT, *span


def _error_end(text: str, match: re.Match[str]) -> int:
    """The end of an error's line, or of the next one where the first only says `Exit code 1`."""
    end = match.end()
    if _BARE_CODE.fullmatch(match[0]) and (more := _NEXT_LINE.match(text, end)):
        end = more.end()
    return min(end, match.start() + LONGEST)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())
