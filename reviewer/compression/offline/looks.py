"""What the calls of a session found: the text of files, hits of searches, output of commands.

Unlike everywhere else in a summary, the output of tools is content here, for a hand-over that has
room for it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from reviewer.compression.offline.call_told import (
    call_told,
    is_between,
    result_body,
    runs_under,
    short_path,
)
from reviewer.compression.offline.calls import PATHS, POLLING, PROSE_FILE, changes_of, command_of
from reviewer.compression.offline.events import LINE_NUMBER, Kind, command_events
from reviewer.compression.offline.steps import roots_of, upper
from reviewer.compression.offline.tail import LONGEST, Tail
from reviewer.proposing.view_calls import SUBAGENT_TOOLS, Call, cut, read_call

MOST_CALLS = 60
"""Calls at the end of a session that are looked at."""
MOST_ROWS = 300
ROW_CHARS = 220


class Way(StrEnum):
    """How something was found."""

    READ = "read"
    SEARCH = "search"
    COMMAND = "command"
    REPORT = "report"


class Look(Struct):
    """What one call found. `rows`: numbers of lines, 0 where they are not known, and their text."""

    turn: int
    """The turn of its result."""
    way: Way
    head: str
    """What was done, in a few words."""
    path: str
    rows: list[tuple[int, str]]
    whole: bool = True
    """Whether all of it is there: the file to its end, the output without a gap."""
    failed: bool = False
    checks: bool = False

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.rows]


def looks_of(tail: Tail) -> list[Look]:
    """What the last calls of a session found, oldest first."""
    roots = roots_of(tail)
    last = deque((each for each in tail if each.turn.kind == "tool_use"), maxlen=MOST_CALLS)
    waiting = [
        (each.number, read_call(each.turn.name, each.turn.text), each.turn.call) for each in last
    ]
    if not waiting:
        return []
    first = waiting[0][0]
    found: list[Look] = []
    running: dict[str, tuple[str, bool]] = {}
    for each in tail:
        if each.turn.kind != "tool_result" or each.number < first:
            continue
        name, id_ = each.turn.name, each.turn.call
        place = next(
            (
                at
                for at, (_, call, known) in enumerate(waiting)
                if ((known == id_) if id_ else call.tool == name or not name)
            ),
            None,
        )
        if place is not None:
            number, call, _ = waiting.pop(place)
            if look := _look(number, each.number, call, each.turn.text, roots, running):
                if look.way is not Way.READ:  # the same call again: only its last result counts
                    found = [each for each in found if each.head != look.head]
                found.append(look)
    return found


_REMINDER = re.compile(
    r"<system-reminder>.*?(?:</system-reminder>|\Z)"
    r"|(?:<returncode>-?\d+</returncode>\s*+)?<warning>(?:(?!<warning>).)*?</warning>\s*+<output_head>"
    r"|</?output_(?:head|tail)>",
    re.DOTALL,
)
_EMPTY = re.compile(
    r"(?:No (?:files|matches)|no output|\(no output\)|Found 0|<command with|Command running in"
    r"|Process running|Wasted call|File unchanged|Error: File has not|The user doesn't want"
    r"|shellId: \S+ was already)",
    re.IGNORECASE,
)
_SEARCHES = re.compile(r"(?:rg|grep|git grep|ag|ack)\b")
_FOUND_HEAD = re.compile(r"Found \d[\d,]* (?:files?|total|lines?|matches).*|\[Showing results .*")


def _look(
    number: int,
    turn: int,
    call: Call,
    text: str,
    roots: Sequence[str],
    running: dict[str, tuple[str, bool]],
) -> Look | None:
    if changes_of(call):
        return None
    told = call_told(number, call, roots)
    if told is None:
        return None
    cut_off = len(text) >= LONGEST
    _, body, code = result_body(_REMINDER.sub("", text), roots)
    command = command_of(call)
    if call.kind not in POLLING and (runs := runs_under(text)):
        started = command_events(number, command)
        running[runs] = (told.what, any(each.kind is Kind.CHECK for each in started))
    if not body or _EMPTY.match(body):
        return None
    failed = code is not None and code[1] != "0" and not _SEARCHES.match(command)
    if call.kind in SUBAGENT_TOOLS:
        return Look(turn, Way.REPORT, f"The sub-agent {told.what} reported", "", _rows(body))
    if call.kind in POLLING:
        key = told.polls.removeprefix("poll ")
        what, checks = running.get(key, (told.what, False))
        head = f"More output of {what}"
        return Look(turn, Way.COMMAND, head, "", _rows(body), not cut_off, failed, checks)
    if told.verb == "searched for":
        where = short_path(call.words("path", "include", "glob"), roots)
        head = f"Searched for {told.what}{f' in `{where}`' if where else ''}"
        return Look(turn, Way.SEARCH, head, where, _hits(body), not cut_off)
    if told.verb == "read":
        first, last = _range(call, command)
        rows = _numbered(body, first, cut_off=cut_off)
        path = told.what if command else short_path(call.words(*PATHS), roots)
        if ", " in path and command:
            return Look(turn, Way.COMMAND, f"Read {path}", "", rows, not cut_off, failed)
        whole = first == 1 and (not last or len(rows) < last) and not cut_off
        return Look(turn, Way.READ, f"Read `{path}`", path, rows, whole, failed)
    if not command:
        return Look(turn, Way.COMMAND, f"Called {told.what}", "", _rows(body), not cut_off, failed)
    events = list(command_events(number, command))
    if any(each.kind in (Kind.COMMIT, Kind.PUSH) for each in events) and not failed:
        return None
    checks = any(each.kind is Kind.CHECK for each in events)
    head = f"{upper(told.verb)} {told.what}"
    if listed := _listed(body):
        return Look(turn, Way.SEARCH, head, "", listed, not cut_off)
    if _SEARCHES.match(command):
        return Look(turn, Way.SEARCH, head, "", _hits(body), not cut_off)
    rows = _rows(body)
    return Look(turn, Way.COMMAND, head, "", rows, not cut_off, failed, checks)


_SED_RANGE = re.compile(r"\bsed\s+-n\s+['\"]?(\d+),\s*(\d+)p")
_HEAD_LINES = re.compile(r"\bhead\s+(?:-n\s*|-)?(\d+)\b")
_TAIL_LINES = re.compile(r"\btail\b")


def _range(call: Call, command: str) -> tuple[int, int]:
    """The first line that a call reads, and the last; 0 for a first line that is not known, and
    for the end of the file.
    """
    if command:
        if found := _SED_RANGE.search(command):
            return int(found[1]), int(found[2])
        if found := _HEAD_LINES.search(command):
            return 1, int(found[1])
        return (0, 0) if _TAIL_LINES.search(command) else (1, 0)
    given = call.given
    view = given.get("view_range")
    if isinstance(view, list) and len(view) == 2 and all(isinstance(each, int) for each in view):
        return max(view[0], 1), max(view[1], 0)
    first = next((n for key in ("offset", "start_line", "startLine") if (n := given.get(key))), 1)
    first = first if isinstance(first, int) else 1
    last = next((n for key in ("end_line", "endLine") if (n := given.get(key))), 0)
    if isinstance(limit := given.get("limit"), int) and limit > 0:
        last = first + limit - 1
    return max(first, 1), last if isinstance(last, int) else 0


def _numbered(body: str, first: int, *, cut_off: bool) -> list[tuple[int, str]]:
    """The lines of a file as a tool shows it, with their numbers in the file."""
    lines = body.split("\n")
    shown = [LINE_NUMBER.match(line) for line in lines[:MOST_ROWS]]
    if sum(map(bool, shown)) * 2 > len(shown):
        return [
            (int(found[1]), line[found.end() :].rstrip()[:ROW_CHARS])
            for line, found in zip(lines, shown, strict=False)
            if found is not None
        ]
    if cut_off:  # what comes after the gap has other numbers
        lines = body[: LONGEST // 2].split("\n")[:-1]
    lines = lines[:MOST_ROWS]
    return [
        (first + at if first else 0, line.rstrip()[:ROW_CHARS]) for at, line in enumerate(lines)
    ]


def _rows(body: str) -> list[tuple[int, str]]:
    """The lines of an output, without titles under which nothing is."""
    lines = [line.rstrip()[:ROW_CHARS] for line in body.split("\n") if line.strip()][:MOST_ROWS]
    after = [*lines[1:], "==="]
    return [
        (0, line)
        for line, following in zip(lines, after, strict=True)
        if not (is_between(line) and is_between(following))
    ]


def _hits(body: str) -> list[tuple[int, str]]:
    return [
        (0, text) for _, text in _rows(body) if not _FOUND_HEAD.fullmatch(text) and text != "--"
    ]


_LISTED = re.compile(
    r"[-dlcbps][rwxsStT-]{9}[@+.]?\s++\d++\s++\S++\s++(?:\S++\s++)?\d++.*?\s(\S++(?: -> \S++)?)$"
)


def _listed(body: str) -> list[tuple[int, str]]:
    """The names of a long listing of one folder, those of folders with a slash."""
    found = []
    for line in body.split("\n"):
        if match := _LISTED.fullmatch(line.rstrip()):
            if match[1] not in (".", ".."):
                found.append((0, f"{match[1]}/" if line.startswith("d") else match[1]))
        elif line.strip() and not line.startswith("total "):
            return []
    return found


# Definitions

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|async|pub(?:\([^)\n]*\))?"
    r"|abstract|final|override|virtual|readonly|declare|unsafe|extern|inline|sealed|partial|open"
    r"|data)\s+)*"
)
_DEFINES = re.compile(
    rf"[ \t]{{0,12}}{_MODIFIERS}"
    r"(?:(?:def|class|func|function\*?|fn|fun|interface|struct|enum|type|trait|impl|module|record"
    r"|namespace|protocol|extension|object|mod|defmodule|defp|sub|proc)\s+[A-Za-z_(*<][^\n]*"
    r"|func\s+\([^\n]*|CREATE\s+(?:OR\s+REPLACE\s+)?\w+\s+[^\n]*)"
    rf"|{_MODIFIERS}(?:const|let|var|val)\s+[A-Za-z_]\w*[^\n]*"
    r"|[A-Z][A-Z0-9_]{2,}\s*(?::[^=\n]*)?=[^=\n][^\n]*"
    r"|[ \t]{0,6}(?:describe|it|test)(?:\.\w+)?\(\s*['\"`][^\n]*"
    r"|[A-Za-z_][\w-]*\s*\(\)\s*\{"
    r"|\[[^\]\n]{1,80}\]{1,2}\s*",
    re.IGNORECASE,
)
_METHOD = re.compile(
    r"[ \t]{1,8}(?!(?:if|else|for|while|switch|case|return|throw|new|await|yield|do|try|catch"
    r"|assert|raise|with|elif|match|using|lock|foreach|defer|go|select)\b)"
    r"(?:[\w<>\[\],.?*&:@]+\s+){0,6}[\w~]+\s*\([^;=]*\)[^;=]*\{"
)
_HEADING = re.compile(r"#{1,4} \S[^\n]*")
_KEY = re.compile(r"(?:[A-Za-z_][\w.-]*|  \"[\w.$@/-]+\"):(?:\s[^\n]*|)")
_KEYED = re.compile(r"\.(?:ya?ml|json|jsonc)$|(?:^|/)[Mm]akefile$|(?:^|/)justfile$")
_ENDING = re.compile(r"(?<![\s{:=(])(?:=>|[\s{:=(])++$")
DEFINED_CHARS = 110


def definitions(look: Look) -> list[tuple[int, int, str]]:
    """The definitions in a file: number of the line, indent, and the line without its end."""
    found = []
    for number, text in look.rows:
        if PROSE_FILE.search(look.path):
            defines = _HEADING.fullmatch(text) is not None
        elif _KEYED.search(look.path):
            defines = _KEY.fullmatch(text) is not None
        else:
            defines = bool(
                len(text) < 500 and (_DEFINES.fullmatch(text) or _METHOD.fullmatch(text))
            )
        if defines:
            shown = cut(_ENDING.sub("", text[: DEFINED_CHARS * 4]), DEFINED_CHARS).text.replace(
                "`", "'"
            )
            found.append((number, len(text) - len(text.lstrip()), shown))
    return found


def span(rows: Iterable[tuple[int, str]]) -> str:
    """The lines that are there: "lines 1-40, 80-95"; empty where their numbers are not known."""
    parts: list[list[int]] = []
    for number, _ in rows:
        if not number:
            return ""
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    shown = [f"{a}-{b}" if a != b else f"{a}" for a, b in parts]
    return f"lines {', '.join(shown[:MOST_SPANS])}" if shown else ""


MOST_SPANS = 4


def decisive(rows: Sequence[tuple[int, str]], most: int) -> Iterator[str]:
    """The lines of an output that decide: its beginning and end, and what tells of an error."""
    if len(rows) <= most:
        yield from (text for _, text in rows)
        return
    ends = max(1, most // 3)
    chosen = {*range(ends), *range(len(rows) - ends, len(rows))}
    telling = [at for at, (_, text) in enumerate(rows) if _TELLS.search(text)]
    values = [at for at, (_, text) in enumerate(rows) if _VALUE.match(text)]
    for at in [*telling, *values, *range(ends, len(rows))]:
        if len(chosen) >= most:
            break
        chosen.add(at)
    before = -1
    for at in sorted(chosen):
        if at == before + 2:
            yield rows[before + 1][1]
        elif at > before + 1:
            yield f"... ({at - before - 1} more lines)"
        yield rows[at][1]
        before = at


_TELLS = re.compile(
    r"error|\bERR|\bfail|panic|exception|cannot|unsupported|undefined|not found|denied|fatal"
    r"|mismatch|no such|warning:",
    re.IGNORECASE,
)
_VALUE = re.compile(r"\s{0,4}[\"']?[\w .-]{2,30}[\"']?\s*[:=]\s*\S")
