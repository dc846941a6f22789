"""The list of candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.text.display import display_line
from reviewer.tui.kit.line import Part
from reviewer.tui.kit.row_list import StoredList
from reviewer.tui.kit.row_sign import sign_of
from reviewer.tui.kit.text import count, cut
from reviewer.tui.queue.model import QueueModel
from reviewer.tui.theme import Glyphs, RowStyles

if TYPE_CHECKING:
    from reviewer.promotion.views import QueueRow

WIDE = 70
"""Minimum width in cells for `5 sessions, 14 wasted calls`; narrower rows say `14 calls`."""


class CandidateList(StoredList[QueueModel, "QueueRow"]):
    def __init__(self, model: QueueModel) -> None:
        super().__init__(model, id="list")
        self.whole = True
        """Whether it shows all waiting rows."""

    @property
    def place(self) -> str:
        """The position of the cursor, and the number of waiting rows."""
        decided = len(self.model.dimmed) if self.whole else 0
        if not decided:
            return super().place
        left = self.total - decided
        return f"{super().place}, {f'{left:,} waiting' if left else 'all decided'}"

    def parts_of(
        self, row: QueueRow, at: int, width: int, style: RowStyles, sign: Glyphs
    ) -> list[Part]:
        text, strong, dim, accent, warm = style
        decided, marked = self.model.is_dimmed(at), self.model.is_marked(at)
        # Blanks have the style of the following text: one colour change less.
        mark: Part = (sign.mark, warm) if marked else (" ", dim)
        state, warning = sign_of(row, sign)
        if state.isspace():
            state_style = dim
        elif warning or row.status == "invalid":
            state_style = warm
        else:
            state_style = accent if not decided or row.status == "active" else dim
        content = display_line(row.content[: width * 2])
        if row.kind == "conflict":
            content = f"contradiction: {content}"
        if row.reason and row.status == "candidate":
            wrong = cut(display_line(row.reason), max(width // 3, 1), sign.ellipsis)
            content = f"called wrong ({wrong}): {content}"
        if decided:
            content_style = dim
        elif marked:
            content_style = warm
        else:
            content_style = strong if at == self.cursor else text
        columns = self._first_column(row, at, width)
        if row.id in self.model.leader_of:
            columns = f"{sign.member} {columns}"
        return [mark, (state, state_style), (columns, dim), (content, content_style)]

    def _first_column(self, row: QueueRow, at: int, width: int) -> str:
        """The sessions in which it came up and the wasted calls, then the number of near duplicates
        that are decided with it."""
        words, calls = [], "wasted call" if width >= WIDE else "call"
        if row.kind != "conflict":
            words.append(count(row.sessions, "session") if row.sessions > 1 else "")
            words.append(count(row.cost, calls) if row.cost else "")
        alike = f" +{row.members}" if row.members and not self.model.is_open(at) else ""
        column = f"{', '.join(filter(None, words))}{alike}".strip()
        return f"{column}: " if column else ""
