"""Brief: goal, decisions, findings, what failed, and the state, each in order."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer.compression.extractive.cues import Section
from reviewer.compression.extractive.material import Material
from reviewer.compression.extractive.noise import bare
from reviewer.compression.extractive.pieces import Piece
from reviewer.compression.extractive.source_units import Form

TITLED_FROM = 200
"""Tokens from which on a summary has room for titles."""
BULLET = "- "


def brief_text(material: Material, chosen: Sequence[Piece], titled: bool) -> str:
    """The chosen units by section, or in their order where there is no room for titles."""
    ordered = sorted(chosen, key=lambda each: each.order)
    if not titled:
        return "\n".join(_lines(material, ordered, ""))
    lines: list[str] = []
    for section in Section:
        inside = [piece for piece in ordered if piece.section is section]
        if inside:
            lines += [f"{section.value}:", *_lines(material, inside, BULLET)]
    return "\n".join(lines)


def _lines(material: Material, pieces: Sequence[Piece], bullet: str) -> list[str]:
    """A line a unit; sentences that follow each other in a turn on one line."""
    lines: list[str] = []
    before: Piece | None = None
    for piece in pieces:
        unit = piece.unit
        follows = before is not None and (
            unit.turn == before.unit.turn
            and unit.form is before.unit.form is Form.PROSE
            and piece.order - before.order <= 1
        )
        if follows:
            lines[-1] += f" {unit.text}"
        else:
            speaker = "User: " if material.by_user(unit) else ""
            lines.append(f"{bullet}{speaker}{bare(unit.text)}")
        before = piece
    return lines
