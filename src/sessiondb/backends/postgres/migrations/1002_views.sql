-- Views for other programs, read-only; docs/sql.md describes them. What a view of v1 shows it goes on showing:
-- a column that must change its meaning comes with v2. Moments that no calendar holds are NULL.
CREATE OR REPLACE VIEW v1_sessions AS
SELECT s.id, s.source, s.title, s.model, s.cwd, s.git_branch, s.origin, s.host, s.user_id, s.chat_id,
       s.parent_session_id, p.title AS parent_title, s.relation, s.end_reason,
       s.started_at, s.ended_at, s.last_active,
       CASE WHEN s.started_at BETWEEN -62135596800 AND 253402300799
            THEN to_timestamp(s.started_at)
       END AS started_time,
       CASE WHEN s.ended_at BETWEEN -62135596800 AND 253402300799
            THEN to_timestamp(s.ended_at)
       END AS ended_time,
       CASE WHEN s.last_active BETWEEN -62135596800 AND 253402300799
            THEN to_timestamp(s.last_active)
       END AS last_active_time,
       s.message_count, s.tool_call_count, s.input_tokens, s.output_tokens, s.cache_read_tokens,
       s.cache_write_tokens, s.reasoning_tokens,
       COALESCE(s.actual_cost_usd, s.estimated_cost_usd) AS cost_usd, s.cost_status,
       s.archived_at, s.pinned_at, s.system_prompt
  FROM sessions s
  LEFT JOIN sessions p ON p.id = s.parent_session_id;

CREATE OR REPLACE VIEW v1_messages AS
SELECT m.id, m.session_id, s.source, s.title, m.seq, m.role, m.content, m.content_type, m.tool_name, m.tool_call_id,
       m.tool_calls, m.reasoning, m.finish_reason, m.provider, m.model, m.input_tokens, m.output_tokens, m.injected,
       m.timestamp,
       CASE WHEN m.timestamp BETWEEN -62135596800 AND 253402300799
            THEN to_timestamp(m.timestamp)
       END AS message_time
  FROM messages m
  JOIN sessions s ON s.id = m.session_id
 WHERE m.active = 1;
