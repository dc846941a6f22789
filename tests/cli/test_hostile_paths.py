"""Every command that takes a file or a folder, given the contents of a hostile disk: names with
newlines, escape sequences and bidi marks, loops of links, pipes, and lines of three megabytes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer
from tests.cli.test_hostile_fields import TERMINAL

NAME = "a\n\x1b]0;owned\x07\x1b[2J\u202egnp\u200b.md"
WORDS = (
    "We decided to print \x1b[31mreceipts\x07 in \u202ered\u202c ink\u200b because of \x9b2J it."
)
TAKES_A_FILE = [
    ["extract", "{}", "--json"],
    ["ingest", "{}"],
    ["summarize", "{}", "--level", "brief"],
    ["brief", "{}"],
    ["view", "{}"],
    ["propose", "{}", "--dry-run", "--command", "cat"],
    ["context", "import", "{}"],
    ["pipeline", "check", "{}"],
    ["pipeline", "show", "{}"],
    ["pipeline", "preamble", "{}", "--node", "a"],
    ["pipeline", "preamble", "desk.dot", "--node", "a", "--history", "{}"],
    ["pipeline", "run", "{}"],
    ["edit", "1", "--content-file", "{}"],
    ["remember", "--content-file", "{}", "--type", "decision"],
    ["packet", "--context-dir", "{}"],
    ["export", "--into", "{}", "--write"],
    ["export", "--context-dir", "{}", "--write"],
]


def folder_loop(folder: Path) -> Path:
    loop = folder / "loop"
    (loop / "deep").mkdir(parents=True)
    (loop / "deep" / "up").symlink_to(loop, target_is_directory=True)
    (loop / "self").symlink_to(loop / "self")
    (loop / "note.md").write_text(WORDS)
    return loop


def odd_name(folder: Path) -> Path:
    path = folder / NAME
    path.write_text(WORDS)
    return path


def odd_folder(folder: Path) -> Path:
    path = folder / f"dir{NAME}"
    (path / ".context").mkdir(parents=True)
    (path / ".context" / "TASKS.md").write_text(f"- [ ] {WORDS}\n")
    (path / NAME).write_text(WORDS)
    return path


def pipe(folder: Path) -> Path:
    path = folder / "pipe.jsonl"
    os.mkfifo(path)
    return path


def endless(folder: Path) -> Path:
    path = folder / "endless.md"
    path.symlink_to("/dev/zero")
    return path


def huge(folder: Path) -> Path:
    """100 MB that take no room on the disk."""
    path = folder / "huge.jsonl"
    with path.open("wb") as file:
        file.write(b'{"role": "user", "content": "')
        file.truncate(100_000_000)
    return path


def holes(folder: Path) -> Path:
    """Reading all of it would take minutes."""
    path = folder / "holes.json"
    path.touch()
    os.truncate(path, 200_000_000_000)
    return path


def no_text(folder: Path) -> Path:
    path = folder / "noise.md"
    path.write_bytes(bytes(range(256)) * 40)
    return path


def missing(folder: Path) -> Path:
    return folder / f"gone{NAME}" / NAME


HOSTILE = [folder_loop, odd_name, odd_folder, pipe, endless, huge, holes, no_text, missing]


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = Reviewer(tmp_path_factory.mktemp("stocked"))
    talk = program.folder / "talk.json"
    talk.write_text(json.dumps([{"role": "user", "content": WORDS}] * 3))
    for arguments in (["dev-seed", 3], ["promote", 2], ["context", "import", talk]):
        program.succeeds(*arguments)
    return program.db


@pytest.fixture
def program(tmp_path: Path, stocked: Path) -> Reviewer:
    made = Reviewer(tmp_path)
    made.db.write_bytes(stocked.read_bytes())
    (tmp_path / "desk.dot").write_text("digraph d { start -> a -> exit; a [prompt=x] }")
    return made


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_no_path_harms_the_terminal_or_ends_in_a_traceback(
    program: Reviewer, make: Callable[..., object]
) -> None:
    path = make(program.folder)
    for command in TAKES_A_FILE:
        arguments = [part.replace("{}", str(path)) for part in command]
        done = program(*arguments)
        said = done.stdout + done.stderr
        assert done.returncode in (0, 1, 2), (command, said)
        assert "Traceback" not in said, command
        assert "defect" not in said, (command, said)
        assert not TERMINAL.search(said), (command, TERMINAL.findall(said))
        if "--json" not in command and "desk.dot" not in command:
            assert len(done.stderr.splitlines()) <= 6, (command, done.stderr)
    program.nothing_lost()


def test_the_reports_of_a_wave_can_be_looked_at_in_a_terminal(program: Reviewer) -> None:
    path = odd_name(program.folder)
    program.succeeds("--project", "kiosk", "ingest", path)
    reports = [each for each in program.folder.glob("store.db-waves/*/*") if each.is_file()]
    assert [each for each in reports if "receipts" in each.read_text()]
    for report in reports:
        assert not TERMINAL.search(report.read_text()), report
