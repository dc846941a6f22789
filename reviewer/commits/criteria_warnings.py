"""Warnings about retention criteria, given when they are set."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence

from reviewer.commits.criteria import SECONDS_IN_ALL, check_patterns, matches_everything
from reviewer.commits.rows import commit_rows, commit_view
from reviewer.commits.values import Pattern, Priority
from reviewer.store.database import Database
from reviewer.text.clip import clip
from reviewer.text.numerals import some_of

MAX_WARNINGS = 20
"""Further warnings are only counted."""

WAITING = "Criteria only count for important commits; they are kept, without effect, on"
UNCHECKED = "There was no time to check"
_DOUBTS = {"missing": "does not occur", "slow": "could not be checked in time"}
_SHOWN = 60
_NAMED = 3


def criteria_warnings(database: Database, ids: Sequence[int]) -> tuple[str, ...]:
    """One sentence for each problem with the current criteria of these commits.

    A pattern that does not match its own commit, is too slow to check, or matches everything;
    criteria on a commit that is not important, where they have no effect.
    """
    found: dict[str, list[str]] = defaultdict(list)
    deadline = time.monotonic() + SECONDS_IN_ALL
    rows = [row for row in commit_rows(database, ids) if row.criteria]
    for number, row in enumerate(rows):
        short = row.hash[:8]
        if row.priority is not Priority.IMPORTANT:
            found[WAITING].append(f"{short} ({row.priority})")
        left = deadline - time.monotonic()
        if left <= 0:
            found[UNCHECKED].extend(each.hash[:8] for each in rows[number:])
            break
        view = commit_view(database, row.id)
        for check in check_patterns(view.retention.patterns, view.text, seconds_in_all=left):
            if check.state in _DOUBTS:
                found[f"{_shown(check.pattern)} {_DOUBTS[check.state]} in"].append(short)
            if matches_everything(check.pattern):
                what = "matches even an empty summary, so nothing must survive of"
                found[f"{_shown(check.pattern)} {what}"].append(short)
    said = [f"{what} {some_of(where, _NAMED)}." for what, where in found.items()]
    rest = len(said) - MAX_WARNINGS
    more = [f"{rest:,} more patterns are in doubt."] if rest > 0 else []
    return (*said[:MAX_WARNINGS], *more)


def _shown(pattern: Pattern) -> str:
    text = clip(pattern.text, _SHOWN)
    return f'"{text}"' if pattern.mode == "substring" else f"/{text}/"
