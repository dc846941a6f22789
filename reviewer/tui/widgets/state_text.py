"""A key of trusted state as blocks: its value, note and evidence, and what held before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from reviewer.tui.kit.text import Block, Run, Span, elapsed, moment
from reviewer.tui.theme import Glyphs
from reviewer.tui.widgets.structure_text import labelled

if TYPE_CHECKING:
    from reviewer.engine import StateView


def state_title(state: StateView) -> str:
    """`db_engine  trusted state`."""
    return f"{state.key}  trusted state"


def state_blocks(
    values: Sequence[StateView], signs: Glyphs, earlier: int, *, now: datetime
) -> list[Block]:
    """What holds, then up to `earlier` values that held before, newest first."""
    held = values[0]
    blocks = [Block(held.value, "text", first=(Run(" "),)), Block("")]
    if held.ended_at is not None:
        ended = f"{signs.rejected} unset {moment(held.ended_at)}"
        blocks.append(labelled("status", ended, "warm"))
    when = f"by hand, {elapsed(held.set_at, now)} ago ({moment(held.set_at)})"
    blocks.append(labelled("set", when))
    if held.note:
        blocks.append(labelled("note", held.note))
    blocks.append(labelled("evidence", held.evidence or "none was named"))
    blocks.append(labelled("project", held.project))
    past = values[1:]
    for place, value in enumerate(past[:earlier]):
        until = f"  until {moment(value.ended_at)}"
        text = f"{' '.join(value.value.split())}{until}"
        spans = (Span(len(text) - len(until), len(text), "faint"),)
        blocks.append(labelled(f"{signs.edited} before" if not place else "", text, spans=spans))
    if len(past) > earlier:
        more = f"and {len(past) - earlier:,} earlier: h shows all"
        blocks.append(labelled("", more, "faint"))
    return blocks
