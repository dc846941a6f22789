"""Builds a level's content from an engine's text: anchors restored, criteria and ceilings met."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from reviewer.compression.engine import EngineText, SummaryEngine, SummaryTask
from reviewer.compression.fidelity import missing_anchors, tags_in
from reviewer.compression.markers import parse_markers
from reviewer.compression.measures import log_missing
from reviewer.compression.retention import (
    anchor_points,
    append_points,
    diagnosis,
    find_impossible,
    validate_retention,
)
from reviewer.compression.values import AnchorPoint, Level
from reviewer.compression.verbatim import anchor_tag
from reviewer.compression.writing import begun
from reviewer.llm.steering import RetryExhaustedError
from reviewer.text.normalise import fold

ROUNDS = 4
"""Requests for a text in another length before it is cut."""
BESIDE = 30
"""Minimum tokens of a text beside its anchors, for the request and the state."""
LINE = 3
"""Extra tokens of an anchor on a line of its own."""
TAGS_SHARE = 0.5
"""Share of a hard ceiling that tags of detected anchors may take at Tags."""


class Assembly:
    """One level of one segment. `marker` ends the content; empty for none."""

    def __init__(
        self,
        engine: SummaryEngine,
        task: SummaryTask,
        marker: str,
        count: Callable[[str], int],
    ) -> None:
        self._engine = engine
        self._task = structs.replace(task, anchors=_by_weight(task.anchors))
        self._count = count
        self._ceiling = task.options.ceiling
        self._marker = marker if self._ceiling is None or self._ceiling > 60 else ""
        self._written: EngineText | None = None
        self._model_tokens = 0

    def run(self) -> EngineText:
        """The content. Raises as the engine does, and RetryExhaustedError for unmet criteria."""
        self._refuse_impossible()
        content, note = self._tags() if self._task.level is Level.TAGS else self._prose()
        failures = validate_retention(content, self._task.criteria)
        if failures:
            why = diagnosis(failures)
            if self._ceiling is not None:
                why += f" The ceiling of {self._ceiling} tokens may be too low."
            attempts = self._written.attempts if self._written else 1
            raise RetryExhaustedError(why, attempts, content)
        written = self._written or EngineText("", self._engine.name)
        return structs.replace(
            written,
            text=content,
            model_tokens=self._model_tokens,
            note="; ".join(filter(None, (note, written.note))),
            written="" if self._engine.deterministic else written.text,
        )

    def _prose(self) -> tuple[str, str]:
        """Detailed and Brief: the engine's text, Key Points for missing anchors, the marker."""
        task = self._task
        tail = self._count(f"\n{self._marker}") if self._marker else 0
        need = sum(self._count(each.content) + 1 for each in task.anchors)
        note = f"anchors need {need} tokens" if need > task.max_tokens else ""
        limit = task.max_tokens
        if need:
            limit = max(limit, need + LINE * len(task.anchors) + BESIDE + tail)
        if self._ceiling is not None:
            limit = min(limit, self._ceiling)
        points: tuple[str, ...] = ()
        body, room = "", limit - tail
        for _ in range(ROUNDS):
            body = self._write(max(room, 0))
            points = self._missing_points(body)
            size = self._count(self._joined(body, points)) - self._wished(body)
            if size <= limit or not self._engine.deterministic:
                break
            room -= max(size - limit, 2)
            if room < 8:
                body, points = "", self._missing_points("")
                break
        if points:
            log_missing(len(points))
        return self._within_ceiling(body, points), note

    def _wished(self, body: str) -> int:
        """Tokens of a person's requirements, which are added without cutting anything else."""
        if self._ceiling is not None:
            return 0
        task = self._task
        missing = missing_anchors(body, task.anchors, task.level)
        person = [each for each in missing if each.source != "detected"]
        points = anchor_points(person, task.segment)
        return self._count(append_points("", points)) + LINE if points else 0

    def _missing_points(self, body: str) -> tuple[str, ...]:
        """The Key Points: missing anchors."""
        task = self._task
        return anchor_points(missing_anchors(body, task.anchors, task.level), task.segment)

    def _refuse_impossible(self) -> None:
        """Raise RetryExhaustedError for a criterion that matches nothing in the segment."""
        task = self._task
        failures = validate_retention("", task.criteria)
        if impossible := find_impossible(task.segment, failures):
            raise RetryExhaustedError(
                f"{diagnosis(impossible)} No text of the segment matches it, so no summary of it "
                "can: correct the criterion, or write the summary by hand.",
                1,
                "",
            )

    def _joined(self, body: str, points: Sequence[str]) -> str:
        content = append_points(body, points)
        if self._marker and not self._has_marker(body):
            content = f"{content}\n{self._marker}" if content else self._marker
        return content

    def _has_marker(self, body: str) -> bool:
        """Whether the engine wrote a marker that expands this segment."""
        task = self._task
        return bool(parse_markers(body, task.level, task.segment.id, source=task.analysis))

    def _within_ceiling(self, body: str, points: Sequence[str]) -> str:
        """The content within the hard ceiling: the last points go first, then the marker."""
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
        return begun(content, self._ceiling, self._count)

    def _tags(self) -> tuple[str, str]:
        """Tags: a person's anchors verbatim, detected anchors as tags, then the engine's tags."""
        task = self._task
        limit = min(task.max_tokens, self._ceiling or task.max_tokens)
        own = [fold(each.content) for each in task.anchors if each.source != "detected"]
        detected = [anchor_tag(e.content) for e in task.anchors if e.source == "detected"]
        tags = list(dict.fromkeys([*own, *detected]))
        if self._ceiling is not None and self._count(", ".join(tags)) > limit:
            while len(tags) > len(own) and self._count(", ".join(tags)) > limit * TAGS_SHARE:
                tags.pop()
        need = self._count(", ".join(tags))
        note = f"anchors need {need} tokens" if need > task.max_tokens else ""
        room = limit - need
        body = self._write(room) if room >= 4 or not self._engine.deterministic else ""
        known, size = {tag.lower() for tag in tags}, need
        for tag in tags_in(body):
            if tag.lower() not in known:
                size += self._count(f", {tag}")
                if size > max(limit, need):
                    break
                known.add(tag.lower())
                tags.append(tag)
        content = ", ".join(tags)
        if self._ceiling is not None:
            content = begun(content, self._ceiling, self._count)
        return content, note

    def _write(self, room: int) -> str:
        self._written = self._engine.write(structs.replace(self._task, max_tokens=room))
        self._model_tokens += self._written.model_tokens
        return self._written.text


def _by_weight(anchors: Sequence[AnchorPoint]) -> tuple[AnchorPoint, ...]:
    """A person's anchors first, then by importance."""
    return tuple(sorted(anchors, key=lambda each: (each.source == "detected", -each.importance)))
