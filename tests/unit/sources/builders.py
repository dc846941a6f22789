"""Files as agents write them, built in code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from reviewer.sources.events import Rewind
from reviewer.sources.records import Record
from reviewer.sources.stream import read

Json = dict[str, Any]


RawBytes = bytes
"""In a session, `bytes` names the method."""


class Scanned:
    """The records of a file, and what reading it has counted."""

    def __init__(self, path: Path, **range_: Any) -> None:
        self._stream = read(path, **range_)
        self.path, self.format = self._stream.path, self._stream.format
        self.tally, self.errors = self._stream.tally, self._stream.errors

    def __iter__(self) -> Iterator[Record]:
        return self._stream.records()

    def live(self) -> Iterator[Record | Rewind]:
        for each in self._stream.with_records(events=False):
            if isinstance(each, (Record, Rewind)):
                yield each


class Session:
    """A Claude Code session: the parent of a record is the one before it, unless it is given."""

    def __init__(self, name: str = "s1") -> None:
        self.name = name
        self.records: list[Json] = []
        self.last: str | None = None
        self.count = 0
        self.cwd = "/work/shop"

    def add(self, kind: str, *, after: str | None = "", **more: Any) -> str:
        """Append a record of this type and return its uuid. `after=None` makes a root."""
        uuid = f"{self.name}-{self.count}"
        self.count += 1
        parent = self.last if after == "" else after
        record = {
            "parentUuid": parent,
            "isSidechain": False,
            "cwd": self.cwd,
            "sessionId": self.name,
            "version": "2.1.0",
            "gitBranch": "main",
            "type": kind,
            "uuid": uuid,
            "timestamp": f"2026-02-14T10:{len(self.records) // 60:02}:{len(self.records) % 60:02}Z",
        }
        self.records.append({**record, **more})
        self.last = uuid
        return uuid

    def user(self, content: Any, **more: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **more)

    def reply(self, text: str, reply: str = "", **more: Any) -> str:
        return self.block({"type": "text", "text": text}, reply, **more)

    def block(self, block: Json, reply: str = "", **more: Any) -> str:
        message = {"id": reply or f"msg_{self.count}", "role": "assistant"}
        return self.add("assistant", message={**message, "content": [block]}, **more)

    def tool(self, reply: str = "", **more: Any) -> str:
        block = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
        return self.block(block, reply, **more)

    def result(self, text: str = "done", **more: Any) -> str:
        return self.user([{"type": "tool_result", "tool_use_id": "t1", "content": text}], **more)

    def bare(self, kind: str, **more: Any) -> None:
        """A record that hangs nowhere: queue operations, snapshots, summaries."""
        self.records.append({"type": kind, "sessionId": self.name, **more})

    def lines(self) -> list[bytes]:
        return [json.dumps(record).encode() for record in self.records]

    def bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines())

    def write(self, path: Path) -> Path:
        path.write_bytes(self.bytes())
        return path

    def scan(self, folder: Path, data: RawBytes | None = None, **range_: Any) -> Scanned:
        path = folder / f"{self.name}.jsonl"
        path.write_bytes(self.bytes() if data is None else data)
        return Scanned(path, **range_)

    def read(self, folder: Path, data: RawBytes | None = None, **range_: Any) -> list[Record]:
        return list(self.scan(folder, data, **range_))


def put(folder: Path, name: str, data: str | bytes = "Some words stand here.\n") -> Path:
    """A file, with the folders above it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def note(folder: Path, text: str | bytes, name: str = "note.md") -> Scanned:
    """A note on disk, opened."""
    return Scanned(put(folder, name, text))


def uses(records: Iterable[Record]) -> list[tuple[str, str]]:
    """Text and use of every record."""
    return [(record.text, record.use.value) for record in records]
