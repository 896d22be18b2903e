"""Where Visual Studio Code and its relatives keep the files of extensions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")


def config_places(env: Mapping[str, str], home: Path) -> list[Path]:
    """Where programs keep their settings: on Linux, macOS and Windows."""
    config = Path(env["XDG_CONFIG_HOME"]).expanduser() if env.get("XDG_CONFIG_HOME") else home / ".config"
    return [config, home / "Library" / "Application Support", home / "AppData" / "Roaming"]


def extension_storage(env: Mapping[str, str], home: Path, *extensions: str) -> list[Path]:
    """The directories of these extensions, in every editor and on every system."""
    users = [place / editor / "User" for place in config_places(env, home) for editor in _EDITORS]
    users.append(home / ".vscode-server" / "data" / "User")
    return [user / "globalStorage" / name for user in users for name in extensions]
