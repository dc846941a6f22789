"""The look of the screen: a dark and a light theme, two accents, one set of glyphs.

Widgets draw with the Rich styles of a `Palette`; each style includes its background, because lines
are drawn in one pass without markup. Colour is never the only cue: every state has a glyph, and
`Glyphs` has an ASCII form.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct
from rich.style import Style
from textual.theme import Theme

from reviewer.text import signs

DARK = "reviewer-dark"
LIGHT = "reviewer-light"
DARK_16 = "reviewer-dark-16"
LIGHT_16 = "reviewer-light-16"


class Colours(Struct, frozen=True):
    """The ten colours of all styles."""

    background: str
    cursor: str
    text: str
    dim: str
    faint: str
    rule: str
    accent: str
    warm: str
    span_background: str
    span_text: str


COLOURS = {
    DARK: Colours(
        background="#15181d",
        cursor="#232a34",
        text="#d8dce3",
        dim="#8f98a6",
        faint="#7d8695",
        rule="#343c48",
        accent="#5ec4b4",
        warm="#e2ae5f",
        span_background="#3b3220",
        span_text="#f3d9a4",
    ),
    LIGHT: Colours(
        background="#fbfaf6",
        cursor="#ebe8df",
        text="#23272e",
        dim="#5f6773",
        faint="#6a717b",
        rule="#d2d0c7",
        accent="#0c7168",
        warm="#9a5805",
        span_background="#fbe6bb",
        span_text="#4a2f05",
    ),
    # Terminals with sixteen colours get exactly theirs: approximating the colours above would turn
    # dim text, accents and warnings into one grey and hide the cursor's row.
    DARK_16: Colours(
        background="#000000",
        cursor="#0000aa",
        text="#ffffff",
        dim="#aaaaaa",
        faint="#aaaaaa",
        rule="#555555",
        accent="#55ffff",
        warm="#ffff55",
        span_background="#aaaaaa",
        span_text="#000000",
    ),
    LIGHT_16: Colours(
        background="#ffffff",
        cursor="#55ffff",
        text="#000000",
        dim="#555555",
        faint="#555555",
        rule="#aaaaaa",
        accent="#0000aa",
        warm="#aa0000",
        span_background="#ffff55",
        span_text="#000000",
    ),
}
OF_16 = {DARK: DARK_16, LIGHT: LIGHT_16}


class Palette(Struct, frozen=True):
    """The styles for drawing lines; `*_here` are their variants on the cursor's row."""

    text: Style
    strong: Style
    dim: Style
    faint: Style
    rule: Style
    accent: Style
    warm: Style
    span: Style
    added: Style
    removed: Style
    text_here: Style
    strong_here: Style
    dim_here: Style
    accent_here: Style
    warm_here: Style

    def on_row(self, *, here: bool) -> RowStyles:
        """The styles of a list row; `here`: the cursor is on it."""
        if here:
            return RowStyles(
                self.text_here, self.strong_here, self.dim_here, self.accent_here, self.warm_here
            )
        return RowStyles(self.text, self.strong, self.dim, self.accent, self.warm)


class RowStyles(NamedTuple):
    """The styles of a row, all with the same background."""

    text: Style
    strong: Style
    dim: Style
    accent: Style
    warm: Style


@cache
def palette_of(theme: str) -> Palette:
    """The styles of a theme; for an unknown one, those of the dark theme."""
    colours = COLOURS.get(theme, COLOURS[DARK])

    def on(background: str, colour: str, how: str = "") -> Style:
        return Style.parse(f"{how} {colour} on {background}")

    back, here = colours.background, colours.cursor
    return Palette(
        text=on(back, colours.text),
        strong=on(back, colours.text, "bold"),
        dim=on(back, colours.dim),
        faint=on(back, colours.faint),
        rule=on(back, colours.rule),
        accent=on(back, colours.accent),
        warm=on(back, colours.warm),
        span=on(colours.span_background, colours.span_text),
        added=on(back, colours.accent, "underline"),
        removed=on(back, colours.warm, "strike"),
        text_here=on(here, colours.text),
        strong_here=on(here, colours.text, "bold"),
        dim_here=on(here, colours.dim),
        accent_here=on(here, colours.accent),
        warm_here=on(here, colours.warm),
    )


class Glyphs(Struct, frozen=True):
    """One sign for one meaning, everywhere."""

    ascii: bool = False
    """Draw only ASCII characters."""
    promoted: str = signs.PROMOTED
    rejected: str = signs.REJECTED
    merged: str = signs.MERGED
    deferred: str = signs.DEFERRED
    attention: str = signs.ATTENTION
    bar: str = "▌"
    mark: str = "*"
    member: str = "└"
    ellipsis: str = "…"
    dot: str = "·"
    rule: str = "─"
    times: str = "×"
    arrow: str = "→"
    thumb: str = "▐"
    pinned: str = "●"
    important: str = "◆"
    skip: str = "∅"
    folded: str = "▸"
    unfolded: str = "▾"
    shades: str = "█▓▒░"
    """Parts of a bar, from the highest priority to the lowest."""


GLYPHS = Glyphs()
ASCII = Glyphs(
    ascii=True,
    promoted="+",
    rejected="x",
    merged="M",
    deferred="=",
    bar=">",
    member="`",
    ellipsis="~",
    dot="-",
    rule="-",
    times="x",
    arrow="->",
    thumb="#",
    pinned="P",
    important="I",
    skip="S",
    folded="+",
    unfolded="-",
    shades="#=-.",
)


def _theme(name: str, colours: Colours, *, dark: bool) -> Theme:
    return Theme(
        name=name,
        primary=colours.accent,
        secondary=colours.warm,
        accent=colours.accent,
        warning=colours.warm,
        error=colours.warm,
        success=colours.accent,
        foreground=colours.text,
        background=colours.background,
        surface=colours.background,
        panel=colours.cursor,
        boost=colours.cursor,
        dark=dark,
        variables={
            "rule": colours.rule,
            "dim": colours.dim,
            "cursor-row": colours.cursor,
            "scrollbar": colours.rule,
            "scrollbar-hover": colours.faint,
            "scrollbar-active": colours.accent,
            "scrollbar-background": colours.background,
            "scrollbar-background-hover": colours.background,
            "scrollbar-background-active": colours.background,
            "input-cursor-background": colours.text,
            "input-cursor-foreground": colours.background,
            "input-selection-background": colours.span_background,
        },
    )


THEMES = [_theme(name, colours, dark=name in (DARK, DARK_16)) for name, colours in COLOURS.items()]


def theme_for(name: str, color_system: str | None) -> str:
    """A theme, or its variant for a terminal's colours (`standard`: sixteen)."""
    return OF_16[name] if color_system in ("standard", "windows") else name


def other_theme(name: str) -> str:
    """The light theme for a dark one, and the reverse."""
    return {LIGHT: DARK, DARK_16: LIGHT_16, LIGHT_16: DARK_16}.get(name, LIGHT)


def palette(app: Any) -> Palette:
    """The styles of the current theme."""
    return palette_of(app.theme)


def glyphs(app: Any) -> Glyphs:
    """The app's `glyphs`, which depend on `--ascii`."""
    found: Glyphs = app.glyphs
    return found
