"""`reviewer connect` and `disconnect`: foreign files before, connected, changed, disconnected."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.cli.agent_projects import filled, tree
from tests.cli.conftest import Reviewer
from tests.waiting import PATIENCE

AGENTS = ("claude-code", "codex", "gemini", "opencode", "copilot", "cursor")

CLAUDE = """{
  // how I like it
  "theme": "dark",
  "hooks": {
    "SessionStart": [
      {"hooks": [{"type": "command", "command": "date"}]} // the date
    ]
  },
}
"""

FILES = {
    "claude-code": {
        ".claude.json": '{\n  "numStartups": 4,\n  "mcpServers": {}\n}\n',
        ".claude/settings.json": CLAUDE,
    },
    "codex": {
        ".codex/config.toml": 'model = "gpt-5" # mine\n\n[mcp_servers.other]\ncommand = "x"',
        ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": []}]}}',
    },
    "gemini": {".gemini/settings.json": '{\r\n\t"ui": {"theme": "x"}\r\n}'},
    "opencode": {".config/opencode/opencode.jsonc": '{\n  // model\n  "model": "a/b"\n}\n'},
    "copilot": {".copilot/mcp-config.json": '{"mcpServers": {"other": {"command": "x"}}}\n'},
    "cursor": {".cursor/hooks.json": '{\n    "version": 1,\n    "hooks": {}\n}\n'},
}
"""What a home has before, by agent."""


def put(program: Reviewer, agent: str, root: Path | None = None) -> None:
    for name, text in FILES[agent].items():
        path = (root or program.home) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file with its bytes, and every folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if ".local" not in path.parts and ".cache" not in path.parts
    }


def connect(program: Reviewer, *arguments: str) -> subprocess.CompletedProcess[str]:
    return program.succeeds("connect", *arguments, "--yes")


@pytest.mark.parametrize("with_files", [False, True])
@pytest.mark.parametrize("agent", AGENTS)
def test_disconnecting_leaves_every_byte_as_it_was(
    reviewer: Reviewer, agent: str, with_files: bool
) -> None:
    if with_files:
        put(reviewer, agent)
    before = snapshot(reviewer.home)
    done = connect(reviewer, agent)
    assert "+" in done.stdout
    assert f"reviewer disconnect {agent} takes it back" in done.stderr
    after = snapshot(reviewer.home)
    assert after != before
    for name, data in before.items():
        for line in (data or b"").splitlines():
            assert line.partition(b"//")[2] in (after[name] or b"")  # comments
    assert "already connected" in reviewer("connect", agent, "--yes").stderr
    done = reviewer.succeeds("disconnect", agent, "--yes")
    assert snapshot(reviewer.home) == before
    assert "is not connected" in reviewer.fails("disconnect", agent, "--yes")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_project_is_connected_in_its_own_folder(reviewer: Reviewer, agent: str) -> None:
    folder = filled(reviewer)
    before, own = snapshot(folder), snapshot(reviewer.home)
    asked = reviewer("connect", agent, "--project", "--block", cwd=folder)
    assert f"{reviewer.db} on this machine only: keep them out of commits" in asked.stderr
    assert snapshot(folder) == before
    reviewer.succeeds("connect", agent, "--project", "--block", "--yes", cwd=folder)
    after = snapshot(folder)
    blocks = [name for name, data in after.items() if data and b"reviewer:begin" in data]
    assert blocks == [{"claude-code": "CLAUDE.md", "gemini": "GEMINI.md"}.get(agent, "AGENTS.md")]
    assert b"thermal paper" in (after[blocks[0]] or b"")
    assert snapshot(reviewer.home) == own
    reverted = reviewer("disconnect", agent, "--project", "--yes", cwd=folder)
    assert (reverted.returncode, "out of commits" in reverted.stderr) == (0, False)
    assert snapshot(folder) == before


def test_nothing_is_written_before_the_person_agrees(reviewer: Reviewer) -> None:
    put(reviewer, "claude-code")
    before = snapshot(reviewer.home)
    done = reviewer("connect", "claude-code")
    assert done.returncode == 1
    assert '+    "reviewer": {' in done.stdout
    assert "Nothing was written" in done.stderr
    assert "out of commits" not in done.stderr
    assert snapshot(reviewer.home) == before


def test_the_entry_and_the_hooks_start_this_program_on_this_store(reviewer: Reviewer) -> None:
    connect(reviewer, "claude-code")
    entry = json.loads((reviewer.home / ".claude.json").read_text())["mcpServers"]["reviewer"]
    assert entry["args"] == ["--db", str(reviewer.db), "mcp", "--agent", "claude-code"]
    assert os.access(entry["command"], os.X_OK)
    hooks = json.loads((reviewer.home / ".claude" / "settings.json").read_text())["hooks"]
    assert set(hooks) == {
        "SessionStart", "PreCompact", "SessionEnd", "UserPromptSubmit", "PostToolUseFailure",
    }  # fmt: skip
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    folder = filled(reviewer)
    done = subprocess.run(
        command, shell=True, input=json.dumps({"cwd": str(folder), "session_id": "s"}),
        capture_output=True, text=True, env=reviewer.environment, check=False,
    )  # fmt: skip
    assert "thermal paper" in done.stdout
    assert done.stderr == ""
    named = ("--project", folder.name)
    reviewer.succeeds(*named, "connect", "gemini", "--project", "--yes", cwd=folder)
    settings = json.loads((folder / ".gemini" / "settings.json").read_text())
    assert settings["mcpServers"]["reviewer"]["args"][2:4] == [*named]


def test_what_others_wrote_since_stays(reviewer: Reviewer) -> None:
    put(reviewer, "claude-code")
    put(reviewer, "codex")
    connect(reviewer, "claude-code")
    connect(reviewer, "codex")
    path = reviewer.home / ".claude.json"
    value = json.loads(path.read_text())
    value["numStartups"] = 5
    value["mcpServers"]["mine"] = {"command": "m"}
    path.write_text(json.dumps(value))  # as Claude Code does at each start
    config = reviewer.home / ".codex" / "config.toml"
    config.write_text(config.read_text() + '\n[projects."/x"]\ntrust_level = "trusted"\n')
    reviewer.succeeds("disconnect", "claude-code", "--yes")
    assert json.loads(path.read_text()) == {
        "numStartups": 5,
        "mcpServers": {"mine": {"command": "m"}},
    }
    reviewer.succeeds("disconnect", "codex", "--yes")
    text = config.read_text()
    assert text.startswith(FILES["codex"][".codex/config.toml"])
    assert set(tomllib.loads(text)) == {"model", "mcp_servers", "projects"}
    assert set(tomllib.loads(text)["mcp_servers"]) == {"other"}


@pytest.mark.parametrize(
    ("agent", "name", "old", "new", "named"),
    [
        ("claude-code", ".claude/settings.json", '"timeout": 20', '"timeout": 99', "PreCompact"),
        ("claude-code", ".claude.json", '"stdio"', '"sse"', "mcpServers.reviewer"),
        ("codex", ".codex/config.toml", '"mcp"', '"mcp2"', "mcp_servers.reviewer"),
        ("copilot", ".copilot/hooks/reviewer.json", '"version": 1', '"version": 2', ""),
        ("opencode", ".config/opencode/plugin/reviewer.js", "resolve", "dissolve", ""),
    ],
)
def test_what_somebody_changed_stays_and_is_named(
    reviewer: Reviewer, agent: str, name: str, old: str, new: str, named: str
) -> None:
    connect(reviewer, agent)
    path = reviewer.home / name
    path.write_text(path.read_text().replace(old, new, 1))
    done = reviewer("disconnect", agent, "--yes")
    assert done.returncode == 1
    said = done.stderr.partition(str(path))[2]
    assert f"{named} was changed since, so it stays." in said
    assert new in path.read_text()
    others = [each for each in reviewer.home.rglob("*") if each.is_file() and each != path]
    assert not [each for each in others if b"reviewer" in each.read_bytes()]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "not an object"),
        ('{"mcpServers": {"a": 1, "a": 2, "reviewer": 1}}', "already has"),
        ('{"mcpServers": {}, "mcpServers": {}}', "second time"),
        ("\x00\ufffe", "not JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_and_nothing_is_touched(
    reviewer: Reviewer, text: str, reason: str
) -> None:
    (reviewer.home / ".claude.json").write_text(text)
    before = snapshot(reviewer.home)
    line = reviewer.fails("connect", "claude-code", "--yes")
    assert reason in line
    assert ".claude.json" in line
    assert snapshot(reviewer.home) == before


def test_links_planted_in_a_project_are_refused(reviewer: Reviewer) -> None:
    folder = tree(reviewer)
    victim = reviewer.folder / "victim.json"
    victim.write_text("{}")
    links = {folder / ".mcp.json": victim, folder / ".claude": reviewer.folder}
    for link, target in links.items():
        link.symlink_to(target)
        done = reviewer("connect", "claude-code", "--project", "--yes", cwd=folder)
        assert done.returncode == 1
        assert "through a link" in done.stderr
        assert victim.read_text() == "{}"
        assert not (reviewer.folder / "settings.json").exists()
        link.unlink()


def test_a_link_of_the_person_in_the_home_stays_a_link(reviewer: Reviewer) -> None:
    dotfiles = reviewer.folder / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "settings.json").write_text(CLAUDE)
    (reviewer.home / ".claude").mkdir()
    link = reviewer.home / ".claude" / "settings.json"
    link.symlink_to(dotfiles / "settings.json")
    connect(reviewer, "claude-code")
    assert link.is_symlink()
    assert "PreCompact" in (dotfiles / "settings.json").read_text()
    reviewer.succeeds("disconnect", "claude-code", "--yes")
    assert link.is_symlink()
    assert (dotfiles / "settings.json").read_text() == CLAUDE


def test_a_file_of_the_same_name_that_is_not_ours_is_refused(reviewer: Reviewer) -> None:
    path = reviewer.home / ".config" / "opencode" / "plugin" / "reviewer.js"
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = async () => ({})\n")
    before = snapshot(reviewer.home)
    assert "was not written by reviewer" in reviewer.fails("connect", "opencode", "--yes")
    assert snapshot(reviewer.home) == before


def test_a_read_only_file_is_refused_before_anything_is_written(reviewer: Reviewer) -> None:
    put(reviewer, "claude-code")
    path = reviewer.home / ".claude" / "settings.json"
    path.chmod(0o400)
    before = snapshot(reviewer.home)
    assert "is read-only" in reviewer.fails("connect", "claude-code", "--yes")
    assert snapshot(reviewer.home) == before


def test_two_connecting_at_once_leave_whole_files(reviewer: Reviewer) -> None:
    before = snapshot(reviewer.home)
    both = [reviewer.start("connect", agent, "--yes") for agent in ("gemini", "codex", "gemini")]
    for each in both:
        each.communicate(timeout=PATIENCE)
    json.loads((reviewer.home / ".gemini" / "settings.json").read_text())
    for agent in ("gemini", "codex"):
        reviewer.succeeds("disconnect", agent, "--yes")
    assert snapshot(reviewer.home) == before


def test_a_damaged_record_says_where_the_backups_are(reviewer: Reviewer) -> None:
    connect(reviewer, "gemini")
    (Path(f"{reviewer.db}-agents") / "connections.json").write_text("{")
    assert "Backups of every changed file" in reviewer.fails("disconnect", "gemini", "--yes")


def test_the_table_names_what_is_missing(reviewer: Reviewer) -> None:
    connect(reviewer, "codex")
    (reviewer.home / ".codex" / "hooks.json").unlink()
    done = reviewer("connect")
    assert "hooks.json is gone" in done.stderr
    rows = {row["agent"]: row for row in reviewer.rows("connect")}
    assert set(rows) == set(AGENTS)
    assert rows["codex"]["connected"] == ["user"]
    assert rows["gemini"]["connected"] == []
    assert any("approve" in sentence for sentence in rows["codex"]["missing"])


def test_wrong_usage_is_a_sentence(reviewer: Reviewer) -> None:
    reviewer.fails("connect", "emacs", code=2)
    reviewer.fails("connect", "--yes", code=2)
    reviewer.fails("connect", "codex", "--block", code=2)
    assert "not in a git work tree" in reviewer.fails("connect", "codex", "--project", "--yes")
