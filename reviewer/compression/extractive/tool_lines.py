"""The telling lines of calls and results, for summaries of what was mostly done with tools."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from reviewer.compression.anchor_rules import tells_error
from reviewer.compression.extractive.needs import values_of
from reviewer.compression.extractive.source_units import (
    LONGEST,
    Form,
    SourceUnit,
    pieces_of_line,
)
from reviewer.compression.values import Turn

CHARACTERS = 8
"""More characters than a token of a line ever has on average."""
_MEANING = re.compile(r"[^\W_]{2}")
_TELLING = re.compile(r"\w/\w|\w\.\w|\b\d+ \w+")
_FIRST, _LAST, _NAMING, _ELSE = range(4)


def tool_lines(
    turns: Sequence[Turn], units: Sequence[SourceUnit], tokens: int
) -> list[tuple[SourceUnit, float]]:
    """Lines of calls and results with their places, the most telling first.

    Errors and first lines come before last ones, these before lines that name something; of each
    call and result in turn. `tokens` is the room for them, which bounds how many there are.
    """
    owners = [unit.turn for unit in units]
    found: list[tuple[int, int, int, SourceUnit, float]] = []
    for number, turn in enumerate(turns):
        if turn.said not in ("tool_use", "tool_result"):
            continue
        place = bisect_right(owners, number) - 0.5
        for rank, line, text in _ranked(turn):
            unit = SourceUnit(number, Form.OUTPUT, text, text)
            found.append((rank, line, number, unit, place + line * 1e-6))
    found.sort(key=lambda each: each[:3])
    kept: list[tuple[SourceUnit, float]] = []
    room = tokens * CHARACTERS
    for *_, unit, place in found:
        if room <= 0:
            break
        room -= len(unit.text)
        kept.append((unit, place))
    return kept


def _ranked(turn: Turn) -> Iterator[tuple[int, int, str]]:
    text = turn.text if turn.said == "tool_result" else "\n".join(values_of(turn.text))
    lines = [line.strip() for line in text.split("\n")]
    lines = [line for line in lines if _MEANING.search(line)]
    if turn.said == "tool_use":
        lines = lines[1:]  # the first says what the call is about, which is a unit by itself
    number = 0
    for at, line in enumerate(lines):
        if not at or tells_error(line[:LONGEST].lower()):
            rank = _FIRST
        elif at == len(lines) - 1:
            rank = _LAST
        else:
            rank = _NAMING if _TELLING.search(line) else _ELSE
        for piece in pieces_of_line(line):
            yield rank, number, piece
            number += 1
