"""Levels for a target: the ceiling is on the text that comes out, not on an allocation."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from reviewer.compression.levels import Summarizer
from reviewer.compression.plan import Plan, Preview, first_levels, fit_levels
from reviewer.compression.previewing import (
    PreviewProgress,
    Watch,
    preview_choice,
    preview_plan,
)
from reviewer.compression.reading import ContextReading
from reviewer.compression.sizes import Reach, reach
from reviewer.compression.values import Level
from reviewer.errors import ReviewerError
from reviewer.llm.model import CancelledError


class UnreachableError(ReviewerError):
    """No levels bring a context to the target; the sentence says what would have to give."""

    def __init__(self, found: Reach) -> None:
        super().__init__(found.message)
        self.reach = found


def fit_plan(
    read: ContextReading,
    plan: Plan,
    target: int,
    offline: Summarizer,
    lowest: Level,
    count: Callable[[str], int],
    watch: Watch = Watch(),  # noqa: B008 - a frozen value
) -> Plan:
    """The plan with levels that keep the whole context within the target.

    Sized by what the offline engine writes; `watch` hears of every summary tried, of at most one a
    segment and level. Raises UnreachableError, and CancelledError when `watch` asks to stop.
    """
    sizes: dict[tuple[int, Level], int] = {}
    most = len(read.segments) * max(lowest, 1)
    quiet = structs.replace(watch, on_text=None, on_attempt=None)

    def size(number: int, level: Level) -> int:
        if level is Level.FULL:
            return read.segments[number].tokens
        if (number, level) not in sizes:
            if watch.cancelled is not None and watch.cancelled():
                raise CancelledError("Stopped while levels were chosen; nothing was written.")
            choice = structs.replace(plan.choices[number], level=level)
            sizes[number, level] = preview_choice(read, number, plan, choice, offline, quiet).tokens
            if watch.on_progress is not None:
                watch.on_progress(PreviewProgress(len(sizes), most, read.segments[number].id))
        return sizes[number, level]

    first = first_levels(read.segments, read.anchors)
    levels = fit_levels(first, target, read.fixed, size, lowest)
    if levels is None:
        least = read.fixed + sum(size(number, lowest) for number in range(len(read.segments)))
        raise UnreachableError(_reach(read, target, count, lowest, needs=least))
    choices = tuple(
        structs.replace(choice, level=level)
        for choice, level in zip(plan.choices, levels, strict=True)
    )
    return structs.replace(plan, choices=choices, target=target)


def lowered(
    read: ContextReading,
    found: Preview,
    target: int,
    summarizer: Summarizer,
    watch: Watch,
    lowest: Level,
    count: Callable[[str], int],
) -> Preview:
    """A preview within the target: what came out too long goes to the next level, largest first.

    Raises UnreachableError when everything is at the lowest.
    """
    while found.tokens_after > target:
        large = [each for each in found.segments if each.level < lowest and each.tokens]
        if not large:
            raise UnreachableError(_reach(read, target, count, lowest, needs=found.tokens_after))
        worst = max(large, key=lambda each: each.tokens)
        plan = found.plan.with_level(worst.segment.id, Level(worst.level + 1))
        found = preview_plan(read, plan, summarizer, watch=watch)
    return found


def _reach(
    read: ContextReading, target: int, count: Callable[[str], int], lowest: Level, *, needs: int
) -> Reach:
    """Why a target was missed, with what was needed in truth instead of the estimate."""
    return reach(read.chain, read.segments, read.anchors, target, count, lowest, at_least=needs)
