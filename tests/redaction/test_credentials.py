"""What is a credential is found, what is none stays; counted per kind, over many of each."""

from __future__ import annotations

import json
import time

import pytest
from benign_texts import library, texts
from made_credentials import KINDS, positives
from near_misses import near_misses

from sessiondb.redact import RULES, findings, redact, redacted

POSITIVES, NEAR = 60, 24


def test_there_is_a_corpus_for_every_rule():
    assert {rule.name for rule in RULES} == set(KINDS)
    assert len(KINDS) >= 40


@pytest.mark.parametrize("kind", KINDS)
def test_credentials_of_each_kind_are_found_and_named(kind):
    found = [[finding.name for finding in findings(f"first {text} then")] for text in positives(kind, POSITIVES)]
    missed = [names for names in found if kind not in names]
    assert len(missed) <= POSITIVES // 100


@pytest.mark.parametrize("kind", KINDS)
def test_near_misses_of_each_kind_stay(kind):
    made = near_misses(kind, NEAR)
    assert len(set(made)) >= NEAR
    assert [text for text in made if redact(text) != text] == []


# What stands before a token where text was put into other text: JSON in a line, colours of a terminal, an address.
@pytest.mark.parametrize("before", ["\\n", "\\t", "a\\r\\n", "\x1b[32m", "\x1b[1;31m", "%20", "x%3D"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_escape_before_a_credential_hides_nothing(kind, before):
    missed = [text for text in positives(kind, 20) if not findings(f"echo{before}{text} \\n")]
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "xoxb-123456789012-123456789012-abcdefghijklmnopqrstuvwx",
        "AKIAIOSFODNN7EXAMPLE", "sk_live_abcdefgh12345678ijklmnop", "sk-ant-api03-abcdefghijklmnopqrstuvwxyz",
    ],
)  # fmt: skip
def test_of_the_form_of_a_token_examples_are_left_out_too(text):
    assert text not in redact(f"it is {text}.")


def test_of_all_credentials_at_least_99_of_100_are_caught():
    made = [text for kind in KINDS for text in positives(kind, POSITIVES)]
    caught = sum(bool(findings(text)) for text in made)
    assert caught >= 0.99 * len(made)


def test_of_what_is_no_secret_at_most_1_of_1000_is_touched():
    harmless = [*texts(12_000), *(text for kind in KINDS for text in near_misses(kind, NEAR))]
    touched = [text for text in harmless if findings(text)]
    assert len(touched) <= len(harmless) // 1000, touched[:5]


def test_of_lines_of_code_at_most_1_of_1000_is_touched():
    files = list(library(250))
    assert sum(len(findings(text)) for text in files) <= sum(text.count("\n") for text in files) // 1000


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_the_credential_remains_and_the_words_around_it_do(kind):
    for text in positives(kind, 20):
        (finding, *_) = findings(text)
        secret = text[finding.start : finding.end]
        clean = redact(f"before {text} after")
        assert secret not in clean
        assert clean.startswith("before ")
        assert clean.endswith(" after")
        assert f"[redacted: {kind}]" in clean


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_clean_stays_as_it_is(kind):
    for text in positives(kind, 20):
        assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("kind", KINDS)
def test_json_stays_json(kind):
    for text in positives(kind, 20):
        encoded = json.dumps({"text": text, "inner": json.dumps({"said": text, "n": 1})})
        decoded = json.loads(redact(encoded))
        assert set(decoded) == {"text", "inner"}
        assert json.loads(decoded["inner"])["n"] == 1


def test_the_name_of_a_field_tells_what_its_value_is():
    assert redacted({"env": [{"api_key": "Zk81mQ0ax7Lp93Vd"}]}) == {"env": [{"api_key": "[redacted: secret value]"}]}
    assert redacted({"password": "corr3ct-horse"}) == {"password": "[redacted: password]"}
    assert redacted({"token_count": 7, "token": "str", "keys": ("a", 1)}) == {
        "token_count": 7,
        "token": "str",
        "keys": ["a", 1],
    }


@pytest.mark.alone
@pytest.mark.parametrize(
    "unit", ["aA1_", "key=", "://a:", "-----BEGIN PRIVATE KEY-----", "eyJ", "password", "sk-", "a."]
)
def test_a_text_twice_as_long_takes_twice_as_long(unit):
    def cost(length: int) -> float:
        text = unit * (length // len(unit))
        times = []
        for _ in range(3):
            begun = time.process_time()
            redact(text)
            times.append(time.process_time() - begun)
        return min(times)

    assert cost(400_000) <= 12 * cost(100_000) + 0.05
