"""Levels for a token target: the person's words first, then all Brief, the last two whole, all
Detailed from the newest on, and whole where most of it is speech.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from msgspec import structs

from reviewer.commits.commit_annotations import first_words
from reviewer.commits.values import Priority
from reviewer.compression.anchors import is_speech
from reviewer.compression.context_snapshot import ContextSnapshot
from reviewer.compression.plan import CompressionPlan, LevelChoice, Preview, choice_of
from reviewer.compression.preview import PreviewProgress, Watch, preview_choice, preview_plan
from reviewer.compression.segments import title_of
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.summary_writer import SummaryWriter
from reviewer.compression.values import OFFLINE, Level, Segment
from reviewer.errors import ReviewerError
from reviewer.llm.model import CancelledError
from reviewer.llm.steering import RetryExhaustedError
from reviewer.text.numerals import count, some_of

LAST_FULL = 2
"""Final segments that stay Full while there is room."""
MAX_SHARE = 0.1
"""Share of the target up to which a segment becomes Detailed or Full for the person's words before
others become Brief."""
MAX_NAMED = 3
"""Turns or segments named in an error."""


class UnreachableError(ReviewerError):
    """No levels bring a context to the target; `smallest` is the nearest plan."""

    def __init__(
        self, target: int, needs: int, in_the_way: Sequence[str], smallest: CompressionPlan
    ) -> None:
        stands = f" In the way: {'; '.join(in_the_way)}." if in_the_way else ""
        segments = count(len(smallest.choices), "segment needs", "segments need")
        super().__init__(
            f"{count(target, 'token')} cannot be reached: {segments} at least {needs:,}.{stands}"
        )
        self.smallest = smallest


def _in_the_way(
    snapshot: ContextSnapshot, own: Sequence[LevelChoice] = (), doubted: Sequence[str] = ()
) -> list[str]:
    """The obstacles: pins, `own` levels, segments whose summaries fail their checks."""
    found = []
    pinned = [each for each in snapshot.chain if each.turn.priority is Priority.PINNED]
    if pinned:
        tokens = sum(each.turn.tokens for each in pinned)
        largest = sorted(pinned, key=lambda each: -each.turn.tokens)
        named = some_of([first_words(each.turn.text, each.hash) for each in largest], MAX_NAMED)
        found.append(f"{count(len(pinned), 'pinned turn')} with {tokens:,} tokens ({named})")
    if own:
        titles = {each.id: title_of(each) for each in snapshot.segments}
        levels = [f"{each.level.name.capitalize()} for “{titles[each.segment]}”" for each in own]
        found.append(f"levels chosen by hand ({some_of(levels, MAX_NAMED)})")
    if doubted:
        named = some_of(doubted, MAX_NAMED)
        found.append(f"segments whose summaries do not pass ({named}); --anyway takes them")
    return found


class LevelSize(NamedTuple):
    """A segment at a level: its tokens, whether its summary passes its checks, and whether it has
    the person's words.
    """

    tokens: int
    passes: bool = True
    says: bool = True


Sizes = Mapping[Level, LevelSize]
"""The levels that a segment may have, fullest first."""


def fit_levels(
    segments: Sequence[Sizes], target: int, fixed: int = 0, speech: Sequence[float] = ()
) -> tuple[list[Level], int]:
    """Levels that keep `fixed` and the segments' sizes within the target, with their sum; the
    smallest levels if none do.

    Starting from the smallest, segments become fuller until they contain the person's words, unless
    that takes too large a share; then all become Brief; then the last two as far as there is room,
    then the others level by level, newest first, but Full where most of it is `speech`, since what
    tools returned can be read again.
    """
    chosen = [min(sizes, key=lambda level: sizes[level].tokens) for sizes in segments]
    total = fixed + sum(sizes[level].tokens for sizes, level in zip(segments, chosen, strict=True))
    newest = range(len(segments) - 1, -1, -1)
    by_speech = sorted(newest, key=lambda number: -speech[number] if speech else 0)
    order = dict.fromkeys(Level, newest) | {Level.FULL: by_speech}
    steps = [(n, level) for level in reversed(Level) for n in order[level] if level in segments[n]]
    brief = [step for step in steps if step[1] is Level.BRIEF]
    last = [(number, level) for number in newest[:LAST_FULL] for level in segments[number]]

    def unsaid(most: float) -> Iterator[tuple[int, Level]]:
        for number, level in steps:
            fits = level >= Level.BRIEF or segments[number][level].tokens <= most
            if fits and not segments[number][chosen[number]].says:
                yield number, level

    few = target * MAX_SHARE
    for number, level in chain(unsaid(few), brief, unsaid(target), last, steps):
        if level >= chosen[number]:
            continue
        grown = segments[number][level].tokens - segments[number][chosen[number]].tokens
        if total + grown <= target:
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
    """The plan with levels that keep the whole context within the target; see `Compression.fit`.
    `watch` gets the progress, at most one summary per segment and level.
    """
    segments, writer, written = snapshot.segments, SummaryWriter(offline), 0
    kept = {choice.segment: choice for choice in own}
    every = [Level(level) for level in range(lowest + 1)]

    def size(segment: Segment, choice: LevelChoice) -> LevelSize:
        nonlocal written
        if choice.level is Level.FULL:
            return LevelSize(segment.tokens)
        if watch.cancelled is not None and watch.cancelled():
            raise CancelledError("Stopped while levels were chosen; nothing was written.")
        try:
            preview = preview_choice(snapshot, plan, choice, writer)
            passes = not preview.in_doubt or plan.engine != OFFLINE
            found = LevelSize(preview.tokens, passes, not preview.shortens_the_person)
        except RetryExhaustedError:  # its criteria cannot be met, so it stays Full
            found = LevelSize(segment.tokens)
        written += 1
        if watch.on_progress is not None:
            most = len(segments) * max(lowest, 1)
            watch.on_progress(PreviewProgress(written, most, segment.id))
        return found

    whole: list[Sizes] = []
    for segment in segments:
        choice = kept.get(segment.id) or choice_of(segment, Level.FULL)
        whole.append({choice.level: size(segment, choice)})
    levels, needs = fit_levels(whole, target, snapshot.fixed)
    doubted: list[str] = []
    if needs > target:
        speech, passing, table = list[float](), list[Sizes](), list[Sizes]()
        for segment, sizes in zip(segments, whole, strict=True):
            said = sum(turn.tokens for turn in segment.turns if is_speech(turn))
            speech.append(said / max(segment.tokens, 1))
            if segment.id not in kept:
                sizes = {level: size(segment, choice_of(segment, level)) for level in every}
            good = {level: each for level, each in sizes.items() if each.passes}
            if len(good) == 1 < len(sizes) and not anyway:
                doubted.append(segment.id)
            is_fixed = segment.id in kept or (anyway and len(good) == 1)
            passing.append(sizes if is_fixed else good)
            table.append(sizes)
        for allowed in (passing, table) if anyway else (passing,):
            levels, needs = fit_levels(allowed, target, snapshot.fixed, speech)
            if needs <= target:
                break
    choices = tuple(
        kept.get(segment.id) or choice_of(segment, level)
        for segment, level in zip(segments, levels, strict=True)
    )
    fitted = structs.replace(plan, choices=choices)
    if needs > target:
        raise UnreachableError(target, needs, _in_the_way(snapshot, own, doubted), fitted)
    return structs.replace(fitted, target=target, own=tuple(kept))


def lower_to_target(
    snapshot: ContextSnapshot,
    preview: Preview,
    target: int,
    summarizer: Summarizer,
    watch: Watch,
    lowest: Level,
) -> Preview:
    """The preview within the target: the largest summary is lowered a level until it fits.

    Raises UnreachableError if everything is at the lowest.
    """
    stuck = set(preview.plan.own)
    while preview.tokens_after > target:
        stuck |= {each.segment.id for each in preview.segments if each.refused}
        large = [
            each
            for each in preview.segments
            if each.level < lowest and each.tokens and each.segment.id not in stuck
        ]
        if not large:
            own = [each for each in preview.plan.choices if each.segment in preview.plan.own]
            ways = _in_the_way(snapshot, own)
            raise UnreachableError(target, preview.tokens_after, ways, preview.plan)
        worst = max(large, key=lambda each: each.tokens)
        plan = preview.plan.with_level(worst.segment.id, Level(worst.level + 1))
        preview = preview_plan(snapshot, plan, summarizer, watch=watch)
    return preview
