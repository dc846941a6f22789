"""The six modes side by side: as many columns as fit, each with tokens and what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.tui.kit.text import Block, Line, Run, count, fit, lay_out
from reviewer.tui.screens.pipelines_values import MODES
from reviewer.tui.theme import Glyphs
from reviewer.tui.widgets.pipeline_text import bar, left_out

if TYPE_CHECKING:
    from reviewer.tui.screens.pipelines_values import Handed

NARROWEST = 34
"""A column has at least so many cells."""
SHORTEST = 8
"""Rows of text that a mode gets at least."""
HEAD_ROWS = 3
_BAR = 10


def columns(handed: Handed, width: int, height: int, signs: Glyphs) -> list[Block]:
    """The modes in a grid of `width` cells, filling `height` rows where they are enough."""
    beside = max(min((width + 1) // (NARROWEST + 1), 3), 1)
    cells = (width - (beside - 1)) // beside
    rows = -(-len(MODES) // beside)
    texts = max(height // rows - HEAD_ROWS - 1, SHORTEST)
    blocks: list[Block] = []
    for start in range(0, len(MODES), beside):
        drawn = [_cell(mode, handed, cells, texts, signs) for mode in MODES[start : start + beside]]
        for y in range(HEAD_ROWS + texts):
            runs: list[Run] = []
            for x, cell in enumerate(drawn):
                if x:
                    runs.append(Run("|" if signs.rule == "-" else "│", "rule"))
                runs += _padded(cell[y], cells)
            blocks.append(Block("", first=tuple(runs), wrap=False))
    return blocks


def _cell(mode: str, handed: Handed, cells: int, texts: int, signs: Glyphs) -> list[Line]:
    """A mode in so many rows: key and name, tokens against ceiling, what is missing, the text."""
    number = MODES.index(mode) + 1
    mine = mode == handed.way.fidelity.value
    if mode == "full":
        size = f"{count(handed.session_turns, 'turn')}, {handed.session_tokens:,} tok"
        missing, text = "a resume would lose it", handed.session or "No session yet."
        missing = missing if handed.session_turns else ""
    else:
        preamble = handed.preambles[mode]
        size = (
            f"{bar(preamble.tokens, preamble.budget, _BAR, signs)} "
            f"{preamble.tokens:,} of {preamble.budget:,}"
        )
        missing, text = left_out(preamble), preamble.text
    room = cells - 2
    name = f"{mode} {signs.promoted} resolved" if mine else mode
    rule = signs.rule * max(cells - len(name) - 6, 0)
    head = [
        Line(
            (
                Run(f"{signs.rule} ", "rule"),
                Run(f"{number} ", "accent"),
                Run(f"{name} ", "accent" if mine else "strong"),
                Run(rule, "rule"),
            ),
            0,
        ),
        Line((Run(f" {fit(size, room, signs.ellipsis)}", "dim"),), 0),
        Line((Run(f" {fit(missing, room, signs.ellipsis)}", "warm"),), 0),
    ]
    lines = list(lay_out([Block(text, first=(Run(" "),))], cells - 1, signs.ellipsis))
    if len(lines) > texts:
        more = f" {signs.ellipsis} {len(lines) - texts + 1} more lines, {number} shows all"
        lines[texts - 1 :] = [Line((Run(fit(more, cells - 1, signs.ellipsis), "faint"),), 0)]
    return [*head, *lines, *[Line((), 0)] * (texts - len(lines))]


def _padded(line: Line, cells: int) -> list[Run]:
    """The runs of a line, filled up to a column's width."""
    return [*line.runs, Run(" " * max(cells - line.cells, 0))]
