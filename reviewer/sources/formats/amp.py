"""Amp threads: one document per thread."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.document import Document
from reviewer.sources.fields import Fields, each, first, folder_of_uri, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.parts import Part, content_parts, returned, said, speaker
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
        parts = [
            part
            for part in content_parts(role, message.get("content"), reading.tally)
            if part.kind != "tool_result" or part.text
        ]
        parts += _results(message.get("content"))
        for piece in each(message.get("content")):
            if piece.get("type") == "summary":
                text = words(inner(piece, "summary").get("summary")) or words(piece.get("summary"))
                parts += said(text, RecordUse.SUMMARY)
        name = message.get("messageId")
        yield session.turn(
            spot,
            speaker(role, parts),
            parts,
            key=f"{session.id}:{name}" if session.id and name is not None else "",
            at=moment(inner(message, "meta").get("sentAt"), head.get("created")),
            model=words(inner(message, "usage").get("model")),
        )


def _results(content: object) -> list[Part]:
    """Results in Amp's own format, `{toolUseID, run: {status, result}}`."""
    found: list[Part] = []
    for piece in each(content):
        run = inner(piece, "run")
        if piece.get("type") == "tool_result" and run:
            failed = run.get("status") in ("error", "rejected-by-user", "cancelled")
            found += returned(first(run, "result", "error"), piece.get("toolUseID"), error=failed)
    return found


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
    person="messages with the role `user` and text",
    left_out="results of tools",
)  # fmt: skip
