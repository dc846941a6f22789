"""The editor of a summary: the text, its checks while typing, and its changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from reviewer.compression.plan import Choice, SegmentPreview
from reviewer.compression.preview import with_missing_appended
from reviewer.compression.values import BY_HAND, RATIOS
from reviewer.tui.compress import keys
from reviewer.tui.compress.drawing import check_blocks
from reviewer.tui.compress.model import Checked, level_name
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import runs
from reviewer.tui.kit.edit_pane import EditPane
from reviewer.tui.kit.text import figure
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.promotion.drafts import Drafts

CHECK_AFTER = 0.15
"""Pause in typing before the summary is checked again."""

Take = Callable[[SegmentPreview, Checked], None]
Judge = Callable[[Choice, str, Take], None]
"""Previews a choice with a text by hand in a thread and passes the result to a function."""


class SummaryEditPane(EditPane, pane=keys.SUMMARY):
    """An `EditPane` of one segment's summary, with its checks between the text and the changes.

    The draft is kept under the first commit of the segment until the summary is applied.
    """

    DEFAULT_CSS = """
    SummaryEditPane #edit-checks { height: 1fr; min-height: 3; }
    SummaryEditPane EditorArea { height: 2fr; }
    """

    class Taken(Message):
        """The text met all criteria and is the summary now."""

        def __init__(
            self, choice: Choice, content: str, found: SegmentPreview, checked: Checked
        ) -> None:
            super().__init__()
            self.choice = choice
            self.content = content
            self.found = found
            self.checked = checked

    class Closed(Message):
        """The person left; `draft` says whether there is a draft now."""

        def __init__(self, choice: Choice, *, kept: bool, draft: bool) -> None:
            super().__init__()
            self.choice = choice
            self.kept = kept
            self.draft = draft

    def __init__(self, drafts: Drafts, judge: Judge, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(verb="take", id=id)
        self._drafts = drafts
        self._judge = judge
        self._choice: Choice | None = None
        self._judged: tuple[str, SegmentPreview, Checked] | None = None
        """The text that was checked last, and the result."""
        self._check_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        title, editor, difference = super().compose()
        yield title
        yield editor
        yield TextPane(title="Checks", id="edit-checks")
        yield difference

    def edit(self, choice: Choice, original: str, content: str) -> None:
        """Edit the summary of a choice, from its draft where there is one.

        `original` is the engine's text, against which changes are shown.
        """
        commit = choice.sources[0]
        draft = self._drafts.load(commit)
        self._choice, self._judged = choice, None
        initial = draft if draft is not None else content
        title = f"Edit {choice.segment} at {level_name(choice.level)}"
        self.begin(commit, original, initial if initial != original else None, title=title)
        self._check(initial)
        if draft is not None:
            self.say(f"{choice.segment} by hand: this is your draft.")
        else:
            self.say(
                f"{choice.segment} by hand: {shared.SAVE_EDIT.key} accepts "
                f"it, {shared.LEAVE_EDIT.key} keeps a draft."
            )

    @property
    def checks(self) -> TextPane:
        """The pane of the checks."""
        return self.query_one("#edit-checks", TextPane)

    def remark(self) -> tuple[str, bool]:
        if self._judged is None:
            return f"{len(self.content):,} characters", False
        found, signs = self._judged[1], glyphs(self.app)
        compressed = found.compressed
        figures = (
            f"{compressed.token_count:,} tok",
            f"{compressed.compression_ratio:.1f}:1",
            figure(found.fidelity.overall_score),
        )
        return f" {signs.dot} ".join(figures), _misses(found)

    def put(self, content: str) -> None:
        """Replace the text; the editor can undo it."""
        editor = self.editor
        editor.replace(content, (0, 0), editor.document.end)
        editor.move_cursor(editor.document.end)

    def keep_now(self) -> None:
        """Keep a draft of the text."""
        if self._choice is not None and self.changed:
            self._drafts.save(self.memory, self.content)

    # checks

    @on(TextArea.Changed)
    def _check_later(self) -> None:
        if self._check_timer is not None:
            self._check_timer.stop()
        self._check_timer = self.set_timer(CHECK_AFTER, self._check_now)

    def _check_now(self) -> None:
        if self.is_attached and self.content.strip():
            self._check(self.content)

    def _check(self, content: str, then: Take = lambda found, checked: None) -> None:
        """Check a text, show the result, and call `then` if the editor is still open."""
        choice = self._choice
        if choice is None:
            return
        if self._judged is not None and self._judged[0] == content:
            then(*self._judged[1:])
            return

        def take(found: SegmentPreview, checked: Checked) -> None:
            if self._choice is not choice:
                return
            self._judged = content, found, checked
            hints = (
                f"{keys.APPEND_MISSING.key} appends what is missing",
                f"{keys.APPEND_MISSING.key} append",
            )
            blocks = check_blocks(found, RATIOS[found.level], checked, glyphs(self.app))
            self.checks.show(
                blocks, title="Checks", hints=hints if _misses(found) else (), keep_scroll=True
            )
            self.draw_title()
            then(found, checked)

        self._judge(choice, content, take)

    @runs(keys.APPEND_MISSING)
    def append_missing(self) -> None:
        """Append the missing criteria and anchors, in the words of the source; the editor can undo
        it.
        """
        content = self.content

        def then(found: SegmentPreview, _: Checked) -> None:
            text = with_missing_appended(found, content)
            if self.content != content:
                return
            if text == content:
                self.say("Nothing that can be appended is missing.")
                return
            self.put(text)
            self.say(f"Appended the missing parts; {shared.SAVE_EDIT.key} accepts it.")

        self._check(content, then)

    # taking and leaving

    def save(self) -> None:
        if not self.content.strip():
            self.say(
                f"A summary needs words: {keys.FULL.key} leaves the segment "
                f"Full, {shared.LEAVE_EDIT.key} leaves the edit."
            )
            return
        super().save()

    async def on_edit_pane_saved(self, message: EditPane.Saved) -> None:
        """Keep the text as a draft, and accept it unless a criterion fails."""
        message.stop()
        content = message.content

        def save() -> None:
            self._drafts.save(message.memory, content)
            self._check(content, lambda found, checked: self._take(content, found, checked))

        await self.patiently(save)

    def _take(self, content: str, found: SegmentPreview, checked: Checked) -> None:
        choice = self._choice
        if choice is None:
            return
        if found.failures:
            missing = "; ".join(each.message for each in found.failures)
            self.say(f"Summary missing: {missing}. {keys.APPEND_MISSING.key} appends it.", bad=True)
            return
        self._choice = None
        self.post_message(self.Taken(choice, content, found, checked))

    async def on_edit_pane_left(self, message: EditPane.Left) -> None:
        """Keep the text as a draft; if that fails the editor stays open."""
        message.stop()
        content, changed = message.content, message.changed
        await self.patiently(lambda: self._close(message.memory, content, changed=changed))

    def _close(self, commit: int, content: str, *, changed: bool) -> None:
        choice = self._choice
        if choice is None:
            return
        taken = choice.engine == BY_HAND
        kept = changed and not (taken and choice.content == content)
        if kept:
            self._drafts.save(commit, content)
        elif not taken:
            self._drafts.discard(commit)
        self._choice = None
        self.post_message(self.Closed(choice, kept=kept, draft=kept or taken))

    async def on_edit_pane_draft_changed(self, message: EditPane.DraftChanged) -> None:
        """Keep a draft while the text is written."""
        message.stop()
        choice = self._choice
        if choice is not None and choice.sources[0] == message.memory:  # it is still open
            await self.patiently(lambda: self._drafts.save(message.memory, message.content))


def _misses(found: SegmentPreview) -> bool:
    return bool(found.failures or found.compressed.anchors_missing)
