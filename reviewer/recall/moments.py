"""The moments that a memory belongs to: derived from its text and its evidence, or chosen.

A moment is written as its kind and its value: `command git push`, `path src/pay/`, `error nilerr`,
`always`. Commands are known by program and subcommand, paths by their end, errors by their
signature.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.sessions.signatures import failing_lines
from reviewer.sources.shell import split

MOST = 12
"""Moments that are derived of one memory."""
MOST_COMMANDS = 16
"""Parts of a shell line that are looked at."""

_SPAN = re.compile(r"`([^`\n]{2,200})`")
_PROGRAM = re.compile(r"[a-z][\w.+-]{1,30}$")
_SUBCOMMAND = re.compile(r"[a-z][\w:-]{1,30}$")
_PATH = re.compile(r"(?<![\w/:.~-])(?:[\w.@-]+/)+(?:[\w.@-]+)?|(?<![\w/:.@-])[\w-]+\.[a-z]{1,4}\b")
_SIGNED = re.compile(r"[\w.()/ -]{2,48}(?=: )")
_ABBREVIATION = re.compile(r"\w\.\w$")


class MomentKind(StrEnum):
    """What happens at a moment."""

    COMMAND = "command"
    PATH = "path"
    ERROR = "error"
    ALWAYS = "always"


class Moment(Struct, frozen=True, order=True):
    """When a memory is needed. `value` is empty for `always`."""

    kind: MomentKind
    value: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.value}".strip()


def read_moment(text: str) -> Moment:
    """A moment as a person writes it. Raises ReviewerError."""
    name, _, value = " ".join(text.split()).partition(" ")
    try:
        kind = MomentKind(name.lower())
    except ValueError:
        kinds = ", ".join(MomentKind)
        raise ReviewerError(
            f"{name or 'Nothing'} is no moment; moments begin with {kinds}."
        ) from None
    if (kind is MomentKind.ALWAYS) != (not value):
        need = "no value" if kind is MomentKind.ALWAYS else f"a value, such as: {_EXAMPLES[kind]}"
        raise ReviewerError(f"{kind} takes {need}.")
    if kind is MomentKind.COMMAND:
        value = next(iter(heads(value)), value)
    return Moment(kind, value.removeprefix("./"))


_EXAMPLES = {
    MomentKind.COMMAND: "command git push",
    MomentKind.PATH: "path src/pay/",
    MomentKind.ERROR: "error nilerr",
}


def read_moments(text: str) -> tuple[Moment, ...]:
    """Chosen moments, a line each, as the store keeps them."""
    return tuple(map(read_moment, text.splitlines()))


def heads(line: str) -> tuple[str, ...]:
    """Program and subcommand of each part of a shell line."""
    found: dict[str, None] = {}
    for command in split(line)[:MOST_COMMANDS]:
        if command.words:
            program = command.words[0].rpartition("/")[2]
            rest = _arguments(program, command.words[1:])
            following = rest[0] if rest and _SUBCOMMAND.match(rest[0]) else ""
            found[f"{program} {following}".strip()] = None
    return tuple(found)


def _arguments(program: str, words: Sequence[str]) -> Sequence[str]:
    """The words behind options that stand before a subcommand: `git -C DIR push`."""
    while words and words[0].startswith("-"):
        words = words[2:] if program == "git" and words[0] in ("-C", "-c") else words[1:]
    return words


def signatures_of(text: str) -> tuple[str, ...]:
    """The signatures of the failing lines of an output, and their rules alone."""
    found: dict[str, None] = {}
    for line in failing_lines(text):
        found[line.signature] = None
        if line.rule:
            found[line.rule] = None
    return tuple(found)


def derived(content: str, quotes: Iterable[str] = ()) -> tuple[Moment, ...]:
    """The moments of a statement: commands and paths that it names, and the failures that its
    evidence shows.
    """
    found = dict.fromkeys((*_named(content), *_failures(quotes)))
    return tuple(found)[:MOST]


def _named(content: str) -> Iterator[Moment]:
    for span in _SPAN.findall(content):
        head, _, rest = span.partition(" ")
        if rest and _PROGRAM.match(head):
            for each in heads(span):
                program, _, subcommand = each.partition(" ")
                if subcommand and _PROGRAM.match(program):
                    yield Moment(MomentKind.COMMAND, each)
    for path in _PATH.findall(content):
        if not _ABBREVIATION.match(path):
            yield Moment(MomentKind.PATH, path.removeprefix("./"))


def _failures(quotes: Iterable[str]) -> Iterator[Moment]:
    for quote in quotes:
        for line in failing_lines(quote, plain=True):
            yield Moment(MomentKind.ERROR, line.signature)
