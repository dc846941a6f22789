"""What holds: trusted state, entities and memories by type; beside it, why it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from reviewer.engine import Engine
from reviewer.tui.kit.bars import FooterBar, HeaderBar, StatusBar, TabBar
from reviewer.tui.kit.line import Separator, TitleRule
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.screens.moving import ListMoving
from reviewer.tui.screens.queue import COLUMNS, ROWS
from reviewer.tui.screens.reading import ReadingScreen
from reviewer.tui.screens.state_acts import StateActs
from reviewer.tui.screens.state_asking import Asking
from reviewer.tui.screens.state_exporting import Exporting
from reviewer.tui.screens.state_looking import StateLooking
from reviewer.tui.screens.state_reading import StateReading
from reviewer.tui.screens.state_search import StateSearch
from reviewer.tui.screens.state_writing import Writing
from reviewer.tui.situation import Situation
from reviewer.tui.state_model import StateModel
from reviewer.tui.widgets.candidate_pane import CandidatePane
from reviewer.tui.widgets.fact_list import FactList

if TYPE_CHECKING:
    from reviewer.tui.kit.choice_pane import ChoicePane
    from reviewer.tui.kit.edit_pane import EditPane
    from reviewer.tui.widgets.state_form import StateForm

WATCH_SECONDS = 2.0
LAID_OUT_SECONDS = 0.05
"""After so long the panes stand where they belong."""


class StateScreen(ListMoving, ReadingScreen, inherit_bindings=False):
    """Lays the screen out; what keys do is in the parts: acts, writing, asking and so on."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("state")]
    HORIZONTAL_BREAKPOINTS = COLUMNS
    VERTICAL_BREAKPOINTS = ROWS
    AUTO_FOCUS = "#facts"

    def __init__(self, engine: Engine, project: str | None) -> None:
        super().__init__()
        self.engine = engine
        self.project = project
        self.model = StateModel(engine.queue.rows)
        self.list = FactList(self.model, id="facts")
        self.title_rule = TitleRule("What holds", id="facts-title")
        self.fact = CandidatePane(id="fact")
        self.why = TextPane(title="Why do I know this?", id="why")
        self.reading = StateReading(self)
        self.acts = StateActs(self)
        self.writing = Writing(self)
        self.asking = Asking(self)
        self.looking = StateLooking(self)
        self.searching = StateSearch(self)
        self.exporting = Exporting(self)

    def compose(self) -> ComposeResult:
        """Header and tabs, the list beside or above the panes, status and keys."""
        header = HeaderBar(id="header")
        header.same_as(self.app.screen_stack[0].query_one(HeaderBar))
        yield header
        tabs = TabBar(id="tabs")
        tabs.current = "state"
        yield tabs
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield self.title_rule
                yield self.list
            yield Separator(id="separator")
            with Vertical(id="right"):
                yield self.fact
                yield self.why
        yield StatusBar(id="status")
        yield FooterBar(id="footer")

    def on_mount(self) -> None:
        """Read everything in a worker; the list comes first."""
        self.show_keys("state")
        self.title_rule.show("What holds", focused=True)
        self.reading.refresh()
        self.set_interval(WATCH_SECONDS, self.reading.watch)

    def on_screen_resume(self) -> None:
        """Somebody may have written meanwhile."""
        self.reading.watch()

    def situation(self) -> Situation:
        """What decides which keys do something."""
        history = self.engine.history
        shown = self.reading.shown
        return Situation(
            fact=self.reading.kind,
            editing=self.busy,
            related=bool(shown and shown.related),
            undo=history.can_undo(),
            redo=history.can_redo(),
        )

    @property
    def busy(self) -> bool:
        """Something is written or chosen in place of the panes."""
        return bool({"editing", "forming", "choosing"} & self.classes)

    @property
    def moved_list(self) -> FactList:
        """The moving keys move the list, whatever pane has the focus."""
        return self.list

    def show_right(self, mode: str, pane: str) -> None:
        """Put an editor, a form or a chooser in place of the panes; its keys into the footer."""
        for other in ("editing", "forming", "choosing"):
            self.set_class(other == mode, other)
        self.list.locked = bool(mode)
        self.show_keys(pane)
        self.title_rule.focused(not mode)
        self.set_timer(LAID_OUT_SECONDS, self._show_joint)

    def show_panes(self) -> None:
        """The panes again, the focus on the list."""
        self.show_right("", "state")
        self.list.focus(scroll_visible=False)

    def keep_now(self) -> None:
        """Keep what is being written, before the program ends."""
        self.writing.keep_now()

    def on_resize(self) -> None:
        """The upright rule meets the rule between the panes."""
        self.call_after_refresh(self._show_joint)

    def _show_joint(self) -> None:
        separator = self.query_one(Separator)
        lower: Widget | None = self.why
        if self.has_class("forming"):
            lower = self.fact
        elif self.busy:
            lower = self.writing.lower_half if self.has_class("editing") else None
        separator.joint = lower.region.y - separator.region.y if lower is not None else 0

    # messages

    @on(FactList.Moved)
    def _moved(self) -> None:
        self.reading.follow()

    @on(FactList.Opened)
    async def _opened(self) -> None:
        await self.action_act("state_edit")

    async def on_state_form_saved(self, message: StateForm.Saved) -> None:
        """Write the value that was typed."""
        await self.writing.save_value(message.values)

    def on_state_form_left(self) -> None:
        """Put the form away."""
        self.writing.leave_form()

    async def on_edit_pane_saved(self, message: EditPane.Saved) -> None:
        """Take the wording that was written."""
        await self.writing.save_wording(message.memory, message.content)

    async def on_edit_pane_left(self, message: EditPane.Left) -> None:
        """Keep a draft of what was written."""
        await self.patiently(
            lambda: self.writing.leave_wording(
                message.memory, message.content, changed=message.changed
            )
        )

    async def on_edit_pane_draft_changed(self, message: EditPane.DraftChanged) -> None:
        """Keep a draft while it is written."""
        await self.patiently(lambda: self.engine.drafts.save(message.memory, message.content))

    async def on_choice_pane_chosen(self, message: ChoicePane.Chosen) -> None:
        """Go on with what was chosen."""
        await self.asking.chosen(message.option)

    def on_choice_pane_left(self) -> None:
        """Put the chooser away."""
        self.asking.close()

    def on_descendant_focus(self) -> None:
        """The title of the pane with the focus stands out."""
        self.title_rule.focused(self.list.has_focus)

    # keys

    def next_group(self) -> None:
        """To the first row of the next type."""
        self._to_group(1)

    def previous_group(self) -> None:
        """To the first row of the type before."""
        self._to_group(-1)

    def _to_group(self, step: int) -> None:
        index = self.model.next_group(step)
        if index is not None:
            self.list.move_to(index)
