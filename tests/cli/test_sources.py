"""`reviewer sources`, `reviewer ingest` without a path, and `reviewer watch`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer
from tests.unit.sources.builders import Session
from tests.unit.sources.families import CODEX, CRUSH, codex_session, lines, opencode_of_two


@pytest.fixture
def shop(tmp_path: Path) -> Reviewer:
    """A project with a git work tree and a home folder of its own."""
    program = Reviewer(tmp_path)
    (tmp_path / ".git").mkdir()
    return program


def codex(
    program: Reviewer, name: str, cwd: Path | str, text: str = "We never sell on Sundays."
) -> Path:
    """A Codex session in its usual place."""
    return codex_session(program.home, name, cwd, text)


def claude(program: Reviewer, cwd: Path | str, name: str = "s1") -> Path:
    """A Claude Code session in its usual place."""
    session = Session(name)
    session.user("Always weigh the trays twice before you print the label.", cwd=str(cwd))
    path = program.home / ".claude" / "projects" / "shop" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(session.bytes())
    return path


def listed(program: Reviewer, *options: str) -> dict[str, int]:
    """Agent -> number of sessions."""
    return {row["format"]: row["sessions"] for row in program.rows("sources", *options, "--json")}


def test_the_sessions_of_this_project_are_listed_and_others_only_counted(shop: Reviewer) -> None:
    codex(shop, "a", shop.folder)
    codex(shop, "b", shop.folder / "src" / "gone")
    codex(shop, "c", "/somewhere/else")
    claude(shop, shop.folder)
    assert listed(shop) == {"codex": 2, "claude-code": 1}
    assert listed(shop, "--all") == {"codex": 3, "claude-code": 1}
    shown = shop("sources")
    assert "Codex CLI" in shown.stdout
    assert "0 read" in shown.stdout
    assert "Of other projects: 1 session." in shown.stderr
    assert "reviewer ingest" in shown.stderr


def test_ingest_without_a_path_reads_this_project_once(shop: Reviewer) -> None:
    codex(shop, "a", shop.folder)
    codex(shop, "c", "/somewhere/else", "We always sell elsewhere on Mondays.")
    first = shop.succeeds("ingest", "--json")
    assert "Reading 1 session (Codex CLI 1) of this project." in first.stderr
    assert json.loads(first.stdout)["files"] == 1
    assert "all read" in shop("sources").stdout
    again = shop.rows("ingest")[0]
    assert (again["files"], again["unchanged"], again["new"]) == (0, 1, 0)


def test_of_a_database_of_several_projects_only_this_one_is_read(shop: Reviewer) -> None:
    path = opencode_of_two(shop.home, shop.folder)
    assert listed(shop) == {"opencode": 1}
    assert listed(shop, "--all") == {"opencode": 2}
    part = shop.rows("ingest")[0]
    assert part["records"] == 4
    assert shop.rows("ingest")[0]["unchanged"] == 1
    whole = shop.rows("ingest", path)[0]
    assert whole["records"] == 8


def test_links_in_the_places_of_agents_are_not_followed(shop: Reviewer, tmp_path: Path) -> None:
    kept = codex(shop, "a", shop.folder)
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "rollout-x.jsonl").write_bytes(kept.read_bytes())
    (kept.parent / "rollout-y.jsonl").symlink_to(secret / "rollout-x.jsonl")
    (kept.parent / "folder").symlink_to(secret)
    assert listed(shop) == {"codex": 1}


def test_sessions_of_linked_work_trees_belong_to_the_project(shop: Reviewer) -> None:
    other = shop.folder.parent / f"{shop.folder.name}-fix"
    other.mkdir()
    marker = shop.folder / ".git" / "worktrees" / "fix"
    marker.mkdir(parents=True)
    (marker / "gitdir").write_text(f"{other}/.git\n")
    (marker / "commondir").write_text("../..\n")
    (other / ".git").write_text(f"gitdir: {marker}\n")
    codex(shop, "a", other)
    codex(shop, "b", other / "src")
    assert listed(shop) == {"codex": 2}


def test_sessions_of_another_clone_are_not_of_this_project(shop: Reviewer) -> None:
    config = '[remote "origin"]\n\turl = https://example.test/team/shop.git\n'
    clones = (shop.folder, shop.home / "clone", shop.folder.parent / f"{shop.folder.name}-clone")
    for number, clone in enumerate(clones):
        (clone / ".git").mkdir(parents=True, exist_ok=True)
        (clone / ".git" / "config").write_text(config)
        codex(shop, str(number), clone)
    assert listed(shop) == {"codex": 1}


def test_a_variable_names_another_place(shop: Reviewer) -> None:
    root = shop.home / "elsewhere"
    (root / "sessions").mkdir(parents=True)
    CODEX.write(root / "sessions")
    shop.environment["CODEX_HOME"] = "elsewhere"
    assert listed(shop, "--all") == {}, "only an absolute path is one place"
    shop.environment["CODEX_HOME"] = str(root)
    assert listed(shop, "--all") == {"codex": 1}


def test_watch_reads_what_has_been_added(shop: Reviewer) -> None:
    path = codex(shop, "a", shop.folder)
    first = shop("watch", "--once")
    assert "wave 1: 1 file, 1 new record" in first.stdout
    nothing = shop("watch", "--once")
    assert (nothing.stdout, nothing.stderr) == ("", "Nothing is new.\n")
    with path.open("a") as file:
        payload = {"type": "user_message", "message": "We never open before nine o'clock."}
        file.write(json.dumps({"type": "event_msg", "payload": payload}) + "\n")
    assert "wave 2: 1 file, 1 new record" in shop("watch", "--once").stdout


def test_sessions_of_sub_agents_are_counted_apart(shop: Reviewer) -> None:
    session = Session("s1")
    session.user("Look for the scale.", cwd=str(shop.folder))
    path = claude(shop, shop.folder).with_suffix("") / "subagents" / "agent-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(session.bytes())
    (row,) = shop.rows("sources", "--json")
    assert (row["sessions"], row["subagents"]) == (1, 1)
    assert "and 1 of sub-agents" in shop("sources").stdout
    assert "Claude Code (sub-agent)" in shop("sources", "--files").stdout
    before_its_database = shop.home / ".local/share/opencode/storage/session/global/ses_2.json"
    before_its_database.parent.mkdir(parents=True)
    told = {"id": "ses_2", "directory": str(shop.folder), "parentID": "ses_1"}
    before_its_database.write_text(json.dumps(told))
    assert "OpenCode (sub-agent)" in shop("sources", "--files").stdout


def test_candidates_are_found_by_agent_session_branch_model_and_time(shop: Reviewer) -> None:
    write = lines(
        ".codex/sessions/rollout-a.jsonl",
        {
            "type": "session_meta",
            "payload": {"id": "a", "cwd": str(shop.folder), "git": {"branch": "trays"}},
        },
        {"type": "turn_context", "payload": {"model": "gpt-9"}},
        {
            "timestamp": "2026-03-01T09:00:00Z",
            "type": "event_msg",
            "payload": {
                "type": "user_message",
                "message": "We always use thermal paper without BPA for all printers.",
            },
        },
    )
    write(shop.home)
    shop.succeeds("ingest", "--json")
    terms = (
        "agent:codex", "agent:claude", "session:a", "branch:trays", "branch:main", "model:gpt",
        "since:2026-02-01", "since:2026-04", "since:2027",
    )  # fmt: skip
    found = [term for term in terms if shop.ids("--filter", term)]
    assert found == ["agent:codex", "session:a", "branch:trays", "model:gpt", "since:2026-02-01"]


def test_one_session_of_a_database_is_viewed_and_imported(shop: Reviewer) -> None:
    path = opencode_of_two(shop.home, shop.folder)
    assert shop("view", path).stdout.count("USER: Water the plants.") == 2
    assert shop("view", path, "--session", "o2").stdout.count("USER: Water the plants.") == 1
    both = [
        shop.rows("context", "import", path, "--session", name)[0] for name in ("o1", "o2", "o2")
    ]
    assert [one["commits"] for one in both] == [both[0]["commits"], both[0]["commits"], 0]
    names = {row["name"] for row in shop.rows("context", "list", "--json")}
    assert names == {"opencode-o1", "opencode-o2"}


def test_every_session_is_listed_with_its_folder(shop: Reviewer) -> None:
    codex(shop, "a", shop.folder)
    codex(shop, "b", shop.folder.parent / "moved-away")
    shown = shop("sources", "--all", "--files").stdout
    assert f"in {shop.folder}\n" in shown
    assert f"in {shop.folder.parent / 'moved-away'}, which is gone" in shown


def test_sessions_of_the_folder_that_a_project_was_moved_from_are_its_own(shop: Reviewer) -> None:
    old = shop.folder.parent / "moved-away"
    codex(shop, "b", old / "src")
    assert listed(shop) == {}
    done = shop("sources", "--moved-from", old)
    assert (done.returncode, "reviewer undo" in done.stderr) == (0, True)
    assert listed(shop) == {"codex": 1}
    assert shop.rows("ingest")[0]["files"] == 1
    assert "belong to project" in shop.fails("--project", "other", "sources", "--moved-from", old)
    shop.succeeds("undo")
    assert listed(shop) == {}
    assert "not a folder of one project" in shop.fails("sources", "--moved-from", "/")


def test_a_database_in_the_project_is_its_own_though_its_files_are_elsewhere(
    shop: Reviewer,
) -> None:
    with closing(sqlite3.connect(CRUSH.write(shop.folder))) as connection, connection:
        connection.execute("ALTER TABLE files ADD COLUMN path TEXT")
        connection.execute("INSERT INTO files VALUES ('f1', '/work/bells/bell.py')")
    assert listed(shop) == {"crush": 1}


def test_a_moved_work_tree_keeps_its_project_and_the_sessions_of_its_old_folder(
    reviewer: Reviewer,
) -> None:
    old, new = reviewer.folder / "old" / "shop", reviewer.folder / "new" / "shop"
    (old / ".git").mkdir(parents=True)
    codex(reviewer, "a", old)
    reviewer.succeeds("ingest", cwd=old)
    new.parent.mkdir()
    old.rename(new)
    asked = reviewer("ingest", cwd=new)
    assert (asked.returncode, "which is gone. If it was moved here" in asked.stderr) == (1, True)
    note = new / "note.md"
    note.write_text("# Notes\n\n- [Decision] Trays are weighed twice.\n")
    reviewer.succeeds("--project", "shop", "ingest", note, cwd=new)
    codex(reviewer, "b", old)
    rows = reviewer("sources", "--json", cwd=new)
    assert json.loads(rows.stdout)["sessions"] == 2
