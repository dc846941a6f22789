"""Logs of the Codex app server: notifications, which tell each thing three times."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.codex import HARNESS, requested
from reviewer.sources.formats import Facts, Format
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.records import Role
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import (
    RECORDED_TWICE,
    SESSION_STATE,
    Fields,
    Part,
    Reading,
    Turn,
    called,
    inner,
    moment,
    returned,
    said,
    thought,
    typed,
    words,
)


def _turns(reading: Reading) -> Iterator[Turn]:
    cwd = branch = session = ""
    for spot, record in reading.objects():
        message = inner(record, "message") or record
        method, facts = words(message.get("method")), inner(message, "params")
        if method == "thread/started":
            thread = inner(facts, "thread")
            cwd, session = words(thread.get("cwd")) or cwd, words(thread.get("id")) or session
            branch = words(inner(thread, "gitInfo").get("branch")) or branch
        if method != "item/completed":
            repeats = method.startswith(("codex/event/", "item/"))
            reading.tally[RECORDED_TWICE if repeats else SESSION_STATE] += 1
            continue
        item = inner(facts, "item")
        role, parts = _parts(reading, item)
        named = words(facts.get("threadId")) or session
        name = words(item.get("id"))
        yield Turn(
            spot=spot,
            role=role,
            parts=parts,
            key=f"{named}:{name}" if name else "",
            at=moment(record.get("timestamp")),
            session=named or None,
            cwd=cwd,
            branch=branch,
        )


def _parts(reading: Reading, item: Fields) -> tuple[Role, list[Part]]:
    kind, call = item.get("type"), item.get("id")
    text = words(item.get("text")) or part_text(item.get("content"))
    if kind == "userMessage":
        text = requested(text)
        return Role.USER, [typed(text, reading.tally, HARNESS)] if text.strip() else []
    if kind in ("agentMessage", "plan"):
        return Role.ASSISTANT, [said(text)] if text.strip() else []
    if kind == "reasoning":
        summary = item.get("summary")
        texts = summary if isinstance(summary, list) else []
        return Role.ASSISTANT, thought("\n\n".join(words(each) for each in texts))
    if kind == "commandExecution":
        code = item.get("exitCode")
        failed = isinstance(code, int) and code != 0
        return Role.ASSISTANT, [
            called("shell", {"command": words(item.get("command"))}, call),
            returned(item.get("aggregatedOutput"), call, error=failed, code=code),
        ]
    if kind == "fileChange":
        return Role.ASSISTANT, [called("apply_patch", item.get("changes"), call)]
    if kind == "mcpToolCall":
        failed = bool(item.get("error"))
        return Role.ASSISTANT, [
            called(item.get("tool"), item.get("arguments"), call),
            returned(item.get("error") or item.get("result"), call, error=failed),
        ]
    return Role.SYSTEM, []


def _is_log(record: Outline) -> bool:
    message = record.get("message")
    inside = message if isinstance(message, dict) else record
    method = inside.get("method")
    return isinstance(method, str) and "params" in inside and ("/" in method)


FORMAT = Format(
    name="codex-app-server",
    agent="Codex app server",
    detect_record=_is_log,
    turns=_turns,
    several=True,
    facts=Facts(
        person="`item/completed` of a `userMessage`",
        left_out="`codex/event/...` and deltas, which tell the same",
        folder="`thread.cwd`, `thread.gitInfo.branch`",
        tested="real files, 0.91",
    ),
)
