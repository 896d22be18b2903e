"""A store inside a git work tree, neither tracked nor ignored, is wiped by the next `git clean` or update."""

from __future__ import annotations

import os


class StoreInWorkTree(UserWarning):
    """The new store lies where git may remove it."""


def warn_if_endangered(path: str) -> None:
    """Warn about a new store that git neither tracks nor ignores."""
    if _in_work_tree(os.path.dirname(path)) and _unprotected(path):
        import warnings

        warnings.warn(
            f"{path} lies in a git work tree and is neither tracked nor ignored: `git clean` or an update may delete "
            "it. Keep the store elsewhere, or add it to .gitignore",
            StoreInWorkTree,
            stacklevel=2,
        )


def _in_work_tree(directory: str) -> bool:
    while True:
        if os.path.exists(os.path.join(directory, ".git")):
            return True
        parent = os.path.dirname(directory)
        if parent == directory:
            return False
        directory = parent


def _unprotected(path: str) -> bool:
    import shutil

    git = shutil.which("git")
    if git is None:
        return False
    ignored = _git(git, path, "check-ignore", "--quiet")
    # 1: git looked, and the file is not ignored; anything else means git could not say.
    return ignored == 1 and _git(git, path, "ls-files", "--error-unmatch") == 1


def _git(git: str, path: str, *command: str) -> int:
    import subprocess

    where = ["-C", os.path.dirname(path)]
    done = subprocess.run([git, *where, *command, "--", path], capture_output=True, check=False)
    return done.returncode
