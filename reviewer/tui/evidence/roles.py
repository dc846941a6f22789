"""The role column beside the text of a record."""

from __future__ import annotations

from reviewer.promotion.views import RecordView
from reviewer.sources.records import RecordUse
from reviewer.tui.kit.text import Run

ROLE_CELLS = 11

SHORT_USES = {
    RecordUse.INJECTED: "injected",
    RecordUse.SUMMARY: "summary",
    RecordUse.TOOL: "tool",
    RecordUse.OVERLONG: "overlong",
}
"""Short names for kinds of records too wide for the column."""


def role_cells(record: RecordView) -> int:
    """The width of the column; 0 for notes, which have a single author."""
    return ROLE_CELLS if record.shape == "turn" else 0


def role_runs(record: RecordView, style: str) -> tuple[Run, ...]:
    """The role; for a record without a speaker its kind (`tool`, `boot text`)."""
    use = RecordUse(record.use)
    word = record.role if use is RecordUse.MESSAGE else SHORT_USES.get(use, use)
    cells = role_cells(record)
    return (Run(word[: cells - 1].ljust(cells), style),) if cells else ()
