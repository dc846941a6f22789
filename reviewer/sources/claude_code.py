"""Claude Code sessions: their records, and all their blocks, such as tool calls."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import BinaryIO

import msgspec
from msgspec import Raw, Struct, structs

from reviewer.clock import written_moment
from reviewer.sources.claude_lines import (
    ClaudeLine,
    LineFields,
    Turn,
    fitting,
    is_claude,
    kept_through,
    parse_record,
    parse_words,
)
from reviewer.sources.claude_tree import Node, SessionTree
from reviewer.sources.claude_words import classify, is_notice
from reviewer.sources.formats import Facts, Format, Location
from reviewer.sources.hash_set import HashSet
from reviewer.sources.json_values import json_pieces
from reviewer.sources.lines import BLOCK, read_lines, reading
from reviewer.sources.records import Block, BlockKind, Record, Role, Use
from reviewer.sources.source import Source
from reviewer.sources.tool_text import call_text, result_text

KEPT = 2_000_000
"""Bytes of text kept from the first pass for the second; the rest is read again, so that memory
use stays constant.
"""
OPEN_REPLIES = 8
"""Replies that may interleave (when sub-agents work) before the oldest is closed."""
_FIELDS = 1_200
"""Estimated bytes of a record's fields besides its text."""


class Words(Struct, frozen=True):
    """The text of a record, and the sha256 (hex) of its bytes."""

    line: LineFields
    turn: Turn
    sha256: str


class Place(Struct, frozen=True):
    """Position of a record that has text, and the text if it was kept."""

    line: int
    start: int
    length: int
    rewound: bool
    words: Words | None = None


class SessionIndex:
    """The places of all records that have text, a few bytes each, and hashes of the typed texts.

    Without `every_turn` it also keeps the text of the first records.
    """

    def __init__(self, every_turn: bool = False) -> None:
        self._every_turn = every_turn
        self._room = 0 if every_turn else KEPT
        self._kept: list[Words] = []
        self.tree = SessionTree()
        self._typed = array("q")
        """Hash of the text of each of the user's turns."""
        self._queued: set[int] = set()
        """Hashes of the texts that were queued while the agent was busy."""
        self._taken_back: Counter[int] = Counter()
        """Hash of a queued text -> how often the user took it back into the editor."""
        self._lines = array("q")
        self._starts = array("q")
        self._lengths = array("q")
        self._nodes = array("q")

    def note(
        self,
        line: LineFields,
        turn: Turn | None,
        place: tuple[int, int],
        raw: bytes,
        inside: bool,
        tally: Counter[str],
    ) -> None:
        """Add one record to the tree; keep its place if it has text.

        `place`: its line, and the offset of its bytes `raw` in the file.
        """
        node = -1
        if line.uuid:
            kind = turn.node if turn else Node.OTHER
            node = self.tree.add(line.uuid, line.parent_uuid or line.logical_parent_uuid, kind)
            if (kept := kept_through(line)) is not None:
                self.tree.compacted(*kept)
        if turn is None or not (turn.text or self._every_turn):
            return
        if turn.queued == "popAll":
            self._taken_back[text_hash(turn)] += 1
            tally["queued text taken back"] += 1
            return
        if turn.role is Role.USER and not turn.queued:
            self._typed.append(text_hash(turn))
        elif turn.queued:
            self._queued.add(text_hash(turn))
        if inside:
            if self._room > 0:
                # A queued text keeps its whole line in memory.
                self._room -= _FIELDS + (len(raw) if turn.queued else len(turn.text))
                self._kept.append(Words(line, turn, hashlib.sha256(raw).hexdigest()))
            self._lines.append(place[0])
            self._starts.append(place[1])
            self._lengths.append(len(raw))
            self._nodes.append(node)

    def expected(self) -> Counter[int]:
        """Hash of a queued text -> how often it occurs again as a turn, or was taken back."""
        typed = Counter(text for text in self._typed if text in self._queued)
        return typed + self._taken_back

    def places(self) -> Iterator[Place]:
        """All places in the order of the file."""
        left = self.tree.rewound()
        rows = zip(self._lines, self._starts, self._lengths, self._nodes, strict=True)
        for (line, start, length, node), words in zip_longest(rows, self._kept):
            yield Place(line, start, length, node >= 0 and bool(left[node]), words)


def _index_session(
    source: Source, tally: Counter[str], errors: list[str], every_turn: bool = False
) -> SessionIndex:
    """Read the whole file once. Only records of the requested lines are kept and counted.

    `every_turn`: also keep turns without text, such as tool calls and their results.

    Raises OSError when reading fails.
    """
    index = SessionIndex(every_turn)
    form = source.form
    first, end = source.lines
    ignored: Counter[str] = Counter()
    recoded = form.encoding != "utf-8"
    with reading(source.path) as stream:
        for number, start, raw in read_lines(stream, form):
            inside = first <= number < end
            counts, damage = (tally, errors) if inside else (ignored, [])
            if raw is None:
                counts["line over 32 MB"] += 1
                damage.append(f"line {number + 1}: longer than 32 MB, skipped")
                continue
            if not raw or raw.isspace():
                continue
            data = form.utf8(raw) if recoded else raw
            try:
                line, turn = parse_words(data, counts)
            except RecursionError:
                counts["nested too deep"] += 1
                damage.append(f"line {number + 1}: nested too deep to read")
            except ValueError:
                counts["bad JSON"] += 1
                damage.append(f"line {number + 1}: not a JSON record")
                if data is not raw:
                    continue  # positions of pieces are known in UTF-8 only
                for offset, length, line, turn in _recovered(data, counts):
                    piece = data[offset : offset + length]
                    index.note(line, turn, (number, start + offset), piece, inside, counts)
            else:
                index.note(line, turn, (number, start), raw, inside, counts)
    return index


def text_hash(turn: Turn) -> int:
    """A hash that recognises a repeated text; valid only within this process."""
    return hash(turn.text.strip())


def _recovered(
    data: bytes, tally: Counter[str]
) -> Iterator[tuple[int, int, LineFields, Turn | None]]:
    """The intact records inside a damaged line, as (offset, length, line, turn)."""
    for offset, piece in json_pieces(data):
        try:
            line, turn = parse_words(piece, tally)
        except (ValueError, RecursionError):
            continue
        if line.session_id:  # else a part of the damaged record, not one of its own
            tally["recovered from a damaged line"] += 1
            yield offset, len(piece), line, turn


class _Reply(Struct):
    """A reply of the agent that is still incomplete; each of its blocks has a line of its own."""

    line: LineFields
    turn: Turn
    texts: list[str]
    first: Place
    last: Place
    key: str
    sha256: str


class ClaudeCodeScan:
    """The records of one session file.

    The first pass builds the tree and keeps the text of the first records; the second pass reads
    the others again.
    """

    format = "claude-code"

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.tally: Counter[str] = Counter()
        self.errors: list[str] = []
        self._source = source
        self._replies: dict[str, _Reply] = {}
        self._yielded = HashSet()
        self._queued: Counter[int] = Counter()
        self._expected: Counter[int] = Counter()

    def __iter__(self) -> Iterator[Record]:
        index = _index_session(self._source, self.tally, self.errors)
        self._expected = index.expected()
        with reading(self.path) as stream:
            for place in index.places():
                yield from self._read(stream, place)
            yield from self._close_replies(stream)

    def _read(self, stream: BinaryIO, place: Place) -> Iterator[Record]:
        words = place.words or self._words(stream, place)
        if words is None:
            return
        line, turn, digest = words.line, words.turn, words.sha256
        key = line.uuid or f"sha256:{digest}"
        if turn.role is Role.ASSISTANT and turn.reply and turn.use is Use.MESSAGE:
            yield from self._join(
                stream, _Reply(line, turn, [turn.text], place, place, key, digest)
            )
            return
        if turn.queued and self._is_repeated(turn):
            self.tally["queued text that comes again"] += 1
            return
        yield from self._close_replies(stream)
        yield from self._emit(_Reply(line, turn, [turn.text], place, place, key, digest))

    def _words(self, stream: BinaryIO, place: Place) -> Words | None:
        """The text of a record, read again; None if the file has changed in the meantime."""
        stream.seek(place.start)
        raw = stream.read(place.length)
        line, turn = parse_words(self._source.form.utf8(raw), Counter())
        if turn is None:
            return None
        return Words(line, turn, hashlib.sha256(raw).hexdigest())

    def _is_repeated(self, turn: Turn) -> bool:
        """Whether a queued text is also an ordinary turn, or was queued before or taken back."""
        text = text_hash(turn)
        self._queued[text] += 1
        return self._queued[text] <= self._expected[text]

    def _join(self, stream: BinaryIO, block: _Reply) -> Iterator[Record]:
        name = block.turn.reply or ""
        reply = self._replies.get(name)
        if reply is None:
            if len(self._replies) >= OPEN_REPLIES:
                yield from self._close(stream, self._replies.pop(next(iter(self._replies))))
            elif not block.line.is_sidechain:
                yield from self._close_replies(stream)
            self._replies[name] = block
        elif block.turn.text in reply.texts:
            self.tally["repeated"] += 1
        else:
            reply.texts.append(block.turn.text)
            reply.last = block.last

    def _close_replies(self, stream: BinaryIO) -> Iterator[Record]:
        for reply in self._replies.values():
            yield from self._close(stream, reply)
        self._replies.clear()

    def _close(self, stream: BinaryIO, reply: _Reply) -> Iterator[Record]:
        if len(reply.texts) > 1:
            end = reply.last.start + reply.last.length
            reply.sha256 = _sha256_of(stream, reply.first.start, end)
        yield from self._emit(reply)

    def _emit(self, reply: _Reply) -> Iterator[Record]:
        line, turn = reply.line, reply.turn
        text = "\n\n".join(reply.texts).replace("\r\n", "\n")
        # A resumed session repeats earlier turns, with their ids or with new ones for old replies.
        names = [reply.key, (turn.reply, text)] if turn.reply else [reply.key]
        if any(name in self._yielded for name in names):
            self.tally["repeated"] += 1
            return
        for name in names:
            self._yielded.add(name)
        use = turn.use
        if reply.first.rewound and use is Use.MESSAGE:
            use = Use.REWOUND
        meta = {
            "cwd": line.cwd,
            "gitBranch": line.git_branch,
            "version": line.version,
            "model": turn.model,
        }
        if turn.queued:
            meta["queued"] = "typed while the agent was busy"
        yield Record(
            key=reply.key,
            line_start=reply.first.line,
            line_end=reply.last.line + 1,
            byte_start=reply.first.start,
            byte_end=reply.last.start + reply.last.length,
            sha256=reply.sha256,
            role=turn.role,
            text=text,
            use=use,
            at=written_moment(line.timestamp),
            session=line.session_id,
            parent=line.parent_uuid or line.logical_parent_uuid,
            sidechain=bool(line.is_sidechain),
            meta={name: value for name, value in meta.items() if value},
        )


def _sha256_of(stream: BinaryIO, start: int, end: int) -> str:
    digest = hashlib.sha256()
    stream.seek(start)
    while start < end and (block := stream.read(min(BLOCK, end - start))):
        digest.update(block)
        start += len(block)
    return digest.hexdigest()


_YIELDED = ("tool use", "tool result", "thinking")


class _Piece(Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = Raw(b"null")
    tool_use_id: str | None = None
    content: Raw = Raw(b'""')
    is_error: bool | None = None


class _Content(Struct):
    content: Raw = Raw(b"null")


class ClaudeBlocks:
    """The blocks of one session file, read twice: for its tree, then for the blocks."""

    format = ClaudeCodeScan.format

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.tally: Counter[str] = Counter()
        self.errors: list[str] = []
        self._source = source
        self._yielded = HashSet()
        self._queued: Counter[int] = Counter()
        self._tools: dict[str, str] = {}

    def __iter__(self) -> Iterator[Block]:
        index = _index_session(self._source, self.tally, self.errors, every_turn=True)
        for name in _YIELDED:
            del self.tally[name]
        expected = index.expected()
        with reading(self.path) as stream:
            for place in index.places():
                line, turn = self._read(stream, place)
                if turn is None or self._repeated(line.uuid):
                    continue
                if turn.queued:
                    text = text_hash(turn)
                    self._queued[text] += 1
                    if self._queued[text] <= expected[text]:
                        self.tally["queued text that comes again"] += 1
                        continue
                yield from self._blocks(line, turn, place)

    def _read(self, stream: BinaryIO, place: Place) -> tuple[ClaudeLine, Turn | None]:
        stream.seek(place.start)
        raw = self._source.form.utf8(stream.read(place.length))
        try:
            raw.decode()
        except UnicodeDecodeError:
            raw = raw.decode("utf-8", "replace").encode()
        return parse_record(raw, Counter())

    def _repeated(self, *name: object) -> bool:
        """Whether this was seen before; a resumed session repeats turns."""
        if name == (None,):
            return False
        if name in self._yielded:
            self.tally["repeated"] += 1
            return True
        self._yielded.add(name)
        return False

    def _blocks(self, line: ClaudeLine, turn: Turn, place: Place) -> Iterator[Block]:
        content = _content_of(line)
        if bytes(memoryview(content)[:1]) != b"[":
            if turn.text.strip():
                name = _speaker(line, turn)
                yield self._block(line, turn, place, "text", turn.text, use=turn.use, name=name)
            return
        for raw, piece in _decoded(content):
            if turn.reply and self._repeated(turn.reply, raw):
                continue
            yield from self._of_piece(line, turn, place, piece)

    def _of_piece(
        self, line: ClaudeLine, turn: Turn, place: Place, piece: _Piece
    ) -> Iterator[Block]:
        kind = piece.type
        if kind == "tool_use":
            name, call = piece.name or "", piece.id or ""
            if call:
                self._tools[call] = name
            text = call_text(piece.input)
            yield self._block(line, turn, place, "tool_use", text, name=name, call=call)
        elif kind == "tool_result":
            call = piece.tool_use_id or ""
            text = result_text(piece.content)
            name = self._tools.pop(call, "")
            result = self._block(line, turn, place, "tool_result", text, name=name, call=call)
            feedback = line.user_feedback or ""
            if piece.is_error or feedback:
                result = structs.replace(result, error=True, feedback=feedback)
            yield result
        elif kind == "thinking":
            if piece.thinking and piece.thinking.strip():
                yield self._block(line, turn, place, "thinking", piece.thinking)
        elif kind == "text":
            text, use = piece.text or "", turn.use
            if line.type == "user" and turn.role is Role.USER and not line.is_meta:
                use, text, _ = classify(text)
                if use is Use.MESSAGE:
                    use = Use.WRAPPER if is_notice(text) else turn.use
            if text.strip():
                name = _speaker(line, turn)
                yield self._block(line, turn, place, "text", text, use=use, name=name)
        elif kind == "image" or kind == "document":
            yield self._block(line, turn, place, "text", f"[{kind}]", use=Use.WRAPPER)

    def _block(
        self,
        line: ClaudeLine,
        turn: Turn,
        place: Place,
        kind: BlockKind,
        text: str,
        *,
        use: Use | None = None,
        name: str = "",
        call: str = "",
    ) -> Block:
        role = Role.TOOL if kind == "tool_result" else turn.role
        if use is None:
            use = Use.TOOL if kind == "tool_result" else Use.MESSAGE
        if place.rewound and use in (Use.MESSAGE, Use.TOOL):
            use = Use.REWOUND
        return Block(
            role=role,
            kind=kind,
            text=text.replace("\r\n", "\n"),
            line_start=place.line,
            line_end=place.line + 1,
            name=name,
            at=written_moment(line.timestamp),
            use=use,
            sidechain=bool(line.is_sidechain),
            call=call,
            cwd=line.cwd or "",
            branch=line.git_branch or "",
        )


def _speaker(line: ClaudeLine, turn: Turn) -> str:
    """`agent` for the task that an agent gives to a sub-agent."""
    asked = line.type == "user" and bool(line.is_sidechain)
    return "agent" if asked and turn.use is not Use.SUMMARY else ""


def _content_of(line: ClaudeLine) -> Raw:
    """The message's content as JSON; in old files the message is the text itself."""
    if line.type in ("queue-operation", "system", "attachment"):
        return Raw(b"null")  # the turn has all of its text
    message = line.message
    if bytes(memoryview(message)[:1]) != b"{":
        return message
    return fitting(_Content, msgspec.json.decode(message, type=dict[str, Raw])).content


def _decoded(content: Raw) -> Iterator[tuple[bytes, _Piece]]:
    """Every block as its bytes and its fields; a bare string counts as a text block."""
    for item in msgspec.json.decode(content, type=list[Raw]):
        head = bytes(memoryview(item)[:1])
        if head == b'"':
            yield bytes(item), _Piece("text", msgspec.json.decode(item, type=str))
        elif head == b"{":
            try:
                piece = msgspec.json.decode(item, type=_Piece)
            except msgspec.ValidationError:
                piece = fitting(_Piece, msgspec.json.decode(item, type=dict[str, Raw]))
            yield bytes(item), piece


_SESSIONS = Location(
    folder=".claude/projects",
    pattern="*/*.jsonl",
    variable="CLAUDE_CONFIG_DIR",
    moves=".claude",
    kept_days=30,
    kept_setting="cleanupPeriodDays",
)

FORMAT = Format(
    name=ClaudeCodeScan.format,
    agent="Claude Code",
    locations=(
        _SESSIONS,
        structs.replace(_SESSIONS, pattern="*/*/subagents/*.jsonl", of_subagents=True),
    ),
    facts=Facts(
        person="`user` records with text, `queued_command` attachments, `userFeedback` on refusals,"
        " and queued texts that come nowhere else",
        left_out="`isMeta`, another `origin` than `human`, `promptSource` `system`, queued tasks"
        " and notices, command wrappers, caveats, reminders, notifications, IDE events;"
        " `last-prompt` repeats a prompt",
        folder="`cwd` and `gitBranch` of each record",
        compaction="`compact_boundary`, then a record with `isCompactSummary`",
        rewind="the chain of parents from the last record",
        subagent="`isSidechain`, or a file in `subagents/`",
        tested="real files, 2.0.64 to 2.1.219",
    ),
    detect_record=is_claude,
    read=ClaudeCodeScan,
    read_blocks=ClaudeBlocks,
)
