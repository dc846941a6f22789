"""Findings of many sessions: `reviewer findings`, what an ingestion says of them, their rows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer
from tests.cli.test_propose import asks
from tests.unit.llm.test_command import seen
from tests.unit.proposing.models import answer, said
from tests.unit.sessions.told import Told

LINT = "{}/rows.go:88:15: Error return value of `{}` is not checked (errcheck)"
REFUSED = "The user doesn't want to proceed with this tool use. {} the user said:\n"
FIELDS = {
    "kind", "signature", "text", "command", "sessions", "times", "cost", "first", "last", "fix",
    "words", "evidence", "status",
}  # fmt: skip


def lint(name: str, function: str = "rows.Close") -> Told:
    """A session in which the linter fails and an edit makes it pass."""
    told = Told(name)
    told.user("Tidy up")
    told.run("mise run lint", LINT.format(name, function), failed=True)
    told.edit(f"/work/shop/{name}/rows.go", f"{function}()", f"_ = {function}()")
    told.run("mise run lint")
    return told


def refused(name: str, words: str) -> Told:
    told = Told(name)
    told.user("Go on")
    told.call("Bash", REFUSED.format("(none).") + words, failed=True, command="git push")
    return told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sessions").mkdir()
    return tmp_path / "sessions"


def write(folder: Path, *sessions: Told) -> Path:
    for each in sessions:
        each.write(folder / f"{each.name}.jsonl")
    return folder


def test_findings_are_counted_over_sessions(reviewer: Reviewer, folder: Path) -> None:
    write(folder, lint("a"), lint("b", "file.Close"))
    reviewer("ingest", folder)

    (row,) = reviewer.rows("findings")

    assert row.keys() == FIELDS
    assert (row["kind"], row["command"]) == ("failure", "mise run lint")
    assert row["signature"] == "errcheck: error return value of * is not checked"
    assert (row["sessions"], row["times"], row["cost"]) == (2, 2, 4)
    assert row["fix"].endswith("Close()`")
    assert row["fix"].startswith("rows.go: ")
    assert {(Path(e["path"]).name, e["line"]) for e in row["evidence"]} == {
        ("a.jsonl", 2),
        ("a.jsonl", 3),
        ("b.jsonl", 2),
        ("b.jsonl", 3),
    }


def test_an_ingestion_says_in_one_line_what_came_up_again(reviewer: Reviewer, folder: Path) -> None:
    first = reviewer("ingest", write(folder, lint("a")))
    again = reviewer("ingest", write(folder, lint("b", "file.Close")))

    assert "Came up again" not in first.stderr
    assert (
        "Came up again: `mise run lint`: errcheck: error return value of * is not checked"
        " (2 sessions, 4 calls). 1 in all: reviewer findings --again" in again.stderr
    )


def test_an_error_in_the_code_of_the_day_does_not_come_up_again(
    reviewer: Reviewer, folder: Path
) -> None:
    for name in ("a", "b"):
        told = Told(name)
        told.user("Sort them")
        told.run(
            "npm run check", "src/rows.ts(3,5): error TS2304: Cannot find name 'r'.", failed=True
        )
        told.edit("/work/shop/src/rows.ts", "r.sort()", "rows.sort()")
        told.run("npm run check")
        done = reviewer("ingest", write(folder, told))

    assert reviewer.rows("findings", "--again")
    assert "Came up again" not in done.stderr


def test_what_recurs_is_proposed_with_what_made_it_pass(reviewer: Reviewer, folder: Path) -> None:
    reviewer("ingest", write(folder, lint("a")))
    assert not reviewer.rows("queue", "list")
    reviewer("ingest", write(folder, lint("b")))

    (row,) = reviewer.rows("queue", "list")

    assert row["content"] == (
        "“Error return value of `rows.Close` is not checked (errcheck)” from `mise run lint`."
        " One fix: `rows.Close()` → `_ = rows.Close()`"
    )
    assert (row["proposer"], row["sessions"], row["times"], row["cost"]) == ("finding", 2, 2, 4)
    assert [quote["found"] for quote in row["proof"]["quotes"]] == [True] * 4
    reviewer.nothing_lost()


def test_what_recurs_with_other_names_says_only_what_the_sessions_share(
    reviewer: Reviewer, folder: Path
) -> None:
    reviewer("ingest", write(folder, lint("a", "rows.Close")), write(folder, lint("b", "os.Chdir")))

    (row,) = reviewer.rows("queue", "list")

    assert row["content"] == (
        "“errcheck: error return value of … is not checked” from `mise run lint`."
        " One fix: `rows.Close()` → `_ = rows.Close()`"
    )


def test_a_formatter_that_helped_in_two_sessions_is_proposed_rather_than_one_change(
    reviewer: Reviewer, folder: Path
) -> None:
    for name, write_it in (("a", "format"), ("b", "check"), ("c", "")):
        told = Told(name)
        told.user("Tidy up")
        told.run("bun run lint", f"./src/{name}.ts format {'━' * 40}", failed=True)
        if write_it:
            told.run(f"bunx biome {write_it} --write src/{name}.ts")
        else:
            told.edit("/work/shop/src/c.ts", "{ one,\n}", "{ one }")
        told.run("bun run lint")
        write(folder, told)
    reviewer("ingest", folder)

    (row,) = reviewer.rows("queue", "list")

    assert row["content"] == (
        "“format” from `bun run lint`. What fixed it: `bunx biome format --write src/a.ts`"
    )


def test_an_ingestion_that_queues_nothing_says_what_it_found(
    reviewer: Reviewer, folder: Path
) -> None:
    done = reviewer("ingest", write(folder, lint("a")))
    shown = reviewer("queue", "list")

    for each in (done, shown):
        assert "1 finding: reviewer findings" in each.stderr
        assert "reviewer propose" in each.stderr


def test_a_reader_is_told_in_how_many_sessions_a_failure_came_up(
    reviewer: Reviewer, folder: Path
) -> None:
    reviewer("ingest", write(folder, lint("a"), lint("b", "file.Close")))
    environment = asks(reviewer, answer())

    reviewer("propose", folder / "a.jsonl", "--yes", env=environment)

    prompt = seen(reviewer.folder / "bin")["prompt"]
    assert "failure of `mise run lint`, 2 calls lost, came up in 2 sessions: a/rows.go" in prompt


def test_a_third_session_is_counted_on_the_row_that_there_is(
    reviewer: Reviewer, folder: Path
) -> None:
    reviewer("ingest", write(folder, lint("a"), lint("b")))
    (row,) = reviewer.rows("queue", "list")
    reviewer("reject", row["id"])
    reviewer("ingest", write(folder, lint("c", "file.Close")))

    (same,) = reviewer.rows("queue", "list", "--status", "all")

    assert (same["id"], same["status"], same["sessions"]) == (row["id"], "invalid", 3)
    shown = reviewer("queue", "show", row["id"]).stdout
    assert "seen 3 sessions, 6 wasted calls" in " ".join(shown.split())
    for name in ("a", "b", "c"):
        assert f"evidence    {folder / name}.jsonl:" in shown


def test_errors_of_the_day_and_failures_without_a_remedy_are_not_proposed(
    reviewer: Reviewer, folder: Path
) -> None:
    for name in "ab":
        told = Told(name)
        told.user("Build it")
        told.run("go build ./...", "a/rows.go:8:1: undefined: rows", failed=True)
        told.edit("/work/shop/a/rows.go", "rows", "lines")
        told.run("go build ./...")
        told.run("ruff check", "rows.py:1:8: F401 `os` imported but unused", failed=True)
        told.edit("/work/shop/rows.py", "import os\nimport sys", "import sys")
        told.run("ruff check")
        told.run("make release", "error: the certificate has expired", failed=True)
        write(folder, told)
    reviewer("ingest", folder)

    assert len(reviewer.rows("findings", "--again")) == 3
    assert not reviewer.rows("queue", "list")


def test_a_command_refused_once_waits_for_a_reader_and_twice_in_one_session_is_proposed(
    reviewer: Reviewer, folder: Path
) -> None:
    told = refused("a", "not yet, the tests come first")
    reviewer("ingest", write(folder, told))
    assert not reviewer.rows("queue", "list")
    told.call("Bash", REFUSED.format("(none).") + "never push by yourself", failed=True,
              command="git push")  # fmt: skip
    reviewer("ingest", write(folder, told))

    (row,) = reviewer.rows("queue", "list")

    assert row["content"] == "The person refused `git push` and said: “never push by yourself”"


def test_a_refusal_in_two_files_of_its_session_counts_once(
    reviewer: Reviewer, folder: Path
) -> None:
    told = (write(folder, refused("a", "never push by yourself")) / "a.jsonl").read_text()
    (folder / "copy.jsonl").write_text(told)
    (folder / "more.jsonl").write_text(re.sub('("uuid": ?")', r"\1another-", told))
    reviewer("ingest", folder)
    assert [row["times"] for row in reviewer.rows("findings")] == [1]
    assert reviewer.rows("queue", "list") == []


def test_a_failure_that_a_resumed_session_has_copied_counts_once(
    reviewer: Reviewer, folder: Path
) -> None:
    told = (write(folder, lint("a")) / "a.jsonl").read_text()
    (folder / "resumed.jsonl").write_text(re.sub('("sessionId": ?)"a"', r'\1"b"', told))
    reviewer("ingest", folder)
    assert [row["sessions"] for row in reviewer.rows("findings")] == [1]
    assert reviewer.rows("queue", "list") == []


def test_a_command_refused_in_two_sessions_is_proposed_in_the_persons_words(
    reviewer: Reviewer, folder: Path
) -> None:
    reviewer(
        "ingest", write(folder, lint("l1"), lint("l2"), refused("a", "never push by yourself"))
    )
    reviewer("ingest", write(folder, refused("b", "ask me before you push")))

    first, second = reviewer.rows("queue", "list")

    assert "One fix" in first["content"] or "One fix" in second["content"]
    row = next(each for each in (first, second) if each["rule"] == "finding.refusal")
    assert row["content"] == "The person refused `git push` and said: “ask me before you push”"
    assert row["flags"] == ["reword"]


def test_a_readers_statement_has_the_price_of_the_finding_that_it_was_made_of(
    reviewer: Reviewer, folder: Path
) -> None:
    reviewer("ingest", write(folder, lint("a"), lint("b")))
    (offline,) = reviewer.rows("queue", "list")
    rule = "golangci-lint (errcheck) wants each error handled or assigned to `_`."
    quote = "Error return value of `rows.Close` is not checked (errcheck)"
    environment = asks(reviewer, answer(said(rule, (2, quote))))
    reviewer("propose", folder / "b.jsonl", "--yes", env=environment)

    (row,) = reviewer.rows("queue", "list")

    assert row["content"] == rule.rstrip(".")
    assert (row["sessions"], row["times"], row["cost"]) == (2, 2, 4)
    reviewer("ingest", write(folder, lint("c", "file.Close")))
    (row,) = reviewer.rows("queue", "list")
    assert (row["sessions"], row["cost"]) == (3, 6)
    reviewer("promote", row["id"])
    (finding,) = reviewer.rows("queue", "list", "--status", "superseded")
    assert finding["id"] == offline["id"]


def test_a_statement_belongs_to_the_failure_that_it_quotes_and_not_to_its_neighbours(
    reviewer: Reviewer, folder: Path
) -> None:
    wrap = "a/rows.go:9:2: error returned from external package is unwrapped (wrapcheck)"
    told = Told("a")
    told.user(f"Lint says:\n{wrap}\n{LINT.format('a', 'rows.Close')}\n{wrap}")
    quote = "Error return value of `rows.Close` is not checked"
    found = answer(said("errcheck wants each error handled.", (1, quote)))
    path = write(folder, told) / "a.jsonl"
    reviewer("propose", path, "--yes", env=asks(reviewer, found))
    reviewer("promote", *reviewer.ids())
    again = reviewer("recall", "--error", LINT.format("b", "page.Close"))
    assert "this failure errcheck" in again.stdout
    assert reviewer("recall", "--error", wrap).stdout == ""


def test_of_two_quoted_failures_a_statement_has_the_price_of_the_one_that_it_names(
    reviewer: Reviewer, folder: Path
) -> None:
    wrap = "a/rows.go:9:2: error returned from external package is unwrapped (wrapcheck)"
    told = lint("a")
    for _ in range(3):
        told.run("mise run lint", wrap, failed=True)
        told.edit("/work/shop/a/rows.go", "return err", "return wrapped(err)")
    told.run("mise run lint")
    quotes = ((2, "Error return value of `rows.Close` is not checked"), (8, wrap[12:]))
    found = answer(said("errcheck wants each error handled.", *quotes))
    reviewer("ingest", write(folder, told))
    reviewer("propose", folder / "a.jsonl", "--yes", env=asks(reviewer, found))
    (row,) = reviewer.rows("queue", "list")
    costs = {each["signature"][:8]: each["cost"] for each in reviewer.rows("findings")}
    assert row["cost"] == costs["errcheck"] < costs["wrapchec"]


def test_undoing_an_ingestion_takes_its_findings_back(reviewer: Reviewer, folder: Path) -> None:
    reviewer("ingest", write(folder, lint("a"), lint("b")))
    for act in reversed(reviewer.rows("history")):
        if act["kind"] in ("ingest", "read"):
            reviewer("undo", act["id"])

    assert not reviewer.rows("findings")
    assert not reviewer.rows("queue", "list")
