"""How an item is written in a packet: in full, in short, as a title. Markdown without a last line
end, so that what is counted piece by piece is what the whole needs (`measuring.py`).
"""

from __future__ import annotations

from reviewer.packets.titles import LEAD_CHARS, cut, lead_of, title_of
from reviewer.packets.values import SCORED, Item

LONGEST_TITLE = 160
MUCH_SHORTER = 0.7
"""A short form of more than this share of the whole is none."""


def full_form(item: Item, *, marks: bool) -> str:
    """The whole item."""
    return _written(item, item.text, marks)


def short_form(item: Item, *, marks: bool) -> str | None:
    """The lead of an item; None where it says no more than the title, or hardly less than all."""
    if len(item.text) <= LEAD_CHARS and not item.heading:
        return None if item.text == item.title else _written(item, item.text, marks)
    lead = lead_of(item.text, item.title)
    if not lead or len(lead) > MUCH_SHORTER * len(item.text):
        return None
    return _written(item, lead, marks)


def title_form(item: Item, *, marks: bool) -> str:
    """One line that says that the item exists."""
    title = cut(item.title, LONGEST_TITLE) or title_of(item.text)
    return f"- {_date(item)}{title}{_mark(item, marks)}"


def _written(item: Item, text: str, marks: bool) -> str:
    if item.heading:
        head = f"### {_date(item)}{item.title}{_superseded(item)}{_mark(item, marks)}"
        return f"{head}\n\n{text}" if text else head
    first, *rest = text.split("\n")
    lines = [f"- {_date(item)}{first}", *(f"  {line}".rstrip() for line in rest)]
    if marks:
        lines[0 if len(lines) == 1 else -1] += _mark(item, marks)
    return "\n".join(lines)


def _date(item: Item) -> str:
    """The day of an entry that competes by score, which the reader should know too."""
    return f"[{item.at:%Y-%m-%d}] " if item.at and item.section in SCORED else ""


def _superseded(item: Item) -> str:
    return " (superseded)" if item.superseded else ""


def _mark(item: Item, marks: bool) -> str:
    return f" [{item.place}]" if marks else ""
