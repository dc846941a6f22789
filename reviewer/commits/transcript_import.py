"""Transcripts as commits: one for each turn, tool call and tool result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.commits.chain import Draft, create_context
from reviewer.commits.contents import prepare
from reviewer.commits.export_reader import read_export
from reviewer.errors import ConflictError, SourceError
from reviewer.sources.claude_words import NOTIFICATIONS
from reviewer.sources.events import Result
from reviewer.sources.records import Role, Use
from reviewer.sources.stream import EventMaker, origin_of
from reviewer.store.acts import Act
from reviewer.text.identifiers import short_id

if TYPE_CHECKING:
    from reviewer.sources.records import Block

LONGEST_STEM = 180
"""Characters of a file name that are used as the name of a context."""
_TYPE_BY_KIND = {"thinking": "reasoning", "tool_use": "tool_call", "tool_result": "tool_result"}
_TYPE_BY_USE = {
    Use.SUMMARY: "summary",
    Use.BOOT: "instruction",
    Use.INJECTED: "artifact",
    Use.TEMPLATE: "artifact",
}
_TYPE_BY_ROLE = {Role.SYSTEM: "instruction", Role.TOOL: "tool_result", Role.NOTE: "artifact"}


class Transcript(Struct, frozen=True):
    """The commits read from a file. `skipped`: reason -> number of blocks."""

    drafts: tuple[Draft, ...]
    skipped: dict[str, int]
    masked: dict[str, int]
    """Kind -> number of masked secrets."""


def commit_type(block: Block) -> str:
    """The commit type for a block."""
    if _is_notification(block):
        return "tool_result"
    if block.kind in _TYPE_BY_KIND:
        return _TYPE_BY_KIND[block.kind]
    return _TYPE_BY_USE.get(block.use) or _TYPE_BY_ROLE.get(block.role, "dialogue")


def read_transcript(
    path: Path,
    *,
    line_start: int = 0,
    line_end: int | None = None,
    session: str | None = None,
) -> Transcript:
    """Read a file as drafts of commits; secrets are masked.

    Skips rewound branches, and turns of sub-agents unless the file has no others. `session`: only
    this one of a file that has several. The conversations of such a file come one after the other,
    each after a mark. Also reads an exported context. Raises SourceError.
    """
    from reviewer.sources.open import open_blocks, recognise

    exported = read_export(path, line_start, line_end)
    if exported is not None:
        return Transcript(tuple(exported), {}, dict(_masked(exported)))
    only = None if session is None else frozenset((session,))
    scan = open_blocks(path, line_start=line_start, line_end=line_end, sessions=only)
    main: list[tuple[str, Draft]] = []
    aside: list[tuple[str, Draft]] = []
    skipped: Counter[str] = Counter()
    maker = EventMaker(scan.format)
    for block in scan:
        ended = next((e for e in maker.add(origin_of(block), block) if isinstance(e, Result)), None)
        if block.use is Use.REWOUND:
            skipped[str(Use.REWOUND)] += 1
        elif not block.text.strip():
            skipped[f"empty {block.kind.replace('_', ' ')}"] += 1
        else:
            key = f"{block.session or ''}\n{block.conversation}"
            (aside if block.sidechain else main).append((key, _draft(block, ended)))
    if main and aside:
        skipped["sub-agent's turn"] += len(aside)
    found = recognise(path)
    marked = found.several or found.outlines is not None
    drafts = _marked(main or aside) if marked else [draft for _, draft in main or aside]
    skipped.update(scan.tally)
    return Transcript(tuple(drafts), dict(skipped), dict(_masked(drafts)))


MARK = "== Conversation "
"""The beginning of the commit before each conversation, where a file has several."""


def _marked(found: Iterable[tuple[str, Draft]]) -> list[Draft]:
    """The drafts by conversation, each after a mark; without marks where there is only one."""
    by_key: dict[str, list[Draft]] = {}
    for key, draft in found:
        by_key.setdefault(key, []).append(draft)
    if len(by_key) < 2:
        return [draft for drafts in by_key.values() for draft in drafts]
    marked: list[Draft] = []
    for number, (key, drafts) in enumerate(by_key.items(), 1):
        name = short_id(" ".join(key.split("\n", 1)[0].split()))
        text = prepare(f"{MARK}{number:,}" + (f": {name}" if name else ""))
        first = drafts[0]
        marked.append(Draft("note", "artifact", text, at=first.at, source_line=first.source_line))
        marked += drafts
    return marked


def _is_mark(draft: Draft) -> bool:
    return draft.role == "note" and draft.text.text.startswith(MARK)


def _masked(drafts: Iterable[Draft]) -> Counter[str]:
    return Counter(kind for draft in drafts for kind in draft.text.masked)


def _is_notification(block: Block) -> bool:
    """Whether a text is the result of a sub-agent or a background task."""
    return block.use is Use.WRAPPER and block.text.lstrip().startswith(NOTIFICATIONS)


def _draft(block: Block, ended: Result | None = None) -> Draft:
    by_tool = block.kind == "tool_result" or _is_notification(block)
    return Draft(
        role="tool" if by_tool else str(block.role),
        type=commit_type(block),
        text=prepare(block.text),
        name=prepare(block.name).text,
        at=block.at,
        source_line=block.line_start,
        meta=_meta(block, ended),
    )


def _meta(block: Block, ended: Result | None) -> dict[str, str | int]:
    """What joins a call and its result, where the session works, and how the call ended."""
    meta: dict[str, str | int | None] = {
        "call": block.call,
        "folder": block.cwd,
        "branch": block.branch,
    }
    if ended is not None:
        meta |= {"outcome": str(ended.outcome), "exit_code": ended.exit_code}
        meta["words"] = prepare(ended.words).text if ended.words else ""
    return {key: value for key, value in meta.items() if value is not None and value != ""}


def require_drafts(path: Path, read: Transcript) -> None:
    """Raise SourceError, listing what was skipped, when a file has no commits."""
    if read.drafts:
        return
    reasons = ", ".join(f"{times:,} x {reason}" for reason, times in read.skipped.items())
    raise SourceError(
        f"{path} contains nothing that could become a commit{f': {reasons}' if reasons else ''}."
    )


def context_for(act: Act, path: Path, project: str, name: str | None, now: str) -> tuple[int, bool]:
    """The id of the context for a file, created if needed; whether it had been imported before.

    Without a name it is the context that the file was imported into before, or a new one named
    after the file. Raises ConflictError when another file's context has the name.
    """
    where = (
        "SELECT x.id, x.source_path FROM context x JOIN project p ON p.id = x.project_id"
        " WHERE p.name = ? AND "
    )
    source = str(path)
    if name is None:
        found = act.query(f"{where} x.source_path = ? ORDER BY x.id LIMIT 1", (project, source))
        if found:
            return found[0][0], True
        name = _free_name(act, where, project, path.stem)
    else:
        found = act.query(f"{where} x.name = ?", (project, name.strip()))
        if found and found[0][1] == source:
            return found[0][0], True
        if found and found[0][1]:
            raise ConflictError(
                f'The context "{name}" came from {found[0][1]}. Choose another name.'
            )
        if found:
            act.update("context", found[0][0], source_path=source)
            return found[0][0], False
    return create_context(act, project, name, now, source_path=source), False


def _free_name(act: Act, where: str, project: str, stem: str) -> str:
    """The stem of the file, with a number appended if another context has that name."""
    stem = "".join(each if each.isprintable() else "?" for each in prepare(stem).text)
    stem = stem[:LONGEST_STEM]
    name, number = stem, 1
    while act.query(f"{where} x.name = ?", (project, name)):
        number += 1
        name = f"{stem}-{number}"
    return name


def not_imported_yet(act: Act, context: int, drafts: Iterable[Draft]) -> list[Draft]:
    """The drafts that no earlier import added, in order.

    A mark is added only with turns after it. A commit matches one draft with the same role, type,
    name, time and text, wherever it now is in the file; so a turn that occurs twice stays two
    commits after importing again.
    """
    here = Counter(
        act.query(
            "SELECT c.role, c.type, c.name, c.at, t.sha256 FROM commit_ c"
            " JOIN content t ON t.id = c.content_id WHERE c.context_id = ?"
            " AND c.operation = 'append' AND c.source_line IS NOT NULL AND c.origin_id IS NULL",
            (context,),
        )
    )
    fresh = []
    for draft in drafts:
        key = (draft.role, draft.type, draft.name, draft.at, draft.text.sha256)
        if here[key]:
            here[key] -= 1
        else:
            fresh.append(draft)
    return [
        draft
        for at, draft in enumerate(fresh)
        if not _is_mark(draft) or (at + 1 < len(fresh) and not _is_mark(fresh[at + 1]))
    ]
