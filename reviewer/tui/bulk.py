"""Acts on many rows: the screen says how far one is, and `escape` takes it back."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from textual.screen import Screen

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.tui.acting import Acting

SAID_EVERY = 0.25
"""Seconds between two sentences about how far an act is."""

Value = TypeVar("Value")


class Bulk:
    """An act while it is written, seen from two threads."""

    def __init__(self, words: str, total: int = 0) -> None:
        """`words`: `Rejecting`; `total`: its rows, 0 where that is not known."""
        self.words = words
        self.total = total
        self._rows = 0
        self._stop = Event()

    def watch(self, rows: int) -> bool:
        """Take the rows that are written; whether to stop."""
        self._rows = rows
        return self._stop.is_set()

    def stop(self) -> None:
        """Take back what is written."""
        self._stop.set()

    @property
    def sentence(self) -> str:
        """`Rejecting 100,000: 34,200 done - escape stops`."""
        if self._stop.is_set():
            return f"{self.words}: taking back what was written ..."
        done = min(self._rows, self.total) if self.total else self._rows
        many = f" {self.total:,}" if self.total else ""
        return f"{self.words}{many}: {done:,} done - escape stops"


async def carry(
    node: Acting, engine: Engine, work: Callable[[], Value], words: str, total: int = 0
) -> Value:
    """Run an act in a thread; while it takes long, say how far it is.

    Raises what `work` raises, and ActStoppedError when a person stopped it.
    """
    bulk = Bulk(words, total)
    app = node.app
    timer = node.set_interval(SAID_EVERY, lambda: node.say(bulk.sentence))

    def watched() -> Value:
        with engine.watched(bulk.watch):
            return work()

    app.bulk = bulk  # type: ignore[attr-defined]
    try:
        return await to_thread(watched)
    finally:
        app.bulk = None  # type: ignore[attr-defined]
        timer.stop()


def stopped(screen: Screen[None]) -> bool:
    """Stop the act that goes on behind a screen; False when there is none."""
    bulk: Bulk | None = getattr(screen.app, "bulk", None)
    if bulk is None:
        return False
    bulk.stop()
    return True
