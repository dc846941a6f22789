"""Reads a team's .context folder: tasks, conventions, constitution, entries."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from reviewer.clock import from_iso
from reviewer.errors import SourceError
from reviewer.files import read_file_within, reason_of
from reviewer.packets.markdown import (
    MarkdownBlock,
    MarkdownLine,
    blocks,
    is_open,
    item_text,
    nested,
    read_lines,
)
from reviewer.packets.values import SCORED, Item, Material, Problem, RuleBlock, Section, item_id
from reviewer.packets.wording import title_of
from reviewer.projects import work_tree
from reviewer.sources.note_kinds import (
    DATED,
    entry_facts,
    entry_title,
    is_dated,
    is_decision_record,
    is_template,
)
from reviewer.sources.note_lines import heading_of
from reviewer.sources.walk import is_within

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
        self, lines: list[MarkdownLine], name: str, section: Section, *, single: bool = False
    ) -> list[Item]:
        found = list(_Entries(lines, name, section, self.problems, single=single))
        if not found and sum(bool(line.text.strip()) for line in lines) > 1:
            self.problems.append(Problem(name, 0, f"no entry was found in {len(lines):,} lines"))
        return found

    def lines(self, name: str) -> tuple[list[MarkdownLine], str]:
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

    def _read(self, name: str) -> list[MarkdownLine]:
        path = self.folder / name
        try:
            if not is_within(path, os.path.realpath(self.folder)):
                raise OSError("it is a link out of the folder")
            lines, problems = read_lines(read_file_within(path, LARGEST_FILE), name)
        except OSError as problem:
            self.problems.append(Problem(name, 0, f"cannot be read: {reason_of(problem)}"))
            return []
        self.problems += problems
        return _without_front_matter(lines)


def _without_front_matter(lines: list[MarkdownLine]) -> list[MarkdownLine]:
    if not lines or lines[0].text.rstrip() not in ("---", "+++"):
        return lines
    from reviewer.sources.front_matter import front_matter

    _, matter = front_matter([line.text for line in lines[:200]])
    return lines[matter:]


_LABELLED = re.compile(
    r"#(?:added|created|started|updated|reopened)[:=](\d{4}-\d{2}-\d{2})(?:-(\d{2})(\d{2})(\d{2}))?"
)
_ANY_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def tasks(lines: Iterable[MarkdownLine], file: str) -> Iterator[Item]:
    """The open tasks of TASKS.md: every item with an unticked checkbox.

    A nested open task is a separate task, also below a finished one. In a file without checkboxes
    every list item is a task.
    """
    found = list(blocks(lines))
    boxes = any(block.box is not None for block in found)
    for at, block in enumerate(found):
        wanted = is_open(block) if boxes else bool(block.marker and not block.indent)
        if not wanted:
            continue
        if text := item_text(block, _unboxed(found, at)):
            yield Item(
                id=item_id(Section.TASKS, " > ".join(block.group), text),
                section=Section.TASKS,
                title=title_of(text),
                text=text,
                place=f"{file}:{block.number}",
                at=task_date(text),
                group="".join(block.group[-1:]),
            )


def conventions(lines: Iterable[MarkdownLine], file: str) -> Iterator[Item]:
    """The items and paragraphs of CONVENTIONS.md, each with the heading above it."""
    for block, text in _outermost(lines):
        if not block.level and text:
            group = " / ".join(block.group[1:]) or _unless_title(block.group, file)
            yield Item(
                id=item_id(Section.CONVENTIONS, group, text),
                section=Section.CONVENTIONS,
                title=title_of(text),
                text=text,
                place=f"{file}:{block.number}",
                outdated=outdated_word(text),
                group=group,
            )


def _outermost(lines: Iterable[MarkdownLine]) -> Iterator[tuple[MarkdownBlock, str]]:
    """The blocks that are not nested in an item, with the text of those nested in them."""
    found = list(blocks(lines))
    at = 0
    while at < len(found):
        end = nested(found, at) if found[at].marker else at + 1
        yield found[at], item_text(found[at], found[at + 1 : end])
        at = end


def constitution(lines: Iterable[MarkdownLine], file: str) -> Iterator[RuleBlock]:
    """CONSTITUTION.md block by block, without its title."""
    for at, block in enumerate(blocks(lines)):
        place = f"{file}:{block.number}"
        if block.level:
            if at or block.level > 1:
                yield RuleBlock(
                    f"{'#' * min(block.level + 1, 6)} {block.text}", place, heading=True
                )
        elif block.marker:
            marker = "-" if block.marker in ("*", "+", "•") else block.marker
            margin = " " * min(block.indent, 12)
            first, *rest = block.text.split("\n")
            inner = margin + " " * (len(marker) + 1)
            lines_of = [f"{margin}{marker} {first}", *((inner + line).rstrip() for line in rest)]
            yield RuleBlock("\n".join(lines_of), place, listed=True)
        elif block.text:
            yield RuleBlock(block.text, place)


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


def _unboxed(found: list[MarkdownBlock], at: int) -> Iterator[MarkdownBlock]:
    """Blocks nested in a task, without nested tasks and their contents."""
    place, end = at + 1, nested(found, at)
    while place < end:
        if found[place].box is None:
            yield found[place]
            place += 1
        else:
            place = nested(found, place)


def _unless_title(group: tuple[str, ...], file: str) -> str:
    """The only heading above, unless it is the title of the file."""
    if not group or group[0].lower().startswith(file.partition(".")[0].lower()):
        return ""
    return group[0]


_ONLY_LINK = re.compile(r"\W*?\[[^\[\]]*\]\([^)]*\)[\W\d]*$")
_BLANK_DATE = re.compile(r"\[?YYYY-MM-DD")
_FILE_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})")
_RULE_OFF = re.compile(r"(?:-[ ]?){3,}$|(?:\*[ ]?){3,}$|(?:_[ ]?){3,}$")
_HEADING_DEPTH = 6

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


Heading = tuple[int, int, str]
"""Line index, level, title."""


class _Entries:
    """The entries of one file; iterating adds to `problems`."""

    def __init__(
        self,
        lines: Sequence[MarkdownLine],
        file: str,
        section: Section,
        problems: list[Problem],
        *,
        single: bool,
    ) -> None:
        """`single`: the file should contain one entry, under its first heading."""
        self._lines, self._file, self._section = lines, file, section
        self._problems, self._single = problems, single

    def __iter__(self) -> Iterator[Item]:
        headings = [
            (at, *found)
            for at, line in enumerate(self._lines)
            if not line.code and (found := heading_of(line.text))
        ]
        starts = self._starts(headings)
        first = headings[starts[0]][0] if starts else len(self._lines)
        yield from self._listed(first)
        for start, following in pairwise([*starts, len(headings)]):
            at, level, title = headings[start]
            ends = headings[following][0] if following < len(headings) else len(self._lines)
            for place, other, _ in headings[start + 1 : following]:
                if 1 < other <= level:  # a heading of the same or a higher level
                    ends = place
                    break
            yield from self._entry(self._lines[at], title, self._lines[at + 1 : ends])

    def _starts(self, headings: list[Heading]) -> list[int]:
        """Indices of the headings that begin entries: dated ones, and others of level 2."""
        if self._single and not any(level > 1 and is_dated(title) for _, level, title in headings):
            return [0] if headings else []
        if is_decision_record([heading[1:] for heading in headings]):
            return [0]
        found: list[int] = []
        above = 0  # level of the enclosing entry
        for place, (_, level, title) in enumerate(headings):
            if is_dated(title) or (level == 2 and above != 1 and not _groups(headings, place)):
                found.append(place)
                above = level
        return found

    def _entry(
        self, head: MarkdownLine, heading: str, body: Sequence[MarkdownLine]
    ) -> Iterator[Item]:
        text = _body(body)
        # Comments are removed already.
        if _BLANK_DATE.match(heading) or is_template(text.replace("<!--", "&lt;!--")):
            return
        title, moment = entry_title(heading)
        facts = entry_facts(f"## {heading}\n{text}")
        yield Item(
            id=item_id(self._section, title, text),
            section=self._section,
            title=" ".join(title.split()) or title_of(text) or self._file,
            text=text,
            place=f"{self._file}:{head.number}",
            at=self._moment(head.number, heading, moment or facts.get("date")),
            heading=True,
            outdated=outdated_word(heading, facts.get("status", "")),
        )

    def _moment(self, number: int, heading: str, date: str | None) -> datetime | None:
        at = from_iso(date) if date else None
        if at is None and DATED.match(heading):
            self._problems.append(Problem(self._file, number, "a date that does not exist"))
        if at is None and self._single and (found := _FILE_DATE.search(self._file)):
            at = from_iso(found[1])
        return at

    def _listed(self, before: int) -> Iterator[Item]:
        """List items before the first entry, for files that keep their entries as a list."""
        if self._single:
            return
        for item, text in _outermost(self._lines[:before]):
            if item.marker and text and not _ONLY_LINK.match(text) and not is_template(text):
                plain = text.replace("**", "")
                title, moment = entry_title(plain.split("\n")[0])
                yield Item(
                    id=item_id(self._section, "", text),
                    section=self._section,
                    title=title_of(title),
                    text=text,
                    place=f"{self._file}:{item.number}",
                    at=self._moment(item.number, plain, moment),
                    outdated=outdated_word(plain),
                )


def _groups(headings: list[Heading], place: int) -> bool:
    """Whether a heading only groups dated ones below it."""
    level = headings[place][1]
    for _, other, title in headings[place + 1 :]:
        if other <= level:
            return False
        if is_dated(title):
            return True
    return False


def _body(lines: Sequence[MarkdownLine]) -> str:
    """The text of an entry: headings one level deeper, no rule at the end, single blank lines."""
    texts: list[str] = []
    for line in lines:
        if line.code:
            texts.append(line.text.rstrip())
            continue
        text = line.text.rstrip()
        if heading := heading_of(text):
            text = f"{'#' * min(max(heading[0] + 1, 4), _HEADING_DEPTH)} {heading[1]}"
        if text or (texts and texts[-1]):
            texts.append(text)
    while texts and (not texts[-1] or _RULE_OFF.match(texts[-1].strip())):
        texts.pop()
    return "\n".join(texts).strip("\n")
