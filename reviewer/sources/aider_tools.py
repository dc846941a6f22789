"""What aider did, read from the lines that it writes beside a conversation (`> Commit ...`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct

from reviewer.sources.records import Block, Role, Use

_COMMIT = re.compile(r"Commit ([0-9a-f]{7,40}) (\S.*)")
_UNDONE = re.compile(r"Removed: ([0-9a-f]{7,40}) (\S.*)")
_APPLIED = re.compile(r"Applied edit to (\S.*)")
_NOT_FOUND = re.compile(r".*SEARCH block failed to exactly match lines in (\S.*)")
_RUN = re.compile(r"(?:#+ )?Running:? (\S.*)")
_COMMAND = re.compile(r"(?:/(?:run|test|lint)\s+|!\s*)(\S.*)", re.DOTALL)
"""Commands of aider with which a person runs a command line."""
_FRAME = re.compile(
    r"Tokens: |You can use /|HEAD is: |Attempt to fix |Add(?:ed)? .*\b(?:chat|output)\b|Git repo"
    r"|# Fix any errors below|The LLM did not conform|Did you |https://aider\.chat/"
)
_BLOCK = re.compile(
    r"^(?P<path>[^\n]+)\n(?:`{3,}|~{3,}|<\w+>)[^\n]*\n<{5,9} ?SEARCH>?\n"
    r"(?P<old>.*?)^={5,9}\n(?P<new>.*?)^>{5,9} ?REPLACE",
    re.MULTILINE | re.DOTALL,
)
_PATH_MARKS = "`*#: \t"
OUTPUT_CHARS = 20_000
"""Characters of the output of a command that are kept."""


class Written(Struct, frozen=True):
    """A line that aider wrote, without its mark."""

    number: int
    text: str


class Edit(Struct, frozen=True):
    """An edit that the agent proposed. An empty `old` makes a new file."""

    path: str
    old: str
    new: str


def proposed_edits(text: str) -> list[Edit]:
    """The edits in a message of the agent, in the format `diff` of aider."""
    if "SEARCH" not in text:
        return []
    return [
        Edit(found["path"].strip(_PATH_MARKS), found["old"], found["new"])
        for found in _BLOCK.finditer(text)
    ]


def command_in(text: str) -> str:
    """The command line that a message of the person has aider run; empty for other messages."""
    found = _COMMAND.fullmatch(text.strip())
    return found[1].strip() if found else ""


def tool_blocks(
    lines: Sequence[Written], edits: Iterable[Edit], command: str, at: str | None
) -> Iterator[Block]:
    """The calls that these lines report, each with its result.

    `edits` were proposed before them; `command` is what the person had aider run just before.
    """
    proposed: dict[str, list[Edit]] = {}
    for edit in edits:
        proposed.setdefault(edit.path, []).append(edit)
    running, output = (command, lines[0].number if lines else 0), list[str]()
    for line in lines:
        text = line.text.strip()
        if started := _RUN.fullmatch(text):
            yield from _ran(running, output, at)
            running, output = (started[1], line.number), []
            continue
        call = _call(text, proposed)
        if call is None:
            if not _FRAME.match(text):
                output.append(line.text)
            continue
        yield from _ran(running, output, at)
        running, output = ("", 0), []
        yield from _both(*call, text, line.number, at)
    yield from _ran(running, output, at)


def _call(text: str, proposed: dict[str, list[Edit]]) -> tuple[str, dict[str, object]] | None:
    """The tool and the arguments of what one line reports; None for a line of something else."""
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


def _ran(running: tuple[str, int], output: list[str], at: str | None) -> Iterator[Block]:
    command, line = running
    if command:
        shown = "\n".join(output).strip()[-OUTPUT_CHARS:]
        yield from _both("shell", {"command": command}, shown, line, at)


def _both(
    tool: str, given: dict[str, object], result: str, line: int, at: str | None
) -> Iterator[Block]:
    call, text = f"line {line}", msgspec.json.encode(given).decode()
    result = result.removeprefix("Commit ")
    yield Block(Role.ASSISTANT, "tool_use", text, line, line + 1, tool, at, call=call)
    yield Block(Role.TOOL, "tool_result", result, line, line + 1, tool, at, Use.TOOL, call=call)


def _quoted(message: str) -> str:
    return '"' + re.sub(r'(["$`\\])', r"\\\1", message) + '"'
