"""The parts of the Packet screen: budget and task lines, the items, the packet as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.strip import Strip

from reviewer.packets.allocation import cap_percent
from reviewer.packets.values import Section
from reviewer.text.display import display_line
from reviewer.tui.kit.bars import ClickLine
from reviewer.tui.kit.line import BarLine, Part, cells_of, cut, line_of
from reviewer.tui.kit.row_list import ModelList, cursor_bar
from reviewer.tui.kit.text import Block
from reviewer.tui.packet import keys
from reviewer.tui.packet.model import PacketChoices, PacketModel, SectionRow
from reviewer.tui.theme import Glyphs, Palette, RowStyles

if TYPE_CHECKING:
    from reviewer.packets.values import PacketItem

STATES = {
    "full": ("full ", "in full"), "short": ("short", "in short"),
    "title": ("title", "as a title"), "dropped": ("drop ", "left out"),
}  # fmt: skip
"""How much of an item is shown: in a row, and in words."""
ROOMY = 46
"""Cells from which a row shows the score."""
CAPS = {
    "constitution": "Tier 1: always whole, whatever the budget is.",
    "tasks": f"Tier 2: open tasks in at most {cap_percent(Section.TASKS)} % of the budget, the"
    " newest first where not all fit, the rest as titles.",
    "conventions": "Tier 3: the first that fit into"
    f" {cap_percent(Section.CONVENTIONS)} % of the budget.",
    "decisions": "Tier 4: by score from what tiers 1 to 3 leave, shared with the learnings.",
    "learnings": "Tier 5: by score from what tiers 1 to 3 leave, shared with the decisions.",
}


class BudgetLine(ClickLine):
    """` budget < 8,000 >           used 7,991 · 41 full · 6 short · 18 title · 3 left out`."""

    def __init__(self, model: PacketModel) -> None:
        super().__init__(id="packet-budget")
        self._model = model
        self.budget = 0

    def show(self, budget: int) -> None:
        self.budget = budget
        self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The budget on the left; on the right used tokens and the number of items in each form."""
        left: list[Part] = [(" budget ", style.dim), ("< ", style.accent)]
        left += [(f"{self.budget:,}", style.strong), (" >", style.accent)]
        end = cells_of(left)
        self.spots = [(8, 10, keys.LESS.id), (end - 2, end, keys.MORE.id)]
        packet = self._model.packet
        if packet is None:
            return left, []
        used: list[Part] = [("used ", style.dim), (f"{packet.tokens_used:,} ", style.strong)]
        if packet.over_budget:
            over = f"{sign.attention} {packet.tier_1 - packet.budget:,} over: tier 1 needs that "
            return left, [[*used, (over, style.warm)], used]
        counts = [
            (state, sum(str(item.state) == state for item in packet.items)) for state in STATES
        ]
        words = [
            (f"{sign.dot} {number:,} {STATES[state][0].strip()} ", style.dim)
            for state, number in counts
            if number
        ]
        return left, [[*used, *words], used]


class AboutLine(BarLine):
    """` task "move the ledger"                              store: acme`."""

    def __init__(self) -> None:
        super().__init__(id="packet-about")
        self._words = self._source = self._more = ""

    def show(self, task: str, source: str, more: str) -> None:
        self._words, self._source, self._more = task, source, more
        self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The task on the left, the source on the right."""
        task = f'"{display_line(self._words)}"' if self._words else "none: what was needed most"
        task = cut(task, max(self.size.width // 2 - 8, 4), sign.ellipsis)
        left: list[Part] = [
            (" task   ", style.dim), (task, style.text if self._words else style.dim)
        ]  # fmt: skip
        source: list[Part] = [(f"{display_line(self._source)} ", style.text)]
        more: list[Part] = [(f"{sign.dot} {self._more} ", style.warm)] if self._more else []
        return left, [[*source, *more], source, []]


class PacketList(ModelList[PacketModel]):
    """Draws a `PacketModel` and moves its cursor."""

    choices = PacketChoices()

    @property
    def total(self) -> int:
        return len(self.model.rows)

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        row, here = self.model.rows[at], at == self.model.cursor
        on_row = style.on_row(here=here)
        parts = [cursor_bar(on_row, sign, here=here, focused=self.has_focus)]
        if isinstance(row, SectionRow):
            parts += _heading(row, on_row, sign)
        else:
            parts += self._item(row, width, on_row, sign)
        return line_of(parts, width, on_row.text, sign.ellipsis)

    def _item(self, item: PacketItem, width: int, style: RowStyles, sign: Glyphs) -> list[Part]:
        text, _, dim, accent, warm = style
        state = str(item.state)
        pinned, left_out = self.choices.pinned, self.choices.left_out
        chosen = sign.pinned if item.id in pinned else sign.skip if item.id in left_out else " "
        parts: list[Part] = [
            (chosen, warm),
            (f" {STATES[state][0]} ", {"full": accent, "dropped": warm}.get(state, text)),
        ]
        if width >= ROOMY:
            needs = item.full_tokens if state == "dropped" else item.tokens
            score = "    " if item.score is None else f"{item.score.total:.2f}"
            parts.append((f"{score} {needs or 0:>5,} ", dim))
        return [*parts, (display_line(item.title), dim if state == "dropped" else text)]


def _heading(row: SectionRow, style: RowStyles, sign: Glyphs) -> list[Part]:
    """`Tasks  2,940 of 3,200 tokens · 3 full, 2 short`."""
    words = [f"{row.counts[state]:,} {STATES[state][0].strip()}" for state in STATES
             if row.counts[state]]  # fmt: skip
    most = f" of {row.use.max_tokens:,}" if row.use.max_tokens is not None else ""
    return [
        (str(row.use.name).capitalize(), style.strong),
        (f"  {row.use.used:,}{most} tokens {sign.dot} {', '.join(words)}", style.dim),
    ]


def why_blocks(model: PacketModel, choices: PacketChoices, sign: Glyphs) -> tuple[str, list[Block]]:
    """Title and text about the row under the cursor."""
    row = model.current
    if row is None:
        return "Why", []
    if isinstance(row, SectionRow):
        name = str(row.use.name)
        return name.capitalize(), [Block(CAPS.get(name, ""), "text")]
    tokens = f"{row.tokens:,}"
    if row.full_tokens is not None and row.state != "full":
        tokens += f" of {row.full_tokens:,}"
    where = f"{row.place}" + (f" {sign.dot} {row.at:%Y-%m-%d}" if row.at else "")
    blocks = [
        Block(f"{STATES[str(row.state)][1]}, {tokens} tokens: {row.reason}", "strong"),
        *([Block(row.score_text, "text")] if row.score_text else []),
        Block(where, "dim", wrap=False),
    ]
    if row.id in choices.pinned:
        blocks.append(Block(f"pinned for this packet: {keys.PIN.key} again unpins it", "warm"))
    if row.id in choices.left_out:
        words = f"left out of this packet: {keys.LEAVE_OUT.key} again takes it in"
        blocks.append(Block(words, "warm"))
    return row.title, blocks


def packet_blocks(markdown: str) -> list[Block]:
    """The packet's text line by line."""
    return [Block(line, _style(line)) for line in markdown.rstrip("\n").split("\n")]


def _style(line: str) -> str:
    if line.startswith("#"):
        return "accent" if line.startswith(("# ", "## ")) else "strong"
    return "dim" if line == "Also noted:" else "text"


def row_of(blocks: Sequence[Block], item: PacketItem) -> int | None:
    """The line of the packet where an item begins."""
    wanted = item.shown.split("\n")
    texts = [block.text for block in blocks]
    for at, text in enumerate(texts):
        if item.shown and text == wanted[0] and texts[at : at + len(wanted)] == wanted:
            return at
    return None
