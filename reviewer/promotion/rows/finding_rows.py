"""Findings in sessions, as rows of the store: kept by session, counted over all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from reviewer.clock import iso
from reviewer.promotion.views import RecordView
from reviewer.proposing.values import QuoteProof
from reviewer.sessions.findings import Evidence, Finding, Kind
from reviewer.sessions.signatures import failing_lines
from reviewer.sources.records import RecordUse, Role, Shape
from reviewer.store.acts import AMONG, Act, listed
from reviewer.store.changes import Image, Value
from reviewer.store.database import Database

SESSIONS = 2
"""The sessions required for proposing a finding without a reader."""
GONE_AFTER = timedelta(days=30)
"""A failure of a service that has not recurred for so long is over."""
REPLACED = "` → `"
"""Marks a change that replaces one thing with another."""
CUT = "…`"
"""Marks an incompletely known fix."""
EVIDENCE = 6
"""Lines that prove a row."""
LISTED = 40
"""Listed lines of a finding."""
LINES = 2
"""Lines of one session: the failure and its fix."""
WORD = re.compile(r"\w{2,}")


class ShownLine(Struct, frozen=True):
    """A line that shows a finding. `line` is 0-based."""

    path: str
    line: int
    text: str


class FindingView(Struct, frozen=True, kw_only=True):
    """A finding over all sessions of a project."""

    kind: str
    signature: str
    text: str
    command: str
    sessions: int
    times: int
    cost: int
    """Calls lost."""
    first: str
    last: str
    fix: str
    """The change that made it pass: a complete one if possible, the latest."""
    words: str
    """The person's words, from the last time."""
    evidence: tuple[ShownLine, ...]
    """The line of the text and the fix first, then the latest."""
    status: str = ""
    """The `Status` of the row that was made of it; empty if none was."""

    def to_json(self) -> dict[str, Any]:
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


class FindingRow(Struct, frozen=True):
    source: int
    path: str
    finding: Finding

    @property
    def seen_in(self) -> str:
        return self.finding.session or self.path

    @property
    def key(self) -> tuple[Kind, str]:
        return self.finding.kind, self.finding.signature


def keep(
    act: Act,
    project_id: int,
    source: int,
    findings: Sequence[Finding],
    sessions: frozenset[str] | None,
) -> None:
    """Replace the stored findings of a file, or of those `sessions` of it."""
    for old, session in act.query("SELECT id, session FROM finding WHERE source_id = ?", (source,)):
        if sessions is None or session in sessions:
            act.delete("finding", old)
    act.insert_many("finding", [_image(project_id, source, each) for each in findings])


def all_findings(database: Database, project: str | None, now: datetime) -> list[FindingView]:
    """The findings of one project or of all: by number of sessions, then by cost; failures of
    services that are over come last.
    """
    where, parameters = ("1", ()) if project is None else ("p.name = ?", (project,))
    rows = database.query(
        "SELECT m.signature, m.status FROM memory m JOIN project p ON p.id = m.project_id"
        f" WHERE m.signature <> '' AND {where}",
        parameters,
    )
    made = {row["signature"]: row["status"] for row in rows}
    views = [
        structs.replace(view, status=made.get(view.signature, ""))
        for view in map(view_of, groups_of(_finding_rows(database.query, where, *parameters)))
    ]
    before = iso(now - GONE_AFTER)

    def is_over(view: FindingView) -> bool:
        return view.kind == Kind.ENVIRONMENT and view.last < before

    return sorted(views, key=lambda view: (is_over(view), *costliest_first(view)))


def recurring(act: Act, project_id: int, first: int) -> Iterator[list[FindingRow]]:
    """The findings with several rows, one of them from the id `first` on, one group at a time."""
    groups = act.query(
        "SELECT kind, signature FROM finding WHERE project_id = ?"
        " GROUP BY kind, signature HAVING count(*) > 1 AND max(id) >= ? ORDER BY kind, signature",
        (project_id, first),
    )
    where = "f.project_id = ? AND f.kind = ? AND f.signature = ? ORDER BY f.id"
    for group in groups:
        yield from groups_of(_finding_rows(act.query, where, project_id, *group))


def refusals(act: Act, project_id: int, first: int) -> list[FindingRow]:
    """The refusals with words of the commands in the findings from the id `first` on."""
    where = (
        "f.project_id = ? AND f.kind = ? AND f.words <> '' AND f.command IN"
        " (SELECT command FROM finding WHERE id >= ? AND command <> '') ORDER BY f.signature, f.id"
    )
    return _finding_rows(act.query, where, project_id, str(Kind.REFUSAL), first)


def finding_behind(
    act: Act, project_id: int, path: Path, quotes: Iterable[QuoteProof], statement: str
) -> FindingView | None:
    """The finding of a file with a line in one of the quotes of a statement; of several the one
    whose rule it names, else the costliest; or None.
    """
    quoted = {(each.line, " ".join(each.text.split())) for each in quotes if each.found}
    own = _finding_rows(act.query, "f.project_id = ? AND s.path = ?", project_id, str(path))
    signatures = {
        row.finding.signature
        for row in own
        if any(
            line == shown.line and (text in shown.text or shown.text in text)
            for line, text in quoted
            for shown in row.finding.evidence
        )
    }
    where = "f.project_id = ? AND f.signature = ?"
    rows = [
        row
        for each in sorted(signatures)
        for row in _finding_rows(act.query, where, project_id, each)
    ]

    def is_unnamed(view: FindingView) -> bool:
        rules = " ".join(line.rule for line in failing_lines(view.text))
        return not any(word in statement for word in WORD.findall(rules))

    found = map(view_of, groups_of(rows))
    return min(found, key=lambda each: (is_unnamed(each), costliest_first(each)), default=None)


def lines_of(database: Database, number: int, signatures: Iterable[str]) -> Iterator[RecordView]:
    """The lines of the findings with these signatures in the project of a row, the latest session
    first.
    """
    wanted = listed(signatures)
    where = (
        f"f.project_id = (SELECT project_id FROM memory WHERE id = ?) AND (f.signature {AMONG}"
        f" OR f.kind = 'refusal' AND 'refused ' || f.command {AMONG}) ORDER BY f.last DESC"
    )
    sessions: dict[str, FindingRow] = {}
    for row in _finding_rows(database.query, where, number, wanted, wanted):
        sessions.setdefault(row.seen_in, row)
    for row in sessions.values():
        for each in row.finding.evidence[:LINES]:
            yield RecordView(
                id=0,
                key=each.record,
                path=row.path,
                line_start=each.line,
                line_end=each.line + 1,
                role=Role.TOOL,
                use=RecordUse.TOOL,
                shape=Shape.TURN,
                text=each.text,
                at=each.at or None,
                session=row.finding.session or None,
            )


def quotes_of(
    group: Sequence[FindingRow], most: int = EVIDENCE
) -> list[tuple[FindingRow, Evidence]]:
    """The lines that prove a row: first those it shows, then those of the latest session."""
    shown = _shown(group)
    ordered = sorted(group, key=lambda row: (row is shown, row.finding.last), reverse=True)
    return [(row, each) for row in ordered for each in row.finding.evidence[:LINES]][:most]


_FIELDS = Finding.__struct_fields__
_SELECT = (
    f"SELECT f.source_id, s.path, {', '.join(f'f.{each}' for each in _FIELDS)} FROM finding f"
    " JOIN source s ON s.id = f.source_id JOIN project p ON p.id = f.project_id WHERE {}"
)


def _finding_rows(
    query: Callable[..., Iterable[Sequence[Any]]], where: str, *parameters: Value
) -> list[FindingRow]:
    found = []
    for source, path, *values in query(_SELECT.format(where), parameters):
        columns = dict(zip(_FIELDS, values, strict=True))
        columns["evidence"] = msgspec.json.decode(columns["evidence"])
        found.append(FindingRow(source, path, msgspec.convert(columns, Finding, strict=False)))
    return found


def _image(project_id: int, source: int, found: Finding) -> Image:
    return {
        **{name: getattr(found, name) for name in _FIELDS},
        "project_id": project_id,
        "source_id": source,
        "kind": str(found.kind),
        "passed": int(found.passed),
        "evidence": msgspec.json.encode(found.evidence).decode(),
    }


def groups_of(rows: Iterable[FindingRow]) -> list[list[FindingRow]]:
    """The rows of one kind and signature. A session in two files counts once, and so do findings
    that a resumed session copied from its predecessor.
    """
    groups: dict[tuple[Kind, str], list[FindingRow]] = {}
    known: set[tuple[Kind, str, str, str]] = set()
    for row in rows:
        found = row.finding
        places = (row.seen_in, *(each.record for each in found.evidence[:1]))
        names = {(*row.key, found.command, place) for place in places if place}
        if known.isdisjoint(names):
            groups.setdefault(row.key, []).append(row)
        known |= names
    return list(groups.values())


def latest_of(group: Sequence[FindingRow]) -> FindingRow:
    return max(group, key=lambda row: row.finding.last)


def view_of(group: Sequence[FindingRow]) -> FindingView:
    last = latest_of(group).finding
    shown = _shown(group).finding
    commands = Counter(row.finding.command for row in group if row.finding.command)
    return FindingView(
        kind=str(last.kind),
        signature=last.signature,
        text=shown.text,
        command=shown.command or (commands.most_common(1)[0][0] if commands else ""),
        sessions=len({row.seen_in for row in group}),
        times=sum(row.finding.times for row in group),
        cost=sum(row.finding.cost for row in group),
        first=min((row.finding.first for row in group if row.finding.first), default=""),
        last=last.last,
        fix=shown.fix,
        words=last.words,
        evidence=tuple(
            ShownLine(row.path, each.line, each.text) for row, each in quotes_of(group, LISTED)
        ),
    )


def _shown(group: Sequence[FindingRow]) -> FindingRow:
    """The row whose text and fix represent a group: the latest with a fix, if possible a command,
    which helps in any file, or else a replacement, and complete.
    """
    fixed = [row for row in group if row.finding.fix]

    def generality(row: FindingRow) -> tuple[bool, bool, bool, str]:
        fix = row.finding.fix
        return fix.startswith("`"), REPLACED in fix, CUT not in fix, row.finding.last

    return max(fixed, key=generality) if fixed else latest_of(group)


def costliest_first(view: FindingView) -> tuple[int, int, str, str]:
    return -view.sessions, -view.cost, view.signature, view.kind
