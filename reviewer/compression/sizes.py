"""How small a context could get, told before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from reviewer.commits.values import Priority
from reviewer.compression.chain import ChainCommit
from reviewer.compression.levels import segment_target
from reviewer.compression.spans import TAG_LENGTHS, tag_of
from reviewer.compression.values import AnchorPoint, Level, Segment

MOST_COSTLY = 20


class Outlook(Struct, frozen=True):
    """Tokens of a context now and at each level; estimates, which a preview makes exact."""

    total: int
    by_priority: dict[Priority, int]
    at_level: dict[Level, int]
    """Tokens of the whole context if every segment went to that level."""
    floor: int
    """Tokens that pins and anchors need: below this nothing goes."""


class Cost(Struct, frozen=True):
    """What keeps a context from getting smaller."""

    commit: int
    hash: str
    tokens: int
    why: str


class Reach(Struct, frozen=True):
    """Whether a target can be reached, and if not, what would have to give."""

    target: int
    reachable: bool
    needs: int
    costly: tuple[Cost, ...]
    message: str


def outlook(
    chain: Sequence[ChainCommit],
    segments: Sequence[Segment],
    anchors: Sequence[Sequence[AnchorPoint]],
    count: Callable[[str], int],
) -> Outlook:
    """The sizes of a context, from token counts alone."""
    by_priority = {
        priority: sum(c.turn.tokens for c in chain if c.turn.priority is priority)
        for priority in Priority
    }
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
    """Tokens that the anchors of a segment take at a level."""
    if level is not Level.TAGS:
        return sum(count(each.content) + 1 for each in anchors)
    shortest = min(TAG_LENGTHS)
    return sum(
        count(tag_of(each.content, shortest) if each.source == "detected" else each.content) + 1
        for each in anchors
    )


def reach(
    chain: Sequence[ChainCommit],
    segments: Sequence[Segment],
    anchors: Sequence[Sequence[AnchorPoint]],
    target: int,
    count: Callable[[str], int],
    lowest: Level,
    *,
    at_least: int = 0,
) -> Reach:
    """Whether the target can be reached at the lowest level, and what costs most.

    `at_least`: tokens that are known to be needed, where that was tried out.
    """
    sizes = outlook(chain, segments, anchors, count)
    needs = max(sizes.at_level[lowest], at_least)
    hashes = {commit.id: commit.hash for commit in chain}
    costs = [
        Cost(commit.id, commit.hash, commit.turn.tokens, "pinned")
        for commit in chain
        if commit.turn.priority is Priority.PINNED
    ]
    for segment, found in zip(segments, anchors, strict=True):
        for each in found:
            number = segment.turns[each.turn].commit
            if each.source != "detected" and number is not None:
                tokens = count(each.content)
                costs.append(Cost(number, hashes[number], tokens, f"{each.source} span"))
    costs.sort(key=lambda cost: -cost.tokens)
    reachable = target >= needs
    wanted = f"{target:,} {'token' if target == 1 else 'tokens'}"
    message = (
        f"{wanted} can be reached."
        if reachable
        else f"{wanted} cannot be reached: pins and anchors need {sizes.floor:,}, and the "
        f"smallest it gets is about {needs:,}. Unpin something, or choose a larger target."
    )
    return Reach(target, reachable, needs, tuple(costs[:MOST_COSTLY]), message)
