-- Which memory belongs to which moment, and its uses. `memory.moments` is what the person has
-- chosen, in the ledger as every decision; the rest is derived or counted, and is not.
--
-- `moment` has the moments of each active memory, `moment_due` the memories whose moments have to be
-- derived anew. `recall_text` is a search index of the active memories, with English word stems.

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
INSERT INTO recall_text(rowid, content) SELECT id, content FROM memory WHERE status = 'active';
INSERT INTO moment_due SELECT id FROM memory WHERE status = 'active';
