"""Which messages belong together: from where a message came to the key of its conversation. Pure.

A key is its columns; its text is their spelling for people and files, one to one:

    agent:<profile>:<platform>:dm:<chat>[:<thread>]
    agent:<profile>:<platform>:<chat type>:<chat>[:<thread>]:<participant>

In the text `:`, `%` and control characters of an id are written as `%3A`, and what is absent in between is left empty,
so that no two keys have one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from ..errors import Invalid

MAIN = "main"
DM = "dm"
_LONGEST = 256
# What every store takes as a primary key.
_LONGEST_KEY = 640
_LONGEST_NAME = 100
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_BLANKS = re.compile(r"\s+")
_UNSAFE = re.compile(r"[:%\x00-\x1f\x7f-\x9f\ud800-\udfff]")

Aliases = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a message came from, as its platform tells it."""

    platform: str
    chat_type: str = DM
    chat_id: str | None = None
    thread_id: str | None = None
    user_id: str | None = None
    # A second name of the same person, where the platform has one that lasts longer.
    user_id_alt: str | None = None
    chat_name: str | None = None
    user_name: str | None = None
    profile: str = MAIN


@dataclass(frozen=True, slots=True)
class Rules:
    """Who shares a conversation: in groups and in threads everybody has their own, unless said otherwise."""

    group_sessions_per_user: bool = True
    thread_sessions_per_user: bool = True


@dataclass(frozen=True, slots=True)
class Key:
    """The conversation of a message; "" where there is nothing of that."""

    profile: str
    platform: str
    chat_type: str
    chat_id: str
    thread_id: str
    participant: str

    @property
    def text(self) -> str:
        parts = ["agent", self.profile, self.platform, self.chat_type]
        return ":".join(map(_escaped, parts)) + self._places()

    def _places(self) -> str:
        places = [self.chat_id, self.thread_id, self.participant]
        if self.chat_type != DM and not self.thread_id:
            del places[1]
        # Elsewhere a thread that all share keeps its empty end: without it, it would read as a person.
        while places and not places[-1] and (self.chat_type == DM or len(places) < 3):
            places.pop()
        return "".join(f":{_escaped(place)}" for place in places)

    @property
    def prefix(self) -> str:
        """What the keys of this profile and platform start with."""
        return ":".join(map(_escaped, ["agent", self.profile, self.platform])) + ":"

    @property
    def shared(self) -> bool:
        """Whether several people talk in this conversation."""
        return self.chat_type != DM and not self.participant


def session_key(source: Source, rules: Rules = Rules(), *, canonical: Aliases | None = None) -> Key:
    """The key of a message's conversation. Raises Invalid for a source without a platform, or an id too long.

    `canonical` maps the ids of a platform that has several for one person; see `whatsapp_id`.
    """
    platform = _checked(source.platform, "platform").lower()
    chat_type = _checked(source.chat_type or DM, "chat_type").lower()
    chat_id, thread_id = _id(source.chat_id, "chat_id"), _id(source.thread_id, "thread_id")
    someone = person(source, canonical=canonical) or ""
    if chat_type == DM:
        chat_id = _canonical(platform, canonical)(chat_id)
        participant = "" if chat_id else someone
        if not chat_id and not someone:
            raise Invalid("a direct message needs a chat_id or a user_id: strangers must not share a session")
    else:
        participant = someone if _apart(rules, thread_id) else ""
        if not chat_id and not thread_id and not participant:
            raise Invalid(f"a message of a {chat_type} needs a chat_id, a thread_id or a user_id to be routed")
    profile = _checked(source.profile or MAIN, "profile")
    return _fitting(Key(profile, platform, chat_type, chat_id, thread_id, participant))


def person(source: Source, *, canonical: Aliases | None = None) -> str | None:
    """Who sent a message, by the one id that this person has; None when the platform does not tell."""
    one = _canonical(_checked(source.platform, "platform").lower(), canonical)
    return one(_id(source.user_id_alt, "user_id_alt") or _id(source.user_id, "user_id")) or None


def display_name(source: Source) -> str | None:
    """What people call the chat, or its person: one line of visible characters, whatever the platform sent."""
    for name in (source.chat_name, source.user_name):
        shown = _BLANKS.sub(" ", _INVISIBLE.sub("", str(name)[:_LONGEST])).strip() if name is not None else ""
        if shown:
            return shown[:_LONGEST_NAME]
    return None


def _canonical(platform: str, given: Aliases | None) -> Aliases:
    return given or (whatsapp_id if platform == "whatsapp" else str)


def _fitting(key: Key) -> Key:
    if len(key.text) > _LONGEST_KEY:
        raise Invalid(f"the ids of a message make a key of {len(key.text)} characters; {_LONGEST_KEY} are allowed")
    return key


def _apart(rules: Rules, thread_id: str) -> bool:
    return rules.group_sessions_per_user and (not thread_id or rules.thread_sessions_per_user)


def parse(text: str) -> Key | None:
    """The key that has this text; None when it is none."""
    parts = [unquote(part, errors="surrogatepass") for part in text.split(":")]
    if not 4 <= len(parts) <= 7 or parts[0] != "agent" or not all(parts[1:4]):
        return None
    _, profile, platform, chat_type, *places = parts
    if chat_type != DM and len(places) == 2:
        places.insert(1, "")
    chat_id, thread_id, participant = [*places, "", "", ""][:3]
    return Key(profile, platform, chat_type, chat_id, thread_id, participant)


def whatsapp_id(number: str) -> str:
    """One id for one person: without the plus sign, the device and the domain."""
    return number.strip().lstrip("+").partition("@")[0].partition(":")[0]


def aliases(mapping: Mapping[str, str]) -> Aliases:
    """Ids that name one person, followed to the end; of several the shortest, numbers before letters."""

    def canonical(number: str) -> str:
        known = [whatsapp_id(number)]
        for each in known:
            following = mapping.get(each)
            if following is not None and whatsapp_id(following) not in known:
                known.append(whatsapp_id(following))
        return min(known, key=lambda each: (not each.isdigit(), len(each), each))

    return canonical


def _escaped(part: str) -> str:
    return _UNSAFE.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass")), part
    )


def _checked(value: object, field: str) -> str:
    text = _id(value, field)
    if not text:
        raise Invalid(f"a message needs a {field} to be routed")
    return text


def _id(value: object, field: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise Invalid(f"{field} must be text or a number, not {type(value).__name__}")
    text = str(value).strip()
    if len(text) > _LONGEST:
        raise Invalid(f"{field} is {len(text)} characters long; {_LONGEST} are allowed")
    return text
