"""`promote|reject|defer|restore|merge|edit`, `undo|redo|history|verify`: one call is one act."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Reviewer


def status_of(program: Reviewer, memory: int) -> str:
    return str(program.rows("queue", "show", memory)[0]["status"])


@pytest.mark.parametrize(("verb", "status"), [("promote", "active"), ("reject", "invalid")])
def test_several_ids_are_one_act(seeded: Reviewer, verb: str, status: str) -> None:
    ids = seeded.ids("--limit", 3)
    acts = len(seeded.rows("history"))
    done = seeded(verb, *ids, "--alone")
    assert (done.returncode, done.stdout) == (0, "")
    assert "reviewer undo" in done.stderr
    assert len(seeded.rows("history")) == acts + 1
    assert [status_of(seeded, memory) for memory in ids] == [status] * 3
    seeded.succeeds("undo")
    assert [status_of(seeded, memory) for memory in ids] == ["candidate"] * 3
    seeded.succeeds("redo")
    assert [status_of(seeded, memory) for memory in ids] == [status] * 3
    seeded.nothing_lost()


def test_an_id_may_carry_its_hash_sign(seeded: Reviewer) -> None:
    memory = seeded.ids()[0]
    seeded.succeeds("promote", f"#{memory}")
    assert status_of(seeded, memory) == "active"


def test_edit_reads_a_file_and_promotes_when_asked(seeded: Reviewer) -> None:
    first, second = seeded.ids("--limit", 2)
    wording = seeded.folder / "wording.txt"
    wording.write_text("Deploys need two approvals\n", encoding="utf-8")
    seeded.succeeds("edit", first, "--content-file", wording)
    assert status_of(seeded, first) == "candidate"
    wording.write_text("Backups are tested every Monday\n", encoding="utf-8")
    seeded.succeeds("edit", second, "--content-file", wording, "--promote")
    shown = seeded.rows("queue", "show", second)[0]
    assert (shown["status"], shown["content"]) == ("active", "Backups are tested every Monday")


def test_history_is_oldest_first_in_json_and_newest_first_for_people(seeded: Reviewer) -> None:
    for memory in seeded.ids("--limit", 3):
        seeded("defer", memory)
    ids = [act["id"] for act in seeded.rows("history")]
    assert ids == sorted(ids)
    assert [act["id"] for act in seeded.rows("history", "--limit", 2)] == ids[-2:]
    shown = [int(line.split()[0]) for line in seeded("history").stdout.splitlines()]
    assert shown == sorted(ids, reverse=True)


def test_history_show_lists_the_changes(seeded: Reviewer) -> None:
    memory = seeded.ids()[0]
    seeded("promote", memory, "--alone")
    act = seeded.rows("history")[-1]
    changes = seeded.rows("history", "show", act["id"])
    assert len(changes) == act["rows"]
    changed = next(c for c in changes if (c["table"], c["row"]) == ("memory", memory))
    assert (changed["before"]["status"], changed["after"]["status"]) == ("candidate", "active")
    assert "status: candidate -> active" in seeded("history", "show", act["id"]).stdout


@pytest.mark.parametrize("verb", ["edit", "restore", "defer"])
def test_what_changes_nothing_says_so_and_offers_no_undo(seeded: Reviewer, verb: str) -> None:
    first, second = seeded.ids("--limit", 2)
    seeded.succeeds("reject", first)
    wording = seeded.folder / "wording.txt"
    wording.write_text(seeded.rows("queue", "show", second)[0]["content"], encoding="utf-8")
    arguments = ["edit", second, "--content-file", wording] if verb == "edit" else [verb, second]
    if verb == "defer":
        seeded.succeeds("defer", second)
    acts = seeded.rows("history")
    done = seeded.succeeds(*arguments)
    assert f"#{second} is " in done.stderr
    assert "already." in done.stderr
    assert "takes it back" not in done.stderr
    assert seeded.rows("history") == acts


def test_a_memory_is_replaced_and_not_merged(seeded: Reviewer) -> None:
    first, second = seeded.ids()[:2]
    seeded.succeeds("promote", first, second, "--alone")
    said = seeded.fails("merge", first, "--into", second)
    assert f"reviewer supersede {first} --by {second}" in said
    seeded.succeeds("supersede", first, "--by", second)
