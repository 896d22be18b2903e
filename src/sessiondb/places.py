"""Where moves begin and end: a store named by URL or path, opened as a source that stays as it is, or as a target."""

from __future__ import annotations

import os

from . import config, registry
from .errors import Invalid, NotFound, SchemaOutdated
from .provider import SessionDBProvider

Place = str | os.PathLike[str] | None


def source(place: Place) -> SessionDBProvider:
    """A store to read from; nothing of it is changed, a file of the original of any version included."""
    settings = config.load(place)
    kind = "sources" if registry.has("sources", settings.provider) else "providers"
    provider: SessionDBProvider = registry.load(kind, settings.provider)()
    provider.initialize(**settings.options, **({"read_only": True} if provider.features.read_only else {}))
    return provider


def target(place: Place) -> SessionDBProvider:
    """A store to write to; made where there is none."""
    settings = config.load(place)
    provider: SessionDBProvider = registry.load("providers", settings.provider)()
    provider.initialize(**settings.options)
    return provider


def rehearsed(place: Place) -> SessionDBProvider:
    """A target that will not be written to; an empty store stands for one that is not there yet."""
    settings = config.load(place)
    try:
        if settings.provider == "sqlite" and not os.path.exists(settings.options["path"]):
            raise NotFound("not there yet")
        return source(place)
    except (NotFound, SchemaOutdated):
        return target("memory://")


def name(place: Place) -> str:
    """What the place is called in messages and notes; no password, and the same whoever calls it."""
    settings = config.load(place)
    path = settings.options.get("path")
    if path is not None:
        return os.path.realpath(str(path))
    return config.redact(str(settings.options.get("dsn") or f"{settings.provider}://"))


def check_different(one: Place, other: Place) -> None:
    if name(one) == name(other) and not name(one).startswith("memory"):
        raise Invalid(f"source and target are the same store, {name(one)}; name another one")
