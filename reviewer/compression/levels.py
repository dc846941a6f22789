"""The document's summarizer: a segment at each level, with anchors, markers, checks and events.

The flow of hierarchical-summarizer.md, section 5.1, for either engine.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from math import ceil
from typing import NamedTuple

from msgspec import structs

from reviewer.clock import Clock, iso
from reviewer.commits.values import Priority
from reviewer.compression import fidelity, licence
from reviewer.compression.assembly import Assembly, Parts
from reviewer.compression.full_text import full_text, readable
from reviewer.compression.licence import Tier
from reviewer.compression.markers import marker_text, parse_markers, relevelled
from reviewer.compression.measures import Publish, SegmentCompressed, log_beginning, log_done
from reviewer.compression.retention import asks_for_care, gather
from reviewer.compression.source_terms import SourceTerms
from reviewer.compression.values import (
    RATIOS,
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    Level,
    Locked,
    Segment,
    SummarizationOptions,
    Turn,
)
from reviewer.compression.writing import Writer, WritingTask

LEAST = {Level.FULL: 0, Level.DETAILED: 40, Level.BRIEF: 24, Level.TAGS: 12}
"""Tokens that a level is given at least: a sentence, a phrase, a few tags."""
REMEMBERED = 128
"""Segments whose terms and nearer texts are kept, and four times as many finished summaries."""


def target_tokens(tokens: int, level: Level) -> int:
    """How many tokens a level aims at for so many of the source."""
    if level is Level.FULL:
        return tokens
    return min(tokens, max(ceil(tokens / RATIOS[level]), LEAST[level]))


def segment_target(segment: Segment, level: Level) -> int:
    """How many tokens a segment aims at: its IMPORTANT turns count one level fuller.

    That is the care that bare IMPORTANT asks for, whatever writes the summary.
    """
    target = target_tokens(segment.tokens, level)
    important = sum(t.tokens for t in segment.turns if t.priority is Priority.IMPORTANT)
    if level is Level.FULL or not important:
        return target
    share = 2 / 3 if level is Level.DETAILED else 1 / RATIOS[Level(level - 1)]
    return min(segment.tokens, target + ceil(important * (share - 1 / RATIOS[level])))


class _Done(NamedTuple):
    """A finished summary, with what it was made of, so that its key stays good."""

    turns: tuple[Turn, ...]
    anchors: tuple[AnchorPoint, ...]
    compressed: CompressedSegment


class _Made(NamedTuple):
    """A finished summary and what it took; its fidelity is told when somebody asked for it."""

    compressed: CompressedSegment
    seconds: float
    model_tokens: int


class _Listening(NamedTuple):
    """Who looks on while a text is written, as a WritingTask has it."""

    cancelled: Callable[[], bool] | None = None
    on_text: Callable[[str], None] | None = None
    on_attempt: Callable[[int], None] | None = None


class Summarizer:
    """Compresses segments to levels with one engine.

    `count` counts tokens; `tier` is the licence; `publish` hears of every segment compressed;
    `closer` writes what a marker opens (the offline engine, whatever wrote the summary).
    """

    def __init__(
        self,
        writer: Writer,
        closer: Writer,
        *,
        count: Callable[[str], int],
        clock: Clock,
        tier: Tier = "teams",
        publish: Publish | None = None,
    ) -> None:
        self.writer = writer
        self._closer = closer
        self._offline: Summarizer | None = self if writer is closer else None
        self._count = count
        self._clock = clock
        self._tier = tier
        self._publish = publish
        self._done: OrderedDict[tuple[object, ...], _Done] = OrderedDict()
        self._judged: dict[int, tuple[CompressedSegment, FidelityValidation]] = {}
        self._untold: dict[int, _Made] = {}
        self._closer_texts: OrderedDict[tuple[int, Level], tuple[object, str]] = OrderedDict()
        self._terms: OrderedDict[int, tuple[object, SourceTerms]] = OrderedDict()

    def compress(
        self,
        segment: Segment,
        anchors: Sequence[AnchorPoint],
        level: Level,
        options: SummarizationOptions | None = None,
        *,
        cancelled: Callable[[], bool] | None = None,
        on_text: Callable[[str], None] | None = None,
        on_attempt: Callable[[int], None] | None = None,
    ) -> CompressedSegment:
        """The segment at a level, none longer than the one nearer to Full. Full is the original.

        `on_text` gets each piece of a text as it is written, `on_attempt` the number of every
        attempt of a model before that.

        Raises LicenceError where the tier lacks the level, RetryExhaustedError when retention
        criteria cannot be met, ModelError and CancelledError from a model, TemplateError.
        """
        options = options or SummarizationOptions()
        licence.require(level, self._tier)
        segment = readable(segment)
        anchors = anchors if isinstance(anchors, tuple) else tuple(anchors)
        if level is Level.FULL or not full_text(segment.turns):
            return self._unchanged(segment, anchors, level)
        key = (id(segment.turns), id(anchors), level, options)
        known = self._done.get(key)
        if known is not None and known.turns is segment.turns and known.anchors is anchors:
            untold = self._untold.pop(id(known.compressed), None)
            if untold is not None:
                self._tell(segment, untold)
            return known.compressed
        listening = _Listening(cancelled, on_text, on_attempt)
        made = self._compressed(segment, anchors, level, options, listening)
        if self.writer.rewrites:  # what is made without a model is the same again
            self._remember(key, segment, anchors, made.compressed)
        self._tell(segment, made)
        return made.compressed

    def _compressed(
        self,
        segment: Segment,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        options: SummarizationOptions,
        listening: _Listening,
    ) -> _Made:
        """The segment at a level, with what is to be told of it."""
        log_beginning(segment.id, level)
        text = full_text(segment.turns)
        nearer = self._nearer(segment, anchors, level, options)
        began = time.perf_counter()
        aim = options.max_output_tokens or segment_target(segment, level)
        task = WritingTask(
            segment,
            level,
            anchors,
            aim if nearer is None else min(aim, nearer.token_count),
            options,
            gather(segment, options.retention),
            asks_for_care(segment),
            *listening,
        )
        wanted = options.generate_expansion_markers
        marker = marker_text(level, segment.id, segment.topic) if wanted else ""
        parts = Assembly(self.writer, task, marker, text, self._count).run()
        if nearer is not None and self._count(parts.content) > nearer.token_count:
            content = relevelled(nearer.content, level, segment.id, source=text)
            parts = structs.replace(parts, content=content)
        done = self._result(
            segment,
            anchors,
            level,
            parts.content,
            parts=parts,
            markers=wanted,
            source=text,
        )
        return _Made(done, time.perf_counter() - began, parts.model_tokens)

    def _nearer(
        self,
        segment: Segment,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        options: SummarizationOptions,
    ) -> CompressedSegment | None:
        """The segment one level nearer to Full, which the level must not exceed.

        None where that is not known without asking a model, and under a ceiling, which every level
        fills alike.
        """
        if options.ceiling is not None or not self.writer.rewrites:
            return None
        if level is Level.DETAILED:
            return self._unchanged(segment, anchors, Level.FULL)
        return self._quiet(segment, anchors, Level(level - 1), options)

    def _quiet(
        self,
        segment: Segment,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        options: SummarizationOptions,
    ) -> CompressedSegment:
        """The segment at a level that nobody asked for; it is told when somebody does."""
        key = (id(segment.turns), id(anchors), level, options)
        known = self._done.get(key)
        if known is not None and known.turns is segment.turns and known.anchors is anchors:
            return known.compressed
        made = self._compressed(segment, anchors, level, options, _Listening())
        self._remember(key, segment, anchors, made.compressed)
        self._untold[id(made.compressed)] = made
        return made.compressed

    def _remember(
        self,
        key: tuple[object, ...],
        segment: Segment,
        anchors: tuple[AnchorPoint, ...],
        compressed: CompressedSegment,
    ) -> None:
        self._done[key] = _Done(segment.turns, anchors, compressed)
        while len(self._done) > 4 * REMEMBERED:
            _, oldest = self._done.popitem(last=False)
            self._judged.pop(id(oldest.compressed), None)
            self._untold.pop(id(oldest.compressed), None)

    def _tell(self, segment: Segment, made: _Made) -> None:
        """Say that a segment was compressed, once, when somebody asked for it."""
        fidelity = self.validate_fidelity(segment, made.compressed)
        if self.writer.rewrites:
            self._judged[id(made.compressed)] = (made.compressed, fidelity)
        event = SegmentCompressed(made.compressed, made.seconds, made.model_tokens, fidelity)
        log_done(event)
        if self._publish is not None:
            self._publish(event)

    def compress_all(
        self,
        segment: Segment,
        anchors: Sequence[AnchorPoint],
        options: SummarizationOptions | None = None,
        *,
        cancelled: Callable[[], bool] | None = None,
    ) -> dict[Level, CompressedSegment | Locked]:
        """All four levels; what the tier lacks says so in its place. Work is shared.

        Raises as `compress` does, but no LicenceError.
        """
        segment = readable(segment)
        found: dict[Level, CompressedSegment | Locked] = {}
        for level in Level:
            held_back = licence.locked(level, self._tier)
            found[level] = held_back or self.compress(
                segment, anchors, level, options, cancelled=cancelled
            )
        return found if options is not None and options.ceiling else self._in_order(segment, found)

    def _in_order(
        self, segment: Segment, found: dict[Level, CompressedSegment | Locked]
    ) -> dict[Level, CompressedSegment | Locked]:
        """The levels, none longer than the one nearer to Full, whatever a model wrote."""
        source = full_text(segment.turns)
        nearer: CompressedSegment | None = None
        for level, each in found.items():
            if isinstance(each, Locked):
                continue
            if nearer is not None and each.token_count > nearer.token_count:
                content = relevelled(nearer.content, level, segment.id, source=source)
                each = self._result(
                    segment,
                    each.anchors,
                    level,
                    content,
                    markers=bool(nearer.expansion_markers),
                    source=source,
                    engine=each.engine,
                )
                found[level] = each
            nearer = each
        return found

    def validate_fidelity(
        self, segment: Segment, compressed: CompressedSegment
    ) -> FidelityValidation:
        """How faithful a compressed segment is, and what it lost, without a model."""
        segment = readable(segment)
        known = self._judged.get(id(compressed))
        if known is not None and known[0] is compressed:
            return known[1]
        return fidelity.validate_fidelity(segment, compressed, self.terms(segment))

    def terms(self, segment: Segment) -> SourceTerms:
        """What the segment says, read once for all its levels."""
        key = id(segment.turns)
        known = self._terms.get(key)
        if known is None or known[0] is not segment.turns:
            known = self._terms[key] = (segment.turns, SourceTerms(segment.turns))
            while len(self._terms) > REMEMBERED:
                self._terms.popitem(last=False)
        return known[1]

    def closer_text(self, segment: Segment, level: Level, anchors: Sequence[AnchorPoint]) -> str:
        """What expanding a marker of a summary at `level` shows: one level closer to Full."""
        segment = readable(segment)
        if level <= Level.DETAILED:
            return full_text(segment.turns)
        closer = Level(level - 1)
        key = id(segment.turns)
        known = self._closer_texts.get((key, closer))
        if known is not None and known[0] is segment.turns:
            return known[1]
        if self._offline is None:
            engine = self._closer
            self._offline = Summarizer(engine, engine, count=self._count, clock=self._clock)
        content = self._offline._quiet(
            segment, tuple(anchors), closer, SummarizationOptions()
        ).content
        self._closer_texts[key, closer] = (segment.turns, content)
        while len(self._closer_texts) > REMEMBERED:
            self._closer_texts.popitem(last=False)
        return content

    def judge(
        self,
        segment: Segment,
        anchors: Sequence[AnchorPoint],
        level: Level,
        content: str,
        *,
        engine: str = "by hand",
    ) -> CompressedSegment:
        """A summary that somebody wrote, as a compressed segment, with its markers."""
        segment = readable(segment)
        source = full_text(segment.turns)
        return self._result(
            segment, tuple(anchors), level, content, markers=True, source=source, engine=engine
        )

    def _unchanged(
        self, segment: Segment, anchors: tuple[AnchorPoint, ...], level: Level
    ) -> CompressedSegment:
        """The original at Full; nothing at the other levels, where nothing is said at all."""
        text = full_text(segment.turns) if level is Level.FULL else ""
        return self._result(segment, anchors, level, text)

    def _result(
        self,
        segment: Segment,
        anchors: tuple[AnchorPoint, ...],
        level: Level,
        content: str,
        *,
        parts: Parts | None = None,
        markers: bool = False,
        source: str = "",
        engine: str = "",
    ) -> CompressedSegment:
        whole = level is Level.FULL or (source and content == source)
        tokens = segment.tokens if whole else self._count(content)
        found = parse_markers(content, level, segment.id, source=source) if markers else ()
        if found:
            opened = self._count(self.closer_text(segment, level, anchors))
            adds = max(opened - self._count(content[found[0].start : found[0].end]), 0)
            found = parse_markers(content, level, segment.id, source=source, adds=adds)
        missing = () if level is Level.FULL else fidelity.missing_anchors(content, anchors, level)
        return CompressedSegment(
            segment.id,
            segment.conversation,
            level,
            content,
            anchors,
            found,
            tokens,
            segment.tokens,
            iso(self._clock()),
            segment.topic,
            missing,
            engine or (parts.engine if parts else self.writer.name),
            parts.note if parts else ("" if segment.tokens else "nothing to summarize"),
        )
