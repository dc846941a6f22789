"""Deciding: one key is one act of the engine, then the cursor goes on.

The engine is called in a thread while the key waits for it, so that the next key already meets the
row that follows.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from reviewer.errors import ConflictError
from reviewer.tui.bulk import carry
from reviewer.tui.kit.text import count

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
        """Reject what is marked, or this row; a conflict is dismissed."""
        row = self._screen.model.current
        if row is not None and row.kind == "conflict" and not self._screen.model.count_marked():
            await self._resolve(self._engine.conflicts.dismiss)
            return
        await self._decide(
            "reject", lambda ids, alone: self._engine.triage.reject(ids, alone=alone)
        )

    async def defer(self) -> None:
        """Put off what is marked, or this row."""
        await self._decide("defer", lambda ids, alone: self._engine.triage.defer(ids))

    async def _decide(
        self, verb: str, act: Callable[[Sequence[int], Collection[int]], Done]
    ) -> None:
        model = self._screen.model
        ids = self._targets(waiting=True)
        opened = set(model.leader_of) | set(model.leader_of.values())
        alone = [number for number in ids if number in opened]
        if len(ids) >= MANY:
            words = BUSY_WORDS[verb]
            self._screen.say(f"{words} {len(ids):,} ...")
            work = partial(act, ids, alone)
            done = await carry(self._screen, self._engine, work, words, len(ids))
        else:
            done = await to_thread(act, ids, alone)
        kept = await to_thread(self._drafts_kept, ids) if verb == "promote" else ""
        self.settle(done, [*ids, *done.ids], len(ids), kept)

    def _drafts_kept(self, ids: Sequence[int]) -> str:
        """What is said of unsaved wordings when the originals were promoted."""
        drafts = self._engine.drafts.ids().intersection(ids)
        if not drafts:
            return ""
        return ", its draft is kept" if len(ids) == 1 else f", {count(len(drafts), 'draft')} kept"

    def settle(self, done: Done, ids: Sequence[int], rows: int, remark: str = "") -> None:
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
        screen.say(f"{done.title}{remark} - u to undo")
        screen.shows.show_title()
        screen.shows.show_keys()
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

    async def keep_left(self) -> None:
        """Settle the conflict: the left side holds."""
        await self._resolve(lambda number: self._supersede(number, left=True))

    async def keep_right(self) -> None:
        """Settle the conflict: the right side holds."""
        await self._resolve(lambda number: self._supersede(number, left=False))

    async def keep_both(self) -> None:
        """Settle the conflict: both sides stand."""
        await self._resolve(self._engine.conflicts.keep_both)

    def _supersede(self, number: int, *, left: bool) -> Done:
        conflict = self._engine.conflicts.get(number)
        winner = conflict.left if left else conflict.right
        return self._engine.conflicts.supersede(number, winner.id)

    async def _resolve(self, settle: Callable[[int], Done]) -> None:
        number = self._screen.model.current_id
        if number is not None:
            done = await to_thread(settle, number)
            self.settle(done, done.ids, 1)

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
        undone = await carry(self._screen, self._engine, self._engine.history.undo, "Undoing")
        self._back_on(undone, f"Undone: {undone.title} - Z to redo")

    async def redo(self) -> None:
        """Do again what was undone; the cursor goes on from its row."""
        redone = await carry(self._screen, self._engine, self._engine.history.redo, "Redoing")
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
        screen.shows.show_keys()
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
        # u takes decisions back; what came in is taken back where it can be seen
        screen.say(f"{done.title} - F8 shows the act, x there takes it back")
