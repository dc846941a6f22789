"""Collects the candidates of a pass, and the statements of memory files, for choosing the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable
from datetime import datetime
from pathlib import Path

from msgspec import Struct, structs

from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.extract import BootText, Dropped, Event, Extractor
from reviewer.extraction.ranking import CAP, Ranked, Ranking, base_score, rank
from reviewer.promotion.rows.enqueue import KnownRows, NewRow
from reviewer.promotion.rows.known_facts import KnownFacts
from reviewer.promotion.rows.statement_rows import (
    DroppedStatement,
    PreparedStatement,
    dropped,
    prepare,
)
from reviewer.promotion.waves.source_reader import without_text
from reviewer.proposing.agent_memories import is_memory_file, memory_proposals, memory_view
from reviewer.proposing.proof import ProofIndex, prove, reasons
from reviewer.proposing.values import Proved
from reviewer.sources.events import Rewind
from reviewer.sources.records import Record

LIMIT = 5_000
"""Candidates kept in memory; at twice as many, the weaker half goes to the report, beyond the cap,
from where it can be queued later.
"""


class CandidateCollector:
    """Collects candidates from the extractor's events.

    `drop` is called for each statement that is not proposed, and with the row of each candidate
    beyond the limit.
    """

    def __init__(
        self,
        drop: Callable[[Struct], None],
        slim: Callable[[Candidate], Candidate] = without_text,
        *,
        limited: bool = True,
    ) -> None:
        """`slim`: reduces a candidate until the best are chosen; `limited`: to LIMIT."""
        self._drop = drop
        self._slim = slim
        self._limited = limited
        self.overflowed = 0
        """Number of candidates beyond the limit."""
        self._known_text = BootText()
        self._source = ""
        self._stored_keys: dict[str, str] = {}
        """The keys of records of the current source, if the store has others."""
        self.candidates: list[Candidate] = []
        self._sources: dict[str, str] = {}
        """The source of each cited record, by its key in the store."""
        self.sightings: list[tuple[int, Candidate]] = []
        """Ids of the project's memories, each with the candidate that repeats it."""
        self.statements: list[PreparedStatement] = []
        """Statements of memory files."""
        self.dropped: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self.candidates)

    def take(self, records: Iterable[Record], setting: Setting) -> None:
        """Run the extractor over all records of a source."""
        extractor = Extractor(setting)
        self.begin(setting.path)
        for record in records:
            self.consume(extractor.feed(record), None)

    def begin(self, source: str) -> None:
        """Begin a source."""
        self._source = source
        self._stored_keys.clear()

    def rewind(self, rewind: Rewind) -> None:
        """Forget candidates from messages of this source that the person took back."""
        self.candidates = [
            each
            for each in self.candidates
            if self._sources[each.record.key] != self._source
            or not rewind.first <= each.record.line_start < rewind.end
        ]

    def stored_as(self, key: str, stored: str) -> None:
        """Cite a record of this source by its key in the store."""
        if stored != key:
            self._stored_keys[key] = stored

    def consume(self, events: Iterable[Event], fresh: Container[str] | None) -> None:
        """Take events of the source; only those of records in `fresh` count (None: all)."""
        for event in events:
            outcome = self._known_text.settle(event)
            if isinstance(outcome, Dropped):
                self.dropped[outcome.reason] += 1
                self._drop(outcome)
            elif outcome is not None and (fresh is None or outcome.record.key in fresh):
                self._keep(self._as_stored(self._slim(outcome)))

    def propose(self, path: Path, *, now: datetime, known: KnownFacts) -> None:
        """Collect the statements of a memory file; ignores other files. Raises SourceError."""
        if not is_memory_file(path):
            return
        for each in propose_from(path, now=now, known=known.besides(path)):
            if isinstance(each, PreparedStatement):
                self.statements.append(each)
            else:
                self.dropped[each.reason.partition(": ")[0]] += 1  # without the quoted words
                self._drop(each)

    def sources(self) -> list[Path]:
        """The files with candidates or statements."""
        found = {Path(self._sources[each.record.key]) for each in self.candidates}
        return sorted(found | {each.proved.path for each in self.statements})

    def give_up(self, source: str) -> None:
        """Forget everything from an unreadable source."""
        self.statements = [each for each in self.statements if str(each.proved.path) != source]
        self.candidates = [
            each for each in self.candidates if self._sources[each.record.key] != source
        ]

    def of(self, source: str) -> CandidateCollector:
        """A collector with the candidates of one source only."""
        found = CandidateCollector(self._drop, self._slim, limited=self._limited)
        found.candidates = [
            each for each in self.candidates if self._sources[each.record.key] == source
        ]
        found.statements = [each for each in self.statements if str(each.proved.path) == source]
        return found

    def ranked(self, known: KnownRows | None = None, *, cap: int | None = None) -> Ranked:
        """Rank the candidates that are new to the project; the others become sightings."""
        self.sightings.clear()
        existing = known.keys(self.candidates) if known else {}
        new: list[Candidate] = []
        for candidate in self.candidates:
            number = existing.get(KnownRows.key_of(candidate))
            if number is None:
                new.append(candidate)
            else:
                self.sightings.append((number, candidate))
        novelty = known.novelty if known else None
        return rank(new, novelty=novelty, cap=CAP if cap is None else cap)

    def _keep(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)
        self._sources[candidate.record.key] = self._source
        if self._limited and len(self.candidates) >= 2 * LIMIT:
            self.candidates.sort(key=base_score, reverse=True)
            for weak in self.candidates[LIMIT:]:
                self._drop(NewRow.of(Ranking(weak, base_score(weak))))
            self.overflowed += len(self.candidates) - LIMIT
            del self.candidates[LIMIT:]

    def _as_stored(self, candidate: Candidate) -> Candidate:
        key = self._stored_keys.get(candidate.record.key)
        if key is None:
            return candidate
        return structs.replace(candidate, record=structs.replace(candidate.record, key=key))


def propose_from(
    path: Path,
    *,
    now: datetime,
    known: Callable[[str], tuple[str, ...]],
    cited_as: str = "",
    modified_ns: int | None = None,
) -> list[PreparedStatement | DroppedStatement]:
    """Prove the statements of a memory file, and find the records behind them; ignores other files.

    Without a reader to reword them, statements that are not fully proved are dropped. `cited_as`
    and `modified_ns`: see `prepare`. Raises SourceError if the file cannot be read.
    """
    proposals = list(memory_proposals(path))
    if not proposals:
        return []
    view = memory_view(path)
    index = ProofIndex(view)
    sound: list[Proved] = []
    left_out: list[DroppedStatement] = []
    for proposal in proposals:
        proved = Proved(path, proposal, prove(proposal, index, known=known))
        if proved.proof.sound:
            sound.append(proved)
        else:
            left_out.append(dropped(proved, next(iter(reasons(proved.proof)), "not proved")))
    made = prepare(sound, now=now, view=view, cited_as=cited_as, modified_ns=modified_ns)
    return [*left_out, *made]
