"""Writing commits. The chain is append-only: an edit is a commit too."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from reviewer.commits.contents import PreparedText, hashed_row
from reviewer.commits.values import COMMIT_TYPES
from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.sources.records import Role
from reviewer.store.acts import Act
from reviewer.store.changes import Image
from reviewer.store.project_rows import project_row

LONGEST_NAME = 200
_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TYPE_OF_ROLE = {
    Role.USER: "dialogue",
    Role.ASSISTANT: "dialogue",
    Role.SYSTEM: "instruction",
    Role.TOOL: "tool_result",
    Role.NOTE: "artifact",
}


def checked_type(role: str, type_: str) -> str:
    """The type of a commit, by default that of its role.

    Types outside COMMIT_TYPES are allowed. Raises ReviewerError for an unknown role or a bad type.
    """
    roles = [str(each) for each in Role]
    if role not in roles:
        raise ReviewerError(f'There is no role "{role}"; choose {", ".join(roles)}.')
    kind = type_ or _TYPE_OF_ROLE[Role(role)]
    if not _TYPE.fullmatch(kind):
        raise ReviewerError(
            f'"{kind}" is not a type: lower-case letters, digits and _, such as '
            f"{', '.join(COMMIT_TYPES)}."
        )
    return kind


class Draft(Struct, frozen=True):
    """A commit to be appended to a chain."""

    role: str
    type: str
    text: PreparedText
    name: str = ""
    at: str | None = None
    source_line: int | None = None
    meta: dict[str, str | int] = {}


class ChainHead(Struct, frozen=True):
    """The last commit of a chain, and the position of the next one."""

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


def head_of(act: Act, context: int) -> ChainHead:
    """The end of a chain, as seen inside this act. Raises UnknownIdError."""
    act.require_own("context", [context])
    found = act.query(
        "SELECT h.id, h.hash, (SELECT coalesce(max(position) + 1, 0) FROM commit_ c"
        "  WHERE c.context_id = x.id AND c.live = 1)"
        " FROM context x LEFT JOIN commit_ h ON h.id = x.head_id WHERE x.id = ?",
        (context,),
    )
    if not found:
        raise UnknownIdError(f"There is no context #{context}. See: reviewer context list")
    return ChainHead(*found[0])


def append(
    act: Act, context: int, drafts: Sequence[Draft], contents: dict[str, int], now: str
) -> range:
    """Append commits to the chain, in order; returns their ids.

    `contents`: id of the stored text by hash, from `store_texts`.
    """
    head = head_of(act, context)
    if not drafts:
        return range(0)
    first = next_commit_id(act)
    parent_id, parent_hash = head.id, head.hash
    rows: list[Image] = []
    for place, draft in enumerate(drafts):
        row = hashed_row(
            parent_hash,
            draft.text.sha256,
            "append",
            role=draft.role,
            type=draft.type,
            name=draft.name,
            at=draft.at,
            context_id=context,
            parent_id=parent_id,
            position=head.next_position + place,
            content_id=contents[draft.text.sha256],
            source_line=draft.source_line,
            meta=msgspec.json.encode(draft.meta).decode(),
        )
        rows.append(row)
        parent_id, parent_hash = first + place, str(row["hash"])
    ids = act.insert_many("commit_", rows)
    act.update("context", context, head_id=ids[-1], changed_at=now)
    return ids


def append_edit(
    act: Act, commit: int, text: PreparedText, contents: dict[str, int], now: str
) -> int:
    """Add an edit commit that replaces the text of `commit`; returns its id.

    The latest edit applies; the original commit stays. Raises UnknownIdError, or ConflictError
    when a compression replaced the commit.
    """
    target, context, position = _live_position(act, commit)
    origin, hashed, role, type_, name = act.query(
        "SELECT c.id, c.hash, c.role, c.type, c.name FROM commit_ c WHERE c.id = ?", (target,)
    )[0]
    head = head_of(act, context)
    row = hashed_row(
        head.hash,
        text.sha256,
        "edit",
        hashed,
        role=role,
        type=type_,
        name=name,
        at=now,
        context_id=context,
        parent_id=head.id,
        operation="edit",
        target_id=origin,
        live=0,
        position=position,
        content_id=contents[text.sha256],
        meta="{}",
    )
    number = act.insert("commit_", **row)
    act.update("context", context, head_id=number, changed_at=now)
    return number


def _live_position(act: Act, commit: int) -> tuple[int, int, int]:
    """Origin id, context id and current position of a commit."""
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
            f"{hashed[:8]} is no longer in the chain: a summary replaced it. Undo the compression "
            "first."
        )
    return living[0]


def next_commit_id(act: Act) -> int:
    found = act.query("SELECT seq FROM sqlite_sequence WHERE name = 'commit_'")
    return int(found[0][0]) + 1 if found else 1
