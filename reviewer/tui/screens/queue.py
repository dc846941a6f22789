"""The queue: the list, the candidate under the cursor, and why it is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from reviewer.text.display import display_line
from reviewer.tui.acting import Acting
from reviewer.tui.kit.bars import FooterBar, HeaderBar, StatusBar, TabBar
from reviewer.tui.kit.line import Separator, TitleRule
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.messages import (
    BadgesRead,
    CountsRead,
    DetailRead,
    Failed,
    OpenMemory,
    OthersWrote,
    SnapshotRead,
    StateRead,
)
from reviewer.tui.queue_model import QueueModel
from reviewer.tui.screens.moving import ListMoving
from reviewer.tui.screens.queue_badges import BadgeReading
from reviewer.tui.screens.queue_decisions import Decisions
from reviewer.tui.screens.queue_editing import Editing
from reviewer.tui.screens.queue_filter import Filtering
from reviewer.tui.screens.queue_loading import Loading
from reviewer.tui.screens.queue_looking import Looking
from reviewer.tui.screens.queue_shows import Shows
from reviewer.tui.screens.queue_view import View
from reviewer.tui.situation import Situation
from reviewer.tui.widgets.candidate_list import CandidateList
from reviewer.tui.widgets.candidate_pane import CandidatePane
from reviewer.tui.widgets.evidence_pane import EvidencePane

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.tui.kit.edit_pane import EditPane

WATCH_SECONDS = 2.0
COLUMNS = [(0, "-stacked"), (100, "-beside")]
ROWS = [(0, "-short"), (22, "-tall")]
"""From so many cells on a screen has that class; `styles/` says what it means."""


class QueueScreen(Acting, ListMoving, Screen[None], inherit_bindings=False):
    """Lays the queue out; what keys do is in the parts: decisions, editing, view and so on."""

    PANE = "queue"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("queue")]
    HORIZONTAL_BREAKPOINTS = COLUMNS
    VERTICAL_BREAKPOINTS = ROWS
    AUTO_FOCUS = "#list"

    def __init__(self, engine: Engine, project: str | None) -> None:
        super().__init__()
        self.engine = engine
        self.project = project
        self.model = QueueModel(engine.queue.rows)
        self.list = CandidateList(self.model, id="list")
        self.title_rule = TitleRule("Candidates", id="list-title")
        self.candidate = CandidatePane(id="candidate")
        self.evidence = EvidencePane(id="evidence")
        self.header = HeaderBar(id="header")
        self.status = StatusBar(id="status")
        self.footer = FooterBar(id="footer")
        self.separator = Separator(id="separator")
        self.loader = Loading(self)
        self.decisions = Decisions(self)
        self.editing = Editing(self)
        self.filtering = Filtering(self)
        self.looking = Looking(self)
        self.view = View(self)
        self.shows = Shows(self)
        self.badges = BadgeReading(self)

    def compose(self) -> ComposeResult:
        """Header and tabs, the list beside or above the panes, status and footer."""
        # the classes of the breakpoints at once: else Textual lays everything out twice
        width, height = self.app.size
        self.add_class(self._fitting(width, COLUMNS), self._fitting(height, ROWS))
        yield self.header
        yield TabBar(id="tabs")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield self.title_rule
                yield self.list
            yield self.separator
            with Vertical(id="right"):
                yield self.candidate
                yield self.evidence
        yield self.status
        yield self.footer

    @staticmethod
    def _fitting(size: int, breakpoints: list[tuple[int, str]]) -> str:
        return [name for least, name in breakpoints if size >= least][-1]

    def on_mount(self) -> None:
        """Read the first page at once; everything else follows in workers."""
        self.header.project = display_line(self.project or "all projects")
        self.loader.first_page()
        self.shows.show_keys()
        self.set_interval(WATCH_SECONDS, self.loader.watch)

    def on_screen_resume(self) -> None:
        """Another screen may have decided or undone something."""
        self.loader.watch()

    def on_resize(self) -> None:
        """The upright rule meets the rule between the panes."""
        self.call_after_refresh(self.shows.show_joint)

    def situation(self) -> Situation:
        """What decides which keys do something."""
        return self.view.situation()

    def keep_now(self) -> None:
        """Keep what is being written, before the program ends."""
        self.editing.keep_now()

    @property
    def moved_list(self) -> CandidateList:
        """The moving keys move the list, whatever pane has the focus."""
        return self.list

    # what comes back

    @on(CandidateList.Moved)
    def _moved(self) -> None:
        self.filtering.left_row = None
        if self.model.range_from is not None:
            self.shows.show_keys()
        self.loader.follow()
        self.badges.look()

    @on(CandidateList.Opened)
    async def _opened(self) -> None:
        await self.action_act("edit")

    @on(SnapshotRead)
    def _snapshot(self, message: SnapshotRead) -> None:
        self.loader.take_snapshot(message)

    @on(DetailRead)
    def _detail(self, message: DetailRead) -> None:
        self.loader.take_detail(message)

    @on(StateRead)
    def _state(self, message: StateRead) -> None:
        self.loader.take_state(message)

    @on(BadgesRead)
    def _badges(self, message: BadgesRead) -> None:
        self.badges.take(message.badges)

    @on(CountsRead)
    def _counts(self, message: CountsRead) -> None:
        self.loader.take_counts(message.counts)

    @on(OthersWrote)
    def _others(self, message: OthersWrote) -> None:
        self.loader.take_others(message.new)

    @on(Failed)
    def _failed(self, message: Failed) -> None:
        self.say(message.text, bad=True)

    async def on_edit_pane_saved(self, message: EditPane.Saved) -> None:
        """Promote the wording that was written."""
        await self.editing.saved(message.memory, message.content)

    async def on_edit_pane_left(self, message: EditPane.Left) -> None:
        """Keep a draft of what was written."""
        await self.patiently(
            lambda: self.editing.left(message.memory, message.content, changed=message.changed)
        )

    async def on_edit_pane_draft_changed(self, message: EditPane.DraftChanged) -> None:
        """Keep a draft while it is written."""
        await self.patiently(lambda: self.editing.keep_draft(message.memory, message.content))

    @on(OpenMemory)
    def _open_memory(self, message: OpenMemory) -> None:
        self.loader.go_to(message.memory)

    def on_descendant_focus(self) -> None:
        """Titles, footer and the filter's field follow the focus."""
        self.shows.show_keys()
        self.filtering.settle()
