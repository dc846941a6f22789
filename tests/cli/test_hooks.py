"""`reviewer hook`: what agents get at the events of a session; nothing disturbs them."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reviewer.agents.agent_files import AgentFiles, SessionNote
from reviewer.agents.recalled import MAX_CHARACTERS
from reviewer.engine import Engine
from reviewer.text.for_agents import between_tags
from tests.cli.agent_projects import filled, hook, session, tree
from tests.cli.capabilities import impatient
from tests.cli.conftest import Reviewer
from tests.stored import write
from tests.unit.sources.families import codex_session, document, lines, opencode_of_two
from tests.waiting import PATIENCE, until

START = {
    "claude-code": ("SessionStart", "session_id"),
    "codex": ("SessionStart", "session_id"),
    "gemini": ("SessionStart", "session_id"),
    "copilot": ("sessionStart", "sessionId"),
    "opencode": ("start", "sessionID"),
    "cursor": ("sessionStart", "conversation_id"),
}


def event(folder: Path, **fields: Any) -> str:
    return json.dumps({"cwd": str(folder), "session_id": "one", "source": "startup", **fields})


def log(program: Reviewer) -> list[str]:
    path = AgentFiles(program.db).folder / "hooks.log"
    return path.read_text("utf-8").splitlines() if path.exists() else []


def injected(agent: str, printed: str) -> str:
    """The text for the model, out of the agent's own shape."""
    value = json.loads(printed)
    if agent in ("claude-code", "codex", "gemini"):
        assert value.keys() == {"hookSpecificOutput"}
        inner = value["hookSpecificOutput"]
        assert inner.keys() == {"hookEventName", "additionalContext"}
        assert inner["hookEventName"] == "SessionStart"
        return str(inner["additionalContext"])
    (text,) = value.values()
    assert value.keys() == {"additional_context" if agent == "cursor" else "additionalContext"}
    return str(text)


@pytest.mark.parametrize("agent", START)
def test_a_session_starts_with_the_packet(reviewer: Reviewer, agent: str) -> None:
    folder = filled(reviewer)
    name, key = START[agent]
    text = injected(agent, hook(reviewer, agent, name, event(folder, **{key: "one"})))
    assert text.startswith("<recalled-memory")
    assert text.endswith("</recalled-memory>")
    assert "thermal paper" in text
    given = AgentFiles(reviewer.db).given(agent)
    assert given is not None
    assert (given.session, given.project, given.text) == ("one", folder.name, text)


def test_connecting_a_folder_for_a_project_binds_it(reviewer: Reviewer) -> None:
    office, clone, bakery = filled(reviewer), tree(reviewer, "clone"), tree(reviewer, "bakery")
    reviewer.succeeds("ingest", "notes.md", cwd=bakery)
    named = ["--project", office.name]
    connecting = [*named, "connect", "claude-code", "--project", "--yes"]
    done = reviewer(*connecting, cwd=clone)
    assert f"{clone} is now bound to project {office.name}" in done.stderr
    start = ["hook", "claude-code", "SessionStart"]
    given = reviewer.succeeds(*named, *start, typed=event(clone)).stdout
    assert "thermal paper" in injected("claude-code", given)
    why = "This folder is bound to project bakery, so sessions in it get no memories of"
    assert why in reviewer(*connecting, cwd=bakery).stderr
    assert why in reviewer("connect", cwd=bakery).stderr
    assert reviewer.succeeds(*named, *start, typed=event(bakery)).stdout == ""
    assert log(reviewer)[-1].endswith(
        f"{bakery} is not bound to {office.name}: it gets no memories."
    )


def test_connecting_says_what_is_still_to_do(reviewer: Reviewer) -> None:
    office = tree(reviewer, "office")
    reviewer.succeeds("ingest", "notes.md", cwd=office)
    connecting = ["connect", "claude-code", "--project", "--yes"]
    assert "Nothing is promoted for project office yet" in reviewer(*connecting, cwd=office).stderr
    reviewer.succeeds("state", "set", "printer", "Star TSP143", cwd=office)
    assert "TSP143" in hook(reviewer, "claude-code", "SessionStart", event(office))
    assert "Nothing is promoted" not in reviewer(*connecting, cwd=office).stderr
    clone = tree(reviewer, "clone")
    for _ in range(2):
        done = reviewer("--project", "annex", *connecting, cwd=clone)
        assert "not bound to project annex yet" in done.stderr
        assert "read sessions or decide on a candidate here once" in done.stderr
    for part in Path(reviewer.db).parent.glob(f"{Path(reviewer.db).name}*"):
        if part.is_file():
            part.unlink()
    assert (
        reviewer.succeeds(*connecting, cwd=office).stderr == "claude-code is already connected.\n"
    )


def test_a_session_that_cannot_be_noted_gets_its_packet(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    agents = Path(f"{reviewer.db}-agents")
    agents.mkdir(mode=0o700)
    (agents / "sessions").write_text("in the way\n")
    done = reviewer("hook", "claude-code", "SessionStart", typed=event(folder))
    assert "thermal paper" in done.stdout
    assert done.returncode == 0
    assert "claude-code SessionStart" in (agents / "hooks.log").read_text()


def test_the_packet_has_at_most_9000_characters(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    notes = [
        f"- [Decision] Gate {n} opens {'slowly ' * 12}because of reason {n}." for n in range(200)
    ]
    (folder / "more.md").write_text("# More\n\n" + "\n".join(notes), encoding="utf-8")
    engine = Engine.open(reviewer.db)
    for key in range(80):
        engine.state.set(folder.name, f"k{key}", f"rule {key} " + "é" * 120)
    engine.close()
    text = injected("codex", hook(reviewer, "codex", "SessionStart", event(folder)))
    assert len(text) <= MAX_CHARACTERS
    assert "the tool `packet`" in text
    assert text.endswith("</recalled-memory>")


def test_a_resumed_session_gets_the_packet_only_if_it_has_changed(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    assert hook(reviewer, "claude-code", "SessionStart", event(folder))
    assert hook(reviewer, "claude-code", "SessionStart", event(folder, source="resume")) == ""
    assert hook(reviewer, "claude-code", "SessionStart", event(folder, source="compact"))
    reviewer.succeeds("--project", folder.name, "state", "set", "printer", "Star TSP143")
    again = hook(reviewer, "claude-code", "SessionStart", event(folder, source="resume"))
    assert "TSP143" in again


def test_before_a_compaction_it_says_what_reviewer_keep_says(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    path = session(folder)
    text = hook(reviewer, "claude-code", "PreCompact", event(folder, transcript_path=str(path)))
    assert reviewer("keep", path).stdout.strip() in text
    assert "Print the tickets in two languages. Never call the gate controller" in text
    assert "Leave out the text between <recalled-memory> tags" in text
    without = hook(reviewer, "claude-code", "PreCompact", event(folder, session_id=""))
    assert without.startswith("Keep in the summary: the goal")


def test_a_session_that_was_given_a_packet_counts_for_its_memories(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    told = event(folder, transcript_path=str(session(folder)))
    for _ in range(2):
        assert hook(reviewer, "claude-code", "SessionStart", told)
    listed = reviewer("--project", folder.name, "stats", "--json").stdout.splitlines()
    uses = [use for use in map(json.loads, listed) if "use" in use]
    assert {(use["used"], use["starts"]) for use in uses} == {(0, 1)}
    promoted = reviewer.rows("--project", folder.name, "queue", "list", "--status", "active")
    assert {use["use"] for use in uses} == {row["id"] for row in promoted}


def refused_paths(program: Reviewer, folder: Path) -> dict[str, Path]:
    """Files that are no session of Claude Code of this project, whatever a hook says."""
    outside = program.folder / "private.md"
    outside.write_text("# Mine\n\n- [Decision] The safe opens with 4711.\n", encoding="utf-8")
    real = session(folder)
    place = real.parent
    moved = program.folder / "copy.jsonl"
    moved.write_bytes(real.read_bytes())
    note = place / "note.jsonl"
    note.write_bytes(outside.read_bytes())
    link = place / "link.jsonl"
    link.symlink_to(moved)
    beside = place.parent / "linked"
    beside.symlink_to(program.folder)
    deeper = place / "deep" / "talk.jsonl"
    deeper.parent.mkdir()
    deeper.write_bytes(real.read_bytes())
    elsewhere = session(tree(program, "bakery"), name="elsewhere")
    return {
        "a text": outside,
        "a session in another place": moved,
        "a text in the place of sessions": note,
        "a link that leads out": link,
        "a folder that leads out": beside / "copy.jsonl",
        "dots that lead out": place / ".." / ".." / ".." / ".." / "copy.jsonl",
        "a folder that is no place of sessions": deeper,
        "a session of another project": elsewhere,
        "a relative path": Path(".claude/projects/office/talk.jsonl"),
    }


def test_a_file_that_is_no_session_of_the_agent_is_neither_noted_nor_read(
    reviewer: Reviewer,
) -> None:
    folder = filled(reviewer)
    files = AgentFiles(reviewer.db)
    paths = refused_paths(reviewer, folder)
    for number, (what, path) in enumerate(paths.items(), 1):
        told = event(folder, transcript_path=str(path))
        assert hook(reviewer, "claude-code", "SessionEnd", told) == "", what
        assert len(log(reviewer)) == number, what
        assert files.sessions() == [], what
    kept = hook(
        reviewer, "claude-code", "PreCompact", event(folder, transcript_path=str(paths["a text"]))
    )
    assert kept.startswith("Keep in the summary: the goal")
    started = event(folder, transcript_path=str(paths["a text"]))
    assert "thermal paper" in hook(reviewer, "claude-code", "SessionStart", started)
    assert len(log(reviewer)) == len(paths) + 2
    assert files.sessions() == []


def test_the_reader_checks_a_note_again(reviewer: Reviewer) -> None:
    """A note may be of an older version, or its file was replaced since."""
    folder = filled(reviewer)
    files = AgentFiles(reviewer.db)
    for path in refused_paths(reviewer, folder).values():
        note = SessionNote(
            agent="claude-code", session="one", path=str(path), cwd=str(folder),
            at="2026-03-02T10:00:00.000Z", ended=True,
        )  # fmt: skip
        files.note_session(note)
        reviewer.succeeds("read-sessions")
        read = files.session(note)
        assert read is not None
        assert read.problem, path
        assert read.problem in log(reviewer)[-1]
    rows = reviewer.rows("--project", folder.name, "queue", "list", "--status", "all")
    assert not [row for row in rows if "4711" in row["content"]]


SAID = "We never sell tickets on Sundays."


def write_cursor(program: Reviewer, folder: Path) -> Path:
    said = {"role": "user", "message": {"content": [{"type": "text", "text": SAID}]}}
    place = ".cursor/projects/office/agent-transcripts/one-1234-5678/one-1234-5678.jsonl"
    return lines(place, said)(program.home)


def write_gemini(program: Reviewer, folder: Path) -> Path:
    project = hashlib.sha256(str(folder).encode()).hexdigest()
    said = {"id": "m1", "timestamp": "2026-03-01T09:00:00Z", "type": "user", "content": SAID}
    place = f".gemini/tmp/{project}/chats/session-2026-03-01T09-00-one-1234.json"
    told = {"sessionId": "one-1234-5678", "projectHash": project, "messages": [said]}
    return document(place, told)(program.home)


def write_codex(program: Reviewer, folder: Path) -> Path:
    return codex_session(program.home, "one-1234-5678", folder, SAID)


def write_opencode(program: Reviewer, folder: Path) -> Path:
    return opencode_of_two(program.home, folder)


def write_claude(program: Reviewer, folder: Path) -> Path:
    return session(folder)


@pytest.mark.parametrize(
    ("agent", "name", "write", "key", "id_", "named"),
    [
        ("claude-code", "SessionEnd", write_claude, "session_id", "talk", True),
        ("codex", "SessionEnd", write_codex, "session_id", "one-1234-5678", False),
        ("gemini", "SessionEnd", write_gemini, "session_id", "one-1234-5678", False),
        ("cursor", "sessionEnd", write_cursor, "conversation_id", "one-1234-5678", True),
        ("opencode", "end", write_opencode, "sessionID", "o1", False),
    ],
)
def test_an_ended_session_is_read_in_the_shape_of_its_agent(
    reviewer: Reviewer,
    agent: str,
    name: str,
    write: Callable[[Reviewer, Path], Path],
    key: str,
    id_: str,
    named: bool,
) -> None:
    """The hook may name the transcript; else it is found by the id of the session."""
    folder = filled(reviewer)
    path = write(reviewer, folder)
    told = {"cwd": str(folder), key: id_, **({"transcript_path": str(path)} if named else {})}
    assert hook(reviewer, agent, name, json.dumps(told)) == ""
    files = AgentFiles(reviewer.db)
    until(lambda: files.sessions()[0].read_at)
    assert files.sessions()[0].problem == ""
    read = json.loads(reviewer("--project", folder.name, "ingest", path, "--json").stdout)
    # Of a database only the one session was read, so that reading all of it is something new.
    assert read["unchanged"] == (0 if agent == "opencode" else 1)


def test_an_ended_session_that_was_read_before_is_no_problem(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    path = session(folder)
    reviewer.succeeds("--project", folder.name, "ingest", path)
    hook(reviewer, "claude-code", "SessionEnd", event(folder, transcript_path=str(path)))
    files = AgentFiles(reviewer.db)
    until(lambda: files.sessions()[0].read_at)
    assert files.sessions()[0].problem == ""


def test_what_was_injected_is_not_learnt_again(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    text = injected("claude-code", hook(reviewer, "claude-code", "SessionStart", event(folder)))
    path = session(
        folder,
        [
            ("user", f"{text}\nPrint the queue length as well."),
            ("user", between_tags("- [Decision] We oil the gate motor every Monday: it squeaks.")),
            ("assistant", "I print the queue length below the date."),
        ],
        name="echo",
    )  # fmt: skip
    reviewer.succeeds("--project", folder.name, "ingest", path)
    rows = reviewer.rows("--project", folder.name, "queue", "list", "--status", "all")
    assert not [row for row in rows if "gate motor" in row["content"]]
    assert all(row["seen"] == 1 for row in rows)
    assert "gate motor" not in reviewer("view", path).stdout


def test_inside_our_own_headless_calls_nothing_happens(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    child = {"REVIEWER_CHILD": "1"}
    for name in ("SessionStart", "PreCompact", "SessionEnd"):
        assert hook(reviewer, "claude-code", name, event(folder), env=child) == ""
    assert not AgentFiles(reviewer.db).folder.exists()


def test_nothing_is_said_where_there_is_nothing(reviewer: Reviewer) -> None:
    filled(reviewer)
    other = tree(reviewer, "bakery")
    nowhere = reviewer.folder / "nowhere"
    nowhere.mkdir()
    for folder in (other, nowhere, reviewer.folder / "gone"):
        assert hook(reviewer, "claude-code", "SessionStart", event(folder)) == ""
    assert log(reviewer) == []


@pytest.mark.parametrize("told", ["", "[1]", "[" * 100_000, '{"cwd": 7}'])
def test_bad_input_is_a_line_in_the_log(reviewer: Reviewer, told: str) -> None:
    filled(reviewer)
    assert hook(reviewer, "claude-code", "SessionStart", told) == ""
    assert len(log(reviewer)) == (0 if told.startswith('{"cwd') else 1)


def test_a_store_that_is_missing_newer_or_broken_is_a_line_in_the_log(reviewer: Reviewer) -> None:
    folder = tree(reviewer)
    assert hook(reviewer, "claude-code", "SessionStart", event(folder)) == ""
    assert "There is no store" in log(reviewer)[-1]
    reviewer.succeeds("--project", folder.name, "ingest", folder / "notes.md")
    write(reviewer.db, "PRAGMA user_version = 999")
    assert hook(reviewer, "claude-code", "SessionStart", event(folder)) == ""
    assert len(log(reviewer)) == 2
    reviewer.db.write_bytes(b"not a store at all, but quite some text" * 100)
    for suffix in ("-wal", "-shm"):
        Path(f"{reviewer.db}{suffix}").unlink(missing_ok=True)
    assert hook(reviewer, "claude-code", "SessionStart", event(folder)) == ""
    assert len(log(reviewer)) == 3


def test_a_locked_store_does_not_stop_the_agent(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    with closing(sqlite3.connect(reviewer.db, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        told = event(folder)
        assert hook(reviewer, "claude-code", "SessionStart", told, preexec_fn=impatient) == ""
        connection.execute("ROLLBACK")
    (line,) = log(reviewer)
    assert "claude-code SessionStart: " in line
    assert "thermal paper" in hook(reviewer, "claude-code", "SessionStart", event(folder))


def test_a_planted_link_in_place_of_the_log_is_not_followed(reviewer: Reviewer) -> None:
    folder = tree(reviewer)
    victim = reviewer.folder / "victim.txt"
    victim.write_text("mine\n")
    files = AgentFiles(reviewer.db)
    files.folder.mkdir(mode=0o700)
    (files.folder / "hooks.log").symlink_to(victim)
    done = reviewer.succeeds("hook", "claude-code", "SessionStart", typed=event(folder))
    assert "The log cannot be written" in done.stderr
    assert victim.read_text() == "mine\n"


def test_a_mistyped_hook_says_what_there_is_and_never_exits_with_2(reviewer: Reviewer) -> None:
    """Exit code 2 blocks a prompt in Claude Code."""
    assert "SessionStart" in reviewer.fails("hook", "claude-code", "Nonsense", typed="{}")
    assert "opencode" in reviewer.fails("hook", "nobody", "SessionStart", typed="{}")
    assert "EVENT" in reviewer.fails("hook", "claude-code", typed="{}")
    assert "--loud" in reviewer.fails("hook", "claude-code", "PreCompact", "--loud", typed="{}")


def test_two_readers_do_not_read_a_session_twice(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    told = event(folder, transcript_path=str(session(folder)))
    hook(reviewer, "claude-code", "SessionEnd", told)
    readers = [reviewer.start("read-sessions", stdin=subprocess.DEVNULL) for _ in range(3)]
    for reader in readers:
        reader.communicate(timeout=PATIENCE)
        assert reader.returncode == 0
    files = AgentFiles(reviewer.db)
    until(lambda: files.sessions()[0].read_at)
    reviewer.succeeds("verify")
    assert oct(os.stat(files.folder).st_mode & 0o777) == "0o700"


STUCK = """
import sys, threading
from reviewer.agents.hooks import Hooks
from reviewer.main import main

def time_is_up(*_):
    next(each for each in threading.enumerate() if isinstance(each, threading.Timer)).function()

Hooks.{method} = time_is_up
sys.exit(main())
"""


@pytest.mark.parametrize("method", ["carry_out", "finish"])
def test_a_hook_ends_after_its_time(reviewer: Reviewer, method: str) -> None:
    """An answer that was complete is given."""
    folder = filled(reviewer)
    script = STUCK.format(method=method)
    done = subprocess.run(
        [sys.executable, "-c", script, "--db", reviewer.db, "hook", "claude-code", "SessionStart"],
        input=event(folder), env=reviewer.environment,
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert ("thermal paper" in done.stdout) is (method == "finish")
    assert "it took longer than 5 seconds" in log(reviewer)[-1]


SHORT = """
import sys
from reviewer.agents import events
from reviewer.main import main

events.TIMEOUTS["start"] = 0.1
sys.exit(main())
"""


def test_a_hook_ends_while_another_program_keeps_the_store_for_itself(reviewer: Reviewer) -> None:
    folder = filled(reviewer)
    with closing(sqlite3.connect(reviewer.db, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE project SET name = name")
        done = subprocess.run(
            [sys.executable, "-c", SHORT, "--db", reviewer.db, "hook", "codex", "SessionStart"],
            input=event(folder), env=reviewer.environment,
            capture_output=True, text=True, check=False, timeout=30,
        )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "it took longer than 0.1 seconds" in log(reviewer)[-1]


ENDLESS = """
import itertools, sys
from reviewer.agents.hooks import Hooks
from reviewer.agents import events
from reviewer.main import main

events.TIMEOUTS["start"] = 0.1
Hooks.carry_out = lambda self, told: max(itertools.repeat(0))
sys.exit(main())
"""


def test_a_hook_ends_inside_a_call_that_never_returns(reviewer: Reviewer) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS, "--db", reviewer.db, "hook", "claude-code", "SessionStart"],
        input=event(filled(reviewer)), env=reviewer.environment,
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("", "")
