"""What is to become of a context's segments, and how levels are chosen for a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, structs

from reviewer.compression.retention import RetentionFailure
from reviewer.compression.values import (
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    Level,
    Locked,
    Segment,
    SummarizationOptions,
)
from reviewer.errors import ReviewerError

LAST_FULL = 2
"""Segments at the end that stay as they are while there is room."""
RICH = 5
"""Anchors from which on a segment is rich in them."""


class Choice(Struct, frozen=True, gc=False):
    """A level for one segment, and the summary where there is one already."""

    segment: str
    level: Level
    sources: tuple[int, ...]
    """Ids of the segment's commits, to notice that the context changed meanwhile."""
    content: str | None = None
    """The summary, from a preview or written by hand; None: the engine writes it."""
    engine: str = ""
    """What wrote `content`; `by hand` for a person."""
    append_missing: bool = False
    """Put back what retention criteria miss, instead of refusing."""


class Plan(Struct, frozen=True, gc=False):
    """Choices for the segments of a context, or of a range of it."""

    context: int
    head: str | None
    """Hash of the context's head when the plan was made."""
    choices: tuple[Choice, ...]
    start: int | None = None
    """First commit of the range, None for the chain's first."""
    end: int | None = None
    """Last commit of the range, included; None for the chain's last."""
    engine: str = "offline"
    options: SummarizationOptions = SummarizationOptions()
    target: int | None = None
    """Tokens that the whole context should have at most."""

    def with_level(self, segment: str, level: Level) -> Plan:
        """The same with another level for one segment; its summary has to be written again."""
        return self._with(segment, level=level, content=None, engine="", append_missing=False)

    def with_text(self, segment: str, content: str, *, append_missing: bool = False) -> Plan:
        """The same with a summary that a person wrote."""
        return self._with(segment, content=content, engine="by hand", append_missing=append_missing)

    def _with(self, segment: str, **changes: object) -> Plan:
        return structs.replace(
            self,
            choices=tuple(
                structs.replace(choice, **changes) if choice.segment == segment else choice
                for choice in self.choices
            ),
        )


class SegmentPreview(Struct, frozen=True, gc=False):
    """What one segment would become."""

    segment: Segment
    level: Level
    compressed: CompressedSegment
    fidelity: FidelityValidation
    failures: tuple[RetentionFailure, ...] = ()
    """Retention criteria that a summary by hand does not meet."""
    kept: str = ""
    """Why it stays as it is although another level was asked for."""

    @property
    def tokens(self) -> int:
        """Tokens that it will have in the context."""
        return self.segment.tokens if self.kept else self.compressed.token_count


class Preview(Struct, frozen=True):
    """What a plan would make of a context; `plan` has the summaries in it, ready to apply."""

    plan: Plan
    segments: tuple[SegmentPreview, ...]
    tokens_before: int
    tokens_after: int

    def to_json(self) -> list[dict[str, Any]]:
        """Every segment as scripts read it, then the whole."""
        from reviewer.compression.summary_json import preview_json, total_json

        return [*(preview_json(each) for each in self.segments), total_json(self)]


class SegmentAtLevel(Struct, frozen=True):
    """One segment at one of its levels, or why that is held back."""

    segment: Segment
    level: Level
    compressed: CompressedSegment | None = None
    fidelity: FidelityValidation | None = None
    locked: Locked | None = None

    @property
    def tokens(self) -> int:
        """Tokens of the content; 0 where it is held back."""
        return self.compressed.token_count if self.compressed else 0

    def to_json(self) -> dict[str, Any]:
        """The summary as scripts read it, or that it is locked."""
        from reviewer.compression.summary_json import locked_json, summary_json

        if self.compressed is None or self.fidelity is None:
            assert self.locked is not None
            return locked_json(self.segment, self.locked)
        return summary_json(self.segment, self.compressed, self.fidelity)


class Applied(Struct, frozen=True):
    """A compression that was written."""

    act: int
    title: str
    tokens_before: int
    tokens_after: int
    segments: int = 0
    """Segments that became a summary."""


def read_level(level: Level | str) -> Level:
    """The level of that name. Raises ReviewerError, naming all."""
    if isinstance(level, Level):
        return level
    found = Level.__members__.get(level.strip().upper())
    if found is None:
        names = ", ".join(each.name.lower() for each in Level)
        raise ReviewerError(f'There is no level "{level}"; choose {names}.')
    return found


def sources(segment: Segment) -> tuple[int, ...]:
    """The ids of a segment's commits."""
    return tuple(turn.commit for turn in segment.turns if turn.commit is not None)


def first_levels(
    segments: Sequence[Segment], anchors: Sequence[Sequence[AnchorPoint]]
) -> list[Level]:
    """The last two segments Full, those rich in anchors Detailed, the rest Brief (settled.md)."""
    levels = [Level.DETAILED if len(found) >= RICH else Level.BRIEF for found in anchors]
    for number in range(max(len(segments) - LAST_FULL, 0), len(segments)):
        levels[number] = Level.FULL
    return levels


def fit_levels(
    levels: Sequence[Level],
    target: int,
    fixed: int,
    size: Callable[[int, Level], int],
    lowest: Level = Level.TAGS,
) -> list[Level] | None:
    """Levels with which `fixed` and the segments' sizes stay within the target; None if none do.

    Where there is no room, the oldest are lowered first and the last two last; where there is, also
    what lowering left over, the newest become fuller. `size` gives the tokens of the text that
    comes out.
    """
    chosen = [min(level, lowest) for level in levels]
    sizes = [size(number, level) for number, level in enumerate(chosen)]
    room = target - fixed
    if sum(sizes) > room:
        _lower(chosen, sizes, room, size, lowest)
        if sum(sizes) > room:
            return None
    _fill(chosen, sizes, room, size)
    return chosen


def _lower(
    chosen: list[Level],
    sizes: list[int],
    room: int,
    size: Callable[[int, Level], int],
    lowest: Level,
) -> None:
    """Lower levels in place until the sizes fit the room, or everything is at the lowest."""
    old = max(len(chosen) - LAST_FULL, 0)
    total = sum(sizes)
    for group in (range(old), range(old, len(chosen))):
        for level in (Level.DETAILED, Level.BRIEF, Level.TAGS):
            for number in group:
                if chosen[number] >= level or level > lowest:
                    continue
                shrunk = min(size(number, level), sizes[number])
                total += shrunk - sizes[number]
                chosen[number], sizes[number] = level, shrunk
                if total <= room:
                    return


def _fill(
    chosen: list[Level], sizes: list[int], room: int, size: Callable[[int, Level], int]
) -> None:
    """Raise levels in place, the newest first, as long as the sizes fit the room."""
    total = sum(sizes)
    for level in (Level.BRIEF, Level.DETAILED, Level.FULL):
        for number in range(len(chosen) - 1, -1, -1):
            if chosen[number] <= level:
                continue
            grown = size(number, level)
            if total - sizes[number] + grown <= room:
                total += grown - sizes[number]
                chosen[number], sizes[number] = level, grown
