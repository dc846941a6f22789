"""Small Claude Code sessions for tests, written a record at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class SessionFile:
    """A session file that grows by one line a record; `line` is the number of the last one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = -1
        self._calls = 0

    def _write(self, record: dict[str, Any]) -> int:
        self.line += 1
        common = {"sessionId": "s1", "uuid": f"u{self.line}", "timestamp": "2026-03-01T10:00:00Z"}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**common, **record}) + "\n")
        return self.line

    def says(self, text: str) -> int:
        return self._write({"type": "user", "message": {"role": "user", "content": text}})

    def answers(self, text: str) -> int:
        content = [{"type": "text", "text": text}]
        return self._write({"type": "assistant", "message": {"content": content}})

    def reports(self, text: str) -> int:
        """The words of a sub-agent."""
        content = [{"type": "text", "text": text}]
        return self._write(
            {"type": "assistant", "isSidechain": True, "message": {"content": content}}
        )

    def summary(self, text: str) -> int:
        return self._write({"type": "user", "isCompactSummary": True, "message": {"content": text}})

    def runs(self, command: str, result: str = "", failed: bool = False) -> int:
        """A shell command and its result; the line of the command."""
        self._calls += 1
        call = f"call{self._calls}"
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        line = self._write({"type": "assistant", "message": {"content": [use]}})
        answer: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": result}
        if failed:
            answer["is_error"] = True
        self._write({"type": "user", "message": {"content": [answer]}})
        return line

    def plans(self, plan: str, *, approved: bool = False) -> int:
        """A plan that waits for approval, or that has it."""
        self._calls += 1
        use = {
            "type": "tool_use", "id": f"call{self._calls}", "name": "ExitPlanMode",
            "input": {"plan": plan},
        }  # fmt: skip
        line = self._write({"type": "assistant", "message": {"content": [use]}})
        if approved:
            answer = {
                "type": "tool_result", "tool_use_id": use["id"], "content": "User approved it.",
            }  # fmt: skip
            self._write({"type": "user", "message": {"content": [answer]}})
        return line
