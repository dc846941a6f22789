"""Lines and blocks of the Markdown in a context folder.

markdown-it-py is not used here: it needs about 50 ms more CPU time for 184 kB, and its tokens
neither have the exact lines of an item nor repair unclosed fences and comments.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from reviewer.packets.values import Problem
from reviewer.sources.binary import looks_binary
from reviewer.sources.note_lines import NO_TITLE, SETEXT, heading_of

_OPENING = re.compile(
    r"^[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:(?P<fence>`{3,20})(?!`)[^`\n]*$"
    r"|(?P<tildes>~{3,20})(?!~)[^\n]*$)|`[^`\n]*`|<!--",
    re.MULTILINE,
)
"""A fence, code in a line, or the beginning of a comment."""
_ENDLESS_COMMENT = "a comment that never ends, read as text"
_INDEX_START, _INDEX_END = "<!-- INDEX:START -->", "<!-- INDEX:END -->"
_LONGEST_TITLE = 200
_UTF_16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE


class MarkdownLine(NamedTuple):
    """A line without comments. `number` is 1-based; `code`: it belongs to a fenced code block."""

    number: int
    text: str
    code: bool = False


def read_lines(raw: bytes, name: str) -> tuple[list[MarkdownLine], list[Problem]]:
    """The lines of a file with any line ends or byte order mark, without comments; and problems.

    Invalid bytes are replaced and counted. Unclosed comments and fences are read as text. The
    generated index of entries (`INDEX:START` to `INDEX:END`) is left out. Underlined headings are
    returned with number signs.
    """
    problems: list[Problem] = []
    wide = raw.startswith(_UTF_16)
    if not wide and looks_binary(raw):
        return [], [Problem(name, 0, "is not text, so it was not read")]
    text = raw.decode("utf-16" if wide else "utf-8-sig", "replace")
    replaced = text.count("\ufffd") - raw.count("\ufffd".encode())
    if replaced > 0:
        problems.append(Problem(name, 0, f"{replaced} places are not UTF-8 and were replaced"))
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return _with_plain_headings(_without_comments(text, name, problems)), problems


def _without_comments(text: str, name: str, problems: list[Problem]) -> list[MarkdownLine]:
    """The lines without comments and the generated index. Unclosed ones are read as text, and
    reported.
    """
    begins = [0, *(found.end() for found in re.finditer("\n", text))]
    kept: list[str] = []
    code, commented = set[int](), set[int]()
    endless: set[str] = set()
    """Closings that do not occur from here on."""
    at = place = 0
    while found := _OPENING.search(text, place):
        place = found.end()
        closing = found["fence"] or found["tildes"]
        if not closing and found[0] != "<!--":
            continue  # code in a line
        fenced = bool(closing)
        if not fenced:
            closing = _INDEX_END if text.startswith(_INDEX_START, found.start()) else "-->"
        end = -1 if closing in endless else _end_of(text, place, closing)
        if end < 0 and closing == _INDEX_END:
            end = _end_of(text, place, "-->")
        first = bisect_right(begins, found.start())
        if end < 0:
            endless.add(closing)
            what = "a code fence that never ends" if fenced else _ENDLESS_COMMENT
            problems.append(Problem(name, first, what))
            continue
        lines = range(first, bisect_right(begins, end) + 1)
        if fenced:
            code.update(lines)
        else:
            commented.update(lines)
            kept += [text[at : found.start()], "\n" * (len(lines) - 1)]
            at = end
        place = end
    whole = "".join([*kept, text[at:]]).split("\n")
    return [
        MarkdownLine(number, line.rstrip() if number in commented else line, number in code)
        for number, line in enumerate(whole, 1)
        if line.strip() or number not in commented
    ]


def _end_of(text: str, at: int, closing: str) -> int:
    """The end of the fence or comment opened before `at`; -1 if it is never closed."""
    if closing[0] not in "`~":
        end = text.find(closing, at)
        return end if end < 0 else end + len(closing)
    line = re.compile(rf"^[ \t]*{closing}{closing[0]}*[ \t]*$", re.MULTILINE)
    found = line.search(text, at)
    return found.end() if found else -1


def _with_plain_headings(lines: list[MarkdownLine]) -> list[MarkdownLine]:
    """Lines with underlined headings turned into headings with number signs."""
    found: list[MarkdownLine] = []
    for line in lines:
        under = None if line.code else SETEXT.match(line.text)
        if under and _may_be_title(found):
            title = found.pop()
            signs = "#" if under[1][0] == "=" else "##"
            found.append(MarkdownLine(title.number, f"{signs} {title.text.strip()}"))
        else:
            found.append(line)
    return found


def _may_be_title(lines: list[MarkdownLine]) -> bool:
    """Whether the last line is a paragraph of one line, so that an underline makes it a heading."""
    if not lines or lines[-1].code or len(lines[-1].text) > _LONGEST_TITLE:
        return False
    if NO_TITLE.match(lines[-1].text):
        return False
    return len(lines) == 1 or not lines[-2].text.strip()


_ITEM = re.compile(r"([ \t]*)([-*+•]|\d{1,9}[.)])(?:[ \t]+(.*)|$)")
_BOX = re.compile(r"\[([^\]\[]?)\](?:[ \t]+(.*)|$)")
_THEMATIC_BREAK = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")


class MarkdownBlock(Struct):
    """A heading (`level` > 0), a paragraph, or a list item (with a `marker`).

    `lines` do not include the marker and the indentation. `box` is the content of the checkbox:
    None without one, empty for an open one. `group` is the path of headings above.
    """

    number: int
    lines: list[str]
    group: tuple[str, ...]
    level: int = 0
    marker: str = ""
    indent: int = 0
    box: str | None = None

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines).strip()


def blocks(lines: Iterable[MarkdownLine]) -> Iterator[MarkdownBlock]:
    """The blocks in order. Nested items follow their parent with a larger `indent`."""
    path: dict[int, str] = {}
    """The headings above, by level."""
    current: MarkdownBlock | None = None
    content = 0  # column where the text of the current item begins
    blank = in_code = False
    for line in lines:
        if not line.text.strip() and not line.code:
            blank = True
            continue
        text = line.text.expandtabs(4)
        indent = len(text) - len(text.lstrip(" "))
        was_code, in_code = in_code, line.code
        heading = None if line.code else heading_of(text)
        item = _item(text, line.code, line.code and not was_code)
        is_break = not line.code and bool(_THEMATIC_BREAK.match(text))
        if current is not None and (heading or item or is_break):
            yield current
            current = None
        if heading:
            level, title = heading
            path = {step: above for step, above in path.items() if step < level}
            yield MarkdownBlock(line.number, [title], tuple(path.values()), level=level)
            path[level] = title
        elif item and not is_break:
            current = _listed(line.number, item, tuple(path.values()))
            content = len(item[1]) + len(item[2]) + 1
        elif current is not None and (not blank or (current.marker and indent > current.indent)):
            current.lines += [""] * blank
            goes_on = not (blank or line.code or was_code)
            current.lines.append(text.strip() if goes_on else _dedented(text, content))
        elif not is_break:
            if current is not None:
                yield current
            group, content = tuple(path.values()), 0
            current = MarkdownBlock(line.number, [text.rstrip()], group)
        blank = False
    if current is not None:
        yield current


def nested(found: Sequence[MarkdownBlock], at: int) -> int:
    """End index of the blocks that are nested in the item `found[at]`."""
    end = at + 1
    while end < len(found) and found[end].marker and found[end].indent > found[at].indent:
        end += 1
    return end


def item_text(item: MarkdownBlock, inside: Iterable[MarkdownBlock] = ()) -> str:
    """The text of an item with its nested items, as Markdown without its own marker."""
    lines = [item.text]
    for block in inside:
        margin = " " * max(block.indent - item.indent - 2, 0)
        first, *rest = block.text.split("\n")
        lines.append(f"{margin}{block.marker} {first}".rstrip())
        lines += [f"{margin}  {text}".rstrip() for text in rest]
    return "\n".join(lines).strip()


def is_open(item: MarkdownBlock) -> bool:
    """Whether an item has a checkbox and is neither ticked, crossed out nor struck through."""
    if item.box is None or item.box in ("x", "X", "-", "~", "✓", "✔", "✗", "✘"):
        return False
    return not (item.text.startswith("~~") and item.text.count("~~") >= 2)


def _item(text: str, code: bool, fence_begins: bool) -> re.Match[str] | None:
    """The match for the start of an item. In code there is none, except for an opening fence."""
    found = None if code and not fence_begins else _ITEM.match(text)
    if found and code and not (found[3] or "").startswith(("```", "~~~")):
        return None
    return found


def _listed(number: int, item: re.Match[str], group: tuple[str, ...]) -> MarkdownBlock:
    text = item[3] or ""
    box = _BOX.match(text)
    return MarkdownBlock(
        number,
        [(box[2] or "") if box else text],
        group,
        marker=item[2],
        indent=len(item[1]),
        box=box[1].strip() if box else None,
    )


def _dedented(text: str, margin: int) -> str:
    """The line without the indentation of its item."""
    blanks = len(text) - len(text.lstrip(" "))
    return text[min(blanks, margin) :].rstrip()
