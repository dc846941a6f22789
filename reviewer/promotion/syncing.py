"""Keeps the decisions of a project in step through a folder that others copy between machines.

Each machine appends to a file of its own, in the format of `decisions.py`. A decision names all
those on the same memory that it was made after, by the hash of their lines; so no clock is needed
to say which came last, and two that do not name each other are concurrent.

What the lines say is a function of the lines alone, so that all machines come to the same. Each
memory is an item with lines of its own. Items that come to one wording are a group, and a group has
one row. Where the latest lines of a group agree, the row becomes what they say; where they do not,
it waits as a conflict, on every machine. A row writes lines only when it is not as the last sync
left it, so that nothing is sent to and fro.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import platform
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from reviewer.clock import Clock, iso
from reviewer.errors import ReviewerError, SourceError
from reviewer.files import read_own, reason_of, write_atomic
from reviewer.promotion.conflict_rows import CONFLICT_RANK
from reviewer.promotion.decided_rows import RETIRE, regroup, rows_of, settle_without
from reviewer.promotion.known_keys import Key, row_with_key
from reviewer.promotion.signatures import sign, signer
from reviewer.promotion.signed_decisions import (
    DECISION_COLUMNS,
    FORMAT,
    LARGEST,
    VERDICTS,
    VERSION,
    Decision,
    Header,
    Verdict,
    add_memories,
    decision_of,
    fault_of,
    reword,
    row_of,
    unfit,
)
from reviewer.promotion.triage import promote_rows, reject_rows, supersede_rows
from reviewer.store.acts import AMONG, Act, Scope, listed
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row
from reviewer.text.normalise import duplicate_key

ENDING = ".reviewer.jsonl"
SYNC = "sync"
CONCURRENT = "concurrent"
"""Flag of a row that was decided differently on two machines."""
HASH = 32
"""Hex digits of a line's hash."""
SHOWN = 20
"""Problems that are listed."""
Rows = Mapping[int, sqlite3.Row]


class Line(Struct, frozen=True):
    """A decision as a line of a machine's file."""

    hash: str
    decision: Decision
    path: Path
    number: int

    @property
    def key(self) -> Key:
        return (self.decision.kind, self.decision.type, self.decision.key)


class Item(Struct, frozen=True):
    """The lines on one memory that no other one was made after."""

    latest: tuple[Line, ...]
    earlier: frozenset[str]
    """The hashes of the others."""


class Group(Struct, frozen=True):
    """The items that come to one wording, and their latest lines in an order of their own."""

    items: Mapping[str, Item]
    lines: tuple[Line, ...]

    @property
    def first(self) -> Decision:
        return self.lines[0].decision

    @property
    def agrees(self) -> bool:
        """Whether the lines have one result; without a promotion, wordings may differ."""
        verdicts = {each.decision.verdict for each in self.lines}
        keys = {each.key for each in self.lines}
        return len(verdicts) == 1 and (len(keys) == 1 or Verdict.PROMOTED not in verdicts)

    @property
    def verdict(self) -> Verdict:
        """The result; where the lines disagree, a person decides again."""
        return self.first.verdict if self.agrees else Verdict.WITHDRAWN


class MachineFile(Struct, frozen=True):
    """The complete lines of a file, and the problems of the others."""

    header: Header
    lines: tuple[bytes, ...]
    decisions: tuple[Line, ...]
    problems: tuple[str, ...] = ()


class Known(Struct, frozen=True):
    """What the last sync left of an item: its row, which may have been superseded since, its lines
    and the hash of the outcome.
    """

    memory: int | None
    latest: tuple[str, ...]
    earlier: tuple[str, ...]
    outcome: str


class Synced(Struct, frozen=True):
    """The result of a sync."""

    act: int
    title: str
    sent: int
    taken: int
    conflicts: tuple[int, ...]
    problems: tuple[str, ...]
    unwritten: str = ""
    """Why this machine's file could not be written; empty if it was."""


def merged(lines: Iterable[Line]) -> dict[str, Item]:
    """The items of those lines."""
    by_item: dict[str, dict[str, Line]] = defaultdict(dict)
    for each in lines:
        by_item[each.decision.item].setdefault(each.hash, each)
    found: dict[str, Item] = {}
    for item, some in by_item.items():
        earlier = frozenset(name for each in some.values() for name in each.decision.after)
        found[item] = Item(_sorted(some[name] for name in some.keys() - earlier), earlier)
    return found


def grouped(items: Mapping[str, Item]) -> dict[Key, Group]:
    """The groups of those items, by the key of their rows."""
    by_key: dict[Key, dict[str, Item]] = defaultdict(dict)
    for item, each in sorted(items.items()):
        by_key[each.latest[0].key][item] = each
    return {
        key: Group(some, _sorted(line for each in some.values() for line in each.latest))
        for key, some in sorted(by_key.items())
    }


def _sorted(lines: Iterable[Line]) -> tuple[Line, ...]:
    """By key first, so that the first line of a group has its key."""
    return tuple(sorted(lines, key=lambda each: (each.key, each.decision.content, each.hash)))


def read_machine(path: Path) -> MachineFile | None:
    """The file of a machine; None where it is something else. What was cut off, cannot be read or
    cannot be a memory is left out and named.

    Raises SourceError for a file that cannot be opened.
    """
    try:
        data = read_own(path, LARGEST)
    except OSError as problem:
        raise SourceError(f"{path} is not read: {reason_of(problem)}.") from problem
    raw = data.splitlines(keepends=True)
    problems = []
    if raw and not raw[-1].endswith(b"\n"):
        raw.pop()
        problems.append(f"The end of {path} has not arrived yet.")
    try:
        header = msgspec.json.decode(raw[0] if raw else b"", type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        header = None
    if header is None or (header.format, header.version) != (FORMAT, VERSION):
        return None
    found = []
    for number, line in enumerate(raw[1:], start=1):
        try:
            each = msgspec.json.decode(line, type=Decision)
            fault = (
                fault_of(each) or _unfit(each) or ("" if each.item else "it is not one of sync.")
            )
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            fault = f"{problem}."
        if fault:
            problems.append(f"{path}, line {number + 1}, is left out: {fault}")
        else:
            found.append(Line(hash_of(line), each, path, number))
    return MachineFile(header, tuple(raw), tuple(found), tuple(problems))


def hash_of(line: bytes) -> str:
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()[:HASH]


def item_of(kind: str, type_: str, key: str, number: int) -> str:
    """The name of an item: by its first wording, so that two machines give it the same. Those of
    one machine that have the same first wording are numbered.
    """
    parts = (kind, type_, key, *([str(number)] if number > 1 else []))
    return _hash("\n".join(parts))


def outcome_of(verdict: str, kind: str, type_: str, content: str) -> str:
    """The hash of what a row or a group says."""
    return _hash("\n".join((verdict, kind, type_, content)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH]


def _unfit(each: Decision) -> str:
    """Why a decision is refused, whatever clock it was made by."""
    why = unfit(each, each.at)
    return why and f"{why}."


def _living(rows: Rows, number: int | None) -> sqlite3.Row | None:
    """A row, or what took its place; None where that was taken back or forgotten."""
    row = rows.get(number or 0)
    while row is not None and row["status"] == "superseded":
        row = rows.get(row["superseded_by"])
    return row


class Syncing:
    """Syncs the decisions of one project."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock

    def sync(
        self, folder: Path, project: str, *, quoted: bool = False, key: str = "", signers: str = ""
    ) -> Synced:
        """Take what other machines have decided, and write what this one has.

        `quoted`: with quotes of the evidence. `key` signs; with `signers` only files count that
        one of them has signed. Raises SourceError for a folder that cannot be read.
        """
        own = folder / f"{self._machine()}-{_slug(project)}{ENDING}"
        files, problems = _read_all(folder, own, project, signers)
        run = _Run(self._database, self._clock, project, quoted, own)
        with self._ledger.act(SYNC, scope=Scope.INTAKE) as act:
            run.take(act, files)
            act.title = f"Synced: {run.taken} taken, {len(run.conflicts)} in conflict"
        unwritten = ""
        if run.fresh:
            try:
                self._write(own, files.get(own), run.fresh, project, key)
            except (OSError, ReviewerError) as problem:
                reason = reason_of(problem) if isinstance(problem, OSError) else str(problem)
                unwritten = f"{own} could not be written: {reason}"
        return Synced(
            act.id, act.title, 0 if unwritten else len(run.fresh), run.taken,
            tuple(run.conflicts), tuple((*problems, *run.problems)[:SHOWN]), unwritten,
        )  # fmt: skip

    def _machine(self) -> str:
        """A name for this store on this machine; a copy of it elsewhere has another one."""
        path = self._database.path.absolute()
        about = f"{platform.node()}\n{path}\n{path.stat().st_ino}"
        return hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:12]

    def _write(
        self, own: Path, known: MachineFile | None, fresh: Sequence[bytes], project: str, key: str
    ) -> None:
        header = Header(FORMAT, VERSION, project, "", self._ledger.actor, iso(self._clock()), "")
        lines = known.lines if known else (msgspec.json.encode(header) + b"\n",)
        data = b"".join((*lines, *fresh))
        signature = sign(data, Path(key).expanduser()) if key else b""
        write_atomic(own, data)
        if key:
            write_atomic(own.with_name(f"{own.name}.sig"), signature)


def _slug(project: str) -> str:
    return hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _read_all(
    folder: Path, own: Path, project: str, signers: str
) -> tuple[dict[Path, MachineFile], list[str]]:
    files: dict[Path, MachineFile] = {}
    problems: list[str] = []
    try:
        names = sorted(os.listdir(folder))
    except OSError as problem:
        raise SourceError(f"{folder} cannot be read: {reason_of(problem)}.") from problem
    for name in names:
        path = folder / name
        if not name.endswith(ENDING):
            continue
        try:
            found = read_machine(path)
            if found is None:
                fate = "written anew" if path == own else "left alone"
                problems.append(f"{path} is not a file of decisions, and is {fate}.")
            elif found.header.project == project:
                if signers and path != own:
                    signature = read_own(path.with_name(f"{name}.sig"))
                    signer(b"".join(found.lines), signature, Path(signers).expanduser())
                files[path] = found
                problems += found.problems
        except OSError as problem:
            problems.append(f"{path} is left out: its signature: {reason_of(problem)}.")
        except ReviewerError as problem:
            problems.append(str(problem))
    return files, problems


class _Run:
    """One sync inside its act."""

    def __init__(
        self, database: Database, clock: Clock, project: str, quoted: bool, own: Path
    ) -> None:
        self._writer = database.writer
        self._now = iso(clock())
        self._project = project
        self._quoted = quoted
        self._own = own
        self._number = 0
        self.fresh: list[bytes] = []
        self.taken = 0
        self.conflicts: list[int] = []
        self.problems: list[str] = []

    def take(self, act: Act, files: Mapping[Path, MachineFile]) -> None:
        self._number = project_row(act, self._project)
        known = self._known(act)
        rows = self._rows(act)
        origins = {item: each.memory for item, each in known.items() if each.memory in rows}
        origins |= self._new_items(known, rows)
        here = {item: row for item in origins if (row := _living(rows, origins[item])) is not None}
        lines = [each for file in files.values() for each in file.decisions]
        lines += self._own_lines(known, rows, origins, here, {each.hash for each in lines})
        groups = {
            key: each
            for key, each in grouped(merged(lines)).items()
            # what was taken back or forgotten here does not come again
            if not here.keys().isdisjoint(each.items) or known.keys().isdisjoint(each.items)
        }
        places = self._placed(act, files, groups, rows, origins, here)
        for key, place in places.items():
            self._settle(act, place, groups[key], rows)
        self._join(act, groups, places, rows, origins)
        rows = self._rows(act, places.values())
        for key, place in places.items():
            self._remember(groups[key], rows, place, known, origins)

    def _known(self, act: Act) -> dict[str, Known]:
        found = act.query(
            "SELECT item, memory_id, latest, earlier, outcome FROM synced WHERE project_id = ?",
            (self._number,),
        )
        return {
            row[0]: Known(row[1], tuple(row[2].split()), tuple(row[3].split()), row[4])
            for row in found
        }

    def _rows(self, act: Act, also: Iterable[int] = ()) -> dict[int, sqlite3.Row]:
        """The rows that were decided here or synced before, and what took their place."""
        cursor = self._writer.cursor()
        cursor.row_factory = sqlite3.Row
        cursor.execute(
            f"{_ROWS} WHERE m.project_id = ?1 AND m.kind IN ('memory', 'entity')"
            f" AND m.rule <> '{RETIRE}' AND (m.status <> 'candidate'"
            f" OR m.id {AMONG} OR m.id IN (SELECT memory_id FROM synced WHERE project_id = ?1)"
            " OR m.id IN (SELECT superseded_by FROM memory WHERE project_id = ?1)) ORDER BY m.id",
            (self._number, listed(also)),
        )
        return {row["id"]: row for row in cursor}

    def _new_items(self, known: Mapping[str, Known], rows: Rows) -> dict[str, int]:
        """The rows that were decided here and have no item, each with a name for one."""
        found: dict[str, int] = {}
        have = {each.memory for each in known.values()}
        for number, row in rows.items():
            if number in have or row["status"] not in ("active", "invalid"):
                continue
            key = duplicate_key(row["first"] or row["content"])
            names = (item_of(row["kind"], row["type"], key, each) for each in itertools.count(1))
            found[next(each for each in names if each not in known and each not in found)] = number
        return found

    def _own_lines(
        self, known: Mapping[str, Known], rows: Rows, origins: Mapping[str, int],
        here: Mapping[str, sqlite3.Row], there: set[str],
    ) -> Iterator[Line]:  # fmt: skip
        """A line for each item whose row is not as the last sync left it, or that the folder has no
        line on.
        """
        for item, row in here.items():
            before = known.get(item)
            if before and before.outcome == _outcome(row) and not there.isdisjoint(before.latest):
                continue
            at = row["decided_at"] or self._now
            decision = decision_of(self._writer, row, at, quoted=self._quoted)
            keys = dict.fromkeys((*decision.earlier, rows[origins[item]]["key"]))
            keys.pop(decision.key, None)
            after = (*before.latest, *before.earlier) if before else ()
            decision = structs.replace(decision, item=item, after=after, earlier=tuple(keys))
            if fault := fault_of(decision) or _unfit(decision):
                self.problems.append(f"#{row['id']} is not sent: {fault}")
                continue
            line = msgspec.json.encode(decision) + b"\n"
            self.fresh.append(line)
            yield Line(hash_of(line), decision, self._own, len(self.fresh))

    def _placed(
        self, act: Act, files: Mapping[Path, MachineFile], groups: Mapping[Key, Group], rows: Rows,
        origins: Mapping[str, int], here: Mapping[str, sqlite3.Row],
    ) -> dict[Key, int]:  # fmt: skip
        """The row of each group: the one that says so already, else one that an item came from,
        else one that waits in an earlier wording, else a new one.
        """
        places: dict[Key, int] = {}
        absent: dict[Path, list[tuple[Key, Line]]] = defaultdict(list)
        open_groups: list[Key] = []
        by_key = {
            (row["kind"], row["type"], row["key"]): (number, row["status"])
            for number, row in rows.items()
        }
        for key, group in groups.items():
            same = by_key.get(key) or row_with_key(act, self._number, key)
            offered = group.verdict is not Verdict.WITHDRAWN or not group.agrees
            if not offered and here.keys().isdisjoint(group.items):
                if same and same[1] == "candidate":
                    places[key] = same[0]
            elif same:
                places[key] = same[0]
            else:
                open_groups.append(key)
        held = set(places.values())
        for key in open_groups:
            group = groups[key]
            own = [origins[item] for item in group.items if item in origins]
            free = [each for each in own if each not in held and _may_become(rows[each], key)]
            free.sort(key=lambda each: (rows[each]["status"] == "superseded", each))
            waiting = None if free else row_of(act, self._number, group.first)
            if waiting and waiting[1] == "candidate" and waiting[0] not in {*held, *rows}:
                free = [waiting[0]]
            if free:
                places[key] = free[0]
                held.add(free[0])
            else:
                absent[group.lines[0].path].append((key, group.lines[0]))
        for path, some in absent.items():
            wanted = [(line.number, self._dated(line.decision)) for _, line in some]
            lines = files[path].lines
            added = add_memories(act, self._project, path, lines, wanted, self._now)
            places |= dict(zip([key for key, _ in some], added, strict=True))
        return places

    def _dated(self, each: Decision) -> Decision:
        """The decision at a time that is not still to come, whatever clock it was made by."""
        return structs.replace(each, at=min(each.at, self._now))

    def _settle(self, act: Act, place: int, group: Group, rows: Rows) -> None:
        """Make a row what its group says. Where that does not agree the row waits again, in the
        first wording. The other wordings are behind it.
        """
        row = rows.get(place) or self._row(place)
        first = self._dated(group.first)
        wanted = outcome_of(group.verdict, first.kind, first.type, first.content)
        flagged = CONCURRENT in row["flags"].split()
        if _outcome(row) == wanted and flagged is not group.agrees:
            return
        if row["status"] == "graduated" or row["rule"] == RETIRE:
            self.problems.append(f"#{place} stays as it is, decided otherwise elsewhere.")
            return
        flags = " ".join(each for each in row["flags"].split() if each != CONCURRENT)
        act.update(
            "memory", place, status="candidate", decided_at=None, superseded_by=None, reason="",
            leader_id=None, flags=flags,
        )  # fmt: skip
        if (row["type"], row["content"]) != (first.type, first.content):
            reword(act, place, first, self._now)
        self._keep_wordings(act, place, group)
        if not group.agrees:
            self.conflicts.append(place)
            flags = self._row(place)["flags"]
            act.update(
                "memory", place, flags=f"{flags} {CONCURRENT}".strip(), rank=CONFLICT_RANK, edited=1
            )
            return
        self.taken += 1
        if group.verdict is Verdict.PROMOTED:
            promote_rows(act, [place], True, now=first.at)
        elif group.verdict is Verdict.REJECTED:
            reject_rows(act, [place], True, reason=first.reason, now=first.at)

    def _row(self, number: int) -> sqlite3.Row:
        cursor = self._writer.cursor()
        cursor.row_factory = sqlite3.Row
        found: sqlite3.Row = cursor.execute(f"{_ROWS} WHERE m.id = ?", (number,)).fetchone()
        return found

    def _keep_wordings(self, act: Act, place: int, group: Group) -> None:
        others = {each.decision.content for each in group.lines} - {group.first.content}
        if others:
            there = act.query("SELECT content FROM content_history WHERE memory_id = ?", (place,))
            for content in sorted(others.difference(each for (each,) in there)):
                act.insert(
                    "content_history", memory_id=place, content=content, replaced_at=self._now
                )

    def _join(
        self, act: Act, groups: Mapping[Key, Group], places: Mapping[Key, int], rows: Rows,
        origins: Mapping[str, int],
    ) -> None:  # fmt: skip
        """Have the row of a group supersede the others that its items came from, except those that
        another group has.
        """
        held = set(places.values())
        for key, place in places.items():
            for origin in [origins[item] for item in groups[key].items if item in origins]:
                row = rows[origin]
                if origin in held or row["superseded_by"] == place or row["status"] == "graduated":
                    continue
                held.add(origin)
                supersede_rows(act, [origin], place, self._now)
                regroup(act, rows_of(act, [origin]))
                settle_without(act, [origin], self._now)

    def _remember(
        self, group: Group, rows: Rows, place: int, known: Mapping[str, Known],
        origins: Mapping[str, int],
    ) -> None:  # fmt: skip
        row = rows.get(place)
        if row is None:
            return
        # An item stays with the row that it came from, which is woken when it differs again.
        memories = {
            item: origins[item] if _living(rows, origins.get(item)) is row else place
            for item in group.items
        }
        if place not in memories.values():
            memories[min(memories)] = place
        for item, each in group.items.items():
            before = known.get(item)
            latest = tuple(line.hash for line in each.latest)
            earlier = {*each.earlier, *((*before.latest, *before.earlier) if before else ())}
            now = Known(
                memories[item], latest, tuple(sorted(earlier.difference(latest))), _outcome(row)
            )
            if now != before:
                self._writer.execute(
                    "INSERT OR REPLACE INTO synced"
                    " (project_id, item, memory_id, latest, earlier, outcome)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        self._number, item, now.memory, " ".join(now.latest),
                        " ".join(now.earlier), now.outcome,
                    ),
                )  # fmt: skip


_ROWS = (
    f"SELECT {DECISION_COLUMNS}, m.superseded_by, m.flags, m.rule, (SELECT content"
    " FROM content_history h WHERE h.memory_id = m.id ORDER BY id LIMIT 1) AS first FROM memory m"
)


def _outcome(row: sqlite3.Row) -> str:
    return outcome_of(VERDICTS.get(row["status"], ""), row["kind"], row["type"], row["content"])


def _may_become(row: sqlite3.Row, key: Key) -> bool:
    return bool(row["kind"] == key[0] and row["status"] != "graduated")
