"""Trajectories of autonomous agents: SWE-agent, mini-swe-agent, OpenHands and ATIF."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec

from reviewer.sources.document import Document
from reviewer.sources.fields import Fields, each, inner, moment, words
from reviewer.sources.format import Format
from reviewer.sources.parts import Part, called, function_calls, returned, said, thought, typed
from reviewer.sources.reading import Reading, Spot, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import Session, Turn

_DEMONSTRATION = "Here is a demonstration of how to correctly accomplish this task"


def _swe_turns(reading: Reading) -> Iterator[Turn]:
    """The history of SWE-agent; `trajectory` repeats it."""
    document = Document(reading)
    history = document.fields(document.root).get("history")
    session = Session(id=reading.path.stem)
    yield from _history(reading, session, session.id, document.objects(history))


def _mini_turns(reading: Reading) -> Iterator[Turn]:
    head, messages = Document(reading).parted("messages")
    session = Session(
        id=words(head.get("instance_id")) or reading.path.name,
        model=words(inner(head, "info", "config", "model").get("model_name")),
    )
    run = f"{session.id}:{reading.path.parent.parent.name}"
    yield from _history(reading, session, run, messages)


def _history(
    reading: Reading, session: Session, run: str, messages: Iterator[tuple[Spot, Fields]]
) -> Iterator[Turn]:
    """The messages of one run; after the agent's first one, the person's role is the tools'."""
    answered = False
    for number, (spot, message) in enumerate(messages):
        speaker, text = words(message.get("role")), part_text(message.get("content"))
        parts: list[Part] = []
        role = Role.SYSTEM
        if message.get("is_demo") or (not speaker and text) or text.startswith(_DEMONSTRATION):
            parts = said(text, RecordUse.TEMPLATE)
        elif speaker == "assistant":
            role, answered = Role.ASSISTANT, True
            parts = said(words(message.get("thought")) or text) + _action(message)
        elif speaker == "tool" or (speaker == "user" and answered):
            calls = message.get("tool_call_ids")
            call = calls[0] if isinstance(calls, list) and calls else message.get("tool_call_id")
            role, parts = Role.TOOL, returned(text, call)
        elif speaker == "user":
            role, parts = Role.USER, typed(text, reading.tally)
        else:
            parts = said(text, RecordUse.WRAPPER if speaker == "exit" else RecordUse.BOOT)
        yield session.turn(spot, role, parts, key=_key(run, number, text))


def _action(message: Fields) -> list[Part]:
    calls = function_calls(message.get("tool_calls"))
    action = words(message.get("action"))
    return calls or (called("action", {"command": action}) if action.strip() else [])


def _key(session: str, number: object, text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{session}:{number}:{digest[:16]}"


def _hands_turns(reading: Reading) -> Iterator[Turn]:
    """OpenHands: one run per line, with its events inside."""
    for line, run in reading.objects():
        if not isinstance(run.get("history"), list):
            reading.tally["not a run"] += 1
            continue
        session = Session(id=words(run.get("instance_id")))
        document = Document(reading, line)
        named = document.fields(document.root)
        for spot, event in document.objects(named.get("history")):
            role, parts = _event(reading, event)
            if not parts:
                silent(reading.tally, event.get("action") or event.get("observation"))
                continue
            key = _key(session.id, event.get("id"), parts[0].text)
            yield session.turn(spot, role, parts, key=key, at=moment(event.get("timestamp")))


def _event(reading: Reading, event: Fields) -> tuple[Role, list[Part]]:
    args, source = inner(event, "args"), event.get("source")
    facts = inner(event, "tool_call_metadata")
    call, name = facts.get("tool_call_id"), words(facts.get("function_name"))
    action, observation = words(event.get("action")), words(event.get("observation"))
    text = words(args.get("content")) or words(event.get("message"))
    if action == "system":
        return Role.SYSTEM, said(text, RecordUse.BOOT)
    if action == "message":
        if source == "user":
            return Role.USER, typed(text, reading.tally)
        return Role.ASSISTANT, said(text)
    if action in ("think", "finish"):
        idea = words(args.get("thought")) or words(args.get("final_thought")) or text
        return Role.ASSISTANT, thought(idea) if action == "think" else said(idea)
    if action in ("recall", "change_agent_state", "") and not observation:
        return Role.SYSTEM, []
    if action:
        idea = words(args.get("thought"))
        given = {key: value for key, value in args.items() if key != "thought"}
        command = words(args.get("command"))
        # Editors also have an argument `command`, which selects their action.
        if action == "run" and command:
            given = {"command": command}
        elif action == "read":
            given["command"] = "view"
        return Role.ASSISTANT, said(idea) + called(name or action, given, call)
    if observation in ("recall", "agent_state_changed", "null"):
        return Role.SYSTEM, []
    code = inner(event, "extras", "metadata").get("exit_code")
    failed = observation == "error" or (isinstance(code, int) and code not in (0, -1))
    code = None if code == -1 else code  # still running
    text = words(event.get("content"))
    return Role.TOOL, returned(text, call, name, error=failed, code=code)


def _atif_turns(reading: Reading) -> Iterator[Turn]:
    """ATIF: a document, or one step per line after a header."""
    if reading.document is not None:
        head, steps = Document(reading).parted("steps")
        for spot, step in steps:
            yield from _step(reading, head, spot, step)
        return
    head = {}
    for spot, record in reading.objects():
        if "step_id" in record:
            yield from _step(reading, head, spot, record)
        else:
            head |= record
            silent(reading.tally, "header")


def _step(reading: Reading, head: Fields, spot: Spot, step: Fields) -> Iterator[Turn]:
    source, text = step.get("source"), part_text(step.get("message"))
    model = words(step.get("model_name")) or words(inner(head, "agent").get("model_name"))
    session = Session(id=words(head.get("session_id")), model=model)
    parts = thought(step.get("reasoning_content"))
    if source == "user":
        parts += typed(text, reading.tally)
    else:
        parts += said(text, RecordUse.WRAPPER if source == "system" else None)
    for call in each(step.get("tool_calls")):
        given, name = call.get("arguments"), call.get("function_name")
        parts += called(name, given, call.get("tool_call_id"))
    for number, result in enumerate(each(inner(step, "observation").get("results"))):
        content = result.get("content")
        if isinstance(content, dict) and content.get("command") and "source_call_id" not in result:
            # A command run by an orchestrator, without an agent's call.
            call_id = f"step {step.get('step_id')}.{number}"
            parts += called("shell", {"command": content["command"]}, call_id)
            failed = content.get("passed") is False
            parts += returned(words(content.get("output")), call_id, error=failed)
            continue
        if isinstance(content, dict):
            content = msgspec.json.encode(content).decode()
        parts += returned(part_text(content), result.get("source_call_id"))
    roles = {"user": Role.USER, "agent": Role.ASSISTANT}
    named = session.id and session.id != "<redacted>"
    yield session.turn(
        spot,
        roles.get(words(source), Role.SYSTEM),
        parts,
        key=f"atif:{session.id}:{step.get('step_id')}" if named else "",
        at=moment(step.get("timestamp")),
    )


def _is_atif_line(record: Fields) -> bool:
    if "__header__" in record:
        return "schema_version" in record
    return "step_id" in record and "source" in record


SWE_AGENT = Format(
    name="swe-agent",
    agent="SWE-agent",
    detect_document=lambda d: (
        isinstance(d.get("history"), list)
        and ("trajectory" in d or "info" in d or "environment" in d or len(d) == 1)
    ),
    turns=_swe_turns,
    tested="real files",
)
MINI_SWE_AGENT = Format(
    name="mini-swe-agent",
    agent="mini-swe-agent",
    detect_document=lambda d: "trajectory_format" in d and "messages" in d,
    turns=_mini_turns,
    tested="real files",
)
OPENHANDS = Format(
    name="openhands",
    agent="OpenHands",
    detect_record=lambda r: "instance_id" in r and "history" in r,
    turns=_hands_turns,
    several=True,
    tested="a real file",
)
ATIF = Format(
    name="atif",
    agent="ATIF trajectory",
    detect_record=_is_atif_line,
    detect_document=lambda d: "steps" in d and ("agent" in d or "schema_version" in d),
    turns=_atif_turns,
    tested="real files, 1.4 and 1.7",
)
