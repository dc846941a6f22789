-- Generated from the migrations by `tests/generate_docs.py`.

CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE TABLE project (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    root TEXT NOT NULL DEFAULT '',
    remote TEXT NOT NULL DEFAULT ''
, "former" TEXT NOT NULL DEFAULT '');
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
    authors INTEGER NOT NULL DEFAULT 0, "cost" INTEGER NOT NULL DEFAULT 0, "times" INTEGER NOT NULL DEFAULT 0, "signature" TEXT NOT NULL DEFAULT '', "moments" TEXT NOT NULL DEFAULT '',
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
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    changes BLOB NOT NULL
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
    changed_at TEXT NOT NULL, "levels" TEXT NOT NULL DEFAULT '',
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
, "commands" TEXT NOT NULL DEFAULT '', "key" TEXT NOT NULL DEFAULT '');
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
CREATE TRIGGER memory_text_insert AFTER INSERT ON memory BEGIN
    INSERT INTO memory_text(rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER memory_text_delete AFTER DELETE ON memory BEGIN
    INSERT INTO memory_text(memory_text, rowid, content)
    VALUES ('delete', old.id, old.content);
END;
CREATE TRIGGER memory_text_update AFTER UPDATE OF content ON memory BEGIN
    INSERT INTO memory_text(memory_text, rowid, content)
    VALUES ('delete', old.id, old.content);
    INSERT INTO memory_text(rowid, content) VALUES (new.id, new.content);
END;
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
);
CREATE INDEX "finding_signature"
    ON "finding" ("project_id", "kind", "signature");
CREATE INDEX "finding_source"
    ON "finding" ("source_id");
CREATE INDEX memory_signature ON memory (project_id, signature) WHERE signature <> '';
CREATE TABLE moment (
    memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (memory_id, kind, value)
) WITHOUT ROWID;
CREATE INDEX moment_value ON moment (kind, value);
CREATE TABLE moment_due (memory_id INTEGER PRIMARY KEY REFERENCES memory(id) ON DELETE CASCADE);
CREATE TABLE use_of_memory (
    id INTEGER PRIMARY KEY,
    memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
    session TEXT NOT NULL,
    moment TEXT NOT NULL,
    cue TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE INDEX use_by_memory ON use_of_memory (memory_id, moment, session);
CREATE VIRTUAL TABLE recall_text USING fts5(
    content, content='memory', content_rowid='id', tokenize='porter unicode61'
);
CREATE TRIGGER recall_insert AFTER INSERT ON memory WHEN new.status = 'active' BEGIN
    INSERT INTO recall_text(rowid, content) VALUES (new.id, new.content);
    INSERT OR IGNORE INTO moment_due VALUES (new.id);
END;
CREATE TRIGGER recall_delete AFTER DELETE ON memory WHEN old.status = 'active' BEGIN
    INSERT INTO recall_text(recall_text, rowid, content)
    VALUES ('delete', old.id, old.content);
END;
CREATE TRIGGER recall_end AFTER UPDATE OF status, content ON memory WHEN old.status = 'active' BEGIN
    INSERT INTO recall_text(recall_text, rowid, content)
    VALUES ('delete', old.id, old.content);
END;
CREATE TRIGGER recall_begin AFTER UPDATE OF status, content ON memory
WHEN new.status = 'active' BEGIN
    INSERT INTO recall_text(rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER moment_changed AFTER UPDATE OF status, content, moments ON memory BEGIN
    DELETE FROM moment WHERE memory_id = new.id;
    INSERT OR IGNORE INTO moment_due SELECT new.id WHERE new.status = 'active';
END;
CREATE TABLE erasure (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    act INTEGER NOT NULL UNIQUE,
    seal TEXT NOT NULL,
    emptied INTEGER NOT NULL
);
CREATE TABLE synced (
    project_id INTEGER NOT NULL REFERENCES project(id) ON DELETE CASCADE,
    item TEXT NOT NULL,
    memory_id INTEGER,
    latest TEXT NOT NULL,
    earlier TEXT NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (project_id, item)
) WITHOUT ROWID
;
CREATE INDEX memory_edited ON memory (project_id, key) WHERE edited = 1;
INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES
    ('reviewer', 'tables', datetime()),
    ('reviewer', 'findings', datetime()),
    ('reviewer', 'moments', datetime()),
    ('reviewer', 'erasure', datetime()),
    ('reviewer', 'synced', datetime()),
    ('reviewer', 'former folders', datetime()),
    ('reviewer', 'commands of runs', datetime()),
    ('reviewer', 'words of names', datetime()),
    ('reviewer', 'chosen levels', datetime()),
    ('reviewer', 'keys of runs', datetime()),
    ('reviewer', 'indexes of intakes', datetime());
