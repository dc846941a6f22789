"""Finds anchors: spans of a conversation that must survive verbatim.

Detected by the table in `anchor_types.py`, marked by a person, or matched by retention criteria.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reviewer.commits.values import Priority, RetentionCriteria
from reviewer.compression.anchor_types import QUESTION_END, AnchorType, find_sign
from reviewer.compression.told import DECLARED
from reviewer.compression.turn_events import is_summary
from reviewer.compression.values import AnchorPoint, SegmentTurn
from reviewer.compression.verbatim import first_place, narrowed
from reviewer.compression.words import content_words
from reviewer.sources.calls import read_call
from reviewer.sources.claude_words import classify
from reviewer.sources.events import Origin
from reviewer.sources.records import RecordUse
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.secrets import mask
from reviewer.text.units import Unit, UnitKind, units

THRESHOLD = 0.5
"""Minimum importance of an anchor."""
MOST = 20
"""Detected anchors per segment, in addition to a person's."""
RECENCY = 0.15
"""Added to the importance of anchors in the last turn; less in earlier ones."""
SECOND_HAND = 0.3
"""Subtracted from the importance of anchors in an earlier summary, which are nobody's words."""
SIMILAR = 0.8
"""Word Jaccard similarity above which two anchors are the same."""
LONGEST, LONGEST_QUESTION = 220, 400
"""Characters of an anchor; a longer statement is narrowed to the relevant clause."""
SHORTEST, SHORTEST_NAME = 8, 4
SPEAKERS = frozenset(("user", "assistant", "note"))
MIN_ASKED = 2
"""Content words in a question."""
PATH_PARTS = 3
"""Folders and name of a file outside the session's folder."""

_WORDS = re.compile(r"\w+")
_FILES = frozenset({IdentifierKind.PATH, IdentifierKind.CODE})
_FILE = re.compile(r"[\w@./-]{1,200}\.[A-Za-z]\w{0,7}(?::\d+)?")
_LEADS_ON = re.compile(r":[*_`]{0,3}\s*$")
"""The end of a statement that only introduces a list or code."""


def find_anchors(
    turns: Sequence[SegmentTurn],
    *,
    marked: Sequence[AnchorPoint] = (),
    retention: RetentionCriteria | None = None,
    goes_on: bool = False,
) -> tuple[AnchorPoint, ...]:
    """The anchors of a segment, in the order of the text.

    `marked`: spans pinned by a person; `retention`: criteria of the call; `goes_on`:
    somebody speaks after the segment, so that its questions have been answered. Detected
    anchors are the `MOST` most important above the threshold; of similar ones only the most
    important is kept. Boot text, thinking and tool results give no anchors; credentials are never
    anchors.
    """
    masked: dict[int, str] = {}
    chosen: list[tuple[AnchorPoint, frozenset[str]]] = []

    def take(point: AnchorPoint) -> None:
        """Keep an anchor unless one like it is kept, or it shows a credential, which is recognised
        by the text around it.
        """
        words = frozenset(_WORDS.findall(point.content.lower()))
        person = point.source != "detected"
        for known, other in chosen:
            same = known.content == point.content if person else _jaccard(words, other) > SIMILAR
            if same or _is_inside(point, known):
                return
        if point.turn not in masked:
            masked[point.turn] = mask(turns[point.turn].text).text
        if point.content in masked[point.turn]:
            chosen.append((point, words))

    for point in (*_retained(turns, retention), *marked):
        take(point)
    room = len(chosen) + MOST
    for point in sorted(_detected(turns, goes_on=goes_on), key=lambda each: -each.importance):
        if len(chosen) >= room or point.importance < THRESHOLD:
            break
        take(point)
    return tuple(sorted((point for point, _ in chosen), key=lambda each: (each.turn, each.start)))


def _is_inside(point: AnchorPoint, other: AnchorPoint) -> bool:
    return other.turn == point.turn and other.start <= point.start and point.end <= other.end


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else float(one == other)


def _retained(
    turns: Sequence[SegmentTurn], more: RetentionCriteria | None
) -> Iterator[AnchorPoint]:
    """The first match of every retention pattern."""
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


def _detected(turns: Sequence[SegmentTurn], *, goes_on: bool) -> Iterator[AnchorPoint]:
    answered = [True] * len(turns) if goes_on else _answered(turns)
    for number, turn in enumerate(turns):
        weight = RECENCY * (number + 1) / len(turns)
        second_hand = SECOND_HAND if is_summary(turn) else 0.0
        for kind, start, end in _found(turn, answered=answered[number]):
            content = turn.text[start:end]
            is_name = kind is AnchorType.CODE_ARTIFACT
            if end - start < (SHORTEST_NAME if is_name else SHORTEST):
                continue
            if not is_name and content.isascii() and not content_words(content):
                continue
            importance = round(min(kind.importance + weight - second_hand, 1.0), 4)
            yield AnchorPoint(kind, content, importance, number, start, end)


def is_speech(turn: SegmentTurn) -> bool:
    """Whether somebody says something in a turn."""
    return turn.kind == "text" and turn.role in SPEAKERS and bool(turn.text.strip())


def _answered(turns: Sequence[SegmentTurn]) -> list[bool]:
    """For each turn, whether someone else says something after it."""
    speakers = set[tuple[str, str]]()
    answered = []
    for turn in reversed(turns):
        if is_speech(turn):
            speakers.add((turn.role, turn.name))
        answered.append(len(speakers) > 1)
    return answered[::-1]


def _found(turn: SegmentTurn, *, answered: bool) -> Iterator[tuple[AnchorType, int, int]]:
    if turn.aside or turn.priority is Priority.SKIP:
        return
    if turn.kind == "tool_use":
        for change in read_call(_NOWHERE, "", turn.name, turn.text).changes:
            start = turn.text.find(change.path)
            if start >= 0:
                yield AnchorType.CODE_ARTIFACT, *_inside(turn, start, start + len(change.path))
    elif turn.kind == "text" and turn.role not in ("system", "tool"):
        use, text, _ = (
            classify(turn.text) if turn.role == "user" else (RecordUse.MESSAGE, turn.text, {})
        )
        if use in (RecordUse.MESSAGE, RecordUse.SUMMARY):
            # People talking to each other do not correct the agent.
            role = "note" if turn.name or use is RecordUse.SUMMARY else turn.role
            yield from _in_words(role, text, answered=answered)


_NOWHERE = Origin("", 0, 0)


def _inside(turn: SegmentTurn, start: int, end: int) -> tuple[int, int]:
    """The span of a path without the session's folder, or else its last folders and name."""
    path = turn.text[start:end]
    if turn.folder and path.startswith(f"{turn.folder}/"):
        return start + len(turn.folder) + 1, end
    if not path.startswith("/") or path.count("/") <= PATH_PARTS:
        return start, end
    return end - len(path.split("/", path.count("/") + 1 - PATH_PARTS)[-1]), end


def _in_words(role: str, text: str, *, answered: bool) -> Iterator[tuple[AnchorType, int, int]]:
    for unit in units(text):
        if unit.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM):
            yield from _stated(role, text, unit, answered=answered)
        elif unit.kind is UnitKind.CODE:
            if match := DECLARED.search(text, unit.start, unit.end):
                yield (
                    AnchorType.CODE_ARTIFACT,
                    *narrowed(text, *match.span(), match.span(1), LONGEST),
                )
        elif unit.kind is UnitKind.TRACE:
            lower = text[unit.start : unit.end].lower()
            sign = AnchorType.ERROR_CONTEXT.sign
            if sign is not None and sign.search(lower):
                focus = (unit.start, min(unit.start + 20, unit.end))
                span = narrowed(text, unit.start, unit.end, focus, LONGEST)
                yield AnchorType.ERROR_CONTEXT, *span


def _stated(
    role: str, text: str, unit: Unit, *, answered: bool
) -> Iterator[tuple[AnchorType, int, int]]:
    start, end = unit.start, unit.end
    content = text[start:end]
    lower = content.lower()
    if len(lower) != len(content):
        lower = content  # some letters are longer in lower case, which would shift the spans
    if _LEADS_ON.search(content):
        return
    if QUESTION_END.search(content):
        if not answered and len(content_words(content)) >= MIN_ASKED:
            focus = (max(start, end - 80), end)
            span = narrowed(text, start, end, focus, LONGEST_QUESTION)
            yield AnchorType.UNRESOLVED_QUESTION, *span
        return
    if sign := find_sign(role, lower, headed=bool(unit.heading)):
        kind, match = sign
        focus = (start + match.start(), start + match.end())
        yield kind, *narrowed(text, start, end, focus, LONGEST)
    for named in identifiers(content)[:2]:
        if named.kind in _FILES and _FILE.fullmatch(named.text):
            yield AnchorType.CODE_ARTIFACT, start + named.start, start + named.end
