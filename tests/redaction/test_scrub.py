"""After `scrub` no byte of a credential is left in the files of a store, and everything else is as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from made_credentials import KINDS, positives

import sessiondb
from sessiondb.db import SessionDB
from sessiondb.redact import findings
from sessiondb.scrub import scrub

TITLED = positives("github token", 1)[0]
PROMPT = positives("anthropic key", 1)[0]
BURIED = positives("stripe key", 1)[0]
HIDDEN = positives("npm token", 1)[0]
ARGUMENT = positives("google key", 1)[0]
RESULT = positives("slack token", 1)[0]
THOUGHT = positives("hugging face token", 1)[0]
PICTURE = positives("azure signature", 1)[0]
EXTRA = positives("sendgrid key", 1)[0]
PURGED = positives("vault token", 1)[0]
LARGE = positives("digitalocean token", 1)[0]
# What stood in a store before it was cleaned; the rest of the kinds are in messages.
PLACED = (TITLED, PROMPT, BURIED, HIDDEN, ARGUMENT, RESULT, THOUGHT, PICTURE, EXTRA, PURGED, LARGE)

# How compressed texts of the fastest level begin.
_ZLIB = b"\x78\x01"


def told() -> list[str]:
    return [text for kind in KINDS for text in positives(kind, 4)]


def secrets() -> list[bytes]:
    """The credentials themselves, without the words that tell what they are."""
    found = [text[each.start : each.end] for text in (*told(), *PLACED) for each in findings(text)]
    return [secret.encode() for secret in found]


def fill(db: SessionDB) -> None:
    db.create_session("s", "cli", system_prompt=f"use {PROMPT}", metadata={"env": {"KEY": EXTRA}})
    db.set_session_title("s", f"deploy {TITLED}")
    db.append_messages("s", [{"role": "user", "content": f"zebra {text} tail"} for text in told()])
    call = {"id": "c1", "function": {"name": "curl", "arguments": json.dumps({"header": ARGUMENT, "zone": "eu"})}}
    db.append_message("s", "assistant", [{"type": "text", "text": "hm"}], tool_calls=[call], reasoning=f"so {THOUGHT}")
    picture = [{"kind": "image", "path": PICTURE}]
    db.append_message("s", "tool", f"{'x' * 190} {RESULT}", tool_call_id="c1", media_refs=picture)
    kept = db.append_message("s", "user", "kept")
    db.append_message("s", "user", f"rewound {HIDDEN}")
    db.rewind_to_message("s", kept)
    db.create_session("gone", "cli")
    db.append_message("gone", "user", f"deleted {BURIED}")
    db.delete_session("gone")
    # Large enough to be kept once for all three places.
    large = f"{LARGE} {'z ' * 3000}"
    db.create_session("large", "cli", system_prompt=large)
    db.append_messages("large", [{"role": "tool", "content": large}] * 2)
    db.create_session("purged", "cli")
    db.append_messages("purged", [{"role": "user", "content": f"purged {PURGED} {'y' * 5000}"}] * 3)
    db.delete_session("purged", hard=True)
    db.search_messages("zebra")


def everything(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())


def inflated(data: bytes) -> Iterator[bytes]:
    """What any place of a file is the beginning of, compressed as `bodies` may be; a free page still holds it."""
    start = data.find(_ZLIB)
    while start >= 0:
        with suppress(zlib.error):
            yield zlib.decompressobj().decompress(data[start:])
        start = data.find(_ZLIB, start + 1)


def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sessiondb", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        timeout=120,
    )


@pytest.fixture
def path(fast_path: Path) -> Path:
    with sessiondb.open(fast_path / "state.db", synchronous="NORMAL") as db:
        fill(db)
    return fast_path / "state.db"


def test_no_byte_of_a_credential_is_left_in_any_file(path: Path) -> None:
    before = everything(path.parent)
    assert all(secret in before for secret in secrets() if b"\n" not in secret and b"\\" not in secret)
    answer = run("scrub", "--yes", "--json", "--db", str(path))
    assert answer.returncode == 0, answer.stderr
    after = everything(path.parent)
    assert [secret for secret in secrets() if secret in after] == []
    folded = after.lower()
    # The words of the index are in lower case.
    assert [secret for secret in secrets() if len(secret) > 12 and secret.lower() in folded] == []


@pytest.mark.parametrize("how", ["plain", "zlib", "off"])
def test_no_large_text_is_left_however_it_was_kept(path: Path, how: str) -> None:
    assert run("optimize", "--large", how, "--db", str(path)).returncode == 0
    with sessiondb.open(path) as db:
        db.append_message("large", "tool", f"once {LARGE} {'w ' * 3000}")
        db.create_session("thrown", "cli", system_prompt=f"{LARGE} {'v ' * 3000}")
        db.delete_session("thrown")
    before = path.read_bytes()
    secret = LARGE.encode()
    assert secret in before or how == "zlib"
    assert any(secret in text for text in inflated(before)) == (how == "zlib")
    assert run("scrub", "--yes", "--db", str(path)).returncode == 0
    after = path.read_bytes()
    assert (secret in after, any(secret in text for text in inflated(after))) == (False, False)
    with sessiondb.open(path) as db:
        assert db.get_messages("large")[-1]["content"].startswith("once [redacted: digitalocean token] w w")
        assert (db.verify().ok, db.stats()["large_texts"]["kept"]) == (True, how)


@pytest.mark.parametrize("how", ["plain", "zlib"])
def test_what_was_deleted_before_goes_too(fast_path: Path, how: str) -> None:
    """No row holds it any more, but free pages do; after a run that was broken off it is the same."""
    path = fast_path / "state.db"
    sessiondb.open(path).close()
    run("optimize", "--large", how, "--db", str(path))
    with sessiondb.open(path) as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", f"short {BURIED}")
        db.append_message("s", "tool", f"{LARGE} {'z ' * 3000}")
        db.replace_messages("s", [{"role": "user", "content": "clean"}])
    answer = run("scrub", "--yes", "--db", str(path))
    assert (answer.returncode, "No credentials found" in answer.stdout) == (0, True)
    after = everything(fast_path)
    assert [each for each in (BURIED, LARGE) if each.encode() in after] == []
    assert not any(LARGE.encode() in text for text in inflated(path.read_bytes()))


def test_the_store_is_whole_afterwards(path: Path) -> None:
    with sessiondb.open(path) as db:
        before = db.get_session("s")
    assert run("scrub", "--yes", "--db", str(path)).returncode == 0
    with sessiondb.open(path) as db:
        after = db.get_session("s")
        assert db.verify().ok
        assert after["title"] == "deploy [redacted: github token]"
        assert after["system_prompt"] == "use [redacted: anthropic key]"
        assert (after["message_count"], after["last_seq"]) == (before["message_count"], before["last_seq"])
        assert len(db.search_messages("zebra", limit=1000)) == len(told())
        (call,) = db.get_tool_calls("s")
        assert json.loads(call["arguments"]) == {"header": "[redacted: google key]", "zone": "eu"}
        db.restore_deleted("gone")
        assert [row["content"] for row in db.get_messages("gone")] == ["deleted [redacted: stripe key]"]
        assert db.verify().ok
    assert run("verify", "--db", str(path)).returncode == 0


def test_the_report_says_what_was_found_and_a_second_run_finds_nothing(path: Path) -> None:
    looked = json.loads(run("scrub", "--dry-run", "--json", "--db", str(path)).stdout)
    done = json.loads(run("scrub", "--yes", "--json", "--db", str(path)).stdout)
    again = json.loads(run("scrub", "--yes", "--json", "--db", str(path)).stdout)
    assert looked["kinds"] == done["kinds"]
    assert set(done["kinds"]) == set(KINDS)
    assert (done["sessions"], done["trash"]) == (2, 1)
    assert again["credentials"] == 0


def test_a_dry_run_changes_no_message(path: Path) -> None:
    with sessiondb.open(path) as db:
        before = db.export_all()
    run("scrub", "--dry-run", "--db", str(path))
    with sessiondb.open(path) as db:
        assert db.export_all() == before


def test_it_asks_first(path: Path) -> None:
    answer = run("scrub", "--db", str(path))
    assert answer.returncode == 2
    assert "--yes" in answer.stderr


def test_beside_another_process_the_rows_are_cleaned_and_the_rest_is_told(path: Path) -> None:
    with sessiondb.open(path) as other:
        answer = run("scrub", "--yes", "--db", str(path))
        assert answer.returncode == 0, answer.stderr
        assert "optimize --full" in answer.stdout
        assert other.get_session("s")["title"] == "deploy [redacted: github token]"
        assert other.verify().ok
    assert run("optimize", "--full", "--db", str(path)).returncode == 0
    after = everything(path.parent)
    assert [secret for secret in secrets() if secret in after] == []


def test_titles_that_become_the_same_are_numbered() -> None:
    with sessiondb.open("memory://") as db:
        for name, token in zip("ab", positives("groq key", 2), strict=True):
            db.create_session(name, "cli")
            db.set_session_title(name, f"key {token}")
        scrub(db)
        titles = sorted(row["title"] for row in db.list_sessions_rich())
        assert titles == ["key [redacted: groq key]", "key [redacted: groq key] #2"]
