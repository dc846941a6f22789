"""What an agent would get within a budget: sections, items with why, the packet itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer

from reviewer.engine import Engine
from reviewer.text.display import display_line
from reviewer.tui.actions import bindings_for
from reviewer.tui.keys.packet import About
from reviewer.tui.resting import Resting
from reviewer.tui.screens.moving import ListMoving
from reviewer.tui.screens.packet_asking import PacketAsking
from reviewer.tui.screens.packet_budgeting import Budgeting
from reviewer.tui.screens.packet_filter import PacketFilter
from reviewer.tui.screens.packet_looking import PacketLooking
from reviewer.tui.screens.packet_model import PacketModel
from reviewer.tui.screens.packet_reading import PacketReading
from reviewer.tui.screens.queue import COLUMNS, ROWS
from reviewer.tui.screens.reading import ReadingScreen
from reviewer.tui.situation import Situation
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.bars import FooterBar, HeaderBar, StatusBar, TabBar
from reviewer.tui.widgets.line import Separator, TitleRule
from reviewer.tui.widgets.packet_bars import SectionBars
from reviewer.tui.widgets.packet_budget import AboutLine, AboutWords, BudgetLine
from reviewer.tui.widgets.packet_list import PacketList
from reviewer.tui.widgets.packet_pane import PacketPane
from reviewer.tui.widgets.packet_prompt import PromptBar
from reviewer.tui.widgets.packet_text import compare_blocks, packet_blocks, row_of, why_blocks
from reviewer.tui.widgets.phrases import count
from reviewer.tui.widgets.row_list import RowList
from reviewer.tui.widgets.text_layout import Block
from reviewer.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from reviewer.storeless import Packet

WATCH_SECONDS = 2.0
FOLLOW_SECONDS = 0.02
"""The packet follows the budget after so long, so that a held key costs no frame of it."""
LAID_OUT_SECONDS = 0.05


class PacketScreen(ListMoving, ReadingScreen, inherit_bindings=False):
    """Lays the screen out and draws; what keys do is in the parts."""

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
        self.reading = PacketReading(self)
        self.budgeting = Budgeting(self)
        self.asking = PacketAsking(self)
        self.filtering = PacketFilter(self)
        self.looking = PacketLooking(self)
        self._follow: Timer | None = None
        self._resting = Resting(self, self._show_item)
        self._blocks: list[Block] = []

    def compose(self) -> ComposeResult:
        """Header and tabs, the budget, sections over items, why over the packet, keys."""
        header = HeaderBar(id="header")
        header.same_as(self.app.screen_stack[0].query_one(HeaderBar))
        yield header
        tabs = TabBar(id="tabs")
        tabs.current = "packet"
        yield tabs
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
        self._draw_above()
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
            zoomed=self.looking.zoomed,
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

    # drawing

    def show_packet(self, packet: Packet) -> None:
        """Show a packet."""
        self.model.show(packet)
        self.draw_all()

    def show_nothing(self) -> None:
        """The source cannot be read."""
        self.model.packet = self.model.kept = None
        self.model.rows.clear()
        self.model.cursor = 0
        self.draw_all()

    def draw_all(self) -> None:
        """Draw what stands above and the list at once, the packet right after."""
        self._draw_above()
        self.draw_list()
        if self._follow is None:
            self._follow = self.set_timer(FOLLOW_SECONDS, self._draw_text)

    def _draw_above(self) -> None:
        reading = self.reading
        self.budget_line.show(reading.budget)
        packet = self.model.packet
        problems = len(packet.problems) if packet else 0
        moment = packet.as_of if packet else None
        self.about_line.show(
            AboutWords(
                reading.task,
                f"{moment:%Y-%m-%d}" if moment else "today",
                display_line(reading.source_words),
                count(problems, "problem") if problems else "",
            )
        )

    def draw_list(self) -> None:
        """Draw the sections, the list and why its row is as it is."""
        self.list.empty = self._empty()
        self.bars.refresh()
        pair = self.model.smaller_larger
        arrow = "->" if glyphs(self.app).rule == "-" else "→"
        compared = f"{pair[0].budget:,} {arrow} {pair[1].budget:,}" if pair else ""
        self.bars_rule.show("Sections", compared or "used of at most")
        shown = f"{self.model.shown:,} shown" if self.model.filter else ""
        self.list_rule.show("Items", shown or compared, focused=self.list.has_focus)
        self.set_class(not self.model.rows and not self.model.filter, "-empty")
        self.list.rows_changed()
        self._draw_why()

    def _empty(self) -> tuple[str, ...]:
        reading = self.reading
        if not reading.was_read:
            return ("Reading ...",)
        if reading.trouble:
            return (reading.trouble, "O opens another folder, S goes to the other source.")
        if self.model.filter:
            return ("No item has these words.", "escape clears the filter.")
        if reading.folder is not None:
            return ("This folder says nothing yet.", "R reads it again, S goes to the store.")
        near = "S reads the .context folder here" if reading.near else "O opens a .context folder"
        return ("Nothing is active or trusted yet.", f"Promote candidates (F2), or {near}.")

    def _draw_why(self) -> None:
        title, blocks = why_blocks(self.model, glyphs(self.app))
        self.why.show(blocks, title=title)

    def _draw_text(self) -> None:
        self._follow = None
        packet, pair = self.model.packet, self.model.smaller_larger
        if packet is None:
            self.text.show([], title="Packet")
            return
        if pair is not None:
            self._blocks = []
            title = f"What {pair[1].budget - pair[0].budget:,} more tokens buy"
            self.text.show(compare_blocks(*pair, glyphs(self.app)), title=title)
            return
        self._blocks = packet_blocks(packet.markdown)
        self._show_text()

    def _show_text(self) -> None:
        """The packet, from the item under the cursor on where it stands in it."""
        packet, item = self.model.packet, self.model.item
        if packet is None or not self._blocks:
            return
        place = row_of(self._blocks, item) if item is not None else None
        self.text.show(
            self._blocks,
            title=f"Packet {glyphs(self.app).dot} {packet.tokens_used:,} tokens",
            hints=("y copy  W write", "y copy"),
            top=None if place is None else max(place - 1, 0),
            keep_scroll=True,
        )

    # messages

    @on(RowList.Moved)
    def _moved(self) -> None:
        self._resting.moved()

    def _show_item(self) -> None:
        """What stands beside the list about the item under the cursor."""
        self.bars.follow()
        self._draw_why()
        self._show_text()

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

    # keys

    def next_section(self) -> None:
        """To the next section."""
        self._to_section(1)

    def previous_section(self) -> None:
        """To the section before."""
        self._to_section(-1)

    def _to_section(self, step: int) -> None:
        index = self.model.next_section(step)
        if index is not None:
            self.list.move_to(index)
