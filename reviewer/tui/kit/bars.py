"""The bars of the screen: header with tabs, status and footer.

Textual's tabs take two rows and leave no room for the project. Its footer always shows every key
and recreates a widget for each when the focus moves, which takes 22 ms instead of 6. These bars
are single lines of text with clickable actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from reviewer.text.display import display_line
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, shown_key
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.tui.kit.host import Host

SHORT = 8
"""Cells always reserved for the project."""
ALWAYS = (keys.MENU.id, keys.HELP.id)
"""Actions in every footer, however narrow."""


def clickable(text: Content, action: str) -> Content:
    """Text that runs an action on a click."""
    return text.stylize(Style.from_meta({"@click": f"screen.clicked({action!r})"}))


class Bar(Widget):
    DEFAULT_CSS = "Bar { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }"


class HeaderBar(Bar):
    """The project, and the screens with their keys; the current one is highlighted."""

    project = reactive("")
    waiting: reactive[int | None] = reactive(None)
    pipelines = reactive(False)
    """Whether there is a pipeline to show; without one, its tab is hidden elsewhere."""

    def __init__(self, current: str = "") -> None:
        super().__init__(id="header")
        self.current = current

    def same_as(self, other: HeaderBar) -> None:
        self.project, self.waiting = other.project, other.waiting
        self.pipelines = other.pipelines

    def render(self) -> Content:
        """` acme       F2 Queue 37   F4 Packet   F7 Agents`; on a narrow screen, only the keys of
        the optional tabs are left.
        """
        host = cast("Host", self.app)
        name = Content.styled(f" {self.project or 'reviewer'}", "bold")
        here = f"show_{self.current}"
        first = [each for each in keys.SCREENS if each in keys.TABS or each.id == here]
        hidden = [] if self.pipelines else [keys.SHOW_PIPELINES]
        screens = [each for each in keys.SCREENS if each in first or each not in hidden]
        whole = [self._tab(each) for each in screens]
        brief = [self._tab(each) if each in first else self._key(each) for each in screens]
        least_of_all = [self._tab(e) if e in keys.TABS else self._key(e) for e in screens]
        wide, tabs = self.size.width, Content("")
        least = min(name.cell_length, SHORT)
        for gap, parts in (
            ("   ", whole),
            ("  ", whole),
            ("  ", brief),
            (" ", brief),
            (" ", least_of_all),
        ):
            tabs = Content(gap).join(parts)
            if tabs.cell_length + least + 1 <= wide:
                break
        room = max(wide - tabs.cell_length - 1, 0)
        name = name.truncate(room, ellipsis=not host.glyphs.ascii, pad=True)
        return Content.assemble(name, " ", tabs)

    def _tab(self, action: Action) -> Content:
        return Content(" ").join([self._key(action), self._title(action)])

    def _title(self, action: Action) -> Content:
        here = action.id == f"show_{self.current}"
        title = action.title
        if action is keys.SHOW_QUEUE and self.waiting is not None:
            title += f" {self.waiting:,}"
        return clickable(Content.styled(title, "bold" if here else "$dim"), action.id)

    def _key(self, action: Action) -> Content:
        here = action.id == f"show_{self.current}"
        return clickable(Content.styled(action.key, "$accent" if here else "$dim"), action.id)


SAID_SECONDS, BAD_SECONDS = 12.0, 40.0
"""How long a message stays, and one about a problem."""


class StatusBar(Static):
    """The result of the last key in one sentence, wrapped if necessary."""

    DEFAULT_CSS = """
    StatusBar { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    StatusBar.-long { height: auto; max-height: 5; text-wrap: wrap; text-overflow: fold; }
    """
    text = ""
    remark = ""
    """Appended to the next message."""
    passing = False
    """The message leaves with the next key."""
    _fading: Timer | None = None

    def say(self, text: str, *, bad: bool = False, passing: bool = False) -> None:
        """Show a message for a while; an empty `passing` one removes only a passing one."""
        if passing and not (text or self.passing):
            return
        self.passing = passing
        self.text = display_line(text)
        if text and self.remark:
            self.text, self.remark = f"{self.text.rstrip('.')}. {self.remark}", ""
        long = bad or cell_len(self.text) > self.app.size.width - 2
        self.set_class(bad, "-bad")
        self.set_class(long, "-long")
        sign = (f"{glyphs(self.app).attention} " if bad else "", "$warning")
        self.update(Content.assemble(sign, self.text), layout=long)
        if self._fading is not None:
            self._fading.stop()
            self._fading = None
        if text:
            self._fading = self.set_timer(BAD_SECONDS if bad else SAID_SECONDS, self._fade)

    def _fade(self) -> None:
        self._fading = None
        self.say("")

    def recover(self) -> None:
        """Remove the message about a problem."""
        if self.has_class("-bad"):
            self.say("")


class FooterBar(Bar):
    """The most useful keys of the focused pane."""

    _keys: Sequence[tuple[str, str, str]] = ()

    def show(self, keys: Sequence[tuple[str, str, str]]) -> None:
        """Show keys, given as (key, title, action id)."""
        shown = [(shown_key(key), title, action) for key, title, action in keys]
        if shown != self._keys:
            self._keys = shown
            self.refresh()

    def render(self) -> Content:
        """As many keys as fit, then those always shown."""
        parts = [
            (clickable(Content.assemble((key, "$accent"), (f" {title}", "$dim")), action), action)
            for key, title, action in self._keys
        ]
        last = [part for part, action in parts if action in ALWAYS]
        room = self.size.width - 1 - sum(part.cell_length + 2 for part in last)
        chosen: list[Content] = []
        for part in (part for part, action in parts if action not in ALWAYS):
            room -= part.cell_length + 2
            if room < -2:
                break
            chosen.append(part)
        return Content.assemble(" ", Content("  ").join([*chosen, *last]))
