"""`reviewer fleet collapse`: what is counted once, what leads, and the same bytes every time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fleet.conftest import FACTS, Fleet, rows


def by_words(candidates: list[dict[str, Any]], words: str) -> dict[str, Any]:
    """The one candidate that says these words."""
    (found,) = [row for row in candidates if words in row["content"]]
    return found


def test_what_most_sessions_and_authors_say_comes_first(fleet: Fleet) -> None:
    for number in range(5):
        fleet.session(f"a{number}.jsonl", FACTS[0], author=f"person{number % 2}")
    for number in range(3):
        fleet.session(f"b{number}.jsonl", FACTS[1], author="person0")
    fleet.session("c.jsonl", FACTS[2])
    fleet.run()
    found = fleet.candidates()
    counts = [(row["seen"], row["sessions"], row["authors"]) for row in found[:3]]
    assert counts == [(5, 5, 2), (3, 3, 1), (1, 1, 1)]
    assert [FACTS[n] in found[n]["content"] for n in range(3)] == [True] * 3
    fleet.ok("collapse", fleet.parts, "--top", 2)
    assert len(rows(fleet.parts / "candidates.parquet")) == 2


def test_a_resumed_or_copied_session_counts_once(fleet: Fleet) -> None:
    fleet.session("first.jsonl", FACTS[0], FACTS[1], session="one", ids="same")
    fleet.session("resumed.jsonl", FACTS[0], FACTS[1], FACTS[2], session="two", ids="same")
    fleet.session("backup/first.jsonl", FACTS[0], FACTS[1], session="one", ids="same")
    fleet.run("--part-files", 1)
    found = fleet.candidates()
    for fact in FACTS[:2]:
        row = by_words(found, fact)
        assert (row["seen"], row["sessions"]) == (1, 1)


def test_the_same_in_other_words_comes_behind_the_first(fleet: Fleet) -> None:
    said = "We always print receipts on thermal paper without BPA in all kiosks"
    fleet.session("one.jsonl", said)
    fleet.session("two.jsonl", said)
    fleet.session("three.jsonl", said.replace("receipts", "the receipts"))
    fleet.run()
    first, second = fleet.candidates()
    assert (first["content"], first["leader"], first["sessions"]) == (said, "", 2)
    assert (second["leader"], second["sessions"]) == (first["fact"], 1)


def test_what_every_session_is_told_is_left_out(fleet: Fleet) -> None:
    told = "We decided to keep all amounts in cents, because floats lose a cent a day"
    fleet.session("says.jsonl", told, FACTS[0])
    told_to = fleet.session("told.jsonl", FACTS[1])
    reminder = f"<system-reminder>\\n{told}.\\n</system-reminder>"
    told_to.write_text(told_to.read_text().replace("Please look at the kiosk.", reminder))
    fleet.run("--part-files", 1)
    found = fleet.candidates()
    assert not [row for row in found if "amounts in cents" in row["content"]]
    assert by_words(found, FACTS[0])


def test_the_same_parts_give_the_same_bytes(twelve: Fleet) -> None:
    twelve.environment["PYTHONHASHSEED"] = "random"
    twelve.run("--part-files", 5)
    out = twelve.parts / "candidates.parquet"
    twelve.ok("collapse", twelve.parts)
    first = out.read_bytes()
    twelve.ok("collapse", twelve.parts, "--memory-limit", "200MB")
    assert out.read_bytes() == first
    one_by_one = twelve.folder / "one-by-one"
    one_by_one.mkdir()
    plan = (twelve.parts / "plan.ndjson").read_bytes().splitlines(keepends=True)[0]
    (one_by_one / "plan.ndjson").write_bytes(plan)
    twelve.run("--part-files", 1, out=one_by_one)
    twelve.ok("collapse", one_by_one)
    assert (one_by_one / "candidates.parquet").read_bytes() == first


def test_a_file_that_was_read_again_counts_as_it_is_now(fleet: Fleet) -> None:
    fleet.session("one.jsonl", FACTS[0], FACTS[1])
    fleet.run()
    fleet.session("one.jsonl", FACTS[2], FACTS[3], FACTS[4])
    fleet.run()
    found = fleet.candidates()
    assert not [row for row in found if FACTS[0] in row["content"]]
    assert by_words(found, FACTS[2])["seen"] == 1


def test_only_of_one_project(fleet: Fleet) -> None:
    fleet.session("kiosk.jsonl", FACTS[0])
    other = fleet.session("other.jsonl", FACTS[1])
    other.write_text(other.read_text().replace("/home/mo/kiosk", "/home/mo/till"))
    (fleet.sessions / "notes.md").write_text("- [Preference] We prefer paper without BPA.\n")
    fleet.run()
    found = fleet.candidates(fleet.parts, "--from-project", "till")
    assert [FACTS[1] in row["content"] for row in found] == [True]


def test_work_trees_of_agents_belong_to_the_project_in_which_they_are(fleet: Fleet) -> None:
    for number, tree in enumerate(("", "/.worktrees/7", "/.claude/worktrees/fix-1/src")):
        path = fleet.session(f"{number}.jsonl", FACTS[number])
        path.write_text(path.read_text().replace("/home/mo/kiosk", f"/home/mo/kiosk{tree}"))
    fleet.run()
    found = fleet.candidates(fleet.parts, "--from-project", "kiosk")
    assert {row["content"] for row in found} == set(FACTS[:3])


def test_a_project_in_which_nobody_worked_is_an_error_with_those_that_there_are(
    fleet: Fleet,
) -> None:
    fleet.session("kiosk.jsonl", FACTS[0])
    fleet.run()
    said = fleet.fails("collapse", fleet.parts, "--from-project", "till")
    assert "Nothing was found in working folders called till" in said
    assert "kiosk (1)" in said
    assert not (fleet.parts / "candidates.parquet").exists()


def test_the_project_of_a_queue_is_not_taken_for_the_one_that_was_worked_in(fleet: Fleet) -> None:
    said = fleet("collapse", fleet.parts, "--project", "kiosk").stderr
    assert "--from-project kiosk" in said


def test_memory_that_is_not_one(read: Fleet) -> None:
    said = read.fails("collapse", read.parts, "--memory-limit", "much")
    assert "cannot be collapsed" in said


def test_nothing_is_written_where_it_cannot_be(read: Fleet, tmp_path: Path) -> None:
    said = read.fails("collapse", read.parts, "--out", tmp_path / "no" / "file.parquet")
    assert "file.parquet cannot be written: no such file or directory" in said


def test_numbers_that_are_none(read: Fleet) -> None:
    for number in ("99999999999999999999", "1e3", "0"):
        said = read("collapse", read.parts, "--top", number).stderr
        assert "'--top'" in said
        assert number in said


def test_ctrl_c_ends_a_query_and_leaves_nothing(
    read: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    from reviewer.fleet.collapse import collapse

    def broken_off(**_: object) -> Any:
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(duckdb, "connect", broken_off)
    with pytest.raises(KeyboardInterrupt):
        collapse(str(read.parts), read.parts / "candidates.parquet", top=5)
    assert not list(read.parts.glob(".collapse-*"))


def test_parts_that_are_missing_or_damaged(read: Fleet) -> None:
    for verb in ("collapse", "files"):
        assert "has no parts" in read.fails(verb, read.folder)
    for table, verbs in (("boot", ["collapse"]), ("files", ["collapse", "files"])):
        (file,) = read.parts.glob(f"*.{table}.parquet")
        file.write_bytes(b"PAR1 and nothing else")
        for verb in verbs:
            assert str(file) in read.fails(verb, read.parts)
    assert not (read.parts / "candidates.parquet").exists()
