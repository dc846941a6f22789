"""Files and identifiers as an index: what prose did not name, in as few tokens as can be."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from reviewer.compression.extractive.needs import Needs

TITLE = "Files and identifiers:"
TOOLS = "Tools:"
FILES = 1.4
"""What a file counts in the index against a name: files are what is opened again."""
_PIECE = re.compile(r"[\w$@#~.:*+/-]+")
_FILE = re.compile(r"[^/]*\.[a-z][a-z0-9]{0,5}$")


class NameIndex:
    """The names of a conversation, those first that are needed most for the tokens they take."""

    def __init__(self, needs: Needs, count: Callable[[str], int]) -> None:
        self._needs, self._count = needs, count
        self.costs = {name: count(f" {name}") for name in needs.need}
        self.ranked = sorted(
            needs.need, key=lambda name: (-self._worth(name) / self.costs[name], name)
        )
        self.total = sum(self.costs.values())

    def _worth(self, name: str) -> float:
        need = self._needs.need[name]
        return FILES * need if "/" not in name and _FILE.fullmatch(name) else need

    def choose(self, budget: int, text: str, first: Sequence[str] = ()) -> list[str]:
        """Names that `text` does not hold and that fit; `first` come before all others."""
        held = pieces_of(text)
        chosen: list[str] = []
        for name in (*first, *self.ranked):
            if name in held or (" " in name and name in text):
                continue
            cost = self.costs.get(name) or self._count(f" {name}")
            if cost > budget:
                continue
            chosen.append(name)
            held |= pieces_of(name)
            budget -= cost
        return chosen

    def lines(self, chosen: Sequence[str]) -> list[str]:
        """The index: one line for each folder that is named, then other files, then the rest.

        What is declared stands on a line of its own.
        """
        declared = [name for name in chosen if " " in name]
        names = [name for name in chosen if " " not in name]
        folders: dict[str, list[str]] = {name: [] for name in names if name in self._needs.holds}
        files: list[str] = []
        others: list[str] = []
        for name in names:
            if name in folders:
                continue
            home = self._needs.folders.get(name)
            if home in folders:
                folders[home].append(name)
            elif _FILE.fullmatch(name.rpartition("/")[2]):
                files.append(name)
            else:
                others.append(name)
        others += [folder for folder, inside in folders.items() if not inside]
        grouped = [
            f"{folder.rstrip('/')}/: {' '.join(inside)}"
            for folder, inside in folders.items()
            if inside
        ]
        return [*declared, *grouped, *(" ".join(each) for each in (files, others) if each)]


def tools_line(needs: Needs, count: Callable[[str], int], budget: int) -> str:
    """The tools that were called and with which arguments, as many as fit; empty for none."""
    line = ""
    for tool, arguments in needs.tools.items():
        entry = f"{tool}({' '.join(arguments)})" if arguments else tool
        longer = f"{line} {entry}" if line else f"{TOOLS} {entry}"
        if count(longer) > budget:
            break
        line = longer
    return line


def pieces_of(text: str) -> set[str]:
    """Everything that stands in a text as a word of its own, as the tail of a path or as a part
    of a dotted name.
    """
    found: set[str] = set()
    for piece in _PIECE.findall(text):
        whole = piece.strip(".:")
        found.add(piece)
        found.add(whole)
        if "/" in whole:
            at = -1
            while (at := whole.find("/", at + 1)) >= 0:
                found.add(whole[at + 1 :])
                found.add(whole[at:])
                found.add(whole[:at])
        if "." in whole or ":" in whole:
            found.update(re.split(r"[.:]+", whole))
    return found
