"""Conversations kept as Markdown: SpecStory and aider."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from reviewer.clock import written_moment
from reviewer.sources.format import Facts, Format
from reviewer.sources.formats import aider_tools
from reviewer.sources.formats.specstory_tools import call_parts
from reviewer.sources.note_lines import SECTION_CHARS, NoteLine
from reviewer.sources.parts import Part, said, typed
from reviewer.sources.reading import Reading, Spot
from reviewer.sources.records import Role, Use
from reviewer.sources.turns import Session, Turn

LONGEST_CALL_LINE = 20_000
"""Characters of a line of a tool call that are kept."""

SPECSTORY_TURN = re.compile(
    r"_\*\*(User|Agent)( - sidechain)?(?: \((.*?)(\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ)?\))?\*\*_\s*$"
)
SPECSTORY_SESSION = re.compile(r"<!-- [\w .-]+ Session (\S+) \(")
_TOOL_LINE = "line of tool use"
_BLOCKS = (
    ("<think>", "</think>", "line of thinking"),
    ("<tool-use ", "</tool-use>", _TOOL_LINE),
)
AIDER_SESSION = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\s*$")
AIDER_COMMAND = re.compile(
    r"/(?!ask\b|code\b|architect\b)\w[\w-]*(\s|$)|!\s*\S|# Fix any errors below, if possible\."
)
"""Commands of the person to aider, and what aider itself asks the agent in their name."""
AIDER_OUTPUT = "line of tool output"


class Speaker(Struct, frozen=True):
    """Who wrote a line; without a role the line is only counted, under `reason`."""

    role: Role | None
    reason: str = ""
    sidechain: bool = False
    at: str | None = None
    session: str | None = None
    message: int = 0
    """Tells messages apart that follow each other."""


class Call(Struct, frozen=True):
    """A tool call with its result, and the lines that show them."""

    lines: tuple[NoteLine, ...]
    parts: list[Part]
    speaker: Speaker


class Dialect:
    """Finds the speaker of each line of a file, in order, and what tools did in between."""

    def __init__(self) -> None:
        self._calls: list[Call] = []

    def follow(self, text: str) -> tuple[Speaker, str]:
        """The speaker of the next line, and the line without its mark."""
        raise NotImplementedError

    def unspoken(self, line: NoteLine, speaker: Speaker) -> None:
        """Take note of a line that nobody said."""

    def calls(self) -> list[Call]:
        """The calls since the last time."""
        calls, self._calls = self._calls, []
        return calls

    def spoken(self, role: Role, text: str) -> None:
        """Take note of a message, which comes after those calls."""

    def is_command(self, text: str) -> bool:
        """Whether what the person typed is a command to their tool."""
        return False


class SpecStory(Dialect):
    """Turns begin with `_**User (time)**_`; thoughts and tools have blocks of their own."""

    name = "specstory"

    def __init__(self) -> None:
        super().__init__()
        self._speaker = self._silent = Speaker(None, "heading")
        self._closing = ""
        """What ends the block that the last line is in, whose lines nobody said."""
        self._session: str | None = None
        self._call: list[NoteLine] = []

    def follow(self, text: str) -> tuple[Speaker, str]:
        if self._closing:
            if self._closing in text:
                self._closing = ""
            return self._silent, text
        for tag, closing, what in _BLOCKS:
            if text.startswith(tag):
                self._closing = "" if closing in text else closing
                last = self._speaker
                self._silent = Speaker(None, what, last.sidechain, last.at, last.session)
                return self._silent, text
        if text.startswith("<!--") and (session := SPECSTORY_SESSION.match(text)):
            self._session = session[1]
        turn = SPECSTORY_TURN.match(text) if text.startswith("_**") else None
        if turn is None:
            return self._speaker, "" if text == "---" else text
        role = Role.USER if turn[1] == "User" else Role.ASSISTANT
        at = turn[4].replace(" ", "T") if turn[4] else None
        self._speaker = Speaker(role, "", bool(turn[2]), at, self._session)
        return Speaker(None, "heading"), text

    def unspoken(self, line: NoteLine, speaker: Speaker) -> None:
        if speaker.reason != _TOOL_LINE:
            return
        if line.text.startswith("<tool-use "):
            self._call = []
        self._call.append(line)
        if "</tool-use>" in line.text:
            texts = [each.text[:LONGEST_CALL_LINE] for each in self._call]
            name = f"line {self._call[0].number}"
            self._calls.append(Call(tuple(self._call), call_parts(texts, name), speaker))


class Aider(Dialect):
    """`#### ` marks the user, `> ` the output of tools; other lines are the agent's."""

    name = "aider"

    def __init__(self) -> None:
        super().__init__()
        self._started: str | None = None
        self._last = Speaker(None, "heading")
        self._goes_on = self._inside = self._spaced = False
        self._messages = 0
        self._written: list[NoteLine] = []
        self._by: Speaker | None = None
        self._edits: list[aider_tools.Edit] = []
        self._command = ""

    def follow(self, text: str) -> tuple[Speaker, str]:
        """The speaker of the next line, and the line without its mark.

        aider marks the first line of an output only. It ends what it writes with two spaces,
        unless something has stripped the file, so that headings of the agent can be told apart.
        """
        ends = text.endswith("  ")
        quoted = text.startswith("> ") or text == ">"
        self._spaced = self._spaced or (ends and (quoted or text.startswith("####")))
        typed = text.startswith("####") and (ends or not self._spaced)
        marked = quoted or typed or bool(AIDER_SESSION.match(text))
        self._inside = not marked and (self._inside or (self._goes_on and bool(text.strip())))
        self._goes_on = quoted and not ends
        if self._inside:
            self._inside = not (ends and text.strip())
            return self._last, text.rstrip()
        if started := AIDER_SESSION.match(text):
            self._started = f"{started[1]}T{started[2]}"
            self._last = Speaker(None, "heading")
            return self._last, text
        if not text.strip():
            self._messages += self._last.role is Role.USER
            return self._last, ""
        if typed:
            when = self._started
            self._last = Speaker(Role.USER, "", False, when, when, self._messages)
            return self._last, text[4:].strip()
        if quoted:
            self._last = Speaker(None, AIDER_OUTPUT, False, self._started, self._started)
            return self._last, text[1:].strip()
        if self._last.role is not Role.ASSISTANT:
            self._last = Speaker(Role.ASSISTANT, "", False, self._started, self._started)
        return self._last, text.rstrip()

    def unspoken(self, line: NoteLine, speaker: Speaker) -> None:
        if speaker.reason != AIDER_OUTPUT:
            self._report()  # another session begins
        else:
            self._by = speaker
            self._written.append(structs.replace(line, text=line.text[:LONGEST_CALL_LINE]))

    def calls(self) -> list[Call]:
        self._report()
        return super().calls()

    def spoken(self, role: Role, text: str) -> None:
        is_agent = role is Role.ASSISTANT
        self._edits = aider_tools.proposed_edits(text) if is_agent else []
        self._command = "" if is_agent else aider_tools.command_in(text)

    def is_command(self, text: str) -> bool:
        return bool(AIDER_COMMAND.match(text))

    def _report(self) -> None:
        """What the lines since the last message say that was done."""
        if self._by is not None and self._written:
            found = aider_tools.calls(self._written, self._edits, self._command)
            self._calls += (Call((line,), parts, self._by) for line, parts in found)
        self._written, self._edits, self._command = [], [], ""


def _turns(reading: Reading, dialect: Dialect) -> Iterator[Turn]:
    """A message is a run of lines of one speaker."""
    run: list[NoteLine] = []
    speaker, size = Speaker(None), 0
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
        line = structs.replace(line, text=words)
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
    speaker: Speaker,
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
            parts = [structs.replace(parts[0], use=Use.WRAPPER)]
    name = f"{speaker.session}\n{speaker.at}\n{speaker.role}\n".encode() + spot.raw
    times[hash(name)] += 1
    name += b"\n%d" % times[hash(name)]
    key = f"sha256:{hashlib.sha256(name).hexdigest()}"
    return _turn(spot, speaker, speaker.role, parts, key)


def _turn(spot: Spot, speaker: Speaker, role: Role, parts: list[Part], key: str = "") -> Turn:
    session = Session(id=speaker.session or "")
    at = written_moment(speaker.at)
    return session.turn(spot, role, parts, key=key, at=at, apart=speaker.sidechain)


def _call(reading: Reading, call: Call) -> Turn:
    return _turn(_spot(reading, call.lines), call.speaker, Role.ASSISTANT, call.parts)


def _spot(reading: Reading, lines: Sequence[NoteLine]) -> Spot:
    first, last = lines[0], lines[-1]
    raw = reading.form.line_end.join(line.raw for line in lines)
    return Spot(first.number, last.number + 1, first.start, last.start + len(last.raw), raw)


def _is_specstory(head: str) -> bool:
    marked = "<!-- Generated by SpecStory" in head[:2000]
    return marked or any(map(SPECSTORY_TURN.match, head.split("\n")))


def _is_aider(head: str) -> bool:
    lines = head.split("\n")
    return any(map(AIDER_SESSION.match, lines)) and any(line.startswith("#### ") for line in lines)


SPECSTORY = Format(
    name=SpecStory.name,
    agent="SpecStory",
    facts=Facts(
        person="turns marked `_**User (...)**_`",
        left_out="thoughts and tool calls",
        tested="real files",
    ),
    detect_text=_is_specstory,
    turns=lambda reading: _turns(reading, SpecStory()),
)
AIDER = Format(
    name=Aider.name,
    agent="aider",
    facts=Facts(
        person="lines that begin with `#### `",
        left_out="lines that begin with `> `, which tools and aider wrote, and their other lines",
        tested="a real file",
    ),
    detect_text=_is_aider,
    turns=lambda reading: _turns(reading, Aider()),
    several=True,
)
