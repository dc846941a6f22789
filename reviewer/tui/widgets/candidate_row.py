"""How one candidate looks in the list: mark, glyph, confidence, type, content, in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.strip import Strip

from reviewer.text.display import display_line
from reviewer.tui.kit.line import Part, cut, line_of
from reviewer.tui.theme import Glyphs, Palette

if TYPE_CHECKING:
    from reviewer.engine import QueueRow

TYPE_CELLS, SHORT_TYPE_CELLS = 11, 10
WIDE, NARROW = 64, 44
"""Below these widths the column of the type is shorter, and left out."""
FLAGGED = {"secret", "injection", "look-alike"}
"""Flags that warn."""
BY_HAND = "hand-authored"


@dataclass(frozen=True)
class Badges:
    """What was found out about a row that is in sight; each takes more than reading the row."""

    hinted: bool = False
    stale: bool = False
    draft: bool = False
    """An unsaved wording of it is kept."""


NO_BADGES = Badges()


def sign_of(
    row: QueueRow, decided: bool, sign: Glyphs, badges: Badges = NO_BADGES
) -> tuple[str, bool]:
    """(four cells that say how a row stands, whether they are a warning)."""
    if row.status in ("active", "graduated"):
        state = sign.promoted
    elif row.status == "invalid":
        state = sign.rejected
    elif row.status == "superseded":
        state = sign.cluster
    elif row.deferred:
        state = sign.deferred
    elif row.members and not decided:
        state = sign.cluster + (str(row.members + 1) if row.members < 9 else "+")
    else:
        state = ""
    extra, warning = _extra(row, sign, NO_BADGES if decided else badges)
    return f"{state:<2}{extra}".ljust(4), warning


def _extra(row: QueueRow, sign: Glyphs, badges: Badges) -> tuple[str, bool]:
    """(the sign that matters most beside how a row stands, whether it is a warning)."""
    if row.kind == "conflict":
        return sign.stale, True
    if FLAGGED.intersection(row.flags):
        return sign.flagged, True
    if badges.stale:
        return sign.stale, True
    if badges.hinted:
        return sign.hint, False
    if badges.draft or row.edited:
        return sign.edited, False
    return (sign.by_hand, False) if BY_HAND in row.flags else ("", False)


def confidence_text(value: float) -> str:
    """A confidence in three cells: `.58`, `1.0`."""
    return "1.0" if value >= 0.995 else f"{value:.2f}"[1:]


def row_strip(
    row: QueueRow | None,
    width: int,
    style: Palette,
    sign: Glyphs,
    *,
    here: bool,
    focused: bool,
    marked: bool,
    decided: bool,
    member: bool,
    badges: Badges = NO_BADGES,
) -> Strip:
    """One row of exactly `width` cells. `row` None is a candidate that no longer exists."""
    text = style.text_here if here else style.text
    dim = style.dim_here if here else style.dim
    accent = style.accent_here if here else style.accent
    warm = style.warm_here if here else style.warm
    bar: Part = (sign.bar if here else " ", accent if focused else dim)
    if row is None:
        return line_of([bar, ("  gone: R reads the queue again", dim)], width, text, sign.ellipsis)
    state, warning = sign_of(row, decided, sign, badges)
    mark: Part = (sign.mark if marked else " ", warm)
    if warning or row.status == "invalid":
        state_style = warm
    else:
        state_style = accent if not decided or row.status == "active" else dim
    columns = confidence_text(row.confidence) + " "
    if width >= NARROW:
        cells = TYPE_CELLS if width >= WIDE else SHORT_TYPE_CELLS
        columns += cut(display_line(row.type), cells, sign.ellipsis).ljust(cells) + " "
    indent = f"{sign.member} " if member else ""
    content = indent + display_line(row.content[: width * 2])
    if marked and not decided:
        words = warm
    else:
        words = dim if decided else style.strong_here if here else text
    return line_of(
        [bar, mark, (state, state_style), (columns, dim), (content, words)],
        width - 1,
        text,
        sign.ellipsis,
    ).extend_cell_length(width, text)
