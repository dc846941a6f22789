"""The app: theme, keymap and screens."""

from __future__ import annotations

import os
from asyncio import Future, to_thread
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

from rich.text import Text
from textual import events, on
from textual.app import App
from textual.screen import Screen
from textual.worker import WorkerFailed

from reviewer.errors import ReviewerError, StoreError
from reviewer.projects import ChosenProject
from reviewer.resources import styles_folder
from reviewer.text.display import display_line, use_ascii_marks
from reviewer.tui.keymap import load_keymap
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, use_keys
from reviewer.tui.kit.actor import (
    WAITING,
    Actor,
    StatusMessage,
    hidden,
    unless,
)
from reviewer.tui.kit.running import RunningAct
from reviewer.tui.kit.screen import KitScreen
from reviewer.tui.places import kept
from reviewer.tui.queue.screen import QueueScreen
from reviewer.tui.terminal import (
    Colourless,
    accepting_any_bytes,
    begin_collecting,
)
from reviewer.tui.theme import ASCII, DARK, GLYPHS, LIGHT, THEMES, other_theme, theme_for

DEFECT = "This is a defect of reviewer"
KEPT = "Your decisions and drafts are saved. REVIEWER_DEBUG=1 shows the traceback."

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.driver import Driver

    from reviewer.compression.values import SegmentTurn
    from reviewer.engine import Engine
    from reviewer.promotion.views import EvidenceView
    from reviewer.start import Start
    from reviewer.tui.pipelines.run import BackgroundRun


WATCH_SECONDS = 2.0
"""How often to check whether another process has written to the store."""
PROGRESS_SECONDS = 0.25
"""How often the progress of an act is updated."""

ROOMS = {
    keys.SHOW_CONTEXT.id: ("context", "ContextScreen"),
    keys.SHOW_PACKET.id: ("packet", "PacketScreen"),
    keys.SHOW_MEMORY.id: ("memory", "MemoryScreen"),
    keys.SHOW_PIPELINES.id: ("pipelines", "PipelinesScreen"),
    keys.SHOW_AGENTS.id: ("agents", "AgentsScreen"),
    keys.SHOW_HISTORY.id: ("history", "HistoryScreen"),
}
"""The action of a tab -> its room and its screen; the queue lies below all of them."""

THEME = "theme of screen"
"""The name under which the theme chosen on the screen is kept."""

Value = TypeVar("Value")


class ReviewerApp(Actor, App[int], pane=keys.APP, inherit_bindings=False):
    """Shows a store. Every decision goes through `engine`."""

    TITLE = "reviewer"
    CSS_PATH: ClassVar = [
        styles_folder() / name
        for name in (
            "reviewer.tcss",
            "queue.tcss",
            "context.tcss",
            "pipelines.tcss",
            "packet.tcss",
            "session.tcss",
            "start.tcss",
        )
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        engine: Engine,
        project: str | None,
        *,
        ascii: bool = False,  # noqa: A002
        keymap: Path | None = None,
        light: bool = False,
        start: Start | None = None,
    ) -> None:
        """Show `project`, or all projects if it is None; with `start`, the first screen opens.
        `light` counts until a theme is chosen on the screen.

        Raises KeymapError if the keymap file is invalid.
        """
        custom_keys = load_keymap(keymap)
        use_keys(custom_keys)
        super().__init__()
        self.engine = engine
        self.project = project
        """None for all projects."""
        self._start = start
        self.is_demo = start is not None and start.sample
        """Store and project are sample data, removed on exit."""
        self.running: RunningAct | None = None
        """The running act on many rows."""
        self.background_act: Future[None] | None = None
        """The act in the background."""
        self.background_run: BackgroundRun | None = None
        """The pipeline run, which outlives its screen."""
        self.kept: dict[type[KitScreen], KitScreen] = {}
        """The screens of the tabs that were shown."""
        self._typed_at = WeakKeyDictionary[events.Key, Screen[Any]]()
        """The screen that each key on its way was typed at."""
        self._cannot_keep = False
        """Unsaved text could not be saved on exit."""
        self.glyphs = ASCII if ascii else GLYPHS
        use_ascii_marks(ascii)
        self.set_class(ascii, "-ascii")
        # Textual would convert a terminal's own palette to true colours, in a second copy of every
        # line (a tenth of the time of a screen); our themes have none of them. Without colour it
        # would send greys.
        self._filters = []
        if self.no_color:
            self._filters.append(Colourless())
        for theme in THEMES:
            self.register_theme(theme)
        # `set_reactive` skips the watcher, which would parse all styles a second time.
        light = {"light": True, "dark": False}.get(str(kept(engine.path).get(THEME)), light)
        chosen = theme_for(LIGHT if light else DARK, self.console.color_system)
        self.set_reactive(App.theme, chosen)
        self.stylesheet.set_variables(self.get_css_variables())
        self.set_class(not light, "-dark-mode")
        self.set_class(light, "-light-mode")
        self.animation_level = "none"
        self.set_keymap(custom_keys)

    def get_driver_class(self) -> type[Driver]:
        return accepting_any_bytes(super().get_driver_class())

    def get_default_screen(self) -> Screen[None]:
        return QueueScreen(self.engine, self.project)

    def on_mount(self) -> None:
        """Enable the garbage collector after the first paint."""
        self.theme_changed_signal.subscribe(self, lambda _: self._restyle())
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self.call_after_refresh(begin_collecting)
        self.set_interval(WATCH_SECONDS, self._watch_store)
        room = ROOMS.get(f"show_{kept(self.engine.path).get(self._tab_name)}")
        if self._start is not None:
            self.open_start()
        elif room is not None:
            self.call_after_refresh(self._show, *room)

    # acts on many rows

    @property
    def shown(self) -> KitScreen | None:
        """The current screen, perhaps below a question; None once all are closed."""
        screens = [each for each in self.screen_stack if isinstance(each, KitScreen)]
        return screens[-1] if self.is_running and screens else None

    def refuses_to_write(self) -> str | None:
        """Why the store cannot be written now, if it cannot."""
        act = self.background_act
        if act is not None and not act.done():
            progress = self.running.sentence if self.running is not None else WAITING
            return f"{progress} Key ignored."
        return None

    def stop_running(self) -> bool:
        """Stop the running act; False if there is none."""
        if self.running is None:
            return False
        self.running.stop()
        return True

    async def accompany(self, node: DOMNode, act: RunningAct, work: Callable[[], Value]) -> Value:
        """Run `work` in a thread, with the progress of `act` on the screen of `node`.

        Raises the exceptions of `work`.
        """

        def show(words: str) -> None:
            target = self.shown if hidden(node) else node
            if target is not None:
                target.post_message(StatusMessage(words))

        timer = self.set_interval(PROGRESS_SECONDS, lambda: show(act.sentence))
        self.running = act
        try:
            return await to_thread(work)
        finally:
            if self.running is act:
                self.running = None
            timer.stop()
            show("")  # the progress is no longer news

    # screens that another one opens

    def open_start(self) -> None:
        from reviewer.tui.start.screen import StartScreen

        if self._start is None:
            from reviewer.start import MachineStart

            self._start = MachineStart(self.engine, None)
        self.push_screen(StartScreen(self.engine, self.project, self._start))

    def begin_queue(self, words: str, *, read: bool) -> None:
        """Go from the first screen to the queue, with `words` as its status message; if nothing was
        read, the queue is as it was left.
        """
        self.action_show_queue()
        queue = self.queue_screen
        if read or queue.project != self.project:
            self._forget_tabs()
            queue.begin(self.project, words)
        else:
            queue.say(words)

    def change_project(self, project: str | None) -> None:
        """Show another project, or all of them. Raises StoreError if a text being edited cannot be
        kept; then nothing changes.
        """
        self._keep(self.queue_screen)
        if project is None:
            self.engine.work_in_all()
        else:
            self.engine.work_in(ChosenProject(project))
            folder = None if self.engine.is_here(project) else self.engine.folder_of(project)
            if folder is not None:
                with suppress(OSError):  # a closed folder: its sessions are not looked for
                    os.chdir(folder)  # the screens look there for sessions and a .context folder
        self.project = project
        tab = next((kind for kind, each in self.kept.items() if each is self.screen), None)
        self.action_show_queue()
        self._forget_tabs()
        self.queue_screen.begin(project, f"Project: {display_line(project or 'all projects')}.")
        if tab is not None:
            self._go_to(tab)

    def _forget_tabs(self) -> None:
        """Close the screens that were kept, which show another project."""
        for each in self.kept.values():
            self.uninstall_screen(each)
            each.remove()
        self.kept.clear()

    async def on_event(self, event: events.Event) -> None:
        """Send a key typed ahead to the screen, or the text field, opened meanwhile.

        Printable keys never pass through a text field.
        """
        if isinstance(event, events.Key):
            ahead = self._typed_at.get(event, self.screen) is not self.screen
            if not ahead and event.is_forwarded and event.is_printable:
                field = self.focused
                ahead = field is not None and field.check_consume_key(event.key, event.character)
            if ahead:
                event = events.Key(event.key, event.character)
            self._typed_at.setdefault(event, self.screen)
        await super().on_event(event)

    def on_exit_app(self) -> None:
        """Save unsaved text on exit, even if a browser tab was closed."""
        for screen in self.screen_stack:
            with suppress(StoreError):
                self._keep(screen)
        tabs = [each.tab for each in self.screen_stack if isinstance(each, KitScreen) and each.tab]
        if tabs:
            self.keep_for_next_run({self._tab_name: tabs[-1]})

    @property
    def _tab_name(self) -> str:
        """The name under which the last tab of a project is kept."""
        return f"tab of {self.project or ''}"

    @on(events.AppFocus)
    def _watch_store(self) -> None:
        """Read what others wrote; at once when the terminal regains the focus."""
        if self.shown is not None:
            self.shown.watch_store()

    @on(StatusMessage)
    def _show_status(self, message: StatusMessage) -> None:
        """Show a message of the app, or one that came during a question."""
        if self.shown is not None:
            self.shown.status.say(message.text, bad=message.bad, passing=message.passing)

    def _fatal_error(self) -> None:
        """Exit with one sentence; Textual's traceback would contain user data."""
        if os.environ.get("REVIEWER_DEBUG"):
            super()._fatal_error()
            return
        problem: BaseException | None = self._exception
        if isinstance(problem, WorkerFailed):
            problem = problem.error
        if isinstance(problem, ReviewerError):  # the store was damaged while open
            sentence = display_line(str(problem))
        else:
            sentence = f"{DEFECT} ({display_line(f'{type(problem).__name__}: {problem}')}). {KEPT}"
        self._exit_renderables.append(Text(sentence))
        self._close_messages_no_wait()

    def _restyle(self) -> None:
        for screen in {*self.screen_stack, *self.kept.values()}:
            for widget in screen.walk_children():
                widget.refresh()

    @property
    def queue_screen(self) -> QueueScreen:
        """The screen at the bottom of the stack."""
        screen = self.screen_stack[0]
        if not isinstance(screen, QueueScreen):
            raise TypeError(f"the first screen is {screen}")
        return screen

    # changing screens

    def action_show_queue(self) -> None:
        """Close every other screen."""
        self._leave_question()
        for screen in self.screen_stack[1:]:
            self._keep(screen)
        while len(self.screen_stack) > 1:
            self.pop_screen()

    def _leave_question(self) -> None:
        leave = getattr(self.screen, "action_leave_choice", None)
        if leave is not None:
            leave()

    def _keep(self, screen: Screen[Any]) -> None:
        """Save unsaved text and the cursor's place. Raises StoreError if that fails."""
        if isinstance(screen, KitScreen):
            screen.keep_now()

    def _method(self, action: Action) -> Callable[[], object]:
        """A tab is a screen of its own room, imported when it is first shown."""
        if (room := ROOMS.get(action.id)) is None:
            return super()._method(action)
        return partial(self._show, *room)

    async def _show(self, room: str, name: str) -> None:
        """Replace the top screen by that of a tab, as it was left."""
        module = await to_thread(import_module, f"reviewer.tui.{room}.screen")
        kind: type[KitScreen] = getattr(module, name)
        self._leave_question()
        if type(self.screen) is not kind:
            self.action_show_queue()
            self._go_to(kind)

    def _go_to(self, kind: type[KitScreen]) -> None:
        """Show the screen of a tab, which is kept from then on."""
        if screen := self.kept.get(kind):
            self.push_screen(screen)
            screen.come_back()
        else:
            self.kept[kind] = kind(self.engine, self.project)
            self.install_screen(self.kept[kind], kind.tab)
            self.push_screen(self.kept[kind])

    def open_history(self, memory: int) -> None:
        """Show the acts on a memory."""
        from reviewer.tui.history.screen import MemoryHistoryScreen

        self.push_screen(MemoryHistoryScreen(self.engine, self.project, memory))

    def open_source(self, evidence: EvidenceView) -> None:
        """Show the source of an evidence at its line; a session in the Session screen."""
        from reviewer.tui.evidence.source import SourceScreen

        record = evidence.record
        if record.shape == "turn" and Path(record.path).is_file():
            self.open_session(evidence)
        else:
            self.push_screen(SourceScreen(self.engine, evidence))

    def open_session(self, evidence: EvidenceView, project: str = "") -> None:
        """Show the session of an evidence at its line, in a project: by default its memory's."""
        from reviewer.tui.session.screen import SessionScreen

        project = project or self.engine.queue.candidate(evidence.memory_id).project
        self.push_screen(SessionScreen(self.engine, project, evidence))

    def open_handover(self, read: Callable[[], tuple[str, Sequence[SegmentTurn]]]) -> None:
        """Show the hand-over of some turns; `read` returns their name and the turns."""
        from reviewer.tui.reading.screen import HandOverScreen

        self.push_screen(HandOverScreen(self.engine, read))

    def open_line(self, path: str, line: int) -> None:
        """Show a file at a 0-based line."""
        from reviewer.tui.evidence.steps import line_of_file

        self.open_source(line_of_file(path, line))

    async def action_help(self) -> None:
        """Show all actions, those of the focused pane first."""
        await self.show_menu(())

    async def show_menu(self, actions: Sequence[Action]) -> None:
        """Show some actions of the screen, or all; typing finds any."""
        from reviewer.tui.help import show_help

        if self.shown is not None:
            await show_help(self.shown, actions)

    def action_switch_theme(self) -> None:
        self.theme = other_theme(self.theme)
        self.keep_for_next_run({THEME: "dark" if self.current_theme.dark else "light"})

    def action_how_to_quit(self) -> None:
        what = "the sample data is removed" if self.is_demo else "your place and drafts are kept"
        self.say(f"{keys.QUIT.key} quits; {what}.")

    def _cannot_suspend(self) -> str | None:
        can = self._driver is not None and self._driver.can_suspend
        return None if can else "There is no shell to go to here."

    @unless(_cannot_suspend)
    def action_suspend_process(self) -> None:
        super().action_suspend_process()

    async def action_quit(self) -> None:
        """Quit; the place in the queue and unsaved text are saved.

        Raises StoreError if that fails; the second time it quits anyway.
        """
        for screen in self.screen_stack:
            if not self._cannot_keep:
                try:
                    self._keep(screen)
                except StoreError as problem:
                    self._cannot_keep = True
                    raise StoreError(f"{problem} The same key again quits without it.") from None
        if self.background_run is not None:
            self.background_run.close()
        self.exit(0)
