"""Levels for a token target: the person's words first, then all Brief, the last two whole, all
Detailed from the newest on, and whole where most was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from msgspec import structs

from reviewer.commits.commit_annotations import first_words
from reviewer.commits.values import Priority
from reviewer.compression.anchors import is_speech
from reviewer.compression.context_snapshot import ContextSnapshot
from reviewer.compression.plan import CompressionPlan, LevelChoice, Preview, choice_of
from reviewer.compression.preview import PreviewProgress, Watch, preview_choice, preview_plan
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.summary_writer import SummaryWriter
from reviewer.compression.values import OFFLINE, Level
from reviewer.errors import ReviewerError
from reviewer.llm.model import CancelledError
from reviewer.llm.steering import RetryExhaustedError
from reviewer.text.numerals import count

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
        super().__init__(
            f"{count(target, 'token')} cannot be reached: the smallest is {needs:,}.{stands}"
        )
        self.needs = needs
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
        named = _named([first_words(each.turn.text, each.hash) for each in largest])
        found.append(f"{count(len(pinned), 'pinned turn')} with {tokens:,} tokens ({named})")
    if own:
        first = {each.id: each.turns[0].number for each in snapshot.segments}
        named = _named([f"{first[each.segment]} {each.level.name.capitalize()}" for each in own])
        found.append(f"levels chosen by hand (segment {named})")
    if doubted:
        named = _named(doubted)
        found.append(f"segments whose summaries do not pass ({named}); --anyway takes them")
    return found


def _named(words: Sequence[str]) -> str:
    return ", ".join(words[:MAX_NAMED]) + (", ..." if len(words) > MAX_NAMED else "")


def fit_levels(
    segments: int,
    target: int,
    fixed: int,
    size: Callable[[int, Level], int],
    allowed: Callable[[int], Sequence[Level]] = lambda _: tuple(Level),
    says: Callable[[int, Level], bool] = lambda *_: True,
    speech: Callable[[int], float] = lambda _: 0.0,
) -> tuple[list[Level], int]:
    """Levels that keep `fixed` and the segments' sizes within the target, with their sum; the
    smallest levels if none do.

    Starting from the smallest, segments become fuller until they contain the person's words, unless
    that takes too large a share; then all become Brief; then the last two as far as there is room,
    then the others level by level, newest first, but Full where most of it is `speech`, since what
    tools returned can be read again. `size`: tokens of a segment at a level; `allowed`: its levels,
    fullest first; `says`: whether it contains the person's words there.
    """
    levels = [allowed(number) for number in range(segments)]
    chosen = [
        min(some, key=lambda level: size(number, level)) for number, some in enumerate(levels)
    ]
    total = fixed + sum(size(number, level) for number, level in enumerate(chosen))
    newest = range(segments - 1, -1, -1)
    order = dict.fromkeys(Level, newest) | {Level.FULL: sorted(newest, key=lambda n: -speech(n))}
    steps = [(n, level) for level in reversed(Level) for n in order[level] if level in levels[n]]
    brief = [step for step in steps if step[1] is Level.BRIEF]
    last = [(number, level) for number in newest[:LAST_FULL] for level in levels[number]]

    def unsaid(most: float) -> Iterator[tuple[int, Level]]:
        for number, level in steps:
            fits = level >= Level.BRIEF or size(number, level) <= most
            if fits and not says(number, chosen[number]):
                yield number, level

    few = target * MAX_SHARE
    for number, level in chain(unsaid(few), brief, unsaid(target), last, steps):
        if level >= chosen[number]:
            continue
        grown = size(number, level) - size(number, chosen[number])
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
    """The plan with levels that keep the whole context within the target.

    Sizes are those of the offline engine. Its summaries are chosen only if they pass their checks;
    with `anyway`, also failing ones of segments without a passing one. `own`: choices that are left
    alone. `watch` gets the progress, at most one summary per segment and level. Raises
    UnreachableError, and CancelledError if `watch` asks to stop.
    """
    written: dict[tuple[int, Level], tuple[int, bool, bool]] = {}
    writer = SummaryWriter(offline)
    kept = {snapshot.index_of(choice.segment): choice for choice in own}
    every = [Level(level) for level in range(lowest + 1)]
    most = len(snapshot.segments) * max(lowest, 1)

    def write(number: int, level: Level) -> tuple[int, bool, bool]:
        """Tokens of a segment at a level, whether its summary passes, and whether it contains the
        person's words.
        """
        segment = snapshot.segments[number]
        if level is Level.FULL:
            return segment.tokens, True, True
        if (number, level) not in written:
            if watch.cancelled is not None and watch.cancelled():
                raise CancelledError("Stopped while levels were chosen; nothing was written.")
            choice = kept.get(number) or choice_of(segment, level)
            try:
                preview = preview_choice(snapshot, plan, choice, writer)
                passes = not preview.in_doubt or plan.engine != OFFLINE
                found = preview.tokens, passes, not preview.shortens_the_person
            except RetryExhaustedError:  # its criteria cannot be met, so it stays Full
                found = segment.tokens, True, True
            written[number, level] = found
            if watch.on_progress is not None:
                watch.on_progress(PreviewProgress(len(written), most, segment.id))
        return written[number, level]

    def size(number: int, level: Level) -> int:
        return write(number, level)[0]

    def says(number: int, level: Level) -> bool:
        return write(number, level)[2]

    def speech(number: int) -> float:
        segment = snapshot.segments[number]
        said = sum(turn.tokens for turn in segment.turns if is_speech(turn))
        return said / max(segment.tokens, 1)

    def passing(number: int) -> Sequence[Level]:
        if number in kept:
            return [kept[number].level]
        found = [level for level in every if write(number, level)[1]]
        return every if anyway and found == [Level.FULL] else found

    def any_level(number: int) -> Sequence[Level]:
        return [kept[number].level] if number in kept else every

    everything = snapshot.fixed + sum(
        size(number, kept[number].level if number in kept else Level.FULL)
        for number in range(len(snapshot.segments))
    )
    if everything <= target:
        levels = [any_level(number)[0] for number in range(len(snapshot.segments))]
        needs = everything
    else:
        for allowed in (passing, any_level) if anyway else (passing,):
            levels, needs = fit_levels(
                len(snapshot.segments), target, snapshot.fixed, size, allowed, says, speech
            )
            if needs <= target:
                break
    choices = tuple(
        kept.get(number) or choice_of(segment, level)
        for number, (segment, level) in enumerate(zip(snapshot.segments, levels, strict=True))
    )
    fitted = structs.replace(plan, choices=choices)
    if needs > target:
        doubted = [
            segment.id
            for number, segment in enumerate(snapshot.segments)
            if not anyway and any_level(number) != passing(number) == [Level.FULL]
        ]
        raise UnreachableError(target, needs, _in_the_way(snapshot, own, doubted), fitted)
    return structs.replace(fitted, target=target)


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
    stuck: set[str] = set()
    while preview.tokens_after > target:
        stuck |= {each.segment.id for each in preview.segments if each.refused}
        large = [
            each
            for each in preview.segments
            if each.level < lowest and each.tokens and each.segment.id not in stuck
        ]
        if not large:
            ways = _in_the_way(snapshot)
            raise UnreachableError(target, preview.tokens_after, ways, preview.plan)
        worst = max(large, key=lambda each: each.tokens)
        plan = preview.plan.with_level(worst.segment.id, Level(worst.level + 1))
        preview = preview_plan(snapshot, plan, summarizer, watch=watch)
    return preview
