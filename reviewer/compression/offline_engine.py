"""The engine that needs no model."""

from __future__ import annotations

from collections.abc import Callable

from reviewer.commits.values import Priority
from reviewer.compression.engine import EngineText, SummaryTask
from reviewer.compression.fidelity import insisted_in
from reviewer.compression.guided_extraction import guided_points
from reviewer.compression.tags import tag_list
from reviewer.compression.values import Level
from reviewer.compression.writing import write_session

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
        analysis = task.analysis
        if task.level is Level.TAGS:  # the summarizer adds tags for the anchors
            asked = analysis.session.request
            tags = tag_list(analysis.segment, analysis.terms, task.max_tokens, self._count, asked)
            text = ", ".join(tags)
        else:
            wanted = [*(anchor.content for anchor in task.anchors), *self._guided(task)]
            insisted = insisted_in(task.anchors, analysis.segment.turns)
            text = write_session(analysis.session, task.max_tokens, self._count, wanted, insisted)
        if task.on_text is not None:
            task.on_text(text)
        return EngineText(text, self.name)

    def _guided(self, task: SummaryTask) -> list[str]:
        """Statements that IMPORTANT turns put first, within their share of the text."""
        important = any(t.priority is Priority.IMPORTANT for t in task.segment.turns)
        if not important and not any(each.criteria.instructions for each in task.criteria):
            return []
        room = round(task.max_tokens * CARE_SHARE)
        chosen: list[str] = []
        for point in guided_points(task.segment.turns, task.criteria):
            cost = self._count(point.content)
            if cost <= room or (not chosen and cost <= task.max_tokens):
                chosen.append(point.content)
                room -= cost
        return chosen
