"""Segments: consecutive turns that are compressed together, and their text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import chain, groupby, pairwise
from math import log

from msgspec import structs

from reviewer.clock import from_iso
from reviewer.commits.transcript_import import MARK
from reviewer.commits.values import Priority
from reviewer.compression.turn_events import SUMMARY_STARTS
from reviewer.compression.values import Segment, SegmentTurn
from reviewer.compression.words import content_words
from reviewer.text.clip import clip

MAX_TURNS, MAX_TOKENS, FEWEST_TURNS = 20, 4_000, 3
GAP = timedelta(minutes=30)
"""A pause that begins a new segment."""

LONGEST_WORD = 30
"""Characters of a word in a topic; more are a key or an id."""
TITLE_CHARACTERS, FEWEST_WORDS = 48, 3
"""Limits of a segment's title; a text with fewer words, such as "yes please", says too little."""
_LINE_NUMBER = re.compile(r"^\s*\d+(?:→|\t)")
_FILE = re.compile(r"(?:^|[\s/\"'])([\w.-]{1,60}\.[A-Za-z]\w{0,7})\b")


def cut_segments(turns: Sequence[SegmentTurn]) -> tuple[Segment, ...]:
    """The turns in order, in segments of at most `MAX_TURNS` turns or `MAX_TOKENS` tokens.

    Cut before the last request that fits, after a pause, and around a summary or a turn that is too
    large by itself; then at pinned turns, which are in no segment, so that a pin changes only the
    segment that it was in. Without pins, a segment has at least
    `FEWEST_TURNS` consecutive turns if possible, even if they exceed the tokens; a tool's result
    stays with its call if possible.
    A segment is named after its first turn, `s1`, `s21`, ..., so that neither a pin nor a summary
    changes its name.
    """
    parts: list[Sequence[SegmentTurn]] = []
    for run in _runs(turns):
        for part in _cut(run):
            between = groupby(part, key=lambda turn: turn.priority is Priority.PINNED)
            parts += [list(some) for pinned, some in between if not pinned]
    return tuple(
        Segment(f"s{part[0].number}", tuple(part), sum(_size(turn) for turn in part), topic)
        for part, topic in zip(parts, _topics(parts), strict=True)
    )


def _runs(turns: Sequence[SegmentTurn]) -> list[list[SegmentTurn]]:
    """Summaries and turns that exceed a segment are runs by themselves, the latter with their
    call; between them the others.
    """
    runs: list[list[SegmentTurn]] = [[]]
    for turn in turns:
        if not (turn.summary or _weight(turn) > MAX_TOKENS):
            runs[-1].append(turn)
        else:
            own = [turn]
            if runs[-1] and turn.call and turn.call == runs[-1][-1].call:
                own.insert(0, runs[-1].pop())
            runs += [own, []]
    return [run for run in runs if run]


def _cut(run: list[SegmentTurn]) -> list[Sequence[SegmentTurn]]:
    cuts = [0]
    size = 0
    for number, turn in enumerate(run):
        length = number - cuts[-1]
        full = length >= MAX_TURNS or size + _weight(turn) > MAX_TOKENS
        if length >= FEWEST_TURNS and (full or _pauses(run[number - 1], turn)):
            cut = _last_begin(run, number, cuts[-1]) if full else number
            cuts.append(cut)
            size = sum(_weight(each) for each in run[cut:number])
        size += _weight(turn)
    cuts.append(len(run))
    return _balanced(run, cuts)


def _balanced(run: list[SegmentTurn], cuts: list[int]) -> list[Sequence[SegmentTurn]]:
    """A last segment that is too short takes turns from the one before, or joins it."""
    if len(cuts) > 2 and cuts[-1] - cuts[-2] < FEWEST_TURNS:
        if cuts[-1] - cuts[-3] >= 2 * FEWEST_TURNS:
            cuts[-2] = cuts[-1] - FEWEST_TURNS
        else:
            del cuts[-2]
    return [run[start:end] for start, end in pairwise(cuts)]


def _pauses(before: SegmentTurn, turn: SegmentTurn) -> bool:
    """Whether there was a pause before a turn, or it begins another conversation."""
    if turn.role == "note" and turn.text.startswith(MARK):
        return True
    now, then = from_iso(turn.at or ""), from_iso(before.at or "")
    return now is not None and then is not None and now - then > GAP


def _last_begin(run: list[SegmentTurn], number: int, start: int) -> int:
    """Where to cut, at `number` or before it: at a request in the second half, or else without
    separating a result from its call.
    """
    middle = max((start + number) // 2, start + FEWEST_TURNS)
    for cut in range(number, middle, -1):
        if run[cut].role == "user" and run[cut].kind == "text":
            return cut
    cut = number
    while cut - start > FEWEST_TURNS and run[cut].kind == "tool_result":
        cut -= 1
    return cut if run[cut].kind != "tool_result" else number


def _size(turn: SegmentTurn) -> int:
    """Tokens that a turn sends; 0 if it is skipped."""
    return 0 if turn.priority is Priority.SKIP else turn.tokens


def _weight(turn: SegmentTurn) -> int:
    """Tokens of a turn for cutting segments. Skipped turns count, so that they keep their segment;
    thoughts that are not sent do not.
    """
    return _size(turn) if turn.kind == "thinking" else turn.tokens


def _words(turn: SegmentTurn) -> list[str]:
    return [word for word in content_words(turn.text[:4_000]) if len(word) <= LONGEST_WORD]


def _topics(parts: Sequence[Sequence[SegmentTurn]]) -> list[str]:
    """For each segment, the three words that distinguish it most from the others, for its tags."""
    counts = []
    for part in parts:
        spoken = [t for t in part if t.kind == "text" and t.role in ("user", "assistant", "note")]
        counts.append(Counter(word for turn in spoken or part for word in set(_words(turn))))
    everywhere = Counter(word for each in counts for word in each)
    topics = []
    for each in counts:
        ranked = sorted(
            each.items(),
            key=lambda item: (-item[1] * (0.2 + log(len(parts) / everywhere[item[0]])), item[0]),
        )
        topics.append(" ".join(word for word, _ in ranked[:3]))
    return topics


def _told(segment: Segment) -> list[SegmentTurn]:
    return [each for each in segment.turns if each.priority is not Priority.SKIP and not each.aside]


def with_call(segment: Segment, calls: Mapping[str, SegmentTurn]) -> Segment:
    """The segment with the call of its first result, which may be in another segment."""
    first = next(iter(_told(segment)), None)
    if first is None or first.kind != "tool_result" or not first.call:
        return segment
    call = calls.get(first.call)
    return structs.replace(segment, called=called(call.name, call.text)) if call else segment


def title_of(segment: Segment) -> str:
    """A title, not unique: the beginning of the person's first message with a few words, else of
    the agent's words, else the first call or result. A client's summary is nobody's words.
    """
    turns = _told(segment)
    said = [
        each
        for each in turns
        if each.kind == "text" and not each.text.lstrip().startswith(SUMMARY_STARTS)
    ]
    beginnings = chain(
        (opening(each.text) for each in said if each.role == "user"),
        (opening(each.text) for each in said if each.role == "assistant"),
        (called(each.name, each.text) for each in turns if each.kind == "tool_use"),
        (segment.called,),
        (_shortened(f"{_bare(each.name)} {each.text}") for each in turns or segment.turns),
    )
    return next(filter(None, beginnings), "")


def opening(text: str) -> str:
    """The first line of a text with a few words; empty if none has."""
    for line in text[:2_000].splitlines():
        line = _LINE_NUMBER.sub("", line).strip(" \t#*->`/=")
        if line.startswith(("<", "[", "{")):  # a wrapper or mark of the client
            continue
        if len(line.split()) >= FEWEST_WORDS:
            return _shortened(line)
    return ""


def _shortened(text: str) -> str:
    return clip(text[:2_000], TITLE_CHARACTERS)


def called(name: str, text: str) -> str:
    """A tool and the file that it was called for; empty without a file."""
    found = _FILE.search(text[:2_000])
    return f"{_bare(name) or 'Call'} {found[1]}" if found else ""


def _bare(name: str) -> str:
    """A tool's name without that of its MCP server, as in `mcp__server__tool`."""
    return name.rpartition("__")[2]


def speaker(turn: SegmentTurn) -> str:
    """The label of a turn's speaker before its text."""
    if turn.kind == "tool_use":
        return f"{turn.role} calls {turn.name}" if turn.name else f"{turn.role} calls"
    if turn.kind == "thinking":
        return f"{turn.role} thinks"
    return turn.name or turn.role


def full_text(turns: Iterable[SegmentTurn]) -> str:
    """Every turn with text after its speaker, separated by blank lines; no SKIP turns."""
    return "\n\n".join(
        f"{speaker(turn)}: {turn.text}"
        for turn in turns
        if turn.text.strip() and turn.priority is not Priority.SKIP and not turn.aside
    )


def readable(segment: Segment) -> Segment:
    """The segment with its SKIP turns emptied, so that turns keep their numbers."""
    if all(turn.priority is not Priority.SKIP or not turn.text for turn in segment.turns):
        return segment
    return structs.replace(
        segment,
        turns=tuple(
            structs.replace(turn, text="", tokens=0) if turn.priority is Priority.SKIP else turn
            for turn in segment.turns
        ),
    )
