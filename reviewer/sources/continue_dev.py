"""Continue and Kiro: a session as one document with its history."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.anthropic_parts import message_parts
from reviewer.sources.formats import Facts, Format, Location
from reviewer.sources.records import Role, Use
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import (
    Document,
    Reading,
    Turn,
    called,
    each,
    inner,
    moment,
    returned,
    said,
    words,
)
from reviewer.sources.vscode_chat import folder_of_uri

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}


def _turns(reading: Reading) -> Iterator[Turn]:
    document = Document(reading)
    named = document.fields(document.root)
    head = document.plain(named, "history")
    session = words(head.get("sessionId"))
    folder = head.get("workspaceDirectory") or head.get("workspacePath")
    for number, (spot, item) in enumerate(document.objects(named.get("history"))):
        message = inner(item, "message")
        speaker = words(message.get("role"))
        role = _ROLES.get(speaker, Role.SYSTEM)
        content = message.get("content")
        if role is Role.TOOL:
            parts = [returned(part_text(content), message.get("toolCallId"))]
        elif speaker in ("user", "assistant"):
            parts = message_parts(role, content, reading.tally)
        else:
            parts = [said(text, Use.BOOT)] if (text := part_text(content)).strip() else []
        for call in each(message.get("toolCalls")):
            function = inner(call, "function")
            parts.append(called(function.get("name"), function.get("arguments"), call.get("id")))
        name = words(message.get("id")) or str(number)
        yield Turn(
            spot=spot,
            role=role,
            parts=parts,
            key=f"{session}:{name}" if session else "",
            at=moment(head.get("dateCreated")),
            session=session or None,
            cwd=folder_of_uri(folder) or words(folder),
        )


def _is_session(document: object) -> bool:
    if not isinstance(document, dict) or "sessionId" not in document:
        return False
    return isinstance(document.get("history"), list) and (
        "workspaceDirectory" in document or "workspacePath" in document
    )


FORMAT = Format(
    name="continue",
    agent="Continue, Kiro",
    detect_document=_is_session,
    turns=_turns,
    locations=(
        Location(folder=".continue/sessions", pattern="*.json", variable="CONTINUE_GLOBAL_DIR",
                 moves=".continue"),
    ),
    facts=Facts(
        person="history items with the role `user`",
        left_out="context items and logs of prompts, which repeat the whole prompt",
        folder="`workspaceDirectory`",
        tested="fixtures",
    ),
)  # fmt: skip
