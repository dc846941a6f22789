"""The reader of Markdown: lines, front matter, headings, sections, and the blocks in them.

Reads line by line, because a note may be of any size. Sentences and items with exact character
spans, in any text, are in `text/units.py`. markdown-it-py needs the whole text at once, and three
to seven times the CPU time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf

from msgspec import Struct

SECTION_CHARS = 20_000
"""Characters after which a section is cut at the next blank line, to limit memory use."""
HEADING_CHARS = 400
FRONT_MATTER_LINES = 150
VALUE_LIMIT = 500

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*$")
_NO_TITLE = re.compile(r"\s*([-*+>|#`~=<]|\d+[.)]\s|$)")
_MARK = r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?"
_FENCE = re.compile(rf"{_MARK}(?:(`{{3,}})[^`]*|(~{{3,}}).*)$")
_SIGN = re.compile(
    rf"^{_MARK}(?P<fence>`{{3,20}}(?=[^`\n]*$)|~{{3,20}})[^\n]*$|`[^`\n]*`"
    r"|(?P<comment><!--(?: INDEX:START -->)?)",
    re.MULTILINE,
)
"""An opening fence, code in a line, or the beginning of a comment or of a generated index."""
_CLOSING = {"<!--": "-->", "<!-- INDEX:START -->": "<!-- INDEX:END -->"}
_CODE_IN_LINE = re.compile(r"`[^`]*`")
_ITEM = re.compile(r"( *)([-*+•]|\d{1,9}[.)])(?:[ ]+(?:\[([^\]\[]?)\](?=[ ]|$)[ ]*)?(.*)|$)")
THEMATIC_BREAK = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_FIELD = re.compile(r"([\w][\w .-]{0,60}?)\s*[:=]\s*(.*)")
_LISTED_VALUE = re.compile(r"\s*-\s+(.*)")


class NoteLine(Struct, frozen=True, gc=False):
    """One line: its number (0-based) and text, and its byte offset and bytes in the file.

    `raw` is empty for a line that is `too_long`, which is left out of all sections.
    """

    number: int
    text: str
    start: int = 0
    raw: bytes = b""
    too_long: bool = False


class NoteSection(Struct):
    """Consecutive lines under one heading path; `level` 0: before any heading."""

    lines: list[NoteLine]
    headings: tuple[str, ...]
    level: int
    entry: bool = False
    title_lines: int = 0
    """The number of its first lines that are its heading."""

    @property
    def title(self) -> str:
        return self.headings[-1] if self.headings else ""

    @property
    def body(self) -> list[NoteLine]:
        return self.lines[self.title_lines :]


class Block(Struct):
    """A heading (`level` > 0), a paragraph, or a list item (with a `marker`) and all inside it.

    `lines` do not include the marker and the indentation. `box` is the content of the checkbox:
    None without one, empty for an open one. `headings` are those above.
    """

    number: int
    lines: list[str]
    headings: tuple[str, ...]
    level: int = 0
    marker: str = ""
    indent: int = 0
    box: str | None = None
    lead: str = ""
    """Of an item: the paragraph before its list, if that ends in a colon."""
    leads: bool = False
    """Whether it is such a paragraph."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()

    @property
    def column(self) -> int:
        """Where its text begins."""
        return self.indent + len(self.marker) + 1 if self.marker else 0


def heading_of(line: str) -> tuple[int, str] | None:
    """Level and title of an ATX heading line, or None."""
    found = _HEADING.match(line) if len(line) <= HEADING_CHARS else None
    if found is None:
        return None
    title = (found[2] or "").strip()
    return len(found[1]), re.sub(r"(^|[ \t]+)#+$", "", title).strip()


def without_comments(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text without comments and the generated index, each line with the number that it had;
    and what never ends, by line (0-based).

    A comment or fence that never ends begins nothing: its sign is left out.
    """
    parts: list[str] = []
    endless: dict[re.Pattern[str], tuple[int, str]] = {}
    at = place = 0
    while found := _SIGN.search(text, place):
        place = found.end()
        kind = found.lastgroup
        if kind is None:  # code in a line
            continue
        sign = found[kind]
        closing = re.compile(_CLOSING.get(sign, rf"^[ \t]*{sign}+[ \t]*$"), re.MULTILINE)
        end = None if closing in endless else closing.search(text, place)
        if end is None:
            if closing not in endless:
                what = f"a {kind} that never ends, read as text"
                endless[closing] = text.count("\n", 0, place), what
            parts.append(text[at : found.start(kind)])
            at = place
            continue
        place = end.end()
        if kind != "fence":
            hidden = text.count("\n", found.start(), place)
            parts += [text[at : found.start()], "\n" * hidden]
            at = place
    return "".join([*parts, text[at:]]), list(endless.values())


class Markup:
    """Tracks code fences and HTML comments, inside which headings and items do not count."""

    def __init__(self) -> None:
        self._fence = ""
        self._comment = False

    @property
    def inside(self) -> bool:
        """Whether the next line is in a fence or comment."""
        return self._comment or bool(self._fence)

    def plain(self, line: str) -> bool:
        """Whether a line is outside fences and comments; call it for every line in order."""
        if self._fence:
            if line.strip().startswith(self._fence) and not line.strip(self._fence[0] + " \t"):
                self._fence = ""
            return False
        if self._comment:
            self._comment = "-->" not in line
            return False
        fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            self._fence = fence[1] or fence[2]
            return False
        if "<!--" in line:
            line = _CODE_IN_LINE.sub("", line)
            opened = line.rfind("<!--")
            self._comment = opened >= 0 and line.find("-->", opened) < 0
        return not self._comment


def sections(
    lines: Iterable[NoteLine],
    is_entry: Callable[[int, str], bool] | None = None,
    most: float = SECTION_CHARS,
) -> Iterator[NoteSection]:
    """The sections of a note in order; some are blank.

    A heading with `is_entry(level, title)` starts an entry, which includes its sub-headings. Only a
    single-line section can be longer than twice `most` characters.
    """
    markup = Markup()
    path: list[tuple[int, str]] = []
    current = NoteSection([], (), 0)
    size = 0
    for line in lines:
        plain = markup.plain(line.text)
        heading = heading_of(line.text) if plain else None
        underline = _UNDERLINE.match(line.text) if plain and heading is None else None
        if underline and _is_title(current.lines):
            heading = (1 if underline[1][0] == "=" else 2, current.lines[-1].text.strip())
        if heading is not None and not (current.entry and heading[0] > current.level):
            moved = [current.lines.pop()] if underline else []
            yield current
            path = [step for step in path if step[0] < heading[0]] + [heading]
            titles = tuple(title for _, title in path)
            entry = is_entry is not None and is_entry(*heading)
            current = NoteSection(moved, titles, heading[0], entry, len(moved) + 1)
            size = sum(len(each.text) for each in moved)
        full = size > most and (size > 2 * most or (plain and not line.text.strip()))
        if full or line.too_long:
            yield current
            current = NoteSection([], current.headings, current.level, current.entry)
            size = 0
        current.lines += [] if line.too_long else [line]
        size += len(line.text) + 1
    yield current


def headings_of(found: Iterable[NoteSection]) -> list[tuple[int, str]]:
    """Level and title of each section with a heading."""
    return [(section.level, section.title) for section in found if section.title_lines]


def blocks(lines: Iterable[NoteLine], *, boxes_apart: bool = False) -> Iterator[Block]:
    """The blocks of a note in order.

    `boxes_apart`: an item with a checkbox is a block of its own, also inside another.
    """
    for section in sections(lines, most=inf):
        if section.title_lines:
            above, number = section.headings[:-1], section.lines[0].number
            yield Block(number, [section.title], above, level=section.level)
        lead: Block | None = None
        for block in (below := _blocks_below(section, boxes_apart)):
            if not block.marker:
                lead = block if block.text.rstrip("*_").endswith(":") else None
            elif lead is not None:
                lead.leads, block.lead = True, lead.text
        yield from below


def _blocks_below(section: NoteSection, boxes_apart: bool) -> list[Block]:
    found: list[Block] = []
    around: list[Block] = []
    """The blocks that a line may belong to, innermost last."""
    markup, blank, lead = Markup(), True, False
    for line in section.body:
        text = line.text.expandtabs(4).rstrip()
        inside = markup.inside
        plain = markup.plain(text)
        is_break = plain and THEMATIC_BREAK.match(text)
        if is_break or not (text or inside):
            blank = True
            around = [] if is_break else around
            continue
        indent = len(text) - len(text.lstrip(" "))
        item = None if inside else _ITEM.match(text)
        if item or (blank and not inside):
            while around and (indent <= around[-1].indent or not around[-1].marker):
                around.pop()
        own = item and (not around or (boxes_apart and item[3] is not None))
        if around and not own:
            lead = lead and plain and not (item or blank)  # its first paragraph, without margin
            margin = indent if lead else min(indent, around[-1].column)
            around[-1].lines += [""] * blank + [text[margin:]]
        else:
            block = Block(line.number, [text], section.headings)
            if item:
                block.marker, block.indent, block.lines = item[2], indent, [item[4] or ""]
                block.box = item[3] and item[3].strip()
            around.append(block)
            found.append(block)
            lead = True
        blank = False
    return found


def front_matter(lines: Sequence[str]) -> tuple[dict[str, str], int]:
    """The fields of lines of `key: value` between `---`, or `key = value` between `+++`, at the
    beginning of a note, and the number of these lines; 0 if there are none.

    Without a closing line, the note is read from its first line. Lists become one comma-separated
    text; nested values and comments are skipped.
    """
    fence = lines[0].rstrip() if lines else ""
    if fence not in ("---", "+++"):
        return {}, 0
    ends = (fence, "...") if fence == "---" else (fence,)
    found: dict[str, str] = {}
    key = ""
    for number, line in enumerate(lines[1:FRONT_MATTER_LINES], 1):
        text = line.rstrip()
        if text in ends:
            return found, number + 1
        if fence == "---" and text.startswith("#") and not found:
            continue
        item = _LISTED_VALUE.fullmatch(text)
        field = _FIELD.fullmatch(text)
        if item and key:
            value = _plain_value(item[1])
            if value:
                found[key] = f"{found[key]}, {value}"[:VALUE_LIMIT] if found.get(key) else value
        elif field and not text[0].isspace():
            key = field[1].strip()
            value = _plain_value(field[2])
            if value:
                found[key] = value
    return {}, 0


def _plain_value(value: str) -> str:
    value = value.strip()
    if value.startswith("[") and value.endswith("]") and not value.startswith("[["):
        value = ", ".join(_plain_value(part) for part in value[1:-1].split(","))
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return value[:VALUE_LIMIT]


def _is_title(lines: list[NoteLine]) -> bool:
    """Whether the last line is a one-line paragraph, which an underline turns into a heading."""
    if not lines or len(lines[-1].text) > 200 or _NO_TITLE.match(lines[-1].text):
        return False
    return len(lines) == 1 or not lines[-2].text.strip()
