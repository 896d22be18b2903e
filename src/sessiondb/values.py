"""Dataclasses and named tuples that cost nothing at import: the same declarations, without generated code.

The standard library compiles methods for every class and imports `inspect` for it; that took a third of the time of a
short command. These share their methods. `dataclasses.replace`, `fields` and `asdict` work on them; for what is made
by the thousands a class of its own is faster. `typing.NamedTuple` looks at the annotations, and the first it looks at
makes Python load its whole syntax tree.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

T = TypeVar("T")

_MISSING: Any = object()


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _Tuples(type):
        """Makes a named tuple of a class that declares its fields; its methods come along."""

        def __new__(cls, name: str, bases: tuple[type, ...], declared: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, declared)
            names = list(declared.get("__annotations__", ()))
            defaults = [declared[name] for name in names if name in declared]
            made = namedtuple(name, names, defaults=defaults, module=declared["__module__"])
            for key, value in declared.items():
                if key not in names and key not in ("__module__", "__qualname__"):
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Tuples):
        pass


class _Made:
    """A default that is made anew for every instance."""

    def __init__(self, default_factory: Callable[[], Any]) -> None:
        self.make = default_factory


def field(*, default_factory: Callable[[], Any]) -> Any:
    return _Made(default_factory)


@dataclass_transform(field_specifiers=(field,))
def dataclass(*, frozen: bool = False, slots: bool = False, repr: bool = True) -> Callable[[type[T]], type[T]]:
    """Like the standard library's; `slots` is only a wish."""

    def made(cls: type[T]) -> type[T]:
        names = _names(cls)
        defaults = {name: getattr(cls, name) for name in names if name in cls.__dict__ or hasattr(cls, name)}
        methods: dict[str, Any] = {
            "__match_args__": names,
            "__dataclass_fields__": _Fields(names, defaults),
            "__init__": _initializer(names, defaults),
            "__eq__": _equal,
            "__hash__": _hashed if frozen else None,
        }
        if repr:
            methods["__repr__"] = _represented
        if frozen:
            methods |= {"__setattr__": _refused, "__delattr__": _refused}
        for name, method in methods.items():
            setattr(cls, name, method)
        return cls

    return made


def _names(cls: type) -> tuple[str, ...]:
    inherited = [name for base in reversed(cls.__mro__[1:]) for name in getattr(base, "__match_args__", ())]
    own = [name for name, kind in vars(cls).get("__annotations__", {}).items() if "ClassVar" not in str(kind)]
    return tuple(dict.fromkeys([*inherited, *own]))


def _initializer(names: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., None]:
    plain = {name: value for name, value in defaults.items() if value.__class__ is not _Made}
    factories = {name: value.make for name, value in defaults.items() if value.__class__ is _Made}
    known = frozenset(names)

    def __init__(self: Any, *args: Any, **given: Any) -> None:
        twice = args and not given.keys().isdisjoint(names[: len(args)])
        if len(args) > len(names) or twice or not given.keys() <= known:
            raise TypeError(f"{type(self).__name__} takes {', '.join(names)}, once each")
        values = {**plain, **dict(zip(names, args, strict=False)), **given}
        for name, make in factories.items():
            if name not in values:
                values[name] = make()
        if len(values) < len(names):
            missing = next(name for name in names if name not in values)
            raise TypeError(f"{type(self).__name__} needs {missing}")
        self.__dict__.update(values)

    return __init__


def _tuple(value: Any) -> tuple[Any, ...]:
    held = value.__dict__
    return tuple([held[name] for name in value.__match_args__])


def _equal(self: Any, other: object) -> Any:
    return _tuple(self) == _tuple(other) if other.__class__ is self.__class__ else NotImplemented


def _hashed(self: Any) -> int:
    return hash(_tuple(self))


def _represented(self: Any) -> str:
    shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({shown})"


def _refused(self: Any, name: str, *value: Any) -> None:
    raise AttributeError(f"{type(self).__name__}.{name} cannot be changed; use replace()")


def replace(value: T, /, **changes: Any) -> T:
    """The same with some fields changed."""
    return type(value)(**{**value.__dict__, **changes})


class _Fields:
    """What the functions of `dataclasses` ask for; made when they ask."""

    def __init__(self, names: tuple[str, ...], defaults: dict[str, Any]) -> None:
        self._names, self._defaults = names, defaults

    def __get__(self, instance: object, owner: type) -> Any:
        import dataclasses

        declared: list[tuple[str, Any, Any]] = []
        for name in self._names:
            default = self._defaults.get(name, _MISSING)
            if default is _MISSING:
                declared.append((name, Any, dataclasses.field(kw_only=True)))
            elif isinstance(default, _Made):
                declared.append((name, Any, dataclasses.field(default_factory=default.make, kw_only=True)))
            else:
                declared.append((name, Any, dataclasses.field(default=default, kw_only=True)))
        made: Any = dataclasses.make_dataclass(owner.__name__, declared)
        return made.__dataclass_fields__
