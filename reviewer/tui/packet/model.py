"""The Packet screen as values: items by section, a filter, a cursor, two budgets. No widget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewer.packets.values import Packet, PacketItem

BUDGETS = (
    0, 250, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000,
    32_000, 48_000, 64_000, 96_000, 128_000, 200_000,
)  # fmt: skip
FINE = 100
HIGHEST = 10**12
STATES = ("full", "short", "title", "dropped")


@dataclass(frozen=True)
class SectionRow:
    """The heading of a section, with the number of items in each form."""

    name: str
    counts: tuple[int, int, int, int]
    """Full, short, title, dropped."""


@dataclass(frozen=True)
class ItemRow:
    """An item; `before` is its form at the smaller budget while two are compared."""

    item: PacketItem
    before: PacketItem | None = None


Row = SectionRow | ItemRow


@dataclass
class PacketModel:
    """The packet of one budget, and that of another one beside it."""

    packet: Packet | None = None
    kept: Packet | None = None
    """The packet kept for comparison."""
    filter: str = ""
    cursor: int = 0
    rows: list[Row] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    """The searched text of each item of the present packet; made on demand."""
    _texts_of: Packet | None = None
    pinned: set[str] = field(default_factory=set)
    muted: set[str] = field(default_factory=set)

    @property
    def current(self) -> Row | None:
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    @property
    def item(self) -> PacketItem | None:
        row = self.current
        return row.item if isinstance(row, ItemRow) else None

    @property
    def section(self) -> str:
        row = self.current
        if isinstance(row, SectionRow):
            return row.name
        return str(row.item.section) if row is not None else ""

    @property
    def shown(self) -> int:
        """How many items the list shows."""
        return sum(isinstance(row, ItemRow) for row in self.rows)

    def show(self, packet: Packet) -> None:
        """Show another packet; the cursor stays on its item or section."""
        self.packet = packet
        self._build()

    def forget(self) -> None:
        """Show no packet."""
        self.packet = self.kept = None
        self.rows.clear()
        self.cursor = 0

    def filter_by(self, text: str) -> None:
        self.filter = text
        self._build()

    def compare(self, on: bool) -> None:
        """Keep the packet beside the next ones, or forget it."""
        self.kept = self.packet if on else None
        self._build()

    @property
    def smaller_larger(self) -> tuple[Packet, Packet] | None:
        """The two packets that are compared, by their budgets."""
        if self.packet is None or self.kept is None:
            return None
        if self.kept.budget <= self.packet.budget:
            return self.kept, self.packet
        return self.packet, self.kept

    def next_section(self, step: int) -> int | None:
        """The row of the next heading, or of the one before."""
        found = [at for at, row in enumerate(self.rows) if isinstance(row, SectionRow)]
        if step > 0:
            return next((at for at in found if at > self.cursor), None)
        return next((at for at in reversed(found) if at < self.cursor), None)

    def _matching(self, packet: Packet) -> Sequence[PacketItem]:
        if not self.filter.strip():
            return packet.items
        if self._texts_of is not packet:
            self._texts = [text_of(item) for item in packet.items]
            self._texts_of = packet
        pairs = zip(packet.items, self._texts, strict=True)
        return [item for item, text in pairs if matches(item, self.filter, text)]

    def _build(self) -> None:
        here = _key(self.current)
        pair = self.smaller_larger
        shown = pair[1] if pair else self.packet
        before = {item.id: item for item in pair[0].items} if pair else {}
        items = [] if shown is None else self._matching(shown)
        self.rows = list(_rows(items, before))
        keys = [_key(row) for row in self.rows]
        if here in keys:
            self.cursor = keys.index(here)
        self.cursor = max(0, min(self.cursor, len(self.rows) - 1))


def step_budget(budget: int, step: int) -> int:
    """The next step of the slider above (or below) a budget; beyond the last one, twice (or half)
    the budget.
    """
    if step > 0:
        above = next((value for value in BUDGETS if value > budget), budget * 2)
        return min(above, HIGHEST)
    below = next((value for value in reversed(BUDGETS) if value < budget), 0)
    return below if budget <= BUDGETS[-1] else max(budget // 2, below)


def text_of(item: PacketItem) -> str:
    """The text in which a filter looks for words."""
    return f"{item.title}\n{item.shown}\n{item.place}".lower()


def matches(item: PacketItem, words: str, text: str) -> bool:
    """Whether an item has all words of a filter: in its `text`, `state:x`, `in:section`.

    A minus before a word excludes items that have it.
    """
    return all(_has(item, word, text) for word in words.lower().split())


def _has(item: PacketItem, word: str, text: str) -> bool:
    if word.startswith("-") and len(word) > 1:
        return not _has(item, word[1:], text)
    name, colon, value = word.partition(":")
    if colon and name == "state":
        return str(item.state).startswith(value)
    if colon and name == "in":
        return str(item.section).startswith(value)
    return word in text


def _rows(items: Sequence[PacketItem], before: dict[str, PacketItem]) -> Iterator[Row]:
    section = ""
    counts = Counter((item.section, str(item.state)) for item in items)
    for item in items:
        if item.section != section:
            section = item.section
            full, short, title, dropped = (counts[section, state] for state in STATES)
            yield SectionRow(str(section), (full, short, title, dropped))
        yield ItemRow(item, before.get(item.id))


def _key(row: Row | None) -> str:
    if row is None:
        return ""
    return row.item.id if isinstance(row, ItemRow) else f"# {row.name}"
