"""Ctrl-C while something is ingested: real signals to the real program."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer
from tests.cli.warm import Running
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks into /proc to see how far the program is"
)

AT_ONCE = 10.0
"""Seconds between Ctrl-C and the end: far fewer than what was interrupted would have taken. A busy
machine needs more than the one second that a person waits for.
"""


def wait_for(what: Callable[[], object], process: Running) -> None:
    """Wait until something is so, while the program runs."""

    def ready() -> object:
        assert process.poll() is None, process.communicate()
        return what()

    until(ready)


def ask(store: Path, sql: str) -> object:
    if not store.exists():
        return None
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        try:
            row = connection.execute(sql).fetchone()
        except sqlite3.OperationalError:  # no tables yet
            return None
    return row and row[0]


def state_of(process: Running) -> tuple[str, float]:
    """R: it computes, S: it waits; and the seconds that it has computed so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def computes_for(seconds: float, process: Running) -> None:
    """Wait until the program has used this many seconds of CPU time."""
    end = state_of(process)[1] + seconds
    wait_for(lambda: state_of(process)[1] > end, process)


def interrupted(process: Running) -> tuple[float, str, str]:
    """Press Ctrl-C; returns how long the program went on, and its output."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    return time.monotonic() - began, out, err


def test_a_long_file_is_broken_off_in_the_middle(reviewer: Reviewer) -> None:
    talk = reviewer.folder / "talk.json"
    long = "We decided to keep the drawer of kiosk 7 closed, because of the dust. " * 300_000
    talk.write_text(json.dumps([{"role": "user", "content": long}]))
    with reviewer.start("ingest", talk, "--json") as process:
        wait_for(lambda: ask(reviewer.db, "SELECT count(*) FROM wave"), process)
        computes_for(0.5, process)
        seconds, out, err = interrupted(process)
    assert process.returncode == 130, err
    assert seconds < AT_ONCE
    assert "Interrupted. Everything read so far is kept" in err
    assert json.loads(out)["state"] == "interrupted"
    reviewer.nothing_lost()
