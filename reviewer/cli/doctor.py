"""`reviewer doctor`: is everything as it should be, and where is what."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import click

from reviewer import __version__
from reviewer.cli.config import check_settings
from reviewer.cli.failures import COULD_NOT
from reviewer.cli.output import print_json, print_text, safe, table
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.errors import ReviewerError, StoreError


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
    findings = [*_program(), *_store(session.store_path()), *_settings(session), *_terminal()]
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
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        yield Finding("store file", "not there yet: reviewer ingest PATH makes it")
        return
    except OSError as problem:
        yield Finding("store file", f"cannot be looked at: {problem.strerror}", ok=False)
        return
    if not stat.S_ISREG(kind):
        what = "a folder: name a file in it" if stat.S_ISDIR(kind) else "no ordinary file: name one"
        yield Finding("store file", f"is {what} with --db", ok=False)
        return
    yield Finding("store size", f"{path.stat().st_size / 1e6:,.1f} MB")
    yield _owner_only(path.parent)
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    yield Finding("store writable", "yes" if writable else "no: decisions cannot be kept", writable)
    from reviewer.engine import looking_address

    try:
        with closing(sqlite3.connect(looking_address(path), uri=True, timeout=2)) as connection:
            yield from _inside(connection)
    except sqlite3.Error as problem:
        if getattr(problem, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB:
            yield Finding("store version", f"none: {NO_STORE}", ok=False)
        else:
            yield Finding("integrity", f"cannot be read: {problem}", ok=False)
    except StoreError as problem:
        yield Finding("integrity", str(problem), ok=False)


NO_STORE = "this is no reviewer store; name another file with --db"


def _inside(connection: sqlite3.Connection) -> Iterator[Finding]:
    """What opening the store would refuse, and what SQLite says of its pages."""
    from reviewer.engine import APPLICATION_ID, SCHEMA_VERSION

    def asked(sql: str) -> str:
        return "; ".join(str(row[0]) for row in connection.execute(sql))

    if int(asked("PRAGMA application_id")) != APPLICATION_ID:
        if asked("SELECT name FROM sqlite_master LIMIT 1") or asked("PRAGMA application_id") != "0":
            yield Finding("store version", f"none: {NO_STORE}", ok=False)
        else:
            yield Finding("store version", "none: the file is empty, reviewer ingest PATH fills it")
        return
    version = int(asked("PRAGMA user_version"))
    if version > SCHEMA_VERSION:
        newer = f"{version}: a newer reviewer wrote it, this one reads up to {SCHEMA_VERSION}"
        yield Finding("store version", f"{newer}; update reviewer", ok=False)
    else:
        older = "" if version == SCHEMA_VERSION else f", {SCHEMA_VERSION} once it is opened"
        yield Finding("store version", f"{version}{older}")
    journal = asked("PRAGMA journal_mode")
    yield Finding("journal", journal, journal == "wal")
    integrity = asked("PRAGMA integrity_check")
    yield Finding("integrity", integrity, integrity == "ok")


def _owner_only(folder: Path) -> Finding:
    mode = folder.stat().st_mode & 0o777
    others = mode & 0o077
    advice = " (others may look inside: chmod 700)" if others else ""
    return Finding("store folder", f"{folder} {mode:03o}{advice}")


def _settings(session: Session) -> Iterator[Finding]:
    from reviewer.settings import settings_path

    path = settings_path()
    try:
        check_settings(session, path)
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
