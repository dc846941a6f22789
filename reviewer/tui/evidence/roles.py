"""The column that says who wrote a record, beside its text."""

from __future__ import annotations

from reviewer.engine import RecordView
from reviewer.tui.kit.text import Run

ROLE_CELLS = 11


def role_cells(record: RecordView) -> int:
    """How wide the column is: notes have one writer, so their text takes the whole width."""
    return ROLE_CELLS if record.shape == "turn" else 0


def role_runs(record: RecordView, style: str) -> tuple[Run, ...]:
    """The role; or what the record is, where nobody said it to anybody (`tool output`)."""
    word = record.role if record.use == "said" else record.use
    cells = role_cells(record)
    return (Run(word[: cells - 1].ljust(cells), style),) if cells else ()
