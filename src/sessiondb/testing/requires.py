"""Laws that hold only with, or only without, a feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..provider import Features

Law = TypeVar("Law", bound=Callable[..., object])
_CONDITIONS = "sessiondb_conditions"


def requires(feature: str | None = None, *, not_: str | None = None) -> Callable[[Law], Law]:
    """The law holds for providers that declare `feature`, or for those that do not declare `not_`."""
    wanted = {name: wish for name, wish in ((feature, True), (not_, False)) if name is not None}
    unknown = wanted.keys() - set(Features.__match_args__)
    if unknown:
        raise ValueError(f"no feature {sorted(unknown)[0]!r}; known: {', '.join(Features.__match_args__)}")

    def mark(law: Law) -> Law:
        setattr(law, _CONDITIONS, {**getattr(law, _CONDITIONS, {}), **wanted})
        return law

    return mark


def applies(law: object, features: Features) -> bool:
    conditions: dict[str, bool] = getattr(law, _CONDITIONS, {})
    return all(bool(getattr(features, name)) is wish for name, wish in conditions.items())


def leave_out_what_does_not_apply(laws: type[Any], features: Features) -> None:
    """Hide laws from pytest's collection; a skip would read as something left to do."""
    for name in dir(laws):
        if name.startswith("test_") and not applies(getattr(laws, name), features):
            setattr(laws, name, None)
