"""Where a store lies: filesystems on which WAL is unsafe, and work trees in which git would delete it."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path

import pytest

from sessiondb import SessionDB
from sessiondb.backends.sqlite import mounts
from sessiondb.backends.sqlite.worktree import StoreInWorkTree

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /mnt/share rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2
31 22 0:41 / /mnt/my\\040files rw - cifs //server/files rw
32 30 0:42 / /mnt/share/local rw - ext4 /dev/sdb1 rw
33 22 0:43 / /host rw,nosuid master:3 propagate_from:1 - virtiofs host rw
34 22 0:44 / /plan rw - 9p source rw
35 22 0:45 / /ssh rw - fuse.sshfs me@server: rw
36 22 0:46 / /twice rw - ext4 /dev/sdc1 rw
37 36 0:47 / /twice rw - nfs server:/twice rw
38 22 0:48 / /mem rw - tmpfs tmpfs rw
"""


class TestFilesystems:
    @pytest.mark.parametrize(
        ("path", "kind", "safe"),
        [
            ("/home/me/state.db", "ext4", True),
            ("/mnt/share/state.db", "nfs4", False),
            ("/mnt/shared/state.db", "ext4", True),
            ("/mnt/share/local/state.db", "ext4", True),
            ("/mnt/my files/state.db", "cifs", False),
            ("/host/deep/down/state.db", "virtiofs", False),
            ("/plan/state.db", "9p", False),
            ("/ssh/state.db", "fuse.sshfs", False),
            ("/twice/state.db", "nfs", False),
            ("/mem/state.db", "tmpfs", True),
        ],
    )
    def test_the_innermost_mount_decides(self, path: str, kind: str, safe: bool) -> None:
        assert mounts.filesystem(path, MOUNTS) == kind
        assert mounts.wal_is_safe(path, MOUNTS) is safe

    @pytest.mark.parametrize("text", ["", "nonsense\n", "1 2 3 - \n"])
    def test_where_the_platform_does_not_tell_wal_is_used(self, text: str) -> None:
        assert mounts.filesystem("/home/me/state.db", text) is None
        assert mounts.wal_is_safe("/home/me/state.db", text)

    def test_this_machine_tells(self, tmp_path: Path) -> None:
        assert mounts.filesystem(str(tmp_path))

    def test_on_an_unsafe_one_a_store_uses_the_rollback_journal(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(mounts, "filesystem", lambda path, mountinfo=None: "nfs4")
        with SessionDB(path) as db:
            db.create_session("a", "cli")
            db.append_message("a", "user", "hello")
            health = db.health()
            assert (health["journal_mode"], health["guard"]) == ("delete", False)
            with SessionDB(path, read_only=True) as reader:
                assert reader.get_messages("a")[0]["content"] == "hello"
            db.append_message("a", "user", "still writable")
        assert not path.with_name("state.db-wal").exists()


def git(directory: Path, *command: str) -> None:
    subprocess.run(["git", "-C", str(directory), *command], check=True, capture_output=True)


class TestWorkTrees:
    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        git(tmp_path, "init", "--quiet", "tree")
        return tmp_path / "tree"

    def created(self, path: Path) -> list[str]:
        """What making a store there warns about."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            SessionDB(path).close()
        return [str(warning.message) for warning in caught if issubclass(warning.category, StoreInWorkTree)]

    def test_a_new_store_that_git_does_not_know_is_warned_about(self, tree: Path) -> None:
        (warned,) = self.created(tree / "data" / "state.db")
        assert str(tree / "data" / "state.db") in warned
        assert ".gitignore" in warned

    def test_an_ignored_one_is_not(self, tree: Path) -> None:
        (tree / ".gitignore").write_text("*.db*\n")
        assert self.created(tree / "data" / "state.db") == []

    def test_a_tracked_one_is_not(self, tree: Path) -> None:
        (tree / "state.db").touch()
        git(tree, "add", "state.db")
        (tree / "state.db").unlink()
        assert self.created(tree / "state.db") == []

    def test_only_its_creation_warns(self, tree: Path) -> None:
        assert len(self.created(tree / "state.db")) == 1
        assert self.created(tree / "state.db") == []

    def test_the_default_home_never_does(self, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tree))
        assert self.created(tree / ".sessiondb" / "state.db") == []

    def test_outside_a_work_tree_there_is_nothing_to_say(self, tmp_path: Path) -> None:
        assert self.created(tmp_path / "state.db") == []
