"""What a pass proposes, held until the best of it can be chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import msgspec

from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.entities.entity import EntityCandidate
from reviewer.extraction.entities.extract import extract_entities
from reviewer.extraction.extract import Dropped, KnownText, cited_lines, extract
from reviewer.extraction.ranking import CAP, Ranked, base_score, rank
from reviewer.promotion.enqueue import Known
from reviewer.sources.records import Record, Shape

LIMIT = 5_000
"""Candidates kept in memory; when twice as many are there, the weaker half is let go."""

STRUCTURE = 0.6
"""From this prior on an entity rests on structure and takes the place of a memory candidate."""

MASK = "[masked "
"""How a masked secret begins in a text (`text/secrets.py`)."""


class Pool:
    """Runs both extractors over records and keeps what they find. Each record is looked at once."""

    def __init__(self, drop: Callable[[Dropped], None]) -> None:
        self._drop = drop
        self._known_text = KnownText()
        self._candidates: list[Candidate] = []
        self.sightings: list[tuple[int, Candidate]] = []
        """What the project knows already and this pass saw again, by memory id."""
        self.dropped: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._candidates)

    def draw(
        self, records: Iterable[Record], setting: Setting, fresh: set[str] | None = None
    ) -> None:
        """Propose from a source's records; only from those whose key is in `fresh` by then."""
        entities: list[EntityCandidate] = []
        for memory in extract(
            self._with_entities(records, setting, entities),
            setting,
            self._dropped,
            known=self._known_text,
        ):
            self._keep(memory, fresh)
        for entity in entities:
            self._keep(entity, fresh)

    def ranked(self, known: Known) -> Ranked:
        """Rank what is new to the project; what it knows already becomes a sighting instead."""
        found = list(self.facts())
        held = known.keys(found)
        new: list[Candidate] = []
        for candidate in found:
            number = held.get(known.key_of(candidate))
            if number is None:
                new.append(candidate)
            else:
                self.sightings.append((number, candidate))
        return rank(new, novelty=known.novelty, cap=CAP)

    def _with_entities(
        self, records: Iterable[Record], setting: Setting, found: list[EntityCandidate]
    ) -> Iterator[Record]:
        for record in records:
            found += extract_entities([record], setting, self._dropped, known=self._known_text)
            yield record

    def _dropped(self, dropped: Dropped) -> None:
        self.dropped[dropped.reason] += 1
        self._drop(dropped)

    def _keep(self, candidate: Candidate, fresh: set[str] | None) -> None:
        if fresh is not None and candidate.record.key not in fresh:
            return
        flags = set(candidate.flags) | ({"secret"} if MASK in candidate.content else set())
        self._candidates.append(
            msgspec.structs.replace(
                candidate, record=_without_text(candidate), flags=tuple(sorted(flags))
            )
        )
        if len(self._candidates) >= 2 * LIMIT:
            self._candidates.sort(key=base_score, reverse=True)
            self.dropped["over the pool"] += len(self._candidates) - LIMIT
            del self._candidates[LIMIT:]

    def facts(self) -> Iterator[Candidate]:
        """Everything proposed; of an entity and a memory drawn from the same words only one.

        A fact travels either path (`promotion-rules.md`, the promotion graph): structure makes it
        an entity at once, a sentence makes it a memory that may graduate.
        """
        entities: dict[str, list[EntityCandidate]] = {}
        memories: dict[str, list[Candidate]] = {}
        for candidate in self._candidates:
            if isinstance(candidate, EntityCandidate):
                entities.setdefault(candidate.record.key, []).append(candidate)
            else:
                memories.setdefault(candidate.record.key, []).append(candidate)
        for candidate in self._candidates:
            key = candidate.record.key
            if isinstance(candidate, EntityCandidate):
                rivals: list[Candidate] = memories.get(key, [])
                stays = candidate.prior >= STRUCTURE or not _overlapping(candidate, rivals)
            else:
                structured = [e for e in entities.get(key, []) if e.prior >= STRUCTURE]
                stays = not _overlapping(candidate, structured)
            if stays:
                yield candidate
            else:
                self._say_twice(candidate)

    def _say_twice(self, candidate: Candidate) -> None:
        reason = (
            "a memory says it" if isinstance(candidate, EntityCandidate) else "an entity says it"
        )
        first, last = cited_lines(candidate)
        self._dropped(
            Dropped(reason, candidate.content, candidate.rule, candidate.record.key, first, last)
        )


def _overlapping(candidate: Candidate, others: Iterable[Candidate]) -> bool:
    return any(
        other.span_start < candidate.span_end and candidate.span_start < other.span_end
        for other in others
    )


def _without_text(candidate: Candidate) -> Record:
    """The record as the pool keeps it: its text is in the store by then, its lines are those of
    the span.
    """
    first, last = cited_lines(candidate)
    return msgspec.structs.replace(
        candidate.record, text="", meta={}, headings=(), shape=Shape.TURN,
        line_start=first, line_end=last,
    )  # fmt: skip
