"""References to commits: row number, full hash or short hash."""

from __future__ import annotations

import re

from msgspec import Struct

from reviewer.commits.reader import CommitReader
from reviewer.commits.values import ContextView
from reviewer.errors import ReviewerError, UnknownIdError

SHORTEST = 4
_HASH = re.compile(rf"[0-9a-f]{{{SHORTEST},64}}")
_NAMED = 6
"""An error message lists at most this many candidates."""


class AmbiguousReferenceError(ReviewerError):
    """A reference matches several commits. `candidates` are their ids."""

    def __init__(self, message: str, candidates: tuple[int, ...]) -> None:
        super().__init__(message)
        self.candidates = candidates


def resolve(
    reader: CommitReader, reference: str, *, context: int | None = None, project: str | None = None
) -> int:
    """The id of a commit given as `#12`, `12`, a hash or the first characters of a hash.

    With `#` it is always a row number. Raises UnknownIdError, or AmbiguousReferenceError listing
    the candidates.
    """
    wanted = reference.strip().lower()
    found = _named(reader, wanted, context, project)
    if len(found) == 1:
        return next(iter(found))
    if not found:
        if context is None and project is not None:
            reader.require_own("commit_", list(_named(reader, wanted, None, None))[:1])
        raise UnknownIdError(_unknown(reference, wanted))
    raise AmbiguousReferenceError(_ambiguous(reference, found), tuple(found))


def _named(
    reader: CommitReader, wanted: str, context: int | None, project: str | None
) -> dict[int, _Candidate]:
    """The commits that a number or a hash may name, by id."""
    number = wanted.removeprefix("#")
    found: dict[int, _Candidate] = {}
    if number.isascii() and number.isdigit() and not number.startswith("0"):
        found |= _rows(reader, "c.id = :id", {"id": int(number[:18])}, context, project)
    if not wanted.startswith("#") and _HASH.fullmatch(wanted):
        condition = "c.hash >= :low AND c.hash < :low || 'g'"
        found |= _rows(reader, condition, {"low": wanted}, context, project)
    return found


class _Candidate(Struct, frozen=True):
    hash: str
    context: str
    beginning: str


def _rows(
    reader: CommitReader,
    condition: str,
    parameters: dict[str, str | int],
    context: int | None,
    project: str | None,
) -> dict[int, _Candidate]:
    """Matching commits by id."""
    rows = reader.all(
        "SELECT c.id, c.hash, x.id, x.name, substr(t.text, 1, 40) FROM context x"
        " JOIN commit_ c ON c.context_id = x.id JOIN content t ON t.id = c.content_id"
        f" JOIN project p ON p.id = x.project_id WHERE {condition}"
        " AND (:context IS NULL OR x.id = :context) AND (:project IS NULL OR p.name = :project)"
        " ORDER BY c.id LIMIT 50",
        {**parameters, "context": context, "project": project},
    )
    return {
        row[0]: _Candidate(row[1], f"#{row[2]} {row[3]}", " ".join(row[4].split())) for row in rows
    }


def _ambiguous(reference: str, found: dict[int, _Candidate]) -> str:
    several = len({each.context for each in found.values()}) > 1
    named = ", ".join(
        f"#{number} {each.hash[:12]} ({each.beginning!r}"
        + (f" in {each.context})" if several else ")")
        for number, each in list(found.items())[:_NAMED]
    )
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    same = len({each.hash for each in found.values()}) == 1
    hints = ([] if same else ["more of the hash"]) + ["the number with #"]
    hints += ["the context with --context"] if several else []
    return f'"{reference}" may be {named}{more}. Give {", or ".join(hints)}.'


def _unknown(reference: str, wanted: str) -> str:
    if re.fullmatch(r"[0-9a-f]+", wanted) and len(wanted) < SHORTEST and not wanted.isdigit():
        return f'"{reference}" is too short: give at least {SHORTEST} characters of the hash.'
    return f'There is no commit "{reference}". See: reviewer commit list CONTEXT'


def require_in(reader: CommitReader, commit: int, context: ContextView) -> None:
    """Raise UnknownIdError unless the commit belongs to the context."""
    if (
        reader.one("SELECT 1 FROM commit_ WHERE id = ? AND context_id = ?", (commit, context.id))
        is None
    ):
        raise UnknownIdError(
            f'Commit #{commit} is not in the context "{context.name}". '
            "See: reviewer commit list CONTEXT"
        )
