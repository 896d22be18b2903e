"""Conversations of a few days in a throw-away home: written through the API, then listed, searched, resumed, counted.

make demo
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import sessiondb
from sessiondb.ids import new_session_id

HOUR = 3600.0
DAY = 24 * HOUR


@dataclass
class Clock:
    """Tells the time of the story; every look takes 20 seconds."""

    now: float = field(default_factory=time.time)

    def __call__(self) -> float:
        self.now += 20
        return self.now


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="sessiondb-demo-") as home:
        clock = Clock()
        with sessiondb.open(os.path.join(home, "state.db"), clock=clock) as db:
            write(db, clock)
        say("Four conversations are stored. What is there?")
        command(home, "list")
        say("Words are found as they were typed, paths and Chinese too.")
        command(home, "search", "/etc/nginx/nginx.conf")
        command(home, "search", "天气")
        say("With sub-agents, and with every part of a compressed conversation.")
        command(home, "list", "--all")
        say('To resume "nginx 502", the newest part of its lineage is looked up and its end is shown.')
        with sessiondb.open(os.path.join(home, "state.db"), read_only=True) as db:
            resumed = db.resolve_resume_session_id(db.resolve_session_by_title("nginx 502") or "")
        command(home, "show", resumed, "--last", "3")
        say("Numbers, and the proof that nothing is missing.")
        command(home, "stats")
        command(home, "verify")


def write(db: sessiondb.SessionDB, clock: Clock) -> None:
    today = clock.now
    clock.now = today - 3.1 * DAY
    write_weather(db, clock)
    clock.now = today - 26 * HOUR
    write_nginx(db, clock)
    clock.now = today - 2.1 * HOUR
    write_refactoring(db, clock)
    clock.now = today - 5 * 60
    write_question(db, clock)


def write_weather(db: sessiondb.SessionDB, clock: Clock) -> None:
    asked = db.create_session(new_session_id(clock.now), "telegram", model="small-model", user_id="ann")
    db.append_messages(
        asked,
        [
            {"role": "user", "content": "东京明天的天气怎么样？"},
            {"role": "assistant", "content": "明天东京多云，最高 14 度，带一件外套。"},
        ],
    )
    db.end_session(asked, "idle")


def write_nginx(db: sessiondb.SessionDB, clock: Clock) -> None:
    """A conversation with a tool that grew too long and goes on, compressed, in a new session."""
    first = db.create_session(new_session_id(clock.now), "cli", model="large-model", cwd="/srv/www")
    db.set_session_title(first, "nginx 502")
    db.append_message(first, "user", "Why does nginx answer 502 since the last deploy?")
    call = {"id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": '{"cmd": "nginx -t"}'}}
    db.append_message(first, "assistant", "I check the configuration.", tool_calls=[call])
    tested = "nginx: configuration file /etc/nginx/nginx.conf test is successful"
    db.append_message(first, "tool", tested, tool_name="terminal", tool_call_id="call_1")
    db.append_message(first, "assistant", "It is fine, so the upstream is not listening on /run/app.sock.")
    db.update_token_counts(first, input_tokens=5200, output_tokens=340, estimated_cost_usd=0.021)
    second = db.rotate_session(first)
    db.append_message(second, "user", "[summary] 502 after the deploy; nginx is fine; the socket is missing.")
    db.append_message(second, "user", "The service was not restarted. What now?")
    db.append_message(second, "assistant", "Run: systemctl restart app && curl -I http://localhost/")


def write_refactoring(db: sessiondb.SessionDB, clock: Clock) -> None:
    """A conversation that sends a sub-agent to look something up."""
    asked = db.create_session(new_session_id(clock.now), "cli", model="large-model")
    db.set_session_title(asked, "refactoring auth")
    db.append_message(asked, "user", "Help me refactor src/auth/login.py, please.")
    helper = db.create_session(new_session_id(clock.now), "subagent", parent_session_id=asked)
    db.append_message(helper, "user", "List the callers of login().")
    db.append_message(helper, "assistant", "src/web/views.py:41, src/cli/main.py:12")
    db.append_message(asked, "assistant", "login() has two callers; I split checking from storing.")


def write_question(db: sessiondb.SessionDB, clock: Clock) -> None:
    asked = db.create_session(new_session_id(clock.now), "cli", model="small-model")
    # The same key is the same message: a retry after a lost answer stores nothing twice.
    for _ in range(2):
        db.append_message(asked, "user", "Was heißt „Zeitgeist“ auf Englisch?", message_key="turn-1")


def say(text: str) -> None:
    print(f"\n# {text}", flush=True)


def command(home: str, *arguments: str) -> None:
    """Run the real command as a shell would show it."""
    print(f"\n$ sessiondb {shlex.join(arguments)}", flush=True)
    environment = {name: value for name, value in os.environ.items() if name != "SESSIONDB_URL"}
    environment["SESSIONDB_HOME"] = home
    subprocess.run([sys.executable, "-m", "sessiondb", *arguments], env=environment, check=True)


if __name__ == "__main__":
    main()
