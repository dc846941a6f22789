"""What a pass proposes, held until the best of it can be chosen."""

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
from reviewer.promotion.reading import light
from reviewer.sources.records import Record

LIMIT = 5_000
"""Candidates kept in memory; when twice as many are there, the weaker half goes to the report,
beyond the cap, from where it can be called up.
"""

STRUCTURE = 0.6
"""From this prior on an entity rests on structure and takes the place of a memory candidate."""


class Pool:
    """Hears what both extractors say of records and keeps what they propose.

    `drop` hears of what is not proposed, `overflow` gets what the pool has no room for.
    """

    def __init__(
        self, drop: Callable[[Dropped], None], overflow: Callable[[Candidate], None]
    ) -> None:
        self._drop = drop
        self._overflow = overflow
        self._newest = ""
        self.overflowed = 0
        """Candidates handed to `overflow`."""
        self._known_text = KnownText()
        self._drawn: list[Candidate] = []
        """What was said of the source that is being read."""
        self._room = LIMIT
        """So much of it may be drawn before what is finished is settled."""
        self._candidates: list[Candidate] = []
        self.sightings: list[tuple[int, Candidate]] = []
        """What the project knows already and this pass saw again, by memory id."""
        self.dropped: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._candidates)

    def draw(self, records: Iterable[Record], setting: Setting) -> None:
        """Propose from a source's records."""
        found = Judge(setting)
        for record in records:
            self.hear(found.feed(record), None)
        self.hear(found.finish(), None)
        self.settle(None)

    def hear(self, events: Iterable[Event], fresh: Container[str] | None) -> None:
        """Take in what the extractors say of a source; only that of records in `fresh` counts."""
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
                self._drawn.append(outcome)
                memory = not isinstance(outcome, EntityCandidate)
                if memory and len(self._drawn) >= self._room:
                    # The memory extractor is one record behind the other.
                    self._settle(fresh, {outcome.record.key, self._newest})
                    # One record may say more than there is room for.
                    self._room = max(LIMIT, 2 * len(self._drawn))

    def settle(self, fresh: Container[str] | None) -> None:
        """The source is at its end: what was drawn from it counts."""
        self._settle(fresh, set())

    def give_up(self) -> None:
        """The source broke off: what was drawn from it, and has not settled yet, is forgotten."""
        self._drawn.clear()

    def facts(self) -> list[Candidate]:
        """Everything proposed."""
        return self._candidates

    def ranked(self, known: Known) -> Ranked:
        """Rank what is new to the project; what it knows already becomes a sighting instead."""
        held = known.keys(self._candidates)
        new: list[Candidate] = []
        for candidate in self._candidates:
            number = held.get(known.key_of(candidate))
            if number is None:
                new.append(candidate)
            else:
                self.sightings.append((number, candidate))
        return rank(new, novelty=known.novelty, cap=CAP)

    def _dropped(self, dropped: Dropped) -> None:
        self.dropped[dropped.reason] += 1
        self._drop(dropped)

    def _settle(self, fresh: Container[str] | None, unfinished: set[str]) -> None:
        """Move what was drawn into the pool, but for that of records still being read."""
        done = [each for each in self._drawn if each.record.key not in unfinished]
        self._drawn = [each for each in self._drawn if each.record.key in unfinished]
        for candidate in _each_fact_once(done, self._say_twice):
            if fresh is None or candidate.record.key in fresh:
                self._candidates.append(light(candidate))
        if len(self._candidates) >= 2 * LIMIT:
            self._candidates.sort(key=base_score, reverse=True)
            for weak in self._candidates[LIMIT:]:
                self._overflow(weak)
            self.overflowed += len(self._candidates) - LIMIT
            del self._candidates[LIMIT:]

    def _say_twice(self, candidate: Candidate) -> None:
        reason = (
            "a memory says it" if isinstance(candidate, EntityCandidate) else "an entity says it"
        )
        first, last = cited_lines(candidate)
        self._dropped(
            Dropped(reason, candidate.content, candidate.rule, candidate.record.key, first, last)
        )


def _each_fact_once(
    candidates: list[Candidate], twice: Callable[[Candidate], None]
) -> Iterator[Candidate]:
    """Where an entity and a memory were drawn from the same words, the one that stays.

    A fact travels either path (`promotion-rules.md`, the promotion graph): structure makes it an
    entity at once, a sentence makes it a memory that may graduate.
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
        if spans is not None and spans.touch(candidate):
            twice(candidate)
        else:
            yield candidate


class _Spans:
    """Where candidates of one record stand; asking costs little, however many they are."""

    def __init__(self, candidates: list[Candidate]) -> None:
        spans = sorted((each.span_start, each.span_end) for each in candidates)
        self._starts = [start for start, _ in spans]
        self._ends = list(accumulate((end for _, end in spans), max))
        """The largest end so far."""

    def touch(self, candidate: Candidate) -> bool:
        """Whether one of them shares a character with a candidate."""
        before = bisect_left(self._starts, candidate.span_end)
        return before > 0 and candidate.span_start < self._ends[before - 1]
