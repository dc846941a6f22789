"""A pipeline in walking order; for each way into a node why it is so, and what the node gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from reviewer.engine import Engine
from reviewer.text.display import display_line
from reviewer.tui.actions import bindings_for
from reviewer.tui.keys.pipelines import About
from reviewer.tui.screens.moving import ListMoving
from reviewer.tui.screens.pipelines_choosing import PipelineChoosing
from reviewer.tui.screens.pipelines_looking import ALL, SAID, PipelinesLooking
from reviewer.tui.screens.pipelines_model import PipelinesModel
from reviewer.tui.screens.pipelines_reading import PipelinesReading
from reviewer.tui.screens.pipelines_running import CourseMoved, Running
from reviewer.tui.screens.queue import COLUMNS, ROWS
from reviewer.tui.screens.reading import ReadingScreen
from reviewer.tui.situation import Situation
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.bars import FooterBar, HeaderBar, StatusBar, TabBar
from reviewer.tui.widgets.line import Separator, TitleRule
from reviewer.tui.widgets.phrases import count
from reviewer.tui.widgets.pipeline_columns import columns
from reviewer.tui.widgets.pipeline_list import PipelineList
from reviewer.tui.widgets.pipeline_text import (
    before_words,
    preamble_blocks,
    preamble_title,
    said_blocks,
    way_blocks,
    way_title,
)
from reviewer.tui.widgets.row_list import RowList
from reviewer.tui.widgets.text_layout import fit
from reviewer.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from reviewer.engine import RunHistory
    from reviewer.tui.widgets.choice_pane import ChoicePane

WATCH_SECONDS = 2.0
LAID_OUT_SECONDS = 0.05
"""After so long the panes stand where they belong."""
TITLE_CELLS, NAME_CELLS = 8, 12
HINTS = ("1-6 mode  0 all  7 said  y copy", "1-6 mode  0 all", "1-6 mode")


class PipelinesScreen(ListMoving, ReadingScreen, inherit_bindings=False):
    """Lays the screen out; what keys do is in the parts: running, choosing, looking, reading."""

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
        self.reading = PipelinesReading(self)
        self.running = Running(self)
        self.choosing = PipelineChoosing(self)
        self.looking = PipelinesLooking(self)

    def compose(self) -> ComposeResult:
        """Header and tabs, the graph beside or above the panes, status and keys."""
        header = HeaderBar(id="header")
        header.same_as(self.app.screen_stack[0].query_one(HeaderBar))
        yield header
        tabs = TabBar(id="tabs")
        tabs.current = "pipelines"
        yield tabs
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
        self.draw_all()
        self.reading.open_latest()
        self.running.attach()
        self.set_interval(WATCH_SECONDS, self.reading.watch)

    def on_unmount(self) -> None:
        """A run goes on without the screen."""
        self.running.detach()

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
            zoomed=self.looking.zoomed,
            editing=self.busy,
            about=About(
                reading=not reading.was_read,
                pipeline=graph.pipeline.name if graph is not None else "",
                node=node.name if node is not None else "",
                ways=len(reading.ways()),
                running=(under_way.run_id or "A run") if under_way else "",
                pausing=bool(under_way and under_way.pausing),
                asking=bool(under_way and under_way.question),
                cancelled=bool(under_way and under_way.cancelling),
                run=reading.run_id or "",
                resumable=run is not None and run.view.can_resume,
                runs=len(reading.runs),
                said=bool(run and run.turns),
                text=bool(self.looking.text),
                model=running.has_model,
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
        self.draw_empty()
        self.show_footer()
        if not on:
            self.list.focus(scroll_visible=False)
        self.set_timer(LAID_OUT_SECONDS, self._show_joint)

    def show_footer(self) -> None:
        """The keys of what is open."""
        self.show_keys("choose" if self.busy else "pipelines")

    # drawing

    def draw_all(self) -> None:
        """Draw everything that was read."""
        self.draw_empty()
        self.list.rows_changed()
        self.draw_title()
        self.draw_way()
        self.draw_handed()
        self.show_footer()

    def draw_empty(self) -> None:
        """What the list says where it has nothing to show."""
        reading = self.reading
        if not reading.was_read:
            self.list.empty = ("Reading ...",)
        elif reading.trouble:
            self.list.empty = (reading.trouble, "E opens it in your editor, C chooses another.")
        elif self.model.graph is not None:
            self.list.empty = ("This pipeline has no nodes.",)
        else:
            below = len(reading.below)
            nearby = f"{count(below, 'DOT file')} below this folder" if below else "an example too"
            self.list.empty = (
                "No pipeline is open: stages, and what each one gets.",
                f"C chooses one ({nearby}), I opens a file.",
            )
        empty = not self.model.rows and not self.busy
        if empty != self.has_class("-empty"):
            self.set_class(empty, "-empty")
            self.set_timer(LAID_OUT_SECONDS, self._show_joint)

    def draw_title(self) -> None:
        """Which pipeline, how large, how its run stands, who answers."""
        graph, reading, signs = self.model.graph, self.reading, glyphs(self.app)
        if graph is None:
            self.title_rule.show("Pipelines")
            return
        parts = [count(len(graph.pipeline.nodes), "node")]
        run = self.running.words()
        if run:
            parts.insert(0, run)
        elif reading.run is not None:
            parts.append(f"run {reading.run.view.state}")
        if self.running.with_model:
            parts.append(display_line(self.running.answered_by))
        if self.running.allow_tools:
            parts.append("tools allowed")
        remarks = len(graph.pipeline.warnings)
        if remarks:
            parts.append(f"{signs.stale} {remarks}")
        detail = f" {signs.dot} ".join(parts)
        room = max(self.title_rule.size.width - len(detail) - TITLE_CELLS, NAME_CELLS)
        name = reading.path.name if reading.path is not None else graph.pipeline.name
        self.title_rule.show(fit(display_line(name), room, signs.ellipsis), detail)

    def draw_way(self) -> None:
        """How the row under the cursor is entered, and why so."""
        model, graph, signs = self.model, self.model.graph, glyphs(self.app)
        node, reading = model.node, self.reading
        if graph is None or node is None:
            self.way.show([], title="")
            return
        way = reading.way() or self.engine.pipelines.rules.way_of_run(
            graph.pipeline, _nothing_ran(), node.name
        )
        stop = next((each for each in graph.stops if each.node.name == node.name), None)
        onwards = [graph.ways[edge.index] for edge in (stop.edges if stop else ())]
        lines = {node.line, way.edge.line if way.edge is not None else node.line}
        remarks = [each for each in graph.pipeline.warnings if each.line in lines]
        ways = len(reading.ways())
        number = reading.way_number % ways + 1 if ways else 0
        hints = (f"way {number} of {ways}, n next", f"{number} of {ways}") if ways > 1 else ()
        self.way.show(
            way_blocks(way, stop, onwards, model.states.get(node.name), remarks, signs),
            title=way_title(way, signs),
            hints=hints,
        )

    def draw_handed(self, *, anew: bool = False) -> None:
        """What the node gets, in the mode that is looked at. `anew` scrolls to the beginning."""
        handed, looking, signs = self.reading.handed, self.looking, glyphs(self.app)
        node = self.model.node
        if handed is None or node is None:
            self.handed.show([], title="")
            return
        keep = not anew and handed.way.node.name == node.name
        mode = looking.mode
        if mode == SAID:
            self.draw_said(keep_scroll=keep)
            return
        if mode == ALL:
            size = self.handed.size
            blocks = columns(handed, max(size.width - 1, 20), self.handed.room, signs)
            title = f"Six modes {signs.dot} {before_words(handed)}"
        else:
            blocks = preamble_blocks(mode, handed, signs)
            title = preamble_title(mode, handed, signs, chosen=bool(looking.view))
        self.handed.show(blocks, title=title, hints=HINTS, keep_scroll=keep)

    def draw_said(self, *, keep_scroll: bool = True) -> None:
        """What the node said; while it runs, what arrives."""
        handed, course, node = self.reading.handed, self.running.course, self.model.node
        if self.looking.mode != SAID or handed is None or node is None:
            return
        live = ""
        if course is not None and course.running and course.node == node.name:
            live = course.answer or "..."
        title = f"{node.name} answers" if live else f"What {node.name} said"
        self.handed.show(
            said_blocks(handed, live), title=title, hints=HINTS, keep_scroll=keep_scroll
        )

    def on_resize(self) -> None:
        """The title fits again; the upright rule meets the rule between the panes."""
        self.call_after_refresh(self._laid_out)

    def _laid_out(self) -> None:
        self.draw_title()
        if self.looking.mode == ALL:
            self.draw_handed()
        self._show_joint()

    def _show_joint(self) -> None:
        separator = self.query_one(Separator)
        at = 0 if self.busy else self.handed.region.y - separator.region.y
        separator.joint = at

    # messages

    @on(RowList.Moved)
    def _moved(self) -> None:
        course, node, looking = self.running.course, self.model.node, self.looking
        name = node.name if node is not None else ""
        if name != looking.followed_to:
            looking.follows = course is not None and name in (course.node, course.next)
        self.reading.follow()

    @on(RowList.Opened)
    async def _opened(self) -> None:
        await self.action_act("pipeline_enter")

    @on(CourseMoved)
    def _course_moved(self) -> None:
        self.running.moved()

    async def on_choice_pane_chosen(self, message: ChoicePane.Chosen) -> None:
        """Go on with what was chosen."""
        await self.choosing.chosen(message.option)

    def on_choice_pane_left(self) -> None:
        """Put the chooser away."""
        self.choosing.close()

    def on_descendant_focus(self) -> None:
        """The title of the pane with the focus stands out."""
        self.title_rule.focused(self.list.has_focus)


def _nothing_ran() -> RunHistory:
    from reviewer.engine import RunHistory

    return RunHistory("")
