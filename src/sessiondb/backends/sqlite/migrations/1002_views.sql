-- Views for other programs, read-only; docs/sql.md describes them. What a view of v1 shows it goes on showing:
-- a column that must change its meaning comes with v2. Moments that no calendar holds are NULL.
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
       s.archived_at, s.pinned_at, s.system_prompt
  FROM sessions s
  LEFT JOIN sessions p ON p.id = s.parent_session_id;

DROP VIEW IF EXISTS v1_messages;
CREATE VIEW v1_messages AS
SELECT m.id, m.session_id, s.source, s.title, m.seq, m.role, m.content, m.content_type, m.tool_name, m.tool_call_id,
       m.tool_calls, m.reasoning, m.finish_reason, m.provider, m.model, m.input_tokens, m.output_tokens, m.injected,
       m.timestamp, strftime('%Y-%m-%dT%H:%M:%fZ', m.timestamp, 'unixepoch') AS message_time
  FROM messages m
  JOIN sessions s ON s.id = m.session_id
 WHERE m.active = 1;
