"""The editor of SWE-agent: it has one file open, which the edits do not name."""

from __future__ import annotations

import re

import msgspec
from msgspec import structs

from reviewer.sources.parts import Part

_FRAME = re.compile(
    r"\n?\(Open file: (.{1,1000})\)\s*\n\(Current directory: .*\)\s*\n(?:bash-)?\$?\s*$"
)
_LINE = re.compile(r"^(\d{1,7}):(.*)$", re.MULTILINE)
_EDIT = re.compile(r"edit (\d+):(\d+)\n(.*?)\n?(?:end_of_edit\s*)?$", re.DOTALL)
_REPLACED = re.compile(
    r"edit (['\"])(?P<old>.*?)\1 (['\"])(?P<new>.*?)\3(?: replace-all)?\s*$", re.DOTALL
)
_CREATE = re.compile(r"create (\S+)\s*$")
_OPEN = re.compile(r"open (\S+)(?: \d+)?\s*$")
_SUBMIT = re.compile(r"submit(?: (.*))?$", re.DOTALL)
SHOWN_LINES = 20_000
"""Lines of the open file that are kept."""


class Editor:
    """The editor of one session, as its calls and results show it."""

    def __init__(self) -> None:
        self._file = ""
        self._lines: dict[int, str] = {}

    def named(self, part: Part) -> Part:
        """A call with the file that it changes or opens named, and what it replaces."""
        if part.kind != "tool_use":
            return part
        given = self._given(part)
        if given is None:
            return part
        tool, arguments = given
        return structs.replace(part, name=tool, text=msgspec.json.encode(arguments).decode())

    def shown(self, result: str) -> str:
        """A result without the state of the editor, which is kept."""
        result = result.replace("\r\n", "\n")
        framed = _FRAME.search(result)
        if framed is None:
            return result
        file = framed[1].strip()
        if file != self._file:
            self._file, self._lines = file, {}
        if result.startswith("[File: ") or "\n[File: " in result:
            for found in _LINE.finditer(result):
                self._lines[int(found[1])] = found[2]
                if len(self._lines) > SHOWN_LINES:
                    self._lines.clear()
        return result[: framed.start()]

    def _given(self, part: Part) -> tuple[str, dict[str, object]] | None:
        """The tool and the arguments of a call of the editor; None for other calls."""
        text = part.text
        if part.name == "edit" and text.startswith("{"):
            return self._of_function(text)
        if part.name != "action":
            return None
        if made := _CREATE.fullmatch(text.strip()):
            return "create", {"path": made[1]}
        if opened := _OPEN.fullmatch(text.strip()):
            return "open", {"path": opened[1].strip("\"'")}
        if handed_in := _SUBMIT.fullmatch(text.strip()):
            answer = (handed_in[1] or "").strip("\"'")
            return "submit", {"answer": answer} if answer else {}
        if replaced := _REPLACED.match(text):
            return "edit", self._change(replaced["old"], replaced["new"])
        if edit := _EDIT.match(text):
            lines = range(int(edit[1]), min(int(edit[2]), int(edit[1]) + SHOWN_LINES) + 1)
            old = "\n".join(self._lines[line] for line in lines if line in self._lines)
            return "edit", self._change(old, edit[3])
        return None

    def _of_function(self, text: str) -> tuple[str, dict[str, object]] | None:
        """An edit by function calling, which has the names `search` and `replace`."""
        given = msgspec.json.decode(text)
        old, new = given.get("search"), given.get("replace", given.get("replacement_text"))
        if not isinstance(new, str) or "path" in given:
            return None
        return "edit", self._change(old if isinstance(old, str) else "", new)

    def _change(self, old: str, new: str) -> dict[str, object]:
        return {"path": self._file, "old_string": old, "new_string": new}
