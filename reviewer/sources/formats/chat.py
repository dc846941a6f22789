"""Chat-completions and ShareGPT conversations, as one JSON document or one object per line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec
from msgspec import Raw, structs

from reviewer.sources.document import Document, Located
from reviewer.sources.fields import Fields, inner, moment, words
from reviewer.sources.format import Format
from reviewer.sources.json_values import first_byte
from reviewer.sources.parts import (
    ROLES,
    Part,
    called,
    function_calls,
    returned,
    spoken,
    thought,
    used_as,
)
from reviewer.sources.reading import Reading
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import Session, Turn

_SPEAKERS = tuple(ROLES)
_LISTS = ("messages", "traj", "conversations")
_TIMES = ("timestamp", "created_at", "create_time", "ts", "at")
_EXPORTED: dict[object, RecordUse] = {
    "instruction": RecordUse.BOOT,
    "artifact": RecordUse.INJECTED,
    "summary": RecordUse.SUMMARY,
}
"""Types in the lines of `reviewer context export` of texts that nobody said."""
DEPTH = 4
"""Maximum nesting of lists and objects above a message."""
_raw = msgspec.json.Decoder(Raw)


def has_role(record: Fields) -> bool:
    return record.get("role") in _SPEAKERS


def is_message(record: Fields) -> bool:
    """Whether an object is one message of a chat-completions or ShareGPT conversation."""
    if record.get("from") in _SPEAKERS and "value" in record:
        return True
    return has_role(record) and ("content" in record or "tool_calls" in record)


def _is_conversation(record: Fields) -> bool:
    """Whether an object is a message or has one in its first list of messages."""
    if is_message(record):
        return True
    for name in _LISTS:
        value = record.get(name)
        if isinstance(value, list):
            return any(_is_conversation(item) for item in value[:5] if isinstance(item, dict))
    return False


class _Conversation(Session):
    """One list of messages. The key of a message depends on the bytes of all messages before it."""

    digest: bytes = b""

    def key_of_bytes(self, raw: bytes | memoryview) -> str:
        self.digest = hashlib.sha256(self.digest + raw).digest()
        return f"sha256:{self.digest.hex()}"


class _Walk:
    """A file being searched for messages."""

    def __init__(self, reading: Reading) -> None:
        self._reading, self._tally = reading, reading.tally
        self._lists = 0

    def turns(self) -> Iterator[Turn]:
        if self._reading.document is not None:
            document = Document(self._reading)
            yield from self._below(document, document.root, _Conversation(), DEPTH)
            return
        whole_file = _Conversation()
        for line, _ in self._reading.lines(_raw.decode, lambda _: False):
            document = Document(self._reading, line)
            yield from self._below(document, document.root, whole_file, DEPTH)

    def _below(
        self, document: Document, value: Located, conversation: _Conversation, depth: int
    ) -> Iterator[Turn]:
        """The messages below a value."""
        kind = first_byte(value.raw)
        if kind == b"[" and depth:
            yield from self._listed(document, value, "", depth)
            return
        named = document.fields(value) if kind == b"{" else {}
        found = next((name for name in _LISTS if name in named), None)
        known = _shallow(named)
        if is_message(known) or (has_role(known) and found is None):
            yield from self._message(document, value, known, conversation)
        elif found is not None and depth:
            yield from self._listed(document, named[found], _name_of(known), depth - 1)
        else:
            self._tally["not a message"] += 1

    def _listed(
        self, document: Document, value: Located, session: str, depth: int
    ) -> Iterator[Turn]:
        self._lists += 1
        conversation = _Conversation(number=self._lists, id=session)
        for item in document.items(value):
            yield from self._below(document, item, conversation, depth - 1)

    def _message(
        self,
        document: Document,
        value: Located,
        known: Fields,
        conversation: _Conversation,
    ) -> Iterator[Turn]:
        key = conversation.key_of_bytes(value.raw) if is_message(known) else ""
        message = inner(document.decoded(value))
        role = ROLES[str(known.get("role") or known.get("from"))]
        content = message.get("value" if "value" in message else "content")
        kind, call, name = known.get("type"), message.get("tool_call_id"), message.get("name")
        if role is Role.TOOL:
            parts = returned(part_text(content), call, name)
        elif kind == "tool_call":
            parts = called(name, part_text(content), call)
        elif kind == "reasoning":
            parts = thought(part_text(content))
        else:
            parts = thought(message.get("reasoning_content"))
            spoken_parts = self._text(role, content)
            parts += (structs.replace(part, name=words(name)) for part in spoken_parts)
            parts += _calls(message)
            if kind in _EXPORTED:
                parts = used_as(_EXPORTED[kind], parts)
        at = moment(*(known.get(name) for name in _TIMES))
        yield conversation.turn(document.spot(value), role, parts, key=key, at=at)

    def _text(self, role: Role, content: object) -> Iterator[Part]:
        """The text of a message's content, a string or a list of parts."""
        pieces = content if isinstance(content, list) else [part_text(content)]
        texts = [part_text(piece) for piece in pieces if _is_text(piece)]
        if text := "\n\n".join(text for text in texts if text.strip()):
            yield from spoken(role, text, self._tally)
        else:
            self._tally["message without text"] += 1
        for piece in pieces:
            if isinstance(piece, dict) and not _is_text(piece):
                self._tally["part that is not text"] += 1
                yield Part("text", part_text(piece), RecordUse.WRAPPER, is_data=True)


def _is_text(piece: object) -> bool:
    return isinstance(piece, str) or (isinstance(piece, dict) and "text" in piece)


def _calls(message: Fields) -> list[Part]:
    """The calls of a message; old ones have a single call without an id."""
    old = inner(message, "function_call")
    if old and not message.get("tool_calls"):
        return called(old.get("name"), old.get("arguments"))
    return function_calls(message.get("tool_calls"))


def _name_of(known: Fields) -> str:
    names = ("session_id", "conversation_id", "id")
    return next(filter(None, (words(known.get(name)) for name in names)), "")


def _shallow(named: dict[str, Located]) -> dict[str, object]:
    """The short strings and numbers of an object, decoded; all other values are None."""
    known: dict[str, object] = {}
    for name, (_, value) in named.items():
        short = len(value) < 200 and first_byte(value) in b'"-0123456789'
        try:
            known[name] = msgspec.json.decode(value) if short else None
        except ValueError:
            known[name] = None
    return known


FORMAT = Format(
    name="chat",
    agent="Chat completions, ShareGPT",
    tested="real files",
    detect_record=_is_conversation,
    detect_document=_is_conversation,
    turns=lambda reading: _Walk(reading).turns(),
    several=True,
)
