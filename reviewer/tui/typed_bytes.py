"""What comes from the terminal need not be UTF-8: a paste in another encoding, noise on a line."""

from __future__ import annotations

import os
import selectors
from codecs import getincrementaldecoder
from collections.abc import Iterator

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

POLL = 0.1
"""Seconds between two looks at whether the driver is to end."""
AT_ONCE = 4096
"""Bytes that are read at once."""
GONE = 129
"""Exit code when the terminal went away, as of a program that SIGHUP ends."""


def any_bytes(driver: type[Driver]) -> type[Driver]:
    """A driver to which a byte that is no text is a character that no key has.

    Textual's ends the program with a traceback. Only drivers that read the terminal themselves,
    those of Linux and macOS, are changed.
    """
    if not hasattr(driver, "run_input_thread"):
        return driver

    class AnyBytesDriver(driver):  # type: ignore[misc,valid-type]
        """Reads as Textual's does, with another decoder."""

        def run_input_thread(self) -> None:
            """Wait for input and hand out events until the driver ends."""
            self._parser = XTermParser(self._debug)
            decode = getincrementaldecoder("utf-8")("replace").decode
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    came = os.read(self.fileno, AT_ONCE) if selector.select(POLL) else None
                    if came == b"":  # the terminal is gone, and there would be no end of reading
                        self._app.call_later(self._app.exit, return_code=GONE)
                        return
                    for event in self._events(decode(came or b"")):
                        self.process_message(event)

        def _events(self, typed: str) -> Iterator[Message]:
            for letter in (*typed, ""):
                try:
                    yield from self._parser.feed(letter) if letter else self._parser.tick()
                except (ValueError, ArithmeticError):  # a key or a place of a number that is none
                    self._parser = XTermParser(self._debug)

    return AnyBytesDriver
