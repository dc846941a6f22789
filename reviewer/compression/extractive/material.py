"""A conversation taken apart once, for summaries of every length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from msgspec import structs

from reviewer.compression.extractive.coverage import Piece
from reviewer.compression.extractive.cues import OF_ANCHOR, section_of
from reviewer.compression.extractive.expected import Expected, words_of
from reviewer.compression.extractive.index_lines import NameIndex
from reviewer.compression.extractive.names import names_in
from reviewer.compression.extractive.needs import Needs
from reviewer.compression.extractive.source_units import COMMAND, Form, SourceUnit, source_units
from reviewer.compression.values import AnchorPoint, Turn
from reviewer.text.normalise import fold

_LABELS = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
_SPARE = 8
"""Tokens that a unit may have beyond twice its anchor, to be taken whole."""


class Material:
    """Units, pieces and names of the turns."""

    def __init__(self, turns: Sequence[Turn], count: Callable[[str], int]) -> None:
        self.turns, self.count = turns, count
        self.units: list[SourceUnit] = source_units(turns)
        self.needs = Needs(turns)

    @cached_property
    def index(self) -> NameIndex:
        """The names, ranked."""
        return NameIndex(self.needs, self.count)

    @cached_property
    def expected(self) -> Expected:
        """What a summary is expected to say."""
        return Expected(words_of(unit.text) for unit in self.units)

    @cached_property
    def pieces(self) -> list[Piece]:
        """Every unit as something to choose."""
        first = next(
            (n for n, turn in enumerate(self.turns) if turn.role == "user" and turn.said == "text"),
            -1,
        )
        pieces = []
        for number, unit in enumerate(self.units):
            turn = self.turns[unit.turn]
            section, weight = section_of(unit, turn, first)
            names = names_in(unit.source, said=turn.said == "text")
            cost = self.count(f"{unit.text}\n")
            pieces.append(
                Piece(number, unit, section, cost, self.expected, names=names, weight=weight)
            )
        return pieces

    @cached_property
    def told(self) -> list[Piece]:
        """The pieces without calls that only look at or change what the index names anyway."""
        told = [
            piece
            for piece in self.pieces
            if piece.unit.form is not Form.CALL or piece.unit.text.startswith(COMMAND)
        ]
        return told or self.pieces

    @cached_property
    def _pieces_of_turn(self) -> dict[int, list[Piece]]:
        found: dict[int, list[Piece]] = {}
        for piece in self.pieces:
            found.setdefault(piece.unit.turn, []).append(piece)
        return found

    def holder(self, anchor: AnchorPoint, number: int) -> Piece:
        """The piece that says an anchor: a unit that holds it and little more, else itself.

        `number` is for a piece of its own.
        """
        wanted = fold(anchor.content)
        inside = self._pieces_of_turn.get(anchor.turn, [])
        holders = [piece for piece in inside if wanted in fold(piece.unit.source)]
        best = min(holders, key=lambda piece: piece.cost, default=None)
        cost = self.count(f"{wanted}\n")
        if best is not None and best.cost <= 2 * cost + _SPARE:
            if wanted in best.key:
                return best
            unit = structs.replace(best.unit, text=best.unit.source)
            cost = self.count(f"{unit.text}\n")
            return Piece(
                number,
                unit,
                best.section,
                cost,
                self.expected,
                names=best.names,
                order=best.order,
                key=best.key,
            )
        order = (holders or inside)[-1].order + 0.5 if inside else 0.0
        unit = SourceUnit(anchor.turn, Form.ITEM, wanted, wanted)
        section = OF_ANCHOR[anchor.type]
        return Piece(number, unit, section, cost, self.expected, order=order)

    def speaker(self, turn: int) -> str:
        """Who speaks: a name where there is one, else what the speaker is."""
        said = self.turns[turn]
        if said.said == "tool_result":
            return "Tool"
        return (said.name if said.said == "text" else "") or _LABELS.get(said.role, "")
