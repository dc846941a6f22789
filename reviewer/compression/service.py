"""Contexts made smaller: previewed first, applied as one act, undone like everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reviewer.clock import Clock, iso
from reviewer.commits.contexts import Contexts
from reviewer.commits.reading import Reader
from reviewer.compression import licence
from reviewer.compression.committing import write_preview
from reviewer.compression.engines import Engines
from reviewer.compression.expanding import Expansions
from reviewer.compression.fitting import fit_plan, lowered
from reviewer.compression.marking import SpanMarks
from reviewer.compression.measures import Measures, MeasureSummary
from reviewer.compression.one_segment import SegmentCompression
from reviewer.compression.plan import (
    Applied,
    Choice,
    Plan,
    Preview,
    SegmentAtLevel,
    read_level,
    sources,
)
from reviewer.compression.previewing import Watch, preview_plan
from reviewer.compression.reading import (
    ContextReading,
    require_matches,
    require_segments,
)
from reviewer.compression.readings import Readings
from reviewer.compression.sizes import Outlook, Reach, outlook, reach
from reviewer.compression.values import (
    AnchorPoint,
    Level,
    Locked,
    Segment,
    SummarizationOptions,
)
from reviewer.errors import ConflictError, ReviewerError
from reviewer.settings import Settings, load_settings
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger


class Compression(SegmentCompression):
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
        self._measures = Measures(database, clock)
        super().__init__(contexts, Engines(settings, clock, self._measures.note), settings)
        self.marks = SpanMarks(ledger, contexts, clock)
        """Spans of commits that a person wants verbatim in every summary."""
        self._readings = Readings(self._reader, contexts)

    def segments(
        self, context: int, *, start: int | None = None, end: int | None = None
    ) -> tuple[Segment, ...]:
        """The segments of a context, or of the range between two commits, pins left out.

        Raises UnknownIdError.
        """
        return self._readings.of(context, start, end).segments

    def anchors(
        self, context: int, *, start: int | None = None, end: int | None = None
    ) -> tuple[tuple[AnchorPoint, ...], ...]:
        """The anchors of each of its segments. Raises UnknownIdError."""
        return tuple(self._readings.of(context, start, end).anchors)

    def outlook(self, context: int) -> Outlook:
        """Sizes of a context now and at each level. Raises UnknownIdError."""
        read = self._readings.of(context)
        return outlook(read.chain, read.segments, read.anchors, self._count())

    def reach(self, context: int, target: int) -> Reach:
        """Whether a context can get as small as `target` tokens. Raises UnknownIdError."""
        read = self._readings.of(context)
        return reach(read.chain, read.segments, read.anchors, target, self._count(), self._lowest())

    def all_levels(
        self,
        context: int,
        *,
        start: int | None = None,
        end: int | None = None,
        engine: str | None = None,
        options: SummarizationOptions | None = None,
    ) -> Iterator[SegmentAtLevel]:
        """Every segment of a context, or of a range of it, at all levels.

        Raises UnknownIdError, ReviewerError where there is nothing, and what the engine raises.
        """
        read = self._readings.of(context, start, end, options.retention if options else None)
        require_segments(read)
        summarizer = self._summarizer(engine, options)
        for segment, anchors in zip(read.segments, read.anchors, strict=True):
            for level, found in summarizer.compress_all(segment, anchors, options).items():
                if isinstance(found, Locked):
                    yield SegmentAtLevel(segment, level, locked=found)
                else:
                    fidelity = summarizer.validate_fidelity(segment, found)
                    yield SegmentAtLevel(segment, level, found, fidelity)

    def plan(
        self,
        context: int,
        level: Level | str,
        *,
        start: int | None = None,
        end: int | None = None,
        engine: str | None = None,
        options: SummarizationOptions | None = None,
    ) -> Plan:
        """Every segment of a context, or of a range of it, at one level.

        Raises UnknownIdError, and ReviewerError where there is nothing to compress or a pattern of
        `options` matches nothing there.
        """
        level = read_level(level)
        licence.require(level, self._tier())
        options = options or SummarizationOptions()
        read = self._readings.of(context, start, end, options.retention)
        require_segments(read)
        require_matches(read, options.retention)
        return Plan(
            context,
            read.head,
            tuple(Choice(s.id, level, sources(s)) for s in read.segments),
            start,
            end,
            self.engines.named(engine),
            options,
        )

    def fit(
        self,
        context: int,
        target: int,
        *,
        engine: str | None = None,
        options: SummarizationOptions | None = None,
        watch: Watch = Watch(),  # noqa: B008 - a frozen value
    ) -> Plan:
        """Levels with which the whole context has at most `target` tokens (settled.md).

        Sized by what the offline engine writes, so that a model is not asked to find out; `watch`
        hears of every summary tried. Raises UnreachableError, UnknownIdError, CancelledError.
        """
        plan = self.plan(context, Level.FULL, engine=engine, options=options)
        read = self._readings.of(context, retention=plan.options.retention)
        offline = self.engines.summarizer("offline")
        return fit_plan(read, plan, target, offline, self._lowest(), self._count(), watch)

    def choose(self, plan: Plan, segment: str, level: Level | str) -> Plan:
        """The plan with another level for one segment. Raises UnknownIdError, LicenceError."""
        wanted = read_level(level)
        licence.require(wanted, self._tier())
        self._reading_of(plan).number_of(segment)
        return plan.with_level(segment, wanted)

    def write(self, plan: Plan, segment: str, text: str, *, append_missing: bool = False) -> Plan:
        """The plan with a summary that a person wrote for one segment.

        It is checked like any other; `append_missing` puts back what retention criteria miss.
        Raises UnknownIdError, and ReviewerError for a segment that stays Full.
        """
        number = self._reading_of(plan).number_of(segment)
        if plan.choices[number].level is Level.FULL:
            raise ReviewerError(
                f"{segment} stays Full, so no summary stands there: give it another level first."
            )
        return plan.with_text(segment, text, append_missing=append_missing)

    def preview(
        self,
        plan: Plan,
        watch: Watch | None = None,
        *,
        cancelled: Callable[[], bool] | None = None,
    ) -> Preview:
        """What a plan makes of its context; its `plan` has the summaries in it, ready to apply.

        Nothing is written. Raises ConflictError when the context changed since the plan was made,
        and what the engine raises: ModelError, CancelledError, RetryExhaustedError, LicenceError.
        """
        if watch is None:
            watch = Watch(cancelled)
        read = self._reading_of(plan)
        engine = self.engines.named(plan.engine)
        summarizer = self._summarizer(engine, plan.options)
        found = preview_plan(
            read,
            plan,
            summarizer,
            concurrency=self.engines.concurrency(engine),
            watch=watch,
        )
        if plan.target is None:
            return found
        return lowered(read, found, plan.target, summarizer, watch, self._lowest(), self._count())

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

    def expanded(self, commit: int) -> str:
        """A summary's text with all its markers opened, down to the originals.

        Raises UnknownIdError for a commit that is no summary.
        """
        return self.expansions.whole(commit, self._contexts.commit(commit).text)

    @property
    def expansions(self) -> Expansions:
        """What the markers of summaries in a chain open."""
        return Expansions(self._reader, self.engines.summarizer("offline"))

    def statistics(self) -> tuple[MeasureSummary, ...]:
        """Durations, ratios, tokens of models and fidelity, by level. Raises StoreError."""
        return self._measures.summary()

    def flush(self) -> None:
        """Write the figures that wait; previews leave them waiting."""
        self._measures.flush()

    def _reading_of(self, plan: Plan) -> ContextReading:
        """The context that a plan was made of. Raises ConflictError when it changed since."""
        read = self._readings.of(plan.context, plan.start, plan.end, plan.options.retention)
        if read.head != plan.head or not all(read.holds(choice) for choice in plan.choices):
            raise ConflictError(
                "The context changed since it was previewed. Nothing was written; preview again."
            )
        return read
