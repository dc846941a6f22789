"""Changes to how Textual uses the terminal, and the reason for each.

The figures are medians of a program in a pseudo-terminal of 140 x 40 over 2,000 candidates, on two
cores, with the change and without it.
"""

from __future__ import annotations

import gc
import os
import selectors
from codecs import getincrementaldecoder
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual._xterm_parser import XTermParser
from textual.color import Color
from textual.driver import Driver
from textual.filter import LineFilter
from textual.message import Message

from reviewer.tui.theme import COLOURS

if TYPE_CHECKING:
    pass

# input: bytes that are not UTF-8

POLL = 0.1
"""Seconds between two checks whether the driver has to stop."""
READ_SIZE = 4096
"""Bytes per read."""
GONE = 129
"""Exit code after the terminal went away; the same as for a program killed by SIGHUP."""


def accepting_any_bytes(driver: type[Driver]) -> type[Driver]:
    """A driver that accepts bytes that are not UTF-8, as characters that no key has.

    Textual's own driver ends the program with a traceback. Only the drivers of Linux and macOS,
    which read the terminal themselves, are changed.
    """
    if driver.__module__ != "textual.drivers.linux_driver":
        return driver

    class AnyBytesDriver(driver):  # type: ignore[misc,valid-type]
        """Reads as Textual's driver does, with another decoder."""

        def run_input_thread(self) -> None:
            """Wait for input and hand out events until the driver ends."""
            self._parser = XTermParser(self._debug)
            decode = getincrementaldecoder("utf-8")("replace").decode
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    data = os.read(self.fileno, READ_SIZE) if selector.select(POLL) else None
                    if data == b"":  # the terminal went away, and reading would never end
                        self._app.call_later(self._app.exit, return_code=GONE)
                        return
                    for event in self._events(decode(data or b"")):
                        self.process_message(event)

        def _events(self, typed: str) -> Iterator[Message]:
            for letter in (*typed, ""):
                try:
                    yield from self._parser.feed(letter) if letter else self._parser.tick()
                except (ValueError, ArithmeticError):  # an impossible key or code point
                    self._parser = XTermParser(self._debug)

    return AnyBytesDriver


# memory: closed screens

SELDOM = 40
"""How much less often the collector runs a full collection by itself."""


def begin_collecting() -> None:
    """Leave the objects that exist already alone, and collect seldom: the app collects each screen
    that is left.

    Widgets refer to each other in circles. Left to itself the collector waits for four or five
    closed screens and frees them all while a key waits: of the keys after a change of the screen, 1
    in 20 took 215 ms or more and the slowest 260, instead of 110 and 125.
    """
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, SELDOM)
    gc.enable()


# NO_COLOR

_MARKED = {RichColor.parse(each.span_background).triplet for each in COLOURS.values()}
_BLOCKS = {RichColor.parse(each.text).triplet for each in COLOURS.values()}


class Colourless(LineFilter):
    """Removes colours from everything that is drawn, whichever widget drew it.

    Marked spans and selections become underlined, a cursor in a text field reversed.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments in the terminal's own colours."""
        return [Segment(text, _plain(style or Style.null()), None) for text, style, _ in segments]


@lru_cache(1024)
def _plain(style: Style) -> Style:
    behind = style.bgcolor.triplet if style.bgcolor else None
    return style.without_color + Style(
        underline=True if behind in _MARKED else None,
        reverse=True if behind in _BLOCKS else None,
        meta=style.meta or None,  # a list finds the row under the mouse by its metadata
    )
