"""What a pass proposes, held until the best of it can be chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.entities.entity import EntityCandidate
from reviewer.extraction.extract import cited_lines
from reviewer.extraction.findings import Findings
from reviewer.extraction.judged import Began, Dropped, Event, KnownText, Remembered
from reviewer.extraction.ranking import CAP, Ranked, base_score, rank
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
        self._candidates: list[Candidate] = []
        self.sightings: list[tuple[int, Candidate]] = []
        """What the project knows already and this pass saw again, by memory id."""
        self.dropped: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._candidates)

    def draw(self, records: Iterable[Record], setting: Setting) -> None:
        """Propose from a source's records."""
        found = Findings(setting)
        for record in records:
            self.hear(found.feed(record), None)
        self.hear(found.finish(), None)
        self.settle(None)

    def hear(self, events: Iterable[Event], fresh: set[str] | None) -> None:
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
                if memory and len(self._drawn) >= LIMIT:
                    # The memory extractor is one record behind the other.
                    self._settle(fresh, {outcome.record.key, self._newest})

    def settle(self, fresh: set[str] | None) -> None:
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

    def _settle(self, fresh: set[str] | None, unfinished: set[str]) -> None:
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
        kind = entities if isinstance(candidate, EntityCandidate) else memories
        kind.setdefault(candidate.record.key, []).append(candidate)
    for candidate in candidates:
        key = candidate.record.key
        if isinstance(candidate, EntityCandidate):
            rivals = memories.get(key, []) if candidate.prior < STRUCTURE else []
        else:
            rivals = [each for each in entities.get(key, []) if each.prior >= STRUCTURE]
        if _overlapping(candidate, rivals):
            twice(candidate)
        else:
            yield candidate


def _overlapping(candidate: Candidate, others: Iterable[Candidate]) -> bool:
    return any(
        other.span_start < candidate.span_end and candidate.span_start < other.span_end
        for other in others
    )
