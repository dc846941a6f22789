"""Keeps the decisions of a project in step through a folder that others copy between machines.

Each machine appends to a file of its own, in the format of `decisions.py`. A decision names all
those on the same memory that it was made after, by the hash of their lines; so no clock is needed
to say which came last, and two that do not name each other are concurrent. Concurrent decisions
with one outcome agree; others put the memory back into the queue as a conflict, on every machine.
"""

from __future__ import annotations

import hashlib
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
from reviewer.promotion.decided_rows import RETIRE
from reviewer.promotion.known_keys import row_with_key
from reviewer.promotion.signatures import sign, signer
from reviewer.promotion.signed_decisions import (
    DECISION_COLUMNS,
    FORMAT,
    LARGEST,
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
from reviewer.promotion.triage import promote_rows, reject_rows
from reviewer.store.acts import Act, Scope
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
Outcome = tuple[str, str, str]
"""Verdict, type and wording."""


class Line(Struct, frozen=True):
    """A decision as a line of a machine's file."""

    hash: str
    decision: Decision
    path: Path
    number: int


def outcome_of(each: Decision) -> Outcome:
    """The result of a decision."""
    return (each.verdict, each.type, each.content)


class Item(Struct, frozen=True):
    """The decisions on one memory that no other one was made after, sorted by hash."""

    latest: tuple[Line, ...]
    earlier: tuple[str, ...]
    """The hashes of the others."""

    @property
    def hashes(self) -> tuple[str, ...]:
        return tuple(each.hash for each in self.latest)

    @property
    def agrees(self) -> bool:
        """Whether they have one result; without a promotion, wordings may differ."""
        outcomes = {outcome_of(each.decision) for each in self.latest}
        verdicts = {verdict for verdict, _, _ in outcomes}
        return len(outcomes if Verdict.PROMOTED in verdicts else verdicts) == 1

    @property
    def outcome(self) -> Outcome:
        """Their result; where they disagree, a person decides again."""
        verdict, type_, content = outcome_of(self.latest[0].decision)
        return (verdict if self.agrees else Verdict.WITHDRAWN, type_, content)


class MachineFile(Struct, frozen=True):
    """The complete lines of a file, and the problems of the others."""

    header: Header
    lines: tuple[bytes, ...]
    decisions: tuple[Line, ...]
    problems: tuple[str, ...] = ()


class Known(Struct, frozen=True):
    """What the last sync left of an item; `outcome` is a hash."""

    memory: int | None
    latest: tuple[str, ...]
    earlier: tuple[str, ...]
    outcome: str


class Own(Struct, frozen=True):
    """A row of this store as a decision."""

    memory: int
    decision: Decision


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
    """The latest decisions by item."""
    by_item: dict[str, dict[str, Line]] = defaultdict(dict)
    for each in lines:
        by_item[each.decision.item].setdefault(each.hash, each)
    found: dict[str, Item] = {}
    for item, some in sorted(by_item.items()):
        earlier = {name for each in some.values() for name in each.decision.after}
        latest = tuple(some[name] for name in sorted(some.keys() - earlier))
        found[item] = Item(latest, tuple(sorted(earlier)))
    return found


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
            fault = fault_of(each) or ("" if each.item else "it is not one of sync.")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            fault = f"{problem}."
        if fault:
            problems.append(f"{path}, line {number + 1}, is left out: {fault}")
        else:
            found.append(Line(hash_of(line), each, path, number))
    return MachineFile(header, tuple(raw), tuple(found), tuple(problems))


def hash_of(line: bytes) -> str:
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()[:HASH]


def item_of(kind: str, type_: str, key: str) -> str:
    """The name of an item: by its first wording, so that two machines give it the same."""
    return hashlib.sha256(f"{kind}\n{type_}\n{key}".encode()).hexdigest()[:HASH]


def _stored(outcome: Outcome) -> str:
    return hashlib.sha256("\n".join(outcome).encode()).hexdigest()[:HASH]


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
        rows = dict(self._rows(known))
        lines = [each for file in files.values() for each in file.decisions]
        lines += self._own_lines(rows, known, {each.hash for each in lines})
        changed = {
            item: each
            for item, each in merged(lines).items()
            if each.latest and not (item in known and known[item].latest == each.hashes)
        }
        fit = {item: each for item, each in changed.items() if self._is_fit(each)}
        memories = {item: rows[item].memory for item in fit if item in rows}
        gone = known.keys() - rows.keys()  # taken back or forgotten here; they do not come again
        fresh = {item: each for item, each in fit.items() if item not in {*memories, *gone}}
        memories |= self._placed(act, files, fresh)
        for item, each in fit.items():
            memory = memories.get(item)
            if memory is not None:
                self._settle(act, memory, each, rows.get(item))
            if memory is not None or item in gone:
                self._remember(item, memory, each, known.get(item))

    def _known(self, act: Act) -> dict[str, Known]:
        rows = act.query(
            "SELECT item, memory_id, latest, earlier, outcome FROM synced WHERE project_id = ?",
            (self._number,),
        )
        return {
            row[0]: Known(row[1], tuple(row[2].split()), tuple(row[3].split()), row[4])
            for row in rows
        }

    def _remember(self, item: str, memory: int | None, found: Item, before: Known | None) -> None:
        earlier = {*found.earlier, *((*before.latest, *before.earlier) if before else ())}
        self._writer.execute(
            "INSERT OR REPLACE INTO synced (project_id, item, memory_id, latest, earlier, outcome)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                self._number, item, memory, " ".join(found.hashes),
                " ".join(sorted(earlier.difference(found.hashes))), _stored(found.outcome),
            ),
        )  # fmt: skip

    def _rows(self, known: Mapping[str, Known]) -> Iterator[tuple[str, Own]]:
        """The rows that were decided here or synced before, by item."""
        cursor = self._writer.cursor()
        cursor.row_factory = sqlite3.Row
        cursor.execute(
            f"SELECT {DECISION_COLUMNS}, m.superseded_by, (SELECT content FROM content_history h"
            " WHERE h.memory_id = m.id ORDER BY id LIMIT 1) AS first FROM memory m"
            f" WHERE m.project_id = ?1 AND m.kind IN ('memory', 'entity') AND m.rule <> '{RETIRE}'"
            " AND (m.status <> 'candidate' OR m.id IN"
            " (SELECT memory_id FROM synced WHERE project_id = ?1)) ORDER BY m.id",
            (self._number,),
        )
        found = {row["id"]: row for row in cursor}
        done: set[int] = set()
        for item, each in known.items():
            row = found.get(each.memory or 0)
            if row is None:
                continue
            done.add(row["id"])
            first = row["key"]
            while row["superseded_by"] in found:
                row = found[row["superseded_by"]]
                done.add(row["id"])
            yield item, self._as_own(row, first)
        taken = set(known)
        for number, row in found.items():
            if number in done or row["status"] not in ("active", "invalid"):
                continue
            for content in (row["first"] or row["content"], row["content"]):
                item = item_of(row["kind"], row["type"], duplicate_key(content))
                if item not in taken:
                    taken.add(item)
                    yield item, self._as_own(row, row["key"])
                    break

    def _as_own(self, row: sqlite3.Row, key: str) -> Own:
        at = row["decided_at"] or self._now
        decision = decision_of(self._writer, row, at, quoted=self._quoted)
        if row["status"] == "graduated":
            decision = structs.replace(decision, verdict=Verdict.PROMOTED)
        elif row["status"] == "candidate":
            decision = structs.replace(decision, verdict=Verdict.WITHDRAWN, reason="")
        if key not in (decision.key, *decision.earlier):
            decision = structs.replace(decision, earlier=(*decision.earlier, key))
        return Own(row["id"], decision)

    def _own_lines(
        self, rows: Mapping[str, Own], known: Mapping[str, Known], there: set[str]
    ) -> Iterator[Line]:
        """A line for each row that is not as the last sync left it, or that the folder has no
        decision on.
        """
        for item, row in rows.items():
            before = known.get(item)
            same = before is not None and before.outcome == _stored(outcome_of(row.decision))
            if before and same and not there.isdisjoint(before.latest):
                continue
            after = (*before.latest, *before.earlier) if before else ()
            decision = structs.replace(row.decision, item=item, after=after)
            line = msgspec.json.encode(decision) + b"\n"
            self.fresh.append(line)
            yield Line(hash_of(line), decision, self._own, len(self.fresh))

    def _is_fit(self, found: Item) -> bool:
        for each in found.latest:
            if why := unfit(self._dated(each.decision), self._now):
                self.problems.append(f"{each.path}, line {each.number + 1}, is left out: {why}.")
                return False
        return True

    def _dated(self, each: Decision) -> Decision:
        """The decision at a time that is not still to come, whatever clock it was made by."""
        return structs.replace(each, at=min(each.at, self._now))

    def _placed(
        self, act: Act, files: Mapping[Path, MachineFile], items: Mapping[str, Item]
    ) -> dict[str, int]:
        """The rows of items that are new here; those that the store does not have are added."""
        found: dict[str, int] = {}
        absent: dict[Path, list[tuple[str, Line]]] = defaultdict(list)
        for item, each in items.items():
            first = each.latest[0]
            row = row_of(act, self._number, first.decision)
            if row is not None:
                found[item] = row[0]
            elif each.outcome[0] != Verdict.WITHDRAWN or not each.agrees:
                absent[first.path].append((item, first))
        for path, some in absent.items():
            wanted = [(line.number, self._dated(line.decision)) for _, line in some]
            lines = files[path].lines
            added = add_memories(act, self._project, path, lines, wanted, self._now)
            found |= dict(zip([item for item, _ in some], added, strict=True))
        return found

    def _settle(self, act: Act, memory: int, found: Item, row: Own | None) -> None:
        """Make a row what the latest decisions on it say. Where they do not agree it waits again,
        in the first wording, with the others behind it.
        """
        if found.agrees:
            if row is None or outcome_of(row.decision) != found.outcome:
                self.taken += 1
                self._decide(act, memory, self._dated(found.latest[0].decision))
            else:
                self._clear_flag(act, memory)
            return
        self.conflicts.append(memory)
        self._decide(act, memory, self._dated(found.latest[0].decision))
        self._wait(act, memory)
        ((content, flags),) = act.query("SELECT content, flags FROM memory WHERE id = ?", (memory,))
        for other in sorted({each.decision.content for each in found.latest} - {content}):
            act.insert("content_history", memory_id=memory, content=other, replaced_at=self._now)
        act.update(
            "memory", memory, flags=f"{flags} {CONCURRENT}".strip(), rank=CONFLICT_RANK, edited=1
        )

    def _wait(self, act: Act, memory: int) -> None:
        act.update(
            "memory", memory, status="candidate", decided_at=None, superseded_by=None, reason="",
            leader_id=None,
        )  # fmt: skip

    def _clear_flag(self, act: Act, memory: int) -> None:
        ((flags,),) = act.query("SELECT flags FROM memory WHERE id = ?", (memory,))
        kept = " ".join(flag for flag in flags.split() if flag != CONCURRENT)
        act.update("memory", memory, flags=kept)

    def _decide(self, act: Act, memory: int, each: Decision) -> None:
        ((status, content, type_),) = act.query(
            "SELECT status, content, type FROM memory WHERE id = ?", (memory,)
        )
        if status == "graduated":
            return
        self._wait(act, memory)
        self._clear_flag(act, memory)
        if content != each.content and reword(act, memory, each, self._now):
            # another row says it already
            other = row_of(act, self._number, structs.replace(each, earlier=()))
            if other is not None:
                act.update("memory", memory, status="superseded", superseded_by=other[0])
                self._decide(act, other[0], each)
                return
        if type_ != each.type and not row_with_key(
            act, self._number, (each.kind, each.type, each.key), besides=memory
        ):
            act.update("memory", memory, type=each.type)
        if each.verdict is Verdict.PROMOTED:
            promote_rows(act, [memory], True, now=each.at)
        elif each.verdict is Verdict.REJECTED:
            reject_rows(act, [memory], True, reason=each.reason, now=each.at)
