"""Reading a `.context` folder as teams keep it (settled.md, "Packets"; formats.md, section 7)."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from reviewer.packets.entries import Entries
from reviewer.packets.folder import ORDER, find_folder, moved_entries, names_in
from reviewer.packets.lists import constitution, conventions, tasks
from reviewer.packets.markup import TextLine, read_lines
from reviewer.packets.values import SCORED, Item, Material, Problem, Rules, Section

LARGEST = 256_000_000
"""Bytes of a file; what is larger is named and left out."""


def read_folder(path: Path) -> Material:
    """Everything that a packet may hold of a context folder, and what could not be read of it.

    Missing and empty files give empty sections. Raises SourceError for what is no context folder.
    """
    folder = find_folder(path)
    reader = _Reader(folder)
    rules = tuple(reader.constitution())
    items = tuple(reader.items())
    return Material(
        source=str(folder),
        read_order=tuple(reader.read_order()),
        constitution=rules,
        items=items,
        problems=tuple(reader.problems),
    )


class _Reader:
    """One folder, read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[Problem] = []
        self._names = names_in(folder)

    def read_order(self) -> Iterator[str]:
        """The files that say something, with the folder's name in front."""
        for name in ORDER:
            real = self._names.get(name.lower())
            path = self.folder / real if real else None
            if path and path.is_file() and path.stat().st_size:
                yield f"{self.folder.absolute().name}/{real}"

    def constitution(self) -> Iterator[Rules]:
        """The rules that always hold."""
        for name, lines in self._lines("CONSTITUTION.md"):
            yield from constitution(lines, name)

    def items(self) -> Iterator[Item]:
        """Tasks, conventions, decisions and learnings, each wording once."""
        given: set[tuple[Section, str]] = set()
        for item in self._all():
            if (item.section, item.id) not in given:
                given.add((item.section, item.id))
                yield item

    def _all(self) -> Iterator[Item]:
        for name, lines in self._lines("TASKS.md"):
            yield from tasks(lines, name)
        for name, lines in self._lines("CONVENTIONS.md"):
            yield from conventions(lines, name)
        for section in SCORED:
            for name, lines in self._lines(f"{section.upper()}.md"):
                yield from self._entries(name, lines, section, single=False)
            for name, path in self._moved(section):
                moved = self._read(path, name)
                if moved is not None:
                    yield from self._entries(name, moved, section, single=True)

    def _entries(
        self, name: str, lines: list[TextLine], section: Section, *, single: bool
    ) -> Iterator[Item]:
        entries = Entries(lines, name, section, single=single)
        found = 0
        for found, item in enumerate(entries, 1):  # noqa: B007
            yield item
        self.problems += entries.problems
        if not found and sum(bool(line.text.strip()) for line in lines) > 1:
            self.problems.append(Problem(name, 0, f"no entry was found in {len(lines):,} lines"))

    def _lines(self, name: str) -> Iterator[tuple[str, list[TextLine]]]:
        real = self._names.get(name.lower())
        if real is not None:
            lines = self._read(self.folder / real, real)
            if lines is not None:
                yield real, lines

    def _moved(self, section: str) -> list[tuple[str, Path]]:
        try:
            return list(moved_entries(self.folder, section))
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            self.problems.append(Problem(f"{section}/", 0, f"cannot be read: {reason}"))
            return []

    def _read(self, path: Path, name: str) -> list[TextLine] | None:
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                self.problems.append(Problem(name, 0, "is no regular file, so it was not read"))
                return None
            if found.st_size > LARGEST:
                self.problems.append(
                    Problem(name, 0, f"has {found.st_size / 1e6:,.0f} MB, so it was not read")
                )
                return None
            lines, problems = read_lines(path.read_bytes(), name)
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            self.problems.append(Problem(name, 0, f"cannot be read: {reason}"))
            return None
        self.problems += problems
        return _without_front_matter(lines)


def _without_front_matter(lines: list[TextLine]) -> list[TextLine]:
    if not lines or lines[0].text.rstrip() not in ("---", "+++"):
        return lines
    from reviewer.sources.front_matter import front_matter

    _, matter = front_matter([line.text for line in lines[:200]])
    return lines[matter:]
