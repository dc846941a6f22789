"""Grok: sessions of the command line, and exports of the web site."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.formats import Facts, Format
from reviewer.sources.records import Role, Use
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import (
    Chain,
    Document,
    Part,
    Reading,
    Turn,
    called,
    each,
    inner,
    moment,
    returned,
    said,
    thought,
    typed,
    words,
)

_KINDS = ("system", "user", "assistant", "reasoning", "tool_result", "backend_tool_call")


def _turns(reading: Reading) -> Iterator[Turn]:
    session = reading.path.parent.name
    chain = Chain(session)
    for spot, record in reading.objects():
        kind, text = words(record.get("type")), part_text(record.get("content"))
        role, parts = Role.ASSISTANT, list[Part]()
        if kind == "user":
            role = Role.USER
            if record.get("synthetic_reason"):
                parts = [said(text, Use.BOOT)]
            elif text.strip():
                parts = [typed(text, reading.tally, ("<user_info>",))]
        elif kind == "reasoning":
            parts = thought(part_text(record.get("summary")))
        elif kind == "tool_result":
            role, parts = Role.TOOL, [returned(text, record.get("tool_call_id"))]
        elif kind == "backend_tool_call":
            call = inner(record, "kind")
            parts = [called(call.get("tool_type"), call.get("action"), call.get("id"))]
        elif kind == "system":
            role, parts = Role.SYSTEM, [said(text, Use.BOOT)]
        else:
            parts = [said(text)] if text.strip() else []
            for call in each(record.get("tool_calls")):
                parts.append(called(call.get("name"), call.get("arguments"), call.get("id")))
        yield Turn(
            spot=spot,
            role=role,
            parts=parts,
            key=chain.key(role, *(part.kind + part.call + part.text for part in parts)),
            at=moment(record.get("timestamp")),
            session=session or None,
            model=words(record.get("model_id")),
        )


def _export_turns(reading: Reading) -> Iterator[Turn]:
    document = Document(reading)
    named = document.fields(document.root)
    listed = list(document.items(named.get("conversations"))) or [document.root]
    for conversation in listed:
        fields = document.fields(conversation)
        head = inner(document.decoded(fields.get("conversation")))
        session = words(head.get("id")) or words(head.get("title"))
        chain = Chain(session)
        for spot, item in document.objects(fields.get("responses")):
            message = inner(item, "response") or item
            text = words(message.get("message"))
            person = words(message.get("sender")).lower() in ("human", "user")
            parts = [typed(text, reading.tally) if person else said(text)] if text.strip() else []
            yield Turn(
                spot=spot,
                role=Role.USER if person else Role.ASSISTANT,
                parts=parts,
                key=words(message.get("_id")) or chain.key(text),
                at=moment(message.get("create_time")),
                session=session or None,
                model=words(message.get("model")),
            )


def _is_export(document: object) -> bool:
    if not isinstance(document, dict):
        return False
    inside = document.get("conversations")
    return "responses" in document or (
        isinstance(inside, list)
        and any(isinstance(item, dict) and "responses" in item for item in inside[:3])
    )


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
    facts=Facts(
        person="`user` without `synthetic_reason`",
        left_out="the environment, the system prompt",
        tested="fixtures",
    ),
)
EXPORT = Format(
    name="grok-export",
    agent="Grok export",
    detect_document=_is_export,
    turns=_export_turns,
    several=True,
    facts=Facts(person="responses of the sender `human`", tested="fixtures"),
)
