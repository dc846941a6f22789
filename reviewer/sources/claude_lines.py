"""One line of a Claude Code session as typed values, tolerant of any shape."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from reviewer.sources.claude_tree import Node
from reviewer.sources.claude_words import classify, is_command, is_notice
from reviewer.sources.formats import Fields, is_among
from reviewer.sources.records import Role, Use


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SILENT_TYPES = _names(
    "progress system summary file-history-snapshot pr-link attachment ai-title custom-title "
    "continued-in last-prompt permission-mode agent-name agent-color agent-setting tag mode "
    "worktree-state saved_hook_context marble-origami-commit content-replacement"
)
"""Record types without text of the user or the agent; counted under their own name."""


_RECORD_TYPES = _names(
    "user assistant system summary progress file-history-snapshot queue-operation attachment"
)


def is_claude(record: Fields) -> bool:
    """Whether an outlined object is a Claude Code record."""
    kind = record.get("type")
    if not is_among(kind, _RECORD_TYPES) or "systemPayload" in record:
        return False
    if kind == "summary":
        return "leafUuid" in record
    if kind in ("file-history-snapshot", "queue-operation"):
        return "snapshot" in record or "sessionId" in record
    message = record.get("message")
    if isinstance(message, dict) and "parts" in message:
        return False
    return "sessionId" in record and ("uuid" in record or "parentUuid" in record)


class LineFields(Struct, rename="camel"):
    """The fields that reviewer needs; all others are skipped without decoding them."""

    type: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    operation: str | None = None
    subtype: str | None = None
    user_feedback: str | None = None
    prompt_source: str | None = None
    content: Raw = Raw(b"null")
    attachment: Raw = Raw(b"null")
    origin: Raw = Raw(b"null")
    compact_metadata: Raw = Raw(b"null")


class ClaudeLine(LineFields, rename="camel"):
    """A record with its message undecoded."""

    message: Raw = Raw(b"null")


class _Block(Struct):
    type: str | None = None
    text: str | None = None


class _Message(Struct):
    id: str | None = None
    model: str | None = None
    content: str | list[_Block] | None = None


class _WordedLine(LineFields, rename="camel"):
    """A record decoded together with its message, which works for most messages."""

    message: _Message | str | None = None


class _Attachment(Struct, rename="camel"):
    """What the agent was given beside the messages; only queued prompts are read."""

    type: str | None = None
    prompt: Raw = Raw(b"null")
    command_mode: str | None = None
    is_meta: bool | None = None
    origin: Raw = Raw(b"null")


class _Origin(Struct):
    kind: str | None = None


class _Segment(Struct, rename="camel"):
    anchor_uuid: str | None = None
    tail_uuid: str | None = None


class _Compaction(Struct, rename="camel"):
    preserved_segment: Raw = Raw(b"null")


class _OddMessage(Struct):
    """A message whose content has an unknown shape or contains blocks that are not objects."""

    id: str | None = None
    model: str | None = None
    content: Raw = Raw(b"null")


class Turn(Struct):
    """The text of a line, who wrote it, and its kind in the tree."""

    node: Node
    role: Role
    use: Use
    text: str = ""
    reply: str | None = None
    """`message.id`, which all blocks of one reply share."""
    queued: str = ""
    """For queue operations: `enqueue`, `popAll`."""
    model: str = ""


_lines = msgspec.json.Decoder(ClaudeLine)
_worded_lines = msgspec.json.Decoder(_WordedLine)
_messages = msgspec.json.Decoder(_Message)
_blocks = msgspec.json.Decoder(list[_Block])
_texts = msgspec.json.Decoder(str)


def decode_line(line: bytes) -> ClaudeLine:
    """The typed line. Raises ValueError or RecursionError when it is not a JSON object."""
    try:
        return _lines.decode(line)
    except msgspec.ValidationError:
        fields = msgspec.json.decode(line, type=dict[str, Raw])
        return fitting(ClaudeLine, fields)


def parse_words(data: bytes, tally: Counter[str]) -> tuple[LineFields, Turn | None]:
    """The fields of a line and its turn. The same as `parse_record`, but faster."""
    try:
        line = _worded_lines.decode(data)
    except (ValueError, RecursionError):
        return parse_record(data, tally)
    return line, read_turn(line, tally)


def parse_record(data: bytes, tally: Counter[str]) -> tuple[ClaudeLine, Turn | None]:
    """The typed line and its turn.

    Raises ValueError (which JSON errors are) or RecursionError when it cannot be read.
    """
    try:
        line = decode_line(data)
        return line, read_turn(line, tally)
    except UnicodeDecodeError:
        line = decode_line(data.decode("utf-8", "replace").encode())
        turn = read_turn(line, tally)
        tally["invalid UTF-8"] += 1
        return line, turn


@lru_cache(maxsize=64)
def _kind_of(block: str | None) -> str:
    return shortened(block).replace("_", " ")


@lru_cache(maxsize=64)
def _unknown(type_: str | None) -> str:
    return f"unknown type: {'(none)' if type_ is None else shortened(type_)}"


def shortened(name: object) -> str:
    """A name from the file, printable and short enough for a tally."""
    clean = re.sub(r"[^\w .:/-]", "?", str(name))
    return clean if len(clean) <= 40 else clean[:39] + "…"


def read_turn(line: LineFields, tally: Counter[str]) -> Turn | None:
    """The turn of a line, or None when it has no text; skipped lines are counted."""
    kind = line.type
    if kind == "assistant":
        return _assistant(line, tally)
    if kind == "user":
        return _user(line, tally)
    if kind == "queue-operation":
        return _queued(line, tally)
    if kind == "attachment" and (turn := _attached(line, tally)) is not None:
        return turn
    if kind == "system" and line.subtype == "away_summary":
        text = "\n\n".join(_texts_of(_decode_content(line.content), tally)[0])
        return Turn(Node.OTHER, Role.ASSISTANT, Use.SUMMARY, text)
    tally[kind if kind and kind in SILENT_TYPES else _unknown(kind)] += 1
    return None


def _assistant(line: LineFields, tally: Counter[str]) -> Turn:
    node = Node.APART if line.is_sidechain else Node.ASSISTANT
    message = _message_of(line)
    texts, _ = _texts_of(message.content, tally)
    artificial = line.is_api_error_message or message.model == "<synthetic>"
    use = Use.WRAPPER if artificial else Use.MESSAGE
    model = "" if artificial else message.model or ""
    return Turn(node, Role.ASSISTANT, use, "\n\n".join(texts), message.id, model=model)


def _user(line: LineFields, tally: Counter[str]) -> Turn:
    texts, results = _texts_of(_message_of(line).content, tally)
    if line.is_compact_summary:
        use, text = Use.SUMMARY, "\n\n".join(texts)
    elif line.is_meta:
        use, text = Use.WRAPPER, "\n\n".join(texts)
    elif texts:
        use, text = _typed(texts, tally)
        if use is Use.MESSAGE and is_by_harness(line):
            use = Use.WRAPPER
    else:
        use, text = Use.MESSAGE, ""
    if results and (feedback := (line.user_feedback or "").strip()):
        # What the person said when refusing a call; an interruption may be noted beside it.
        use, text = Use.MESSAGE, feedback
    # The task of a sub-agent and the summary are written by an agent, not by the user.
    by_agent = line.is_sidechain or use is Use.SUMMARY
    if line.is_sidechain:
        node = Node.APART
    elif results:
        node = Node.TOOL_RESULT
    else:
        node = Node.PROMPT if use is Use.MESSAGE and text else Node.WRAPPER
    return Turn(node, Role.ASSISTANT if by_agent else Role.USER, use, text)


def _queued(line: LineFields, tally: Counter[str]) -> Turn | None:
    """Text typed while the agent was busy. It may occur again as an ordinary turn."""
    if line.operation in ("enqueue", "popAll"):
        texts, _ = _texts_of(_decode_content(line.content), tally)
        use, text = _typed(texts, tally)
        if use is Use.MESSAGE and is_by_harness(line):
            use = Use.WRAPPER
        if text and not is_command(text):
            return Turn(Node.OTHER, Role.USER, use, text, queued=line.operation)
    tally["queue operation"] += 1
    return None


def _attached(line: LineFields, tally: Counter[str]) -> Turn | None:
    """Text typed while the agent was busy that it was given in the middle of its turn."""
    if b"queued_command" not in bytes(memoryview(line.attachment)):
        return None
    fields = msgspec.json.decode(line.attachment, type=dict[str, Raw])
    attachment = fitting(_Attachment, fields)
    if attachment.type != "queued_command":
        return None
    texts, _ = _texts_of(_decode_content(attachment.prompt), tally)
    use, text = _typed(texts, tally)
    by_harness = (
        attachment.is_meta
        or attachment.command_mode not in (None, "prompt")
        or _is_foreign(attachment.origin)
        or is_by_harness(line)
    )
    if use is Use.MESSAGE and by_harness:
        use = Use.WRAPPER
    return Turn(Node.OTHER, Role.USER, use, text) if text else None


def is_by_harness(line: LineFields) -> bool:
    """Whether the fields of a record say that nobody typed its text."""
    return bool(line.is_meta) or line.prompt_source == "system" or _is_foreign(line.origin)


def _is_foreign(origin: Raw) -> bool:
    """Whether a text came from a task, a channel or another session, where versions say so."""
    return (_object(_Origin, origin).kind or "human") != "human"


def kept_through(line: LineFields) -> tuple[str, str] | None:
    """Of a compaction that kept the last messages: the last of them, and the summary before them.

    The next message names the first of these as its parent and so leads around the compaction.
    """
    if line.subtype != "compact_boundary":
        return None
    segment = _object(_Segment, _object(_Compaction, line.compact_metadata).preserved_segment)
    if not segment.tail_uuid or not segment.anchor_uuid:
        return None
    return segment.tail_uuid, segment.anchor_uuid


def _typed(texts: list[str], tally: Counter[str]) -> tuple[Use, str]:
    """The typed text of one turn with its use, or else the other texts with theirs."""
    typed: list[str] = []
    other: list[tuple[Use, str]] = []
    for text in texts:
        use, clean, cuts = classify(text)
        for reason, count in cuts.items():
            tally[f"{reason} cut out"] += count
        if use is Use.MESSAGE and not is_notice(clean):
            typed.append(clean)
        else:
            other.append((Use.WRAPPER if use is Use.MESSAGE else use, text))
    if typed or not other:
        for use, _ in other:
            tally[f"{use.value} beside typed text"] += 1
        return Use.MESSAGE, "\n\n".join(typed)
    return other[0][0], "\n\n".join(text for _, text in other)


def _message_of(line: LineFields) -> _Message:
    if not isinstance(line, _WordedLine):
        assert isinstance(line, ClaudeLine)
        return _message(line.message)
    message = line.message
    if message is None or isinstance(message, str):
        return _Message(content=message)
    return message


def _message(raw: Raw) -> _Message:
    head = bytes(memoryview(raw)[:1])
    if head == b'"':  # in old files the text itself is the message
        return _Message(content=_texts.decode(raw))
    if head != b"{":
        return _Message()
    try:
        return _messages.decode(raw)
    except msgspec.ValidationError:
        odd = fitting(_OddMessage, msgspec.json.decode(raw, type=dict[str, Raw]))
        return _Message(odd.id, odd.model, _decode_content(odd.content))


def _decode_content(raw: Raw) -> str | list[_Block] | None:
    """A message's content, decoded block by block if it does not decode as a whole."""
    head = bytes(memoryview(raw)[:1])
    if head == b'"':
        return _texts.decode(raw)
    return _decode_blocks(raw) if head == b"[" else None


def _texts_of(content: str | list[_Block] | None, tally: Counter[str]) -> tuple[list[str], int]:
    """The non-blank texts of a message, and the number of its tool results."""
    if content is None:
        return [], 0
    if isinstance(content, str):
        return ([content] if content.strip() else []), 0
    texts: list[str] = []
    results = 0
    for block in content:
        kind, text = block.type, block.text
        if kind == "text" and text is not None:
            if text and not text.isspace():
                texts.append(text)
        else:
            results += kind == "tool_result"
            tally[_kind_of(kind)] += 1
    return texts, results


def _decode_blocks(raw: Raw) -> list[_Block]:
    try:
        return _blocks.decode(raw)
    except msgspec.ValidationError:
        blocks: list[_Block] = []
        for item in msgspec.json.decode(raw, type=list[Raw]):
            head = bytes(memoryview(item)[:1])
            if head == b'"':
                blocks.append(_Block("text", _texts.decode(item)))
            elif head == b"{":
                fields = msgspec.json.decode(item, type=dict[str, Raw])
                blocks.append(fitting(_Block, fields))
        return blocks


_Fields = TypeVar("_Fields", bound=Struct)


def _object(kind: type[_Fields], raw: Raw) -> _Fields:
    """The struct of a JSON object; the default one for anything else."""
    if bytes(memoryview(raw)[:1]) != b"{":
        return kind()
    return fitting(kind, msgspec.json.decode(raw, type=dict[str, Raw]))


@lru_cache(maxsize=16)
def _fields_of(kind: type[Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def fitting(kind: type[_Fields], fields: dict[str, Raw]) -> _Fields:
    """A struct with the fields that have the expected type; the others get their default."""
    made = kind()
    for field in _fields_of(kind):
        if field.encode_name in fields:
            try:
                value = msgspec.json.decode(fields[field.encode_name], type=field.type)
            except msgspec.ValidationError:
                continue
            setattr(made, field.name, value)
    return made
