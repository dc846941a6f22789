"""A segment as text: who said what, whole or cut to what a model can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import structs

from reviewer.commits.values import Priority
from reviewer.compression.values import Segment, Turn

CHARACTERS_A_TOKEN = 4
"""To begin the search for a cut with; the count decides."""


def speaker(turn: Turn) -> str:
    """How a turn's speaker is called in front of the text."""
    if turn.said == "tool_use":
        return f"{turn.role} calls {turn.name}" if turn.name else f"{turn.role} calls"
    if turn.said == "thinking":
        return f"{turn.role} thinks"
    return turn.name or turn.role


def full_text(turns: Iterable[Turn]) -> str:
    """Every turn that says something, behind its speaker, a blank line between two.

    SKIP turns are left out, as they are when the context is compiled.
    """
    return "\n\n".join(
        f"{speaker(turn)}: {turn.text}"
        for turn in turns
        if turn.text.strip() and turn.priority is not Priority.SKIP
    )


def readable(segment: Segment) -> Segment:
    """The segment with its SKIP turns empty; the places of the others stay."""
    if all(turn.priority is not Priority.SKIP or not turn.text for turn in segment.turns):
        return segment
    return structs.replace(
        segment,
        turns=tuple(
            structs.replace(turn, text="", tokens=0) if turn.priority is Priority.SKIP else turn
            for turn in segment.turns
        ),
    )


def cut_text(turns: Sequence[Turn], tokens: int, count: Callable[[str], int]) -> str:
    """The turns in at most `tokens`: what is longest is shortened first, and says by how much."""
    whole = full_text(turns)
    if count(whole) <= tokens:
        return whole
    low, high = 0, max((len(turn.text) for turn in turns), default=0)
    best = ""
    while low < high - 8:
        limit = (low + high) // 2
        text = full_text([_shortened(turn, limit) for turn in turns])
        if count(text) <= tokens:
            best, low = text, limit
        else:
            high = limit
    return best or _last_turns(turns, tokens, count)


def _shortened(turn: Turn, limit: int) -> Turn:
    """The beginning and the end of a long text, with a mark for what is missing between."""
    missing = len(turn.text) - limit
    if missing <= 0:
        return turn
    head = turn.text[: limit * 2 // 3]
    tail = turn.text[len(turn.text) - limit // 3 :] if limit >= 3 else ""
    return structs.replace(turn, text=f"{head} [... {missing:,} characters left out ...] {tail}")


def _last_turns(turns: Sequence[Turn], tokens: int, count: Callable[[str], int]) -> str:
    """Where there are more turns than room: the newest that fit, shortened to a line each."""
    kept: list[Turn] = []
    used = 0
    for turn in reversed(turns):
        short = _shortened(turn, 2 * CHARACTERS_A_TOKEN * 10)
        used += count(full_text([short])) + 2
        if used > tokens:
            break
        kept.append(short)
    return full_text(reversed(kept))
