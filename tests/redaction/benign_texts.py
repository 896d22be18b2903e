"""What agents read and write all day that is no secret: code, hashes, ids, pictures, paths, lock files, logs."""

from __future__ import annotations

import base64
import sysconfig
import uuid
from collections.abc import Iterator
from pathlib import Path
from random import Random

from made_credentials import ALNUM, BASE64, HEX, text

_NAMES = ("left-pad", "react-dom", "typescript", "@types/node", "tokenizers", "keyboard", "secret-santa", "passport")


def texts(count: int) -> Iterator[str]:
    chance = Random("benign")
    makers = (_lock_npm, _lock_python, _lock_cargo, _git, _ids, _picture, _paths, _code, _settings, _log, _web, _prose)
    for number in range(count):
        yield makers[number % len(makers)](chance)


def library(limit: int) -> Iterator[str]:
    """Files of the standard library that speak of keys, tokens and passwords."""
    folder = Path(sysconfig.get_path("stdlib"))
    found = [
        path for path in sorted(folder.glob("*.py")) + sorted(folder.glob("[a-k]*/*.py")) if "test" not in str(path)
    ]
    for path in found[:limit]:
        yield path.read_text("utf-8", "replace")


def _b64(chance: Random, size: int) -> str:
    return base64.b64encode(chance.randbytes(size)).decode()


def _lock_npm(chance: Random) -> str:
    name = chance.choice(_NAMES)
    return (
        f'"node_modules/{name}": {{"version": "{chance.randint(0, 20)}.{chance.randint(0, 30)}.0", '
        f'"resolved": "https://registry.npmjs.org/{name}/-/x-1.0.0.tgz", "integrity": "sha512-{_b64(chance, 64)}"}}'
    )


def _lock_python(chance: Random) -> str:
    return f"{chance.choice(_NAMES)}==1.{chance.randint(0, 9)} --hash=sha256:{text(chance, HEX, 64)}"


def _lock_cargo(chance: Random) -> str:
    return f'[[package]]\nname = "{chance.choice(_NAMES)}"\nchecksum = "{text(chance, HEX, 64)}"'


def _git(chance: Random) -> str:
    short = text(chance, HEX, 7)
    return f"commit {text(chance, HEX, 40)}\nindex {short}..{text(chance, HEX, 7)} 100644\nfix: token parser ({short})"


def _ids(chance: Random) -> str:
    made = uuid.UUID(bytes=chance.randbytes(16))
    return (
        f'request_id={made} trace={text(chance, HEX, 32)} span={text(chance, HEX, 16)} etag="{text(chance, HEX, 32)}"'
    )


def _picture(chance: Random) -> str:
    return f"![x](data:image/png;base64,iVBORw0KGgo{_b64(chance, chance.randint(200, 2000))})"


def _paths(chance: Random) -> str:
    return f"/nix/store/{text(chance, '0123456789abcdfghijklmnpqrsvwxyz', 32)}-glibc-2.38/lib/password-store/key.pem"


def _code(chance: Random) -> str:
    return chance.choice(
        [
            "def authenticate(user: str, password: str, token: str | None = None) -> Session:",
            "const apiKey = process.env.OPENAI_API_KEY ?? config.get('apiKey')",
            "password = getpass.getpass(prompt='Password: ')",
            "tokens = tokenizer.encode(text, max_length=512, truncation=True)",
            "token_count: 4096, max_tokens=8192, prompt_tokens: 1203",
            "if (token === undefined) { throw new Error('token missing') }",
            "SECRET_KEY = os.environ['DJANGO_SECRET_KEY']",
            "api_key: str = Field(default_factory=lambda: settings.api_key)",
            "auth_token = await vault.read_secret(path='kv/data/app#token')",
            "sort(key=lambda row: row.started_at); cache_key = f'{user_id}:{page}'",
            "primary_key=True, foreign_key='sessions.id', public_key=load_public_key(pem)",
            "password_hash = bcrypt.hashpw(raw, bcrypt.gensalt(rounds=12))",
            "next_page_token: response.next_page_token",
            "[tokens]: https://docs.internal/tokens#api-key",
            "export GITHUB_TOKEN=$(gh auth token)",
            "kubectl create secret generic db --from-literal=password=$DB_PASSWORD",
        ]
    )


def _settings(chance: Random) -> str:
    names = "keyring: system\nsecret_name: prod/db/main\npassword_file: /run/secrets/db"
    return f"token_limit: {chance.randint(1000, 200000)}\n{names}\npwd: /home/ann/src/app{chance.randint(1, 99)}"


def _log(chance: Random) -> str:
    moment = f"2025-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}T12:00:0{chance.randint(0, 9)}Z"
    request = f"GET /v1/tokens/{chance.randint(1, 10**9)} 200 {chance.random() * 100:.3f}ms"
    return f"{moment} INFO http {request} sha256:{text(chance, HEX, 64)}"


def _web(chance: Random) -> str:
    query = f"v={text(chance, ALNUM, 11)}&list=PL{text(chance, ALNUM, 32)}"
    return f"https://host.example/watch?{query}#t={chance.randint(1, 999)}s"


def _prose(chance: Random) -> str:
    words = ("the", "password", "and", "token", "of", "a", "secret", "key", "was", "never", "in", "this", "text")
    return " ".join(chance.choices(words, k=60)) + ". " + text(chance, BASE64, 24).replace("/", " ").replace("+", " ")
