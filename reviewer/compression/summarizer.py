"""A segment at each level: licence, engine, anchors, markers, fidelity and measurements.

The same steps for either engine; see `docs/design.md`, "Levels and anchors".
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from math import ceil
from typing import Generic, Literal, TypeVar

from msgspec import Struct, structs

from reviewer.commits.values import Priority
from reviewer.compression.assembly import Assembly
from reviewer.compression.engine import SegmentAnalysis, SummaryEngine, SummaryTask
from reviewer.compression.fidelity import missing_anchors
from reviewer.compression.markers import change_level, marker_text, parse_markers
from reviewer.compression.measures import Publish, SegmentCompressed, log_beginning, log_done
from reviewer.compression.planted_orders import planted_orders
from reviewer.compression.retention import collect_criteria, needs_care
from reviewer.compression.values import (
    BY_HAND,
    OFFLINE,
    RATIOS,
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    Level,
    Segment,
    SummarizationOptions,
)
from reviewer.errors import ReviewerError

MIN_TOKENS = {Level.FULL: 0, Level.DETAILED: 40, Level.BRIEF: 24, Level.TAGS: 12}
"""Minimum tokens of a level: a sentence, a phrase, a few tags."""
ANALYSES, TEXTS = 16, 4_096
"""Cached segments' analyses, and texts with their grades: shared by `fit`, a preview and applying.
"""

Tier = Literal["core", "writer-pro", "teams"]

TIERS: tuple[Tier, ...] = ("core", "writer-pro", "teams")
"""From lowest to highest."""

SUMMARIZER, TAGS = "Agents.Compression.Summarizer", "Agents.Compression.Tags"
"""Features, by their names in licences."""

NEEDED: dict[Level, tuple[str, Tier]] = {
    Level.DETAILED: (SUMMARIZER, "writer-pro"),
    Level.BRIEF: (SUMMARIZER, "writer-pro"),
    Level.TAGS: (TAGS, "teams"),
}
"""Level -> the required feature and tier."""


class LicenceError(ReviewerError):
    """A level is locked: the tier lacks its feature."""

    def __init__(self, level: Level, tier: Tier) -> None:
        self.level = level
        self.feature, self.tier = NEEDED[level]
        super().__init__(
            f"The level {level.name.title()} ({self.feature}) needs the tier {self.tier}; this is "
            f"{tier}. Set tier under [compression] in the settings, or choose another level."
        )

    def to_json(self) -> dict[str, str]:
        """The fields for scripts, in place of a summary."""
        level = self.level.name.lower()
        return {"level": level, "locked": str(self), "feature": self.feature, "tier": self.tier}


def locked_level(level: Level, tier: Tier) -> LicenceError | None:
    """Why a level is locked in this tier, or None."""
    needed = NEEDED.get(level)
    if needed is None or TIERS.index(tier) >= TIERS.index(needed[1]):
        return None
    return LicenceError(level, tier)


def require_licence(level: Level, tier: Tier) -> None:
    """Raise LicenceError if the level is locked in this tier."""
    locked = locked_level(level, tier)
    if locked is not None:
        raise locked


def target_tokens(tokens: int, level: Level) -> int:
    """The target of a level for a number of tokens of the source."""
    if level is Level.FULL:
        return tokens
    return min(tokens, max(ceil(tokens / RATIOS[level]), MIN_TOKENS[level]))


def segment_target(segment: Segment, level: Level) -> int:
    """The target of a segment, in tokens; its IMPORTANT turns count one level fuller, unless they
    have criteria: then only these are added.
    """
    target = target_tokens(segment.tokens, level)
    important = sum(
        turn.tokens
        for turn in segment.turns
        if turn.priority is Priority.IMPORTANT and not turn.retention
    )
    if level is Level.FULL or not important:
        return target
    share = 2 / 3 if level is Level.DETAILED else 1 / RATIOS[Level(level - 1)]
    return min(segment.tokens, target + ceil(important * (share - 1 / RATIOS[level])))


Kept = TypeVar("Kept")
Cancelled = Callable[[], bool]


class Latest(Generic[Kept]):
    """A cache of the latest `most` values. Safe from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> Kept | None:
        """The value of a key, None if not cached."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: Hashable, value: Kept) -> Kept:
        """Cache a value, replacing the oldest if there are too many."""
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        return value


class Finished(Struct):
    """A finished summary and its cost. `reported`: already logged and published."""

    compressed: CompressedSegment
    seconds: float
    model_tokens: int
    reported: bool = False


class SegmentCache:
    """Analyses and grades of segments, shared by the summarizers of a process."""

    def __init__(self) -> None:
        self.analyses = Latest[SegmentAnalysis](ANALYSES)
        self.grades = Latest[FidelityValidation](TEXTS)


DEFAULT_OPTIONS = SummarizationOptions()


class Summarizer:
    """Compresses segments to levels with one engine. Safe from several threads.

    `count` counts tokens; `publish` gets every compressed segment. `offline` writes the texts to
    which markers expand; None if this summarizer is the offline one.
    """

    def __init__(
        self,
        engine: SummaryEngine,
        *,
        count: Callable[[str], int],
        tier: Tier = "teams",
        publish: Publish | None = None,
        offline: Summarizer | None = None,
    ) -> None:
        self.engine = engine
        self._count = count
        self._tier = tier
        self._publish = publish
        self.offline = offline or self
        """The summarizer without a model; possibly itself."""
        self.cache: SegmentCache = offline.cache if offline else SegmentCache()
        self._written = Latest[Finished](TEXTS)
        """Texts of a deterministic engine, by the hash of source, anchors, level and options."""

    def analysis(self, segment: Segment) -> SegmentAnalysis:
        """The analysis of a segment."""
        known = self.cache.analyses
        return known.find(segment) or known.keep(segment, SegmentAnalysis(segment))

    def compress(
        self,
        segment: Segment,
        anchors: Sequence[AnchorPoint],
        level: Level,
        options: SummarizationOptions | None = None,
        cancelled: Cancelled | None = None,
    ) -> CompressedSegment:
        """The segment at a level; offline never longer than at the level nearer to Full.

        Raises LicenceError if the tier lacks the level, RetryExhaustedError if retention criteria
        cannot be met, ModelError and CancelledError from a model, TemplateError.
        """
        require_licence(level, self._tier)
        analysis, anchors = self.analysis(segment), tuple(anchors)
        if level is Level.FULL or analysis.is_empty:
            text = analysis.text if level is Level.FULL else ""
            return self._result(analysis, anchors, level, text, markers=False)
        finished = self.finish(analysis, anchors, level, options or DEFAULT_OPTIONS, cancelled)
        self._report(analysis, finished)
        return finished.compressed

    def from_text(
        self,
        segment: Segment,
        anchors: Sequence[AnchorPoint],
        level: Level,
        content: str,
        *,
        engine: str = BY_HAND,
        written: str = "",
    ) -> CompressedSegment:
        """A summary written elsewhere, as a compressed segment with its markers.

        `written`: a model's text before missing anchors were restored.
        """
        analysis = self.analysis(segment)
        return self._result(analysis, tuple(anchors), level, content, engine, written=written)

    def validate_fidelity(
        self, segment: Segment, compressed: CompressedSegment
    ) -> FidelityValidation:
        """The fidelity of a compressed segment, and its losses, without a model."""
        key = (segment, compressed.as_written, compressed.anchors, compressed.level)
        known = self.cache.grades
        found = known.find(key) or known.keep(key, self.analysis(segment).fidelity(compressed))
        found = structs.replace(found, complete=not compressed.anchors_missing)
        if compressed.engine in (OFFLINE, BY_HAND):
            return found
        return structs.replace(found, orders=planted_orders(compressed.content, segment))

    def validate_level(self, segment: Segment, compressed: CompressedSegment) -> FidelityValidation:
        """The fidelity of a compressed segment among its levels: one by the offline engine has no
        better context than the level nearer to Full, although fewer words are expected of it.
        """
        found = self.validate_fidelity(segment, compressed)
        analysis = self.analysis(segment)
        if compressed.engine != OFFLINE or compressed.level < Level.BRIEF or analysis.is_empty:
            return found
        level = Level(compressed.level - 1)
        text = self.offline.finish(analysis, compressed.anchors, level)
        return found.with_context_of(self.validate_level(segment, text.compressed))

    def expanded_text(self, segment: Segment, level: Level, anchors: Sequence[AnchorPoint]) -> str:
        """The text to which a marker in a summary at `level` expands: one level nearer to Full.

        The offline engine writes it, even for summaries by a model.
        """
        analysis = self.analysis(segment)
        if level <= Level.DETAILED:
            return analysis.text
        nearer = Level(level - 1)
        return self.offline.finish(analysis, tuple(anchors), nearer).compressed.content

    def finish(
        self,
        analysis: SegmentAnalysis,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        options: SummarizationOptions = DEFAULT_OPTIONS,
        cancelled: Cancelled | None = None,
    ) -> Finished:
        """The segment at a level below Full, from the cache or newly written."""
        if not self.engine.deterministic:
            return self._write(analysis, anchors, level, options, cancelled)
        key = (analysis.segment, anchors, level, options)
        if (known := self._written.find(key)) is not None:
            return known
        found = self._write(analysis, anchors, level, options, cancelled)
        if level > Level.DETAILED and not options.ceiling:
            nearer = self.finish(analysis, anchors, Level(level - 1), options, cancelled)
            if found.compressed.token_count >= nearer.compressed.token_count:
                found.compressed = self._of_nearer(analysis, found.compressed, nearer.compressed)
        return self._written.keep(key, found)

    def _of_nearer(
        self, analysis: SegmentAnalysis, found: CompressedSegment, nearer: CompressedSegment
    ) -> CompressedSegment:
        """The level nearer to Full, in place of one that is no shorter."""
        level = found.level
        content = change_level(nearer.content, level, analysis.segment.id, source=analysis)
        return self._result(
            analysis,
            found.anchors,
            level,
            content,
            markers=bool(nearer.expansion_markers),
            note=found.note,
        )

    def _write(
        self,
        analysis: SegmentAnalysis,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        options: SummarizationOptions,
        cancelled: Cancelled | None,
    ) -> Finished:
        segment = analysis.segment
        log_beginning(segment.id, level)
        began = time.perf_counter()
        task = SummaryTask(
            analysis,
            level,
            anchors,
            options.max_output_tokens or segment_target(segment, level),
            options,
            collect_criteria(segment, options.retention),
            needs_care(segment),
            cancelled,
        )
        markers = options.generate_expansion_markers
        marker = marker_text(level, segment.id, segment.topic) if markers else ""
        found = Assembly(self.engine, task, marker, self._count).run()
        content = found.text
        if options.ceiling is None and self._count(content) > segment.tokens:
            content = analysis.text
        compressed = self._result(
            analysis,
            anchors,
            level,
            content,
            found.engine,
            markers=markers,
            note=found.note,
            answered_before=found.answered_before,
            written=found.written,
        )
        return Finished(compressed, time.perf_counter() - began, found.model_tokens)

    def expected_tokens(
        self, segment: Segment, anchors: tuple[AnchorPoint, ...], level: Level
    ) -> int:
        """Tokens of a segment at a level; if its text is not written yet, its target."""
        if level is Level.FULL:
            return segment.tokens
        known = self._written.find((segment, anchors, level, DEFAULT_OPTIONS))
        return known.compressed.token_count if known else segment_target(segment, level)

    def _report(self, analysis: SegmentAnalysis, finished: Finished) -> None:
        """Log and publish a summary on its first use."""
        if finished.reported:
            return
        finished.reported = True
        event = SegmentCompressed(
            finished.compressed,
            finished.seconds,
            finished.model_tokens,
            self.validate_fidelity(analysis.segment, finished.compressed),
        )
        log_done(event)
        if self._publish is not None:
            self._publish(event)

    def _result(
        self,
        analysis: SegmentAnalysis,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        content: str,
        engine: str = "",
        *,
        markers: bool = True,
        note: str | None = None,
        answered_before: bool = False,
        written: str = "",
    ) -> CompressedSegment:
        segment = analysis.segment
        whole = level is Level.FULL or analysis.is_whole(content)
        found = parse_markers(content, level, segment.id, source=analysis) if markers else ()
        if found:
            expanded = self.offline.expected_tokens(segment, anchors, Level(level - 1))
            adds = max(expanded - self._count(content[found[0].start : found[0].end]), 0)
            found = tuple(structs.replace(each, adds=adds) for each in found)
        return CompressedSegment(
            segment_id=segment.id,
            level=level,
            content=content,
            anchors=anchors,
            expansion_markers=found,
            token_count=segment.tokens if whole else self._count(content),
            original_token_count=segment.tokens,
            anchors_missing=(
                () if level is Level.FULL else missing_anchors(content, anchors, level)
            ),
            engine=engine or self.engine.name,
            note=("" if segment.tokens else "nothing to summarize") if note is None else note,
            answered_before=answered_before,
            written=written,
        )
