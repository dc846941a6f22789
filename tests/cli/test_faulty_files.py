"""One file of a folder that cannot be read: the others are queued, and the file is named."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.conftest import NOTE, Reviewer


def require_unread(reviewer: Reviewer, folder: Path, line: str) -> None:
    """That two ingestions queue the rest and name the file."""
    for _ in range(2):
        done = reviewer.succeeds("ingest", folder)
        lines = done.stderr.splitlines()
        assert lines[0].startswith("1 file could not be read: see ")
        assert lines[1] == line
    assert len(reviewer.ids()) > 1
    assert reviewer.db.stat().st_size < 2_000_000


def test_a_database_that_computes_its_messages(reviewer: Reviewer) -> None:
    folder = reviewer.folder / "home"
    (folder / "decisions.md").write_text(NOTE, encoding="utf-8")
    path = folder / "sessions.db"
    with closing(sqlite3.connect(path)) as database, database:
        for statement in (
            "CREATE TABLE schema_version (version INTEGER)",
            "CREATE TABLE sessions (id TEXT, working_dir TEXT, session_type TEXT, created_at TEXT)",
            "INSERT INTO sessions VALUES ('s', '/work', 'user', '')",
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT,"
            ' created_timestamp INTEGER, content_json TEXT AS (\'[{"type":"text","text":"\''
            " || replace(hex(zeroblob(5000000)), '00', 'word ') || '\"}]'))",
            "INSERT INTO messages (session_id, role, created_timestamp) VALUES ('s', 'user', 1)",
        ):
            database.execute(statement)
    assert path.stat().st_size <= 20_000
    message = f"{path} cannot be read: messages.content_json is computed."
    require_unread(reviewer, folder, message)
