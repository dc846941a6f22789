"""Splits Markdown-like text into units: sentences, list items, headings, code and others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from reviewer.text.sentences import split_sentences


class UnitKind(StrEnum):
    """Kinds of units; only SENTENCE, LIST_ITEM and HEADING are prose."""

    SENTENCE = "sentence"
    LIST_ITEM = "list item"
    HEADING = "heading"
    CODE = "code"
    COMMAND = "command"
    TABLE_ROW = "table row"
    QUOTE = "quote"
    TRACE = "trace"


class Unit(Struct, frozen=True):
    """`text[start:end]` without surrounding white space and without its list or heading marks.

    `heading` is the nearest heading above (`## Risks` or a line such as `**Risks:**`), `marker` the
    mark of a list item (`-`, `2.`, `- [x]`), which includes its wrapped lines. `block` numbers
    paragraphs, items and headings: sentences of one paragraph share it.
    """

    kind: UnitKind
    start: int
    end: int
    heading: str = ""
    marker: str = ""
    block: int = 0


# One alternative per form of line; the first match wins. Each is anchored at the line start and
# reads a bounded prefix, so that every line takes one pass. The first alternative matches most
# lines: after a plain word, only a trace is possible besides prose.
_LINE = re.compile(
    r"""^(?:
      (?P<prose>(?!Traceback[ ]|File[ ]|at[ ]|goroutine[ ]|npm[ ]|diff[ ])[A-Za-z][a-z]*+[ ,'])
    | (?P<blank>[ \t\r]*$)
    | (?P<fence>[ \t]{0,12}(?P<ticks>`{3,}|~{3,}))
    | (?P<comment>[ \t]{0,8}(?P<opening><!--|%%))
    | (?P<quote>[ \t]{0,8}>(?![=>]))
    | (?P<table>[ \t]{0,8}(?:\|[^\n]*\||[│┌├└╭╰┏┗]))
    | (?P<heading>\#{1,6}[ \t]+(?=\S))
    | (?P<rule>[ \t]{0,3}(?:[-*_][ \t]*){3,}$|[ \t]{0,3}[=─═]{3,}[ \t]*$)
    | (?P<command>[ \t]{0,4}[$❯][ \t]+(?=\S))
    | (?P<trace>[ \t]*(?:
          Traceback[ ]\(most[ ]recent|File[ ]"[^"\n]{1,200}",[ ]line[ ]\d|at[ ][\w.$<>]{1,120}[ ]?\(
        | \d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|(?:ERROR|WARN|INFO|DEBUG|FATAL)[ :\]]
        | ---[ ](?:FAIL|PASS)|===[ ]RUN|goroutine[ ]\d|\w*(?:Error|Exception):[ ]|npm[ ]ERR!
        | [+\-]{3}[ ][ab]/|@@[ ]-\d|diff[ ]--git))
    | (?P<item>[ \t]{0,24}(?P<marker>[-*+•–]|\(?\d{1,3}[.)]|[a-z]\))
        [ \t]+(?P<box>\[[ xX~-]?\][ \t]+)?(?=\S))
    | (?P<bold>(?:\*\*[^*\n]{2,80}\*\*|__[^*_\n]{2,80}__)[ \t]*+:?[ \t]*+$)
    | (?P<code>(?:[ ]{4}|\t))
    | (?P<text>)
    )""",
    re.MULTILINE | re.VERBOSE,
)


def units(text: str) -> Iterator[Unit]:
    """The units of a text in order, with exact character spans. Linear in the text's length."""
    return iter(_Splitter(text).run())


class _Splitter:
    """One pass over the lines; a paragraph or list item stays open until something ends it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Unit] = []
        self.heading = ""
        self.block = 0
        self.open_start = -1
        self.open_end = 0
        self.marker = ""
        self.after_list = False

    def run(self) -> list[Unit]:
        text, found = self.text, self.found
        position, size = 0, len(text)
        while position < size:
            line_end = text.find("\n", position)
            if line_end < 0:
                line_end = size
            match = _LINE.match(text, position)
            assert match is not None  # its last alternative is empty
            form = match.lastgroup or ""  # the last group closed, hence the outer one
            if form in ("text", "prose"):
                self._extend(position, line_end)
                position = line_end + 1
                continue
            if form == "blank":
                self._close()
            elif form == "item":
                self._close()
                self._open_item(match, line_end)
            elif form == "code":
                if self.open_start >= 0 or self.after_list:
                    self._extend(position, line_end)
                else:
                    found.append(Unit(UnitKind.CODE, *self._trim(position, line_end), self.heading))
            elif form == "rule":
                # `---` or `===` under a single line of prose makes that line a heading, as in
                # Markdown.
                if text[position : position + 1] in "=-" and self.open_start >= 0:
                    self._close_as_heading()
                self._close()
            else:
                self._close()
                if form in ("heading", "bold"):
                    begin = match.end() if form == "heading" else position
                    start, end = self._trim(begin, line_end)
                    self._head(start, end, text[start:end].strip("*_: \t#"))
                elif form == "fence":
                    line_end = self._fence_end(match, line_end)
                    found.append(Unit(UnitKind.CODE, *self._trim(position, line_end), self.heading))
                elif form == "comment":
                    closing = "-->" if match["opening"] == "<!--" else "%%"
                    closed = text.find(closing, match.end())
                    line_end = size if closed < 0 else _line_end(text, closed)
                else:
                    span = self._trim(position, line_end)
                    found.append(Unit(_OTHER[form], *span, self.heading))
            if form not in ("blank", "item", "code"):
                self.after_list = False
            position = line_end + 1
        self._close()
        return found

    def _extend(self, start: int, end: int) -> None:
        flush = not self.text[start : start + 1].isspace()
        if self.marker and flush and self.text[self.open_start : self.open_end].endswith(_STOPS):
            self._close()  # a line of its own below a finished item
        if self.open_start < 0:
            self.open_start = start
            if flush:
                self.after_list = False
        self.open_end = end

    def _open_item(self, match: re.Match[str], line_end: int) -> None:
        self.open_start, self.open_end = match.end(), line_end
        marker, box = match.group("marker", "box")
        self.marker = f"{marker} {box.strip()}" if box else marker
        self.after_list = True

    def _close(self) -> None:
        if self.open_start < 0:
            return
        start, end = self._trim(self.open_start, self.open_end)
        self.open_start = -1
        marker, self.marker = self.marker, ""
        if start >= end:
            return
        self.block += 1
        block, heading, found = self.block, self.heading, self.found
        if marker:
            found.append(Unit(UnitKind.LIST_ITEM, start, end, heading, marker, block))
            return
        for first, last in split_sentences(self.text, start, end):
            found.append(Unit(UnitKind.SENTENCE, first, last, heading, "", block))

    def _close_as_heading(self) -> None:
        start, end = self._trim(self.open_start, self.open_end)
        if not self.marker and end - start <= 120 and "\n" not in self.text[start:end]:
            self.open_start = -1
            self._head(start, end, self.text[start:end])

    def _head(self, start: int, end: int, heading: str) -> None:
        self.block += 1
        self.heading = heading
        self.found.append(Unit(UnitKind.HEADING, start, end, heading, "", self.block))

    def _fence_end(self, match: re.Match[str], line_end: int) -> int:
        """End of the closing fence's line; an unclosed fence extends to the end of the text."""
        closing = re.compile(rf"^[^\S\n]*{match['ticks']}.*$", re.MULTILINE)
        found = closing.search(self.text, line_end)
        return len(self.text) if found is None else found.end()

    def _trim(self, start: int, end: int) -> tuple[int, int]:
        piece = self.text[start:end]
        stripped = piece.lstrip()
        start += len(piece) - len(stripped)
        return start, start + len(stripped.rstrip())


_STOPS = (".", "!", "?")
_OTHER = {
    "quote": UnitKind.QUOTE,
    "table": UnitKind.TABLE_ROW,
    "command": UnitKind.COMMAND,
    "trace": UnitKind.TRACE,
}


def _line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found
