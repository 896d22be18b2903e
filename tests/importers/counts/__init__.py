"""Counts over the raw files of other agents, made without a line of the parsers: what an import must agree with.

Each module has `count(paths)`: native session id -> what is in that session. A session is told by `human` (turns that
a person wrote), `assistant` (answers with words in them), `tool_calls`, `tool_results`, tokens, `title`, `parent` and
`relation`. Input is without what came from a cache; output is with reasoning.
"""
