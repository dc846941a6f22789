"""Claude.ai exports: `conversations.json`, zipped or not."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from reviewer.sources.archives import exported_documents, missing_parts
from reviewer.sources.formats import Facts, Format
from reviewer.sources.records import Role, Use
from reviewer.sources.turns import (
    Document,
    Fields,
    Located,
    Part,
    Reading,
    Turn,
    called,
    each,
    moment,
    returned,
    row_spot,
    said,
    thought,
    typed,
    words,
)


def _turns(reading: Reading) -> Iterator[Turn]:
    if reading.document is not None:
        missing_parts(reading)
        documents: Iterator[Document] = iter((Document(reading),))
    else:
        documents = exported_documents(reading)
    row = 0
    for document in documents:
        named = document.fields(document.root)
        listed = [document.root] if "chat_messages" in named else document.items(document.root)
        for conversation in listed:
            for place, turn in _conversation(reading, document, document.fields(conversation)):
                spot = row_spot(row, bytes(place.raw))
                row += 1
                yield structs.replace(turn, spot=document.spot(place) if reading.document else spot)


def _conversation(
    reading: Reading, document: Document, named: dict[str, Located]
) -> Iterator[tuple[Located, Turn]]:
    """The messages of a conversation with their values in the document."""
    head = document.plain(named, "chat_messages")
    session = words(head.get("uuid"))
    places = list(document.items(named.get("chat_messages")))
    messages = [(place, document.decoded(place)) for place in places]
    kept = _kept([message for _, message in messages if isinstance(message, dict)], head)
    for place, message in messages:
        if not isinstance(message, dict):
            reading.tally["not a message"] += 1
            continue
        person = message.get("sender") == "human"
        parts = _parts(reading, message, person)
        name = words(message.get("uuid"))
        yield (
            place,
            Turn(
                spot=row_spot(0, b""),
                role=Role.USER if person else Role.ASSISTANT,
                parts=parts,
                key=f"{session}:{name}" if name else "",
                at=moment(message.get("created_at")) or moment(head.get("created_at")),
                session=session or None,
                parent=words(message.get("parent_message_uuid")) or None,
                rewound=bool(kept) and name not in kept,
                model=words(head.get("model")),
            ),
        )


def _kept(messages: list[Fields], head: Fields) -> set[str]:
    """The messages on the way to the current or the last one; empty where parents are missing."""
    parents = {
        words(message.get("uuid")): words(message.get("parent_message_uuid"))
        for message in messages
    }
    if not any(parents.values()):
        return set()
    leaf = words(head.get("current_leaf_message_uuid"))
    leaf = leaf if leaf in parents else words(messages[-1].get("uuid"))
    kept: set[str] = set()
    while leaf in parents and leaf not in kept:
        kept.add(leaf)
        leaf = parents[leaf]
    return kept


def _parts(reading: Reading, message: Fields, person: bool) -> list[Part]:
    parts: list[Part] = []
    for piece in each(message.get("content")):
        kind, text = piece.get("type"), words(piece.get("text"))
        if kind == "text" and text.strip():
            parts.append(typed(text, reading.tally) if person else said(text))
        elif kind == "thinking":
            parts += thought(piece.get("thinking"))
        elif kind == "tool_use":
            parts.append(called(piece.get("name"), piece.get("input"), piece.get("id")))
        elif kind == "tool_result":
            failed = bool(piece.get("is_error"))
            call, name = piece.get("tool_use_id"), piece.get("name")
            parts.append(returned(piece.get("content"), call, name, error=failed))
    text = words(message.get("text"))
    if text.strip() and not any(part.kind == "text" for part in parts):
        parts.append(typed(text, reading.tally) if person else said(text))
    for attachment in each(message.get("attachments")):
        if words(attachment.get("extracted_content")).strip():
            parts.append(said(f"[{words(attachment.get('file_name')) or 'file'}]", Use.WRAPPER))
    return parts


FORMAT = Format(
    name="claude-ai",
    agent="Claude.ai export",
    detect_document=lambda d: "chat_messages" in d,
    detect_members=lambda names: any(
        name.rpartition("/")[2] in ("users.json", "projects.json", "memories.json")
        for name in names
    ),
    turns=_turns,
    several=True,
    facts=Facts(
        person="messages of the sender `human`, from `content` before `text`",
        left_out="the text of attached files",
        rewind="messages that are not on the way to the current one",
        tested="fixtures",
    ),
)

PROJECTS = Format(
    name="claude-ai-projects",
    agent="Claude.ai export",
    detect_document=lambda d: "prompt_template" in d and "docs" in d,
    not_read="the projects of a Claude.ai export, which have no conversations",
)
