"""Shared by the formats with conversations in Markdown: runs of lines by one speaker."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from reviewer.clock import written_moment
from reviewer.sources.note_lines import SECTION_CHARS, NoteLine
from reviewer.sources.parts import Part, said, typed
from reviewer.sources.reading import Reading, Spot
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn

LONGEST_CALL_LINE = 20_000
"""Maximum characters to keep of a line in a tool call."""


class LineAuthor(Struct, frozen=True):
    """The author of a line; without a role the line is only counted, under `reason`."""

    role: Role | None
    reason: str = ""
    sidechain: bool = False
    at: str | None = None
    session: str | None = None
    message: int = 0
    """Separates consecutive messages."""


class MarkedCall(Struct, frozen=True):
    """A tool call with its result, and their lines."""

    lines: tuple[NoteLine, ...]
    parts: list[Part]
    speaker: LineAuthor


class Dialect:
    """Finds the speaker of each line of a file, in order, and the tool calls in between."""

    def __init__(self) -> None:
        self._calls: list[MarkedCall] = []

    def follow(self, text: str) -> tuple[LineAuthor, str]:
        """The speaker of the next line, and the line without its mark."""
        raise NotImplementedError

    def unspoken(self, line: NoteLine, speaker: LineAuthor) -> None:
        """Process a line that is not part of a message."""

    def calls(self) -> list[MarkedCall]:
        """The calls since the previous ones."""
        calls, self._calls = self._calls, []
        return calls

    def spoken(self, role: Role, text: str) -> None:
        """Process a message, which comes after those calls."""

    def is_command(self, text: str) -> bool:
        """Whether the person's text is a command to their tool."""
        return False


def marked_turns(reading: Reading, dialect: Dialect) -> Iterator[Turn]:
    """The turns of a file: each run of lines by one speaker is a message."""
    run: list[NoteLine] = []
    speaker, size = LineAuthor(None), 0
    times: Counter[int] = Counter()

    def ended() -> Iterator[Turn]:
        turn = _message(reading, dialect, run, speaker, times)
        if turn is not None:
            yield from (_call(reading, call) for call in dialect.calls())
            dialect.spoken(turn.role, turn.parts[0].text)
            yield turn

    for line in reading.text_lines():
        if line.too_long:
            yield from ended()
            run, size = [], 0
            continue
        by, words = dialect.follow(line.text)
        long = size > SECTION_CHARS and (not words or size > 2 * SECTION_CHARS)
        if (by is not speaker and by != speaker) or long:
            yield from ended()
            run, size, speaker = [], 0, by
        if words != line.text:
            line = NoteLine(line.number, line.start, line.raw, words)
        if by.role is None:
            if words.strip():
                reading.tally[by.reason] += 1
            dialect.unspoken(line, by)
        else:
            run.append(line)
            size += len(words) + 1
    yield from ended()
    yield from (_call(reading, call) for call in dialect.calls())


def _message(
    reading: Reading,
    dialect: Dialect,
    run: list[NoteLine],
    speaker: LineAuthor,
    times: Counter[int],
) -> Turn | None:
    spoken = [at for at, line in enumerate(run) if line.text.strip()]
    if not spoken or speaker.role is None:
        return None
    run = run[spoken[0] : spoken[-1] + 1]
    spot = _spot(reading, run)
    text = "\n".join(line.text for line in run)
    parts = said(text)
    if speaker.role is Role.USER:
        parts = typed(text, reading.tally)
        if dialect.is_command(parts[0].text):
            parts = [structs.replace(parts[0], use=RecordUse.WRAPPER)]
    name = f"{speaker.session}\n{speaker.at}\n{speaker.role}\n".encode() + spot.raw
    times[hash(name)] += 1
    name += b"\n%d" % times[hash(name)]
    key = f"sha256:{hashlib.sha256(name).hexdigest()}"
    return _turn(spot, speaker, speaker.role, parts, key)


def _turn(spot: Spot, speaker: LineAuthor, role: Role, parts: list[Part], key: str = "") -> Turn:
    session = Session(id=speaker.session or "")
    at = written_moment(speaker.at)
    return session.turn(spot, role, parts, key=key, at=at, apart=speaker.sidechain)


def _call(reading: Reading, call: MarkedCall) -> Turn:
    return _turn(_spot(reading, call.lines), call.speaker, Role.ASSISTANT, call.parts)


def _spot(reading: Reading, lines: Sequence[NoteLine]) -> Spot:
    first, last = lines[0], lines[-1]
    raw = b"\n".join(line.raw for line in lines)
    return Spot(first.number, last.number + 1, first.start, last.start + len(last.raw), raw)
