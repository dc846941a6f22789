"""A context as a chain of commits: what each may become when the context is compressed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from reviewer.engine import Engine
from reviewer.tui.commits_model import CommitsModel
from reviewer.tui.keys.commits import About
from reviewer.tui.kit.bars import FooterBar, HeaderBar, StatusBar, TabBar
from reviewer.tui.kit.line import Separator, TitleRule
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.screens.commits_acts import CommitActs
from reviewer.tui.screens.commits_choosing import Choosing
from reviewer.tui.screens.commits_commit import CommitReading
from reviewer.tui.screens.commits_editing import CommitEditing
from reviewer.tui.screens.commits_filter import CommitFilter
from reviewer.tui.screens.commits_looking import CommitsLooking
from reviewer.tui.screens.commits_marking import Marking
from reviewer.tui.screens.commits_messages import FromPanes
from reviewer.tui.screens.commits_reading import CommitsReading
from reviewer.tui.screens.commits_retaining import Retaining
from reviewer.tui.screens.commits_weighing import Weighing
from reviewer.tui.screens.moving import ListMoving
from reviewer.tui.screens.queue import COLUMNS, ROWS
from reviewer.tui.screens.reading import ReadingScreen
from reviewer.tui.situation import Situation
from reviewer.tui.widgets.commit_balance import Balance, OutlookLine
from reviewer.tui.widgets.commit_list import CommitList
from reviewer.tui.widgets.commit_row import SHORT

if TYPE_CHECKING:
    from textual.widget import Widget

WATCH_SECONDS = 2.0
LAID_OUT_SECONDS = 0.05
"""After so long the panes stand where they belong."""
MODES = {"retaining": "retain", "editing": "edit", "choosing": "choose"}
"""What may be open in place of the panes: the screen's class, and the pane of its keys."""


class CommitsScreen(FromPanes, ListMoving, ReadingScreen, inherit_bindings=False):
    """Lays the screen out; what keys do is in the parts: acts, marking, retaining and so on."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("commits")]
    HORIZONTAL_BREAKPOINTS = COLUMNS
    VERTICAL_BREAKPOINTS = ROWS
    AUTO_FOCUS = "#commits"

    def __init__(self, engine: Engine, project: str | None) -> None:
        super().__init__()
        self.engine = engine
        self.project = project
        self.model = CommitsModel(lambda ids: engine.contexts.rows(ids))
        self.list = CommitList(self.model, id="commits")
        self.title_rule = TitleRule("Commits", id="commits-title")
        self.text = TextPane(id="commit-text")
        self.survival = TextPane(title="Must survive", id="survival")
        self.balance = Balance(id="balance")
        self.outlook_line = OutlookLine(id="outlook")
        self.status = StatusBar(id="status")
        self.commit = CommitReading(self)
        self.weighing = Weighing(self)
        self.reading = CommitsReading(self)
        self.acts = CommitActs(self)
        self.marking = Marking(self)
        self.filtering = CommitFilter(self)
        self.retaining = Retaining(self)
        self.editing = CommitEditing(self)
        self.choosing = Choosing(self)
        self.looking = CommitsLooking(self)

    def compose(self) -> ComposeResult:
        """Header and tabs, the chain beside or above a commit, the balance, status and keys."""
        header = HeaderBar(id="header")
        header.same_as(self.app.screen_stack[0].query_one(HeaderBar))
        yield header
        tabs = TabBar(id="tabs")
        tabs.current = "commits"
        yield tabs
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield self.title_rule
                yield self.list
            yield Separator(id="separator")
            with Vertical(id="right"):
                yield self.text
                yield self.survival
        yield self.balance
        yield self.outlook_line
        yield self.status
        yield FooterBar(id="footer")

    def on_mount(self) -> None:
        """Read in a worker; nothing waits for it."""
        self.show_footer()
        self.title_rule.focused(True)
        self.reading.open_latest()
        self.set_interval(WATCH_SECONDS, self.reading.watch)

    def on_screen_resume(self) -> None:
        """Another screen may have decided or undone something."""
        self.reading.watch()

    def situation(self) -> Situation:
        """What decides which keys do something."""
        history, reading = self.engine.history, self.reading
        context, row = reading.context, self.model.current
        return Situation(
            rows=len(self.model.ids),
            marked=self.model.count_marked(),
            filtered=bool(reading.filter),
            editing=bool(self.busy),
            undo=history.can_undo(),
            redo=history.can_redo(),
            zoomed=self.looking.zoomed,
            about=About(
                reading=not reading.was_read,
                contexts=len(reading.contexts),
                context=context.name if context is not None else "",
                commit=row.hash[:SHORT] if row is not None else "",
                source=context.source_path if context is not None else None,
                line=self.commit.has_line,
                busy=self.busy,
                importing=self.choosing.importing,
            ),
        )

    @property
    def busy(self) -> str:
        """The pane that is open in place of the others; empty for none."""
        return next((pane for mode, pane in MODES.items() if self.has_class(mode)), "")

    @property
    def moved_list(self) -> CommitList:
        """The moving keys move the list, whatever pane has the focus."""
        return self.list

    def show_right(self, mode: str) -> None:
        """Put a form, an editor or a chooser in place of the panes; its keys into the footer."""
        for other in MODES:
            self.set_class(other == mode, other)
        self.list.locked = bool(mode)
        if mode:
            self.remove_class("-empty")
        self.show_footer()
        self.title_rule.focused(not mode)
        self.set_timer(LAID_OUT_SECONDS, self._show_joint)

    def show_panes(self) -> None:
        """The panes again, the focus on the list."""
        self.show_right("")
        self.set_class(self.reading.context is None, "-empty")
        self.list.focus(scroll_visible=False)

    def show_footer(self) -> None:
        """The keys of the pane that has the focus."""
        pane = "filter" if self.filtering.focused else self.busy or "commits"
        self.show_keys(pane, Situation(marked=self.model.count_marked()))

    def keep_now(self) -> None:
        """Keep what is being written, before the program ends."""
        self.retaining.keep_now()
        self.editing.keep_now()
        self.reading.keep_place()

    def on_unmount(self) -> None:
        """The place is there when the screen is opened again."""
        self.reading.keep_place()

    def on_resize(self) -> None:
        """The title fits again; the upright rule meets the rule between the panes."""
        self.call_after_refresh(self._laid_out)

    def _laid_out(self) -> None:
        self.reading.show_title()
        self._show_joint()

    def _show_joint(self) -> None:
        separator = self.query_one(Separator)
        lower: Widget | None = self.survival
        if self.has_class("retaining"):
            lower = self.text
        elif self.busy:
            lower = self.editing.lower_half if self.has_class("editing") else None
        separator.joint = lower.region.y - separator.region.y if lower is not None else 0

    # messages

    @on(RowList.Moved)
    def _moved(self) -> None:
        self.filtering.left_row = None
        if self.model.range_from is not None:
            self.show_footer()
        self.commit.follow()

    @on(RowList.Opened)
    async def _opened(self) -> None:
        await self.action_act("read_commit")

    def on_descendant_focus(self) -> None:
        """Title and footer follow the focus."""
        self.title_rule.focused(self.list.has_focus)
        self.show_footer()
        self.filtering.settle()
