"""A lazy dataclass behaves as one of the standard library, and compiles nothing until it is used."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any, ClassVar

import pytest

from memtui.core import lazy_dataclass


def _declare(
    dataclass: Callable[..., Any], field: Callable[..., Any] = dataclasses.field
) -> tuple[type[Any], type[Any], type[Any]]:
    @dataclass(frozen=True, slots=True)
    class Point:
        KIND: ClassVar[str] = "point"
        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, compare=False, repr=False)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named(Point):
        name: str = ""

        def __post_init__(self) -> None:
            if self.name == "bad":
                raise ValueError(self.name)

    @dataclass
    class Counter:
        count: int = 0
        late: str = field(default="", init=False)

    return Point, Named, Counter


LAZY = _declare(lazy_dataclass._declare)
LATE = _declare(lazy_dataclass._declare, lazy_dataclass._LateField)
STANDARD = _declare(dataclasses.dataclass)


@pytest.mark.parametrize(("Point", "Named", "Counter"), [LAZY, LATE, STANDARD], ids=["lazy", "late", "standard"])
def test_it_behaves_as_the_standard_one(Point: Any, Named: Any, Counter: Any) -> None:
    point = Point(1, tags=["a"])
    assert repr(point).endswith("Point(x=1, y=2)")
    assert (point == Point(1), point == Point(2), point == 1) == (True, False, False)
    assert hash(point) == hash(Point(1))
    assert Point.__slots__ == ("x", "y", "tags")
    assert Point.__match_args__ == ("x", "y", "tags")
    assert Point.KIND == "point"
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 3
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()
    assert replace(point, y=5) == Point(1, 5)
    assert copy.copy(point) == point
    assert copy.copy(point).tags is point.tags
    assert Point(1).tags is not Point(1).tags

    named = Named(x=1, name="a")
    assert (named == Named(x=1, name="b"), Named.__match_args__) == (False, ("x", "y", "tags"))
    assert [each.name for each in fields(Named)] == ["x", "y", "tags", "name"]
    assert [each.name for each in fields(named)] == ["x", "y", "tags", "name"]
    with pytest.raises(ValueError, match="bad"):
        Named(x=1, name="bad")

    counter = Counter()
    counter.count += 1
    assert (counter, counter.late, Counter.count, Counter.__hash__) == (Counter(1), "", 0, None)
    assert is_dataclass(Counter)
    assert dataclasses.asdict(counter) == {"count": 1, "late": ""}

    class Below(Point):  # without slots of its own
        pass

    below = Below(1)
    assert repr(below).endswith("Below(x=1, y=2)")
    with pytest.raises(FrozenInstanceError):
        below.x = 2


@lazy_dataclass._declare(frozen=True, slots=True, order=True)
class Version:
    number: int
    name: str = ""


def test_one_that_is_frozen_can_be_ordered_pickled_and_matched() -> None:
    old, new = Version(1), Version(2, "b")  # type: ignore[call-arg]
    assert sorted([new, old]) == [old, new]
    assert pickle.loads(pickle.dumps(new)) == new
    match new:
        case Version(number, name):
            assert (number, name) == (2, "b")


def test_nothing_is_compiled_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    process = dataclasses._process_class  # type: ignore[attr-defined]

    def count(cls: type, *arguments: Any, **named: Any) -> type:
        made.append(cls.__name__)
        return process(cls, *arguments, **named)  # type: ignore[no-any-return]

    monkeypatch.setattr(dataclasses, "_process_class", count)
    Point, Named, Counter = _declare(lazy_dataclass._declare, lazy_dataclass._LateField)
    Counter(1)
    point = Point(1)
    assert made == []  # not to make an instance either
    assert (point == Point(1), made) == (True, ["Point"])
    Named(x=1)
    assert made == ["Point", "Named"]


def test_the_options_of_a_field_are_kept_where_the_class_is_made_at_once() -> None:
    @lazy_dataclass._declare
    class Own:
        tags: Any = lazy_dataclass._LateField(default_factory=list, repr=False)
        count: Any = lazy_dataclass._LateField(default=1, kw_only=True)

        def __repr__(self) -> str:
            return "Own"

    own: Any = Own()
    assert (own.tags, own.count, repr(own)) == ([], 1, "Own")
    assert own.tags is not Own().tags
    with pytest.raises(TypeError):
        Own([], 2)  # type: ignore[call-arg]
