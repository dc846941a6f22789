"""A segment at each level: licence, engine, anchors, markers, fidelity and measurements.

The same steps for either engine; see `docs/design.md`, "Levels and anchors".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import ceil
from typing import Literal, NamedTuple

from msgspec import structs

from reviewer.commits.values import Priority
from reviewer.compression.assembly import assemble
from reviewer.compression.engine import EngineText, SegmentAnalysis, SummaryEngine, SummaryTask
from reviewer.compression.fidelity import missing_anchors, validate_fidelity
from reviewer.compression.markers import change_level, marker_text, parse_markers
from reviewer.compression.measures import Publish, SegmentCompressed, log
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
"""Cached analyses of segments, and texts with their grades, so that a fit, its preview and applying
write each text once.
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
    if locked := locked_level(level, tier):
        raise locked


def target_tokens(tokens: int, level: Level) -> int:
    """The target of a level for a number of tokens of the source."""
    if level is Level.FULL:
        return tokens
    return min(tokens, max(ceil(tokens / RATIOS[level]), MIN_TOKENS[level]))


def segment_target(segment: Segment, level: Level) -> int:
    """The target of a segment, in tokens: a few words of the person are added; its IMPORTANT turns
    count one level fuller, unless they have criteria: then only these are added.
    """
    target = target_tokens(segment.tokens, level)
    if level in (Level.DETAILED, Level.BRIEF):
        target = min(segment.tokens, target + segment.added_words)
    important = sum(
        turn.tokens
        for turn in segment.turns
        if turn.priority is Priority.IMPORTANT and not turn.retention
    )
    if level is Level.FULL or not important:
        return target
    share = 2 / 3 if level is Level.DETAILED else 1 / RATIOS[Level(level - 1)]
    return min(segment.tokens, target + ceil(important * (share - 1 / RATIOS[level])))


Cancelled = Callable[[], bool]
DEFAULT_OPTIONS = SummarizationOptions()


class _Asked(NamedTuple):
    segment: Segment
    anchors: tuple[AnchorPoint, ...]
    level: Level
    options: SummarizationOptions = DEFAULT_OPTIONS

    @property
    def nearer(self) -> _Asked:
        """The same one level nearer to Full, with the usual options."""
        return _Asked(self.segment, self.anchors, Level(self.level - 1))


class Summarizer:
    """Compresses segments to levels with one engine. Safe from several threads.

    `count` counts tokens; `publish` gets every text that is written. `offline` writes the texts to
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
        self.analysis: Callable[[Segment], SegmentAnalysis] = (
            offline.analysis if offline else lru_cache(ANALYSES)(SegmentAnalysis)
        )
        """The analysis of a segment."""
        self._written_once = lru_cache(TEXTS)(self._without_model)
        self._graded_once = lru_cache(TEXTS)(self._grade)

    def compress(
        self,
        segment: Segment,
        anchors: Sequence[AnchorPoint],
        level: Level,
        options: SummarizationOptions = DEFAULT_OPTIONS,
        cancelled: Cancelled | None = None,
    ) -> CompressedSegment:
        """The segment at a level; offline never longer than at the level nearer to Full.

        Raises LicenceError if the tier lacks the level, RetryExhaustedError if retention criteria
        cannot be met, ModelError and CancelledError from a model, TemplateError.
        """
        require_licence(level, self._tier)
        asked = _Asked(segment, tuple(anchors), level, options)
        if self.engine.deterministic or level is Level.FULL or self.analysis(segment).is_empty:
            return self._told(asked)
        return self._write(asked, cancelled)

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
        text = EngineText(content, engine, written=written)
        return self._result(_Asked(segment, tuple(anchors), level), text)

    def validate_fidelity(
        self, segment: Segment, compressed: CompressedSegment
    ) -> FidelityValidation:
        """The fidelity of a compressed segment, and its losses, without a model."""
        return self._graded_once(segment, compressed)

    def validate_level(self, segment: Segment, compressed: CompressedSegment) -> FidelityValidation:
        """The fidelity of a compressed segment among its levels: one by the offline engine has no
        better context than the level nearer to Full, although fewer words are expected of it.
        """
        found = self.validate_fidelity(segment, compressed)
        if compressed.engine != OFFLINE or compressed.level < Level.BRIEF or not segment.tokens:
            return found
        asked = _Asked(segment, compressed.anchors, compressed.level)
        text = self.offline._told(asked.nearer)
        return found.with_context_of(self.validate_level(segment, text))

    def expanded_text(self, segment: Segment, level: Level, anchors: Sequence[AnchorPoint]) -> str:
        """The text to which a marker in a summary at `level` expands: one level nearer to Full.

        The offline engine writes it, even for summaries by a model.
        """
        return self.offline._told(_Asked(segment, tuple(anchors), level).nearer).content

    def _grade(self, segment: Segment, compressed: CompressedSegment) -> FidelityValidation:
        return validate_fidelity(self.analysis(segment), compressed)

    def _told(self, asked: _Asked) -> CompressedSegment:
        """A segment without a model, in any tier: an applied summary stays readable in a lower
        one.
        """
        analysis, is_full = self.analysis(asked.segment), asked.level is Level.FULL
        if not is_full and not analysis.is_empty:
            return self._written_once(asked)
        note = "" if asked.segment.tokens else "nothing to summarize"
        text = EngineText(analysis.text if is_full else "", self.engine.name, note=note)
        return self._result(asked, text, markers=False)

    def _without_model(self, asked: _Asked) -> CompressedSegment:
        """A segment at a level; as at the nearer one if this is empty or no shorter."""
        found, segment, level = self._write(asked), asked.segment, asked.level
        if level is Level.DETAILED or asked.options.ceiling is not None:
            return found
        nearer = self._written_once(asked._replace(level=Level(level - 1)))
        if 0 < found.token_count < nearer.token_count:
            return found
        content, markers = nearer.content, bool(nearer.expansion_markers)
        if markers:
            content = change_level(content, level, segment.id, source=self.analysis(segment).text)
        text = EngineText(content, self.engine.name, note=found.note)
        return self._result(asked, text, markers=markers)

    def _write(self, asked: _Asked, cancelled: Cancelled | None = None) -> CompressedSegment:
        """A segment at a level below Full, newly written, logged and published."""
        segment, anchors, level, options = asked
        log.debug("[COMP:SUM] Compressing segment %s to level %s", segment.id, level.name.title())
        began = time.perf_counter()
        analysis = self.analysis(segment)
        room = options.max_output_tokens or segment_target(segment, level)
        task = SummaryTask(analysis, level, anchors, room, options, cancelled)
        markers = options.generate_expansion_markers
        marker = marker_text(level, segment.id, segment.topic) if markers else ""
        text = assemble(self.engine, task, marker, self._count)
        if options.ceiling is None and self._count(text.text) > segment.tokens:
            text = structs.replace(text, text=analysis.text)
        found = self._result(asked, text, markers=markers)
        seconds = time.perf_counter() - began
        fidelity = self.validate_fidelity(segment, found)
        tokens = f"{found.original_token_count}→{found.token_count} tokens"
        ratio = found.compression_ratio
        log.info("[COMP:SUM] Compressed %s: %s (ratio=%.1fx)", segment.id, tokens, ratio)
        if not fidelity.passes_threshold:
            score = fidelity.overall_score
            log.warning("[COMP:SUM] Fidelity score %.2f below threshold for %s", score, segment.id)
        if self._publish is not None:
            self._publish(SegmentCompressed(found, seconds, text.model_tokens, fidelity))
        return found

    def _result(
        self, asked: _Asked, text: EngineText, *, markers: bool = True
    ) -> CompressedSegment:
        segment, anchors, level, _ = asked
        analysis, content = self.analysis(segment), text.text
        whole = level is Level.FULL or (content and content == analysis.text)
        found = parse_markers(content, level, segment.id, source=analysis.text) if markers else ()
        if found:
            expanded = self.offline._told(_Asked(segment, anchors, level).nearer).token_count
            adds = max(expanded - self._count(content[found[0].start : found[0].end]), 0)
            found = tuple(structs.replace(each, adds=adds) for each in found)
        return CompressedSegment(
            level=level,
            content=content,
            anchors=anchors,
            expansion_markers=found,
            token_count=segment.tokens if whole else self._count(content),
            original_token_count=segment.tokens,
            anchors_missing=() if level is Level.FULL else missing_anchors(content, anchors, level),
            engine=text.engine,
            note=text.note,
            answered_before=text.answered_before,
            written=text.written,
        )
