"""Contexts on the command line: import, look, annotate, edit, compile; bad input loses nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Reviewer

TALK = [
    {"role": "system", "content": "You mend kiosks."},
    {"role": "user", "content": "The printer prints twice. The budget is $50k until 2026-03-31."},
    {"role": "assistant", "content": "I turned the retries of the spooler off."},
]
COMMIT_KEYS = {
    "id", "position", "hash", "role", "type", "priority", "annotated", "criteria", "edited",
    "tokens", "first_line", "name", "aside",
}  # fmt: skip


@pytest.fixture(scope="session")
def store_with_a_context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = Reviewer(tmp_path_factory.mktemp("context"))
    talk(builder, "talk.json")
    builder.succeeds("--project", "kiosk", "context", "import", "talk.json")
    return builder.db


@pytest.fixture
def talked(reviewer: Reviewer, store_with_a_context: Path) -> Reviewer:
    """The program with the context `talk` of three commits, in the project `kiosk`."""
    reviewer.db.write_bytes(store_with_a_context.read_bytes())
    return reviewer


def talk(program: Reviewer, name: str, *more: str) -> Path:
    path = program.folder / name
    path.write_text(json.dumps([*TALK, *({"role": "user", "content": each} for each in more)]))
    return path


def commits(program: Reviewer, *arguments: object) -> list[dict[str, Any]]:
    return program.rows("commit", "list", "talk", *arguments)


def test_an_import_reports_its_result(reviewer: Reviewer) -> None:
    talk(reviewer, "talk.json")
    done = reviewer("--project", "kiosk", "context", "import", "talk.json")
    assert "3 commits" in done.stdout
    assert "pinned" in done.stdout
    (again,) = reviewer.rows("--project", "kiosk", "context", "import", "talk.json")
    assert (again["commits"], again["existed"], again["context"]["name"]) == (0, True, "talk")
    act = done.stderr.split()[2]
    assert "no decision" in reviewer.fails("undo")
    reviewer.succeeds("undo", act)
    assert reviewer.rows("context", "list") == []


def test_several_files_are_imported_though_one_is_bad(reviewer: Reviewer) -> None:
    talk(reviewer, "a.json"), talk(reviewer, "b.json")
    done = reviewer("--project", "kiosk", "context", "import", "a.json", "gone.json", "b.json")
    assert done.returncode == 1
    assert "gone.json" in done.stderr
    assert "1 of 3 files" in done.stderr
    assert {row["name"] for row in reviewer.rows("context", "list")} == {"a", "b"}


def test_contexts_are_listed(talked: Reviewer) -> None:
    (listed,) = talked.rows("context", "list")
    assert {"id", "project", "name", "head", "commits", "tokens", "source_path", "created_at",
            "changed_at"} == set(listed)  # fmt: skip
    assert "talk" in talked("context", "list").stdout


def test_commits_are_listed_with_their_fields(talked: Reviewer) -> None:
    rows = commits(talked)
    assert [row["role"] for row in rows] == ["system", "user", "assistant"]
    assert set(rows[0]) == COMMIT_KEYS
    assert [row["priority"] for row in commits(talked, "--filter", "role:user")] == ["normal"]
    assert len(commits(talked, "--limit", 2)) == 2
    assert "●" in talked("commit", "list", "talk").stdout


def test_a_commit_is_annotated_shown_and_undone(talked: Reviewer) -> None:
    short = commits(talked)[1]["hash"][:8]
    done = talked.succeeds("annotate", short, "--priority", "important", "--retain", "the money",
                  "--retain-match", "$50k", "--retain-regex", r"\d{4}-\d{2}-\d{2}",
                  "--retain-match", "€50k")  # fmt: skip
    assert "Marked “The printer prints twice. The…” important, must survive: $50k; " in done.stderr
    assert '"€50k" does not occur' in done.stderr
    (shown,) = talked.rows("commit", "show", short)
    assert shown["retention"] == {
        "instructions": "the money",
        "patterns": [
            {"text": "$50k", "mode": "substring"}, {"text": "€50k", "mode": "substring"},
            {"text": r"\d{4}-\d{2}-\d{2}", "mode": "regex"},
        ],
    }  # fmt: skip
    assert [check["state"] for check in shown["checks"]] == ["matches", "missing", "matches"]
    assert shown["annotations"][0]["actor"] == "you"
    words = talked("commit", "show", short).stdout
    assert "Does not occur here" in words
    talked.succeeds("undo")
    assert talked.rows("commit", "show", short)[0]["annotations"] == []


def test_many_are_annotated_as_one_act(talked: Reviewer) -> None:
    (done,) = talked.rows("annotate", "--context", "talk", "--filter", "", "--priority", "pinned")
    assert (done["title"], len(done["ids"])) == ("Pinned 3 turns", 3)
    talked("undo")
    assert {row["priority"] for row in commits(talked)[1:]} == {"normal"}


def test_a_commit_is_added_with_criteria_and_edited(talked: Reviewer) -> None:
    (made,) = talked.rows("commit", "add", "talk", "--text", "The drawer stays closed.",
                          "--priority", "important", "--retain-match", "drawer")  # fmt: skip
    assert (made["type"], made["priority"], made["criteria"]) == ("dialogue", "important", 1)
    (edited,) = talked.rows("commit", "edit", made["id"], "--text",
                            "The drawer stays closed until the terminal answers.")  # fmt: skip
    assert edited["original"] == "The drawer stays closed."
    assert edited["edited"] is True
    assert [row["first_line"] for row in commits(talked)][-1].endswith("terminal answers.")


def test_a_context_by_hand(reviewer: Reviewer) -> None:
    reviewer.succeeds("--project", "kiosk", "context", "create", "plan")
    reviewer.succeeds("commit", "add", "plan", "--role", "system", "--text", "Be brief.")
    assert reviewer.rows("commit", "list", "plan")[0]["priority"] == "pinned"


def test_an_exported_context_is_imported_with_its_calls_results_and_types(
    reviewer: Reviewer,
) -> None:
    call = {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "lpstat -o"}'}}
    said = [
        *TALK[:2],
        {
            "role": "assistant",
            "reasoning_content": "Jobs first.",
            "content": "",
            "tool_calls": [call],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "bash", "content": "no jobs"},
        {
            "role": "assistant",
            "content": "There are no jobs.",
            "created_at": "2026-03-02T09:00:00Z",
        },
    ]
    (reviewer.folder / "talk.json").write_text(json.dumps(said))
    reviewer.succeeds("--project", "kiosk", "context", "import", "talk.json")
    exported = reviewer("context", "export", "talk").stdout
    (reviewer.folder / "back.jsonl").write_text(exported)
    (done,) = reviewer.rows("--project", "kiosk", "context", "import", "back.jsonl")
    assert done["skipped"] == {}
    fields = ("role", "type", "content", "name", "at", "priority", "tool_call_id")
    first, second = (
        [[row.get(field) for field in fields] for row in map(json.loads, text.splitlines())]
        for text in (exported, reviewer("context", "export", "back").stdout)
    )
    assert second == first
    types = ["instruction", "dialogue", "reasoning", "tool_call", "tool_result", "dialogue"]
    assert [row[1] for row in first] == types


def test_compile_in_three_forms_and_at_a_commit(talked: Reviewer) -> None:
    rows = commits(talked)
    talked("annotate", rows[0]["hash"], "--priority", "skip")
    done = talked("compile", "talk", "--format", "chat")
    assert json.loads(done.stdout) == TALK[1:]
    assert "skip" in done.stderr
    messages = [json.loads(line) for line in talked("compile", "talk", "--format", "json")
                .stdout.splitlines()]  # fmt: skip
    assert [message["text"] for message in messages] == [each["content"] for each in TALK[1:]]
    assert {"role", "text", "type", "name", "tokens", "commit", "hash", "priority", "at",
            "retention", "summary_of"} == set(messages[0])  # fmt: skip
    assert "--- user (dialogue)" in talked("compile", "talk").stdout
    assert f"skip {rows[0]['tokens']:,} (1)" in done.stderr
    assert f"{sum(row['tokens'] for row in rows):,} tokens" in done.stderr


REFUSED: list[tuple[list[str], int, str]] = [
    (["commit", "show", "ffff"], 1, 'no commit "ffff"'),
    (["commit", "show", "ab"], 1, "at least 4 characters"),
    (["commit", "list", "tolk"], 1, "Close matches: talk"),
    (["commit", "list", "talk", "--filter", "prio:x"], 2, "There is no field"),
    (["annotate", "2"], 1, "Say a priority"),
    (["annotate", "2", "--retain", " "], 1, "is empty"),
    (["annotate", "2", "--retain-match", ""], 1, "is empty"),
    (["annotate", "2", "--retain-regex", "(a"], 1, "bad at column 3"),
    (["annotate", "2", "--priority", "urgent"], 2, "urgent"),
    (["annotate", "2", "--retain", "x" * 5000], 1, "at most 4,000"),
    (["annotate", "99", "--priority", "skip"], 1, "no commit"),
    (["annotate", "--priority", "skip"], 2, "name the commits"),
    (["annotate", "--filter", "x", "--priority", "skip"], 2, "--context"),
    (["annotate", "--context", "talk", "--filter", "zebra", "--priority", "skip"], 1,
     "No commit of talk matches"),
    (["commit", "add", "talk"], 2, "--text"),
    (["commit", "add", "talk", "--text", "  "], 1, "needs a text"),
    (["commit", "add", "talk", "--text", "x", "--type", "A B"], 1, "not a type"),
    (["commit", "edit", "2", "--text", ""], 1, "needs a text"),
    (["compile", "nothing"], 1, "no context"),
    (["context", "import", "gone.jsonl"], 1, "gone.jsonl"),
    (["context", "import", "a", "b", "--name", "x"], 2, "a single file"),
    (["context", "create", "talk", "--project", "kiosk"], 1, "already"),
]  # fmt: skip


def test_bad_input_is_one_sentence_and_changes_nothing(talked: Reviewer) -> None:
    before = talked("history").stdout
    for arguments, code, words in REFUSED:
        assert words in talked.fails(*arguments, code=code)
    assert talked("history").stdout == before
    talked.nothing_lost()


def test_the_conversations_of_one_file_are_kept_apart_by_marks(reviewer: Reviewer) -> None:
    def export(*talks: tuple[str, list[str]]) -> None:
        made = [
            {"id": name, "messages": [{"role": "user", "content": each} for each in said]}
            for name, said in talks
        ]
        (reviewer.folder / "talk.json").write_text(json.dumps(made), "utf-8")

    export(("tides", ["When is high tide?", "And low tide?"]), ("nets", ["Mend the nets."]))
    reviewer.succeeds("context", "import", "talk.json")
    shown = reviewer("compile", "talk").stdout
    assert shown.index("== Conversation 1: tides") < shown.index("high tide")
    assert shown.index("And low tide?") < shown.index("== Conversation 2: nets")
    assert [row["role"] for row in commits(reviewer)] == ["note", "user", "user", "note", "user"]
    (again,) = reviewer.rows("context", "import", "talk.json")
    assert again["commits"] == 0

    export(("tides", ["When is high tide?", "And low tide?"]), ("nets", ["Mend the nets.", "All."]))
    (more,) = reviewer.rows("context", "import", "talk.json")
    assert more["commits"] == 1


def test_patterns_are_added_to_those_that_a_commit_has(talked: Reviewer) -> None:
    number = commits(talked)[0]["id"]
    for word in (
        ["--retain-match", "price"],
        ["--retain-match", "sum"],
        ["--retain-regex", r"\d+"],
    ):
        talked.succeeds("annotate", number, *word)
    [shown] = talked.rows("commit", "show", number)
    texts = [each["text"] for each in shown["retention"]["patterns"]]
    assert texts == ["price", "sum", r"\d+"]
    talked("annotate", number, "--clear", "--retain-match", "only")
    [shown] = talked.rows("commit", "show", number)
    assert [each["text"] for each in shown["retention"]["patterns"]] == ["only"]
