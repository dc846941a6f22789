"""Findings over all sessions: kept in the store, counted, and the surest as rows of the queue."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.rules import LONGEST_STATEMENT
from reviewer.promotion.lists import queue_order
from reviewer.promotion.rows.evidence_rows import SourcePlace, add_places, record_row
from reviewer.promotion.rows.known_keys import row_with_key
from reviewer.promotion.views import Status, proposed_by
from reviewer.proposing.values import Proof, Proposer, QuoteProof
from reviewer.sessions.findings import Evidence, Finding, Kind
from reviewer.sessions.signatures import failing_lines, is_of_the_day, without_place
from reviewer.sources.records import Record, RecordUse, Role
from reviewer.store.acts import Act
from reviewer.store.changes import Image
from reviewer.store.database import Database
from reviewer.text.normalise import duplicate_key
from reviewer.text.numerals import count

VERSION = "1.0.0"
"""The extractor version of rows made of findings."""
SESSIONS = 2
"""Sessions that must have shown a finding before it is proposed without a reader."""
SUNK = timedelta(days=30)
REFUSALS = 2
"""Refusals of one command with words, in one session or several: a single one is mostly about what
was to be done next."""
SAID = " and said: "
REPLACED = "` → `"
"""In a change that puts one thing in the place of another."""
ALIKE = 0.6
"""The share of common words from which two remedies are the same."""
EVIDENCE = 6
"""Lines of a finding that are listed."""
PRIOR = 0.6
_WORD = re.compile(r"\w{2,}")


class ShownLine(Struct, frozen=True):
    """A line that shows a finding. `line` is 0-based."""

    path: str
    line: int
    text: str


class FindingView(Struct, frozen=True, kw_only=True):
    """One thing that cost something, over all sessions of a project."""

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
    """The change that made it pass, of several the one most like the others."""
    words: str
    """The person's, from the last time."""
    evidence: tuple[ShownLine, ...]
    """The latest first."""

    def to_json(self) -> dict[str, Any]:
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


class _Row(Struct, frozen=True):
    """A finding of one session as the store keeps it."""

    source: int
    path: str
    finding: Finding

    @property
    def seen_in(self) -> str:
        return self.finding.session or self.path


class KeptFindings:
    """Reads the findings of the store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def all(self, project: str | None) -> list[FindingView]:
        """What came up, in one project or in all: what most sessions show first, then what cost
        most; failures of services that have not come back for SUNK come last.
        """
        where, parameters = ("1", ()) if project is None else ("p.name = ?", (project,))
        rows = self._database.query(_SELECT.format(where), parameters)
        before = iso(self._clock() - SUNK)
        views = map(_view, _groups(map(_row, rows)))
        return sorted(views, key=lambda view: (has_sunk(view, before), *_dearest_first(view)))


def has_sunk(view: FindingView, before: str) -> bool:
    """Whether it is a failure of a service that was seen last before a time."""
    return view.kind == Kind.ENVIRONMENT and view.last < before


def keep(act: Act, project_id: int, findings: Mapping[Path, Sequence[Finding]]) -> None:
    """Write what some files show, in the place of what they showed before."""
    for path, found in findings.items():
        sources = act.query(
            "SELECT id FROM source WHERE project_id = ? AND path = ?", (project_id, str(path))
        )
        for (source,) in sources:
            for (old,) in act.query("SELECT id FROM finding WHERE source_id = ?", (source,)):
                act.delete("finding", old)
            act.insert_many("finding", [_image(project_id, source, each) for each in found])


def came_up_again(
    act: Act, project_id: int, findings: Mapping[Path, Sequence[Finding]]
) -> list[FindingView]:
    """What these files show and other sessions have shown, too, the dearest first."""
    wanted = {(each.kind, each.signature) for found in findings.values() for each in found}
    if not wanted:
        return []
    groups = _groups(row for row in _rows(act, project_id) if _key(row) in wanted)
    views = (_view(group) for group in groups)
    return sorted((view for view in views if view.sessions >= SESSIONS), key=_dearest_first)


def in_a_line(view: FindingView) -> str:
    """`errcheck: error return value of * is not checked (3 sessions, 9 calls)`."""
    what = view.words if view.kind in (Kind.REFUSAL, Kind.CORRECTION) else view.signature
    return f"{_short(what, 100)} ({count(view.sessions, 'session')}, {count(view.cost, 'call')})"


def propose(
    act: Act,
    project_id: int,
    wave_id: int,
    findings: Mapping[Path, Sequence[Finding]],
    *,
    now: str,
) -> list[int]:
    """Queue what recurred, and count again what waits or was decided; returns the new rows.

    A failure is proposed with what made it pass, in a fixed wording; a command that the person has
    refused more than once with the words of the last time, to be reworded.
    """
    touched = {(each.kind, each.signature) for found in findings.values() for each in found}
    commands = {each.command for found in findings.values() for each in found}
    rows = _rows(act, project_id) if touched else []
    new: list[int] = []
    for group in _groups(rows):
        if _key(group[0]) in touched and (content := _failure(group)):
            new += _queue(act, project_id, wave_id, group, content, now)
    for command, group in _refusals(rows).items():
        if command in commands and (content := _refusal(command, group)):
            new += _queue(act, project_id, wave_id, group, content, now)
    return new


class Behind(Struct, frozen=True):
    """The finding that a statement was made of, with its figures over all sessions."""

    signature: str
    sessions: int
    times: int
    cost: int


def finding_behind(
    act: Act, project_id: int, path: Path, quotes: Iterable[QuoteProof]
) -> Behind | None:
    """The dearest finding of a file of which one of these quotes has a line; None without one."""
    quoted = {(each.line, " ".join(each.text.split())) for each in quotes if each.found}
    own = act.query(_SELECT.format("f.project_id = ? AND s.path = ?"), (project_id, str(path)))
    signatures = {
        row.finding.signature
        for row in map(_row, own)
        if any(
            line == shown.line and (text in shown.text or shown.text in text)
            for line, text in quoted
            for shown in row.finding.evidence
        )
    }
    rows = [
        _row(values)
        for each in sorted(signatures)
        for values in act.query(
            _SELECT.format("f.project_id = ? AND f.signature = ?"), (project_id, each)
        )
    ]
    views = [_view(group) for group in _groups(rows)]
    if not views:
        return None
    best = min(views, key=_dearest_first)
    return Behind(best.signature, best.sessions, best.times, best.cost)


# Wordings


def _failure(group: Sequence[_Row]) -> str:
    """A failure that recurs and has a remedy that holds beyond the day, as a statement; else empty.

    Of a linter that is a change that says a thing otherwise. What was only added or removed (an
    import, an unused name) is a slip of that day. Of all else it is a way out that was taken again
    in another session.
    """
    view = _view(group)
    if view.kind not in (Kind.FAILURE, Kind.ENVIRONMENT) or view.sessions < SESSIONS:
        return ""
    failing = failing_lines(view.text)
    if not view.fix or not failing or any(map(is_of_the_day, failing)):
        return ""
    if failing[0].rule and failing[0].path:
        if REPLACED not in view.fix or ": " not in view.signature:
            return ""
    elif not view.fix.startswith("`") or not _was_taken_again(view.fix, group):
        return ""
    line = _short(without_place(view.text), 110)
    begins = f"`{view.command}` fails:" if view.command else "A call fails:"
    text = f"{begins} “{line}”. What made it pass: "
    return text + _short(view.fix, LONGEST_STATEMENT - len(text))


def _was_taken_again(fix: str, group: Sequence[_Row]) -> bool:
    """Whether most words of a remedy are those of another session's."""
    words = set(_WORD.findall(fix))
    shared = [
        row.seen_in
        for row in group
        if (other := set(_WORD.findall(row.finding.fix)))
        and len(words & other) >= ALIKE * len(words | other)
    ]
    return len(set(shared)) >= SESSIONS


def _refusals(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    """The refusals with words by their command."""
    found: defaultdict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        if row.finding.kind is Kind.REFUSAL and row.finding.words and row.finding.command:
            found[row.finding.command].append(row)
    return found


def _refusal(command: str, group: Sequence[_Row]) -> str:
    if sum(row.finding.times for row in group) < REFUSALS:
        return ""
    text = f"The person refused `{command}`{SAID}"
    return text + f"“{_short(_last(group).finding.words, LONGEST_STATEMENT - len(text) - 2)}”"


def words_to_reword(content: str) -> str:
    """The person's words in the row of a refusal, from which a memory is worded."""
    return content.partition(SAID)[2].strip("“”") or content


def _short(text: str, most: int) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


# Rows of the queue


def _queue(
    act: Act, project_id: int, wave_id: int, group: Sequence[_Row], content: str, now: str
) -> list[int]:
    """The new row of a group, or none if it has one, which then gets the new figures."""
    view = _view(group)
    refused = view.kind == Kind.REFUSAL
    signature = f"refused {view.command}" if refused else view.signature
    figures: Image = {
        "sessions": view.sessions,
        "times": sum(row.finding.times for row in group),
        "cost": sum(row.finding.cost for row in group),
        "last_seen": view.last or now,
    }
    rank = queue_order.rank(
        own_words=refused, sessions=view.sessions, cost=view.cost, quality=PRIOR
    )
    known = act.query(
        "SELECT id, status FROM memory WHERE project_id = ? AND signature = ?",
        (project_id, signature),
    )
    if known:
        for number, status in known:
            waits = {"rank": rank} if status == Status.CANDIDATE else {}
            act.update("memory", number, **figures, **waits)
        return []
    type_ = MemoryType.PREFERENCE if refused else MemoryType.KNOWLEDGE
    key = duplicate_key(content)
    if row_with_key(act, project_id, ("memory", str(type_), key)):
        return []
    quotes = _quotes(group)
    number = act.insert(
        "memory",
        project_id=project_id,
        wave_id=wave_id,
        kind="memory",
        type=str(type_),
        content=content,
        key=key,
        status="candidate",
        rule=f"finding.{view.kind}",
        extractor_version=VERSION,
        prior=PRIOR,
        signal=1.0,
        freshness=1.0,
        confidence=PRIOR,
        rank=rank,
        flags="reword" if refused else "",
        seen=len(group),
        first_seen=view.first or now,
        pending_since=now,
        need="instruction" if refused else "trap",
        proof=msgspec.json.encode(
            Proof(tuple(QuoteProof(each.line, each.text, found=True) for _, each in quotes))
        ).decode(),
        signature=signature,
        **figures,
        **proposed_by(Proposer.FINDING),
    )
    places = [_place(act, project_id, wave_id, row, each) for row, each in quotes]
    add_places(act, number, places)
    return [number]


def _quotes(group: Sequence[_Row]) -> list[tuple[_Row, Evidence]]:
    """The lines that prove a row: those of the latest session first."""
    newest = sorted(group, key=lambda row: row.finding.last, reverse=True)
    return [(row, each) for row in newest for each in row.finding.evidence[:2]][:EVIDENCE]


def _place(act: Act, project_id: int, wave_id: int, row: _Row, shown: Evidence) -> SourcePlace:
    """Where the store has words of a finding. The result of a call becomes a record of its own,
    with the failing line as its text.
    """
    found = act.query(
        "SELECT id, text FROM record WHERE project_id = ? AND key = ?",
        (project_id, shown.record),
    )
    for number, text in found:
        if (start := text.find(shown.text)) >= 0:
            return SourcePlace(number, start, start + len(shown.text), "finding", VERSION)
    digest = hashlib.sha256(f"{shown.record}\0{shown.sha256}\0{shown.text}".encode()).hexdigest()
    record = Record(
        key=f"finding:{digest}",
        line_start=shown.line,
        line_end=shown.line + 1,
        byte_start=shown.bytes[0],
        byte_end=shown.bytes[1],
        sha256=shown.sha256,
        role=Role.TOOL,
        use=RecordUse.TOOL,
        at=shown.at or None,
        session=row.finding.session or None,
        text=shown.text,
    )
    number = record_row(act, record, project_id=project_id, source_id=row.source, wave_id=wave_id)
    return SourcePlace(number, 0, len(shown.text), "finding", VERSION)


# Rows of the store

_FIELDS = Finding.__struct_fields__
_SELECT = (
    f"SELECT f.source_id, s.path, {', '.join(f'f.{each}' for each in _FIELDS)} FROM finding f"
    " JOIN source s ON s.id = f.source_id JOIN project p ON p.id = f.project_id WHERE {}"
)


def _rows(act: Act, project_id: int) -> list[_Row]:
    return list(map(_row, act.query(_SELECT.format("f.project_id = ?"), (project_id,))))


def _row(values: Sequence[Any]) -> _Row:
    source, path, *rest = values
    columns = dict(zip(_FIELDS, rest, strict=True))
    columns["evidence"] = msgspec.json.decode(columns["evidence"])
    return _Row(source, path, msgspec.convert(columns, Finding, strict=False))


def _image(project_id: int, source: int, found: Finding) -> Image:
    return {
        **{name: getattr(found, name) for name in _FIELDS},
        "project_id": project_id,
        "source_id": source,
        "kind": str(found.kind),
        "passed": int(found.passed),
        "evidence": msgspec.json.encode(found.evidence).decode(),
    }


def _key(row: _Row) -> tuple[Kind, str]:
    return row.finding.kind, row.finding.signature


def _groups(rows: Iterable[_Row]) -> list[list[_Row]]:
    """The rows of one kind and signature; a session that two files have counts once."""
    groups: dict[tuple[Kind, str], dict[tuple[str, str], _Row]] = {}
    for row in rows:
        group = groups.setdefault(_key(row), {})
        group.setdefault((row.seen_in, row.finding.command), row)
    return [list(group.values()) for group in groups.values()]


def _last(group: Sequence[_Row]) -> _Row:
    return max(group, key=lambda row: row.finding.last)


def _view(group: Sequence[_Row]) -> FindingView:
    last = _last(group).finding
    best = _likeliest_fix(group)
    shown = best or last
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
        evidence=tuple(ShownLine(row.path, each.line, each.text) for row, each in _quotes(group)),
    )


def _likeliest_fix(group: Sequence[_Row]) -> Finding | None:
    """The finding whose fix shares most words with the other fixes, one that replaces something
    first, of equal ones the latest.
    """
    fixed = [row.finding for row in group if row.finding.fix]
    words = [set(_WORD.findall(each.fix)) for each in fixed]
    common = Counter(word for each in words for word in each)
    ranked = [
        (
            REPLACED in each.fix,
            sum(common[word] - 1 for word in own) / (len(own) ** 0.5 + 1),
            each.last,
            at,
        )
        for at, (own, each) in enumerate(zip(words, fixed, strict=True))
    ]
    return fixed[max(ranked)[3]] if ranked else None


def _dearest_first(view: FindingView) -> tuple[int, int, str, str]:
    return -view.sessions, -view.cost, view.signature, view.kind
