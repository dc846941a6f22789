"""The parts of the State screen: its list, its form, and a key of trusted state as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from reviewer.promotion.views import QueueRow
from reviewer.text.display import display_line
from reviewer.tui.evidence.structure import labelled
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import Actor
from reviewer.tui.kit.edit_pane import EditorArea, Field
from reviewer.tui.kit.line import BarLine, Part, TitleRule, cells_of, cut, line_of
from reviewer.tui.kit.row_list import ModelList, cursor_bar
from reviewer.tui.kit.row_sign import sign_of
from reviewer.tui.kit.text import Block, Run, Span, elapsed, moment
from reviewer.tui.state import keys
from reviewer.tui.state.model import Head, StateModel
from reviewer.tui.theme import Glyphs, Palette

if TYPE_CHECKING:
    from reviewer.promotion.trusted_state import StateView

KEY_CELLS = 24


class FactList(ModelList[StateModel]):
    """Draws a `StateModel`; the cursor skips the headings of groups."""

    @property
    def total(self) -> int:
        return self.model.total

    @property
    def place(self) -> tuple[int, int]:
        return self.model.place

    @property
    def first_in_sight(self) -> int:
        """The heading above the cursor has to be visible too."""
        above = self.model.cursor - 1
        return above if isinstance(self.model.row(above), Head) else self.model.cursor

    def target(self, index: int) -> int:
        found = self.model.nearest(index, 1 if index >= self.model.cursor else -1)
        return self.model.cursor if found is None else found

    def read_window(self, start: int, stop: int) -> None:
        self.model.window(start, stop)

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        row = self.model.row(at)
        if isinstance(row, Head):
            return head_strip(row, width, style, sign)
        here = at == self.model.cursor
        return fact_strip(row, width, style, sign, here=here, focused=self.has_focus)


LAYERS = {"L1": "memories", "L2": "entities", "L3": "only you write these"}


def head_strip(head: Head, width: int, style: Palette, sign: Glyphs) -> Strip:
    """` decision  12 ───────── entities `."""
    left: list[Part] = [
        (f" {cut(display_line(head.title), max(width - 16, 4), sign.ellipsis)}", style.strong),
        (f"  {head.count:,} ", style.dim),
    ]
    right = f" {LAYERS[head.layer]} "
    rest = max(width - cells_of(left) - len(right), 0)
    return line_of([*left, (sign.rule * rest, style.rule), (right, style.faint)], width,
                   style.text, sign.ellipsis)  # fmt: skip


def fact_strip(
    row: StateView | QueueRow | None,
    width: int,
    style: Palette,
    sign: Glyphs,
    *,
    here: bool,
    focused: bool,
) -> Strip:
    """One fact: a key with its value, or a wording with a sign for its special state."""
    on_row = style.on_row(here=here)
    text, strong, dim, accent, warm = on_row
    strong = strong if here else text
    bar = cursor_bar(on_row, sign, here=here, focused=focused)
    if row is None:
        return line_of(
            [bar, (f"  gone: {shared.REFRESH.key} reads again", dim)], width, text, sign.ellipsis
        )
    parts: list[Part]
    if isinstance(row, QueueRow):
        state, warning = sign_of(row, True, sign)
        state = state if warning else " "
        parts = [
            bar,
            (f" {state[0]} ", warm if warning else dim),
            (display_line(row.content[: width * 2]), strong),
        ]
    else:
        cells = max(min(KEY_CELLS, (width - 4) * 2 // 5), 8)
        key = cut(display_line(row.key), cells, sign.ellipsis)
        gap = " " * (cells - cells_of([(key, text)]) + 2)
        value = display_line(row.value[: width * 2])
        parts = [bar, ("   ", dim), (key, accent), (gap, dim), (value, strong)]
    return line_of(parts, width - 1, text, sign.ellipsis).extend_cell_length(width, text)


FIELDS = (
    ("project", "whose state this is"),
    ("key", "its subject: db_engine"),
    ("value", "type it"),
    ("note", "why it is so"),
    ("evidence", "where it can be looked up: path:line"),
)


class FieldName(BarLine):
    DEFAULT_CSS = "FieldName { width: 11; }"

    def __init__(self, name: str) -> None:
        super().__init__()
        self._text = name

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        return [(f" {self._text}", style.dim)], []


class ValueArea(EditorArea):
    """The value, which may have several lines."""

    DEFAULT_CSS = """
    ValueArea { border: none; padding: 0; height: 3; width: 1fr; background: $panel;
                scrollbar-size-vertical: 1; }
    ValueArea:focus { border: none; }
    """


class StateForm(Actor, Vertical, pane=keys.FORM):
    """The fields of one value. It does not write: it posts the typed values."""

    DEFAULT_CSS = """
    StateForm { height: auto; width: 1fr; }
    StateForm Horizontal { height: auto; padding: 0 1 0 0; }
    StateForm .-hidden { display: none; }
    """

    class Saved(Message):
        """The person wants this value written."""

        def __init__(self, values: dict[str, str]) -> None:
            super().__init__()
            self.values = values

    class Left(Message):
        """The person left the form."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.about = ""
        """The key whose new value is written; empty for a new key."""
        self._begun: dict[str, str] = {}
        """The values without any typing."""

    def compose(self) -> ComposeResult:
        yield TitleRule()
        for name, hint in FIELDS:
            with Horizontal(id=f"row-{name}"):
                yield FieldName(name)
                if name == "value":
                    area = ValueArea(
                        highlight_cursor_line=False, compact=True, tab_behavior="focus",
                        placeholder=hint, id="field-value",
                    )  # fmt: skip
                    area.cursor_blink = False
                    yield area
                else:
                    yield Field(hint, id=f"field-{name}")

    def begin(
        self, project: str | None, typed: dict[str, str] | None, *, ask_project: bool
    ) -> None:
        """A new key. The fields are empty, or have the text that was typed but not written."""
        self.about, self._begun = "", {}
        self._fill(typed or {})
        self._open("New value", project or "", ask_project=ask_project)

    def begin_with(
        self, project: str, values: dict[str, str], typed: dict[str, str] | None
    ) -> None:
        """A new value of a key: the fields have the value that it supersedes, or the text that was
        typed but not written.
        """
        self.about, self._begun = values["key"], values
        self._fill(typed or values)
        self._open(f"New value of {display_line(self.about)}", project, ask_project=False)

    @property
    def name_of_text(self) -> tuple[str, str]:
        """The project and key that the typed text is for; both empty for a new key."""
        return (self.values["project"], self.about) if self.about else ("", "")

    @property
    def changed(self) -> bool:
        """Whether anything besides the project was typed."""
        return any(
            text != self._begun.get(name, "").strip()
            for name, text in self.values.items()
            if name != "project"
        )

    def _open(self, title: str, project: str, *, ask_project: bool) -> None:
        detail = "typed by hand, the earlier one stays" if self.about else "typed by hand"
        self.query_one(TitleRule).show(title, detail, focused=True)
        if project or not ask_project:
            self._area("project").load_text(project)
        self.query_one("#row-project").set_class(not ask_project, "-hidden")
        self.query_one("#row-key").set_class(bool(self.about), "-hidden")
        self._fields()[0].focus(scroll_visible=False)

    def _fill(self, values: dict[str, str]) -> None:
        for name, _ in FIELDS:
            self._area(name).load_text(values.get(name, ""))

    def _area(self, name: str) -> EditorArea:
        return self.query_one(f"#field-{name}", EditorArea)

    @property
    def values(self) -> dict[str, str]:
        found = {name: self._area(name).text.strip() for name, _ in FIELDS}
        return {
            name: text if name == "value" else " ".join(text.splitlines())
            for name, text in found.items()
        }

    def _fields(self) -> list[Widget]:
        """The visible fields."""
        return [
            self._area(name)
            for name, _ in FIELDS
            if not self.query_one(f"#row-{name}").has_class("-hidden")
        ]

    def action_save_form(self) -> None:
        """Post the values, unless a required one is missing."""
        values = self.values
        for name in ("project", "key", "value"):
            if not values[name]:
                self.say(f"The {name} is empty: type it, or leave with escape.")
                self._area(name).focus(scroll_visible=False)
                return
        self.post_message(self.Saved(values))

    def action_leave_form(self) -> None:
        self.post_message(self.Left())

    @on(Field.Entered)
    def _entered(self, event: Field.Entered) -> None:
        event.stop()
        self.action_next_field()

    def action_next_field(self) -> None:
        self._step(1)

    def action_previous_field(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        fields = self._fields()
        focused = self.screen.focused
        at = fields.index(focused) if focused in fields else 0
        fields[(at + step) % len(fields)].focus(scroll_visible=False)


def state_title(state: StateView) -> str:
    """`db_engine  trusted state`."""
    return f"{state.key}  trusted state"


def state_blocks(values: Sequence[StateView], signs: Glyphs, *, now: datetime) -> list[Block]:
    """The value, then the former ones, newest first."""
    latest = values[0]
    blocks = [Block(latest.value, "text", first=(Run(" "),)), Block("")]
    if latest.ended_at is not None:
        ended = f"{signs.rejected} unset {moment(latest.ended_at)}"
        blocks.append(labelled("status", ended, "warm"))
    when = f"by hand, {elapsed(latest.set_at, now)} ago ({moment(latest.set_at)})"
    blocks.append(labelled("set", when))
    if latest.note:
        blocks.append(labelled("note", latest.note))
    blocks.append(labelled("evidence", latest.evidence or "none was named"))
    blocks.append(labelled("project", latest.project))
    for place, value in enumerate(values[1:]):
        until = f"  until {moment(value.ended_at)}"
        text = f"{' '.join(value.value.split())}{until}"
        spans = (Span(len(text) - len(until), len(text), "faint"),)
        blocks.append(labelled("before" if not place else "", text, spans=spans))
    return blocks
