"""The past as it is found, against every version of every note read one by one."""

import random

import pytest

import memtui
from memtui.core.events import Agent, EntryKind, Person
from memtui.engine import Engine
from memtui.search.finder import Finder
from memtui.search.query import parse_query
from memtui.search.results import PastResults, Scope

_ACTORS = (Agent("A"), Agent("B"), Person())
_QUERIES = ("n1", "k", "zz", "n1 n2", "n !zz", "re:n[12]$")


def _live(chosen: random.Random, memory: Engine, finder: Finder) -> None:
    """Notes come, change, move and go; now and then somebody searches."""
    for _ in range(40):
        what, names = chosen.random(), sorted(_texts(memory)) or ["none"]
        command: dict[str, object] = {"command": "create", "path": f"/memories/{chosen.choice(_PATHS)}"}
        if what < 0.45:
            command["file_text"] = "".join(chosen.choices(_LINES, k=chosen.randint(0, 5)))
        elif what < 0.7:
            command = {"command": "delete", "path": f"/memories/{chosen.choice([*names, 'd'])}"}
        elif what < 0.85:
            new = chosen.choice(["a.md", "q.md", "d/q.md", "w/d", "b.md", "x"])
            old = chosen.choice([*names, "d", "x"])
            command = {"command": "rename", "old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}
        elif event := memory.history.get_undoable():
            memory.undo([event.seq])
            continue
        memory.execute(command, actor=chosen.choice(_ACTORS))
        if chosen.random() < 0.3:
            finder.refresh()
        if chosen.random() < 0.2:
            finder.find(parse_query(chosen.choice(_QUERIES), now_us=0), chosen.choice(list(Scope)))


_PATHS = ("a.md", "b.md", "d/c.md", "d/e.md", "x/y/z.md")
_LINES = ("n1\n", "n2\n", "k\n", "n1 n2\n", "zz")


def _texts(memory: Engine, at: int | None = None) -> dict[str, str]:
    state = memory.history.get_state(memory.get_head()[0] if at is None else at)
    files = {path: memory.history.text(version) for path, version in state.items() if version.kind is EntryKind.FILE}
    return {path: data.decode() for path, data in files.items() if data is not None}


def _past(finder: Finder, query: str, scope: Scope = Scope.PAST) -> PastResults:
    return finder.find(parse_query(query, now_us=0), scope, limit=10_000).past


@pytest.mark.parametrize("seed", range(12))
def test_every_line_that_ever_stood_is_found_and_those_that_stand_still_are_those_of_now(seed: int) -> None:
    with memtui.open_in_memory() as memory:
        finder = Finder(memory)
        _live(random.Random(seed), memory, finder)
        finder.refresh()
        fresh = Finder(memory)
        fresh.refresh()
        now = _texts(memory)
        ever = [text for at in range(1, memory.get_head()[0] + 1) for text in _texts(memory, at).values()]
        assert set(finder.paths) == set(now)
        for query in _QUERIES:
            assert _past(finder, query) == _past(fresh, query)
            assert _past(finder, query, Scope.ALL) == _past(fresh, query, Scope.ALL)
        for word in ("n1", "k", "zz"):
            hits = _past(finder, word).hits
            standing = [(path, line) for path, text in now.items() for line in text.split("\n") if word in line]
            assert sorted((hit.now, hit.line.text) for hit in hits if hit.removed_by is None) == sorted(standing)
            lines = {line for text in ever for line in text.split("\n") if word in line}
            assert {hit.line.text for hit in hits} == lines
            gone = {hit.line.text for hit in _past(finder, word, Scope.ALL).hits}
            assert gone == lines - {line for _, line in standing}
            for hit in hits:
                text = memory.history.text(hit.version)
                assert text is not None
                assert text.decode().split("\n")[hit.line.line - 1] == hit.line.text
                assert hit.removed_by is None or hit.removed_by.seq > hit.added_by.seq
            ends = [hit.removed_by.seq if hit.removed_by else hit.added_by.seq for hit in hits]
            assert ends == sorted(ends, reverse=True)
