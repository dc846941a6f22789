"""The parts of the Memory screen: its list, and a key of trusted state as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual.strip import Strip

from reviewer.promotion.views import QueueRow
from reviewer.text.display import display_line
from reviewer.tui.evidence.structure import labelled
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.line import Part, cells_of, line_of
from reviewer.tui.kit.row_list import ModelList, cursor_bar
from reviewer.tui.kit.row_sign import sign_of
from reviewer.tui.kit.text import Run, TextBlock, TextSpan, cut, elapsed, moment
from reviewer.tui.state.model import GroupHead, StateModel
from reviewer.tui.theme import Glyphs, Palette

if TYPE_CHECKING:
    from reviewer.promotion.decisions.trusted_state import StateView

KEY_CELLS = 24


class FactList(ModelList[StateModel]):
    """Draws a `StateModel`; the cursor skips the headings of groups."""

    @property
    def total(self) -> int:
        return self.model.total

    @property
    def place(self) -> tuple[int, int]:
        return self.model.place

    @property
    def first_in_sight(self) -> int:
        """The heading above the cursor has to be visible too."""
        above = self.model.cursor - 1
        return above if isinstance(self.model.row(above), GroupHead) else self.model.cursor

    def target(self, index: int) -> int:
        found = self.model.nearest(index, 1 if index >= self.model.cursor else -1)
        return self.model.cursor if found is None else found

    def read_window(self, start: int, stop: int) -> None:
        self.model.window(start, stop)

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        row = self.model.row(at)
        if isinstance(row, GroupHead):
            return head_strip(row, width, style, sign)
        here = at == self.model.cursor
        return fact_strip(row, width, style, sign, here=here, focused=self.has_focus)


LAYERS = {"L1": "memories", "L2": "entities", "L3": "only you write these"}


def head_strip(head: GroupHead, width: int, style: Palette, sign: Glyphs) -> Strip:
    """` decision  12 ───────── entities `."""
    left: list[Part] = [
        (f" {cut(display_line(head.title), max(width - 16, 4), sign.ellipsis)}", style.strong),
        (f"  {head.count:,} ", style.dim),
    ]
    right = f" {LAYERS[head.layer]} "
    rest = max(width - cells_of(left) - len(right), 0)
    return line_of([*left, (sign.rule * rest, style.rule), (right, style.faint)], width,
                   style.text, sign.ellipsis)  # fmt: skip


def fact_strip(
    row: StateView | QueueRow | None,
    width: int,
    style: Palette,
    sign: Glyphs,
    *,
    here: bool,
    focused: bool,
) -> Strip:
    """One fact: a key with its value, or a wording with a sign for its special state."""
    on_row = style.on_row(here=here)
    text, strong, dim, accent, warm = on_row
    strong = strong if here else text
    bar = cursor_bar(on_row, sign, here=here, focused=focused)
    if row is None:
        return line_of(
            [bar, (f"  gone: {shared.REFRESH.key} reads again", dim)], width, text, sign.ellipsis
        )
    parts: list[Part]
    if isinstance(row, QueueRow):
        state, warning = sign_of(row, sign)
        state = state if warning else " "
        parts = [
            bar,
            (f" {state[0]} ", warm if warning else dim),
            (display_line(row.content[: width * 2]), strong),
        ]
    else:
        cells = max(min(KEY_CELLS, (width - 4) * 2 // 5), 8)
        key = cut(display_line(row.key), cells, sign.ellipsis)
        gap = " " * (cells - cells_of([(key, text)]) + 2)
        value = display_line(row.value[: width * 2])
        parts = [bar, ("   ", dim), (key, accent), (gap, dim), (value, strong)]
    return line_of(parts, width - 1, text, sign.ellipsis).extend_cell_length(width, text)


def state_title(state: StateView) -> str:
    """`db_engine  trusted state`."""
    return f"{state.key}  trusted state"


def state_blocks(values: Sequence[StateView], signs: Glyphs, *, now: datetime) -> list[TextBlock]:
    """The value, then the former ones, newest first."""
    latest = values[0]
    blocks = [TextBlock(latest.value, "text", first=(Run(" "),)), TextBlock("")]
    if latest.ended_at is not None:
        ended = f"{signs.rejected} unset {moment(latest.ended_at)}"
        blocks.append(labelled("status", ended, "warm"))
    when = f"by hand, {elapsed(latest.set_at, now)} ago ({moment(latest.set_at)})"
    blocks.append(labelled("set", when))
    if latest.note:
        blocks.append(labelled("note", latest.note))
    blocks.append(labelled("evidence", latest.evidence or "none was named"))
    blocks.append(labelled("project", latest.project))
    for place, value in enumerate(values[1:]):
        until = f"  until {moment(value.ended_at)}"
        text = f"{' '.join(value.value.split())}{until}"
        spans = (TextSpan(len(text) - len(until), len(text), "faint"),)
        blocks.append(labelled("before" if not place else "", text, spans=spans))
    return blocks
