"""A chat channel as people use it: what is asked and answered there is stored, and found by channel and session."""

from __future__ import annotations

import hmac
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import yaml

import sessiondb
from chat_endpoint import ChatEndpoint
from sessiondb import SessionDB
from sessiondb.gateway.service import Service

SECRET = "s3cret"


class Channel:
    """The other end of a webhook channel: says things, and hears the answers."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.heard.append(json.loads(body)["text"])
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.gateway = ""

    def ask(self, number: int, text: str) -> None:
        said = {"id": str(number), "chat": {"id": "c1"}, "user": {"id": "u1"}, "text": text}
        body, now = json.dumps(said).encode(), str(int(time.time()))
        signature = hmac.new(SECRET.encode(), f"v1:{now}:".encode() + body, "sha256").hexdigest()
        headers = {"X-Sessiondb-Timestamp": now, "X-Sessiondb-Signature": f"v1={signature}"}
        before = len(self.heard)
        with urlopen(Request(f"{self.gateway}/webhook", body, headers), timeout=30):
            pass
        deadline = time.monotonic() + 30
        while len(self.heard) == before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(self.heard) > before


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SessionDB]:
    with sessiondb.open(tmp_path / "state.db") as db:
        yield db


@pytest.fixture
def channel(db: SessionDB, tmp_path: Path) -> Iterator[Channel]:
    other = Channel()
    with ChatEndpoint() as endpoint:
        endpoint.configure(tmp_path)
        config = yaml.safe_load((tmp_path / "config.yaml").read_text())
        config["channels"] = {"webhook": {"secret": SECRET, "reply_url": other.url}}
        config["gateway"] = {"listen": "127.0.0.1:0"}
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
        service = Service(db, env={"SESSIONDB_HOME": str(tmp_path)})
        other.thread.start()
        service.start()
        other.gateway = f"http://127.0.0.1:{service.host.web.port}"
        try:
            yield other
        finally:
            service.stop()
            other.server.shutdown()
            other.server.server_close()
            other.thread.join()


def test_a_chat_channel_writes_what_is_asked_and_answered(channel: Channel, db: SessionDB) -> None:
    channel.ask(1, "where is nginx.conf?")
    assert channel.heard == ["An answer"]
    session = db.search_sessions()[0]
    assert (session["source"], session["chat_id"], session["user_id"]) == ("webhook", "c1", "u1")
    said = [(row["role"], row["content"]) for row in db.get_messages(session["id"]) if not row["injected"]]
    assert said == [("user", "where is nginx.conf?"), ("assistant", "An answer")]


def test_what_channels_wrote_is_found_by_channel_and_session(channel: Channel, db: SessionDB) -> None:
    db.create_session("terminal", "cli")
    db.append_message("terminal", "user", "the frobnicator at the terminal")
    channel.ask(1, "the frobnicator in the chat")
    channel.ask(2, "/new")
    channel.ask(3, "the frobnicator once more")
    old, new = [each["id"] for each in reversed(db.search_sessions()) if each["source"] == "webhook"]

    def found(**filters: object) -> list[str]:
        return sorted(hit["session_id"] for hit in db.search_messages("frobnicator", **filters))  # type: ignore[arg-type]

    assert found() == sorted(["terminal", old, new])
    assert found(source_filter=["webhook"]) == sorted([old, new])
    assert found(source_filter=["cli"]) == ["terminal"]
    assert found(session_id=old) == [old]
