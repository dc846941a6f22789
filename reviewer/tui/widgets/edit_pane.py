"""Editing a candidate: the text on top, below it what it changes against the original."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import on
from textual._types import WatchCallbackType
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.dom import DOMNode
from textual.events import DescendantBlur, DescendantFocus
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from reviewer.text.display import display_text
from reviewer.text.word_diff import Hunk, hunks, put_back
from reviewer.tui.acting import Acting
from reviewer.tui.actions import bindings_for
from reviewer.tui.left import was_left
from reviewer.tui.theme import Glyphs, Palette
from reviewer.tui.widgets.line import Line, Part, cells_of
from reviewer.tui.widgets.word_diff_view import WordDiffView

DIFF_AFTER = 0.05
"""Seconds without a key after which the difference is drawn again."""
DRAFT_AFTER = 0.5
"""Seconds after the first unsaved key when the draft is given out to be kept."""
LARGE = 20_000
"""Characters from which on the difference is computed in a thread."""
SHORTEST, LONGEST = 8, 280
"""Characters that a proposed memory has (`promotion-rules.md`); an edit may leave the range."""


class EditorArea(TextArea):
    """A text area that shows hidden characters as marks, each in the place of one character."""

    def watch(
        self, obj: DOMNode, attribute_name: str, callback: WatchCallbackType, init: bool = True
    ) -> None:
        """Follow an attribute of a node; the app's theme only as long as this area is there.

        The app's list of watchers is cleared when the theme changes and not before: it would hold
        every field that was ever shown.
        """
        if obj is self.app and attribute_name == "theme":
            self.app.theme_changed_signal.subscribe(self, lambda _: self._app_theme_changed())
        else:
            super().watch(obj, attribute_name, callback, init)

    def on_unmount(self) -> None:
        """The area goes."""
        self.app.theme_changed_signal.unsubscribe(self)

    def get_line(self, line_index: int) -> Text:
        """A line as it may be drawn: control characters never reach the terminal."""
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


class EditTitle(Line):
    """`─ Edit #412 ──── ctrl+s promote · esc keep draft ─ 57 characters ─`."""

    verb = "promote"
    """What saving does."""
    title = ""
    remark = ""
    warn = False
    focused = False

    def show(self, title: str, remark: str, *, warn: bool, focused: bool) -> None:
        """Say what is edited, how long it is, and whether keys go there."""
        if (title, remark, warn, focused) != (self.title, self.remark, self.warn, self.focused):
            self.title, self.remark, self.warn, self.focused = title, remark, warn, focused
            self.refresh()

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The title, a rule, the keys where there is room, and the length."""
        main = style.accent if self.focused else style.strong
        left: list[Part] = [(sign.rule, style.rule), (f" {self.title} ", main)]
        end: list[Part] = [
            (f" {self.remark} ", style.warm if self.warn else style.dim),
            (sign.rule, style.rule),
        ]
        keys: list[Part] = [
            (f" ctrl+s {self.verb} {sign.dot} esc keep draft ", style.faint),
            (sign.rule, style.rule),
        ]
        room = self.size.width - cells_of([*left, *end])
        if cells_of(keys) + 4 <= room:
            room, end = room - cells_of(keys), [*keys, *end]
        return [*left, (sign.rule * max(room, 0), style.rule), *end], []


class EditPane(Acting, Vertical):
    """The editor and its difference. It writes nothing: it posts what the person wants."""

    DEFAULT_CSS = """
    EditPane { height: 1fr; width: 1fr; }
    EditPane EditorArea {
        border: none; padding: 0 1; height: 1fr; min-height: 3; background: $background;
        scrollbar-size-vertical: 1;
    }
    EditPane EditorArea:focus { border: none; }
    EditPane WordDiffView { height: 1fr; min-height: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("edit")]

    class Edited(Message):
        """Base of the messages: which memory, and its text as it stands in the editor."""

        def __init__(self, memory: int, content: str, *, changed: bool) -> None:
            super().__init__()
            self.memory = memory
            self.content = content
            self.changed = changed

    class Saved(Edited):
        """The person wants this wording promoted."""

    class Left(Edited):
        """The person left; the wording is worth keeping as a draft when it is `changed`."""

    class DraftChanged(Edited):
        """The wording changed and has rested for a moment: keep it as a draft."""

    def __init__(self, *, verb: str = "promote", id: str | None = None) -> None:  # noqa: A002
        """`verb` says what saving does."""
        super().__init__(id=id)
        self._verb = verb
        self._memory = 0
        self._original = ""
        self._given = ""
        self._diff_timer: Timer | None = None
        self._draft_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The title, the editor, the difference."""
        title = EditTitle()
        title.verb = self._verb
        yield title
        editor = EditorArea(highlight_cursor_line=False, compact=True)
        editor.cursor_blink = False
        yield editor
        yield WordDiffView()

    def begin(self, memory: int, original: str, draft: str | None = None) -> None:
        """Edit a memory's wording, from its draft where there is one, and take the focus."""
        self._stop_timers()
        self._memory, self._original = memory, original
        self._given = original if draft is None else draft
        self.editor.load_text(self._given)
        self.editor.move_cursor(self.editor.document.end)
        self._draw_length()
        self._draw_difference()
        self.editor.focus()

    @property
    def editor(self) -> EditorArea:
        """The text area."""
        return self.query_one(EditorArea)

    @property
    def difference(self) -> WordDiffView:
        """The view of what changed."""
        return self.query_one(WordDiffView)

    @property
    def content(self) -> str:
        """The wording as it stands."""
        return self.editor.text

    @property
    def memory(self) -> int:
        """Which memory is edited."""
        return self._memory

    @property
    def changed(self) -> bool:
        """Whether the wording differs from the original."""
        return self.content != self._original

    def save(self) -> None:
        """Post the wording as wanted, unless it is empty."""
        if not self.content.strip():
            self.say("A memory needs words: write some, or leave with escape and reject it with x.")
            return
        self._stop_timers()
        self.post_message(self.Saved(self._memory, self.content, changed=self.changed))

    def leave(self) -> None:
        """Post that the person leaves, with what is there."""
        self._stop_timers()
        self.post_message(self.Left(self._memory, self.content, changed=self.changed))

    def next_hunk(self) -> None:
        """Choose the next change."""
        chosen = self.difference.chosen
        if chosen is not None:
            self.difference.choose(chosen + 1)

    def previous_hunk(self) -> None:
        """Choose the change before."""
        chosen = self.difference.chosen
        if chosen is not None:
            self.difference.choose(chosen - 1)

    def put_back(self) -> None:
        """Make the chosen change as it was originally; the editor can undo that."""
        self._draw_difference()
        chosen = self.difference.chosen
        if chosen is None:
            self.say("Nothing is changed, so there is nothing to put back.")
            return
        editor = self.editor
        text = put_back(self._original, self.content, chosen)
        editor.replace(text, (0, 0), editor.document.end)
        self._draw_difference()

    def switch_half(self) -> None:
        """Go from the text to the difference, or back."""
        (self.difference if self.editor.has_focus else self.editor).focus()

    @on(DescendantFocus)
    @on(DescendantBlur)
    def _focus_moved(self) -> None:
        self._draw_length()

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._draw_length()
        if self._diff_timer is not None:
            self._diff_timer.stop()
        self._diff_timer = self.set_timer(DIFF_AFTER, self._draw_difference)
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(DRAFT_AFTER, self._give_draft)

    def _give_draft(self) -> None:
        self._draft_timer = None
        if self.content != self._given:
            self._given = self.content
            self.post_message(self.DraftChanged(self._memory, self._given, changed=self.changed))

    def _stop_timers(self) -> None:
        for timer in (self._diff_timer, self._draft_timer):
            if timer is not None:
                timer.stop()
        self._diff_timer = self._draft_timer = None

    def _draw_length(self) -> None:
        remark, warn = length_remark(self.content)
        focused = self.editor.has_focus
        self.query_one(EditTitle).show(f"Edit #{self._memory}", remark, warn=warn, focused=focused)

    def _draw_difference(self) -> None:
        original, edited = self._original, self.content
        if len(original) + len(edited) < LARGE:
            self.difference.show_hunks(hunks(original, edited))
            return

        def compute() -> None:
            self.app.call_from_thread(self._show_if_current, edited, hunks(original, edited))

        self.run_worker(compute, thread=True, exclusive=True, group="difference")

    def _show_if_current(self, edited: str, found: tuple[Hunk, ...]) -> None:
        if not was_left(self) and edited == self.content:
            self.difference.show_hunks(found)


def length_remark(content: str) -> tuple[str, bool]:
    """How long a wording is, with a remark outside the range that the extractor keeps to."""
    length = len(content.strip())
    noun = "character" if length == 1 else "characters"
    if length == 0:
        return "empty", True
    if length < SHORTEST:
        return f"{length} {noun}, short for a memory", True
    if length > LONGEST:
        return f"{length:,} {noun}, proposals have at most {LONGEST}", True
    return f"{length} {noun}", False
