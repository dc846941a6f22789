"""Shared by the formats with conversations in Markdown: runs of lines by one author."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from reviewer.clock import written_moment
from reviewer.sources.note_lines import SECTION_CHARS, NoteLine
from reviewer.sources.parts import Part, said, typed
from reviewer.sources.reading import Reading, Spot
from reviewer.sources.records import Role
from reviewer.sources.turns import Session, Turn

LONGEST_ASIDE_LINE = 20_000
"""Maximum characters to keep of a line that nobody said."""


class LineAuthor(Struct, frozen=True):
    """The author of a line; without a role the line is only counted, under `reason`."""

    role: Role | None
    reason: str = ""
    sidechain: bool = False
    at: str | None = None
    session: str | None = None
    message: int = 0
    """Separates consecutive messages."""

    def turn(self, lines: Sequence[NoteLine], parts: list[Part], number: int = 0) -> Turn:
        """A turn with these lines. `number`: counts messages with equal bytes, from 1; the record
        of a call needs no key of its own.
        """
        first, last = lines[0], lines[-1]
        raw = b"\n".join(line.raw for line in lines)
        spot = Spot(first.number, last.number + 1, first.start, last.start + len(last.raw), raw)
        name = f"{self.session}\n{self.at}\n{self.role}\n".encode() + raw + b"\n%d" % number
        return Session(id=self.session or "").turn(
            spot,
            self.role or Role.ASSISTANT,
            parts,
            key=f"sha256:{hashlib.sha256(name).hexdigest()}" if number else "",
            at=written_moment(self.at),
            apart=self.sidechain,
        )


class Aside(Struct, frozen=True):
    """Consecutive lines that nobody said, without their marks."""

    author: LineAuthor
    lines: list[NoteLine]


def marked_turns(
    reading: Reading, author_of: Callable[[str], tuple[LineAuthor, str]], aside: str
) -> Iterator[Turn | Aside]:
    """The messages of a file and the asides between them, each a run of lines by one author.

    `author_of` is called with every line, in order; it returns the author, and the line without
    its mark. `aside`: the reason of the unsaid lines to yield.
    """
    run: list[NoteLine] = []
    author, size = LineAuthor(None), 0
    times: Counter[int] = Counter()

    def ended() -> Iterator[Turn | Aside]:
        if author.role is None and run:
            yield Aside(author, run)
        elif any(line.text.strip() for line in run):
            yield _message(reading, run, author, times)

    for line in reading.text_lines():
        if line.too_long:
            if author.role is not None:
                yield from ended()
                run, size = [], 0
            continue
        by, words = author_of(line.text)
        long = size > SECTION_CHARS and (not words or size > 2 * SECTION_CHARS)
        if (by is not author and by != author) or long:
            yield from ended()
            run, size, author = [], 0, by
        if by.role is not None:
            run.append(line if words == line.text else _with_text(line, words))
            size += len(words) + 1
            continue
        if words.strip():
            reading.tally[by.reason] += 1
        if by.reason == aside:
            run.append(_with_text(line, words[:LONGEST_ASIDE_LINE]))
    yield from ended()


def _message(
    reading: Reading, run: list[NoteLine], author: LineAuthor, times: Counter[int]
) -> Turn:
    spoken = [at for at, line in enumerate(run) if line.text.strip()]
    run = run[spoken[0] : spoken[-1] + 1]
    text = "\n".join(line.text for line in run)
    parts = typed(text, reading.tally) if author.role is Role.USER else said(text)
    equal = hash((author.session, author.at, author.role, *(line.raw for line in run)))
    times[equal] += 1
    return author.turn(run, parts, times[equal])


def _with_text(line: NoteLine, text: str) -> NoteLine:
    return NoteLine(line.number, line.start, line.raw, text)
