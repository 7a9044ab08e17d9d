"""Stores on a server that were opened before: searched in all places, and watched from the home."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memtui
from memtui.flows import home_watch
from memtui.flows.home_watch import HomeWatcher, choose_watched
from memtui.recent_stores import find_recent_stores
from tests.conftest import wait_until
from tests.pg_server import OwnServer
from tests.postgres.test_server import create


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def other(place: str, tmp_path: Path) -> Iterator[memtui.Engine]:
    """Another machine, after this one has opened the store."""
    with memtui.open(place) as engine:
        create(engine, "a.md", "one\n")
    with memtui.open(place, state=tmp_path / "other") as engine:
        yield engine


def test_what_others_wrote_since_is_found_everywhere(other: memtui.Engine, run_verb: Callable[..., str]) -> None:
    create(other, "b.md", "zebra\n")
    assert "/b.md:1:zebra" in run_verb("search", "--everywhere", "zebra")


def test_what_others_write_rings_at_home_also_once_the_server_was_away(
    place: str, other: memtui.Engine, server: OwnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_watch, "_STORE_SECONDS", 0.05)
    assert choose_watched(find_recent_stores()) == [place]
    rings, lock = list[str](), threading.Lock()

    def ring(path: str) -> None:
        with lock:
            rings.append(path)

    watcher = HomeWatcher(ring)
    watcher.watch([place])
    try:
        wait_until(lambda: watcher.paths == {place} and len(rings) == 1)
        create(other, "b.md", "two\n")
        wait_until(lambda: len(rings) == 2)
        server.stop()
        wait_until(lambda: not watcher.paths)
        server.start()
        wait_until(lambda: watcher.paths == {place})
        create(other, "c.md", "three\n")
        wait_until(lambda: len(rings) == 3)
        assert set(rings) == {place}
    finally:
        server.start()
        watcher.watch([])
    wait_until(lambda: not watcher.paths)
