"""Nodes whose keys come from a `Pane`; each action is a method `action_<id>`.

    class HistoryScreen(ListScreen, pane=keys.HISTORY):
        @unless(lambda self: self.nothing_selected())
        async def action_undo_act(self) -> None: ...

Footer, help, keymap and documentation are generated from the panes.
"""

from __future__ import annotations

from asyncio import ensure_future, wait, wait_for
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual.app import ScreenStackError
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.css.query import NoMatches
from textual.dom import DOMNode, NoScreen
from textual.message import Message
from textual.screen import Screen
from textual.widget import MountError

from reviewer.errors import ReviewerError
from reviewer.tui.kit.action import Action, Pane
from reviewer.tui.places import keep

if TYPE_CHECKING:
    from reviewer.tui.kit.host import Host

    _Node = DOMNode
    _Screen = Screen[Any]
else:
    # Textual inherits styles from the first base that is a node, so a mixin must not be one.
    _Node = object
    _Screen = object

PATIENCE_SECONDS = 0.25
"""How long a key waits for its act before it continues in the background."""

WAITING = "Waiting for another program to finish writing ..."

DETACHED = (NoMatches, MountError, NoScreen, ScreenStackError)
"""Raised by Textual for a query on a closing screen."""

NO_KEY = "no_key"
"""Placeholder key for actions without one, so that a keymap can bind them."""

MethodT = TypeVar("MethodT", bound=Callable[..., object])


class StatusMessage(Message):
    """A sentence for the status line."""

    def __init__(self, text: str, *, bad: bool = False, passing: bool = False) -> None:
        super().__init__()
        self.text = text
        self.bad = bad
        self.passing = passing


def unless(reason: Callable[[Any], str | None]) -> Callable[[MethodT], MethodT]:
    """Attach a guard to the method of an action: it takes the node and returns, in one sentence,
    why the action cannot run now, or None.
    """

    def mark(method: MethodT) -> MethodT:
        method.__unless__ = reason  # type: ignore[attr-defined]
        return method

    return mark


class Actor(_Node):
    """A widget, screen or app whose keys come from a `Pane`."""

    pane: ClassVar[Pane] = Pane("", "", ())

    def __init_subclass__(cls, pane: Pane | None = None, **textual: Any) -> None:
        if pane is not None:
            cls.pane = pane
            cls.BINDINGS = [binding(action) for action in pane.actions]
        super().__init_subclass__(**textual)

    @property
    def host(self) -> Host:
        """The app, with the store and the running act."""
        return cast("Host", self.app)

    def say(self, text: str, *, bad: bool = False, passing: bool = False) -> None:
        """Show a message in the status line of this screen, or of the one that replaced it; a
        `passing` one leaves with the next key.
        """
        target = self.host.shown if hidden(self) else self
        if target is not None:
            target.post_message(StatusMessage(text, bad=bad, passing=passing))

    def keep_for_next_run(self, values: Mapping[str, object]) -> None:
        """Keep values by name; a failure is shown in the status line."""
        try:
            keep(self.host.engine.path, values)
        except OSError as error:
            self.say(f"This is not kept for the next time: {error.strerror}.", bad=True)

    def why_not(self, action: Action) -> str | None:
        """Why an action of this node cannot run now; None if it can."""
        if action.writes and (reason := self.host.refuses_to_write()):
            return reason
        method = self._method(action)
        method = method.func if isinstance(method, partial) else method
        reason_of = getattr(method, "__unless__", None)
        return reason_of(self) if reason_of is not None else None

    def _method(self, action: Action) -> Callable[[], object]:
        return cast("Callable[[], object]", getattr(self, f"action_{action.id}"))

    def title_of(self, action: Action) -> str:
        """The title of an action, which may depend on its target."""
        return action.title

    def offers(self, action: Action) -> bool:
        """Whether the footer shows an action now; never queries the store."""
        return True

    async def perform(self, action: Action) -> None:
        """Run an action, or show why it cannot run now."""
        with self._saying_trouble():
            if reason := self.why_not(action):
                self.say(reason, passing=True)
            else:
                self.say("", passing=True)
                await self.patiently(self._method(action))

    async def action_perform_named(self, name: str) -> None:
        await self.perform(next(each for each in self.pane.actions if each.id == name))

    async def patiently(self, run: Callable[[], object]) -> None:
        """Run something; an expected failure is shown in the status line.

        Further keys wait until it is done. If it takes long, because another program is writing or
        because of many rows, it continues in the background and the status line says so. It
        completes even if its screen is closed.
        """

        result: object = None
        with self._saying_trouble():
            result = run()
        if not isawaitable(result):
            return
        act = ensure_future(self._guarded(result))
        host = self.host
        while not act.done():
            await wait({act}, timeout=PATIENCE_SECONDS)
            if not act.done() and (host.engine.waits_to_write() or host.running is not None):
                self.say(host.running.sentence if host.running is not None else WAITING)
                host.background_act = act
                self.app.run_worker(wait_for(act, None), group="background act")
                return
        act.result()

    async def _guarded(self, result: Awaitable[object]) -> None:
        with self._saying_trouble():
            await result

    @contextmanager
    def _saying_trouble(self) -> Iterator[None]:
        """Show an expected failure in the status line."""
        try:
            yield
        except (ReviewerError, OSError) as error:
            self.say(str(error), bad=True)
        except DETACHED:
            if self.is_attached:
                raise


class DismissOnce(_Screen):
    """A screen that closes only once: a second key typed ahead does not close the screen below."""

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Close this screen if it is still on top."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


def hidden(node: DOMNode) -> bool:
    """Whether the screen of a node was closed, or left for another one."""
    try:
        return node.screen not in node.app.screen_stack
    except (NoScreen, ScreenStackError):
        return True


def binding(action: Action) -> Binding:
    """The Textual binding of an action; keymaps refer to it by id."""
    return Binding(
        action.keys or NO_KEY,
        f"perform_named({action.id!r})",
        action.title,
        show=False,
        priority=action.priority,
        id=action.id,
    )


def reachable(screen: Screen[Any]) -> list[tuple[Action, Actor]]:
    """The actions reachable by keys from the focused widget outwards, innermost first.

    An inner action hides outer ones with the same keys.
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
