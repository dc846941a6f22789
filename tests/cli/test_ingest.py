"""`ingest`, `extract`, `queue more` and `stats`."""

from __future__ import annotations

from tests.cli.conftest import NOTE, Reviewer


def test_people_get_a_table_on_stdout_and_no_progress_in_a_pipe(reviewer: Reviewer) -> None:
    note = reviewer.folder / "kiosk-decisions.md"
    note.write_text(NOTE, encoding="utf-8")
    done = reviewer("ingest", note)
    names = [line.split("  ")[0] for line in done.stdout.splitlines()]
    assert {"wave", "files", "records", "new", "repeated", "report"} <= set(names)
    waiting = len(reviewer.ids())
    assert done.stderr == f"Waiting now: {waiting} statements. Decide with: reviewer\n"


def test_extract_touches_no_store_and_says_the_lines(reviewer: Reviewer) -> None:
    note = reviewer.folder / "kiosk-decisions.md"
    note.write_text(NOTE, encoding="utf-8")
    rows = reviewer.rows("extract", note)
    assert not reviewer.db.exists()
    lines = NOTE.splitlines()
    paper = next(row for row in rows if "thermal" in row["content"])
    source = paper["source"]
    assert "thermal" in "\n".join(lines[source["line_start"] : source["line_end"]])
    best = reviewer.rows("extract", note, "--top", 1)
    assert [row["content"] for row in best] == [rows[0]["content"]]
    assert paper["content"] not in {
        row["content"] for row in reviewer.rows("extract", note, "--to-line", 2)
    }


def test_stats_count_by_project(ingested: Reviewer) -> None:
    ingested("--project", "seed", "dev-seed", 3)
    counts = {row["project"]: row for row in ingested.rows("stats", "--all-projects")}
    assert counts["seed"]["waiting"] == 3
    assert counts["kiosk"]["waiting"] == len(ingested.ids("--project", "kiosk"))
    assert [row["project"] for row in ingested.rows("stats", "--project", "kiosk")] == ["kiosk"]


def test_what_waits_beyond_the_cap_is_queued_once(reviewer: Reviewer) -> None:
    note = reviewer.folder / "decisions.md"
    parts = [f"{a} {b}" for a in ("ledger", "mail", "search") for b in range(1961, 2001)]
    note.write_text(
        "# Decisions\n\n"
        + "\n".join(f"- [Decision] The {part} is kept in folder number {part}." for part in parts),
        encoding="utf-8",
    )

    def beyond_cap() -> int:
        return int(reviewer.rows("--project", "p", "stats")[0]["beyond_cap"])

    (wave,) = reviewer.rows("--project", "p", "ingest", note)
    beyond = beyond_cap()
    assert beyond == wave["over_cap"] > 10
    (again,) = reviewer.rows("--project", "p", "ingest", "--again", note)
    done = reviewer("--project", "p", "queue", "more", "--limit", 1000)
    assert f"Queued {again['over_cap']} more" in done.stderr
    assert beyond_cap() == 0
    assert "Nothing is held back" in reviewer.fails("--project", "p", "queue", "more")
    reviewer.nothing_lost()


def test_a_fact_beyond_the_cap_that_is_known_meanwhile_keeps_its_evidence(
    reviewer: Reviewer,
) -> None:
    facts = [f"The ledger of {year} is kept in folder number {year}." for year in range(1931, 1991)]
    notes = reviewer.folder / "notes"
    notes.mkdir()
    for name, label in (("a.md", "Preference"), ("b.md", "Lesson")):
        lines = "\n".join(f"- [{label}] {fact}" for fact in facts)
        (notes / name).write_text(f"# Notes\n\n{lines}\n", encoding="utf-8")
    reviewer("--project", "p", "ingest", notes)
    reviewer("--project", "p", "queue", "more", "--limit", 1000)
    rows = reviewer.rows("--project", "p", "queue", "list", "--limit", 1000)
    assert len(rows) == len(facts)
    assert {row["seen"] for row in rows} == {2}
