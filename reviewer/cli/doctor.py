"""`reviewer doctor`: is everything as it should be, and where is what."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import click

from reviewer import __version__
from reviewer.cli.failures import COULD_NOT
from reviewer.cli.output import print_json, print_text, safe, table
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.errors import ReviewerError


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    value: str
    ok: bool = True


@click.command(cls=Verb)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a finding.")
@click.pass_context
@pass_session
def doctor(session: Session, ctx: click.Context, as_json: bool) -> None:
    """Check the store, the terminal and the settings.

    The store is only looked at, never created or changed. Exit 1 when something is wrong.
    """
    findings = [*_program(), *_store(session.store_path()), *_settings(), *_terminal()]
    if as_json:
        for finding in findings:
            print_json(finding._asdict())
    else:
        rows = [(one.name, "ok" if one.ok else "!!", safe(one.value)) for one in findings]
        for line in table(rows):
            print_text(line)
    if not all(finding.ok for finding in findings):
        ctx.exit(COULD_NOT)


def _program() -> Iterator[Finding]:
    yield Finding("reviewer", __version__)
    yield Finding("python", f"{platform.python_version()} ({sys.executable})")
    yield Finding("textual", version("textual"))
    yield Finding("sqlite", sqlite3.sqlite_version)


def _store(path: Path) -> Iterator[Finding]:
    yield Finding("store", str(path))
    if not path.exists():
        yield Finding("store file", "not there yet: reviewer ingest PATH makes it")
        return
    size = path.stat().st_size
    yield Finding("store size", f"{size / 1e6:,.1f} MB")
    yield _owner_only(path.parent)
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    yield Finding("store writable", "yes" if writable else "no: decisions cannot be kept", writable)
    try:
        uri = f"{path.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=2)) as connection:
            schema = connection.execute("PRAGMA user_version").fetchone()[0]
            yield Finding("store version", str(schema))
            journal = str(connection.execute("PRAGMA journal_mode").fetchone()[0])
            yield Finding("journal", journal, journal == "wal")
            answer = "; ".join(str(row[0]) for row in connection.execute("PRAGMA integrity_check"))
            yield Finding("integrity", answer, answer == "ok")
    except sqlite3.Error as problem:
        yield Finding("integrity", f"cannot be read: {problem}", ok=False)


def _owner_only(folder: Path) -> Finding:
    mode = folder.stat().st_mode & 0o777
    others = mode & 0o077
    advice = " (others may look inside: chmod 700)" if others else ""
    return Finding("store folder", f"{folder} {mode:03o}{advice}")


def _settings() -> Iterator[Finding]:
    from reviewer.settings import load_settings, settings_path

    path = settings_path()
    try:
        load_settings(path)
    except ReviewerError as problem:
        yield Finding("settings", str(problem), ok=False)
        return
    yield Finding("settings", str(path) if path.exists() else f"{path} (not there: built-in ones)")


def _terminal() -> Iterator[Finding]:
    columns, rows = shutil.get_terminal_size()
    stream = "a terminal" if sys.stdout.isatty() else "not a terminal"
    yield Finding("output", f"{stream}, {columns}x{rows}, {sys.stdout.encoding}")
    names = ("TERM", "COLORTERM", "NO_COLOR", "VISUAL", "EDITOR")
    known = [f"{name}={os.environ[name]}" for name in names if os.environ.get(name)]
    yield Finding("environment", ", ".join(known) or "nothing set that matters")
