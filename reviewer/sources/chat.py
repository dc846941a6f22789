"""Chat-completions and ShareGPT conversations, as one JSON document or one object a line."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec
from msgspec import Raw, Struct, structs

from reviewer.clock import iso, written_moment
from reviewer.sources.claude_words import classify
from reviewer.sources.formats import Facts, Fields, Format, is_among
from reviewer.sources.hash_set import HashSet
from reviewer.sources.json_values import fields, first_byte, items
from reviewer.sources.lines import TextForm, read_lines, reading
from reviewer.sources.records import Block, Record, Role, Use
from reviewer.sources.source import Source
from reviewer.sources.tool_text import call_text, part_text

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
_SPEAKERS = frozenset((*ROLES, *TOOL_ROLES))
LISTS = ("messages", "traj", "conversations")
DEPTH = 4
"""Maximum levels of lists and objects above a message."""


def has_role(record: Fields) -> bool:
    """Whether `role` is one that conversations use."""
    return is_among(record.get("role"), _SPEAKERS)


def is_message(record: Fields) -> bool:
    """Whether an object is one message of a chat-completions or ShareGPT conversation."""
    if is_among(record.get("from"), _SPEAKERS) and "value" in record:
        return True
    return has_role(record) and ("content" in record or "tool_calls" in record)


def _is_conversation(record: Fields) -> bool:
    """Whether an object is a message, or its first list of messages has one."""
    if is_message(record):
        return True
    for name in ("messages", "conversations", "traj"):
        value = record.get(name)
        if isinstance(value, list):
            return any(_is_conversation(item) for item in value[:5] if isinstance(item, dict))
    return False


class _Chain:
    """Keys of one conversation's messages; each depends on all messages before it.

    So a message that occurs twice in a conversation is two records, a copy of a conversation has
    the same keys, and a conversation that has grown adds only its new messages.
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
    """Converts offsets in a file's UTF-8 text, in ascending order, to its lines and bytes.

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
    """The records of one file of conversations."""

    format = "chat"

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.tally: Counter[str] = Counter()
        self.errors: list[str] = []
        self._source, self._form = source, source.form
        self._yielded = HashSet()

    def __iter__(self) -> Iterator[Record]:
        if self._source.document is not None:
            positions = _Positions(self._source.document, self._form, 0, self._form.bom)
            yield from self._walk(memoryview(self._source.document), 0, positions, None, DEPTH)
            return
        whole_file = _Chain(None)
        with reading(self.path) as stream:
            for number, start, raw in read_lines(stream, self._form):
                if raw is None:
                    self.tally["line over 32 MB"] += 1
                    self.errors.append(f"line {number + 1}: longer than 32 MB, skipped")
                elif raw and not raw.isspace():
                    yield from self._line(raw, number, start, whole_file)

    def _line(self, raw: bytes, number: int, start: int, chain: _Chain) -> Iterator[Record]:
        data = self._form.utf8(raw)
        positions = _Positions(data, self._form, number, start)
        try:
            yield from self._walk(memoryview(data), 0, positions, chain, DEPTH)
        except RecursionError:
            self.tally["nested too deep"] += 1
            self.errors.append(f"line {number + 1}: nested too deep to read")
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
        if not self._source.lines[0] <= place.line_start or place.line_end > self._source.lines[1]:
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
        if key in self._yielded:
            self.tally["repeated"] += 1
            return
        self._yielded.add(key)
        use = Use.BOOT if role is Role.SYSTEM else Use.MESSAGE
        if role is Role.USER:
            use, text, cuts = classify(text)
            for reason, count in cuts.items():
                self.tally[f"{reason} cut out"] += count
        raw_file = (
            raw if self._form.encoding == "utf-8" else raw.decode().encode(self._form.encoding)
        )
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
                self.tally["part that is not text"] += 1
        return "\n\n".join(texts)


def _shallow(named: dict[str, tuple[int, memoryview]]) -> dict[str, object]:
    """The short strings and numbers of an object, decoded; all other values are None."""
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
    """When a message was written, as ISO 8601, from whichever field has it."""
    for name in ("timestamp", "created_at", "create_time", "ts"):
        value = known.get(name)
        if isinstance(value, str) and (written := written_moment(value)) is not None:
            return written
        if isinstance(value, (int, float)) and 0 < value < 4e9:
            return iso(datetime.fromtimestamp(value, UTC))
    return None


class ChatBlocks:
    """The blocks of one file of conversations."""

    format = ChatScan.format

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.tally: Counter[str] = Counter()
        self.errors: list[str] = []
        self._source = source
        self._lists = 0
        self._session: str | None = None

    def __iter__(self) -> Iterator[Block]:
        source = self._source
        if source.document is not None:
            yield from self._of_line(source.document, 0)
            return
        with reading(self.path) as stream:
            for number, _, raw in read_lines(stream, source.form):
                if raw is None:
                    self.tally["line over 32 MB"] += 1
                    self.errors.append(f"line {number + 1}: longer than 32 MB, skipped")
                elif source.lines[0] <= number < source.lines[1] and raw and not raw.isspace():
                    yield from self._of_line(source.form.utf8(raw), number)

    def _of_line(self, data: bytes, number: int) -> Iterator[Block]:
        """The blocks of a JSON text; damage is counted and reported."""
        try:
            yield from self._of_value(data, number)
        except RecursionError:
            self.tally["nested too deep"] += 1
            self.errors.append(f"line {number + 1}: nested too deep to read")
        except ValueError:
            self.tally["bad JSON"] += 1
            self.errors.append(f"line {number + 1}: not JSON")

    def _of_value(self, data: bytes, line: int) -> Iterator[Block]:
        """The blocks of a JSON text that begins at `line`."""
        line_end = self._source.form.line_end.replace(b"\0", b"")
        self._session = None
        counted, tools = 0, dict[str, str]()
        for at, message in self._messages(memoryview(data), 0, DEPTH):
            line += data.count(line_end, counted, at)
            counted = at
            last = line + data.count(line_end, at, at + len(message))
            if self._source.lines[0] <= line and last < self._source.lines[1]:
                for block in self._of_message(message, line, last + 1, tools):
                    yield structs.replace(block, session=self._session, conversation=self._lists)

    def _messages(self, value: memoryview, at: int, depth: int) -> Iterator[tuple[int, memoryview]]:
        padding = len(value) - len(bytes(value).lstrip()) if first_byte(value) in b" \t\r\n" else 0
        value, at = value[padding:], at + padding
        kind = first_byte(value)
        if kind == b"[" and depth:
            self._lists += 1
            for offset, item in items(value):
                yield from self._messages(item, at + offset, depth - 1)
        elif kind == b"{":
            named = fields(value)
            found = next((name for name in LISTS if name in named), None)
            if _role_of(named) and found is None:
                yield at, value
            elif found and depth:
                offset, inner = named[found]
                self._session = _name_of(named)
                yield from self._messages(inner, at + offset, depth - 1)
            else:
                self.tally["not a message"] += 1
        else:
            self.tally["not a message"] += 1

    def _of_message(
        self, message: memoryview, line: int, line_end: int, tools: dict[str, str]
    ) -> Iterator[Block]:
        try:
            value = msgspec.json.decode(message)
        except UnicodeDecodeError:
            self.tally["invalid UTF-8"] += 1
            value = msgspec.json.decode(bytes(message).decode("utf-8", "replace"))
        role_name = str(value.get("role") or value.get("from"))
        at, name = moment(value), value.get("name")
        name = name if isinstance(name, str) else ""
        text = part_text(value["value"] if "value" in value else value.get("content"))
        text = text.replace("\r\n", "\n")
        if role_name in TOOL_ROLES:
            call = str(value.get("tool_call_id") or "")
            name = name or tools.pop(call, "")
            yield Block(
                Role.TOOL, "tool_result", text, line, line_end, name, at, Use.TOOL, call=call
            )
            return
        role = ROLES[role_name]
        use = Use.BOOT if role is Role.SYSTEM else Use.MESSAGE
        if role is Role.USER:
            use, text, cuts = classify(text)
            for reason, count in cuts.items():
                self.tally[f"{reason} cut out"] += count
        thought = value.get("reasoning_content")
        if isinstance(thought, str) and thought.strip():
            yield Block(role, "thinking", thought, line, line_end, name, at)
        if text.strip():
            yield Block(role, "text", text, line, line_end, name, at, use)
        calls = value.get("tool_calls") or ([value] if value.get("function_call") else [])
        for entry in calls if isinstance(calls, list) else ():
            if isinstance(entry, dict):
                yield _call(entry, role, line, line_end, at, tools)


def _call(
    entry: dict[str, object],
    role: Role,
    line: int,
    line_end: int,
    at: str | None,
    tools: dict[str, str],
) -> Block:
    function = entry.get("function") or entry.get("function_call")
    named = function if isinstance(function, dict) else entry
    name, call = str(named.get("name") or ""), str(entry.get("id") or "")
    given = named.get("arguments", named.get("input"))
    if call:
        tools[call] = name
    text = call_text(Raw(msgspec.json.encode(given)))
    return Block(role, "tool_use", text, line, line_end, name, at, call=call)


def _role_of(named: dict[str, tuple[int, memoryview]]) -> str:
    """The role of a message; empty for any other object."""
    for field in ("role", "from"):
        value = named[field][1] if field in named else b""
        if first_byte(memoryview(value)) == b'"' and len(value) < 40:
            name = bytes(value[1:-1]).decode("utf-8", "replace")
            if name in ROLES or name in TOOL_ROLES:
                return name
    return ""


FORMAT = Format(
    name=ChatScan.format,
    agent="Chat completions, ShareGPT",
    facts=Facts(
        person="messages with the role `user` or `human`",
        left_out="the system prompt, results of tools, system reminders",
        tested="real files",
    ),
    detect_record=_is_conversation,
    detect_document=_is_conversation,
    read=ChatScan,
    read_blocks=ChatBlocks,
    several=True,
)
