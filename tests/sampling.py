"""The sweeps: tests over very many cases that differ little. All of them with `MEMTUI_TESTS=full`, else a sample.

A sample is the same on every machine and in every order, and always holds the cases that are named. A test is a sweep
by its mark:

    @pytest.mark.sweep(keep=20, always=("kill", "-f"))  # so many of its cases, and these, by parts of their ids
    @pytest.mark.sweep(each="pace")  # every case of the others with one pace each, a different one each time

or because it has a store and another parameter: then each case is tried over one store. A test that asks `sampled` or
`many` has the bare mark, so that `pytest -m sweep` finds it.
"""

import os
import random
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import TypeVar
from zlib import crc32

import pytest

SWITCH = "MEMTUI_TESTS"
_ASKED = os.environ.get(SWITCH, "")
FULL = _ASKED in ("full", "every")
EVERY = _ASKED == "every"
"""Whether each error is tried at each system call, which takes hours; else `FULL` tries a fourth of them."""
_SEED = 1

T = TypeVar("T")


def sampled(cases: Iterable[T], keep: int, *, always: Collection[T] = ()) -> list[T]:
    """All cases, or so many of them and those that are named, in the order they came."""
    cases = list(cases)
    missing = [case for case in always if case not in cases]
    if missing:
        raise ValueError(f"no cases: {missing}")
    if FULL:
        return cases
    chosen = set(random.Random(_SEED).sample(range(len(cases)), min(keep, len(cases))))
    return [case for number, case in enumerate(cases) if number in chosen or case in always]


def many(count: int, keep: int) -> int:
    """How many of something that chance makes."""
    return count if FULL else keep


def check() -> None:
    """Refuse a value of the switch that means nothing."""
    if _ASKED not in ("", "full", "every"):
        raise pytest.UsageError(f"{SWITCH} is {_ASKED!r}; it may be 'full' or 'every', or not there")


def chosen(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The tests that are run, in their order, and those of the sweeps that are left out."""
    if FULL:
        return items, []
    groups: dict[str, list[pytest.Item]] = defaultdict(list)
    marks: dict[str, pytest.Mark] = {}
    for item in items:
        mark = item.get_closest_marker("sweep")
        if mark is None or not mark.kwargs or not hasattr(item, "callspec"):
            continue
        whose = item.nodeid.partition("[")[0]
        if each := mark.kwargs.get("each"):
            others = item.callspec.id.split("-")
            others.remove(str(item.callspec.params[each]))
            whose += "-".join(others)
        groups[whose].append(item)
        marks[whose] = mark
    left: set[int] = set()
    for whose, group in groups.items():
        left |= {id(item) for item in _left_out(group, **marks[whose].kwargs)}
    return [item for item in items if id(item) not in left], [item for item in items if id(item) in left]


def _left_out(
    group: list[pytest.Item], *, keep: int = 1, each: str = "", always: Collection[str] = ()
) -> list[pytest.Item]:
    """Of one test's cases those that are not kept; its order does not matter."""
    del each
    ordered = sorted(group, key=lambda item: (crc32(item.nodeid.encode()), item.nodeid))
    named = {id(item) for item in ordered if any(words in item.nodeid.partition("[")[2] for words in always)}
    return [item for item in ordered[keep:] if id(item) not in named]
