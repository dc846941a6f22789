"""What the Packet screen says in words: why an item is as it is, the packet, two budgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reviewer.tui.kit.text import Block, Run, count
from reviewer.tui.screens.packet_model import ItemRow, PacketModel, SectionRow
from reviewer.tui.theme import Glyphs

if TYPE_CHECKING:
    from reviewer.storeless import Packet, PacketItem

CAPS = {
    "constitution": "Tier 1: always whole, whatever the budget is.",
    "tasks": "Tier 2: open tasks in at most 40 % of the budget, the newest first where not all"
    " fit, the rest as titles.",
    "conventions": "Tier 3: the first that fit into 20 % of the budget.",
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
    rule, _, score = item.why.partition("; ")
    tokens = f"{item.tokens:,}"
    if item.full_tokens is not None and item.state != "full":
        tokens += f" of {item.full_tokens:,}"
    blocks = [
        Block(f"{STATE_WORDS[item.state]}, {tokens} tokens: {rule}", "strong"),
    ]
    if score:
        blocks.append(Block(score, "text"))
    where = f"{item.place}" + (f" {sign.dot} {item.at:%Y-%m-%d}" if item.at else "")
    blocks.append(Block(where, "dim", wrap=False))
    if item.id in model.pinned:
        blocks.append(Block("pinned for this packet: P takes that back", "warm"))
    if item.id in model.muted:
        blocks.append(Block("muted for this packet: m takes that back", "warm"))
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
    """What the tokens of the larger budget buy, and what becomes of its text."""
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
        yield Block("nothing: both show the same", "dim")
    arrow = "->" if sign.rule == "-" else "→"
    for old, new in changed:
        worse = new.tokens < old.tokens
        head = f"{new.tokens - old.tokens:+,} "
        yield Block(
            f"{old.state} {arrow} {new.state}  {new.title}",
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
