"""Statements as rows of the queue, inside an act: one row per fact, however often it is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct, structs

from reviewer.errors import SourceError
from reviewer.extraction.candidates import Setting
from reviewer.extraction.confidence import confidence, freshness, path_signal
from reviewer.extraction.flags import flags_of
from reviewer.extraction.ranking import CAP
from reviewer.extraction.rules import LONGEST_STATEMENT, SHORTEST_STATEMENT
from reviewer.promotion import queue_order
from reviewer.promotion.rows.cited_lines import CitedQuote, cite
from reviewer.promotion.rows.decided_rows import hide_behind, no_longer_doubted
from reviewer.promotion.rows.enqueue import KeyedPlace, NewRow, QueueWriter, add_quotes, in_store
from reviewer.promotion.rows.evidence_rows import (
    JOINED,
    add_places,
    places_of,
    record_ids,
    record_image,
    sessions_of,
    source_row,
)
from reviewer.promotion.rows.finding_rows import finding_behind
from reviewer.promotion.rows.memory_rows import counted_again, new_columns
from reviewer.promotion.rows.relations import Related, make_untrue
from reviewer.promotion.views import Status, proposed_by
from reviewer.proposing.values import Proposer, Proved, SessionView
from reviewer.sources.records import Role
from reviewer.store.acts import Act
from reviewer.text.normalise import clean
from reviewer.text.secrets import mask

STATEMENTS_VERSION = "1.0.0"
"""The extractor version of rows proposed as statements."""


class DroppedStatement(Struct, frozen=True):
    """A statement that was not queued, and the reason."""

    reason: str
    content: str
    path: str
    proposer: str


class PreparedStatement(Struct, frozen=True):
    """A proved statement, ready to be written with its records and its confidence."""

    proved: Proved
    content: str
    format: str
    cited: tuple[CitedQuote, ...]
    prior: float
    signal: float
    freshness: float
    confidence: float
    flags: tuple[str, ...]

    def score(self, novelty: float = 1.0) -> float:
        """Its rank as a new row."""
        names = {cited.record.session for cited in self.cited} - {None}
        return self.rank(len(names) or 1, novelty)

    def rank(self, sessions: int, novelty: float = 1.0, cost: int = 0) -> float:
        """Its rank, given the number of sessions that say it and of calls lost."""
        proposal, proof = self.proved.proposal, self.proved.proof
        quality = queue_order.quality(proposal, proof, self.confidence, novelty)
        own = queue_order.is_own(proposal) and proof.sound and not proof.flags
        return queue_order.rank(own_words=own, sessions=sessions, cost=cost, quality=quality)

    @property
    def times(self) -> list[str]:
        """The times of the cited lines, if known."""
        return [cited.record.at for cited in self.cited if cited.record.at]

    @property
    def places(self) -> tuple[KeyedPlace, ...]:
        rule = self.proved.proposal.rule
        return tuple(
            (cited.record.key, cited.start, cited.end, rule, STATEMENTS_VERSION)
            for cited in self.cited
        )

    @property
    def is_doubted(self) -> bool:
        """Whether its row is deferred because its own proposer doubts it. One that makes a known
        row untrue is not deferred.
        """
        doubted = bool(queue_order.doubt(self.prior, self.flags))
        return doubted and not self.proved.proposal.replaces

    def row(self, rank: float) -> NewRow:
        proposal, times = self.proved.proposal, self.times
        columns = new_columns(
            proposal.type,
            self.content,
            rule=proposal.rule,
            version=STATEMENTS_VERSION,
            proposer=proposal.proposer,
            rank=rank,
            prior=self.prior,
            signal=self.signal,
            freshness=self.freshness,
        )
        columns |= {
            "flags": " ".join(self.flags),
            "need": proposal.kind,
            "deferred": int(self.is_doubted),
            "proof": msgspec.json.encode(self.proved.proof).decode(),
        }
        if times:
            columns |= {"first_seen": min(times), "last_seen": max(times)}
        return NewRow(columns, self.places, rank)


class Written(Struct):
    """The result for statements: new rows with their statements, rows beyond the cap (`reviewer
    queue more`), known rows with new evidence, known rows that already had it, and dropped
    statements.
    """

    new: dict[int, PreparedStatement] = {}
    over_cap: list[NewRow] = []
    seen: list[int] = []
    unchanged: list[int] = []
    dropped: list[DroppedStatement] = []
    unproved: int = 0
    """New rows and rows beyond the cap that are not fully proved."""
    related: Related = Related()
    """The outcome for rows replaced or joined by new ones."""
    act: int = 0
    """0 if nothing was written."""
    title: str = ""


def prepare_statements(
    proved: Sequence[Proved],
    setting: Setting,
    *,
    view: SessionView | None = None,
    longest: int = LONGEST_STATEMENT,
) -> tuple[list[PreparedStatement], list[DroppedStatement]]:
    """Find the records behind statements from one file, which is read once; returns those to write,
    and the others.

    `setting`: of the original, if the file is a copy. Raises SourceError if it cannot be read.
    """
    if not proved:
        return [], []
    path = proved[0].path
    quotes = [quote for each in proved for quote in each.proof.quotes]
    try:
        places = cite(path, quotes, view)
    except OSError as problem:
        raise SourceError(f"{path} cannot be read: {problem.strerror}.") from problem
    format_ = "" if view is None else view.format
    ready: list[PreparedStatement] = []
    left_out: list[DroppedStatement] = []
    for each in proved:
        count = len(each.proof.quotes)
        own, places = places[:count], places[count:]
        words = mask(each.proposal.statement).text
        content = words if each.proposal.proposer is Proposer.PERSON else clean(words)
        if len(content) < SHORTEST_STATEMENT:
            left_out.append(dropped(each, f"shorter than {SHORTEST_STATEMENT} characters"))
        elif len(content) > longest:
            left_out.append(dropped(each, f"longer than {longest} characters"))
        elif not any(own):
            left_out.append(dropped(each, "no quote of it is in the session"))
        else:
            ready.append(_prepare(each, content, own, setting, format_))
    return ready, left_out


def _prepare(
    proved: Proved,
    content: str,
    places: Sequence[CitedQuote | None],
    setting: Setting,
    format_: str,
) -> PreparedStatement:
    proposal, proof = proved.proposal, proved.proof
    cited = tuple(place for place in places if place is not None)
    found = tuple(
        structs.replace(quote, found=place is not None)
        for quote, place in zip(proof.quotes, places, strict=True)
    )
    proved = structs.replace(proved, proof=structs.replace(proof, quotes=found))
    prior = queue_order.prior(proposal)
    signal, fresh = path_signal(cited[0].record, setting), freshness(cited[0].record, setting)
    role = next((c.record.role for c in cited if c.record.role is Role.USER), cited[0].record.role)
    if proposal.proposer is Proposer.MCP:
        role = Role.ASSISTANT  # the words are an agent's, whoever it quotes
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
    """A statement that is not queued, secrets masked."""
    text, proposer = mask(proved.proposal.statement).text, str(proved.proposal.proposer)
    return DroppedStatement(reason, text, str(proved.path), proposer)


def queue_statements(
    writer: QueueWriter, wave: Callable[[], int], prepared: Sequence[PreparedStatement]
) -> Written:
    """Write statements with their records and evidence, best first: new rows up to the cap, and
    evidence for rows that say the same. `wave` is called if there is something to write.
    """
    scored = [
        (each.score(writer.stored.look_up("memory", each.content).novelty), each)
        for each in prepared
    ]
    done, waiting = Written(), 0
    for rank, each in sorted(scored, key=lambda pair: -pair[0]):
        if row := _said_by(writer, each):
            known = done.seen if _say_again(writer, wave, row, each) else done.unchanged
            if row not in (*done.new, *done.seen):
                known.append(row)
            continue
        _records(writer.act, writer.project_id, wave(), each)
        done.unproved += not each.proved.proof.sound
        if not each.is_doubted and waiting >= CAP:
            done.over_cap.append(each.row(rank))
        elif number := writer.insert(each.row(rank), wave()):
            done.new[number] = each
            waiting += not each.is_doubted
            _take_price(writer.act, writer.project_id, number, each)
            done.related = done.related.plus(_relate(writer, number, each))
    done.unchanged = [row for row in dict.fromkeys(done.unchanged) if row not in done.seen]
    return done


def _said_by(writer: QueueWriter, statement: PreparedStatement) -> int | None:
    """The row that says the same: the one named by the reader, or one with the same wording."""
    joins = statement.proved.proposal.joins
    named = writer.act.query(
        "SELECT id FROM memory WHERE (id, project_id) = (?, ?)"
        " AND status IN ('active', 'candidate', 'invalid')",
        (joins, writer.project_id),
    )
    if named:
        return joins
    return writer.stored.look_up("memory", statement.content).row


def _say_again(
    writer: QueueWriter, wave: Callable[[], int], row: int, statement: PreparedStatement
) -> bool:
    """Give a row the evidence of a statement; returns whether the first place is new to it."""
    act, project_id = writer.act, writer.project_id
    if act.query("SELECT 1 FROM memory WHERE id = ? AND excerpt = 1", (row,)):
        # Hidden since an earlier version; as a reader states it, it waits from now on.
        act.update("memory", row, **proposed_by(statement.proved.proposal.proposer))
    first = statement.cited[0]
    record = record_ids(act, project_id, [first.record.key]).get(first.record.key)
    if (record, first.start, first.end) in places_of(act, row):
        return False
    places = in_store(statement.places, _records(act, project_id, wave(), statement))
    status, seen, refs, leader, rank, signature, flags, *times = act.query(
        "SELECT status, seen, refs, leader_id, rank, signature, flags, first_seen, last_seen"
        " FROM memory WHERE id = ?",
        (row,),
    )[0]
    times += statement.times or (writer.now,)
    act.update("memory", row, **counted_again(status, seen, refs, times))
    if status != Status.CANDIDATE or leader is not None:
        add_places(act, row, places)
    else:
        add_quotes(act, row, places)
        if not signature:
            _take_price(act, project_id, row, statement)
        ((cost,),) = act.query("SELECT cost FROM memory WHERE id = ?", (row,))
        again = statement.rank(sessions_of(act, [row]), cost=cost)
        if statement.proved.proposal.standing:
            flags = " ".join(each for each in flags.split() if each != queue_order.MEANT_FOR_ONCE)
        no_longer_doubted(act, [row])
        act.update("memory", row, rank=max(rank, again), flags=flags)
    return True


def _relate(writer: QueueWriter, number: int, statement: PreparedStatement) -> Related:
    """Apply what the reader says about a new row and the one that it names, if that was last seen
    before: sessions are read in any order.
    """
    replaced = statement.proved.proposal.replaces
    is_older = writer.act.query(
        "SELECT 1 FROM memory WHERE (id, project_id) = (?, ?) AND last_seen <= ?",
        (replaced, writer.project_id, max(statement.times, default="9999")),
    )
    return make_untrue(writer.act, replaced, number, writer.now) if is_older else Related()


def _take_price(act: Act, project_id: int, number: int, best: PreparedStatement) -> None:
    """Give a statement the cost of the finding that it was made from, if any; the finding's row is
    hidden behind it.
    """
    proved = best.proved
    quotes = proved.proof.quotes
    behind = finding_behind(act, project_id, proved.path, quotes, proved.proposal.statement)
    if behind is None:
        return
    rows = act.query(
        "SELECT id FROM memory WHERE (project_id, signature, proposer) = (?, ?, 'finding')"
        " AND leader_id IS NULL",
        (project_id, behind.signature),
    )
    hide_behind(act, [row for (row,) in rows], number, JOINED)
    act.update(
        "memory",
        number,
        signature=behind.signature,
        sessions=behind.sessions,
        times=behind.times,
        cost=behind.cost,
        rank=best.rank(max(behind.sessions, 1), cost=behind.cost),
    )
    if behind.sessions > 1:
        no_longer_doubted(act, [number])


def _records(
    act: Act, project_id: int, wave_id: int, statement: PreparedStatement
) -> dict[str, int]:
    """The ids of the cited records by key; missing ones are written."""
    records = {each.record.key: each.record for each in statement.cited}
    found = record_ids(act, project_id, records)
    missing = [record for key, record in records.items() if key not in found]
    if missing:
        where = {"project_id": project_id, "wave_id": wave_id}
        source = source_row(act, statement.proved.path, statement.format, **where)
        session = next((each.session for each in records.values() if each.session), None)
        session = session or _session(act, source)
        for record in missing:
            record = structs.replace(record, session=record.session or session)
            image = record_image(record, source_id=source, **where)
            found[record.key] = act.insert("record", **image)
    return found


def _session(act: Act, source: int) -> str | None:
    """The session of a file's other records, which is also that of a line of it."""
    rows = act.query(
        "SELECT session FROM record WHERE source_id = ? AND session IS NOT NULL LIMIT 1", (source,)
    )
    return str(rows[0][0]) if rows else None
