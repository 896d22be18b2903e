"""Where the settings come from, and what is said when they are wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import sessiondb
from sessiondb import config, registry
from sessiondb.config import Settings
from sessiondb.config_file import KEYS
from sessiondb.errors import Invalid

Load = Callable[..., Settings]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def load(home: Path) -> Load:
    """Load with this config.yaml and this environment."""

    def run(text: str | None = None, place: str | Path | None = None, **env: str) -> Settings:
        if text is not None:
            home.mkdir(exist_ok=True)
            (home / "config.yaml").write_text(text)
        return config.load(place, env={"SESSIONDB_HOME": str(home), "HOME": "/home/ann", **env})

    return run


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the providers of both servers were registered."""
    for name in ("postgresql", "mysql"):
        monkeypatch.setitem(config.registry.TABLES["providers"], name, "sessiondb.backends.memory:MemoryProvider")


PLACES = [
    ("/var/x.db", "sqlite", {"path": "/var/x.db"}),
    ("x.db", "sqlite", {"path": "x.db"}),
    ("~/x.db", "sqlite", {"path": "/home/ann/x.db"}),
    ("notes:2.db", "sqlite", {"path": "notes:2.db"}),
    (Path("/var/x.db"), "sqlite", {"path": "/var/x.db"}),
    ("sqlite:///var/x.db", "sqlite", {"path": "/var/x.db"}),
    ("sqlite:////var/x.db", "sqlite", {"path": "/var/x.db"}),
    ("sqlite:x.db", "sqlite", {"path": "x.db"}),
    ("sqlite:/var/x.db", "sqlite", {"path": "/var/x.db"}),
    ("sqlite://data/x.db", "sqlite", {"path": "data/x.db"}),
    ("sqlite:///~/x.db", "sqlite", {"path": "/home/ann/x.db"}),
    ("SQLite:///var/Größe 1%.db", "sqlite", {"path": "/var/Größe 1%.db"}),
    ("memory://", "memory", {}),
    ("memory:", "memory", {}),
    (":memory:", "memory", {}),
    ("sqlite:///:memory:", "memory", {}),
    ("postgresql://u:p@h/db", "postgresql", {"dsn": "postgresql://u:p@h/db"}),
    ("postgres://h/db", "postgresql", {"dsn": "postgres://h/db"}),
    ("mysql://h/db", "mysql", {"dsn": "mysql://h/db"}),
    ("mariadb://h/db", "mysql", {"dsn": "mariadb://h/db"}),
]


@pytest.mark.parametrize(("place", "provider", "location"), PLACES, ids=[str(place) for place, _, _ in PLACES])
def test_a_url_or_path_names_provider_and_location(place: Any, provider: str, location: dict[str, Any]) -> None:
    assert config.target(place, {"HOME": "/home/ann"}) == (provider, location)


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("oracle://h/db", r"unknown kind of store 'oracle://'; known: .*sqlite://"),
        ("file:///var/x.db", "unknown kind of store"),
        ("sqlite://", "names no file"),
        ("sqlite:///", "names no file"),
        ("sqlite:///x.db?mode=ro", "config.yaml"),
        ("memory://shared", "no name"),
        ("", "a URL or a path"),
        ("  ", "a URL or a path"),
        ("a\0b", "a URL or a path"),
        (b"x.db", "a URL or a path"),
        (5, "a URL or a path"),
    ],
)
def test_what_names_no_store_is_refused(place: Any, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        config.target(place)


def test_an_option_that_the_provider_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"sqlite has no option 'colour'; known: .*deadline"):
        sessiondb.open(tmp_path / "x.db", colour="red")


@pytest.mark.parametrize(
    ("target", "option", "value"),
    [
        ("", "deadline", -1),
        ("", "deadline", "soon"),
        ("", "deadline", float("nan")),
        ("", "readers", 0),
        ("", "readers", "four"),
        ("", "synchronous", 5),
        ("postgresql://nobody@127.0.0.1:1/x", "deadline", "soon"),
        ("postgresql://nobody@127.0.0.1:1/x", "pool_size", 0),
        ("postgresql://nobody@127.0.0.1:1/x", "max_overflow", -1),
        ("mysql://nobody@127.0.0.1:1/x", "pool_size", "ten"),
        ("mysql://nobody@127.0.0.1:1/x", "max_overflow", -1),
        ("mysql://nobody@127.0.0.1:1/x", "deadline", None),
    ],
)
def test_an_option_of_the_wrong_kind_is_named(tmp_path: Path, target: str, option: str, value: object) -> None:
    with pytest.raises(Invalid, match=option):
        sessiondb.open(target or tmp_path / "x.db", **{option: value})
    assert not (tmp_path / "x.db").exists()


class TestPrecedence:
    def test_without_anything_it_is_sqlite_in_the_home(self, load: Load, home: Path) -> None:
        settings = load()
        assert (settings.provider, dict(settings.options)) == ("sqlite", {"path": str(home / "state.db")})
        assert set(settings.origins.values()) == {"default"}

    def test_the_home_is_dot_sessiondb(self) -> None:
        assert config.load(env={"HOME": "/home/ann"}).home == "/home/ann/.sessiondb"

    def test_the_file_beats_the_default(self, load: Load, home: Path) -> None:
        settings = load("sessiondb:\n  sqlite:\n    path: other.db\n")
        assert settings.options["path"] == str(home / "other.db")
        assert settings.origins["sessiondb.sqlite.path"] == str(home / "config.yaml")

    def test_the_environment_beats_the_file(self, load: Load) -> None:
        settings = load("sessiondb:\n  provider: memory\n", SESSIONDB_URL="sqlite:///var/env.db")
        assert settings.options["path"] == "/var/env.db"
        assert settings.origins["sessiondb.provider"] == "SESSIONDB_URL"

    def test_the_argument_beats_the_environment(self, load: Load) -> None:
        settings = load(place="/var/arg.db", SESSIONDB_URL="memory://")
        assert (settings.provider, settings.options["path"]) == ("sqlite", "/var/arg.db")
        assert settings.origins["sessiondb.sqlite.path"] == "argument"

    def test_tuning_stays_when_the_place_is_given(self, load: Load, home: Path) -> None:
        settings = load("sessiondb:\n  sqlite: {path: other.db, synchronous: NORMAL, deadline: 5}\n", "/var/arg.db")
        assert dict(settings.options) == {"path": "/var/arg.db", "synchronous": "normal", "deadline": 5.0}
        assert settings.origins["sessiondb.sqlite.deadline"] == str(home / "config.yaml")

    def test_an_empty_url_counts_as_none(self, load: Load) -> None:
        assert load(SESSIONDB_URL="").origins["sessiondb.provider"] == "default"

    @pytest.mark.usefixtures("servers")
    @pytest.mark.parametrize("name", ["postgresql", "mysql"])
    def test_a_server_has_a_pool_of_ten_and_five_more(self, load: Load, name: str) -> None:
        settings = load(SESSIONDB_URL=f"{name}://h/db")
        assert dict(settings.options) == {"dsn": f"{name}://h/db", "pool_size": 10, "max_overflow": 5}

    @pytest.mark.usefixtures("servers")
    def test_a_server_without_a_dsn_is_refused(self, load: Load) -> None:
        with pytest.raises(Invalid, match=r"postgresql needs a server: .*sessiondb\.postgresql\.dsn"):
            load("sessiondb: {provider: postgresql}\n")


class TestVariables:
    @pytest.mark.usefixtures("servers")
    def test_several_in_one_value(self, load: Load) -> None:
        text = "sessiondb:\n  provider: postgresql\n  postgresql: {dsn: 'postgresql://${WHO}:${PW}@h/${WHO}'}\n"
        settings = load(text, WHO="ann", PW="${x}")
        assert settings.options["dsn"] == "postgresql://ann:${x}@h/ann"

    @pytest.mark.usefixtures("servers")
    def test_unset_ones_are_all_named_with_key_and_file(self, load: Load, home: Path) -> None:
        with pytest.raises(Invalid) as caught:
            load("sessiondb:\n  provider: mysql\n  mysql: {dsn: 'mysql://${WHO}:${PW}@h/${HOST}'}\n", HOST="h")
        assert str(caught.value) == (
            f"{home}/config.yaml: sessiondb.mysql.dsn needs WHO, PW in the environment; not set"
        )

    def test_a_number_may_come_from_a_variable(self, load: Load) -> None:
        assert load("sessiondb: {sqlite: {deadline: '${WAIT}'}}\n", WAIT="2.5").options["deadline"] == 2.5

    def test_values_that_are_not_used_need_no_variables(self, load: Load) -> None:
        assert load("sessiondb: {postgresql: {dsn: 'postgresql://${PW}@h/db'}}\n").provider == "sqlite"


class TestWrongFiles:
    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("sessiondb: [", r"config\.yaml, line 2: "),
            ("a: b\n\tc: d\n", r"config\.yaml, line 2: "),
            ("- a\n- b\n", "the file must hold keys and values, not list"),
            ("sessiondb: sqlite\n", "sessiondb must hold keys and values, not str"),
            ("sessiondb: {sqlite: x.db}\n", r"sessiondb\.sqlite must hold keys and values"),
            ("sessiondb: {provider: 5}\n", r"sessiondb\.provider must be text, not 5"),
            (
                "sessiondb: {provider: oracle}\n",
                r"unknown provider 'oracle' \(from .*config\.yaml\); known: memory, .*sqlite",
            ),
            (
                "sessiondb: {sqlite: {deadline: soon}}\n",
                r"sessiondb\.sqlite\.deadline must be a number of seconds, not 'soon'",
            ),
            ("sessiondb: {sqlite: {deadline: -1}}\n", "deadline must be a number of seconds"),
            ("sessiondb: {sqlite: {deadline: yes}}\n", "deadline must be a number of seconds"),
            ("sessiondb: {sqlite: {synchronous: off}}\n", "synchronous must be full or normal, not False"),
            ("sessiondb: {sqlite: {path: [a]}}\n", "path must be text"),
            ("display: {resume_display: big}\n", r"display\.resume_display must be full or minimal, not 'big'"),
        ],
    )
    def test_the_error_names_file_and_key_or_line(self, load: Load, text: str, sentence: str) -> None:
        with pytest.raises(Invalid, match=sentence):
            load(text)

    @pytest.mark.usefixtures("servers")
    @pytest.mark.parametrize("size", ["ten", "1.5", "true", "-1", "[1]"])
    def test_a_pool_is_counted_in_whole_numbers(self, load: Load, size: str) -> None:
        with pytest.raises(Invalid, match=r"sessiondb\.mysql\.pool_size must be a whole number"):
            load(f"sessiondb: {{provider: mysql, mysql: {{dsn: 'mysql://h/d', pool_size: {size}}}}}\n")

    def test_a_variable_that_fails_a_check_is_not_shown(self, load: Load) -> None:
        with pytest.raises(Invalid, match=r"not '\$\{SECRET\}'") as caught:
            load("sessiondb: {sqlite: {deadline: '${SECRET}'}}\n", SECRET="hunter2")
        assert "hunter2" not in str(caught.value)

    def test_bytes_that_are_no_text(self, load: Load, home: Path) -> None:
        home.mkdir()
        (home / "config.yaml").write_bytes(b"a: \xff\xfe\x00")
        with pytest.raises(Invalid, match=r"config\.yaml is not YAML"):
            load()

    def test_a_directory_in_its_place(self, load: Load, home: Path) -> None:
        (home / "config.yaml").mkdir(parents=True)
        with pytest.raises(Invalid, match=r"config\.yaml cannot be read: Is a directory"):
            load()

    @pytest.mark.parametrize("text", ["", "# nothing yet\n", "sessiondb:\n", "other: {program: 1}\n"])
    def test_an_empty_one_is_like_none(self, load: Load, text: str) -> None:
        settings = load(text)
        assert (settings.provider, settings.warnings) == ("sqlite", ())

    def test_unknown_keys_are_reported_and_ignored(self, load: Load, home: Path) -> None:
        settings = load("sessiondb:\n  provder: mysql\n  sqlite: {sync: full}\n  postgresql: {dns: x}\n")
        assert settings.warnings == tuple(
            f"{home}/config.yaml: unknown key sessiondb.{key} is ignored"
            for key in ("provder", "sqlite.sync", "postgresql.dns")
        )


@pytest.mark.parametrize("name", sorted(set(KEYS) & set(registry.TABLES["providers"])))
def test_every_key_is_one_that_its_provider_takes(name: str) -> None:
    taken = signature(registry.load("providers", name).initialize).parameters
    assert KEYS[name].keys() <= taken.keys()


def test_the_display_of_a_resumed_conversation(load: Load, home: Path) -> None:
    assert load().resume_display == "full"
    settings = load("display: {resume_display: minimal}\n")
    assert settings.resume_display == "minimal"
    assert settings.origins["display.resume_display"] == str(home / "config.yaml")


SECRETS = [
    ("postgresql://ann:hunter2@h:5432/db", "postgresql://ann:***@h:5432/db"),
    ("postgresql://ann:hunter2@h1,h2/db?target_session_attrs=read-write", None),
    ("mysql://ann:hun@ter2@h/db", None),
    ("mysql://:hunter2@h/db", "mysql://:***@h/db"),
    ("mysql://ann:hunter2 x@h/db", None),
    (
        "postgresql://h/db?user=ann&password=hunter2&sslmode=require",
        "postgresql://h/db?user=ann&password=***&sslmode=require",
    ),
    ("postgresql://h/db?sslpassword=hunter2", None),
    ("host=h user=ann password=hunter2 dbname=d", "host=h user=ann password=*** dbname=d"),
    (r"host=h password = 'it\'s hunter2' dbname=d", "host=h password = *** dbname=d"),
    ("host=h password='hunter2", None),
    ("PASSWORD=hunter2", None),
    ("passwd=hunter2;pwd=hunter2", "passwd=***;pwd=***"),
]


@pytest.mark.parametrize(
    ("password", "encoded"),
    [
        ("plain", "plain"), ("p@ss", "p%40ss"), ("a/b?c#d", "a%2Fb%3Fc%23d"), ("1@2/3", "1%402%2F3"),
        ("with blank", "with%20blank"), ("[", "%5B"), ("50%", "50%25"), ("p%40ss", "p%40ss"), ("é", "%C3%A9"),
    ],
)  # fmt: skip
def test_a_password_may_be_written_as_it_is(password: str, encoded: str) -> None:
    for place in ("h/db", "h:5,i:6/db?application_name=a@b", "/db"):
        assert config.spelled(f"postgresql://ann:{password}@{place}") == f"postgresql://ann:{encoded}@{place}"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://h/db", "postgresql://h:5432/db?user=a@b", "postgresql:///db?host=/tmp", "mysql://ann@h/db",
        "host=h password='a@b://c:d@e'", "postgresql://ann:@h/db",
    ],
)  # fmt: skip
def test_what_has_no_password_to_spell_stays(url: str) -> None:
    assert config.spelled(url) == url


@pytest.mark.parametrize(("text", "shown"), SECRETS)
def test_passwords_are_hidden(text: str, shown: str | None) -> None:
    hidden = config.redact(text)
    assert "hunter2" not in hidden
    assert "ter2" not in hidden
    assert shown is None or hidden == shown


@pytest.mark.parametrize("text", ["sqlite:///var/x.db", "postgresql://ann@h:5432/db", "host=h dbname=d", "/a:b@c.db"])
def test_what_holds_no_password_stays(text: str) -> None:
    assert config.redact(text) == text


@pytest.mark.usefixtures("servers")
def test_settings_never_show_a_password(load: Load) -> None:
    settings = load(SESSIONDB_URL="postgresql://ann:hunter2@h/db")
    assert "hunter2" in settings.options["dsn"]
    assert "hunter2" not in repr(settings) + str(settings) + f"{settings!r}"


def test_yaml_is_imported_only_for_a_file(tmp_path: Path) -> None:
    code = "import sys; from sessiondb import config; config.load(); print('yaml' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"SESSIONDB_HOME": str(tmp_path)},
    )
    assert done.stdout == "False\n"
