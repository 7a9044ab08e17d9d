"""What holds the shape of the code: no import cycles, and no class that grows into several with one name."""

import importlib
import inspect
from collections.abc import Iterator, Mapping, Set
from types import FunctionType

import grimp

from tests.modules import iter_module_names

MOST_METHODS = 60
"""Functions and properties of a class, with what it inherits from ours."""
WHOLE = {"memtui.journal.sqlite.Journal"}
"""Classes that are used by themselves: one that extends them is counted for what it does otherwise."""


def _iter_classes() -> Iterator[type]:
    for name in iter_module_names():
        module = importlib.import_module(name)
        yield from (each for each in vars(module).values() if isinstance(each, type) and each.__module__ == name)


def _count_methods(owner: type) -> int:
    kinds = (FunctionType, property, classmethod, staticmethod)
    ours = [base for base in owner.__mro__ if base.__module__.split(".")[0] == "memtui"]
    ours = [base for base in ours if base is owner or f"{base.__module__}.{base.__qualname__}" not in WHOLE]
    return sum(isinstance(member, kinds) for base in ours for member in vars(base).values())


def test_no_class_has_more_methods_than_a_reader_can_hold() -> None:
    counts = {f"{each.__module__}.{each.__qualname__}": _count_methods(each) for each in _iter_classes()}
    assert counts
    larger = {name for name, count in counts.items() if count > MOST_METHODS}
    assert larger == set(), "split them: a screen holds controllers"


def _find_abstract(owner: type) -> set[str]:
    """The functions and properties of ours that a class has in a form that only raises `NotImplementedError`."""
    found = set()
    for name in {name for base in owner.__mro__ if base.__module__.split(".")[0] == "memtui" for name in vars(base)}:
        member = inspect.getattr_static(owner, name)
        code = getattr(getattr(member, "fget", member), "__code__", None)
        if code is not None and code.co_names[:1] == ("NotImplementedError",) and not code.co_consts[2:]:
            found.add(name)
    return found


def test_what_only_a_subclass_can_do_every_last_subclass_does() -> None:
    """Textual's metaclass admits no abstract methods, which would hold this."""
    classes = [each for each in _iter_classes() if not getattr(each, "_is_protocol", False)]
    abstract = {each: _find_abstract(each) for each in classes}
    assert {each.__name__ for each, names in abstract.items() if names} >= {"LineView", "FilteredListScreen"}
    last = [each for each in classes if not any(below in classes for below in each.__subclasses__())]
    left = {f"{each.__qualname__}.{name}" for each in last for name in abstract[each]}
    assert left == set()


def _find_cycle(imports: Mapping[str, Set[str]]) -> list[str]:
    """One cycle of modules; empty if there is none."""
    done: set[str] = set()
    for start in sorted(imports):
        path: list[tuple[str, Iterator[str]]] = [(start, iter(sorted(imports[start])))]
        while path and start not in done:
            module, rest = path[-1]
            following = next(rest, None)
            names = [name for name, _ in path]
            if following is None:
                done.add(module)
                path.pop()
            elif following in names:
                return [*names[names.index(following) :], following]
            elif following not in done:
                path.append((following, iter(sorted(imports[following]))))
    return []


def test_a_cycle_of_imports_is_found() -> None:
    assert _find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert _find_cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_modules_import_each_other_in_a_circle_not_even_deferred() -> None:
    graph = grimp.build_graph("memtui")
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 300
    assert _find_cycle(imports) == []
