"""Nobody reads the output: what was asked for is done to its end, and the exit code is true."""

from __future__ import annotations

import itertools
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import NOTE, Reviewer
from tests.stored import rows_of

TALK = "".join(
    json.dumps({"role": role, "content": f"{words} Point {number} of the port's review."}) + "\n"
    for number in range(12)
    for role, words in (("user", "Use port 8443."), ("assistant", "The port is set to 8443."))
)

TEA = """digraph tea {
  start [shape=Mdiamond]
  done [shape=Msquare]
  boil [prompt="Boil the water."]
  start -> boil -> done
}
"""

RUN = re.compile(r"\d{8}-\d{6}")
"""The time in the name of a run's folder."""

WRITING = [
    "ingest more.md",
    "promote 1 2 3",
    "edit 1 --content-file wording.txt --promote",
    "remember 'The drawer opens after the terminal has answered.' --at talk.jsonl:1",
    "undo",
    "context import talk.jsonl --name again",
    "compress talk --level brief --apply --anyway",
    "export --into AGENTS.md --write",
    "connect codex --yes",
    "pipeline run tea.dot",
    "watch --once",
]
"""Commands that write, each on a store with candidates, a context and an act that was undone."""


@pytest.fixture
def filled(ingested: Reviewer) -> Reviewer:
    """A store in which every command of WRITING has something to do."""
    folder = ingested.folder
    (folder / "more.md").write_text(NOTE.replace("kiosk", "till").replace("80 mm", "58 mm"))
    (folder / "wording.txt").write_text("Receipts of the kiosk are printed in two languages.")
    (folder / "talk.jsonl").write_text(TALK)
    (folder / "tea.dot").write_text(TEA)
    for line in (
        ["context", "import", "talk.jsonl", "--name", "talk"],
        ["promote", 4],
        ["promote", 5],
        ["undo"],
    ):
        done = ingested("--project", "kiosk", *line)
        assert done.returncode == 0, done.stderr
    return ingested


def written(program: Reviewer) -> tuple[list[tuple[object, ...]], list[str]]:
    """The acts of the store, and the files in the folder and the home."""
    acts = rows_of(program.db, "SELECT kind, rows FROM ledger ORDER BY id")
    files = sorted(
        RUN.sub("RUN", str(path.relative_to(program.folder)))
        for path in program.folder.rglob("*")
        if path.is_file()
        and path.suffix != ".lock"  # of what goes on in the background
        and "store.db" not in path.name
        and "cache" not in str(path)
    )
    return acts, files


def shell(program: Reviewer, line: str, after: str) -> int:
    """The exit code of a command whose output goes to a reader that has gone."""
    project = "" if line.startswith("connect") else "--project kiosk"
    command = f'"$0" -m reviewer --db "$1" {project} {line}'
    script = f'({command}; echo $? >"$2") {after}'
    code = program.folder.parent / "code"
    subprocess.run(
        ["bash", "-c", script, sys.executable, program.db, code],
        env=program.environment, cwd=program.folder, check=False, timeout=250,
        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return int(code.read_text())


def read_to_its_end(program: Reviewer, line: str) -> int:
    """The exit code of a command whose output is read."""
    project = [] if line.startswith("connect") else ["--project", "kiosk"]
    words, _, typed = line.partition(" <")
    text = (program.folder / typed).read_text() if typed else None
    return program(*project, *shlex.split(words), typed=text).returncode


CLOSED_AFTER_A_BYTE = "2>&1 | head -c 1 >/dev/null"
NOBODY = [
    CLOSED_AFTER_A_BYTE, "| head -c 1 >/dev/null", "2>&1 | true", ">&- 2>&-", "2>/dev/full"
]  # fmt: skip
"""Ways in which an output has no reader: each command has one of them, in turn."""


def test_a_write_is_done_in_full_when_nobody_reads(filled: Reviewer) -> None:
    """Each command on equal stores: with its output read, then closed."""
    before = filled.db.read_bytes()
    wrong = []
    for line, after in zip(WRITING, itertools.cycle(NOBODY)):
        codes, results = [], []
        for unread in (False, True):
            shutil.rmtree(filled.folder / "store.db-runs", ignore_errors=True)
            for rest in filled.folder.glob("store.db*"):
                if rest.is_file():
                    rest.unlink()
            filled.db.write_bytes(before)
            (filled.folder / "AGENTS.md").unlink(missing_ok=True)
            shutil.rmtree(filled.folder / "home")
            (filled.folder / "home").mkdir()
            codes.append(shell(filled, line, after) if unread else read_to_its_end(filled, line))
            results.append(written(filled))
        if codes != [0, 0] or results[0] != results[1]:
            wrong.append((line, after, codes))
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "set_blocking"), reason="pipes that do not wait are of Unix")
def test_a_reader_that_does_not_wait_gets_everything(filled: Reviewer) -> None:
    """As from programs that make their pipes so: no line is lost while they are busy."""
    long = "The drawer is oiled. " * 10_000
    added = filled("--project", "kiosk", "commit", "add", "talk", "--text", "-", typed=long)
    assert added.returncode == 0, added.stderr
    wanted = filled("--project", "kiosk", "compile", "talk").stdout
    assert len(wanted) > 200_000
    command = [sys.executable, "-m", "reviewer", "--db", str(filled.db), "--project", "kiosk"]
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with (
        subprocess.Popen(
            [*command, "compile", "talk"], env=filled.environment, cwd=filled.folder, stdout=writing
        ) as program,
        open(reading, encoding="utf-8") as pipe,
    ):
        os.close(writing)
        time.sleep(1)
        assert pipe.read() == wanted
    assert program.returncode == 0


def test_a_listing_ends_with_its_reader(filled: Reviewer) -> None:
    for line in ("queue list --json", "history", "commit list talk"):
        assert shell(filled, line, "| true") == 0, line


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="terminals hang up on Unix")
def test_a_terminal_that_is_closed_stops_no_write(filled: Reviewer) -> None:
    for number in range(60):
        (filled.folder / f"note-{number}.md").write_text(NOTE.replace("kiosk", f"kiosk {number}"))
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests run under nohup
        os.chdir(filled.folder)
        command = [sys.executable, "-m", "reviewer", "--db", str(filled.db), "--project", "kiosk"]
        command += ["ingest", "."]
        os.execve(sys.executable, command, filled.environment)
    os.read(terminal, 1)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    kinds = [kind for (kind,) in rows_of(filled.db, "SELECT kind FROM ledger ORDER BY id")]
    assert kinds[-1] == "ingest"
    assert rows_of(filled.db, "SELECT count(*) FROM source")[0][0] >= 60


def test_what_was_not_done_is_never_called_done(filled: Reviewer) -> None:
    for line in ("promote 4711", "compress nowhere --level brief --apply", "ingest nowhere.md"):
        assert shell(filled, line, "2>&1 | true") != 0, line
    assert not Path(filled.folder / "AGENTS.md").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="terminals hang up on Unix")
def test_watch_ends_with_its_terminal_or_its_reader(filled: Reviewer) -> None:
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests run under nohup
        os.chdir(filled.folder)
        command = [sys.executable, "-m", "reviewer", "--db", str(filled.db), "--project", "kiosk"]
        os.execve(sys.executable, [*command, "watch"], filled.environment)
    os.read(terminal, 1)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert shell(filled, "watch", "2>&1 | true") == 0


def test_a_pipe_that_breaks_elsewhere_is_a_failure(filled: Reviewer) -> None:
    """Not the output but something that the command writes to has no reader any more."""
    (filled.folder / "broken.py").write_text(
        "from reviewer.promotion.decisions.triage import Triage\n"
        "def broken(*_, **__):\n"
        "    raise BrokenPipeError(32, 'Broken pipe')\n"
        "Triage.promote = broken\n"
        "from reviewer.main import program\n"
        "program()\n"
    )
    done = subprocess.run(
        [sys.executable, "broken.py", "--db", filled.db, "--project", "kiosk", "promote", "1"],
        env=filled.environment, cwd=filled.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "Broken pipe.\n")
