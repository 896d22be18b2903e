"""The peer in a virtualenv of its own, made on first use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .arena import ROOT, Contestant

NAME, VERSION = "hermes-agent", "0.19.0"
HOME = ROOT / "benchmarks" / ".peers" / f"{NAME}-{VERSION}"
INSTALL_SECONDS = 600


class PeerUnavailable(Exception):
    """The peer cannot be installed or does not start."""


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS, cwd=HOME)
    except subprocess.CalledProcessError as exc:
        reason = (exc.stderr or exc.stdout or "").strip().splitlines()[-1:] or [f"exit code {exc.returncode}"]
        raise PeerUnavailable(f"{NAME} {VERSION} is not available: {reason[0]}") from exc
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise PeerUnavailable(f"{NAME} {VERSION} is not available: {exc}") from exc


def installed() -> str:
    """The Python of the peer's virtualenv. Raises PeerUnavailable."""
    python = HOME / "bin" / "python"
    stamp = HOME / ".installed"
    if not stamp.exists():
        HOME.mkdir(parents=True, exist_ok=True)
        _run(sys.executable, "-m", "venv", "--clear", str(HOME))
        # Its store needs none of the libraries that the agent needs.
        _run(str(python), "-m", "pip", "install", "--quiet", "--no-deps", f"{NAME}=={VERSION}")
        _run(str(python), "-c", "import hermes_state")
        stamp.touch()
    return str(python)


def contestant(home: Path, durability: str = "full") -> Contestant:
    label = f"{NAME} {VERSION}" + ("" if durability == "full" else ", its default")
    return Contestant(
        label,
        installed(),
        "benchmarks.contenders.peer",
        (durability,),
        is_peer=True,
        environment={"HERMES_HOME": str(home), "PYTHONPATH": str(ROOT)},
    )
