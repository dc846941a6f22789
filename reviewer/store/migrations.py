"""The schema of a store, and the migrations for older stores.

To change the schema, append a migration; never change a released one. A current store is opened
without loading `sqlite_utils`.
"""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.errors import StoreError
from reviewer.store.version import APPLICATION_ID, FIRST_VERSION, SCHEMA_VERSION

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations


def migrations() -> Migrations:
    """Every migration; the first creates the tables."""
    from sqlite_utils import Migrations

    found = Migrations("reviewer")

    @found(name="tables")
    def tables(db: Database) -> None:
        _execute(db.conn, "tables.sql")

    @found(name="findings")
    def findings(db: Database) -> None:
        db.execute(_FINDING)
        db.table("finding").create_index(["project_id", "kind", "signature"], "finding_signature")
        db.table("finding").create_index(["source_id"], "finding_source")
        memory = db.table("memory")
        memory.add_column("cost", int, not_null_default=0)
        memory.add_column("times", int, not_null_default=0)
        memory.add_column("signature", str, not_null_default="")
        db.execute(
            "CREATE INDEX memory_signature ON memory (project_id, signature) WHERE signature <> ''"
        )

    @found(name="moments")
    def moments(db: Database) -> None:
        db.table("memory").add_column("moments", str, not_null_default="")
        _execute(db.conn, "moments.sql")

    @found(name="erasure")
    def erasure(db: Database) -> None:
        db.execute(_ERASURE)

    @found(name="synced")
    def synced(db: Database) -> None:
        db.execute(_SYNCED)

    @found(name="former folders")
    def former_folders(db: Database) -> None:
        db.table("project").add_column("former", str, not_null_default="")

    @found(name="commands of runs")
    def commands_of_runs(db: Database) -> None:
        db.table("pipeline_run").add_column("commands", str, not_null_default="")

    @found(name="words of names")
    def words_of_names(db: Database) -> None:
        _derive_moments_anew(db)

    @found(name="chosen levels")
    def chosen_levels(db: Database) -> None:
        db.table("context").add_column("levels", str, not_null_default="")

    @found(name="keys of runs")
    def keys_of_runs(db: Database) -> None:
        db.table("pipeline_run").add_column("key", str, not_null_default="")

    @found(name="indexes of intakes")
    def indexes_of_intakes(db: Database) -> None:
        db.execute("DROP INDEX memory_statements")  # memory_queue_of_project begins alike
        db.execute("CREATE INDEX memory_edited ON memory (project_id, key) WHERE edited = 1")

    @found(name="moments of quoted lines")
    def moments_of_quoted_lines(db: Database) -> None:
        _derive_moments_anew(db)

    @found(name="words of reworded memories")
    def words_of_reworded_memories(db: Database) -> None:
        # Two triggers of one event run in no certain order: the earlier wording took its words
        # from the index after the new one had brought them.
        db.execute("DROP TRIGGER recall_end")
        db.execute("DROP TRIGGER recall_begin")
        db.execute(_RECALL_UPDATE)
        active = "SELECT id, content FROM memory WHERE status = 'active'"
        db.execute("INSERT INTO recall_text(recall_text) VALUES ('delete-all')")
        db.execute(f"INSERT INTO recall_text(rowid, content) {active}")

    @found(name="moments of failures in views")
    def moments_of_failures_in_views(db: Database) -> None:
        _derive_moments_anew(db)

    return found


def _derive_moments_anew(db: Database) -> None:
    """The rules for the moments of memories have changed."""
    active = db.query("SELECT id AS memory_id FROM memory WHERE status = 'active'")
    db.table("moment_due").insert_all(active, ignore=True)


def _execute(connection: sqlite3.Connection, name: str) -> None:
    """Execute a script. `executescript` would look for the end of a statement after each character:
    three quarters of the time of a new store.
    """
    statement = ""
    for line in files("reviewer.store").joinpath(name).read_text("utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


_RECALL_UPDATE = """
CREATE TRIGGER recall_update AFTER UPDATE OF status, content ON memory BEGIN
    INSERT INTO recall_text(recall_text, rowid, content)
    SELECT 'delete', old.id, old.content WHERE old.status = 'active';
    INSERT INTO recall_text(rowid, content) SELECT new.id, new.content WHERE new.status = 'active';
END
"""

_SYNCED = """
CREATE TABLE synced (
    project_id INTEGER NOT NULL REFERENCES project(id) ON DELETE CASCADE,
    item TEXT NOT NULL,
    memory_id INTEGER,
    latest TEXT NOT NULL,
    earlier TEXT NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (project_id, item)
) WITHOUT ROWID
"""
"""The state of each item after the latest `sync`: its row, the hashes of the decisions on it, and
the hash of their result. Not in the ledger: an undone decision is a change to be synced.
"""


_ERASURE = """
CREATE TABLE erasure (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    act INTEGER NOT NULL UNIQUE,
    seal TEXT NOT NULL,
    emptied INTEGER NOT NULL
)
"""
"""The acts that lost images: the hash of the rest of each, and whether it is empty."""

_FINDING = """
CREATE TABLE finding (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project(id),
    source_id INTEGER NOT NULL REFERENCES source(id),
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    signature TEXT NOT NULL,
    command TEXT NOT NULL,
    text TEXT NOT NULL,
    times INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    first TEXT NOT NULL,
    last TEXT NOT NULL,
    passed INTEGER NOT NULL,
    fix TEXT NOT NULL,
    words TEXT NOT NULL,
    evidence TEXT NOT NULL
)
"""
"""A session's evidence of one thing; rereading a file replaces its rows. `sqlite_utils` is used
where possible: its tables have no AUTOINCREMENT, and its indexes no condition.
"""


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Create the tables of a new store, or apply pending migrations to an older one.

    Raises StoreError if the file belongs to another program or an unsupported version.
    """
    version = _version(connection, path)
    if version == SCHEMA_VERSION:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done it before this one got the lock.
        migrate(connection, is_new=_version(connection, path) == 0)
    except BaseException:
        if connection.in_transaction:  # a full disk ends it
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection, *, is_new: bool) -> None:
    """Apply pending migrations inside the caller's transaction."""
    from sqlite_utils import Database

    db = Database(connection, recursive_triggers=False, execute_plugins=False)
    pending = migrations()
    if not is_new and not pending.applied(db):
        # FIRST_VERSION kept no list of migrations.
        pending.ensure_migrations_table(db)
        db.table(pending.migrations_table).insert(
            {"migration_set": pending.name, "name": "tables", "applied_at": ""}
        )
    pending.apply(db)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The version of a store, or 0 for an empty file. Raises StoreError if it cannot be used."""
    # A single statement sees a single state, despite other writers.
    application, version, filled = connection.execute(
        "SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application != APPLICATION_ID:
        if application or filled:
            raise StoreError(f"{path} belongs to another program. Name another file with --db.")
        return 0
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"The store {path} was written by a newer reviewer (store version {version}, "
            f"this program reads up to {SCHEMA_VERSION}). Update reviewer, or name another "
            "store with --db."
        )
    if version < FIRST_VERSION:
        raise StoreError(
            f"The store {path} has version {version}, from before the first release; this program "
            f"opens stores from version {FIRST_VERSION} on. Name another store with --db and "
            "ingest the files again."
        )
    return int(version)
