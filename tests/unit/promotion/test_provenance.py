"""Provenance: what a row carries from its source, which nothing ever overwrites."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from tests.present import present
from tests.unit.promotion.conftest import NOTE
from tests.unit.promotion.graph import an_active_memory, dump, ids, write_adr
from tests.unit.sources.builders import put

INHERITED = (
    "id", "kind", "type", "content", "project", "rule", "extractor_version", "prior", "signal",
    "freshness", "confidence", "rank", "flags", "sessions", "first_seen", "pending_since",
    "source", "refs", "last_seen",
)  # fmt: skip
"""What `CandidateView` shows of a row besides where it stands."""


@pytest.fixture
def ingested(engine: Engine, tmp_path: Path) -> Path:
    path = put(tmp_path, "ledger-notes.md", NOTE)
    engine.intake.ingest([path], project="acme")
    return path


def carried(engine: Engine, number: int) -> dict[str, object]:
    view = engine.queue.candidate(number)
    return {name: getattr(view, name) for name in INHERITED}


@pytest.mark.parametrize(
    "act", ["promote", "reject", "defer", "restore", "edit", "graduate", "supersede"]
)
def test_no_act_ever_changes_what_a_row_came_from(engine: Engine, ingested: Path, act: str) -> None:
    number = next(n for n in ids(engine) if engine.queue.candidate(n).kind == "memory")
    before, evidence = carried(engine, number), dump(engine, "evidence")
    if act == "edit":
        engine.triage.edit(number, "Other words for the same fact")
        before["content"] = "Other words for the same fact"
    elif act == "graduate":
        engine.triage.promote([number])
        engine.entities.graduate(number, "decision")
    elif act == "supersede":
        engine.triage.promote([number])
        engine.triage.supersede(number, an_active_memory(engine))
    else:
        getattr(engine.triage, act)([number])
    assert carried(engine, number) == before
    assert dump(engine, "evidence")[: len(evidence)] == evidence


def test_an_entity_out_of_a_memory_carries_its_fields_and_its_evidence(
    engine: Engine, ingested: Path
) -> None:
    number = next(n for n in ids(engine) if engine.queue.candidate(n).kind == "memory")
    engine.triage.promote([number])
    entity, _ = engine.entities.graduate(number, "result").ids
    memory, carrier = carried(engine, number), carried(engine, entity)
    for field in set(INHERITED) - {"id", "kind", "type", "pending_since"}:
        assert carrier[field] == memory[field], field
    assert [
        (e.record.id, e.span_start, e.span_end, e.rule) for e in engine.queue.evidence(entity)
    ] == [(e.record.id, e.span_start, e.span_end, e.rule) for e in engine.queue.evidence(number)]


def test_a_merged_row_keeps_all_sources(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("one", "two", "three"):
        (folder / f"{name}.md").write_text(
            f"# Notes {name}\n\nWe decided to keep the drawer closed until the terminal answers.\n"
        )
        engine.intake.ingest([folder], project="acme")
    (number,) = ids(engine, "drawer")
    engine.entities.author("acme", "project", "We keep the drawer shut")
    (other,) = ids(engine, "shut")
    engine.triage.merge([other], number)
    engine.triage.promote([number])
    paths = {str(path) for path in folder.iterdir()}
    assert {e.record.path for e in engine.queue.evidence(number)} == paths
    assert {step.path for step in engine.provenance.of(number) if step.layer == "L0"} == paths
    (item,) = engine.exports.items("acme")
    assert {source.path for source in item.sources} == paths
    assert engine.queue.candidate(number).seen == 4


def test_the_way_walks_through_every_layer(engine: Engine, ingested: Path) -> None:
    number = next(n for n in ids(engine, "idempotency"))
    engine.triage.edit(number, "Retries need an idempotency key")
    entity, _ = engine.entities.graduate(number, "requirement").ids
    engine.triage.promote([entity])
    steps = engine.provenance.of(entity)
    assert [step.layer for step in steps] == ["L2", "L1", "L1", "L0"]
    assert [step.title.split(" · ")[-1] for step in steps[:2]] == ["active", "graduated"]
    assert steps[1].text == "Retries need an idempotency key"
    assert "double booking" in steps[2].text
    assert (
        "double booking" in ingested.read_text(encoding="utf-8").split("\n")[present(steps[3].line)]
    )


def test_evidence_that_is_gone_by_now_is_said(engine: Engine, tmp_path: Path) -> None:
    path = write_adr(tmp_path / "adr", "PostgreSQL")
    engine.state.set("acme", "db", "PostgreSQL", evidence=f"{path}:3")
    Path(path).unlink()
    assert str(path) in engine.provenance.of_state(engine.state.all()[0])[-1].text


@pytest.mark.parametrize("line", ["gone.md:3", "{path}:900"])
def test_evidence_that_is_not_there_is_refused(engine: Engine, tmp_path: Path, line: str) -> None:
    path = write_adr(tmp_path / "adr", "PostgreSQL")
    with pytest.raises(ReviewerError, match="Name existing evidence"):
        engine.state.set("acme", "db", "PostgreSQL", evidence=line.format(path=path))
    assert engine.state.all() == []
