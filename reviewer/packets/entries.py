"""Entries of DECISIONS.md, LEARNINGS.md and of files in `decisions/` (settled.md, "Packets")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from reviewer.clock import from_iso
from reviewer.packets.blocks import blocks, item_text, nested
from reviewer.packets.identity import item_id
from reviewer.packets.markup import TextLine
from reviewer.packets.titles import title_of
from reviewer.packets.values import Item, Problem, Section
from reviewer.sources.note_kinds import (
    DATED,
    entry_facts,
    entry_title,
    is_dated,
    is_decision_record,
    is_template,
)
from reviewer.sources.note_lines import heading_of

_ONLY_LINK = re.compile(r"\W*\[[^\]]*\]\([^)]*\)[\W\d]*$")
_BLANK_DATE = re.compile(r"\[?YYYY-MM-DD")
_FILE_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})")
_RULE_OFF = re.compile(r"(?:-[ ]?){3,}$|(?:\*[ ]?){3,}$|(?:_[ ]?){3,}$")
_HEADING_DEPTH = 6

Heading = tuple[int, int, str]
"""Place among the lines, level, title."""


class Entries:
    """The entries of one file. Iterate over it; `problems` is complete afterwards."""

    def __init__(
        self, lines: Sequence[TextLine], file: str, section: Section, *, single: bool = False
    ) -> None:
        """`single`: the file is meant to hold one entry under its first heading."""
        self.problems: list[Problem] = []
        self._lines, self._file, self._section = lines, file, section
        self._single = single

    def __iter__(self) -> Iterator[Item]:
        headings = [
            (at, *found)
            for at, line in enumerate(self._lines)
            if not line.code
            and line.text[:4].lstrip()[:1] == "#"
            and (found := heading_of(line.text))
        ]
        starts = self._starts(headings)
        first = headings[starts[0]][0] if starts else len(self._lines)
        yield from self._listed(first)
        for start, following in pairwise([*starts, len(headings)]):
            at, level, title = headings[start]
            ends = headings[following][0] if following < len(headings) else len(self._lines)
            for place, other, _ in headings[start + 1 : following]:
                if 1 < other <= level:  # a heading as high as the entry's own ends it as well
                    ends = place
                    break
            item = self._entry(self._lines[at], title, self._lines[at + 1 : ends])
            if item is not None:
                yield item

    def _starts(self, headings: list[Heading]) -> list[int]:
        """Which headings begin entries: dated ones, and others of the second level."""
        if self._single and not any(level > 1 and is_dated(title) for _, level, title in headings):
            return [0] if headings else []
        if is_decision_record([each[1:] for each in headings]):
            return [0]
        found: list[int] = []
        above = 0  # the level of the entry that a heading may stand in
        for place, (_, level, title) in enumerate(headings):
            if is_dated(title) or (level == 2 and above != 1 and not _groups(headings, place)):
                found.append(place)
                above = level
        return found

    def _entry(self, head: TextLine, heading: str, body: Sequence[TextLine]) -> Item | None:
        text = _body(body)
        if _BLANK_DATE.match(heading) or _is_blank_form(text):
            return None
        title, moment = entry_title(heading)
        facts = entry_facts(f"## {heading}\n{text}")
        at = self._moment(head.number, heading, moment or facts.get("date"))
        struck = facts.get("status", "").lower().startswith("superseded")
        return Item(
            id=item_id(self._section, title, text),
            section=self._section,
            title=" ".join(title.split()) or title_of(text) or self._file,
            text=text,
            place=f"{self._file}:{head.number}",
            at=at,
            heading=True,
            superseded=struck or title.lower().startswith("superseded"),
        )

    def _moment(self, number: int, heading: str, told: str | None) -> datetime | None:
        at = from_iso(told) if told else None
        if at is None and DATED.match(heading):
            self.problems.append(Problem(self._file, number, "a date that does not exist"))
        if at is None and self._single and (found := _FILE_DATE.search(self._file)):
            at = from_iso(found[1])
        return at

    def _listed(self, before: int) -> Iterator[Item]:
        """Items of lists before the first entry, for people who keep their entries as a list."""
        if self._single:
            return
        found = list(blocks(self._lines[:before]))
        at = 0
        while at < len(found):
            end = nested(found, at)
            item = found[at]
            text = item_text(item, found[at + 1 : end])
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
                    superseded=plain.lstrip("~*> ").lower().startswith("superseded")
                    or (text.startswith("~~") and text.count("~~") > 1),
                )
            at = end


def _is_blank_form(text: str) -> bool:
    """Whether a text is only places to be filled in; a quick look goes before a thorough one."""
    if not any(sign in text for sign in ("[", "{", "<", "YYYY")):
        return False
    return is_template(text.replace("<!--", "&lt;!--"))  # what is left of comments here is text


def _groups(headings: list[Heading], place: int) -> bool:
    """Whether a heading only gathers dated ones below it."""
    level = headings[place][1]
    for _, other, title in headings[place + 1 :]:
        if other <= level:
            return False
        if is_dated(title):
            return True
    return False


def _body(lines: Sequence[TextLine]) -> str:
    """An entry's text: headings one level deeper, no rule at its end, no runs of blank lines."""
    texts: list[str] = []
    for line in lines:
        if line.code:
            texts.append(line.text.rstrip())
            continue
        text = line.text.rstrip()
        heading = heading_of(text) if text.lstrip().startswith("#") else None
        if heading:
            text = f"{'#' * min(max(heading[0] + 1, 4), _HEADING_DEPTH)} {heading[1]}"
        if text or (texts and texts[-1]):
            texts.append(text)
    while texts and (not texts[-1] or _RULE_OFF.match(texts[-1].strip())):
        texts.pop()
    return "\n".join(texts).strip("\n")
