"""Sessions with calls and their results, built in code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.sources.builders import Session


class Told(Session):
    """A session with calls and their results."""

    def call(self, tool: str, result: str, *, failed: bool = False, **given: Any) -> None:
        number = f"t{self.count}"
        self.block({"type": "tool_use", "id": number, "name": tool, "input": given})
        block = {"type": "tool_result", "tool_use_id": number, "content": result}
        self.user([{**block, "is_error": True} if failed else block])

    def run(self, command: str, result: str = "done", *, failed: bool = False) -> None:
        text = f"Exit code 1\n{result}" if failed else result
        self.call("Bash", text, failed=failed, command=command)

    def write(self, path: Path) -> Path:
        path.write_bytes(self.bytes())
        return path

    def edit(self, path: str, old: str, new: str) -> None:
        self.call("Edit", "ok", file_path=path, old_string=old, new_string=new)
