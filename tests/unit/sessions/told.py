"""Sessions with calls and their results, built in code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from reviewer.sources.events import Event
from reviewer.sources.stream import read
from tests.unit.sources.builders import Session

REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


class Told(Session):
    """A session with calls and their results; each method gives the line of its call."""

    def __init__(self, name: str = "s1", folder: Path = Path()) -> None:
        super().__init__(name)
        self._folder = folder

    def events(self) -> list[Event]:
        """What is read from its file, which is in the folder."""
        return list(read(self.write(self._folder / "session.jsonl")))

    def go(self, steps: Iterable[Step]) -> Told:
        for step in steps:
            step(self)
        return self

    def call(
        self, tool: str, result: str | None = "ok", *, failed: bool = False, **given: Any
    ) -> int:
        """A call with its result, or without one."""
        number, line = f"t{self.count}", len(self.records)
        self.block({"type": "tool_use", "id": number, "name": tool, "input": given})
        if result is not None:
            block = {"type": "tool_result", "tool_use_id": number, "content": result}
            self.user([{**block, "is_error": True} if failed else block])
        return line

    def run(self, command: str, result: str = "", *, failed: bool = False, code: int = 1) -> int:
        text = f"Exit code {code}\n{result}" if failed else result
        return self.call("Bash", text, failed=failed, command=command)

    def edit(self, path: str, old: str = "a = 1", new: str = "a = 2") -> int:
        return self.call("Edit", file_path=path, old_string=old, new_string=new)

    def create(self, path: str) -> int:
        return self.call("Write", file_path=path, content="a = 1")

    def refuse(self, tool: str, words: str = "", **given: Any) -> int:
        said = f" To tell you how to proceed, the user said:\n{words}" if words else ""
        return self.call(tool, f"{REFUSED}{said}", failed=True, **given)


Step = Callable[[Told], object]
"""What happens in a session, in the tables of tests."""


def user(text: str) -> Step:
    return lambda told: told.user(text)


def runs(command: str, result: str = "") -> Step:
    return lambda told: told.run(command, result)


def fails(command: str, result: str) -> Step:
    return lambda told: told.run(command, result, failed=True)


def refuses(tool: str, words: str = "", **given: Any) -> Step:
    return lambda told: told.refuse(tool, words, **given)


def edits(path: str, old: str = "a = 1", new: str = "a = 2") -> Step:
    return lambda told: told.edit(f"/work/shop/{path}", old, new)


def creates(path: str) -> Step:
    return lambda told: told.create(path)


def calls(tool: str, result: str | None = None, *, failed: bool = False, **given: Any) -> Step:
    return lambda told: told.call(tool, result, failed=failed, **given)
