-- The whole store. Every statement can run again: DDL commits at once here, and an installer may be killed.
-- {options}: InnoDB, and a binary collation without padding, which each server calls by another name.
CREATE TABLE IF NOT EXISTS sessions (
    id VARCHAR(512) NOT NULL PRIMARY KEY,
    source LONGTEXT NOT NULL,
    user_id LONGTEXT,
    model LONGTEXT,
    model_config LONGTEXT,
    system_prompt LONGTEXT,
    parent_session_id VARCHAR(512),
    started_at DOUBLE NOT NULL,
    ended_at DOUBLE,
    end_reason LONGTEXT,
    message_count BIGINT DEFAULT 0,
    tool_call_count BIGINT DEFAULT 0,
    input_tokens BIGINT DEFAULT 0,
    output_tokens BIGINT DEFAULT 0,
    cache_read_tokens BIGINT DEFAULT 0,
    cache_write_tokens BIGINT DEFAULT 0,
    reasoning_tokens BIGINT DEFAULT 0,
    billing_provider LONGTEXT,
    billing_base_url LONGTEXT,
    billing_mode LONGTEXT,
    estimated_cost_usd DOUBLE,
    actual_cost_usd DOUBLE,
    cost_status LONGTEXT,
    cost_source LONGTEXT,
    pricing_version LONGTEXT,
    title VARCHAR(500),
    session_key LONGTEXT,
    chat_id LONGTEXT,
    chat_type LONGTEXT,
    thread_id LONGTEXT,
    display_name LONGTEXT,
    last_active DOUBLE,
    last_message_id BIGINT,
    last_seq BIGINT NOT NULL DEFAULT 0,
    ledger BIGINT NOT NULL DEFAULT 0,
    relation VARCHAR(32) NOT NULL DEFAULT 'root',
    title_source LONGTEXT,
    origin LONGTEXT,
    native_id LONGTEXT,
    cwd LONGTEXT,
    git_branch LONGTEXT,
    archived_at DOUBLE,
    pinned_at DOUBLE,
    deleted_at DOUBLE,
    character_id LONGTEXT,
    host LONGTEXT,
    metadata LONGTEXT,
    -- There are no partial indexes: what may not be twice is NULL where it may.
    continues VARCHAR(512) AS (CASE WHEN relation = 'compression' THEN parent_session_id END) STORED,
    native_hash BINARY(32) AS (UNHEX(SHA2(CONCAT(origin, '|', native_id), 256))) STORED,
    UNIQUE KEY sessions_title (title),
    UNIQUE KEY sessions_continuation (continues),
    UNIQUE KEY sessions_native (native_hash),
    KEY sessions_source (source(64)),
    KEY sessions_parent (parent_session_id),
    KEY sessions_key (session_key(64)),
    -- With the tie-breaks of the lists; read backwards.
    KEY sessions_started (started_at, id),
    KEY sessions_activity (last_message_id, started_at, id)
) {options};

CREATE TABLE IF NOT EXISTS messages (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    session_id VARCHAR(512) NOT NULL,
    role VARCHAR(64) NOT NULL,
    content LONGTEXT,
    tool_call_id LONGTEXT,
    tool_calls LONGTEXT,
    tool_name LONGTEXT,
    timestamp DOUBLE NOT NULL,
    token_count BIGINT,
    finish_reason LONGTEXT,
    reasoning LONGTEXT,
    reasoning_details LONGTEXT,
    codex_reasoning_items LONGTEXT,
    seq BIGINT,
    term BIGINT,
    message_key LONGTEXT,
    content_type LONGTEXT,
    provider LONGTEXT,
    model LONGTEXT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    active TINYINT NOT NULL DEFAULT 1,
    injected TINYINT NOT NULL DEFAULT 0,
    metadata LONGTEXT,
    -- A key has any length, an index entry has not.
    key_hash BINARY(32) AS (UNHEX(SHA2(message_key, 256))) STORED,
    UNIQUE KEY messages_position (session_id, seq),
    UNIQUE KEY messages_key (session_id, key_hash),
    KEY messages_known_key (session_id, message_key(128)),
    CONSTRAINT messages_of_session FOREIGN KEY (session_id) REFERENCES sessions (id)
) {options};

CREATE TABLE IF NOT EXISTS tool_calls (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    session_id VARCHAR(512) NOT NULL,
    message_id BIGINT NOT NULL,
    call_id LONGTEXT,
    tool_name LONGTEXT,
    arguments LONGTEXT,
    result_summary LONGTEXT,
    status VARCHAR(32) NOT NULL,
    created_at DOUBLE NOT NULL,
    completed_at DOUBLE,
    KEY tool_calls_session (session_id, call_id(64)),
    CONSTRAINT tool_calls_of_session FOREIGN KEY (session_id) REFERENCES sessions (id)
) {options};

CREATE TABLE IF NOT EXISTS media_refs (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    session_id VARCHAR(512) NOT NULL,
    message_id BIGINT NOT NULL,
    kind LONGTEXT NOT NULL,
    path LONGTEXT,
    mime_type LONGTEXT,
    sha256 LONGTEXT,
    size BIGINT,
    metadata LONGTEXT,
    KEY media_refs_session (session_id),
    KEY media_refs_hash (sha256(64)),
    CONSTRAINT media_refs_of_session FOREIGN KEY (session_id) REFERENCES sessions (id)
) {options};

CREATE TABLE IF NOT EXISTS tags (
    session_id VARCHAR(512) NOT NULL,
    tag VARCHAR(250) NOT NULL,
    PRIMARY KEY (session_id, tag),
    KEY tags_tag (tag),
    CONSTRAINT tags_of_session FOREIGN KEY (session_id) REFERENCES sessions (id)
) {options};

CREATE TABLE IF NOT EXISTS meta (
    name VARCHAR(700) NOT NULL PRIMARY KEY,
    value LONGTEXT NOT NULL
) {options};

-- How far each file of another agent was read.
CREATE TABLE IF NOT EXISTS import_files (
    path VARCHAR(700) NOT NULL PRIMARY KEY,
    inode BIGINT,
    size BIGINT,
    mtime DOUBLE,
    read_offset BIGINT,
    head_hash LONGTEXT,
    origin LONGTEXT,
    state LONGTEXT
) {options};

-- Which chat belongs to which session.
CREATE TABLE IF NOT EXISTS gateway_bindings (
    session_key VARCHAR(700) NOT NULL PRIMARY KEY,
    platform LONGTEXT,
    chat_type LONGTEXT,
    chat_id LONGTEXT,
    thread_id LONGTEXT,
    user_id LONGTEXT,
    active_session_id VARCHAR(512),
    reset_state LONGTEXT,
    created_at DOUBLE,
    updated_at DOUBLE,
    metadata LONGTEXT
) {options};

CREATE TABLE IF NOT EXISTS trash_sessions (
    trash_id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id VARCHAR(512) NOT NULL, source LONGTEXT, user_id LONGTEXT, model LONGTEXT, model_config LONGTEXT,
    system_prompt LONGTEXT, parent_session_id VARCHAR(512), started_at DOUBLE, ended_at DOUBLE, end_reason LONGTEXT,
    message_count BIGINT, tool_call_count BIGINT, input_tokens BIGINT, output_tokens BIGINT,
    cache_read_tokens BIGINT, cache_write_tokens BIGINT, reasoning_tokens BIGINT,
    billing_provider LONGTEXT, billing_base_url LONGTEXT, billing_mode LONGTEXT,
    estimated_cost_usd DOUBLE, actual_cost_usd DOUBLE, cost_status LONGTEXT, cost_source LONGTEXT,
    pricing_version LONGTEXT, title VARCHAR(500), session_key LONGTEXT, chat_id LONGTEXT, chat_type LONGTEXT,
    thread_id LONGTEXT, display_name LONGTEXT, last_active DOUBLE, last_message_id BIGINT, last_seq BIGINT,
    ledger BIGINT, relation VARCHAR(32), title_source LONGTEXT, origin LONGTEXT, native_id LONGTEXT, cwd LONGTEXT,
    git_branch LONGTEXT, archived_at DOUBLE, pinned_at DOUBLE, deleted_at DOUBLE NOT NULL, character_id LONGTEXT,
    host LONGTEXT, metadata LONGTEXT,
    tags LONGTEXT NOT NULL, children LONGTEXT NOT NULL,
    KEY trash_sessions_id (id),
    KEY trash_sessions_parent (parent_session_id)
) {options};

CREATE TABLE IF NOT EXISTS trash_messages (
    trash_id BIGINT NOT NULL,
    id BIGINT NOT NULL, session_id VARCHAR(512), role VARCHAR(64), content LONGTEXT, tool_call_id LONGTEXT,
    tool_calls LONGTEXT, tool_name LONGTEXT, timestamp DOUBLE, token_count BIGINT, finish_reason LONGTEXT,
    reasoning LONGTEXT, reasoning_details LONGTEXT, codex_reasoning_items LONGTEXT, seq BIGINT, term BIGINT,
    message_key LONGTEXT, content_type LONGTEXT, provider LONGTEXT, model LONGTEXT, input_tokens BIGINT,
    output_tokens BIGINT, active TINYINT, injected TINYINT, metadata LONGTEXT,
    PRIMARY KEY (trash_id, id)
) {options};

CREATE TABLE IF NOT EXISTS trash_tool_calls (
    trash_id BIGINT NOT NULL,
    id BIGINT NOT NULL, session_id VARCHAR(512), message_id BIGINT, call_id LONGTEXT, tool_name LONGTEXT,
    arguments LONGTEXT, result_summary LONGTEXT, status VARCHAR(32), created_at DOUBLE, completed_at DOUBLE,
    PRIMARY KEY (trash_id, id)
) {options};

CREATE TABLE IF NOT EXISTS trash_media_refs (
    trash_id BIGINT NOT NULL,
    id BIGINT NOT NULL, session_id VARCHAR(512), message_id BIGINT, kind LONGTEXT, path LONGTEXT,
    mime_type LONGTEXT, sha256 LONGTEXT, size BIGINT, metadata LONGTEXT,
    PRIMARY KEY (trash_id, id)
) {options};

-- The words of a message in the order of the text, encoded.
CREATE TABLE IF NOT EXISTS search_words (
    message_id BIGINT NOT NULL PRIMARY KEY,
    words INT NOT NULL,
    body LONGTEXT NOT NULL,
    extra LONGTEXT NOT NULL,
    FULLTEXT KEY search_words_text (body, extra),
    CONSTRAINT search_words_of_message FOREIGN KEY (message_id) REFERENCES messages (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET ascii COLLATE ascii_bin;

-- Messages whose words do not fit into one packet, in overlapping pieces.
CREATE TABLE IF NOT EXISTS search_chunks (
    message_id BIGINT NOT NULL,
    chunk INT NOT NULL,
    words INT NOT NULL,
    body LONGTEXT NOT NULL,
    extra LONGTEXT NOT NULL,
    PRIMARY KEY (message_id, chunk),
    FULLTEXT KEY search_chunks_text (body, extra),
    CONSTRAINT search_chunks_of_message FOREIGN KEY (message_id) REFERENCES messages (id) ON DELETE CASCADE
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET ascii COLLATE ascii_bin;
