"""The engine without a model."""

from __future__ import annotations

from collections.abc import Callable

from reviewer.commits.values import Priority
from reviewer.compression.engine import EngineText, SummaryTask
from reviewer.compression.tags import tag_list
from reviewer.compression.values import Level
from reviewer.compression.writing import begun, write_session
from reviewer.text.clip import clip

SHOWN = 48
"""Characters of a result whose call is in an earlier segment."""


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
        analysis, room = task.analysis, task.max_tokens
        session, title = analysis.session, ""
        first = analysis.segment.turns[0]
        if first.kind == "tool_result" and not (session.speeches or session.steps):
            name = first.name or "A call"  # which is in an earlier segment
            title = begun(f"{name} returned: {clip(first.text, SHOWN)}", room, self._count)
            room -= self._count(f"{title}\n")
        if task.level is Level.TAGS:  # the summarizer adds tags for the anchors
            terms = analysis.called_terms
            asked = session.requests[-1].text if session.requests else ""
            tags = tag_list(analysis.segment, terms, room, self._count, asked)
            text = ", ".join(filter(None, (title, *tags)))
        else:
            wanted = [anchor.content for anchor in task.anchors]
            turns = enumerate(analysis.segment.turns)
            cared_for = {at for at, turn in turns if turn.priority is Priority.IMPORTANT}
            part = analysis.segment.is_part
            text = write_session(session, room, self._count, wanted, cared_for, part=part)
            text = f"{title}\n{text}".strip()
        return EngineText(text, self.name)
