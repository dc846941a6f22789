"""The engine that needs no model: it extracts sentences of the conversation."""

from __future__ import annotations

from collections.abc import Callable

from reviewer.commits.values import Priority
from reviewer.compression.engine import EngineText, SummaryTask
from reviewer.compression.guided_extraction import guided_points
from reviewer.compression.values import AnchorPoint, Level

CARE_SHARE = 0.4
"""Share of a text that statements of IMPORTANT turns may claim before the choice is free."""


class OfflineEngine:
    """Extractive and deterministic. `count` counts tokens."""

    name = "offline"
    deterministic = True

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def write(self, task: SummaryTask) -> EngineText:
        """The text, at most `max_tokens` long; anchors verbatim as far as they fit."""
        if task.max_tokens <= 0:
            return EngineText("", self.name)
        # At Tags the anchors get tags of their own, which the summarizer adds.
        first = () if task.level is Level.TAGS else (*task.anchors, *self._guided(task))
        text = task.analysis.extractor.extract(task.level, task.max_tokens, first)
        if task.on_text is not None:
            task.on_text(text)
        return EngineText(text, self.name)

    def _guided(self, task: SummaryTask) -> tuple[AnchorPoint, ...]:
        """Statements that IMPORTANT turns put first, within their share of the text."""
        important = any(t.priority is Priority.IMPORTANT for t in task.segment.turns)
        if not important and not any(each.criteria.instructions for each in task.criteria):
            return ()
        room = round(task.max_tokens * CARE_SHARE)
        chosen: list[AnchorPoint] = []
        for point in guided_points(task.segment.turns, task.criteria):
            cost = self._count(point.content)
            if cost <= room or (not chosen and cost <= task.max_tokens):
                chosen.append(point)
                room -= cost
        return tuple(chosen)
