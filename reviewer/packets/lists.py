"""What stands in lists: tasks, conventions, and the rules of the constitution."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from reviewer.clock import from_iso
from reviewer.packets.blocks import Block, blocks, is_open, item_text, nested
from reviewer.packets.identity import item_id
from reviewer.packets.markup import TextLine
from reviewer.packets.titles import title_of
from reviewer.packets.values import Item, Rules, Section

_LABELLED = re.compile(
    r"#(?:added|created|started|updated|reopened)[:=](\d{4}-\d{2}-\d{2})(?:-(\d{2})(\d{2})(\d{2}))?"
)
_ANY_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def tasks(lines: Iterable[TextLine], file: str) -> Iterator[Item]:
    """The open tasks of TASKS.md as they stand: everything with a checkbox that is not ticked.

    A nested open task is a task of its own, also below one that is done. In a file without any
    checkbox every item of a list is a task.
    """
    found = list(blocks(lines))
    boxes = any(block.box is not None for block in found)
    for at, block in enumerate(found):
        wanted = is_open(block) if boxes else bool(block.marker and not block.indent)
        if not wanted:
            continue
        text = item_text(block, _unboxed(found, at))
        if text:
            yield Item(
                id=item_id(Section.TASKS, " > ".join(block.group), text),
                section=Section.TASKS,
                title=title_of(text),
                text=text,
                place=f"{file}:{block.number}",
                at=task_date(text),
                group=block.group[-1] if block.group else "",
            )


def conventions(lines: Iterable[TextLine], file: str) -> Iterator[Item]:
    """The items and paragraphs of CONVENTIONS.md as they stand, each with its heading above."""
    found = list(blocks(lines))
    at = 0
    while at < len(found):
        end = nested(found, at) if found[at].marker else at + 1
        block = found[at]
        text = item_text(block, found[at + 1 : end])
        if not block.level and text:
            group = " / ".join(step for step in block.group[1:]) or _unless_title(block.group, file)
            yield Item(
                id=item_id(Section.CONVENTIONS, group, text),
                section=Section.CONVENTIONS,
                title=title_of(text),
                text=text,
                place=f"{file}:{block.number}",
                at=None,
                group=group,
            )
        at = end


def constitution(lines: Iterable[TextLine], file: str) -> Iterator[Rules]:
    """CONSTITUTION.md block by block, without its title: every rule with the words around it."""
    for at, block in enumerate(blocks(lines)):
        place = f"{file}:{block.number}"
        if block.level:
            if at or block.level > 1:
                yield Rules(f"{'#' * min(block.level + 1, 6)} {block.text}", place, heading=True)
        elif block.marker:
            marker = "-" if block.marker in ("*", "+", "•") else block.marker
            margin = " " * min(block.indent, 12)
            first, *rest = block.text.split("\n")
            inner = margin + " " * (len(marker) + 1)
            lines_of = [f"{margin}{marker} {first}", *((inner + each).rstrip() for each in rest)]
            yield Rules("\n".join(lines_of), place, listed=True)
        elif block.text:
            yield Rules(block.text, place)


def task_date(text: str) -> datetime | None:
    """When a task was added or taken up last, by its labels, else by the latest date it names."""
    labelled = [
        moment
        for day, *time in _LABELLED.findall(text)
        if (moment := from_iso(f"{day}T{':'.join(time)}" if time[0] else day))
    ]
    if labelled:
        return max(labelled)
    named = [moment for day in _ANY_DATE.findall(text) if (moment := from_iso(day))]
    return max(named, default=None)


def _unboxed(found: list[Block], at: int) -> Iterator[Block]:
    """What is nested in a task, without the tasks in it and what is nested in those."""
    place, end = at + 1, nested(found, at)
    while place < end:
        if found[place].box is None:
            yield found[place]
            place += 1
        else:
            place = nested(found, place)


def _unless_title(group: tuple[str, ...], file: str) -> str:
    """The only heading above, unless it is the file's title."""
    if not group or group[0].lower().startswith(file.partition(".")[0].lower()):
        return ""
    return group[0]
