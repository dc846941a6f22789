"""Summaries of one file without a store, for `reviewer summarize`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from reviewer.clock import Clock, utc_now
from reviewer.compression.anchors import find_anchors
from reviewer.compression.fidelity import missing_anchors
from reviewer.compression.offline.engine import OfflineEngine
from reviewer.compression.offline.events import command_called
from reviewer.compression.segments import full_text
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.values import (
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    Level,
    Segment,
    SummarizationOptions,
    Turn,
)
from reviewer.sources.open import open_blocks
from reviewer.sources.records import Block, Use
from reviewer.text.secrets import mask
from reviewer.text.tokens import TokenCounter, counter

LEVELS = (Level.DETAILED, Level.BRIEF, Level.TAGS)
ANCHOR_SHARE = 0.1
"""Share of a hard ceiling for detected anchors where not all of them fit."""
WHOLE_SHARE = 0.25
"""Share of a hard ceiling up to which all anchors are kept at Detailed and Brief."""
MARKED_FROM = 400
"""Tokens of a hard ceiling from which on a summary has a marker."""
SHORT = 40
"""Tokens up to which a source is not shortened."""
_READ = frozenset({Use.MESSAGE, Use.TOOL, Use.SUMMARY})


class FileSummary(Struct, frozen=True):
    """A file at one level. `anchors`: all of the file; `missing`: those not in the summary."""

    level: Level
    content: str
    tokens: int
    original_tokens: int
    encoding: str
    anchors: tuple[AnchorPoint, ...]
    missing: tuple[AnchorPoint, ...]
    segment: CompressedSegment
    fidelity: FidelityValidation

    @property
    def ratio(self) -> float:
        """Original : summary tokens; 0.0 for nothing."""
        return self.original_tokens / self.tokens if self.tokens else 0.0

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts read."""
        fidelity = self.fidelity
        return {
            "level": self.level.name.lower(),
            "content": self.content,
            "tokens": self.tokens,
            "original_tokens": self.original_tokens,
            "ratio": round(self.ratio, 3),
            "encoding": self.encoding,
            "anchors": [_anchor(each) for each in self.anchors],
            "anchors_missing": [_anchor(each) for each in self.missing],
            "markers": [structs.asdict(each) for each in self.segment.expansion_markers],
            "fidelity": {
                "overall": fidelity.overall_score,
                "anchor_preservation": fidelity.anchor_preservation,
                "factual_accuracy": fidelity.factual_accuracy,
                "context_retention": fidelity.context_retention,
                "lost": [
                    {"text": each.text, "kind": each.kind, "weight": each.weight}
                    for each in fidelity.lost_information
                ],
                "invented": list(fidelity.invented),
                "needs_missing": list(fidelity.needs_missing),
            },
            "note": self.segment.note,
        }


def summarize_file(
    path: Path,
    *,
    levels: Sequence[Level] = LEVELS,
    line_start: int = 0,
    line_end: int | None = None,
    max_tokens: int | None = None,
    clock: Clock = utc_now,
) -> list[FileSummary]:
    """The file's lines at each of the levels, by the offline engine.

    `max_tokens` is a hard ceiling on the content. Without it a level aims at its ratio, which
    anchors may exceed. Raises SourceError.
    """
    count = counter()
    blocks = open_blocks(path, line_start=line_start, line_end=line_end)
    turns = turns_of(blocks, count)
    segment = Segment("s1", turns, sum(turn.tokens for turn in turns), "", path.stem)
    anchors = find_anchors(turns)
    summarizer = Summarizer(OfflineEngine(count.count), count=count.count, clock=clock)
    return [_at(summarizer, segment, anchors, Level(level), max_tokens, count) for level in levels]


def turns_of(blocks: Iterable[Block], count: TokenCounter) -> tuple[Turn, ...]:
    """The turns of a file that are summarized: words, thoughts and tools, with secrets masked.

    Turns of sub-agents are left out unless there are no others; text of the client and rewound
    turns are always left out.
    """
    read = [block for block in blocks if is_read(block)]
    main = [block for block in read if not block.sidechain] or read
    return tuple(turn_of(block, count) for block in main)


def is_read(block: Block) -> bool:
    """Whether a block is summarized: words, a thought, a tool, a command that the person called.

    Other text of the client is not.
    """
    if block.use is Use.WRAPPER:
        return bool(command_called(block.text.strip()))
    return block.use in _READ and (bool(block.text.strip()) or block.kind == "tool_result")


def turn_of(block: Block, count: TokenCounter) -> Turn:
    """A block as a turn, with secrets masked."""
    text = mask(block.text).text
    return Turn(
        str(block.role),
        text,
        count.count(text),
        block.kind,
        " ".join(block.name.split()),
        block.at,
        call=block.call,
        folder=block.cwd,
        branch=block.branch,
    )


def _at(
    summarizer: Summarizer,
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
    if max_tokens is not None:
        first = _required(said, level, max_tokens, count)
        options = SummarizationOptions(
            max_output_tokens=max_tokens,
            ceiling=max_tokens,
            generate_expansion_markers=max_tokens >= MARKED_FROM,
        )
    found = summarizer.compress(segment, first, level, options)
    missing = () if level is Level.FULL else missing_anchors(found.content, anchors, level)
    found = structs.replace(found, anchors=anchors, anchors_missing=missing)
    return FileSummary(
        level,
        found.content,
        found.token_count,
        segment.tokens,
        count.name,
        anchors,
        missing,
        found,
        summarizer.validate_fidelity(segment, found),
    )


def _required(
    anchors: tuple[AnchorPoint, ...], level: Level, ceiling: int, count: TokenCounter
) -> tuple[AnchorPoint, ...]:
    """The anchors to keep under a hard ceiling: all, or the most important that fit."""
    if level is not Level.TAGS:
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


def _anchor(anchor: AnchorPoint) -> dict[str, Any]:
    return {
        "type": anchor.type.value,
        "content": anchor.content,
        "importance": anchor.importance,
        "source": anchor.source,
    }
