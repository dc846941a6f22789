"""How one segment looks in the list: number, level, topic, tokens now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.strip import Strip

from reviewer.text.display import display_line
from reviewer.tui.kit.line import Part, cut, line_of
from reviewer.tui.theme import Glyphs, Palette

if TYPE_CHECKING:
    from reviewer.compressing import Choice, Segment
    from reviewer.tui.compress_model import Size

LEVELS = ("Full", "Detailed", "Brief", "Tags")
"""What people call the levels, by number."""
TOKEN_CELLS = 6
WITH_BOTH = 26
"""Narrower lists leave out what a segment has now."""


def level_name(level: int) -> str:
    """`Brief`."""
    return LEVELS[level]


def arrow(signs: Glyphs) -> str:
    """From a size to another one."""
    return "->" if signs.rule == "-" else "→"


def short(tokens: int) -> str:
    """`412`, `4,012`, `48.1k`: at most six cells."""
    if tokens < 100_000:
        return f"{tokens:,}"
    return f"{tokens / 1_000:.0f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"


def state_sign(*, trouble: bool, hand: bool, draft: bool, waits: bool, sign: Glyphs) -> str:
    """What a person has to know of a segment, in one cell."""
    if trouble:
        return sign.stale
    if hand or draft:
        return sign.edited
    return sign.ellipsis if waits else " "


def segment_strip(
    segment: Segment,
    choice: Choice,
    size: Size,
    state: str,
    width: int,
    style: Palette,
    sign: Glyphs,
    *,
    digits: int,
    here: bool,
    focused: bool,
) -> Strip:
    """One row of exactly `width` cells."""
    text = style.text_here if here else style.text
    dim = style.dim_here if here else style.dim
    warm = style.warm_here if here else style.warm
    accent = style.accent_here if here else style.accent
    words = style.strong_here if here else text
    letter = LEVELS[choice.level][0]
    about = "" if size.exact else "~"
    after = f"{about}{short(size.tokens)}"
    before = short(segment.tokens) if width >= WITH_BOTH else ""
    same = choice.level == 0
    right: list[Part] = [
        (before.rjust(TOKEN_CELLS + 1) if before else "", dim),
        (("" if same else after).rjust(TOKEN_CELLS + 1), accent if size.exact else dim),
    ]
    if same and not before:
        right = [(after.rjust(TOKEN_CELLS + 1), dim)]
    cells = sum(len(part) for part, _ in right)
    left: list[Part] = [
        (sign.bar if here else " ", accent if focused else dim),
        (segment.id.removeprefix("s").rjust(digits), dim),
        (state, warm),
        (f"{letter} ", dim if same else accent),
    ]
    room = width - cells - sum(len(part) for part, _ in left) - 1
    topic = cut(display_line(segment.topic or segment.id), max(room, 0), sign.ellipsis)
    strip = line_of([*left, (topic, words)], width - cells - 1, text, sign.ellipsis)
    end = line_of(right, cells + 1, text, sign.ellipsis)
    return Strip([*strip, *end], width)
