"""All blocks of chat-completions and ShareGPT conversations (`formats.md`, section 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
from msgspec import Raw

from reviewer.sources.block import Block
from reviewer.sources.blocks_tools import call_text, part_text
from reviewer.sources.chat import DEPTH, LISTS, ROLES, TOOL_ROLES, ChatScan, moment
from reviewer.sources.claude_words import classify
from reviewer.sources.json_positions import fields, first_byte, items
from reviewer.sources.lines import read_lines, reading
from reviewer.sources.records import Role, Use


class ChatBlocks:
    """The blocks of one file of conversations, a document or one object a line."""

    format = ChatScan.format

    def __init__(self, scan: ChatScan) -> None:
        self.path = scan.path
        self.tally: Counter[str] = Counter()
        self.errors: list[str] = []
        self._scan = scan

    def __iter__(self) -> Iterator[Block]:
        scan = self._scan
        if scan.document is not None:
            yield from self._of_line(scan.document, 0)
            return
        with reading(self.path) as stream:
            for number, _, raw in read_lines(stream, scan.form):
                if raw is None:
                    self.tally["line over 64 MB"] += 1
                    self.errors.append(f"line {number + 1}: longer than 64 MB, passed over")
                elif scan.lines[0] <= number < scan.lines[1] and raw and not raw.isspace():
                    yield from self._of_line(scan.form.utf8(raw), number)

    def _of_line(self, data: bytes, number: int) -> Iterator[Block]:
        """The blocks of a JSON text; what cannot be read is counted and named."""
        try:
            yield from self._of_value(data, number)
        except RecursionError:
            self.tally["nested too deep"] += 1
            self.errors.append(f"line {number + 1}: nested too deep to be read")
        except ValueError:
            self.tally["bad JSON"] += 1
            self.errors.append(f"line {number + 1}: not JSON")

    def _of_value(self, data: bytes, line: int) -> Iterator[Block]:
        """The blocks of a JSON text that begins at `line`."""
        line_end = self._scan.form.line_end.replace(b"\0", b"")
        counted, tools = 0, dict[str, str]()
        for at, message in self._messages(memoryview(data), 0, DEPTH):
            line += data.count(line_end, counted, at)
            counted = at
            last = line + data.count(line_end, at, at + len(message))
            if self._scan.lines[0] <= line and last < self._scan.lines[1]:
                yield from self._of_message(message, line, last + 1, tools)

    def _messages(self, value: memoryview, at: int, depth: int) -> Iterator[tuple[int, memoryview]]:
        padding = len(value) - len(bytes(value).lstrip()) if first_byte(value) in b" \t\r\n" else 0
        value, at = value[padding:], at + padding
        kind = first_byte(value)
        if kind == b"[" and depth:
            for offset, item in items(value):
                yield from self._messages(item, at + offset, depth - 1)
        elif kind == b"{":
            named = fields(value)
            found = next((name for name in LISTS if name in named), None)
            if _role_name(named) and found is None:
                yield at, value
            elif found and depth:
                offset, inner = named[found]
                yield from self._messages(inner, at + offset, depth - 1)
            else:
                self.tally["not a message"] += 1
        else:
            self.tally["not a message"] += 1

    def _of_message(
        self, message: memoryview, line: int, line_end: int, tools: dict[str, str]
    ) -> Iterator[Block]:
        try:
            value = msgspec.json.decode(message)
        except UnicodeDecodeError:
            self.tally["invalid UTF-8"] += 1
            value = msgspec.json.decode(bytes(message).decode("utf-8", "replace"))
        role_name = str(value.get("role") or value.get("from"))
        at, name = moment(value), value.get("name")
        name = name if isinstance(name, str) else ""
        text = part_text(value["value"] if "value" in value else value.get("content"))
        text = text.replace("\r\n", "\n")
        if role_name in TOOL_ROLES:
            call = str(value.get("tool_call_id") or "")
            name = name or tools.pop(call, "")
            yield Block(
                Role.TOOL, "tool_result", text, line, line_end, name, at, Use.TOOL, call=call
            )
            return
        role = ROLES[role_name]
        use = Use.BOOT if role is Role.SYSTEM else Use.SAID
        if role is Role.USER:
            use, text, cuts = classify(text)
            for reason, count in cuts.items():
                self.tally[f"{reason} cut out"] += count
        thought = value.get("reasoning_content")
        if isinstance(thought, str) and thought.strip():
            yield Block(role, "thinking", thought, line, line_end, name, at)
        if text.strip():
            yield Block(role, "text", text, line, line_end, name, at, use)
        calls = value.get("tool_calls") or ([value] if value.get("function_call") else [])
        for entry in calls if isinstance(calls, list) else ():
            if isinstance(entry, dict):
                yield _call(entry, role, line, line_end, at, tools)


def _call(
    entry: dict[str, object],
    role: Role,
    line: int,
    line_end: int,
    at: str | None,
    tools: dict[str, str],
) -> Block:
    function = entry.get("function") or entry.get("function_call")
    named = function if isinstance(function, dict) else entry
    name, call = str(named.get("name") or ""), str(entry.get("id") or "")
    given = named.get("arguments", named.get("input"))
    if call:
        tools[call] = name
    text = call_text(Raw(msgspec.json.encode(given)))
    return Block(role, "tool_use", text, line, line_end, name, at, call=call)


def _role_name(named: dict[str, tuple[int, memoryview]]) -> str:
    """The role of an object that is a message; empty for any other object."""
    for field in ("role", "from"):
        value = named[field][1] if field in named else b""
        if first_byte(memoryview(value)) == b'"' and len(value) < 40:
            name = bytes(value[1:-1]).decode("utf-8", "replace")
            if name in ROLES or name in TOOL_ROLES:
                return name
    return ""
