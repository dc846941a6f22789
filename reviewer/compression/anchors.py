"""Finds anchors: spans of a conversation that must survive verbatim.

Both those that cues detect and those that a person marked, pinned or asked to retain. The kinds of
anchor and the patterns of their cues, those of questions included, are in `anchor_types.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

from reviewer.commits.values import Priority, RetentionCriteria
from reviewer.compression.anchor_types import (
    DECLARATION,
    EMPTY_QUESTION,
    OFFER,
    QUESTION_END,
    WRITING_TOOLS,
    WRITTEN_FILE,
    AnchorType,
    find_cue,
    mentions_change,
    mentions_error,
)
from reviewer.compression.offline.history import CODEX_SUMMARY, SUMMARY_START
from reviewer.compression.offline.statements import is_step
from reviewer.compression.values import AnchorPoint, Turn
from reviewer.compression.verbatim import excerpt_around, first_place, has_term
from reviewer.compression.words import content_words
from reviewer.sources.claude_words import classify
from reviewer.sources.records import Use
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.secrets import mask
from reviewer.text.units import Unit, UnitKind, units

THRESHOLD = 0.5
"""Least importance of an anchor."""
MOST = 20
"""Detected anchors of a segment, in addition to those of a person."""
RECENCY = 0.15
"""Added to the importance of anchors in the last turn, and less in earlier ones."""
SECOND_HAND = 0.3
"""Taken from the importance of anchors in an earlier summary, which are nobody's words."""
SIMILAR = 0.8
"""Word Jaccard similarity above which two anchors are the same."""
LONGEST, LONGEST_QUESTION = 220, 400
"""Characters of an anchor; longer statements are narrowed to the clause that counts."""
SHORTEST = 8
PATH_PARTS = 3
"""Folders and name of a file outside the folder of the session."""
LEAST_ASKED = 4
"""Words of content in a question that people ask each other."""

_WORDS = re.compile(r"\w+")
_LISTING = re.compile(r"^\s*\d+[→│|\t]|^\s*(?:[+-]{1,3}\s|@@ |//|#|\*)")
_CODE = re.compile(
    r"\b(?:raise|return|throw new|if err|catch|except|assert|def|func|log(?:ger)?\."
    r"|print)\b.*[({]|:=|=>"
    r"|[{};]\s*$|==|\bErrorf\(|\".*%[vsdwq]\b.*\""
)
_DATA = re.compile(r"[\[{(<]*[\"'“‘{\[<]|[^\n]{0,200}\":")
"""Quotations and pasted data, which are not statements of the speaker."""
_BARE_CODE = re.compile(
    r"\s*(?:error: )?exit(?:ed)?(?: with)? (?:code|status) \d+[:.]?\s*", re.IGNORECASE
)
_OF_THE_PERSON = frozenset({AnchorType.CORRECTION, AnchorType.USER_PREFERENCE})
_LET_ME = re.compile(r"(?:\w+[,.!]? ){0,2}let me\b", re.IGNORECASE)
_LEADS_ON = re.compile(r":[*_`]{0,3}\s*$")
"""How a statement ends that only leads on to a list or to code."""
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

    `marked`: spans that a person confirmed or pinned; `retention`: criteria of the call. Detected
    anchors are the `MOST` most important above the threshold; of similar ones only the most
    important is kept. Boot text, thinking and tool results give no anchors. Credentials are never
    anchors.
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
    """The anchors chosen so far, most important first."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._masked: dict[int, str] = {}
        self._words: list[frozenset[str]] = []
        self.points: list[AnchorPoint] = []

    def take(self, point: AnchorPoint) -> None:
        """Keep the anchor unless it shows a credential or is similar to one that was kept."""
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
        """Masks the whole turn, because a credential is recognised by the text around it."""
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


def _detected(turns: Sequence[Turn]) -> Iterator[AnchorPoint]:
    replies = _replies(turns)
    for number, turn in enumerate(turns):
        weight = RECENCY * (number + 1) / len(turns)
        for kind, start, end in _found(turn, replies[number]):
            content = turn.text[start:end]
            if end - start < (4 if kind is AnchorType.CODE_ARTIFACT else SHORTEST):
                continue
            if kind is not AnchorType.CODE_ARTIFACT and not has_term(content):
                continue
            importance = kind.importance + weight - (SECOND_HAND if is_summary(turn) else 0.0)
            importance = round(min(importance, 1.0), 4)
            yield AnchorPoint(kind, content, importance, number, start, end)


def is_summary(turn: Turn) -> bool:
    """Whether a turn is what a client kept of an earlier part of the conversation."""
    return turn.text.lstrip().startswith((SUMMARY_START, CODEX_SUMMARY))


class _Reply(IntEnum):
    """What the next words of somebody else are to the questions of a turn."""

    NONE = 0
    ANOTHER_TOPIC = 1
    ANSWER = 2


def _replies(turns: Sequence[Turn]) -> list[_Reply]:
    """For each turn, whether the next words of somebody else take its question up.

    They do when they share a content word with it, or are short, or open with yes or no: a new
    topic is not an answer.
    """
    spoken = [
        (number, turn)
        for number, turn in enumerate(turns)
        if turn.kind == "text" and turn.text.strip() and turn.role in ("user", "assistant", "note")
    ]
    replies = [_Reply.NONE] * len(turns)
    said_next: dict[tuple[str, str], Turn | None] = {}
    after: Turn | None = None
    for number, turn in reversed(spoken):
        speaker = (turn.role, turn.name)
        if after is not None and (after.role, after.name) != speaker:
            said_next[speaker] = after
        following = said_next.get(speaker)
        if following is not None:
            taken_up = _takes_up(turn.text, following.text)
            replies[number] = _Reply.ANSWER if taken_up else _Reply.ANOTHER_TOPIC
        after = turn
    return replies


_TAKES_UP = re.compile(
    r"\W*(?:y(?:es|eah|ep|up)\b|no\b|nope\b|ok|sure|agreed|right|correct|neither|both|\d)",
    re.IGNORECASE,
)
SHORT_REPLY = 60
"""Characters up to which a reply counts as an answer, whatever its words."""


def _takes_up(text: str, reply: str) -> bool:
    asked = [text[unit.start : unit.end] for unit in units(text)]
    asked = [each for each in asked if QUESTION_END.search(each)]
    if not asked or len(reply) <= SHORT_REPLY or _TAKES_UP.match(reply):
        return True
    wanted = {word[:5] for each in asked for word in content_words(each)}
    return not wanted or bool(wanted & {word[:5] for word in content_words(reply[:4_000])})


def _found(turn: Turn, reply: _Reply) -> Iterator[tuple[AnchorType, int, int]]:
    if turn.kind == "tool_use":
        if WRITING_TOOLS.search(turn.name):
            for match in WRITTEN_FILE.finditer(turn.text):
                yield AnchorType.CODE_ARTIFACT, *_inside(turn, *match.span("path"))
    elif turn.kind != "text" or turn.role in ("system", "tool"):
        return
    elif turn.priority is not Priority.SKIP:
        use, text, _ = classify(turn.text) if turn.role == "user" else (Use.MESSAGE, turn.text, {})
        if use is Use.MESSAGE:
            for found in _in_words(turn.role, text, reply):
                if not (turn.role == "user" and turn.name and _is_small_talk(text, *found)):
                    yield found


def _inside(turn: Turn, start: int, end: int) -> tuple[int, int]:
    """The span of a path without the folder of the session, or else its last folders and name."""
    path = turn.text[start:end]
    if turn.folder and path.startswith(f"{turn.folder}/"):
        return start + len(turn.folder) + 1, end
    if "\\\\" in path:  # a path of Windows, whose backslashes are written twice
        return start + path.rindex("\\\\") + 2, end
    if not path.startswith("/") or path.count("/") <= PATH_PARTS:
        return start, end
    return end - len(path.split("/", path.count("/") + 1 - PATH_PARTS)[-1]), end


def _is_small_talk(text: str, kind: AnchorType, start: int, end: int) -> bool:
    """Whether people who talk to each other mean each other, not the agent, or ask in passing."""
    passing = len(content_words(text[start:end])) < LEAST_ASKED
    return kind in _OF_THE_PERSON or (kind is AnchorType.UNRESOLVED_QUESTION and passing)


def _in_words(role: str, text: str, reply: _Reply) -> Iterator[tuple[AnchorType, int, int]]:
    for unit in units(text):
        if unit.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM):
            yield from _stated(role, text, unit, reply)
        elif unit.kind is UnitKind.CODE:
            if match := DECLARATION.search(text, unit.start, unit.end):
                yield AnchorType.CODE_ARTIFACT, *_stripped(text, *match.span())
        elif unit.kind is UnitKind.TRACE and mentions_error(text[unit.start : unit.end].lower()):
            span = excerpt_around(
                text, unit.start, unit.end, (unit.start, unit.start + 20), LONGEST
            )
            yield AnchorType.ERROR_CONTEXT, *span


def _stated(
    role: str, text: str, unit: Unit, reply: _Reply
) -> Iterator[tuple[AnchorType, int, int]]:
    start, end = unit.start, unit.end
    content = text[start:end]
    lower = content.lower()
    if len(lower) != len(
        content
    ):  # lower case of a few letters is longer, which would shift the spans
        lower = content
    if _DATA.match(content) or _LEADS_ON.search(content):
        return
    if QUESTION_END.search(content):
        if reply and role == "assistant" and OFFER.match(lower):
            return  # an offer that the person passed over is not open
        if (
            reply is not _Reply.ANSWER
            and not EMPTY_QUESTION.match(lower)
            and end - start >= SHORTEST
        ):
            focus = (max(start, end - 80), end)
            span = excerpt_around(text, start, end, focus, LONGEST_QUESTION)
            yield AnchorType.UNRESOLVED_QUESTION, *span
        return
    if cue := find_cue(role, lower):
        kind, match = cue
        step = is_step if kind is AnchorType.COMMITMENT else _LET_ME.match
        if role == "assistant" and step(content):
            return  # the agent's next step binds nobody
        focus = (start + match.start(), start + match.end())
        yield kind, *excerpt_around(text, start, end, focus, LONGEST)
    if mentions_change(lower):
        for named in identifiers(content)[:4]:
            if named.kind in _ARTIFACTS and _ARTIFACT.fullmatch(named.text):
                yield AnchorType.CODE_ARTIFACT, start + named.start, start + named.end


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())
