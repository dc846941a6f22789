"""Grok: command-line sessions, and website exports."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.document import Document
from reviewer.sources.fields import Fields, each, inner, moment, words
from reviewer.sources.format import Format
from reviewer.sources.parts import Part, called, function_calls, returned, said, thought, typed
from reviewer.sources.reading import Reading
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import Session, Turn

_KINDS = ("system", "user", "assistant", "reasoning", "tool_result", "backend_tool_call")


def _turns(reading: Reading) -> Iterator[Turn]:
    session = Session(id=reading.path.parent.name)
    for spot, record in reading.objects():
        role, parts = _parts(reading, words(record.get("type")), record)
        at, model = moment(record.get("timestamp")), words(record.get("model_id"))
        yield session.turn(spot, role, parts, at=at, model=model)


def _parts(reading: Reading, kind: str, record: Fields) -> tuple[Role, list[Part]]:
    text = part_text(record.get("content"))
    if kind == "user":
        if record.get("synthetic_reason"):
            return Role.USER, said(text, RecordUse.BOOT)
        return Role.USER, typed(text, reading.tally, ("<user_info>",))
    if kind == "reasoning":
        return Role.ASSISTANT, thought(part_text(record.get("summary")))
    if kind == "tool_result":
        return Role.TOOL, returned(text, record.get("tool_call_id"))
    if kind == "backend_tool_call":
        call = inner(record, "kind")
        return Role.ASSISTANT, called(call.get("tool_type"), call.get("action"), call.get("id"))
    if kind == "system":
        return Role.SYSTEM, said(text, RecordUse.BOOT)
    return Role.ASSISTANT, said(text) + function_calls(record.get("tool_calls"))


def _export_turns(reading: Reading) -> Iterator[Turn]:
    document = Document(reading)
    named = document.fields(document.root)
    listed = list(document.items(named.get("conversations"))) or [document.root]
    for conversation in listed:
        fields = document.fields(conversation)
        head = inner(document.decoded(fields.get("conversation")))
        session = Session(id=words(head.get("id")) or words(head.get("title")))
        for spot, item in document.objects(fields.get("responses")):
            message = inner(item, "response") or item
            text = words(message.get("message"))
            person = words(message.get("sender")).lower() in ("human", "user")
            yield session.turn(
                spot,
                Role.USER if person else Role.ASSISTANT,
                typed(text, reading.tally) if person else said(text),
                key=words(message.get("_id")) or session.next_key(text),
                at=moment(message.get("create_time")),
                model=words(message.get("model")),
            )


def _is_export(document: Fields) -> bool:
    listed = list(each(document.get("conversations")))[:3]
    return "responses" in document or any("responses" in item for item in listed)


SESSION = Format(
    name="grok",
    agent="Grok CLI",
    detect_record=lambda r: (
        r.get("type") in _KINDS
        and "role" not in r
        and "message" not in r
        and ("content" in r or "summary" in r or "kind" in r)
        and not {"uuid", "sessionId", "payload", "session_id", "call_id"} & set(r)
    ),
    turns=_turns,
)
EXPORT = Format(
    name="grok-export",
    agent="Grok export",
    detect_document=_is_export,
    turns=_export_turns,
    several=True,
)
