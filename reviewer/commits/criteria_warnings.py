"""Warnings about retention criteria, given when they are set."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence

from reviewer.commits import retention
from reviewer.commits.reader import ANNOTATION, CommitReader
from reviewer.commits.retention import SECONDS_IN_ALL, check_patterns, matches_everything
from reviewer.commits.rows import commit_rows, commit_texts
from reviewer.commits.values import Pattern, Priority, RetentionCriteria
from reviewer.store.acts import chunks

MOST_WARNINGS = 20
"""More warnings than this are only counted."""
_DOUBTS = {"missing": "does not occur", "slow": "could not be checked in time"}
_SHOWN = 60
_NAMED = 3


def criteria_warnings(reader: CommitReader, ids: Sequence[int]) -> tuple[str, ...]:
    """One sentence for each problem with the current criteria of these commits.

    A pattern that does not match its own commit, is too slow to check, or matches everything;
    criteria on a commit that is not important, where they have no effect.
    """
    idle: dict[Priority, list[str]] = defaultdict(list)
    doubts: dict[tuple[Pattern, str], list[str]] = defaultdict(list)
    used: Counter[Pattern] = Counter()
    deadline = time.monotonic() + SECONDS_IN_ALL
    unchecked = 0
    for chunk in chunks([row for row in commit_rows(reader, ids) if row.criteria]):
        numbers = [row.id for row in chunk]
        criteria, words = _criteria(reader, numbers), commit_texts(reader, numbers)
        for row in chunk:
            short, patterns = row.hash[:8], criteria[row.id].patterns
            if row.priority is not Priority.IMPORTANT:
                idle[row.priority].append(short)
            left = deadline - time.monotonic()
            if left <= 0:
                unchecked += bool(patterns)
                continue
            for check in check_patterns(patterns, words[row.id], seconds_in_all=left):
                used[check.pattern] += 1
                if check.state in _DOUBTS:
                    doubts[check.pattern, check.state].append(short)
    found = [
        f"{_shown(pattern)} matches without any words, so it makes nothing survive."
        for pattern in used
        if matches_everything(pattern)
    ]
    found += [
        f"{_shown(pattern)} {_DOUBTS[state]} in {_which(where, used[pattern])}."
        for (pattern, state), where in doubts.items()
    ]
    found += [
        f"Criteria count where a commit is important; {_which(where)} {_is(where)} {priority},"
        " so they are kept and wait."
        for priority, where in idle.items()
    ]
    if unchecked:
        found.append(f"{unchecked:,} more commits were not checked: {SECONDS_IN_ALL:g} s are over.")
    rest = len(found) - MOST_WARNINGS
    more = [f"{rest:,} more patterns are in doubt."] if rest > 0 else []
    return (*found[:MOST_WARNINGS], *more)


def _criteria(reader: CommitReader, ids: Sequence[int]) -> dict[int, RetentionCriteria]:
    """Current criteria by commit id."""
    marks = ",".join("?" * len(ids))
    return {
        row[0]: retention.from_json(row[1])
        for row in reader.all(
            "SELECT c.id, n.retention_json FROM commit_ c"
            f" JOIN annotation n ON n.id = {ANNOTATION} WHERE c.id IN ({marks})",
            ids,
        )
    }


def _shown(pattern: Pattern) -> str:
    text = pattern.text if len(pattern.text) <= _SHOWN else pattern.text[:_SHOWN] + "…"
    return f'"{text}"' if pattern.mode == "substring" else f"/{text}/"


def _which(hashes: Sequence[str], of: int = 0) -> str:
    if len(hashes) == 1 and of < 2:
        return hashes[0]
    named = ", ".join(hashes[:_NAMED]) + (", …" if len(hashes) > _NAMED else "")
    return f"{len(hashes)} of {of} commits ({named})" if of > 1 else named


def _is(hashes: Sequence[str]) -> str:
    return "is" if len(hashes) == 1 else "are"
