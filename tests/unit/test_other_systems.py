"""On a system without what only Linux and macOS have the program starts, reads and writes.

It is a simulation on this machine, not Windows: modules that only POSIX has cannot be imported by
our code, and the names that `os` and `signal` lack on Windows are taken away.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

from tests.source_code import ROOT, in_one_process, trees

POSIX_ONLY = {
    "curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios",
    "tty",
}  # fmt: skip
ALLOWED = {
    ("system.py", "fcntl"),
    ("files.py", "pwd"),
    ("sharing.py", "pwd"),
    ("sharing.py", "grp"),
}
"""Guarded: tried, with another way, or behind the question whether this is a POSIX system."""
MISSING = {
    "os": [
        "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_DIRECTORY", "fchmod", "geteuid",
        "getuid", "killpg", "mkfifo",
    ],
    "signal": ["SIGHUP", "SIGKILL", "SIGALRM"],
}  # fmt: skip

WITHOUT = f"""
import asyncio, builtins, os, signal, subprocess, sys, tempfile, shutil, types, sqlite3
import click, msgspec, platformdirs, textual.app, textual.drivers.linux_driver
real = builtins.__import__
def importing(name, globals=None, *rest, **more):
    ours = (globals or {{}}).get("__name__", "").startswith("reviewer")
    if ours and name in {sorted(POSIX_ONLY)!r}:
        raise ImportError(f"there is no {{name}} on this system")
    return real(name, globals, *rest, **more)
builtins.__import__ = importing
for name in {MISSING["os"]!r}:
    delattr(os, name)
for name in {MISSING["signal"]!r}:
    delattr(signal, name)
locks = types.ModuleType("msvcrt")
locks.LK_NBLCK, locks.locking = 2, lambda handle, mode, size: None
sys.modules["msvcrt"] = locks
"""


def without_posix(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, on such a system."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + script],
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def modules() -> list[str]:
    names = [
        ".".join(("reviewer", *path.relative_to(ROOT).with_suffix("").parts))
        for path in sorted(ROOT.rglob("*.py"))
        if path.name not in ("__main__.py", "__init__.py")
    ]
    optional = ("reviewer.serving", "reviewer.agents.mcp_server")
    return [name for name in names if not name.startswith(optional)]


def test_no_module_needs_posix_to_be_imported(tmp_path: Path) -> None:
    script = f"import importlib\nfor name in {modules()!r}: importlib.import_module(name)"
    done = without_posix(script, tmp_path)
    assert done.returncode == 0, done.stderr[-1500:]


@in_one_process
def test_posix_modules_are_imported_in_one_guarded_place() -> None:
    found = set()
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {(file, each.name) for each in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((file, node.module or ""))
    assert {each for each in found if each[1].partition(".")[0] in POSIX_ONLY} == ALLOWED


def test_the_main_verbs_work(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(
        "# Decisions\n\n- [Decision] The kiosk prints in black only, to save ink.\n"
    )
    (tmp_path / "talk.json").write_text('[{"role": "user", "content": "Paper jams at noon."}]')
    calls = [
        ["ingest", "note.md"], ["queue", "list"], ["promote", "1"], ["undo"], ["redo"],
        ["export", "--into", "AGENTS.md", "--write"], ["context", "import", "talk.json"],
        ["packet"], ["verify"], ["sources"], ["doctor"], ["connect"],
    ]  # fmt: skip
    script = f"""
from reviewer.main import main
for call in {calls!r}:
    sys.argv = ["reviewer", "--db", "store.db", "--project", "kiosk", *call]
    code = main()
    print("::", *call, code)
"""
    done = without_posix(script, tmp_path)
    assert done.returncode == 0, done.stderr[-1500:]
    said = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert [line.rsplit(" ", 1)[1] for line in said] == ["0"] * len(calls), done.stderr[-1500:]
    assert "black only" in (tmp_path / "AGENTS.md").read_text()
