"""How one commit looks in the list: number, hash, priority, role, tokens, first line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.strip import Strip

from reviewer.text.display import display_line
from reviewer.tui.kit.line import Part, cut, line_of
from reviewer.tui.theme import Glyphs, Palette

if TYPE_CHECKING:
    from reviewer.engine import CommitRow

WITH_HASH, WITH_ROLE = 56, 36
"""Narrower lists leave the hash out, then the role."""
ROLE_CELLS, TOKEN_CELLS = 9, 6
SHORT = 8
"""Characters of a hash that are shown."""
_WORDS = {"tool_call": "tool call", "tool_result": "tool"}


def priority_sign(priority: str, sign: Glyphs) -> str:
    """`●` pinned, `◆` important, `·` normal, `∅` skip."""
    return {"pinned": sign.pinned, "important": sign.important, "skip": sign.skip}.get(
        priority, sign.dot
    )


def speaker(role: str, type_: str) -> str:
    """Who or what a commit is, in a word: its role where that says it, else its type."""
    if type_ in ("dialogue", "") or role == "system":
        return role
    return _WORDS.get(type_, type_)


def criteria_sign(row: CommitRow, sign: Glyphs) -> str:
    """How many criteria a commit carries, and whether its text was edited, in two cells."""
    carried = str(row.criteria) if row.criteria < 10 else "+"
    return f"{carried if row.criteria else ' '}{sign.edited if row.edited else ' '}"


def commit_strip(
    row: CommitRow | None,
    width: int,
    style: Palette,
    sign: Glyphs,
    *,
    here: bool,
    focused: bool,
    marked: bool,
    digits: int,
) -> Strip:
    """One row of exactly `width` cells. `row` None is a commit that no longer exists."""
    text = style.text_here if here else style.text
    dim = style.dim_here if here else style.dim
    accent = style.accent_here if here else style.accent
    warm = style.warm_here if here else style.warm
    bar: Part = (sign.bar if here else " ", accent if focused else dim)
    if row is None:
        return line_of(
            [bar, ("  gone: R reads the context again", dim)], width, text, sign.ellipsis
        )
    styles: dict[str, Style] = {"pinned": accent, "important": warm}
    how = styles.get(row.priority, dim)
    columns = f"{row.id:>{digits}} "
    if width >= WITH_HASH:
        columns += display_line(row.hash[:SHORT]).ljust(SHORT) + " "
    after = ""
    if width >= WITH_ROLE:
        word = cut(display_line(speaker(row.role, row.type)), ROLE_CELLS, sign.ellipsis)
        after = word.ljust(ROLE_CELLS)
    after += f"{row.tokens:>{TOKEN_CELLS + 1},} "
    words = warm if marked else dim if row.priority == "skip" else text
    if here and not marked:
        words = style.strong_here
    return line_of(
        [
            bar,
            (sign.mark if marked else " ", warm),
            (columns, dim),
            (priority_sign(row.priority, sign), how),
            (criteria_sign(row, sign), warm),
            (after, dim),
            (display_line(row.first_line[: width * 2]), words),
        ],
        width - 1,
        text,
        sign.ellipsis,
    ).extend_cell_length(width, text)
