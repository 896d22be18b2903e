"""Texts as they come: many scripts, marks, joiners, emoji, controls, lone surrogates, operators."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

laws = settings(derandomize=True, max_examples=300, deadline=None, database=None)

ALPHABETS = (
    "abcXYZ019 _-/.:'\"()*\n\t\0",
    "éÉßıİłŁđæẞñǅΆΐΣςώйЙёЁъ",
    "e\u0301и\u0306ο\u0308\u0345a\u0323\u0302x\u0332<\u0338",
    "أإآىةكـَُِّ٣می\u200cک\u200dשָׁלוֹםहिन्दीக்ষা\u09be\u09c7",
    "東京都ガか\u3099ｶﾞｰー々〇学校에서\u1100\u1161\u11a8ᄒㅏㅎﾡￂ第章",
    "ภาษาไทยำพາສາភាសាမြန်\u200b",
    "🚀👍🏽👩\u200d💻❤\ufe0f🇮🇩1\ufe0f\u20e3™½ﬁﷺ①Ａｂ（）",
    "\ud800\udfff\ufffe\uffff\x85\u2028\u00ad\ue000\u0378\U000e0041\U0001fbff\U0001e900",
)
WORDS = (
    "AND",
    "OR",
    "NOT",
    "-",
    "(",
    ")",
    '"',
    "*",
    "source:cli",
    "since:7d",
    "tool:x",
    "kind:y",
    "kind:todo",
    "foo",
    "-bar",
    "-(",
    '-"',
)

texts = st.lists(st.one_of(*[st.text(alphabet, max_size=8) for alphabet in ALPHABETS], st.text(max_size=6))).map(
    "".join
)
boxes = st.lists(st.one_of(st.sampled_from(WORDS), texts), max_size=14).map(" ".join) | texts
