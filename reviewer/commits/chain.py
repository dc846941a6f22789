"""Writing commits: the head moves, nothing is overwritten, an edit is a commit too."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from reviewer.commits.contents import Prepared
from reviewer.commits.hashing import commit_hash
from reviewer.commits.values import Annotation
from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.store.changes import Image
from reviewer.store.ledger import Act
from reviewer.store.project_rows import project_row

LONGEST_NAME = 200


class Draft(Struct, frozen=True):
    """A commit that is about to be written at the end of a chain."""

    role: str
    type: str
    text: Prepared
    name: str = ""
    at: str | None = None
    source_line: int | None = None
    meta: dict[str, str] = {}
    annotations: tuple[Annotation, ...] = ()
    """What was said about it where it comes from, oldest first."""


class Head(Struct, frozen=True):
    """Where a chain ends: its last commit, and the place that the next one gets."""

    id: int | None
    hash: str | None
    next_position: int


def create_context(
    act: Act, project: str, name: str, now: str, *, source_path: str | None = None
) -> int:
    """A new empty context. Raises ReviewerError for a bad name, ConflictError for a taken one."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise ReviewerError(
            f"A context's name has 1 to {LONGEST_NAME} printable characters, on one line."
        )
    if not project.strip():
        raise ReviewerError("A context belongs to a project; name it with --project.")
    number = project_row(act, project)
    if act.query("SELECT 1 FROM context WHERE project_id = ? AND name = ?", (number, name)):
        raise ConflictError(
            f'There is a context "{name}" in {project} already. Choose another name.'
        )
    return act.insert(
        "context",
        project_id=number,
        name=name,
        source_path=source_path,
        created_at=now,
        changed_at=now,
    )


def head_of(act: Act, context: int) -> Head:
    """The end of a chain as it is inside this act. Raises UnknownIdError."""
    act.require_own("context", [context])
    found = act.query(
        "SELECT h.id, h.hash, (SELECT coalesce(max(position) + 1, 0) FROM commit_ c"
        "  WHERE c.context_id = x.id AND c.live = 1)"
        " FROM context x LEFT JOIN commit_ h ON h.id = x.head_id WHERE x.id = ?",
        (context,),
    )
    if not found:
        raise UnknownIdError(f"There is no context #{context}. See: reviewer context list")
    return Head(*found[0])


def append(
    act: Act, context: int, drafts: Sequence[Draft], contents: dict[str, int], now: str
) -> range:
    """Write commits behind the head, in order, and move it; returns their ids.

    `contents` has the stored text of each draft by its hash (`store_texts`).
    """
    head = head_of(act, context)
    if not drafts:
        return range(0)
    first = _next_id(act)
    parent_id, parent_hash = head.id, head.hash
    rows: list[Image] = []
    for place, draft in enumerate(drafts):
        hashed = commit_hash(
            parent=parent_hash,
            role=draft.role,
            type=draft.type,
            name=draft.name,
            content=draft.text.sha256,
            operation="append",
            target=None,
            at=draft.at,
        )
        rows.append(
            {
                "context_id": context,
                "parent_id": parent_id,
                "hash": hashed,
                "position": head.next_position + place,
                "role": draft.role,
                "type": draft.type,
                "name": draft.name,
                "content_id": contents[draft.text.sha256],
                "at": draft.at,
                "source_line": draft.source_line,
                "meta": msgspec.json.encode(draft.meta).decode(),
            }
        )
        parent_id, parent_hash = first + place, hashed
    ids = act.insert_many("commit_", rows)
    act.update("context", context, head_id=ids[-1], changed_at=now)
    return ids


def append_edit(
    act: Act, commit: int, text: Prepared, contents: dict[str, int], now: str, reason: str
) -> int:
    """Write a new text for a commit as a commit of its own; returns the id that it gets.

    The latest edit holds and the original stays. Raises UnknownIdError, or ConflictError when a
    compression took the commit out of the chain.
    """
    target, context, position = _living(act, commit)
    origin, hashed, role, type_, name = act.query(
        "SELECT c.id, c.hash, c.role, c.type, c.name FROM commit_ c WHERE c.id = ?", (target,)
    )[0]
    head = head_of(act, context)
    number = act.insert(
        "commit_",
        context_id=context,
        parent_id=head.id,
        hash=commit_hash(
            parent=head.hash,
            role=role,
            type=type_,
            name=name,
            content=text.sha256,
            operation="edit",
            target=hashed,
            at=now,
        ),
        operation="edit",
        target_id=origin,
        live=0,
        position=position,
        role=role,
        type=type_,
        name=name,
        content_id=contents[text.sha256],
        at=now,
        meta=msgspec.json.encode({"reason": reason} if reason else {}).decode(),
    )
    act.update("context", context, head_id=number, changed_at=now)
    return number


def _living(act: Act, commit: int) -> tuple[int, int, int]:
    """Of a commit: its origin, its context, and its place in the chain as it stands."""
    found = act.query(
        "SELECT coalesce(origin_id, CASE operation WHEN 'edit' THEN target_id ELSE id END), hash"
        " FROM commit_ WHERE id = ?",
        (commit,),
    )
    if not found:
        raise UnknownIdError(f"There is no commit #{commit}. See: reviewer commit list CONTEXT")
    origin, hashed = found[0]
    living = act.query(
        "SELECT ?1, context_id, position FROM commit_"
        " WHERE (id = ?1 OR origin_id = ?1) AND live = 1 ORDER BY id DESC LIMIT 1",
        (origin,),
    )
    if not living:
        raise ConflictError(
            f"{hashed[:8]} is in the chain no more: a summary stands for it. Edit the summary, or "
            "undo the compression first."
        )
    return living[0]


def _next_id(act: Act) -> int:
    found = act.query("SELECT seq FROM sqlite_sequence WHERE name = 'commit_'")
    return int(found[0][0]) + 1 if found else 1
