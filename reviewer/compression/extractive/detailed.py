"""Detailed: the best of what was said, in order, with its speakers."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer.compression.extractive.material import Material
from reviewer.compression.extractive.pieces import Piece
from reviewer.compression.extractive.source_units import Form


def detailed_text(material: Material, chosen: Sequence[Piece]) -> str:
    """The chosen units in the order of the conversation, sentences of a turn on one line."""
    lines: list[str] = []
    speaker, turn = None, -1
    for piece in sorted(chosen, key=lambda each: each.order):
        unit = piece.unit
        now = material.speaker(unit.turn)
        if now != speaker:
            label = f"{now}: " if now else ""
            lines.append(label + unit.text)
        elif unit.turn == turn and unit.form is Form.PROSE:
            lines[-1] += f" {unit.text}"
        else:
            lines.append(unit.text)
        speaker, turn = now, unit.turn
    return "\n".join(lines)
