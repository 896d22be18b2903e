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
    # Whether it stands by itself, see `begins`.
    apart: bool = False


# What stands for a token in texts about tokens: the same character over and over, dots, advice.
_FILLER = re.compile(
    r"(?i).*x{6}.*|.*\*{3}.*|.*\.{3}.*|.*(?:0{8}|1{8}).*|.*(?:placeholder|redacted|changeme|dummy).*"
    r"|.*[-_.](?:my|your|insert|replace|goes|here)(?:[-_.].*)?",
    re.DOTALL,
)
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
_HUMPS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_KINDS = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", r"[^\w]")))


def is_varied(value: str) -> bool:
    """Whether a token may be a real one, or an example that cannot be told from one: better left out than missed."""
    return len(set(value)) >= 8 and not _FILLER.fullmatch(value)


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
    return bool(_WORDS.fullmatch(value)) and not _capitals_are_mixed_in(value) and not _is_jumpy(value)


def _is_jumpy(value: str) -> bool:
    """Words joined without blanks, as in `getUserToken`, have more letters each than dice give them."""
    humps = _HUMPS.findall(value)
    return len(value) >= 8 and sum(map(len, humps)) < 2.8 * len(humps)


def _is_sent(value: str) -> bool:
    """Whether a header has it as its credential, which may be a short name and password in base64."""
    mixed = _capitals_are_mixed_in(value, 12) and is_varied(value) and not _CODE.fullmatch(value)
    return mixed or is_random(value)


def _capitals_are_mixed_in(value: str, shortest: int = 20) -> bool:
    """Names in programs have few capitals, or nothing else; dice throw both."""
    return len(value) >= shortest and 0.3 < sum(map(str.isupper, value)) / len(value) < 0.7


def _is_telegram(value: str) -> bool:
    return is_random(value.partition(":")[2])


def _is_dice(value: str) -> bool:
    """Whether a value of known length has the mixture of base64; a slash at its beginning makes it no path."""
    return is_varied(value) and all(kind.search(value) for kind in _KINDS[:2]) and _entropy(value) >= 3.8


def _is_written_out(value: str) -> bool:
    return value.lower() not in _WORDS_FOR_PASSWORDS and not _PLACEHOLDER.fullmatch(value)


def _is_key_text(value: str) -> bool:
    return len(value) >= 40 and len(set(value)) >= 16


def _entropy(value: str) -> float:
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(share * math.log2(share) for share in shares)


# A key is a secret after one of these; the others are by themselves.
_KEYS = (
    "api",
    "access",
    "secret",
    "private",
    "encryption",
    "signing",
    "account",
    "shared",
    "master",
    "service",
    "app",
    "admin",
    "write",
    "auth",
    "deploy",
    "license",
    "storage",
)
_AFTER = "|".join(f"(?<={word}key)|(?<={word}[_-]key)" for word in _KEYS)
_SECRET_NAME = (
    r"(?:secret(?:[_-]?access)?(?:[_-]?key)?(?:[_-]?base)?|token|credentials?|(?<=_)(?:pass|pat)"
    rf"|key(?:{_AFTER})(?:[_-]?id)?)"
)
_PASSWORD_NAME = r"(?:password|passwd|passphrase|passwort|pwd|pgpassword)"
# Quotes may be escaped: JSON in JSON. A colon before a type, `token: str = ...`, is not what is meant.
_GIVEN = r"\d?\\*[\"'`]?\]?\s{0,3}(?::=|=>|==|[:=])\s{0,3}\\*[\"'`]?"
_VALUE = r"(?P<secret>[^\s\"'`,;()\[\]{}\\<>$][^\s\"'`,;)\]}\\<>]{5,399})"
_END = r"(?![\w-])"
_HEX = "[a-f0-9]"
# After no word; or after an escape, a colour of the terminal, a percent sign with its digits, in Telegram's addresses.
_BEGIN = re.compile(r"(?<![\w-])|(?<=\\[nrt])|(?<=[\[;]\dm)|(?<=[\[;]\d\dm)|(?<=%[0-9A-Fa-f]{2})|(?<=/bot)")


def begins(text: str, at: int) -> bool:
    """Whether a token may begin there: looked at where its form was found, which is faster than in every pattern."""
    return bool(_BEGIN.match(text, at))


def _token(name: str, pattern: str, *hints: str, check: Callable[[str], bool] = is_varied) -> Rule:
    return Rule(name, pattern, hints, check, apart=True)


def _command(pattern: str, hint: str) -> Rule:
    return Rule("password of a command", pattern, (hint,), is_chosen, apart=True)


# What a sentence says: `the api key is ...`.
_SAID = tuple(
    f"{word} {verb}"
    for word in ("key", "secret", "token", "credential", "password", "passphrase")
    for verb in ("is", "was")
)

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
    _token(
        "github token",
        rf"(?:ghs_\d{{1,12}}_eyJ[\w.-]{{50,1500}}|gh[pousr]_\w{{36,251}}|github_pat_\w{{40,250}}){_END}",
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    _token(
        "gitlab token",
        r"(?:gl(?:pat|dt|rt|rtr|ptt|ft|ffct|soat|cbt|agent|imt|oas)-|GR1348941)[\w-]{20,64}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
        "gl",
        "gr1348941",
    ),
    _token("anthropic key", r"sk-ant-[\w-]{20,200}", "sk-ant-"),
    _token("openrouter key", rf"sk-or-v1-{_HEX}{{64}}{_END}", "sk-or-v1-"),
    _token(
        "openai key", r"sk-(?!ant-|or-)(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{20,200}", "sk-", check=is_random
    ),
    _token("groq key", rf"gsk_[A-Za-z0-9]{{40,64}}{_END}", "gsk_"),
    _token("xai key", rf"xai-[A-Za-z0-9]{{64,90}}{_END}", "xai-"),
    _token("fireworks key", rf"fw_[A-Za-z0-9]{{22,40}}{_END}", "fw_", check=is_random),
    _token("cerebras key", rf"csk-[a-z0-9]{{40,60}}{_END}", "csk-"),
    _token("nvidia key", r"nvapi-[\w-]{60,70}(?![\w-])", "nvapi-"),
    _token("tavily key", rf"tvly-(?:dev-|prod-)?[A-Za-z0-9]{{20,40}}{_END}", "tvly-", check=is_random),
    _token("firecrawl key", rf"fc-{_HEX}{{32}}{_END}", "fc-"),
    _token("langsmith key", rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}{_END}", "lsv2_"),
    _token("e2b key", rf"e2b_{_HEX}{{40}}{_END}", "e2b_"),
    _token("perplexity key", rf"pplx-[A-Za-z0-9]{{40,64}}{_END}", "pplx-"),
    _token("replicate token", rf"r8_[A-Za-z0-9]{{37}}{_END}", "r8_"),
    _token("hugging face token", rf"(?:hf|api_org)_[A-Za-z0-9]{{30,40}}{_END}", "hf_", "api_org_"),
    _token("aws access key", rf"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_END}", "akia", "asia", "abia", "acca"),
    Rule(
        "aws secret key",
        r"(?i:aws|secret)[\w.-]{0,30}(?i:key|secret)" + _GIVEN + r"(?P<secret>[A-Za-z0-9/+]{40})(?![\w/+=])",
        ("key", "secret"),
        _is_dice,
    ),
    _token("google key", r"AIza[\w-]{35}(?![\w-])", "aiza"),
    _token("google oauth token", r"(?:ya29\.[\w-]{20,300}|1//0[\w-]{40,120})", "ya29.", "1//0"),
    _token("google oauth secret", rf"GOCSPX-[\w-]{{28}}{_END}", "gocspx-"),
    _token(
        "slack token",
        r"(?:xox(?:e\.xox)?[abceoprs]-(?:\d-)?[A-Za-z0-9-]{20,250}|xoxd-[\w%/+=-]{20,400}|xapp-\d-[A-Za-z0-9-]{20,250})",
        "xox",
        "xapp-",
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
    _token("telegram bot token", r"\d{8,10}:[\w-]{35}(?![\w-])", ":", check=_is_telegram),
    _token(
        "stripe key",
        rf"(?:(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{{16,247}}{_END}|whsec_[A-Za-z0-9+/]{{32,64}}=*(?![\w+/-]))",
        *("k_live_", "k_test_", "k_prod_", "whsec_"),
    ),
    _token("square token", rf"(?:sq0(?:atp|csp)-[\w-]{{22,43}}|EAAA[\w-]{{60}}){_END}", "sq0", "eaaa"),
    _token("shopify token", rf"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{32}}{_END}", "shp"),
    _token("twilio key", rf"(?:SK|AC){_HEX}{{32}}{_END}", "sk", "ac"),
    _token("sendgrid key", rf"SG\.[\w-]{{22}}\.[\w-]{{43}}{_END}", "sg."),
    _token("mailgun key", rf"key-[a-z0-9]{{32}}{_END}", "key-", check=is_random),
    _token("mailgun key", rf"{_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}}{_END}", "-"),
    _token("mailchimp key", rf"[0-9a-z]{{32}}-us\d{{1,2}}{_END}", "-us", check=is_random),
    _token("npm token", rf"npm_[A-Za-z0-9]{{36}}{_END}", "npm_"),
    Rule(
        "npm token", r":_(?:authToken|auth|password)=(?P<secret>[\w+/=-]{16,400})", (":_auth", ":_password"), _is_sent
    ),
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
    _token("new relic key", rf"(?:NRAK-[A-Z0-9]{{27}}|{_HEX}{{36}}NRAL){_END}", "nrak-", "nral"),
    _token("grafana token", r"(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/=]{32,400})", "glsa_", "glc_"),
    _token("vault token", r"hv[sbr]\.[\w-]{24,200}", "hvs.", "hvb.", "hvr."),
    _token("pulumi token", rf"pul-{_HEX}{{40}}{_END}", "pul-"),
    _token("dynatrace token", rf"dt0[a-z]\d\d\.[A-Z0-9]{{24}}\.[A-Z0-9]{{64}}{_END}", "dt0"),
    _token("1password token", r"ops_eyJ[\w+/=-]{100,2000}", "ops_eyj"),
    _token("circleci token", rf"CCI(?:PAT|PRJ)_[A-Za-z0-9]{{20,30}}_{_HEX}{{40}}{_END}", "ccip"),
    _token("buildkite token", rf"bk(?:ua|aj|ct)_{_HEX}{{40}}{_END}", "bkua_", "bkaj_", "bkct_"),
    _token("netlify token", rf"nf[pcobu]_[A-Za-z0-9]{{36,44}}{_END}", "nf"),
    _token("fly token", r"(?:fm[12][ar]?_[\w+/=-]{80,2000}|fo1_[\w-]{40,60})", "fm1", "fm2", "fo1_"),
    _token("cloudflare key", rf"v1\.0-{_HEX}{{24}}-{_HEX}{{146}}{_END}", "v1.0-"),
    _token("terraform token", rf"[A-Za-z0-9]{{14}}\.atlasv1\.[\w=-]{{60,70}}{_END}", ".atlasv1."),
    _token("doppler token", rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:\w{{1,40}}\.)?[A-Za-z0-9]{{40,44}}{_END}", "dp."),
    _token("planetscale token", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}", "pscale_"),
    _token("postman key", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}{_END}", "pmak-"),
    _token("sentry token", r"sntry[su]_[\w+/=-]{40,400}", "sntry"),
    _token("supabase token", rf"sb(?:p_{_HEX}{{40}}|_secret_[\w-]{{31,40}}){_END}", "sbp_", "sb_secret_"),
    _token("facebook token", rf"EAA[A-Za-z0-9]{{80,400}}{_END}", "eaa", check=is_random),
    _token("atlassian token", r"(?:ATATT3[\w=-]{150,250}|ATBB[A-Za-z0-9]{32}(?![\w-]))", "atatt3", "atbb"),
    _token("artifactory key", rf"AKCp?[A-Za-z0-9]{{60,73}}{_END}", "akc"),
    _token("azure client secret", rf"[\w~.]{{3}}\dQ~[\w~.-]{{31,34}}{_END}", "q~"),
    Rule(
        "azure storage key",
        r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{43,86}={1,2})",
        ("accountkey=", "sharedaccesskey="),
        is_varied,
    ),
    Rule("azure signature", r"[?&;]sig=(?P<secret>[A-Za-z0-9%+/_-]{40,90}(?:%3[dD]|=)?)", ("sig=",), is_varied),
    _token("json web token", rf"(?:{_BEGIN.pattern})eyJ[\w-]{{8,4000}}\.eyJ[\w-]{{8,8000}}\.[\w-]{{8,2000}}", "eyj"),
    Rule(
        "password in a url",
        r"://[^\s:/@\"'`<>?#]{0,100}:(?P<secret>[^\s/@\"'`<>]{3,200})@[^\s@]",
        ("://",),
        _is_written_out,
    ),
    Rule(
        "authorization header",
        r"(?:\b|(?<=\\[nrt]))(?:proxy-)?authorization\\*[\"']?\s{0,3}[:=,]\s{0,3}\\*[\"']?(?:bearer|basic|token|apikey)\s{1,3}"
        r"(?P<secret>[\w.~+/=:-]{12,4000})",
        ("authorization",),
        _is_sent,
        exact=False,
    ),
    Rule(
        "api key header",
        r"(?:\b|(?<=\\[nrt]))x-(?:api-key|auth-token|access-token|goog-api-key|vault-token|amz-security-token)\\*[\"']?\s{0,3}[:=,]\s{0,3}"
        r"\\*[\"']?(?P<secret>[\w.~+/=-]{12,2000})",
        ("x-",),
        is_random,
        exact=False,
    ),
    Rule(
        "bearer token",
        r"(?:\b|(?<=\\[nrt]))bearer\s{1,3}(?P<secret>[\w.~+/=-]{20,4000})",
        ("bearer",),
        is_random,
        exact=False,
    ),
    _command(r"curl\b[^\n|;]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,60}:(?P<secret>[^\s\"'\\]{3,100})", "curl"),
    _command(
        r"--(?:(?:[a-z]{1,12}-){0,3}(?:password|passwd|token"
        r"|(?:api|access|account|secret)-key|secret|apikey)|pass)[ =][\"']?"
        r"(?P<secret>[^\s\"'\\-][^\s\"'\\]{5,200})",
        "--",
    ),
    _command(r"mysql(?:dump|admin)?\b[^\n|;]{0,200}?\s-p(?P<secret>[^\s\"'\\]{6,100})", "mysql"),
    _command(r"sshpass\s+-p\s*[\"']?(?P<secret>[^\s\"'\\]{3,100})", "sshpass"),
    _command(r"machine\s+\S{1,100}\s+login\s+\S{1,100}\s+password\s+(?P<secret>[^\s\"'\\]{3,100})", "machine"),
    Rule("password", f"{_PASSWORD_NAME}{_GIVEN}{_VALUE}", ("passw", "passphrase", "pwd"), is_chosen, exact=False),
    Rule(
        "password",
        rf"<[\w:.-]{{0,40}}?password>\s{{0,3}}{_VALUE}\s{{0,3}}</",
        ("password>",),
        is_chosen,
        exact=False,
    ),
    Rule(
        "secret value",
        rf"(?:env|set|setx)\s{{1,3}}\w{{0,40}}?(?:{_SECRET_NAME}|{_PASSWORD_NAME})\s{{1,3}}[\"'`]?{_VALUE}",
        ("env ", "set ", "setx "),
        is_random,
        exact=False,
        apart=True,
    ),
    Rule(
        "secret value",
        rf"(?:{_SECRET_NAME}|{_PASSWORD_NAME}|(?:api|access|secret) key) (?:is|was)(?: now)?:?\s{{1,3}}[\"'`]?{_VALUE}",
        _SAID,
        is_random,
        exact=False,
    ),
    Rule(
        "secret value",
        f"{_SECRET_NAME}{_GIVEN}{_VALUE}",
        ("key", "secret", "token", "credential", "_pa"),
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
