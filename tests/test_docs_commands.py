"""Every command line that a page shows is typed in a fresh folder, on the sample data."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli import warm
from tests.generate_docs import DOCS
from tests.waiting import PATIENCE

ROOT = DOCS.parent
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
DONE_ELSEWHERE = {"tour.md", "commands.md", "screens.md"}
"""The tour is made of the output of its commands; the page of commands shows only forms of them;
that of the screens has none.
"""

NOT_TYPED = {
    r"reviewer": "needs a terminal: tests/terminal",
    r"python3 -m venv .*|pipx install .*|pip install .*": "needs a package index: .ci/run",
    r"reviewer fleet run ~/sessions .*|reviewer fleet import parts.*":
        "needs the extra fleet: tests/fleet",
    r"reviewer fleet .*(?:s3|tcp)://.*": "needs a bucket or a cluster: tests/fleet",
    r"reviewer .* --db /srv/reviewer/.*": "needs a folder for a group: tests/cli/test_team.py",
    r"sudo .*": "needs the rights of an administrator",
    r"export .*": "a setting of the shell",
}  # fmt: skip
"""Command lines that are not typed here, as patterns, and why."""

SESSION = "claude/projects/-home-dev-ledger-api/6b1d2f4e-93a7-4c58-8f0e-2d7c5a91b3e6.jsonl"
OF_THE_SHELL = re.compile(r"[|<>$&;*?~`()]")
BLOCK = re.compile(r"^```(?:console|sh|bash)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ )?((?:reviewer|python3|pipx?|sudo|export)\b.*)$", re.MULTILINE)

REMARK = re.compile(r" {2,}# .*$")
"""What a page says of a command, behind it."""


def commands(page: Path) -> list[str]:
    """The command lines of a page, in their order."""
    blocks: list[str] = BLOCK.findall(page.read_text("utf-8"))
    found = []
    for block in blocks:
        shown = block.startswith("$ ") or "\n$ " in block
        found += [
            REMARK.sub("", match[1])
            for match in COMMAND.finditer(block)
            if match[0].startswith("$ ") or not shown
        ]
    return found


def why_not(command: str) -> str:
    """Why a command line is not typed here; empty if it is."""
    return next((why for form, why in NOT_TYPED.items() if re.fullmatch(form, command)), "")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A project and a home folder with everything that the pages name."""
    sample, work, home = ROOT / "sample_data", tmp_path / "work", tmp_path / "home"
    shutil.copytree(sample / "notes", work / "notes")
    (work / "docs" / "decisions").mkdir(parents=True)
    shutil.copy(next((sample / "notes").glob("*.md")), work / "notes" / "meeting.md")
    shutil.copy(work / "notes" / "meeting.md", work / "docs" / "decisions" / "0001-store.md")
    shutil.copytree(sample / ".context", work / ".context")
    shutil.copy(sample / SESSION, work / "session.jsonl")
    shutil.copy(sample / "pipelines" / "release.dot", work)
    stages = [{"node": "start"}, {"node": "analyze", "outcome": "success", "notes": "One sender."}]
    (work / "run.json").write_text(json.dumps({"run_id": "r1", "completed": stages}))
    with zipfile.ZipFile(work / "export.zip", "w") as export:
        export.writestr("chat.html", "")
        export.writestr("conversations.json", "[]")
    places = (
        ".claude/projects/-home-you-work-app/memory", ".codex/memories", ".ssh", "Dropbox/reviewer",
    )  # fmt: skip
    for folder in places:
        (home / folder).mkdir(parents=True)
    note = "# Rules\n\n- Always run `make check` before a commit.\n"
    (home / ".claude/projects/-home-you-work-app/memory/MEMORY.md").write_text(note)
    (home / ".codex/memories/MEMORY.md").write_text(note)
    (home / ".gemini").mkdir()
    (home / ".gemini/GEMINI.md").write_text(note)
    here = home / ".claude" / "projects" / re.sub(r"\W", "-", str(work)) / "session.jsonl"
    here.parent.mkdir()
    here.write_text((sample / SESSION).read_text().replace("/home/dev/ledger-api", str(work)))
    subprocess.run(["git", "init", "-q", work], check=True)
    typed("reviewer ingest .context && reviewer promote 2", tmp_path)
    return tmp_path


def typed(command: str, desk: Path) -> subprocess.CompletedProcess[str]:
    """Type a command line in the project, with a home folder of its own.

    `connect`, `disconnect` and `forget` ask on a terminal; here they are told the answer.
    """
    if re.match(r"reviewer (?:(?:dis)?connect \w|forget )", command):
        command += " --yes"
    program = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"HOME": str(desk / "home"), "PATH": program, "LANG": "C.UTF-8", "COLUMNS": "100"}
    words = shlex.split(command)
    if words[0] == "reviewer" and not OF_THE_SHELL.search(command):
        return warm.call(words[1:], desk / "work", own, None, PATIENCE)
    return subprocess.run(
        ["bash", "-c", command],
        cwd=desk / "work", env=own, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in DONE_ELSEWHERE and commands(page)],
    ids=lambda page: page.name,
)
def test_what_a_page_says_to_type_works(desk: Path, page: Path) -> None:
    if "decisions export --sign" in page.read_text("utf-8"):
        if shutil.which("ssh-keygen") is None:
            pytest.skip("ssh-keygen is not installed")
        sign_key(desk)
    problems = []
    for command in filter(lambda each: not why_not(each), commands(page)):
        done = typed(command, desk)
        if done.returncode or "Traceback" in done.stderr:
            problems.append(f"$ {command}\n{done.stdout[-300:]}{done.stderr[-600:]}")
    assert not problems, "\n".join(problems)


def sign_key(desk: Path) -> None:
    """A key to sign with, and a file that trusts it."""
    key = desk / "home" / ".ssh" / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (desk / "work" / ".config").mkdir()
    public = key.with_suffix(".pub").read_text().split()
    (desk / "work" / ".config" / "signers").write_text(f"anna {public[0]} {public[1]}\n")


def test_every_reason_not_to_type_a_command_is_needed() -> None:
    shown = [command for page in PAGES for command in commands(page)]
    unused = [form for form in NOT_TYPED if not any(re.fullmatch(form, each) for each in shown)]
    assert unused == []
