"""What holds the shape of the code: no import cycles, and no class that grows into several with one name."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Set
from types import FunctionType

import grimp

import memtui

MOST_METHODS = 60
"""Functions and properties of a class, with what it inherits from ours."""


def _iter_classes() -> Iterator[type]:
    for found in pkgutil.walk_packages(memtui.__path__, "memtui."):
        if not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            yield from (
                each for each in vars(module).values() if isinstance(each, type) and each.__module__ == found.name
            )


def _count_methods(owner: type) -> int:
    kinds = (FunctionType, property, classmethod, staticmethod)
    ours = [base for base in owner.__mro__ if base.__module__.split(".")[0] == "memtui"]
    return sum(isinstance(member, kinds) for base in ours for member in vars(base).values())


def test_no_class_has_more_methods_than_a_reader_can_hold() -> None:
    counts = {f"{each.__module__}.{each.__qualname__}": _count_methods(each) for each in _iter_classes()}
    assert counts
    larger = {name for name, count in counts.items() if count > MOST_METHODS}
    assert larger == set(), "split them: a screen holds controllers"


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
