"""How credentials look: one table. Vendors' tokens are told by their form, other secrets by the name before them.

Every hint of a rule is in lower case and is in every text that the rule can match: most texts are done after that look.
No pattern walks back over what it has read, so that a long text without blanks costs no more than any other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple


class Rule(NamedTuple):
    """What a credential is called and how it looks; the group `secret`, where there is one, is what is left out."""

    name: str
    pattern: str
    hints: tuple[str, ...]
    check: Callable[[str], bool]
    # Whether capitals count. Where they do not, the pattern is in lower case and so is the text it is tried on: that
    # is several times faster than a pattern that folds.
    exact: bool = True


# What documentation and configuration write instead of a secret.
_PLACEHOLDER = re.compile(
    r"(?i)[$%]\{?\w+[}%]?|\$\(.*|<.*|\{.*|\*+|(.)\1*|.*x{6}.*|.*\*{3}.*|.*\.{3}.*|(?:my|your|the|some)[-_ ].*"
    r"|.*example.*|.*placeholder.*|.*redacted.*|.*changeme.*|.*change[-_]me.*|.*replace[-_]?me.*|.*dummy.*|.*insert.*"
    r"|none|null|nil|true|false|undefined|todo|.*12345678.*|.*abcdefgh.*|.*(?:0{8}|1{8}).*",
    re.DOTALL,
)
# Code that names a secret: a call, a path of names, an index; and what is a path or an address.
_CODE = re.compile(
    r"[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+[.:]?|[A-Za-z_][\w.:]*[(\[<].*|(?:\.{0,2}|~)/.*|\w+://.*", re.DOTALL
)
_WORDS_FOR_PASSWORDS = ("pass", "password", "passwd", "passwort", "pwd", "pw", "secret", "token", "bar", "test", "key")
_WORDS = re.compile(r"[A-Za-z]+(?:[-_./:][A-Za-z]+)*\d{0,2}")
_KINDS = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", r"[^\w]")))


def is_varied(value: str) -> bool:
    """Whether a token may be a real one: no filler, no example of a manual."""
    return len(set(value)) >= 8 and not _PLACEHOLDER.fullmatch(value)


def is_random(value: str) -> bool:
    """Whether a value looks made by a machine: mixed characters, much information in each."""
    mixed = bool(_KINDS[2].search(value)) or _capitals_are_mixed_in(value)
    return len(value) >= 12 and mixed and is_chosen(value) and _entropy(value) >= 2.8


def is_chosen(value: str) -> bool:
    """Whether a value may be a password: neither words, nor code, nor what stands for one."""
    if len(value) < 6 or len(set(value)) < 5 or _PLACEHOLDER.fullmatch(value) or _CODE.fullmatch(value):
        return False
    return sum(bool(kind.search(value)) for kind in _KINDS) >= 2 and not _is_words(value)


def _is_words(value: str) -> bool:
    return bool(_WORDS.fullmatch(value)) and not _capitals_are_mixed_in(value)


def _is_sent(value: str) -> bool:
    """Whether a header has it as its credential, which may be a short name and password in base64."""
    mixed = _capitals_are_mixed_in(value, 12) and is_varied(value) and not _CODE.fullmatch(value)
    return mixed or is_random(value)


def _capitals_are_mixed_in(value: str, shortest: int = 20) -> bool:
    """Names in programs have few capitals, or nothing else; dice throw both."""
    return len(value) >= shortest and 0.3 < sum(map(str.isupper, value)) / len(value) < 0.7


def _is_written_out(value: str) -> bool:
    return value.lower() not in _WORDS_FOR_PASSWORDS and not _PLACEHOLDER.fullmatch(value)


def _is_key_text(value: str) -> bool:
    return len(value) >= 40 and len(set(value)) >= 16


def _entropy(value: str) -> float:
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(share * math.log2(share) for share in shares)


# A key is a secret after one of these; the others are by themselves.
_KEYS = ("api", "access", "secret", "private", "encryption", "signing", "account", "shared", "master", "service")
_AFTER = "|".join(f"(?<={word}key)|(?<={word}[_-]key)" for word in _KEYS)
_SECRET_NAME = rf"(?:secret(?:[_-]?access)?(?:[_-]?key)?(?:[_-]?base)?|token|credentials?|key(?:{_AFTER})(?:[_-]?id)?)"
_PASSWORD_NAME = r"(?:password|passwd|passphrase|passwort|pwd|pgpassword)"
# Quotes may be escaped: JSON in JSON. A colon before a type, `token: str = ...`, is not what is meant.
_GIVEN = r"\d?\\*[\"'`]?\]?\s{0,3}(?::=|=>|==|[:=])\s{0,3}\\*[\"'`]?"
_VALUE = r"(?P<secret>[^\s\"'`,;()\[\]{}\\<>$][^\s\"'`,;)\]}\\<>]{5,399})"
_END = r"(?![\w-])"
_HEX = "[a-f0-9]"


def _token(name: str, pattern: str, *hints: str, check: Callable[[str], bool] = is_varied) -> Rule:
    return Rule(name, rf"(?<![\w-]){pattern}", hints, check)


# Of overlapping findings the first rule's counts: the particular before the general.
RULES = (
    Rule(
        "private key",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<secret>(?:\\+[nrt]|(?!-----END)[A-Za-z0-9+/=\s:,.()-])+)",
        ("private key",),
        _is_key_text,
    ),
    _token("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}", "age-secret-key-1"),
    _token("github token", rf"(?:gh[pousr]_[A-Za-z0-9]{{36,251}}|github_pat_\w{{40,250}}){_END}", "gh", "github_pat_"),
    _token("gitlab token", r"gl(?:pat|dt|rt|ptt|ft|soat|cbt|agent|imt|oas)-[\w-]{20,64}", "gl"),
    _token("anthropic key", r"sk-ant-[\w-]{20,200}", "sk-ant-"),
    _token("openrouter key", rf"sk-or-v1-{_HEX}{{64}}{_END}", "sk-or-v1-"),
    _token(
        "openai key", r"sk-(?!ant-|or-)(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{20,200}", "sk-", check=is_random
    ),
    _token("groq key", rf"gsk_[A-Za-z0-9]{{40,64}}{_END}", "gsk_"),
    _token("xai key", rf"xai-[A-Za-z0-9]{{64,90}}{_END}", "xai-"),
    _token("perplexity key", rf"pplx-[A-Za-z0-9]{{40,64}}{_END}", "pplx-"),
    _token("replicate token", rf"r8_[A-Za-z0-9]{{37}}{_END}", "r8_"),
    _token("hugging face token", rf"(?:hf|api_org)_[A-Za-z0-9]{{30,40}}{_END}", "hf_", "api_org_"),
    _token("aws access key", rf"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_END}", "akia", "asia", "abia", "acca"),
    Rule(
        "aws secret key",
        r"(?i:aws|secret)[\w.-]{0,30}(?i:key|secret)" + _GIVEN + r"(?P<secret>[A-Za-z0-9/+]{40})(?![\w/+=])",
        ("key", "secret"),
        is_random,
    ),
    _token("google key", r"AIza[\w-]{35}(?![\w-])", "aiza"),
    _token("google oauth token", r"ya29\.[\w-]{20,300}", "ya29."),
    _token("google oauth secret", rf"GOCSPX-[\w-]{{28}}{_END}", "gocspx-"),
    _token(
        "slack token", r"(?:xox[abeoprs]-(?:\d-)?[A-Za-z0-9-]{20,250}|xapp-\d-[A-Za-z0-9-]{20,250})", "xox", "xapp-"
    ),
    Rule(
        "slack webhook",
        r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>T\w{7,12}/\w{8,24}/\w{16,32})",
        ("hooks.slack.com",),
        is_varied,
    ),
    Rule(
        "discord webhook",
        r"discord(?:app)?\.com/api/webhooks/\d{17,20}/(?P<secret>[\w-]{60,80})",
        ("/api/webhooks/",),
        is_varied,
    ),
    _token("discord bot token", rf"[MNO][A-Za-z0-9_-]{{23,27}}\.[\w-]{{6}}\.[\w-]{{27,38}}{_END}", "."),
    _token("telegram bot token", r"\d{8,10}:AA[\w-]{33}(?![\w-])", ":aa"),
    _token(
        "stripe key",
        rf"(?:(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{{16,247}}|whsec_[A-Za-z0-9]{{32}}){_END}",
        "k_live_",
        "k_test_",
        "whsec_",
    ),
    _token("square token", rf"(?:sq0(?:atp|csp)-[\w-]{{22,43}}|EAAA[\w-]{{60}}){_END}", "sq0", "eaaa"),
    _token("shopify token", rf"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{32}}{_END}", "shp"),
    _token("twilio key", rf"SK{_HEX}{{32}}{_END}", "sk"),
    _token("sendgrid key", rf"SG\.[\w-]{{22}}\.[\w-]{{43}}{_END}", "sg."),
    _token("mailgun key", rf"(?:key-{_HEX}{{32}}|{_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}}){_END}", "-"),
    _token("mailchimp key", rf"{_HEX}{{32}}-us\d{{1,2}}{_END}", "-us"),
    _token("npm token", rf"npm_[A-Za-z0-9]{{36}}{_END}", "npm_"),
    _token("pypi token", r"pypi-AgE[\w-]{50,300}", "pypi-age"),
    _token("rubygems key", rf"rubygems_{_HEX}{{48}}{_END}", "rubygems_"),
    _token("docker token", rf"dckr_(?:pat|oat)_[\w-]{{27,32}}{_END}", "dckr_"),
    _token("digitalocean token", rf"do[opr]_v1_{_HEX}{{64}}{_END}", "_v1_"),
    _token("heroku key", rf"HRKU-[\w-]{{36,60}}{_END}", "hrku-"),
    _token("databricks token", rf"dapi{_HEX}{{32}}(?:-\d)?{_END}", "dapi"),
    _token("linear key", rf"lin_(?:api|oauth)_[A-Za-z0-9]{{40,64}}{_END}", "lin_"),
    _token("notion token", rf"(?:ntn_[A-Za-z0-9]{{40,50}}|secret_[A-Za-z0-9]{{43}}){_END}", "ntn_", "secret_"),
    _token("airtable token", rf"pat[A-Za-z0-9]{{14}}\.{_HEX}{{64}}{_END}", "pat"),
    _token("figma token", r"figd_[\w-]{38,60}", "figd_"),
    _token("new relic key", rf"NRAK-[A-Z0-9]{{27}}{_END}", "nrak-"),
    _token("grafana token", r"(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/=]{32,400})", "glsa_", "glc_"),
    _token("vault token", r"hv[sbr]\.[\w-]{24,200}", "hvs.", "hvb.", "hvr."),
    _token("terraform token", rf"[A-Za-z0-9]{{14}}\.atlasv1\.[\w=-]{{60,70}}{_END}", ".atlasv1."),
    _token("doppler token", rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:\w{{1,40}}\.)?[A-Za-z0-9]{{40,44}}{_END}", "dp."),
    _token("planetscale token", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}", "pscale_"),
    _token("postman key", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}{_END}", "pmak-"),
    _token("sentry token", r"sntry[su]_[\w+/=-]{40,400}", "sntry"),
    _token("supabase token", rf"sb(?:p_{_HEX}{{40}}|_secret_[\w-]{{31,40}}){_END}", "sbp_", "sb_secret_"),
    _token("atlassian token", r"ATATT3[\w=-]{150,250}", "atatt3"),
    _token("artifactory key", rf"AKCp[A-Za-z0-9]{{69}}{_END}", "akcp"),
    _token("azure client secret", rf"[\w~.]{{3}}\dQ~[\w~.-]{{31,34}}{_END}", "q~"),
    Rule(
        "azure storage key",
        r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{43,86}={1,2})",
        ("accountkey=", "sharedaccesskey="),
        is_varied,
    ),
    Rule("azure signature", r"[?&;]sig=(?P<secret>[A-Za-z0-9%+/_-]{40,90}(?:%3[dD]|=)?)", ("sig=",), is_varied),
    _token("json web token", r"eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}", "eyj"),
    Rule(
        "password in a url",
        r"(?<![a-zA-Z0-9+.-])[a-z][a-z0-9+.-]{1,30}://[^\s:/@\"'`<>?#]{0,100}:(?P<secret>[^\s/@\"'`<>]{3,200})@[^\s@]",
        ("://",),
        _is_written_out,
    ),
    Rule(
        "authorization header",
        r"\b(?:proxy-)?authorization\\*[\"']?\s{0,3}[:=,]\s{0,3}\\*[\"']?(?:bearer|basic|token|apikey)\s{1,3}"
        r"(?P<secret>[\w.~+/=:-]{12,4000})",
        ("authorization",),
        _is_sent,
        exact=False,
    ),
    Rule(
        "api key header",
        r"\bx-(?:api-key|auth-token|access-token|goog-api-key|vault-token|amz-security-token)\\*[\"']?\s{0,3}[:=,]\s{0,3}"
        r"\\*[\"']?(?P<secret>[\w.~+/=-]{12,2000})",
        ("x-",),
        is_random,
        exact=False,
    ),
    Rule(
        "password of a command",
        r"(?:\bcurl\b[^\n|;]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,60}:(?P<secret>[^\s\"'\\]{3,100})"
        r"|(?<!\S)--(?:password|passwd|pass|token|api-key|secret)[ =][\"']?(?P<secret_2>[^\s\"'\\-][^\s\"'\\]{5,200})"
        r"|\bsshpass\s+-p\s*[\"']?(?P<secret_3>[^\s\"'\\]{3,100})"
        r"|\bmachine\s+\S{1,100}\s+login\s+\S{1,100}\s+password\s+(?P<secret_4>[^\s\"'\\]{3,100}))",
        ("curl", "--", "sshpass", "machine"),
        is_chosen,
    ),
    Rule("password", f"{_PASSWORD_NAME}{_GIVEN}{_VALUE}", ("passw", "passphrase", "pwd"), is_chosen, exact=False),
    Rule(
        "secret value",
        f"{_SECRET_NAME}{_GIVEN}{_VALUE}",
        ("key", "secret", "token", "credential"),
        is_random,
        exact=False,
    ),
)

_NAMES_SECRET = re.compile(rf".*{_SECRET_NAME}[_-]?\d?")
_NAMES_PASSWORD = re.compile(rf".*{_PASSWORD_NAME}[_-]?\d?")


def named(field: str, value: str) -> str | None:
    """What the value of a field is, told by the field's name; None when it is no secret."""
    name = field.lower()
    if _NAMES_PASSWORD.fullmatch(name) and is_chosen(value):
        return "password"
    if _NAMES_SECRET.fullmatch(name) and is_random(value):
        return "secret value"
    return None
