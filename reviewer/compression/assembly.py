"""From an engine's text to a level's content: anchors put back, criteria met, ceilings held."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from reviewer.compression.fidelity import missing_anchors, tags_in
from reviewer.compression.markers import parse_markers
from reviewer.compression.measures import log_missing
from reviewer.compression.retention import (
    RetentionFailure,
    anchor_points,
    append_points,
    diagnosis,
    missing_spans,
    validate_retention,
)
from reviewer.compression.spans import TAG_LENGTHS, tag_of
from reviewer.compression.values import AnchorPoint, AnchorType, Level
from reviewer.compression.writing import Writer, WritingTask, Written
from reviewer.llm.retry import RetryExhaustedError
from reviewer.text.normalise import fold

ROUNDS = 4
"""Times that a text is asked for in another length before what came is cut."""
SENTENCE = 30
"""Tokens for a sentence beside anchors that are only names."""
TAGS_SHARE = 0.5
"""Share of a hard ceiling that tags of detected anchors may take at Tags."""


class Parts(Struct, frozen=True):
    """The content of a level and how it came about."""

    content: str
    engine: str
    model_tokens: int = 0
    note: str = ""


class Assembly:
    """One level of one segment. `marker` ends the content; `source` is the whole text."""

    def __init__(
        self,
        writer: Writer,
        task: WritingTask,
        marker: str,
        source: str,
        count: Callable[[str], int],
    ) -> None:
        self._writer = writer
        self._task = structs.replace(task, anchors=_by_weight(task.anchors))
        self._source = source
        self._count = count
        self._ceiling = task.options.ceiling
        self._marker = marker if self._ceiling is None or self._ceiling > 60 else ""
        self._written: Written | None = None
        self._model_tokens = 0

    def run(self) -> Parts:
        """The content. Raises as the engine does, and RetryExhaustedError for criteria."""
        content, note = self._tags() if self._task.level is Level.TAGS else self._prose()
        failures = validate_retention(content, self._task.asked)
        if failures:
            why = diagnosis(failures)
            if self._ceiling is not None:
                why += f" The ceiling of {self._ceiling} tokens may be too low."
            raise RetryExhaustedError(why, self._attempts, content)
        engine = self._written.engine if self._written else self._writer.name
        return Parts(content, engine, self._model_tokens, note)

    @property
    def _attempts(self) -> int:
        return self._written.attempts if self._written else 1

    def _prose(self) -> tuple[str, str]:
        """Detailed and Brief: the engine's text, Key Points for what is missing, the marker."""
        task = self._task
        tail = self._count(f"\n{self._marker}") if self._marker else 0
        need = sum(self._count(each.content) + 1 for each in task.anchors)
        note = f"anchors need {need} tokens" if need > task.max_tokens else ""
        limit = max(task.max_tokens, need + tail)
        if need and all(each.type is AnchorType.CODE_ARTIFACT for each in task.anchors):
            limit = max(limit, need + tail + SENTENCE)  # names alone do not say what happened
        if self._ceiling is not None:
            limit = min(limit, self._ceiling)
        points: tuple[str, ...] = ()
        body, room = "", limit - tail
        for _ in range(ROUNDS):
            body = self._write(max(room, 0))
            points = self._missing_points(body)
            size = self._count(self._joined(body, points))
            if size <= limit or not self._writer.rewrites:
                break
            room -= max(size - limit, 2)
            if room < 8:
                body, points = "", self._missing_points("")
                break
        if points:
            log_missing(len(points))
        return self._held(body, points), note

    def _missing_points(self, body: str) -> tuple[str, ...]:
        """What has to stand under Key Points: missing anchors, and spans that criteria need."""
        task = self._task
        points: list[str] = []
        if task.options.validate_anchors:
            points += anchor_points(missing_anchors(body, task.anchors, task.level))
        return (*points, *self._retained_spans(append_points(body, points)))

    def _retained_spans(self, content: str) -> tuple[str, ...]:
        """Spans of the source that mend what fails, for an engine that cannot be told."""
        if not self._writer.rewrites:
            return ()
        failures = validate_retention(content, self._task.asked)
        spans, hopeless = missing_spans(self._task.segment, failures, self._task.level)
        if hopeless:
            raise RetryExhaustedError(_hopeless(hopeless), 1, append_points(content, spans))
        return spans

    def _joined(self, body: str, points: Sequence[str]) -> str:
        content = append_points(body, points)
        if self._marker and not self._has_marker(body):
            content = f"{content}\n{self._marker}" if content else self._marker
        return content

    def _has_marker(self, body: str) -> bool:
        """Whether the engine wrote a marker that opens this segment."""
        task = self._task
        return bool(parse_markers(body, task.level, task.segment.id, source=self._source))

    def _held(self, body: str, points: Sequence[str]) -> str:
        """The content within the hard ceiling: the least important points go first."""
        content = self._joined(body, points)
        if self._ceiling is None:
            return content
        kept = list(points)
        while self._count(content) > self._ceiling and kept:
            kept.pop()
            content = self._joined(body, kept)
        if self._count(content) > self._ceiling:
            self._marker = ""
            content = self._joined(body, kept)
        return content if self._count(content) <= self._ceiling else self._cut(content)

    def _cut(self, content: str) -> str:
        """The beginning of a text in at most the ceiling, whole words."""
        assert self._ceiling is not None
        low, high = 0, len(content)
        while low < high:
            middle = (low + high + 1) // 2
            if self._count(content[:middle]) <= self._ceiling:
                low = middle
            else:
                high = middle - 1
        cut = content[:low]
        return cut if low == len(content) else cut[: max(cut.rfind(" "), 0)].rstrip()

    def _tags(self) -> tuple[str, str]:
        """Tags: what a person asked for verbatim, detected anchors as tags, then the engine's."""
        task = self._task
        limit = task.max_tokens if self._ceiling is None else min(task.max_tokens, self._ceiling)
        person = [fold(each.content) for each in task.anchors if each.source != "detected"]
        detected = [each for each in task.anchors if each.source == "detected"]
        chosen = self._anchor_tags(person, detected, limit)
        need = self._count(", ".join(chosen)) if chosen else 0
        note = f"anchors need {need} tokens" if need > task.max_tokens else ""
        room = limit - need
        body = self._write(room) if room >= 4 or not self._writer.rewrites else ""
        content = self._filled(chosen, tags_in(body), max(limit, need))
        spans = self._retained_spans(content)
        if spans:
            chosen = [*(fold(span) for span in spans), *chosen]
            content = self._filled(
                chosen, tags_in(body), max(limit, self._count(", ".join(chosen)))
            )
        if self._ceiling is not None and self._count(content) > self._ceiling:
            content = self._cut(content)
        return content, note

    def _anchor_tags(
        self, person: list[str], detected: Sequence[AnchorPoint], limit: int
    ) -> list[str]:
        if not self._task.options.validate_anchors:
            return list(dict.fromkeys(person))
        tags: list[str] = []
        for length in TAG_LENGTHS:
            tags = list(dict.fromkeys([*person, *(tag_of(e.content, length) for e in detected)]))
            if self._count(", ".join(tags)) <= limit:
                return tags
        if self._ceiling is None:
            return tags
        while len(tags) > len(person) and self._count(", ".join(tags)) > limit * TAGS_SHARE:
            tags.pop()
        return tags

    def _filled(self, tags: Sequence[str], more: Sequence[str], limit: int) -> str:
        """The tags, and as many of the others as fit."""
        whole = ", ".join(dict.fromkeys(more))
        if not tags and self._count(whole) <= limit:
            return whole
        kept = list(tags)
        known = {tag.lower() for tag in kept}
        size = self._count(", ".join(kept)) if kept else 0
        for tag in more:
            if tag.lower() in known:
                continue
            size += self._count(f", {tag}")
            if size > limit:
                break
            known.add(tag.lower())
            kept.append(tag)
        return ", ".join(kept)

    def _write(self, room: int) -> str:
        self._written = self._writer.write(structs.replace(self._task, max_tokens=room))
        self._model_tokens += self._written.model_tokens
        return self._written.text


def _by_weight(anchors: Sequence[AnchorPoint]) -> tuple[AnchorPoint, ...]:
    """What a person asked for first, then the most important."""
    return tuple(sorted(anchors, key=lambda each: (each.source == "detected", -each.importance)))


def _hopeless(failures: Sequence[RetentionFailure]) -> str:
    return (
        f"{diagnosis(failures)} No text of the segment matches it, so no summary of it can: "
        "correct the criterion, or write the summary by hand."
    )
