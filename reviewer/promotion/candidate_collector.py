"""Collects the candidates of a pass until the best can be chosen."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import accumulate

from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.entities.entity import EntityCandidate
from reviewer.extraction.extract import cited_lines
from reviewer.extraction.judge import Judge
from reviewer.extraction.ranking import CAP, Ranked, base_score, rank
from reviewer.extraction.verdicts import Began, Dropped, Event, KnownText, Remembered
from reviewer.promotion.enqueue import Known
from reviewer.promotion.source_reader import without_text
from reviewer.sources.records import Record

LIMIT = 5_000
"""Candidates kept in memory; when twice as many are there, the weaker half goes to the report,
beyond the cap, from where it can still be queued.
"""

STRUCTURE = 0.6
"""An entity with at least this prior comes from the document's structure and replaces a memory
candidate of the same words."""


class CandidateCollector:
    """Takes the events of both extractors and keeps the candidates.

    `drop` is called for each statement that is not proposed, `overflow` for each candidate beyond
    the limit.
    """

    def __init__(
        self, drop: Callable[[Dropped], None], overflow: Callable[[Candidate], None]
    ) -> None:
        self._drop = drop
        self._overflow = overflow
        self._newest = ""
        self.overflowed = 0
        """Number of candidates passed to `overflow`."""
        self._known_text = KnownText()
        self._pending: list[Candidate] = []
        """Candidates of the source that is being read."""
        self._pending_limit = LIMIT
        """When this many are pending, those of finished records are settled."""
        self._candidates: list[Candidate] = []
        self.sightings: list[tuple[int, Candidate]] = []
        """Memory ids that the project has already, each with the candidate that repeats it."""
        self.dropped: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._candidates)

    def take(self, records: Iterable[Record], setting: Setting) -> None:
        """Run the extractors over all records of a source."""
        found = Judge(setting)
        for record in records:
            self.consume(found.feed(record), None)
        self.consume(found.finish(), None)
        self.settle(None)

    def consume(self, events: Iterable[Event], fresh: Container[str] | None) -> None:
        """Take events of a source; only those of records in `fresh` count (None: all)."""
        for event in events:
            if isinstance(event, Began):
                self._newest = event.key
            elif isinstance(event, Remembered):
                self._known_text.learn(event.wordings)
            else:
                outcome = self._known_text.settle(event)
                if isinstance(outcome, Dropped):
                    self._dropped(outcome)
                    continue
                self._pending.append(outcome)
                memory = not isinstance(outcome, EntityCandidate)
                if memory and len(self._pending) >= self._pending_limit:
                    # The memory extractor is one record behind the other.
                    self._settle(fresh, {outcome.record.key, self._newest})
                    # A single record may yield more than the limit.
                    self._pending_limit = max(LIMIT, 2 * len(self._pending))

    def settle(self, fresh: Container[str] | None) -> None:
        """The source was read completely: keep its pending candidates."""
        self._settle(fresh, set())

    def give_up(self) -> None:
        """The source could not be read completely: forget its pending candidates."""
        self._pending.clear()

    def candidates(self) -> list[Candidate]:
        """Every candidate kept so far."""
        return self._candidates

    def ranked(self, known: Known) -> Ranked:
        """Rank the candidates that are new to the project; the others become sightings."""
        existing = known.keys(self._candidates)
        new: list[Candidate] = []
        for candidate in self._candidates:
            number = existing.get(known.key_of(candidate))
            if number is None:
                new.append(candidate)
            else:
                self.sightings.append((number, candidate))
        return rank(new, novelty=known.novelty, cap=CAP)

    def _dropped(self, dropped: Dropped) -> None:
        self.dropped[dropped.reason] += 1
        self._drop(dropped)

    def _settle(self, fresh: Container[str] | None, unfinished: set[str]) -> None:
        """Keep the pending candidates, except those of unfinished records."""
        done = [each for each in self._pending if each.record.key not in unfinished]
        self._pending = [each for each in self._pending if each.record.key in unfinished]
        for candidate in _without_overlaps(done, self._drop_duplicate):
            if fresh is None or candidate.record.key in fresh:
                self._candidates.append(without_text(candidate))
        if len(self._candidates) >= 2 * LIMIT:
            self._candidates.sort(key=base_score, reverse=True)
            for weak in self._candidates[LIMIT:]:
                self._overflow(weak)
            self.overflowed += len(self._candidates) - LIMIT
            del self._candidates[LIMIT:]

    def _drop_duplicate(self, candidate: Candidate) -> None:
        reason = (
            "a memory says it" if isinstance(candidate, EntityCandidate) else "an entity says it"
        )
        first, last = cited_lines(candidate)
        self._dropped(
            Dropped(reason, candidate.content, candidate.rule, candidate.record.key, first, last)
        )


def _without_overlaps(
    candidates: list[Candidate], drop: Callable[[Candidate], None]
) -> Iterator[Candidate]:
    """Where an entity and a memory come from the same words, yield only one of them.

    What comes from structure is an entity at once; a sentence is a memory that may graduate.
    """
    entities: dict[str, list[Candidate]] = {}
    memories: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if not isinstance(candidate, EntityCandidate):
            memories.setdefault(candidate.record.key, []).append(candidate)
        elif candidate.prior >= STRUCTURE:
            entities.setdefault(candidate.record.key, []).append(candidate)
    above_entities = {key: _Spans(each) for key, each in memories.items()}
    above_memories = {key: _Spans(each) for key, each in entities.items()}
    for candidate in candidates:
        rivals: dict[str, _Spans] = {}
        if not isinstance(candidate, EntityCandidate):
            rivals = above_memories
        elif candidate.prior < STRUCTURE:
            rivals = above_entities
        spans = rivals.get(candidate.record.key)
        if spans is not None and spans.overlap(candidate):
            drop(candidate)
        else:
            yield candidate


class _Spans:
    """The spans of one record's candidates, indexed for overlap queries."""

    def __init__(self, candidates: list[Candidate]) -> None:
        spans = sorted((each.span_start, each.span_end) for each in candidates)
        self._starts = [start for start, _ in spans]
        self._ends = list(accumulate((end for _, end in spans), max))
        """Running maximum of the ends."""

    def overlap(self, candidate: Candidate) -> bool:
        """Whether a span shares a character with the candidate."""
        before = bisect_left(self._starts, candidate.span_end)
        return before > 0 and candidate.span_start < self._ends[before - 1]
