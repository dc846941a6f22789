"""aider's actions, from the lines it writes next to a conversation (`> Commit ...`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct

from reviewer.sources.note_lines import NoteLine
from reviewer.sources.parts import Part

_COMMIT = re.compile(r"Commit ([0-9a-f]{7,40}) (\S.*)")
_UNDONE = re.compile(r"Removed: ([0-9a-f]{7,40}) (\S.*)")
_APPLIED = re.compile(r"Applied edit to (\S.*)")
_NOT_FOUND = re.compile(r".*SEARCH block failed to exactly match lines in (\S.*)")
_RUN = re.compile(r"(?:#+ )?Running:? (\S.*)")
_COMMAND = re.compile(r"(?:/(?:run|test|lint)\s+|!\s*)(\S.*)", re.DOTALL)
"""aider commands with which a person runs a command line."""
_FRAME = re.compile(
    r"Tokens: |You can use /|HEAD is: |Attempt to fix |Add(?:ed)? .*\b(?:chat|output)\b|Git repo"
    r"|# Fix any errors below|The LLM did not conform|Did you |https://aider\.chat/"
)
_SEARCH = re.compile(
    r"^(?P<path>[^\n]+)\n(?:`{3,}|~{3,}|<\w+>)[^\n]*\n<{5,9} ?SEARCH>?\n", re.MULTILINE
)
_BETWEEN = re.compile(r"^={5,9}\n", re.MULTILINE)
_REPLACED = re.compile(r"^>{5,9} ?REPLACE", re.MULTILINE)
_PATH_MARKS = "`*#: \t"
OUTPUT_CHARS = 20_000
"""Maximum characters of a command's output to keep."""


class Edit(Struct, frozen=True):
    """An edit proposed by the agent. An empty `old` creates a file."""

    path: str
    old: str
    new: str


def proposed_edits(text: str) -> list[Edit]:
    """The edits in an agent's message, in aider's `diff` format."""
    if "SEARCH" not in text:
        return []
    edits: list[Edit] = []
    at = 0
    while (
        (search := _SEARCH.search(text, at))
        and (between := _BETWEEN.search(text, search.end()))
        and (replaced := _REPLACED.search(text, between.end()))
    ):
        old = text[search.end() : between.start()]
        new = text[between.end() : replaced.start()]
        edits.append(Edit(search["path"].strip(_PATH_MARKS), old, new))
        at = replaced.end()
    return edits


def command_in(text: str) -> str:
    """The command line that a message of the person runs through aider; empty for other
    messages.
    """
    found = _COMMAND.fullmatch(text.strip())
    return found[1].strip() if found else ""


def calls(
    lines: Sequence[NoteLine], edits: Iterable[Edit], command: str
) -> Iterator[tuple[NoteLine, list[Part]]]:
    """The calls reported by these lines, each with its line and its result.

    `edits` were proposed before them; `command` was just run by the person through aider.
    """
    proposed: dict[str, list[Edit]] = {}
    for edit in edits:
        proposed.setdefault(edit.path, []).append(edit)
    running, output = (command, lines[0]), list[str]()
    for line in lines:
        text = line.text.strip()
        if started := _RUN.fullmatch(text):
            yield from _ran(running, output)
            running, output = (started[1], line), []
            continue
        call = _call(text, proposed)
        if call is None:
            if not _FRAME.match(text):
                output.append(line.text)
            continue
        yield from _ran(running, output)
        running, output = ("", line), []
        yield line, _both(*call, text, line)
    yield from _ran(running, output)


def _call(text: str, proposed: dict[str, list[Edit]]) -> tuple[str, dict[str, object]] | None:
    """Tool and arguments of the call reported by a line; None if it reports no call."""
    if made := _COMMIT.fullmatch(text):
        return "git", {"command": f"git commit -m {_quoted(made[2])}"}
    if _UNDONE.fullmatch(text):
        return "git", {"command": "git reset --hard HEAD~1"}
    found = _APPLIED.fullmatch(text) or _NOT_FOUND.fullmatch(text)
    if found is None:
        return None
    path = found[1].strip()
    edits = proposed.pop(path, [])
    if len(edits) == 1 and not edits[0].old.strip():
        return "write", {"file_path": path, "content": edits[0].new}
    pairs = [{"old_string": edit.old, "new_string": edit.new} for edit in edits]
    return "edit", {"file_path": path, **({"edits": pairs} if pairs else {})}


def _ran(running: tuple[str, NoteLine], output: list[str]) -> Iterator[tuple[NoteLine, list[Part]]]:
    command, line = running
    if command:
        shown = "\n".join(output).strip()[-OUTPUT_CHARS:]
        yield line, _both("shell", {"command": command}, shown, line)


def _both(tool: str, given: dict[str, object], result: str, line: NoteLine) -> list[Part]:
    call, text = f"line {line.number}", msgspec.json.encode(given).decode()
    result = result.removeprefix("Commit ")
    return [
        Part("tool_use", text, name=tool, call=call),
        Part("tool_result", result, name=tool, call=call),
    ]


def _quoted(message: str) -> str:
    return '"' + re.sub(r'(["$`\\])', r"\\\1", message) + '"'
