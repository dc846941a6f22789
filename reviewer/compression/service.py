"""Contexts made smaller: previewed first, applied as one act, undone like everything else."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from reviewer.clock import Clock, iso
from reviewer.commits.contexts import Contexts
from reviewer.commits.reading import Reader
from reviewer.commits.values import RetentionCriteria
from reviewer.compression import licence
from reviewer.compression.anchors import find_anchors
from reviewer.compression.committing import write_preview
from reviewer.compression.engines import EngineName, Engines
from reviewer.compression.expanding import Expansions
from reviewer.compression.levels import Summarizer
from reviewer.compression.licence import Tier
from reviewer.compression.marking import Span, mark_span, unmark_span
from reviewer.compression.measures import Measures, MeasureSummary
from reviewer.compression.plan import Applied, Choice, Plan, Preview, first_levels, fit_levels
from reviewer.compression.previewing import Watch, preview_choice, preview_plan
from reviewer.compression.reading import ContextReading, read_context
from reviewer.compression.retention import RetentionFailure, gather, validate_retention
from reviewer.compression.sizes import Outlook, Reach, outlook, reach
from reviewer.compression.values import (
    AnchorPoint,
    AnchorType,
    CompressedSegment,
    FidelityValidation,
    Level,
    Locked,
    Segment,
    SummarizationOptions,
    Turn,
)
from reviewer.errors import ConflictError, ReviewerError
from reviewer.settings import Settings, load_settings
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger

REMEMBERED = 4
"""Contexts that are kept as read."""


class UnreachableError(ReviewerError):
    """No levels bring a context to the target; the sentence says what would have to give."""

    def __init__(self, found: Reach) -> None:
        super().__init__(found.message)
        self.reach = found


class Compression:
    """Segments, previews and compressions of contexts. Reading is safe from several threads."""

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        clock: Clock,
        contexts: Contexts,
        settings: Callable[[], Settings] = load_settings,
    ) -> None:
        """`settings` is asked when an engine is first needed, so that reading needs none."""
        self._reader = Reader(database)
        self._ledger = ledger
        self._clock = clock
        self._contexts = contexts
        self._settings = settings
        self._measures = Measures(database, clock)
        self.engines = Engines(settings, clock, self._measures.note)
        self._readings: OrderedDict[tuple[Any, ...], ContextReading] = OrderedDict()
        self._lock = threading.Lock()

    # What a context is made of

    def segments(
        self, context: int, *, start: int | None = None, end: int | None = None
    ) -> tuple[Segment, ...]:
        """The segments of a context, or of the range between two commits, pins left out.

        Raises UnknownIdError.
        """
        return self._read(context, start, end).segments

    def anchors(
        self, context: int, *, start: int | None = None, end: int | None = None
    ) -> tuple[tuple[AnchorPoint, ...], ...]:
        """The anchors of each of its segments. Raises UnknownIdError."""
        return self._read(context, start, end).anchors

    def anchor_spans(self, text: str, role: str) -> tuple[AnchorPoint, ...]:
        """The anchors that rules find in one commit's text."""
        return find_anchors([Turn(role, text, 0)])

    def outlook(self, context: int) -> Outlook:
        """Sizes of a context now and at each level. Raises UnknownIdError."""
        read = self._read(context)
        return outlook(read.chain, read.segments, read.anchors, self._count())

    def reach(self, context: int, target: int) -> Reach:
        """Whether a context can get as small as `target` tokens. Raises UnknownIdError."""
        read = self._read(context)
        return reach(read.chain, read.segments, read.anchors, target, self._count(), self._lowest())

    # One segment

    def compress(
        self,
        segment: Segment,
        anchors: Sequence[AnchorPoint],
        level: Level,
        options: SummarizationOptions | None = None,
        *,
        engine: EngineName | None = None,
    ) -> CompressedSegment:
        """A segment at a level (hierarchical-summarizer.md, section 4).

        See `Summarizer.compress`.
        """
        return self._summarizer(engine, options).compress(segment, anchors, level, options)

    def compress_all(
        self,
        segment: Segment,
        anchors: Sequence[AnchorPoint],
        options: SummarizationOptions | None = None,
        *,
        engine: EngineName | None = None,
    ) -> dict[Level, CompressedSegment | Locked]:
        """A segment at all levels; what the licence holds back says so in its place."""
        return self._summarizer(engine, options).compress_all(segment, anchors, options)

    def validate_fidelity(
        self, segment: Segment, compressed: CompressedSegment
    ) -> FidelityValidation:
        """How faithful a compressed segment is, and what it lost."""
        return self.engines.summarizer("offline").validate_fidelity(segment, compressed)

    def check_retention(
        self, text: str, segment: Segment, retention: RetentionCriteria | None = None
    ) -> list[RetentionFailure]:
        """What a summary of the segment misses of its criteria, and of those of the call."""
        return validate_retention(text, gather(segment, retention))

    # Plans

    def plan(
        self,
        context: int,
        level: Level,
        *,
        start: int | None = None,
        end: int | None = None,
        engine: EngineName | None = None,
        options: SummarizationOptions | None = None,
    ) -> Plan:
        """Every segment of a context, or of a range of it, at one level.

        Raises UnknownIdError, and ReviewerError where there is nothing to compress or a pattern of
        `options` matches nothing there.
        """
        licence.require(level, self._tier())
        options = options or SummarizationOptions()
        read = self._read(context, start, end, options.retention)
        self._require_segments(read)
        _require_matches(read, options.retention)
        return Plan(
            context,
            read.head,
            tuple(Choice(s.id, level, _sources(s)) for s in read.segments),
            start,
            end,
            engine or self.engines.default(),
            options,
        )

    def fit(
        self,
        context: int,
        target: int,
        *,
        engine: EngineName | None = None,
        options: SummarizationOptions | None = None,
    ) -> Plan:
        """Levels with which the whole context has at most `target` tokens (settled.md).

        Sized by what the offline engine writes, so that a model is not asked to find out. Raises
        UnreachableError, UnknownIdError.
        """
        plan = self.plan(context, Level.FULL, engine=engine, options=options)
        read = self._read(context, retention=plan.options.retention)
        offline = self.engines.summarizer("offline")
        sizes: dict[tuple[int, Level], int] = {}

        def size(number: int, level: Level) -> int:
            if (number, level) not in sizes:
                choice = structs.replace(plan.choices[number], level=level)
                found = preview_choice(read, number, plan, choice, offline)
                sizes[number, level] = found.tokens
            return sizes[number, level]

        levels = fit_levels(
            first_levels(read.segments, read.anchors), target, read.fixed, size, self._lowest()
        )
        if levels is None:
            least = read.fixed + sum(size(n, self._lowest()) for n in range(len(read.segments)))
            found = self.reach(context, min(target, least - 1))
            raise UnreachableError(
                structs.replace(found, target=target, reachable=False, needs=least)
            )
        choices = tuple(
            structs.replace(choice, level=level)
            for choice, level in zip(plan.choices, levels, strict=True)
        )
        return structs.replace(plan, choices=choices, target=target)

    def preview(self, plan: Plan, watch: Watch | None = None) -> Preview:
        """What a plan makes of its context; its `plan` has the summaries in it, ready to apply.

        Nothing is written. Raises ConflictError when the context changed since the plan was made,
        and what the engine raises: ModelError, CancelledError, RetryExhaustedError, LicenceError.
        """
        read = self._reading_of(plan)
        engine: EngineName = "model" if plan.engine == "model" else "offline"
        found = preview_plan(
            read,
            plan,
            self._summarizer(engine, plan.options),
            concurrency=self.engines.concurrency(engine),
            watch=watch or Watch(),
        )
        return found if plan.target is None else self._lowered(read, found, plan, watch)

    def _lowered(
        self, read: ContextReading, found: Preview, plan: Plan, watch: Watch | None
    ) -> Preview:
        """The ceiling is on the text that comes out: what a model wrote too long is lowered."""
        assert plan.target is not None
        while found.tokens_after > plan.target:
            large = [
                each
                for each in found.segments
                if each.level < self._lowest() and not each.kept and each.tokens
            ]
            if not large:
                raise UnreachableError(self.reach(plan.context, plan.target))
            worst = max(large, key=lambda each: each.tokens)
            lower = found.plan.with_level(worst.segment.id, Level(worst.level + 1))
            engine: EngineName = "model" if plan.engine == "model" else "offline"
            found = preview_plan(
                read, lower, self._summarizer(engine, plan.options), watch=watch or Watch()
            )
        return found

    def apply(self, context: int, plan: Plan, *, expected_head: str | None = None) -> Applied:
        """Write a plan: summaries in the place of its segments, one act, undone by one undo.

        What stands outside the segments stays as it is, pins in their places. Summaries that the
        plan has not yet are written first. Raises ConflictError when the head moved meanwhile,
        RetentionError when a summary misses what must survive, ReviewerError where nothing would
        change, and what the engine raises; then nothing is written.
        """
        if plan.context != context:
            raise ReviewerError(f"The plan is for the context #{plan.context}, not #{context}.")
        found = self.preview(plan)
        applied = write_preview(
            self._ledger,
            found,
            expected_head or plan.head,
            name=self._contexts.get(context).name,
            now=iso(self._clock()),
        )
        self._measures.flush()
        return applied

    # What a person marks, and what markers open

    def mark_span(
        self,
        commit: int,
        start: int,
        end: int,
        *,
        type: AnchorType = AnchorType.CRITICAL_FACT,  # noqa: A002 - the document's word
        pinned: bool = True,
    ) -> int:
        """Pin or confirm a span of a commit's text. See `marking.mark_span`."""
        view = self._contexts.commit(commit)
        span = Span(commit, start, end, type, pinned)
        return mark_span(self._ledger, view, span, now=iso(self._clock()))

    def unmark_span(self, commit: int, start: int, end: int) -> int:
        """Take a mark back; returns the act, 0 when there was none. Raises UnknownIdError."""
        return unmark_span(self._ledger, self._contexts.commit(commit), start, end)

    @property
    def expansions(self) -> Expansions:
        """What the markers of summaries in a chain open."""
        return Expansions(self._reader, self.engines.summarizer("offline"))

    # Figures

    def statistics(self) -> tuple[MeasureSummary, ...]:
        """Durations, ratios, tokens of models and fidelity, by level. Raises StoreError."""
        return self._measures.summary()

    def flush(self) -> None:
        """Write the figures that wait; previews leave them waiting. Raises StoreError."""
        self._measures.flush()

    def _read(
        self,
        context: int,
        start: int | None = None,
        end: int | None = None,
        retention: RetentionCriteria | None = None,
    ) -> ContextReading:
        name = self._contexts.get(context).name
        version = self._contexts.changed(context)
        key = (context, version, start, end, retention or None)
        with self._lock:
            found = self._readings.get(key)
            if found is None:
                found = self._readings[key] = read_context(
                    self._reader.all,
                    context,
                    name=name,
                    range_=(start, end),
                    retention=retention,
                )
                while len(self._readings) > REMEMBERED:
                    self._readings.popitem(last=False)
            self._readings.move_to_end(key)
            return found

    def _reading_of(self, plan: Plan) -> ContextReading:
        """The context that a plan was made of. Raises ConflictError when it changed since."""
        read = self._read(plan.context, plan.start, plan.end, plan.options.retention)
        by_id = {segment.id: _sources(segment) for segment in read.segments}
        if read.head != plan.head or any(
            by_id.get(choice.segment) != choice.sources for choice in plan.choices
        ):
            raise ConflictError(
                "The context changed since it was previewed. Nothing was written; preview again."
            )
        return read

    def _require_segments(self, read: ContextReading) -> None:
        if not read.segments:
            raise ReviewerError(
                "There is nothing to compress: the range is empty or holds only pinned commits."
                if read.chain
                else "There is nothing to compress: the context is empty."
            )

    def _summarizer(
        self, engine: EngineName | None, options: SummarizationOptions | None
    ) -> Summarizer:
        return self.engines.summarizer(
            engine or self.engines.default(), options.model_id if options else None
        )

    def _tier(self) -> Tier:
        return self._settings().compression.tier

    def _lowest(self) -> Level:
        """The level nearest to Tags that the licence holds."""
        return max(level for level in Level if licence.locked(level, self._tier()) is None)

    def _count(self) -> Callable[[str], int]:
        from reviewer.text.tokens import counter

        return counter().count


def _sources(segment: Segment) -> tuple[int, ...]:
    return tuple(turn.commit for turn in segment.turns if turn.commit is not None)


def _require_matches(read: ContextReading, retention: RetentionCriteria) -> None:
    """Raise ReviewerError for a pattern of the call that nothing in the range matches."""
    from reviewer.compression.pattern_places import first_place

    for pattern in retention.patterns:
        turns = (turn for segment in read.segments for turn in segment.turns)
        if not any(first_place(pattern, turn.text) for turn in turns):
            raise ReviewerError(
                f'The {pattern.mode} "{pattern.text}" matches nothing in the range, so no summary '
                "can retain it. Correct it, or choose another range."
            )
