"""What the offline proposers need of a session, read in one pass.

Most lines of a Claude Code session are long results of tools. A line is decoded only if its bytes
show that it may have something that is wanted, so that reading costs a fraction of ingesting the
same file. The sessions of other agents are read as blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from reviewer.errors import OtherKindError
from reviewer.proposing.session_view import failed
from reviewer.proposing.view_calls import COMMAND_TOOLS, read_call
from reviewer.sources.lines import read_lines, reading, text_form
from reviewer.sources.open import open_blocks
from reviewer.sources.records import Block, Use
from reviewer.sources.tool_text import result_text

WITHOUT_CALLS = frozenset(("markdown", "specstory", "aider", "empty"))
"""Formats whose texts name no calls that can be proved to have succeeded."""
RESULT_LIMIT = 2_000
"""Characters of a result that are kept; the first lines of an error say what went wrong."""
CLAUDE_CODE = "claude-code"
REFUSED = "The user doesn't want to proceed with this tool use"
_ANSWERED = re.compile(rb'"tool_use_id": ?"([^"]+)"')
_SHELL = re.compile(r"(?:\S*/)?(?:ba|z|da)?sh -l?c\s+")
"""The shell that some agents put before a command line."""
_WORDS = re.compile(r"the user said:\s*\n(.*)", re.DOTALL)


class EventKind(StrEnum):
    SUMMARY = "summary"  # of a compaction
    AWAY = "away"  # written by the client while the person was away
    CALL = "call"  # a shell command
    DONE = "done"  # a command's result
    FAILED = "failed"  # a command's result that reports an error
    REFUSED = "refused"  # the person's words on a call that they refused


class Event(Struct, frozen=True):
    """One event, with its 0-based line. `call` joins a command and its result.

    `session` is its session where the file has several.
    """

    kind: EventKind
    line: int
    text: str
    call: str = ""
    sidechain: bool = False
    session: str = ""


class _Block(Struct):
    type: str = ""
    id: str = ""
    tool_use_id: str = ""
    name: str = ""
    input: Raw = Raw(b"null")
    content: Raw = Raw(b'""')
    is_error: bool | None = None
    text: str = ""


class _Message(Struct):
    content: str | list[_Block] = ""


class _Line(Struct, rename="camel"):
    type: str = ""
    subtype: str = ""
    is_sidechain: bool | None = None
    is_compact_summary: bool | None = None
    content: str = ""
    message: _Message | None = None


class _Command(Struct):
    command: str = ""


_lines = msgspec.json.Decoder(_Line)
_commands = msgspec.json.Decoder(_Command)


def session_events(path: Path, sessions: frozenset[str] | None = None) -> Iterator[Event]:
    """The events of a session in the order of the file; nothing for a file that is not a session.

    `sessions`: only these, of a file that has several. What cannot be read is left out: reading
    the file as a source reports it. Raises SourceError when the file cannot be read.
    """
    try:
        scan = open_blocks(path, sessions=sessions)
    except OtherKindError:
        return
    if scan.format == CLAUDE_CODE:
        yield from _claude_events(path)
    elif scan.format not in WITHOUT_CALLS:
        yield from block_events(scan)


def block_events(blocks: Iterable[Block]) -> Iterator[Event]:
    """The events among the blocks of any agent's session."""
    open_calls: set[tuple[str, str]] = set()
    for block in blocks:
        if block.use is Use.REWOUND:
            continue
        line, call, session = block.line_start, block.call, block.session or ""
        if block.kind == "text" and block.use is Use.SUMMARY:
            yield Event(EventKind.SUMMARY, line, block.text, session=session)
        elif block.kind == "tool_use" and block.name.lower() in COMMAND_TOOLS:
            command = read_call(block.name, block.text).command
            if command and call:
                open_calls.add((session, call))
                if shell := _SHELL.match(command):
                    command = command[shell.end() :]
                yield Event(EventKind.CALL, line, command, call, block.sidechain, session)
        elif block.kind == "tool_result" and (session, call) in open_calls:
            open_calls.discard((session, call))
            kind = EventKind.FAILED if failed(block) else EventKind.DONE
            yield Event(kind, line, block.text[:RESULT_LIMIT], call, block.sidechain, session)


def _claude_events(path: Path) -> Iterator[Event]:
    open_calls: set[str] = set()
    with reading(path) as stream:
        form = text_form(stream.read(4))
        stream.seek(0)
        for number, _, raw in read_lines(stream, form):
            data = b"" if raw is None else form.utf8(raw)
            if not _wanted(data, open_calls):
                continue
            try:
                line = _lines.decode(data)
            except (ValueError, RecursionError):
                continue
            yield from _events(number, line, open_calls)


def _wanted(raw: bytes, open_calls: set[str]) -> bool:
    if b'"tool_result"' in raw and (answered := _ANSWERED.search(raw)):
        return answered[1].decode() in open_calls or b"the user said" in raw
    return (
        (b'"tool_use"' in raw and b'"Bash"' in raw)
        or b'"isCompactSummary":' in raw
        or b'"away_summary"' in raw
    )


def _events(number: int, line: _Line, open_calls: set[str]) -> Iterator[Event]:
    sidechain = bool(line.is_sidechain)
    if line.subtype == "away_summary" and line.content:
        yield Event(EventKind.AWAY, number, line.content)
        return
    content = line.message.content if line.message else ""
    if line.is_compact_summary:
        if not isinstance(content, str):
            content = "\n\n".join(block.text for block in content if block.type == "text")
        yield Event(EventKind.SUMMARY, number, content)
        return
    if isinstance(content, str):
        return
    for block in content:
        if block.type == "tool_use" and block.name == "Bash":
            try:
                command = _commands.decode(block.input).command
            except ValueError:
                continue
            open_calls.add(block.id)
            yield Event(EventKind.CALL, number, command, block.id, sidechain)
        elif block.type == "tool_result":
            ours = block.tool_use_id in open_calls
            open_calls.discard(block.tool_use_id)
            if not ours and not (block.is_error and b"the user said" in bytes(block.content)):
                continue
            text = result_text(block.content)
            if text.startswith(REFUSED):
                words = _WORDS.search(text)
                if words:
                    yield Event(EventKind.REFUSED, number, words[1].strip(), block.tool_use_id)
            elif ours:
                kind = EventKind.FAILED if block.is_error else EventKind.DONE
                yield Event(kind, number, text[:RESULT_LIMIT], block.tool_use_id, sidechain)
