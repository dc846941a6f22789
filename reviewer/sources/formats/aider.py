"""aider: one Markdown history of all sessions in a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from reviewer.sources.format import Format
from reviewer.sources.formats import aider_tools
from reviewer.sources.formats.marked_turns import Author, Run, marked_turns
from reviewer.sources.reading import Reading, spot_of
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Turn

_SESSION = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\s*$")
_COMMAND = re.compile(
    r"/(?!ask\b|code\b|architect\b)\w[\w-]*(\s|$)|!\s*\S|# Fix any errors below, if possible\."
)
"""The person's commands to aider, and aider's own requests to the agent in their name."""
_OUTPUT = "line of tool output"


def _turns(reading: Reading) -> Iterator[Turn]:
    edits: list[aider_tools.Edit] = []
    command, session = "", None
    for each in marked_turns(reading, _Lines().author, _OUTPUT):
        if isinstance(each, Run):
            if each.author.session != session:
                edits, command = [], ""
            for line, parts in aider_tools.calls(each, edits, command):
                yield each.turn(spot_of((line,)), parts)
            edits, command = [], ""
            continue
        text, session = each.parts[0].text, each.origin.session
        is_agent = each.role is Role.ASSISTANT
        edits = aider_tools.proposed_edits(text) if is_agent else []
        command = "" if is_agent else aider_tools.command_in(text)
        if not is_agent and _COMMAND.match(text):
            wrapper = structs.replace(each.parts[0], use=RecordUse.WRAPPER)
            each = structs.replace(each, parts=[wrapper])
        yield each


class _Lines:
    """`#### ` marks the user, `> ` tool output; other lines are the agent's."""

    def __init__(self) -> None:
        self._started: str | None = None
        self._last = Author(None, "heading")
        self._goes_on = self._inside = self._spaced = self._apart = False

    def author(self, text: str) -> tuple[Author, str]:
        """The author of the next line, and the line without its mark.

        aider marks only the first line of an output. Its own lines end in two spaces, unless the
        file has been stripped, which distinguishes them from the agent's headings.
        """
        ends = text.endswith("  ")
        quoted = text.startswith("> ") or text == ">"
        self._spaced = self._spaced or (ends and (quoted or text.startswith("####")))
        typed = text.startswith("####") and (ends or not self._spaced)
        started = _SESSION.match(text) if text.startswith("# aider") else None
        marked = quoted or typed or started is not None
        self._inside = not marked and (self._inside or (self._goes_on and bool(text.strip())))
        self._goes_on = quoted and not ends
        if self._inside:
            self._inside = not (ends and text.strip())
            return self._last, text.rstrip()
        if started is not None:
            self._started = f"{started[1]}T{started[2]}"
            self._last = Author(None, "heading")
            return self._last, text
        if not text.strip():
            self._apart = True  # what the person types next is another message
            return self._last, ""
        if typed:
            return self._by(Role.USER), text[4:].strip()
        if quoted:
            return self._by(None), text[1:].strip()
        return self._by(Role.ASSISTANT), text.rstrip()

    def _by(self, role: Role | None) -> Author:
        """The author of the last line, if it is the same; None: aider itself."""
        reason, when = ("" if role else _OUTPUT), self._started
        goes_on = (self._last.role, self._last.reason) == (role, reason)
        if not goes_on or (role is Role.USER and self._apart):
            self._last = Author(role, reason, False, when, when)
        self._apart = False
        return self._last


def _is_aider(head: str) -> bool:
    lines = head.split("\n")
    return any(map(_SESSION.match, lines)) and any(line.startswith("#### ") for line in lines)


FORMAT = Format(
    name="aider",
    agent="aider",
    tested="a real file",
    detect_text=_is_aider,
    turns=_turns,
    several=True,
)
