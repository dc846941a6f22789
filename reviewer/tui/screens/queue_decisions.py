"""Deciding: one key is one act of the engine, then the cursor goes on.

The engine is called in a thread while the key waits for it, so that the next key already meets the
row that follows.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from reviewer.errors import ConflictError

if TYPE_CHECKING:
    from reviewer.engine import Done, Undone
    from reviewer.tui.screens.queue import QueueScreen

MANY = 500
"""From so many rows on, the status line says that work is going on."""
BUSY_WORDS = {"promote": "Promoting", "reject": "Rejecting", "defer": "Deferring"}


class Decisions:
    """Promote, reject, defer, undo and their kin on a `QueueScreen`."""

    def __init__(self, screen: QueueScreen) -> None:
        self._screen = screen
        self._engine = screen.engine

    async def promote(self) -> None:
        """Promote what is marked, or this row."""
        await self._decide(
            "promote", lambda ids, alone: self._engine.triage.promote(ids, alone=alone)
        )

    async def reject(self) -> None:
        """Reject what is marked, or this row."""
        await self._decide(
            "reject", lambda ids, alone: self._engine.triage.reject(ids, alone=alone)
        )

    async def defer(self) -> None:
        """Put off what is marked, or this row."""
        await self._decide("defer", lambda ids, alone: self._engine.triage.defer(ids))

    async def _decide(self, verb: str, act: Callable[[Sequence[int], bool], Done]) -> None:
        model = self._screen.model
        ids = self._targets(waiting=True)
        if len(ids) >= MANY:
            self._screen.say(f"{BUSY_WORDS[verb]} {len(ids):,} ...")
        opened = set(model.leader_of) | set(model.leader_of.values())
        alone = any(number in opened for number in ids)
        done = await to_thread(act, ids, alone)
        self.settle(done, [*ids, *done.ids], len(ids))

    def settle(self, done: Done, ids: Sequence[int], rows: int) -> None:
        """Dim what was decided and go to the next row that waits."""
        screen, model = self._screen, self._screen.model
        model.range_from = None
        model.marks.clear()
        model.touched(ids)
        screen.loader.pace.decided(rows)
        before = model.cursor
        if model.ids and not model.waiting(before):
            screen.list.move_to(model.after_decision(before))
        screen.list.refresh()
        screen.say(f"{done.title} - u to undo")
        screen.shows.show_title()
        screen.loader.wrote()

    def _targets(self, *, waiting: bool) -> list[int]:
        """The marked ids, or the one under the cursor; only those that wait, if asked."""
        model = self._screen.model
        ids = model.marked()
        if not ids:
            return [model.ids[model.cursor]]
        if not waiting:
            return ids
        open_ids = [number for number in ids if number not in model.settled]
        if not open_ids:
            raise ConflictError("All marked rows are decided already: escape clears the marks.")
        return open_ids

    async def restore(self) -> None:
        """Put what is marked, or this row, back into the queue."""
        model = self._screen.model
        ids = self._targets(waiting=False)
        done = await to_thread(self._engine.triage.restore, ids)
        model.range_from = None
        model.marks.clear()
        self._show_again(done.ids, f"{done.title} - u to undo")

    async def undo(self) -> None:
        """Take the last decision back; the cursor goes back to its row."""
        undone = await to_thread(self._engine.history.undo)
        self._back_on(undone, f"Undone: {undone.title} - Z to redo")

    async def redo(self) -> None:
        """Do again what was undone; the cursor goes on from its row."""
        redone = await to_thread(self._engine.history.redo)
        self._back_on(redone, f"Redone: {redone.title} - u to undo")
        model = self._screen.model
        if model.ids and not model.waiting(model.cursor):
            self._screen.list.move_to(model.after_decision(model.cursor))

    def _back_on(self, undone: Undone, words: str) -> None:
        """Put the cursor on the first row that an undo or redo touched."""
        screen, model = self._screen, self._screen.model
        at = model.index_of(undone.ids)
        if at is not None:
            screen.list.move_to(at)
            self._show_again(undone.ids, words)
        else:
            model.touched(undone.ids)
            screen.loader.refresh(undone.ids[0] if undone.ids else None)
            screen.loader.wrote()
            screen.say(words)

    def _show_again(self, ids: Sequence[int], words: str) -> None:
        screen = self._screen
        screen.model.touched(ids)
        screen.list.refresh()
        screen.say(words)
        screen.shows.show_title()
        screen.loader.wrote()

    async def merge(self) -> None:
        """Merge the nearest duplicate into this row, or this member into its row."""
        model = self._screen.model
        row = model.current
        if row is None:
            return
        number, into = row.id, model.leader_of.get(row.id) or row.leader_id
        if into is None:
            members = await to_thread(self._engine.queue.members, row.id)
            near = [member.id for member in members if member.status == "candidate"]
            if not near:
                raise ConflictError(f"#{row.id} has no near duplicate to merge.")
            number, into = near[0], row.id
        done = await to_thread(self._engine.triage.merge, number, into)
        self.settle(done, [number, into, *done.ids], 1)

    async def more(self) -> None:
        """Queue candidates that were left beyond the cap."""
        screen = self._screen
        done = await to_thread(self._engine.intake.more, project=screen.project)
        screen.loader.refresh()
        screen.loader.wrote()
        screen.say(f"{done.title} - u to undo")
