"""Printing: NDJSON for scripts, aligned text without control characters for people."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import IO, Any, Protocol, TypeVar

import click

from reviewer.text.numerals import count as count

Row = TypeVar("Row")
Command = TypeVar("Command", bound=Callable[..., Any])

ELLIPSIS = "…"


def print_json(value: object) -> None:
    """Print a value as one line of JSON, control characters escaped, and flush."""
    _write(json_line(value))


def _write(text: str) -> None:
    """Write to stdout and flush. If nobody reads any more, the command is still carried out; only a
    listing of rows ends there.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)


def discard(stream: IO[str]) -> None:
    """Redirect a stream, with its buffer, to the null device."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def json_line(value: object) -> str:
    """A value as one line of JSON, with everything escaped that a terminal would interpret."""
    only_ascii = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
    line = json.dumps(value, ensure_ascii=only_ascii, separators=(", ", ": "), default=_plain)
    if not (only_ascii or line.isascii()):
        from reviewer.text.display import escaped_json

        line = escaped_json(line)
    return line.replace("\x7f", "\\u007f") + "\n"


def _plain(value: object) -> object:
    """A record as its fields, or as its `to_json`; a type unknown to JSON as its text."""
    if hasattr(value, "to_json"):
        return value.to_json()
    from msgspec import to_builtins

    return to_builtins(value, enc_hook=str)


def print_text(*lines: str) -> None:
    """Print lines for a person on stdout, control characters made visible."""
    for line in lines:
        _write(f"{safe(line)}\n")


def print_lines(text: str) -> None:
    """Print a text for a person on stdout, line by line."""
    print_text(*safe_lines(text))


def narrate(*lines: str) -> None:
    """Print lines about progress or results on stderr, control characters made visible.

    Never fails if nobody can read them.
    """
    for line in lines:
        with suppress(OSError):
            click.echo(safe(line), err=True)


class Act(Protocol):
    """The result of an act; `act` is its number, None if nothing changed."""

    @property
    def title(self) -> str: ...

    @property
    def act(self) -> int | None: ...


def report_act(done: Act, *, undo: str = "reviewer undo") -> None:
    """Print the result of an act, and the command for undoing it, if anything changed."""
    narrate(f"{done.title} - {undo} takes it back" if done.act else f"{done.title}.")


def hand_out(text: str) -> None:
    """Print a whole text on stdout without adding a line end, and flush."""
    _write("\n".join(safe_lines(text)))


def moment(at: str) -> str:
    """A stored time in local time, to the second, with its zone."""
    from reviewer.clock import from_iso

    when = from_iso(at)
    return safe(at) if when is None else when.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def safe(text: str) -> str:
    """Text from outside on one line, control characters made visible."""
    from reviewer.text.display import display_line

    return display_line(text)


def safe_lines(text: str) -> list[str]:
    """Text from outside as lines, control characters made visible."""
    from reviewer.text.display import display_text

    return [display_text(line) for line in text.split("\n")]


def cell_width(text: str) -> int:
    return sum(_cells(character) for character in text)


def cut(text: str, width: int) -> str:
    """The text cut to `width` columns, with an ellipsis if something is missing."""
    ends = list(accumulate(map(_cells, text)))
    if not ends or ends[-1] <= width:
        return text
    return text[: bisect(ends, width - 1)] + ELLIPSIS if width > 0 else ""


def line_width() -> int | None:
    """Columns of the terminal on stdout; None for a file or a pipe."""
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return get_terminal_size().columns


def json_option(says: str = "One JSON object per line.") -> Callable[[Command], Command]:
    """`--json`, passed to the command as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=says)


def emit(
    rows: Iterable[Row],
    as_json: bool,
    columns: Callable[[Row], Sequence[str]] | None = None,
    *,
    lines: Callable[[Row], Iterable[str]] | None = None,
    head: Sequence[str] = (),
    right: Collection[int] = (),
    apart: bool = False,
    to_json: Callable[[Row], object] | None = None,
    empty: str = "",
) -> None:
    """Print rows as NDJSON, or for a person: as a table with `columns`, or each in `lines`.

    `head`: titles of the columns. `right`: right-aligned columns. `apart`: a blank line between two
    rows. `to_json`: a row as JSON, if that is not just its fields. `empty`: a sentence for a person
    if there are none.
    """
    if as_json:
        for row in rows:  # nobody waits for the rest of a listing that nobody reads
            sys.stdout.write(json_line(row if to_json is None else to_json(row)))
            sys.stdout.flush()
        return
    if columns is not None:
        printed = print_table(map(columns, rows), head=head, right=right)
    else:
        assert lines is not None
        printed = False
        for row in rows:
            if printed and apart:
                print_text("")
            printed = True
            print_text(*lines(row))
    if empty and not printed:
        narrate(empty)


def print_table(
    rows: Iterable[Sequence[str]],
    *,
    head: Sequence[str] = (),
    right: Collection[int] = (),
) -> bool:
    """Print rows as aligned lines; returns whether there were any."""
    cells = [tuple(row) for row in rows]
    print_text(*table([head, *cells] if head else cells, right=right))
    return bool(cells)


def table(rows: Iterable[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Rows from outside as aligned lines, two blanks between columns, the last column cut to the
    terminal. `right`: right-aligned columns.
    """
    cells = [tuple(map(safe, row)) for row in rows]
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


def by_reason(
    title: str, counts: Mapping[str, int], most: int = 1_000
) -> Iterator[tuple[str, str]]:
    """Counts as rows of a table, largest first, at most so many. `3 x reason`, because reasons are
    phrases of every kind without a plural.
    """
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = ordered if len(ordered) <= most + 1 else ordered[:most]
    for place, (reason, times) in enumerate(shown):
        yield "" if place else title, f"{times:,} x {reason}"
    if left := ordered[len(shown) :]:
        times = sum(number for _, number in left)
        yield "", f"{times:,} for {count(len(left), 'more reason')}, listed in report.json"


def wrapped(text: str, margin: str) -> Iterator[str]:
    """Text from outside in lines that fit the terminal, each after the margin."""
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
