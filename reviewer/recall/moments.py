"""Moments: when a memory is recalled. Derived from its text and evidence, or chosen by a person.

Written as kind and value: `command git push`, `path src/pay/`, `error nilerr`,
`tool mcp__db__query`, `words night shift`, `always`, `only`. A command matches by program and
subcommands, a path by its end, an error by its signature, an agent's tool by its name, words if a
prompt or failure has all of them. `guard git push`, `guard src/pay/`: the first such call of a
session is denied once, with the memory as the reason; also written `stop the first git push`, and
with flags, as `guard git push --force`, only for a call that has them. `edit src/pay/`: comes with
the result of an edit, without a denial. `only`, which a person may write and reads as `no packet`:
never in a packet; `always`: only there; `pinned`: first there; `unprompted`, read as `no prompt`:
never with a prompt.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from shutil import which
from typing import NamedTuple

from reviewer.errors import ReviewerError
from reviewer.sources.shell import heads, only_looks

MAX_DERIVED = 12
"""Moments derived from a single memory."""
MAX_WORDS = 24
"""Words of a text that are looked up as programs."""

_PATH = re.compile(
    r"(?<![\w/:.~-])(?>(?:[\w.@-]+/)+)(?:[\w.@-]++|(?!<))"
    r"|(?<![\w/:.@-])[\w-]+\.[a-z]{1,4}\b(?!/)"
)
"""Not `review/` in `review/<ticket>`, which may as well be a branch or an address."""
_EXTENSION = re.compile(r"\.[A-Za-z]\w*$")
_TOOL = re.compile(r"[\w-]+")
_ABBREVIATION = re.compile(r"\w\.\w$")


class MomentKind(StrEnum):
    COMMAND = "command"
    PATH = "path"
    EDIT = "edit"
    ERROR = "error"
    GUARD = "guard"
    TOOL = "tool"
    WORDS = "words"
    ALWAYS = "always"
    ONLY = "only"
    UNPROMPTED = "unprompted"
    PINNED = "pinned"


NEVER = {MomentKind.ONLY: "no packet", MomentKind.UNPROMPTED: "no prompt"}
"""Ways in which a memory is never handed out, as a person writes them."""
BESIDE = (*NEVER, MomentKind.PINNED)
"""Kinds that leave the derived moments in place."""
BEFORE = ("before", "stop", "stops")
"""Other words for `guard`."""
FILLERS = ("the first ", "edit of ", "editing ", "running ")
"""Words that may stand before what is guarded, as on the screen: `stops the first edit of x.py`."""
WITHOUT_VALUE = (MomentKind.ALWAYS, *BESIDE)
_FURTHER = re.compile(
    rf"(?:,| and) (?=(?:{'|'.join((*MomentKind, *BEFORE, *NEVER.values()))})\b)", re.IGNORECASE
)
"""What stands before a further moment instead of a semicolon."""


class Moment(NamedTuple):
    """When a memory is recalled. `value` is empty for kinds in `WITHOUT_VALUE`."""

    kind: MomentKind
    value: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.value}".strip()

    @property
    def shown(self) -> str:
        """As a person writes it."""
        return NEVER.get(self.kind) or str(self)


def read_moment(text: str, roots: Sequence[str] = ()) -> Moment:
    """Parse a moment as a person writes it. `roots`: the folders of its project, in which a path
    with a blank must exist. Raises ReviewerError.
    """
    text = " ".join(text.split())
    for never, words in NEVER.items():
        if text.lower() == words:
            return Moment(never)
    name, _, value = text.partition(" ")
    try:
        kind = MomentKind.GUARD if name.lower() in BEFORE else MomentKind(name.lower())
    except ValueError:
        near = next(iter(offers(text)), "")
        raise ReviewerError(
            f"{name or 'Nothing'} is not a kind of moment."
            + (f" Perhaps you mean: {near}." if near else "")
            + f" Examples: {', '.join(_EXAMPLES.values())}, always,"
            f" pinned, {', '.join(NEVER.values())}."
        ) from None
    if (kind in WITHOUT_VALUE) != (not value):
        need = "no value" if kind in WITHOUT_VALUE else f"a value, such as: {_EXAMPLES[kind]}"
        raise ReviewerError(f"{kind} takes {need}.")
    calls = (MomentKind.COMMAND, MomentKind.PATH, MomentKind.EDIT, MomentKind.GUARD)
    if kind in calls and _FURTHER.search(value):
        raise ReviewerError(f"Separate moments with a semicolon: {_FURTHER.sub('; ', text)}.")
    if kind in calls and "," in value:
        each = "; ".join(f"{kind} {part.strip()}" for part in value.split(",") if part.strip())
        raise ReviewerError(f"Separate moments with a semicolon: {each}.")
    for filler in FILLERS if kind is MomentKind.GUARD else ():
        value = value.removeprefix(filler)
    if kind in (MomentKind.PATH, MomentKind.EDIT, MomentKind.GUARD):
        value = value.replace("\\", "/")
    if kind is MomentKind.TOOL and not _TOOL.fullmatch(value):
        raise ReviewerError(f"tool takes one name, such as: {_EXAMPLES[kind]}.")
    called = value.partition(" -")[0]
    if kind is MomentKind.COMMAND or (kind is MomentKind.GUARD and "/" not in called):
        value = value.removesuffix(".")
        names = [name for name in heads(value) if heads(name) == (name,)]
        if not names:
            raise ReviewerError(
                f"{value} has no command that could be recognised, such as: {_EXAMPLES[kind]}."
            )
        if names[1:]:
            raise ReviewerError(
                f"{value} may be {' or '.join(names)}. Write the one you mean: {kind} {names[-1]}."
            )
        if value.startswith(f"{names[0]} ") and "-" not in value:
            raise ReviewerError(
                f"A {kind} sees the program and its subcommand only: write {kind} {names[0]}, and"
                " further moments after a semicolon."
            )
        value = names[0] if kind is MomentKind.COMMAND else " ".join((names[0], *_flags(value)))
    elif kind in calls:
        if "*" in value:
            raise ReviewerError(
                f"{value} is a pattern. Write a file, or a folder such as src/pay/."
            )
        if " " in value and not _exists(value, roots):
            named = next(paths_in(value), "src/pay/")
            raise ReviewerError(
                f"{value} is no file of the project. Write {kind} {named}, and further moments"
                " after a semicolon."
            )
        value = value.removeprefix("./").lstrip("/") or value
    return Moment(kind, value)


def _exists(path: str, roots: Iterable[str]) -> bool:
    return any(os.path.exists(os.path.join(root, path)) for root in roots if root)


def doubts(moments: Iterable[Moment], roots: Sequence[str]) -> list[str]:
    """What moments name and is not there, as sentences without a full stop: programs, files and
    folders. `roots`: the folders of the project.
    """
    found: list[str] = []
    for moment in moments:
        kind, value = moment
        program = value.partition(" ")[0]
        if kind in (MomentKind.PATH, MomentKind.EDIT) or (
            kind is MomentKind.GUARD and ("/" in value or ("." in program and not which(program)))
        ):
            if any(roots) and not _exists(value, (*roots, "/")):
                found.append(
                    f"{moment}: no such file or folder in the project's folder; it will match this"
                    " path in any subfolder"
                )
        elif kind in (MomentKind.COMMAND, MomentKind.GUARD) and not which(program):
            found.append(f"{moment}: there is no program {program} on the PATH")
    return found


def _flags(command: str) -> Iterator[str]:
    return (word for word in command.split() if re.fullmatch(r"-[\w-]+(=[\w.-]+)?", word))


_EXAMPLES = {
    MomentKind.COMMAND: "command git push",
    MomentKind.PATH: "path src/pay/",
    MomentKind.EDIT: "edit src/pay/",
    MomentKind.ERROR: "error nilerr",
    MomentKind.GUARD: "guard git push",
    MomentKind.TOOL: "tool mcp__db__query",
    MomentKind.WORDS: "words night shift",
}


def offers(text: str) -> tuple[Moment, ...]:
    """The moments that a text without a kind may mean, likeliest first: the commands in backticks,
    else the first installed program; then paths. Empty for a kind or the start of one.
    """
    words = text.split()
    if (
        not words
        or " ".join(words).lower() in NEVER.values()
        or any(
            each.startswith(words[0].lower())
            if not words[1:]
            else each == words[0].lower() and each not in WITHOUT_VALUE
            for each in (*MomentKind, *BEFORE)
        )
    ):
        return ()
    commands = commands_in(text) or commands_in(f"`{_from_a_program(words)}`")
    found = [
        *commands,
        *(Moment(MomentKind.GUARD, command.value) for command in commands),
        *(
            Moment(kind, path.value)
            for path in _paths_named(text)
            for kind in (MomentKind.PATH, MomentKind.EDIT)
        ),
    ]
    return tuple(dict.fromkeys(found))


def commands_in(text: str) -> tuple[Moment, ...]:
    """The commands in the backticks of a text."""
    found = (head for line in _quoted(text) for head in heads(line))
    return tuple(Moment(MomentKind.COMMAND, head) for head in dict.fromkeys(found))


def _quoted(text: str) -> list[str]:
    return text.split("`")[1:-1:2]


def _from_a_program(words: Sequence[str]) -> str:
    for at, word in enumerate(words[:MAX_WORDS]):
        if _TOOL.fullmatch(word) and not only_looks(word) and which(word):
            return " ".join(words[at:])
    return ""


def read_moments(text: str) -> tuple[Moment, ...]:
    """Chosen moments as stored, one per line, without lines that are none: they were checked when
    they were chosen, and commands may be read differently now.
    """
    lines = (line.partition(" ") for line in text.splitlines())
    return tuple(
        Moment(MomentKind(kind), value)
        for kind, _, value in lines
        if kind in tuple(MomentKind) and (value or kind in WITHOUT_VALUE)
    )


def derived(
    content: str, quotes: Iterable[str] = (), roots: Sequence[str] = ()
) -> tuple[Moment, ...]:
    """Moments of a statement: the paths in it, and the failures in its evidence. `roots`: the
    folders of its project.

    Not the commands in it: every session has a `git status`, so only a person can say whether a
    memory belongs to one.
    """
    found = dict.fromkeys((*_paths_named(content, roots), *_failures(quotes)))
    return tuple(found)[:MAX_DERIVED]


def paths_in(text: str) -> Iterator[str]:
    """The files and folders in a text."""
    words = (word for word in text.split() if "/" in word or "." in word)
    for path in (each for word in words for each in _PATH.findall(word)):
        if not _ABBREVIATION.match(path) and any(map(str.isalpha, path)):
            yield path.removeprefix("./").rstrip(".")


def _paths_named(content: str, roots: Sequence[str] = ()) -> Iterator[Moment]:
    """The paths in a text. Without an extension or a final slash, it may be a branch, such as
    `origin/main`, unless the project has it.
    """
    for path in paths_in(content):
        places = [os.path.join(root, path) for root in roots if root]
        if any(map(os.path.isdir, places)):
            yield Moment(MomentKind.PATH, f"{path.rstrip('/')}/")
        elif path.endswith("/") or _EXTENSION.search(path) or any(map(os.path.exists, places)):
            yield Moment(MomentKind.PATH, path)


def _failures(quotes: Iterable[str]) -> Iterator[Moment]:
    # late: slow to import
    from reviewer.sessions.signatures import SEVERE, failing_lines, is_environment

    for quote in quotes:
        for line in failing_lines(quote, up_to=SEVERE):
            # `no such file or directory: *` is any missing file: its name recalls the memory.
            if not (is_environment(line.text) and "*" in line.signature):
                yield Moment(MomentKind.ERROR, line.signature)
