"""Credentials of every kind, made up from what their vendors write about them, and values that nearly are some."""

from __future__ import annotations

import base64
import string
import uuid
from collections.abc import Callable
from random import Random

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
LOWER = string.ascii_lowercase + string.digits
BASE64 = ALNUM + "+/"

SCHEMES = ("postgresql", "mysql", "redis", "amqp", "https", "mongodb+srv")

Make = Callable[[Random], str]


def text(chance: Random, alphabet: str, length: int) -> str:
    return "".join(chance.choices(alphabet, k=length))


def inner(chance: Random, alphabet: str, length: int) -> str:
    """No mark of punctuation at the ends."""
    return text(chance, ALNUM, 1) + text(chance, alphabet, length - 2) + text(chance, ALNUM, 1)


def _prefixed(prefix: str, alphabet: str, length: int) -> Make:
    return lambda chance: prefix + inner(chance, alphabet, length)


def _hex(prefix: str, length: int) -> Make:
    return lambda chance: prefix + text(chance, HEX, length)


def _pem(chance: Random) -> str:
    kind = chance.choice(["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "])
    lines = "\n".join(text(chance, BASE64, 64) for _ in range(chance.randint(3, 20)))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"


def _jwt(chance: Random) -> str:
    def part(value: str) -> str:
        return base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")

    head, claims = part('{"alg":"HS256","typ":"JWT"}'), part(f'{{"sub":"{text(chance, HEX, 8)}"}}')
    return f"{head}.{claims}.{inner(chance, URLSAFE, 43)}"


def _password(chance: Random) -> str:
    return chance.choice(string.ascii_letters) + text(chance, ALNUM + "!#%*+_-", chance.randint(8, 20)) + "7q"


def _discord(chance: Random) -> str:
    return f"{chance.choice('MNO')}{text(chance, ALNUM, 23)}.{text(chance, ALNUM, 6)}.{inner(chance, URLSAFE, 38)}"


# How a text of this kind looks; the credential in it is what `SECRET_OF` takes out, or all of it.
KINDS: dict[str, list[Make]] = {
    "private key": [_pem],
    "age key": [lambda c: "AGE-SECRET-KEY-1" + text(c, UPPER, 58)],
    "github token": [
        *(_prefixed(p, ALNUM, 36) for p in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
        lambda c: f"github_pat_{text(c, ALNUM, 22)}_{text(c, ALNUM, 59)}",
        lambda c: f"ghs_{text(c, string.digits, 7)}_{_jwt(c)}",
    ],
    "gitlab token": [
        *(_prefixed(p, URLSAFE, 20) for p in ("glpat-", "gldt-", "glrt-", "glrt-t1_", "GR1348941")),
        lambda c: f"glpat-{text(c, URLSAFE, 27)}.01.{text(c, LOWER, 9)}",
    ],
    "anthropic key": [_prefixed("sk-ant-api03-", URLSAFE, 95)],
    "openrouter key": [_hex("sk-or-v1-", 64)],
    "openai key": [
        _prefixed("sk-", ALNUM, 48),
        _prefixed("sk-proj-", URLSAFE, 120),
        _prefixed("sk-svcacct-", URLSAFE, 90),
    ],
    "groq key": [_prefixed("gsk_", ALNUM, 52)],
    "xai key": [_prefixed("xai-", ALNUM, 80)],
    "fireworks key": [_prefixed("fw_", ALNUM, 24)],
    "cerebras key": [lambda c: "csk-" + text(c, LOWER, 48)],
    "nvidia key": [_prefixed("nvapi-", URLSAFE, 64)],
    "tavily key": [_prefixed("tvly-", ALNUM, 32), _prefixed("tvly-dev-", ALNUM, 32)],
    "firecrawl key": [_hex("fc-", 32)],
    "langsmith key": [lambda c: f"lsv2_pt_{text(c, HEX, 32)}_{text(c, HEX, 10)}"],
    "e2b key": [_hex("e2b_", 40)],
    "perplexity key": [_prefixed("pplx-", ALNUM, 48)],
    "replicate token": [_prefixed("r8_", ALNUM, 37)],
    "hugging face token": [_prefixed("hf_", string.ascii_letters, 34)],
    "aws access key": [lambda c: c.choice(["AKIA", "ASIA"]) + text(c, UPPER, 16)],
    "aws secret key": [lambda c: c.choice(["aws_secret_access_key = ", 'AWS_SECRET_KEY="']) + text(c, BASE64, 40)],
    "google key": [lambda c: "AIza" + inner(c, URLSAFE, 35)],
    "google oauth token": [_prefixed("ya29.", URLSAFE, 120), _prefixed("1//0", URLSAFE, 60)],
    "google oauth secret": [_prefixed("GOCSPX-", URLSAFE, 28)],
    "slack token": [
        lambda c: f"xoxb-{text(c, string.digits, 12)}-{text(c, string.digits, 13)}-{text(c, ALNUM, 24)}",
        lambda c: f"xoxp-{text(c, string.digits, 12)}-{text(c, string.digits, 12)}-{text(c, HEX, 32)}",
        lambda c: f"xoxc-{text(c, string.digits, 12)}-{text(c, string.digits, 12)}-{text(c, HEX, 64)}",
        lambda c: f"xoxe.xoxp-1-{text(c, ALNUM, 160)}",
        lambda c: f"xoxd-{inner(c, URLSAFE + '%', 80)}",
        lambda c: f"xapp-1-A{text(c, UPPER, 10)}-{text(c, string.digits, 13)}-{text(c, HEX, 64)}",
    ],
    "slack webhook": [
        lambda c: f"https://hooks.slack.com/services/T{text(c, UPPER, 8)}/B{text(c, UPPER, 8)}/{text(c, ALNUM, 24)}"
    ],
    "discord webhook": [
        lambda c: f"https://discord.com/api/webhooks/{text(c, '123456789', 18)}/{inner(c, URLSAFE, 68)}"
    ],
    "discord bot token": [_discord],
    "telegram bot token": [
        lambda c: f"{text(c, '123456789', 10)}:AA{inner(c, URLSAFE, 33)}",
        lambda c: f"{text(c, '123456789', 9)}:{inner(c, URLSAFE, 35)}",
        lambda c: f"https://api.telegram.org/bot{text(c, '123456789', 10)}:AA{inner(c, URLSAFE, 33)}/getMe",
    ],
    "stripe key": [
        _prefixed("sk_live_", ALNUM, 24), _prefixed("rk_test_", ALNUM, 99), _prefixed("whsec_", ALNUM, 32),
        lambda c: f"whsec_{text(c, BASE64, 43)}=",
    ],
    "square token": [_prefixed("sq0atp-", URLSAFE, 22), _prefixed("sq0csp-", URLSAFE, 43)],
    "shopify token": [_hex("shpat_", 32), _hex("shpss_", 32)],
    "twilio key": [_hex("SK", 32), _hex("AC", 32)],
    "sendgrid key": [lambda c: f"SG.{inner(c, URLSAFE, 22)}.{inner(c, URLSAFE, 43)}"],
    "mailgun key": [
        _hex("key-", 32),
        lambda c: "key-" + text(c, LOWER, 32),
        lambda c: f"{text(c, HEX, 32)}-{text(c, HEX, 8)}-{text(c, HEX, 8)}",
    ],
    "mailchimp key": [lambda c: f"{text(c, HEX, 32)}-us{c.randint(1, 21)}"],
    "npm token": [
        _prefixed("npm_", ALNUM, 36),
        lambda c: f"//registry.npmjs.org/:_authToken={uuid.UUID(bytes=c.randbytes(16))}",
        lambda c: f"//npm.host/:_auth={base64.b64encode(_password(c).encode()).decode()}",
    ],
    "pypi token": [_prefixed("pypi-AgEIcHlwaS5vcmc", URLSAFE, 140)],
    "rubygems key": [_hex("rubygems_", 48)],
    "docker token": [_prefixed("dckr_pat_", URLSAFE, 27)],
    "digitalocean token": [_hex("dop_v1_", 64), _hex("doo_v1_", 64)],
    "heroku key": [_prefixed("HRKU-AA", URLSAFE, 58)],
    "databricks token": [_hex("dapi", 32)],
    "linear key": [_prefixed("lin_api_", ALNUM, 40)],
    "notion token": [_prefixed("ntn_", ALNUM, 46), _prefixed("secret_", ALNUM, 43)],
    "airtable token": [lambda c: f"pat{text(c, ALNUM, 14)}.{text(c, HEX, 64)}"],
    "figma token": [_prefixed("figd_", URLSAFE, 40)],
    "new relic key": [lambda c: "NRAK-" + text(c, UPPER, 27), lambda c: text(c, HEX, 36) + "NRAL"],
    "grafana token": [lambda c: f"glsa_{text(c, ALNUM, 32)}_{text(c, HEX, 8)}"],
    "vault token": [_prefixed("hvs.", URLSAFE, 90), _prefixed("hvb.", URLSAFE, 150)],
    "pulumi token": [_hex("pul-", 40)],
    "dynatrace token": [lambda c: f"dt0c01.{text(c, UPPER, 24)}.{text(c, UPPER, 64)}"],
    "1password token": [_prefixed("ops_eyJ", ALNUM, 250)],
    "circleci token": [lambda c: f"CCIPAT_{text(c, ALNUM, 22)}_{text(c, HEX, 40)}"],
    "buildkite token": [_hex("bkua_", 40)],
    "netlify token": [_prefixed("nfp_", ALNUM, 36)],
    "fly token": [_prefixed("fm2_", BASE64, 200), _prefixed("fo1_", URLSAFE, 43)],
    "cloudflare key": [lambda c: f"v1.0-{text(c, HEX, 24)}-{text(c, HEX, 146)}"],
    "facebook token": [_prefixed("EAA", ALNUM, 150)],
    "terraform token": [lambda c: f"{text(c, ALNUM, 14)}.atlasv1.{inner(c, URLSAFE, 67)}"],
    "doppler token": [_prefixed("dp.pt.", ALNUM, 43), lambda c: f"dp.st.prod.{text(c, ALNUM, 43)}"],
    "planetscale token": [_prefixed("pscale_tkn_", URLSAFE, 43)],
    "postman key": [lambda c: f"PMAK-{text(c, HEX, 24)}-{text(c, HEX, 34)}"],
    "sentry token": [_prefixed("sntrys_", ALNUM, 90), _hex("sntryu_", 64)],
    "supabase token": [_hex("sbp_", 40)],
    "atlassian token": [_prefixed("ATATT3", URLSAFE, 186), _prefixed("ATBB", ALNUM, 32)],
    "artifactory key": [_prefixed("AKCp", ALNUM, 69)],
    "azure client secret": [lambda c: f"{text(c, ALNUM, 3)}8Q~{inner(c, ALNUM + '_.~-', 34)}"],
    "azure storage key": [
        lambda c: f"DefaultEndpointsProtocol=https;AccountName=logs;AccountKey={text(c, BASE64, 86)}==;EndpointSuffix=x"
    ],
    "azure signature": [lambda c: f"https://a.blob.core.windows.net/c?sv=2022&sr=c&sig={text(c, ALNUM, 43)}%3D"],
    "json web token": [_jwt],
    "password in a url": [
        lambda c: f"{c.choice(SCHEMES)}://app:{_password(c).replace('#', 'x')}@db.internal/x",
    ],
    "authorization header": [
        lambda c: f"Authorization: Bearer {inner(c, ALNUM, 40)}",
        lambda c: f"-H 'authorization: Basic {base64.b64encode(_password(c).encode()).decode()}'",
        lambda c: f'"Authorization": "token {text(c, HEX, 40)}"',
    ],
    "api key header": [
        lambda c: f"x-api-key: {inner(c, ALNUM, 40)}",
        lambda c: f'"X-Auth-Token": "{text(c, HEX, 32)}"',
    ],
    "bearer token": [
        lambda c: f"sent as Bearer {inner(c, ALNUM, 40)}",
        lambda c: f'"auth": "bearer {text(c, HEX, 64)}"',
    ],
    "password of a command": [
        lambda c: f"mysql -uroot -p{_password(c)} app",
        lambda c: f"curl -s -u admin:{_password(c)} https://host/",
        lambda c: f"deploy --password {_password(c)} now",
        lambda c: f"deploy --client-secret {_password(c)} --secret-access-key={_password(c)}",
        lambda c: f"sshpass -p {_password(c)} ssh host",
        lambda c: f"machine git.host login bot password {_password(c)}",
    ],
    "password": [
        lambda c: f"<server><password>{_password(c)}</password></server>",
        lambda c: f"Server=db;User Id=sa;Password={_password(c)};Encrypt=yes",
        lambda c: f"host=db user=app password={_password(c)} dbname=app",
        lambda c: f"password = '{_password(c)}'",
        lambda c: f"DB_PASSWORD={_password(c)}",
        lambda c: f'{{"password": "{_password(c)}"}}',
        lambda c: f"PGPASSWORD={_password(c)} psql",
    ],
    "secret value": [
        lambda c: f"the api key is {inner(c, ALNUM, 32)}",
        lambda c: f"Its password is {_password(c)}9x7!",
        lambda c: f"ENV OPENAI_API_KEY {inner(c, ALNUM, 32)}",
        lambda c: f"STORAGE_KEY={text(c, HEX, 64)}",
        lambda c: f"DB_PASS={inner(c, ALNUM, 20)}",
        lambda c: f"DD_APP_KEY={text(c, HEX, 40)}",
        lambda c: f'api_key = "{inner(c, ALNUM, 32)}"',
        lambda c: f"SECRET_KEY_BASE={text(c, HEX, 128)}",
        lambda c: f'{{\\"client_secret\\": \\"{inner(c, ALNUM, 40)}\\"}}',
        lambda c: f"access_token: {inner(c, URLSAFE, 43)}",
        lambda c: f"accessToken => '{text(c, HEX, 40)}'",
    ],
}  # fmt: skip


def positives(kind: str, count: int) -> list[str]:
    chance = Random(f"positive {kind}")
    makers = KINDS[kind]
    return [makers[number % len(makers)](chance) for number in range(count)]
