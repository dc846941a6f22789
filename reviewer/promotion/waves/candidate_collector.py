"""Collects the candidates of a pass, and the statements of memory files, for choosing the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct, structs

from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.extract import BootText, Dropped, Event, Extractor
from reviewer.extraction.ranking import Ranking, base_score
from reviewer.promotion.rows.enqueue import NewRow
from reviewer.promotion.rows.known_facts import KnownFacts
from reviewer.promotion.rows.statement_rows import (
    DroppedStatement,
    PreparedStatement,
    dropped,
    prepare_statements,
)
from reviewer.promotion.waves.source_reader import without_text
from reviewer.proposing.agent_memories import is_memory_file, memory_proposals, memory_view
from reviewer.proposing.proof import prove, reasons
from reviewer.proposing.proof_index import ProofIndex
from reviewer.proposing.values import Proved
from reviewer.sources.events import Rewind
from reviewer.sources.records import Record

LIMIT = 5_000
"""Candidates kept in memory; at twice as many, the weaker half goes to the report, beyond the cap,
from where it can be queued later.
"""


class CandidateCollector:
    """Collects the candidates of one file, or of all files.

    `drop` is called for each statement that is not proposed, and with the row of each candidate
    beyond the limit.
    """

    def __init__(
        self,
        drop: Callable[[Struct], None],
        known_text: BootText | None = None,
    ) -> None:
        self._drop = drop
        self._known_text = known_text or BootText()
        self.overflowed = 0
        """Number of candidates beyond the limit."""
        self.candidates: list[Candidate] = []
        self.statements: list[PreparedStatement] = []
        """Statements of memory files."""
        self.dropped: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self.candidates)

    def of_a_file(self) -> CandidateCollector:
        """A collector for one file, which counts once it is added here."""
        return CandidateCollector(self._drop, self._known_text)

    def add(self, of_a_file: CandidateCollector) -> None:
        self.overflowed += of_a_file.overflowed
        self.statements += of_a_file.statements
        self.dropped += of_a_file.dropped
        for each in of_a_file.candidates:
            self._keep(each)

    def take(self, records: Iterable[Record], setting: Setting) -> None:
        """Run the extractor over all records of a source."""
        extractor = Extractor(setting)
        for record in records:
            self.consume(extractor.feed(record))

    def rewind(self, rewind: Rewind) -> None:
        """Forget candidates from messages that the person took back."""
        self.candidates = [
            each
            for each in self.candidates
            if not rewind.first <= each.record.line_start < rewind.end
        ]

    def consume(self, events: Iterable[Event], stored_as: Mapping[str, str] | None = None) -> None:
        """Take events. `stored_as`: the records that count, each with its key in the store."""
        for event in events:
            outcome = self._known_text.settle(event)
            if isinstance(outcome, Dropped):
                self.dropped[outcome.reason] += 1
                self._drop(outcome)
            elif outcome is not None:
                key = outcome.record.key
                if stored_as is not None:
                    key = stored_as.get(key, "")
                if key:
                    slim = without_text(outcome)
                    self._keep(structs.replace(slim, record=structs.replace(slim.record, key=key)))

    def propose(self, path: Path, setting: Setting, known: KnownFacts) -> None:
        """Collect the statements of a memory file; ignores other files. Raises SourceError."""
        if not is_memory_file(path):
            return
        ready, left_out = propose_from(path, setting, known=known.besides(path))
        self.statements += ready
        for each in left_out:
            self.dropped[each.reason.partition(": ")[0]] += 1  # without the quoted words
            self._drop(each)

    def _keep(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)
        if len(self.candidates) >= 2 * LIMIT:
            self.candidates.sort(key=base_score, reverse=True)
            for weak in self.candidates[LIMIT:]:
                self._drop(NewRow.of(Ranking(weak, base_score(weak))))
            self.overflowed += len(self.candidates) - LIMIT
            del self.candidates[LIMIT:]


def propose_from(
    path: Path, setting: Setting, *, known: Callable[[str], tuple[str, ...]]
) -> tuple[list[PreparedStatement], list[DroppedStatement]]:
    """Prove the statements of a memory file, and find the records behind them; ignores other files.

    Without a reader to reword them, statements that are not fully proved are dropped. Raises
    SourceError if the file cannot be read.
    """
    proposals = list(memory_proposals(path))
    if not proposals:
        return [], []
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
    ready, others = prepare_statements(sound, setting, view=view)
    return ready, [*left_out, *others]
