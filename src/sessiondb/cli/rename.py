"""`sessiondb rename`"""

from __future__ import annotations

from collections.abc import Sequence

from ..db import SessionDB
from ..errors import NotFound
from . import answers, options, output
from .selection import find_named


@options.command("rename")
@options.session_word
@options.words("words", many=True, metavar="TITLE...")
@options.answers
@options.writing
def command(db: SessionDB, session: str, words: Sequence[str], form: answers.Form) -> None:
    """Give a SESSION a TITLE.

    Several words need no quotes, nor does the title that a SESSION has; an empty title ("") takes the title away.

    \b
    Example:
        sessiondb rename 20250305_0915 debugging auth flow
        sessiondb rename latest debugging auth flow
    """
    found, words = find_named(db, session, words, leave=1)
    if not db.set_session_title(found, " ".join(words)):
        raise NotFound(f"session {found!r} was deleted meanwhile")
    title = db.get_session_title(found)
    if form:
        answers.give(form, "rename", {"id": found, "title": title})
    else:
        output.say(f"{found} is now {title!r}." if title else f"{found} has no title now.")
