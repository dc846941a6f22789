"""The list of the Memory screen, and a key of trusted state as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from reviewer.text.display import display_line
from reviewer.tui.evidence.structure import labelled
from reviewer.tui.kit.line import Part
from reviewer.tui.kit.row_list import StoredList
from reviewer.tui.kit.row_sign import sign_of
from reviewer.tui.kit.text import Run, TextBlock, TextSpan, elapsed, moment
from reviewer.tui.state.model import FactModel, TrustedRow
from reviewer.tui.theme import Glyphs, RowStyles

if TYPE_CHECKING:
    from reviewer.promotion.decisions.trusted_state import StateView
    from reviewer.promotion.views import QueueRow
    from reviewer.recall.service import UseCount

USE_CELLS = 4


class FactList(StoredList[FactModel, "TrustedRow | QueueRow"]):
    """Draws a `FactModel` and moves its cursor."""

    def parts_of(
        self, row: TrustedRow | QueueRow, at: int, width: int, style: RowStyles, sign: Glyphs
    ) -> list[Part]:
        """A key and its value, or a memory with how often it was used and held."""
        text, strong, dim, accent, warm = style
        words = strong if at == self.cursor else text
        if isinstance(row, TrustedRow):
            key, value = display_line(row.state.key), display_line(row.state.value[: width * 2])
            return [("   ", dim), (key, accent), (" = ", dim), (value, words)]
        state, warning = sign_of(row, sign)
        left_out = sign.skip if row.id in self.model.left_out else " "
        sign_part: Part = (f" {state[0] if warning else left_out} ", warm)
        used = _use_words(self.model.uses.get(row.id)) if self.model.uses else ""
        return [sign_part, (used, dim), (display_line(row.content[: width * 2]), words)]


def _use_words(use: UseCount | None) -> str:
    """` 12   9 `: how often it was used, and how often it held."""
    figures = (use.used, use.held) if use is not None else (0, 0)
    return "".join(f"{each or '':>{USE_CELLS - 1}} " for each in figures)


def state_title(state: StateView) -> str:
    """`db_engine  trusted state`."""
    return f"{state.key}  trusted state"


def state_blocks(values: Sequence[StateView], signs: Glyphs, *, now: datetime) -> list[TextBlock]:
    """The value, then its former values, newest first."""
    latest = values[0]
    blocks = [TextBlock(latest.value, "text", first=(Run(" "),)), TextBlock("")]
    if latest.ended_at is not None:
        ended = f"{signs.rejected} unset {moment(latest.ended_at)}"
        blocks.append(labelled("status", ended, "warm"))
    when = f"by hand, {elapsed(latest.set_at, now)} ago ({moment(latest.set_at)})"
    blocks.append(labelled("set", when))
    if latest.note:
        blocks.append(labelled("note", latest.note))
    blocks.append(labelled("evidence", latest.evidence or "none given"))
    blocks.append(labelled("project", latest.project))
    for place, value in enumerate(values[1:]):
        until = f"  until {moment(value.ended_at)}"
        text = f"{' '.join(value.value.split())}{until}"
        spans = (TextSpan(len(text) - len(until), len(text), "faint"),)
        blocks.append(labelled("before" if not place else "", text, spans=spans))
    return blocks
