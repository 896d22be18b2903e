"""Which laws a provider is asked to obey."""

from __future__ import annotations

import pytest

from sessiondb.backends.memory import MemoryProvider
from sessiondb.provider import Features
from sessiondb.testing import Laws, requires
from sessiondb.testing.laws import GROUPS
from sessiondb.testing.requires import applies, leave_out_what_does_not_apply


@requires("persistent")
def with_it() -> None: ...


@requires(not_="persistent")
def without_it() -> None: ...


@pytest.mark.parametrize("declared", [True, False])
def test_a_law_applies_on_one_side_of_its_feature(declared: bool) -> None:
    features = Features(persistent=declared)
    assert (applies(with_it, features), applies(without_it, features)) == (declared, not declared)


def test_a_law_without_condition_applies_always() -> None:
    assert applies(test_a_law_without_condition_applies_always, Features())


def test_an_unknown_feature_is_a_mistake_in_the_law() -> None:
    with pytest.raises(ValueError, match="teleport"):
        requires("teleport")


def test_what_does_not_apply_is_no_test() -> None:
    class Group:
        test_with = staticmethod(with_it)
        test_without = staticmethod(without_it)

    leave_out_what_does_not_apply(Group, Features(persistent=False))
    assert (Group.test_with, Group.test_without) == (None, without_it)


def test_a_provider_gets_every_group() -> None:
    class Asked(Laws):
        provider = MemoryProvider

    assert {f"Test{group.__name__}" for group in GROUPS} <= set(dir(Asked))
    assert not hasattr(Asked, "TestTamperLaws")


def test_no_two_groups_have_the_same_name() -> None:
    assert len({group.__name__ for group in GROUPS}) == len(GROUPS)


def test_there_are_laws_enough() -> None:
    laws = [name for group in GROUPS for name in vars(group) if name.startswith("test_")]
    assert len(laws) >= 300
