"""Keeps the decisions of a project in sync through a folder that other programs copy between
machines. Each machine appends to its own file, in the format of `decision_lines.py`. A decision
names its predecessors on the same memory by the hash of their lines; so no clock is needed to order
them, and two that do not name each other are concurrent.

A group of memories that end up with the same wording (`sync_lines.py`) has one row. If its latest
lines agree, the row follows them; if not, it waits as a conflict on every machine. Lines are
written only for rows that have changed since the last sync, so that nothing is sent back and forth.
"""

from __future__ import annotations

import hashlib
import itertools
import platform
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct, structs

from reviewer.clock import iso
from reviewer.errors import ReviewerError
from reviewer.files import reason_of
from reviewer.promotion import queue_order
from reviewer.promotion.decisions.triage import promote_rows, reject_rows, supersede_rows
from reviewer.promotion.exchange.decision_lines import (
    Decision,
    DecisionFile,
    Fault,
    Header,
    Line,
    Verdict,
    decision_line,
    encoded,
    write_decisions,
)
from reviewer.promotion.exchange.signed_decisions import (
    DECISION_COLUMNS,
    VERDICTS,
    add_memories,
    decision_of,
    reword,
    row_of,
)
from reviewer.promotion.exchange.sync_lines import (
    ENDING,
    Group,
    grouped,
    item_of,
    merged,
    outcome_of,
    read_folder,
)
from reviewer.promotion.rows.decided_rows import RETIRE, update_dependents
from reviewer.promotion.rows.known_rows import Key, row_with_key
from reviewer.store.acts import AMONG, Act, Scope, listed
from reviewer.store.changes import Value
from reviewer.store.project_rows import project_row
from reviewer.store.service import Service
from reviewer.text.normalise import duplicate_key

SYNC = "sync"
CONCURRENT = "concurrent"
"""Flag of a row that was decided differently on two machines."""
SHOWN = 20
"""The most problems listed."""


class SyncedItem(Struct, frozen=True):
    """An item after the last sync: its row, which may have been superseded since, its lines and the
    hash of the outcome.
    """

    memory: int | None
    latest: tuple[str, ...]
    earlier: tuple[str, ...]
    outcome: str


class Synced(Struct, frozen=True):
    act: int
    title: str
    sent: int
    taken: int
    conflicts: tuple[int, ...]
    problems: tuple[str, ...]
    unwritten: str = ""
    """Why this machine's file could not be written; empty if it was."""


class Syncing(Service):
    def sync(self, folder: Path, project: str, *, key: str = "", signers: str = "") -> Synced:
        """Apply the decisions of other machines, and write those of this one.

        `key` signs; with `signers`, only files signed by one
        of them count. Raises SourceError for a folder that cannot be read.
        """
        own = folder / f"{self._machine()}-{_slug(project)}{ENDING}"
        files, problems = read_folder(folder, own, project, signers)
        with self._ledger.act(SYNC, scope=Scope.INTAKE) as act:
            run = _Run(act, self._database.writer, iso(self._clock()), project)
            run.take(files, own)
            act.title = f"Synced: {run.taken} taken, {len(run.conflicts)} in conflict"
        unwritten = ""
        if run.fresh:
            try:
                header = encoded(Header.of(project, self._ledger.actor, iso(self._clock())))
                before = files[own].whole_lines if own in files else header
                write_decisions(own, before, (each.raw for each in run.fresh.values()), key)
                with self._ledger.act(SYNC):
                    run.remember_sent()
            except (OSError, ReviewerError) as problem:
                reason = reason_of(problem) if isinstance(problem, OSError) else str(problem)
                unwritten = f"{own} could not be written: {reason}"
        return Synced(
            act.id, act.title, 0 if unwritten else len(run.fresh), run.taken,
            tuple(run.conflicts), tuple((*problems, *run.problems)[:SHOWN]), unwritten,
        )  # fmt: skip

    def _machine(self) -> str:
        """A name for this store on this machine; a copy of the store elsewhere gets another one."""
        path = self._database.path.absolute()
        about = f"{platform.node()}\n{path}\n{path.stat().st_ino}"
        return hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _slug(project: str) -> str:
    return hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:8]


class _Run:
    """One sync inside its act."""

    def __init__(self, act: Act, writer: sqlite3.Connection, now: str, project: str) -> None:
        self._act = act
        self._writer = writer
        self._now = now
        self._project = project
        self._number = project_row(act, project)
        self._known = self._read_known()
        self._rows = self._read_rows()
        self._origins = {
            item: each.memory for item, each in self._known.items() if each.memory in self._rows
        }
        """The row that an item came from. If superseded by the row of its group, it is restored
        once the item differs again.
        """
        self._sent: list[tuple[str, SyncedItem]] = []
        self.fresh: dict[str, Line] = {}
        """The new lines of this machine, by item."""
        self.taken = 0
        self.conflicts: list[int] = []
        self.problems: list[str] = []

    def take(self, files: Mapping[Path, DecisionFile], own: Path) -> None:
        """Make this store and the lines of all machines agree."""
        self._name_new_items()
        living = {item: self._living(row) for item, row in self._origins.items()}
        here = {item: row for item, row in living.items() if row is not None}
        lines = [each for file in files.values() for each in file.lines if each.decision.item]
        lines += self._own_lines(here, {each.hash for each in lines}, own)
        groups = {
            key: each
            for key, each in grouped(merged(lines)).items()
            if here.keys() & each.items.keys() or self._is_wanted(each)
        }
        places = self._placed(groups)
        self._add_absent([each for key, each in groups.items() if key not in places], places)
        for key, place in places.items():
            self._settle(place, groups[key])
        self._join(groups, places)
        self._rows = self._read_rows(places.values())
        for key, place in places.items():
            if place in self._rows:
                self._remember(place, groups[key])

    def _read_known(self) -> dict[str, SyncedItem]:
        found = self._act.query(
            "SELECT item, memory_id, latest, earlier, outcome FROM synced WHERE project_id = ?",
            (self._number,),
        )
        return {
            row[0]: SyncedItem(row[1], tuple(row[2].split()), tuple(row[3].split()), row[4])
            for row in found
        }

    def _read_rows(self, also: Iterable[int] = ()) -> dict[int, sqlite3.Row]:
        """The rows that were decided here or synced before, their replacements, and others."""
        return self._select(
            "m.project_id = ?1 AND m.kind IN ('memory', 'entity')"
            f" AND m.rule <> '{RETIRE}' AND (m.status <> 'candidate'"
            f" OR m.id {AMONG} OR m.id IN (SELECT memory_id FROM synced WHERE project_id = ?1)"
            " OR m.id IN (SELECT superseded_by FROM memory WHERE superseded_by IS NOT NULL))",
            self._number, listed(also),
        )  # fmt: skip

    def _row(self, number: int) -> sqlite3.Row:
        return self._select("m.id = ?", number)[number]

    def _select(self, condition: str, *parameters: Value) -> dict[int, sqlite3.Row]:
        cursor = self._writer.cursor()
        cursor.row_factory = sqlite3.Row
        cursor.execute(
            f"SELECT {DECISION_COLUMNS}, m.superseded_by, m.flags, m.rule, (SELECT content"
            " FROM content_history h WHERE h.memory_id = m.id ORDER BY id LIMIT 1) AS first"
            f" FROM memory m WHERE {condition} ORDER BY m.id",
            parameters,
        )
        return {row["id"]: row for row in cursor}

    def _living(self, number: int | None) -> sqlite3.Row | None:
        """A row, or its replacement; None if that was taken back or forgotten."""
        row = self._rows.get(number or 0)
        while row is not None and row["status"] == "superseded":
            row = self._rows.get(row["superseded_by"])
        return row

    def _name_new_items(self) -> None:
        """Give an item to each row that was decided here and has none."""
        have = set(self._origins.values())
        for number, row in self._rows.items():
            if number in have or row["status"] not in ("active", "invalid"):
                continue
            key = duplicate_key(row["first"] or row["content"])
            names = (item_of(row["kind"], row["type"], key, each) for each in itertools.count(1))
            known, origins = self._known, self._origins
            origins[next(each for each in names if not (each in known or each in origins))] = number

    def _is_wanted(self, group: Group) -> bool:
        """Whether to add a row for a group that has none here. Not if it was taken back or
        forgotten here, nor if it was taken back elsewhere, unless it waits here.
        """
        if self._known.keys() & group.items.keys():
            return False
        same = row_with_key(self._act, self._number, group.lines[0].key)
        waits = same is not None and same[1] == "candidate"
        return waits or not group.agrees or group.verdict is not Verdict.WITHDRAWN

    def _own_lines(
        self, here: Mapping[str, sqlite3.Row], there: set[str], own: Path
    ) -> Iterator[Line]:
        """A line for each item whose row has changed since the last sync, or which has no line in
        the folder.
        """
        for item, row in here.items():
            before = self._known.get(item)
            if before and before.outcome == _outcome(row) and not there.isdisjoint(before.latest):
                continue
            decision = decision_of(self._writer, row, row["decided_at"] or self._now)
            keys = dict.fromkeys((*decision.earlier, self._rows[self._origins[item]]["key"]))
            keys.pop(decision.key, None)
            after = (*before.latest, *before.earlier) if before else ()
            decision = structs.replace(decision, item=item, after=after, earlier=tuple(keys))
            line = decision_line(encoded(decision), own, len(self.fresh) + 1)
            if isinstance(line, Fault):
                self.problems.append(f"#{row['id']} is not sent: {line.why}.")
            else:
                self.fresh[item] = line
                yield line

    def _placed(self, groups: Mapping[Key, Group]) -> dict[Key, int]:
        """The rows of groups: one that already has the wording, else one that an item came from,
        else one waiting with an earlier wording.
        """
        found = {key: row_with_key(self._act, self._number, key) for key in groups}
        places = {key: same[0] for key, same in found.items() if same is not None}
        held = set(places.values())
        for key, group in groups.items():
            if key not in places and (row := self._free_row(group, held)):
                places[key] = row
                held.add(row)
        return places

    def _free_row(self, group: Group, held: set[int]) -> int | None:
        own = [self._origins[item] for item in group.items if item in self._origins]
        rows = [self._rows[number] for number in own if number not in held]
        kind = group.first.kind
        free = [each for each in rows if each["kind"] == kind and not _is_fixed(each)]
        if free:
            return int(min(free, key=lambda row: (row["status"] == "superseded", row["id"]))["id"])
        found = row_of(self._act, self._number, group.first)
        waits = found and found.status == "candidate" and found.id not in {*held, *self._rows}
        return found.id if found and waits else None

    def _add_absent(self, groups: Iterable[Group], places: dict[Key, int]) -> None:
        by_path: dict[Path, list[Line]] = defaultdict(list)
        for each in groups:
            by_path[each.lines[0].path].append(each.lines[0])
        for path, lines in by_path.items():
            dated = [structs.replace(line, decision=self._dated(line.decision)) for line in lines]
            added = add_memories(self._act, self._project, path, dated, self._now)
            places |= dict(zip([line.key for line in lines], added, strict=True))

    def _dated(self, each: Decision) -> Decision:
        """The decision with a time no later than now, in case the other clock was ahead."""
        return structs.replace(each, at=min(each.at, self._now))

    def _settle(self, place: int, group: Group) -> None:
        """Apply the result of its group to a row. If the group disagrees, the row waits again with
        the first wording, and the other wordings behind it.
        """
        row = self._rows.get(place) or self._row(place)
        first = self._dated(group.first)
        wanted = outcome_of(group.verdict, first.kind, first.type, first.content)
        flags = [flag for flag in row["flags"].split() if flag != CONCURRENT]
        if _outcome(row) == wanted and (len(flags) == len(row["flags"].split())) is group.agrees:
            return
        if _is_fixed(row):
            self.problems.append(f"#{place} stays as it is, and was decided otherwise elsewhere.")
            return
        self._act.update(
            "memory", place, status="candidate", decided_at=None, superseded_by=None, reason="",
            leader_id=None, flags=" ".join(flags),
        )  # fmt: skip
        if (row["type"], row["content"]) != (first.type, first.content):
            reword(self._act, place, first, self._now)
        self._keep_wordings(place, group)
        if not group.agrees:
            self.conflicts.append(place)
            flags = [*self._row(place)["flags"].split(), CONCURRENT]
            self._act.update(
                "memory", place, flags=" ".join(flags), rank=queue_order.CONFLICT, edited=1
            )
            return
        self.taken += 1
        if group.verdict is Verdict.PROMOTED:
            promote_rows(self._act, [place], [place], now=first.at)
        elif group.verdict is Verdict.REJECTED:
            reject_rows(self._act, [place], [place], reason=first.reason, now=first.at)

    def _keep_wordings(self, place: int, group: Group) -> None:
        others = {each.decision.content for each in group.lines} - {group.first.content}
        sql = "SELECT content FROM content_history WHERE memory_id = ?"
        there = {content for (content,) in self._act.query(sql, (place,))} if others else set()
        for content in sorted(others - there):
            self._act.insert(
                "content_history", memory_id=place, content=content, replaced_at=self._now
            )

    def _join(self, groups: Mapping[Key, Group], places: Mapping[Key, int]) -> None:
        """Have the row of a group supersede the other rows that its items came from, except rows of
        other groups.
        """
        held = set(places.values())
        for key, place in places.items():
            for origin in [self._origins.get(item) for item in groups[key].items]:
                if origin is None or origin in held or _is_fixed(self._rows[origin]):
                    continue
                held.add(origin)
                if self._rows[origin]["superseded_by"] != place:
                    supersede_rows(self._act, [origin], place, self._now)
                    update_dependents(self._act, [origin], self._now)

    def _remember(self, place: int, group: Group) -> None:
        row = self._rows[place]
        origins = {item: self._origins.get(item) for item in group.items}
        memories = {
            item: origin if self._living(origin) is row else place
            for item, origin in origins.items()
        }
        if place not in memories.values():
            memories[min(memories)] = place
        for item, each in group.items.items():
            before = self._known.get(item)
            latest = tuple(line.hash for line in each.latest)
            earlier = {*each.earlier, *((*before.latest, *before.earlier) if before else ())}
            earlier.difference_update(latest)
            found = SyncedItem(memories[item], latest, tuple(sorted(earlier)), _outcome(row))
            if item in self.fresh:
                self._sent.append((item, found))
                lines = (before.latest, before.earlier) if before else ((), ())
                found = SyncedItem(found.memory, *lines, outcome="")  # sent again until it is there
            if found != before:
                self._put(item, found)

    def remember_sent(self) -> None:
        """Record the lines written to the folder."""
        for item, each in self._sent:
            self._put(item, each)

    def _put(self, item: str, each: SyncedItem) -> None:
        self._writer.execute(
            "INSERT OR REPLACE INTO synced (project_id, item, memory_id, latest, earlier, outcome)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                self._number, item, each.memory, " ".join(each.latest), " ".join(each.earlier),
                each.outcome,
            ),
        )  # fmt: skip


def _outcome(row: sqlite3.Row) -> str:
    return outcome_of(VERDICTS.get(row["status"], ""), row["kind"], row["type"], row["content"])


def _is_fixed(row: sqlite3.Row) -> bool:
    """Whether a row is exempt from decisions made elsewhere."""
    return bool(row["status"] == "graduated" or row["rule"] == RETIRE)
