"""The levels chosen for the segments of a context: stored, and undone like all other acts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from reviewer.compression.values import Level
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger


class ChosenLevel(Struct, frozen=True, omit_defaults=True):
    """The level of a segment, by its first and last turn, with its text unless the offline engine
    wrote it.
    """

    first: int
    last: int
    level: Level
    own: bool = False
    """Chosen by a person, so a fit leaves it alone."""
    content: str | None = None
    engine: str = ""
    written: str = ""
    """As in `LevelChoice`."""
    target: int = 0
    """Total tokens of the fit that chose it; 0 if none did."""

    def is_about(self, turns: Sequence[int]) -> bool:
        """Whether any of these consecutive turns was in the segment."""
        return bool(turns) and self.first <= turns[-1] and turns[0] <= self.last


class ChosenLevels:
    """Reads and writes the chosen levels of contexts."""

    def __init__(self, database: Database, ledger: Ledger) -> None:
        self._database = database
        self._ledger = ledger

    def get(self, context: int) -> tuple[ChosenLevel, ...]:
        """The chosen levels; other segments are Full."""
        row = self._database.first("SELECT levels FROM context WHERE id = ?", (context,))
        try:
            return msgspec.json.decode((row and row[0]) or "[]", type=tuple[ChosenLevel, ...])
        except msgspec.MsgspecError:  # of another program; the next choice overwrites them
            return ()

    def put(self, context: int, levels: Sequence[ChosenLevel], title: str) -> int:
        """Choose these levels; returns the act, 0 if nothing changed."""
        with self._ledger.act("levels", title) as act:
            act.require_own("context", [context])
            text = msgspec.json.encode(levels).decode() if levels else ""
            act.update("context", context, levels=text)
        return act.id
