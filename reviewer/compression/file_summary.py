"""Summaries of one file without a store, for `reviewer summarize`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from reviewer.clock import Clock, utc_now
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.anchors import find_anchors
from reviewer.compression.conversations import (
    Conversation,
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
    ExpansionMarker,
    FidelityValidation,
    Level,
    Segment,
    SegmentTurn,
    SummarizationOptions,
)
from reviewer.sources.open import open_blocks
from reviewer.sources.records import Block
from reviewer.text.identifiers import short_id
from reviewer.text.tokens import TokenCounter, counter

LEVELS = (Level.DETAILED, Level.BRIEF, Level.TAGS)
ANCHOR_SHARE = 0.1
"""Share of a hard ceiling for detected anchors where not all of them fit."""
WHOLE_SHARE = 0.25
"""Share of a hard ceiling up to which all anchors are kept at Detailed and Brief."""
MARKED_FROM = 400
"""Tokens of a hard ceiling from which on a summary has a marker."""
ORDERS = frozenset({AnchorType.CORRECTION, AnchorType.DECISION, AnchorType.USER_PREFERENCE})
LEAST_CEILING = 8
"""Tokens to which the size of a short source lowers a ceiling at most."""
SHORT = 40
"""Tokens up to which a source is not shortened."""
NOTHING_TOLD = "nothing in it can be told in so few words"


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
    conversations: int = 1
    """How many the file has. Each has its own part of the content; where a hard ceiling is very
    low, the content is about the last one."""

    @property
    def ratio(self) -> float:
        """Original : summary tokens; 0.0 for nothing."""
        return self.original_tokens / self.tokens if self.tokens else 0.0

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts read."""
        fidelity = self.fidelity
        return {
            "level": self.level.name.lower(),
            "engine": self.segment.engine,
            "content": self.content,
            "tokens": self.tokens,
            "original_tokens": self.original_tokens,
            "ratio": round(self.ratio, 3),
            "encoding": self.encoding,
            "anchors": [each.to_json() for each in self.anchors],
            "anchors_missing": [each.to_json() for each in self.missing],
            "markers": [structs.asdict(each) for each in self.segment.expansion_markers],
            "fidelity": {
                **fidelity.scores,
                "lost": [
                    {"text": each.text, "kind": each.kind, "weight": each.weight}
                    for each in fidelity.lost_information
                ],
                "invented": list(fidelity.invented),
                "needs_missing": list(fidelity.needs_missing),
            },
            "note": self.segment.note,
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
    clock: Clock = utc_now,
) -> list[FileSummary]:
    """The file's lines at each of the levels.

    `max_tokens` is a hard ceiling on the content. Without it a level aims at its ratio, which
    anchors may exceed. `writer`: that of a model instead of the offline engine; what the model
    fails to write, the offline engine writes, with a note. Raises SourceError, CancelledError,
    TemplateError.
    """
    count = counter()
    blocks = open_blocks(path, line_start=line_start, line_end=line_end)
    writer = writer or SummaryWriter(
        Summarizer(OfflineEngine(count.count), count=count.count, clock=clock)
    )
    several = _conversations(blocks, count, blocks.format) if holds_several(path) else []
    total = len(several)
    if several and max_tokens is not None and max_tokens < LEAST_OF_SEVERAL:
        last = last_of([each for each, _ in several])
        several = [(each, its) for each, its in several if each is last]
    if len(several) > 1:
        return [_of_several(writer, several, Level(level), max_tokens, count) for level in levels]
    turns = several[0][1] if several else turns_of(blocks, count, blocks.format)
    segment = Segment("s1", turns, sum(turn.tokens for turn in turns), "", path.stem)
    anchors = find_anchors(turns)
    found = [_at(writer, segment, anchors, Level(level), max_tokens, count) for level in levels]
    return [structs.replace(each, conversations=max(total, 1)) for each in found]


def _conversations(
    blocks: Iterable[Block], count: TokenCounter, format_name: str
) -> list[tuple[Conversation, tuple[SegmentTurn, ...]]]:
    """The conversations of a file with their turns, in the order of the file."""
    read = [block for block in blocks if is_read(block)]
    by_key: dict[str, list[Block]] = {}
    for block in read:
        by_key.setdefault(key_of(block), []).append(block)
    return [(each, turns_of(by_key[each.key], count, format_name)) for each in listed(read)]


LEAST_OF_SEVERAL = 100
"""A smaller hard ceiling has room for the last conversation of the file only."""
LEAST_SHAPE = 100
"""Tokens of a conversation among several, with the line that names it."""
NOTE_TOKENS = 20
"""For the line that says how many conversations are left out."""

_Several = Sequence[tuple[Conversation, tuple[SegmentTurn, ...]]]


def _of_several(
    writer: SummaryWriter, several: _Several, level: Level, ceiling: int | None, count: TokenCounter
) -> FileSummary:
    """The conversations, each under a line that says which it is; under a hard ceiling as many of
    the latest as have room.
    """
    turns = tuple(turn for _, its in several for turn in its)
    whole = Segment("s1", turns, _size(turns))
    content, parts = _written(writer, several, level, ceiling, count)
    if level is not Level.FULL and count.count(content) > whole.tokens:
        # The lines that name the conversations are longer than these.
        ceiling = whole.tokens if ceiling is None else min(ceiling, whole.tokens)
    room = ceiling
    while ceiling is not None and room and (over := count.count(content) - ceiling) > 0:
        room = max(room - over, 0)
        content, parts = _written(writer, several, level, room, count)
    anchors = find_anchors(turns)
    missing = () if level is Level.FULL else missing_anchors(content, anchors, level)
    markers: list[ExpansionMarker] = []
    for part in parts:
        at = content.index(part.content)
        markers += [
            structs.replace(each, start=each.start + at, end=each.end + at)
            for each in part.segment.expansion_markers
        ]
    done = structs.replace(
        parts[-1].segment,
        segment_id=whole.id,
        conversation_id="",
        content=content,
        anchors=anchors,
        anchors_missing=missing,
        expansion_markers=tuple(markers),
        token_count=count.count(content),
        original_token_count=whole.tokens,
    )
    return FileSummary(
        level,
        content,
        done.token_count,
        whole.tokens,
        count.name,
        anchors,
        missing,
        done,
        writer.summarizer.validate_fidelity(whole, done),
        len(several),
    )


def _written(
    writer: SummaryWriter, several: _Several, level: Level, room: int | None, count: TokenCounter
) -> tuple[str, list[FileSummary]]:
    """The text of as many conversations as have room, the latest first, and their summaries."""
    latest = sorted(several, key=lambda each: (each[0].latest, each[0].number), reverse=True)
    shown = several
    lines: list[str] = []
    if room is not None:
        kept = [each.number for each, _ in latest[: max(room // LEAST_SHAPE, 1)]]
        shown = [each for each in several if each[0].number in kept]
        if left_out := len(several) - len(shown):
            lines.append(f"{left_out:,} of {len(several):,} conversations are left out.")
            room -= NOTE_TOKENS
    heads = {each.number: _head(each, len(several)) for each, _ in shown}
    left = None if room is None else room - sum(count.count(head) for head in heads.values())
    found: dict[int, FileSummary] = {}
    by_size = sorted(shown, key=lambda each: _size(each[1]))
    for at, (each, its) in enumerate(by_size):
        most = None if left is None else max(left // (len(by_size) - at), 1)
        segment = Segment(f"s{each.number}", its, _size(its), "", each.name)
        part = found[each.number] = _at(writer, segment, find_anchors(its), level, most, count)
        left = None if left is None else left - part.tokens
    parts = [found[each.number] for each, _ in shown]
    lines += [f"{heads[each.number]}\n{found[each.number].content}" for each, _ in shown]
    return "\n\n".join(lines), parts


def _size(turns: Sequence[SegmentTurn]) -> int:
    return sum(turn.tokens for turn in turns)


def _head(each: Conversation, total: int) -> str:
    called = f" {short_id(each.name)}" if each.name else ""
    lines = f"lines {each.line_start + 1:,} to {each.line_end:,}"
    return f"== Conversation {each.number:,} of {total:,}{called} ({lines}):"


def turns_of(
    blocks: Iterable[Block], count: TokenCounter, format_name: str = ""
) -> tuple[SegmentTurn, ...]:
    """The turns of a file that are summarized: words, thoughts and tools, with secrets masked.

    Of sub-agents only the calls count, for the state of the work, unless there is nothing else;
    text of the client and rewound turns are always left out.
    """
    read = [block for block in blocks if is_read(block)]
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
        # Told in another shape, a short source must not become longer.
        max_tokens = min(max_tokens, max(segment.tokens, LEAST_CEILING))
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
    return FileSummary(
        level,
        found.content,
        found.token_count,
        segment.tokens,
        count.name,
        anchors,
        missing,
        found,
        writer.summarizer.validate_fidelity(segment, found),
    )


def orders_in(
    anchors: Sequence[AnchorPoint], turns: Sequence[SegmentTurn]
) -> tuple[AnchorPoint, ...]:
    """The anchors in which the person decided, corrected or preferred something. A hand-over has to
    quote them; the other anchors compete with everything else.
    """
    return tuple(each for each in anchors if _is_order(each, turns[each.turn]))


def _is_order(anchor: AnchorPoint, turn: SegmentTurn) -> bool:
    return turn.role == "user" and not is_summary(turn) and anchor.type in ORDERS


def anchors_within(
    anchors: tuple[AnchorPoint, ...], level: Level, ceiling: int, count: TokenCounter
) -> tuple[AnchorPoint, ...]:
    """The anchors to keep under a hard ceiling: all, or the most important that fit."""
    if level is not Level.TAGS:
        if ceiling < HANDOVER_FROM:  # there a name alone has less use than a sentence
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
