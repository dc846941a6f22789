"""A context as messages: in order, SKIP left out, edits applied, pins as they are."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer.commits import retention
from reviewer.commits.reader import CHAIN_UNTIL, PRIORITY, UP_FROM, Reader, joined
from reviewer.commits.values import Message, Priority

_COLUMNS = (
    f"c.id, c.hash, c.role, c.type, c.name, c.at, {PRIORITY} AS priority, n.retention_json,"
    " t.text, t.tokens"
)
_CHAT_ROLES = {"system": "system", "assistant": "assistant"}
_AS_TEXT = {"tool_call": "tool call", "tool_result": "tool result", "summary": "summary"}


def compile_messages(reader: Reader, context: int, until: int | None) -> list[Message]:
    """The messages of a context as its chain stands, or as it stood when `until` was its head.

    The chain and the edits are those of then; priorities are those of today.
    """
    if until is None:
        rows = reader.all(
            f"SELECT {_COLUMNS} FROM {joined()} WHERE c.context_id = :context AND c.live = 1"
            f" AND {PRIORITY} <> 'skip' ORDER BY c.position",
            {"context": context},
        )
    else:
        rows = reader.all(
            f"{UP_FROM} SELECT {_COLUMNS} FROM {CHAIN_UNTIL} AND c.context_id = :context"
            f" AND {PRIORITY} <> 'skip' ORDER BY up.depth DESC",
            {"context": context, "until": until},
        )
    return [
        Message(
            role=row["role"],
            text=row["text"],
            type=row["type"],
            name=row["name"],
            tokens=row["tokens"],
            commit=row["id"],
            hash=row["hash"],
            priority=Priority(row["priority"]),
            at=row["at"],
            retention=retention.from_json(row["retention_json"]),
        )
        for row in rows
    ]


def chat_messages(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Messages as chat completions take them: `role` system, user or assistant, and `content`.

    Calls of tools and their results become text, because a result is refused there without the
    call that it answers: a call is the assistant's, a result comes from the user's side.
    """
    return [
        {"role": _CHAT_ROLES.get(each.role, "user"), "content": _chat_text(each)}
        for each in messages
    ]


def _chat_text(message: Message) -> str:
    what = _AS_TEXT.get(message.type)
    if what is None:
        return message.text
    return f"[{' '.join((what, message.name)).strip()}]\n{message.text}"
