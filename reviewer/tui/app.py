"""The screen as a program: theme, keys and the screens that exist."""

from __future__ import annotations

import gc
import os
import sys
from asyncio import to_thread
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import BindingType

from reviewer.errors import ReviewerError, StoreError
from reviewer.resources import styles_folder
from reviewer.text.display import display_line, use_ascii_marks
from reviewer.tui.acting import Acting
from reviewer.tui.actions import bindings_for
from reviewer.tui.drawn_lines import let_go_of_drawn_lines
from reviewer.tui.keymap import Keymap, load_keymap
from reviewer.tui.screens.queue import QueueScreen
from reviewer.tui.terse import terse
from reviewer.tui.theme import ASCII, DARK, GLYPHS, LIGHT, THEMES
from reviewer.tui.tidying import Tidying
from reviewer.tui.typed_bytes import any_bytes

DEFECT = "This is a defect of reviewer"
KEPT = "What was decided is kept, and so are drafts. REVIEWER_DEBUG=1 shows where."

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable

    from textual.driver import Driver
    from textual.screen import Screen

    from reviewer.engine import Engine
    from reviewer.tui.bulk import Bulk
    from reviewer.tui.compress_kept import Kept
    from reviewer.tui.screens.pipelines_course import Course


TURN_SECONDS = 0.0005
"""So long a thread that computes keeps the interpreter from the keys."""


class ReviewerApp(Acting, App[int], inherit_bindings=False):
    """Shows a store. All that is decided goes through `engine`."""

    TITLE = "reviewer"
    CSS_PATH: ClassVar = [
        styles_folder() / name
        for name in (
            "reviewer.tcss",
            "commits.tcss",
            "compress.tcss",
            "pipelines.tcss",
            "packet.tcss",
        )
    ]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("app")]
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        engine: Engine,
        project: str | None,
        *,
        ascii: bool = False,  # noqa: A002
        keymap: Path | None = None,
        light: bool = False,
    ) -> None:
        """Show `project` of the store, or all projects when it is None.

        Raises KeymapError when the keymap file cannot be used.
        """
        self.keymap_in_use: Keymap = load_keymap(keymap)
        let_go_of_drawn_lines()
        super().__init__()
        self.engine = engine
        self.project = project
        self.act_that_waits: Future[None] | None = None
        """What goes on behind the screen until another program has written."""
        self.bulk: Bulk | None = None
        """The act on many rows that is being written."""
        self.pipeline_course: Course | None = None
        """The run of a pipeline that is under way; it outlives its screen."""
        self.compress_kept: dict[int, Kept] = {}
        """What was chosen on the Compress screen, by context."""
        self._tidying = Tidying(self)
        self._cannot_keep = False
        """What is being written could not be kept when the program was to be left."""
        self.glyphs = ASCII if ascii else GLYPHS
        use_ascii_marks(ascii)
        # Textual would make colours of a terminal's own palette into true ones, in a second copy of
        # every line; the themes have none. Without colour it would send greys.
        self._filters = []
        if self.no_color:
            from reviewer.tui.colourless import Colourless

            self._filters.append(Colourless())
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = LIGHT if light else DARK
        self.animation_level = "none"
        self.set_keymap(self.keymap_in_use.overrides)

    def get_driver_class(self) -> type[Driver]:
        """The platform's, saying less for the same picture and reading any bytes."""
        return terse(any_bytes(super().get_driver_class()))

    def get_default_screen(self) -> Screen[None]:
        """The queue is where everything begins."""
        return QueueScreen(self.engine, self.project)

    def on_mount(self) -> None:
        """After the first picture the collector works again, but not on what was imported."""
        self.theme_changed_signal.subscribe(self, lambda _: self._restyle())
        self.call_after_refresh(Tidying.begin)

    async def on_event(self, event: events.Event) -> None:
        """Give a key that was typed ahead to the text field that has opened meanwhile.

        Such a key was sent to the pane before; a text field itself lets no printable key through.
        """
        if isinstance(event, events.Key) and event.is_forwarded and event.is_printable:
            field = self.focused
            if field is not None and field.check_consume_key(event.key, event.character):
                field.post_message(events.Key(event.key, event.character))
                return
        await super().on_event(event)

    def on_app_focus(self) -> None:
        """The terminal has the focus again: others may have written meanwhile."""
        self.queue_screen.loader.watch()

    def pop_screen(self) -> AwaitComplete:
        """Leave the screen on top; what it held is let go."""
        self._tidying.soon(self.screen)
        return super().pop_screen()

    def _fatal_error(self) -> None:
        """End with one sentence; Textual would print a traceback with what people wrote in it."""
        if os.environ.get("REVIEWER_DEBUG"):
            super()._fatal_error()
            return
        problem = self._exception
        if isinstance(problem, ReviewerError):  # the store went bad under what is shown
            said = display_line(str(problem))
        else:
            said = f"{DEFECT} ({display_line(f'{type(problem).__name__}: {problem}')}). {KEPT}"
        self._exit_renderables.append(Text(said))
        self._close_messages_no_wait()

    def _restyle(self) -> None:
        for screen in self.screen_stack:
            for widget in screen.walk_children():
                restyle = getattr(widget, "restyle", None)
                if restyle is not None:
                    restyle()

    @property
    def queue_screen(self) -> QueueScreen:
        """The screen at the bottom of the stack."""
        screen = self.screen_stack[0]
        if not isinstance(screen, QueueScreen):
            raise TypeError(f"the first screen is {screen}")
        return screen

    # what the registry's actions of the pane "app" run

    def show_queue(self) -> None:
        """Leave every other screen."""
        while len(self.screen_stack) > 1:
            self.pop_screen()

    async def show_commits(self) -> None:
        """Show a context and its commits."""
        await imported("commits")
        from reviewer.tui.screens.commits import CommitsScreen

        self._show(CommitsScreen)

    async def show_compress(self) -> None:
        """Show the levels of a context."""
        await imported("compress")
        from reviewer.tui.screens.compress import CompressScreen

        self._show(CompressScreen)

    async def show_compress_from(self, commit: int) -> None:
        """Show the levels of what comes from a commit on."""
        await imported("compress")
        from reviewer.tui.screens.compress import CompressScreen

        self._show(lambda engine, project: CompressScreen(engine, project, commit))

    async def show_packet(self) -> None:
        """Show what an agent would get."""
        await imported("packet")
        from reviewer.tui.screens.packet import PacketScreen

        self._show(PacketScreen)

    async def show_pipelines(self) -> None:
        """Show pipelines and their runs."""
        await imported("pipelines")
        from reviewer.tui.screens.pipelines import PipelinesScreen

        self._show(PipelinesScreen)

    def _show(self, kind: Callable[[Engine, str | None], Screen[None]]) -> None:
        if type(self.screen) is not kind:
            keep_now = getattr(self.screen, "keep_now", None)
            if keep_now is not None:
                keep_now()  # the next screen begins where this one was
            self.show_queue()
            self.push_screen(kind(self.engine, self.project))

    async def show_state(self) -> None:
        """Show what holds."""
        await imported("state")
        from reviewer.tui.screens.state import StateScreen

        if not isinstance(self.screen, StateScreen):
            self.show_queue()
            self.push_screen(StateScreen(self.engine, self.project))

    async def show_history(self) -> None:
        """Show the ledger."""
        await imported("history")
        from reviewer.tui.screens.history import HistoryScreen

        if not isinstance(self.screen, HistoryScreen):
            self.show_queue()
            self.push_screen(HistoryScreen(self.engine))

    def show_help(self) -> None:
        """Show the keys of the pane that has the focus."""
        from reviewer.tui.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen, self.keymap_in_use))

    def show_palette(self) -> None:
        """Find an action by name."""
        from reviewer.tui.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    def switch_theme(self) -> None:
        """Dark to light, or back."""
        self.theme = LIGHT if self.theme == DARK else DARK

    def leave(self) -> None:
        """Leave; the place in the queue is kept, and what is being written.

        Raises StoreError when that cannot be kept; asked again, it leaves without.
        """
        for screen in self.screen_stack:
            keep_now = getattr(screen, "keep_now", None)
            if keep_now is not None and not self._cannot_keep:
                try:
                    keep_now()
                except StoreError as problem:
                    self._cannot_keep = True
                    raise StoreError(f"{problem} The same key again leaves without it.") from None
        if self.pipeline_course is not None:
            self.pipeline_course.close()
        self.queue_screen.loader.close()
        self.exit(0)


async def imported(screen: str) -> None:
    """Import a screen and what it needs, the first time behind the one that is shown."""
    name = f"reviewer.tui.screens.{screen}"
    if name not in _imported:
        await to_thread(import_module, name)
        _imported.add(name)


_imported: set[str] = set()
"""Screens that are there to the end; `sys.modules` has one while it is still being read."""


def run_screen(
    engine: Engine,
    project: str | None,
    *,
    ascii: bool = False,  # noqa: A002
    keymap: Path | None = None,
    light: bool = False,
) -> int:
    """Show the screen until it is left; the exit code.

    Raises KeymapError when the keymap file cannot be used.
    """
    sys.setswitchinterval(TURN_SECONDS)
    gc.disable()  # until the first picture: a collection in between costs as much as a frame
    app = ReviewerApp(engine, project, ascii=ascii, keymap=keymap, light=light)
    return app.run() or app.return_code or 0
