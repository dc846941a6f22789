"""Levels for a token target, and how small a context can get."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from reviewer.commits.values import Priority
from reviewer.compression.context_snapshot import ContextSnapshot
from reviewer.compression.plan import Plan, Preview
from reviewer.compression.preview import PreviewProgress, Watch, preview_choice, preview_plan
from reviewer.compression.summarizer import Summarizer, segment_target
from reviewer.compression.values import OFFLINE, AnchorPoint, Level, Segment
from reviewer.compression.verbatim import TAG_LENGTHS, anchor_tag
from reviewer.errors import ReviewerError
from reviewer.llm.model import CancelledError
from reviewer.llm.steering import RetryExhaustedError

LAST_FULL = 2
"""Segments at the end that stay Full while there is room."""
RICH = 5
"""Anchors from which on a segment is kept Detailed."""
MOST_COSTLY = 20
"""Costs that are named where a target cannot be reached."""


class Outlook(Struct, frozen=True):
    """Estimated tokens of a context now and at each level; a preview has the exact numbers."""

    total: int
    by_priority: dict[Priority, int]
    at_level: dict[Level, int]
    """Tokens of the whole context if every segment went to that level."""
    floor: int
    """Tokens of pins and anchors, the least that the context can have."""


class Cost(Struct, frozen=True):
    """A span or commit that keeps a context from getting smaller."""

    commit: int
    hash: str
    tokens: int
    why: str


class Reach(Struct, frozen=True):
    """Whether a target can be reached, and the largest costs if not."""

    target: int
    reachable: bool
    needs: int
    costly: tuple[Cost, ...]
    message: str


def outlook(snapshot: ContextSnapshot, count: Callable[[str], int]) -> Outlook:
    """The sizes of a context, from token counts alone."""
    by_priority = {
        priority: sum(c.turn.tokens for c in snapshot.chain if c.turn.priority is priority)
        for priority in Priority
    }
    segments, anchors = snapshot.segments, snapshot.anchors
    pinned = by_priority[Priority.PINNED]
    total = sum(by_priority.values()) - by_priority[Priority.SKIP]
    at_level = {Level.FULL: total}
    for level in (Level.DETAILED, Level.BRIEF, Level.TAGS):
        at_level[level] = pinned + sum(
            min(
                segment.tokens,
                max(segment_target(segment, level), anchors_need(found, level, count)),
            )
            for segment, found in zip(segments, anchors, strict=True)
        )
    needs = pinned + sum(
        min(segment.tokens, anchors_need(found, Level.TAGS, count))
        for segment, found in zip(segments, anchors, strict=True)
    )
    return Outlook(total, by_priority, at_level, needs)


def anchors_need(anchors: Sequence[AnchorPoint], level: Level, count: Callable[[str], int]) -> int:
    """Tokens of the anchors of a segment at a level."""
    if level is not Level.TAGS:
        return sum(count(each.content) + 1 for each in anchors)
    shortest = min(TAG_LENGTHS)
    return sum(
        count(anchor_tag(each.content, shortest) if each.source == "detected" else each.content) + 1
        for each in anchors
    )


def reach(
    snapshot: ContextSnapshot,
    target: int,
    count: Callable[[str], int],
    lowest: Level,
    *,
    at_least: int | None = None,
    refused: Sequence[str] = (),
    doubted: bool = False,
) -> Reach:
    """Whether the target can be reached at the lowest level, and the largest costs.

    `at_least`: tokens that are needed, where a dry run has shown it, instead of an estimate.
    `refused`: segments that stay Full because their criteria cannot be met. `doubted`: summaries
    were left out because they do not pass.
    """
    sizes = outlook(snapshot, count)
    needs = sizes.at_level[lowest] if at_least is None else at_least
    hashes = {commit.id: commit.hash for commit in snapshot.chain}
    costs = [
        Cost(commit.id, commit.hash, commit.turn.tokens, "pinned")
        for commit in snapshot.chain
        if commit.turn.priority is Priority.PINNED
    ]
    for segment, found in zip(snapshot.segments, snapshot.anchors, strict=True):
        for each in found:
            number = segment.turns[each.turn].commit
            if each.source != "detected" and number is not None:
                tokens = count(each.content)
                costs.append(Cost(number, hashes[number], tokens, f"{each.source} span"))
    costs.sort(key=lambda cost: -cost.tokens)
    reachable = target >= needs
    wanted = f"{target:,} {'token' if target == 1 else 'tokens'}"
    about = "about " if at_least is None else ""
    message = (
        f"{wanted} can be reached."
        if reachable
        else f"{wanted} cannot be reached: pins and anchors need {sizes.floor:,}, and the "
        f"smallest it gets is {about}{needs:,}. {_advice(costs, lowest, refused, doubted)}"
    )
    return Reach(target, reachable, needs, tuple(costs[:MOST_COSTLY]), message)


def _advice(costs: Sequence[Cost], lowest: Level, refused: Sequence[str], doubted: bool) -> str:
    """What would make a context smaller."""
    ways = ["choose a larger target"]
    if doubted:
        ways.append("take summaries that do not pass their checks")
    if lowest is not Level.TAGS:
        ways.insert(0, f"use a licence with levels below {lowest.name.capitalize()}")
    if refused:
        named = ", ".join(refused[:3]) + (" and others" if len(refused) > 3 else "")
        stay = "stays" if len(refused) == 1 else "stay"
        ways.insert(0, f"correct the criteria of {named}, which {stay} Full because of them")
    if costs:
        ways.insert(0, "unpin something")
    words = ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])}, or {ways[-1]}"
    return f"{words[0].upper()}{words[1:]}."


class UnreachableError(ReviewerError):
    """No levels bring a context to the target; the message names the largest costs."""

    def __init__(self, found: Reach) -> None:
        super().__init__(found.message)
        self.reach = found


def first_levels(
    segments: Sequence[Segment], anchors: Sequence[Sequence[AnchorPoint]]
) -> list[Level]:
    """The last two segments Full, those rich in anchors Detailed, the rest Brief."""
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

    Levels are lowered from the oldest on, the last two segments last. Then levels are raised from
    the newest on, as far as there is room. `size` gives the tokens of a segment at a level.
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
                shrunk = size(number, level)
                if shrunk >= sizes[number]:  # nothing is won, or it does not pass its checks
                    continue
                total += shrunk - sizes[number]
                chosen[number], sizes[number] = level, shrunk
                if total <= room:
                    return


def _fill(
    chosen: list[Level], sizes: list[int], room: int, size: Callable[[int, Level], int]
) -> None:
    """Raise levels in place, the newest first, while the sizes fit the room."""
    total = sum(sizes)
    for level in (Level.BRIEF, Level.DETAILED, Level.FULL):
        for number in range(len(chosen) - 1, -1, -1):
            if chosen[number] <= level:
                continue
            grown = size(number, level)
            if total - sizes[number] + grown <= room:
                total += grown - sizes[number]
                chosen[number], sizes[number] = level, grown


def fit_plan(
    snapshot: ContextSnapshot,
    plan: Plan,
    target: int,
    offline: Summarizer,
    lowest: Level,
    count: Callable[[str], int],
    watch: Watch = Watch(),  # noqa: B008 - a frozen value
    *,
    anyway: bool = False,
) -> Plan:
    """The plan with levels that keep the whole context within the target.

    Sizes are those of the offline engine. If it writes the summaries, only those that pass their
    checks are chosen, unless `anyway`. `watch` gets the progress, at most one summary for each
    segment and level. Raises UnreachableError, and CancelledError when `watch` asks to stop.
    """
    has_to_pass = plan.engine == OFFLINE and not anyway
    doubted = False
    sizes: dict[tuple[int, Level], int] = {}
    refused: dict[str, None] = {}
    most = len(snapshot.segments) * max(lowest, 1)
    quiet = structs.replace(watch, on_text=None, on_attempt=None)

    def size(number: int, level: Level) -> int:
        nonlocal doubted
        if level is Level.FULL:
            return snapshot.segments[number].tokens
        if (number, level) not in sizes:
            if watch.cancelled is not None and watch.cancelled():
                raise CancelledError("Stopped while levels were chosen; nothing was written.")
            choice = structs.replace(plan.choices[number], level=level)
            try:
                preview = preview_choice(snapshot, plan, choice, offline, quiet)
                found = preview.tokens
                if has_to_pass and preview.in_doubt:
                    found, doubted = snapshot.segments[number].tokens, True
            except RetryExhaustedError:  # its criteria cannot be met, so it stays Full
                found = snapshot.segments[number].tokens
                refused[snapshot.segments[number].id] = None
            sizes[number, level] = found
            if watch.on_progress is not None:
                segment = snapshot.segments[number].id
                watch.on_progress(PreviewProgress(len(sizes), most, segment))
        return sizes[number, level]

    first = first_levels(snapshot.segments, snapshot.anchors)
    levels = fit_levels(first, target, snapshot.fixed, size, lowest)
    if levels is None:
        levels = [Level(level) for level in range(1, lowest + 1)]
        needs = snapshot.fixed + sum(
            min(size(number, level) for level in (Level.FULL, *levels))
            for number in range(len(snapshot.segments))
        )
        raise UnreachableError(
            reach(
                snapshot,
                target,
                count,
                lowest,
                at_least=needs,
                refused=tuple(refused),
                doubted=doubted,
            )
        )
    choices = tuple(
        structs.replace(choice, level=level)
        for choice, level in zip(plan.choices, levels, strict=True)
    )
    return structs.replace(plan, choices=choices, target=target)


def lower_to_target(
    snapshot: ContextSnapshot,
    preview: Preview,
    target: int,
    summarizer: Summarizer,
    watch: Watch,
    lowest: Level,
    count: Callable[[str], int],
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
            needs = preview.tokens_after
            raise UnreachableError(
                reach(snapshot, target, count, lowest, at_least=needs, refused=sorted(stuck))
            )
        worst = max(large, key=lambda each: each.tokens)
        plan = preview.plan.with_level(worst.segment.id, Level(worst.level + 1))
        preview = preview_plan(snapshot, plan, summarizer, watch=watch)
    return preview
