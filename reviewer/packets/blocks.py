"""Lines of a context file as blocks: headings, paragraphs, items of lists and what is nested."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from reviewer.packets.markup import TextLine
from reviewer.sources.note_lines import heading_of

_ITEM = re.compile(r"([ \t]*)([-*+•]|\d{1,9}[.)])(?:[ \t]+(.*)|$)")
_BOX = re.compile(r"\[([^\]\[]?)\](?:[ \t]+(.*)|$)")
_RULE_OFF = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")


class Block(Struct):
    """A heading (`level` > 0), a paragraph, or an item of a list (`marker` is not empty).

    `lines` are without the marker and the indentation. `box` is what stands in the item's
    checkbox: None without one, a blank or nothing in an open one.
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
        """The lines of the block itself."""
        return "\n".join(line.rstrip() for line in self.lines).strip()


def blocks(lines: Iterable[TextLine]) -> Iterator[Block]:
    """The blocks in order. Items that are nested follow the item that they are nested in, with a
    larger `indent`; `group` is the path of headings above a block.
    """
    group: list[tuple[int, str]] = []
    current: Block | None = None
    content = 0  # the column where the text of the current item begins
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
        off = not line.code and bool(_RULE_OFF.match(text))
        if current is not None and (heading or item or off):
            yield current
            current = None
        if heading:
            group = [step for step in group if step[0] < heading[0]] + [heading]
            yield Block(line.number, [heading[1]], _path(group[:-1]), level=heading[0])
        elif item and not off:
            current = _listed(line.number, item, _path(group))
            content = len(item[1]) + len(item[2]) + 1
        elif current is not None and (not blank or (current.marker and indent > current.indent)):
            current.lines += [""] * blank
            goes_on = not (blank or line.code or was_code)
            current.lines.append(text.strip() if goes_on else _dedented(text, content))
        elif not off:
            if current is not None:
                yield current
            current, content = Block(line.number, [text.rstrip()], _path(group)), 0
        blank = False
    if current is not None:
        yield current


def nested(found: Sequence[Block], at: int) -> int:
    """Where the blocks that are nested in the item `found[at]` end."""
    end = at + 1
    while end < len(found) and found[end].marker and found[end].indent > found[at].indent:
        end += 1
    return end


def item_text(item: Block, inside: Iterable[Block] = ()) -> str:
    """An item's wording with what is nested in it, as Markdown without its own marker."""
    lines = [item.text]
    for each in inside:
        margin = " " * max(each.indent - item.indent - 2, 0)
        first, *rest = each.text.split("\n")
        lines.append(f"{margin}{each.marker} {first}".rstrip())
        lines += [f"{margin}  {text}".rstrip() for text in rest]
    return "\n".join(lines).strip()


def is_open(item: Block) -> bool:
    """Whether an item has a checkbox that nobody ticked, crossed out or struck through."""
    if item.box is None or item.box in ("x", "X", "-", "~", "✓", "✔", "✗", "✘"):
        return False
    return not (item.text.startswith("~~") and item.text.count("~~") >= 2)


def _path(group: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(title for _, title in group)


def _item(text: str, code: bool, fence_begins: bool) -> re.Match[str] | None:
    """The beginning of an item; code holds none, but an item may begin with a fence."""
    found = None if code and not fence_begins else _ITEM.match(text)
    if found and code and not (found[3] or "").startswith(("```", "~~~")):
        return None
    return found


def _listed(number: int, item: re.Match[str], group: tuple[str, ...]) -> Block:
    said = item[3] or ""
    box = _BOX.match(said)
    return Block(
        number,
        [(box[2] or "") if box else said],
        group,
        marker=item[2],
        indent=len(item[1]),
        box=box[1].strip() if box else None,
    )


def _dedented(text: str, margin: int) -> str:
    """The line without the indentation of the item that it belongs to."""
    blanks = len(text) - len(text.lstrip(" "))
    return text[min(blanks, margin) :].rstrip()
