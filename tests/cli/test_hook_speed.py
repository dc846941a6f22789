"""A hook that carries a task loads little: an agent waits for it at the start of a session."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.agent_projects import filled
from tests.cli.conftest import Reviewer

NEVER = {
    "tiktoken", "rapidfuzz", "openai", "rich", "textual", "reviewer.sources.registry",
    "reviewer.promotion.lists.source_view", "reviewer.promotion.decisions.triage",
    "reviewer.packets.context_folder",
}  # fmt: skip
TASK = "Print tickets faster"
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


def office(program: Reviewer) -> Path:
    folder = filled(program)
    done = program("--project", folder.name, "state", "set", "printer", PRINTER)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_start_imports_nothing_that_it_does_not_need(reviewer: Reviewer) -> None:
    folder = office(reviewer)
    text, imported = asked(reviewer, folder, TASK)
    assert not imported & NEVER
    assert "TSP143" in text
    assert "hunter2" not in text
