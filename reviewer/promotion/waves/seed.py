"""Generated candidates in any number, for trying the program with very large stores."""

from __future__ import annotations

import random
from collections.abc import Iterator

from reviewer.clock import Clock, iso
from reviewer.promotion.rows.entity_rows import new_columns
from reviewer.promotion.rows.evidence_rows import wave_row
from reviewer.promotion.views import Done
from reviewer.proposing.values import Proposer
from reviewer.store.acts import Act, Scope
from reviewer.store.changes import Image
from reviewer.store.ledger import Ledger
from reviewer.store.project_rows import project_row

BATCH = 20_000
"""Candidates per act."""

RECORD_OF = 20
"""Candidates that share a record."""

_SUBJECTS = (
    "the ledger export", "nightly migrations", "the retry queue", "invoice rounding",
    "the staging bucket", "webhook delivery", "session tokens", "the search index",
    "rate limiting", "the audit log", "feature flags", "currency conversion",
)  # fmt: skip
_FINDINGS = (
    ("project", "sentence.decided", "We decided to use {0} for {1} instead of {2}"),
    ("knowledge", "sentence.root_cause", "The root cause was {0} inside {1}, not {2}"),
    ("preference", "sentence.prefer", "I prefer {0} over {2} whenever {1} changes"),
    ("adaptation", "sentence.always", "Always run {1} with {0} before {2} is deployed"),
    ("project", "heading.decision", "{1} moves to {0} before {2} ships"),
    ("episodic", "sentence.turned_out", "It turned out that {1} depends on {0}, not on {2}"),
)
_MEANS = (
    "PostgreSQL 16", "a single writer", "idempotency keys", "httpx", "advisory locks",
    "feature branches", "a read replica", "structured logging", "UUIDv7", "a 30 s timeout",
    "content hashes", "batched commits", "a dead-letter table", "strict mypy",
)  # fmt: skip


class Seeder:
    """Writes generated candidates through the ledger, like any other."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock

    def seed(self, count: int, *, project: str) -> Done:
        """Queue `count` candidates with evidence, in acts of BATCH."""
        source = random.Random(count)  # noqa: S311 - the same candidates every time
        now = iso(self._clock())
        first_act, number = 0, 0
        while number < count:
            size = min(BATCH, count - number)
            with self._ledger.act("seed", f"Seeded {size} candidates", scope=Scope.INTAKE) as act:
                wave, where = _start(act, project, now, number)
                contents = [_content(number + i, source) for i in range(size)]
                records = act.insert_many("record", _records(contents, where, wave, number))
                memories = act.insert_many(
                    "memory", list(_memories(contents, where["project_id"], wave, now, source))
                )
                act.insert_many("evidence", list(_evidence(contents, memories, records)))
            first_act = first_act or act.id
            number += size
        return Done(first_act, f"Seeded {count} candidates", ())


def _content(number: int, source: random.Random) -> tuple[str, str, str]:
    type_, rule, shape = _FINDINGS[number % len(_FINDINGS)]
    text = shape.format(source.choice(_MEANS), source.choice(_SUBJECTS), source.choice(_SUBJECTS))
    return type_, rule, f"{text[0].upper()}{text[1:]} (case {number})"


def _start(act: Act, project: str, now: str, number: int) -> tuple[int, Image]:
    project_id = project_row(act, project)
    wave = wave_row(act, project_id, [], now)
    source = act.insert(
        "source",
        project_id=project_id,
        path=f"dev-seed/{wave}-{number}",
        format="seed",
        bytes=0,
        modified_ns=0,
        wave_id=wave,
        tally="{}",
    )
    return wave, {"project_id": project_id, "source_id": source}


def _records(
    contents: list[tuple[str, str, str]], where: Image, wave: int, number: int
) -> list[Image]:
    return [
        {
            **where,
            "wave_id": wave,
            "key": f"seed:{wave}:{number + start}",
            "line_start": start // RECORD_OF,
            "line_end": start // RECORD_OF + 1,
            "byte_start": 0,
            "byte_end": 0,
            "sha256": "",
            "role": "user" if start % 3 else "assistant",
            "use": "said",
            "shape": "turn",
            "text": ". ".join(text for _, _, text in contents[start : start + RECORD_OF]),
        }
        for start in range(0, len(contents), RECORD_OF)
    ]


def _memories(
    contents: list[tuple[str, str, str]],
    project_id: object,
    wave: int,
    now: str,
    source: random.Random,
) -> Iterator[Image]:
    assert isinstance(project_id, int)
    for type_, rule, text in contents:
        prior = 0.7 if rule.startswith("heading") else 0.5
        signal = source.choice((0.9, 1.0, 1.1))
        columns = new_columns(
            type_, text, rule=rule, version="seed", proposer=Proposer.NOTES,
            rank=round(prior * signal * 1.05 * source.random(), 6),
            prior=prior, signal=signal, freshness=1.05,
        )  # fmt: skip
        yield {
            **columns,
            "project_id": project_id,
            "wave_id": wave,
            "status": "candidate",
            "first_seen": now,
            "last_seen": now,
            "pending_since": now,
        }


def _evidence(
    contents: list[tuple[str, str, str]], memories: range, records: range
) -> Iterator[Image]:
    start = 0
    for i, (_, rule, text) in enumerate(contents):
        if i % RECORD_OF == 0:
            start = 0
        yield {
            "memory_id": memories[i],
            "record_id": records[i // RECORD_OF],
            "span_start": start,
            "span_end": start + len(text),
            "rule": rule,
            "extractor_version": "seed",
        }
        start += len(text) + 2
