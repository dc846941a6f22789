"""The lines of a session on the screen: citations by candidates, filters, places to look."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from msgspec import Struct

from reviewer.promotion.lists.source_view import CitedText
from reviewer.promotion.views import line_of_span
from reviewer.proposing.values import LineRole, SessionView, ViewLine
from reviewer.proposing.view_pieces import label
from reviewer.sources.open import NOTE_FORMATS
from reviewer.tui.kit.row_model import RowModel, has_words


class SessionRow(Struct, frozen=True):
    """One line of a view; `id` counts the lines from 1."""

    id: int
    line: ViewLine
    cited: tuple[CitedText, ...] = ()
    is_note: bool = False

    @property
    def label(self) -> str:
        """Its role in words, or that it is a note, which nobody said."""
        if self.line.role is LineRole.REJECTED:
            return "refused"
        return "note" if self.is_note else label(self.line).lower()

    @property
    def is_place(self) -> bool:
        """Whether the line is a place to look."""
        return bool(self.cited) or self.line.role in (LineRole.ERROR, LineRole.REJECTED)

    @property
    def number(self) -> int:
        """The line of the file, counted from 1, on which its first quote begins, else its own first
        line.
        """
        if not self.cited:
            return self.line.line + 1
        text, quote = self.line.text, self.cited[0]
        start = max(text.find(quote.text), 0)
        return line_of_span(text, quote.line_start, quote.line_end, start) + 1


class SessionModel(RowModel[SessionRow]):
    """The lines that match a filter."""

    def __init__(self) -> None:
        super().__init__(self._read)
        self.all: list[SessionRow] = []
        self.places: list[int] = []
        """The ids of the rows that are places to look."""
        self.filter = ""

    def _read(self, ids: Sequence[int]) -> list[SessionRow]:
        return [self.all[number - 1] for number in ids if 0 < number <= len(self.all)]

    def load(self, view: SessionView, cited: Iterable[CitedText]) -> None:
        """Show a view; the cursor and the marks stay on their lines."""
        self.all = rows_of(view, cited)
        self.places = [row.id for row in self.all if row.is_place]
        self.forget()
        self.marks = {number for number in self.marks if number <= len(self.all)}
        self.show(self.filter, self.current_id)

    def show(self, text: str, here: int | None = None) -> None:
        """Show the lines that match a filter, with the cursor near the line `here`."""
        self.filter = text
        self.ids = array("q", (row.id for row in self.all if passes(row, text)))
        after = (at for at, number in enumerate(self.ids) if here is not None and number >= here)
        self.cursor = next(after, max(len(self.ids) - 1, 0) if here else 0)

    def row_at(self, line: int, text: str = "") -> int | None:
        """The id of the row at a line of the file: the one with `text`, else the first; without a
        row at that line, the last one before it.
        """
        rows = [row for row in self.all if row.line.line == line]
        if not rows:
            before = [row for row in self.all if row.line.line < line]  # the call of a result
            rows = before[-1:] or self.all[:1]
        wanted = " ".join(text.split())[:80]
        found = (row for row in rows if wanted and wanted in " ".join(row.line.text.split()))
        best = next(found, rows[0] if rows else None)
        return best.id if best is not None else None

    def next_place(self, step: int) -> int | None:
        """The index of the nearest place to look below (`step` 1) or above (-1) the cursor."""
        stop = len(self.ids) if step > 0 else -1
        places = range(self.cursor + step, stop, step)
        return next((at for at in places if self.all[self.ids[at] - 1].is_place), None)

    def chosen(self) -> list[ViewLine]:
        """The marked lines, or the one under the cursor."""
        return [self.all[number - 1].line for number in sorted(self.targets())]


def rows_of(view: SessionView, cited: Iterable[CitedText]) -> list[SessionRow]:
    """The lines, each with the texts that memories cite from it."""
    lines, is_note = view.lines, view.format in NOTE_FORMATS
    places: dict[int, list[int]] = {}
    for at, line in enumerate(lines):
        places.setdefault(line.line, []).append(at)
    with_rows = sorted(places)
    found: dict[int, list[CitedText]] = {}
    for each in cited:
        near = [at for line in range(each.line_start, each.line_end) for at in places.get(line, ())]
        before = bisect_right(with_rows, each.line_start)
        if not near and before:  # a result is in the row of its call
            near = places[with_rows[before - 1]][-1:]
        exact = (at for at in near if each.text in lines[at].text)
        best = next(exact, near[0] if near else None)
        if best is not None:
            found.setdefault(best, []).append(each)
    return [
        SessionRow(at + 1, line, tuple(found.get(at, ())), is_note) for at, line in enumerate(lines)
    ]


def passes(row: SessionRow, text: str) -> bool:
    """Whether a line has all the words of a filter, none of those after a minus, and its `is:`
    kinds."""
    kinds = [word[3:] for word in text.lower().split() if word.startswith("is:")]
    known = (row.label, row.line.speaker, row.line.role, "place" if row.is_place else "")
    words = (word for word in text.split() if not word.lower().startswith("is:"))
    return all(each and each in known for each in kinds) and has_words(
        row.line.text, " ".join(words)
    )
