"""A store with a few candidates whose numbers are known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewer.engine import Engine
from reviewer.store.acts import Scope
from tests.stored import planted

StatusOf = Callable[[int], str]

QueueUp = Callable[..., list[int]]

NOTE = """\
# Ledger notes

## Decision: PostgreSQL 16 for the ledger

We decided to use PostgreSQL 16 for the ledger instead of SQLite, because two writers block.

## Retries

- **Lesson:** the double booking was a retry without an idempotency key in the webhook sender.
"""


@pytest.fixture
def queue_up(engine: Engine) -> QueueUp:
    """Queue candidates by wording; `behind` maps a wording to that of its leader."""

    def fill(*contents: str, behind: dict[str, str] | None = None) -> list[int]:
        ids: dict[str, int] = {}
        with planted(engine.path, "queue", scope=Scope.INTAKE) as act:
            projects = act.query("SELECT id FROM project")
            project = projects[0][0] if projects else act.insert("project", name="acme")
            for number, content in enumerate(contents):
                ids[content] = act.insert(
                    "memory",
                    project_id=project,
                    type="project",
                    content=content,
                    key=content.lower(),
                    status="candidate",
                    rule="sentence.decided",
                    need="decision",
                    proposer="notes",
                    excerpt=0,
                    extractor_version="test",
                    prior=0.5,
                    signal=1.0,
                    freshness=1.0,
                    confidence=0.5,
                    rank=1.0 - number / 100,
                    leader_id=ids[behind[content]] if behind and content in behind else None,
                    first_seen="2026-03-01T00:00:00.000Z",
                    last_seen="2026-03-01T00:00:00.000Z",
                    pending_since="2026-03-01T00:00:00.000Z",
                )
        return list(ids.values())

    return fill


@pytest.fixture
def status(engine: Engine) -> StatusOf:
    return lambda number: str(engine.queue.candidate(number).status)
