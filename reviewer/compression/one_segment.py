"""What is asked of one segment, whatever context it is of. Nothing here reads or writes a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviewer.commits.contexts import Contexts
from reviewer.commits.patterns import Given
from reviewer.commits.retention import instructions
from reviewer.commits.values import RetentionCriteria
from reviewer.compression import licence
from reviewer.compression.anchors import find_anchors
from reviewer.compression.engines import Engines
from reviewer.compression.levels import Summarizer
from reviewer.compression.licence import Tier
from reviewer.compression.retention import RetentionFailure, gather, validate_retention
from reviewer.compression.values import (
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    Level,
    Locked,
    Segment,
    SummarizationOptions,
    Turn,
)
from reviewer.settings import Settings


class SegmentCompression:
    """Anchors, levels, fidelity and retention of a segment, with the engines that are set up."""

    def __init__(
        self, contexts: Contexts, engines: Engines, settings: Callable[[], Settings]
    ) -> None:
        """`contexts` knows how patterns are written; `settings` is asked when it is needed."""
        self._contexts = contexts
        self.engines = engines
        self._settings = settings

    def anchor_spans(self, text: str, role: str) -> tuple[AnchorPoint, ...]:
        """The anchors that rules find in one commit's text."""
        return find_anchors([Turn(role, text, 0)])

    def compress(
        self,
        segment: Segment,
        anchors: Sequence[AnchorPoint],
        level: Level,
        options: SummarizationOptions | None = None,
        *,
        engine: str | None = None,
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
        engine: str | None = None,
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

    def options(
        self,
        *,
        retain: str | None = None,
        retain_match: Sequence[Given] = (),
        retain_regex: Sequence[Given] = (),
        template: str | None = None,
        max_tokens: int | None = None,
        ceiling: int | None = None,
        temperature: float = 0.3,
        markers: bool = True,
        anchors: bool = True,
        model_id: str | None = None,
    ) -> SummarizationOptions:
        """Options as a person gives them. Raises PatternError, with the column of the fault."""
        return SummarizationOptions(
            model_id=model_id,
            max_output_tokens=max_tokens,
            temperature=temperature,
            generate_expansion_markers=markers,
            validate_anchors=anchors,
            custom_prompt_template_id=template,
            retention=RetentionCriteria(
                None if retain is None else instructions(retain),
                self._contexts.patterns(retain_match, retain_regex),
            ),
            ceiling=ceiling,
        )

    def _summarizer(self, engine: str | None, options: SummarizationOptions | None) -> Summarizer:
        return self.engines.summarizer(
            self.engines.named(engine), options.model_id if options else None
        )

    def _tier(self) -> Tier:
        return self._settings().compression.tier

    def _lowest(self) -> Level:
        """The level nearest to Tags that the licence holds."""
        return max(level for level in Level if licence.locked(level, self._tier()) is None)

    def _count(self) -> Callable[[str], int]:
        from reviewer.text.tokens import counter

        return counter().count
