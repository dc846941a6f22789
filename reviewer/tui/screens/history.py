"""The ledger: every act, what it changed, and undo from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from reviewer.engine import ActView, ChangeView, Engine, Undone
from reviewer.text.display import display_line
from reviewer.tui.actions import bindings_for
from reviewer.tui.bulk import carry, stopped
from reviewer.tui.left import was_left
from reviewer.tui.messages import OpenMemory
from reviewer.tui.resting import Resting
from reviewer.tui.screens.moving import ListMoving
from reviewer.tui.screens.queue import COLUMNS, ROWS
from reviewer.tui.screens.reading import ReadingScreen
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.act_list import ActList
from reviewer.tui.widgets.bars import FooterBar, HeaderBar, StatusBar, TabBar
from reviewer.tui.widgets.change_text import act_blocks
from reviewer.tui.widgets.line import Separator, TitleRule
from reviewer.tui.widgets.phrases import count
from reviewer.tui.widgets.text_pane import TextPane

WATCH_SECONDS = 2.0
"""How often the screen looks whether somebody else wrote."""
CHANGES_SHOWN = 200
EMPTY = ("Nothing was done yet.", "Ingest something: reviewer ingest PATH")


class HistoryScreen(ListMoving, ReadingScreen, inherit_bindings=False):
    """Acts on the left, what the one under the cursor changed on the right."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("history")]
    HORIZONTAL_BREAKPOINTS = COLUMNS
    VERTICAL_BREAKPOINTS = ROWS
    AUTO_FOCUS = "#acts"
    DEFAULT_CSS = """
    HistoryScreen #history-body { height: 1fr; }
    HistoryScreen.-stacked #history-body { layout: vertical; }
    HistoryScreen.-stacked Separator { display: none; }
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self._version = engine.version()
        self._resting = Resting(self, self._follow)
        self._shown: tuple[ActView, list[ChangeView]] | None = None

    def compose(self) -> ComposeResult:
        """Header and tabs, the acts beside (or above) the changes, status and keys."""
        header = HeaderBar(id="header")
        header.same_as(self.app.screen_stack[0].query_one(HeaderBar))
        yield header
        tabs = TabBar(id="tabs")
        tabs.current = "history"
        yield tabs
        with Horizontal(id="history-body"):
            with Vertical():
                yield TitleRule("Acts", id="acts-title")
                acts = ActList(self._read_acts, id="acts")
                acts.empty = EMPTY
                yield acts
            yield Separator()
            yield TextPane(title="What it changed", id="changes")
        yield StatusBar(id="status")
        yield FooterBar(id="footer")

    def on_mount(self) -> None:
        """Read the first page at once."""
        self.show_keys("history")
        self.query_one(TitleRule).show("Acts", "newest first", focused=True)
        self.refresh_acts()
        self.set_interval(WATCH_SECONDS, self._watch)

    @property
    def acts(self) -> ActList:
        """The list."""
        return self.query_one(ActList)

    @property
    def changes(self) -> TextPane:
        """The pane beside it."""
        return self.query_one("#changes", TextPane)

    def on_screen_resume(self) -> None:
        """Somebody may have written meanwhile."""
        self._watch()

    # reading

    def _read_acts(self, before: int, limit: int) -> list[ActView]:
        return self._engine.history.page(before, limit)

    def refresh_acts(self) -> None:
        """Read the ledger again; the cursor stays on its act."""
        self._version = self._engine.version()
        total = self._engine.history.acts_total()
        self.acts.show_total(total)
        self.query_one(StatusBar).place = count(total, "act") if total else ""
        project = getattr(self.app, "project", None)
        self.read(
            lambda: self._engine.queue.counts(project),
            self.query_one(HeaderBar).show_counts,
            group="counts",
        )

    def _watch(self) -> None:
        if self.is_active and self._engine.version() != self._version:
            self.refresh_acts()

    @on(ActList.Moved)
    def _moved(self) -> None:
        self._resting.moved()

    def _follow(self) -> None:
        act = self.acts.current
        if act is None:
            self._shown = None
            self.changes.show([])
            return
        self.read(
            lambda: self._engine.history.changes(act.id, limit=CHANGES_SHOWN),
            lambda changes: self._show_changes(act, changes),
        )

    def _show_changes(self, act: ActView, changes: list[ChangeView]) -> None:
        same = self._shown is not None and self._shown[0].id == act.id
        self._shown = (act, changes)
        signs = glyphs(self.app)
        self.changes.show(
            act_blocks(act, changes, signs),
            title=f"Act {act.id} {signs.dot} {act.kind}",
            hints=("x undoes this act, enter opens the memory", "x undo this"),
            keep_scroll=same,
        )

    @property
    def moved_list(self) -> ActList:
        """Move keys move the list, whatever pane has the focus."""
        return self.acts

    # keys

    async def undo(self) -> None:
        """Take the last decision back."""
        await self._write("Undone", self._engine.history.undo)

    async def redo(self) -> None:
        """Do again what was undone last."""
        await self._write("Redone", self._engine.history.redo)

    async def undo_this(self) -> None:
        """Take back the act under the cursor; a conflict says which row stands in the way."""
        act = self.acts.current
        if act is not None:
            await self._write("Undone", lambda: self._engine.history.undo_act(act.id))

    async def _write(self, verb: str, change: Callable[[], Undone]) -> None:
        words = "Redoing" if verb == "Redone" else "Undoing"
        undone = await carry(self, self._engine, change, words)
        if not was_left(self):
            self.refresh_acts()
        if verb == "Redone":
            back = " - u to undo"
        else:
            back = " - Z to redo" if self._engine.history.can_redo() == undone.title else ""
        self.say(f"{verb}: {display_line(undone.title)}{back}")

    def on_descendant_focus(self) -> None:
        """The title of the pane with the focus stands out."""
        self.query_one(TitleRule).focused(self.acts.has_focus)

    def open_memory(self) -> None:
        """Show in the queue the first memory that the act changed."""
        act = self.acts.current
        if act is None:
            return
        shown = self._shown
        changes = shown[1] if shown and shown[0].id == act.id else []
        changes = changes or self._engine.history.changes(act.id, limit=CHANGES_SHOWN)
        memory = next((change.row for change in changes if change.table == "memory"), None)
        if memory is None:
            self.say(f"Act {act.id} changed no memory.")
            return
        self.app.screen_stack[0].post_message(OpenMemory(memory))
        self.dismiss()

    def switch_pane(self) -> None:
        """To the changes, or back to the acts."""
        (self.changes if self.acts.has_focus else self.acts).focus()

    def leave(self) -> None:
        """Back to the queue; an act that goes on is stopped first."""
        if not stopped(self):
            self.dismiss()
