"""Conversations kept as Markdown: SpecStory and aider."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct, structs

from reviewer.clock import written_moment
from reviewer.sources import aider_tools
from reviewer.sources.claude_words import classify
from reviewer.sources.formats import Facts, Format
from reviewer.sources.lines import read_lines, reading
from reviewer.sources.note_lines import SECTION_CHARS, NoteLine
from reviewer.sources.records import Block, Record, Role, Use, text_block
from reviewer.sources.source import Source
from reviewer.sources.specstory_tools import tool_blocks

LINE_LIMIT = 1_000_000
LONGEST_CALL_LINE = 20_000
"""Characters of a line of a tool call that are kept."""

SPECSTORY_TURN = re.compile(
    r"_\*\*(User|Agent)( - sidechain)?(?: \((.*?)(\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ)?\))?\*\*_\s*$"
)
SPECSTORY_SESSION = re.compile(r"<!-- [\w .-]+ Session (\S+) \(")
_BLOCKS = (
    ("<think>", b"</think>", "thinking"),
    ("<tool-use ", b"</tool-use>", "tool use"),
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


class Dialect(Protocol):
    """Finds the speaker of each line of a file, in order."""

    name: str
    closing: bytes
    """What ends the block that the last line is in, whose lines nobody said; empty outside one."""
    unspoken: str
    """The reason under which the lines of such a block are counted."""

    def follow(self, text: str) -> tuple[Speaker, str]:
        """The speaker of the next line, and the line without its mark."""


class SpecStory:
    """Turns begin with `_**User (time)**_`; thoughts and tools have blocks of their own."""

    name = "specstory"

    def __init__(self) -> None:
        self._speaker = self._silent = Speaker(None, "heading")
        self.closing = b""
        self.unspoken = ""
        self._session: str | None = None

    def follow(self, text: str) -> tuple[Speaker, str]:
        if self.closing:
            if self.closing.decode() in text:
                self.closing = b""
            return self._silent, text
        for tag, closing, what in _BLOCKS:
            if text.startswith(tag):
                self.closing = b"" if closing.decode() in text else closing
                self.unspoken = f"line of {what}"
                last = self._speaker
                self._silent = Speaker(None, self.unspoken, last.sidechain, last.at, last.session)
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


class Aider:
    """`#### ` marks the user, `> ` the output of tools; other lines are the agent's."""

    name = "aider"
    closing = b""
    unspoken = ""

    def __init__(self) -> None:
        self._started: str | None = None
        self._last = Speaker(None, "heading")
        self._goes_on = self._inside = self._spaced = False
        self._messages = 0

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


class MarkedTurnsScan:
    """One conversation file. A record is a run of lines of one speaker."""

    def __init__(self, source: Source, dialect: Dialect) -> None:
        self.path = source.path
        self.format = dialect.name
        self.tally: Counter[str] = Counter()
        self.errors: list[str] = []
        self._form, self._lines, self._dialect = source.form, source.lines, dialect
        self._times: Counter[int] = Counter()
        self._skips = source.form.encoding == "utf-8"
        """Lines of blocks that nobody said are counted without being decoded."""

    def __iter__(self) -> Iterator[Record]:
        dialect, skips = self._dialect, self._skips
        run: list[NoteLine] = []
        speaker = Speaker(None)
        size = unspoken = 0
        closing = b""
        with reading(self.path) as stream:
            for number, start, raw in read_lines(stream, self._form, LINE_LIMIT):
                if raw is None:
                    self.tally["line over 1 MB"] += 1
                    self.errors.append(f"line {number + 1}: longer than 1 MB, skipped")
                    yield from self._record(run, speaker)
                    run, size = [], 0
                    continue
                if closing and closing not in raw and raw.isascii():
                    unspoken += bool(raw)
                    continue
                if unspoken:
                    self.tally[dialect.unspoken] += unspoken
                    unspoken = 0
                text, replaced = self._form.text(raw)
                self.tally["invalid UTF-8"] += replaced
                line_speaker, words = dialect.follow(
                    text.removesuffix("\r").replace("\0", "\ufffd")
                )
                closing = dialect.closing if skips else b""
                long = size > SECTION_CHARS and (not words or size > 2 * SECTION_CHARS)
                if (line_speaker is not speaker and line_speaker != speaker) or long:
                    yield from self._record(run, speaker)
                    run, size, speaker = [], 0, line_speaker
                if line_speaker.role is None:
                    self.tally[line_speaker.reason] += bool(words.strip())
                    self.unspoken(number, line_speaker, words)
                else:
                    run.append(NoteLine(number, start, raw, words))
                    size += len(words) + 1
        yield from self._record(run, speaker)
        if unspoken:
            self.tally[dialect.unspoken] += unspoken
        self.tally += Counter()  # drops reasons with a count of zero

    def unspoken(self, number: int, speaker: Speaker, words: str) -> None:
        """Called for each line that nobody said; overridden where these are read, too."""

    def _record(self, run: list[NoteLine], speaker: Speaker) -> Iterator[Record]:
        spoken = [at for at, line in enumerate(run) if line.text.strip()]
        if not spoken or speaker.role is None:
            return
        run = run[spoken[0] : spoken[-1] + 1]
        first, last = run[0], run[-1]
        if not self._lines[0] <= first.number or last.number >= self._lines[1]:
            return
        raw = self._form.line_end.join(line.raw for line in run)
        text = "\n".join(line.text for line in run)
        use = Use.MESSAGE
        if speaker.role is Role.USER:
            use, text, cuts = classify(text)
            self.tally.update({f"{reason} cut out": count for reason, count in cuts.items()})
            if self.format == "aider" and AIDER_COMMAND.match(text):
                use = Use.WRAPPER
        name = f"{speaker.session}\n{speaker.at}\n{speaker.role}\n".encode() + raw
        self._times[hash(name)] += 1
        name += b"\n%d" % self._times[hash(name)]
        yield Record(
            key=f"sha256:{hashlib.sha256(name).hexdigest()}",
            line_start=first.number,
            line_end=last.number + 1,
            byte_start=first.start,
            byte_end=last.start + len(last.raw),
            sha256=hashlib.sha256(raw).hexdigest(),
            role=Role.ASSISTANT if speaker.sidechain else speaker.role,
            text=text,
            use=use,
            at=written_moment(speaker.at),
            session=speaker.session,
            sidechain=speaker.sidechain,
        )


class _SpecStoryTools(MarkedTurnsScan):
    """Keeps the tool calls that were read since the last record."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, SpecStory())
        self._skips = False
        self._calls: list[Block] = []
        self._lines_of_call: list[str] = []
        self._first = 0

    def unspoken(self, number: int, speaker: Speaker, words: str) -> None:
        if speaker.reason != "line of tool use":
            return
        if words.startswith("<tool-use "):
            self._first, self._lines_of_call = number, []
        self._lines_of_call.append(words[:LONGEST_CALL_LINE])
        inside = self._lines[0] <= self._first and number < self._lines[1]
        if "</tool-use>" in words and inside:
            at = written_moment(speaker.at)
            self._calls += [
                structs.replace(block, session=speaker.session)
                for block in tool_blocks(
                    self._lines_of_call, self._first, at=at, sidechain=speaker.sidechain
                )
            ]

    def taken_calls(self, record: Record | None) -> list[Block]:
        """The blocks of the calls since the last time; `record` comes after them."""
        calls, self._calls = self._calls, []
        return calls


class _AiderTools(MarkedTurnsScan):
    """Keeps what aider wrote since the last record."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, Aider())
        self._written: list[aider_tools.Written] = []
        self._speaker: Speaker | None = None
        self._edits: list[aider_tools.Edit] = []
        self._command = ""
        self._ready: list[Block] = []

    def unspoken(self, number: int, speaker: Speaker, words: str) -> None:
        if speaker.reason != AIDER_OUTPUT:
            self._ready += self._blocks()  # another session begins
        elif self._lines[0] <= number < self._lines[1]:
            self._speaker = speaker
            self._written.append(aider_tools.Written(number, words[:LONGEST_CALL_LINE]))

    def taken_calls(self, record: Record | None) -> list[Block]:
        """The blocks of the calls since the last time; `record` comes after them."""
        found, self._ready = self._ready + self._blocks(), []
        if record is not None:
            is_agent = record.role is Role.ASSISTANT
            self._edits = aider_tools.proposed_edits(record.text) if is_agent else []
            self._command = "" if is_agent else aider_tools.command_in(record.text)
        return found

    def _blocks(self) -> list[Block]:
        written, self._written = self._written, []
        edits, self._edits = self._edits, []
        command, self._command = self._command, ""
        if self._speaker is None or not written:
            return []
        at, session = written_moment(self._speaker.at), self._speaker.session
        return [
            structs.replace(block, session=session)
            for block in aider_tools.tool_blocks(written, edits, command, at)
        ]


class _MarkedBlocks:
    """The blocks of a file: its texts, and its tool calls with their results."""

    def __init__(self, scan: _SpecStoryTools | _AiderTools) -> None:
        self._scan = scan
        self.path, self.format = scan.path, scan.format
        self.tally: Counter[str] = scan.tally
        self.errors: list[str] = scan.errors

    def __iter__(self) -> Iterator[Block]:
        for record in self._scan:
            # A record is complete when the line after it is read, so these calls precede it.
            yield from self._scan.taken_calls(record)
            yield text_block(record)
        yield from self._scan.taken_calls(None)
        self.tally.pop("line of tool use", None)


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
    read=lambda source: MarkedTurnsScan(source, SpecStory()),
    read_blocks=lambda source: _MarkedBlocks(_SpecStoryTools(source)),
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
    read=lambda source: MarkedTurnsScan(source, Aider()),
    read_blocks=lambda source: _MarkedBlocks(_AiderTools(source)),
    several=True,
)
