"""ChatGPT exports: `conversations.json`, possibly in parts, possibly zipped."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.archives import exported_documents
from reviewer.sources.document import Document, Located
from reviewer.sources.fields import Fields, each, inner, moment, words
from reviewer.sources.format import Format
from reviewer.sources.parts import ROLES, Part, called, returned, said, spoken, thought
from reviewer.sources.reading import Reading, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn

MEMBERS = ("chat.html", "message_feedback.json", "shared_conversations.json")
"""Files found only in ChatGPT exports."""
REMEMBERED = "The agent remembered this: "
_TOOL_RESULTS = frozenset(
    ("execution_output", "tether_browsing_display", "tether_quote", "system_error")
)


def _turns(reading: Reading) -> Iterator[Turn]:
    for document in exported_documents(reading):
        named = document.fields(document.root)
        if "mapping" in named:
            yield from _conversation(reading, document, named)
            continue
        for conversation in document.items(named.get("conversations", document.root)):
            fields = document.fields(conversation)
            if "mapping" in fields:
                yield from _conversation(reading, document, fields)
            else:
                reading.tally["not a conversation"] += 1


def _conversation(
    reading: Reading, document: Document, named: dict[str, Located]
) -> Iterator[Turn]:
    head = document.plain(named, "mapping")
    session = Session(id=words(head.get("conversation_id")) or words(head.get("id")))
    places = document.fields(named["mapping"])
    nodes = {name: inner(document.decoded(place)) for name, place in places.items()}
    path = _path(nodes, words(head.get("current_node")))
    kept = set(path)
    for name in (*path, *(name for name in nodes if name not in kept)):
        message = inner(nodes[name], "message")
        role = ROLES.get(words(inner(message, "author").get("role")))
        if role is None:
            reading.tally["node without a message"] += 1
            continue
        parts = _parts(reading, role, message)
        if not parts:
            silent(reading.tally, inner(message, "content").get("content_type"))
            continue
        yield session.turn(
            document.spot(places[name]),
            Role.ASSISTANT if any(part.kind == "tool_use" for part in parts) else role,
            parts,
            name=words(message.get("id")) or name,
            at=moment(message.get("create_time"), head.get("create_time")),
            rewound=name not in kept,
            model=words(inner(message, "metadata").get("model_slug")),
        )


def _path(nodes: dict[str, Fields], leaf: str) -> list[str]:
    """The nodes from the first to the current one, or else to the newest leaf."""
    if leaf not in nodes:
        leaves = [name for name, node in nodes.items() if not node.get("children")]
        leaf = max(
            leaves,
            key=lambda name: moment(inner(nodes[name], "message").get("create_time")) or "",
            default="",
        )
    path: list[str] = []
    seen: set[str] = set()
    while leaf in nodes and leaf not in seen:
        path.append(leaf)
        seen.add(leaf)
        leaf = words(nodes[leaf].get("parent"))
    return path[::-1]


def _parts(reading: Reading, role: Role, message: Fields) -> list[Part]:
    content, facts = inner(message, "content"), inner(message, "metadata")
    kind = words(content.get("content_type"))
    text = _text(content)
    if kind == "user_editable_context" or facts.get("is_user_system_message"):
        known = {**content, **inner(facts, "user_context_message_data")}
        names = ("user_profile", "user_instructions", "about_user_message", "about_model_message")
        texts = dict.fromkeys(words(known.get(name)) for name in names)
        return said("\n\n".join(filter(None, texts)), RecordUse.BOOT)
    if kind == "thoughts":
        ideas = [words(idea.get("content")) for idea in each(content.get("thoughts"))]
        return thought("\n\n".join(filter(None, ideas)))
    if not text.strip():
        return []
    if role is Role.TOOL or kind in _TOOL_RESULTS:
        return returned(text, "", inner(message, "author").get("name"))
    if facts.get("is_visually_hidden_from_conversation"):
        return said(text, RecordUse.BOOT if role is Role.SYSTEM else RecordUse.WRAPPER)
    recipient = words(message.get("recipient")) or "all"
    if role is Role.ASSISTANT and recipient != "all":
        if recipient == "bio":
            return said(REMEMBERED + text.strip())
        return called(recipient, text)
    return spoken(role, text, reading.tally)


def _text(content: Fields) -> str:
    texts: list[str] = []
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else ():
        text = part if isinstance(part, str) else words(inner(part).get("text"))
        if text.strip():
            texts.append(text)
    for name in ("text", "result"):
        if not texts and words(content.get(name)).strip():
            texts.append(words(content.get(name)))
    return "\n\n".join(texts)


FORMAT = Format(
    name="chatgpt",
    agent="ChatGPT export",
    detect_document=lambda d: (
        "mapping" in d or any("mapping" in item for item in each(d.get("conversations")))
    ),
    detect_members=lambda names: any(
        name.rpartition("/")[2] in MEMBERS for name in names
    ),
    turns=_turns,
    several=True,
    tested="a real file of 2023; fixtures",
)  # fmt: skip
