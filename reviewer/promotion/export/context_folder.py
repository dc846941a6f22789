"""Facts as a `.context/` folder: decisions, learnings, conventions, rules.

Existing text in these files stays; the reviewer's facts are in a marked block in each. `TASKS.md`
and all other files are left alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from textwrap import shorten

from msgspec.structs import replace

from reviewer.clock import from_iso
from reviewer.extraction.shelves import shelf_of
from reviewer.promotion.export.file_writer import PlannedFile, read_file
from reviewer.promotion.export.items import ExportItem, Layer
from reviewer.promotion.export.markdown import bullet, markdown_line, render_markdown
from reviewer.promotion.export.marked_block import with_block, without_block
from reviewer.text.for_agents import AgentText, as_markdown, joined

TITLES = {
    "CONSTITUTION.md": "Constitution",
    "DECISIONS.md": "Decisions",
    "CONVENTIONS.md": "Conventions",
    "LEARNINGS.md": "Learnings",
}
"""The files and their titles."""

TITLE_LENGTH = 80
"""The longest title of an entry, in characters."""


def plan_context_folder(items: Iterable[ExportItem], folder: Path) -> tuple[PlannedFile, ...]:
    """A plan for each file that gains facts or loses its last ones. Raises SourceError if a file
    cannot be read, BlockError.
    """
    shelves: dict[str, list[ExportItem]] = {name: [] for name in TITLES}
    for item in items:
        state = item.layer is Layer.STATE
        shelf = "constitution" if state else shelf_of(item.layer, item.type)
        shelves[f"{shelf.upper()}.md"].append(item)
    planned: list[PlannedFile] = []
    for name, members in shelves.items():
        path = folder / name
        before = read_file(path)
        if members:
            head = f"# {TITLES[name]}\n".encode() if before is None else before
            after = with_block(path, head, _body(name, members))
        else:
            after = without_block(path, before or b"")
        plan = PlannedFile(path=path, before=before, after=after)
        if members or plan.changed:
            planned.append(plan)
    return tuple(planned)


def _body(name: str, items: list[ExportItem]) -> AgentText:
    if name in ("CONSTITUTION.md", "CONVENTIONS.md"):
        return render_markdown(items, marks=True)
    # Newest first, as usual in these files.
    ordered = sorted(items, key=lambda item: (item.created_at, item.id), reverse=True)
    return joined(map(_entry, ordered), "\n\n")


def _entry(item: ExportItem) -> AgentText:
    """One fact as a dated section, the usual form of decisions and learnings."""
    moment = from_iso(item.created_at)
    stamp = f"[{moment.astimezone(UTC):%Y-%m-%d-%H%M%S}] " if moment else ""
    words = markdown_line(item.name or item.content) or f"{item.layer} {item.id}"
    title = shorten(words, TITLE_LENGTH, placeholder=" …")
    if item.content and title == words:
        item = replace(item, name="")  # the title says it
    return joined((as_markdown(f"## {stamp}{title}"), bullet(item, marks=True)), "\n\n")
