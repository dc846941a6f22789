"""Why is this known? The way down to the line, as a person and as a script read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from reviewer.cli.output import cut, line_width, safe

if TYPE_CHECKING:
    from reviewer.engine import Step

LONGEST_STEP = 200
"""Columns of a step's words where stdout is no terminal."""


def why(steps: Sequence[Step]) -> Iterator[str]:
    """One line a step, from the highest layer down to the lines of files, and what each says."""
    for place, step in enumerate(steps):
        head = "why         " if place == 0 else " " * 12
        at = "" if step.path is None else f"  {safe(step.path)}"
        at += "" if step.line is None else f":{step.line + 1}"
        yield f"{head}{step.layer}  {safe(step.title)}{at}"
        if said := safe(" ".join(step.text.split())):
            width = (line_width() or LONGEST_STEP + 16) - 16
            yield " " * 16 + cut(said, max(width, 20))


def step_json(step: Step) -> dict[str, Any]:
    """A step as scripts read it; `line` is 0-based."""
    return {name: getattr(step, name) for name in step.__struct_fields__}
