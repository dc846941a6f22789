"""A hook that carries a task answers within 150 ms: it looks at each entry once, and not again for
another task.
"""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from pathlib import Path

from reviewer.agents.agent_files import AgentFiles
from tests.cli.agent_projects import filled
from tests.cli.conftest import Reviewer

LOOKING = {"reviewer.text.secrets", "reviewer.text.inert_markdown"}
"""What looking at the text of an entry needs."""
NEVER = {
    "tiktoken", "rapidfuzz", "openai", "rich", "textual", "reviewer.sources.registry",
    "reviewer.promotion.lists.source_view", "reviewer.promotion.decisions.triage",
    "reviewer.packets.context_folder",
}  # fmt: skip
FIRST, SECOND = "Print tickets faster", "Open the gate in winter"
PRINTER = "<b>Star</b> TSP143, password = hunter2hunter2X9"


def asked(program: Reviewer, folder: Path, task: str) -> tuple[str, set[str]]:
    """What a session that begins with a task is given, and what the hook imported for it."""
    told = {"cwd": str(folder), "session_id": task, "prompt": task}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "reviewer", "--db", program.db,
         "hook", "claude-code", "SessionStart"],
        cwd=folder, env=program.environment, input=json.dumps(told), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    modules = re.findall(r"^import time:[^|]*\|[^|]*\|\s*(\S+)$", done.stderr, re.MULTILINE)
    return done.stdout, {*modules, *(module.partition(".")[0] for module in modules)}


def counts(program: Reviewer) -> list[Path]:
    """The files in which measured entries are kept."""
    return sorted((program.folder / "home" / ".cache" / "reviewer" / "packets").glob("*.json"))


def office(program: Reviewer) -> Path:
    folder = filled(program)
    done = program("--project", folder.name, "state", "set", "printer", PRINTER)
    assert done.returncode == 0, done.stderr
    return folder


def test_entries_are_looked_at_once_and_not_again_for_another_task(reviewer: Reviewer) -> None:
    folder = office(reviewer)
    _, imported = asked(reviewer, folder, FIRST)
    assert imported >= LOOKING
    assert not imported & NEVER
    text, imported = asked(reviewer, folder, SECOND)
    assert not imported & (LOOKING | NEVER)
    for path in counts(reviewer):
        path.unlink()
    again, imported = asked(reviewer, folder, f"{SECOND}.")
    assert imported >= LOOKING
    assert again == text
    assert "TSP143" in text
    assert "hunter2" not in text


def test_what_is_kept_of_entries_is_private_and_has_no_secret(reviewer: Reviewer) -> None:
    asked(reviewer, office(reviewer), FIRST)
    (path,) = counts(reviewer)
    assert "hunter2" not in path.read_text()
    assert "thermal paper" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_cache_that_cannot_be_written_is_a_line_in_the_log(reviewer: Reviewer) -> None:
    folder = office(reviewer)
    (reviewer.folder / "home" / ".cache").write_text("in the way\n")
    text, _ = asked(reviewer, folder, FIRST)
    assert "thermal paper" in text
    log = AgentFiles(reviewer.db).folder / "hooks.log"
    assert "Token counts cannot be cached" in log.read_text()
