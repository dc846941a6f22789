"""A unified difference as blocks: the sign at the start of a line says it, colour follows."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer.tui.widgets.text_layout import Block, Run

SHOWN_LINES = 2_000


def diff_blocks(lines: Sequence[str]) -> list[Block]:
    """One block a line, cut to one row; a long difference says how much is left out."""
    blocks = [Block(line, _style(line), first=(Run(" "),)) for line in lines[:SHOWN_LINES]]
    if len(lines) > SHOWN_LINES:
        blocks.append(Block(f"and {len(lines) - SHOWN_LINES:,} lines more", "faint"))
    return blocks


def _style(line: str) -> str:
    if line.startswith(("--- ", "+++ ")):
        return "strong"
    return {"+": "accent", "-": "warm", "@": "faint"}.get(line[:1], "dim")
