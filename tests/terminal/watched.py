"""The program with a watch on it, so that a walk of random keys can tell where it came.

python -m tests.terminal.watched REPORT ARGUMENTS...

Writes to REPORT whenever it gets SIGUSR1: the screens and panes that had the keys, the actions that
ran, the moments at which the screen's thread worked long, and what lies in memory. Leaving the
program is counted and not done.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

NOTABLE = 0.05
"""Seconds of work in one go from which on it is reported."""


class Slow(msgspec.Struct):
    """Work of the screen's thread in one go, in seconds of its processor time."""

    seconds: float
    key: int
    """Which key came before it."""
    screen: str
    action: str
    what: str


class Report(msgspec.Struct):
    """The observations of the watch so far."""

    keys: int = 0
    screens: dict[str, int] = {}
    panes: dict[str, int] = {}
    actions: dict[str, int] = {}
    slow: list[Slow] = []
    objects: dict[str, int] = {}


class Watch:
    """Counts and times what happens on the screen's thread."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._keys = 0
        self._screens: Counter[str] = Counter()
        self._panes: Counter[str] = Counter()
        self._actions: Counter[str] = Counter()
        self._slow: list[Slow] = []
        self._screen = self._action = ""

    def install(self) -> None:
        """Wrap the loop, the app and the registry's actions."""
        from reviewer.tui.app import ReviewerApp
        from reviewer.tui.kit.action import Action
        from reviewer.tui.kit.actor import Actor

        app_class: Any = ReviewerApp
        actor_class: Any = Actor
        handle_class: Any = asyncio.Handle

        on_event, act, run = app_class.on_event, actor_class.perform, handle_class._run

        async def counted_event(app: ReviewerApp, event: Any) -> None:
            if type(event).__name__ == "Key":
                self._keys += 1
                self._screen = type(app.screen).__name__
                self._screens[self._screen] += 1
                self._panes[f"{self._screen}.{type(app.focused).__name__}"] += 1
            await on_event(app, event)

        async def counted_act(node: Actor, action: Action) -> None:
            if node.why_not(action) is None:
                self._actions[action.id] += 1
                self._action = action.id
            await act(node, action)

        async def stay(_: ReviewerApp) -> None:
            """Quitting does nothing."""

        def timed_run(handle: Any) -> None:
            began = time.thread_time()
            run(handle)
            spent = time.thread_time() - began
            if spent > NOTABLE:
                self._slow.append(
                    Slow(round(spent, 3), self._keys, self._screen, self._action, repr(handle))
                )

        app_class.on_event = counted_event
        app_class.action_quit = stay
        actor_class.perform = counted_act
        handle_class._run = timed_run
        signal.signal(signal.SIGUSR1, self.write)

    def write(self, *_: object) -> None:
        """Write the report; it appears whole."""
        gc.collect()
        kinds = Counter(f"{type(o).__module__}.{type(o).__qualname__}" for o in gc.get_objects())
        report = Report(
            self._keys,
            dict(self._screens),
            dict(self._panes),
            dict(self._actions),
            self._slow,
            dict(kinds.most_common(400)),
        )
        beside = self._target.with_suffix(".new")
        beside.write_bytes(msgspec.json.encode(report))
        os.replace(beside, self._target)


def main() -> int:
    """Run the program under the watch."""
    from reviewer.main import main as reviewer

    target = Path(sys.argv.pop(1))
    Watch(target).install()
    return reviewer()


if __name__ == "__main__":
    sys.exit(main())
