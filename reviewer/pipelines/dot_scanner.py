"""Reads the characters of a DOT text: names, strings, values, comments, each with its position."""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path
from typing import NoReturn

from reviewer.errors import ReviewerError
from reviewer.text.display import display_line

# A quoted string or a bracket of HTML may hold anything; these stand between tokens.
_BLANKS = re.compile(r"(?:[\s\ufeff\u200b]+|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_BLANKS_BEFORE_VALUE = re.compile(r"(?:[\s\ufeff\u200b]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_JOIN = re.compile(r"\s*\+\s*(?=\")")
_CURLY = "\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_ARROWS = "\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f"
# DOT's bare names, and what people write besides: `fix-bugs`, `a.b`, `$goal`, names in any script.
_LETTER = rf"(?:[\w.$@]|[^\x00-\x7f\s{_CURLY}{_ARROWS}])"
_NAME = re.compile(rf"-?{_LETTER}+(?:-{_LETTER}+)*")
# A value may hold what a name may not: `gpt-5.2`, `summary:medium`, `outcome=success`, `#ff0000`.
_VALUE = re.compile(rf"(?:(?!/\*|(?<!:)//)[^\s,;\[\]{{}}\"{_CURLY}])+")
_PORT = re.compile(r"\s*:\s*(?=[\w\"])")
_ANGLE = re.compile("[<>]")
_PLAIN_NAME = re.compile(r"[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*|-?(?:\.\d+|\d+(?:\.\d*)?)")
_SHOWN = 24


class DotError(ReviewerError):
    """A text is not DOT. One line that begins with `FILE:LINE:COLUMN:`, both counted from 1."""


class Scanner:
    """A place in a DOT text that moves forward. `at` is the offset of the next character."""

    def __init__(self, text: str, path: Path | None = None) -> None:
        self.text = text
        self.path = path
        self.at = 0
        self._line_starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def line(self, at: int) -> int:
        """The 0-based line of an offset."""
        return bisect_right(self._line_starts, at) - 1

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise DotError for the offset `at` (default: here)."""
        at = self.at if at is None else at
        line = self.line(at)
        column = at - self._line_starts[line] + 1
        where = f"{display_line(str(self.path))}:" if self.path else ""
        raise DotError(f"{where}{line + 1}:{column}: {display_line(message)}")

    def found(self) -> str:
        """What stands here, for a message."""
        rest = self.text[self.at : self.at + _SHOWN + 1].split("\n")[0].strip()
        if not rest:
            return "the end of the text" if self.at >= len(self.text) else "the end of the line"
        return rest if len(rest) <= _SHOWN else rest[:_SHOWN] + "..."

    def skip(self, *, before_value: bool = False) -> None:
        """Go over blanks and comments; before a value `#` begins a colour and no comment."""
        blanks = (_BLANKS_BEFORE_VALUE if before_value else _BLANKS).match(self.text, self.at)
        self.at = blanks.end() if blanks else self.at
        if self.text.startswith("/*", self.at):
            self.fail("The comment that begins here is never closed with */.")

    def take(self, token: str) -> bool:
        """Go over `token` if it stands here."""
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def peek(self) -> str:
        """The next character, empty at the end."""
        return self.text[self.at : self.at + 1]

    def bare_name(self) -> str | None:
        """A name without quotes, or None when none stands here."""
        match = _NAME.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match.group()

    def quoted(self) -> str | None:
        """A string (`"a"`, `"a" + "b"`) or HTML (`<b>`) as written between its quotes, or None.

        Escapes stay as they are. Of HTML the outer brackets stay.
        """
        if self.peek() == "<":
            return self._html()
        if self.peek() != '"':
            return None
        parts = [self._string()]
        while (join := _JOIN.match(self.text, self.at)) is not None:
            self.at = join.end()
            parts.append(self._string())
        return "".join(parts)

    def value(self) -> tuple[str, bool] | None:
        """A value behind `=` and whether it was quoted, or None when none stands here."""
        text = self.quoted()
        if text is not None:
            return text, True
        if self.peek() == "'" and "'" in self.text[self.at + 1 :].split("\n")[0]:
            self.fail("A text is written in double quotes.")
        match = _VALUE.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match.group(), False

    def skip_ports(self) -> None:
        """Go over `:port:compass` behind the name of a node."""
        while (colon := _PORT.match(self.text, self.at)) is not None:
            self.at = colon.end()
            if self.quoted() is None:
                self.bare_name()

    def _string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            self.fail("The text that begins here has no closing quote.")
        self.at = match.end()
        return match.group()[1:-1]

    def _html(self) -> str:
        start, depth = self.at, 0
        for angle in _ANGLE.finditer(self.text, start):
            depth += 1 if angle.group() == "<" else -1
            if depth == 0:
                self.at = angle.end()
                break
        else:
            self.fail("The HTML that begins here has no closing >.")
        return self.text[start : self.at]


def needs_quotes(name: str) -> bool:
    """Whether other readers of DOT would refuse this name without quotes."""
    return _PLAIN_NAME.fullmatch(name) is None
