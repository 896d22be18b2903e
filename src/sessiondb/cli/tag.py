"""`sessiondb tag`"""

from __future__ import annotations

from collections.abc import Sequence

from ..db import SessionDB
from . import answers, options, output
from .selection import find_named


@options.command("tag")
@options.session_word
@options.words("tags", many=True, required=False, metavar="[TAG]...")
@options.option("--remove", multiple=True, metavar="TAG", help="Take this tag away; repeatable.")
@options.answers
@options.writing
def command(db: SessionDB, session: str, tags: Sequence[str], remove: Sequence[str], form: answers.Form) -> None:
    """Add tags to a SESSION, or show those it has.

    `list --tag` and `tag:` in a search choose by them. A title of several words needs quotes where a tag would
    make it another title.

    \b
    Example:
        sessiondb tag latest work urgent
        sessiondb tag refactoring auth work
        sessiondb tag latest --remove urgent
    """
    found, tags = find_named(db, session, tags, leave=0)
    if tags:
        db.tag_session(found, *tags)
    has = db.untag_session(found, *remove) if remove else db.get_tags(found)
    if form:
        answers.give(form, "tag", {"id": found, "tags": has})
    else:
        output.say(f"{found}: {', '.join(has) if has else 'no tags'}")
