"""Reading chat-completions and ShareGPT conversations, as documents or lines (`formats.md`, 7)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.clock import iso, written_moment
from reviewer.sources.claude_words import classify
from reviewer.sources.formats import is_message
from reviewer.sources.json_positions import fields, first_byte, items
from reviewer.sources.lines import TextForm, read_lines, reading
from reviewer.sources.records import Record, Role, Use
from reviewer.sources.seen import Seen

ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "gpt": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "bing": Role.ASSISTANT,
    "bard": Role.ASSISTANT,
    "claude": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
}
TOOL_ROLES = ("tool", "function")
LISTS = ("messages", "traj", "conversations")
DEPTH = 4
"""Levels of lists and objects above a message."""


class _Chain:
    """One conversation while it is read; every key depends on all messages before it.

    So the same words twice in a conversation are two records, a copy of a conversation gives the
    same keys again, and one that has grown adds only its end.
    """

    def __init__(self, session: str | None) -> None:
        self.session = session
        self._digest = b""

    def key(self, raw: bytes) -> str:
        self._digest = hashlib.sha256(self._digest + raw).digest()
        return f"sha256:{self._digest.hex()}"


class _Place(Struct, frozen=True):
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int


class _Positions:
    """From offsets in the UTF-8 text of a file, in growing order, to lines and bytes of the file.

    `data` begins at byte `start` and at line `line` of the file.
    """

    def __init__(self, data: bytes, form: TextForm, line: int, start: int) -> None:
        self._data, self._form = data, form
        self._offset, self._line, self._byte = 0, line, start
        self._line_end = form.line_end.replace(b"\0", b"")

    def place(self, start: int, end: int) -> _Place:
        self._advance(start)
        line, byte = self._line, self._byte
        self._advance(end)
        return _Place(line, self._line + 1, byte, self._byte)

    def _advance(self, offset: int) -> None:
        self._line += self._data.count(self._line_end, self._offset, offset)
        if self._form.encoding == "utf-8":
            self._byte += offset - self._offset
        else:
            text = self._data[self._offset : offset].decode("utf-8", "replace")
            self._byte += len(text.encode(self._form.encoding))
        self._offset = offset


class ChatScan:
    """One file of conversations: a JSON document (`document` holds it), or one object a line."""

    format = "chat"

    def __init__(
        self, path: Path, form: TextForm, lines: tuple[int, float], document: bytes | None = None
    ) -> None:
        self.path = path
        self.tally: Counter[str] = Counter()
        self.errors: list[str] = []
        self.form, self.lines, self.document = form, lines, document
        self._given = Seen()

    def __iter__(self) -> Iterator[Record]:
        if self.document is not None:
            positions = _Positions(self.document, self.form, 0, self.form.bom)
            yield from self._walk(memoryview(self.document), 0, positions, None, DEPTH)
            return
        whole_file = _Chain(None)
        with reading(self.path) as stream:
            for number, start, raw in read_lines(stream, self.form):
                if raw is None:
                    self.tally["line over 64 MB"] += 1
                    self.errors.append(f"line {number + 1}: longer than 64 MB, passed over")
                elif raw and not raw.isspace():
                    yield from self._line(raw, number, start, whole_file)

    def _line(self, raw: bytes, number: int, start: int, chain: _Chain) -> Iterator[Record]:
        data = self.form.utf8(raw)
        positions = _Positions(data, self.form, number, start)
        try:
            yield from self._walk(memoryview(data), 0, positions, chain, DEPTH)
        except RecursionError:
            self.tally["nested too deep"] += 1
            self.errors.append(f"line {number + 1}: nested too deep to be read")
        except ValueError:
            self.tally["bad JSON"] += 1
            self.errors.append(f"line {number + 1}: not JSON")

    def _walk(
        self, value: memoryview, at: int, positions: _Positions, chain: _Chain | None, depth: int
    ) -> Iterator[Record]:
        """The messages below a value that begins at offset `at`."""
        padding = len(value) - len(bytes(value).lstrip()) if first_byte(value) in b" \t\r\n" else 0
        value, at = value[padding:], at + padding
        kind = first_byte(value)
        if kind == b"[" and depth:
            chain = _Chain(None)
            for offset, item in items(value):
                inner = None if first_byte(item) == b"[" else chain
                yield from self._walk(item, at + offset, positions, inner, depth - 1)
        elif kind == b"{":
            named = fields(value)
            if is_message(_shallow(named)):
                yield from self._message(value, at, named, positions, chain or _Chain(None))
                return
            found = next((name for name in LISTS if name in named), None)
            if found is None or not depth:
                self.tally["not a message"] += 1
                return
            offset, messages = named[found]
            if first_byte(messages) == b"[":
                session = _name_of(named)
                yield from self._conversation(messages, at + offset, positions, session, depth - 1)
        else:
            self.tally["not a message"] += 1

    def _conversation(
        self, value: memoryview, at: int, positions: _Positions, session: str | None, depth: int
    ) -> Iterator[Record]:
        chain = _Chain(session)
        for offset, item in items(value):
            yield from self._walk(item, at + offset, positions, chain, depth - 1)

    def _message(
        self,
        value: memoryview,
        at: int,
        named: dict[str, tuple[int, memoryview]],
        positions: _Positions,
        chain: _Chain,
    ) -> Iterator[Record]:
        known = _shallow(named)
        place = positions.place(at, at + len(value))
        raw = bytes(value)
        key = chain.key(raw)
        if not self.lines[0] <= place.line_start or place.line_end > self.lines[1]:
            return
        name = str(known.get("role") or known.get("from"))
        if name in TOOL_ROLES:
            self.tally["tool message"] += 1
            return
        role = ROLES[name]
        text = self._text(
            named["value"][1] if "value" in named else named.get("content", (0, b""))[1]
        )
        if not text.strip():
            self.tally["message without text"] += 1
            return
        if key in self._given:
            self.tally["repeated"] += 1
            return
        self._given.add(key)
        use = Use.BOOT if role is Role.SYSTEM else Use.SAID
        if role is Role.USER:
            use, text, cuts = classify(text)
            for reason, count in cuts.items():
                self.tally[f"{reason} cut out"] += count
        raw_file = raw if self.form.encoding == "utf-8" else raw.decode().encode(self.form.encoding)
        yield Record(
            key=key,
            line_start=place.line_start,
            line_end=place.line_end,
            byte_start=place.byte_start,
            byte_end=place.byte_end,
            sha256=hashlib.sha256(raw_file).hexdigest(),
            role=role,
            text=text.replace("\r\n", "\n"),
            use=use,
            at=moment(known),
            session=chain.session,
        )

    def _text(self, content: memoryview | bytes) -> str:
        """The text of a message's content: a string, or the text parts of a list."""
        try:
            value = msgspec.json.decode(content) if content else None
        except UnicodeDecodeError:
            self.tally["invalid UTF-8"] += 1
            value = msgspec.json.decode(bytes(content).decode("utf-8", "replace"))
        if isinstance(value, str):
            return value
        texts: list[str] = []
        for part in value if isinstance(value, list) else ():
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str) and text.strip():
                texts.append(text)
            else:
                self.tally["part that is no text"] += 1
        return "\n\n".join(texts)


def _shallow(named: dict[str, tuple[int, memoryview]]) -> dict[str, object]:
    """Decoded short strings and numbers of an object; other values only by their presence."""
    known: dict[str, object] = {}
    for name, (_, value) in named.items():
        short = len(value) < 200 and first_byte(value) in b'"-0123456789'
        try:
            known[name] = msgspec.json.decode(value) if short else None
        except ValueError:
            known[name] = None
    return known


def _name_of(named: dict[str, tuple[int, memoryview]]) -> str | None:
    known = _shallow(named)
    for name in ("session_id", "conversation_id", "id"):
        if isinstance(known.get(name), str):
            return str(known[name])
    return None


def moment(known: dict[str, object]) -> str | None:
    """When a message was written, from whichever field says it; ISO 8601."""
    for name in ("timestamp", "created_at", "create_time", "ts"):
        value = known.get(name)
        if isinstance(value, str) and (written := written_moment(value)) is not None:
            return written
        if isinstance(value, (int, float)) and 0 < value < 4e9:
            return iso(datetime.fromtimestamp(value, UTC))
    return None
