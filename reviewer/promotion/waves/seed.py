"""Generated candidates in any number, for trying the program with very large stores."""

from __future__ import annotations

import random

from reviewer.clock import Clock, iso
from reviewer.promotion.rows.evidence_rows import record_image, wave_row
from reviewer.promotion.rows.memory_rows import new_columns
from reviewer.promotion.views import Done
from reviewer.proposing.values import Proposer
from reviewer.sources.records import Record, Role
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


def seed(ledger: Ledger, clock: Clock, count: int, *, project: str) -> Done:
    """Queue `count` candidates with evidence, in acts of BATCH."""
    source = random.Random(count)  # noqa: S311 - the same candidates every time
    first_act = 0
    for number in range(0, count, BATCH):
        size = min(BATCH, count - number)
        with ledger.act("seed", f"Seeded {size} candidates", scope=Scope.INTAKE) as act:
            _write(act, project, range(number, number + size), source, iso(clock()))
        first_act = first_act or act.id
    return Done(first_act, f"Seeded {count} candidates", ())


def _write(act: Act, project: str, numbers: range, source: random.Random, now: str) -> None:
    project_id = project_row(act, project)
    wave = wave_row(act, project_id, [], now)
    file = act.insert(
        "source", project_id=project_id, path=f"dev-seed/{wave}-{numbers.start}", format="seed",
        bytes=0, modified_ns=0, wave_id=wave, tally="{}",
    )  # fmt: skip
    wordings = [_wording(number, source) for number in numbers]
    memories = [_memory(*each, source, now) for each in wordings]
    texts = [
        ". ".join(str(each["content"]) for each in memories[start : start + RECORD_OF])
        for start in range(0, len(memories), RECORD_OF)
    ]
    records = [
        Record(
            key=f"seed:{wave}:{numbers.start + RECORD_OF * at}", line_start=at, line_end=at + 1,
            byte_start=0, byte_end=0, sha256="", role=Role.USER if at % 3 else Role.ASSISTANT,
            text=text,
        )
        for at, text in enumerate(texts)
    ]  # fmt: skip
    where = {"project_id": project_id, "wave_id": wave}
    first_record = act.insert_many(
        "record", [record_image(each, source_id=file, **where) for each in records]
    ).start
    first_memory = act.insert_many("memory", [{**each, **where} for each in memories]).start
    evidence: list[Image] = []
    for at, each in enumerate(memories):
        record, text = first_record + at // RECORD_OF, texts[at // RECORD_OF]
        start = text.index(str(each["content"]))
        evidence.append(
            {
                "memory_id": first_memory + at, "record_id": record, "span_start": start,
                "span_end": start + len(str(each["content"])), "rule": each["rule"],
                "extractor_version": "seed",
            }
        )  # fmt: skip
    act.insert_many("evidence", evidence)


def _wording(number: int, source: random.Random) -> tuple[str, str, str]:
    """The type, the rule and the text of a candidate."""
    type_, rule, shape = _FINDINGS[number % len(_FINDINGS)]
    text = shape.format(source.choice(_MEANS), source.choice(_SUBJECTS), source.choice(_SUBJECTS))
    return type_, rule, f"{text[0].upper()}{text[1:]} (case {number})"


def _memory(type_: str, rule: str, text: str, source: random.Random, now: str) -> Image:
    prior, signal = 0.7 if rule.startswith("heading") else 0.5, source.choice((0.9, 1.0, 1.1))
    columns = new_columns(
        type_, text, rule=rule, version="seed", proposer=Proposer.NOTES,
        rank=round(prior * signal * 1.05 * source.random(), 6),
        prior=prior, signal=signal, freshness=1.05,
    )  # fmt: skip
    times = {"first_seen": now, "last_seen": now, "pending_since": now}
    return {**columns, **times, "status": "candidate"}
