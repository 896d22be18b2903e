-- Large texts that come again and again are kept once: a column holds a reference to its row in `bodies`.
-- A reference is U+FDD0, which no text begins with (it would be escaped), a '#' and the hash of the text.
-- Everything that copies rows copies references; the triggers drop a text with the last one, whoever deletes it.
CREATE TABLE IF NOT EXISTS bodies (
    reference TEXT PRIMARY KEY,
    codec TEXT NOT NULL,
    size INTEGER NOT NULL,
    data BLOB NOT NULL
);

CREATE INDEX IF NOT EXISTS messages_body ON messages(content) WHERE content >= '﷐#' AND content < '﷐$';
CREATE INDEX IF NOT EXISTS trash_messages_body ON trash_messages(content) WHERE content >= '﷐#' AND content < '﷐$';
CREATE INDEX IF NOT EXISTS sessions_body ON sessions(system_prompt) WHERE system_prompt >= '﷐#' AND system_prompt < '﷐$';
CREATE INDEX IF NOT EXISTS trash_sessions_body ON trash_sessions(system_prompt) WHERE system_prompt >= '﷐#' AND system_prompt < '﷐$';

DROP VIEW IF EXISTS body_references;
CREATE VIEW body_references AS
SELECT content AS reference FROM messages WHERE content >= '﷐#' AND content < '﷐$'
UNION ALL
SELECT content AS reference FROM trash_messages WHERE content >= '﷐#' AND content < '﷐$'
UNION ALL
SELECT system_prompt AS reference FROM sessions WHERE system_prompt >= '﷐#' AND system_prompt < '﷐$'
UNION ALL
SELECT system_prompt AS reference FROM trash_sessions WHERE system_prompt >= '﷐#' AND system_prompt < '﷐$';

CREATE TRIGGER IF NOT EXISTS messages_body_gone AFTER DELETE ON messages
WHEN old.content >= '﷐#' AND old.content < '﷐$'
BEGIN
    DELETE FROM bodies
     WHERE reference = old.content
       AND NOT EXISTS (SELECT 1 FROM body_references r WHERE r.reference = old.content);
END;
CREATE TRIGGER IF NOT EXISTS messages_body_changed AFTER UPDATE OF content ON messages
WHEN old.content >= '﷐#' AND old.content < '﷐$' AND new.content IS NOT old.content
BEGIN
    DELETE FROM bodies
     WHERE reference = old.content
       AND NOT EXISTS (SELECT 1 FROM body_references r WHERE r.reference = old.content);
END;
CREATE TRIGGER IF NOT EXISTS trash_messages_body_gone AFTER DELETE ON trash_messages
WHEN old.content >= '﷐#' AND old.content < '﷐$'
BEGIN
    DELETE FROM bodies
     WHERE reference = old.content
       AND NOT EXISTS (SELECT 1 FROM body_references r WHERE r.reference = old.content);
END;
CREATE TRIGGER IF NOT EXISTS trash_messages_body_changed AFTER UPDATE OF content ON trash_messages
WHEN old.content >= '﷐#' AND old.content < '﷐$' AND new.content IS NOT old.content
BEGIN
    DELETE FROM bodies
     WHERE reference = old.content
       AND NOT EXISTS (SELECT 1 FROM body_references r WHERE r.reference = old.content);
END;
CREATE TRIGGER IF NOT EXISTS sessions_body_gone AFTER DELETE ON sessions
WHEN old.system_prompt >= '﷐#' AND old.system_prompt < '﷐$'
BEGIN
    DELETE FROM bodies
     WHERE reference = old.system_prompt
       AND NOT EXISTS (SELECT 1 FROM body_references r WHERE r.reference = old.system_prompt);
END;
CREATE TRIGGER IF NOT EXISTS sessions_body_changed AFTER UPDATE OF system_prompt ON sessions
WHEN old.system_prompt >= '﷐#' AND old.system_prompt < '﷐$' AND new.system_prompt IS NOT old.system_prompt
BEGIN
    DELETE FROM bodies
     WHERE reference = old.system_prompt
       AND NOT EXISTS (SELECT 1 FROM body_references r WHERE r.reference = old.system_prompt);
END;
CREATE TRIGGER IF NOT EXISTS trash_sessions_body_gone AFTER DELETE ON trash_sessions
WHEN old.system_prompt >= '﷐#' AND old.system_prompt < '﷐$'
BEGIN
    DELETE FROM bodies
     WHERE reference = old.system_prompt
       AND NOT EXISTS (SELECT 1 FROM body_references r WHERE r.reference = old.system_prompt);
END;
CREATE TRIGGER IF NOT EXISTS trash_sessions_body_changed AFTER UPDATE OF system_prompt ON trash_sessions
WHEN old.system_prompt >= '﷐#' AND old.system_prompt < '﷐$' AND new.system_prompt IS NOT old.system_prompt
BEGIN
    DELETE FROM bodies
     WHERE reference = old.system_prompt
       AND NOT EXISTS (SELECT 1 FROM body_references r WHERE r.reference = old.system_prompt);
END;

-- As in 1002, with texts instead of references; one that is kept compressed is NULL here.
DROP VIEW IF EXISTS v1_sessions;
CREATE VIEW v1_sessions AS
SELECT s.id, s.source, s.title, s.model, s.cwd, s.git_branch, s.origin, s.host, s.user_id, s.chat_id,
       s.parent_session_id, p.title AS parent_title, s.relation, s.end_reason,
       s.started_at, s.ended_at, s.last_active,
       strftime('%Y-%m-%dT%H:%M:%fZ', s.started_at, 'unixepoch') AS started_time,
       strftime('%Y-%m-%dT%H:%M:%fZ', s.ended_at, 'unixepoch') AS ended_time,
       strftime('%Y-%m-%dT%H:%M:%fZ', s.last_active, 'unixepoch') AS last_active_time,
       s.message_count, s.tool_call_count, s.input_tokens, s.output_tokens, s.cache_read_tokens,
       s.cache_write_tokens, s.reasoning_tokens,
       COALESCE(s.actual_cost_usd, s.estimated_cost_usd) AS cost_usd, s.cost_status,
       s.archived_at, s.pinned_at,
       CASE WHEN s.system_prompt >= '﷐#' AND s.system_prompt < '﷐$'
            THEN (SELECT b.data FROM bodies b WHERE b.reference = s.system_prompt AND b.codec = 'plain')
            ELSE s.system_prompt END AS system_prompt
  FROM sessions s
  LEFT JOIN sessions p ON p.id = s.parent_session_id;

DROP VIEW IF EXISTS v1_messages;
CREATE VIEW v1_messages AS
SELECT m.id, m.session_id, s.source, s.title, m.seq, m.role,
       CASE WHEN m.content >= '﷐#' AND m.content < '﷐$'
            THEN (SELECT b.data FROM bodies b WHERE b.reference = m.content AND b.codec = 'plain')
            ELSE m.content END AS content,
       m.content_type, m.tool_name, m.tool_call_id,
       m.tool_calls, m.reasoning, m.finish_reason, m.provider, m.model, m.input_tokens, m.output_tokens, m.injected,
       m.timestamp, strftime('%Y-%m-%dT%H:%M:%fZ', m.timestamp, 'unixepoch') AS message_time
  FROM messages m
  JOIN sessions s ON s.id = m.session_id
 WHERE m.active = 1;
