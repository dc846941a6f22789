"""Collects the candidates of a pass until the best can be chosen."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import accumulate

from msgspec import structs

from reviewer.extraction.candidates import PRIORS, Candidate, RuleClass, Setting
from reviewer.extraction.entities.entity import EntityCandidate
from reviewer.extraction.extract import cited_lines
from reviewer.extraction.judge import Judge
from reviewer.extraction.passages import wording
from reviewer.extraction.ranking import CAP, Ranked, Ranking, base_score, rank
from reviewer.extraction.verdicts import Began, Dropped, Event, KnownText, Remembered
from reviewer.promotion.enqueue import Known
from reviewer.promotion.source_reader import Abandoned, without_text
from reviewer.proposing.excerpts import DECAY, Dialogue, Find, Spot, best_first
from reviewer.sources.records import Record, Role, Use

LIMIT = 5_000
"""Candidates kept in memory; when twice as many are there, the weaker half goes to the report,
beyond the cap, from where it can be called up.
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
        self,
        drop: Callable[[Dropped], None],
        overflow: Callable[[Candidate], None],
        slim: Callable[[Candidate], Candidate] = without_text,
    ) -> None:
        """`slim`: what is kept of a candidate until the best are chosen."""
        self._drop = drop
        self._overflow = overflow
        self._slim = slim
        self._newest = ""
        self.overflowed = 0
        """Number of candidates handed to `overflow`."""
        self._known_text = KnownText()
        self._pending: list[Candidate] = []
        """Candidates of the source that is being read."""
        self._stored_keys: dict[str, str] = {}
        """The keys of records of the source that is being read, where the store has others."""
        self._messages: list[tuple[int, str]] = []
        """The first line and the key of each message of the source that is being read."""
        self._entities: set[tuple[str, str]] = set()
        """What the entities of this source say, with their record: no memory rule has to match."""
        self._pending_limit = LIMIT
        """When this many are pending, those of finished records are settled."""
        self._candidates: list[Candidate] = []
        self._sources: dict[str, str] = {}
        """The source of each record that a candidate cites, by the key in the store."""
        self._dialogue = Dialogue("")
        self._finds: list[Find] = []
        """The finds in the dialogue of the source that is being read."""
        self._spots: list[Spot] = []
        self.sightings: list[tuple[int, Candidate]] = []
        """Memory ids that the project has already, each with the candidate that repeats it."""
        self.dropped: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._candidates) + len(self._spots) + len(self._finds)

    def take(self, records: Iterable[Record], setting: Setting) -> None:
        """Run the extractors over all records of a source."""
        found = Judge(setting)
        self.begin(setting.path)
        for record in records:
            self.watch([record])
            self.consume(found.feed(record), None)
        self.consume(found.finish(), None)
        self.settle(None)

    def begin(self, source: str) -> None:
        """A source is going to be read."""
        self._dialogue = Dialogue(source)
        self._messages.clear()

    def watch(self, records: Iterable[Record]) -> None:
        """Take note of the records of a source, before their events are consumed."""
        for record in records:
            self._dialogue.add(record)
            if record.use is Use.MESSAGE:
                self._messages.append((record.line_start, record.key))

    def rewind(self, abandoned: Abandoned) -> int:
        """Forget what was found in messages that the person took back; returns how many."""
        first, end = abandoned.first, abandoned.end
        keys = {key for line, key in self._messages if first <= line < end}
        self._messages = [each for each in self._messages if each[1] not in keys]
        self._pending = [each for each in self._pending if each.record.key not in keys]
        self._finds = [each for each in self._finds if each.candidate.record.key not in keys]
        self._candidates = [each for each in self._candidates if each.record.key not in keys]
        return len(keys)

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
                    if not self._is_entity(outcome):
                        self._dropped(outcome)
                    continue
                self._pending.append(outcome)
                memory = not isinstance(outcome, EntityCandidate)
                if not memory:
                    said = wording(outcome.record.text[outcome.span_start : outcome.span_end])
                    self._entities.update(
                        (outcome.record.key, each) for each in (said, outcome.content)
                    )
                if memory and len(self._pending) >= self._pending_limit:
                    # The memory extractor is one record behind the other.
                    self._settle(fresh, {outcome.record.key, self._newest})
                    # A single record may yield more than the limit.
                    self._pending_limit = max(LIMIT, 2 * len(self._pending))

    def stored_as(self, key: str, stored: str) -> None:
        """Cite a record of this source by the key that it has in the store."""
        if stored != key:
            self._stored_keys[key] = stored

    def settle(self, fresh: Container[str] | None) -> None:
        """The source was read to its end: keep its pending candidates."""
        self._settle(fresh, set())
        self._spots += self._dialogue.spots(self._finds)
        self._finds.clear()
        if len(self._spots) >= 2 * LIMIT:
            self._spots = best_first(self._spots)
            for spot in self._spots[LIMIT:]:
                self._overflow(spot.candidate)
            self.overflowed += len(self._spots) - LIMIT
            del self._spots[LIMIT:]
        self._stored_keys.clear()
        self._entities.clear()

    def give_up(self, source: str) -> None:
        """Forget everything from a source that cannot be read or queued."""
        if self._dialogue.source == source:
            self._pending.clear()
            self._finds.clear()
            self._stored_keys.clear()
            self._entities.clear()
        self._keep(lambda each: each != source)

    def of(self, sources: Container[str]) -> CandidateCollector:
        """A collector with the candidates of these sources only."""
        found = CandidateCollector(self._drop, self._overflow, self._slim)
        found._candidates, found._spots = list(self._candidates), list(self._spots)
        found._sources = dict(self._sources)
        found._keep(lambda each: each in sources)
        return found

    def _keep(self, wanted: Callable[[str], bool]) -> None:
        self._candidates = [
            each for each in self._candidates if wanted(self._sources[each.record.key])
        ]
        self._spots = [each for each in self._spots if wanted(each.source)]

    def collected(self) -> tuple[list[Candidate], list[Spot]]:
        """The candidates so far: notes and entities, and the spots of the dialogue."""
        return self._candidates, self._spots

    def ranked(self, known: Known | None = None, *, cap: int | None = None) -> Ranked:
        """Rank the candidates that are new to the project: those from notes, then entities from
        dialogue and places to look in it. The others become sightings.
        """
        cap = CAP if cap is None else cap
        self.sightings.clear()
        existing = known.keys(self._everything()) if known else {}
        new: list[Candidate] = []
        for candidate in self._candidates:
            number = existing.get(Known.key_of(candidate))
            if number is None:
                new.append(candidate)
            else:
                self.sightings.append((number, candidate))
        novelty = known.novelty if known else None
        notes = [each for each in new if each.record.role is Role.NOTE]
        dialogue = [each for each in new if each.record.role is not Role.NOTE]
        in_notes = {Known.key_of(each) for each in notes}
        said_again = [each for each in self._spots if Known.key_of(each.found) in in_notes]
        notes += (spot.found for spot in said_again)
        first, second = (rank(each, novelty=novelty, cap=cap) for each in (notes, dialogue))
        places, repeated = self._places(existing, in_notes)
        return Ranked(
            (*first.kept, *second.kept, *places[:cap]),
            (*first.over_cap, *second.over_cap, *places[cap:]),
            first.repeated + second.repeated + repeated,
        )

    def _everything(self) -> Iterator[Candidate]:
        yield from self._candidates
        for spot in self._spots:
            yield spot.candidate
            yield spot.found

    def _places(
        self,
        existing: Mapping[tuple[str, str, str], int],
        in_notes: Container[tuple[str, str, str]],
    ) -> tuple[list[Ranking], int]:
        """The spots that are new, one ranking each, best first; how many repeat another one."""
        new: dict[tuple[str, str, str], Ranking] = {}
        repeated = 0
        of_source: Counter[str] = Counter()
        for spot in best_first(self._spots):
            score = likelihood(spot.score - DECAY * of_source[spot.source])
            of_source[spot.source] += 1
            key, found = Known.key_of(spot.candidate), Known.key_of(spot.found)
            number = existing.get(key, existing.get(found))
            if number is not None:
                self.sightings.append((number, spot.candidate))
            elif found in in_notes:
                continue  # seen again
            elif key in new:
                repeated += 1
                again = (*new[key].also, spot.candidate, *spot.others)
                new[key] = structs.replace(new[key], seen=new[key].seen + 1, also=again)
            else:
                new[key] = Ranking(spot.candidate, score, 1.0, also=spot.others)
        return list(new.values()), repeated

    def _is_entity(self, dropped: Dropped) -> bool:
        """Whether a statement that is not proposed as a memory is proposed as an entity."""
        return dropped.rule is None and (dropped.record, dropped.content) in self._entities

    def _dropped(self, dropped: Dropped) -> None:
        self.dropped[dropped.reason] += 1
        self._drop(dropped)

    def _settle(self, fresh: Container[str] | None, unfinished: set[str]) -> None:
        """Keep the pending candidates, except those of unfinished records."""
        done = [each for each in self._pending if each.record.key not in unfinished]
        self._pending = [each for each in self._pending if each.record.key in unfinished]
        for candidate in _without_overlaps(done, self._drop_duplicate):
            if fresh is not None and candidate.record.key not in fresh:
                continue
            slim = self._as_stored(self._slim(candidate))
            if candidate.record.role is Role.NOTE or isinstance(candidate, EntityCandidate):
                self._candidates.append(slim)
                self._sources[slim.record.key] = self._dialogue.source
            else:
                self._finds.append(self._dialogue.find(candidate, slim))
        if len(self._candidates) >= 2 * LIMIT:
            self._candidates.sort(key=base_score, reverse=True)
            for weak in self._candidates[LIMIT:]:
                self._overflow(weak)
            self.overflowed += len(self._candidates) - LIMIT
            del self._candidates[LIMIT:]

    def _as_stored(self, candidate: Candidate) -> Candidate:
        key = self._stored_keys.get(candidate.record.key)
        if key is None:
            return candidate
        return structs.replace(candidate, record=structs.replace(candidate.record, key=key))

    def _drop_duplicate(self, candidate: Candidate) -> None:
        reason = (
            "a memory says it" if isinstance(candidate, EntityCandidate) else "an entity says it"
        )
        first, last = cited_lines(candidate)
        self._dropped(
            Dropped(reason, candidate.content, candidate.rule, candidate.record.key, first, last)
        )


def likelihood(score: float) -> float:
    """The score of a spot as a rank between 0 and the prior of a sentence."""
    # the logistic function; `tanh` does not overflow for the thousandth spot of a source
    return PRIORS[RuleClass.SENTENCE] * (1 + math.tanh((score - 1) / 2)) / 2


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
