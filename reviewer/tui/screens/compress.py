"""What a smaller context would say and lose: a level for each segment, before it is applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from reviewer.compressing import Level
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.tui.compress_kept import Kept
from reviewer.tui.compress_model import CompressModel
from reviewer.tui.keys.compress import About
from reviewer.tui.kit.bars import FooterBar, HeaderBar, StatusBar, TabBar
from reviewer.tui.kit.line import Separator, TitleRule
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.screens.compress_acts import CompressActs
from reviewer.tui.screens.compress_applying import Applying
from reviewer.tui.screens.compress_choosing import CompressChoosing
from reviewer.tui.screens.compress_columns import Columns
from reviewer.tui.screens.compress_desk import Desk
from reviewer.tui.screens.compress_editing import CompressEditing
from reviewer.tui.screens.compress_fitting import Fitting
from reviewer.tui.screens.compress_looking import CompressLooking
from reviewer.tui.screens.compress_messages import FromPanes
from reviewer.tui.screens.compress_reading import CompressReading
from reviewer.tui.screens.compress_showing import CompressShowing
from reviewer.tui.screens.compress_unfolding import Unfolding
from reviewer.tui.screens.compress_writing import Writing
from reviewer.tui.screens.moving import Listed, ListMoving
from reviewer.tui.screens.queue import COLUMNS, ROWS
from reviewer.tui.screens.reading import ReadingScreen
from reviewer.tui.situation import Situation
from reviewer.tui.widgets.compress_bars import LevelsLine, WholeBar
from reviewer.tui.widgets.compress_list import SegmentList
from reviewer.tui.widgets.compress_lost import LostList
from reviewer.tui.widgets.compress_summary import SummaryPane

WATCH_SECONDS = 2.0
LAID_OUT_SECONDS = 0.05
"""After so long the panes stand where they belong."""
MODES = {"editing": "edit", "choosing": "choose"}
"""What may be open in place of the panes: the screen's class, and the pane of its keys."""

Value = TypeVar("Value")


class CompressScreen(FromPanes, ListMoving, ReadingScreen, inherit_bindings=False):
    """Lays the screen out; what keys do is in the parts: acts, writing, editing and so on."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("compress")]
    HORIZONTAL_BREAKPOINTS = COLUMNS
    VERTICAL_BREAKPOINTS = ROWS
    AUTO_FOCUS = "#segments"

    def __init__(self, engine: Engine, project: str | None, start: int | None = None) -> None:
        """`start`: the commit to begin at; None for the whole context."""
        super().__init__()
        self.engine = engine
        self.project = project
        self.model = CompressModel()
        self.list = SegmentList(self.model, id="segments")
        self.title_rule = TitleRule("Segments", id="segments-title")
        self.levels = LevelsLine(id="levels")
        self.original = TextPane(id="original")
        self.summary = SummaryPane(id="summary")
        self.lost_title = TitleRule("Loses", id="lost-title")
        self.lost = LostList(id="lost")
        self.checks = TextPane(title="Checks", id="checks")
        self.whole = WholeBar(id="whole")
        self.status = StatusBar(id="status")
        self.desk = Desk(self)
        self.columns = Columns(self)
        self.unfolding = Unfolding(self)
        self.writing = Writing(self)
        self.applying = Applying(self)
        self.fitting = Fitting(self)
        self.editing = CompressEditing(self)
        self.showing = CompressShowing(self)
        self.reading = CompressReading(self, start)
        self.acts = CompressActs(self)
        self.choosing = CompressChoosing(self)
        self.looking = CompressLooking(self)

    def compose(self) -> ComposeResult:
        """Header and tabs, segments, the original beside its summary, the whole, status, keys."""
        header = HeaderBar(id="header")
        header.same_as(self.app.screen_stack[0].query_one(HeaderBar))
        yield header
        tabs = TabBar(id="tabs")
        tabs.current = "compress"
        yield tabs
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield self.title_rule
                yield self.list
            yield Separator(id="separator")
            with Vertical(id="right"):
                yield self.levels
                with Horizontal(id="panes"):
                    yield self.original
                    yield Separator(id="between")
                    with Vertical(id="result"):
                        yield self.summary
                        yield self.lost_title
                        yield self.lost
                        yield self.checks
        yield self.whole
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

    @property
    def kept(self) -> dict[int, Kept]:
        """What was chosen for each context since the program began."""
        kept: dict[int, Kept] = self.app.compress_kept  # type: ignore[attr-defined]
        return kept

    def situation(self) -> Situation:
        """What decides which keys do something."""
        history, reading, model = self.engine.history, self.reading, self.model
        choice = model.choice
        found = model.shown(choice) if choice is not None else None
        return Situation(
            rows=len(model.segments),
            editing=bool(self.busy),
            undo=history.can_undo(),
            redo=history.can_redo(),
            zoomed=self.looking.zoomed,
            about=About(
                reading=not reading.was_read,
                contexts=len(reading.contexts),
                context=reading.context.name if reading.context is not None else "",
                segments=len(model.segments) if model.plan is not None else 0,
                full=choice is None or choice.level is Level.FULL,
                written=found is not None,
                lost=self.lost.current is not None,
                markers=bool(found is not None and found.compressed.expansion_markers),
                range=reading.start is not None,
                model=model.engine == "model",
                failed=choice is not None and model.waits(choice) and found is not None,
                running=self.running,
                busy=self.busy,
            ),
        )

    @property
    def busy(self) -> str:
        """The pane that is open in place of the others; empty for none."""
        return next((pane for mode, pane in MODES.items() if self.has_class(mode)), "")

    @property
    def running(self) -> str:
        """What goes on behind the screen; empty for nothing."""
        return self.writing.running or self.applying.running or self.fitting.running

    @property
    def moved_list(self) -> Listed:
        """The moving keys move what is lost where that has the focus, else the segments."""
        return self.lost if self.focused is self.lost else self.list

    def show_right(self, mode: str) -> None:
        """Put an editor or a chooser in place of the panes; its keys into the footer."""
        for other in MODES:
            self.set_class(other == mode, other)
        self.remove_class("all-levels")
        self.list.locked = bool(mode)
        if mode:
            self.remove_class("-empty")
        self.show_footer()
        self.title_rule.focused(not mode)
        self.set_timer(LAID_OUT_SECONDS, self._show_joint)

    def show_panes(self) -> None:
        """The panes again, the focus on the list."""
        self.show_right("")
        self.set_class(self.model.plan is None, "-empty")
        self.list.focus(scroll_visible=False)

    def show_footer(self) -> None:
        """The keys of the pane that has the focus."""
        panes = {"edit": "edit", "choose": "choose", "": "compress"}
        self.show_keys(panes[self.busy])

    def keep_now(self) -> None:
        """Keep what is being written, before the program ends."""
        self.editing.keep_now()
        self.reading.keep_place()

    def on_unmount(self) -> None:
        """The place is there when the screen is opened again; nothing goes on behind."""
        self.writing.stop()
        self.applying.stop()
        self.fitting.stop()
        self.desk.start_over()
        self.reading.keep_place()

    def on_resize(self) -> None:
        """The title fits again; the upright rules meet those between the panes."""
        self.call_after_refresh(self._laid_out)

    def _laid_out(self) -> None:
        if self.has_class("all-levels") and self.size.width < self.columns.LEAST:
            self.remove_class("all-levels")
        self.showing.show_title()
        self._show_joint()

    def _show_joint(self) -> None:
        between = self.query_one("#between", Separator)
        between.joint = max(self.lost_title.region.y - between.region.y, 0)

    def carry(
        self,
        work: Callable[[], Value],
        done: Callable[[Value], None],
        failed: Callable[[ReviewerError], None],
    ) -> None:
        """Run `work` in a thread to its end, then one of the others here."""

        def guarded() -> None:
            try:
                value = work()
            except ReviewerError as error:
                problem = error
                self.post_message(Writing.Written(lambda: failed(problem)))
            else:
                self.post_message(Writing.Written(lambda: done(value)))

        self.run_worker(guarded, thread=True, group="carry")

    # messages

    @on(Desk.Done)
    def _desk_done(self, message: Desk.Done) -> None:
        self.desk.take(message)

    @on(Writing.Streamed)
    def _streamed(self) -> None:
        choice = self.model.choice
        if choice is not None and self.writing.live(choice.segment) is not None:
            self.showing.draw()

    @on(Writing.Written)
    def _written(self, message: Writing.Written) -> None:
        message.take()

    @on(SegmentList.Moved)
    def _moved(self, message: RowList.Moved) -> None:
        if self.focused is self.lost:
            self.showing.follow_lost()
        else:
            self.showing.follow()

    @on(RowList.Opened)
    async def _opened(self) -> None:
        await self.action_act("expand_here")

    def on_summary_pane_clicked(self, message: SummaryPane.Clicked) -> None:
        """Expand or collapse the marker."""
        self.unfolding.toggle(message.path)

    def on_descendant_focus(self) -> None:
        """Titles and footer follow the focus."""
        self.title_rule.focused(self.list.has_focus)
        self.lost_title.focused(self.lost.has_focus)
        self.show_footer()
