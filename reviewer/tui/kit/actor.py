"""Nodes that carry out actions, and the app that they share.

A widget, screen or app that inherits `Actor` names its pane and marks one method for each action:

    class HistoryScreen(ListScreen, pane=keys.HISTORY):
        @runs(keys.UNDO_ACT, unless=lambda self: self.nothing_selected())
        async def undo_act(self) -> None: ...

Footer, help, palette, keymap and the documentation are made from the panes.
"""

from __future__ import annotations

from asyncio import Future, ensure_future, to_thread, wait, wait_for
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from inspect import isawaitable
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from textual.actions import SkipAction
from textual.app import App, ScreenStackError
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.css.query import NoMatches
from textual.dom import DOMNode, NoScreen
from textual.message import Message
from textual.screen import Screen
from textual.widget import MountError

from reviewer.clock import TimeLeft
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.tui.kit import keys
from reviewer.tui.kit.action import Action, Pane
from reviewer.tui.theme import GLYPHS, Glyphs

if TYPE_CHECKING:
    from reviewer.compression.values import Turn
    from reviewer.promotion.views import EvidenceView

    _Node = DOMNode
    _Screen = Screen[Any]
else:
    # Textual inherits styles along the first base that is a node, so a mixin must not be one.
    _Node = object
    _Screen = object

PATIENCE_SECONDS = 0.25
"""How long a key waits for its own act before the act continues in the background."""

READ_ONLY = "The store is read-only: you can look, but nothing can be decided or changed."
WAITING = "Waiting for another program to finish writing ..."

DETACHED = (NoMatches, MountError, NoScreen, ScreenStackError)
"""Raised by Textual when a screen that is closing is queried for one of its widgets."""

NO_KEY = "no_key"
"""Stands for the key of an action that only a keymap gives one."""

MethodT = TypeVar("MethodT", bound=Callable[..., object])
Value = TypeVar("Value")


class StatusMessage(Message):
    """A sentence for the status line."""

    def __init__(self, text: str, *, bad: bool = False) -> None:
        super().__init__()
        self.text = text
        self.bad = bad


@dataclass(frozen=True)
class Handler:
    """The method that carries out an action, and the check that can prevent it."""

    action: Action
    method: str
    unless: Callable[[Any], str | None] | None


def runs(
    action: Action, *, unless: Callable[[Any], str | None] | None = None
) -> Callable[[MethodT], MethodT]:
    """Mark the method that carries out an action.

    `unless` gets the node and returns one sentence why the action cannot run now, or None.
    """

    def mark(method: MethodT) -> MethodT:
        marks = (*getattr(method, "__runs__", ()), Handler(action, method.__name__, unless))
        method.__runs__ = marks  # type: ignore[attr-defined]
        return method

    return mark


class Actor(_Node):
    """A widget, screen or app whose keys come from a `Pane`."""

    pane: ClassVar[Pane] = Pane("", "", ())
    handlers: ClassVar[dict[str, Handler]]

    def __init_subclass__(cls, pane: Pane | None = None, **textual: Any) -> None:
        """Take the keys of `pane`. Raises TypeError when an action of it has no method."""
        if pane is not None:
            cls.pane = pane
            known = _marked_methods(cls)
            missing = [action.id for action in pane.actions if action.id not in known]
            if missing:
                raise TypeError(f"{cls.__name__} has no method for {', '.join(missing)}")
            cls.handlers = {action.id: known[action.id] for action in pane.actions}
            cls.BINDINGS = [binding(action) for action in pane.actions]
        super().__init_subclass__(**textual)

    @property
    def host(self) -> Host:
        """The app, with the store, the keymap and the act that is being written."""
        app = self.app
        if not isinstance(app, Host):
            raise TypeError(f"{type(app).__name__} is not a Host")
        return app

    def say(self, text: str, *, bad: bool = False) -> None:
        """Show a sentence in the status line of this screen, or of the one that replaced it."""
        target = self if not detached(self) else self.host.shown
        if target is not None:
            target.post_message(StatusMessage(text, bad=bad))

    def why_not(self, action: Action) -> str | None:
        """Why an action of this node cannot run now; None when it can."""
        if action.writes and (reason := self.host.refuses_to_write()):
            return reason
        handler = self.handlers[action.id]
        return handler.unless(self) if handler.unless is not None else None

    def title_of(self, action: Action) -> str:
        """The title of an action, with its target where that matters."""
        return action.title

    def key_of(self, action: Action) -> str:
        """The key of an action as a person reads it, for a message; its title if it has none."""
        return action.key

    async def action_act(self, action_id: str) -> None:
        """Run an action, or show why it cannot run now."""
        handler = self.handlers[action_id]
        reason = self.why_not(handler.action)
        if reason:
            self.say(reason)
        else:
            await self.patiently(getattr(self, handler.method))

    async def patiently(self, run: Callable[[], object]) -> None:
        """Run something; an expected failure becomes a sentence.

        Further keys wait until it is done, unless it waits for another program or writes many rows:
        then it continues in the background and the status line says so. It is completed even if its
        screen is closed meanwhile.
        """
        try:
            result = run()
        except (ReviewerError, OSError) as error:
            self.say(str(error), bad=True)
            return
        except DETACHED:
            if not detached(self):
                raise
            return
        if not isawaitable(result):
            return
        act = ensure_future(self._guarded(result))
        host = self.host
        while not act.done():
            await wait({act}, timeout=PATIENCE_SECONDS)
            if act.done():
                break
            if host.engine.waits_to_write() or host.running is not None:
                self.say(host.running.sentence if host.running is not None else WAITING)
                host.background_act = act
                host.run_worker(wait_for(act, None), group="background act")
                return
        act.result()

    async def _guarded(self, result: Awaitable[object]) -> None:
        try:
            await result
        except (ReviewerError, OSError) as error:
            self.say(str(error), bad=True)
        except DETACHED:
            if not detached(self):
                raise


class DismissOnce(_Screen):
    """A screen that closes once: a second key typed ahead does not close the screen below."""

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Close this screen if it is still on top."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


def detached(node: DOMNode) -> bool:
    """Whether the screen of a node was closed; an act that it started may still be running."""
    try:
        return node.screen not in node.app.screen_stack
    except (NoScreen, ScreenStackError):
        return True


def binding(action: Action) -> Binding:
    """The Textual binding of an action; a keymap finds it by its id."""
    return Binding(
        action.keys or NO_KEY,
        f"act('{action.id}')",
        action.title,
        show=False,
        priority=action.priority,
        id=action.id,
    )


def pass_key_on() -> None:
    """Let the next node outwards handle the key.

    Raises:
        SkipAction: always; Textual then tries the next binding of the same key.
    """
    raise SkipAction


def reachable(screen: Screen[Any]) -> list[tuple[Action, Actor]]:
    """The actions that keys can reach from the focused widget outwards, innermost first.

    An action of an inner node hides those of outer nodes that have the same keys.
    """
    found: list[tuple[Action, Actor]] = []
    seen: set[str] = set()
    taken: set[str] = set()
    focused = screen.focused
    chain = [*(focused.ancestors_with_self if focused is not None else (screen,)), screen.app]
    for node in dict.fromkeys(chain):
        if not isinstance(node, Actor):
            continue
        own: set[str] = set()
        for action in node.pane.actions:
            keys = set(action.keys.split(",")) - {""}
            if action.id in seen or (keys and keys <= taken):
                continue
            own |= keys
            seen.add(action.id)
            found.append((action, node))
        taken |= own
    return found


def _marked_methods(cls: type) -> dict[str, Handler]:
    found: dict[str, Handler] = {}
    for base in reversed(cls.__mro__):
        for member in vars(base).values():
            for handler in getattr(member, "__runs__", ()):
                found[handler.action.id] = handler
    return found


PROGRESS_SECONDS = 0.25
"""How often the status line shows the progress of an act."""


class Keys(Protocol):
    """A keymap."""

    @property
    def overrides(self) -> Mapping[str, str]:
        """Action ids to Textual key names, where they differ from the built-in keys."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Remarks about the keymap, a sentence each."""
        ...

    def keys(self, action: Action) -> Sequence[str]:
        """The keys of an action; empty for an action that only the palette offers."""
        ...


class RunningAct:
    """An act on many rows while it is being written; used from two threads."""

    def __init__(self, words: str, total: int = 0) -> None:
        """`words` such as `Rejecting`; `total` rows, 0 where the number is not known."""
        self.words = words
        self.total = total
        self._rows = 0
        self._stop = Event()
        self._time_left = TimeLeft()

    def watch(self, rows: int) -> bool:
        """Report the number of rows written so far; returns whether to stop."""
        self._rows = rows
        return self._stop.is_set()

    def stop(self) -> None:
        """Ask for the act to be rolled back."""
        self._stop.set()

    @property
    def sentence(self) -> str:
        """`Rejecting 100,000: 34,200 done - escape stops`."""
        if self._stop.is_set():
            return f"{self.words}: rolling back ..."
        done = min(self._rows, self.total) if self.total else self._rows
        many = f" {self.total:,}" if self.total else ""
        left = self._time_left.words(done, self.total)
        return (
            f"{self.words}{many}: {done:,} done{f', {left}' if left else ''} "
            f"- {keys.BACK.key} stops"
        )


class Stoppable(Protocol):
    """Work in a thread that has to be stopped when the program ends."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class PacketSource:
    """A .context folder, or None for the store; with `beside` the store and that folder."""

    folder: Path | None
    beside: Path | None = None


@dataclass(frozen=True)
class PacketChoices:
    """The choices on the Packet screen."""

    task: str
    task_typed: str
    budget: int
    max_chars: int | None
    limits_of: str
    date: datetime | None
    pinned: frozenset[str]
    muted: frozenset[str]


class Host(App[int], inherit_bindings=False):
    """Base of the app. Screens and panes reach the store and each other only through it."""

    engine: Engine
    project: str | None
    """None shows all projects."""
    keymap_in_use: Keys
    glyphs: Glyphs = GLYPHS
    is_demo: bool = False
    """The store and the project are sample data, which are removed when the program ends."""

    def __init__(self) -> None:
        super().__init__()
        self.running: RunningAct | None = None
        """The act on many rows that is being written."""
        self.background_act: Future[None] | None = None
        """An act that continues in the background."""
        self.made_here: set[int] = set()
        """The acts of this session."""
        self.context_choices: dict[int, Any] = {}
        """The choices on the Context screen, by context (`context.model.Choices`)."""
        self.state_forms: dict[tuple[str, str], dict[str, str]] = {}
        """Unwritten values of trusted state by project and key, with an empty key for a new one."""
        self.background_run: Stoppable | None = None
        """The run of a pipeline, which outlives its screen."""
        self.packet_source: PacketSource | None = None
        """The source of the Packet screen; it is kept for the session."""
        self.packet_choices: PacketChoices | None = None
        """The task, limits and pins of the Packet screen, kept as well."""

    def open_memory(self, memory: int) -> None:
        """Show a memory in the queue."""
        raise NotImplementedError

    def open_context(self, context: int) -> None:
        """Show a context."""
        raise NotImplementedError

    def open_why(self, memory: int) -> None:
        """Show every step from a memory down to its source."""
        raise NotImplementedError

    def open_reach(self, memory: int) -> None:
        """Show which agents get a memory, and where."""
        raise NotImplementedError

    def begin_queue(self, words: str) -> None:
        """Go on from the first screen to the queue, which then says these words."""
        raise NotImplementedError

    def change_project(self, project: str | None) -> None:
        """Show another project, or all of them."""
        raise NotImplementedError

    def leave(self) -> None:
        """Leave reviewer; places and the text being typed are kept."""
        raise NotImplementedError

    def how_to_quit(self) -> None:
        """Say which key quits."""
        raise NotImplementedError

    def open_source(self, evidence: EvidenceView) -> None:
        """Show a source at the line of an evidence."""
        raise NotImplementedError

    def open_session(self, evidence: EvidenceView, project: str | None) -> None:
        """Show the session of an evidence at its line, as a reader needs it."""
        raise NotImplementedError

    def open_handover(self, read: Callable[[], tuple[str, Sequence[Turn]]]) -> None:
        """Show the hand-over of some turns, which `read` returns with their name in a thread."""
        raise NotImplementedError

    def open_line(self, path: str, line: int) -> None:
        """Show a file at a 0-based line."""
        raise NotImplementedError

    def remember_packet_source(self, folder: Path | None, beside: Path | None = None) -> None:
        self.packet_source = PacketSource(folder, beside)

    @property
    def shown(self) -> Screen[Any] | None:
        """The screen that is shown; None once the program has closed all of them."""
        return self.screen_stack[-1] if self.is_running and self.screen_stack else None

    def refuses_to_write(self) -> str | None:
        """Why the store cannot be written now."""
        if self.engine.read_only:
            return READ_ONLY
        act = self.background_act
        if act is not None and not act.done():
            progress = self.running.sentence if self.running is not None else WAITING
            return f"{progress} This key did nothing."
        return None

    def stop_running(self) -> bool:
        """Stop the act that is being written; False without one."""
        if self.running is None:
            return False
        self.running.stop()
        return True

    async def carry_out(
        self, node: DOMNode, work: Callable[[], Value], words: str, total: int = 0
    ) -> Value:
        """Run an act on many rows in a thread and show its progress on the screen of `node`.

        Raises the exceptions of `work`, and ActStoppedError when it was stopped with escape.
        """
        act = RunningAct(words, total)

        def watched() -> Value:
            with self.engine.watched(act.watch):
                return work()

        return await self.accompany(node, act, watched)

    async def accompany(self, node: DOMNode, act: RunningAct, work: Callable[[], Value]) -> Value:
        """Run work in a thread, and show the progress of its act on the screen of `node`.

        Raises the exceptions of `work`.
        """

        def progress() -> None:
            target = self.shown if detached(node) else node
            if target is not None:
                target.post_message(StatusMessage(act.sentence))

        timer = self.set_interval(PROGRESS_SECONDS, progress)
        self.running = act
        try:
            return await to_thread(work)
        finally:
            if self.running is act:
                self.running = None
            timer.stop()
