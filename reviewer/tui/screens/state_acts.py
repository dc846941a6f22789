"""Deciding on the State screen: one key is one act of the engine, then the list is read again."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from reviewer.engine import QueueRow
from reviewer.text.display import display_line
from reviewer.tui.bulk import carry
from reviewer.tui.left import was_left

if TYPE_CHECKING:
    from reviewer.engine import Done, Undone
    from reviewer.tui.screens.state import StateScreen


class StateActs:
    """Put back, unset, undo and redo on a `StateScreen`. Nothing here writes a value."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        self._engine = screen.engine

    async def put_back(self) -> None:
        """Put the memory or entity back into the queue."""
        key = self._screen.model.current_key
        if key is not None and not key[0]:
            done = await to_thread(self._engine.triage.restore, [key[1]])
            self.settle(done)

    async def unset(self) -> None:
        """End the key."""
        row = self._screen.model.current
        if row is not None and not isinstance(row, QueueRow):
            self.settle(await to_thread(self._engine.state.unset, row.project, row.key))

    def settle(
        self,
        done: Done,
        *,
        here: tuple[bool, int] | None = None,
        state: tuple[str, str] | None = None,
    ) -> None:
        """Read again after an act, and say how it is taken back."""
        self._screen.reading.read_list(here=here, state=state)
        self._screen.say(f"{display_line(done.title)} - u to undo")

    async def undo(self) -> None:
        """Take the last decision back; the cursor goes to what it touched."""
        undone = await carry(self._screen, self._engine, self._engine.history.undo, "Undoing")
        self._reversed(undone, "Undone", "Z to redo")

    async def redo(self) -> None:
        """Do again what was undone."""
        redone = await carry(self._screen, self._engine, self._engine.history.redo, "Redoing")
        self._reversed(redone, "Redone", "u to undo")

    def _reversed(self, undone: Undone, verb: str, hint: str) -> None:
        here = (False, undone.ids[0]) if undone.ids else None
        if not was_left(self._screen):
            self._screen.reading.read_list(here=here)
        self._screen.say(f"{verb}: {display_line(undone.title)} - {hint}")
