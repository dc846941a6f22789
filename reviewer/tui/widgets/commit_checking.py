"""Patterns with their live checks: the lines, the marks before them, the sentence about one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from reviewer.tui.widgets.commit_patterns import (
    MODE_WORDS,
    CheckLine,
    Mode,
    PatternArea,
    PatternMarks,
)

if TYPE_CHECKING:
    from reviewer.engine import PatternCheck

CHECK_AFTER = 0.15
"""Seconds without a key after which patterns are checked again."""


class CheckedPatterns(Vertical):
    """The patterns. It checks nothing: it posts which ones are in sight and not checked yet."""

    DEFAULT_CSS = """
    CheckedPatterns { height: auto; width: 1fr; }
    CheckedPatterns Horizontal { height: 6; padding: 0 1 0 0; }
    """

    class ChecksWanted(Message):
        """These patterns are in sight and not checked yet."""

        def __init__(self, patterns: tuple[tuple[str, Mode], ...]) -> None:
            super().__init__()
            self.patterns = patterns

    class Switched(Message):
        """A pattern has another mode now."""

        def __init__(self, mode: Mode) -> None:
            super().__init__()
            self.mode = mode

    def __init__(self) -> None:
        super().__init__()
        self.area = PatternArea(id="retain-patterns")
        self._marks = PatternMarks(self.area)
        self._line = CheckLine()
        self._checks: dict[tuple[str, Mode], PatternCheck] = {}
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The marks and the patterns, below them the sentence about one."""
        with Horizontal():
            yield self._marks
            yield self.area
        yield self._line

    def begin(self, patterns: Sequence[tuple[str, Mode]]) -> None:
        """Other patterns, none of them checked."""
        self._checks = {}
        self.area.fill(patterns)
        self._line.show("")
        self._check_soon()

    def stop(self) -> None:
        """Check nothing any more."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def switch(self, row: int | None = None) -> None:
        """A pattern becomes a text, or a regular expression: that under the cursor when None."""
        mode = self.area.switch(row)
        self._redraw()
        self._check_soon()
        self.post_message(self.Switched(mode))

    # checks

    def _check_soon(self) -> None:
        self.stop()
        self._timer = self.set_timer(CHECK_AFTER, self._want_checks)

    def _want_checks(self) -> None:
        self._timer = None
        missing = [each for each in self.area.patterns_in_sight if each not in self._checks]
        if missing:
            self.post_message(self.ChecksWanted(tuple(dict.fromkeys(missing))))

    def show_checks(self, checks: Iterable[PatternCheck]) -> None:
        """Show how patterns stand."""
        self._checks.update(((each.pattern.text, each.pattern.mode), each) for each in checks)
        self._redraw()

    @property
    def checks(self) -> list[PatternCheck]:
        """The checks of the patterns that stand here, as far as they are known."""
        return [self._checks[each] for each in self.area.patterns if each in self._checks]

    def _redraw(self) -> None:
        self._marks.checks = self._checks
        self._marks.refresh()
        line = self.area.line(self.area.cursor_location[0])
        check = self._checks.get(line) if line is not None else None
        count = len(self.area.patterns)
        if check is not None and line is not None and line[0].strip():
            words = check.message
            if check.state == "bad" and check.column is not None:
                words = f"Column {check.column + 1}: {check.fault or words}"
            self._line.show(words, warn=check.state != "matches")
        elif count:
            mode = MODE_WORDS[line[1]] if line is not None else ""
            self._line.show(f"{count:,} patterns, this one a {mode}")
        else:
            self._line.show("Every pattern is looked for in each summary.")

    # messages

    @on(PatternMarks.Switched)
    def _clicked(self, event: PatternMarks.Switched) -> None:
        event.stop()
        self.switch(event.row)

    @on(TextArea.Changed)
    def _typed(self) -> None:
        """Every line keeps a mode; the form around hears of it too."""
        self.area.keep_modes()
        self._redraw()
        self._check_soon()

    @on(TextArea.SelectionChanged)
    @on(PatternArea.Scrolled)
    def _cursor_moved(self, event: Message) -> None:
        event.stop()
        self._redraw()
        if self._timer is None:
            self._check_soon()
