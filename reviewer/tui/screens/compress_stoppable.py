"""Long work on the Compress screen: it says how far it is, and `escape` stops it."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

from reviewer.tui.screens.compress_writing import Writing

if TYPE_CHECKING:
    from reviewer.tui.screens.compress import CompressScreen


class Stoppable:
    """What choosing levels and applying them have in common."""

    def __init__(self, screen: CompressScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._stopped: Event | None = None
        self._progress = ""

    @property
    def running(self) -> str:
        """What goes on; empty for nothing."""
        return "" if self._stopped is None else self._progress

    def stop(self) -> None:
        """Stop without loss."""
        if self._stopped is not None:
            self._stopped.set()
            self._screen.say("Stopping ...")

    def _begin(self, words: str) -> Event:
        """The event that is set when a person stops it."""
        self._stopped, self._progress = Event(), words
        return self._stopped

    def _tell(self, words: str) -> None:
        """Say how far it is; from any thread."""
        self._screen.post_message(Writing.Written(lambda: self._told(words)))

    def _told(self, words: str) -> None:
        if self._stopped is not None and not self._stopped.is_set():
            self._progress = words
            self._screen.say(f"{words}; escape stops it.")
