"""Amp threads: one document per thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reviewer.sources.document import Document
from reviewer.sources.fields import Fields, each, first, folder_of_uri, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.parts import Part, content_parts, returned, said, speaker, spoken
from reviewer.sources.reading import Reading
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn


def _turns(reading: Reading) -> Iterator[Turn]:
    head, messages = Document(reading).parted("messages")
    trees = list(each(inner(head, "env", "initial").get("trees")))
    cwd = folder_of_uri(trees[0].get("uri")) if trees else ""
    session = Session(id=words(head.get("id")), cwd=cwd)
    for spot, message in messages:
        role = Role.USER if message.get("role") == "user" else Role.ASSISTANT
        content, parts = message.get("content"), list[Part]()
        for piece in [content] if isinstance(content, str) else each(content):
            parts += _parts(role, piece, reading.tally)
        name = message.get("messageId")
        yield session.turn(
            spot,
            speaker(role, parts),
            parts,
            name=str(name) if session.id and name is not None else "",
            at=moment(inner(message, "meta").get("sentAt"), head.get("created")),
            model=words(inner(message, "usage").get("model")),
        )


def _parts(role: Role, piece: Fields | str, tally: Counter[str]) -> list[Part]:
    """A piece: text, as in Anthropic's API, a summary, or a result with a `run`."""
    if isinstance(piece, str):
        return spoken(role, piece, tally)
    if piece.get("type") == "summary":
        text = words(inner(piece, "summary").get("summary")) or words(piece.get("summary"))
        return said(text, RecordUse.SUMMARY)
    if piece.get("type") == "tool_result" and (run := inner(piece, "run")):
        result, status = first(run, "result", "error", "reason"), run.get("status")
        if status == "rejected-by-user":
            result = f"Tool execution rejected by user: {words(result)}"  # as Amp tells the model
        failed = status in ("error", "rejected-by-user", "cancelled")
        return returned(result, piece.get("toolUseID"), error=failed)
    return content_parts(role, [piece], tally)


def _is_thread(document: Fields) -> bool:
    messages = each(document.get("messages"))
    return "created" in document and any("messageId" in message for message in messages)


FORMAT = Format(
    name="amp",
    agent="Amp",
    detect_document=_is_thread,
    turns=_turns,
    locations=(
        Location(folder=".local/share/amp/threads", pattern="*.json", variable="XDG_DATA_HOME"),
    ),
)  # fmt: skip
