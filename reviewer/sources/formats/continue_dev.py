"""Continue and Kiro: one document per session, with its history."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.document import Document
from reviewer.sources.fields import Fields, folder_of_uri, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.parts import ROLES, content_parts, function_calls, returned, said
from reviewer.sources.reading import Reading
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import Session, Turn


def _turns(reading: Reading) -> Iterator[Turn]:
    head, history = Document(reading).parted("history")
    folder = head.get("workspaceDirectory") or head.get("workspacePath")
    session = Session(id=words(head.get("sessionId")), cwd=folder_of_uri(folder) or words(folder))
    for number, (spot, item) in enumerate(history):
        message = inner(item, "message")
        role = ROLES.get(words(message.get("role")), Role.SYSTEM)
        content = message.get("content")
        if role is Role.TOOL:
            parts = returned(part_text(content), message.get("toolCallId"))
        elif role is Role.SYSTEM:
            parts = said(part_text(content), RecordUse.BOOT)
        else:
            parts = content_parts(role, content, reading.tally)
        parts += function_calls(message.get("toolCalls"))
        name = (words(message.get("id")) or str(number)) if session.id else ""
        yield session.turn(spot, role, parts, name=name, at=moment(head.get("dateCreated")))


def _is_session(document: Fields) -> bool:
    folder = "workspaceDirectory" in document or "workspacePath" in document
    return folder and "sessionId" in document and isinstance(document.get("history"), list)


FORMAT = Format(
    name="continue",
    agent="Continue, Kiro",
    detect_document=_is_session,
    turns=_turns,
    locations=(
        Location(folder=".continue/sessions", pattern="*.json", variable="CONTINUE_GLOBAL_DIR"),
    ),
)  # fmt: skip
