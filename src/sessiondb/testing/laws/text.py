"""Search in the text itself: parts of words, words with slips, regular expressions; with an index or without."""

from __future__ import annotations

import pytest

from ...db import SessionDB
from ...errors import NotSupported
from ..requires import requires
from .base import LawBase, NewSession, say

TEXTS = {
    "camel": "call getUserName() before login",
    "path": "edit /etc/nginx/sites-enabled/default.conf",
    "accents": "Straße und Café",
    "cjk": "数据库连接失败了",
    "long": "token " + "abcdefghij" * 9 + " end",
}


def found(db: SessionDB, pattern: str, mode: str, **wishes: object) -> list[str]:
    return [hit["session_id"] for hit in db.search_messages(pattern, mode=mode, **wishes)]  # type: ignore[arg-type]


class TextLaws(LawBase):
    @pytest.fixture
    def texts(self, db: SessionDB, session: NewSession) -> SessionDB:
        for name, text in TEXTS.items():
            say(db, session(name), text)
        return db

    @requires("substring_search")
    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            ("SERNAM", ["camel"]),
            ("Name() be", ["camel"]),
            ("inx/sites-en", ["path"]),
            ("STRASSE", []),
            ("straß", ["accents"]),
            ("据库连", ["cjk"]),
            ("fghijabcdefghijabc", ["long"]),
            ("en", ["long", "path"]),
            ("absent", []),
            ("100%", []),
            ("_", []),
        ],
    )
    def test_a_part_of_the_text_is_found_as_typed(self, texts: SessionDB, pattern: str, expected: list[str]) -> None:
        assert found(texts, pattern, "substring") == expected

    @requires("fuzzy_search")
    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [("getusernmae", ["camel"]), ("lgoin", ["camel"]), ("defualt nginx", ["path"]), ("cafee", ["accents"]),
         ("失败了", ["cjk"]), ("nothing", [])],
    )  # fmt: skip
    def test_slips_are_forgiven(self, texts: SessionDB, pattern: str, expected: list[str]) -> None:
        assert found(texts, pattern, "fuzzy") == expected

    @requires("substring_search")
    def test_texts_come_newest_first_or_oldest_first(self, db: SessionDB, session: NewSession) -> None:
        for name in "abc":
            say(db, session(name), "a needlework")
        assert found(db, "eedlewo", "substring", limit=2) == ["c", "b"]
        assert found(db, "eedlewo", "substring", limit=2, order="oldest", offset=1) == ["b", "c"]

    @requires("substring_search")
    def test_filters_narrow_the_search_in_texts(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), "needlework")
        say(db, session("b", "web"), "needlework")
        assert found(db, "edlewor", "substring", source_filter=["web"]) == ["b"]

    @requires(not_="substring_search")
    def test_a_mode_that_is_not_offered_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(NotSupported, match="substring"):
            db.search_messages("x", mode="substring")
