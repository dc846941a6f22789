"""`reviewer brief`, `reviewer keep` and `reviewer compile`: what agents are handed."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer
from tests.unit.sources.builders import Session
from tests.unit.sources.families import (
    OPENCODE_INFO,
    codex_session,
    opencode_database,
    opencode_of_two,
)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session about a ferry's timetable that ends before the work is checked."""
    told = Session()
    told.user("Make the timetable of the ferry fit one page, and keep the night boats in bold.")
    told.reply("The winter column is too wide. Shall I drop it?")
    told.user("yes, and never shrink the type below 9 points")
    told.reply("I'll also move the legend below the table of the harbour.")
    told.tool()
    told.result("legend.ods  12 kB")
    path = tmp_path / "ferry-session.jsonl"
    path.write_bytes(told.bytes())
    return path


def test_brief_is_markdown_without_markers_within_its_tokens(
    reviewer: Reviewer, session: Path
) -> None:
    done = reviewer.succeeds("brief", session)
    assert done.stdout.startswith("# Hand-over of the session ferry-session\n")
    assert "\n## Request\n" in done.stdout
    assert "never shrink the type below 9 points" in done.stdout
    assert "[→" not in done.stdout
    [row] = reviewer.rows("brief", session, "--max-tokens", 100)
    assert "conversation" not in row
    assert "never shrink the type below 9 points" in row["content"]
    assert 60 <= row["tokens"] <= 100
    assert row["original_tokens"] > 0


def test_of_a_sub_agents_session_the_request_is_its_task(
    reviewer: Reviewer, tmp_path: Path
) -> None:
    said = [("user", "Review the tide table."), ("assistant", "The neap tides are missing.")]
    messages = [
        {"info": {"id": f"m{at}", "role": role}, "parts": [{"type": "text", "text": text}]}
        for at, (role, text) in enumerate(said)
    ]
    path = tmp_path / "review.json"
    path.write_text(json.dumps({"info": {**OPENCODE_INFO, "parentID": "o0"}, "messages": messages}))
    done = reviewer.succeeds("brief", path)
    assert done.stdout.startswith("# Hand-over of a sub-agent's session review\n")
    request = done.stdout.partition("## Request\n\n")[2].split("\n")[0]
    assert request == '"Review the tide table."'
    assert "Agent: Review" not in done.stdout


def test_a_session_shorter_than_its_hand_over_is_said_to_be(
    reviewer: Reviewer, session: Path
) -> None:
    said = f"The session itself is shorter: reviewer view {session}"
    assert said in reviewer.succeeds("brief", session).stderr
    told = Session()
    told.user("Bells. " * 400)
    session.write_bytes(told.bytes())
    assert said not in reviewer.succeeds("brief", session, "--max-tokens", 100).stderr


def test_in_copilot_nobodys_answer_is_not_the_persons_and_the_report_is_the_agents(
    reviewer: Reviewer, tmp_path: Path
) -> None:
    asked = {"toolCallId": "t1", "name": "ask_user", "arguments": {"question": "Which column?"}}
    nobody = "User responded: The user is not available to respond and will review it later."
    answered = {"toolCallId": "t1", "success": True, "result": {"content": nobody}}
    events = [
        ("user.message", {"content": "Make the timetable of the ferry fit one page."}),
        ("assistant.message", {"content": "", "toolRequests": [asked]}),
        ("tool.execution_complete", answered),
        ("session.task_complete", {"summary": "The winter column is gone."}),
    ]
    path = tmp_path / "events.jsonl"
    records = [{"id": f"e{at}", "type": k, "data": d} for at, (k, d) in enumerate(events)]
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    text = reviewer("brief", path).stdout
    assert text.count("Person: ") == 1
    assert "Agent: The winter column is gone." in text
    assert [row["text"] for row in reviewer.rows("view", path) if row["role"] == "user"] == [
        "Make the timetable of the ferry fit one page."
    ]


def test_keep_is_an_instruction_with_the_persons_words(reviewer: Reviewer, session: Path) -> None:
    done = reviewer.succeeds("keep", session)
    assert done.stdout.startswith("Keep all of this in the summary")
    assert "never shrink the type below 9 points" in done.stdout


@pytest.mark.parametrize("verb", ["brief", "keep"])
def test_a_session_is_found_by_its_id_and_the_newest_without_one(
    reviewer: Reviewer, session: Path, tmp_path: Path, verb: str
) -> None:
    kept = tmp_path / "claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(reviewer.folder))
    kept.mkdir(parents=True)
    (kept / "older.jsonl").write_bytes(b"")
    os.utime(kept / "older.jsonl", (1, 1))
    (kept / "newest.jsonl").write_bytes(
        session.read_bytes().replace(b"/work/shop", os.fsencode(reviewer.folder))
    )
    known = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    for arguments in ([verb], [verb, "newest"]):
        done = reviewer.succeeds(*arguments, "--json", env=known)
        assert json.loads(done.stdout)["path"].endswith("newest.jsonl")
    assert "neither a file nor a known session" in reviewer(verb, "older", env=known).stderr


@pytest.mark.parametrize("verb", ["brief", "keep"])
def test_sessions_of_every_agent_are_found(reviewer: Reviewer, verb: str) -> None:
    home = reviewer.home
    rollout = codex_session(home, "anchor", reviewer.folder, "Never weigh anchor before the bell.")
    os.utime(rollout, (1, 1))
    database = opencode_of_two(home, reviewer.folder)

    [newest] = reviewer.rows(verb)
    assert newest["path"] == str(database)
    [named] = reviewer.rows(verb, OPENCODE_INFO["id"])
    assert named == newest
    [other] = reviewer.rows(verb, rollout.stem)
    assert other["path"] == str(rollout)
    assert "weigh anchor before the bell" in other["content"]
    assert "reviewer sources" in reviewer.fails(verb, "o2")


def test_the_id_that_an_agent_shows_is_listed_and_names_the_session(reviewer: Reviewer) -> None:
    name = "019f17a5-6d3f-7470-9097-c70f6cefe936"
    codex_session(reviewer.home, name, reviewer.folder, "Never weigh anchor before the bell.")
    [row] = reviewer.rows("sources", "--files")
    assert row["session"] == name
    assert f"      {name}  in " in reviewer("sources", "--files").stdout
    [brief] = reviewer.rows("brief", name)
    assert brief["path"] == row["path"] != name
    assert f"Newest: {name}. " in reviewer.fails("brief", "gone")


@pytest.mark.parametrize("verb", ["brief", "keep"])
def test_an_unknown_session_is_one_sentence(reviewer: Reviewer, verb: str) -> None:
    assert "neither a file nor a known session" in reviewer.fails(verb, "gone")
    assert "Name the file of one" in reviewer.fails(verb)
    assert "does not exist" in reviewer.fails(verb, "no/such.jsonl")


def test_compile_marks_a_summary_with_its_range(reviewer: Reviewer, session: Path) -> None:
    reviewer.succeeds("context", "import", session, "--name", "ferry")
    before = reviewer.rows("commit", "list", "ferry")
    reviewer.succeeds("compress", "ferry", "--level", "brief", "--apply")
    chat = json.loads(reviewer("compile", "ferry", "--format", "chat").stdout)
    summary = next(each for each in chat if "summary of" in each["content"])
    assert summary["role"] == "user"
    assert "[→" not in summary["content"]
    label = summary["content"].split("\n", 1)[0]
    assert re.fullmatch(r"\[summary of \d+ earlier messages\]", label)
    rows = [json.loads(line) for line in reviewer("compile", "ferry", "--format", "json")
            .stdout.splitlines()]  # fmt: skip
    [found] = [row["summary_of"] for row in rows if row["summary_of"]]
    assert found["messages"] == len(before)
    assert found["first"] == before[0]["hash"]


@pytest.mark.parametrize("verb", ["brief", "keep"])
def test_of_several_conversations_it_is_the_last(
    reviewer: Reviewer, tmp_path: Path, verb: str
) -> None:
    path = tmp_path / "talks.json"
    asked = [("Never paint the buoys green.", "2026-03-03"), ("Never dry nets.", "2026-03-02")]
    talks = [
        [{"role": "user", "content": words, "timestamp": f"{day}T10:00:00Z"}]
        for words, day in asked
    ]
    path.write_text(json.dumps(talks))
    done = reviewer(verb, path)
    assert "paint the buoys green" in done.stdout
    assert "nets" not in done.stdout
    assert "conversation 1 of 2" in done.stderr
    [row] = reviewer.rows(verb, path)
    assert row["conversation"] == "conversation 1 of 2"


def test_the_last_session_of_a_database_is_handed_over(reviewer: Reviewer, tmp_path: Path) -> None:
    database = tmp_path / "opencode.db"
    opencode_database(database, OPENCODE_INFO)
    opencode_database(database, {**OPENCODE_INFO, "id": "o2"})
    [last] = reviewer.rows("brief", database)
    assert last["conversation"] == "conversation 2 of 2 (o2)"
    assert last["content"].startswith("# Hand-over of the session o2")
