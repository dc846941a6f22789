"""What an agent would get within a budget: sections, items with why, the packet itself."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from reviewer.engine import Engine
from reviewer.tui.keys.packet import About
from reviewer.tui.kit.bars import FooterBar, StatusBar
from reviewer.tui.kit.line import Separator, TitleRule
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.screens.moving import ListMoving
from reviewer.tui.screens.packet_asking import PacketAsking
from reviewer.tui.screens.packet_budgeting import Budgeting
from reviewer.tui.screens.packet_filter import PacketFilter
from reviewer.tui.screens.packet_looking import PacketLooking
from reviewer.tui.screens.packet_model import PacketModel
from reviewer.tui.screens.packet_reading import PacketReading
from reviewer.tui.screens.packet_showing import PacketShowing
from reviewer.tui.screens.panes import Panes
from reviewer.tui.screens.queue import COLUMNS, ROWS
from reviewer.tui.screens.reading import ReadingScreen
from reviewer.tui.screens.top_lines import top_lines
from reviewer.tui.situation import Situation
from reviewer.tui.widgets.packet_bars import SectionBars
from reviewer.tui.widgets.packet_budget import AboutLine, BudgetLine
from reviewer.tui.widgets.packet_list import PacketList
from reviewer.tui.widgets.packet_pane import PacketPane
from reviewer.tui.widgets.packet_prompt import PromptBar

WATCH_SECONDS = 2.0
LAID_OUT_SECONDS = 0.05


class PacketScreen(ListMoving, ReadingScreen, inherit_bindings=False):
    """Lays the screen out; what keys do and what is drawn is in the parts."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("packet")]
    HORIZONTAL_BREAKPOINTS = COLUMNS
    VERTICAL_BREAKPOINTS = ROWS
    AUTO_FOCUS = "#items"

    def __init__(self, engine: Engine, project: str | None) -> None:
        super().__init__()
        self.engine = engine
        self.project = project
        self.model = PacketModel()
        self.budget_line = BudgetLine(self.model, id="packet-budget")
        self.about_line = AboutLine(id="packet-about")
        self.bars_rule = TitleRule("Sections", id="bars-title")
        self.bars = SectionBars(self.model, id="bars")
        self.list_rule = TitleRule("Items", id="items-title")
        self.list = PacketList(self.model, id="items")
        self.prompt = PromptBar(id="packet-prompt")
        self.why = TextPane(title="Why", id="packet-why")
        self.text = PacketPane(title="Packet", id="packet-text")
        self.panes = Panes(self, [self.list, self.why, self.text])
        self.showing = PacketShowing(self)
        self.reading = PacketReading(self)
        self.budgeting = Budgeting(self)
        self.asking = PacketAsking(self)
        self.filtering = PacketFilter(self)
        self.looking = PacketLooking(self)

    def compose(self) -> ComposeResult:
        """Header and tabs, the budget, sections over items, why over the packet, keys."""
        yield from top_lines(self, "packet")
        yield self.budget_line
        yield self.about_line
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield self.bars_rule
                yield self.bars
                yield self.list_rule
                yield self.list
            yield Separator(id="separator")
            with Vertical(id="right"):
                yield self.why
                yield self.text
        yield self.prompt
        yield StatusBar(id="status")
        yield FooterBar(id="footer")

    def on_mount(self) -> None:
        """Read in a worker; nothing waits for it."""
        self.list.empty = ("Reading ...",)
        self.list_rule.show("Items", focused=True)
        self.show_footer()
        self.showing.draw_above()
        self.reading.begin()
        self.set_interval(WATCH_SECONDS, self.reading.watch)

    def on_resize(self) -> None:
        """The upright rule meets the rules between the panes."""
        self.set_timer(LAID_OUT_SECONDS, self._show_joint)

    def _show_joint(self) -> None:
        separator = self.query_one(Separator)
        separator.joint = self.text.region.y - separator.region.y if self.text.display else 0

    def on_screen_resume(self) -> None:
        """Somebody may have promoted something meanwhile."""
        if self.reading.was_read:
            self.reading.watch()

    def situation(self) -> Situation:
        """What decides which keys do something."""
        item, reading = self.model.item, self.reading
        return Situation(
            rows=len(self.model.rows),
            zoomed=self.panes.zoomed,
            filtered=bool(self.model.filter),
            editing=self.asking.open,
            about=About(
                reading=not reading.was_read,
                trouble=bool(reading.trouble),
                item=item.title if item is not None else "",
                tier_1=item is not None and item.section == "constitution",
                comparing=self.model.kept is not None,
                folder=str(reading.near or ""),
                own=reading.folder is None,
                chosen=len(self.model.pinned | self.model.muted),
                typing=self.asking.open,
            ),
        )

    @property
    def moved_list(self) -> PacketList:
        """The moving keys move the list, whatever pane has the focus."""
        return self.list

    def show_footer(self) -> None:
        """The keys of what is open."""
        self.show_keys("packet_field" if self.asking.open else "packet")

    # messages

    @on(RowList.Moved)
    def _moved(self) -> None:
        self.showing.cursor_moved()

    @on(RowList.Opened)
    async def _opened(self) -> None:
        await self.action_act("packet_open")

    @on(BudgetLine.Chosen)
    def _chosen(self, message: BudgetLine.Chosen) -> None:
        self.budgeting.set_to(message.budget)

    @on(PromptBar.Typed)
    def _typed(self, message: PromptBar.Typed) -> None:
        self.asking.typed(message.text)

    @on(PromptBar.Taken)
    def _taken(self, message: PromptBar.Taken) -> None:
        self.asking.taken(message.text)

    @on(PromptBar.Left)
    def _left(self) -> None:
        self.asking.left()

    def on_descendant_focus(self) -> None:
        """The title of the pane with the focus stands out."""
        self.list_rule.focused(self.list.has_focus)
