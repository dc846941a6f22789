"""Differences of output at a terminal: widths, progress, the screen."""

from __future__ import annotations

import os
import pty
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from reviewer.cli.output import cell_width
from reviewer.cli.run import run
from reviewer.engine import Engine
from tests.cli.conftest import NOTE, Reviewer


def in_terminal(program: Reviewer, *arguments: object, stream: str, **settings: Any) -> str:
    """The output of a call to `stdout` or `stderr` when that is a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    settings[stream] = theirs
    process = program.start(*arguments, **settings)
    os.close(theirs)
    written = bytearray()
    try:
        while data := os.read(ours, 65536):
            written += data
    except OSError:  # Linux reports the end of a terminal so
        pass
    process.communicate(timeout=250)
    os.close(ours)
    return written.decode().replace("\r\n", "\n")


def test_rows_are_cut_to_the_width(seeded: Reviewer) -> None:
    memory = seeded.ids()[0]
    long = "The kiosk prints receipts " + "and again receipts " * 20
    seeded("edit", memory, "--content-file", "-", typed=long)
    lines = in_terminal(seeded, "queue", "list", stream="stdout").splitlines()
    assert max(cell_width(line) for line in lines) <= 80
    assert any(line.endswith("…") for line in lines)
    shown = in_terminal(seeded, "queue", "show", memory, stream="stdout").splitlines()
    told = " ".join(line.strip() for line in shown if line.startswith("  "))
    assert long.strip() in told


def test_progress_is_one_line_that_goes_away(reviewer: Reviewer) -> None:
    folder = reviewer.folder / "notes"
    folder.mkdir()
    for number in range(3):
        (folder / f"note-{number}.md").write_text(NOTE, encoding="utf-8")
    written = in_terminal(reviewer, "ingest", folder, stream="stderr")
    assert re.search(r"\r\d of \d files", written)
    progress, _, rest = written.rpartition("\r\x1b[K")
    assert "\n" not in progress
    assert rest.startswith("Waiting now: ")
    assert rest.endswith(". Decide with: reviewer\n")


def test_a_pipeline_shows_the_stage_that_is_running(reviewer: Reviewer) -> None:
    path = reviewer.folder / "two.dot"
    path.write_text(
        "digraph two { s [shape=Mdiamond]; e [shape=Msquare];"
        ' boil [prompt="Boil water"]; ask [shape=hexagon, label="Serve it?"];'
        ' s -> boil -> ask; ask -> e [label="Yes"] }'
    )
    written = in_terminal(reviewer, "pipeline", "run", path, stream="stderr")
    assert "\rStage 2  boil is running" in written
    assert "Ctrl-C stops, resume continues\x1b[K" in written
    for line in written.splitlines():
        assert "is running" not in line.rpartition("\x1b[K")[2], "the line went away"
    assert "ask is running" in written


def no_keys(path: Path) -> None:
    """Replaces the check of the keys."""
    raise AssertionError(f"opening the screen checks {path} itself")


@pytest.mark.parametrize(("kind", "named"), [("dumb", "TERM=dumb"), ("", "TERM is not set")])
def test_a_terminal_that_cannot_move_its_cursor_gets_one_line(
    seeded: Reviewer, kind: str, named: str
) -> None:
    ours, theirs = pty.openpty()
    process = seeded.start(env={"TERM": kind}, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    assert process.wait(timeout=250) == 2
    (line,) = os.read(ours, 65536).decode().splitlines()
    os.close(ours)
    assert named in line
    assert "reviewer queue list" in line


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Pretends that there is a terminal, and names a settings file."""
    monkeypatch.setattr("reviewer.cli.session.Session.require_terminal", lambda *_: None)
    path = tmp_path / "config.toml"
    path.write_text("")
    monkeypatch.setenv("REVIEWER_CONFIG", str(path))
    monkeypatch.chdir(tmp_path)
    return path


def test_the_screen_gets_the_settings_or_a_mistake_in_them_is_reported_before(
    ingested: Reviewer,
    at_a_terminal: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    opened: list[dict[str, Any]] = []

    def screen(engine: Engine, project: str | None, **settings: Any) -> int:
        opened.append(settings)
        return 0

    call = ["--db", str(ingested.db), "--project", "kiosk"]
    assert run(call, screen, no_keys) == 0
    at_a_terminal.write_text('theme = "light"\n[keys]\npromote = "A"\n')
    assert run([*call, "--ascii"], screen, no_keys) == 0
    at_a_terminal.write_text("themes = 1")
    assert run(call, screen, no_keys) == 1
    assert opened == [
        {"ascii": False, "light": False, "keymap": None, "start": None},
        {"ascii": True, "light": True, "keymap": at_a_terminal, "start": None},
    ]
    assert "unknown field `themes`" in capsys.readouterr().err


def test_leaving_the_demo_says_that_it_is_gone(
    at_a_terminal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def screen(engine: Engine, project: str | None, **settings: Any) -> int:
        return 0

    assert run(["demo"], screen, no_keys) == 0
    assert "That was sample data, and it is gone." in capsys.readouterr().err


def test_a_terminated_demo_leaves_no_files(reviewer: Reviewer) -> None:
    scratch = reviewer.folder / "scratch"
    scratch.mkdir()
    ours, theirs = pty.openpty()
    process = reviewer.start(
        "demo",
        db=False,
        env={"TMPDIR": str(scratch), "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        os.read(ours, 1)
        assert list(scratch.glob("reviewer-demo-*/demo.db"))
        process.terminate()
        assert process.wait(timeout=250) == -signal.SIGTERM
        assert not list(scratch.glob("reviewer-demo-*"))
    finally:
        process.kill()
        process.wait()
        os.close(ours)
