"""Summaries of a file without a store, for `reviewer summarize`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.anchors import find_anchors
from reviewer.compression.fidelity import missing_anchors
from reviewer.compression.file_turns import FileTurns
from reviewer.compression.offline_engine import OfflineEngine
from reviewer.compression.plan import summary_json
from reviewer.compression.segments import full_text
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.summary_writer import SummaryWriter
from reviewer.compression.turn_events import is_summary
from reviewer.compression.values import (
    HANDOVER_FROM,
    NOTHING_TOLD,
    SHORT,
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    Level,
    Segment,
    SegmentTurn,
    SummarizationOptions,
)
from reviewer.text.tokens import TokenCounter, counter

LEVELS = (Level.DETAILED, Level.BRIEF, Level.TAGS)
ANCHOR_SHARE = 0.1
"""Share of a hard ceiling for anchors."""
ORDERS = frozenset({AnchorType.CORRECTION, AnchorType.DECISION, AnchorType.USER_PREFERENCE})
MIN_CEILING = 8
"""The lowest ceiling derived from the size of a short source, in tokens."""


class FileSummary(Struct, frozen=True):
    """A file at one level, as one segment."""

    source: Segment
    segment: CompressedSegment
    fidelity: FidelityValidation
    encoding: str
    conversations: int = 1
    """The number of conversations in the file; the summary is of the latest."""

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts read."""
        return {
            **summary_json(self.source, self.segment, self.fidelity),
            "encoding": self.encoding,
            **({"conversations": self.conversations} if self.conversations > 1 else {}),
        }


def summarize_file(
    path: Path,
    *,
    levels: Sequence[Level] = LEVELS,
    line_start: int = 0,
    line_end: int | None = None,
    max_tokens: int | None = None,
    writer: SummaryWriter | None = None,
) -> list[FileSummary]:
    """The file's lines at each of the levels; for several conversations, the latest.

    `max_tokens`: a hard ceiling on the content. Without it a level aims at its ratio, which anchors
    may exceed. `writer`: a model's, instead of the offline engine; if the model fails, the offline
    engine writes, with a note. Raises SourceError, CancelledError, TemplateError.
    """
    count = counter()
    writer = writer or SummaryWriter(Summarizer(OfflineEngine(count.count), count=count.count))
    source = FileTurns(path, line_start=line_start, line_end=line_end)
    turns = tuple(source)
    tokens = sum(turn.tokens for turn in turns)
    segment = Segment("s1", turns, tokens, is_part=False, before=source.before())
    anchors = find_anchors(turns)
    several = max(len(source.conversations), 1)
    made = (_at(writer, segment, anchors, level, max_tokens, count) for level in levels)
    return [FileSummary(segment, *each, count.name, several) for each in made]


def _at(
    writer: SummaryWriter,
    segment: Segment,
    anchors: tuple[AnchorPoint, ...],
    level: Level,
    max_tokens: int | None,
    count: TokenCounter,
) -> tuple[CompressedSegment, FidelityValidation]:
    first, options = anchors, SummarizationOptions()
    if segment.tokens <= SHORT:
        whole = count.count(full_text(segment.turns)) + SHORT
        options = SummarizationOptions(max_output_tokens=whole, generate_expansion_markers=False)
    if max_tokens is not None:
        # In another form, a short source must not become longer.
        ceiling = min(max_tokens, max(segment.tokens, MIN_CEILING))
        if ceiling >= HANDOVER_FROM:
            anchors = orders_in(anchors, segment.turns)
        first = anchors_within(anchors, ceiling, count)
        options = SummarizationOptions(
            max_output_tokens=ceiling, ceiling=ceiling, generate_expansion_markers=False
        )
    found = writer.write(segment, first, level, options)
    if segment.tokens and not found.content:
        found = structs.replace(found, note=NOTHING_TOLD)
    missing = () if level is Level.FULL else missing_anchors(found.content, anchors, level)
    found = structs.replace(found, anchors=anchors, anchors_missing=missing)
    return found, writer.summarizer.validate_fidelity(segment, found)


def orders_in(
    anchors: Sequence[AnchorPoint], turns: Sequence[SegmentTurn]
) -> tuple[AnchorPoint, ...]:
    """The anchors with a decision, correction or preference of the person, which a hand-over must
    quote; other anchors compete with everything else.
    """
    persons = {at for at, turn in enumerate(turns) if turn.role == "user" and not is_summary(turn)}
    return tuple(each for each in anchors if each.turn in persons and each.type in ORDERS)


def anchors_within(
    anchors: Sequence[AnchorPoint], ceiling: int, count: TokenCounter
) -> tuple[AnchorPoint, ...]:
    """The most important anchors that have room under a hard ceiling."""
    kept, room = [], ceiling * ANCHOR_SHARE
    for anchor in sorted(anchors, key=lambda each: -each.importance):
        cost = count.count(f"- {anchor.content}\n")
        if cost <= room:
            kept.append(anchor)
            room -= cost
    return tuple(kept)
