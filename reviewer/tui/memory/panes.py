"""The list of the Memory screen, and a key of trusted state as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from reviewer.recall.outcomes import UseOutcome
from reviewer.text.display import display_line
from reviewer.tui.evidence.structure import labelled
from reviewer.tui.kit.line import Part
from reviewer.tui.kit.row_list import StoredList
from reviewer.tui.kit.row_sign import sign_of
from reviewer.tui.kit.text import MARGIN, Run, TextBlock, TextSpan, elapsed, moment, short_ids
from reviewer.tui.memory.model import FactModel, TrustedRow
from reviewer.tui.theme import Glyphs, RowStyles

if TYPE_CHECKING:
    from reviewer.promotion.decisions.trusted_state import StateView
    from reviewer.promotion.views import QueueRow
    from reviewer.recall.outcomes import MemoryUse
    from reviewer.recall.service import UseCount

USES_SHOWN = 4
OUTCOMES = {
    UseOutcome.HELD: "helped",
    UseOutcome.BROKEN: "failed again",
    UseOutcome.UNKNOWN: "effect not known",
}


class FactList(StoredList[FactModel, "TrustedRow | QueueRow"]):
    """Draws a `FactModel` and moves its cursor."""

    @property
    def heads(self) -> str:
        """The heads of the columns: calls, where any were lost, and uses, where there are any."""
        calls = "calls     " if self.model.lost else ""
        return calls + ("given help" if self.model.uses else "")

    def parts_of(
        self, row: TrustedRow | QueueRow, at: int, width: int, style: RowStyles, sign: Glyphs
    ) -> list[Part]:
        """`saved    6    4    3   Run make fmt before make lint`; `!` if it did not help. The calls
        wasted before stand there until it saves some."""
        text, strong, dim, accent, warm = style
        words = strong if at == self.cursor else text
        if isinstance(row, TrustedRow):
            key, value = display_line(row.state.key), display_line(row.state.value[: width * 2])
            blank = len(self.heads)
            return [(f"{'':{blank}}    ", dim), (key, accent), (" = ", dim), (value, words)]
        use, marked = self.model.uses.get(row.id), self.model.is_marked(at)
        saved = round(use.saved) if use is not None else 0
        calls = f"saved{saved:>5,}" if saved else f"wasted{row.cost:>4,}" if row.cost else ""
        state, warning = sign_of(row, sign)
        pinned = sign.pinned if row.id in self.model.pinned else " "
        packets = sign.skip if row.id in self.model.left_out else pinned
        mark = state[0] if warning else packets
        if use is not None and use.broken > use.held:
            mark = sign.attention
        return [
            (sign.mark if marked else " ", warm if marked else dim),
            (f"{calls:10}" if self.model.lost else "", accent if saved else dim),
            (_figures(use) if self.model.uses else "", dim),
            (f" {mark} ", warm),
            (display_line(row.content[: width * 2]), warm if marked else words),
        ]


def _figures(use: UseCount | None) -> str:
    """How often agents got it, and how often it helped, once an outcome is known."""
    if use is None:
        return "    -     "
    return f"{use.given:>5,}{use.held:>5,}" if use.held or use.broken else f"{use.given:>5,}     "


def outcome_blocks(found: Sequence[tuple[MemoryUse, UseOutcome]]) -> list[TextBlock]:
    """The latest uses of a memory: outcome, time, event and session of each."""
    return [
        TextBlock(
            f"{OUTCOMES[came]:18}{moment(use.at)}  {use.event:8}{short_ids(use.session)}",
            "warm" if came is UseOutcome.BROKEN else "dim",
            first=(Run("  "),),
            wrap=False,
        )
        for use, came in found[:USES_SHOWN]
    ]


def state_blocks(values: Sequence[StateView], signs: Glyphs, *, now: datetime) -> list[TextBlock]:
    """The value, then its former values, newest first."""
    latest = values[0]
    blocks = [TextBlock(latest.value, "text", first=MARGIN)]
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
