"""Why is this known? The steps of provenance as blocks, down to the line in the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reviewer.tui.kit.text import Block, Run, tail
from reviewer.tui.theme import Glyphs

if TYPE_CHECKING:
    from reviewer.engine import Step

STEP_CHARACTERS = 600


def places_of(steps: Sequence[Step]) -> list[int]:
    """The steps that are lines of files."""
    return [at for at, step in enumerate(steps) if step.path is not None]


def step_blocks(
    steps: Sequence[Step], signs: Glyphs, chosen: int | None, width: int
) -> list[Block]:
    """Two blocks a step: where it stands, what it says. The chosen one carries the bar."""
    blocks: list[Block] = []
    for at, step in enumerate(steps):
        here = at == chosen
        bar = Run(f"{signs.bar if here else ' '} ", "accent")
        title = step.title.replace(" · ", f" {signs.dot} ")
        place = ""
        if step.path is not None:
            line = f":{(step.line or 0) + 1}" if step.line is not None else ""
            room = max(width - len(title) - len(line) - 12, 16)
            place = f"  {tail(step.path, room, signs.ellipsis)}{line}"
        head = (bar, Run(f"{step.layer}  ", "accent" if here else "faint"))
        blocks.append(Block(title + place, "dim", first=head, wrap=False))
        text = " ".join(step.text[: 2 * STEP_CHARACTERS].split())[:STEP_CHARACTERS]
        margin = (bar, Run("    "))
        blocks.append(Block(text, "text" if here else "dim", first=margin, rest=margin))
    return blocks
