"""Writing of our own for the promotion graph: decision records, and what they become."""

from __future__ import annotations

from pathlib import Path

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from tests.stored import rows_of

ADR = """\
# {number}. Ledger database

Date: 2026-01-{number:02}

## Status

Accepted

## Decision

Chosen option: "{choice}", because two writers have to work at once.
"""


def write_adr(folder: Path, choice: str, number: int = 1) -> Path:
    """A decision record that fills the slot `ledger database`."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{number:04}-ledger-database.md"
    path.write_text(ADR.format(number=number, choice=choice), encoding="utf-8")
    return path


def ids(engine: Engine, filter: str = "", status: str = "all") -> list[int]:  # noqa: A002
    """The rows that match, by id."""
    return sorted(engine.queue.ids(QueueQuery(status=status, filter=filter)))


def contents(engine: Engine) -> set[str]:
    """What all rows say, decided or not."""
    return {row.content for row in engine.queue.rows(engine.queue.ids(QueueQuery(status="all")))}


def entity_of(engine: Engine, word: str) -> int:
    """The one entity whose wording holds a word."""
    (found,) = ids(engine, f"kind:entity {word}")
    return found


def two_rivals(engine: Engine, folder: Path) -> tuple[int, int, int]:
    """Two decisions for one slot, the first one active: their ids and that of the conflict."""
    engine.intake.ingest([write_adr(folder, "PostgreSQL", 1)], project="acme")
    engine.triage.promote([entity_of(engine, "postgresql")])
    engine.intake.ingest([write_adr(folder, "SQLite", 2)], project="acme")
    (conflict,) = ids(engine, "kind:conflict")
    return entity_of(engine, "postgresql"), entity_of(engine, "sqlite"), conflict


def an_active_memory(engine: Engine, text: str = "Deploys need two approvals on Fridays") -> int:
    """A memory that a person wrote and accepted."""
    return engine.entities.author("acme", "preference", text, promote=True).ids[0]


def dump(engine: Engine, table: str) -> list[tuple[object, ...]]:
    """Every row of a table, as it is."""
    return rows_of(engine.path, f"SELECT * FROM {table} ORDER BY id")
