"""Editing a commit's text on the Commits screen: an edit is a commit too, the original stays."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from reviewer.errors import ReviewerError
from reviewer.tui.widgets.commit_edit import CommitEditPane
from reviewer.tui.widgets.commit_row import SHORT

if TYPE_CHECKING:
    from textual.widget import Widget

    from reviewer.tui.screens.commits import CommitsScreen


class CommitEditing:
    """Opens, saves and leaves the editor of a `CommitsScreen`."""

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._pane: CommitEditPane | None = None
        self._hash = ""
        self._held = ""

    async def begin(self) -> None:
        """Edit the text of the commit under the cursor, from its draft where there is one."""
        screen = self._screen
        view = await to_thread(screen.commit.current_view)
        draft = self._engine.edit_drafts.load(view.row.id)
        if self._pane is None:
            self._pane = CommitEditPane(id="edit")
            await screen.query_one("#right").mount(self._pane)
        screen.looking.unzoom()
        screen.show_right("editing")
        self._hash, self._held = view.row.hash[:SHORT], view.text
        self._pane.about = self._hash
        original = view.text if view.original is None else view.original
        given = draft if draft is not None else view.text
        self._pane.begin(view.row.id, original, given if given != original else None)
        if draft is not None:
            screen.say(f"The draft of {self._hash} goes on where you left it.")
        else:
            screen.say(f"Editing {self._hash}: ctrl+s saves it, escape keeps a draft.")

    @property
    def lower_half(self) -> Widget | None:
        """The part below the editor: what it changes."""
        return self._pane.difference if self._pane is not None else None

    async def save(self, commit: int, content: str) -> None:
        """Take the text; when that fails the editor stays open and says why."""
        screen, edits = self._screen, self._engine.edit_drafts
        if content == self._held:
            edits.discard(commit)
            screen.show_panes()
            screen.say(f"{self._hash} reads so already: nothing was written.")
            return
        try:
            await to_thread(self._engine.contexts.edit, commit, content)
        except ReviewerError as error:
            edits.save(commit, content)
            screen.say(str(error), bad=True)
            return
        edits.discard(commit)
        screen.show_panes()
        screen.acts.settle(None, f"Edited {self._hash}", [commit])

    def left(self, commit: int, content: str, *, changed: bool) -> None:
        """Keep what was written as a draft.

        Raises StoreError when that is not possible; the editor stays open then.
        """
        screen, edits = self._screen, self._engine.edit_drafts
        kept = changed and content != self._held
        if kept:
            edits.save(commit, content)
        else:
            edits.discard(commit)
        screen.show_panes()
        if kept:
            screen.say(f"The draft of {self._hash} is kept: e goes on with it.")
        else:
            screen.say(f"{self._hash} is as it was.")

    def keep_now(self) -> None:
        """Keep what is being written, before the program ends."""
        pane = self._pane
        if pane is not None and self._screen.busy == "edit" and pane.content != self._held:
            self._engine.edit_drafts.save(pane.memory, pane.content)
