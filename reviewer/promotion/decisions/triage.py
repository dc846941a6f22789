"""Decisions about candidates and memories: each call is one act."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.errors import ConflictError
from reviewer.promotion.rows.decided_rows import (
    RETIRE,
    STATUS_WORDS,
    DecidedRow,
    candidates_of,
    members_of,
    refuse_graduated,
    require_alike,
    require_facts,
    require_status,
    retire,
    rows_of,
    update_dependents,
)
from reviewer.promotion.rows.evidence_rows import copy_evidence
from reviewer.promotion.rows.known_rows import row_with_key
from reviewer.promotion.rows.wordings import require_wording, wording_problem
from reviewer.promotion.views import REASONS, Done, RejectReason, RowKind, Status
from reviewer.store.acts import AMONG, Act, listed
from reviewer.store.ledger import Ledger
from reviewer.text.normalise import duplicate_key
from reviewer.text.numerals import count

LONGEST_REASON = 300
"""Characters of the reason for a dispute."""


class Seen(Struct, frozen=True):
    """A row as the person saw it before rewording it."""

    status: Status
    content: str


class Triage:
    """Promote, reject, defer, edit, merge, restore (`docs/design.md`, Promotion)."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock

    def promote(self, ids: Sequence[int], *, alone: Collection[int] = ()) -> Done:
        """Make candidates active memories.

        Near duplicates behind a row are merged into it: they become superseded and their evidence
        is added to the row's, except for the rows `alone`. Raises
        UnknownIdError, or ConflictError if one is not a candidate; then nothing is written.
        """
        with self._ledger.act("promote") as act:
            rows, merged, followed = promote_rows(act, ids, alone, now=self._now())
            retired = [row for row in rows if row.rule == RETIRE]
            act.title = _title("Retired as proposed by" if retired == rows else "Promoted", rows)
            if 0 < len(retired) < len(rows):
                act.title += f", {len(retired)} of which retire a memory"
            act.title += _merged(merged) + followed
        return Done(act.id, act.title, (*(row.id for row in rows), *merged))

    def reject(
        self,
        ids: Sequence[int],
        *,
        alone: Collection[int] = (),
        reason: RejectReason | None = None,
    ) -> Done:
        """Make candidates invalid, so that they are never proposed again.

        Near duplicates behind a row go with it, except for the rows `alone`. Raises as
        `promote` does.
        """
        with self._ledger.act("reject") as act:
            rows, members, followed = reject_rows(
                act, ids, alone, reason=str(reason or ""), now=self._now()
            )
            act.title = _title("Rejected", rows)
            if members:
                act.title += f" and {count(len(members), 'near duplicate')}"
            if reason is not None:
                act.title += f": {REASONS[reason][0]}"
            act.title += followed
        return Done(act.id, act.title, (*(row.id for row in rows), *members))

    def defer(self, ids: Sequence[int]) -> Done:
        """Set candidates aside: they no longer wait. Raises as `promote` does."""
        with self._ledger.act("defer") as act:
            rows = candidates_of(act, ids)
            act.update_many("memory", [row.id for row in rows], deferred=1)
            act.title = _title("Deferred", rows) if act.changed else _unchanged(rows, "deferred")
        return Done(act.id, act.title, tuple(row.id for row in rows))

    def retire(self, ids: Sequence[int]) -> Done:
        """Make promoted rows invalid, and what they were graduated from: agents no longer get them,
        and they are never proposed again.

        Raises UnknownIdError, or ConflictError for one that is not promoted.
        """
        with self._ledger.act("reject") as act:
            rows = rows_of(act, ids)
            for row in rows:
                require_status(act, row, Status.ACTIVE)
            gone = [*(row.id for row in rows), *_graduated_from(act, ids, Status.GRADUATED)]
            act.update_many("memory", gone, status="invalid", decided_at=self._now())
            followed = update_dependents(act, ids, self._now())
            act.title = _title("Retired", rows, "memories") + followed
        return Done(act.id, act.title, tuple(ids))

    def restore(self, ids: Sequence[int]) -> Done:
        """Return memories to the queue as candidates, whatever the decision was.

        Raises UnknownIdError, or ConflictError for a graduated memory.
        """
        with self._ledger.act("restore") as act:
            rows = self._put_back(act, ids)
        return Done(act.id, act.title, tuple(row.id for row in rows))

    def keep_again(self, ids: Sequence[int]) -> Done:
        """Promote retired memories again, as they were. Raises UnknownIdError, or ConflictError for
        one that is not rejected.
        """
        with self._ledger.act("restore") as act:
            rows = rows_of(act, ids)
            for row in rows:
                require_status(act, row, Status.INVALID)
            now = self._now()
            act.update_many("memory", [row.id for row in rows], status="active", decided_at=now)
            gone = _graduated_from(act, ids, Status.INVALID)
            act.update_many("memory", gone, status="graduated", decided_at=now)
            followed = update_dependents(act, ids, now)
            act.title = f"{_title('Put', rows, 'memories')} back into Memory{followed}"
        return Done(act.id, act.title, tuple(ids))

    def dispute(self, number: int, because: str) -> Done:
        """Return a wrong memory to the queue; agents no longer get it. Raises UnknownIdError, or
        ConflictError for one that is not promoted.
        """
        from reviewer.text.secrets import mask  # late: few acts need it

        words = " ".join(mask(because).text.split())[:LONGEST_REASON]
        with self._ledger.act("restore") as act:
            (row,) = rows_of(act, [number])
            require_status(act, row, Status.ACTIVE)
            self._put_back(act, [number], words)
            act.title = f"Called #{number} wrong: {words}"
        return Done(act.id, act.title, (number,))

    def _put_back(self, act: Act, ids: Sequence[int], reason: str = "") -> list[DecidedRow]:
        rows = rows_of(act, ids)
        refuse_graduated(act, rows)
        leaders = listed(row.leader_id for row in rows if row.leader_id)
        sql = f"SELECT id FROM memory WHERE status = 'candidate' AND id {AMONG}"
        waiting = {number for (number,) in act.query(sql, (leaders,))}
        for row in rows:
            act.update(
                "memory",
                row.id,
                status="candidate",
                deferred=0,
                decided_at=None,
                superseded_by=None,
                reason=reason,
                leader_id=row.leader_id if row.leader_id in waiting else None,
            )
        followed = update_dependents(act, [row.id for row in rows], self._now())
        title = f"{_title('Put', rows)} back into the queue{followed}"
        act.title = title if act.changed else _unchanged(rows, "waiting")
        return rows

    def edit(
        self,
        number: int,
        content: str | None = None,
        *,
        type_: str | None = None,
        name: str | None = None,
        promote: bool = True,
        alone: bool = False,
        seen: Seen | None = None,
    ) -> Done:
        """Change the wording, the type or the name of an entity, in one act.

        The earlier wording is kept. `promote` also promotes a candidate, with the near duplicates
        behind it unless `alone`. A candidate becomes an entity with an entity's type, and the other
        way round. `seen`: the row as the person saw it; a change by another process since then is a
        conflict. Raises UnknownIdError, ReviewerError for an unknown type and for a wording or name
        that is too short or too long, ConflictError if the row was decided meanwhile, cannot have
        that type, or another memory of that type says the same.
        """
        from reviewer.text.secrets import mask  # late: only a wording needs its patterns

        text = None if content is None else mask(content.strip()).text
        now = self._now()
        with self._ledger.act("edit") as act:
            (row,) = rows_of(act, [number])
            require_facts([row])
            require_status(act, row, Status.CANDIDATE, Status.ACTIVE)
            if seen is not None:
                _require_as_seen(act, row, seen)
            if text is not None:
                _change_wording(act, number, text, now)
            details = _change_type_and_name(act, row, type_, name, now)
            verbs = ["edited"] if act.changed else []
            merged: list[int] = []
            followed = ""
            if promote and row.status is Status.CANDIDATE:
                _, merged, followed = promote_rows(
                    act, [number], [number] if alone else (), now=now
                )
                verbs.append("promoted")
            elif verbs:
                followed = update_dependents(act, [number], now)
            act.title = f"{' and '.join(verbs).capitalize()} #{number}"
            if details:
                act.title += f": {', '.join(details)}"
            act.title += _merged(merged) + followed
            if not verbs:
                act.title = _unchanged([row], "like that")
        return Done(act.id, act.title, (number, *merged))

    def merge(self, ids: Sequence[int], into: int) -> Done:
        """Merge candidates into another candidate or memory, which gets their evidence.

        Raises UnknownIdError or ConflictError.
        """
        now = self._now()
        with self._ledger.act("merge") as act:
            (target,) = rows_of(act, [into])
            for row in rows_of(act, ids):
                if row.status is Status.ACTIVE:
                    raise ConflictError(
                        f"#{row.id} is a memory, and only candidates are merged. To replace it: "
                        f"reviewer supersede {row.id} --by {into}"
                    )
            rows = candidates_of(act, ids)
            for row in rows:
                require_alike(row, target)
            require_status(act, target, Status.CANDIDATE, Status.ACTIVE)
            if target.leader_id in ids:
                act.update("memory", into, leader_id=None)
            supersede_rows(act, ids, into, now)
            act.title = f"{_title('Merged', rows)} into #{into}{update_dependents(act, ids, now)}"
        return Done(act.id, act.title, tuple(ids))

    def supersede(self, number: int, by: int) -> Done:
        """Replace an active row by another; the replaced row is kept as superseded.

        `by` becomes active if it is not; both must be of the same kind. Neither's fields or
        evidence change. Raises UnknownIdError, or ConflictError.
        """
        with self._ledger.act("supersede", f"Replaced #{number} by #{by}") as act:
            (old,), (new,) = rows_of(act, [number]), rows_of(act, [by])
            require_alike(old, new)
            require_status(act, old, Status.ACTIVE)
            require_status(act, new, Status.CANDIDATE, Status.ACTIVE)
            now = self._now()
            act.update("memory", number, status="superseded", superseded_by=by, decided_at=now)
            if new.status is Status.CANDIDATE:
                act.update("memory", by, status="active", decided_at=now, leader_id=None)
            act.title += update_dependents(act, [number, by], now)
        return Done(act.id, act.title, (by, number))

    def _now(self) -> str:
        return iso(self._clock())


def promote_rows(
    act: Act, ids: Sequence[int], alone: Collection[int] = (), *, now: str
) -> tuple[list[DecidedRow], list[int], str]:
    """Promote candidates as part of an act; returns the rows, the near duplicates merged into them,
    and the changes of conflicts in words, for the title. A proposal to retire a memory retires it.
    Raises as `Triage.promote` does.
    """
    rows = candidates_of(act, ids)
    facts = [row for row in rows if row.rule != RETIRE]
    require_facts(facts)
    promoted = [row.id for row in facts]
    act.update_many("memory", promoted, status="active", decided_at=now, reason="", leader_id=None)
    retired = retire(act, [row for row in rows if row.rule == RETIRE], now)
    merged: list[int] = []
    for leader, members in members_of(act, rows, alone).items():
        supersede_rows(act, members, leader, now)
        merged += members
    return rows, merged, update_dependents(act, [*(row.id for row in rows), *merged, *retired], now)


def reject_rows(
    act: Act,
    ids: Sequence[int],
    alone: Collection[int] = (),
    *,
    reason: str,
    now: str,
) -> tuple[list[DecidedRow], list[int], str]:
    """Reject candidates as part of an act; returns the rows, the near duplicates rejected with
    them, and the changes of conflicts in words, for the title. Raises as `Triage.promote` does.
    """
    rows = candidates_of(act, ids)
    decided = [row.id for row in rows]
    act.update_many("memory", decided, status="invalid", decided_at=now, reason=reason)
    members = [each for some in members_of(act, rows, alone).values() for each in some]
    act.update_many("memory", members, status="invalid", decided_at=now, reason=reason)
    return rows, members, update_dependents(act, [*decided, *members], now)


def supersede_rows(act: Act, ids: Sequence[int], by: int, now: str) -> None:
    """Merge rows into another, which gets their evidence and their counts."""
    act.update_many("memory", ids, status="superseded", superseded_by=by, decided_at=now)
    seen = 0
    for number in ids:
        seen += act.query("SELECT seen FROM memory WHERE id = ?", (number,))[0][0]
        copy_evidence(act, number, by)
    before = act.query("SELECT seen FROM memory WHERE id = ?", (by,))[0][0]
    act.update("memory", by, seen=before + seen)


def _require_as_seen(act: Act, row: DecidedRow, seen: Seen) -> None:
    require_status(act, row, seen.status)
    (found,) = act.query("SELECT content FROM memory WHERE id = ?", (row.id,))
    if found[0] != seen.content:
        raise ConflictError(
            f"#{row.id} was reworded meanwhile: {found[0][:80]!r}. Nothing was changed."
        )


def _change_type_and_name(
    act: Act, row: DecidedRow, type_: str | None, name: str | None, now: str
) -> list[str]:
    """Returns the changes in words, for the title."""
    from reviewer.promotion.rows.retyping import change_type  # late: needs the patterns of entities
    from reviewer.text.secrets import mask

    details: list[str] = []
    if type_ is not None:
        details += change_type(act, row, type_, now)
    if name is not None:
        from reviewer.promotion.rows.entity_rows import rename

        before = act.changed
        written = rename(act, row.id, mask(name).text)
        details += [f"named {written}"] if act.changed or before else []
    return details


def _change_wording(act: Act, number: int, content: str, now: str) -> None:
    old, kind = act.query("SELECT content, kind FROM memory WHERE id = ?", (number,))[0]
    if old == content:
        return
    # A short value, such as that of a parameter, may be replaced by another one.
    require_wording(content, named=kind == "entity" and bool(wording_problem(old)))
    if same := reword_row(act, number, content, now):
        other, status = same
        raise ConflictError(
            f"#{other} ({STATUS_WORDS[Status(status)]}) says the same. Nothing"
            f" was changed; merge #{number} into it instead."
        )


def reword_row(
    act: Act, number: int, content: str, now: str, *, type_: str = ""
) -> tuple[int, str] | None:
    """Reword a row, and optionally change its type within its kind; an entity's values are read
    from the new wording. Returns the row that already says the same, with its status, or None.
    """
    old, kind, former, project = act.query(
        "SELECT content, kind, type, project_id FROM memory WHERE id = ?", (number,)
    )[0]
    key, type_ = duplicate_key(content), type_ or former
    if same := row_with_key(act, project, (kind, type_, key), besides=number):
        return same
    if content != old:
        act.insert("content_history", memory_id=number, content=old, replaced_at=now)
    act.update("memory", number, content=content, key=key, type=type_, edited=1)
    if kind == RowKind.ENTITY:
        from reviewer.promotion.rows.entity_rows import (
            change_structure,  # late: patterns of entities
        )

        change_structure(act, number, content)
    return None


def _graduated_from(act: Act, ids: Sequence[int], status: Status) -> list[int]:
    """The memories with a status from which entities were graduated."""
    sql = (
        "SELECT m.id FROM entity e JOIN memory m ON m.id = e.graduated_from"
        f" WHERE e.memory_id {AMONG} AND m.status = ?"
    )
    return [number for (number,) in act.query(sql, (listed(ids), str(status)))]


def _title(verb: str, rows: Sequence[DecidedRow], of: str = "candidates") -> str:
    return f"{verb} #{rows[0].id}" if len(rows) == 1 else f"{verb} {len(rows):,} {of}"


def _unchanged(rows: Sequence[DecidedRow], state: str) -> str:
    """The title of an act without changes, which is not recorded."""
    which = f"#{rows[0].id} is" if len(rows) == 1 else f"All {len(rows)} are"
    return f"{which} {state} already"


def _merged(members: Sequence[int]) -> str:
    return f", merged {count(len(members), 'near duplicate')}" if members else ""
