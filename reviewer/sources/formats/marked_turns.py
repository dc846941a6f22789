"""Shared by the formats with conversations in Markdown: runs of lines by one author."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator

from msgspec import Struct, field

from reviewer.clock import written_moment
from reviewer.sources.markdown import SECTION_CHARS, NoteLine
from reviewer.sources.parts import Part, spoken
from reviewer.sources.reading import Reading, Spot, spot_of
from reviewer.sources.records import Role
from reviewer.sources.turns import Session, Turn

LONGEST_ASIDE_LINE = 20_000
"""Maximum characters to keep of a line that nobody said."""


class Author(Struct, frozen=True):
    """The author of one run of lines; without a role they are only counted, under `reason`."""

    role: Role | None
    reason: str = ""
    sidechain: bool = False
    at: str | None = None
    session: str | None = None


class Run(Struct):
    """Consecutive lines by one author, and their texts without marks."""

    author: Author
    lines: list[NoteLine] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def turn(self, spot: Spot, parts: list[Part], key: str = "") -> Turn:
        """A turn of this author. The record of a call needs no key of its own."""
        author = self.author
        return Session(id=author.session or "").turn(
            spot,
            author.role or Role.ASSISTANT,
            parts,
            key=key,
            at=written_moment(author.at),
            apart=author.sidechain,
        )


def marked_turns(
    reading: Reading, author_of: Callable[[str], tuple[Author, str]], aside: str
) -> Iterator[Turn | Run]:
    """The messages of a file, and the runs of unsaid lines with the reason `aside` between them.

    `author_of` is called with every line, in order; it returns the author, another one for each
    run, and the line without its mark.
    """
    run, size = Run(Author(None)), 0
    times: Counter[int] = Counter()
    for line in reading.text_lines():
        if line.too_long:
            if run.author.role is not None:
                yield from _ended(reading, run, times)
                run, size = Run(run.author), 0
            continue
        by, text = author_of(line.text)
        long = size > SECTION_CHARS and (not text or size > 2 * SECTION_CHARS)
        if by is not run.author or long:
            yield from _ended(reading, run, times)
            run, size = Run(by), 0
        if by.role is not None:
            size += len(text) + 1
        else:
            if text and not text.isspace():
                reading.tally[by.reason] += 1
            if by.reason != aside:
                continue
            text = text[:LONGEST_ASIDE_LINE]
        run.lines.append(line)
        run.texts.append(text)
    yield from _ended(reading, run, times)


def _ended(reading: Reading, run: Run, times: Counter[int]) -> Iterator[Turn | Run]:
    """A run as a message, without blank lines around it. `times`: how often each occurred."""
    author = run.author
    if author.role is None:
        if run.lines:
            yield run
        return
    spoken_lines = [at for at, text in enumerate(run.texts) if text.strip()]
    if not spoken_lines:
        return
    said = slice(spoken_lines[0], spoken_lines[-1] + 1)
    spot = spot_of(run.lines[said])
    name = f"{author.session}\n{author.at}\n{author.role}\n".encode() + spot.raw
    times[hash(name)] += 1
    digest = hashlib.sha256(name + b"\n%d" % times[hash(name)]).hexdigest()
    parts = spoken(author.role, "\n".join(run.texts[said]), reading.tally)
    yield run.turn(spot, parts, f"sha256:{digest}")
