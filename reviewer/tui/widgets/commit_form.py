"""Writing what must survive of a commit: words, patterns with their modes, the reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from reviewer.tui.acting import Acting
from reviewer.tui.actions import bindings_for
from reviewer.tui.widgets.commit_patterns import (
    MODE_WORDS,
    CheckLine,
    Mode,
    PatternArea,
    PatternMarks,
)
from reviewer.tui.widgets.edit_pane import EditorArea
from reviewer.tui.widgets.field import Field
from reviewer.tui.widgets.line import TitleRule
from reviewer.tui.widgets.state_form import FieldName

if TYPE_CHECKING:
    from reviewer.engine import PatternCheck

CHECK_AFTER = 0.15
"""Seconds without a key after which patterns are checked again."""
DRAFT_AFTER = 0.5
"""Seconds after the first unsaved key when the draft is given out to be kept."""


class Criteria(Struct, frozen=True):
    """What stands in the form."""

    instructions: str = ""
    patterns: tuple[tuple[str, Mode], ...] = ()
    reason: str = ""


class RetentionForm(Acting, Vertical):
    """The fields. It writes and checks nothing: it posts what the person typed."""

    DEFAULT_CSS = """
    RetentionForm { height: auto; width: 1fr; }
    RetentionForm Horizontal { height: 1; padding: 0 1 0 0; }
    RetentionForm #patterns-row { height: 6; }
    RetentionForm FieldName { width: 13; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("retain")]

    class Typed(Message):
        """Base of the messages: the commits, and what stands in the form."""

        def __init__(self, commits: tuple[int, ...], criteria: Criteria, *, changed: bool) -> None:
            super().__init__()
            self.commits = commits
            self.criteria = criteria
            self.changed = changed

    class Saved(Typed):
        """The person wants these criteria to hold."""

    class Left(Typed):
        """The person left; what is typed is worth keeping as a draft when it is `changed`."""

    class DraftChanged(Typed):
        """What is typed has rested for a moment: keep it as a draft."""

    class ChecksWanted(Message):
        """These patterns are in sight and not checked yet."""

        def __init__(self, patterns: tuple[tuple[str, Mode], ...]) -> None:
            super().__init__()
            self.patterns = patterns

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.commits: tuple[int, ...] = ()
        self._held = Criteria()
        self._given = Criteria()
        self._checks: dict[tuple[str, Mode], PatternCheck] = {}
        self._check_timer: Timer | None = None
        self._draft_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Title, words, patterns with their marks, the sentence about one, the reason."""
        yield TitleRule()
        with Horizontal():
            yield FieldName("retain")
            yield Field("in words: preserve all amounts and deadlines", id="retain-words")
        area = PatternArea(id="retain-patterns")
        with Horizontal(id="patterns-row"):
            yield PatternMarks(area)
            yield area
        yield CheckLine()
        with Horizontal():
            yield FieldName("reason")
            yield Field("why, for whoever reads it later", id="retain-reason")

    def begin(
        self, commits: Iterable[int], title: str, held: Criteria, draft: Criteria | None
    ) -> None:
        """Write the criteria of some commits, from the draft where there is one."""
        self._stop_timers()
        self.commits = tuple(commits)
        self._held, self._given = held, held if draft is None else draft
        self._checks = {}
        self.query_one(TitleRule).show("Must survive", title, focused=True)
        self._words.fill(self._given.instructions)
        self._reason.fill(self._given.reason)
        self.area.fill(self._given.patterns)
        self.query_one(CheckLine).show("")
        self._words.focus(scroll_visible=False)
        self._check_timer = self.set_timer(CHECK_AFTER, self._want_checks)

    @property
    def area(self) -> PatternArea:
        """The patterns."""
        return self.query_one(PatternArea)

    @property
    def _words(self) -> Field:
        return self.query_one("#retain-words", Field)

    @property
    def _reason(self) -> Field:
        return self.query_one("#retain-reason", Field)

    @property
    def criteria(self) -> Criteria:
        """What stands in the fields."""
        return Criteria(self._words.value, tuple(self.area.patterns), self._reason.value)

    @property
    def changed(self) -> bool:
        """Whether that differs from what holds."""
        return self.criteria != self._held

    # what a person does

    def save(self) -> None:
        """Post what was typed."""
        self._stop_timers()
        self.post_message(self.Saved(self.commits, self.criteria, changed=self.changed))

    def leave(self) -> None:
        """Post that the person leaves."""
        self._stop_timers()
        self.post_message(self.Left(self.commits, self.criteria, changed=self.changed))

    def switch_mode(self) -> None:
        """The pattern under the cursor becomes a text, or a regular expression."""
        if not self.area.has_focus:
            self.say("Go to a pattern first: tab.")
            return
        self._switched(None)

    @on(PatternMarks.Switched)
    def _clicked(self, event: PatternMarks.Switched) -> None:
        event.stop()
        self._switched(event.row)

    def _switched(self, row: int | None) -> None:
        mode = self.area.switch(row)
        self.say(f"This pattern is a {'regular expression' if mode == 'regex' else 'text'} now.")
        self._redraw()
        self._changed()

    def next_field(self) -> None:
        """The next field."""
        self._step(1)

    def previous_field(self) -> None:
        """The field before."""
        self._step(-1)

    def _step(self, step: int) -> None:
        fields: list[EditorArea] = [self._words, self.area, self._reason]
        at = next((at for at, field in enumerate(fields) if field.has_focus), 0)
        fields[(at + step) % len(fields)].focus(scroll_visible=False)

    @on(Field.Entered)
    def _entered(self, event: Field.Entered) -> None:
        event.stop()
        self.next_field()

    # what follows

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if event.text_area is self.area:
            self.area.keep_modes()
            self._redraw()
        self._changed()

    @on(TextArea.SelectionChanged)
    @on(PatternArea.Scrolled)
    def _cursor_moved(self, event: Message) -> None:
        event.stop()
        self._redraw()
        if self._check_timer is None:
            self._check_timer = self.set_timer(CHECK_AFTER, self._want_checks)

    def _changed(self) -> None:
        if self._check_timer is not None:
            self._check_timer.stop()
        self._check_timer = self.set_timer(CHECK_AFTER, self._want_checks)
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(DRAFT_AFTER, self._give_draft)

    def _give_draft(self) -> None:
        self._draft_timer = None
        criteria = self.criteria
        if criteria != self._given:
            self._given = criteria
            self.post_message(self.DraftChanged(self.commits, criteria, changed=self.changed))

    def _want_checks(self) -> None:
        self._check_timer = None
        missing = [each for each in self.area.patterns_in_sight if each not in self._checks]
        if missing:
            self.post_message(self.ChecksWanted(tuple(dict.fromkeys(missing))))

    def show_checks(self, checks: Iterable[PatternCheck]) -> None:
        """Show how patterns stand."""
        self._checks.update(((each.pattern.text, each.pattern.mode), each) for each in checks)
        self._redraw()

    @property
    def checks(self) -> list[PatternCheck]:
        """The checks of the patterns that stand in the form, as far as they are known."""
        return [self._checks[each] for each in self.area.patterns if each in self._checks]

    def _redraw(self) -> None:
        marks = self.query_one(PatternMarks)
        marks.checks = self._checks
        marks.refresh()
        line = self.area.line(self.area.cursor_location[0])
        check = self._checks.get(line) if line is not None else None
        count = len(self.area.patterns)
        if check is not None and line is not None and line[0].strip():
            words = check.message
            if check.state == "bad" and check.column is not None:
                words = f"Column {check.column + 1}: {check.fault or words}"
            self.query_one(CheckLine).show(words, warn=check.state != "matches")
        elif count:
            mode = MODE_WORDS[line[1]] if line is not None else ""
            self.query_one(CheckLine).show(f"{count:,} patterns, this one a {mode}")
        else:
            self.query_one(CheckLine).show("Every pattern is looked for in each summary.")

    def _stop_timers(self) -> None:
        for timer in (self._check_timer, self._draft_timer):
            if timer is not None:
                timer.stop()
        self._check_timer = self._draft_timer = None
