"""What an act changed, as blocks: each row with the fields that differ."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer.engine import ActView, ChangeView
from reviewer.tui.theme import Glyphs
from reviewer.tui.widgets.phrases import count, moment
from reviewer.tui.widgets.text_layout import Block, Run, Span

VALUE_CHARACTERS = 300
FIELD_CELLS = 15
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
STATUS_WORDS = {
    "candidate": "waiting",
    "active": "promoted",
    "invalid": "rejected",
    "superseded": "merged",
}
"""Statuses as the queue calls them."""
_QUIET = {"key", "project_id", "wave_id"}
"""Columns that say nothing to a person beside the others."""


def act_blocks(act: ActView, changes: Sequence[ChangeView], signs: Glyphs) -> list[Block]:
    """Title, when and by whom, then every row that was changed."""
    about = f" {signs.dot} ".join(
        part
        for part in (
            moment(act.at),
            f"by {act.actor}",
            count(act.rows, "row"),
            f"of act {act.target}" if act.target else "",
            f"{signs.rejected} undone since" if act.undone else "",
        )
        if part
    )
    margin = (Run(" "),)
    blocks = [Block(act.title, "strong", first=margin), Block(about, "dim", first=margin)]
    for change in changes:
        blocks += _change(change, signs)
    if len(changes) < act.rows:
        blocks.append(Block(""))
        blocks.append(Block(f"and {count(act.rows - len(changes), 'row')} more", "faint"))
    return blocks


def _change(change: ChangeView, signs: Glyphs) -> list[Block]:
    what = {True: "new", False: "changed"}[change.before is None]
    if change.after is None:
        what = "removed"
    head = f"{change.table} #{change.row} {what}"
    label = f"  {_short(change.label)}" if change.label else ""
    spans = (Span(0, len(head), "accent"),)
    blocks = [Block(""), Block(head + label, "text", spans, first=(Run(" "),))]
    before, after = change.before or {}, change.after or {}
    if change.before is None or change.after is None:
        return blocks
    for name in after:
        old, new = before.get(name), after.get(name)
        if old == new or name in _QUIET:
            continue
        if name == "status" and change.table in ("memory", "entity"):
            old, new = (STATUS_WORDS.get(str(value), value) for value in (old, new))
        blocks.append(_field(name.replace("_", " "), old, new))
    return blocks


def _field(name: str, old: object, new: object) -> Block:
    was, now = _value(old), _value(new)
    arrow = " -> "
    text = f"{was}{arrow}{now}"
    spans = (
        Span(0, len(was), "removed"),
        Span(len(was) + len(arrow), len(text), "added"),
    )
    return Block(text, "dim", spans, first=(Run(f"   {name.ljust(FIELD_CELLS)} ", "faint"),))


def _value(value: object) -> str:
    if value is None:
        return "none"
    text = _short(str(value)) or "empty"
    return moment(text) if _ISO.fullmatch(text) else text


def _short(text: str) -> str:
    text = " ".join(text[: 4 * VALUE_CHARACTERS].split())
    return text if len(text) <= VALUE_CHARACTERS else f"{text[:VALUE_CHARACTERS]}…"
