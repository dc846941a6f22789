"""Levels for a token target: the newest segments fullest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from msgspec import structs

from reviewer.commits.values import Priority
from reviewer.compression.context_snapshot import ContextSnapshot
from reviewer.compression.plan import CompressionPlan, LevelChoice, Preview
from reviewer.compression.preview import PreviewProgress, Watch, preview_choice, preview_plan
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.values import OFFLINE, Level
from reviewer.errors import ReviewerError
from reviewer.llm.model import CancelledError
from reviewer.llm.steering import RetryExhaustedError

LAST_FULL = 2
"""Segments at the end that stay Full while there is room."""
NONE_OWN: Mapping[int, Level] = MappingProxyType({})


class UnreachableError(ReviewerError):
    """No levels bring a context to the target. `needs`: the fewest tokens that it can have."""

    def __init__(self, target: int, needs: int, ways: Sequence[str]) -> None:
        wanted = f"{target:,} {'token' if target == 1 else 'tokens'}"
        advice = ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])}, or {ways[-1]}"
        super().__init__(
            f"{wanted} cannot be reached: the smallest it gets is {needs:,}. "
            f"{advice[0].upper()}{advice[1:]}."
        )
        self.needs = needs


def _unreachable(
    snapshot: ContextSnapshot,
    target: int,
    needs: int,
    lowest: Level,
    refused: Sequence[str] = (),
    *,
    doubted: bool = False,
) -> UnreachableError:
    """The error with what would make the context smaller.

    `refused`: segments that stay Full because their criteria cannot be met. `doubted`: summaries
    were left out because they do not pass.
    """
    ways = []
    if any(commit.turn.priority is Priority.PINNED for commit in snapshot.chain):
        ways.append("unpin something")
    if refused:
        named = ", ".join(refused[:3]) + (" and others" if len(refused) > 3 else "")
        stay = "stays" if len(refused) == 1 else "stay"
        ways.append(f"correct the criteria of {named}, which {stay} Full because of them")
    if lowest is not Level.TAGS:
        ways.append(f"use a licence with levels below {lowest.name.capitalize()}")
    ways.append("choose a larger target")
    if doubted:
        ways.append("take summaries that do not pass their checks")
    return UnreachableError(target, needs, ways)


def fit_levels(
    segments: int,
    target: int,
    fixed: int,
    size: Callable[[int, Level], int],
    lowest: Level = Level.TAGS,
    own: Mapping[int, Level] = NONE_OWN,
) -> tuple[list[Level], int]:
    """Levels with which `fixed` and the segments' sizes stay within the target, and their sum; the
    smallest ones where none do.

    From the smallest on, the last two segments become as full as there is room, then the others
    level by level, the newest first. `size` gives the tokens of a segment at a level. `own`: levels
    that stay as they are.
    """
    fullest = [own.get(number, Level.FULL) for number in range(segments)]
    full = fixed + sum(size(number, level) for number, level in enumerate(fullest))
    if full <= target:
        return fullest, full
    nearest = [Level(level) for level in range(lowest + 1)]
    fuller = nearest[::-1]
    chosen = [
        own[number] if number in own else min(nearest, key=lambda level: size(number, level))
        for number in range(segments)
    ]
    total = fixed + sum(size(number, level) for number, level in enumerate(chosen))
    newest = [number for number in range(segments - 1, -1, -1) if number not in own]
    wishes = [(number, level) for number in newest[:LAST_FULL] for level in nearest]
    wishes += [(number, level) for level in fuller for number in newest]
    for number, level in wishes:
        grown = size(number, level) - size(number, chosen[number])
        if level < chosen[number] and total + grown <= target:
            chosen[number] = level
            total += grown
    return chosen, total


def fit_plan(
    snapshot: ContextSnapshot,
    plan: CompressionPlan,
    target: int,
    offline: Summarizer,
    lowest: Level,
    watch: Watch = Watch(),  # noqa: B008 - a frozen value
    *,
    anyway: bool = False,
    own: Sequence[LevelChoice] = (),
) -> CompressionPlan:
    """The plan with levels that keep the whole context within the target.

    Sizes are those of the offline engine. If it writes the summaries, only those that pass their
    checks are chosen, unless `anyway`. `own`: choices that stay as they are. `watch` gets the
    progress, at most one summary for each segment and level. Raises UnreachableError, and
    CancelledError when `watch` asks to stop.
    """
    has_to_pass = plan.engine == OFFLINE and not anyway
    doubted = False
    sizes: dict[tuple[int, Level], int] = {}
    refused: dict[str, None] = {}
    kept = {snapshot.index_of(choice.segment): choice for choice in own}
    most = len(snapshot.segments) * max(lowest, 1)
    quiet = structs.replace(watch, on_text=None, on_attempt=None)

    def size(number: int, level: Level) -> int:
        nonlocal doubted
        if level is Level.FULL:
            return snapshot.segments[number].tokens
        if (number, level) not in sizes:
            if watch.cancelled is not None and watch.cancelled():
                raise CancelledError("Stopped while levels were chosen; nothing was written.")
            choice = kept.get(number) or structs.replace(plan.choices[number], level=level)
            try:
                preview = preview_choice(snapshot, plan, choice, offline, quiet)
                found = preview.tokens
                if has_to_pass and preview.in_doubt and number not in kept:
                    found, doubted = snapshot.segments[number].tokens, True
            except RetryExhaustedError:  # its criteria cannot be met, so it stays Full
                found = snapshot.segments[number].tokens
                refused[snapshot.segments[number].id] = None
            sizes[number, level] = found
            if watch.on_progress is not None:
                segment = snapshot.segments[number].id
                watch.on_progress(PreviewProgress(len(sizes), most, segment))
        return sizes[number, level]

    stay = {number: choice.level for number, choice in kept.items()}
    levels, needs = fit_levels(len(snapshot.segments), target, snapshot.fixed, size, lowest, stay)
    if needs > target:
        raise _unreachable(snapshot, target, needs, lowest, tuple(refused), doubted=doubted)
    choices = tuple(
        kept.get(number) or structs.replace(choice, level=level)
        for number, (choice, level) in enumerate(zip(plan.choices, levels, strict=True))
    )
    return structs.replace(plan, choices=choices, target=target)


def lower_to_target(
    snapshot: ContextSnapshot,
    preview: Preview,
    target: int,
    summarizer: Summarizer,
    watch: Watch,
    lowest: Level,
) -> Preview:
    """The preview within the target: the largest summary goes to the next level until it fits.

    Raises UnreachableError when everything is at the lowest.
    """
    stuck: set[str] = set()
    while preview.tokens_after > target:
        stuck |= {each.segment.id for each in preview.segments if each.refused}
        large = [
            each
            for each in preview.segments
            if each.level < lowest and each.tokens and each.segment.id not in stuck
        ]
        if not large:
            raise _unreachable(snapshot, target, preview.tokens_after, lowest, sorted(stuck))
        worst = max(large, key=lambda each: each.tokens)
        plan = preview.plan.with_level(worst.segment.id, Level(worst.level + 1))
        preview = preview_plan(snapshot, plan, summarizer, watch=watch)
    return preview
