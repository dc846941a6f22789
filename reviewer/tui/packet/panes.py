"""The panes of the Packet screen: the head, the items, the packet as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from reviewer.packets.token_counts import ESTIMATE
from reviewer.packets.values import Rule, State
from reviewer.text.display import display_line
from reviewer.tui.kit.bars import clickable
from reviewer.tui.kit.line import Part
from reviewer.tui.kit.row_list import ModelList
from reviewer.tui.kit.text import TextBlock, count, cut
from reviewer.tui.packet import keys
from reviewer.tui.packet.model import NOT_SENT, PacketChoices, PacketModel, SectionRow, place_of
from reviewer.tui.theme import Glyphs, RowStyles, glyphs

if TYPE_CHECKING:
    from reviewer.packets.values import PacketItem

FORMS = {
    "full": "in full", "short": "in short", "title": "as a title", "dropped": "not sent",
}  # fmt: skip


class PacketHead(Static):
    """` budget < 8,000 >  used 7,991 · 65 in it · 3 not sent`
    ` task   "move the ledger" · memories of acme`.
    """

    def show(self, model: PacketModel, choices: PacketChoices, source: str, problems: int) -> None:
        packet = model.packet
        sign = glyphs(self.app)
        dot = (f" {sign.dot} ", "$dim")
        task = f'"{display_line(choices.task)}"' if choices.task else "none: most needed first"
        parts: list[Content | str | tuple[str, str]] = [
            ("budget ", "$dim"),
            clickable(Content.styled("< ", "$accent"), keys.LESS.id),
            (f"{choices.budget:,}", "bold"),
            clickable(Content.styled(" >", "$accent"), keys.MORE.id),
        ]
        if packet is not None and not packet.items:
            parts.append(("  empty: there is nothing to hand over", "$dim"))
        elif packet is not None:
            about = "about " if packet.counted_with == ESTIMATE else ""
            parts += [(f"  used {about}", "$dim"), (f"{packet.tokens_used:,}", "bold")]
        if packet is not None and packet.over_budget:
            over = f"{packet.tier_1 - packet.budget:,} over: the parts always included need it"
            parts.append((f" {sign.attention} {over}", "$warning"))
        elif packet is not None:
            left = len(packet.in_state(State.DROPPED))
            for number, words in ((len(packet.items) - left, "in it"), (left, NOT_SENT)):
                parts += [dot, (f"{number:,} {words}", "$dim")] if number else []
        parts += ["\n", ("task   ", "$dim"), cut(task, self.size.width // 2, sign.ellipsis)]
        parts += [dot, display_line(source)]
        if problems:
            parts += [dot, (count(problems, "problem"), "$warning")]
        self.update(Content.assemble(*parts), layout=False)


class PacketList(ModelList[PacketModel]):
    """Draws a `PacketModel` and moves its cursor."""

    @property
    def total(self) -> int:
        return len(self.model.rows)

    def row_parts(self, at: int, width: int, style: RowStyles, sign: Glyphs) -> list[Part]:
        item, (text, _, dim, _, warm) = self.model.rows[at], style
        if isinstance(item, SectionRow):
            return _heading(item, style)
        state, sent = str(item.state), item.state is not State.DROPPED
        parts: list[Part] = [(f"{sign.pinned} " if item.pinned else "  ", warm)]
        needs = item.tokens if sent else item.full_tokens
        parts.append((f"{f'{needs:,}' if needs else '':>5} ", dim))
        if state in ("short", "title"):
            parts.append((f"{FORMS[state]}: ", dim))
        return [*parts, (display_line(item.words), text if sent else dim)]


def _heading(row: SectionRow, style: RowStyles) -> list[Part]:
    """`Tasks  3, 2,940 tokens`; `Not sent  2`."""
    tokens = f", {row.tokens:,} tokens" if row.tokens else ""
    return [(row.name.capitalize(), style.strong), (f"  {row.items:,}{tokens}", style.dim)]


def why_blocks(model: PacketModel, sign: Glyphs, use: str) -> tuple[str, list[TextBlock]]:
    """Title and text about the item under the cursor; `use`: of a memory, in words."""
    row = model.current
    if row is None or isinstance(row, SectionRow):
        words = (
            "In each section pinned items come first, then those of most sessions, then the newest."
            " With a task, one memory in four is the best fit to it."
        )
        return "Why", [TextBlock(words, "text")] if row and model.of_memories else []
    tokens = f"{row.tokens:,}"
    if row.full_tokens is not None and row.state != "full":
        tokens += f" of {row.full_tokens:,}"
    where = place_of(row) + (f" {sign.dot} {row.at:%Y-%m-%d}" if row.at else "")
    reason = "" if row.rule in (Rule.IN_ORDER, Rule.ALL_FIT) else f": {row.reason}"
    blocks = [
        TextBlock(f"{FORMS[str(row.state)]}, {tokens} tokens{reason}", "strong"),
        *([TextBlock(row.score_text, "text")] if row.score_text else []),
        *([TextBlock(use, "text")] if use else []),
        TextBlock(where, "dim", wrap=False),
    ]
    if row.pinned:
        blocks.append(TextBlock(f"pinned: {keys.PIN.key} again unpins it", "warm"))
    return row.words, blocks


def packet_blocks(markdown: str) -> list[TextBlock]:
    """The text of the packet, one block a line."""
    return [TextBlock(line, _style(line)) for line in markdown.rstrip("\n").split("\n")]


def _style(line: str) -> str:
    if line.startswith("#"):
        return "accent" if line.startswith(("# ", "## ")) else "strong"
    return "dim" if line == "Also noted:" else "text"


def row_of(blocks: Sequence[TextBlock], item: PacketItem) -> int | None:
    """The first line of an item in the packet."""
    wanted = item.shown.split("\n")
    texts = [block.text for block in blocks]
    for at, text in enumerate(texts):
        if item.shown and text == wanted[0] and texts[at : at + len(wanted)] == wanted:
            return at
    return None
