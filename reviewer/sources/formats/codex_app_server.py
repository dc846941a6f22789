"""Logs of the Codex app server: notifications, with everything recorded three times."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.fields import Fields, inner, moment, words
from reviewer.sources.format import Format
from reviewer.sources.formats.codex import HARNESS, requested
from reviewer.sources.parts import Part, called, returned, said, thought, typed
from reviewer.sources.reading import Reading, silent
from reviewer.sources.records import Role
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import Session, Turn


def _turns(reading: Reading) -> Iterator[Turn]:
    session = Session()
    for spot, record in reading.objects():
        message = inner(record, "message") or record
        method, facts = words(message.get("method")), inner(message, "params")
        if method == "thread/started":
            thread = inner(facts, "thread")
            session.enter(words(thread.get("id")))
            session.learn(thread, cwd="cwd")
            session.learn(inner(thread, "gitInfo"), branch="branch")
        if method != "item/completed":
            silent(reading.tally, method)
            continue
        item = inner(facts, "item")
        role, parts = _parts(reading, item)
        session.enter(words(facts.get("threadId")))
        name, at = words(item.get("id")), moment(record.get("timestamp"))
        yield session.turn(spot, role, parts, name=name, at=at)


def _parts(reading: Reading, item: Fields) -> tuple[Role, list[Part]]:
    kind, call = item.get("type"), item.get("id")
    text = words(item.get("text")) or part_text(item.get("content"))
    if kind == "userMessage":
        return Role.USER, typed(requested(text), reading.tally, HARNESS)
    if kind in ("agentMessage", "plan"):
        return Role.ASSISTANT, said(text)
    if kind == "reasoning":
        summary = item.get("summary")
        texts = summary if isinstance(summary, list) else []
        return Role.ASSISTANT, thought("\n\n".join(map(words, texts)))
    if kind == "commandExecution":
        code = item.get("exitCode")
        failed = isinstance(code, int) and code != 0
        made = called("shell", {"command": words(item.get("command"))}, call)
        printed = returned(item.get("aggregatedOutput"), call, error=failed, code=code)
        return Role.ASSISTANT, made + printed
    if kind == "fileChange":
        return Role.ASSISTANT, called("apply_patch", item.get("changes"), call)
    if kind == "mcpToolCall":
        failed = bool(item.get("error"))
        result = returned(item.get("error") or item.get("result"), call, error=failed)
        return Role.ASSISTANT, called(item.get("tool"), item.get("arguments"), call) + result
    return Role.SYSTEM, []


def _is_log(record: Fields) -> bool:
    message = inner(record, "message") or record
    return "params" in message and "/" in words(message.get("method"))


FORMAT = Format(
    name="codex-app-server",
    agent="Codex app server",
    detect_record=_is_log,
    turns=_turns,
    several=True,
    tested="real files, 0.91",
)
