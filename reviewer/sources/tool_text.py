"""Tool calls and their results as readable text."""

from __future__ import annotations

import msgspec

_COMMANDS = ("command", "cmd")
COMMAND_FIELDS = frozenset(
    (*_COMMANDS, "description", "timeout", "timeout_ms", "workdir", "yield_time_ms",
     "max_output_tokens", "with_escalated_permissions", "justification", "login", "tty")
)  # fmt: skip
"""Arguments of a call that only runs a command."""


def input_text(value: object) -> str:
    """The input of a call: the command if there is one, else compact JSON."""
    if isinstance(value, dict) and set(value) <= COMMAND_FIELDS:
        for name in _COMMANDS:
            command = value.get(name)
            if isinstance(command, str):
                return command
            if isinstance(command, list) and all(isinstance(word, str) for word in command):
                return " ".join(command)
    return msgspec.json.encode(value).decode("utf-8", "replace") if value is not None else ""


def part_text(value: object) -> str:
    """The text of a result: a string, or the texts of its parts; other parts by type."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = (part_text(item) for item in value)
        return "\n\n".join(part for part in parts if part.strip())
    if not isinstance(value, dict):
        return ""
    text = value.get("text")
    if isinstance(text, str):
        return text
    if "content" in value:
        return part_text(value["content"])
    return f"[{value.get('type') or 'data'}]"
