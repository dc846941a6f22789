"""Editing on the queue screen: the editor in place of the panes, drafts, and the promotion."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from reviewer.engine import Seen
from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from textual.widget import Widget

    from reviewer.tui.kit.edit_pane import EditPane
    from reviewer.tui.screens.queue import QueueScreen


class Editing:
    """Opens, saves and leaves the editor of a `QueueScreen`."""

    def __init__(self, screen: QueueScreen) -> None:
        self._screen = screen
        self._pane: EditPane | None = None
        self._seen: Seen | None = None
        self.active = False

    async def begin(self) -> None:
        """Edit the row under the cursor, from its draft where there is one."""
        from reviewer.tui.kit.edit_pane import EditPane

        screen = self._screen
        row = screen.model.current
        if row is None:
            return
        draft = screen.engine.drafts.load(row.id)
        if self._pane is None:
            self._pane = EditPane(id="edit")
            await screen.query_one("#right").mount(self._pane)
        self.active = screen.list.locked = True
        screen.view.unzoom()
        screen.add_class("editing")
        self._seen = Seen(row.status, row.content)
        self._pane.begin(row.id, row.content, draft)
        screen.set_focus(self._pane.editor, scroll_visible=False)
        if draft is not None:
            screen.say(f"The draft of #{row.id} goes on where you left it.")
        else:
            screen.say(f"Editing #{row.id}: ctrl+s promotes it, escape keeps a draft.")
        screen.shows.show_keys()
        screen.call_after_refresh(screen.shows.show_joint)

    @property
    def lower_half(self) -> Widget | None:
        """The part below the editor: what it changes."""
        return self._pane.difference if self._pane is not None else None

    async def saved(self, memory: int, content: str) -> None:
        """Promote with the new wording; on a conflict the editor stays open and says why."""
        await self._screen.patiently(lambda: self._save(memory, content))

    async def _save(self, memory: int, content: str) -> None:
        screen = self._screen
        try:
            done = await to_thread(screen.engine.triage.edit, memory, content, seen=self._seen)
        except ReviewerError as error:
            screen.engine.drafts.save(memory, content)
            screen.say(str(error), bad=True)
            return
        screen.engine.drafts.discard(memory)
        self._close()
        screen.decisions.settle(done, done.ids, 1)

    def left(self, memory: int, content: str, *, changed: bool) -> None:
        """Keep what was written as a draft.

        Raises StoreError when that is not possible; the editor stays open then.
        """
        drafts = self._screen.engine.drafts
        if changed:
            drafts.save(memory, content)
        else:
            drafts.discard(memory)
        self._close()
        if changed:
            self._screen.say(f"The draft of #{memory} is kept: e goes on with it.")
        else:
            self._screen.say(f"#{memory} is as it was.")
        self._screen.badges.show_draft(memory, kept=changed)
        self._screen.loader.read_detail()

    def keep_draft(self, memory: int, content: str) -> None:
        """Keep a wording while it is written."""
        self._screen.engine.drafts.save(memory, content)

    def keep_now(self) -> None:
        """Keep what is being written, before the program ends."""
        pane = self._pane
        if self.active and pane is not None and pane.changed:
            self._screen.engine.drafts.save(pane.memory, pane.content)

    def _close(self) -> None:
        self.active = self._screen.list.locked = False
        self._screen.remove_class("editing")
        self._screen.list.focus(scroll_visible=False)
        self._screen.shows.show_keys()
        self._screen.call_after_refresh(self._screen.shows.show_joint)
