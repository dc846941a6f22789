"""Reads a team's .context folder: tasks, conventions, constitution, entries."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from math import inf
from pathlib import Path

from msgspec import Struct

from reviewer.clock import from_iso
from reviewer.errors import SourceError
from reviewer.files import read_file_within, reason_of
from reviewer.packets.values import SCORED, Item, Material, Problem, RuleBlock, Section, item_id
from reviewer.packets.wording import title_of
from reviewer.projects import work_tree
from reviewer.sources.binary import looks_binary
from reviewer.sources.markdown import (
    THEMATIC_BREAK,
    Block,
    NoteLine,
    NoteSection,
    blocks,
    front_matter,
    headings_of,
    sections,
    without_comments,
)
from reviewer.sources.note_kinds import (
    DATED,
    entry_facts,
    entry_title,
    is_dated,
    is_decision_record,
    is_template,
)
from reviewer.sources.unpacked import UTF16
from reviewer.sources.walk import is_within
from reviewer.text.sentences import split_sentences

ORDER = (
    "CONSTITUTION.md",
    "TASKS.md",
    "CONVENTIONS.md",
    "ARCHITECTURE.md",
    "DECISIONS.md",
    "LEARNINGS.md",
    "GLOSSARY.md",
    "AGENT_PLAYBOOK.md",
)
"""The files of a context folder, in reading order for an agent."""

FOLDERS = ("decisions", "learnings")
"""Folders with further entries, one or more in a file."""

_CORE = {name.lower() for name in (*ORDER[:3], *ORDER[4:6])}
_OTHER_FILES = re.compile(r"(?:readme|index|template|_.*)\.md", re.IGNORECASE)


def find_folder(path: Path) -> Path:
    """The context folder at `path`: itself, or the `.context` in it.

    Raises SourceError if there is none.
    """
    try:
        if not path.is_dir():
            what = "is not a folder" if path.exists() else "does not exist"
            raise SourceError(f"{path} {what}: name a .context folder, or one that contains it.")
        for folder in (path / ".context", path):
            if folder.is_dir() and _has_context(folder):
                return folder
    except OSError as problem:
        raise SourceError(f"{path} cannot be read: {problem.strerror}.") from problem
    except ValueError as problem:  # a NUL in the name
        raise SourceError(f"{str(path)!r} is not a folder name: {problem}.") from problem
    raise SourceError(
        f"{path} is not a context folder: it has no {ORDER[0]}, {ORDER[1]}, {ORDER[4]} or "
        f"{ORDER[5]}. Name a .context folder, or one that contains it."
    )


def context_folder_at(path: Path) -> Path | None:
    try:
        return find_folder(path)
    except SourceError:
        return None


def context_folder_near(path: Path) -> Path | None:
    """The context folder at `path`, else at the root of the work tree around it, or None."""
    found = context_folder_at(path)
    if found is None and (tree := work_tree(path)) is not None:
        found = context_folder_at(Path(tree.root))
    return found


def names_in(folder: Path) -> dict[str, str]:
    """File names by their lower-case form; the capitalised one of two that differ only in case."""
    return {name.lower(): name for name in sorted(os.listdir(folder), reverse=True)}


def _has_context(folder: Path) -> bool:
    names = names_in(folder)
    if folder.name == ".context":
        return not names or bool(names.keys() & (_CORE | set(FOLDERS)))
    return bool(names.keys() & _CORE)


LARGEST_FILE = 32_000_000
"""Bytes; larger files are reported and skipped."""


def read_folder(path: Path) -> Material:
    """All items of a context folder, and the problems found.

    Missing and empty files give empty sections. Raises SourceError for any other folder.
    """
    folder = find_folder(path)
    reader = _Reader(folder)
    return Material(
        source=str(folder),
        read_order=tuple(reader.read_order()),
        constitution=tuple(constitution(*reader.lines("CONSTITUTION.md"))),
        items=reader.items(),
        problems=tuple(reader.problems),
    )


class _Reader:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[Problem] = []
        self._names = names_in(folder)

    def read_order(self) -> Iterator[str]:
        """The files that are not empty, as `folder/name`."""
        for name in ORDER:
            real = self._names.get(name.lower())
            path = self.folder / real if real else None
            if path and path.is_file() and path.stat().st_size:
                yield f"{self.folder.absolute().name}/{real}"

    def items(self) -> tuple[Item, ...]:
        """Tasks, conventions, decisions and learnings without duplicates."""
        found = [*tasks(*self.lines("TASKS.md")), *conventions(*self.lines("CONVENTIONS.md"))]
        for section in SCORED:
            lines, name = self.lines(f"{section.upper()}.md")
            found += self._entries(lines, name, section)
            for moved in self._moved(section):
                found += self._entries(self._read(moved), moved, section, single=True)
        once: dict[tuple[Section, str], Item] = {}
        for item in found:
            once.setdefault((item.section, item.id), item)
        return tuple(once.values())

    def _entries(
        self, lines: list[NoteLine], name: str, section: Section, *, single: bool = False
    ) -> list[Item]:
        items = list(_Entries(name, section, self.problems, single).of(lines))
        if not items and sum(bool(line.text.strip()) for line in lines) > 1:
            self.problems.append(Problem(name, 0, f"no entry was found in {len(lines):,} lines"))
        return items

    def lines(self, name: str) -> tuple[list[NoteLine], str]:
        """The lines of a file, none if it is missing, and its name as it is spelled."""
        real = self._names.get(name.lower())
        return (self._read(real), real) if real else ([], name)

    def _moved(self, section: str) -> list[str]:
        """Files in `decisions/` or `learnings/`, by their relative names."""
        real = self._names.get(section)
        if real is None or not (self.folder / real).is_dir():
            return []
        try:
            names = sorted(os.listdir(self.folder / real))
        except OSError as problem:
            self.problems.append(Problem(f"{real}/", 0, f"cannot be read: {reason_of(problem)}"))
            return []
        notes = (each for each in names if each.lower().endswith(".md"))
        return [f"{real}/{name}" for name in notes if not _OTHER_FILES.fullmatch(name)]

    def _read(self, name: str) -> list[NoteLine]:
        path = self.folder / name
        try:
            if not is_within(path, os.path.realpath(self.folder)):
                raise OSError("it is a link out of the folder")
            raw = read_file_within(path, LARGEST_FILE)
        except OSError as problem:
            self.problems.append(Problem(name, 0, f"cannot be read: {reason_of(problem)}"))
            return []
        wide = raw.startswith(UTF16)
        if not wide and looks_binary(raw):
            self.problems.append(Problem(name, 0, "is not text, so it was not read"))
            return []
        text = raw.decode("utf-16" if wide else "utf-8-sig", "replace")
        replaced = text.count("\ufffd") - raw.count("\ufffd".encode())
        if replaced > 0:
            what = f"{replaced} places are not UTF-8 and were replaced"
            self.problems.append(Problem(name, 0, what))
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        text, endless = without_comments(text)
        self.problems += [Problem(name, line + 1, what) for line, what in endless]
        lines = text.split("\n")
        _, matter = front_matter(lines)
        return [NoteLine(number, line) for number, line in enumerate(lines)][matter:]


_LABELLED = re.compile(
    r"#(?:added|created|started|updated|reopened)[:=](\d{4}-\d{2}-\d{2})(?:-(\d{2})(\d{2})(\d{2}))?"
)
_ANY_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def tasks(lines: Iterable[NoteLine], file: str) -> Iterator[Item]:
    """The open tasks of TASKS.md: every item with an unticked checkbox.

    A nested open task is a separate task, also below a finished one. In a file without checkboxes
    every list item is a task.
    """
    found = list(blocks(lines, boxes_apart=True))
    boxes = any(block.box is not None for block in found)
    for block in found:
        wanted = _is_open(block) if boxes else block.marker
        if wanted and (text := block.text):
            yield Item(
                id=item_id(Section.TASKS, " > ".join(block.headings), text),
                section=Section.TASKS,
                title=title_of(text),
                text=text,
                place=_place(file, block),
                at=task_date(text),
                group="".join(block.headings[-1:]),
            )


def _is_open(block: Block) -> bool:
    """Whether an item has a checkbox and is neither ticked, crossed out nor struck through."""
    if block.box is None or block.box in ("x", "X", "-", "~", "✓", "✔", "✗", "✘"):
        return False
    return not (block.text.startswith("~~") and block.text.count("~~") >= 2)


def conventions(lines: Iterable[NoteLine], file: str) -> Iterator[Item]:
    """The items and paragraphs of CONVENTIONS.md, each with the heading above it."""
    for block in blocks(lines):
        if not (block.level or block.leads) and (text := block.text):
            group = " / ".join(block.headings[1:]) or _unless_title(block.headings, file)
            yield Item(
                id=item_id(Section.CONVENTIONS, group, text),
                section=Section.CONVENTIONS,
                title=title_of(led := _led(block)),
                text=led,
                place=_place(file, block),
                outdated=outdated_word(text),
                group=group,
            )


def constitution(lines: Iterable[NoteLine], file: str) -> Iterator[RuleBlock]:
    """CONSTITUTION.md block by block, without its title."""
    for at, block in enumerate(blocks(lines, boxes_apart=True)):
        place, text = _place(file, block), block.text
        if block.level:
            if at or block.level > 1:
                head = "#" * min(block.level + 1, 6)
                yield RuleBlock(f"{head} {text}", place, heading=True)
        elif block.marker:
            marker = "-" if block.marker in ("*", "+", "•") else block.marker
            margin = " " * min(block.indent, 12)
            inner = margin + " " * (len(marker) + 1)
            text = re.sub(r"\n(?!\n)", f"\n{inner}", text)
            yield RuleBlock(f"{margin}{marker} {text}", place, listed=True, lead=_lead(block))
        elif text:
            yield RuleBlock(text, place, heading=block.leads)


def _led(block: Block) -> str:
    """The text of a block that stands alone: `Do not: leave broken states` for an item."""
    return f"{_lead(block)} {block.text}".lstrip()


def _lead(block: Block) -> str:
    """The sentence before the list of an item that ends in a colon."""
    spans = list(split_sentences(block.lead, 0, len(block.lead)))
    return " ".join(block.lead[spans[-1][0] :].split()) if spans else ""


def _place(file: str, block: Block) -> str:
    return f"{file}:{block.number + 1}"


def task_date(text: str) -> datetime | None:
    """When a task was last added or updated: by its labels, else the latest date in it."""
    labelled = [
        moment
        for day, *time in _LABELLED.findall(text)
        if (moment := from_iso(f"{day}T{':'.join(time)}" if time[0] else day))
    ]
    if labelled:
        return max(labelled)
    named = [moment for day in _ANY_DATE.findall(text) if (moment := from_iso(day))]
    return max(named, default=None)


def _unless_title(group: tuple[str, ...], file: str) -> str:
    """The only heading above, unless it is the title of the file."""
    if not group or group[0].lower().startswith(file.partition(".")[0].lower()):
        return ""
    return group[0]


_ONLY_LINK = re.compile(r"\W*?\[[^\[\]]*\]\([^)]*\)[\W\d]*$")
_BLANK_DATE = re.compile(r"\[?YYYY-MM-DD")
_FILE_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})")
_DEEPEST_HEADING = 6

_STATUS = re.compile(
    r"\W*(superseded|deprecated|obsolete|rejected|withdrawn|reversed|replaced)\b", re.IGNORECASE
)
_TITLE = re.compile(
    r"\W*(superseded|deprecated|obsolete)(?=~~|\*\*|[\])]| by\b| in favou?r\b|\s*(?::|$))",
    re.IGNORECASE,
)
_STRIKE = re.compile(
    r"[\[*]*~~(?!\s).{2,2000}?~~[\W\d]*(?:$|\b(?:superseded|replaced|see|by|removed|dropped|now)\b)",
    re.IGNORECASE,
)
_DATE_BEFORE = re.compile(r"\[?\d{4}-\d\d-\d\d(?:-\d{6})?[\]:]*\s*")


def outdated_word(title: str, status: str = "") -> str:
    """The word for an outdated entry, by its status or title: `superseded`, `struck out`; else
    empty.

    A title that corrects itself (`~~tabs~~ spaces`) is in force.
    """
    if found := _STATUS.match(status):
        return found[1].lower()
    line = _DATE_BEFORE.sub("", title.strip().split("\n")[0], count=1)
    if found := _TITLE.match(line):
        return found[1].lower()
    return "struck out" if _STRIKE.match(line) else ""


class _Entries(Struct):
    """Reads the entries of a file, and adds to `problems`.

    `single`: the file should contain one entry, under its first heading.
    """

    file: str
    section: Section
    problems: list[Problem]
    single: bool = False

    def of(self, lines: Sequence[NoteLine]) -> Iterator[Item]:
        """Dated headings and others of level 2 begin entries, except those that group dated ones.
        List items outside are entries, too, for files that keep them as a list.
        """
        headings = headings_of(sections(lines))
        dated = any(level > 1 and is_dated(title) for level, title in headings)
        whole = is_decision_record(headings) or (self.single and not dated)
        groups = {
            title
            for (level, title), (deeper, below) in pairwise(headings)
            if level == 2 < deeper and is_dated(below)
        }

        def is_entry(level: int, title: str) -> bool:
            return whole or is_dated(title) or (level == 2 and title not in groups)

        for found in sections(lines, is_entry, most=inf):
            if found.entry:
                yield from self._entry(found)
            elif not self.single:
                yield from self._listed(found.lines)

    def _entry(self, found: NoteSection) -> Iterator[Item]:
        number, heading, text = found.lines[0].number + 1, found.title, _text_of(found.body)
        if _BLANK_DATE.match(heading) or is_template(text):
            return
        title, moment = entry_title(heading)
        facts = entry_facts(f"## {heading}\n{text}")
        yield Item(
            id=item_id(self.section, title, text),
            section=self.section,
            title=" ".join(title.split()) or title_of(text) or self.file,
            text=text,
            place=f"{self.file}:{number}",
            at=self._moment(number, heading, moment or facts.get("date")),
            heading=True,
            outdated=outdated_word(heading, facts.get("status", "")),
        )

    def _moment(self, number: int, heading: str, date: str | None) -> datetime | None:
        at = from_iso(date) if date else None
        if at is None and DATED.match(heading):
            self.problems.append(Problem(self.file, number, "a date that does not exist"))
        if at is None and self.single and (found := _FILE_DATE.search(self.file)):
            at = from_iso(found[1])
        return at

    def _listed(self, lines: Iterable[NoteLine]) -> Iterator[Item]:
        for item in blocks(lines):
            text = item.text
            if item.marker and text and not _ONLY_LINK.match(text) and not is_template(text):
                plain = text.replace("**", "")
                title, moment = entry_title(plain.split("\n")[0])
                yield Item(
                    id=item_id(self.section, "", text),
                    section=self.section,
                    title=title_of(f"{_lead(item)} {title}".lstrip()),
                    text=_led(item),
                    place=_place(self.file, item),
                    at=self._moment(item.number + 1, plain, moment),
                    outdated=outdated_word(plain),
                )


def _text_of(lines: Iterable[NoteLine]) -> str:
    """The text of an entry: headings one level deeper, no rule at the end, single blank lines."""
    texts: list[str] = []
    for section in sections(lines, most=inf):
        if section.title_lines:
            level = min(max(section.level + 1, 4), _DEEPEST_HEADING)
            texts.append(f"{'#' * level} {section.title}")
        texts += [line.text.rstrip() for line in section.body]
    while texts and (not texts[-1] or THEMATIC_BREAK.match(texts[-1])):
        texts.pop()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(texts)).strip("\n")
