"""Calls that wait for their results."""

from __future__ import annotations

from typing import Generic, TypeVar

from reviewer.sources.events import Call, Result

Note = TypeVar("Note")


class OpenCalls(Generic[Note]):
    """The calls without a result, each with a note. Where a format has no ids, a result belongs to
    the oldest call of its tool, or to the oldest.
    """

    def __init__(self) -> None:
        self._named: dict[str, tuple[Call, Note]] = {}
        self._nameless: list[tuple[Call, Note]] = []

    def add(self, call: Call, note: Note) -> None:
        if call.id:
            self._named[call.id] = (call, note)
        else:
            self._nameless.append((call, note))

    def take(self, result: Result) -> tuple[Call, Note] | None:
        """The call of a result, which is then no longer open."""
        if result.call:
            return self._named.pop(result.call, None)
        tools = [call.tool for call, _ in self._nameless]
        at = tools.index(result.tool) if result.tool in tools else 0
        return self._nameless.pop(at) if self._nameless else None

    def left(self) -> list[tuple[Call, Note]]:
        """The calls that are still open."""
        return [*self._named.values(), *self._nameless]
