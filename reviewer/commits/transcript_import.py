"""Transcripts as commits: one for each turn, tool call and tool result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from reviewer.commits.chain import Draft, create_context
from reviewer.commits.contents import prepare
from reviewer.errors import ConflictError, SourceError
from reviewer.sources.claude_words import NOTIFICATIONS, command_called
from reviewer.sources.events import (
    Call,
    Compaction,
    Event,
    Message,
    Notice,
    NoticeKind,
    Plan,
    Result,
    Speaker,
    Thought,
)
from reviewer.store.acts import Act
from reviewer.text.identifiers import short_id

LONGEST_STEM = 180
"""Characters of a file name used as the name of a context."""
_ROLES = {
    Speaker.PERSON: "user",
    Speaker.AGENT: "assistant",
    Speaker.SUBAGENT: "assistant",
    Speaker.HARNESS: "system",
}
_TYPES = {
    NoticeKind.BOOT: "instruction",
    NoticeKind.INJECTED: "artifact",
    NoticeKind.TEMPLATE: "artifact",
}
_EMPTY = {Thought: "thinking", Call: "tool use", Result: "tool result"}


class ImportedTranscript(Struct, frozen=True):
    """The commits read from a file. `skipped`: reason -> number of blocks."""

    drafts: tuple[Draft, ...]
    skipped: dict[str, int]
    masked: dict[str, int]
    """Kind -> number of masked secrets."""


def read_transcript(path: Path, *, session: str | None = None) -> ImportedTranscript:
    """Read a file as drafts of commits; secrets are masked.

    Skips rewound branches, and turns of sub-agents unless the file has no others. `session`: only
    this session of the file. Several conversations follow one another, each after a mark. Raises
    SourceError.
    """
    from reviewer.sources.open import NOTE_FORMATS
    from reviewer.sources.stream import read

    only = None if session is None else frozenset((session,))
    stream = read(path, sessions=only)
    main: list[tuple[str, Draft]] = []
    aside: list[tuple[str, Draft]] = []
    skipped: Counter[str] = Counter()
    calls: dict[str, Draft] = {}
    for event in stream.kept():
        if isinstance(event, Plan):
            continue
        draft = draft_of(event, is_note=stream.format in NOTE_FORMATS)
        if not draft.text.text.strip():
            skipped[f"empty {_EMPTY.get(type(event), 'text')}"] += 1
            if isinstance(event, Result) and event.call in calls:
                own = calls[event.call].meta
                own.update(draft.meta | own)  # how the call ended
            continue
        if isinstance(event, Call):
            calls[event.id] = draft
        key = f"{event.origin.session or ''}\n{event.origin.conversation}"
        (aside if event.origin.sidechain else main).append((key, draft))
    if main and aside:
        skipped["sub-agent's turn"] += len(aside)
    drafts = _marked(main or aside) if stream.several else [draft for _, draft in main or aside]
    skipped.update(stream.tally)
    return ImportedTranscript(tuple(drafts), dict(skipped), dict(_masked(drafts)))


MARK = "== Conversation "
"""The beginning of the commit before each conversation, if a file has several."""


def _marked(found: Iterable[tuple[str, Draft]]) -> list[Draft]:
    """The drafts by conversation, each after a mark if there are several."""
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


def draft_of(event: Event, *, is_note: bool) -> Draft:
    """An event as a commit, secrets masked."""
    role, type_, name, text, call = "assistant", "dialogue", "", "", ""
    if isinstance(event, Message):
        role, name, text = _ROLES[event.speaker], event.name, event.text
    elif isinstance(event, Thought):
        type_, text = "reasoning", event.text
    elif isinstance(event, Call):
        type_, name, text, call = "tool_call", event.tool, event.text, event.id
    elif isinstance(event, Result):
        role, type_, name, text, call = "tool", "tool_result", event.tool, event.text, event.call
    elif isinstance(event, Compaction):
        type_, text = "summary", event.summary
    elif isinstance(event, Notice):
        role, type_, text = _ROLES[event.speaker], _TYPES.get(event.kind, "dialogue"), event.text
        if event.kind is NoticeKind.WRAPPER and text.lstrip().startswith(NOTIFICATIONS):
            role, type_ = "tool", "tool_result"
        elif role == "system":
            type_ = "instruction"
    if is_note:
        role, type_ = "note", "artifact" if type_ == "dialogue" else type_
    return Draft(
        role=role,
        type=type_,
        text=prepare(text),
        name=prepare(name).text,
        at=event.origin.at,
        source_line=event.origin.line_start,
        meta=_meta(event, call),
    )


def _meta(event: Event, call: str) -> dict[str, str | int]:
    """The ids that join a call and its result, the working folder, the call's outcome, and whether
    a text with the person's role is the client's, such as a skill's.
    """
    meta: dict[str, str | int | None] = {
        "call": call,
        "folder": event.origin.cwd,
        "branch": event.origin.branch,
    }
    if isinstance(event, Result):
        meta |= {"outcome": str(event.outcome), "exit_code": event.exit_code}
        meta["words"] = prepare(event.words).text if event.words else ""
    if isinstance(event, Notice) and event.kind in (NoticeKind.WRAPPER, NoticeKind.INTERRUPTED):
        text = event.text.strip()
        told = command_called(text) or text.startswith(NOTIFICATIONS)
        meta["aside"] = None if told else 1
    return {key: value for key, value in meta.items() if value is not None and value != ""}


def require_drafts(path: Path, read: ImportedTranscript) -> None:
    """Raise SourceError, listing the skipped blocks, if a file has no commits."""
    if read.drafts:
        return
    reasons = ", ".join(f"{times:,} x {reason}" for reason, times in read.skipped.items())
    raise SourceError(
        f"{path} contains nothing that could become a commit{f': {reasons}' if reasons else ''}."
    )


def context_for(act: Act, path: Path, project: str, name: str | None, now: str) -> tuple[int, bool]:
    """The id of the context for a file, created if needed; whether it had been imported before.

    Without a name: the context that the file was imported into before, or a new one named after the
    file. Raises ConflictError if another file's context has the name.
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

    A commit matches one draft with the same role, type, name, time and text, wherever that is in
    the file now; so a repeated turn stays two commits. A mark is added only with turns after it.
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
