"""Every command that takes a file or a folder, given the contents of a hostile disk: names with
newlines, escape sequences and bidi marks, loops of links, pipes, and lines of three megabytes."""

from __future__ import annotations

import json
import os
import socket
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
    ["view", "{}"],
    ["propose", "{}", "--dry-run", "--command", "cat"],
    ["context", "import", "{}"],
    ["pipeline", "check", "{}"],
    ["pipeline", "show", "{}"],
    ["pipeline", "preamble", "{}", "--node", "a"],
    ["pipeline", "preamble", "desk.dot", "--node", "a", "--history", "{}"],
    ["pipeline", "run", "{}"],
    ["pipeline", "run", "desk.dot", "--run-dir", "{}"],
    ["edit", "1", "--content-file", "{}"],
    ["remember", "--content-file", "{}", "--type", "decision"],
    ["packet", "--context-dir", "{}"],
    ["packet", "--out", "{}"],
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


def link_to_itself(folder: Path) -> Path:
    path = folder / "self.md"
    path.symlink_to(path)
    return path


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


def socket_file(folder: Path) -> Path:
    path = folder / "talk.jsonl"
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(folder)  # the name of a socket is short
            listening.bind(path.name)
        finally:
            os.fchdir(here)
            os.close(here)
    return path


def endless(folder: Path) -> Path:
    path = folder / "endless.md"
    path.symlink_to("/dev/zero")
    return path


def huge(folder: Path) -> Path:
    """300 MB that take no room on the disk."""
    path = folder / "huge.jsonl"
    with path.open("wb") as file:
        file.write(b'{"role": "user", "content": "')
        file.truncate(300_000_000)
    return path


def no_text(folder: Path) -> Path:
    path = folder / "noise.md"
    path.write_bytes(bytes(range(256)) * 40)
    return path


def missing(folder: Path) -> Path:
    return folder / f"gone{NAME}" / NAME


HOSTILE = [
    folder_loop, link_to_itself, odd_name, odd_folder, pipe, socket_file, endless, huge, no_text,
    missing,
]  # fmt: skip


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = Reviewer(tmp_path_factory.mktemp("stocked"))
    talk = program.folder / "talk.json"
    talk.write_text(json.dumps([{"role": "user", "content": WORDS}] * 3))
    for arguments in (["dev-seed", 3], ["promote", 2], ["context", "import", talk]):
        done = program(*arguments)
        assert done.returncode == 0, done.stderr
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


LONG = 3_000_000


@pytest.mark.parametrize(
    "make",
    [
        lambda: ("line.md", "word " * (LONG // 5)),
        lambda: ("solid.md", "x" * LONG),
        lambda: ("session.jsonl", json.dumps({"type": "user", "uuid": "u", "message": {
            "role": "user", "content": "We decided to print. " + "y" * LONG}})),
        lambda: ("talk.json", json.dumps([{"role": "user", "content": "z" * LONG}])),
        lambda: ("graph.dot", f'digraph d {{ start -> a -> exit; a [prompt="{"w" * LONG}"] }}'),
    ],
    ids=["words", "one word", "claude line", "chat", "pipeline"],
)  # fmt: skip
def test_a_line_of_three_megabytes_is_only_long(
    program: Reviewer, make: Callable[[], tuple[str, str]]
) -> None:
    name, text = make()
    path = program.folder / name
    path.write_text(text)
    commands: list[list[object]] = [
        ["ingest", path], ["extract", path, "--json"], ["context", "import", path],
        ["queue", "list"], ["commit", "list", "#1"], ["packet"],
    ]  # fmt: skip
    if name == "graph.dot":
        commands = [["pipeline", "check", path], ["pipeline", "show", path, "--json"]]
    for arguments in commands:
        done = program(*arguments)
        assert done.returncode in (0, 1), (arguments, done.stderr[-300:])
        assert "Traceback" not in done.stderr
        assert "defect" not in done.stderr, done.stderr[-300:]
    program.nothing_lost()


def test_the_reports_of_a_wave_can_be_looked_at_in_a_terminal(program: Reviewer) -> None:
    path = odd_name(program.folder)
    assert program("--project", "kiosk", "ingest", path).returncode == 0
    reports = [each for each in program.folder.glob("store.db-waves/*/*") if each.is_file()]
    assert [each for each in reports if "receipts" in each.read_text()]
    for report in reports:
        assert not TERMINAL.search(report.read_text()), report
