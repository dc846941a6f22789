"""References to commits: row number, full hash or short hash."""

from __future__ import annotations

import re
import sqlite3

from reviewer.errors import ReviewerError, UnknownIdError
from reviewer.store.database import Database
from reviewer.text.numerals import some_of

SHORTEST = 4
_HASH = re.compile(rf"[0-9a-f]{{{SHORTEST},64}}")


class AmbiguousReferenceError(ReviewerError):
    """A reference matches several commits."""


def resolve(
    database: Database, reference: str, *, context: int | None = None, project: str | None = None
) -> int:
    """The id of a commit given as `#12`, `12`, a hash or the first characters of a hash.

    With `#` it is always a row number. Raises UnknownIdError, or AmbiguousReferenceError listing
    the candidates.
    """
    wanted = reference.strip().lower()
    found = _named(database, wanted, context, project)
    if len(found) == 1:
        return int(found[0]["id"])
    if not found:
        if context is None and project is not None:
            others = [row["id"] for row in _named(database, wanted, None, None)]
            database.require_own("commit_", others[:1])
        raise UnknownIdError(
            f'There is no commit "{reference}". Name it by #number or at least {SHORTEST} '
            "characters of its hash. See: reviewer commit list CONTEXT"
        )
    named = [
        f"#{row['id']} {row['hash'][:12]} ({' '.join(row['beginning'].split())!r} in {row['name']})"
        for row in found
    ]
    raise AmbiguousReferenceError(
        f'"{reference}" may be {some_of(named)}. Give more of the hash, or the number with #.'
    )


def _named(
    database: Database, wanted: str, context: int | None, project: str | None
) -> list[sqlite3.Row]:
    """The commits that a number or a hash may name."""
    number = wanted.removeprefix("#")
    by_number = number.isascii() and number.isdigit() and not number.startswith("0")
    by_hash = not wanted.startswith("#") and _HASH.fullmatch(wanted) is not None
    return database.query(
        "SELECT c.id, c.hash, x.name, substr(t.text, 1, 40) AS beginning FROM context x"
        " JOIN commit_ c ON c.context_id = x.id JOIN content t ON t.id = c.content_id"
        " JOIN project p ON p.id = x.project_id"
        " WHERE (c.id = :id OR (c.hash >= :low AND c.hash < :low || 'g'))"
        " AND (:context IS NULL OR x.id = :context) AND (:project IS NULL OR p.name = :project)"
        " ORDER BY c.id LIMIT 50",
        {
            "id": int(number[:18]) if by_number else None,
            "low": wanted if by_hash else None,
            "context": context,
            "project": project,
        },
    )
