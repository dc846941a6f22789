"""aider's actions, from the lines it writes next to a conversation (`> Commit ...`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from reviewer.sources.formats.marked_turns import Run
from reviewer.sources.markdown import NoteLine
from reviewer.sources.parts import Part, called, returned

_REPORT = re.compile(
    r"(?:#+ )?Running:? (?P<run>\S.*)"
    r"|Commit [0-9a-f]{7,40} (?P<commit>\S.*)"
    r"|Removed: [0-9a-f]{7,40} (?P<undone>\S.*)"
    r"|(?:Applied edit to|.*SEARCH block failed to exactly match lines in) (?P<edited>\S.*)"
)
"""A line with which aider reports an action."""
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


def calls(run: Run, edits: Iterable[Edit], command: str) -> Iterator[tuple[NoteLine, list[Part]]]:
    """The calls reported by aider's lines, each with its line and its result.

    `edits` were proposed before them; `command` was just run by the person through aider.
    """
    proposed: dict[str, list[Edit]] = {}
    for edit in edits:
        proposed.setdefault(edit.path, []).append(edit)
    running, output = (command, run.lines[0]), list[str]()
    for line, words in zip(run.lines, run.texts, strict=True):
        text = words.strip()
        report = _REPORT.fullmatch(text)
        if report is None:
            if not _FRAME.match(text):
                output.append(words)
            continue
        yield from _ran(running, output)
        running, output = (report["run"] or "", line), []
        if not report["run"]:
            yield line, _both(*_call(report, proposed), text, line)
    yield from _ran(running, output)


def _call(report: re.Match[str], proposed: dict[str, list[Edit]]) -> tuple[str, dict[str, object]]:
    """Tool and arguments of the reported call."""
    if report["commit"]:
        return "git", {"command": f"git commit -m {_quoted(report['commit'])}"}
    if report["undone"]:
        return "git", {"command": "git reset --hard HEAD~1"}
    path = report["edited"].strip()
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
    call = f"line {line.number}"
    return called(tool, given, call) + returned(result.removeprefix("Commit "), call, tool)


def _quoted(message: str) -> str:
    return '"' + re.sub(r'(["$`\\])', r"\\\1", message) + '"'
