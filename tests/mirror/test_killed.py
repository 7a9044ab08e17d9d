"""A mirror that dies at any step: the next one loses nothing, does nothing twice, and revives nothing."""

import threading
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.mirror import open_mirror
from memtui.mirror.ancestors import AncestorStore, parse_mark
from memtui.mirror.sync import Mirror
from tests.mirror.conftest import NOTES, Pair, fill
from tests.mirror.crowd import run_crowd
from tests.pg_server import OwnServer


class Killed(BaseException):
    """The process ends here."""


class _Dying:
    """Counts the steps of a mirror down, and dies before or after the last one."""

    def __init__(self, step: int, *, before: bool) -> None:
        self.left = step
        self._before = before

    def wrap(self, call: Any) -> Any:
        def step(*given: Any, **named: Any) -> Any:
            self.left -= 1
            if not self.left and self._before:
                raise Killed
            done = call(*given, **named)
            if not self.left:
                raise Killed
            return done

        return step


def _run_until_killed(pair: Pair, dying: _Dying) -> bool:
    """Run a mirror that dies at some step; whether it came to its end before."""
    try:
        with open_mirror(pair.options()) as mirror:
            _wrap_steps(mirror, dying)
            while True:
                list(mirror.sync())
                if mirror.wait_seconds is None:
                    return True
    except Killed:
        return False


def _wrap_steps(mirror: Mirror, dying: _Dying) -> None:
    for side in (mirror._folder, mirror._source):
        side.engine.files.carry = dying.wrap(side.engine.files.carry)  # type: ignore[method-assign]
    store: AncestorStore = mirror._history.ancestors
    store.update = dying.wrap(store.update)  # type: ignore[method-assign]


def _make_changes(pair: Pair) -> None:
    """Of every kind, on both sides."""
    pair.execute(command="str_replace", path="a.md", old_str="one", new_str="ONE")
    pair.execute(memtui.Agent("Planner"), command="str_replace", path="a.md", old_str="two", new_str="TWO")
    pair.write(a_md=NOTES["a.md"].replace("five", "FIVE"))
    pair.execute(command="rename", old_path="d", new_path="moved")
    pair.execute(command="str_replace", path="moved/e.md", old_str="e", new_str="E")
    pair.write(d__e_md="e\nmore\n")
    pair.create("b.md", "source\n")
    pair.write(b_md="folder\n", new_md="new\n")
    pair.execute(command="delete", path="c.md")


def _count_marks(place: str | Path) -> int:
    with memtui.open(place) as memory:
        return sum(parse_mark(event.call_id) is not None for event in memory.events())


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes pairs with the same changes, each in a place of its own."""
    count = 0

    def make() -> Pair:
        nonlocal count
        count += 1
        base = tmp_path / str(count)
        base.mkdir()
        monkeypatch.setenv("XDG_STATE_HOME", str(base / "state"))
        pair = Pair(base / "folder", f"sqlite:{base / 'store.db'}")
        fill(pair.folder)
        pair.run()
        _make_changes(pair)
        return pair

    return make


@pytest.mark.parametrize("before", [True, False])
def test_it_dies_at_each_step_and_the_next_one_ends_alike(fresh: Any, before: bool) -> None:
    undisturbed = fresh()
    undisturbed.run()
    wanted, marks = undisturbed.read(), (_count_marks(undisturbed.folder), _count_marks(undisturbed.place))
    assert wanted["moved/e.md"] == "E\nmore\n" or "e\nmore\n" in wanted.values()
    for step in range(1, 100):
        pair = fresh()
        if _run_until_killed(pair, _Dying(step, before=before)):
            break
        pair.run()
        assert pair.read() == wanted, step
        assert (_count_marks(pair.folder), _count_marks(pair.place)) == marks, step
        assert pair.tell() == [], step
    assert step > 8


def test_what_was_taken_back_while_it_was_dead_stays_taken_back(pair: Pair) -> None:
    """The version that it carried last is not noted, so only the records say that both had it."""
    pair.execute(command="str_replace", path="b.md", old_str="b", new_str="B")
    pair.create("new.md", "new\n")
    pair.execute(command="delete", path="c.md")
    dying = _Dying(4, before=True)  # three were carried
    assert not _run_until_killed(pair, dying)
    with memtui.open(pair.place) as memory:
        for event in list(memory.events())[-3:]:
            assert memory.undo([event.seq]).problem == ""
    pair.run()
    assert pair.read() == {**NOTES, "d": None}


def test_what_was_deleted_while_it_was_dead_is_not_revived(pair: Pair) -> None:
    pair.write(new_md="new\n")
    assert not _run_until_killed(pair, _Dying(2, before=True))
    pair.execute(command="delete", path="new.md")
    pair.run()
    assert pair.read() == {**NOTES, "d": None}


def test_a_change_on_top_of_what_it_carried_last_is_no_conflict(pair: Pair) -> None:
    pair.create("b.md", "source\n")
    assert not _run_until_killed(pair, _Dying(2, before=True))
    pair.write(b_md="source, and the folder\n")
    pair.run()
    assert pair.read() == {**NOTES, "d": None, "b.md": "source, and the folder\n"}


def test_a_former_name_that_another_note_has_since_is_not_taken_for_it(pair: Pair) -> None:
    (pair.folder / "b.md").rename(pair.folder / "y.md")
    pair.run()
    pair.write(b_md="another note\n")
    pair.run()
    (pair.folder / "y.md").rename(pair.folder / "yy.md")
    assert not _run_until_killed(pair, _Dying(2, before=True))
    (pair.folder / "yy.md").rename(pair.folder / "z.md")
    assert pair.tell() == ["To the source: yy.md renamed to z.md (another program)"]
    assert pair.read() == {**NOTES, "d": None, "b.md": "another note\n", "z.md": "b\n"}


def test_without_what_both_had_nothing_is_deleted_or_lost(pair: Pair, state_home: Path) -> None:
    pair.execute(command="str_replace", path="a.md", old_str="one", new_str="ONE")
    pair.write(a_md=NOTES["a.md"].replace("five", "FIVE"))
    (pair.folder / "b.md").unlink()
    for each in state_home.rglob("mirror-*.db*"):
        each.unlink()
    pair.run()
    texts = pair.read()
    assert texts["a.md"] == "ONE\ntwo\nthree\nfour\nFIVE\n"
    assert texts["b.md"] == "b\n"


def test_nothing_is_lost_whenever_it_is_killed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    outcome = run_crowd(tmp_path / "folder", f"sqlite:{tmp_path / 'store.db'}", changes=60, kills=4, seed=3)
    assert (outcome.kills, outcome.lost, outcome.wrong) == (4, [], [])
    assert outcome.carried


def test_nothing_is_lost_when_the_server_is_killed(server: OwnServer, tmp_path: Path) -> None:
    def hurt() -> None:
        server.stop()
        server.start()

    (tmp_path / "folder").mkdir()
    place = server.address(f"c{threading.get_native_id()}")
    outcome = run_crowd(tmp_path / "folder", place, changes=60, kills=2, seed=4, hurt_server=hurt, server_kills=2)
    assert (outcome.server_kills, outcome.lost, outcome.wrong) == (2, [], [])
    assert outcome.carried
