"""`queue list|show`: the contract for scripts, and the output for people."""

from __future__ import annotations

import pytest

from reviewer.cli.queue import SCREEN_WORDS
from tests.cli.conftest import Reviewer
from tests.stored import planted

CONTRACT = {
    "id", "kind", "type", "content", "status", "confidence", "rule", "extractor_version",
    "project", "source", "seen",
}  # fmt: skip
SOURCE = {"path", "line_start", "line_end", "record_id"}


def test_a_row_has_every_field_of_the_contract(ingested: Reviewer) -> None:
    rows = ingested.rows("queue", "list")
    assert rows
    for row in rows:
        assert row.keys() >= CONTRACT
        assert row["source"].keys() >= SOURCE
        assert row["status"] == "candidate"
        assert row["project"] == "kiosk"


def test_the_best_comes_first_and_limit_cuts(ingested: Reviewer) -> None:
    ranks = [row["rank"] for row in ingested.rows("queue", "list")]
    assert ranks == sorted(ranks, reverse=True)
    assert ingested.ids("--limit", 2) == ingested.ids()[:2]


@pytest.mark.parametrize("field", ["actor", "type", "conf"])
def test_a_field_without_a_value_is_not_taken_for_no_filter(ingested: Reviewer, field: str) -> None:
    done = ingested("queue", "list", "--filter", f"thermal {field}:")
    assert done.returncode == 2
    assert f"{field}: in --filter has no value" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("bogus:1", 'no field "bogus"'),
        ("conf>abc", '"conf" wants a number'),
        ('"thermal', "no closing"),
    ],
)
def test_a_filter_that_cannot_be_read_is_wrong_usage(
    ingested: Reviewer, words: str, problem: str
) -> None:
    assert problem in ingested.fails("queue", "list", "--filter", words, code=2)


def test_an_empty_list_says_what_there_is_instead(seeded: Reviewer) -> None:
    seeded.succeeds("defer", *seeded.ids())
    deferred = len(seeded.ids("--status", "deferred"))
    said = f"Nothing waits. {deferred} deferred: reviewer queue list --status deferred\n"
    assert seeded("queue", "list").stderr == said
    assert "--status all" in seeded("queue", "list", "--status", "promoted").stderr
    seeded.succeeds("--project", "other", "state", "set", "a", "b")
    for status in ("waiting", "all"):
        empty = seeded("--project", "other", "queue", "list", "--status", status)
        assert empty.stderr == "The queue is empty. Ingest something: reviewer ingest PATH\n"


def test_status_shows_decided_rows(seeded: Reviewer) -> None:
    first, second, third = seeded.ids("--limit", 3)
    for verb, memory in (("promote", first), ("reject", second), ("defer", third)):
        seeded.succeeds(verb, memory)
    assert seeded.ids("--status", "active") == [first]
    assert seeded.ids("--status", "invalid") == [second]
    assert seeded.ids("--status", "deferred") == seeded.ids("--filter", "is:deferred") == [third]
    assert third not in seeded.ids(), "it does not wait"
    assert first not in seeded.ids()
    assert seeded.ids("--status", "all")[0] in {first, second, *seeded.ids()}
    assert len(seeded.ids("--status", "all")) >= len(seeded.ids()) + 2
    shown = seeded("queue", "list", "--status", "all").stdout.splitlines()
    glyphs = {int(line.split()[0]): line.split()[1] for line in shown}
    assert [glyphs[number][0] for number in (first, second, third)] == ["✓", "✗", "⏸"]


def test_status_takes_the_words_of_the_screen(seeded: Reviewer) -> None:
    first, second, third, fourth = seeded.ids("--limit", 4)
    seeded("promote", first, "--alone")
    seeded("reject", second, "--alone")
    seeded("merge", third, "--into", fourth)
    for word, found in {"promoted": [first], "rejected": [second], "merged": [third]}.items():
        assert seeded.ids("--status", word) == found
        assert seeded.ids("--status", SCREEN_WORDS[word]) == found
        assert seeded.ids("--status", "all", "--filter", f"status:{word}") == found


def test_show_names_the_source(ingested: Reviewer) -> None:
    row = ingested.rows("queue", "list", "--filter", "thermal")[0]
    told = ingested("queue", "show", row["id"]).stdout
    assert row["rule"] in told
    assert "kiosk-decisions.md:6" in told
    assert "thermal paper without BPA" in told
    as_json = ingested.rows("queue", "show", row["id"])[0]
    assert as_json.keys() >= CONTRACT
    evidence = as_json["evidence"][0]
    span = evidence["text"][evidence["span_start"] : evidence["span_end"]]
    assert "thermal paper without BPA" in span


def test_show_has_the_evidence_of_the_rows_behind_one_as_text_and_as_json(
    ingested: Reviewer,
) -> None:
    leader, behind = ingested.ids("--limit", 2)
    with planted(ingested.db, "compare") as act:
        act.update("memory", behind, leader_id=leader)
    (as_json,) = ingested.rows("queue", "show", leader)
    told = ingested("queue", "show", leader).stdout
    assert len(as_json["evidence"]) == told.count("\nevidence ") == 2


def test_show_keeps_the_earlier_wording(ingested: Reviewer) -> None:
    memory = ingested.ids("--filter", "thermal")[0]
    before = ingested.rows("queue", "show", memory)[0]["content"]
    ingested("edit", memory, "--content-file", "-", typed="Only paper without BPA is bought.")
    after = ingested.rows("queue", "show", memory)[0]
    assert after["content"] == "Only paper without BPA is bought."
    assert [one["content"] for one in after["wordings"]] == [before]
    assert before in ingested("queue", "show", memory).stdout


def test_a_project_can_be_named_before_or_behind_the_verb(ingested: Reviewer) -> None:
    ingested("--project", "seed", "dev-seed", 3)
    assert len(ingested.ids("--project", "seed")) == 3
    assert all(
        row["project"] == "kiosk" for row in ingested.rows("--project", "kiosk", "queue", "list")
    )
    everything = ingested.ids("--all-projects")
    assert len(everything) == 3 + len(ingested.ids("--project", "kiosk"))


def test_a_candidate_whose_source_has_changed_says_so_in_the_list(reviewer: Reviewer) -> None:
    kept, changed = reviewer.folder / "kept.md", reviewer.folder / "changed.md"
    kept.write_text("# Printing\n\n- [Decision] Receipts are printed in black only.\n", "utf-8")
    changed.write_text("# Tills\n\n- [Decision] Drawers are opened by hand in tests.\n", "utf-8")
    reviewer.succeeds("ingest", kept, changed)
    (first,), (second,) = reviewer.ids("--filter", "black"), reviewer.ids("--filter", "drawers")
    changed.write_text("# Tills\n\nNothing is known of them.\n", "utf-8")
    stale = {row["id"]: row["stale"] for row in reviewer.rows("queue", "list")}
    assert stale == {first: False, second: True}
    lines = reviewer("queue", "list").stdout.splitlines()
    assert [line.split()[1] for line in lines if "Drawers" in line] == ["·!"]
