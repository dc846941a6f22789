"""Editing a text: the editor above, its changes against the original below."""

from __future__ import annotations

from asyncio import sleep, to_thread
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual._types import WatchCallbackType
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.dom import DOMNode
from textual.timer import Timer
from textual.widgets import TextArea
from textual.worker import WorkType

from reviewer.errors import ReviewerError
from reviewer.extraction.rules import LONGEST_STATEMENT, SHORTEST_STATEMENT
from reviewer.promotion.rows.wordings import wording_problem
from reviewer.text.display import display_text
from reviewer.text.word_diff import Hunk, hunks, put_back
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import Actor, unless
from reviewer.tui.kit.line import entitle
from reviewer.tui.kit.text import MARGIN, TextBlock, count, marked_changes
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import Glyphs, glyphs

if TYPE_CHECKING:
    from reviewer.tui.kit.text_edit import TextEdit

WITHOUT_CHANGES = (keys.SAVE_EDIT, keys.LEAVE_EDIT, keys.EMPTY)
"""Actions on a text that has no original."""
DIFF_AFTER = 0.05
"""Pause in typing before the difference is redrawn."""
DRAFT_AFTER = 0.5
"""Seconds from the first unsaved key until the draft is saved."""


class EditorArea(TextArea, inherit_bindings=False):
    """A text area that shows hidden characters as one-character marks.

    The keys of screens also work in it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        each
        for each in TextArea.BINDINGS
        if isinstance(each, Binding) and each.key not in ("f6", "f7", "ctrl+u,super+backspace")
    ]

    def watch(
        self, obj: DOMNode, attribute_name: str, callback: WatchCallbackType, init: bool = True
    ) -> None:
        """Watch an attribute of a node; the app's theme only while this area exists.

        The app clears its watchers only when the theme changes, so every field ever shown would
        stay in memory.
        """
        if obj is self.app and attribute_name == "theme":
            self.app.theme_changed_signal.subscribe(self, lambda _: self._app_theme_changed())
        else:
            super().watch(obj, attribute_name, callback, init)

    def on_unmount(self) -> None:
        self.app.theme_changed_signal.unsubscribe(self)

    def get_line(self, line_index: int) -> Text:
        """A line without control characters, which must not reach the terminal."""
        line = self.document.get_line(line_index)
        if display_text(line) != line:
            line = "".join(_one_for_one(character) for character in line)
        return Text(line, end="", no_wrap=True)


def _one_for_one(character: str) -> str:
    if character == "\t":
        return character
    shown = display_text(character)
    if len(shown) == 1:
        return shown
    return "?" if shown.isascii() else "\ufffd"


class WordDiffView(TextPane):
    """The difference, with one change selected."""

    _hunks: tuple[Hunk, ...] = ()
    _chosen = 0

    @property
    def chosen(self) -> int | None:
        """The index of the selected change; None without changes."""
        return self._chosen if self.changes else None

    @property
    def changes(self) -> int:
        return sum(hunk.op != "equal" for hunk in self._hunks)

    def show_hunks(self, hunks: Sequence[Hunk]) -> None:
        """Show a difference; the same index stays selected if possible."""
        self._hunks = tuple(hunks)
        self._chosen = max(0, min(self._chosen, self.changes - 1))
        self._draw(follow=False)

    def step(self, by: int) -> None:
        """Select another change, if there is one, and scroll to it."""
        if 0 <= self._chosen + by < self.changes:
            self._chosen += by
            self._draw(follow=True)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Name the keys for changes only here: in the editor they are typed."""
        super().watch_has_focus(has_focus)
        self._draw(follow=False)

    def _draw(self, *, follow: bool) -> None:
        signs = glyphs(self.app)
        total = self.changes
        hint = ""
        if self.has_focus and total:
            turns = f"{keys.PREVIOUS_HUNK.key} {keys.NEXT_HUNK.key}"
            hint = f"{turns} turn, {keys.REVERT_HUNK.key} reverts it"
        where = f", change {self._chosen + 1} of {total}" if total else ""
        self.show(
            [diff_block(self._hunks, self._chosen, signs)],
            title=f"Against the original{where}",
            hint=hint,
            reveal=0 if total else None,
            keep_scroll=not follow,
        )


def diff_block(hunks: Sequence[Hunk], chosen: int, signs: Glyphs) -> TextBlock:
    """The difference as one text, with one change selected."""
    if all(hunk.op == "equal" for hunk in hunks):
        return TextBlock("No changes yet.", "faint", first=MARGIN)
    text, spans = marked_changes(hunks, chosen, signs.bar)
    return TextBlock(text, "dim", spans, first=MARGIN)


class EditPane(Actor, Vertical, pane=keys.EDIT):
    """The editor and the difference, in place of a screen's panes until `close` is called."""

    DEFAULT_CSS = """
    EditPane { height: 1fr; width: 1fr; }
    EditPane EditorArea {
        padding: 0 1; height: 1fr; min-height: 4; background: $background;
        scrollbar-size-vertical: 1;
    }
    EditPane WordDiffView { height: 1fr; min-height: 4; }
    EditPane.-new WordDiffView { display: none; }
    """

    def __init__(self, close: Callable[[TextEdit], None]) -> None:
        """`close` shows the panes again, unless another text is being edited."""
        super().__init__(id="edit")
        self._close = close
        self._edit: TextEdit | None = None
        self._draft_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        editor = EditorArea(highlight_cursor_line=False, compact=True)
        editor.cursor_blink = False
        yield editor
        yield WordDiffView()

    def begin(self, edit: TextEdit, draft: str | None = None) -> None:
        """Edit a text, from its draft if there is one, and take the focus."""
        self._stop_keeping()
        self._edit = edit
        self._kept = edit.begin if draft is None else draft
        self.editor.load_text(self._kept)
        self.editor.move_cursor(self.editor.document.end)
        self.draw_title()
        self.set_class(not edit.original, "-new")
        self._draw_soon(0)
        # Immediately, so that text typed ahead reaches the editor.
        self.screen.set_focus(self.editor, scroll_visible=False)

    @property
    def edit(self) -> TextEdit:
        """The text being edited; there must be one."""
        assert self._edit is not None
        return self._edit

    def offers(self, action: Action) -> bool:
        return action in WITHOUT_CHANGES or self.difference.display

    def title_of(self, action: Action) -> str:
        """The title of an action; for saving, its effect."""
        verb = self._edit.verb if self._edit is not None else action.title
        return verb if action is keys.SAVE_EDIT else action.title

    @property
    def editor(self) -> EditorArea:
        return self.query_one(EditorArea)

    @property
    def difference(self) -> WordDiffView:
        return self.query_one(WordDiffView)

    @property
    def content(self) -> str:
        return self.editor.text

    @property
    def changed(self) -> bool:
        """Whether the text differs from the initial one."""
        return self._edit is not None and self.content != self._edit.begin

    async def action_save_edit(self) -> None:
        """Save the text, unless it is empty; if saving fails, the draft is kept."""
        edit, content = self.edit, self.content
        if not content.strip():
            self.say(edit.empty or wording_problem(""))
            return
        self._stop_keeping()
        try:
            result = await edit.save(content)
        except ReviewerError:
            edit.drafts.save(edit.key, content)
            raise
        edit.drafts.discard(edit.key)
        self._close(edit)
        edit.saved(result)

    def action_empty_text(self) -> None:
        self.editor.clear()

    def action_leave_edit(self) -> None:
        self.say(self.leave(), passing=True)

    def leave(self) -> str:
        """Close the editor, and keep a changed text as a draft; an emptied one is discarded.
        Returns a sentence about that.
        """
        self._stop_keeping()
        edit = self.edit
        if self.changed and self.content.strip():
            edit.drafts.save(edit.key, self.content)
            again = edit.again.key or edit.again.title
            words = f"the draft is kept; {again} continues it."
        else:
            edit.drafts.discard(edit.key)
            words = "left unchanged."
        self._close(edit)
        return f"{edit.title}: {words}"

    def keep_now(self) -> None:
        if self.changed:
            self._kept = self.content
            self.edit.drafts.save(self.edit.key, self._kept)

    def _no_change(self) -> str | None:
        return None if self.content != self.edit.original else "No changes yet."

    @unless(_no_change)
    def action_next_hunk(self) -> None:
        self.difference.step(1)

    @unless(_no_change)
    def action_previous_hunk(self) -> None:
        self.difference.step(-1)

    async def action_put_back(self) -> None:
        """Restore the original text of the selected change; the editor can undo that."""
        await self._draw_difference()
        chosen = self.difference.chosen
        if chosen is None:
            self.say("No changes to revert.")
            return
        editor = self.editor
        text = put_back(self.edit.original, self.content, chosen)
        editor.replace(text, (0, 0), editor.document.end)

    def action_switch_half(self) -> None:
        """Go from the text to the difference, or back."""
        to_difference = self.editor.has_focus and self.difference.display
        other = self.difference if to_difference else self.editor
        self.screen.set_focus(other, scroll_visible=False)

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.draw_title()
        self._draw_soon(DIFF_AFTER)
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(DRAFT_AFTER, self._keep_draft)

    async def _keep_draft(self) -> None:
        self._draft_timer = None
        if self.content != self._kept:
            self._kept = self.content
            await self.patiently(lambda: self.edit.drafts.save(self.edit.key, self.content))

    def _stop_keeping(self) -> None:
        if self._draft_timer is not None:
            self._draft_timer.stop()
        self._draft_timer = None

    def draw_title(self) -> None:
        """Draw the title: the remark about the text, and the keys if there is room."""
        if self._edit is None:
            return
        remark, warn = (self.edit.remark or length_remark)(self.content)
        words = f"{glyphs(self.app).attention} {remark}" if warn else remark
        ends = f"{keys.SAVE_EDIT.key} {self.edit.verb}, {keys.LEAVE_EDIT.key} keep draft"
        entitle(self.editor, self.edit.title, words, ends)

    def _draw_soon(self, pause: float) -> None:
        drawing: WorkType[None] = partial(self._draw_difference, pause)
        self.run_worker(drawing, exclusive=True, group="difference")

    async def _draw_difference(self, pause: float = 0) -> None:
        await sleep(pause)
        found = await to_thread(hunks, self.edit.original, self.content)
        if self.is_attached:
            self.difference.show_hunks(found)


def length_remark(content: str) -> tuple[str, bool]:
    """The length of a text, and whether it is outside the range for proposals."""
    length = len(content.strip())
    if length > LONGEST_STATEMENT:  # an edit may be longer
        return f"{count(length, 'character')}, may be cut", True
    return count(length, "character"), length < SHORTEST_STATEMENT
