"""What tool calls looked at, in one line each, for ranges in which little else happened."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from posixpath import commonpath

from reviewer.compression.offline.calls import PATHS, command_of
from reviewer.compression.values import Turn
from reviewer.proposing.view_calls import read_call
from reviewer.text.identifiers import IdentifierKind, identifiers

READ_OF_TURN = 4_000
"""Characters of a result in which names are looked for."""
MOST_LISTED = 12
LONGEST_COMMAND = 120
_NAMES = frozenset({IdentifierKind.PATH, IdentifierKind.CODE, IdentifierKind.NAME})


def looked_at(
    turns: Iterable[Turn], *, with_names: bool = True, told: str = ""
) -> list[tuple[int, str]]:
    """Turn and line: files read, patterns searched for, commands run, names in the results.

    `with_names`: whether names in the results are looked for. Commands that are `told` are left
    out.
    """
    read: dict[str, int] = {}
    searched: dict[str, int] = {}
    ran: dict[str, int] = {}
    names: Counter[str] = Counter()
    tools: dict[str, int] = {}
    for number, turn in enumerate(turns):
        if turn.kind == "tool_use":
            call = read_call(turn.name, turn.text)
            pattern, path = call.words("pattern", "query", "regex"), call.words(*PATHS)
            if call.command:
                command = _main_part(command_of(call))
                if command and not (told and _is_told(command, told)):
                    ran[_short(command, turn.folder)] = number
            elif pattern:
                searched[_short(pattern, turn.folder)] = number
            elif path:
                read[_short(path, turn.folder)] = number
        elif turn.kind == "tool_result" and with_names:
            tools.setdefault(turn.name or "a tool", number)
            found = {
                each.text for each in identifiers(turn.text[:READ_OF_TURN]) if each.kind in _NAMES
            }
            names.update(
                name
                for name in sorted(found)
                if " " not in name and sum(map(str.isalpha, name)) > 2
            )
    lines = [
        (max(found.values()), f"{done}: {_listed(found, quote)}")
        for done, found, quote in (
            ("Read", _below_their_folder(read), ""),
            ("Searched for", searched, "`"),
            ("Ran", ran, "`"),
        )
        if found
    ]
    if tools and names:
        common = [name for name, _ in names.most_common(MOST_LISTED)]
        lines.append(
            (max(tools.values()), f"Output of {', '.join(tools)} names {', '.join(common)}")
        )
    return lines


_BEFORE = re.compile(r"\s*(?:cd|export|set|source|sleep|echo)\b[^\n;&|]*(?:&&|;)\s*")
_AFTER = re.compile(
    r"(?<!\s)\s*+(?:2>&1|2>/dev/null|>/dev/null|\|\s*(?:head|tail|cat|wc|sort|tee)\b).*"
)


def _main_part(command: str) -> str:
    """The first line of a command without what goes into a folder before and cuts output after."""
    first = next((line for line in command.split("\n") if line.strip()), "")
    while found := _BEFORE.match(first):
        first = first[found.end() :]
    return _AFTER.sub("", first).strip(" \\;&|")


CHANGING = re.compile(r"\bgit (?:commit|push|checkout|switch|merge|rebase|add|branch -f|reset)\b")
"""Commands that have lines of their own."""


def _is_told(command: str, told: str) -> bool:
    return command in told or CHANGING.search(command) is not None


def _below_their_folder(read: dict[str, int]) -> dict[str, int]:
    """Absolute paths without the folder that all of them share; the others as they are."""
    whole = [path for path in read if path.startswith("/")]
    shared = f"{commonpath(whole).rpartition('/')[0]}/" if len(whole) == 1 else ""
    shared = f"{commonpath(whole)}/" if len(whole) > 1 else shared
    return {path.removeprefix(shared): number for path, number in read.items()}


def _short(text: str, folder: str) -> str:
    """One line of at most `LONGEST_COMMAND` characters, without the folder of the session."""
    line = " ".join((text.replace(f"{folder}/", "") if folder else text).split())
    return line if len(line) <= LONGEST_COMMAND else f"{line[:LONGEST_COMMAND]}…"


def _listed(found: Iterable[str], quote: str) -> str:
    """The latest of them, in their order."""
    shown = list(found)[-MOST_LISTED:]
    return ", ".join(f"{quote}{each}{quote}" for each in shown)
