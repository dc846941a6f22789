"""The form for retention rules of a commit: words, patterns with live checks, the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import TextArea

from reviewer.text.display import display_line
from reviewer.tui.commits import keys
from reviewer.tui.commits.model import Criteria, Mode, align_modes
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import Actor, runs
from reviewer.tui.kit.edit_pane import EditorArea, Field
from reviewer.tui.kit.line import BarLine, Part, TitleRule, line_of
from reviewer.tui.kit.text import count
from reviewer.tui.theme import Glyphs, Palette, glyphs, palette

if TYPE_CHECKING:
    from reviewer.commits.values import PatternCheck

CHECK_AFTER = 0.15
"""Pause in typing before patterns are checked again."""
DRAFT_AFTER = 0.5
"""Seconds after the first unsaved key when the draft is posted."""
MARK_CELLS = 13
MODE_WORDS: dict[Mode, str] = {"substring": "text", "regex": "regex"}


class RetentionForm(Actor, Vertical, pane=keys.RETENTION):
    """The fields. It does not write or check: it posts the typed text."""

    DEFAULT_CSS = """
    RetentionForm { height: auto; width: 1fr; }
    RetentionForm > Horizontal { height: 1; padding: 0 1 0 0; }
    """

    class Typed(Message):
        """Base of the messages: the commits, and the contents of the form."""

        def __init__(self, commits: tuple[int, ...], criteria: Criteria, *, changed: bool) -> None:
            super().__init__()
            self.commits = commits
            self.criteria = criteria
            self.changed = changed

    class Saved(Typed):
        """The person wants these criteria."""

    class Left(Typed):
        """The person left; the text should be kept as a draft when it is `changed`."""

    class DraftChanged(Typed):
        """Typing has paused: keep a draft."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.commits: tuple[int, ...] = ()
        self._before = Criteria()
        self._given = Criteria()
        self._words = Field("in words: preserve all amounts and deadlines", id="retain-words")
        self.checked = CheckedPatterns()
        self._reason = Field("why, for whoever reads it later", id="retain-reason")
        self._draft_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield TitleRule()
        with Horizontal():
            yield _FieldName("retain")
            yield self._words
        yield self.checked
        with Horizontal():
            yield _FieldName("reason")
            yield self._reason

    def begin(
        self, commits: Iterable[int], title: str, before: Criteria, draft: Criteria | None
    ) -> None:
        """Fill in the criteria of some commits, from the draft if there is one."""
        self._stop_timers()
        self.commits = tuple(commits)
        self._before, self._given = before, before if draft is None else draft
        self.query_one(TitleRule).show("Must survive", title, focused=True)
        self._words.fill(self._given.instructions)
        self._reason.fill(self._given.reason)
        self.checked.begin(self._given.patterns)
        self._words.focus(scroll_visible=False)

    @property
    def criteria(self) -> Criteria:
        """The contents of the fields."""
        return Criteria(self._words.value, tuple(self.checked.area.patterns), self._reason.value)

    @property
    def changed(self) -> bool:
        """Whether the fields differ from the criteria of the commit."""
        return self.criteria != self._before

    @runs(shared.SAVE_FORM)
    def save(self) -> None:
        self._stop_timers()
        self.post_message(self.Saved(self.commits, self.criteria, changed=self.changed))

    @runs(shared.LEAVE_FORM)
    def leave(self) -> None:
        self._stop_timers()
        self.post_message(self.Left(self.commits, self.criteria, changed=self.changed))

    def _not_on_a_pattern(self) -> str | None:
        return None if self.checked.area.has_focus else "Go to a pattern first: tab."

    @runs(keys.SWITCH_MODE, unless=_not_on_a_pattern)
    def switch_mode(self) -> None:
        """Treat the pattern under the cursor as text, or as a regular expression."""
        self.checked.switch()

    @runs(shared.NEXT_FIELD)
    def next_field(self) -> None:
        self._step(1)

    @runs(shared.PREVIOUS_FIELD)
    def previous_field(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        fields: list[EditorArea] = [self._words, self.checked.area, self._reason]
        focused = self.screen.focused
        at = next((at for at, field in enumerate(fields) if field is focused), 0)
        self.screen.set_focus(fields[(at + step) % len(fields)], scroll_visible=False)

    @on(Field.Entered)
    def _entered(self, event: Field.Entered) -> None:
        event.stop()
        self.next_field()

    def on_checked_patterns_switched(self, event: CheckedPatterns.Switched) -> None:
        event.stop()
        self.say(f"This pattern is a {'regular expression' if event.mode == 'regex' else 'text'}.")
        self._typed()

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._typed()

    def _typed(self) -> None:
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(DRAFT_AFTER, self._give_draft)

    def _give_draft(self) -> None:
        self._draft_timer = None
        criteria = self.criteria
        if criteria != self._given:
            self._given = criteria
            self.post_message(self.DraftChanged(self.commits, criteria, changed=self.changed))

    def _stop_timers(self) -> None:
        self.checked.stop()
        if self._draft_timer is not None:
            self._draft_timer.stop()
            self._draft_timer = None


class CheckedPatterns(Vertical):
    """Patterns with marks before them and a sentence about one below.

    It does not check: it posts the visible patterns without a check.
    """

    DEFAULT_CSS = """
    CheckedPatterns { height: auto; width: 1fr; }
    CheckedPatterns Horizontal { height: 6; padding: 0 1 0 0; }
    """

    class ChecksWanted(Message):
        """These patterns are visible and not checked yet."""

        def __init__(self, patterns: tuple[tuple[str, Mode], ...]) -> None:
            super().__init__()
            self.patterns = patterns

    class Switched(Message):
        """A pattern has changed its mode."""

        def __init__(self, mode: Mode) -> None:
            super().__init__()
            self.mode = mode

    def __init__(self) -> None:
        super().__init__()
        self.area = PatternArea(id="retain-patterns")
        self._marks = PatternMarks(self.area)
        self._line = _CheckLine()
        self._checks: dict[tuple[str, Mode], PatternCheck] = {}
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self._marks
            yield self.area
        yield self._line

    def begin(self, patterns: Sequence[tuple[str, Mode]]) -> None:
        """Show other patterns, none of them checked."""
        self._checks = {}
        self.area.fill(patterns)
        self._line.show("")
        self._check_soon()

    def stop(self) -> None:
        """Stop asking for checks."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def switch(self, row: int | None = None) -> None:
        """Switch the mode of a pattern, of the one under the cursor when `row` is None."""
        mode = self.area.switch(row)
        self._redraw()
        self._check_soon()
        self.post_message(self.Switched(mode))

    @property
    def checks(self) -> list[PatternCheck]:
        """The checks of the patterns, as far as they are known."""
        return [self._checks[each] for each in self.area.patterns if each in self._checks]

    def show_checks(self, checks: Iterable[PatternCheck]) -> None:
        self._checks.update(((each.pattern.text, each.pattern.mode), each) for each in checks)
        self._redraw()

    def _check_soon(self) -> None:
        self.stop()
        self._timer = self.set_timer(CHECK_AFTER, self._want_checks)

    def _want_checks(self) -> None:
        self._timer = None
        missing = [each for each in self.area.patterns_in_sight if each not in self._checks]
        if missing:
            self.post_message(self.ChecksWanted(tuple(dict.fromkeys(missing))))

    def _redraw(self) -> None:
        self._marks.checks = self._checks
        self._marks.refresh()
        line = self.area.line(self.area.cursor_location[0])
        check = self._checks.get(line) if line is not None else None
        patterns = len(self.area.patterns)
        if check is not None and line is not None and line[0].strip():
            words = check.message
            if check.state == "bad" and check.column is not None:
                words = f"Column {check.column + 1}: {check.fault or words}"
            self._line.show(words, warn=check.state != "matches")
        elif patterns:
            mode = MODE_WORDS[line[1]] if line is not None else ""
            self._line.show(f"{count(patterns, 'pattern')}, this one a {mode}")
        else:
            self._line.show("Every pattern is looked for in each summary.")

    def on_pattern_marks_clicked(self, event: PatternMarks.Clicked) -> None:
        event.stop()
        self.switch(event.row)

    @on(TextArea.Changed)
    def _typed(self) -> None:
        """Not stopped: the surrounding form wants it too."""
        self.area.keep_modes()
        self._redraw()
        self._check_soon()

    def on_pattern_area_scrolled(self, event: Message) -> None:
        self._cursor_moved(event)

    @on(TextArea.SelectionChanged)
    def _cursor_moved(self, event: Message) -> None:
        event.stop()
        self._redraw()
        if self._timer is None:
            self._check_soon()


class PatternArea(EditorArea):
    """The patterns, one a line; `modes` has one for each line."""

    DEFAULT_CSS = """
    PatternArea { border: none; padding: 0; width: 1fr; height: 1fr; background: $panel;
                  scrollbar-size: 0 0; overflow: hidden hidden; }
    PatternArea:focus { border: none; }
    """

    class Scrolled(Message):
        """Other lines are visible."""

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
        """Show other patterns, none of which has line breaks."""
        lines = [text for text, _ in patterns]
        self._lines, self.modes = lines or [""], [mode for _, mode in patterns] or ["substring"]
        self._known.clear()
        self.load_text("\n".join(lines))

    def keep_modes(self) -> None:
        """Give every line of the changed text a mode."""
        after = self.text.split("\n")
        self._known.update(zip(self._lines, self.modes, strict=True))
        self.modes = align_modes(self._lines, self.modes, after, self._known)
        self._lines = after

    def switch(self, row: int | None = None) -> Mode:
        """Switch the mode of a line, of the one under the cursor when `row` is None."""
        at = self.cursor_location[0] if row is None else row
        if at < len(self.modes):
            self.modes[at] = "substring" if self.modes[at] == "regex" else "regex"
            return self.modes[at]
        return "substring"

    @property
    def patterns(self) -> list[tuple[str, Mode]]:
        """Every line that is not blank, with its mode."""
        return [
            (line, mode) for line, mode in zip(self._lines, self.modes, strict=True) if line.strip()
        ]

    @property
    def patterns_in_sight(self) -> list[tuple[str, Mode]]:
        """The patterns of the visible lines."""
        top = self.scroll_offset.y
        rows = slice(top, top + max(self.size.height, 1))
        lines = zip(self._lines[rows], self.modes[rows], strict=True)
        return [(line, mode) for line, mode in lines if line.strip()]

    def line(self, row: int) -> tuple[str, Mode] | None:
        """A line with its mode."""
        return (self._lines[row], self.modes[row]) if row < len(self._lines) else None

    def on_resize(self) -> None:
        """More or fewer lines are visible."""
        self.post_message(self.Scrolled())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The marks beside the lines scroll with them."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())


class PatternMarks(Widget):
    """The column before the patterns: `regex ✓ 2`. A click switches the mode."""

    DEFAULT_CSS = f"PatternMarks {{ width: {MARK_CELLS}; height: 1fr; }}"

    class Clicked(Message):
        """The mode of a line was clicked."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    def __init__(self, area: PatternArea) -> None:
        super().__init__()
        self._area = area
        self.checks: Mapping[tuple[str, Mode], PatternCheck] = {}

    def restyle(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        style, sign = palette(self.app), glyphs(self.app)
        line = self._area.line(self._area.scroll_offset.y + y)
        parts: list[Part] = []
        if line is not None:
            check = self.checks.get(line) if line[0].strip() else None
            parts = [(f" {MODE_WORDS[line[1]]:<6}", style.dim), *mark_parts(check, style, sign)]
        return line_of(parts, self.size.width, style.text, sign.ellipsis)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        row = self._area.scroll_offset.y + event.y
        if self._area.line(row) is not None:
            self.post_message(self.Clicked(row))


def mark_parts(check: PatternCheck | None, style: Palette, sign: Glyphs) -> list[Part]:
    """A check in six cells: `✓ 12`, `✗`, `bad`, `slow`."""
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


class _CheckLine(BarLine):
    """The check of the pattern under the cursor, in words."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[str, bool] = ("", False)

    def show(self, text: str, *, warn: bool = False) -> None:
        shown = (display_line(text), warn)
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        text, warn = self._shown
        return [(f" {text}", style.warm if warn else style.dim)], []


class _FieldName(BarLine):
    """The name before a field."""

    DEFAULT_CSS = f"_FieldName {{ width: {MARK_CELLS}; }}"

    def __init__(self, name: str) -> None:
        super().__init__()
        self._text = name

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        return [(f" {self._text}", style.dim)], []
