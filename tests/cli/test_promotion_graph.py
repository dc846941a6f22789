"""`graduate|conflict|state|supersede`, and the promotion graph in `queue`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Reviewer
from tests.unit.promotion.graph import write_adr


def adr(program: Reviewer, choice: str, number: int) -> None:
    path = write_adr(program.folder, choice, number)
    program.succeeds("--project", "acme", "ingest", path)


def show(program: Reviewer, number: int) -> dict[str, Any]:
    return program.rows("queue", "show", number)[0]


def said(program: Reviewer, *arguments: object) -> str:
    """The stderr of a successful call, which printed no data."""
    done = program(*arguments)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


@pytest.fixture
def rivals(reviewer: Reviewer) -> tuple[Reviewer, int, int, int]:
    """Two decisions for one slot, the first active, and their conflict."""
    adr(reviewer, "PostgreSQL", 1)
    (left,) = reviewer.ids("--filter", "kind:entity")
    said(reviewer, "promote", left)
    adr(reviewer, "SQLite", 2)
    (conflict,) = reviewer.ids("--filter", "kind:conflict")
    (right,) = reviewer.ids("--filter", "kind:entity")
    return reviewer, left, right, conflict


class TestTypesAndNames:
    def test_a_memory_becomes_an_entity_and_a_memory_again(self, reviewer: Reviewer) -> None:
        said(reviewer, "remember", "We use PostgreSQL for the ledger", "--type", "preference")
        words = ("edit", 1, "--type", "decision", "--name", "Ledger database", "--promote")
        line = said(reviewer, *words)
        assert "Edited and promoted #1: preference to decision, named Ledger database" in line
        row = show(reviewer, 1)
        assert (row["kind"], row["type"], row["status"]) == ("entity", "decision", "active")
        assert row["entity"]["name"] == "Ledger database"
        assert "restore 1" in reviewer.fails("edit", 1, "--type", "preference")
        said(reviewer, "undo")
        assert (show(reviewer, 1)["kind"], show(reviewer, 1)["status"]) == ("memory", "candidate")
        said(reviewer, "redo")
        said(reviewer, "restore", 1)
        said(reviewer, "edit", 1, "--type", "knowledge")
        assert "is like that already." in said(reviewer, "edit", 1, "--type", "knowledge")
        assert (show(reviewer, 1)["kind"], show(reviewer, 1)["entity"]) == ("memory", None)
        said(reviewer, "undo")
        assert show(reviewer, 1)["entity"]["name"] == "Ledger database"
        reviewer.nothing_lost()

    def test_a_retired_entity_is_gone_with_the_memory_that_it_was(self, reviewer: Reviewer) -> None:
        said(reviewer, "remember", "We use PostgreSQL for the ledger", "--type", "preference")
        said(reviewer, "promote", 1)
        said(reviewer, "graduate", 1, "--as", "decision")
        said(reviewer, "promote", 2)
        assert "Retired #2" in said(reviewer, "retire", 2)
        assert [show(reviewer, each)["status"] for each in (1, 2)] == ["invalid", "invalid"]
        assert reviewer.fails("retire", 2).endswith("#2 is already rejected. Nothing was changed.")
        said(reviewer, "undo")
        assert [show(reviewer, each)["status"] for each in (1, 2)] == ["graduated", "active"]
        reviewer.nothing_lost()

    def test_another_type_ends_a_conflict(self, rivals: tuple[Reviewer, int, int, int]) -> None:
        program, _, right, _ = rivals
        said(program, "edit", right, "--type", "knowledge")
        assert program.ids("--filter", "kind:conflict") == []
        program.nothing_lost()

    def test_what_was_retyped_is_not_proposed_again(self, reviewer: Reviewer) -> None:
        note = reviewer.folder / "notes.md"
        note.write_text("# Tills\n\n- [Decision] Drawers are opened by key only.\n", "utf-8")
        reviewer.rows("--project", "p", "ingest", note)
        (number,) = reviewer.ids("--project", "p")
        said(reviewer, "--project", "p", "edit", number, "--type", "preference")
        reviewer.rows("--project", "p", "ingest", "--again", note)
        assert reviewer.ids("--project", "p", "--status", "all") == [number]

    def test_what_cannot_be_changed_says_why(self, reviewer: Reviewer) -> None:
        said(reviewer, "remember", "Receipts are printed in black", "--type", "preference")
        said(reviewer, "remember", "Receipts are printed in black", "--type", "knowledge")
        assert "name what to change" in reviewer.fails("edit", 1, code=2)
        assert "There is no type" in reviewer.fails("edit", 1, "--type", "wish")
        assert "is not an entity" in reviewer.fails("edit", 1, "--name", "Receipts")
        words = ("Prices are in cents", "--type", "decision", "--name", "n" * 81)
        assert "has at most 80 characters" in reviewer.fails("remember", *words)
        assert "#2 (waiting, knowledge) says the same" in reviewer.fails(
            "edit", 1, "--type", "knowledge"
        )
        said(reviewer, "promote", 1)
        line = reviewer.fails("edit", 1, "--type", "decision")
        assert line.endswith("reviewer graduate 1 --as decision")
        reviewer.nothing_lost()


class TestEntities:
    def test_graduating_reports_the_entity_and_how_to_undo_it(self, ingested: Reviewer) -> None:
        memory = ingested.ids("--filter", "kind:memory")[0]
        said(ingested, "promote", memory, "--alone")
        line = said(ingested, "graduate", memory, "--as", "decision", "--name", "Receipts")
        entity = show(ingested, memory)["graduated_to"]
        assert line == (
            f"Graduated #{memory} to decision #{entity} - reviewer undo takes it back\n"
            f"Agents no longer get #{memory} until you promote #{entity}.\n"
        )
        shown = show(ingested, entity)
        assert shown["entity"]["name"] == "Receipts"
        assert shown["entity"]["graduated_from"] == memory
        assert shown["kind"] == "entity"
        assert ingested.ids("--status", "graduated") == [memory]

    def test_an_extracted_entity_shows_its_structure(self, reviewer: Reviewer) -> None:
        note = reviewer.folder / "hardware.md"
        note.write_text("# Hardware\n\npaper width = 80 mm\n", encoding="utf-8")
        reviewer.succeeds("ingest", note)
        (row,) = reviewer.rows("queue", "list", "--filter", "kind:entity")
        entity = show(reviewer, row["id"])["entity"]
        assert {(a["value"], a["unit"]) for a in entity["attributes"]} == {("80", "mm")}
        text = reviewer("queue", "show", row["id"]).stdout
        assert f"#{row['id']}  parameter  entity  candidate" in text
        assert "80 mm" in text

    def test_a_candidate_written_by_hand_is_marked_everywhere(self, reviewer: Reviewer) -> None:
        said(reviewer, "--project", "acme", "remember", "We ship on Mondays", "--type", "decision")
        (row,) = reviewer.rows("queue", "list")
        assert (row["hand_authored"], row["source"], row["flags"]) == (
            True, None, ["hand-authored"]
        )  # fmt: skip
        text = reviewer("queue", "show", row["id"]).stdout
        assert "none: written by hand" in text
        said(reviewer, "promote", row["id"])
        assert "written by hand" in reviewer("export").stdout
        assert "says the same" in reviewer.fails(
            "remember", "we ship on  Mondays.", "--type", "decision"
        )


class TestConflicts:
    def test_both_sides_are_shown_with_their_lines(
        self, rivals: tuple[Reviewer, int, int, int]
    ) -> None:
        program, left, right, conflict = rivals
        row = show(program, conflict)["conflict"]
        assert (row["id"], row["left"]["id"], row["right"]["id"]) == (conflict, left, right)
        assert (row["resolution"], row["slot"]) == (None, "decision:ledger database")
        assert row["left"]["source"]["path"] != row["right"]["source"]["path"]
        text = program("queue", "show", conflict).stdout
        assert "0001-ledger-database.md:11" in text
        assert "0002-ledger-database.md:11" in text
        assert f"#{left}" in text
        assert f"#{right}" in text
        assert program.ids()[0] == conflict
        assert show(program, left)["conflicts"] == [conflict]

    @pytest.mark.parametrize(
        ("how", "resolution", "standing"),
        [
            ("--keep", "superseded", ("superseded", "active")),
            ("--dismiss", "dismissed", ("active", "candidate")),
        ],
    )
    def test_each_way_of_settling(
        self,
        rivals: tuple[Reviewer, int, int, int],
        how: str,
        resolution: str,
        standing: tuple[str, str],
    ) -> None:
        program, left, right, conflict = rivals
        said(program, "conflict", conflict, how, *([right] if how == "--keep" else []))
        assert program.ids("--filter", "kind:conflict") == []
        assert show(program, conflict)["conflict"]["resolution"] == resolution
        assert (show(program, left)["status"], show(program, right)["status"]) == standing
        assert "already settled" in program.fails("conflict", conflict, "--dismiss")
        said(program, "undo")
        assert program.ids("--filter", "kind:conflict") == [conflict]
        program.nothing_lost()

    def test_agents_get_neither_side_while_both_are_promoted(
        self, rivals: tuple[Reviewer, int, int, int]
    ) -> None:
        program, left, right, conflict = rivals
        doors = (["packet"], ["export"], ["recall", "--prompt", "Which ledger database is used?"])

        def told() -> list[tuple[bool, bool]]:
            texts = [program(*door).stdout for door in doors]
            return [("PostgreSQL" in text, "SQLite" in text) for text in texts]

        assert told() == [(True, False)] * 3, "a candidate does not silence a memory"
        line = said(program, "promote", right)
        assert f"agents get neither side of #{conflict} until you settle it" in line
        assert told() == [(False, False)] * 3
        assert f"m:{left}: is one side of an open conflict" in program("packet").stderr
        assert sorted(program.ids("--status", "all", "--filter", "is:disputed")) == [left, right]
        said(program, "conflict", conflict, "--keep", right)
        assert told() == [(False, True)] * 3

    def test_a_way_of_settling_must_be_named(self, rivals: tuple[Reviewer, int, int, int]) -> None:
        program, left, right, conflict = rivals
        for extra in ((), ("--keep", right, "--dismiss")):
            assert "one of" in program.fails("conflict", conflict, *extra, code=2)
        assert "not a side" in program.fails("conflict", conflict, "--keep", conflict)
        assert "is not a conflict" in program.fails("conflict", left, "--dismiss")
        assert "is a conflict: settle it" in program.fails("promote", conflict)


class TestGoingBack:
    """Through the verbs; `tests/unit/promotion/test_reversibility.py` has every act."""

    def test_a_graduated_memory_names_its_entity_and_the_way_back(self, ingested: Reviewer) -> None:
        memory = ingested.ids("--filter", "kind:memory")[0]
        said(ingested, "promote", memory, "--alone")
        said(ingested, "graduate", memory, "--as", "component", "--name", "The printer")
        entity = show(ingested, memory)["graduated_to"]
        assert f"#{memory} is graduated to entity #{entity}." in ingested.fails("promote", memory)
        assert ingested.fails("restore", memory).endswith(f"reviewer reject {entity}")
        said(ingested, "promote", entity)
        line = ingested.fails("restore", memory)
        assert line.endswith(f"reviewer restore {entity}, then reviewer reject {entity}")
        said(ingested, "restore", entity)
        assert show(ingested, entity)["status"] == "candidate"
        said(ingested, "reject", entity)
        assert show(ingested, memory)["status"] == "active"
        ingested.nothing_lost()


class TestState:
    def test_it_is_typed_shown_and_ended(self, reviewer: Reviewer) -> None:
        note = reviewer.folder / "note.md"
        note.write_text("# Notes\n\nThe region is Ireland.\n", encoding="utf-8")
        said(reviewer, "--project", "acme", "state", "set", "region", "eu-west-1",
             "--note", "agreed in May", "--evidence", "note.md:3")  # fmt: skip
        (row,) = reviewer.rows("state", "show", "region")
        assert (row["project"], row["value"], row["note"]) == ("acme", "eu-west-1", "agreed in May")
        assert row["evidence"] == f"{note}:3"
        last = row["provenance"][-1]
        assert (last["layer"], last["line"], last["text"]) == ("L0", 2, "The region is Ireland.")
        text = reviewer("state", "show", "region").stdout
        assert "The region is Ireland." in text
        assert f"{note}:3" in text
        assert reviewer("state", "list").stdout == "region  eu-west-1\n"
        said(reviewer, "state", "unset", "region")
        assert reviewer.rows("state", "list") == []
        assert len(reviewer.rows("state", "list", "--all")) == 1
        assert 'no state "region"' in reviewer.fails("state", "unset", "region")
        assert "no state" in reviewer.fails("state", "show", "nothing")


class TestForesight:
    def test_hints_mark_rows_and_are_in_json(self, reviewer: Reviewer) -> None:
        for day in range(6):
            note = reviewer.folder / f"{day}.md"
            note.write_text(f"# Day {day}\n\nWe decided to keep the drawer closed at night.\n")
            reviewer.succeeds("ingest", note)
        (row,) = reviewer.rows("queue", "list")
        assert row["hints"] == [{"policy": "reference count", "text": "seen 6 times in 1 day"}]
        assert "★" in reviewer("queue", "list").stdout
        assert "seen 6 times in 1 day" in reviewer("queue", "show", row["id"]).stdout
        assert row["status"] == "candidate"


class TestTriggers:
    def test_proposing_again_from_what_was_read(self, reviewer: Reviewer) -> None:
        note = reviewer.folder / "note.md"
        note.write_text("# Notes\n\nWe decided to keep the drawer closed at night.\n")
        (report,) = reviewer.rows("ingest", note)
        assert report["new"] == 1
        (report,) = reviewer.rows("ingest", "--again", note)
        assert (report["new"], report["repeated"]) == (0, 1)
        assert reviewer.rows("queue", "list")[0]["seen"] == 2
        reviewer.nothing_lost(candidates=1)
