"""Fills docs/tour.md with the output of its commands, on the sample data and at a fixed time."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOUR = ROOT / "docs" / "tour.md"
STORE = "/tmp/tour.db"
"""The store that the page names; the commands here use one in a temporary folder."""
PROJECT = "ledger-api"
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
WIDTH = 180
"""Characters of a line; longer ones are cut, as the page says."""
MOST = 14
"""Lines of an output, too."""

_CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (reviewer .+)$", re.MULTILINE)
_SECONDS = re.compile(r"\b\d+\.\d s$", re.MULTILINE)
_HEAD = re.compile(r"(?<=^Head: )[0-9a-f]{64}$", re.MULTILINE)
"""It covers the names of temporary folders."""
HEAD = "8d6f0a4b" * 8


def tour_page() -> str:
    """The page with the outputs of its commands. Starts a process that lives at `NOW`."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.tour"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def _page(folder: Path) -> str:
    def outputs(block: re.Match[str]) -> str:
        commands: list[str] = _COMMAND.findall(block[0])
        return "\n".join(f"$ {each}\n{_output(each, folder)}" for each in commands)

    return _CONSOLE.sub(outputs, TOUR.read_text(encoding="utf-8"))


def _output(command: str, folder: Path) -> str:
    """What a person sees of a command: stdout and stderr."""
    seen = folder / "seen"
    _, *arguments = shlex.split(command)
    process = os.fork()
    if process == 0:
        try:
            _run(["--project", PROJECT, *arguments], folder / "work", seen)
        finally:
            os._exit(0)  # without the exit functions, which would remove the folder
    os.waitpid(process, 0)
    text = seen.read_text(encoding="utf-8")
    text = text.replace(f"{folder}/tour.db", STORE).replace(f"{folder}/work/", "")
    lines = _HEAD.sub(HEAD, _SECONDS.sub("0.4 s", text)).splitlines()
    if len(lines) > MOST:
        lines = [*lines[: MOST - 1], "…"]
    cut = (line if len(line) <= WIDTH else f"{line[: WIDTH - 1].rstrip()}…" for line in lines)
    return "".join(f"{line.rstrip()}\n" for line in cut)


def _run(arguments: list[str], folder: Path, seen: Path) -> None:
    """Run one command in this process, with both of its output streams in the file `seen`."""
    from reviewer.main import main

    os.chdir(folder)
    output = os.open(seen, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout = open(1, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = ["reviewer", *arguments]
    main()
    sys.stdout.flush()
    sys.stderr.flush()


def print_page() -> None:
    """Print the page."""
    import reviewer.clock

    reviewer.clock.utc_now = lambda: NOW  # before anything else imports it
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        (folder / "work").mkdir()
        shutil.copytree(ROOT / "sample_data", folder / "work" / "sample_data")
        for name in [name for name in os.environ if name.startswith(("REVIEWER_", "XDG_"))]:
            del os.environ[name]
        os.environ |= {"HOME": str(folder), "REVIEWER_DB": str(folder / "tour.db")}
        os.environ |= {"COLUMNS": "100", "TZ": "UTC", "REVIEWER_ACTOR": "you"}
        time.tzset()
        sys.stdout.write(_page(folder))


if __name__ == "__main__":
    print_page()
