"""Parses typed and piped input: options, ids, texts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from reviewer.errors import SourceError
from reviewer.files import open_plain

Command = TypeVar("Command", bound=Callable[..., Any])

HIGHEST_ID = 2**63 - 1

FILE = click.Path(path_type=Path, readable=False)
"""A path; errors are reported when it is opened."""

LONGEST_TEXT = 1 << 20
"""Bytes; a larger file was probably named by mistake."""


def option(
    named: str,
    says: str,
    *,
    into: str = "",
    choices: Sequence[str] = (),
    least: int | None = None,
    many: bool = False,
    **settings: Any,
) -> Callable[[Command], Command]:
    """An option with a value: `--limit N` and its help.

    `into`: the name of the parameter. `choices`: the values allowed. `least`: the minimum of a
    whole number. `many`: may be given several times.
    """
    name, _, metavar = named.partition(" ")
    if choices:
        settings["type"] = click.Choice(choices)
    elif least is not None:
        settings["type"] = click.IntRange(least)
    return click.option(
        *(name, into) if into else (name,),
        metavar=metavar or None,
        multiple=many,
        show_default=settings.get("default") not in (None, ""),
        help=says,
        **settings,
    )


def flag(name: str, says: str, *, into: str = "", **settings: Any) -> Callable[[Command], Command]:
    """An option without a value."""
    return click.option(*(name, into) if into else (name,), is_flag=True, help=says, **settings)


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, in the order of the help."""

    def all_of_them(command: Command) -> Command:
        for each in reversed(options):
            command = each(command)
        return command

    return all_of_them


class Id(click.ParamType[int]):
    """The number of a row, with or without the `#` used in messages."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        digits = str(value).removeprefix("#")
        if not (digits.isascii() and digits.isdigit() and 0 < int(digits[:20]) <= HIGHEST_ID):
            self.fail(f"{value!r} is not an id; an id is a number such as 412", param, ctx)
        return int(digits)


ID = Id()


class Pair(click.ParamType[tuple[str, str]]):
    """`NAME=VALUE`."""

    name = "pair"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        name, equals, rest = str(value).partition("=")
        if not equals or not name.strip():
            form = getattr(param, "metavar", None) or "NAME=VALUE"
            self.fail(f"{value!r} is not in the form {form}", param, ctx)
        return name.strip(), rest


PAIR = Pair()


def limit_option(
    default: int | None = None, says: str = "At most N."
) -> Callable[[Command], Command]:
    """`--limit`."""
    return option("--limit N", says, least=1, default=default)


def engine_options(says: str) -> Callable[[Command], Command]:
    """`--engine` and `--model`, for a text that is written offline by default."""
    return together(
        option("--engine", says, choices=["offline", "model"], default="offline"),
        option("--model NAME", "Use this model instead of the one in the settings."),
    )


def _behind_first(ctx: click.Context, _: click.Parameter, value: int | None) -> int | None:
    if value is not None and value < ctx.params.get("from_line", 0):
        raise click.UsageError("--to-line cannot come before --from-line")
    return value


line_range = together(
    # Eager: known when the other is checked, in whatever order they are given.
    option("--from-line A", "First line, from 0.", least=0, default=0, is_eager=True),
    option("--to-line B", "Stop before this line.", least=0, callback=_behind_first),
)
"""The lines of a file to read."""


def read_text(
    name: str,
    *,
    of: str = "a memory",
    if_empty: str = "",
    most: int = LONGEST_TEXT,
) -> str:
    """The text of a UTF-8 file (`-` is standard input), stripped.

    `of`: the purpose of the text; `if_empty`: what to do instead of giving an empty one; `most`:
    the maximum number of bytes.

    Raises SourceError for a text that is too large, not UTF-8 or empty, OSError if the file cannot
    be read.
    """
    if name == "-":
        raw = sys.stdin.buffer.read(most + 1)
    else:
        with open_plain(Path(name)) as file:
            raw = file.read(most + 1)
    if len(raw) > most:
        raise SourceError(f"{name} is larger than {most >> 20} MiB: too large for {of}.")
    try:
        text = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError as problem:
        raise SourceError(
            f"{name} is not UTF-8 text (byte {problem.start}). Save it as UTF-8 and try again."
        ) from problem
    if not text:
        raise SourceError(f"{name} is empty. {if_empty}".rstrip())
    return text
