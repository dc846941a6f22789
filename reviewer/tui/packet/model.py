"""The Packet screen without widgets: the person's choices, and items by section."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.agents.recalled import START_TOKENS
from reviewer.packets.service import DISPUTED, PLANTED
from reviewer.packets.values import PacketItem, Problem, Rule, Section, State
from reviewer.text.for_agents import NOTHING
from reviewer.tui.kit.row_model import has_words
from reviewer.tui.memory.keys import TAKE_OUT

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.packets.values import Packet

BUDGETS = (
    250, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000,
    32_000, 48_000, 64_000, 96_000, 128_000, 200_000,
)  # fmt: skip


class PacketSource(Struct, frozen=True):
    """A .context folder, or None for the store."""

    folder: Path | None = None


class PacketChoices(Struct, frozen=True):
    """Choices on the Packet screen."""

    source: PacketSource | None = None
    """None for the command line's default source."""
    task: str = ""
    budget: int = START_TOKENS


NOT_SENT, LEFT_OUT = "not sent", "in no packet"
"""The headings above the items without room, and above the memories that are in no packet."""


@dataclass(frozen=True)
class SectionRow:
    """The heading of a section, or of items that are not sent, with their tokens and number."""

    name: str
    tokens: int
    items: int


if TYPE_CHECKING:
    Row = SectionRow | PacketItem


class PacketModel:
    """The items of a packet that match a filter, by section, and a cursor."""

    def __init__(self) -> None:
        self.packet: Packet | None = None
        self.filter = ""
        self.cursor = 0
        self.rows: list[Row] = []
        self.left_out: list[PacketItem] = []
        """The memories that are in no packet."""

    @property
    def of_memories(self) -> bool:
        """Whether it is made of the store's memories, not of a folder."""
        return self.packet is not None and any(e.id.startswith("m:") for e in self.packet.items)

    @property
    def current(self) -> Row | None:
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    @property
    def item(self) -> PacketItem | None:
        row = self.current
        return None if isinstance(row, SectionRow) else row

    def go_to(self, ids: Collection[str]) -> None:
        """Put the cursor on the first listed of some items."""
        listed = (at for at, row in enumerate(self.rows) if _key(row) in ids)
        self.cursor = next(listed, self.cursor)

    def show(self, packet: Packet | None, words: str = "") -> None:
        """Show a filtered packet; the cursor stays on its item or section."""
        here = _key(self.current)
        self.packet, self.filter = packet, words
        self.rows = list(_rows(packet, self.left_out, words)) if packet is not None else []
        keys = [_key(row) for row in self.rows]
        self.cursor = keys.index(here) if here in keys else min(self.cursor, len(keys) - 1)
        self.cursor = max(self.cursor, 0)


def step_budget(budget: int, step: int) -> int:
    """The next step above or below a budget; beyond the steps, double or half."""
    if step > 0:
        return next((value for value in BUDGETS if value > budget), budget * 2)
    below = next((value for value in reversed(BUDGETS) if value < budget), min(BUDGETS[0], budget))
    return below if budget <= BUDGETS[-1] else max(budget // 2, below)


def matches(item: PacketItem, words: str) -> bool:
    """Whether an item matches a filter."""
    place = f"{item.place}\n{place_of(item)}"
    return has_words(f"{item.words}\n{item.shown}\n{place}\n{item.section}\n{item.state}", words)


def place_of(item: PacketItem) -> str:
    """The number of a memory, the file and line of an entry."""
    kind, _, number = item.place.rpartition(":")
    return {"m": f"#{number}", "s": "trusted state"}.get(kind, item.place)


def _rows(packet: Packet, left_out: Sequence[PacketItem], words: str) -> Iterator[Row]:
    dropped = packet.in_state(State.DROPPED)
    sent = (item for item in packet.items if item.state is not State.DROPPED)
    for name, items in (
        *((str(name), list(found)) for name, found in groupby(sent, lambda item: item.section)),
        (NOT_SENT, dropped),
        (LEFT_OUT, left_out),
    ):
        shown = [each for each in items if matches(each, words)]
        if shown:
            yield SectionRow(name, sum(each.tokens for each in items), len(items))
            yield from shown


def in_no_packet(
    engine: Engine, project: str | None, problems: Sequence[Problem]
) -> list[PacketItem]:
    """The memories that are in no packet, with the reason."""
    by_hand = f"you left it out of packets; {TAKE_OUT.key} puts it in again"
    reasons = dict.fromkeys(engine.recall.left_out(project), by_hand)
    for each in problems:
        if each.what in (PLANTED, DISPUTED):
            reasons[int(each.file.removeprefix("m:"))] = each.what
    return [
        PacketItem(
            id=f"out:{row.id}",
            section=Section.LEARNINGS,
            state=State.DROPPED,
            title=row.content,
            shown=NOTHING,
            tokens=0,
            full_tokens=None,
            score=None,
            place=f"m:{row.id}",
            at=None,
            rule=Rule.LEFT_OUT,
            reason=reasons[row.id],
            score_text="",
            words=row.content,
        )
        for row in engine.queue.rows(sorted(reasons))
    ]


def _key(row: Row | None) -> str:
    if row is None:
        return ""
    return f"# {row.name}" if isinstance(row, SectionRow) else row.id
