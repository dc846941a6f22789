"""Choosing one of several lines; typing narrows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import TextArea

from reviewer.text.display import display_line
from reviewer.tui.kit import keys
from reviewer.tui.kit.actor import Actor, runs
from reviewer.tui.kit.edit_pane import Field
from reviewer.tui.kit.line import Part, TitleRule, cut, line_of
from reviewer.tui.theme import glyphs, palette

NAME_CELLS = 18
NOTHING = "Nothing matches: backspace."
NARROW = "type to narrow"


@dataclass(frozen=True)
class Option:
    """A line to choose; the caller identifies it by `key`."""

    key: str
    name: str
    detail: str = ""


class ChoiceList(ScrollView):
    """Options with a cursor; the pane handles the keys."""

    DEFAULT_CSS = "ChoiceList { height: 1fr; width: 1fr; overflow: hidden hidden; }"

    class Clicked(Message):
        """An option was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.options: Sequence[Option] = ()
        self.cursor = 0
        self.nothing = NOTHING
        """The sentence for an empty list."""

    def show(self, options: Sequence[Option]) -> None:
        """Show other options, the cursor on the first."""
        self.options, self.cursor = options, 0
        self.virtual_size = Size(self.size.width, len(options))
        self.scroll_to(y=0, animate=False, immediate=True)
        self.refresh()

    @property
    def current(self) -> Option | None:
        return self.options[self.cursor] if self.cursor < len(self.options) else None

    def move_by(self, rows: int) -> None:
        if not self.options:
            return
        self.cursor = max(0, min(self.cursor + rows, len(self.options) - 1))
        height, top = max(self.size.height, 1), self.scroll_offset.y
        wanted = min(max(top, self.cursor - height + 1), self.cursor)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, immediate=True)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        at = self.scroll_offset.y + event.y
        if at < len(self.options):
            self.move_by(at - self.cursor)
            self.post_message(self.Clicked())

    def restyle(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        style, sign = palette(self.app), glyphs(self.app)
        width, at = self.size.width, self.scroll_offset.y + y
        if at >= len(self.options):
            words = self.nothing if not self.options and y == 0 else ""
            return line_of([("   " + words, style.dim)], width, style.text, sign.ellipsis)
        option, here = self.options[at], at == self.cursor
        text, _, dim, accent, _ = style.on_row(here=here)
        name = display_line(option.name)
        parts: list[Part] = [(sign.bar if here else " ", accent if here else dim)]
        if option.detail:
            name = cut(name, NAME_CELLS - 2, sign.ellipsis).ljust(NAME_CELLS)
        parts += [("  " + name, text), (display_line(option.detail), dim)]
        return line_of(parts, width - 1, text, sign.ellipsis).extend_cell_length(width, text)


class ChoicePane(Actor, Vertical, pane=keys.CHOICE):
    """A title, a field, and the options that contain the typed text."""

    DEFAULT_CSS = "ChoicePane { height: 1fr; width: 1fr; } ChoicePane Field { margin: 0 1; }"

    class Chosen(Message):
        """An option was chosen."""

        def __init__(self, option: Option) -> None:
            super().__init__()
            self.option = option

    class Left(Message):
        """The person left without choosing."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._options: Sequence[Option] = ()
        self._narrow: Callable[[str], None] | None = None
        self._by_letter = False
        self._answered = False
        """The question was answered or left: a second key typed ahead is not about the next one."""

    def compose(self) -> ComposeResult:
        yield TitleRule()
        yield Field(NARROW)
        yield ChoiceList()

    def ask(
        self,
        title: str,
        detail: str,
        options: Sequence[Option],
        *,
        narrow: Callable[[str], None] | None = None,
        hint: str = "",
        nothing: str = "",
        by_letter: bool = False,
    ) -> None:
        """Ask for one of some options; `narrow` gets the typed text and calls `offer` later.

        `hint` is shown in the field while it is empty, `nothing` below it while there are no
        options. With `by_letter`, the first letter of an option chooses it.
        """
        self._narrow = None
        self._by_letter, self._answered = by_letter, False
        self.field.placeholder, self.list.nothing = hint or NARROW, nothing or NOTHING
        self.query_one(TitleRule).show(title, detail, focused=True)
        self.field.load_text("")
        self._narrow = narrow
        self.offer(options)
        self.screen.set_focus(self.field, scroll_visible=False)

    def offer(self, options: Sequence[Option]) -> None:
        self._options = options
        self.list.show(options)

    @property
    def field(self) -> Field:
        return self.query_one(Field)

    @property
    def list(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        text = self.field.value
        if self._narrow is not None:
            self._narrow(text)
            return
        words = text.casefold().split()
        if self._by_letter and len(text) == 1:
            first = (one for one in self._options if one.name.casefold().startswith(words[0]))
            if (chosen := next(first, None)) is not None:
                self._answer(self.Chosen(chosen))
                return
        self.list.show(
            [
                one
                for one in self._options
                if all(word in f"{one.name} {one.detail}".casefold() for word in words)
            ]
        )

    @on(Field.Entered)
    @on(ChoiceList.Clicked)
    def _entered(self, event: Message) -> None:
        event.stop()
        self.choose()

    @runs(keys.CHOOSE)
    def choose(self) -> None:
        option = self.list.current
        if option is not None:
            self._answer(self.Chosen(option))

    @runs(keys.LEAVE_CHOICE)
    def leave(self) -> None:
        self._answer(self.Left())

    def _answer(self, message: Chosen | Left) -> None:
        if not self._answered:
            self._answered = True
            self.post_message(message)

    @runs(keys.CHOICE_DOWN)
    def line_down(self) -> None:
        self.list.move_by(1)

    @runs(keys.CHOICE_UP)
    def line_up(self) -> None:
        self.list.move_by(-1)

    @runs(keys.CHOICE_PAGE_DOWN)
    def page_down(self) -> None:
        self.list.move_by(max(self.list.size.height - 1, 1))

    @runs(keys.CHOICE_PAGE_UP)
    def page_up(self) -> None:
        self.list.move_by(-max(self.list.size.height - 1, 1))
