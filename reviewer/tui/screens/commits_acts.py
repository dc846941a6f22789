"""Deciding on the Commits screen: one key is one act of the engine, the cursor stays."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reviewer.text.display import display_line
from reviewer.tui.bulk import carry
from reviewer.tui.left import was_left
from reviewer.tui.widgets.commit_row import SHORT

if TYPE_CHECKING:
    from reviewer.engine import ChangeView, Undone
    from reviewer.tui.screens.commits import CommitsScreen

MANY = 500
"""From so many commits on, the status line says that work is going on."""
CHANGES_READ = 10_000
REMEMBERED = 1_000
_COLUMNS = {"annotation": ("commit_id",), "commit_": ("target_id",)}
"""Columns that say which commit a row is about, by its table."""


class CommitActs:
    """Priorities, undo and redo on a `CommitsScreen`."""

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._about: dict[int, tuple[int, ...]] = {}
        """What acts of this screen were about, as the list had it then."""

    async def pin(self) -> None:
        """Pin what is marked, or this commit."""
        await self._annotate("pinned")

    async def important(self) -> None:
        """Make what is marked, or this commit, important."""
        await self._annotate("important")

    async def normal(self) -> None:
        """Make what is marked, or this commit, normal."""
        await self._annotate("normal")

    async def skip(self) -> None:
        """Leave out what is marked, or this commit."""
        await self._annotate("skip")

    async def _annotate(self, priority: str) -> None:
        screen, ids = self._screen, self._screen.marking.targets()
        row = screen.model.current
        if len(ids) == 1 and row is not None and row.id == ids[0]:
            if row.annotated and row.priority == priority:
                screen.model.clear_marks()
                screen.list.refresh()
                screen.say(f"{row.hash[:SHORT]} is {priority} already.")
                return
        elif len(ids) >= MANY:
            screen.say(f"Annotating {len(ids):,} commits ...")
        done = await to_thread(self._engine.contexts.annotate, ids, priority=priority)
        self.settle(done.act, done.title, ids, done.warnings)

    def settle(
        self,
        act: int | None,
        title: str,
        commits: Sequence[int],
        warnings: Sequence[str] = (),
    ) -> None:
        """Show what an act changed: marks are cleared, the cursor stays.

        `act` 0 changed nothing; None is one whose number is not known.
        """
        screen = self._screen
        if act:
            self._about[act] = tuple(commits[:REMEMBERED])
        drawn = {*commits, *screen.model.marked()}
        screen.model.clear_marks()
        back = "" if act == 0 else " - u to undo"
        remark = "".join(f" {display_line(each)}" for each in warnings[:1])
        end = "." if remark and not back else ""
        screen.say(f"{display_line(title)}{back}{end}{f' -{remark}' if remark else ''}")
        screen.show_footer()
        screen.reading.wrote(drawn)

    async def undo(self) -> None:
        """Take the last decision back; the cursor goes to its commit."""
        undone = await carry(self._screen, self._engine, self._engine.history.undo, "Undoing")
        await self._back_on(undone, f"Undone: {display_line(undone.title)} - Z to redo")

    async def redo(self) -> None:
        """Do again what was undone; the cursor goes to its commit."""
        redone = await carry(self._screen, self._engine, self._engine.history.redo, "Redoing")
        await self._back_on(redone, f"Redone: {display_line(redone.title)} - u to undo")

    async def _back_on(self, undone: Undone, words: str) -> None:
        screen, model = self._screen, self._screen.model
        if was_left(screen):
            screen.say(words)
            return
        touched = list(self._about.get(undone.target, ()))
        if not touched:
            read = self._engine.history.changes
            touched = touched_commits(await to_thread(read, undone.act, limit=CHANGES_READ))
        at = model.index_of(touched)
        if at is not None:
            screen.list.move_to(at)
            screen.reading.read_again(model.ids[at], said=words)
            return
        if not touched:
            screen.reading.read_again(said=words)
            return
        view = await to_thread(self._engine.contexts.commit, touched[0])
        if screen.reading.context is not None and view.context == screen.reading.context.id:
            screen.reading.read_again(touched[0], said=f"{words} (not in this list)")
        else:
            screen.reading.open(view.context, touched[0])
            screen.say(words)


def touched_commits(changes: Sequence[ChangeView]) -> list[int]:
    """The commits that annotations and edits among some changes are about, in their order."""
    found: dict[int, None] = {}
    for change in changes:
        image = change.after or change.before or {}
        for column in _COLUMNS.get(change.table, ()):
            number = image.get(column)
            if isinstance(number, int):
                found[number] = None
    return list(found)
