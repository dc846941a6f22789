"""A pipeline in walking order; for each way into a node why it is so, and what the node gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from reviewer.engine import Engine
from reviewer.tui.keys.pipelines import About
from reviewer.tui.kit.bars import FooterBar, StatusBar
from reviewer.tui.kit.line import Separator, TitleRule
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.screens.moving import ListMoving
from reviewer.tui.screens.panes import Panes
from reviewer.tui.screens.pipelines_answering import Answering
from reviewer.tui.screens.pipelines_choosing import PipelineChoosing
from reviewer.tui.screens.pipelines_conversation import RunConversation
from reviewer.tui.screens.pipelines_following import CourseMoved, Following
from reviewer.tui.screens.pipelines_looking import PipelinesLooking
from reviewer.tui.screens.pipelines_model import PipelinesModel
from reviewer.tui.screens.pipelines_modes import ALL, PipelinesModes
from reviewer.tui.screens.pipelines_reading import PipelinesReading
from reviewer.tui.screens.pipelines_row import RowReading
from reviewer.tui.screens.pipelines_running import Running
from reviewer.tui.screens.pipelines_showing import PipelinesShowing
from reviewer.tui.screens.queue import COLUMNS, ROWS
from reviewer.tui.screens.reading import ReadingScreen
from reviewer.tui.screens.top_lines import top_lines
from reviewer.tui.situation import Situation
from reviewer.tui.widgets.pipeline_list import PipelineList

if TYPE_CHECKING:
    from reviewer.tui.kit.choice_pane import ChoicePane

WATCH_SECONDS = 2.0
LAID_OUT_SECONDS = 0.05
"""After so long the panes stand where they belong."""


class PipelinesScreen(ListMoving, ReadingScreen, inherit_bindings=False):
    """Lays the screen out; what keys do and what is drawn is in the parts."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("pipelines")]
    HORIZONTAL_BREAKPOINTS = COLUMNS
    VERTICAL_BREAKPOINTS = ROWS
    AUTO_FOCUS = "#stops"

    def __init__(self, engine: Engine, project: str | None) -> None:
        super().__init__()
        self.engine = engine
        self.project = project
        self.model = PipelinesModel()
        self.list = PipelineList(self.model, id="stops")
        self.title_rule = TitleRule("Pipelines", id="stops-title")
        self.way = TextPane(id="way")
        self.handed = TextPane(id="handed")
        self.status = StatusBar(id="status")
        self.showing = PipelinesShowing(self)
        self.panes = Panes(
            self, [self.list, self.way, self.handed], zoom_changed=self.showing.draw_handed
        )
        self.modes = PipelinesModes(self)
        self.reading = PipelinesReading(self)
        self.row = RowReading(self)
        self.answering = Answering(self)
        self.running = Running(self)
        self.following = Following(self)
        self.conversation = RunConversation(self)
        self.choosing = PipelineChoosing(self)
        self.looking = PipelinesLooking(self)

    def compose(self) -> ComposeResult:
        """Header and tabs, the graph beside or above the panes, status and keys."""
        yield from top_lines(self, "pipelines")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield self.title_rule
                yield self.list
            yield Separator(id="separator")
            with Vertical(id="right"):
                yield self.way
                yield self.handed
        yield self.status
        yield FooterBar(id="footer")

    def on_mount(self) -> None:
        """Read in a worker; nothing waits for it."""
        self.title_rule.focused(True)
        self.showing.draw_all()
        self.reading.open_latest()
        self.following.attach()
        self.set_interval(WATCH_SECONDS, self.reading.watch)

    def on_unmount(self) -> None:
        """A run goes on without the screen."""
        self.following.detach()

    def on_screen_resume(self) -> None:
        """The file may have been changed meanwhile."""
        self.reading.watch()

    def situation(self) -> Situation:
        """What decides which keys do something."""
        reading, running, graph = self.reading, self.running, self.model.graph
        course, run, node = running.course, reading.run, self.model.node
        under_way = course if course is not None and course.running else None
        return Situation(
            rows=len(self.model.rows),
            zoomed=self.panes.zoomed,
            editing=self.busy,
            about=About(
                reading=not reading.was_read,
                pipeline=graph.pipeline.name if graph is not None else "",
                node=node.name if node is not None else "",
                ways=len(self.row.ways()),
                running=(under_way.run_id or "A run") if under_way else "",
                pausing=bool(under_way and under_way.pausing),
                asking=bool(under_way and under_way.question),
                cancelled=bool(under_way and under_way.cancelling),
                run=reading.run_id or "",
                resumable=run is not None and run.view.can_resume,
                runs=len(reading.runs),
                said=bool(run and run.turns),
                text=bool(self.modes.text),
                model=self.answering.has_model,
                choosing=self.busy,
            ),
        )

    @property
    def busy(self) -> bool:
        """A chooser is open in place of the panes."""
        return self.has_class("choosing")

    @property
    def moved_list(self) -> PipelineList:
        """The moving keys move the list, whatever pane has the focus."""
        return self.list

    def show_choice(self, on: bool) -> None:
        """Put the chooser in place of the panes, or take it away."""
        self.set_class(on, "choosing")
        self.list.locked = on
        if on:
            self.remove_class("-empty")
        self.showing.draw_empty()
        self.show_footer()
        if not on:
            self.list.focus(scroll_visible=False)
        self.lay_out()

    def show_footer(self) -> None:
        """The keys of what is open."""
        self.show_keys("choose" if self.busy else "pipelines")

    # laying out

    def on_resize(self) -> None:
        """The title fits again; the upright rule meets the rule between the panes."""
        self.call_after_refresh(self._laid_out)

    def _laid_out(self) -> None:
        self.showing.draw_title()
        if self.modes.mode == ALL:
            self.showing.draw_handed()
        self._show_joint()

    def lay_out(self) -> None:
        """Other panes are shown: the upright rule meets the rule between them."""
        self.set_timer(LAID_OUT_SECONDS, self._show_joint)

    def _show_joint(self) -> None:
        separator = self.query_one(Separator)
        separator.joint = 0 if self.busy else self.handed.region.y - separator.region.y

    # messages

    @on(RowList.Moved)
    def _moved(self) -> None:
        self.following.cursor_moved()
        self.row.follow()

    @on(RowList.Opened)
    async def _opened(self) -> None:
        await self.action_act("pipeline_enter")

    @on(CourseMoved)
    def _course_moved(self) -> None:
        self.following.course_moved()

    async def on_choice_pane_chosen(self, message: ChoicePane.Chosen) -> None:
        """Go on with what was chosen."""
        await self.choosing.chosen(message.option)

    def on_choice_pane_left(self) -> None:
        """Put the chooser away."""
        self.choosing.close()

    def on_descendant_focus(self) -> None:
        """The title of the pane with the focus stands out."""
        self.title_rule.focused(self.list.has_focus)
