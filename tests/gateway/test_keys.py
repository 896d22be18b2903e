"""Which messages belong together: the forms of keys, who shares one, and that no two keys have one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiondb import Invalid
from sessiondb.gateway.keys import Key, Rules, Source, aliases, display_name, parse, session_key, whatsapp_id

SHARED = Rules(group_sessions_per_user=False)
SHARED_THREADS = Rules(thread_sessions_per_user=False)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (Source("telegram", chat_id="42", user_id="7"), "agent:main:telegram:dm:42"),
        (Source("discord", chat_id="42"), "agent:main:discord:dm:42"),
        (Source("whatsapp", chat_id="+4917:3@s.whatsapp.net"), "agent:main:whatsapp:dm:4917"),
        (Source("telegram", chat_id="42", thread_id="9"), "agent:main:telegram:dm:42:9"),
        (Source("telegram", "group", "-100", user_id="7"), "agent:main:telegram:group:-100:7"),
        (Source("telegram", "group", "-100", "9", "7"), "agent:main:telegram:group:-100:9:7"),
        (Source("slack", "channel", "C1", user_id="U1"), "agent:main:slack:channel:C1:U1"),
        (Source("slack", "channel", "C1", user_id="U1", user_id_alt="U2"), "agent:main:slack:channel:C1:U2"),
        (Source("telegram", "group", "-100"), "agent:main:telegram:group:-100"),
        (Source("Telegram", chat_id="42", profile="work"), "agent:work:telegram:dm:42"),
    ],
)
def test_the_forms_of_keys(source: Source, text: str) -> None:
    assert session_key(source).text == text


class TestSharing:
    def test_two_people_of_a_group_have_their_own(self) -> None:
        one, other = (session_key(Source("telegram", "group", "-100", user_id=user)) for user in "ab")
        assert one != other

    def test_a_room_is_shared_when_said(self) -> None:
        one, other = (session_key(Source("telegram", "group", "-100", user_id=user), SHARED) for user in "ab")
        assert one == other
        assert one.shared
        assert one.text == "agent:main:telegram:group:-100"

    def test_a_thread_is_shared_when_said(self) -> None:
        one, other = (session_key(Source("slack", "group", "C", "T", user), SHARED_THREADS) for user in "ab")
        assert one == other
        assert one.shared

    def test_without_a_participant_the_room_shares_one(self) -> None:
        assert session_key(Source("telegram", "group", "-100")).shared

    def test_strangers_without_a_chat_never_share_one(self) -> None:
        keys = {session_key(Source("webhook", user_id=user)).text for user in ("a", "b")}
        assert len(keys) == 2

    def test_profiles_are_apart(self) -> None:
        assert session_key(Source("telegram", chat_id="1")) != session_key(Source("telegram", chat_id="1", profile="x"))


names = st.text(st.sampled_from("a:%@~1\x00\n 3A"), min_size=1, max_size=4).filter(lambda text: text.strip())
ids = st.none() | names
sources = st.builds(Source, names, st.sampled_from(["dm", "group", "channel"]), names, ids, ids, profile=names)


@given(sources, sources, st.booleans(), st.booleans())
def test_different_keys_have_different_texts(one: Source, other: Source, per_user: bool, per_thread: bool) -> None:
    rules = Rules(per_user, per_thread)
    keys = session_key(one, rules), session_key(other, rules)
    assert (keys[0] == keys[1]) == (keys[0].text == keys[1].text)


@given(st.builds(Key, names, names, names, st.text(), st.text(), st.text()))
def test_a_key_is_read_back_from_its_text(key: Key) -> None:
    assert parse(key.text) == key


@pytest.mark.parametrize("text", ["", "agent:main:telegram", "bot:main:telegram:dm:1", "agent::telegram:dm:1"])
def test_what_is_no_key_is_none(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (Source(""), "needs a platform"),
        (Source("telegram", chat_id=[1]), "chat_id must be text"),  # type: ignore[arg-type]
        (Source("telegram", chat_id="x" * 300), "chat_id is 300 characters long"),
        (Source("telegram"), "strangers must not share"),
        (Source("telegram", thread_id="1"), "strangers must not share"),
        (Source("telegram", "group"), "needs a chat_id"),
        (Source("telegram", "group", "a" * 256, "b" * 256, "c" * 256), "key of"),
    ],
)
def test_what_cannot_be_routed_is_refused(source: Source, complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        session_key(source)


def test_numbers_are_ids_too() -> None:
    assert session_key(Source("telegram", chat_id=42)).text == session_key(Source("telegram", chat_id="42")).text  # type: ignore[arg-type]


class TestWhatsApp:
    @pytest.mark.parametrize("number", ["4917", "+4917", "4917@s.whatsapp.net", "4917:47@s.whatsapp.net"])
    def test_one_person_has_one_id(self, number: str) -> None:
        assert whatsapp_id(number) == "4917"

    def test_aliases_are_followed_to_the_end(self) -> None:
        canonical = aliases({"lid9": "88@lid", "88": "4917", "4917": "lid9"})
        assert {canonical(each) for each in ("lid9", "88", "4917@s.whatsapp.net")} == {"88"}


@pytest.mark.parametrize(
    ("chat", "user", "shown"),
    [
        ("Ops", "Ann", "Ops"),
        (None, "Ann", "Ann"),
        (" \x1b[31mOps\u202e\n room ", None, "[31mOps room"),
        ("\u200b", "Ann", "Ann"),
        ("x" * 5000, None, "x" * 100),
        (42, None, "42"),
        ("\ud800a", None, "a"),
        (None, None, None),
    ],
)
def test_names_are_one_visible_line(chat: object, user: str | None, shown: str | None) -> None:
    assert display_name(Source("telegram", chat_name=chat, user_name=user)) == shown  # type: ignore[arg-type]
