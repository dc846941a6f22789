"""Every kind of promotion can be undone on the command line (`docs/design.md`, Promotion)."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Reviewer


def status_of(program: Reviewer, number: int) -> str:
    return str(program.rows("queue", "show", number)[0]["status"])


def of_kind(program: Reviewer, kind: str) -> int:
    return program.ids("--kind", kind)[0]


def done(program: Reviewer, *arguments: object) -> None:
    finished = program(*arguments)
    assert finished.returncode == 0, finished.stderr


def graduated(program: Reviewer) -> tuple[int, int]:
    """A memory and the entity candidate that it was graduated to."""
    memory = of_kind(program, "memory")
    done(program, "promote", memory, "--alone")
    done(program, "graduate", memory, "--as", "component", "--name", "The printer")
    return memory, program.rows("queue", "show", memory)[0]["graduated_to"]


def test_candidates_that_were_written_are_deleted_by_undoing_the_wave(ingested: Reviewer) -> None:
    before = ingested.ids("--status", "all")
    (act,) = [a["id"] for a in ingested.rows("history") if a["kind"] == "ingest"]
    done(ingested, "undo", act)
    assert ingested.ids("--status", "all") == []
    done(ingested, "redo")
    assert ingested.ids("--status", "all") == before
    ingested.nothing_lost()


@pytest.mark.parametrize("kind", ["memory", "entity"])
@pytest.mark.parametrize(("verb", "status"), [("promote", "active"), ("reject", "invalid")])
@pytest.mark.parametrize("back", ["undo", "restore"])
def test_a_decided_candidate_is_put_back(
    ingested: Reviewer, kind: str, verb: str, status: str, back: str
) -> None:
    number = of_kind(ingested, kind)
    (before,) = ingested.rows("queue", "show", number)
    done(ingested, verb, number, "--alone")
    assert status_of(ingested, number) == status
    done(ingested, back, *([number] if back == "restore" else []))
    (after,) = ingested.rows("queue", "show", number)
    if back == "restore":  # the near duplicates that were left alone have a row of their own
        after["members"] = before["members"]
    assert after == before
    ingested.nothing_lost()


def test_undoing_a_graduation_deletes_the_entity_candidate_only(ingested: Reviewer) -> None:
    memory, entity = graduated(ingested)
    assert (status_of(ingested, memory), status_of(ingested, entity)) == ("graduated", "candidate")
    total = len(ingested.ids("--status", "all"))
    done(ingested, "undo")
    assert status_of(ingested, memory) == "active"
    assert f"#{entity}" in ingested.fails("queue", "show", entity)
    assert len(ingested.ids("--status", "all")) == total - 1
    ingested.nothing_lost()


def test_a_graduated_memory_names_its_entity_and_the_way_back(ingested: Reviewer) -> None:
    memory, entity = graduated(ingested)
    assert f"#{memory} is graduated to entity #{entity}." in ingested.fails("promote", memory)
    assert ingested.fails("restore", memory).endswith(f"reviewer reject {entity}")
    done(ingested, "promote", entity)
    line = ingested.fails("restore", memory)
    assert line.endswith(f"reviewer restore {entity}, then reviewer reject {entity}")
    done(ingested, "restore", entity)
    done(ingested, "reject", entity)
    assert status_of(ingested, memory) == "active"
    ingested.nothing_lost()


def test_an_entity_that_was_promoted_is_a_candidate_again(ingested: Reviewer) -> None:
    _, entity = graduated(ingested)
    done(ingested, "promote", entity)
    done(ingested, "restore", entity)
    assert status_of(ingested, entity) == "candidate"


def test_an_active_entity_is_superseded_by_a_new_active_one(ingested: Reviewer) -> None:
    _, old = graduated(ingested)
    done(ingested, "promote", old)
    done(ingested, "add", "component", "The new printer prints on both sides", "--name", "Duplex")
    (new,) = ingested.ids("--filter", "sides")
    done(ingested, "supersede", old, "--by", new)
    shown = ingested.rows("queue", "show", old)[0]
    assert (shown["status"], shown["superseded_by"]) == ("superseded", new)
    assert status_of(ingested, new) == "active"
    done(ingested, "undo")
    assert (status_of(ingested, old), status_of(ingested, new)) == ("active", "candidate")
    ingested.nothing_lost()


def test_curating_trusted_state_keeps_the_old_row(ingested: Reviewer) -> None:
    for value in ("80 mm", "58 mm"):
        done(ingested, "state", "set", "paper width", value)
    rows = ingested.rows("state", "list", "--all")
    assert [row["value"] for row in rows] == ["58 mm", "80 mm"]
    assert rows[1]["superseded_by"] == rows[0]["id"]
    done(ingested, "undo")
    (row,) = ingested.rows("state", "list")
    assert (row["value"], row["ended_at"]) == ("80 mm", None)
    ingested.nothing_lost()
