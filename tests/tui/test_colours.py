"""Every text can be read, also on a terminal with sixteen colours."""

from __future__ import annotations

import msgspec
import pytest
from rich.color import Color, ColorSystem
from rich.color_triplet import ColorTriplet
from rich.style import Style

from reviewer.engine import Engine
from reviewer.tui.theme import (
    DARK,
    DARK_16,
    LIGHT,
    LIGHT_16,
    Palette,
    other_theme,
    palette,
    palette_of,
)
from tests.tui.conftest import opened

LEAST = 4.5
"""The contrast that WCAG asks of small text."""
NO_TEXT = set("─│├┬╭╮╰╯▌▐█░▔▁▆▅▃▄▂▇+-|#> ")
"""Lines between panes, bars and thumbs."""


def styles_of(theme: str) -> dict[str, Style]:
    of: Palette = palette_of(theme)
    return {each.name: getattr(of, each.name) for each in msgspec.structs.fields(of)}


def triplet(colour: Color | None) -> ColorTriplet:
    assert colour is not None
    return colour.get_truecolor()


def contrast(style: Style) -> float:
    one, other = (_luminance(triplet(each)) for each in (style.color, style.bgcolor))
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _luminance(colour: ColorTriplet) -> float:
    linear = [
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in (part / 255 for part in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [DARK, LIGHT, DARK_16, LIGHT_16])
def test_every_text_stands_out_from_its_background(theme: str) -> None:
    for name, style in styles_of(theme).items():
        if name != "rule":
            assert contrast(style) >= LEAST, (name, round(contrast(style), 1))


@pytest.mark.parametrize("light", [True, False], ids=["light", "dark"])
async def test_every_word_on_every_screen_stands_out(
    stocked: Engine, monkeypatch: pytest.MonkeyPatch, light: bool
) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    stocked.state.set("acme", "db", "Tapes")
    low: dict[str, float] = {}
    async with opened(stocked, project="acme", light=light) as screen:
        for keys in (
            ("a", "x", "j", "space"), ("full_stop",), ("escape", "slash", *"pos"),
            ("escape", "e", *"more"), ("escape", "question_mark"), ("escape", "colon", *"pro"),
            ("escape", "f3"), ("f4",), ("t", "x"), ("escape", "f5"), ("n", "x"),
            ("escape", "f6"), ("escape", "f7"), ("f8",), ("f2", "o"), ("escape", "enter"),
        ):  # fmt: skip
            await screen.press(*keys)
            for piece in (piece for strip in screen.strips for piece in strip):
                words = "".join(each for each in piece.text if each not in NO_TEXT)
                if words and piece.style is not None and piece.style.color is not None:
                    found = contrast(piece.style)
                    if found < LEAST:
                        low[f"{keys} {piece.text[:30]!r}"] = round(found, 1)
    assert low == {}


@pytest.mark.parametrize("theme", [DARK_16, LIGHT_16])
def test_with_sixteen_colours_the_cursor_accents_and_warnings_can_be_told_apart(theme: str) -> None:
    found = styles_of(theme)
    assert number(found["text_here"].bgcolor) != number(found["text"].bgcolor)
    names = ("text", "dim", "accent", "warm")
    assert len({number(found[name].color) for name in names}) == len(names)


def number(colour: Color | None) -> int | None:
    """Which of the sixteen a terminal is sent."""
    assert colour is not None
    return colour.downgrade(ColorSystem.STANDARD).number


@pytest.mark.parametrize(
    ("term", "colorterm", "theme"),
    [
        ("xterm", "", DARK_16),
        ("linux", "", DARK_16),
        ("xterm-256color", "", DARK),
        ("xterm", "truecolor", DARK),
    ],
)
async def test_the_theme_follows_the_terminal(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, term: str, colorterm: str, theme: str
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLORTERM", colorterm)
    async with opened(engine) as screen:
        assert screen.app.theme == theme
        screen.app.action_switch_theme()
        assert screen.app.theme == other_theme(theme)
        assert palette(screen.app) is palette_of(other_theme(theme))
        screen.app.action_switch_theme()
        assert screen.app.theme == theme


async def test_a_theme_chosen_on_the_screen_is_kept_whatever_the_settings_say(
    engine: Engine,
) -> None:
    async with opened(engine, light=True) as screen:
        assert screen.app.theme.startswith(LIGHT)
        await screen.choose("theme")
    async with opened(engine, light=True) as screen:
        assert screen.app.theme.startswith(DARK)
        await screen.choose("theme")
    async with opened(engine, light=False) as screen:
        assert screen.app.theme.startswith(LIGHT)
