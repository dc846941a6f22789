"""The editor of a summary: the text, live checks of it, and what it changes."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from reviewer.tui.compress import keys
from reviewer.tui.kit.actor import runs
from reviewer.tui.kit.edit_pane import EditPane
from reviewer.tui.kit.text import Block
from reviewer.tui.kit.text_pane import TextPane

CHECK_AFTER = 0.15
"""Seconds without a key after which the summary is checked again."""


class SummaryEditPane(EditPane, pane=keys.SUMMARY):
    """An `EditPane` of one segment's summary, with its checks between the text and the changes."""

    DEFAULT_CSS = """
    SummaryEditPane #edit-checks { height: 1fr; min-height: 3; }
    SummaryEditPane EditorArea { height: 2fr; }
    """

    class ChecksWanted(Message):
        """Typing paused: check the text."""

        def __init__(self, content: str) -> None:
            super().__init__()
            self.content = content

    class MissingWanted(ChecksWanted):
        """The person wants what is missing appended."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(verb="take", id=id)
        self._remark, self._warn = "", False
        self._check_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        title, editor, difference = super().compose()
        yield title
        yield editor
        yield TextPane(title="Checks", id="edit-checks")
        yield difference

    @property
    def checks(self) -> TextPane:
        """The pane of the checks."""
        return self.query_one("#edit-checks", TextPane)

    def save(self) -> None:
        """Post the text as wanted, unless it is empty."""
        if not self.content.strip():
            self.say("A summary needs words: 1 leaves the segment Full, escape leaves the edit.")
            return
        super().save()

    @runs(keys.APPEND_MISSING)
    def append_missing(self) -> None:
        """Ask for what is missing."""
        self.post_message(self.MissingWanted(self.content))

    def put(self, content: str) -> None:
        """Another text, which the editor can undo."""
        editor = self.editor
        editor.replace(content, (0, 0), editor.document.end)
        editor.move_cursor(editor.document.end)

    def show_checks(self, blocks: Sequence[Block], remark: str, *, warn: bool) -> None:
        """What was found out about the text, and its size in a few words."""
        self._remark, self._warn = remark, warn
        hints = ("ctrl+t appends what is missing", "ctrl+t append") if warn else ()
        self.checks.show(blocks, title="Checks", hints=hints, keep_scroll=True)
        self.draw_title()

    def remark(self) -> tuple[str, bool]:
        return self._remark or f"{len(self.content):,} characters", self._warn

    @on(TextArea.Changed)
    def _check_later(self) -> None:
        if self._check_timer is not None:
            self._check_timer.stop()
        self._check_timer = self.set_timer(CHECK_AFTER, self._want_checks)

    def _want_checks(self) -> None:
        if self.is_attached and self.content.strip():
            self.post_message(self.ChecksWanted(self.content))
