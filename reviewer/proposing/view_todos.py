"""To-do lists: in full when their items change, else only what was started or done."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reviewer.proposing.view_calls import TODO_TOOLS, Call, Shown

ITEM_CHARS = 200
_MARKS = {"completed": "[x]", "in_progress": "[~]", "cancelled": "[-]", "deleted": "[-]"}
_CREATED = re.compile(r"Task #(\d+) created")


class TodoLists:
    """The lists of one session as they change."""

    def __init__(self) -> None:
        self._items: dict[str, str] = {}
        self._subjects: dict[str, str] = {}
        self._statuses: dict[str, str] = {}

    def shown(self, call: Call) -> Shown:
        """A change of a list as one line."""
        if call.kind in TODO_TOOLS:
            return Shown(self._list(call))
        return Shown(self._task(call))

    def answered(self, call: Call, result: str) -> None:
        """Keep the number that a new task was given."""
        if call.kind == "taskcreate" and (created := _CREATED.search(result)):
            self._subjects[created[1]] = _line(call.words("subject"))

    def _list(self, call: Call) -> str:
        given = call.given.get("todos", call.given.get("plan"))
        items = {
            text: str(item.get("status") or "pending")
            for item in (given if isinstance(given, list) else [])
            if isinstance(item, Mapping) and (text := _text(item))
        }
        before, self._items = self._items, items
        if not items:
            return "to-do list: emptied" if before else ""
        if items.keys() == before.keys():
            changed = [f"{_mark(new)} {text}" for text, new in items.items() if new != before[text]]
            done = sum(status == "completed" for status in items.values())
            return f"to-do ({done} of {len(items)} done): {'; '.join(changed)}" if changed else ""
        return "to-do list: " + "; ".join(
            f"{_mark(status)} {text}" for text, status in items.items()
        )

    def _task(self, call: Call) -> str:
        if call.kind == "taskcreate":
            more = _line(call.words("description"))
            return f"to-do: [ ] {_line(call.words('subject'))}" + (f" ({more})" if more else "")
        number = str(call.given.get("taskId", ""))
        status = call.words("status")
        if not status or self._statuses.get(number) == status:
            return ""
        self._statuses[number] = status
        subject = self._subjects.get(number) or _line(call.words("subject")) or f"task {number}"
        return f"to-do: {_mark(status)} {subject}"


def _mark(status: str) -> str:
    return _MARKS.get(status, "[ ]")


def _text(item: Mapping[str, object]) -> str:
    for name in ("content", "step", "text", "title"):
        value = item.get(name)
        if isinstance(value, str) and value.strip():
            return _line(value)
    return ""


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= ITEM_CHARS else f"{line[: ITEM_CHARS - 2]} …"
