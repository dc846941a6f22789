"""Commits as list rows, as full views, and as the messages of a compiled context."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from reviewer.commits.commit_sql import (
    JOINED,
    ORIGIN,
    PRIORITY,
    read_as,
)
from reviewer.commits.criteria import decode_criteria
from reviewer.commits.summaries import stored_summaries
from reviewer.commits.values import (
    Annotation,
    CommitRow,
    CommitView,
    CompiledMessage,
    SummaryRange,
    first_line,
)
from reviewer.errors import UnknownIdError
from reviewer.store.acts import AMONG, listed
from reviewer.store.database import Database

FIRST_LINE = 200
_COLUMNS = (
    f"c.id, c.position, c.hash, c.role, c.type, c.name, {PRIORITY} AS priority,"
    " n.id IS NOT NULL AS annotated, n.retention_json, d.id IS NOT NULL AS edited, t.tokens,"
    " instr(c.meta, '\"aside\":1') > 0 AS aside"
)
_BLANKS = "char(32, 9, 10, 13, 160)"
_ROW = f"{_COLUMNS}, substr(ltrim(t.text, {_BLANKS}), 1, {FIRST_LINE}) AS start"


def commit_rows(database: Database, ids: Sequence[int]) -> list[CommitRow]:
    """The rows of those ids, in that order; missing ids are left out."""
    rows = database.query(f"SELECT {_ROW} FROM {JOINED} WHERE c.id {AMONG}", (listed(ids),))
    found = {row["id"]: _commit_row(row) for row in rows}
    return [found[each] for each in ids if each in found]


def commit_view(database: Database, number: int) -> CommitView:
    """Everything about a commit; for an edit, about the edited commit.

    Raises UnknownIdError.
    """
    row = database.first(
        f"SELECT {_ROW}, c.context_id, p.hash AS parent, t.text, c.operation, c.target_id,"
        f" c.at, c.source_line, {ORIGIN} AS origin, first.text AS first_text,"
        " coalesce(json_extract(c.meta, '$.call'), '') AS call"
        f" FROM {JOINED} LEFT JOIN commit_ p ON p.id = c.parent_id"
        " JOIN content first ON first.id = c.content_id WHERE c.id = ?",
        (number,),
    )
    if row is None:
        raise UnknownIdError(f"There is no commit #{number}. See: reviewer commit list CONTEXT")
    if row["operation"] == "edit":
        return commit_view(database, row["target_id"])
    stored = stored_summaries(database.query, [row["origin"]]).get(row["origin"])
    return read_as(
        CommitView,
        row,
        row=_commit_row(row),
        context=row["context_id"],
        original=row["first_text"] if row["edited"] else None,
        annotations=annotations_of(database, row["origin"]),
        summary_of=_hashes(database, stored.sources) if stored else (),
        written_by=stored.grade.get("engine", "") if stored else "",
        orders=tuple(stored.grade.get("orders", ())) if stored else (),
    )


def annotations_of(database: Database, origin: int) -> tuple[Annotation, ...]:
    """The annotations of a commit, newest first."""
    return tuple(
        read_as(Annotation, row, retention=decode_criteria(row["retention_json"]))
        for row in database.query(
            "SELECT * FROM annotation WHERE commit_id = ? ORDER BY id DESC", (origin,)
        )
    )


def _commit_row(row: sqlite3.Row) -> CommitRow:
    criteria = len(decode_criteria(row["retention_json"]))
    return read_as(CommitRow, row, criteria=criteria, first_line=first_line(row["start"]))


def _hashes(database: Database, ids: Sequence[int]) -> tuple[str, ...]:
    rows = database.query(f"SELECT id, hash FROM commit_ WHERE id {AMONG}", (listed(ids),))
    hashes = {row[0]: row[1] for row in rows}
    return tuple(hashes[each] for each in ids if each in hashes)


_MESSAGE_COLUMNS = (
    f"c.id, c.hash, c.role, c.type, c.name, c.at, {PRIORITY} AS priority, n.retention_json,"
    f" t.text, t.tokens, c.operation, {ORIGIN} AS origin"
)
_MARKER = re.compile(r"\n?\[→(?:more|detail):[^\]\n]{0,200}\]\s*$")
"""The link to a summary's original in the screen; useless to an agent."""
_CHAT_ROLES = {"system": "system", "assistant": "assistant"}
_LABELS = {"tool_call": "tool call", "tool_result": "tool result", "summary": "summary"}


def compile_messages(database: Database, context: int) -> list[CompiledMessage]:
    """The messages of a context; SKIP left out, edits applied."""
    rows = database.query(
        f"SELECT {_MESSAGE_COLUMNS} FROM {JOINED} WHERE c.context_id = ? AND c.live = 1"
        f" AND {PRIORITY} <> 'skip' ORDER BY c.position",
        (context,),
    )
    origins = [row["origin"] for row in rows if row["operation"] == "summary"]
    ranges = {
        commit: SummaryRange(len(hashes), stored.tokens_before, hashes[0], hashes[-1])
        for commit, stored in stored_summaries(database.query, origins).items()
        if (hashes := _hashes(database, stored.sources))
    }
    return [
        read_as(
            CompiledMessage,
            row,
            commit=row["id"],
            retention=decode_criteria(row["retention_json"]),
            summary_of=ranges.get(row["origin"]),
        )
        for row in rows
    ]


def chat_messages(messages: Sequence[CompiledMessage]) -> list[dict[str, str]]:
    """Messages for chat completions: `role` system, user or assistant, and `content`.

    Tool calls and results become text, because those APIs refuse a result without its call: calls
    get the role assistant, results the role user. A summary is labelled with its length, and gets
    the role user, because it is not the agent's.
    """
    return [
        {
            "role": "user" if each.summary_of else _CHAT_ROLES.get(each.role, "user"),
            "content": _chat_text(each),
        }
        for each in messages
    ]


def summary_label(found: SummaryRange) -> str:
    """`summary of 20 earlier messages (3,129 tokens), commits 1a2b3c4 to 5d6e7f8`."""
    what = _summarized(found)
    first, last = found.first[:7], found.last[:7]
    ends = f"commit {first}" if found.messages == 1 else f"commits {first} to {last}"
    return f"summary of {what} ({found.tokens:,} tokens), {ends}"


def _summarized(found: SummaryRange) -> str:
    return "1 earlier message" if found.messages == 1 else f"{found.messages} earlier messages"


def _chat_text(message: CompiledMessage) -> str:
    label = _LABELS.get(message.type)
    if message.summary_of is not None:
        return f"[summary of {_summarized(message.summary_of)}]\n{_MARKER.sub('', message.text)}"
    if label is None:
        return message.text
    return f"[{' '.join((label, message.name)).strip()}]\n{message.text}"
