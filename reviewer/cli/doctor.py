"""`reviewer doctor`: check the store, the settings and the terminal."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import click
from msgspec import Struct

from reviewer import __version__
from reviewer.cli.config import check_settings
from reviewer.cli.output import emit, json_option
from reviewer.cli.session import FAILED, Session, Verb, leave, pass_session
from reviewer.engine import StoreFacts, inspect_store
from reviewer.errors import ReviewerError
from reviewer.installation import DISTRIBUTION, EXTRAS, extra_command
from reviewer.settings import settings_path
from reviewer.sharing import is_shared, sharing

NOT_A_STORE = "this is not a reviewer store; name another file with --db"


class DoctorFinding(Struct, frozen=True):
    name: str
    value: str
    ok: bool = True


@click.command(cls=Verb)
@json_option()
@pass_session
def doctor(session: Session, as_json: bool) -> None:
    """The store is only read, never created or changed. Exit 1 if something is wrong."""
    findings = [*_program(), *_store(session.store_path()), *_settings(session), *_terminal()]
    emit(
        findings,
        as_json,
        lambda one: (one.name, "ok" if one.ok else "!!", one.value),
    )
    if not all(finding.ok for finding in findings):
        leave(FAILED)


def _program() -> Iterator[DoctorFinding]:
    yield DoctorFinding("reviewer", f"{__version__} ({DISTRIBUTION})")
    yield DoctorFinding("python", f"{platform.python_version()} ({sys.executable})")
    yield DoctorFinding("textual", version("textual"))
    yield DoctorFinding("sqlite", sqlite3.sqlite_version)
    for name, (module, *_) in EXTRAS.items():
        missing = find_spec(module) is None
        yield DoctorFinding(
            f"extra {name}",
            f"not installed; to add it: {extra_command(name)}" if missing else "installed",
        )


def _store(path: Path) -> Iterator[DoctorFinding]:
    yield DoctorFinding("store", str(path))
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        yield DoctorFinding("store file", "does not exist yet: reviewer ingest PATH creates it")
        return
    except OSError as problem:
        yield DoctorFinding("store file", f"cannot be accessed: {problem.strerror}", ok=False)
        return
    if not stat.S_ISREG(kind):
        what = (
            "a folder: name a file in it" if stat.S_ISDIR(kind) else "not a regular file: name one"
        )
        yield DoctorFinding("store file", f"is {what} with --db", ok=False)
        return
    yield DoctorFinding("store size", f"{path.stat().st_size / 1e6:,.1f} MB")
    yield _who_can_look(path)
    writable = os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)
    if not writable:
        yield DoctorFinding(
            "store writable", "no: copy it, and its -wal, to a folder of your own", ok=False
        )
        return
    yield DoctorFinding("store writable", "yes")
    try:
        facts = inspect_store(path)
    except sqlite3.Error as problem:
        if getattr(problem, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB:
            yield DoctorFinding("store version", f"none: {NOT_A_STORE}", ok=False)
        else:
            yield DoctorFinding("integrity", f"cannot be read: {problem}", ok=False)
    else:
        yield from _content(facts)


def _content(facts: StoreFacts) -> Iterator[DoctorFinding]:
    if not facts.is_store:
        empty = "the file is empty, reviewer ingest PATH fills it"
        why = empty if facts.is_empty else NOT_A_STORE
        yield DoctorFinding("store version", f"none: {why}", ok=facts.is_empty)
        return
    if facts.version > facts.newest_version:
        newer = f"{facts.version}: written by a newer reviewer, this one reads up to"
        yield DoctorFinding(
            "store version", f"{newer} {facts.newest_version}; update reviewer", ok=False
        )
    else:
        older = (
            ""
            if facts.version == facts.newest_version
            else f", migrated to {facts.newest_version} when opened"
        )
        yield DoctorFinding("store version", f"{facts.version}{older}")
    yield DoctorFinding("journal", facts.journal, facts.journal == "wal")
    yield DoctorFinding("integrity", facts.integrity, facts.integrity == "ok")


def _who_can_look(store: Path) -> DoctorFinding:
    folder = store.parent
    mode = folder.stat().st_mode & 0o777
    advice = ""
    if is_shared(store):
        advice = f" (shared with {sharing(store).group})"
        if mode & 0o007:
            advice += " (everybody else can look inside too: chmod o=)"
    elif mode & 0o077:
        advice = " (others can look inside: chmod 700)"
    return DoctorFinding("store folder", f"{folder} {mode:03o}{advice}")


def _settings(session: Session) -> Iterator[DoctorFinding]:
    path = settings_path()
    try:
        check_settings(session, path)
    except ReviewerError as problem:
        yield DoctorFinding("settings", str(problem), ok=False)
        return
    yield DoctorFinding(
        "settings", str(path) if path.exists() else f"{path} (does not exist: defaults apply)"
    )


def _terminal() -> Iterator[DoctorFinding]:
    columns, rows = shutil.get_terminal_size()
    stream = "a terminal" if sys.stdout.isatty() else "not a terminal"
    yield DoctorFinding("output", f"{stream}, {columns}x{rows}, {sys.stdout.encoding}")
    names = ("TERM", "COLORTERM", "NO_COLOR", "VISUAL", "EDITOR")
    known = [f"{name}={os.environ[name]}" for name in names if os.environ.get(name)]
    yield DoctorFinding("environment", ", ".join(known) or "no relevant variables set")
