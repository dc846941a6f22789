"""Choosing an option in a small window beside the row in question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region
from textual.screen import Screen
from textual.widgets import Input, OptionList

from reviewer.errors import ReviewerError
from reviewer.text.display import display_line
from reviewer.tui.kit import keys
from reviewer.tui.kit.actor import Actor, DismissOnce
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.text import cut
from reviewer.tui.kit.text_pane import TextPane

Find = Callable[[str], Sequence[Option] | str]
"""Returns the options for a typed text, or a sentence in their place; may also raise a
ReviewerError with one."""

NAME_CELLS = 34
LEAST_ROWS, MAX_ROWS = 6, 18
FRAME = 3
"""Rows of the border and the field."""
MIN_CELLS, MAX_CELLS, WIDE_CELLS = 36, 78, 110


MOVES = {
    "down": "cursor_down", "up": "cursor_up", "ctrl+n": "cursor_down", "ctrl+p": "cursor_up",
    "pagedown": "page_down", "pageup": "page_up",
    "home": "first", "end": "last",
}  # fmt: skip
PAGES = {"pagedown": 1, "pageup": -1}


class ChoiceList(OptionList, can_focus=False, inherit_bindings=False):
    """The options; the field above has the focus."""


class ChoiceField(Input):
    """A field that submits at once; a binding would run after the keys typed ahead of it.

    Of a list to be narrowed, a first `?` asks for help.
    """

    narrows = False

    async def on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            await self.action_submit()
        elif (
            event.is_printable
            and event.key in keys.HELP.bound_keys
            and self.narrows
            and not self.value
        ):
            event.stop()
            event.prevent_default()  # it is not typed
            await self.run_action(f"app.{keys.HELP.id}")


class ChoiceScreen(
    DismissOnce, Actor, Screen[Option | None], inherit_bindings=False, pane=keys.CHOICE
):
    """A field, and the options for its text; arrows move, enter chooses.

    Not a modal screen of Textual, so that the keys of other screens work in it.
    """

    DEFAULT_CSS = """
    ChoiceScreen { background: transparent; }
    ChoiceScreen > Vertical { border: round $accent; border-title-color: $accent; }
    ChoiceScreen Input { border: none; height: 1; padding: 0 1; background: $background; }
    ChoiceScreen ChoiceList { border: none; padding: 0; height: 1fr; background: $background;
                              scrollbar-size-vertical: 1; text-wrap: nowrap;
                              text-overflow: ellipsis; }
    ChoiceScreen ChoiceList.-wrapped { text-wrap: wrap; text-overflow: fold; }
    """

    def __init__(
        self,
        title: str,
        options: Sequence[Option] | Find,
        *,
        near: Region,
        until: int,
        hint: str = "",
        text: str = "",
        current: str = "",
        whole: bool = False,
        pane: TextPane | None = None,
        nothing: str,
        chosen: Callable[[Option], Awaitable[None]] | None = None,
    ) -> None:
        """`options`: all of them, to be narrowed by the typed words, or a function that finds them;
        `near`: the row that must stay visible, whose list ends at the line `until`; `text`: the
        initial text of the field, which typing replaces unless it ends with a blank or slash;
        `current`: the initial option. With `whole` it fills the screen. Page keys scroll `pane`,
        the subject of the question. `nothing`: the words if no option matches.
        With `chosen` it stays open, and calls that.
        """
        super().__init__()
        self._find = options if callable(options) else partial(_fitting, options)
        self._first = self._found(text)
        first = () if isinstance(self._first, str) else self._first
        least = LEAST_ROWS if callable(options) else 0
        self._rows = min(max(len(first), least), MAX_ROWS)
        self._cells = WIDE_CELLS if callable(options) else max(map(_cells, first), default=0)
        self._shown: Sequence[Option] = ()
        self._marked = 0
        self._near, self._until = near, until
        self._text = text
        self._current = current
        self._whole = whole
        self._pane = pane
        self._nothing = nothing
        self._chosen = chosen
        self._hint = hint or "type to narrow, arrows move"
        self.field = ChoiceField(
            text,
            placeholder=self._hint,
            compact=True,
            select_on_focus=not text.endswith((" ", "/")),
        )
        self.field.cursor_blink = False
        self.field.narrows = not callable(options)
        self.list = ChoiceList(markup=False)
        self.box = Vertical(self.field, self.list)
        self.box.border_title = Content(display_line(title))
        if text and hint:
            self.box.border_subtitle = Content(display_line(hint))

    def compose(self) -> ComposeResult:
        yield self.box

    def on_mount(self) -> None:
        self._place()
        self._show(self._first)
        self.set_focus(self.field)

    def on_resize(self) -> None:
        self._place()

    def _place(self) -> None:
        """Place the window below the row, or above it if there is more room; the footer below it
        shows its keys.
        """
        wide, high = self.app.size - (0, 1)
        if self._whole:
            self.box.styles.width, self.box.styles.height = wide, high
            return
        title = cell_len(str(self.box.border_title))
        width = max(self._cells + 7, cell_len(self._hint) + 6, title + 6, MIN_CELLS)
        width = min(width, max(wide * 2 // 3, MAX_CELLS), wide - 2)
        below, above = high - self._near.bottom, self._near.y
        height = min(max(self._rows, 1) + FRAME, max(below, above))
        ends = self._until - self._near.bottom
        # Above, where below would cover the text of the row.
        y = self._near.y - height if height > below or ends < height <= above else self._near.bottom
        x = max(min(self._near.right, wide) - width - 1, 0)
        self.box.styles.width, self.box.styles.height = width, height
        self.box.styles.offset = (x, y)

    @property
    def current(self) -> Option | None:
        at = self.list.highlighted
        return self._shown[at] if at is not None and at < len(self._shown) else None

    def _show(self, found: Sequence[Option] | str) -> None:
        words = found if isinstance(found, str) else self._nothing
        self._shown = () if isinstance(found, str) else found
        has_room = len(self._shown) == 1 and self._rows > 1
        self.list.set_class(has_room or not self._shown, "-wrapped")
        self.list.clear_options()
        keys_shown = [each.key for each in self._shown]
        initial = self._current in keys_shown and self.field.value == self._text
        self._marked = keys_shown.index(self._current) if initial else 0
        self.list.add_options(
            [self._line(at) for at in range(len(self._shown))] or [Content.styled(words, "$dim")]
        )
        self.list.highlighted = self._marked if self._shown else None

    @on(OptionList.OptionHighlighted)
    def _mark(self, event: OptionList.OptionHighlighted) -> None:
        """Move the bar, which marks the current option on terminals without colours, too."""
        event.stop()
        at, before = self.list.highlighted, self._marked
        if at is not None and at < len(self._shown):
            self._marked = at
            for each in (before, at):
                self.list.replace_option_prompt_at_index(each, self._line(each))

    def _line(self, at: int) -> Content:
        signs, option = self.host.glyphs, self._shown[at]
        mark = (signs.bar if at == self._marked else " ", "$accent")
        name, detail = display_line(option.name), display_line(option.detail)
        style = "$dim" if option.off else ""
        if not detail:
            return Content.assemble(mark, " ", (name, style))
        shown = cut(name, NAME_CELLS, signs.ellipsis)
        return Content.assemble(mark, " ", (shown, style), "  ", (detail, "$dim"))

    def _found(self, text: str) -> Sequence[Option] | str:
        try:
            return self._find(text)
        except ReviewerError as error:
            return str(error)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_active:  # else it was typed after the choice
            self._show(self._found(event.value))

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    async def action_choose(self) -> None:
        option, chosen = self.current, self._chosen
        if option is not None and chosen is not None:
            await self.patiently(lambda: chosen(option))
        elif option is not None:
            self.dismiss(option)
        elif not self.field.value.strip():
            self._show(f"Type something first; {keys.LEAVE_CHOICE.key} leaves.")

    def action_leave_choice(self) -> None:
        self.dismiss(None)

    def on_key(self, event: events.Key) -> None:
        """Pass movement keys from the field to the list or the pane."""
        move = MOVES.get(event.key)
        if move is None or (len(self._shown) < 2 and event.key not in PAGES):
            return
        event.stop()
        if self._pane is not None and event.key in PAGES:
            self._pane.move_by(PAGES[event.key] * max(self._pane.height - 2, 1))
        elif self.list.size.height:  # Textual cannot page a list without lines
            getattr(self.list, f"action_{move}")()


def _fitting(options: Sequence[Option], text: str) -> list[Option]:
    """The options with all words of a text: first names that begin with it, then names that
    contain it.
    """
    words, start = text.casefold().split(), text.casefold()
    fitting = [
        each
        for each in options
        if (
            each.name.casefold().startswith(start)
            if each.by_start
            else all(word in f"{each.name} {each.detail}".casefold() for word in words)
        )
    ]
    names = {each: each.name.casefold() for each in fitting}
    return sorted(
        fitting, key=lambda each: (not names[each].startswith(start), start not in names[each])
    )


def _cells(option: Option) -> int:
    name = cell_len(display_line(option.name))
    return name if not option.detail else min(name, NAME_CELLS) + 2 + cell_len(option.detail)
