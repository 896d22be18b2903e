"""What holds for every command: help, exit codes, one sentence for an error, quiet ends."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import sessiondb
from sessiondb.registry import TABLES

COMMANDS = sorted(TABLES["commands"])
# Groups show the help of their commands.
SINGLE = [name for name in COMMANDS if name != "sessions"]


def test_without_a_command_it_explains_itself(run) -> None:
    done = run()
    assert done.code == 0
    assert done.out.startswith("Usage: sessiondb")
    assert all(f"  {name}  " in done.out for name in COMMANDS)


def test_the_version_is_that_of_the_package(run) -> None:
    assert run("--version").out == f"sessiondb {sessiondb.__version__}\n"


def test_the_installed_script_is_the_same_program(environment: dict[str, str]) -> None:
    script = Path(sys.executable).parent / "sessiondb"
    done = subprocess.run([script, "--version"], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == f"sessiondb {sessiondb.__version__}\n"


@pytest.mark.parametrize("name", SINGLE)
def test_every_command_explains_itself_with_an_example(run, name: str) -> None:
    done = run(name, "--help")
    assert done.code == 0
    assert re.search(rf"Example:\n      sessiondb (.* )?({name}|-c)\b", done.out)
    assert "--db URL_OR_PATH" in done.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["lst"], "no command 'lst'; did you mean 'list'; see `sessiondb --help`"),
        (["xyzzy"], "no command 'xyzzy'; known: archive, "),
        (["list", "--since", "soon"], "'soon' is no time; write 2025-03-05, "),
        (["prune", "--older-than", "soon"], "'soon' is no duration; write 30 for days"),
        (["--bogus"], "No such option '--bogus'; see `sessiondb --help`"),
        (["list", "--limit", "many"], "'--limit'"),
        (["list", "--limit", "0"], "'--limit'"),
        (["show"], "which session? Name one"),
        (["list", "--since"], "Option '--since' requires an argument; see `sessiondb list --help`"),
        (["--db"], "Option '--db' requires an argument; see `sessiondb --help`"),
        (["tree"], "Missing argument 'SESSION'; see `sessiondb tree --help`"),
        (["list", "--db", "oracle://h"], "unknown kind of store 'oracle://'"),
        (["search", "NOT docker"], "only exclusions"),
        (["search", "???"], "nothing to search for"),
    ],
)
def test_wrong_use_is_one_sentence_and_code_2(run, arguments: list[str], sentence: str) -> None:
    done = run(*arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("sessiondb: ")
    assert sentence in done.err


class TestTheStore:
    def test_before_or_after_the_command_the_later_word_counts(self, run, session, home: Path, tmp_path: Path) -> None:
        session("here", "hello")
        assert "here" in run("--db", home / "state.db", "list", SESSIONDB_URL="memory://").out
        assert "here" in run("--db", "memory://", "list", "--db", home / "state.db").out

    def test_sessiondb_url_names_it(self, run, session, home: Path, tmp_path: Path) -> None:
        session("here", "hello")
        assert "here" in run("list", SESSIONDB_HOME=str(tmp_path), SESSIONDB_URL=f"sqlite://{home}/state.db").out

    def test_the_default_one_reads_as_empty_before_the_first_write_and_is_not_created(self, run, home: Path) -> None:
        done = run("list")
        assert (done.code, done.out, home.exists()) == (0, "No sessions yet.\n", False)

    @pytest.mark.parametrize("command", [["list"], ["stats"], ["rename", "a", "b"], ["delete", "a", "--yes"]])
    def test_a_named_one_that_is_absent_is_an_error(self, run, tmp_path: Path, command: list[str]) -> None:
        done = run(*command, "--db", tmp_path / "typo.db")
        assert done.code == 3
        assert f"no store at {tmp_path}/typo.db" in done.err
        assert not (tmp_path / "typo.db").exists()

    def test_a_text_file_is_refused_and_stays(self, run, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("not a database\n" * 100)
        done = run("list", "--db", tmp_path / "notes.txt")
        assert (done.code, done.err.count("\n")) == (6, 1)
        assert (tmp_path / "notes.txt").read_text() == "not a database\n" * 100

    def test_a_reading_command_changes_no_file(self, run, session, db, home: Path) -> None:
        session("a", "hello world")
        db.close()
        before = (home / "state.db").read_bytes()
        for command in (["list"], ["show", "a"], ["search", "hello"], ["stats"], ["export", "-"], ["verify"]):
            assert run(*command).code == 0
        assert (home / "state.db").read_bytes() == before

    def test_unknown_keys_in_config_yaml_are_told(self, run, session, home: Path) -> None:
        session("a", "hello")
        (home / "config.yaml").write_text("sessiondb: {provder: sqlite}\n")
        done = run("list")
        assert (done.code, "ID" in done.out) == (0, True)
        assert done.err == f"sessiondb: {home}/config.yaml: unknown key sessiondb.provder is ignored\n"

    def test_a_password_is_never_shown(self, run) -> None:
        done = run("list", SESSIONDB_URL="postgresql://ann:hunter2@nowhere.invalid:1/db")
        assert done.code != 0
        assert "hunter2" not in done.out + done.err


class TestDebug:
    @pytest.mark.parametrize("arguments", [["show", "nothing"], ["list", "--db", "oracle://"]])
    def test_without_it_there_is_no_traceback(self, run, arguments: list[str]) -> None:
        assert "Traceback" not in run(*arguments).err

    @pytest.mark.parametrize("arguments", [["--debug", "show", "nothing"], ["show", "nothing", "--debug"]])
    def test_with_it_there_is_one_and_the_code_stays(self, run, arguments: list[str]) -> None:
        done = run(*arguments)
        assert done.code == 3
        assert "Traceback" in done.err
        assert done.err.splitlines()[-1].startswith("sessiondb: no session")

    def test_a_bug_is_one_sentence_too(self, environment: dict[str, str]) -> None:
        code = "from sessiondb.cli import main, stats; stats.command.callback = lambda **k: {}['x']; main.main()"
        quiet = [sys.executable, "-c", code, "stats"]
        done = subprocess.run(quiet, capture_output=True, text=True, env=environment, check=False)
        assert (done.returncode, done.stderr) == (1, "sessiondb: internal error: KeyError: 'x'; --debug shows where\n")
        done = subprocess.run([*quiet, "--debug"], capture_output=True, text=True, env=environment, check=False)
        assert "Traceback" in done.stderr


@pytest.fixture
def broken_plugin(tmp_path: Path) -> str:
    metadata = tmp_path / "acme-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[sessiondb.commands]\nfancy = acme_missing:command\n")
    return str(tmp_path)


def test_a_broken_plug_in_spoils_only_itself(run, broken_plugin: str) -> None:
    assert "fancy" in run("--help", PYTHONPATH=broken_plugin).out
    done = run("fancy", PYTHONPATH=broken_plugin)
    assert done.code == 1
    assert "'fancy' of acme is broken" in done.err


def test_a_closed_pipe_is_quiet(session, db, environment: dict[str, str]) -> None:
    session("a", *["word " * 200] * 200)
    command = [sys.executable, "-m", "sessiondb", "show", "a", "--full"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 1


def test_an_interrupt_is_quiet(session, on_terminal: Callable[..., tuple[int, str]]) -> None:
    session("a", "hello")
    code, shown = on_terminal(["delete", "a"], lambda process, terminal: process.send_signal(signal.SIGINT))
    assert code == 130
    assert "Traceback" not in shown


def test_a_locale_without_the_letters_still_answers(run, session) -> None:
    session("a", "天气 ☀ 😀")
    done = run("show", "a", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert done.code == 0
    assert r"  \u5929\u6c14 \u2600" in done.out
    assert json.loads(run("export", "-", PYTHONIOENCODING="ascii").out)["messages"][0]["content"] == "天气 ☀ 😀"


def test_a_locale_without_lines_gets_plain_ones(run, session) -> None:
    session("a", "hello", title="天气")
    shown = run("list", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C").lines
    assert set(shown[1]) == {"-"}
    assert shown[2].startswith(r"\u5929\u6c14 ")


@pytest.mark.parametrize(("closed", "code", "out"), [(">&-", 0, ""), ("2>&-", 0, None), (">&- 2>&-", 0, "")])
def test_closed_streams_are_no_trouble(session, environment, closed: str, code: int, out: str | None) -> None:
    session("a", "hello")
    line = f"{sys.executable} -m sessiondb list {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (code, "")
    assert out is None or done.stdout == out
    line = f"{sys.executable} -m sessiondb show nothing 2>&-"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (3, "")


def test_every_command_is_also_one_of_sessions(run, session, home: Path) -> None:
    session("a", "hello", title="work")
    assert run("sessions", "list").out == run("list").out
    assert run("sessions", "--db", home / "state.db", "show", "work").out == run("show", "work").out
    listed = run("sessions", "--help").out
    assert all(f"  {name}  " in listed for name in SINGLE)
    assert run("sessions", "sessions").code == 2
    alone = run("sessions")
    assert (alone.code, alone.out, alone.err) == (0, listed, "")
