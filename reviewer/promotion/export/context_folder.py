"""Facts as a `.context/` folder: decisions, learnings, conventions, rules.

Existing text in these files stays; the reviewer's facts live in a marked block in each.
`TASKS.md` and every other file are left alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from textwrap import shorten

from reviewer.clock import from_iso
from reviewer.promotion.export.file_writer import read_file
from reviewer.promotion.export.items import ExportItem, Layer, grouped
from reviewer.promotion.export.markdown import (
    markdown_line,
    markdown_text,
    places,
    relations,
    render_markdown,
    statement,
)
from reviewer.promotion.export.marked_block import plan_block, plan_removal
from reviewer.promotion.export.plans import FilePlan, PlannedFile
from reviewer.text.for_agents import AgentText, as_markdown, joined

TITLES = {
    "CONSTITUTION.md": "Constitution",
    "DECISIONS.md": "Decisions",
    "CONVENTIONS.md": "Conventions",
    "LEARNINGS.md": "Learnings",
}
"""The files and their titles."""

TITLE_LENGTH = 80
"""Characters of an entry's title at most."""

_DECISIONS = {(Layer.ENTITY, "decision"), (Layer.MEMORY, "project")}
_CONVENTIONS = {
    (Layer.ENTITY, "requirement"),
    (Layer.ENTITY, "constraint"),
    (Layer.ENTITY, "interface"),
    (Layer.ENTITY, "process"),
    (Layer.MEMORY, "identity"),
    (Layer.MEMORY, "preference"),
    (Layer.MEMORY, "adaptation"),
}


def plan_context_folder(items: Iterable[ExportItem], folder: Path) -> tuple[PlannedFile, ...]:
    """A plan for each file that gets facts, loses the last ones, or has a broken block.

    Trusted state goes to CONSTITUTION.md, decisions and facts about the project to DECISIONS.md,
    what binds or is preferred to CONVENTIONS.md, everything else to LEARNINGS.md. Raises
    SourceError when a file cannot be read.
    """
    shelves: dict[str, list[ExportItem]] = {name: [] for name in TITLES}
    for item in items:
        shelves[file_of(item)].append(item)
    planned: list[PlannedFile] = []
    for name, members in shelves.items():
        path = folder / name
        before = read_file(path)
        plan = _plan(before, TITLES[name], _body(name, members))
        if members or plan.changed or plan.problem:
            planned.append(
                PlannedFile(path=path, before=before, after=plan.after, problem=plan.problem)
            )
    return tuple(planned)


def file_of(item: ExportItem) -> str:
    """The file of the folder in which a fact belongs."""
    if item.layer is Layer.STATE:
        return "CONSTITUTION.md"
    kind = (item.layer, item.type)
    if kind in _DECISIONS:
        return "DECISIONS.md"
    return "CONVENTIONS.md" if kind in _CONVENTIONS else "LEARNINGS.md"


def _plan(before: bytes | None, title: str, body: AgentText) -> FilePlan:
    if not body:
        return plan_removal(before)
    return plan_block(f"# {title}\n".encode() if before is None else before, body)


def _body(name: str, items: list[ExportItem]) -> AgentText:
    if name in ("CONSTITUTION.md", "CONVENTIONS.md"):
        return render_markdown(items, marks=True)
    entry = _decision if name == "DECISIONS.md" else _learning
    ordered = [item for group in grouped(items) for item in group.items]
    # Newest first, as people keep these files.
    ordered.sort(key=lambda item: item.created_at, reverse=True)
    return joined(map(entry, ordered), "\n\n")


def _decision(item: ExportItem) -> AgentText:
    known = {name.lower(): text for name, text in item.attributes}
    status = "Accepted" if item.status == "active" else item.status.capitalize()
    return _entry(
        item,
        ("Status", markdown_line(known.pop("status", status))),
        ("Context", markdown_text(known.pop("context", item.note))),
        ("Decision", _wording(item)),
        ("Rationale", markdown_text(known.pop("rationale", ""))),
        ("Consequence", markdown_text(known.pop("consequence", known.pop("consequences", "")))),
        *((_label(name), markdown_text(text)) for name, text in known.items()),
    )


def _learning(item: ExportItem) -> AgentText:
    return _entry(
        item,
        ("Context", markdown_text(item.note)),
        ("Lesson", _wording(item)),
        *((_label(name), markdown_text(text)) for name, text in item.attributes),
    )


def _entry(item: ExportItem, *fields: tuple[str, str]) -> AgentText:
    origin = [*(["written by hand"] if item.by_hand else []), *places(item)]
    rows = [
        *fields,
        ("Relations", relations(item)),
        ("Source", f"{item.layer} {item.id}: {', '.join(origin)}" if origin else ""),
    ]
    paragraphs = [f"## {_stamp(item)}{_title(item)}"]
    paragraphs += [f"**{label}**: {text}" for label, text in rows if text]
    return as_markdown("\n\n".join(paragraphs))


def _stamp(item: ExportItem) -> str:
    moment = from_iso(item.created_at)
    return f"[{moment.astimezone(UTC):%Y-%m-%d-%H%M%S}] " if moment else ""


def _title(item: ExportItem) -> str:
    return markdown_line(_short_title(item)) or f"{item.layer} {item.id}"


def _short_title(item: ExportItem) -> str:
    words = " ".join((item.name or item.content or item.value).split())
    short = shorten(words, TITLE_LENGTH, placeholder=" …")
    return f"{words[: TITLE_LENGTH - 1]}…" if short == "…" else short


def _wording(item: ExportItem) -> str:
    """The wording, without the name where the title is the whole of it."""
    if not (item.content.strip() or item.value.strip()):
        return markdown_text(item.name)
    return statement(item, named=_short_title(item) != " ".join(item.name.split()))


def _label(name: str) -> str:
    return markdown_line(name.replace("_", " ").capitalize())
