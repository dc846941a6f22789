"""A small session of a coding agent: dialogue, a tool call that fails, and its repair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RULE = "Never deploy from a laptop, always go through the release job."
CAUSE = "The booking ran twice because the webhook sender retries without an idempotency key."
COMMAND = "make test-kiosk PORT=8099"


def session(path: Path, *said: str, name: str = "s1") -> Path:
    """Write a session in which the person says the first text, the agent the second, and so on;
    a tool call follows them.
    """
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(said or (RULE, CAUSE)):
        role = "assistant" if number % 2 else "user"
        lines.append(_line(name, number, role, [{"type": "text", "text": text}]))
    last = len(lines)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": COMMAND}}
    lines.append(_line(name, last, "assistant", [call]))
    result = {
        "type": "tool_result", "tool_use_id": "t1", "is_error": True,
        "content": "Error: port 8080 is in use by the printer daemon",
    }  # fmt: skip
    lines.append(_line(name, last + 1, "user", [result]))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def _line(name: str, number: int, role: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": role,
        "uuid": f"{name}-{number}",
        "parentUuid": f"{name}-{number - 1}" if number else None,
        "sessionId": name,
        "timestamp": f"2026-02-28T10:{number:02d}:00.000Z",
        "message": {"id": f"{name}-m{number}", "role": role, "content": content},
    }
