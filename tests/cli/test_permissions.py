"""Only their owner can read the files that the program writes, whatever the umask."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.cli.conftest import Reviewer
from tests.terminal.conftest import Terminal

NOTE = """# Decisions of the ferry desk

We decided to sell tickets until five minutes before departure, because queues are short.

We will never overbook the last ferry of a day, since nobody gets home otherwise.

Always print the gate on the ticket.
"""
TALK = [
    {"role": "user", "content": f"Gate {number} opens {number * 7} minutes before the ferry."}
    for number in range(30)
]
DOT = """digraph desk {
  start [shape=Mdiamond]; done [shape=Msquare]
  count [prompt="Count the passengers."]
  start -> count -> done
}
"""
PROJECT_FILES = {"AGENTS.md", ".context"}
"""Files that `export --write` makes in a project for others to read."""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Reviewer]:
    """The program without a umask; its store lies in folders that it has to make."""
    before = os.umask(0)
    made = Reviewer(tmp_path)
    made.db = tmp_path / "data" / "deep" / "store.db"
    yield made
    os.umask(before)


def everything(folder: Path) -> set[Path]:
    return {Path(at, name) for at, folders, files in os.walk(folder) for name in folders + files}


def run(program: Reviewer, *arguments: object, db: bool = True) -> None:
    program.succeeds("--project", "ferry", *arguments, db=db)


def session(program: Reviewer) -> None:
    """One of each command that writes, then the screen with drafts left behind."""
    run(program, "ingest", "note.md")
    run(program, "dev-seed", 5)
    run(program, "context", "import", "talk.json")
    run(program, "annotate", "1", "--priority", "pinned")
    run(program, "compress", "talk", "--level", "brief", "--apply", "--anyway")
    first, *_ = program.ids()
    run(program, "promote", first)
    run(program, "export", "--into", "AGENTS.md", "--write")
    run(program, "state", "set", "gates", "7")
    run(program, "export", "--into", "AGENTS.md", "--write")
    run(program, "export", "--context-dir", ".context", "--write")
    run(program, "pipeline", "run", "desk.dot")
    run(program, "dev-seed", 2, db=False)  # the default store, in the user's data folder
    screen(program)


def screen(program: Reviewer) -> None:
    """Leave an unsaved wording and a place behind."""
    argv = [sys.executable, "-m", "reviewer", "--db", str(program.db), "--project", "ferry"]
    terminal = Terminal(argv, program.folder, 110, 32)
    try:
        terminal.until("F2")
        terminal.press("j")
        terminal.press("e")
        terminal.until("Against the original")
        terminal.press("Mind ")
        terminal.until("Mind")
        terminal.press("\x11")
        assert terminal.ended() == 0
    finally:
        terminal.kill()


def test_files_of_a_session_are_private_to_their_owner(program: Reviewer) -> None:
    folder = program.folder
    (folder / "note.md").write_text(NOTE)
    (folder / "talk.json").write_text(json.dumps(TALK))
    (folder / "desk.dot").write_text(DOT)
    before = everything(folder)
    session(program)
    with_log = Engine.open(program.db)  # the -wal and -shm of an open store
    written = everything(folder) - before
    with_log.close()
    names = {str(path.relative_to(folder)) for path in written}
    beside = "data/deep/store.db"
    for name in (
        beside, f"{beside}-waves/1/report.json", f"{beside}-runs", f"{beside}-backups",
        f"{beside}-drafts", f"{beside}.places.json",
        "home/.local/share/reviewer/reviewer.db",
    ):  # fmt: skip
        assert name in names, sorted(names)
    open_to_others = {
        str(path.relative_to(folder)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in written
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077
    }
    assert {name for name in open_to_others if Path(name).parts[0] not in PROJECT_FILES} == set(), (
        open_to_others
    )


def test_a_folder_that_others_could_read_becomes_private(program: Reviewer) -> None:
    (program.folder / "note.md").write_text(NOTE)
    for name in ("store.db-waves", "store.db-drafts"):
        (program.db.parent / name).mkdir(parents=True, mode=0o755, exist_ok=True)
    program.db.parent.chmod(0o755)
    session_before = stat.S_IMODE(program.db.parent.stat().st_mode)
    run(program, "ingest", "note.md")
    engine = Engine.open(program.db)
    engine.drafts.save(1, "half a thought")
    engine.close()
    for name in ("store.db-waves", "store.db-drafts"):
        assert stat.S_IMODE((program.db.parent / name).stat().st_mode) == 0o700
    # A folder that is not the program's stays as its owner made it.
    assert stat.S_IMODE(program.db.parent.stat().st_mode) == session_before
