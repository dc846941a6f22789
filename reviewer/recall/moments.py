"""Moments: when a memory is recalled. Derived from its text and evidence, or chosen by a person.

Written as kind and value: `command git push`, `path src/pay/`, `error nilerr`,
`tool mcp__db__query`, `words night shift`, `always`. A command matches by program and subcommands,
a path by its end, an error by its signature, an agent's tool by its name, words if a prompt or
failure has all of them. `guard git push`, `guard src/pay/`: the first such call of a session is
denied once, with the memory as the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from reviewer.errors import ReviewerError
from reviewer.sources.shell import GROUPS, split

MAX_DERIVED = 12
"""Moments derived from a single memory."""
MAX_COMMANDS = 16
"""Parts of a shell line that are parsed."""

_SUBCOMMAND = re.compile(r"[a-z][\w:-]{1,30}$")
_PATH = re.compile(r"(?<![\w/:.~-])(?:[\w.@-]+/)+(?:[\w.@-]+)?|(?<![\w/:.@-])[\w-]+\.[a-z]{1,4}\b")
_TOOL = re.compile(r"[\w-]+")
_ABBREVIATION = re.compile(r"\w\.\w$")


class MomentKind(StrEnum):
    """The kinds of moments."""

    COMMAND = "command"
    PATH = "path"
    ERROR = "error"
    GUARD = "guard"
    TOOL = "tool"
    WORDS = "words"
    ALWAYS = "always"


class Moment(NamedTuple):
    """When a memory is recalled. `value` is empty for `always`."""

    kind: MomentKind
    value: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.value}".strip()


def read_moment(text: str) -> Moment:
    """Parse a moment as a person writes it. Raises ReviewerError."""
    name, _, value = " ".join(text.split()).partition(" ")
    try:
        kind = MomentKind(name.lower())
    except ValueError:
        quoted = text.split("`")[1] if text.count("`") > 1 else text
        command = next(iter(heads(quoted)), "")
        if not command or command != " ".join(quoted.split()):  # a sentence
            command = "git push"
        *kinds, last = (each for each in MomentKind if each is not MomentKind.COMMAND)
        raise ReviewerError(
            f"{name or 'Nothing'} is not a kind of moment. For a command write: command {command};"
            f" the other kinds are {', '.join(kinds)} and {last}."
        ) from None
    if (kind is MomentKind.ALWAYS) != (not value):
        need = "no value" if kind is MomentKind.ALWAYS else f"a value, such as: {_EXAMPLES[kind]}"
        raise ReviewerError(f"{kind} takes {need}.")
    if kind is MomentKind.TOOL and not _TOOL.fullmatch(value):
        raise ReviewerError(f"tool takes one name, such as: {_EXAMPLES[kind]}.")
    if kind is MomentKind.COMMAND or (kind is MomentKind.GUARD and "/" not in value):
        value = next(iter(heads(value)), value)
    return Moment(kind, value.removeprefix("./"))


_EXAMPLES = {
    MomentKind.COMMAND: "command git push",
    MomentKind.PATH: "path src/pay/",
    MomentKind.ERROR: "error nilerr",
    MomentKind.GUARD: "guard git push",
    MomentKind.TOOL: "tool mcp__db__query",
    MomentKind.WORDS: "words night shift",
}


def read_moments(text: str) -> tuple[Moment, ...]:
    """Parse chosen moments, one per line, as stored."""
    return tuple(map(read_moment, text.splitlines()))


def heads(line: str) -> tuple[str, ...]:
    """Program and subcommands of each part of a shell line: `git push`, `mise run lint`."""
    found: dict[str, None] = {}
    for command in split(line, most=MAX_COMMANDS):
        if command.words:
            program = command.words[0].rpartition("/")[2]
            name = [program]
            rest = _arguments(program, command.words[1:])
            while rest and _SUBCOMMAND.match(rest[0]) and (not name[1:] or name[-1] in GROUPS):
                name.append(rest[0])
                rest = _arguments(program, rest[1:])
            found[" ".join(name)] = None
    return tuple(found)


def _arguments(program: str, words: Sequence[str]) -> Sequence[str]:
    """The words after options that come before a subcommand: `git -C DIR push`."""
    while words and words[0].startswith("-"):
        words = words[2:] if program == "git" and words[0] in ("-C", "-c") else words[1:]
    return words


def derived(content: str, quotes: Iterable[str] = ()) -> tuple[Moment, ...]:
    """Moments of a statement: the paths in it, and the failures in its evidence.

    Not the commands in it: every session has a `git status`, so only a person can say whether a
    memory belongs to one.
    """
    found = dict.fromkeys((*_paths_named(content), *_failures(quotes)))
    return tuple(found)[:MAX_DERIVED]


def paths_in(text: str) -> Iterator[str]:
    """The files and folders in a text."""
    for path in _PATH.findall(text):
        if not _ABBREVIATION.match(path) and any(map(str.isalpha, path)):
            yield path.removeprefix("./")


def _paths_named(content: str) -> Iterator[Moment]:
    for path in paths_in(content):
        yield Moment(MomentKind.PATH, path)


def _failures(quotes: Iterable[str]) -> Iterator[Moment]:
    from reviewer.sessions.signatures import failing_lines  # late: slow to import

    for quote in quotes:
        for line in failing_lines(quote, plain=True):
            yield Moment(MomentKind.ERROR, line.signature)
