"""The engine that needs no model: it tells what was said and done in the shape of `shape.py`."""

from __future__ import annotations

from collections.abc import Callable

from reviewer.commits.values import Priority
from reviewer.compression.engine import EngineText, SummaryTask
from reviewer.compression.guided_extraction import guided_points
from reviewer.compression.offline.tags import tag_list
from reviewer.compression.values import AnchorPoint, Level

CARE_SHARE = 0.4
"""Share of a text that statements of IMPORTANT turns may claim before the choice is free."""


class OfflineEngine:
    """Deterministic. `count` counts tokens."""

    name = "offline"
    deterministic = True

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def write(self, task: SummaryTask) -> EngineText:
        """The text, at most `max_tokens` long; anchors verbatim as far as they fit."""
        if task.max_tokens <= 0:
            return EngineText("", self.name)
        account = task.analysis.account
        turns = task.analysis.segment.turns
        if task.level is Level.TAGS:  # the summarizer adds tags for the anchors
            tags = tag_list(account.moments, account.state, task.max_tokens, self._count, turns)
            text = ", ".join(tags)
        else:
            text = account.write(task.max_tokens, (*task.anchors, *self._guided(task)), turns)
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
