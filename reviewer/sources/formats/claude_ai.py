"""Claude.ai exports: `conversations.json`, possibly zipped."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.archives import exported_documents
from reviewer.sources.document import Document, Located
from reviewer.sources.fields import Fields, each, moment, words
from reviewer.sources.format import Format
from reviewer.sources.parts import Part, content_parts, said, spoken
from reviewer.sources.reading import Reading
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn


def _turns(reading: Reading) -> Iterator[Turn]:
    for document in exported_documents(reading):
        named = document.fields(document.root)
        listed = [document.root] if "chat_messages" in named else document.items(document.root)
        for conversation in listed:
            yield from _conversation(reading, document, document.fields(conversation))


def _conversation(
    reading: Reading, document: Document, named: dict[str, Located]
) -> Iterator[Turn]:
    head = document.plain(named, "chat_messages")
    session = Session(id=words(head.get("uuid")), model=words(head.get("model")))
    places = list(document.items(named.get("chat_messages")))
    messages = [(place, document.decoded(place)) for place in places]
    kept = _kept([message for _, message in messages if isinstance(message, dict)], head)
    for place, message in messages:
        if not isinstance(message, dict):
            reading.tally["not a message"] += 1
            continue
        role = Role.USER if message.get("sender") == "human" else Role.ASSISTANT
        name = words(message.get("uuid"))
        yield session.turn(
            document.spot(place),
            role,
            _parts(reading, role, message),
            name=name,
            at=moment(message.get("created_at"), head.get("created_at")),
            rewound=bool(kept) and name not in kept,
        )


def _kept(messages: list[Fields], head: Fields) -> set[str]:
    """The messages leading to the current or last one; empty if parents are missing."""
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


def _parts(reading: Reading, role: Role, message: Fields) -> list[Part]:
    parts = content_parts(role, message.get("content"), reading.tally, data=False)
    if not any(part.kind == "text" for part in parts):
        text = words(message.get("text"))
        parts += spoken(role, text, reading.tally)
    for attachment in each(message.get("attachments")):
        if words(attachment.get("extracted_content")).strip():
            parts += said(f"[{words(attachment.get('file_name')) or 'file'}]", RecordUse.WRAPPER)
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
)
