"""The parts of the Packet screen: budget and task lines, section bars, items, the packet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from reviewer.packets.allocation import cap_percent
from reviewer.packets.values import Section
from reviewer.text.display import display_line
from reviewer.tui.kit.actor import Actor, runs
from reviewer.tui.kit.edit_pane import Field
from reviewer.tui.kit.line import BarLine, Part, cells_of, line_of
from reviewer.tui.kit.row_list import ModelList, cursor_bar
from reviewer.tui.kit.text import Block, Line, Run, count, fit, lay_out
from reviewer.tui.kit.text_pane import HEADER_ROWS, TextPane
from reviewer.tui.packet import keys
from reviewer.tui.packet.model import (
    BUDGETS,
    STATES,
    ItemRow,
    PacketModel,
    SectionRow,
    step_budget,
)
from reviewer.tui.theme import Glyphs, Palette, RowStyles, glyphs, palette

if TYPE_CHECKING:
    from reviewer.packets.values import Packet, PacketItem

# the lines above

SLIDER_CELLS = 22
NARROW_SLIDER = 10
NARROW = 90


class BudgetLine(BarLine):
    """` budget ◀ ━━━━●──── 8,000 ▶  used 7,991 · full 41 · short 6 · titles 18 · dropped 3`."""

    class Chosen(Message):
        """A place of the slider or one of its arrows was clicked."""

        def __init__(self, budget: int) -> None:
            super().__init__()
            self.budget = budget

    def __init__(self, model: PacketModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._model = model
        self.budget = BUDGETS[0]
        self._from = 0
        self._cells = SLIDER_CELLS
        self._less = self._more = range(0)
        """The columns of the arrows."""

    def show(self, budget: int) -> None:
        """Show a budget and the numbers of its packet."""
        self.budget = budget
        self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The slider on the left; on the right used tokens and the number of items in each form."""
        plain = sign.ascii
        self._cells = SLIDER_CELLS if self.size.width >= NARROW else NARROW_SLIDER
        at = place_of(self.budget, self._cells)
        knob, before, after = ("o", "=", "-") if plain else ("●", "━", "─")
        parts: list[Part] = [
            (" budget ", style.dim),
            ("< " if plain else "◀ ", style.accent),
        ]
        self._from = cells_of(parts)
        parts += [
            (before * at, style.accent),
            (knob, style.strong),
            (after * (self._cells - 1 - at), style.rule),
            (f" {self.budget:,}", style.strong),
            (" >" if plain else " ▶", style.accent),
        ]
        end = cells_of(parts)
        self._less, self._more = range(self._from - 2, self._from), range(end - 2, end)
        return parts, self._figures(style, sign)

    def _figures(self, style: Palette, sign: Glyphs) -> list[list[Part]]:
        packet = self._model.packet
        if packet is None:
            return [[]]
        used: list[Part] = [("used ", style.dim), (f"{packet.tokens_used:,}", style.strong)]
        if packet.over_budget:
            over = packet.tier_1 - packet.budget
            used += [(f"  {sign.attention} {over:,} over: tier 1 alone needs that", style.warm)]
            return [[*used, (" ", style.text)], used[:2]]
        counts = dict.fromkeys(STATES, 0)
        for item in packet.items:
            counts[str(item.state)] += 1
        words = {"full": "full", "short": "short", "title": "titles", "dropped": "dropped"}
        brief = list(used)
        for state, word in words.items():
            how = style.warm if state == "dropped" and counts[state] else style.text
            used += [(f" {sign.dot} {word} ", style.dim), (f"{counts[state]:,}", how)]
            if counts[state]:
                brief += [(f" {sign.dot} ", style.dim), (f"{counts[state]:,}", how)]
                brief.append((f" {word}", style.dim))
        end: Part = (" ", style.text)
        return [[*used, end], [*brief, end], [*brief[:2], end]]

    def on_click(self, event: events.Click) -> None:
        """Take the budget at the clicked place of the slider; the arrows go one step."""
        at = event.x - self._from
        if event.x in self._less:
            budget = step_budget(self.budget, -1)
        elif event.x in self._more:
            budget = step_budget(self.budget, 1)
        elif 0 <= at < self._cells:
            budget = budget_at(at, self._cells)
        else:
            return
        event.stop()
        self.post_message(self.Chosen(budget))


class AboutWords(Struct, frozen=True):
    """The task and source of a packet, in words."""

    task: str = ""
    date: str = ""
    source: str = ""
    more: str = ""


class AboutLine(BarLine):
    """` task "move the ledger" · as of 2026-07-26 · acme/.context`."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._about = AboutWords()

    def show(self, about: AboutWords) -> None:
        self._about = about
        self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The task on the left, date and source on the right."""
        about = self._about
        task = f'"{display_line(about.task)}"' if about.task else "the open tasks"
        left: list[Part] = [
            (" task   ", style.dim),
            (task, style.text if about.task else style.dim),
        ]
        date: list[Part] = [("as of ", style.dim), (about.date, style.text)]
        source: list[Part] = [(f" {sign.dot} ", style.dim), (about.source, style.text)]
        more: list[Part] = [(f" {sign.dot} {about.more}", style.warm)] if about.more else []
        end: list[Part] = [(" ", style.text)]
        if cells_of(left) > self.size.width // 2:
            left = [
                *left[:1],
                (fit(task, max(self.size.width // 2 - 8, 4), sign.ellipsis), style.text),
            ]
        return left, [[*date, *source, *more, *end], [*date, *source, *end], [*date, *end], []]


def place_of(budget: int, cells: int) -> int:
    """The cell of a slider for a budget; the steps are evenly spaced."""
    if budget >= BUDGETS[-1]:
        return cells - 1
    above = next(at for at, value in enumerate(BUDGETS) if value > budget)
    low, high = BUDGETS[above - 1], BUDGETS[above]
    part = log((budget - low) / (high - low) + 1, 2)
    return min(round((above - 1 + part) * (cells - 1) / (len(BUDGETS) - 1)), cells - 1)


def budget_at(cell: int, cells: int) -> int:
    """The step of the slider at a cell."""
    return BUDGETS[round(cell * (len(BUDGETS) - 1) / max(cells - 1, 1))]


# sections

NAME_CELLS = 14
FIGURE_CELLS = 17
EIGHTHS = " ▏▎▍▌▋▊▉█"
FRAME = ("instruction", "read order")
"""Sections that are shown as one: everything before the items."""


@dataclass(frozen=True)
class Bar:
    """One section: tokens used, its cap (None for none), and tokens of the smaller budget."""

    name: str
    used: int
    cap: int | None
    before: int | None = None


def bars_of(packet: Packet, smaller: Packet | None = None) -> list[Bar]:
    """The bars of a packet; the reading order counts with the instruction."""
    before = {str(each.name): each.used for each in smaller.sections} if smaller else {}
    frame = sum(each.used for each in packet.sections if each.name in FRAME)
    bars = [
        Bar(
            "instruction",
            frame,
            None,
            sum(before.get(name, 0) for name in FRAME) if before else None,
        )
    ]
    for each in packet.sections:
        if each.name not in FRAME:
            name = str(each.name)
            bars.append(Bar(name, each.used, each.max_tokens, before.get(name)))
    return bars


class SectionBars(Widget):
    """A row for each section."""

    DEFAULT_CSS = "SectionBars { height: 6; width: 1fr; }"

    def __init__(self, model: PacketModel, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._model = model
        self._shown = ""

    def restyle(self) -> None:
        self.refresh()

    def follow(self) -> None:
        """Draw again when the cursor has gone to another section."""
        if self._model.section != self._shown:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        style, sign = palette(self.app), glyphs(self.app)
        packet, pair = self._model.packet, self._model.smaller_larger
        if packet is None:
            return Strip.blank(self.size.width, style.text)
        bars = bars_of(pair[1], pair[0]) if pair else bars_of(packet)
        # as many columns as the visible rows need
        columns = -(-len(bars) // max(self.size.height, 1))
        name = self._shown = self._model.section
        scale = max(packet.budget, packet.tokens_used, 1)
        parts: list[Part] = []
        for at in range(y * columns, min((y + 1) * columns, len(bars))):
            width = self.size.width // columns
            here_too = bars[at].name == name
            parts += bar_parts(bars[at], width, scale, style, sign, here=here_too)
        return line_of(parts, self.size.width, style.text, sign.ellipsis)


def bar_parts(
    bar: Bar, width: int, scale: int, style: Palette, sign: Glyphs, *, here: bool
) -> list[Part]:
    """Name, bar and figures: ` tasks  ████████▏··  2,940/3,200`.

    The bar is drawn against the cap, or against `scale` where there is no cap.
    """
    room = max(width - NAME_CELLS - FIGURE_CELLS, 0)
    whole = bar.cap if bar.cap is not None else scale
    share = min(bar.used / whole, 1.0) if whole else 0.0
    filled, rest = _drawn_bar(share, room, sign)
    figures = f"{bar.used:,}" if bar.cap is None else f"{bar.used:,}/{_thousands(bar.cap)}"
    if bar.before is not None:
        figures = f"{bar.before:,} +{bar.used - bar.before:,}"
        if bar.used < bar.before:
            figures = f"{bar.before:,} -{bar.before - bar.used:,}"
    full = bar.cap is not None and bar.used >= 0.95 * bar.cap > 0
    colour: Style = style.warm if full else style.accent
    return [
        (f" {bar.name:<{NAME_CELLS - 1}}", style.strong if here else style.dim),
        (filled, colour),
        (rest, style.rule),
        (f"{figures:>{FIGURE_CELLS - 1}} ", style.text),
    ]


def _drawn_bar(share: float, room: int, sign: Glyphs) -> tuple[str, str]:
    if sign.ascii:
        cells = round(share * room)
        return "#" * cells, "." * (room - cells)
    eighths = round(share * room * 8)
    filled = "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")
    return filled, "·" * (room - len(filled))


def _thousands(number: int) -> str:
    return f"{number:,}" if number < 10_000_000 else f"{number:.0e}"


# items

STATE_CELLS = {"full": "full ", "short": "short", "title": "title", "dropped": "drop "}
ROOMY = 46


class PacketList(ModelList[PacketModel]):
    """Draws a `PacketModel` and moves its cursor."""

    @property
    def total(self) -> int:
        return len(self.model.rows)

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        row, here = self.model.rows[at], at == self.model.cursor
        on_row = style.on_row(here=here)
        parts = [cursor_bar(on_row, sign, here=here, focused=self.has_focus)]
        if isinstance(row, SectionRow):
            parts += self._heading(row, on_row, sign)
        else:
            parts += self._item(row, width, on_row, sign)
        return line_of(parts, width, on_row.text, sign.ellipsis)

    def _heading(self, row: SectionRow, style: RowStyles, sign: Glyphs) -> list[Part]:
        words = [
            f"{number:,} {word.strip()}"
            for number, word in zip(row.counts, STATE_CELLS.values(), strict=True)
            if number
        ]
        return [
            (row.name.capitalize(), style.strong),
            (f" {sign.dot} {', '.join(words)}", style.dim),
        ]

    def _item(self, row: ItemRow, width: int, style: RowStyles, sign: Glyphs) -> list[Part]:
        item = row.item
        text, _, dim, accent, warm = style
        chosen = " "
        if item.id in self.model.pinned:
            chosen = sign.pinned
        elif item.id in self.model.muted:
            chosen = sign.skip
        parts: list[Part] = [(chosen, warm)]
        if row.before is not None and row.before.state != item.state:
            parts += [
                (f"{state_sign(row.before, sign)}{STATE_CELLS[row.before.state]}", dim),
                (sign.arrow[-1], accent),
                (f"{state_sign(item, sign)}{STATE_CELLS[item.state]} ", accent),
            ]
        else:
            how = {"full": accent, "dropped": warm}.get(str(item.state), text)
            parts.append((f"{state_sign(item, sign)} {STATE_CELLS[item.state]} ", how))
            if width >= ROOMY:
                score = "    " if item.score is None else f"{item.score.total:.2f}"
                parts.append((f"{score} ", dim))
        if width >= ROOMY:
            needs = item.full_tokens if item.state == "dropped" else item.tokens
            parts.append((f"{needs or 0:>5,} ", dim))
        shown = dim if item.state == "dropped" else text
        room = width - cells_of(parts) - 2
        title = line_of([(display_line(item.title), shown)], max(room, 4), shown, sign.ellipsis)
        return [*parts, *((segment.text, segment.style or shown) for segment in title)]


def state_sign(item: PacketItem, sign: Glyphs) -> str:
    """The sign of how much of an item is shown."""
    signs = (sign.shades[0], sign.shades[1], sign.shades[3], sign.rejected)
    return signs[STATES.index(str(item.state))]


# the packet as text

MOST_KEPT = 20_000
"""Laid-out lines that are cached."""


class PacketPane(TextPane):
    """A pane of text that reuses the blocks that did not change."""

    def __init__(self, *, title: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(title=title, id=id)
        self._laid_out: dict[Block, tuple[Line, ...]] = {}
        self._laid_out_for = (0, "")

    def _arrange(self) -> None:
        width, ellipsis = self.size.width - 1, glyphs(self.app).ellipsis
        if width <= 0:
            return
        if self._laid_out_for != (width, ellipsis) or len(self._laid_out) > MOST_KEPT:
            self._laid_out_for = (width, ellipsis)
            self._laid_out.clear()
        lines: list[Line] = []
        for index, block in enumerate(self._blocks):
            laid_out = self._laid_out.get(block)
            if laid_out is None:
                laid_out = self._laid_out[block] = lay_out([block], width, ellipsis)
            lines += [Line(line.runs, index, line.marked) for line in laid_out]
        self._lines = tuple(lines)
        self.set_reactive(ScrollView.virtual_size, Size(self.size.width, len(lines) + HEADER_ROWS))


CAPS = {
    "constitution": "Tier 1: always whole, whatever the budget is.",
    "tasks": f"Tier 2: open tasks in at most {cap_percent(Section.TASKS)} % of the budget, the"
    " newest first where not all fit, the rest as titles.",
    "conventions": "Tier 3: the first that fit into"
    f" {cap_percent(Section.CONVENTIONS)} % of the budget.",
    "decisions": "Tier 4: by score from what tiers 1 to 3 leave, shared with the learnings.",
    "learnings": "Tier 5: by score from what tiers 1 to 3 leave, shared with the decisions.",
}
STATE_WORDS = {
    "full": "in full", "short": "in short", "title": "as a title", "dropped": "left out",
}  # fmt: skip


def why_blocks(model: PacketModel, sign: Glyphs) -> tuple[str, list[Block]]:
    """Title and text about the row under the cursor."""
    row = model.current
    if isinstance(row, SectionRow):
        return row.name.capitalize(), [Block(CAPS.get(row.name, ""), "text")]
    if not isinstance(row, ItemRow):
        return "Why", []
    item = row.item
    tokens = f"{item.tokens:,}"
    if item.full_tokens is not None and item.state != "full":
        tokens += f" of {item.full_tokens:,}"
    blocks = [
        Block(f"{STATE_WORDS[item.state]}, {tokens} tokens: {item.reason}", "strong"),
    ]
    if item.score_text:
        blocks.append(Block(item.score_text, "text"))
    where = f"{item.place}" + (f" {sign.dot} {item.at:%Y-%m-%d}" if item.at else "")
    blocks.append(Block(where, "dim", wrap=False))
    if item.id in model.pinned:
        blocks.append(Block(f"pinned for this packet: {keys.PIN.key} again unpins it", "warm"))
    if item.id in model.muted:
        blocks.append(Block(f"muted for this packet: {keys.MUTE.key} again unmutes it", "warm"))
    if row.before is not None and row.before.state != item.state:
        words = f"{STATE_WORDS[row.before.state]} with the smaller budget"
        blocks.append(Block(words, "accent"))
    return item.title, blocks


def packet_blocks(markdown: str) -> list[Block]:
    """The packet's text line by line."""
    return [Block(line, _style(line)) for line in markdown.rstrip("\n").split("\n")]


def row_of(blocks: Sequence[Block], item: PacketItem) -> int | None:
    """The line of the packet where an item begins."""
    if not item.shown:
        return None
    wanted = item.shown.split("\n")
    texts = [block.text for block in blocks]
    first = wanted[0]
    for at, text in enumerate(texts):
        if text == first and texts[at : at + len(wanted)] == wanted:
            return at
    return None


def compare_blocks(smaller: Packet, larger: Packet, sign: Glyphs) -> list[Block]:
    """The gain of the larger budget, and the change of its text."""
    more = larger.tokens_used - smaller.tokens_used
    return [Block(f"{count(more, 'token')} more buy:", "strong"), *_bought(smaller, larger, sign)]


def _bought(smaller: Packet, larger: Packet, sign: Glyphs) -> Iterator[Block]:
    before = {item.id: item for item in smaller.items}
    changed = [
        (before[item.id], item)
        for item in larger.items
        if item.id in before and before[item.id].state != item.state
    ]
    if not changed:
        yield Block("no difference: both show the same", "dim")
    for old, new in changed:
        worse = new.tokens < old.tokens
        head = f"{new.tokens - old.tokens:+,} "
        yield Block(
            f"{old.state} {sign.arrow} {new.state}  {new.title}",
            "warm" if worse else "accent",
            first=(Run(f"{head:>8}", "dim"),),
            wrap=False,
        )
        if new.state in ("full", "short") and new.shown:
            for line in new.shown.split("\n")[1:]:
                if line.strip():
                    yield Block(line, "dim", first=(Run(" " * 8),))


def _style(line: str) -> str:
    if line.startswith("#"):
        return "accent" if line.startswith(("# ", "## ")) else "strong"
    return "dim" if line == "Also noted:" else "text"


# typing

PROMPT_CELLS = 9


class PromptName(BarLine):
    """The name before the field."""

    DEFAULT_CSS = f"PromptName {{ width: {PROMPT_CELLS}; }}"

    def __init__(self) -> None:
        super().__init__()
        self._words = ""

    def show(self, words: str) -> None:
        """Show the name of a question."""
        self._words = words
        self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        return [(f" {self._words} ", style.accent)], []


class PromptBar(Actor, Horizontal, pane=keys.FIELD):
    """Opens for one question at a time; posts every change, the entered text, and leaving."""

    DEFAULT_CSS = """
    PromptBar { height: 1; display: none; }
    PromptBar.-open { display: block; }
    """

    class Typed(Message):
        """The text changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Taken(Message):
        """Enter was pressed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The field was left with escape."""

    def compose(self) -> ComposeResult:
        yield PromptName()
        yield Field(id="packet-field")

    @property
    def field(self) -> Field:
        return self.query_one(Field)

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def open(self, name: str, text: str, placeholder: str) -> None:
        """Ask a question; `text` is filled in and selected, so that typing replaces it."""
        self.query_one(PromptName).show(name)
        self.add_class("-open")
        field = self.field
        field.placeholder = placeholder
        with field.prevent(Field.Changed):
            field.fill(text)
            field.select_all()
        field.focus(scroll_visible=False)

    def close(self) -> None:
        """Put the field away."""
        self.remove_class("-open")

    @runs(keys.LEAVE_FIELD)
    def leave(self) -> None:
        self.post_message(self.Left())

    @on(Field.Changed)
    def _changed(self, event: Field.Changed) -> None:
        event.stop()
        if self.is_open:
            self.post_message(self.Typed(self.field.value))

    @on(Field.Entered)
    def _entered(self, event: Field.Entered) -> None:
        event.stop()
        self.post_message(self.Taken(self.field.value))
