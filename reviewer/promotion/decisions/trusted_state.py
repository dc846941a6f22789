"""Trusted state (L3): keys and values written by a person only (`docs/design.md`, Promotion).

No function here takes the id of a candidate, memory or entity, and only this module writes `state`.
Imports needed for writing only are late, because hooks read and must be quick.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, convert

from reviewer.clock import iso
from reviewer.errors import ReviewerError, SourceError, UnknownIdError
from reviewer.store.project_rows import project_row
from reviewer.store.service import Service

if TYPE_CHECKING:
    from reviewer.promotion.views import Done

LONGEST_KEY = 200


class StateView(Struct, frozen=True):
    """A value of a key. `ended_at` is None for the current one."""

    id: int
    project: str
    key: str
    value: str
    note: str
    evidence: str
    set_at: str
    ended_at: str | None
    superseded_by: int | None


class TrustedState(Service):
    """Reads and writes trusted state. A new value supersedes the old row, which is kept."""

    def all(self, project: str | None = None, *, past: bool = False) -> list[StateView]:
        """Current values by project and key; with `past`, also earlier ones, newest first."""
        where = "1" if past else "s.ended_at IS NULL"
        return self._read(
            f"{where} AND (?1 IS NULL OR p.name = ?1) ORDER BY p.name, s.key, s.id DESC", project
        )

    def get(self, project: str, key: str) -> list[StateView]:
        """All values of a key, newest first. Raises UnknownIdError if it was never set."""
        found = self._read("p.name = ?1 AND s.key = ?2 ORDER BY s.id DESC", project, key)
        if not found:
            raise UnknownIdError(f'{project} has no state "{key}". See: reviewer state list')
        return found

    def having(self, key: str) -> list[str]:
        """The projects that have or had a key."""
        return sorted({each.project for each in self._read("s.key = ?1", key)})

    def set(
        self, project: str, key: str, value: str, *, note: str = "", evidence: str = ""
    ) -> Done:
        """Write a value by hand; `evidence`: where to look it up (`file:line`).

        Secrets are masked. Raises ReviewerError for an empty key or value.
        """
        from reviewer.promotion.views import Done
        from reviewer.text.secrets import mask

        key, value, note, evidence = (
            mask(text.strip()).text for text in (key, value, note, evidence)
        )
        evidence = _absolute(evidence)
        if not key or len(key) > LONGEST_KEY:
            raise ReviewerError(f"A key has 1 to {LONGEST_KEY} characters.")
        if not value:
            raise ReviewerError("The value is empty. To end a key: reviewer state unset KEY")
        now = iso(self._clock())
        with self._ledger.act("state set", f"Set {key}") as act:
            project_id = project_row(act, project)
            current = act.query(
                "SELECT id, value, note, evidence FROM state"
                " WHERE project_id = ? AND key = ? AND ended_at IS NULL",
                (project_id, key),
            )
            if current and current[0][1:] == (value, note, evidence):
                return Done(0, f"{key} already has this value", ())
            if current:
                act.update("state", current[0][0], ended_at=now)
            number = act.insert(
                "state",
                project_id=project_id,
                key=key,
                value=value,
                note=note,
                evidence=evidence,
                set_at=now,
            )
            if current:
                act.update("state", current[0][0], superseded_by=number)
                act.title = f"Set {key}, superseding the earlier value"
        return Done(act.id, act.title, ())

    def unset(self, project: str, key: str) -> Done:
        """End a key; its values stay readable. Raises UnknownIdError for a key without a value."""
        from reviewer.promotion.views import Done

        with self._ledger.act("state unset", f"Unset {key}") as act:
            current = act.query(
                "SELECT s.id FROM state s JOIN project p ON p.id = s.project_id"
                " WHERE p.name = ? AND s.key = ? AND s.ended_at IS NULL",
                (project, key),
            )
            if not current:
                raise UnknownIdError(f'{project} has no state "{key}". See: reviewer state list')
            act.update("state", current[0][0], ended_at=iso(self._clock()))
        return Done(act.id, act.title, ())

    def _read(self, where: str, *parameters: str | None) -> list[StateView]:
        rows = self._database.query(
            "SELECT s.*, p.name AS project FROM state s"
            f" JOIN project p ON p.id = s.project_id WHERE {where}",
            parameters,
        )
        return [convert(dict(row), StateView) for row in rows]


def _absolute(evidence: str) -> str:
    """`notes.md:4` with an absolute path, so that it can be found from any folder.

    Evidence in another form is returned unchanged. Raises ReviewerError if the file does not exist
    or has no such line.
    """
    path, colon, line = evidence.rpartition(":")
    if not colon or not line.isdecimal() or "//" in path:
        return evidence
    from reviewer.promotion.lists.source_view import window

    target = Path(os.path.abspath(path))
    try:
        found = window(target, max(int(line) - 1, 0), int(line)).lines
    except SourceError as problem:
        raise ReviewerError(f"{problem} Name existing evidence.") from problem
    if not found:
        raise ReviewerError(f"{path} has no line {line}. Name existing evidence.")
    return f"{target}:{line}"
