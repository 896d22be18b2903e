"""Texts that look like a credential of a kind and are none: cut off, filled up, spelled in code, told in words."""

from __future__ import annotations

import re
from random import Random

from made_credentials import ALNUM, HEX, KINDS, positives, text

# What a token of the kind begins with.
PREFIXES = {
    "age key": "AGE-SECRET-KEY-1", "github token": "ghp_", "gitlab token": "glpat-", "anthropic key": "sk-ant-",
    "openrouter key": "sk-or-v1-", "openai key": "sk-", "groq key": "gsk_", "xai key": "xai-",
    "perplexity key": "pplx-", "replicate token": "r8_", "hugging face token": "hf_", "aws access key": "AKIA",
    "google key": "AIza", "google oauth token": "ya29.", "google oauth secret": "GOCSPX-", "slack token": "xoxb-",
    "slack webhook": "https://hooks.slack.com/services/", "discord webhook": "https://discord.com/api/webhooks/",
    "stripe key": "sk_live_", "square token": "sq0atp-", "shopify token": "shpat_", "sendgrid key": "SG.",
    "mailgun key": "key-", "npm token": "npm_", "pypi token": "pypi-AgE", "rubygems key": "rubygems_",
    "docker token": "dckr_pat_", "digitalocean token": "dop_v1_", "heroku key": "HRKU-", "databricks token": "dapi",
    "linear key": "lin_api_", "notion token": "ntn_", "airtable token": "pat", "figma token": "figd_",
    "new relic key": "NRAK-", "grafana token": "glsa_", "vault token": "hvs.", "terraform token": "x.atlasv1.",
    "doppler token": "dp.pt.", "planetscale token": "pscale_tkn_", "postman key": "PMAK-", "sentry token": "sntrys_",
    "supabase token": "sbp_", "atlassian token": "ATATT3", "artifactory key": "AKCp", "json web token": "eyJ",
    "fireworks key": "fw_", "cerebras key": "csk-", "nvidia key": "nvapi-", "tavily key": "tvly-",
    "firecrawl key": "fc-", "langsmith key": "lsv2_pt_", "e2b key": "e2b_", "pulumi token": "pul-",
    "dynatrace token": "dt0c01.", "1password token": "ops_eyJ", "circleci token": "CCIPAT_",
    "buildkite token": "bkua_", "netlify token": "nfp_", "fly token": "fm2_", "cloudflare key": "v1.0-",
    "facebook token": "EAA",
    "twilio key": "SK", "azure storage key": "AccountKey=", "azure signature": "?sig=",
}  # fmt: skip

# Values that stand for a secret, or fetch one.
NO_VALUES = (
    "$SECRET", "${SECRET}", "$(pass show it)", "%SECRET%", "<secret>", "<your key here>", "{{ secret }}", "{secret}",
    "********", "xxxxxxxxxxxxxxxx", "...", "None", "null", "true", "undefined", "changeme", "example-value",
    "your-secret-here", "your_api_key", "my-secret-value", "os.environ['IT']", "os.getenv(name)", "process.env.IT",
    "config.secret.value", "settings::SECRET", "self.secret", "getpass()", "string", "Optional[str]", "str", "input",
    "required", "placeholder", "REPLACE_ME", "/run/secrets/it", "~/.config/it", "https://vault.internal/it",
    "reset-by-mail", "first_and_second", "[redacted: password]", "abcdefghijkl", "123456789012345",
)  # fmt: skip

CONTEXTS = {
    "aws secret key": ("aws_secret_access_key = {}", "AWS_SECRET_KEY={}"),
    "password": ("password = {}", "PASSWORD={}", '"password": "{}"', "passwd: {}", "<password>{}</password>"),
    "secret value": (
        "api_key = {}",
        "API_KEY={}",
        '"client_secret": "{}"',
        "access_token: {}",
        "token={}",
        "the token is {}",
        "Its password is {}",
        "DB_PASS={}",
        "write_key: {}",
    ),
    "authorization header": ("Authorization: Bearer {}", "the authorization: bearer {}"),
    "bearer token": ("Bearer {}", "a bearer {} of it"),
    "api key header": ("x-api-key: {}", "'X-Auth-Token': '{}'"),
    "password of a command": (
        "mysql --password {}",
        "curl -u admin:{} https://host",
        "mysql -uroot -p{}",
        "tool --token={}",
    ),
}

WRITTEN: dict[str, tuple[str, ...]] = {
    "secret value": (
        "git set token_count 4096000000000", "env API_KEY_FILE /run/secrets/api_key_2", "tool --key server1.pem now",
        "single-pass: RenderPass2D", "first_pass: 1234567890", "test_pass = 95.2%", "low_pass=butterworth4",
        "The token was revoked at 2026-11-18T10:00:00Z", "The secret was AdministratorPassword, he said",
        "the token is ResourceOwnerPasswordCredentials", "The key was created on 2026-11-18",
    ),
    "bearer token": ("bearer tokens should be rotated every 90 days", "Bearer authentication is required"),
    "npm token": (":_authToken=${NPM_TOKEN}", "//npm.host/:_authToken=<your token>", ":_auth=basic"),
    "private key": (
        "-----BEGIN PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", "the file begins with BEGIN RSA PRIVATE KEY",
        "-----BEGIN SSH2 PUBLIC KEY-----\n{}", "-----BEGIN PGP SIGNATURE-----\n{}", "-----BEGIN PGP MESSAGE-----\n{}",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\nMII[...]",
        "-----BEGIN CERTIFICATE REQUEST-----\n{}", "grep -l 'PRIVATE KEY' *", "ssh-ed25519 {} ann@host",
        "if 'BEGIN PRIVATE KEY' in text:", "-----BEGIN X509 CRL-----\n{}\n-----END X509 CRL-----", "id_rsa.pub {}",
        "-----BEGIN DH PARAMETERS-----\n{}\n-----END DH PARAMETERS-----", "ssh-keygen -t ed25519 -f ~/.ssh/it",
        "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----", "openssl genrsa -out it.pem",
        "-----BEGIN PRIVATE KEY-----\n<your key>\n-----END PRIVATE KEY-----", "re.compile('-----BEGIN .* PRIVATE KEY')",
    ),
    "password in a url": (
        "https://host/path?at=user@host", "postgresql://user@host/db", "postgresql://user:password@host/db",
        "mysql://user:$PASSWORD@host/db", "redis://:${REDIS_PASSWORD}@host", "https://user:<password>@host/",
        "ssh://git@host:22/x", "http://[::1]:8080/@x", "https://host:8080/@scope/package", "git@host:owner/repo.git",
        "mongodb://user:{password}@host", "https://user:***@host/", "https://user:xxxxxxxx@host/",
        "amqp://%s:%s@%s".replace("%s:", "{{user}}:{{pass}}"), "see http://host:80/a and mail ann@host",
        "http://a.b/c:d e@f", "https://user:PASSWORD@host", "http://example.com:443/~ann/@1", "ftp://ann:...@host",
        "smtp://your_user:your_password@host",
    ),
    "discord bot token": ("{}.{}.{}", "Module.names_.of_a_program_that_is_long", "Node.js.v20", "O.K.", "M.D."),
    "telegram bot token": ("12:34:56", "1234567890:AA", "port 8080:AAA", "1700000000:AAmore", "at 12345678:AA-1"),
    "twilio key": ("SKU", "SKfacade", "SK-" + "a1" * 16, "TASK" + "a1" * 16, "SK" + "G7" * 16),
    "mailchimp key": ("d41d8cd9-us", "en-us1", "region-us-east-1", "a" * 32 + "-usb1", "f" * 32 + "-us1"),
    "azure client secret": ("FAQ~", "8Q~short", "what? 1Q~2Q growth", "x8Q~" + "a" * 34, "Q~" + "ab" * 20),
    "airtable token": ("patch.diff", "pattern.match", "pathological.case", "patAAAAAAAAAAAAAA." + "0" * 64),
    "mailgun key": ("key-value", "key-" + "0" * 32, "d41d8cd98f00b204e9800998ecf8427e-a", "key-frame-1"),
    "json web token": ("eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.short", '{"a": "eyJ"}', "eyJ.eyJ.x"),
}  # fmt: skip


def near_misses(kind: str, count: int) -> list[str]:
    chance = Random(f"near {kind}")
    made = [line.replace("{}", text(chance, ALNUM, 12)) for line in WRITTEN.get(kind, ())]
    for context in CONTEXTS.get(kind, ()):
        made += [context.format(value) for value in NO_VALUES]
    made += _of_prefix(PREFIXES[kind], chance, kind) if kind in PREFIXES else []
    # Each once: what stands there twice proves nothing more.
    different = dict.fromkeys(made)
    for _ in range(100 * count):
        if len(different) >= count:
            break
        different[_cut(chance, kind)] = None
    return list(different)


def _of_prefix(prefix: str, chance: Random, kind: str) -> list[str]:
    told = [
        f"it begins with {prefix}", f"{prefix}...", f"{prefix}****", f"`{prefix}`", f"{prefix}<token>",
        f"if value.startswith('{prefix}'):", f"{prefix}$TOKEN", f"{prefix}{{token}}", f"^{prefix}[a-z]+$",
    ]  # fmt: skip
    filled = [re.sub(r"\w", "x", example.removeprefix(prefix)) for example in positives(kind, 6)]
    short = [prefix + text(chance, HEX, length) for length in range(1, 11)]
    return [*told, *(prefix + filler for filler in filled), *short]


def _cut(chance: Random, kind: str) -> str:
    """The beginning of one, as a log or a list of keys shows it."""
    example = KINDS[kind][0](chance)
    return example[: min(10, len(example) // 3)] + chance.choice(["...", "…", " ", "****", "<cut>"])
