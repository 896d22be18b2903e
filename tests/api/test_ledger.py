"""The ledger's arithmetic."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiondb import jsontext, ledger
from sessiondb.drafts import draft
from sessiondb.models import MESSAGE_COLUMNS

SAID: dict[str, Any] = dict.fromkeys(MESSAGE_COLUMNS) | {"role": "user", "content": "hello", "timestamp": 1.5}
# Every store holds sums of such numbers: a change here would make all of them look damaged.
GOLDEN = 2359728465675336230


@pytest.mark.parametrize(
    "change",
    [
        {"role": "assistant"},
        {"content": "hello "},
        {"content": None},
        {"content_type": "text/markdown"},
        {"timestamp": 1.25},
        {"tool_call_id": "c"},
        {"tool_name": "t"},
        {"finish_reason": "stop"},
        {"reasoning": "r"},
        {"token_count": 1},
        {"message_key": "k"},
        {"tool_calls": '[{"id": 1}]'},
        {"reasoning_details": "[1]"},
        {"codex_reasoning_items": "[1]"},
        {"metadata": '{"a": 1}'},
    ],
)
def test_every_word_counts(change: dict[str, Any]) -> None:
    assert ledger.digest(SAID | change) != ledger.digest(SAID)


@pytest.mark.parametrize("change", [{"id": 9}, {"seq": 9}, {"active": 0}, {"injected": 1}, {"session_id": "other"}])
def test_place_and_state_do_not_count(change: dict[str, Any]) -> None:
    assert ledger.digest(SAID | change) == ledger.digest(SAID)


def test_blanks_in_json_are_no_edit() -> None:
    one = SAID | {"metadata": '{"a":1,"b":[2]}'}
    assert ledger.digest(one) == ledger.digest(SAID | {"metadata": '{ "a": 1, "b":  [2] }'})


def test_text_that_looks_like_json_counts_as_text() -> None:
    assert ledger.digest(SAID | {"content": "[1]"}) != ledger.digest(SAID | {"content": "[1]", "content_type": "json"})


@pytest.mark.parametrize("text", ["\x00", "\ud800", "\ufdd0", "\U0010ffff", "not json {"])
def test_any_text_has_a_digest(text: str) -> None:
    row = SAID | {"content": text, "metadata": text}
    assert 0 <= ledger.digest(row) <= ledger.MASK


def test_the_same_message_has_the_same_digest_in_every_release() -> None:
    assert ledger.digest(SAID) == GOLDEN


def test_a_term_depends_on_the_position() -> None:
    terms = {ledger.term(ledger.digest(SAID), seq) for seq in range(1, 1001)}
    assert len(terms) == 1000
    assert all(0 <= term <= ledger.MASK for term in terms)


def test_a_swap_changes_the_sum() -> None:
    one, other = ledger.digest(SAID), ledger.digest(SAID | {"content": "bye"})
    assert ledger.total([ledger.term(one, 1), ledger.term(other, 2)]) != ledger.total(
        [ledger.term(one, 2), ledger.term(other, 1)]
    )


def test_what_is_taken_out_leaves_the_rest() -> None:
    terms = [ledger.term(ledger.digest(SAID), seq) for seq in (1, 2, (1 << 31) - 1)]
    assert ledger.minus(ledger.total(terms), terms[:2]) == terms[2]
    assert ledger.minus(ledger.total(terms), terms) == 0


# Every kind that is spelled in a way of its own: surrogates, controls, what is escaped, and texts of some length.
TEXTS = st.text(st.characters(), max_size=40) | st.text(
    st.sampled_from('ab"\\\n\t\r\x00\x1f\x7fé漢\ud800'), min_size=60
)


@given(TEXTS)
def test_text_is_escaped_as_the_encoder_would(text: str) -> None:
    assert b'"%b"' % jsontext.escaped(text) == json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")


@given(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "tool"])},
        optional={
            **{name: TEXTS | st.none() for name in ("content", "reasoning", "tool_call_id", "message_key", "model")},
            **{name: st.lists(TEXTS | st.floats(allow_nan=False)) for name in ("tool_calls", "codex_reasoning_items")},
            "content_type": st.sampled_from(["json", "text/plain"]),
            "token_count": st.integers(0, 1 << 62),
            "timestamp": st.floats(allow_nan=False, allow_infinity=False),
            "metadata": st.dictionaries(TEXTS, TEXTS),
        },
    )
)
def test_a_draft_has_the_digest_of_the_row_it_becomes(message: dict[str, Any]) -> None:
    made = draft(message, 1.5, 1 << 20)
    assert made.digest == ledger.digest(made.values)
