"""What commands print: NDJSON for scripts, aligned and harmless text for people."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

ELLIPSIS = "…"


def print_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """One object, or list, on a line of its own, flushed, with control characters escaped."""
    sys.stdout.write(json_line(value))
    sys.stdout.flush()


def json_line(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """A value on a line of its own, with everything escaped that a terminal would obey."""
    only_ascii = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
    line = json.dumps(value, ensure_ascii=only_ascii, separators=(", ", ": "), default=str)
    if not (only_ascii or line.isascii()):
        from reviewer.text.display import escaped_json

        line = escaped_json(line)
    return line.replace("\x7f", "\\u007f") + "\n"


def print_text(text: str) -> None:
    """One line for a person on stdout, whatever is in it: a terminal obeys none of it.

    Fields from outside pass `safe` before, so that columns are as wide as what is shown.
    """
    click.echo(safe(text))


def narrate(text: str) -> None:
    """One line about what happens, on stderr, made harmless like the others."""
    click.echo(safe(text), err=True)


def hand_out(text: str) -> None:
    """A whole text on stdout, without a line end of its own, flushed."""
    sys.stdout.write("\n".join(safe_lines(text)))
    sys.stdout.flush()


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 file`, `2 files`, `12,345 files`; `plural` where it takes more than an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def moment(at: str) -> str:
    """A moment of the store as a person reads it: local time to the second, and its zone."""
    from reviewer.clock import from_iso

    when = from_iso(at)
    return safe(at) if when is None else when.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def safe(text: str) -> str:
    """Text from outside on one line, with nothing in it that a terminal would obey."""
    from reviewer.text.display import display_line

    return display_line(text)


def safe_lines(text: str) -> list[str]:
    """Text from outside, line by line, with nothing in it that a terminal would obey."""
    from reviewer.text.display import display_text

    return [display_text(line) for line in text.split("\n")]


def cell_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(_cells(character) for character in text)


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns, with an ellipsis when something is missing."""
    if cell_width(text) <= width:
        return text
    kept: list[str] = []
    used = 1
    for character in text:
        used += _cells(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept) + ELLIPSIS if width > 0 else ""


def line_width() -> int | None:
    """Columns of the terminal that stdout leads to; None when it leads to a file or a pipe."""
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return get_terminal_size().columns


def table(rows: Iterable[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """Rows as aligned lines, two blanks between columns, the last column cut to the terminal.

    `right`: the columns aligned to the right.
    """
    cells = [tuple(row) for row in rows]
    if not cells:
        return []
    widths = [max(cell_width(row[at]) for row in cells) for at in range(len(cells[0]) - 1)]
    limit = line_width()
    lines = []
    for row in cells:
        start = ""
        for at, width in enumerate(widths):
            blanks = " " * (width - cell_width(row[at]))
            start += (blanks + row[at] if at in right else row[at] + blanks) + "  "
        last = row[-1] if limit is None else cut(row[-1], max(limit - cell_width(start), 8))
        lines.append((start + last).rstrip())
    return lines


def wrapped(text: str, margin: str) -> Iterator[str]:
    """Text from outside in lines that fit the terminal, each behind the margin."""
    from textwrap import wrap

    width = line_width()
    for line in safe_lines(text):
        if width is None:
            yield (margin + line).rstrip()
        else:
            yield from wrap(
                line, max(width, 20), initial_indent=margin, subsequent_indent=margin
            ) or [margin.rstrip()]


def _cells(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
