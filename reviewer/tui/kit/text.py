"""Layout of styled text blocks in lines of a given width; no widgets, no colours.

Texts come in as stored and go through `display_text` here, piece by piece, so that a marked span
stays in place when hidden characters become visible marks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from typing import TYPE_CHECKING
from unicodedata import combining

from msgspec import Struct
from rich._wrap import divide_line
from rich.cells import cell_len, split_graphemes

from reviewer.clock import from_iso
from reviewer.text.display import display_line, display_text
from reviewer.text.numerals import count as count

if TYPE_CHECKING:
    from reviewer.text.word_diff import Hunk

SHOWN_CHARACTERS = 16_000
"""Maximum number of characters laid out per text; a last line gives the size of the rest."""

_JOINERS = "\u200d\ufe0e\ufe0f"


class Run(Struct, frozen=True, gc=False):
    """Text in one style, named as in `theme.Palette`."""

    text: str
    style: str = "text"


MARGIN = (Run(" "),)
"""The usual margin of a text in a pane."""


class TextSpan(Struct, frozen=True, gc=False):
    """Characters `start:end` of a block's text in another style.

    A pane scrolls to a `here` span; a long text is cut around it.
    """

    start: int
    end: int
    style: str = "span"
    here: bool = True


class TextBlock(Struct, frozen=True, gc=False):
    """One text with its margin.

    `first` is the margin of the first line and `rest` of all others, by default blanks of the same
    width. Without `wrap` each line is cut to one row with an ellipsis. Only the part around the
    first span is shown of a text longer than `limit` characters, with a remark.
    """

    text: str
    style: str = "text"
    spans: tuple[TextSpan, ...] = ()
    first: tuple[Run, ...] = ()
    rest: tuple[Run, ...] | None = None
    wrap: bool = True
    most: int = 0
    """Maximum number of rows, the last cut with an ellipsis; 0 for all."""
    limit: int = SHOWN_CHARACTERS
    more: str = ""
    """How to see the rest, after "… 812 kB more": ", o opens the source"."""


class TextLine(Struct, frozen=True, gc=False):
    """One row of cells. `block` is the index of its block; `marked`: a `here` span touches it."""

    runs: tuple[Run, ...]
    block: int
    marked: bool = False

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


def lay_out(blocks: Sequence[TextBlock], width: int, ellipsis: str = "…") -> tuple[TextLine, ...]:
    """All blocks as rows of at most `width` cells, margins included (8 at least)."""
    lines: list[TextLine] = []
    for index, block in enumerate(blocks):
        lines.extend(_block_lines(block, index, max(width, 8), ellipsis))
    return tuple(lines)


def wrap(text: str, width: int) -> list[tuple[int, int]]:
    """Line breaks of a paragraph: character ranges, each at most `width` cells (2 or more) wide.

    Only white space is left out, between ranges and after the last.
    """
    cuts = divide_line(text, max(width, 2))
    parts = zip([0, *cuts], [*cuts, len(text)], strict=True)
    return [(start, start + len(text[start:end].rstrip())) for start, end in parts]


def wrapped(text: str, width: int) -> list[str]:
    """A sentence in lines of at most `width` cells."""
    return [text[start:end].strip() for start, end in wrap(text, max(width, 1))] or [""]


def around(text: str, spans: Sequence[TextSpan], limit: int) -> tuple[int, int]:
    """A window of `text`, at most `limit` characters, around the first `here` span."""
    if len(text) <= limit:
        return 0, len(text)
    anchor = next((span.start for span in spans if span.here), 0)
    start = max(0, min(anchor - limit // 3, len(text) - limit))
    return start, start + limit


def size(characters: str) -> str:
    """The size of a text, human-readable: `812 kB`."""
    count = len(characters.encode("utf-8", "replace"))
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1_000:.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """One line of at most `width` cells; an ellipsis marks a cut."""
    if cell_len(text) <= width:
        return text
    if width <= 0:
        return ""
    used, near = 0, text[: 8 * width]
    for start, _end, cells in split_graphemes(near)[0]:
        if used + cells > width - 1:
            return text[:start].rstrip() + ellipsis
        used += cells
    return near + ellipsis


_UUID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


def short_ids(name: str, ellipsis: str = "…") -> str:
    """A name with a long session id shortened: `6b1d2f4e….jsonl`."""
    return _UUID.sub(rf"\1{ellipsis}", name)


def tail(path: str, width: int, ellipsis: str = "…") -> str:
    """The end of a path in at most `width` cells, from a slash on if possible."""
    path = display_line(path)
    if cell_len(path) <= width:
        return path
    at = len(path)
    while at and cell_len(path[at - 1 :]) < width:
        at -= 1
    slash = path.find("/", at)
    return ellipsis + path[slash if slash >= 0 else at :]


def _block_lines(block: TextBlock, index: int, width: int, ellipsis: str) -> Iterator[TextLine]:
    first = tuple(Run(display_line(run.text), run.style) for run in block.first)
    margin = sum(cell_len(run.text) for run in first)
    blank = (Run(" " * margin),) if margin else ()
    rest = blank if block.rest is None else block.rest
    start, end = around(block.text, block.spans, block.limit)
    room = max(width - max(margin, sum(cell_len(run.text) for run in rest)), 4)

    prefix = first
    if start:
        note = f"{ellipsis} {size(block.text[:start])} before{block.more}"
        yield TextLine((*prefix, Run(cut(note, room, ellipsis), "faint")), index)
        prefix = rest
    rows = list(_rows(block, start, end, room, ellipsis))
    if 0 < block.most < len(rows):
        runs, marked = rows[block.most - 1]
        rows[block.most - 1 :] = [(_cut((*runs, Run(" " * room)), room, ellipsis), marked)]
    for runs, marked in rows:
        yield TextLine((*prefix, *runs), index, marked)
        prefix = rest
    if end < len(block.text) and block.wrap:
        note = f"{ellipsis} {size(block.text[end:])} more{block.more}"
        yield TextLine((*prefix, Run(cut(note, room, ellipsis), "faint")), index)


def _rows(
    block: TextBlock, start: int, end: int, room: int, ellipsis: str
) -> Iterator[tuple[tuple[Run, ...], bool]]:
    """The rows of `block.text[start:end]` as runs, each with whether a `here` span touches it."""
    pieces = [
        (display_text(piece), style, marked) for piece, style, marked in _pieces(block, start, end)
    ]
    text = "".join(shown for shown, _, _ in pieces)
    ends = list(accumulate(len(shown) for shown, _, _ in pieces))
    at = 0
    for paragraph in text.split("\n"):
        for a, b in wrap(paragraph, room) if block.wrap else [(0, len(paragraph))]:
            runs: list[Run] = []
            touched = False
            for which in range(bisect_right(ends, at + a), len(pieces)):
                shown, style, marked = pieces[which]
                begin = ends[which] - len(shown)
                if begin >= at + b:
                    break
                if part := text[max(begin, at + a) : min(ends[which], at + b)]:
                    runs.append(Run(part, style))
                    touched = touched or marked
            yield (tuple(runs) if block.wrap else _cut(runs, room, ellipsis)), touched
        at += len(paragraph) + 1


def _pieces(block: TextBlock, start: int, end: int) -> Iterator[tuple[str, str, bool]]:
    """The text of a window, split at the spans: (original text, style, is it a `here` span)."""
    text = block.text
    at = start
    for span in sorted(block.spans, key=lambda span: span.start):
        left = _edge(text, max(span.start, at))
        right = min(_edge(text, span.end), end)
        if left >= right:
            continue
        if left > at:
            yield text[at:left], block.style, False
        yield text[left:right], span.style, span.here
        at = right
    if at < end or not text:
        yield text[at:end], block.style, False


def _edge(text: str, at: int) -> int:
    """The next position from `at` on that splits no letter from its marks, and no `\\r\\n`."""
    while 0 < at < len(text) and (text[at] in _JOINERS or combining(text[at])):
        at += 1
    return at + 1 if text[at - 1 : at + 1] == "\r\n" and at else at


def _cut(runs: Sequence[Run], room: int, ellipsis: str) -> tuple[Run, ...]:
    if sum(cell_len(run.text) for run in runs) <= room:
        return tuple(runs)
    kept: list[Run] = []
    for run in runs:
        cells = cell_len(run.text)
        if cells >= room:  # the blank makes `cut` add the ellipsis
            kept.append(Run(cut(f"{run.text} ", room, ellipsis), run.style))
            break
        kept.append(run)
        room -= cells
    return tuple(kept)


# differences

SHOWN_LINES = 2_000


def diff_blocks(lines: Sequence[str]) -> list[TextBlock]:
    """One block per line, cut to one row; a long difference ends with the number of lines left."""
    blocks = [TextBlock(line, _diff_style(line), first=MARGIN) for line in lines[:SHOWN_LINES]]
    if len(lines) > SHOWN_LINES:
        blocks.append(TextBlock(f"and {len(lines) - SHOWN_LINES:,} more lines", "faint"))
    return blocks


def _diff_style(line: str) -> str:
    if line.startswith(("--- ", "+++ ")):
        return "strong"
    return {"+": "accent", "-": "warm", "@": "faint"}.get(line[:1], "dim")


def marked_changes(
    hunks: Sequence[Hunk], chosen: int = -1, bar: str = ""
) -> tuple[str, tuple[TextSpan, ...]]:
    """A text with its changes in brackets, not in colour alone. The selected change starts with a
    bar.
    """
    parts: list[str] = []
    spans: list[TextSpan] = []
    length = number = 0

    def add(text: str, style: str = "", *, here: bool = False) -> None:
        nonlocal length
        parts.append(text)
        if style:
            spans.append(TextSpan(length, length + len(text), style, here))
        length += len(text)

    for hunk in hunks:
        if hunk.op == "equal":
            add(hunk.original)
            continue
        here = number == chosen
        number += 1
        if here:
            add(bar, "accent_here", here=True)
        if hunk.original:
            add(f"[-{hunk.original}-]", "warm_here" if here else "removed", here=here)
        if hunk.original and hunk.edited:
            add(" ")
        if hunk.edited:
            add(f"{{+{hunk.edited}+}}", "accent_here" if here else "added", here=here)
    return "".join(parts), tuple(spans)


# numbers and times

_STEPS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def figure(value: float) -> str:
    """A number with two decimals, without a leading zero: `.58`, `1.10`."""
    text = f"{value:.2f}"
    return text[1:] if text.startswith("0.") else text


def elapsed(since: str | None, now: datetime) -> str:
    """The age of an ISO timestamp: `4 days`, `3 hours`, `a moment`; `?` if invalid."""
    moment = from_iso(since) if since else None
    if moment is None:
        return "?"
    seconds = max(0, int((now - moment).total_seconds()))
    for length, noun in _STEPS:
        if seconds >= length:
            return count(seconds // length, noun)
    return "a moment"


def moment(at: str | None) -> str:
    """An ISO timestamp in local time: `2026-02-14 10:22`."""
    when = from_iso(at) if at else None
    return when.astimezone().strftime("%Y-%m-%d %H:%M") if when else (at or "")
