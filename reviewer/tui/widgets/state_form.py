"""Writing a value of trusted state by hand. No function here takes a memory or an entity."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget

from reviewer.text.display import display_line
from reviewer.tui.acting import Acting
from reviewer.tui.kit.edit_pane import EditorArea, Field
from reviewer.tui.kit.line import Line, Part, TitleRule
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.theme import Glyphs, Palette

FIELDS = (
    ("project", "whose state this is"),
    ("key", "what it is about: db_engine"),
    ("value", "type it"),
    ("note", "why it is so"),
    ("evidence", "where it can be looked up: path:line"),
)


class FieldName(Line):
    """What a field holds, before it."""

    DEFAULT_CSS = "FieldName { width: 11; }"

    def __init__(self, name: str) -> None:
        super().__init__()
        self._text = name

    def sides(self, style: Palette, sign: Glyphs) -> tuple[list[Part], list[list[Part]]]:
        """The name."""
        return [(f" {self._text}", style.dim)], []


class ValueArea(EditorArea):
    """The value, which may have several lines."""

    DEFAULT_CSS = """
    ValueArea { border: none; padding: 0; height: 3; width: 1fr; background: $panel;
                scrollbar-size-vertical: 1; }
    ValueArea:focus { border: none; }
    """


class StateForm(Acting, Vertical):
    """The fields of one value. It writes nothing: it posts what the person typed."""

    DEFAULT_CSS = """
    StateForm { height: auto; width: 1fr; }
    StateForm Horizontal { height: auto; padding: 0 1 0 0; }
    StateForm .-hidden { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("form")]

    class Saved(Message):
        """The person wants this value to hold."""

        def __init__(self, values: dict[str, str]) -> None:
            super().__init__()
            self.values = values

    class Left(Message):
        """The person left the form."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.about = ""
        """The key whose new value is written; empty for a new key."""

    def compose(self) -> ComposeResult:
        """A title, then name and field in turn."""
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

    def begin(self, project: str | None, *, ask_project: bool) -> None:
        """A new key. The fields are empty, or hold what was typed and not written yet."""
        if self.about:
            self._fill({})
        self.about = ""
        self._open("New value", project or "", ask_project=ask_project)

    def begin_with(self, project: str, held: dict[str, str]) -> None:
        """A new value of a key: the fields hold the value of trusted state that it supersedes."""
        self._fill(held)
        self.about = held["key"]
        self._open(f"New value of {display_line(self.about)}", project, ask_project=False)

    def _open(self, title: str, project: str, *, ask_project: bool) -> None:
        detail = "typed by hand, the earlier one stays" if self.about else "typed by hand"
        self.query_one(TitleRule).show(title, detail, focused=True)
        if project or not ask_project:
            self._area("project").load_text(project)
        self.query_one("#row-project").set_class(not ask_project, "-hidden")
        self.query_one("#row-key").set_class(bool(self.about), "-hidden")
        self._fields()[0].focus(scroll_visible=False)

    def clear(self) -> None:
        """Forget what was typed."""
        self._fill({})
        self.about = ""

    def _fill(self, values: dict[str, str]) -> None:
        for name, _ in FIELDS:
            self._area(name).load_text(values.get(name, ""))

    def _area(self, name: str) -> EditorArea:
        return self.query_one(f"#field-{name}", EditorArea)

    @property
    def values(self) -> dict[str, str]:
        """What stands in the fields."""
        found = {name: self._area(name).text.strip() for name, _ in FIELDS}
        return {
            name: text if name == "value" else " ".join(text.splitlines())
            for name, text in found.items()
        }

    def _fields(self) -> list[Widget]:
        """The fields in sight."""
        return [
            self._area(name)
            for name, _ in FIELDS
            if not self.query_one(f"#row-{name}").has_class("-hidden")
        ]

    def save(self) -> None:
        """Post what was typed, unless something that is needed is missing."""
        values = self.values
        for name in ("project", "key", "value"):
            if not values[name]:
                self.say(f"The {name} is empty: type it, or leave with escape.")
                self._area(name).focus(scroll_visible=False)
                return
        self.post_message(self.Saved(values))

    def leave(self) -> None:
        """Post that the person leaves."""
        self.post_message(self.Left())

    @on(Field.Entered)
    def _entered(self, event: Field.Entered) -> None:
        event.stop()
        self.next_field()

    def next_field(self) -> None:
        """The next field."""
        self._step(1)

    def previous_field(self) -> None:
        """The field before."""
        self._step(-1)

    def _step(self, step: int) -> None:
        fields = self._fields()
        focused = self.screen.focused
        at = fields.index(focused) if focused in fields else 0
        fields[(at + step) % len(fields)].focus(scroll_visible=False)
