"""The gateway as config.yaml describes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from gateway_helpers import ANN

from sessiondb import Invalid, SessionDB
from sessiondb.gateway.keys import Rules
from sessiondb.gateway.policy import ResetPolicy
from sessiondb.gateway.settings import open_router


@pytest.fixture
def env(fast_path: Path) -> dict[str, str]:
    return {"SESSIONDB_HOME": str(fast_path), "HOME": str(fast_path)}


def configured(env: dict[str, str], text: str) -> dict[str, str]:
    (Path(env["SESSIONDB_HOME"]) / "config.yaml").write_text(text)
    return env


def test_without_a_file_nothing_resets_and_everybody_has_their_own(db: SessionDB, env: dict[str, str]) -> None:
    router = open_router(db, env=env)
    assert (router.policies.of("telegram", "dm"), router.rules) == (ResetPolicy(), Rules())
    assert (router.when_busy, router.visibility) == ("interrupt", "chat")
    router.receive(ANN, "one")
    assert (Path(env["HOME"]) / "sessions" / "sessions.json").exists()


def test_everything_can_be_said(db: SessionDB, env: dict[str, str]) -> None:
    text = """
session_reset: {mode: daily, at_hour: 5, timezone: Europe/Berlin}
reset_by_type: {group: {mode: both, idle_minutes: 30}}
reset_by_platform: {discord: {mode: none}}
group_sessions_per_user: false
titles: {scope: user}
gateway: {when_busy: queue, visibility: user, lease_seconds: 60, transcripts: false}
"""
    router = open_router(db, env=configured(env, text))
    assert router.policies.of("telegram", "dm") == ResetPolicy("daily", 5, timezone="Europe/Berlin")
    assert router.policies.of("telegram", "group") == ResetPolicy("both", 5, 30, timezone="Europe/Berlin")
    assert router.policies.of("discord", "group").mode == "none"
    assert (router.rules, router.titles) == (Rules(group_sessions_per_user=False), "user")
    assert (router.when_busy, router.visibility, router.lease_seconds, router.transcripts) == (
        "queue",
        "user",
        60,
        None,
    )


def test_switches_may_come_from_the_environment(db: SessionDB, env: dict[str, str]) -> None:
    env = configured(env, "gateway: {transcripts: '${FILES}'}\nthread_sessions_per_user: '${ALONE}'")
    router = open_router(db, env={**env, "FILES": "no", "ALONE": "true"})
    assert (router.transcripts, router.rules) == (None, Rules(thread_sessions_per_user=True))


def test_what_is_given_counts_more(db: SessionDB, env: dict[str, str]) -> None:
    assert (
        open_router(db, env=configured(env, "gateway: {when_busy: queue}"), when_busy="interrupt").when_busy
        == "interrupt"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("session_reset: {mode: sometimes}", "session_reset.mode must be none or idle"),
        ("session_reset: {at_hour: 24}", "session_reset.at_hour must be an hour"),
        ("session_reset: {idle_minutes: -1}", "session_reset.idle_minutes must be a positive"),
        ("session_reset: {timezone: Mars/Olympus}", "unknown time zone"),
        ("session_reset: {hour: 4}", "unknown key session_reset.hour"),
        ("reset_by_platform: {telegram: {modus: idle}}", "unknown key reset_by_platform.telegram.modus"),
        ("reset_by_type: [1]", "reset_by_type must hold keys"),
        ("group_sessions_per_user: maybe", "group_sessions_per_user must be true or false"),
        ("gateway: {when_busy: wait}", "gateway.when_busy must be interrupt or queue"),
        ("titles: {scope: world}", "titles.scope must be store or user"),
        ("gateway: {visibility: world}", "gateway.visibility must be chat"),
    ],
)
def test_what_is_not_understood_is_refused(db: SessionDB, env: dict[str, str], text: str, complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        open_router(db, env=configured(env, text))
