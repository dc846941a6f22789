"""All blocks of a Claude Code session (`formats.md`, section 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

import msgspec
from msgspec import Raw, Struct

from reviewer.clock import written_moment
from reviewer.sources.block import Block
from reviewer.sources.blocks_tools import call_text, result_text
from reviewer.sources.claude_code import ClaudeCodeScan
from reviewer.sources.claude_index import Place, index_session, text_hash
from reviewer.sources.claude_lines import ClaudeLine, Turn, fitting, parse_record
from reviewer.sources.claude_words import classify
from reviewer.sources.lines import reading
from reviewer.sources.records import Role, Use
from reviewer.sources.seen import Seen

_GIVEN = ("tool use", "tool result", "thinking")


class _Piece(Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = Raw(b"null")
    tool_use_id: str | None = None
    content: Raw = Raw(b'""')


class _Content(Struct):
    content: Raw = Raw(b"null")


_pieces = msgspec.json.Decoder(list[_Piece])


class ClaudeBlocks:
    """The blocks of one session file, which is read twice: for its tree, then for the blocks."""

    format = ClaudeCodeScan.format

    def __init__(self, scan: ClaudeCodeScan) -> None:
        self.path = scan.path
        self.tally: Counter[str] = Counter()
        self.errors: list[str] = []
        self._form, self._lines = scan.form, scan.lines
        self._given = Seen()
        self._queued: Counter[int] = Counter()
        self._tools: dict[str, str] = {}

    def __iter__(self) -> Iterator[Block]:
        index = index_session(
            self.path, self._form, self._lines, self.tally, self.errors, every_turn=True
        )
        for name in _GIVEN:
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
        raw = self._form.utf8(stream.read(place.length))
        try:
            raw.decode()
        except UnicodeDecodeError:
            raw = raw.decode("utf-8", "replace").encode()
        return parse_record(raw, Counter())

    def _repeated(self, *name: object) -> bool:
        """Whether this was given before: a resumed session repeats turns."""
        if name == (None,):
            return False
        if name in self._given:
            self.tally["repeated"] += 1
            return True
        self._given.add(name)
        return False

    def _blocks(self, line: ClaudeLine, turn: Turn, place: Place) -> Iterator[Block]:
        content = _content(line)
        if bytes(memoryview(content)[:1]) != b"[":
            if turn.text.strip():
                yield self._block(line, turn, place, "text", turn.text, use=turn.use)
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
            yield self._block(line, turn, place, "tool_result", text, name=name, call=call)
        elif kind == "thinking":
            if piece.thinking and piece.thinking.strip():
                yield self._block(line, turn, place, "thinking", piece.thinking)
        elif kind == "text":
            text, use = piece.text or "", turn.use
            if turn.role is Role.USER and not line.is_meta:
                use, text, _ = classify(text)
            if text.strip():
                yield self._block(line, turn, place, "text", text, use=use)
        elif kind == "image" or kind == "document":
            yield self._block(line, turn, place, "text", f"[{kind}]", use=Use.WRAPPER)

    def _block(
        self,
        line: ClaudeLine,
        turn: Turn,
        place: Place,
        said: str,
        text: str,
        *,
        use: Use | None = None,
        name: str = "",
        call: str = "",
    ) -> Block:
        role = Role.TOOL if said == "tool_result" else turn.role
        if use is None:
            use = Use.TOOL if said == "tool_result" else Use.SAID
        if place.rewound and use in (Use.SAID, Use.TOOL):
            use = Use.REWOUND
        return Block(
            role=role,
            said=said,  # type: ignore[arg-type]
            text=text.replace("\r\n", "\n"),
            line_start=place.line,
            line_end=place.line + 1,
            name=name,
            at=written_moment(line.timestamp),
            use=use,
            sidechain=bool(line.is_sidechain),
            call=call,
        )


def _content(line: ClaudeLine) -> Raw:
    """What the message holds, as JSON; the text itself where it stands for the message."""
    if line.type == "queue-operation":
        return line.content
    message = line.message
    if bytes(memoryview(message)[:1]) != b"{":
        return message
    return fitting(_Content, msgspec.json.decode(message, type=dict[str, Raw])).content


def _decoded(content: Raw) -> Iterator[tuple[bytes, _Piece]]:
    """Every block as its bytes and its fields; a bare string is a text."""
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
