"""Writes docs/agent-runs.md from runs of the real agents: `python -m tests.clients.record FOLDER`,
where npm has installed them in FOLDER.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from reviewer.agents.wiring import AGENTS
from tests.cli.conftest import Reviewer

VARIABLE = "PYTEST_AGENT_RECORD"
"""Names a folder for the parts of the page."""

TREE = Path(__file__).resolve().parent.parent.parent
PAGE = TREE / "docs" / "agent-runs.md"
TESTS = "gets_the_packet_and_proposes or what_a_compaction_must_keep"
PACKAGES = {
    "claude-code": "@anthropic-ai/claude-code-linux-x64", "codex": "@openai/codex",
    "gemini": "@google/gemini-cli", "opencode": "opencode-ai", "copilot": "@github/copilot",
}  # fmt: skip
CONNECTED, PACKET, PROPOSAL, COMPACTION, DISCONNECTED = range(1, 6)
TITLES = {
    CONNECTED: "Connected",
    PACKET: "The packet, as it is in the request to its model",
    PROPOSAL: "What it proposed, in the queue",
    COMPACTION: "What it was told to keep in a compaction, as it is in the request to its model",
    DISCONNECTED: "Disconnected, and each file compared with what it was",
}
OPENING = """# Runs of real agents

Each agent was connected, run with its real program against a model of our own on the same machine,
and disconnected. This page is written from these runs by `python -m tests.clients.record`
([contributing](contributing.md)); only paths are shortened, and the names of backups.
"""

_BACKUP = re.compile(r"\.[0-9a-f]{8}\.\d{8}T[\d.]+(?:-\d+)?\.bak")


def record(program: Reviewer, agent: str, part: int, text: str) -> None:
    """Keep a part of a run, where a record is made."""
    if folder := os.environ.get(VARIABLE):
        Path(folder, f"{agent}-{part}.txt").write_text(_plain(program, text))


def printed(done: subprocess.CompletedProcess[str]) -> str:
    """What a command printed, in the order in which a person sees it."""
    first, _, rest = done.stderr.partition("\n")
    return f"{first}\n{done.stdout}{rest}"


def _plain(program: Reviewer, text: str) -> str:
    """A text without the paths of this machine."""
    home = str(program.folder / "home")
    own = str(Path(sys.executable).parent / "reviewer")
    paths = {
        own: "reviewer", f"--- a{home}": "--- a/~", f"+++ b{home}": "+++ b/~", home: "~",
        str(program.folder): "~/work",
    }  # fmt: skip
    for path, shown in paths.items():
        text = text.replace(path, shown)
    return _BACKUP.sub(".….bak", text).strip()


def page(folder: Path) -> str:
    """The page, from the parts in a folder."""
    pinned = json.loads((Path(__file__).parent / "package.json").read_text())["dependencies"]
    lines = [OPENING]
    for agent, package in PACKAGES.items():
        lines.append(f"## {AGENTS[agent].title} {pinned[package]}\n")
        for part, title in TITLES.items():
            path = folder / f"{agent}-{part}.txt"
            if part == COMPACTION and not AGENTS[agent].compaction:
                lines.append(f"{AGENTS[agent].title} cannot be told what a compaction must keep.\n")
                continue
            language = "text" if part in (PACKET, COMPACTION) else "console"
            lines.append(f"### {title}\n\n```{language}\n{path.read_text()}\n```\n")
    return "\n".join(lines)


def main() -> int:
    """Run the tests that keep parts, and write the page if they pass."""
    with tempfile.TemporaryDirectory() as parts:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "tests/clients", "-n", "2", "-k", TESTS],
            cwd=TREE,
            env={**os.environ, VARIABLE: parts, "PYTEST_AGENT_CLIENTS": sys.argv[1]},
            check=False,
        )
        if done.returncode == 0:
            PAGE.write_text(page(Path(parts)), encoding="utf-8")
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
