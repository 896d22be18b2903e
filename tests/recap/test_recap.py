"""What a recap shows of a conversation, and what it hides."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiondb.recap import Entry, Recap, collapsed, one_line, recap, shortened


def message(role: str, content: Any = "", **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": None, "injected": 0, "active": 1, **fields}


def calls(*names: str) -> list[dict[str, Any]]:
    return [{"id": str(number), "function": {"name": name}} for number, name in enumerate(names)]


def texts(found: Recap) -> list[str]:
    return [entry.text for entry in found.entries]


def exchanges(count: int) -> list[dict[str, Any]]:
    return [message(role, f"{role} {number}") for number in range(count) for role in ("user", "assistant")]


class TestWhatIsShown:
    def test_both_sides_in_order(self) -> None:
        found = recap(exchanges(1))
        assert found == Recap((Entry("user", "user 0"), Entry("assistant", "assistant 0")))
        assert found.notice == ""

    @pytest.mark.parametrize("role", ["system", "tool", "developer", "session_meta"])
    def test_other_roles_are_hidden(self, role: str) -> None:
        assert recap([message(role, "hidden")]).entries == ()

    def test_what_a_program_put_in_or_took_back_is_hidden(self) -> None:
        assert recap([message("user", "a", injected=1), message("user", "b", active=0)]) == Recap(())

    @pytest.mark.parametrize(
        "text",
        [
            "<think>hm</think>\n\nYes.",
            "<thinking kind='x'>hm\nhm</thinking >Yes.",
            "<REASONING_SCRATCHPAD>hm</REASONING_SCRATCHPAD> Yes.",
            "Yes.<think>and further",
        ],
    )
    def test_reasoning_is_taken_out(self, text: str) -> None:
        assert texts(recap([message("assistant", text)])) == ["Yes."]

    def test_a_message_of_nothing_but_reasoning_is_not_there(self) -> None:
        assert recap([message("assistant", "<think>hm</think>")]).entries == ()

    def test_pictures_are_named(self) -> None:
        content = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "x"}}]
        assert texts(recap([message("user", content)])) == ["What is this? [image]"]


class TestLengths:
    def test_users_have_300_characters(self) -> None:
        assert texts(recap([message("user", "x" * 300)])) == ["x" * 300]
        assert texts(recap([message("user", "x" * 301)])) == ["x" * 300 + "..."]

    def test_assistants_have_200_characters(self) -> None:
        assert texts(recap([message("assistant", "x" * 200)])) == ["x" * 200]
        assert texts(recap([message("assistant", "x" * 201)])) == ["x" * 200 + "..."]

    def test_assistants_have_three_lines(self) -> None:
        assert texts(recap([message("assistant", "a\n\nb\nc\n")])) == ["a\nb\nc"]
        assert texts(recap([message("assistant", "a\nb\nc\nd")])) == ["a\nb\nc..."]

    @pytest.mark.parametrize("cluster", ["👩‍💻", "é", "नि", "👍🏽", "❤️"])
    def test_no_character_is_cut_in_two(self, cluster: str) -> None:
        for room in range(1, 2 * len(cluster)):
            cut = shortened("ab" + cluster * 3, 2 + room).removesuffix("...")
            assert cut == "ab" + cluster * ((len(cut) - 2) // len(cluster))

    @given(st.text(), st.integers(1, 50))
    def test_a_shortened_text_is_a_beginning(self, text: str, length: int) -> None:
        cut = shortened(text, length)
        assert cut == text or (text.startswith(cut.removesuffix("...")) and len(cut) <= length + 3)


class TestTools:
    def test_calls_are_a_count_with_names(self) -> None:
        assert collapsed(["terminal", "web_search", "terminal"]) == "[3 tool calls: terminal, web_search]"
        assert collapsed(["terminal"]) == "[1 tool call: terminal]"
        assert collapsed([]) == ""

    def test_at_most_four_names(self) -> None:
        assert collapsed(list("abcd")) == "[4 tool calls: a, b, c, d]"
        assert collapsed(list("abcde")) == "[5 tool calls: a, b, c, d, ...]"

    def test_steps_without_words_are_told_with_what_was_said_before(self) -> None:
        found = recap(
            [
                message("user", "Fix it."),
                message("assistant", "I look.", tool_calls=calls("read")),
                message("tool", "..."),
                message("assistant", "", tool_calls=calls("edit", "test")),
                message("assistant", "Done."),
            ]
        )
        assert [(entry.text, entry.tools) for entry in found.entries] == [
            ("Fix it.", ""),
            ("I look.", "[3 tool calls: read, edit, test]"),
            ("Done.", ""),
        ]

    def test_steps_before_the_first_words_are_told_with_them(self) -> None:
        found = recap([message("assistant", None, tool_calls=calls("read")), message("assistant", "Done.")])
        assert found.entries == (Entry("assistant", "Done.", ("read",), 2),)

    @pytest.mark.parametrize(
        ("stored", "names"), [("not json", ["tool"]), ([None], ["tool"]), ({"name": "a\nb"}, ["a b"]), ([{}], ["tool"])]
    )
    def test_calls_of_any_shape_have_a_name(self, stored: Any, names: list[str]) -> None:
        assert list(recap([message("assistant", "", tool_calls=stored)]).entries[0].calls) == names


class TestHowFarBack:
    def test_ten_exchanges_and_a_count_of_the_rest(self) -> None:
        found = recap(exchanges(12))
        assert (len(found.entries), found.entries[0].text, found.notice) == (20, "user 2", "... 4 earlier messages ...")

    def test_one_message_is_no_plural(self) -> None:
        assert recap([message("user", "a"), *exchanges(10)]).notice == "... 1 earlier message ..."

    def test_ten_exchanges_are_all(self) -> None:
        assert recap(exchanges(10)).earlier == 0

    def test_hidden_messages_are_not_counted(self) -> None:
        noise = [message("system", "a"), message("tool", "b")]
        assert recap([*noise, *exchanges(11)]).earlier == 2

    def test_questions_without_answers_are_exchanges(self) -> None:
        assert texts(recap([message("user", str(number)) for number in range(11)]))[0] == "1"

    def test_the_question_of_a_long_answer_is_kept(self) -> None:
        found = recap([message("user", "Why?"), *(message("assistant", str(number)) for number in range(40))])
        assert (texts(found)[:2], len(found.entries), found.earlier) == (["Why?", "21"], 20, 21)

    @given(st.lists(st.sampled_from(["user", "assistant", "tool", "system"]), max_size=80))
    def test_what_is_shown_and_what_is_counted_is_all_that_was_said(self, roles: list[str]) -> None:
        found = recap([message(role, f"{role} {number}") for number, role in enumerate(roles)])
        said = [role for role in roles if role in ("user", "assistant")]
        assert len(found.entries) + found.earlier == len(said)
        assert len(found.entries) <= 20
        assert sum(entry.role == "user" for entry in found.entries) <= 10


def test_the_minimal_form_is_one_line() -> None:
    assert one_line("nginx 502 #2", 3, "2h ago") == "nginx 502 #2 · 3 messages · 2h ago"
