"""How fast, compared with what: ratios of one run, at equal durability, as medians of interleaved rounds.

    python -m benchmarks                  # all scenarios
    python -m benchmarks append load      # some
    python -m benchmarks --full           # up to a million messages

Every contender is a process of its own that reads orders and answers in JSON, a line each; only one works at a time,
in short rounds whose order rotates, so that a busy machine slows all of them alike. Contenders are

- `sessiondb`, through its public API;
- `floor`, a bare apsw loop: it plays back the very statements and parameters that sessiondb sent to SQLite for the same
  work, on a copy of the same store, so that it is the same statements on the same schema by construction;
- `loop`, the same where many messages go in at once: it starts from the messages and makes their rows, JSON included,
  while it runs, as any hand-written loop must. Positions and proofs of completeness it is given;
- the peer, hermes-agent from PyPI in a virtualenv of its own (`benchmarks/.peers/`).

A scenario prints its figures and its ratios with the target beside them. It asserts nothing.
"""
