"""Tool calls in SpecStory Markdown: `<tool-use data-tool-name="Bash"><details>...`."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from msgspec import Struct

from reviewer.sources.calls import PATCH_START
from reviewer.sources.parts import Part, called, returned

_NAME = re.compile(r'data-tool-name="([^"]*)"')
_SUMMARY = re.compile(r"<summary>Tool use: \*\*[^*]*\*\*\s*+•?\s*+(.*)")
_TAG = re.compile(r"</?(?:tool-use|details|summary)\b[^>]*>")
_END = re.compile(r"(?:\n?```)?\s*</details>\s*</tool-use>\s*$")
_FENCE = re.compile(r"\s*(```+|~~~+)(\w*)\s*$")
_CHANGED = re.compile(r"\*\*(Add|Update|Delete): `([^`]+)`\*\*")
"""The file that the next code block of a patch changes."""
_EDITED = re.compile(
    r"\s*(?:The file (?P<path>.+?) has been updated\b|File created successfully at: (?P<new>\S.*))"
)
_NAMED = re.compile(r"(?<!\w)(\w++) `([^`]*)`")
_ITEM = re.compile(r"\s*[-*] \[(.)\]\s+(.*)")
_STATUS = {" ": "pending", "⚡": "in_progress", "~": "in_progress"}
_SHELL = frozenset({"bash", "sh", "shell", "zsh", "powershell", "console"})


class _Parts(Struct):
    summary: str
    words: list[str]
    """Lines outside code blocks."""
    command: str
    result: str


def call_parts(lines: Sequence[str], call: str) -> list[Part]:
    """The call and result in a `<tool-use>` block; nothing for an empty one."""
    found = _NAME.search(lines[0])
    name = html.unescape(found[1]) if found else ""
    parts = _parts(lines)
    arguments = _arguments(parts)
    if not arguments and (edited := _EDITED.match(parts.result)):
        arguments = {"file_path": edited["path"] or edited["new"]}
    if name == "apply_patch" and (patch := _patch(lines)):
        arguments, parts.result = {"patch": patch}, ""
    if not arguments and not parts.result.strip():
        return []  # Cursor adds a second, empty block for many calls
    return called(name, arguments, call) + returned(parts.result, call, name)


def _patch(lines: Sequence[str]) -> str:
    """The patch of a call of `apply_patch`; empty if it names no file."""
    found: list[str] = []
    mark = ""
    for line in lines:
        fence = _FENCE.match(line)
        if not mark and (changed := _CHANGED.match(line)):
            found.append(f"*** {changed[1]} File: {html.unescape(changed[2])}")
        elif not mark and fence and found:
            mark = fence[1]
        elif mark and line.rstrip() == mark:
            mark = ""
        elif mark:
            found.append(html.unescape(line))
    return "\n".join([PATCH_START, *found]) if found else ""


def _parts(lines: Sequence[str]) -> _Parts:
    summary, words = "", list[str]()
    fences: list[tuple[str, list[str]]] = []
    mark = ""
    for line in lines:
        fence = _FENCE.match(line)
        if mark:
            if fence and fence[1] == mark and not fence[2]:
                mark = ""
            else:
                fences[-1][1].append(line)
        elif fence:
            mark = fence[1]
            fences.append((fence[2].lower(), []))
        elif titled := _SUMMARY.search(line):
            summary = titled[1].partition("</summary>")[0].rstrip()
        elif rest := _TAG.sub("", line).strip():
            words.append(rest)
    command = ""
    if fences and fences[0][0] in _SHELL:
        command = "\n".join(fences.pop(0)[1])
    # A result that contains code blocks may swallow the end of the block.
    result = "\n".join(fences[-1][1]).rstrip() if fences else ""
    if result.endswith("</tool-use>"):
        result = result[:-200] + _END.sub("", result[-200:])
    return _Parts(html.unescape(summary), words, html.unescape(command), html.unescape(result))


def _arguments(parts: _Parts) -> dict[str, object]:
    """A call's arguments, as far as the file has them."""
    items = [item for line in parts.words if (item := _ITEM.match(line))]
    if items:
        todos = [
            {"content": item[2], "status": _STATUS.get(item[1], "completed")} for item in items
        ]
        return {"todos": todos}
    words = [html.unescape(line) for line in parts.words]
    quoted = [line.strip("`") for line in words if line.startswith("`") and line.endswith("`")]
    if parts.command:
        return {"command": parts.command}
    if parts.summary.startswith("`"):
        return {"command": parts.summary.strip("`")}
    named = {name: value for line in words for name, value in _NAMED.findall(line)}
    if named:
        return dict(named)
    if quoted:
        return {"command" if len(words) > 1 else "path": quoted[0]}
    said = " ".join(filter(None, (parts.summary, *words[:2])))
    return {"description": said} if said else {}
