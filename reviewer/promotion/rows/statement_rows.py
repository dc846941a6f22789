"""Statements as rows of the queue, inside an act: one row for a fact, however often it is found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from reviewer.errors import SourceError
from reviewer.extraction.candidates import Setting
from reviewer.extraction.confidence import confidence, freshness, structural_signal
from reviewer.extraction.flags import flags_of
from reviewer.extraction.ranking import CAP
from reviewer.extraction.rules import LONGEST_STATEMENT, SHORTEST_STATEMENT
from reviewer.extraction.similarity import similarity
from reviewer.promotion import queue_order
from reviewer.promotion.rows.cited_lines import CitedQuote, cite
from reviewer.promotion.rows.enqueue import NewRow, add_quotes, queue_rows
from reviewer.promotion.rows.evidence_rows import (
    JOINED,
    SourcePlace,
    add_places,
    places_of,
    record_ids,
    record_row,
    sessions_of,
    source_row,
)
from reviewer.promotion.rows.finding_rows import finding_behind
from reviewer.promotion.rows.known_facts import SHORTLIST, query_of
from reviewer.promotion.rows.relations import Related, make_untrue
from reviewer.promotion.views import proposed_by
from reviewer.proposing.values import Proposer, Proved, SessionView
from reviewer.sources.records import Role
from reviewer.store.acts import Act
from reviewer.store.changes import Image
from reviewer.text.normalise import clean, duplicate_key
from reviewer.text.secrets import mask
from reviewer.text.wording import same_wording, wording_key

STATEMENTS_VERSION = "1.0.0"
"""The extractor version of rows that were proposed as statements."""


class DroppedStatement(Struct, frozen=True):
    """A statement that was not queued, and why."""

    reason: str
    content: str
    path: str
    proposer: str


class PreparedStatement(Struct, frozen=True):
    """A proved statement, ready to be written: with its records and its confidence."""

    proved: Proved
    content: str
    format: str
    cited: tuple[CitedQuote, ...]
    prior: float
    signal: float
    freshness: float
    confidence: float
    flags: tuple[str, ...]


class SameFact(Struct, frozen=True):
    """Statements that say the same, the best wording first."""

    sightings: tuple[PreparedStatement, ...]
    score: float = 0.0

    @property
    def best(self) -> PreparedStatement:
        return self.sightings[0]


class RowPlan(Struct, frozen=True):
    """A plan for the rows: new facts, best first, and known ones by their row. `known`: rows
    that have all of a fact already.
    """

    new: tuple[SameFact, ...] = ()
    over_cap: tuple[SameFact, ...] = ()
    again: tuple[tuple[int, SameFact], ...] = ()
    known: tuple[int, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self.new or self.over_cap or self.again)


class WrittenRows(Struct, frozen=True):
    """The rows that a plan wrote, and what became of those that the new ones replace."""

    new: tuple[int, ...] = ()
    seen: tuple[int, ...] = ()
    replaced: Related = Related()


def prepare(
    proved: Sequence[Proved],
    *,
    now: datetime,
    view: SessionView | None = None,
    longest: int = LONGEST_STATEMENT,
    cited_as: str = "",
    modified_ns: int | None = None,
) -> list[PreparedStatement | DroppedStatement]:
    """Find the records behind statements from one file, which is read once.

    `cited_as` and `modified_ns`: of the original, where the file that is read is a copy.

    Raises SourceError when it cannot be read.
    """
    if not proved:
        return []
    path = proved[0].path
    quotes = [quote for each in proved for quote in each.proof.quotes]
    try:
        seconds = path.stat().st_mtime if modified_ns is None else modified_ns / 1e9
        updated = datetime.fromtimestamp(seconds, UTC)
        places = cite(path, quotes, view)
    except OSError as problem:
        raise SourceError(f"{path} cannot be read: {problem.strerror}.") from problem
    setting = Setting(path=cited_as or str(path), now=now, updated=updated)
    format_ = "" if view is None else view.format
    made: list[PreparedStatement | DroppedStatement] = []
    for each in proved:
        count = len(each.proof.quotes)
        own, places = places[:count], places[count:]
        made.append(_prepare(each, own, setting, format_, longest))
    return made


def _prepare(
    proved: Proved,
    places: Sequence[CitedQuote | None],
    setting: Setting,
    format_: str,
    longest: int,
) -> PreparedStatement | DroppedStatement:
    proposal, proof = proved.proposal, proved.proof
    content = clean(mask(proposal.statement).text)
    cited = tuple(place for place in places if place is not None)
    reason = ""
    if len(content) < SHORTEST_STATEMENT:
        reason = f"shorter than {SHORTEST_STATEMENT} characters"
    elif len(content) > longest:
        reason = f"longer than {longest} characters"
    elif not cited:
        reason = "no quote of it is in the session"
    if reason:
        return dropped(proved, reason)
    found = tuple(
        structs.replace(quote, found=place is not None)
        for quote, place in zip(proof.quotes, places, strict=True)
    )
    proved = structs.replace(proved, proof=structs.replace(proof, quotes=found))
    prior = queue_order.prior(proposal)
    signal = structural_signal(setting.path)
    fresh = freshness(cited[0].record, setting)
    role = next((c.record.role for c in cited if c.record.role is Role.USER), cited[0].record.role)
    if proposal.proposer is Proposer.MCP:
        role = Role.ASSISTANT  # an agent chose the words, whoever it quotes
    return PreparedStatement(
        proved=proved,
        content=content,
        format=format_,
        cited=cited,
        prior=prior,
        signal=signal,
        freshness=fresh,
        confidence=confidence(prior, signal, fresh),
        flags=tuple(sorted({*flags_of(content, role), *queue_order.flags(proposal, proved.proof)})),
    )


def dropped(proved: Proved, reason: str) -> DroppedStatement:
    """A statement that is not queued, its secrets masked."""
    text, proposer = mask(proved.proposal.statement).text, str(proved.proposal.proposer)
    return DroppedStatement(reason, text, str(proved.path), proposer)


def plan(act: Act, project_id: int, prepared: Sequence[PreparedStatement]) -> RowPlan:
    """Sort statements into new facts and known ones; what is known in full already is left out."""
    new: list[SameFact] = []
    again: list[tuple[int, SameFact]] = []
    known: list[int] = []
    for sightings in _grouped(prepared):
        nearest, row = _look_up(act, project_id, sightings[0].content)
        row = row or _named_row(act, project_id, sightings[0].proved.proposal.joins)
        fact = SameFact(sightings, score(sightings, 1.0 - nearest))
        if row is None:
            new.append(fact)
        elif fresh := _fresh(act, project_id, row, fact):
            again.append((row, structs.replace(fact, sightings=fresh)))
        else:
            known.append(row)
    new.sort(key=lambda fact: -fact.score)
    return RowPlan(tuple(new[:CAP]), tuple(new[CAP:]), tuple(again), tuple(known))


def _grouped(prepared: Sequence[PreparedStatement]) -> list[tuple[PreparedStatement, ...]]:
    """The statements of one wording, in the order of the first of each; the best proved first."""
    groups: list[list[PreparedStatement]] = []
    by_key: dict[tuple[str, ...], list[list[PreparedStatement]]] = {}
    for each in prepared:
        alike = by_key.setdefault(wording_key(each.content), [])
        for group in alike:
            if same_wording(each.content, group[0].content):
                group.append(each)
                break
        else:
            alike.append([each])
            groups.append(alike[-1])
    return [tuple(sorted(group, key=_faults)) for group in groups]


def _faults(prepared: PreparedStatement) -> tuple[object, ...]:
    """Less for a better wording; equal ones keep their order."""
    proof = prepared.proved.proof
    missing = sum(not quote.found for quote in proof.quotes)
    return (
        not proof.sound,
        len(proof.unproved) + missing,
        len(proof.flags),
        -prepared.prior,
        len(prepared.content),
    )


def _named_row(act: Act, project_id: int, number: int) -> int | None:
    """The row that a reader named, if the project has it."""
    found = act.query("SELECT id FROM memory WHERE (id, project_id) = (?, ?)", (number, project_id))
    return number if found else None


def write(act: Act, project_id: int, wave_id: int, planned: RowPlan, *, now: str) -> WrittenRows:
    """Write the rows of a plan with their records and evidence."""
    facts = [*planned.new, *planned.over_cap, *(fact for _, fact in planned.again)]
    records = _records(act, project_id, wave_id, facts)
    new: list[int] = []
    replaced = Related()
    for fact in planned.new:
        rows = queue_rows(act, [new_row(fact)], project_id=project_id, wave_id=wave_id, now=now)
        for number in rows:
            _take_price(act, project_id, number, fact)
            if old := _named_row(act, project_id, fact.best.proved.proposal.replaces):
                replaced = replaced.plus(make_untrue(act, old, number, now))
        new += rows
    seen = [_count_again(act, row, fact, records, now) for row, fact in planned.again]
    return WrittenRows(tuple(new), tuple(seen), replaced)


def new_row(fact: SameFact) -> NewRow:
    """The row of a fact."""
    moments = _moments(fact)
    seen = {"first_seen": min(moments), "last_seen": max(moments)} if moments else {}
    places = [
        (cited.record.key, cited.start, cited.end, each.proved.proposal.rule, STATEMENTS_VERSION)
        for each in fact.sightings
        for cited in each.cited
    ]
    return NewRow({**_columns(fact), **seen}, tuple(places), fact.score)


def row_of(act: Act, project_id: int, statement: PreparedStatement) -> int | None:
    """The row that says the same as a statement."""
    return _look_up(act, project_id, statement.content)[1]


def score(sightings: Sequence[PreparedStatement], novelty: float) -> float:
    """The rank of a fact by its best sighting and the number of its sessions."""
    by_path: dict[Path, set[str]] = {}
    for each in sightings:
        names = {cited.record.session for cited in each.cited}
        by_path.setdefault(each.proved.path, set()).update(name for name in names if name)
    return _rank(sightings[0], sum(len(names) or 1 for names in by_path.values()), novelty)


def _rank(best: PreparedStatement, sessions: int, novelty: float = 1.0, cost: int = 0) -> float:
    proposal, proof = best.proved.proposal, best.proved.proof
    quality = queue_order.quality(proposal, proof, best.confidence, novelty)
    own = queue_order.is_own(proposal) and proof.sound and not proof.flags
    return queue_order.rank(own_words=own, sessions=sessions, cost=cost, quality=quality)


def _look_up(act: Act, project_id: int, statement: str) -> tuple[float, int | None]:
    """The highest similarity to another statement, and the row that says the same, a decided one
    first.
    """
    query = query_of(statement)
    rows = act.query(
        "SELECT m.id, m.content, m.status, m.excerpt, m.key, 0 FROM memory m"
        " WHERE m.project_id = ?1 AND m.kind = 'memory' AND m.key = ?2",
        (project_id, duplicate_key(statement)),
    )
    if query:
        rows += act.query(
            "SELECT m.id, m.content, m.status, m.excerpt, m.key, 1 FROM memory_text t"
            " JOIN memory m ON m.id = t.rowid WHERE memory_text MATCH ? AND m.project_id = ?"
            " AND m.kind = 'memory' ORDER BY t.rank LIMIT ?",
            (query, project_id, SHORTLIST),
        )
        rows += act.query(
            "SELECT m.id, h.content, m.status, m.excerpt, m.key, 1 FROM memory_text t"
            " JOIN memory m ON m.id = t.rowid JOIN content_history h ON h.memory_id = m.id"
            " WHERE memory_text MATCH ? AND m.project_id = ? AND m.kind = 'memory'"
            " ORDER BY t.rank LIMIT ?",
            (query, project_id, SHORTLIST),
        )  # what was reworded is not proposed again in its earlier words
    nearest, same = 0.0, list[tuple[bool, bool, int]]()
    for number, content, status, excerpt, key, similar in rows:
        exact = not similar or key == duplicate_key(statement)
        waiting = status == "candidate"
        if exact or (not (excerpt and waiting) and same_wording(statement, content)):
            same.append((waiting, bool(excerpt), number))
        elif not excerpt:
            nearest = max(nearest, similarity(statement, content))
    return nearest, min(same)[2] if same else None


def _fresh(act: Act, project_id: int, row: int, fact: SameFact) -> tuple[PreparedStatement, ...]:
    """The sightings of a known fact whose first place is not among its evidence; all of them for a
    row that is going to become the statement.
    """
    if _is_cut_out(act, row):
        return fact.sightings
    keys = [cited.record.key for each in fact.sightings for cited in each.cited]
    ids = record_ids(act, project_id, keys)
    known = places_of(act, row)
    return tuple(
        each
        for each in fact.sightings
        if (ids.get(each.cited[0].record.key), each.cited[0].start, each.cited[0].end) not in known
    )


def _is_cut_out(act: Act, row: int) -> bool:
    """Whether a row waits with words that the rules cut out of a text, without a proof."""
    return bool(
        act.query(
            "SELECT 1 FROM memory WHERE id = ? AND status = 'candidate' AND proof = '{}'"
            " AND proposer IN ('excerpt', 'notes')",
            (row,),
        )
    )


def _columns(fact: SameFact) -> Image:
    best = fact.best
    proposal = best.proved.proposal
    return {
        "kind": "memory",
        "type": str(proposal.type),
        "content": best.content,
        "key": duplicate_key(best.content),
        "rule": proposal.rule,
        "extractor_version": STATEMENTS_VERSION,
        "prior": best.prior,
        "signal": best.signal,
        "freshness": best.freshness,
        "confidence": round(best.confidence, 4),
        "rank": fact.score,
        "flags": " ".join(best.flags),
        "seen": len(_places_seen(fact.sightings)),
        "scope": proposal.scope,
        "need": proposal.kind,
        "proof": msgspec.json.encode(best.proved.proof).decode(),
        **proposed_by(proposal.proposer),
    }


def _places_seen(sightings: Iterable[PreparedStatement]) -> set[tuple[str, int]]:
    """Where a fact was said; two proposers that cite one place have seen it once."""
    return {(each.cited[0].record.key, each.cited[0].start) for each in sightings}


def _take_price(act: Act, project_id: int, number: int, fact: SameFact) -> None:
    """Give a statement the price of the finding that it was made of, if it was; the row of the
    finding goes behind it.
    """
    best = fact.best.proved
    behind = finding_behind(act, project_id, best.path, best.proof.quotes)
    if behind is None:
        return
    for (row,) in act.query(
        "SELECT id FROM memory WHERE (project_id, signature, proposer) = (?, ?, 'finding')"
        " AND status = 'candidate' AND leader_id IS NULL",
        (project_id, behind.signature),
    ):
        act.update("memory", row, leader_id=number, flags=JOINED)
    act.update(
        "memory",
        number,
        signature=behind.signature,
        sessions=behind.sessions,
        times=behind.times,
        cost=behind.cost,
        rank=_rank(fact.best, max(behind.sessions, 1), cost=behind.cost),
    )


def _moments(fact: SameFact) -> list[str]:
    """When the cited lines were written, as far as they say."""
    return [cited.record.at for each in fact.sightings for cited in each.cited if cited.record.at]


def _count_again(act: Act, row: int, fact: SameFact, records: dict[str, int], now: str) -> int:
    """Add the evidence of a known fact; what the rules cut out in the same words becomes the
    statement.
    """
    status, seen, refs, cost, leader = act.query(
        "SELECT status, seen, refs, cost, leader_id FROM memory WHERE id = ?", (row,)
    )[0]
    times = len(_places_seen(fact.sightings))
    changes: Image = {"last_seen": max(_moments(fact), default=now)}
    changes |= {"refs": refs + times} if status == "active" else {"seen": seen + times}
    if _is_cut_out(act, row):
        stated = _columns(fact)
        changes |= {name: stated[name] for name in _OF_STATEMENT}
        changes |= {"leader_id": None, "seen": max(seen, times)}
        leader = None
    act.update("memory", row, **changes)
    places = [SourcePlace(records[each[0]], *each[1:]) for each in new_row(fact).places]
    if status != "candidate" or leader is not None:
        add_places(act, row, places)
        return row
    add_quotes(act, row, places)
    act.update("memory", row, rank=_rank(fact.best, sessions_of(act, [row]), cost=cost))
    return row


_OF_STATEMENT = (
    "rule", "extractor_version", "prior", "signal", "freshness", "confidence", "rank", "flags",
    "scope", "need", "proof", "proposer", "excerpt",
)  # fmt: skip
"""Columns that a row takes over when it becomes a statement; its type and wording stay."""


def _records(act: Act, project_id: int, wave_id: int, facts: Iterable[SameFact]) -> dict[str, int]:
    """The ids of the cited records by key; those that the store lacks are written."""
    cited = {
        each.record.key: (statement, each.record)
        for fact in facts
        for statement in fact.sightings
        for each in statement.cited
    }
    found = record_ids(act, project_id, cited)
    sources: dict[Path, int] = {}
    sessions: dict[Path, str | None] = {
        statement.proved.path: record.session
        for statement, record in cited.values()
        if record.session is not None
    }
    for key, (statement, record) in cited.items():
        if key in found:
            continue
        path = statement.proved.path
        if path not in sources:
            sources[path] = source_row(
                act, path, statement.format, project_id=project_id, wave_id=wave_id
            )
            sessions.setdefault(path, _session(act, sources[path]))
        record = structs.replace(record, session=record.session or sessions[path])
        found[key] = record_row(
            act, record, project_id=project_id, source_id=sources[path], wave_id=wave_id
        )
    return found


def _session(act: Act, source: int) -> str | None:
    """The session that the other records of a file are of: a line of it is of the same."""
    rows = act.query(
        "SELECT session FROM record WHERE source_id = ? AND session IS NOT NULL LIMIT 1", (source,)
    )
    return str(rows[0][0]) if rows else None
