"""The filter line of a context, such as `priority:important tokens>500 -word`."""

from __future__ import annotations

from array import array

from reviewer.commits.commit_sql import JOINED, PRIORITY
from reviewer.commits.values import CommitQuery, Priority
from reviewer.store.database import Database
from reviewer.text.filter_line import Field, Filter, Term, parsed, terms

FIELDS = {
    "priority": Field(f"{PRIORITY} LIKE ? || '%'", values=lambda: Priority),
    "role": Field("c.role LIKE ? || '%'"),
    "type": Field("c.type LIKE ? || '%'"),
    "name": Field("c.name LIKE '%' || ? || '%'"),
    "tokens": Field("t.tokens", number=True),
    "is": Field(
        meanings={
            "edited": "d.id IS NOT NULL",
            "annotated": "n.id IS NOT NULL",
            "summary": "c.operation = 'summary'",
            "criteria": "n.retention_json IS NOT NULL",
        }
    ),
}


def parse_filter(text: str) -> Filter:
    """Parse a filter line, with SQL over `JOINED`; an empty line matches every commit.

    Words and quoted phrases match anywhere in the text, in any order; `-` negates a term. Raises
    FilterError naming the term that is wrong.
    """
    return parsed(terms(text), FIELDS)


def matching_ids(database: Database, query: CommitQuery) -> array[int]:
    """Ids in chain order. Raises FilterError."""
    wanted = parse_filter(query.text)
    found = database.query(
        f"SELECT c.id{', t.text' if wanted.words else ''} FROM {JOINED}"
        f" WHERE c.context_id = ? AND c.live = 1 AND {wanted.sql} ORDER BY c.position",
        (query.context, *wanted.parameters),
    )
    return array("q", (row[0] for row in found if all(_has(row[1], it) for it in wanted.words)))


def _has(text: str, term: Term) -> bool:
    """Whether a text contains words, or lacks negated ones, case and white space aside."""
    words = " ".join(term.value.strip('"').lower().split())
    if words in ("", "-"):  # still being typed
        return True
    lower = text.lower()
    there = words in lower or (" " in words and words in " ".join(lower.split()))
    return there is term.wanted
