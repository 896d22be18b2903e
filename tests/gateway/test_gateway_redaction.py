"""Credentials are taken out on the gateway's way into the store, too: in messages, in answers, in what waits."""

from __future__ import annotations

from gateway_helpers import ANN, said

from sessiondb import SessionDB
from sessiondb.gateway.router import Router

SECRET = "sk-proj-" + "a1B2c3D4" * 6


def test_no_credential_reaches_the_store() -> None:
    with SessionDB("memory://", redact_on_write=True) as db:
        router = Router(db, when_busy="queue")
        first = router.receive(ANN, f"my key is {SECRET}")
        router.receive(ANN, f"it was {SECRET}")
        binding = router.view(router.key(ANN)).binding
        assert binding is not None
        assert SECRET not in binding.reset_state
        assert first.turn is not None
        first.turn.append([said(f"you said {SECRET}")])
        following = first.turn.end([said(f"again {SECRET}")])
        assert following is not None
        assert [row["role"] for row in db.get_messages(first.session_id)] == ["user", "assistant", "assistant", "user"]
        assert SECRET not in str(db.export_all())


def test_several_messages_at_once_are_cleaned_like_one() -> None:
    with SessionDB("memory://", redact_on_write=True) as db:
        db.append_messages(db.create_session("s", "cli"), [said(f"one {SECRET}"), said(f"two {SECRET}")])
        assert SECRET not in str(db.export_all())
