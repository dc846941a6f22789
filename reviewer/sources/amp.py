"""Amp threads: one document each."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.anthropic_parts import message_parts, speaker
from reviewer.sources.formats import Facts, Format, Location
from reviewer.sources.records import Role, Use
from reviewer.sources.turns import (
    Document,
    Part,
    Reading,
    Turn,
    each,
    inner,
    moment,
    returned,
    said,
    words,
)
from reviewer.sources.vscode_chat import folder_of_uri


def _turns(reading: Reading) -> Iterator[Turn]:
    document = Document(reading)
    named = document.fields(document.root)
    head = document.plain(named, "messages")
    session = words(head.get("id"))
    trees = list(each(inner(head, "env", "initial").get("trees")))
    cwd = folder_of_uri(trees[0].get("uri")) if trees else ""
    for spot, message in document.objects(named.get("messages")):
        role = Role.USER if message.get("role") == "user" else Role.ASSISTANT
        parts = [
            part
            for part in message_parts(role, message.get("content"), reading.tally)
            if part.kind != "tool_result" or part.text
        ]
        parts += _results(message.get("content"))
        for piece in each(message.get("content")):
            if piece.get("type") == "summary":
                text = words(inner(piece, "summary").get("summary")) or words(piece.get("summary"))
                parts.append(said(text, Use.SUMMARY))
        sent = inner(message, "meta").get("sentAt")
        name = message.get("messageId")
        yield Turn(
            spot=spot,
            role=speaker(role, parts),
            parts=parts,
            key=f"{session}:{name}" if session and name is not None else "",
            at=moment(sent) or moment(head.get("created")),
            session=session or None,
            cwd=cwd,
            model=words(inner(message, "usage").get("model")),
        )


def _results(content: object) -> list[Part]:
    """Results in Amp's own form, `{toolUseID, run: {status, result}}`."""
    found: list[Part] = []
    for piece in each(content):
        run = inner(piece, "run")
        if piece.get("type") == "tool_result" and run:
            failed = run.get("status") in ("error", "rejected-by-user", "cancelled")
            result = run.get("result", run.get("error"))
            found.append(returned(result, piece.get("toolUseID"), error=failed))
    return found


def _is_thread(document: object) -> bool:
    if not isinstance(document, dict) or "created" not in document:
        return False
    messages = document.get("messages")
    return isinstance(messages, list) and any(
        isinstance(message, dict) and "messageId" in message for message in messages
    )


FORMAT = Format(
    name="amp",
    agent="Amp",
    detect_document=_is_thread,
    turns=_turns,
    locations=(
        Location(folder=".local/share/amp/threads", pattern="*.json", variable="XDG_DATA_HOME",
                 moves=".local/share"),
    ),
    facts=Facts(
        person="messages with the role `user` and text",
        left_out="results of tools",
        folder="`env.initial.trees`",
        compaction="a part `summary`",
        tested="fixtures",
    ),
)  # fmt: skip
