"""Changes to Textual's use of the terminal, and why.

Figures are medians in a pseudo-terminal of 140 x 40 with 2,000 candidates, on two cores.
"""

from __future__ import annotations

import gc
import os
import selectors
from codecs import getincrementaldecoder
from collections.abc import Iterator
from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.color import Color
from textual.driver import Driver
from textual.filter import LineFilter
from textual.message import Message

from reviewer.text.controls import without_controls
from reviewer.tui.theme import COLOURS

# input: bytes that are not UTF-8, escape sequences in a paste

POLL = 0.1
"""Seconds between checks whether the driver must stop."""
READ_SIZE = 4096
"""Bytes per read."""
GONE = 129
"""Exit code after the terminal went away, as for a program killed by SIGHUP."""


def accepting_any_bytes(driver: type[Driver]) -> type[Driver]:
    """A driver that decodes bytes that are not UTF-8 as characters without a key, and drops escape
    sequences in a paste.

    Textual's own driver crashes on the former and sends the latter as keys, before the paste. Only
    the drivers of Linux and macOS are changed: they read the terminal themselves.
    """
    if driver.__module__ != "textual.drivers.linux_driver":
        return driver

    class AnyBytesDriver(driver):  # type: ignore[misc,valid-type]
        def run_input_thread(self) -> None:
            """Read input and post events until the driver stops."""
            self._parser = XTermParser(self._debug)
            self._typed: list[str] = []
            """The last letters, or those of the paste that has begun."""
            self._pasting = False
            decode = getincrementaldecoder("utf-8")("replace").decode
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    data = os.read(self.fileno, READ_SIZE) if selector.select(POLL) else None
                    if data == b"":  # the terminal went away; reading would never end
                        self._app.call_later(self._app.exit, return_code=GONE)
                        return
                    for event in self._events(decode(data or b"")):
                        self.process_message(event)

        def _events(self, typed: str) -> Iterator[Message]:
            for letter in typed:
                self._typed.append(letter)
                mark = "".join(self._typed[-len(BRACKETED_PASTE_END) :]) if letter == "~" else ""
                if not self._pasting:
                    yield from self._keys(letter)
                    self._pasting = mark == BRACKETED_PASTE_START
                    self._typed = [] if self._pasting else self._typed[-len(BRACKETED_PASTE_END) :]
                elif mark == BRACKETED_PASTE_END:
                    text = "".join(self._typed[: -len(mark)])
                    self._typed, self._pasting = [], False
                    list(self._parser.feed(mark))  # an empty paste
                    yield events.Paste(without_controls(text))
            yield from self._keys("")

        def _keys(self, letter: str) -> Iterator[Message]:
            try:
                yield from self._parser.feed(letter) if letter else self._parser.tick()
            except (ValueError, ArithmeticError):  # an impossible key or code point
                self._parser = XTermParser(self._debug)

    return AnyBytesDriver


# memory

COLLECT_AFTER = (700, 10, 40)
"""Objects and collections: small collections between keys, and hardly a full one."""


def begin_collecting() -> None:
    """Freeze existing objects and collect little at a time, so that no key waits for it."""
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    gc.enable()


# NO_COLOR

_MARKED = {RichColor.parse(each.span_background).triplet for each in COLOURS.values()}
_BLOCKS = {RichColor.parse(each.text).triplet for each in COLOURS.values()}


class Colourless(LineFilter):
    """Removes colours from the output of all widgets.

    Marked spans and selections are underlined; the cursor in a text field is reversed.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments in the terminal's default colours."""
        return [Segment(text, _plain(style or Style.null()), None) for text, style, _ in segments]


@lru_cache(1024)
def _plain(style: Style) -> Style:
    behind = style.bgcolor.triplet if style.bgcolor else None
    return style.without_color + Style(
        underline=True if behind in _MARKED else None,
        reverse=True if behind in _BLOCKS else None,
        meta=style.meta or None,  # lists find the row under the mouse by it
    )
