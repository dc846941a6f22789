"""Lines and blocks of the Markdown in a context folder.

markdown-it-py is not used here: it needs about 50 ms more CPU time for 184 kB, and its tokens do
not give the exact lines that items are quoted from, nor repair unclosed fences and comments.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from reviewer.packets.values import Problem
from reviewer.sources.binary import looks_binary
from reviewer.sources.note_lines import NO_TITLE, SETEXT, heading_of

_FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(`{3,20}|~{3,20})(.*)$")
_INDEX_START, _INDEX_END = "<!-- INDEX:START -->", "<!-- INDEX:END -->"
_LONGEST_TITLE = 200


class MarkdownLine(NamedTuple):
    """A line without comments. `number` is 1-based; `code`: it belongs to a fenced code block."""

    number: int
    text: str
    code: bool = False


class TextLines(NamedTuple):
    """The lines of a file, and problems found in it."""

    lines: list[MarkdownLine]
    problems: list[Problem]


def read_lines(raw: bytes, name: str) -> TextLines:
    """The lines of a file with any line ends or byte order mark, without comments.

    Invalid bytes are replaced and counted. Unclosed comments and fences are read as text. The
    generated index of entries (`INDEX:START` to `INDEX:END`) is left out. Underlined headings are
    returned with number signs.
    """
    problems: list[Problem] = []
    if looks_binary(raw):
        return TextLines([], [Problem(name, 0, "is not text, so it was not read")])
    text, replaced = _decoded(raw)
    if replaced:
        problems.append(Problem(name, 0, f"{replaced} places are not UTF-8 and were replaced"))
    texts = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").split("\n")
    lines = _without_comments(texts, name, problems)
    return TextLines(_with_plain_headings(lines), problems)


def _decoded(raw: bytes) -> tuple[str, int]:
    """The text, and the number of invalid places."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig"
    try:
        return raw.decode(encoding), 0
    except UnicodeDecodeError:
        text = raw.decode(encoding, "replace")
        return text, text.count("\ufffd")


def _without_comments(texts: list[str], name: str, problems: list[Problem]) -> list[MarkdownLine]:
    closers = _last_closers(texts)
    last_end = max((n for n, text in enumerate(texts) if "-->" in text), default=-1)
    index_end = max((n for n, text in enumerate(texts) if _INDEX_END in text), default=-1)
    lines: list[MarkdownLine] = []
    fence = ""
    comment = False
    skip_to = -1
    for at, text in enumerate(texts):
        number = at + 1
        if at <= skip_to:
            continue
        if fence:
            lines.append(MarkdownLine(number, text, True))
            if _closes(text, fence):
                fence = ""
            continue
        if not comment:
            if _INDEX_START in text and index_end > at:
                skip_to = next(n for n in range(at, len(texts)) if _INDEX_END in texts[n])
                continue
            opened = _FENCE.match(text)
            if opened and not (opened[1][0] == "`" and "`" in opened[2]):
                if _closed_later(opened[1], at, closers):
                    fence = opened[1]
                    lines.append(MarkdownLine(number, text, True))
                    continue
                problems.append(Problem(name, number, "a code fence that never ends"))
        if not comment and "<!--" not in text:
            lines.append(MarkdownLine(number, text))
            continue
        kept, comment, unended = _strip_comments(text, comment, at < last_end)
        if unended:
            problems.append(Problem(name, number, "a comment that never ends, read as text"))
        if kept.strip():
            lines.append(MarkdownLine(number, kept))
    return lines


def _last_closers(texts: list[str]) -> dict[str, int]:
    """Index of the last line for each kind of fence end."""
    found: dict[str, int] = {}
    for at, text in enumerate(texts):
        bare = text.strip()
        if bare[:3] in ("```", "~~~") and len(bare) <= 20 and not bare.strip(bare[0]):
            found[bare] = at
    return found


def _closed_later(signs: str, at: int, closers: dict[str, int]) -> bool:
    return any(
        last > at and closer[0] == signs[0] and len(closer) >= len(signs)
        for closer, last in closers.items()
    )


def _closes(text: str, fence: str) -> bool:
    bare = text.strip()
    return bare.startswith(fence) and not bare.strip(fence[0])


def _strip_comments(text: str, comment: bool, ends_later: bool) -> tuple[str, bool, bool]:
    """The line without comments; whether a comment continues; whether one is unclosed."""
    kept: list[str] = []
    at = 0
    while True:
        if comment:
            end = text.find("-->", at)
            if end < 0:
                return "".join(kept), True, False
            at, comment = end + 3, False
            continue
        start = _comment_start(text, at)
        if start < 0:
            return "".join([*kept, text[at:]]).rstrip(), False, False
        if text.find("-->", start + 4) < 0 and not ends_later:
            return "".join([*kept, text[at:]]).rstrip(), False, True
        kept.append(text[at:start])
        at, comment = start + 4, True


def _comment_start(text: str, at: int) -> int:
    """Index of the next comment, ignoring those in inline code; -1 for none."""
    start = text.find("<!--", at)
    while start >= 0 and text.count("`", 0, start) % 2 and "`" in text[start:]:
        start = text.find("<!--", start + 4)
    return start


def _with_plain_headings(lines: list[MarkdownLine]) -> list[MarkdownLine]:
    """Lines with underlined headings turned into headings with number signs."""
    found: list[MarkdownLine] = []
    for line in lines:
        under = (
            None
            if line.code or line.text[:4].strip()[:1] not in ("=", "-")
            else SETEXT.match(line.text)
        )
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
        """The text of the block itself."""
        return "\n".join(line.rstrip() for line in self.lines).strip()


def blocks(lines: Iterable[MarkdownLine]) -> Iterator[MarkdownBlock]:
    """The blocks in order. Nested items follow their parent with a larger `indent`."""
    group: list[tuple[int, str]] = []
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
            group = [step for step in group if step[0] < heading[0]] + [heading]
            yield MarkdownBlock(line.number, [heading[1]], _path(group[:-1]), level=heading[0])
        elif item and not is_break:
            current = _listed(line.number, item, _path(group))
            content = len(item[1]) + len(item[2]) + 1
        elif current is not None and (not blank or (current.marker and indent > current.indent)):
            current.lines += [""] * blank
            goes_on = not (blank or line.code or was_code)
            current.lines.append(text.strip() if goes_on else _dedented(text, content))
        elif not is_break:
            if current is not None:
                yield current
            current, content = MarkdownBlock(line.number, [text.rstrip()], _path(group)), 0
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
    for each in inside:
        margin = " " * max(each.indent - item.indent - 2, 0)
        first, *rest = each.text.split("\n")
        lines.append(f"{margin}{each.marker} {first}".rstrip())
        lines += [f"{margin}  {text}".rstrip() for text in rest]
    return "\n".join(lines).strip()


def is_open(item: MarkdownBlock) -> bool:
    """Whether an item has a checkbox and is neither ticked, crossed out nor struck through."""
    if item.box is None or item.box in ("x", "X", "-", "~", "✓", "✔", "✗", "✘"):
        return False
    return not (item.text.startswith("~~") and item.text.count("~~") >= 2)


def _path(group: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(title for _, title in group)


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
