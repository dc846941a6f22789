"""What is drawn, said to the terminal in fewer bytes: between two styles only what differs.

Textual says every piece of a line with its whole style and ends it with a reset. Most pieces of a
line have the same background and often the same colour, so that four bytes of five were said
before: over a slow line that is what a key waits for.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from textual.driver import Driver

RESET = "\x1b[0m"
_STYLE = re.compile(r"\x1b\[([0-9;]*)m")
_MOVE = re.compile(r"\x1b\[\d+;\d+H")
_NEEDLESS = re.compile(rf"(?:{_MOVE.pattern}|\r?\n)+(?={_MOVE.pattern})")
_ATTRIBUTES = {str(code) for code in range(1, 10)}
_WIDTHS = {"2": 5, "5": 3}
"""Numbers of a colour after 38 or 48: `38;2;r;g;b`, `38;5;n`."""


class Style(NamedTuple):
    """What a sequence asks for that follows a reset."""

    attributes: frozenset[str]
    colour: str
    background: str


def fewer(data: str) -> str:
    """The same picture in fewer bytes. What is no style stays as it is, and where it is.

    A style after a reset is said as the difference from the one before it, unless text without
    any style stands between them. Of several moves of the cursor the last is said. The text has
    to end with a reset, as all that Textual draws does.
    """
    parts = _STYLE.split(_NEEDLESS.sub("", data))
    if len(parts) < 5:
        return data
    said = [parts[0]]
    live: str | None = ""  # the style that the terminal has; None: not known
    ended = False  # it was reset since, which is still to be said
    for style, text in zip(parts[1::2], parts[2::2], strict=True):
        if style in ("0", ""):
            ended = True
            if _MOVE.fullmatch(text):
                said.append(text)
            elif text:
                said += (RESET, text)
                live, ended = "", False
            continue
        if ended or live == "":
            said.append(_step(live, style))
            live = style
        else:
            said.append(f"\x1b[{style}m")
            live = None
        ended = False
        said.append(text)
    if ended:
        said.append(RESET)
    return "".join(said)


@lru_cache(maxsize=4096)
def _step(live: str | None, style: str) -> str:
    """What brings a terminal from one style to another."""
    wanted = _read(style)
    known = None if live is None else _read(live) if live else Style(frozenset(), "", "")
    whole = f"\x1b[0;{style}m" if live != "" else f"\x1b[{style}m"
    if wanted is None or known is None:
        return whole
    if (
        not known.attributes <= wanted.attributes
        or (known.colour and not wanted.colour)
        or (known.background and not wanted.background)
    ):
        return whole
    new = sorted(wanted.attributes - known.attributes)
    if wanted.colour != known.colour:
        new.append(wanted.colour)
    if wanted.background != known.background:
        new.append(wanted.background)
    return f"\x1b[{';'.join(new)}m" if new else ""


def _read(style: str) -> Style | None:
    """A style from its numbers; None where there is more in it than attributes and colours."""
    numbers = style.split(";")
    attributes: set[str] = set()
    colours = {"3": "", "4": ""}
    at = 0
    while at < len(numbers):
        number = numbers[at]
        width = 1
        if number in _ATTRIBUTES:
            attributes.add(number)
        elif number in ("38", "48"):
            width = _WIDTHS.get(numbers[at + 1] if at + 1 < len(numbers) else "", 0)
            if not width or at + width > len(numbers):
                return None
            colours[number[0]] = ";".join(numbers[at : at + width])
        elif number in _PLAIN:
            colours[_PLAIN[number]] = number
        else:
            return None
        at += width
    return Style(frozenset(attributes), colours["3"], colours["4"])


_PLAIN = {
    **{str(code): "3" for code in (*range(30, 38), 39, *range(90, 98))},
    **{str(code): "4" for code in (*range(40, 48), 49, *range(100, 108))},
}
"""The terminal's own sixteen colours and its default, by what they colour."""


def terse(driver: type[Driver]) -> type[Driver]:
    """A driver that says less for the same picture."""

    class TerseDriver(driver):  # type: ignore[misc,valid-type]
        """Writes through `fewer`."""

        def write(self, data: str) -> None:
            super().write(fewer(data))

    return TerseDriver
