"""Ctrl-C while something is ingested: real signals to the real program."""

from __future__ import annotations

import json
import os
import signal
import time
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


def computed(process: Running) -> float:
    """The seconds that it has computed so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(process: Running) -> tuple[float, str, str]:
    """Press Ctrl-C; returns how long the program went on, and its output."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    return time.monotonic() - began, out, err


def test_a_long_file_is_broken_off_in_the_middle(reviewer: Reviewer) -> None:
    talk = reviewer.folder / "talk.json"
    said = [
        {"role": "user", "content": f"We decided to keep drawer {number} closed, as it is dusty."}
        for number in range(40_000)
    ]
    talk.write_text(json.dumps(said))
    with reviewer.start("ingest", talk, "--json") as process:
        until(lambda: process.poll() is not None or computed(process) > 0.5)
        assert process.poll() is None, process.communicate()
        seconds, out, err = interrupted(process)
    assert process.returncode == 130, err
    assert seconds < AT_ONCE
    assert "Interrupted. Everything read so far is kept" in err
    counts = json.loads(out)
    assert counts["state"] == "interrupted"
    assert counts["records"] < len(said)
    reviewer.nothing_lost()
