"""Patterns one a line, each with its mode and its live check beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from reviewer.text.display import display_line
from reviewer.tui.kit.edit_pane import EditorArea
from reviewer.tui.kit.line import Line, Part, line_of
from reviewer.tui.theme import Glyphs, Palette, glyphs, palette

if TYPE_CHECKING:
    from reviewer.engine import PatternCheck

Mode = Literal["substring", "regex"]
MODE_WORDS: dict[Mode, str] = {"substring": "text", "regex": "regex"}
MARK_CELLS = 13


def align_modes(
    before: Sequence[str], modes: Sequence[Mode], after: Sequence[str], known: Mapping[str, Mode]
) -> list[Mode]:
    """The mode of each line after an edit.

    Lines that did not change keep theirs. Of the others each takes that of the line whose place
    it has; a line more takes what it had when it was last there (`known`), else it is a text.
    """
    first = 0
    shorter = min(len(before), len(after))
    while first < shorter and before[first] == after[first]:
        first += 1
    last = 0
    while last < shorter - first and before[-1 - last] == after[-1 - last]:
        last += 1
    replaced = modes[first : len(before) - last]
    fresh: list[Mode] = []
    for place, line in enumerate(after[first : len(after) - last]):
        if place < len(replaced):
            fresh.append(replaced[place])
        else:
            fresh.append(known.get(line, "substring"))
    return [*modes[:first], *fresh, *modes[len(before) - last :]]


class PatternArea(EditorArea):
    """The patterns as text. `modes` holds one for each line, whatever is typed or pasted."""

    DEFAULT_CSS = """
    PatternArea { border: none; padding: 0; width: 1fr; height: 1fr; background: $panel;
                  scrollbar-size: 0 0; overflow: hidden hidden; }
    PatternArea:focus { border: none; }
    """

    class Scrolled(Message):
        """Other lines are in sight."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(
            highlight_cursor_line=False,
            compact=True,
            soft_wrap=False,
            tab_behavior="focus",
            placeholder="$50k, one a line; ctrl+r: regex",
            id=id,
        )
        self.cursor_blink = False
        self.modes: list[Mode] = ["substring"]
        self._lines: list[str] = [""]
        self._known: dict[str, Mode] = {}

    def fill(self, patterns: Sequence[tuple[str, Mode]]) -> None:
        """Other patterns, none of which has line breaks."""
        lines = [text for text, _ in patterns]
        self._lines, self.modes = lines or [""], [mode for _, mode in patterns] or ["substring"]
        self._known.clear()
        self.load_text("\n".join(lines))

    def keep_modes(self) -> None:
        """The text changed: every line has a mode again."""
        after = self.text.split("\n")
        self._known.update(zip(self._lines, self.modes, strict=True))
        self.modes = align_modes(self._lines, self.modes, after, self._known)
        self._lines = after

    def switch(self, row: int | None = None) -> Mode:
        """A line's mode becomes the other one: that under the cursor when none is named."""
        at = self.cursor_location[0] if row is None else row
        if at < len(self.modes):
            self.modes[at] = "substring" if self.modes[at] == "regex" else "regex"
            return self.modes[at]
        return "substring"

    @property
    def patterns(self) -> list[tuple[str, Mode]]:
        """Every line that holds something, with its mode, in order."""
        return [
            (line, mode) for line, mode in zip(self._lines, self.modes, strict=True) if line.strip()
        ]

    @property
    def patterns_in_sight(self) -> list[tuple[str, Mode]]:
        """Those of the lines in sight."""
        top = self.scroll_offset.y
        rows = slice(top, top + max(self.size.height, 1))
        lines = zip(self._lines[rows], self.modes[rows], strict=True)
        return [(line, mode) for line, mode in lines if line.strip()]

    def line(self, row: int) -> tuple[str, Mode] | None:
        """A line with its mode."""
        return (self._lines[row], self.modes[row]) if row < len(self._lines) else None

    def on_resize(self) -> None:
        """More or fewer lines are in sight."""
        self.post_message(self.Scrolled())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """What stands beside the lines goes with them."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())


class PatternMarks(Widget):
    """The column before the patterns: `regex ✓ 2`. A click switches the mode."""

    DEFAULT_CSS = f"PatternMarks {{ width: {MARK_CELLS}; height: 1fr; }}"

    class Switched(Message):
        """The mode of a line was clicked."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    def __init__(self, area: PatternArea) -> None:
        super().__init__()
        self._area = area
        self.checks: Mapping[tuple[str, Mode], PatternCheck] = {}

    def restyle(self) -> None:
        """Draw again after a change of theme."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Mode and check of the line beside."""
        style, sign = palette(self.app), glyphs(self.app)
        line = self._area.line(self._area.scroll_offset.y + y)
        parts: list[Part] = []
        if line is not None:
            check = self.checks.get(line) if line[0].strip() else None
            parts = [(f" {MODE_WORDS[line[1]]:<6}", style.dim), *mark_parts(check, style, sign)]
        return line_of(parts, self.size.width, style.text, sign.ellipsis)

    def on_click(self, event: events.Click) -> None:
        """Switch the mode of the clicked line."""
        event.stop()
        row = self._area.scroll_offset.y + event.y
        if self._area.line(row) is not None:
            self.post_message(self.Switched(row))


def mark_parts(check: PatternCheck | None, style: Palette, sign: Glyphs) -> list[Part]:
    """A check in five cells: `✓ 12`, `✗`, `!  8` (the column), `slow`."""
    if check is None:
        return []
    match check.state:
        case "matches":
            times = str(check.matches) if check.matches < 1_000 else "999+"
            return [(sign.promoted, style.accent), (f" {times}", style.dim)]
        case "missing":
            return [(sign.rejected, style.warm)]
        case "slow":
            return [("slow", style.warm)]
        case "bad":
            return [("bad", style.warm)]


class CheckLine(Line):
    """What the check of the pattern under the cursor says, in words."""

    def __init__(self) -> None:
        super().__init__()
        self._said: tuple[str, bool] = ("", False)

    def show(self, text: str, *, warn: bool = False) -> None:
        """Show another sentence."""
        said = (display_line(text), warn)
        if said != self._said:
            self._said = said
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The sentence."""
        text, warn = self._said
        return [(f" {text}", style.warm if warn else style.dim)], []
