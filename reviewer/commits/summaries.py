"""The stored rows about summaries in a chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.store.acts import AMONG, listed

Query = Callable[[str, Sequence[Any]], Sequence[Any]]
"""Runs SQL and returns rows, on a reader or inside an act."""


class StoredSummary(Struct, frozen=True):
    """A summary and its sources. `grade` is written when it is applied."""

    key: str
    level: int
    topic: str
    sources: list[int]
    """The summarized commits."""
    grade: dict[str, Any]
    tokens_before: int


def stored_summaries(query: Query, origins: Iterable[int]) -> dict[int, StoredSummary]:
    """The summaries among these commits, by commit."""
    rows = query(
        "SELECT commit_id, key, level, topic, sources, fidelity, tokens_before"
        f" FROM segment WHERE commit_id {AMONG} ORDER BY id",
        (listed(origins),),
    )
    return {
        commit: StoredSummary(
            key,
            level,
            topic,
            msgspec.json.decode(sources, type=list[int]),
            msgspec.json.decode(grade),
            tokens,
        )
        for commit, key, level, topic, sources, grade, tokens in rows
    }
