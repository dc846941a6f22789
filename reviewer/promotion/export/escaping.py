"""Text from outside as Markdown that can only be read: it opens no structure and loads nothing.

Identifiers stay as they are, because agents read and search the raw text: emphasis, underscores
and code spans are left alone. What is escaped begins a block (CommonMark 0.31, sections 4 and 5),
is HTML, an image, or an `@path` that an agent's instruction file would import.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque

from reviewer.text.display import display_text

_TICKS = re.compile(r"`+")
_FENCE = re.compile(r"^[ ]*(`{3,})[^`\n]*$", re.MULTILINE)
_BLOCK_START = re.compile(
    r"(?P<before>\d{1,9})(?=[.)](?:\s|$))"
    r"|(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|<[A-Za-z/!?]|\[[ xX]?\]|~~~"
    r"|=+\s*$|(?:[-*_]\s*){3,}$|[|:-][|:\s-]*$)"
)
# Backslashes in front are doubled, so that they cannot take back the escape.
_LIVE = re.compile(r"(?<!\\)(?P<slashes>\\*+)(?P<sign><(?=[A-Za-z/!?])|!(?=\[)|(?<!\w)@(?=[^\s@]))")
_CLOSING = re.compile(r"(?<!\\)\]")
_BEFORE_TICKS = re.compile(r"(?<!\\)\\++\Z")


def markdown_text(text: str) -> str:
    """Text of one or more paragraphs, each line at column 0, at most one blank line in between."""
    shown = display_text(text)
    lines = [line.strip() for line in shown.split("\n")]
    paragraphs = re.split(r"\n{2,}", "\n".join(lines).strip("\n"))
    return "\n\n".join(_paragraph(paragraph) for paragraph in paragraphs)


def markdown_line(text: str) -> str:
    """The same on one line."""
    return markdown_text(" ".join(text.split()))


def _paragraph(text: str) -> str:
    # A run of backticks that would begin a fence is no code span's, so spans are sought around it.
    parts: list[str] = []
    at = 0
    for fence in _FENCE.finditer(text):
        start, end = fence.span(1)
        parts += [_inline(text[at:start]), "\\`" * (end - start)]
        at = end
    parts.append(_inline(text[at:]))
    lines = "".join(parts).split("\n")
    closes = defines = False
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        # `[label]: place` defines a link and is not shown; it may run over several lines.
        closes = closes or _CLOSING.search(line) is not None
        defines = defines or "]:" in line
        if line.startswith("[") and (defines or not closes):
            lines[number] = f"\\{line}"
        else:
            lines[number] = _block_start(line)
    return "\n".join(lines)


def _inline(text: str) -> str:
    """Escape what is live outside of code spans, and backticks that begin none."""
    runs = list(_TICKS.finditer(text))
    waiting: defaultdict[int, deque[int]] = defaultdict(deque)
    for number, run in enumerate(runs):
        waiting[len(run[0])].append(number)
    parts: list[str] = []
    at = number = 0
    while number < len(runs):
        run = runs[number]
        same = waiting[len(run[0])]
        while same and same[0] <= number:
            same.popleft()
        plain = _LIVE.sub(_escaped, text[at : run.start()])
        parts.append(_BEFORE_TICKS.sub(lambda match: match[0] * 2, plain))
        if same:
            number = same.popleft()
            at = runs[number].end()
            parts.append(text[run.start() : at])
        else:
            at = run.end()
            parts.append("\\`" * len(run[0]))
        number += 1
    parts.append(_LIVE.sub(_escaped, text[at:]))
    return "".join(parts)


def _escaped(match: re.Match[str]) -> str:
    return match["slashes"] * 2 + "\\" + match["sign"]


def _block_start(line: str) -> str:
    match = _BLOCK_START.match(line)
    if match is None:
        return line
    before = match["before"] or ""
    return f"{before}\\{line[len(before) :]}"
