"""The same surroundings for every test, whoever runs it on whatever machine.

What a person exports (settings, keys, proxies, colours, a time zone) and keeps at home reaches
neither the tests nor the programs that they start.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

NEEDED = {"PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
"""What a program may need to start at all."""
OF_PYTEST = "PYTEST_"

ALIKE = {"LANG": "C.UTF-8", "TZ": "UTC", "REVIEWER_ACTOR": "you"}
UMASK = 0o022


def cleaned(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """The variables that tests may see."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in NEEDED or name.startswith(OF_PYTEST)
    }
    return {**kept, **ALIKE, "HOME": str(home)}


IN_MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes that have to be free there."""


def keep_files_in_memory() -> None:
    """Put the files of tests into memory where there is room, unless TMPDIR says where.

    A store syncs every act to disk, and on a busy disk tests would mostly wait for that.
    """
    if "TMPDIR" in os.environ or not os.access(IN_MEMORY, os.W_OK):
        return
    if shutil.disk_usage(IN_MEMORY).free >= ROOM:
        os.environ["TMPDIR"] = str(IN_MEMORY)
        tempfile.tempdir = None  # it is looked up again


def make_alike() -> Path:
    """Change this process for good; returns its new home, which the caller removes."""
    keep_files_in_memory()
    home = Path(tempfile.mkdtemp(prefix="reviewer-tests-home-"))
    variables = cleaned(os.environ, home)
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background of a shell
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.umask(UMASK)
    return home


def remove(home: Path) -> None:
    """Remove a home that `make_alike` returned."""
    shutil.rmtree(home, ignore_errors=True)
