"""Summaries of a file without a store, for `reviewer summarize`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.anchors import find_anchors
from reviewer.compression.conversations import (
    holds_several,
    is_read,
    key_of,
    last_of,
    listed,
)
from reviewer.compression.fidelity import missing_anchors
from reviewer.compression.offline_engine import OfflineEngine
from reviewer.compression.segments import full_text
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.summary_writer import SummaryWriter
from reviewer.compression.turn_events import TurnMaker, is_summary
from reviewer.compression.values import (
    HANDOVER_FROM,
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    Level,
    Segment,
    SegmentTurn,
    SummarizationOptions,
)
from reviewer.sources.open import open_blocks
from reviewer.sources.records import Block
from reviewer.text.tokens import TokenCounter, counter

LEVELS = (Level.DETAILED, Level.BRIEF, Level.TAGS)
ANCHOR_SHARE = 0.1
"""Share of a hard ceiling for detected anchors if not all of them fit."""
WHOLE_SHARE = 0.25
"""Share of a hard ceiling up to which all anchors are kept at Detailed and Brief."""
MARKED_FROM = 400
"""Minimum hard ceiling, in tokens, of a summary with a marker."""
ORDERS = frozenset({AnchorType.CORRECTION, AnchorType.DECISION, AnchorType.USER_PREFERENCE})
MIN_CEILING = 8
"""The lowest ceiling derived from the size of a short source, in tokens."""
SHORT = 40
"""Tokens up to which a source is not shortened."""
NOTHING_TOLD = "nothing in it can be told in so few words"


class FileSummary(Struct, frozen=True):
    """A file at one level, as one segment."""

    segment: CompressedSegment
    fidelity: FidelityValidation
    encoding: str
    conversations: int = 1
    """The number of conversations in the file; the summary is of the latest."""

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts read."""
        done, fidelity = self.segment, self.fidelity
        return {
            "level": done.level.name.lower(),
            "engine": done.engine,
            "content": done.content,
            "tokens": done.token_count,
            "original_tokens": done.original_token_count,
            "ratio": round(done.compression_ratio, 3),
            "encoding": self.encoding,
            "anchors": [each.to_json() for each in done.anchors],
            "anchors_missing": [each.to_json() for each in done.anchors_missing],
            "markers": [structs.asdict(each) for each in done.expansion_markers],
            "fidelity": {
                **fidelity.scores,
                "lost": [
                    {"text": each.text, "kind": each.kind, "weight": each.weight}
                    for each in fidelity.lost_information
                ],
                "invented": list(fidelity.invented),
                "needs_missing": list(fidelity.needs_missing),
            },
            "note": done.note,
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
    blocks = open_blocks(path, line_start=line_start, line_end=line_end)
    writer = writer or SummaryWriter(Summarizer(OfflineEngine(count.count), count=count.count))
    read = list(filter(is_read, blocks))
    several = listed(read) if holds_several(path) else []
    if several:
        last = last_of(several).key
        read = [block for block in read if key_of(block) == last]
    turns = turns_of(read, count, blocks.format)
    segment = Segment("s1", turns, sum(turn.tokens for turn in turns))
    anchors = find_anchors(turns)
    return [
        structs.replace(
            _at(writer, segment, anchors, Level(level), max_tokens, count),
            conversations=max(len(several), 1),
        )
        for level in levels
    ]


def turns_of(
    blocks: Iterable[Block], count: TokenCounter, format_name: str = ""
) -> tuple[SegmentTurn, ...]:
    """The turns of a file to summarize: words, thoughts and tools, with secrets masked.

    Sub-agents' calls count for the state of the work; their words only if there is nothing else.
    Text of the client and rewound turns are left out.
    """
    read = list(filter(is_read, blocks))
    has_main = any(not block.origin.sidechain for block in read)
    return tuple(TurnMaker(count.count, format_name).turns(read, has_main=has_main))


def _at(
    writer: SummaryWriter,
    segment: Segment,
    anchors: tuple[AnchorPoint, ...],
    level: Level,
    max_tokens: int | None,
    count: TokenCounter,
) -> FileSummary:
    first, options = anchors, SummarizationOptions()
    said = tuple(each for each in anchors if segment.turns[each.turn].kind == "text")
    if segment.tokens <= SHORT:
        whole = count.count(full_text(segment.turns)) + SHORT
        options = SummarizationOptions(max_output_tokens=whole, generate_expansion_markers=False)
    is_handover = False
    if max_tokens is not None:
        # In another form, a short source must not become longer.
        max_tokens = min(max_tokens, max(segment.tokens, MIN_CEILING))
        is_handover = max_tokens >= HANDOVER_FROM
        if is_handover:
            said = orders_in(said, segment.turns)
        first = anchors_within(said, level, max_tokens, count)
        options = SummarizationOptions(
            max_output_tokens=max_tokens,
            ceiling=max_tokens,
            generate_expansion_markers=max_tokens >= MARKED_FROM,
        )
    found = writer.write(segment, first, level, options)
    if segment.tokens and not found.content:
        found = structs.replace(found, note=NOTHING_TOLD)
    if is_handover:
        anchors = first
    missing = () if level is Level.FULL else missing_anchors(found.content, anchors, level)
    found = structs.replace(found, anchors=anchors, anchors_missing=missing)
    fidelity = writer.summarizer.validate_fidelity(segment, found)
    return FileSummary(found, fidelity, count.name)


def orders_in(
    anchors: Sequence[AnchorPoint], turns: Sequence[SegmentTurn]
) -> tuple[AnchorPoint, ...]:
    """The anchors with a decision, correction or preference of the person, which a hand-over must
    quote; other anchors compete with everything else.
    """
    return tuple(each for each in anchors if _is_order(each, turns[each.turn]))


def _is_order(anchor: AnchorPoint, turn: SegmentTurn) -> bool:
    return turn.role == "user" and not is_summary(turn) and anchor.type in ORDERS


def anchors_within(
    anchors: tuple[AnchorPoint, ...], level: Level, ceiling: int, count: TokenCounter
) -> tuple[AnchorPoint, ...]:
    """The anchors to keep under a hard ceiling: all, or the most important that fit."""
    if level is not Level.TAGS:
        if ceiling < HANDOVER_FROM:  # there, a bare name is less useful than a sentence
            anchors = tuple(e for e in anchors if e.type is not AnchorType.CODE_ARTIFACT)
        need = sum(count.count(f"- {each.content}\n") for each in anchors)
        if need <= WHOLE_SHARE * ceiling:
            return anchors
    kept, room = [], ceiling * ANCHOR_SHARE
    for anchor in sorted(anchors, key=lambda each: -each.importance):
        cost = count.count(anchor.content)
        if cost <= room:
            kept.append(anchor)
            room -= cost
    return tuple(kept)
