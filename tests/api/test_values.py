"""Value classes behave like the standard library's dataclasses, and their functions take them."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from sessiondb.values import NamedTuple, dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)


@dataclass()
class Open:
    value: int = 1


@dataclass(frozen=True)
class Named(Point):
    title: str = "t"


def test_fields_come_by_place_and_by_name() -> None:
    assert (Point(1).y, Point(1, 5).y, Point(x=1, y=6).y) == (2, 5, 6)
    assert Named(1, 2, [], "z").title == "z"


def test_lists_are_made_anew() -> None:
    assert Point(1).names is not Point(1).names


@pytest.mark.parametrize("arguments", [((), {}), ((1, 2, [], 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1})])
def test_wrong_arguments_are_refused(arguments) -> None:
    with pytest.raises(TypeError):
        Point(*arguments[0], **arguments[1])


def test_equal_when_all_fields_are() -> None:
    assert Point(1, 2) == Point(1)
    assert Point(1) != Point(2)
    assert Point(1) != Named(1)
    assert hash(dataclass(frozen=True)(type("P", (), {"__annotations__": {"x": "int"}}))(x=1))


def test_frozen_means_frozen() -> None:
    with pytest.raises(AttributeError, match="replace"):
        Point(1).x = 3  # type: ignore[misc]
    changing = Open()
    changing.value = 3
    assert changing == Open(3)
    with pytest.raises(TypeError):
        hash(changing)


def test_they_can_be_matched_shown_and_pickled() -> None:
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
    assert repr(Open(4)) == "Open(value=4)"
    assert pickle.loads(pickle.dumps(Point(1, 9))) == Point(1, 9)


def test_the_functions_of_dataclasses_take_them() -> None:
    assert replace(Point(1), y=7) == dataclasses.replace(Point(1), y=7) == Point(1, 7)
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 2, "names": []}
    assert [each.name for each in dataclasses.fields(Named)] == ["x", "y", "names", "title"]
    assert dataclasses.is_dataclass(Open)


class Place(NamedTuple):
    """Where."""

    name: str
    number: int = 1

    @property
    def both(self) -> str:
        return f"{self.name}{self.number}"


def test_named_tuples_are_tuples_with_names() -> None:
    assert Place("a") == ("a", 1) == Place(number=1, name="a")
    assert Place("a", 2).both == "a2"
    name, number = Place("b")
    assert (name, number) == ("b", 1)
    assert repr(Place("a")) == "Place(name='a', number=1)"


def test_named_tuples_can_be_pickled_and_replaced() -> None:
    assert pickle.loads(pickle.dumps(Place("a"))) == Place("a")
    assert Place("a")._replace(number=3) == Place("a", 3)
    assert (Place.__doc__, Place.__module__, Place.__qualname__) == ("Where.", __name__, "Place")


def test_named_tuples_need_their_fields() -> None:
    with pytest.raises(TypeError):
        Place()  # type: ignore[call-arg]
