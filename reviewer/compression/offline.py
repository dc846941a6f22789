"""The engine that needs no model: sentences of the source, chosen for what they cover."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from reviewer.commits.values import Priority
from reviewer.compression.careful import careful_points
from reviewer.compression.values import AnchorPoint, Level, Segment, Turn
from reviewer.compression.writing import WritingTask, Written

if TYPE_CHECKING:
    from reviewer.compression.selection import Selector

REMEMBERED = 96
"""Segments whose analysis is kept for the next level: those of a long session."""
CARE_SHARE = 0.4
"""Share of a text that IMPORTANT turns may claim before the choice is free."""


class OfflineWriter:
    """Extractive and deterministic; analyses a segment once for all its levels."""

    name = "offline"
    rewrites = True

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._selectors: OrderedDict[int, tuple[Sequence[Turn], Selector]] = OrderedDict()

    def write(self, task: WritingTask) -> Written:
        """The text, at most `max_tokens` long; anchors verbatim as far as they fit."""
        if task.max_tokens <= 0:
            return Written("", self.name)
        # At Tags what comes out is joined to the anchors' own tags.
        must = () if task.level is Level.TAGS else (*task.anchors, *self._careful(task))
        text = self._selector(task.segment).condense(task.level, task.max_tokens, must)
        if task.on_text is not None:
            task.on_text(text)
        return Written(text, self.name)

    def _selector(self, segment: Segment) -> Selector:
        from reviewer.compression.selection import Selector

        key = id(segment.turns)
        known = self._selectors.get(key)
        if known is None or known[0] is not segment.turns:
            known = self._selectors[key] = (segment.turns, Selector(segment.turns, self._count))
            while len(self._selectors) > REMEMBERED:
                self._selectors.popitem(last=False)
        self._selectors.move_to_end(key)
        return known[1]

    def _careful(self, task: WritingTask) -> tuple[AnchorPoint, ...]:
        """What IMPORTANT turns say that comes first, within their share of the text."""
        if task.level is Level.TAGS:
            return ()
        important = any(t.priority is Priority.IMPORTANT for t in task.segment.turns)
        if not important and not any(each.criteria.instructions for each in task.asked):
            return ()
        room = round(task.max_tokens * CARE_SHARE)
        chosen: list[AnchorPoint] = []
        for point in careful_points(task.segment.turns, task.asked):
            cost = self._count(point.content)
            if cost <= room or (not chosen and cost <= task.max_tokens):
                chosen.append(point)
                room -= cost
        return tuple(chosen)
