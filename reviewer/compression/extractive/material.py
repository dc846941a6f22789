"""A conversation taken apart once, for extractive summaries of every length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from msgspec import structs

from reviewer.compression.anchor_types import WRITING_TOOLS, Section
from reviewer.compression.extractive.coverage import Coverage, Piece
from reviewer.compression.extractive.names import NameIndex, NameScores, names_in
from reviewer.compression.extractive.units import (
    COMMAND,
    Form,
    SourceUnit,
    is_summary,
    is_unfit,
    is_wrapper,
    only_looks,
    section_of,
    source_units,
    tool_lines,
)
from reviewer.compression.values import AnchorPoint, Level, Turn
from reviewer.compression.words import Expected, words_of
from reviewer.text.normalise import fold

_SPEAKERS = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
_SPARE = 8
"""Tokens that a unit may have beyond twice those of its anchor, to be taken whole."""


class Material:
    """The units, pieces and names of turns. `count` counts tokens."""

    def __init__(self, turns: Sequence[Turn], count: Callable[[str], int]) -> None:
        self.turns, self.count = turns, count
        self.units: list[SourceUnit] = [
            unit for unit in source_units(turns) if not is_wrapper(unit.text)
        ]
        self.names = NameScores(turns)

    @cached_property
    def index(self) -> NameIndex:
        """The names, ranked."""
        return NameIndex(self.names, self.count)

    @cached_property
    def expected(self) -> Expected:
        """Words and pairs that a summary is expected to have."""
        return Expected(words_of(unit.text) for unit in self.units)

    @cached_property
    def pieces(self) -> list[Piece]:
        """Every unit as a piece."""
        pieces = []
        for number, unit in enumerate(self.units):
            turn = self.turns[unit.turn]
            section, weight = section_of(unit, turn, self._first_request)
            if unit.turn == self._last_word and section is Section.FINDINGS:
                section = Section.STATE
            names = names_in(unit.source, in_words=turn.kind == "text")
            cost = self.count(f"{unit.text}\n")
            pieces.append(
                Piece(number, unit, section, cost, self.expected, names=names, weight=weight)
            )
        return pieces

    @cached_property
    def sentences(self) -> list[Piece]:
        """Pieces for a brief summary: sentences, items and commands that need no context."""
        return [
            piece
            for piece in self.pieces
            if not is_unfit(piece.unit, self.turns[piece.unit.turn])
            and (piece.unit.form is not Form.CALL or self._changes(piece.unit))
        ]

    def _changes(self, unit: SourceUnit) -> bool:
        """Whether a call is a command that does more than read."""
        command = unit.text.removeprefix(COMMAND)
        return command != unit.text and not only_looks(command)

    @cached_property
    def _first_request(self) -> int:
        """The turn of the user's first request; -1 for none."""
        asked = (n for n, turn in enumerate(self.turns) if turn.role == "user")
        return next((n for n in asked if self._in_words(n)), -1)

    @cached_property
    def _last_word(self) -> int:
        """The turn of the agent's last words; -1 for none."""
        answers = (
            n for n in range(len(self.turns) - 1, -1, -1) if self.turns[n].role == "assistant"
        )
        return next((n for n in answers if self._in_words(n)), -1)

    def _in_words(self, number: int) -> bool:
        turn = self.turns[number]
        return turn.kind == "text" and not is_summary(turn) and number in self._spoken

    @cached_property
    def _spoken(self) -> frozenset[int]:
        """The turns with units that make sense by themselves."""
        return frozenset(
            unit.turn for unit in self.units if not is_unfit(unit, self.turns[unit.turn])
        )

    def opening_and_closing(self, room: int) -> list[Piece]:
        """The best piece of the first request, and that of the agent's last words, of at most
        `room` tokens each.
        """
        empty = Coverage({})
        found = []
        for turn in (self._first_request, self._last_word):
            fitting = [p for p in self.sentences if p.unit.turn == turn and p.cost <= room]
            for piece in fitting:
                empty.register(piece)
            if fitting:
                found.append(max(fitting, key=empty.gain))
        return found

    def filler(self, level: Level, tokens: int) -> list[Piece]:
        """Pieces for `tokens` after the words: at Brief the last calls, then lines of calls and
        results, the most informative first.
        """
        calls = [piece for piece in reversed(self.pieces) if piece.unit.form is Form.CALL]
        calls.sort(key=lambda each: not self._writes(each.unit))
        lines = [
            Piece(
                -number,
                unit,
                Section.COMMANDS,
                self.count(f"{unit.text}\n"),
                self.expected,
                order=order,
            )
            for number, (unit, order) in enumerate(tool_lines(self.turns, self.units, tokens), 1)
        ]
        return calls + lines if level is Level.BRIEF else lines

    def _writes(self, unit: SourceUnit) -> bool:
        name = self.turns[unit.turn].name
        return self._changes(unit) or WRITING_TOOLS.search(name) is not None

    def by_user(self, unit: SourceUnit) -> bool:
        """Whether the user, without a name, typed the unit."""
        turn = self.turns[unit.turn]
        if is_summary(turn):
            return "user message" in unit.heading.lower()
        return turn.role == "user" and turn.kind == "text" and not turn.name

    @cached_property
    def _pieces_of_turn(self) -> dict[int, list[Piece]]:
        found: dict[int, list[Piece]] = {}
        for piece in self.pieces:
            found.setdefault(piece.unit.turn, []).append(piece)
        return found

    def piece_for_anchor(self, anchor: AnchorPoint, number: int, room: int = 0) -> Piece:
        """The unit around an anchor where that is little longer, else the anchor by itself.

        `number` is for a piece of its own. A unit of at most `room` tokens is taken whole, however
        short the anchor.
        """
        wanted = fold(anchor.content)
        inside = self._pieces_of_turn.get(anchor.turn, [])
        around = [piece for piece in inside if wanted in fold(piece.unit.source)]
        best = min(around, key=lambda piece: piece.cost, default=None)
        cost = self.count(f"{wanted}\n")
        if best is not None and best.cost <= max(2 * cost + _SPARE, room):
            return self._verbatim(best, wanted, number)
        order = (around or inside)[-1].order + 0.5 if inside else 0.0
        unit = SourceUnit(anchor.turn, Form.ITEM, wanted, wanted)
        section = anchor.type.section
        return Piece(number, unit, section, cost, self.expected, order=order)

    def covering(self, piece: Piece, other: Piece) -> Piece | None:
        """The other piece in the form that contains the words of the piece, or None."""
        wanted = fold(piece.unit.text)
        if wanted in fold(other.unit.text):
            return other
        if wanted in fold(other.unit.source):
            return self._verbatim(other, wanted, other.number)
        return None

    def _verbatim(self, piece: Piece, wanted: str, number: int) -> Piece:
        """The piece, with emphasis and backticks where the wanted words have some."""
        if wanted in piece.key:
            return piece
        unit = structs.replace(piece.unit, text=piece.unit.source)
        cost = self.count(f"{unit.text}\n")
        return Piece(
            number,
            unit,
            piece.section,
            cost,
            self.expected,
            names=piece.names,
            order=piece.order,
            key=piece.key,
        )

    def speaker(self, turn: int) -> str:
        """The speaker of a turn: a name, or else the role."""
        shown = self.turns[turn]
        if shown.kind == "tool_result":
            return "Tool"
        return (shown.name if shown.kind == "text" else "") or _SPEAKERS.get(shown.role, "")
