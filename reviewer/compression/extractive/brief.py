"""Brief: goal, decisions, findings, what failed, and the state, each in order."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer.compression.extractive.coverage import Piece
from reviewer.compression.extractive.cues import Section
from reviewer.compression.extractive.source_units import Form

TITLED_FROM = 200
"""Tokens from which on a summary has room for titles."""


def brief_text(chosen: Sequence[Piece], titled: bool) -> str:
    """The chosen units by section, or in their order where there is no room for titles."""
    ordered = sorted(chosen, key=lambda each: each.order)
    if not titled:
        return "\n".join(_lines(ordered))
    lines: list[str] = []
    for section in Section:
        inside = [piece for piece in ordered if piece.section is section]
        if inside:
            lines += [f"{section.value}:", *_lines(inside)]
    return "\n".join(lines)


def _lines(pieces: Sequence[Piece]) -> list[str]:
    """A line a unit; sentences of one turn on one line."""
    lines: list[str] = []
    turn = -1
    for piece in pieces:
        unit = piece.unit
        if unit.turn == turn and unit.form is Form.PROSE:
            lines[-1] += f" {unit.text}"
        else:
            lines.append(unit.text)
        turn = unit.turn
    return lines
