"""Writing what must survive of a commit: words, patterns with their modes, the reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from reviewer.tui.acting import Acting
from reviewer.tui.kit.edit_pane import EditorArea, Field
from reviewer.tui.kit.line import TitleRule
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.widgets.commit_checking import CheckedPatterns
from reviewer.tui.widgets.commit_patterns import Mode
from reviewer.tui.widgets.state_form import FieldName

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
    RetentionForm > Horizontal { height: 1; padding: 0 1 0 0; }
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

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.commits: tuple[int, ...] = ()
        self._held = Criteria()
        self._given = Criteria()
        self._words = Field("in words: preserve all amounts and deadlines", id="retain-words")
        self.checking = CheckedPatterns()
        self._reason = Field("why, for whoever reads it later", id="retain-reason")
        self._draft_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Title, words, patterns with their marks, the sentence about one, the reason."""
        yield TitleRule()
        with Horizontal():
            yield FieldName("retain")
            yield self._words
        yield self.checking
        with Horizontal():
            yield FieldName("reason")
            yield self._reason

    def begin(
        self, commits: Iterable[int], title: str, held: Criteria, draft: Criteria | None
    ) -> None:
        """Write the criteria of some commits, from the draft where there is one."""
        self._stop_timers()
        self.commits = tuple(commits)
        self._held, self._given = held, held if draft is None else draft
        self.query_one(TitleRule).show("Must survive", title, focused=True)
        self._words.fill(self._given.instructions)
        self._reason.fill(self._given.reason)
        self.checking.begin(self._given.patterns)
        self._words.focus(scroll_visible=False)

    @property
    def criteria(self) -> Criteria:
        """What stands in the fields."""
        return Criteria(self._words.value, tuple(self.checking.area.patterns), self._reason.value)

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
        if self.checking.area.has_focus:
            self.checking.switch()
        else:
            self.say("Go to a pattern first: tab.")

    @on(CheckedPatterns.Switched)
    def _switched(self, event: CheckedPatterns.Switched) -> None:
        event.stop()
        mode = "regular expression" if event.mode == "regex" else "text"
        self.say(f"This pattern is a {mode} now.")
        self._changed()

    def next_field(self) -> None:
        """The next field."""
        self._step(1)

    def previous_field(self) -> None:
        """The field before."""
        self._step(-1)

    def _step(self, step: int) -> None:
        fields: list[EditorArea] = [self._words, self.checking.area, self._reason]
        focused = self.screen.focused
        at = next((at for at, field in enumerate(fields) if field is focused), 0)
        self.screen.set_focus(fields[(at + step) % len(fields)], scroll_visible=False)

    @on(Field.Entered)
    def _entered(self, event: Field.Entered) -> None:
        event.stop()
        self.next_field()

    # what follows

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._changed()

    def _changed(self) -> None:
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(DRAFT_AFTER, self._give_draft)

    def _give_draft(self) -> None:
        self._draft_timer = None
        criteria = self.criteria
        if criteria != self._given:
            self._given = criteria
            self.post_message(self.DraftChanged(self.commits, criteria, changed=self.changed))

    def _stop_timers(self) -> None:
        self.checking.stop()
        if self._draft_timer is not None:
            self._draft_timer.stop()
            self._draft_timer = None
