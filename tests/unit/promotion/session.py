"""A small session of a coding agent: dialogue, a tool call that fails, and its repair."""

from __future__ import annotations

from pathlib import Path

from tests.unit.sources.builders import Session

RULE = "Never deploy from a laptop, always go through the release job."
CAUSE = "The booking ran twice because the webhook sender retries without an idempotency key."
COMMAND = "make test-kiosk PORT=8099"


def session(path: Path, *said: str, name: str = "s1") -> Path:
    """Write a session in which the person says the first text, the agent the second, and so on;
    a tool call follows them.
    """
    told = Session(name)
    for number, text in enumerate(said or (RULE, CAUSE)):
        (told.reply if number % 2 else told.user)(text)
    told.block({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": COMMAND}})
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True}
    told.user([{**result, "content": "Error: port 8080 is in use by the printer daemon\nStop."}])
    return told.write(path)
