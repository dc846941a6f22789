"""Notes: Markdown and plain text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from msgspec import structs

from reviewer.clock import written_moment
from reviewer.sources.format import Format
from reviewer.sources.markdown import NoteLine, NoteSection, front_matter, headings_of, sections
from reviewer.sources.note_kinds import (
    FILE_DATE,
    entry_facts,
    entry_title,
    is_agent_instructions,
    is_dated,
    is_decision_record,
    is_log_title,
    is_template,
)
from reviewer.sources.parts import Part
from reviewer.sources.reading import Reading, spot_of
from reviewer.sources.records import RecordUse, Role, Shape
from reviewer.sources.turns import Turn

HEAD_LINES = 200
HEAD_CHARS = 40_000
"""A decision record up to this size is one entry; a longer one is split by headings."""


OWN_BLOCK, OWN_BLOCK_END = "<!-- reviewer:begin", "<!-- reviewer:end"
OWN_LINE = "- [Decided by the person: "
"""The start of reviewer's own line in the index of an agent's memories."""


class OwnLines:
    """Finds the lines written by reviewer; call it for every line in order."""

    def __init__(self) -> None:
        self._inside = False

    def has(self, line: str) -> bool:
        line = line.lstrip(" ")  # `export` knows an indented marker, too
        own = self._inside or line.startswith((OWN_BLOCK, OWN_LINE))
        begun = self._inside or line.startswith(OWN_BLOCK)
        self._inside = begun and not line.startswith(OWN_BLOCK_END)
        return own


class _Note:
    """One note: its sections under headings, or its entries if it is a log."""

    def __init__(self, reading: Reading) -> None:
        self._reading, self._tally = reading, reading.tally
        self._yielded: set[str] = set()
        self._meta: dict[str, str] = {}
        self._boot = False

    def turns(self) -> Iterator[Turn]:
        lines = self._read_lines()
        head = list(islice(lines, HEAD_LINES))
        more = next(lines, None)
        texts = [line.text for line in head]
        matter, matter_lines = front_matter(texts)
        named = FILE_DATE.match(self._reading.path.name)
        self._meta = {**({"date": named[0]} if named else {}), **matter}
        self._boot = is_agent_instructions(self._reading.path.name, "\n".join(texts[:60]))
        body = head[matter_lines:]
        if not body and more is None and head:
            self._tally["front matter only"] += 1
            return
        headings = headings_of(sections(body))
        small = more is None and sum(map(len, texts)) <= HEAD_CHARS and not self._tally
        if small and is_decision_record(headings):
            titles = tuple(title for _, title in headings[:1])
            yield from self._turn(NoteSection(body, titles, 1, True))
            return
        log = any(level == 1 and is_log_title(title) for level, title in headings[:3])

        def is_entry(level: int, title: str) -> bool:
            return (log and level == 2) or (level > 1 and is_dated(title))

        rest = lines if more is None else chain([more], lines)
        for section in sections(chain(body, rest), is_entry):
            yield from self._turn(section)

    def _read_lines(self) -> Iterator[NoteLine]:
        """The file's lines. Lines of a block exported by reviewer become blank, so that exported
        memories are never proposed again.
        """
        own = OwnLines()
        for line in self._reading.text_lines():
            if own.has(line.text):
                self._tally["block of reviewer's own"] += 1
                line = structs.replace(line, text="")
            yield line

    def _turn(self, section: NoteSection) -> Iterator[Turn]:
        written = [at for at, line in enumerate(section.lines) if line.text.strip()]
        if not written:
            return
        lines = section.lines[written[0] : written[-1] + 1]
        text = "\n".join(line.text for line in lines)
        facts, at = self._facts(section, text)
        origin = spot_of(lines).origin(at=at)
        if origin.key in self._yielded:
            self._tally["repeated"] += 1
            return
        self._yielded.add(origin.key)
        use = (
            RecordUse.TEMPLATE
            if is_template(text)
            else RecordUse.BOOT
            if self._boot
            else RecordUse.MESSAGE
        )
        yield Turn(
            origin=origin,
            role=Role.NOTE,
            parts=[Part("text", text, use)],
            shape=Shape.ENTRY if section.entry else Shape.SECTION,
            headings=section.headings,
            facts=facts,
        )

    def _facts(self, section: NoteSection, text: str) -> tuple[dict[str, str], str | None]:
        """A record's metadata from its front matter and entry, and its date; a date in the first
        section applies to the whole note.
        """
        if not section.entry and len(section.headings) < 2:
            date = entry_facts(text).get("date")
            self._meta = {**({"date": date} if date else {}), **self._meta}
        meta = self._meta
        if section.entry:
            title, moment = entry_title(section.title)
            facts = entry_facts(text)
            if moment:
                facts["date"] = moment
            meta = {**meta, "title": title, **facts}
        return meta, written_moment(meta.get("date"))


def without_own(text: str) -> str:
    """A text with the lines written by reviewer blanked, so that they are never proposed again."""
    own = OwnLines()
    return "".join(
        line[len(line.rstrip("\r\n")) :] if own.has(line) else line
        for line in text.splitlines(keepends=True)
    )


FORMAT = Format(
    name="markdown",
    agent="Markdown and text notes",
    turns=lambda reading: _Note(reading).turns(),
    tested="real files",
)
"""Any text that reads as prose and has no other format is a note (see `_text_format`)."""
