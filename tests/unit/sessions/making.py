"""Events of a session for tests, a line for each."""

from __future__ import annotations

import json
from typing import Any

from reviewer.sources.event_maker import EventMaker
from reviewer.sources.events import Event
from reviewer.sources.records import Block, RecordUse, Role

HOME = "/home/ada/kiosk"


class SessionMaker:
    """What happened in a session, line by line."""

    def __init__(self, folder: str = HOME, branch: str = "main") -> None:
        self.folder, self.branch = folder, branch
        self.blocks: list[Block] = []
        self._calls = 0

    def events(self) -> list[Event]:
        maker = EventMaker("claude-code")
        return [event for block in self.blocks for event in maker.of_block(block)]

    def _add(self, role: Role, kind: str, text: str, **more: Any) -> int:
        line = len(self.blocks)
        place = {"cwd": self.folder, "branch": self.branch}
        self.blocks.append(Block(role, kind, text, line, line + 1, **{**place, **more}))  # type: ignore[arg-type]
        return line

    def person(self, text: str) -> int:
        return self._add(Role.USER, "text", text)

    def agent(self, text: str) -> int:
        return self._add(Role.ASSISTANT, "text", text)

    def notice(self, text: str) -> int:
        return self._add(Role.USER, "text", text, use=RecordUse.WRAPPER)

    def summary(self, text: str) -> int:
        return self._add(Role.USER, "text", text, use=RecordUse.SUMMARY)

    def call(self, tool: str, result: str | None = "", *, failed: bool = False, **args: Any) -> int:
        """A call with its result, or without one; the line of the call."""
        self._calls += 1
        name = f"c{self._calls}"
        text = args["command"] if set(args) == {"command"} else json.dumps(args)
        line = self._add(Role.ASSISTANT, "tool_use", text, name=tool, call=name)
        if result is not None:
            self._add(Role.TOOL, "tool_result", result, name=tool, call=name, error=failed)
        return line

    def run(self, command: str, result: str | None = "", code: int = 0) -> int:
        """A command with its output."""
        printed = f"Exit code {code}\n{result}" if code and result is not None else result
        return self.call("Bash", printed, failed=bool(code), command=command)

    def edit(self, path: str, old: str = "a = 1", new: str = "a = 2") -> int:
        return self.call("Edit", "updated", file_path=path, old_string=old, new_string=new)

    def write(self, path: str, text: str = "a = 1") -> int:
        return self.call("Write", "written", file_path=path, content=text)

    def refused(self, tool: str, words: str = "", **args: Any) -> int:
        said = f" To tell you how to proceed, the user said:\n{words}" if words else ""
        start = "The user doesn't want to proceed with this tool use."
        return self.call(tool, f"{start}{said}", failed=True, **args)
