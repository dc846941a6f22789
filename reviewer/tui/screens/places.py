"""Opening a place that provenance names: evidence of a memory, or a line that a person named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reviewer.engine import Engine, EvidenceView, RecordView
from reviewer.errors import UnknownIdError

if TYPE_CHECKING:
    from textual.screen import Screen

    from reviewer.engine import Step


def evidence_at(engine: Engine, number: int | None, place: int, step: Step) -> EvidenceView:
    """The evidence behind a step: that of the memory `number`, or for trusted state the line.

    Raises UnknownIdError when the evidence is gone.
    """
    if number is None:
        return _line(step)
    found = engine.queue.evidence(number)
    if place >= len(found):
        raise UnknownIdError(f"#{number} has no such evidence any more: R reads again.")
    return found[place]


def open_place(screen: Screen[Any], engine: Engine, evidence: EvidenceView) -> None:
    """Show the source at the line of an evidence."""
    from reviewer.tui.evidence.source import SourceScreen

    screen.app.push_screen(SourceScreen(engine, evidence))


def _line(step: Step) -> EvidenceView:
    """A line that a person named, as an evidence without a stored record."""
    return line_of_file(step.path or "", step.line or 0, step.text)


def line_of_file(path: str, line: int, text: str = "") -> EvidenceView:
    """A 0-based line of a file, as an evidence without a stored record; `text` stands there."""
    record = RecordView(
        id=0,
        key="",
        path=str(Path(path).expanduser()),
        line_start=line,
        line_end=line + 1,
        role="note",
        use="said",
        shape="note",
        at=None,
        session=None,
        sidechain=False,
        headings=(),
        meta={},
        text=text,
    )
    return EvidenceView(0, record, 0, len(text), "", (), ())
