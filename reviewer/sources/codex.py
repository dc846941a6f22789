"""Codex CLI sessions ("rollouts"): the enveloped generation and the direct one before it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec
from msgspec import structs

from reviewer.sources.claude_words import is_notice
from reviewer.sources.formats import Facts, Format, Location, is_among
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.records import Role, Use
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import (
    RECORDED_TWICE,
    SESSION_STATE,
    Chain,
    Fields,
    Part,
    Reading,
    Spot,
    Turn,
    called,
    each,
    inner,
    moment,
    returned,
    said,
    thought,
    typed,
    words,
)

ENVELOPES = frozenset(
    ("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state")
)
_DIRECT = frozenset(("reasoning", "function_call", "function_call_output", "local_shell_call"))
HARNESS = (
    "# AGENTS.md instructions for ",
    "<user_instructions>",
    "<environment_context>",
    "<turn_aborted>",
    "<skill>",
    "<recommended_plugins>",
    "<image name=",
    "<subagent_notification>",
    "<user_shell_command>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<personality_spec>",
    "<multi_agent_mode>",
    "# Files mentioned by the user:",
)
SUMMARY_START = "Another language model started to solve this problem"
SHORTEST_SUMMARY = 600
"""Characters; what ends a compacted history and is shorter is a request of the person."""
NO_INPUT = "(a prompt file, without input)"
NO_WORDS = "(an image, without words)"
_REQUEST = re.compile(r"^## My request for Codex:?[ \t]*\n", re.MULTILINE)
_INPUT = re.compile(
    r"^ ?## User Input[ \t]*\n\s*```(?:text)?\n(.*?)\n?```", re.MULTILINE | re.DOTALL
)
_EXIT_CODE = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d+)", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID \d+", re.MULTILINE)
_HEADER = re.compile(
    r"\s*(?:(?:Chunk ID|Exit code|Wall time|Original token count|Total output lines): [^\n]*\n"
    r"|Process (?:exited|running) with [^\n]*\n)+Output:(?:\n|$)"
)
"""What Codex puts before the output of a command."""
_RESULTS = frozenset(
    (
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "tool_search_output",
        "mcp_tool_call_output",
    )
)
_CALLS = frozenset(("function_call", "custom_tool_call"))


def _is_codex(record: Outline) -> bool:
    kind = record.get("type")
    if is_among(kind, ENVELOPES) and "payload" in record:
        return True
    if "record_type" in record:
        return True
    if "parts" in record or "sessionId" in record:
        return False
    if kind == "message" and "message" not in record and "session_id" not in record:
        return "role" in record and "content" in record and "parentId" not in record
    if is_among(kind, _DIRECT) and not isinstance(record.get("message"), dict):
        return "call_id" in record or "summary" in record or "encrypted_content" in record
    return "id" in record and "instructions" in record and "timestamp" in record


class _Session:
    """What the lines so far say about the session, and which words were recorded before."""

    def __init__(self, reading: Reading) -> None:
        self._tally = reading.tally
        self.has_events = False
        """The messages of the person are told by events."""
        self.id = self.cwd = self.branch = self.model = self.version = ""
        self.subagent = False
        self.chain = Chain("")
        self._told: dict[str, Counter[int]] = {"event": Counter(), "item": Counter()}
        self._typed: set[int] = set()

    def start(self, payload: Fields) -> None:
        """A session begins; a resumed one begins with the copy of the one that it goes on from."""
        name = words(payload.get("id")) or words(payload.get("session_id"))
        if name and name != self.id:
            self.id, self.chain = name, Chain(name)
        git = inner(payload, "git")
        self.cwd = words(payload.get("cwd")) or self.cwd
        self.branch = words(git.get("branch")) or self.branch
        self.version = words(payload.get("cli_version")) or self.version
        self.subagent = isinstance(payload.get("source"), dict)

    def told_before(self, way: str, role: Role, text: str) -> bool:
        """Whether this turn was recorded already: Codex writes each turn in two forms."""
        other = self._told["item" if way == "event" else "event"]
        name = _name(role, text)
        if role is Role.USER:
            self._typed.add(name)
        if other[name] > 0:
            other[name] -= 1
            self._tally[RECORDED_TWICE] += 1
            return True
        self._told[way][name] += 1
        return False

    def sent(self, way: str, text: str) -> bool:
        """Whether the person sent this, told here for the first time.

        Codex writes an event for each message of the person, so where there are events, an item
        alone is its own text.
        """
        told = self.told_before(way, Role.USER, text)
        return way == "event" if self.has_events else not told

    def finish(self) -> None:
        """Count the items that no event tells."""
        if self.has_events and (alone := self._told["item"].total()):
            self._tally["user item without an event"] += alone

    def has_typed(self, text: str) -> bool:
        """Whether the person has typed this before."""
        return _name(Role.USER, text) in self._typed

    def turn(self, spot: Spot, role: Role, parts: list[Part], at: str | None) -> Turn:
        asked = self.subagent and role is Role.USER
        return Turn(
            spot=spot,
            role=Role.ASSISTANT if asked else role,
            parts=parts,
            key=self.chain.key(role, *(part.kind + part.call + part.text for part in parts)),
            at=at,
            session=self.id or None,
            sidechain=self.subagent,
            cwd=self.cwd,
            branch=self.branch,
            model=self.model,
            version=self.version,
        )


def _name(role: Role, text: str) -> int:
    """A hash that recognises words again, whatever the space between them."""
    return hash((role, " ".join(text.split())))


def _turns(reading: Reading) -> Iterator[Turn]:
    session = _Session(reading)
    tally = reading.tally
    for spot, record in _after_head(reading, session):
        at = moment(record.get("timestamp"))
        kind = words(record.get("type"))
        payload = inner(record, "payload")
        if kind == "session_meta":
            session.start(payload)
            tally[SESSION_STATE] += 1
        elif kind == "turn_context":
            session.cwd = words(payload.get("cwd")) or session.cwd
            session.model = words(payload.get("model")) or session.model
            tally[SESSION_STATE] += 1
        elif kind == "event_msg":
            yield from _event(session, spot, payload, at, tally)
        elif kind == "response_item":
            yield from _item(session, spot, payload, at, tally)
        elif kind == "compacted":
            yield from _compacted(session, spot, payload, at, tally)
        elif kind in ENVELOPES or "record_type" in record or "payload" in record:
            tally[SESSION_STATE] += 1
        elif kind:
            yield from _item(session, spot, record, at, tally)
        elif "instructions" in record or "git" in record:
            session.start(record)
            tally[SESSION_STATE] += 1
        else:
            tally["unknown record"] += 1
    session.finish()


def _after_head(reading: Reading, session: _Session) -> Iterator[tuple[Spot, Fields]]:
    """All records, the first of them once it is known whether there are events."""
    records = reading.objects()
    head: list[tuple[Spot, Fields]] = []
    for each_ in records:
        head.append(each_)
        known = _tells_events(each_[1])
        if known is not None:
            session.has_events = known
            break
    yield from head
    yield from records


def _tells_events(record: Fields) -> bool | None:
    """Whether the messages of the person are told by events; None: this record does not show it.

    The first generation had none. An event follows each message before the agent answers.
    """
    kind, payload = record.get("type"), inner(record, "payload")
    if kind == "message" or is_among(payload.get("type"), _CALLS):
        return False
    if payload.get("type") == "message" and payload.get("role") == "assistant":
        return False
    return kind == "event_msg" if payload.get("type") == "user_message" else None


def _event(
    session: _Session, spot: Spot, event: Fields, at: str | None, tally: Counter[str]
) -> Iterator[Turn]:
    kind, text = words(event.get("type")), words(event.get("message"))
    if kind == "user_message" and (text.strip() or _has_image(event)):
        if event.get("kind", "plain") in ("plain", None):
            text = requested(text) or (NO_WORDS if _has_image(event) else "")
            yield from _person(session, spot, "event", text, at, tally)
        else:
            yield session.turn(spot, Role.USER, [said(text, Use.BOOT)], at)
    elif kind == "agent_message" and text.strip():
        if not session.told_before("event", Role.ASSISTANT, text):
            yield session.turn(spot, Role.ASSISTANT, [said(text)], at)
    elif kind == "item_completed" and inner(event, "item").get("type") == "Plan":
        plan = words(inner(event, "item").get("text"))
        if plan.strip() and not session.told_before("event", Role.ASSISTANT, plan):
            yield session.turn(spot, Role.ASSISTANT, [said(plan)], at)
    else:
        tally[f"event {kind.replace('_', ' ')}"[:48]] += 1


def _person(
    session: _Session, spot: Spot, way: str, text: str, at: str | None, tally: Counter[str]
) -> Iterator[Turn]:
    part = typed(text, tally, HARNESS)
    if part.use is Use.BOOT or session.sent(way, text):
        yield session.turn(spot, Role.USER, [part], at)


def _has_image(event: Fields) -> bool:
    return bool(event.get("images") or event.get("local_images"))


def requested(text: str) -> str:
    """What the person typed, without the context that an editor puts before it and without the
    prompt file around it.
    """
    if text.lstrip().startswith("# "):
        *_, last = (0, *(heading.end() for heading in _REQUEST.finditer(text)))
        if last:
            return text[last:].strip()
    given = _INPUT.search(text)
    return (given[1].strip() or NO_INPUT) if given else text


def _item(
    session: _Session, spot: Spot, item: Fields, at: str | None, tally: Counter[str]
) -> Iterator[Turn]:
    kind = words(item.get("type"))
    call = item.get("call_id")
    at = at or moment(item.get("timestamp"))
    if kind == "message":
        yield from _message(session, spot, item, at, tally)
    elif kind == "reasoning":
        parts = thought(
            "\n\n".join(words(each_.get("text")) for each_ in each(item.get("summary")))
        )
        if parts:
            yield session.turn(spot, Role.ASSISTANT, parts, at)
        else:
            tally["thinking"] += 1
    elif kind in _CALLS:
        given = item.get("arguments") if kind == "function_call" else item.get("input")
        part = called(item.get("name"), given, call)
        turn = session.turn(spot, Role.ASSISTANT, [part], at)
        folder = _folder(given)
        yield structs.replace(turn, cwd=folder) if folder else turn
    elif kind == "local_shell_call":
        part = called("shell", item.get("action"), call or item.get("id"))
        yield session.turn(spot, Role.ASSISTANT, [part], at)
    elif kind in ("web_search_call", "tool_search_call"):
        given = item.get("action") or item.get("arguments")
        part = called(kind.removesuffix("_call"), given, call)
        yield session.turn(spot, Role.ASSISTANT, [part], at)
    elif kind in _RESULTS:
        text, failed, code = _output(item.get("output"))
        if kind != "tool_search_output":
            part = returned(text, call, error=failed, code=code)
            yield session.turn(spot, Role.TOOL, [part], at)
        else:
            tally["tool result"] += 1
    elif kind == "agent_message":  # what one agent wrote to another
        text = part_text(item.get("content"))
        if text.strip():
            yield session.turn(spot, Role.ASSISTANT, [Part("text", text, Use.WRAPPER)], at)
    else:
        tally[f"item {kind.replace('_', ' ')}"[:48]] += 1


def _message(
    session: _Session, spot: Spot, item: Fields, at: str | None, tally: Counter[str]
) -> Iterator[Turn]:
    role = words(item.get("role"))
    texts = [words(piece.get("text")) for piece in each(item.get("content"))]
    if isinstance(item.get("content"), str):
        texts = [words(item.get("content"))]
    texts = [text for text in texts if text.strip()]
    if not texts:
        tally["message without text"] += 1
    elif role == "user":
        boot = [text for text in texts if text.lstrip().startswith(HARNESS) or is_notice(text)]
        rest = "\n".join(text for text in texts if text not in boot)
        if rest.strip():
            if boot:
                tally["boot text beside typed text"] += len(boot)
            yield from _person(session, spot, "item", requested(rest), at, tally)
        else:
            yield session.turn(spot, Role.USER, [Part("text", "\n\n".join(boot), Use.BOOT)], at)
    elif role == "assistant":
        text = "\n\n".join(texts)
        if not session.told_before("item", Role.ASSISTANT, text):
            yield session.turn(spot, Role.ASSISTANT, [said(text)], at)
    else:
        yield session.turn(spot, Role.SYSTEM, [said("\n\n".join(texts), Use.BOOT)], at)


def _folder(given: object) -> str:
    """The folder that a call names for its command."""
    if isinstance(given, str) and '"workdir"' in given:
        try:
            given = msgspec.json.decode(given)
        except (ValueError, RecursionError):
            return ""
    return words(given.get("workdir")) if isinstance(given, dict) else ""


def _output(output: object) -> tuple[str, bool, int | None]:
    """The text of a result, whether it reports a failure, and its exit code; it comes in four
    shapes.
    """
    text = part_text(output)
    if isinstance(output, str) and output.startswith("{"):
        try:
            found: object = msgspec.json.decode(output)
        except (ValueError, RecursionError):
            return text, False, None
        if isinstance(found, dict) and "output" in found:
            code = inner(found, "metadata").get("exit_code")
            code = code if isinstance(code, int) else None
            return part_text(found["output"]), bool(code), code
    elif isinstance(output, dict):
        return part_text(output), output.get("success") is False, None
    header = _HEADER.match(text)
    if header is None:
        return text, False, None
    printed = text[header.end() :]
    if running := _RUNNING.search(header[0]):
        return f"{running[0]}\n{printed}", False, None
    exit_code = _EXIT_CODE.search(header[0])
    code = int(exit_code[1]) if exit_code else None
    shown = exit_code[0] if exit_code and code and not printed.strip() else printed
    return shown, bool(code), code


def _compacted(
    session: _Session, spot: Spot, payload: Fields, at: str | None, tally: Counter[str]
) -> Iterator[Turn]:
    """The summary of a compaction, where it is readable: the history before it has been read."""
    text = words(payload.get("message"))
    history = payload.get("replacement_history")
    if not text.strip() and isinstance(history, list) and history:
        last = history[-1]
        if isinstance(last, dict) and last.get("type") == "message":
            text = part_text(last.get("content"))
            if not text.startswith(SUMMARY_START) and (
                len(text) < SHORTEST_SUMMARY or session.has_typed(requested(text))
            ):
                text = ""  # the person's last request, which has been read
    if text.strip():
        yield session.turn(spot, Role.ASSISTANT, [Part("text", text, Use.SUMMARY)], at)
    else:
        tally["compaction without a readable summary"] += 1


FORMAT = Format(
    name="codex",
    agent="Codex CLI",
    detect_record=_is_codex,
    turns=_turns,
    locations=(
        Location(folder=".codex/sessions", pattern="**/*.jsonl", variable="CODEX_HOME",
                 moves=".codex"),
        Location(folder=".codex/archived_sessions", pattern="**/*.jsonl", variable="CODEX_HOME",
                 moves=".codex"),
    ),
    facts=Facts(
        person="event `user_message`; in files without events, items with the role user",
        left_out="items that no event repeats, such as AGENTS.md, environment context, skills;"
        " developer messages; the context that an"
        " editor puts before the request; the second telling of each turn",
        folder="`session_meta.cwd`, `turn_context.cwd`, `session_meta.git.branch`",
        compaction="`compacted`; the summary may be encrypted",
        rewind="not recorded",
        subagent="a session of its own whose `source` is an object",
        tested="real files, 0.36 to 0.142",
    ),
)  # fmt: skip
