"""Codex CLI sessions ("rollouts"): the generation with envelopes and the plain one before it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from reviewer.sources.claude_words import is_notice
from reviewer.sources.fields import Fields, each, inner, moment, words, written_object
from reviewer.sources.format import Format, Location
from reviewer.sources.parts import called, returned, said, thought, typed
from reviewer.sources.reading import Reading, Spot, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import RECORDED_TWICE, Session, Turn
from reviewer.text.clip import clip

ENVELOPES = (
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
)  # fmt: skip
_DIRECT = ("reasoning", "function_call", "function_call_output", "local_shell_call")
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
"""Characters; a shorter text at the end of a compacted history is a request of the person."""
NO_INPUT, SHOWN_OF_PROMPT = "(a prompt file, without input: {})", 200
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
"""Codex's header before a command's output."""
_CALLS = ("function_call", "custom_tool_call")
_RESULTS = (
    "function_call_output", "custom_tool_call_output", "local_shell_call_output",
    "mcp_tool_call_output",
)  # fmt: skip
_EVENTS = ("user_message", "agent_message", "item_completed")
"""Events with text; most others repeat items."""


def _is_codex(record: Fields) -> bool:
    kind = record.get("type")
    if kind in ENVELOPES and "payload" in record:
        return True
    if "record_type" in record:
        return True
    if "parts" in record or "sessionId" in record:
        return False
    if kind == "message" and "message" not in record and "session_id" not in record:
        return "role" in record and "content" in record and "parentId" not in record
    if kind in _DIRECT and not isinstance(record.get("message"), dict):
        return "call_id" in record or "summary" in record or "encrypted_content" in record
    return "id" in record and "instructions" in record and "timestamp" in record


class _Codex:
    """A file being read: its session, and the text recorded so far."""

    def __init__(self, reading: Reading) -> None:
        self._reading, self.tally = reading, reading.tally
        self._session = Session()
        self._has_events = False
        """Events contain the person's messages."""
        self._told: dict[str, Counter[int]] = {"event": Counter(), "item": Counter()}
        self._typed: set[int] = set()

    def turns(self) -> Iterator[Turn]:
        session, tally = self._session, self.tally
        for spot, record in self._after_head():
            kind = words(record.get("type"))
            payload = inner(record, "payload")
            if kind == "event_msg" and payload.get("type") not in _EVENTS:
                silent(tally, f"event {words(payload.get('type'))}")
                continue
            at = moment(record.get("timestamp"))
            if kind == "event_msg":
                yield from self._event(spot, payload, at)
            elif kind == "response_item":
                yield from self._item(spot, payload, at)
            elif kind == "compacted":
                yield from self._compacted(spot, payload, at)
            elif kind == "session_meta":
                self._start(payload)
            elif kind == "turn_context":
                session.learn(payload, cwd="cwd", model="model")
                silent(tally, kind)
            elif kind in ENVELOPES or "record_type" in record or "payload" in record:
                silent(tally, kind or record.get("record_type"))
            elif kind:
                yield from self._item(spot, record, at)
            elif "instructions" in record or "git" in record:
                self._start(record)
            else:
                silent(tally, kind)
        if self._has_events and (alone := self._told["item"].total()):
            tally["user item without an event"] += alone

    def _after_head(self) -> Iterator[tuple[Spot, Fields]]:
        """All records, the first of them once it is known whether there are events."""
        records = self._reading.objects()
        head: list[tuple[Spot, Fields]] = []
        for found in records:
            head.append(found)
            known = _tells_events(found[1])
            if known is not None:
                self._has_events = known
                break
        yield from head
        yield from records

    def _start(self, payload: Fields) -> None:
        """Start a session; a resumed one starts with a copy of its predecessor."""
        session = self._session
        session.enter(words(payload.get("id")) or words(payload.get("session_id")))
        session.learn(payload, cwd="cwd", version="cli_version")
        session.learn(inner(payload, "git"), branch="branch")
        session.subagent = isinstance(payload.get("source"), dict)
        silent(self.tally, "session_meta")

    def _told_before(self, way: str, role: Role, text: str) -> bool:
        """Whether this turn was already recorded: Codex writes each turn in two forms."""
        other = self._told["item" if way == "event" else "event"]
        name = _name(role, text)
        if role is Role.USER:
            self._typed.add(name)
        if other[name] > 0:
            other[name] -= 1
            self.tally[RECORDED_TWICE] += 1
            return True
        self._told[way][name] += 1
        return False

    def _person(self, spot: Spot, way: str, text: str, at: str | None) -> Iterator[Turn]:
        """The person's message, at its first occurrence.

        Codex writes an event for each message of the person, so in files with events, an item
        without one is Codex's own text.
        """
        parts = typed(text, self.tally, HARNESS)
        if not any(part.use is RecordUse.BOOT for part in parts):
            told = self._told_before(way, Role.USER, text)
            sent = way == "event" if self._has_events else not told
            if not sent:
                return
        yield self._session.turn(spot, Role.USER, parts, at=at)

    def _agent(self, spot: Spot, way: str, text: str, at: str | None) -> Iterator[Turn]:
        if text.strip() and not self._told_before(way, Role.ASSISTANT, text):
            yield self._session.turn(spot, Role.ASSISTANT, said(text), at=at)

    def _event(self, spot: Spot, event: Fields, at: str | None) -> Iterator[Turn]:
        kind, text = words(event.get("type")), words(event.get("message"))
        has_image = bool(event.get("images") or event.get("local_images"))
        if kind == "user_message" and (text.strip() or has_image):
            if event.get("kind", "plain") in ("plain", None):
                text = requested(text) or (NO_WORDS if has_image else "")
                yield from self._person(spot, "event", text, at)
            else:
                yield self._session.turn(spot, Role.USER, said(text, RecordUse.BOOT), at=at)
        elif kind == "agent_message" and text.strip():
            yield from self._agent(spot, "event", text, at)
        elif kind == "item_completed" and inner(event, "item").get("type") == "Plan":
            yield from self._agent(spot, "event", words(inner(event, "item").get("text")), at)
        else:
            silent(self.tally, f"event {kind}")

    def _item(self, spot: Spot, item: Fields, at: str | None) -> Iterator[Turn]:
        kind, call = words(item.get("type")), item.get("call_id")
        at = at or moment(item.get("timestamp"))
        role = Role.ASSISTANT
        if kind == "message":
            yield from self._message(spot, item, at)
            return
        if kind == "reasoning":
            texts = [words(piece.get("text")) for piece in each(item.get("summary"))]
            parts = thought("\n\n".join(texts))
        elif kind in _CALLS:
            given = item.get("arguments") if kind == "function_call" else item.get("input")
            parts = called(item.get("name"), given, call)
        elif kind == "local_shell_call":
            parts = called("shell", item.get("action"), call or item.get("id"))
        elif kind in ("web_search_call", "tool_search_call"):
            given = item.get("action") or item.get("arguments")
            parts = called(kind.removesuffix("_call"), given, call)
        elif kind in _RESULTS:
            text, code, failed = _output(item.get("output"))
            role, parts = Role.TOOL, returned(text, call, error=failed, code=code)
        elif kind == "agent_message":  # a message between agents
            parts = said(part_text(item.get("content")), RecordUse.WRAPPER)
        else:
            parts = []
        if parts:
            yield self._session.turn(spot, role, parts, at=at)
        else:
            silent(self.tally, f"item {kind}")

    def _message(self, spot: Spot, item: Fields, at: str | None) -> Iterator[Turn]:
        role, content = words(item.get("role")), item.get("content")
        texts = [words(piece.get("text")) for piece in each(content)] or [words(content)]
        texts = [text for text in texts if text.strip()]
        if not texts:
            self.tally["message without text"] += 1
        elif role == "user":
            boot = [text for text in texts if text.lstrip().startswith(HARNESS) or is_notice(text)]
            rest = "\n".join(text for text in texts if text not in boot)
            if not rest.strip():
                parts = said("\n\n".join(boot), RecordUse.BOOT)
                yield self._session.turn(spot, Role.USER, parts, at=at)
                return
            if boot:
                self.tally["boot text beside typed text"] += len(boot)
            yield from self._person(spot, "item", requested(rest), at)
        elif role == "assistant":
            yield from self._agent(spot, "item", "\n\n".join(texts), at)
        else:
            parts = said("\n\n".join(texts), RecordUse.BOOT)
            yield self._session.turn(spot, Role.SYSTEM, parts, at=at)

    def _compacted(self, spot: Spot, payload: Fields, at: str | None) -> Iterator[Turn]:
        """The summary of a compaction, if readable; everything before has been read."""
        text = words(payload.get("message"))
        history = payload.get("replacement_history")
        if not text.strip() and isinstance(history, list) and history:
            last = history[-1]
            if isinstance(last, dict) and last.get("type") == "message":
                text = part_text(last.get("content"))
                if not text.startswith(SUMMARY_START) and (
                    len(text) < SHORTEST_SUMMARY or _name(Role.USER, requested(text)) in self._typed
                ):
                    text = ""  # the person's last request, already read
        if text.strip():
            yield self._session.turn(spot, Role.ASSISTANT, said(text, RecordUse.SUMMARY), at=at)
        else:
            self.tally["compaction without a readable summary"] += 1


def _name(role: Role, text: str) -> int:
    """A hash that identifies repeated text, ignoring white space."""
    return hash((role, " ".join(text.split())))


def _tells_events(record: Fields) -> bool | None:
    """Whether events contain the person's messages; None: this record does not show it.

    The first generation had none. An event follows each message before the agent answers.
    """
    kind, payload = record.get("type"), inner(record, "payload")
    if kind == "message" or payload.get("type") in _CALLS:
        return False
    if payload.get("type") == "message" and payload.get("role") == "assistant":
        return False
    return kind == "event_msg" if payload.get("type") == "user_message" else None


def requested(text: str) -> str:
    """The person's typed text, without the context that an editor puts before it and without the
    prompt file around it.
    """
    if text.lstrip().startswith("# "):
        *_, last = (0, *(heading.end() for heading in _REQUEST.finditer(text)))
        if last:
            return text[last:].strip()
    given = _INPUT.search(text)
    if given is None or given[1].strip():
        return given[1].strip() if given else text
    about_input, _, outline = text[given.end() :].partition("\n## ")
    return NO_INPUT.format(clip(outline or about_input, SHOWN_OF_PROMPT))


def _output(output: object) -> tuple[str, int | None, bool]:
    """A result's text, its exit code, and whether it reports a failure; it has four shapes."""
    text = part_text(output)
    if isinstance(output, str) and output.startswith("{"):
        found = written_object(output)
        if "output" in found:
            given = inner(found, "metadata").get("exit_code")
            code = given if isinstance(given, int) else None
            return part_text(found["output"]), code, bool(code)
    elif isinstance(output, dict):
        return text, None, output.get("success") is False
    header = _HEADER.match(text)
    if header is None:
        return text, None, False
    printed = text[header.end() :]
    if running := _RUNNING.search(header[0]):
        return f"{running[0]}\n{printed}", None, False
    exit_code = _EXIT_CODE.search(header[0])
    code = int(exit_code[1]) if exit_code else None
    shown = exit_code[0] if exit_code and code and not printed.strip() else printed
    return shown, code, bool(code)


FORMAT = Format(
    name="codex",
    agent="Codex CLI",
    detect_record=_is_codex,
    turns=lambda reading: _Codex(reading).turns(),
    locations=(
        Location(folder=".codex/sessions", pattern="**/*.jsonl", variable="CODEX_HOME"),
        Location(folder=".codex/archived_sessions", pattern="**/*.jsonl", variable="CODEX_HOME"),
    ),
    tested="real files, 0.36 to 0.142",
)  # fmt: skip
