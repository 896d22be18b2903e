"""The search box: text to query. Nothing typed is an error; what has no meaning here is literal text.

    query   = branch { "OR" branch }
    branch  = { [ "AND" ] [ "NOT" | "-" ] factor }
    factor  = "(" query ")" | phrase | word | filter
    phrase  = '"' text '"' [ "*" ]
    word    = text without blanks [ "*" ]
    filter  = field ":" ( value | '"' value '"' )

- All words must be found, in any order; `OR` binds weaker. Operators are upper case; one without a neighbour is
  dropped, unless the box holds nothing else.
- A word with punctuation is the phrase of its parts: `/etc/hosts`, `chat-send`, `foo(bar)`. `*` makes the last part a
  prefix. Seven or more hexadecimal digits, letters and figures both, are the start of a hash.
- `-word` excludes; `--flag`, `-x`, `-rf`, `-1`, `-std=c99` and `-I/usr` are literal: commands are searched for more
  often than two letters are excluded (`NOT js` excludes them). Where a `-word` excludes what is asked for beside it, as
  in `java -jar app.jar`, it is a command, and all of them are literal.
- An exclusion among alternatives (`a OR -b`) is dropped, with a notice; a query of exclusions alone is a problem.
- Fields: source role model session title tag tool kind cwd since until. They narrow the whole search wherever they
  stand. `-source:cron` excludes; other fields cannot be excluded. `since:` and `until:` take an ISO date or time,
  `24h`, `7d`, `2w`, `today`, `yesterday`; another value is literal text. `tool:` also asks for the words of the name.
- `kind:` wants messages that hold a command, path, url, decision or todo (`kinds.py`); alone, it lists the newest of
  them. Another value is literal text: `kind:Pod` is something to look for.
- A box is cut at 4,096 characters, parentheses deeper than 32 count as blanks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from ..models import Filter, MessageFilter, MessageRow
from ..values import dataclass
from . import analyze
from .filters import FIELDS, Filters, filter_value, narrowed, resolve_time
from .match import implies
from .nodes import And, Node, Not, Or, Phrase, Term, all_of, any_of, none_of

__all__ = ["And", "Node", "Not", "Or", "Phrase", "Query", "Term", "explain", "narrow", "parse", "resolve_time"]

MAX_LENGTH = 4096
MAX_DEPTH = 32

EMPTY = "the query is empty"
NO_WORD = "nothing to search for: a query needs a letter, a digit or an emoji"
ONLY_FILTERS = "filters narrow a search, they find nothing alone: add a word"
ONLY_EXCLUSIONS = "only exclusions: add a word to be found, or quote what begins with a dash"
CUT = f"the query was cut at {MAX_LENGTH} characters"
EXCLUDED_ALTERNATIVE = "an exclusion among alternatives was ignored"

_OPERATORS = frozenset({"AND", "OR", "NOT"})
_CURLY_QUOTES = str.maketrans("“”„", '"""')
_FLAG = r"(?s)-(?:[A-Za-z0-9]{1,2}|[0-9.,:]+|-.*|\W*|[A-Za-z][\w.-]*=.*|[A-Za-z]/.*)"
_SHORT_HASH = r"(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,}"


@dataclass(frozen=True, slots=True)
class Query:
    """What was typed, and what it means.

    `node` is None when there is no word to search for: either `lists`, or `problem` says what is wrong.
    """

    text: str
    node: Node | None
    filters: Filters = ()
    problem: str | None = None
    notices: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """The tool names asked for by `tool:`."""
        return tuple(value for name, value in self.filters if name == "tool")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of things asked for by `kind:`."""
        return tuple(value for name, value in self.filters if name == "kind")

    @property
    def lists(self) -> bool:
        """Whether it has no word, and wants all messages that hold such a thing."""
        return self.node is None and self.problem is None

    @property
    def looks_at_rows(self) -> bool:
        """Whether an index cannot tell alone what matches: `admits` must be asked too."""
        return any(name in ("tool", "kind") for name, _ in self.filters)

    def admits(self, row: MessageRow) -> bool:
        """Whether the message has to do with the tools, and holds things of the kinds, that are asked for."""
        if not self.looks_at_rows:
            return True
        from .kinds import holds
        from .text import uses_tools

        return uses_tools(row, self.tools) and holds(row, self.kinds)


@cache
def _lexeme() -> re.Pattern[str]:
    return re.compile(
        rf"""
          (?P<field>-?(?:{"|".join(FIELDS)})):(?:"(?P<quoted>[^"]+)"|(?P<value>[^\s"()]+))
        | (?P<minus>-?)"(?P<phrase>[^"]*)"(?P<star>\*?)
        | (?P<open>-?\()
        | (?P<close>\))
        | (?P<word>[^\s"()]+(?:\([^\s"()]*\)[^\s"()]*)*)
        """,
        re.VERBOSE,
    )


@lru_cache(maxsize=16)
def parse(box: str) -> Query:
    """The query that was typed; never raises. Remembered: on its way a search asks for it several times."""
    parser = _Parser()
    text = _cut(box)
    if text is not box:
        parser.notices.append(CUT)
    for lexeme in _lexeme().finditer(text.translate(_CURLY_QUOTES)):
        parser.take(lexeme)
    return parser.finish(box)


def explain(query: Query) -> str:
    """The query as it was understood, in one line."""
    parts = [_shown(query.node)] if query.node is not None else []
    parts += [f"[{name}={value}]" for name, value in query.filters]
    remarks = [query.problem] if query.problem else []
    return " ".join(parts + [f"({remark})" for remark in (*remarks, *query.notices)])


def narrow(query: Query, where: Filter, messages: MessageFilter, now: float) -> tuple[Filter, MessageFilter]:
    """Both the caller's filters and the box's; see `filters.narrowed`."""
    return narrowed(query.filters, where, messages, now)


def literal(text: str, *, prefix: bool = False, hashes: bool = False) -> Node | None:
    """The word or phrase that finds this very text; None when it has no word."""
    words = analyze.runs(text)
    if not words:
        return None
    last = words[-1]
    if analyze.unspaced(last):
        # The run may go on in the text: its pairs match anywhere, its last character only as a beginning.
        ending, prefix = analyze.bigrams(last)[: max(1, len(last) - 1)], len(last) == 1
    else:
        prefix = prefix or (hashes and re.fullmatch(_SHORT_HASH, last) is not None)
        ending = [last[: analyze.KEPT_PREFIX] if prefix else analyze.shortened(last)]
    before = [token for word in words[:-1] for token in _whole(word)]
    return _leaf([*before, *ending], prefix)


def _whole(word: str) -> list[str]:
    return analyze.bigrams(word) if analyze.unspaced(word) else [analyze.shortened(word)]


def _leaf(tokens: Sequence[str], prefix: bool) -> Node:
    return Term(tokens[0], prefix) if len(tokens) == 1 else Phrase(tuple(tokens), prefix)


def _cut(box: str) -> str:
    if len(box) <= MAX_LENGTH:
        return box
    words = box[:MAX_LENGTH].rsplit(None, 1)
    # The last word may be cut in two; alone, its beginning must do.
    return words[0] if len(words) > 1 else box[:MAX_LENGTH] + "*"


class _Group:
    """An open parenthesis: its alternatives so far, the last one growing."""

    def __init__(self, negated: bool = False) -> None:
        self.negated = negated
        self.branches: list[list[Node]] = [[]]
        self.negate_next = False
        # What a `-word` excludes: it may turn out to be an option of a command.
        self.dashed: list[Node] = []

    def add(self, node: Node | None, negated: bool) -> None:
        if node is not None:
            wanted = none_of(node) if negated != self.negate_next else node
            self.branches[-1] += [wanted] if wanted is not None else []
        self.negate_next = False

    def operate(self, operator: str) -> None:
        self.negate_next = operator == "NOT" and not self.negate_next
        if operator == "OR" and self.branches[-1]:
            self.branches.append([])


class _Parser:
    """Takes lexemes from left to right; open groups wait on a stack, so depth costs no recursion."""

    def __init__(self) -> None:
        self.groups = [_Group()]
        self.too_deep = 0
        self.filters: list[tuple[str, str]] = []
        self.operators: list[str] = []
        self.notices: list[str] = []

    def take(self, lexeme: re.Match[str]) -> None:
        if lexeme["field"]:
            self._filter(lexeme)
        elif lexeme["phrase"] is not None:
            self.groups[-1].add(literal(lexeme["phrase"], prefix=bool(lexeme["star"])), bool(lexeme["minus"]))
        elif lexeme["open"]:
            self._open(negated=lexeme["open"] == "-(")
        elif lexeme["close"]:
            self._close()
        else:
            self._word(lexeme["word"])

    def finish(self, box: str) -> Query:
        self.too_deep = 0
        while len(self.groups) > 1:
            self._close()
        node = self._built(self.groups[0])
        if node is None and not self.filters:
            node = all_of([Term(operator.lower()) for operator in self.operators])
        problem = _problem(box, node, self.filters)
        notices = tuple(dict.fromkeys(self.notices))
        return Query(box, None if problem else node, tuple(self.filters), problem, notices)

    def _filter(self, lexeme: re.Match[str]) -> None:
        name, value = self._field(lexeme["field"]), lexeme["quoted"] or lexeme["value"]
        meant = filter_value(name, value)
        if meant is None:
            self._literal(f"{name}:{value}")
            return
        self.filters.append((name, meant))
        if name == "tool":
            self.groups[-1].add(literal(value), negated=False)

    def _field(self, name: str) -> str:
        """The name of the field, with a minus when it is excluded by either sign."""
        negated = self.groups[-1].negate_next != name.startswith("-")
        self.groups[-1].negate_next = False
        return "-" * negated + name.removeprefix("-")

    def _word(self, word: str) -> None:
        if word in _OPERATORS:
            self.operators.append(word)
            self.groups[-1].operate(word)
        else:
            self._literal(word)

    def _literal(self, word: str) -> None:
        negated = word[0] == "-" and not re.fullmatch(_FLAG, word)
        node = literal(word, prefix=word[-1] == "*", hashes=True)
        if negated and node is not None and not self.groups[-1].negate_next:
            self.groups[-1].dashed.append(node)
        self.groups[-1].add(node, negated)

    def _open(self, *, negated: bool) -> None:
        if len(self.groups) > MAX_DEPTH:
            self.too_deep += 1
        else:
            self.groups.append(_Group(negated))

    def _close(self) -> None:
        if self.too_deep:
            self.too_deep -= 1
        elif len(self.groups) > 1:
            group = self.groups.pop()
            self.groups[-1].add(self._built(group), group.negated)

    def _built(self, group: _Group) -> Node | None:
        meant = (_with_options(branch, group.dashed) for branch in group.branches)
        branches = [node for branch in meant if (node := all_of(branch)) is not None]
        exclusions = sum(isinstance(branch, Not) for branch in branches)
        if 0 < exclusions < len(branches):
            self.notices.append(EXCLUDED_ALTERNATIVE)
        return any_of(branches)


def _with_options(branch: list[Node], dashed: Sequence[Node]) -> list[Node]:
    """The branch as it is meant: nobody excludes what he asks for, so then all words with a dash are text."""
    excluded = [part.part for part in branch if isinstance(part, Not) and part.part in dashed]
    wanted = [part for part in branch if not isinstance(part, Not)]
    if not any(implies(each, part) for each in wanted for part in excluded):
        return branch
    return [part.part if isinstance(part, Not) and part.part in dashed else part for part in branch]


def _problem(box: str, node: Node | None, filters: Sequence[tuple[str, str]]) -> str | None:
    if isinstance(node, Not):
        return ONLY_EXCLUSIONS
    if node is not None:
        return None
    if filters:
        return None if any(name == "kind" for name, _ in filters) else ONLY_FILTERS
    return NO_WORD if box.strip() else EMPTY


def _shown(node: Node) -> str:
    match node:
        case Term(token, prefix):
            return token + "*" * prefix
        case Phrase(tokens, prefix):
            return f'"{" ".join(tokens)}"' + "*" * prefix
        case Not(part):
            return f"NOT {_nested(part)}"
        case And(parts):
            return " AND ".join(map(_nested, parts))
        case Or(parts):
            return " OR ".join(map(_nested, parts))


def _nested(node: Node) -> str:
    return f"({_shown(node)})" if isinstance(node, And | Or) else _shown(node)
