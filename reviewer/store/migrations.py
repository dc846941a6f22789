"""The tables of a store, and the steps that bring an older store up to date.

A new store gets TABLES. To change the tables: change TABLES, raise SCHEMA_VERSION, and add the step
from the version before to STEPS.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from reviewer.errors import StoreError
from reviewer.store.acts import record_upkeep
from reviewer.store.changes import Change, Image, Value, unpack_first
from reviewer.store.ownership import Owners, projects_of

SCHEMA_VERSION = 10
"""`PRAGMA user_version` of an up-to-date store."""

OLDEST_VERSION = 7
"""The oldest version that can be brought up to date; earlier ones were never released."""

APPLICATION_ID = 0x52565752
"""`PRAGMA application_id` of a store ("RVWR"), so that other programs' databases are left alone."""

TABLES = """
CREATE TABLE project (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    root TEXT NOT NULL DEFAULT '',
    remote TEXT NOT NULL DEFAULT ''
);
CREATE TABLE wave (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project(id),
    started_at TEXT NOT NULL,
    ended_at TEXT,
    state TEXT NOT NULL CHECK (state IN ('reading', 'done', 'interrupted')),
    roots TEXT NOT NULL,
    report_folder TEXT,
    counts TEXT
);
CREATE TABLE source (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project(id),
    path TEXT NOT NULL,
    format TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    wave_id INTEGER NOT NULL REFERENCES wave(id),
    tally TEXT NOT NULL,
    UNIQUE (project_id, path)
);
CREATE TABLE record (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project(id),
    source_id INTEGER NOT NULL REFERENCES source(id),
    wave_id INTEGER NOT NULL REFERENCES wave(id),
    key TEXT NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    byte_start INTEGER NOT NULL,
    byte_end INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    role TEXT NOT NULL,
    use TEXT NOT NULL,
    shape TEXT NOT NULL,
    at TEXT,
    session TEXT,
    sidechain INTEGER NOT NULL DEFAULT 0,
    headings TEXT NOT NULL DEFAULT '[]',
    meta TEXT NOT NULL DEFAULT '{}',
    text TEXT NOT NULL,
    UNIQUE (project_id, key)
);
CREATE INDEX record_by_source ON record (source_id, line_start);
CREATE TABLE memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project(id),
    wave_id INTEGER REFERENCES wave(id),
    kind TEXT NOT NULL DEFAULT 'memory' CHECK (kind IN ('memory', 'entity', 'conflict')),
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    key TEXT NOT NULL,
    status TEXT NOT NULL CHECK (
        status IN ('candidate', 'active', 'invalid', 'superseded', 'graduated')),
    deferred INTEGER NOT NULL DEFAULT 0,
    edited INTEGER NOT NULL DEFAULT 0,
    rule TEXT NOT NULL,
    extractor_version TEXT NOT NULL,
    prior REAL NOT NULL,
    signal REAL NOT NULL,
    freshness REAL NOT NULL,
    confidence REAL NOT NULL,
    rank REAL NOT NULL,
    flags TEXT NOT NULL DEFAULT '',
    leader_id INTEGER REFERENCES memory(id),
    superseded_by INTEGER REFERENCES memory(id),
    seen INTEGER NOT NULL DEFAULT 1,
    refs INTEGER NOT NULL DEFAULT 0,
    first_seen TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    pending_since TEXT NOT NULL,
    decided_at TEXT,
    proposer TEXT NOT NULL DEFAULT 'excerpt',
    scope TEXT NOT NULL DEFAULT 'project',
    need TEXT NOT NULL DEFAULT '',
    proof TEXT NOT NULL DEFAULT '{}',
    reason TEXT NOT NULL DEFAULT '',
    excerpt INTEGER NOT NULL DEFAULT 1 CHECK (excerpt = (proposer = 'excerpt')),
    sessions INTEGER NOT NULL DEFAULT 0,
    authors INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project_id, kind, type, key)
);
CREATE INDEX memory_queue
    ON memory (
        status, deferred, excerpt, rank DESC, id, leader_id, confidence, kind, type, flags,
        proposer
    )
    WHERE leader_id IS NULL;
CREATE INDEX memory_queue_of_project
    ON memory (
        project_id, status, deferred, excerpt, rank DESC, id, leader_id, confidence, kind, type,
        flags, proposer
    )
    WHERE leader_id IS NULL;
CREATE INDEX memory_statements
    ON memory (
        project_id, status, deferred, rank DESC, id, leader_id, excerpt, confidence, kind, type,
        flags, proposer
    )
    WHERE leader_id IS NULL AND excerpt = 0;
CREATE INDEX memory_leader ON memory (leader_id) WHERE leader_id IS NOT NULL;
CREATE INDEX memory_superseded_by ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_decided ON memory (decided_at, status) WHERE decided_at IS NOT NULL;
CREATE INDEX memory_decided_of_project ON memory (project_id, status, decided_at)
    WHERE decided_at IS NOT NULL;
CREATE INDEX memory_active ON memory (decided_at DESC, id DESC, project_id, kind, type)
    WHERE status = 'active';
CREATE TABLE evidence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memory(id),
    record_id INTEGER NOT NULL REFERENCES record(id),
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    rule TEXT NOT NULL,
    extractor_version TEXT NOT NULL,
    UNIQUE (memory_id, record_id, span_start, span_end)
);
CREATE INDEX evidence_of_record ON evidence (record_id);
CREATE TABLE content_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memory(id),
    content TEXT NOT NULL,
    replaced_at TEXT NOT NULL
);
CREATE INDEX content_history_of_memory ON content_history (memory_id);
CREATE TABLE ledger (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('decision', 'intake')),
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    target INTEGER REFERENCES ledger(id),
    rows INTEGER NOT NULL,
    changes BLOB NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX ledger_decisions ON ledger (id) WHERE scope = 'decision';
CREATE INDEX ledger_target ON ledger (target) WHERE target IS NOT NULL;
CREATE TABLE ledger_touch (
    memory_id INTEGER NOT NULL,
    act INTEGER NOT NULL REFERENCES ledger(id),
    PRIMARY KEY (memory_id, act)
) WITHOUT ROWID;
CREATE TABLE ledger_project (
    project TEXT NOT NULL,
    act INTEGER NOT NULL REFERENCES ledger(id),
    PRIMARY KEY (project, act)
) WITHOUT ROWID;
CREATE INDEX ledger_project_of_act ON ledger_project (act);
CREATE TABLE entity (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL UNIQUE REFERENCES memory(id),
    name TEXT NOT NULL,
    slot TEXT NOT NULL DEFAULT '',
    attributes TEXT NOT NULL DEFAULT '[]',
    graduated_from INTEGER REFERENCES memory(id)
);
CREATE INDEX entity_slot ON entity (slot) WHERE slot <> '';
CREATE INDEX entity_graduated_from ON entity (graduated_from) WHERE graduated_from IS NOT NULL;
CREATE TABLE relation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memory(id),
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    target_id INTEGER REFERENCES memory(id),
    UNIQUE (memory_id, kind, target)
);
CREATE INDEX relation_target ON relation (target_id) WHERE target_id IS NOT NULL;
CREATE TABLE conflict (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL UNIQUE REFERENCES memory(id),
    left_id INTEGER NOT NULL REFERENCES memory(id),
    right_id INTEGER NOT NULL REFERENCES memory(id),
    resolution TEXT CHECK (resolution IN ('superseded', 'kept both', 'dismissed')),
    UNIQUE (left_id, right_id)
);
CREATE TABLE state (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project(id),
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    evidence TEXT NOT NULL DEFAULT '',
    set_at TEXT NOT NULL,
    ended_at TEXT,
    superseded_by INTEGER REFERENCES state(id)
);
CREATE UNIQUE INDEX state_current ON state (project_id, key) WHERE ended_at IS NULL;
CREATE TABLE content (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256 TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL
);
CREATE TABLE context (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project(id),
    name TEXT NOT NULL,
    head_id INTEGER REFERENCES commit_(id),
    source_path TEXT,
    created_at TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    UNIQUE (project_id, name)
);
CREATE TABLE commit_ (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    context_id INTEGER NOT NULL REFERENCES context(id),
    parent_id INTEGER REFERENCES commit_(id),
    hash TEXT NOT NULL,
    operation TEXT NOT NULL DEFAULT 'append' CHECK (operation IN ('append', 'edit', 'summary')),
    target_id INTEGER REFERENCES commit_(id),
    origin_id INTEGER REFERENCES commit_(id),
    live INTEGER NOT NULL DEFAULT 1,
    position INTEGER NOT NULL,
    role TEXT NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    content_id INTEGER NOT NULL REFERENCES content(id),
    at TEXT,
    source_line INTEGER,
    meta TEXT NOT NULL DEFAULT '{}',
    UNIQUE (context_id, hash)
);
CREATE INDEX commit_chain ON commit_ (context_id, position) WHERE live = 1;
CREATE INDEX commit_target ON commit_ (target_id) WHERE target_id IS NOT NULL;
CREATE INDEX commit_origin ON commit_ (origin_id) WHERE origin_id IS NOT NULL;
CREATE INDEX commit_parent ON commit_ (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX commit_content ON commit_ (content_id);
CREATE TABLE annotation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    commit_id INTEGER NOT NULL REFERENCES commit_(id),
    priority TEXT NOT NULL CHECK (priority IN ('skip', 'normal', 'important', 'pinned')),
    reason TEXT NOT NULL DEFAULT '',
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    retention_json TEXT
);
CREATE INDEX annotation_of_commit ON annotation (commit_id, id);
CREATE TABLE anchor (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    commit_id INTEGER NOT NULL REFERENCES commit_(id),
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    confirmed INTEGER NOT NULL DEFAULT 1,
    at TEXT NOT NULL,
    UNIQUE (commit_id, span_start, span_end)
);
CREATE TABLE compression (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    context_id INTEGER NOT NULL REFERENCES context(id),
    head_before INTEGER NOT NULL REFERENCES commit_(id),
    head_after INTEGER NOT NULL REFERENCES commit_(id),
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER NOT NULL,
    engine TEXT NOT NULL,
    options TEXT NOT NULL DEFAULT '{}',
    at TEXT NOT NULL
);
CREATE TABLE segment (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    compression_id INTEGER NOT NULL REFERENCES compression(id),
    commit_id INTEGER NOT NULL REFERENCES commit_(id),
    key TEXT NOT NULL,
    level INTEGER NOT NULL,
    topic TEXT NOT NULL DEFAULT '',
    sources TEXT NOT NULL,
    anchors TEXT NOT NULL DEFAULT '[]',
    fidelity TEXT NOT NULL DEFAULT '{}',
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER NOT NULL
);
CREATE INDEX segment_of_commit ON segment (commit_id);
CREATE TABLE pipeline_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES project(id),
    run_id TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    folder TEXT NOT NULL,
    state TEXT NOT NULL,
    current_node TEXT,
    started_at TEXT NOT NULL,
    changed_at TEXT NOT NULL
);
CREATE TABLE measurement (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    name TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '',
    value REAL NOT NULL
);
CREATE INDEX measurement_name ON measurement (name, label);
CREATE VIRTUAL TABLE memory_text USING fts5(
    content, content='memory', content_rowid='id', prefix='2 3', tokenize='unicode61'
);
"""
"""`measurement` is not in the ledger: it only has statistics.

`memory.sessions` and `memory.authors` were counted by a job over many files, of whose evidence only
the best is here; 0 where no job has counted.

`memory.excerpt` follows from `proposer`; the queue is sorted by it, and SQLite answers a query from
an index alone only where the index has plain columns.
"""

TRIGGERS = (
    """CREATE TRIGGER memory_text_insert AFTER INSERT ON memory BEGIN
        INSERT INTO memory_text(rowid, content) VALUES (new.id, new.content);
    END""",
    """CREATE TRIGGER memory_text_delete AFTER DELETE ON memory BEGIN
        INSERT INTO memory_text(memory_text, rowid, content)
        VALUES ('delete', old.id, old.content);
    END""",
    """CREATE TRIGGER memory_text_update AFTER UPDATE OF content ON memory BEGIN
        INSERT INTO memory_text(memory_text, rowid, content)
        VALUES ('delete', old.id, old.content);
        INSERT INTO memory_text(rowid, content) VALUES (new.id, new.content);
    END""",
)


def bring_up_to_date(connection: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    """Create the tables of a new store, or apply the steps that an older one lacks.

    Raises StoreError when the file belongs to another program, or to a version of this one that
    cannot be read or, with `read_only`, cannot be brought up to date.
    """
    version = _version(connection, path)
    if version == SCHEMA_VERSION:
        return
    if read_only:
        raise StoreError(
            f"The store {path} is read-only and was written by an older reviewer (store "
            f"version {version}, now {SCHEMA_VERSION}). Copy it to a folder of your own, and "
            "name the copy with --db."
        )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have done it before this one got the lock.
        version = _version(connection, path)
        if version == 0:
            for statement in new_tables():
                connection.execute(statement)
        else:
            for step in STEPS[version - OLDEST_VERSION :]:
                step(connection)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    except BaseException:
        if connection.in_transaction:  # a full disk ends it
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def new_tables() -> Iterator[str]:
    """The statements that make the tables of a new store."""
    yield from _statements(TABLES)
    yield from TRIGGERS


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The version of a store, or 0 for an empty file. Raises StoreError if it cannot be used."""
    # One statement sees one state, whatever another process writes meanwhile.
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
    if version < OLDEST_VERSION:
        raise StoreError(
            f"The store {path} has version {version}, which was never released; this program opens "
            f"stores from version {OLDEST_VERSION} on. Name another store with --db and ingest the "
            "files again."
        )
    return int(version)


def _statements(sql: str) -> Iterator[str]:
    return (statement for statement in sql.split(";\n") if statement.strip())


PROJECTS_OF_TREES = """
ALTER TABLE project ADD COLUMN root TEXT NOT NULL DEFAULT '';
ALTER TABLE project ADD COLUMN remote TEXT NOT NULL DEFAULT '';
CREATE TABLE ledger_project (
    project TEXT NOT NULL,
    act INTEGER NOT NULL REFERENCES ledger(id),
    PRIMARY KEY (project, act)
) WITHOUT ROWID;
CREATE INDEX ledger_project_of_act ON ledger_project (act);
"""


def _to_version_8(connection: sqlite3.Connection) -> None:
    """Adds the work tree of a project, and the projects of an act.

    Acts name projects instead of pointing to rows: an undo may delete a project's row, and redo
    must still find its acts.
    """
    for statement in _statements(PROJECTS_OF_TREES):
        connection.execute(statement)
    _fill_owners(connection)


_CHANGES_READ = 200
"""Changes of an act to look at; where a change names the project, it is one of the first."""


def _fill_owners(connection: sqlite3.Connection) -> None:
    """Fill `ledger_project` for every act there is; a damaged act belongs to no project."""
    acts = connection.execute("SELECT id, target FROM ledger ORDER BY id").fetchall()
    for number, target in acts:
        if target is not None:
            names = {
                row[0]
                for row in connection.execute(
                    "SELECT project FROM ledger_project WHERE act = ?", (target,)
                )
            }
        else:
            names = _owners_of(connection, number)
        connection.executemany(
            "INSERT OR IGNORE INTO ledger_project (project, act) VALUES (?, ?)",
            ((name, number) for name in sorted(names)),
        )


def _owners_of(connection: sqlite3.Connection, number: int) -> set[str]:
    def query(sql: str, parameters: Sequence[Value]) -> Iterable[Sequence[Any]]:
        return connection.execute(sql, parameters)

    touched = [
        row[0]
        for row in connection.execute("SELECT memory_id FROM ledger_touch WHERE act = ?", (number,))
    ]
    names = {name for _, name in projects_of(query, "memory", touched)}
    if names:
        return names
    (blob,) = connection.execute("SELECT changes FROM ledger WHERE id = ?", (number,)).fetchone()
    owners = Owners()
    try:
        owners.see(unpack_first(blob, _CHANGES_READ))
    except ValueError:
        return set()  # `reviewer verify` reports it
    return owners.names(query)


PROPOSERS = """
ALTER TABLE memory ADD COLUMN proposer TEXT NOT NULL DEFAULT 'excerpt';
ALTER TABLE memory ADD COLUMN scope TEXT NOT NULL DEFAULT 'project';
ALTER TABLE memory ADD COLUMN need TEXT NOT NULL DEFAULT '';
ALTER TABLE memory ADD COLUMN proof TEXT NOT NULL DEFAULT '{}';
ALTER TABLE memory ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE memory ADD COLUMN
    excerpt INTEGER NOT NULL DEFAULT 1 CHECK (excerpt = (proposer = 'excerpt'));
DROP INDEX memory_queue;
DROP INDEX memory_queue_of_project;
CREATE INDEX memory_queue
    ON memory (
        status, deferred, excerpt, rank DESC, id, leader_id, confidence, kind, type, flags,
        proposer
    )
    WHERE leader_id IS NULL;
CREATE INDEX memory_queue_of_project
    ON memory (
        project_id, status, deferred, excerpt, rank DESC, id, leader_id, confidence, kind, type,
        flags, proposer
    )
    WHERE leader_id IS NULL;
CREATE INDEX memory_statements
    ON memory (
        project_id, status, deferred, rank DESC, id, leader_id, excerpt, confidence, kind, type,
        flags, proposer
    )
    WHERE leader_id IS NULL AND excerpt = 0;
"""

_PROPOSER_OF_OLD_ROWS = """
SELECT m.id, CASE
    WHEN m.kind = 'conflict' THEN 'episode'
    WHEN r.id IS NULL THEN 'person'
    WHEN r.role = 'note' THEN 'notes'
    ELSE 'excerpt' END AS proposer
FROM memory m
LEFT JOIN evidence e ON e.id = (SELECT min(id) FROM evidence WHERE memory_id = m.id)
LEFT JOIN record r ON r.id = e.record_id
"""


def _to_version_9(connection: sqlite3.Connection) -> None:
    """Adds the proposer and the proof of a candidate, and the reason for rejecting it."""
    for statement in _statements(PROPOSERS):
        connection.execute(statement)
    sql = f"SELECT * FROM ({_PROPOSER_OF_OLD_ROWS}) WHERE proposer <> 'excerpt'"
    excerpt: Image = {"proposer": "excerpt", "excerpt": 1}
    record_upkeep(
        connection,
        "Marked what earlier versions proposed from notes and by hand",
        (
            Change("memory", number, excerpt, {"proposer": proposer, "excerpt": 0})
            for number, proposer in connection.execute(sql).fetchall()
        ),
    )


def _to_version_10(connection: sqlite3.Connection) -> None:
    """Adds the sessions and authors that a job over many files has counted, and the index without
    which deleting a memory reads all others.
    """
    for column in ("sessions", "authors"):
        connection.execute(f"ALTER TABLE memory ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")
    connection.execute(
        "CREATE INDEX memory_superseded_by ON memory (superseded_by)"
        " WHERE superseded_by IS NOT NULL"
    )


STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _to_version_8,
    _to_version_9,
    _to_version_10,
)
"""The first one brings a store of OLDEST_VERSION to the next version."""
