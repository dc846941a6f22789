"""The provenance of a fact, down to the line that supports it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.engine import Engine
from reviewer.errors import UnknownIdError
from reviewer.promotion.views import EvidenceView, RecordView
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.text import Run, TextBlock, tail
from reviewer.tui.theme import Glyphs

if TYPE_CHECKING:
    from reviewer.promotion.provenance import ProvenanceStep

STEP_CHARACTERS = 600
LAYERS = {"L3": "value", "L2": "entity", "L1": "memory", "L0": "source"}
LAYER_CELLS = 7
MIN_PLACE = 16
"""Minimum cells for a path; with less room it goes to the next line."""


def places_of(steps: Sequence[ProvenanceStep]) -> list[int]:
    return [at for at, step in enumerate(steps) if step.path is not None]


def sources_first(steps: Sequence[ProvenanceStep]) -> tuple[ProvenanceStep, ...]:
    """The lines of files first, then earlier wordings and the rows it was made from."""
    return tuple(sorted(steps, key=lambda step: step.path is None))


def step_blocks(
    steps: Sequence[ProvenanceStep], signs: Glyphs, chosen: int | None, width: int
) -> list[TextBlock]:
    """Two blocks per step, place and text. The chosen step has the bar."""
    blocks: list[TextBlock] = []
    for at, step in enumerate(steps):
        here = at == chosen
        bar = Run(f"{signs.bar if here else ' '} ", "accent")
        title = step.title.replace(" · ", f" {signs.dot} ")
        place = ""
        if step.path is not None:
            line = f":{(step.line or 0) + 1}" if step.line is not None else ""
            beside = width - len(title) - len(line) - LAYER_CELLS - 8
            room = beside if beside >= MIN_PLACE else width - len(line) - LAYER_CELLS - 8
            place = f"  {tail(step.path, room, signs.ellipsis)}{line}"
        head = (bar, Run(LAYERS[step.layer].ljust(LAYER_CELLS), "accent" if here else "faint"))
        blocks.append(TextBlock(title + place, "dim", first=head))
        text = " ".join(step.text[: 2 * STEP_CHARACTERS].split())[:STEP_CHARACTERS]
        margin = (bar, Run("    "))
        blocks.append(TextBlock(text, "text" if here else "dim", first=margin, rest=margin))
    return blocks


def evidence_at(
    engine: Engine, number: int | None, place: int, step: ProvenanceStep
) -> EvidenceView:
    """The evidence of a step: from the memory `number`, or the cited line for trusted state.

    Raises UnknownIdError if the evidence no longer exists.
    """
    if number is None:
        return line_of_file(step.path or "", step.line or 0, step.text)
    found = engine.queue.evidence(number)
    if place >= len(found):
        raise UnknownIdError(
            f"#{number} no longer has this evidence: {shared.REFRESH.key} reloads."
        )
    return found[place]


def line_of_file(path: str, line: int, text: str = "") -> EvidenceView:
    """Evidence for a 0-based line of a file, without a stored record."""
    record = RecordView(
        id=0,
        key="",
        path=str(Path(path).expanduser()),
        line_start=line,
        line_end=line + 1,
        role="note",
        use="said",
        shape="note",
        text=text,
    )
    return EvidenceView(0, record, 0, len(text), "", (), ())
