-- Positions, ledgers, gateway keys, lineage relations, tool calls, media, tags, trash.
-- Everything is nullable or has a default, so that a process of version 6 that still writes is not broken.

-- The seed's index of words lives in the data file and blocks writes when it is damaged.
DROP TRIGGER IF EXISTS messages_fts_insert;
DROP TRIGGER IF EXISTS messages_fts_delete;
DROP TRIGGER IF EXISTS messages_fts_update;
DROP TABLE IF EXISTS messages_fts;

ALTER TABLE sessions ADD COLUMN session_key TEXT;
ALTER TABLE sessions ADD COLUMN chat_id TEXT;
ALTER TABLE sessions ADD COLUMN chat_type TEXT;
ALTER TABLE sessions ADD COLUMN thread_id TEXT;
ALTER TABLE sessions ADD COLUMN display_name TEXT;
ALTER TABLE sessions ADD COLUMN last_active REAL;
ALTER TABLE sessions ADD COLUMN last_message_id INTEGER;
ALTER TABLE sessions ADD COLUMN last_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN ledger INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN relation TEXT NOT NULL DEFAULT 'root';
ALTER TABLE sessions ADD COLUMN title_source TEXT;
ALTER TABLE sessions ADD COLUMN origin TEXT;
ALTER TABLE sessions ADD COLUMN native_id TEXT;
ALTER TABLE sessions ADD COLUMN cwd TEXT;
ALTER TABLE sessions ADD COLUMN git_branch TEXT;
ALTER TABLE sessions ADD COLUMN archived_at REAL;
ALTER TABLE sessions ADD COLUMN pinned_at REAL;
ALTER TABLE sessions ADD COLUMN deleted_at REAL;
ALTER TABLE sessions ADD COLUMN character_id TEXT;
ALTER TABLE sessions ADD COLUMN host TEXT;
ALTER TABLE sessions ADD COLUMN metadata TEXT;

-- seq is NULL only in rows of older code, until they are adopted.
ALTER TABLE messages ADD COLUMN seq INTEGER;
ALTER TABLE messages ADD COLUMN term INTEGER;
ALTER TABLE messages ADD COLUMN message_key TEXT;
ALTER TABLE messages ADD COLUMN content_type TEXT;
ALTER TABLE messages ADD COLUMN provider TEXT;
ALTER TABLE messages ADD COLUMN model TEXT;
ALTER TABLE messages ADD COLUMN input_tokens INTEGER;
ALTER TABLE messages ADD COLUMN output_tokens INTEGER;
ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
ALTER TABLE messages ADD COLUMN injected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN metadata TEXT;

-- Order is by position; an index by clock would only cost.
DROP INDEX IF EXISTS idx_messages_session;
CREATE UNIQUE INDEX IF NOT EXISTS messages_position ON messages(session_id, seq);
CREATE UNIQUE INDEX IF NOT EXISTS messages_key ON messages(session_id, message_key) WHERE message_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS messages_adrift ON messages(session_id) WHERE seq IS NULL;

-- With the tie-breaks of the lists, or a page of twenty would sort every session.
DROP INDEX IF EXISTS idx_sessions_started;
CREATE INDEX IF NOT EXISTS sessions_started ON sessions(started_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS sessions_activity ON sessions(last_message_id DESC, started_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS sessions_key ON sessions(session_key) WHERE session_key IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS sessions_native ON sessions(origin, native_id) WHERE native_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS sessions_unrelated ON sessions(id) WHERE relation = 'root' AND parent_session_id IS NOT NULL;
-- A conversation goes on in one place.
CREATE UNIQUE INDEX IF NOT EXISTS sessions_continuation ON sessions(parent_session_id) WHERE relation = 'compression';

CREATE TABLE IF NOT EXISTS tool_calls (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id),
    message_id INTEGER NOT NULL,
    call_id TEXT,
    tool_name TEXT,
    arguments TEXT,
    result_summary TEXT,
    status TEXT NOT NULL,
    created_at REAL NOT NULL,
    completed_at REAL
);
CREATE INDEX IF NOT EXISTS tool_calls_session ON tool_calls(session_id, call_id);

CREATE TABLE IF NOT EXISTS media_refs (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id),
    message_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    path TEXT,
    mime_type TEXT,
    sha256 TEXT,
    size INTEGER,
    metadata TEXT
);
CREATE INDEX IF NOT EXISTS media_refs_session ON media_refs(session_id);
CREATE INDEX IF NOT EXISTS media_refs_hash ON media_refs(sha256) WHERE sha256 IS NOT NULL;

CREATE TABLE IF NOT EXISTS tags (
    session_id TEXT NOT NULL REFERENCES sessions(id),
    tag TEXT NOT NULL,
    PRIMARY KEY (session_id, tag)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tags_tag ON tags(tag, session_id);

CREATE TABLE IF NOT EXISTS meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- How far each file of another agent was read.
CREATE TABLE IF NOT EXISTS import_files (
    path TEXT PRIMARY KEY,
    inode INTEGER,
    size INTEGER,
    mtime REAL,
    read_offset INTEGER,
    head_hash TEXT,
    origin TEXT,
    state TEXT
) WITHOUT ROWID;

-- Which chat belongs to which session.
CREATE TABLE IF NOT EXISTS gateway_bindings (
    session_key TEXT PRIMARY KEY,
    platform TEXT,
    chat_type TEXT,
    chat_id TEXT,
    thread_id TEXT,
    user_id TEXT,
    active_session_id TEXT,
    reset_state TEXT,
    created_at REAL,
    updated_at REAL,
    metadata TEXT
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS trash_sessions (
    trash_id INTEGER PRIMARY KEY,
    id TEXT NOT NULL, source TEXT, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
    parent_session_id TEXT, started_at REAL, ended_at REAL, end_reason TEXT,
    message_count INTEGER, tool_call_count INTEGER, input_tokens INTEGER, output_tokens INTEGER,
    cache_read_tokens INTEGER, cache_write_tokens INTEGER, reasoning_tokens INTEGER,
    billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT,
    estimated_cost_usd REAL, actual_cost_usd REAL, cost_status TEXT, cost_source TEXT, pricing_version TEXT,
    title TEXT, session_key TEXT, chat_id TEXT, chat_type TEXT, thread_id TEXT, display_name TEXT,
    last_active REAL, last_message_id INTEGER, last_seq INTEGER, ledger INTEGER, relation TEXT, title_source TEXT,
    origin TEXT, native_id TEXT, cwd TEXT, git_branch TEXT, archived_at REAL, pinned_at REAL,
    deleted_at REAL NOT NULL, character_id TEXT, host TEXT, metadata TEXT,
    tags TEXT NOT NULL, children TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS trash_sessions_id ON trash_sessions(id);
CREATE TABLE IF NOT EXISTS trash_messages (
    trash_id INTEGER NOT NULL,
    id INTEGER NOT NULL, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT,
    tool_name TEXT, timestamp REAL, token_count INTEGER, finish_reason TEXT, reasoning TEXT,
    reasoning_details TEXT, codex_reasoning_items TEXT, seq INTEGER, term INTEGER, message_key TEXT,
    content_type TEXT, provider TEXT, model TEXT, input_tokens INTEGER, output_tokens INTEGER,
    active INTEGER, injected INTEGER, metadata TEXT,
    PRIMARY KEY (trash_id, id)
);
CREATE TABLE IF NOT EXISTS trash_tool_calls (
    trash_id INTEGER NOT NULL,
    id INTEGER NOT NULL, session_id TEXT, message_id INTEGER, call_id TEXT, tool_name TEXT, arguments TEXT,
    result_summary TEXT, status TEXT, created_at REAL, completed_at REAL,
    PRIMARY KEY (trash_id, id)
);
CREATE TABLE IF NOT EXISTS trash_media_refs (
    trash_id INTEGER NOT NULL,
    id INTEGER NOT NULL, session_id TEXT, message_id INTEGER, kind TEXT, path TEXT, mime_type TEXT, sha256 TEXT,
    size INTEGER, metadata TEXT,
    PRIMARY KEY (trash_id, id)
);

-- What the search index must look at again. Appends write nothing here: their ids only grow.
CREATE TABLE IF NOT EXISTS message_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id INTEGER NOT NULL,
    gone INTEGER NOT NULL
);
CREATE TRIGGER IF NOT EXISTS messages_changed AFTER UPDATE OF content, content_type, tool_calls, tool_name ON messages
BEGIN
    INSERT INTO message_changes (message_id, gone) VALUES (new.id, 0);
END;
CREATE TRIGGER IF NOT EXISTS messages_gone AFTER DELETE ON messages
BEGIN
    INSERT INTO message_changes (message_id, gone) VALUES (old.id, 1);
END;

-- An index belongs to one store, whatever its file is called.
INSERT OR IGNORE INTO meta (name, value) VALUES ('store_id', lower(hex(randomblob(16))));
