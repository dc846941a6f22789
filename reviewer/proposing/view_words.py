"""Dialogue with the pasted logs, files and diffs in it shortened, and what wrappers contain."""

from __future__ import annotations

import re
from itertools import islice

from reviewer.proposing.view_calls import Shown
from reviewer.text.secrets import mask

LONGEST_PASTE = 24
"""Lines of pasted text that are shown in full, if they have at most `PASTE_CHARS` characters."""
PASTE_CHARS = 1_500
HEAD_LINES, TAIL_LINES = 6, 3
LOOKED_AT = 400
"""Characters of a line that decide what it is."""
PASTED_LINE = 240
"""Characters of one line that are shown in a shortened paste."""
LONGEST_LINE = 1_500
LONGEST_FENCE = 80
"""Lines of a code block in an agent's message that are shown in full."""
REPORT_FENCE = 16
"""The same in a sub-agent's report."""

_FENCE = re.compile(r"\s*(?:```|~~~)")
_MACHINE = re.compile(
    r"\s*(?:"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\w{3} +\d+ \d\d:\d\d:\d\d"  # times
    r"|(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|FATAL)\b|=== |--- |\+\+\+ |@@ "
    r"|diff --git |index [0-9a-f]"
    r"|at \S+ ?\(|File \"|Traceback|goroutine \d|[|+][-+|=]|[│├└┌┐┘┤─]|\d+[→|:\t]|[$%>❯] "
    r"|\S+\.\w{1,5}:\d+|\w+://\S+$|[{}\[\]();]+[,;]?$|</?\w[^<>]*>|\S+$"
    r"|[{\[]\"|[-+] ?[^ \w]|[-+]\s*\w+[(.=]"
    r")"
)
_OUTPUT = re.compile(
    r"\s*(?:\d+(?:→|\t)|[{\[]\"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\w{3} +\d+ \d\d:\d\d:\d\d)"
)
"""Lines that nobody writes, whoever has them in a message."""
_CODE = re.compile(
    r".*(?:[;{}]|\)\s*[:{]|=>|\(\))\s*$|\s*(?:def|func|class|import|from|return|if|for|const"
    r"|let|var"
    r"|type|package|public|private|fn|use)\b.*[(){};:=.\"']|\s*\"?[\w.-]+\"?\s*[:=]\s*\S+,?$"
    r"|\s{4,}\S"
)


def shortened(text: str, *, pasted: bool, fence: int = LONGEST_FENCE) -> Shown:
    """A message with its secrets masked, and long pasted parts replaced by a line that says so.

    `pasted`: the message is the person's, so that runs of log lines or code were pasted. `fence`:
    the lines of a code block in another's message that are shown in full.
    """
    masked = mask(text).text
    lines = masked.split("\n")
    if len(lines) <= LONGEST_PASTE and len(masked) <= LONGEST_LINE:
        return Shown(masked)
    kept: list[str] = []
    left_out = 0
    start = 0
    for end, what in _runs(lines, pasted):
        run = lines[start:end]
        start = end
        if _is_too_long(run, what, pasted, fence):
            run, dropped = _ends(run, what)
            left_out += dropped
        kept += run
    for at, line in enumerate(kept):
        if len(line) > LONGEST_LINE and not _is_prose(line):
            kept[at], dropped = _beginning(line, LONGEST_LINE // 2)
            left_out += dropped
    return Shown("\n".join(kept), left_out)


def _is_too_long(run: list[str], what: str, pasted: bool, fence: int) -> bool:
    if what == _PASTE or (what and pasted):
        return len(run) > LONGEST_PASTE or (len(run) > 2 and sum(map(len, run)) > PASTE_CHARS)
    return bool(what) and len(run) > fence


def _ends(run: list[str], what: str) -> tuple[list[str], int]:
    """The first and last lines of a run, a line that says what is left out, and its characters."""
    before = sum(map(len, run)) + len(run) - 1
    if len(run) > LONGEST_PASTE:
        middle = len(run) - HEAD_LINES - TAIL_LINES
        ends = [*run[:HEAD_LINES], *run[-TAIL_LINES:]]
    else:
        middle = max(0, len(run) - 4)
        ends = [*run[:2], *run[-2:]] if middle else run
    short = [_beginning(line, PASTED_LINE)[0] for line in ends]
    after = sum(map(len, short)) + len(short) - 1
    if middle:
        half = HEAD_LINES if len(run) > LONGEST_PASTE else 2
        short.insert(half, f"... {middle:,} lines of {what} left out ...")
    return short, max(0, before - after)


def _beginning(line: str, limit: int) -> tuple[str, int]:
    """The beginning of a line, and the characters left out."""
    if len(line) <= limit + 40:
        return line, 0
    rest = len(line) - limit
    return f"{line[:limit]} ... {rest:,} characters left out ...", rest


def _runs(lines: list[str], pasted: bool) -> list[tuple[int, str]]:
    """The end of each run of lines of one kind, and what it is; empty for words."""
    kinds = _kinds(lines, pasted)
    runs: list[tuple[int, str]] = []
    for at, kind in enumerate(kinds):
        if at + 1 == len(kinds) or kinds[at + 1] != kind:
            runs.append((at + 1, kind))
    return runs


def _kinds(lines: list[str], pasted: bool) -> list[str]:
    """For each line, what it is part of: a pasted log, a code block, or words (empty)."""
    kinds: list[str] = []
    fenced = ""
    for line in lines:
        if _FENCE.match(line):
            kinds.append(fenced if fenced else "")
            fenced = "" if fenced else "a code block"
        elif fenced:
            kinds.append(fenced)
        elif line.strip():
            machine = _is_machine(line) if pasted else _OUTPUT.match(line)
            kinds.append(_PASTE if machine else "")
        else:
            kinds.append(kinds[-1] if kinds and kinds[-1] == _PASTE else "")
    return _bridged(kinds, lines)


_PASTE = "a pasted log"


def _bridged(kinds: list[str], lines: list[str]) -> list[str]:
    """A line or two that read like words inside a paste belong to it."""
    at = 0
    while at < len(kinds):
        if kinds[at] == "" and at and kinds[at - 1] == _PASTE:
            end = at
            while end < len(kinds) and kinds[end] == "" and end - at < 3:
                end += 1
            if end < len(kinds) and kinds[end] == _PASTE and end - at < 3:
                around = kinds[max(0, at - 8) : at] + kinds[end : end + 8]
                if around.count(_PASTE) >= 12 and not any(map(_is_prose, lines[at:end])):
                    kinds[at:end] = [_PASTE] * (end - at)
            at = end
        at += 1
    return kinds


def _is_machine(line: str) -> bool:
    line = line[:LOOKED_AT]
    if _OUTPUT.match(line):
        return True
    return bool(_MACHINE.match(line) or _CODE.match(line)) and not _is_prose(line)


def _is_prose(line: str) -> bool:
    """Whether a line reads like a sentence: several plain words that end like one."""
    words = line.split()
    if len(words) < 5:
        return False
    plain = sum(word.strip(".,;:!?()\"'").isalpha() for word in words)
    return plain >= 0.75 * len(words)


# Wrappers

_OPENING = re.compile(r"<([\w-]{1,60})>")
MOST_TAGS = 60
"""Opening tags that are looked at; a wrapper has a handful."""


def parts(text: str) -> dict[str, str]:
    """The tags of a wrapper with their contents, such as `command-name` and `summary`."""
    found: dict[str, str] = {}
    at = 0
    for tag in islice(_OPENING.finditer(text), MOST_TAGS):
        end = text.find(f"</{tag[1]}>", tag.end()) if tag.start() >= at else -1
        if end >= 0:
            found[tag[1]] = text[tag.end() : end].strip()
            at = end
    return found


def inner_parts(text: str) -> dict[str, str]:
    """The tags inside the outermost one."""
    return parts(next(iter(parts(text).values()), ""))
