"""Somebody else writes, and in that very moment we are killed: what they wrote is put back, not tidied away."""

import errno
import os
import signal
from typing import Any

import pytest

from memtui.core.paths import MemoryPath
from memtui.store import recovery

of = MemoryPath.from_relative

KILLED = """
import os
import signal
import sys
from pathlib import Path
from memtui.core.paths import MemoryPath
from memtui.store import folder, open_folder, recovery
folder_path, state, nameless, job, change = sys.argv[1:]
store = folder.FolderStore(folder_path, state, nameless=nameless == "True")
path = Path(folder_path) / ("f" if job == "write" else "d/f" if job == "delete d" else "d/f")

def theirs():
    if change == "in place":
        path.write_text("theirs")
    elif change == "replaced":
        path.with_name("passing").write_text("theirs")
        path.with_name("passing").rename(path)
    elif change == "link":
        path.unlink()
        path.symlink_to("theirs")

def dies(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if job == "write":
    exchange = open_folder.exchange
    def exchanged(*places):
        theirs()
        exchange(*places)
        dies()
    open_folder.exchange = exchanged
else:
    move = recovery.StagingArea.stage
    def moved(*arguments):
        theirs()
        move(*arguments)
        dies()
    recovery.StagingArea.stage = moved
with store.begin_transaction(5) as transaction:
    if job == "write":
        at = MemoryPath.from_relative("f")
        transaction.write(at, b"ours", expected=store.get_node(at).stamp)
    else:
        top = job.removeprefix("delete ")
        nodes = [store.get_node(MemoryPath.from_relative(top)), *store.scan(MemoryPath.from_relative(top))]
        transaction.delete(MemoryPath.from_relative(top), expected={node.path: node.stamp for node in nodes})
"""
BEFORE = {"f": b"old", "d": None, "d/f": b"old", "d/g": b"other"}
KNOWN = {b"old", b"ours", b"other"}


@pytest.fixture
def killed(folder_world: Any, run_python: Any) -> Any:
    """Runs a job until it is killed; returns the world as it is then."""
    if folder_world.kind in ("linking", "placing"):
        pytest.skip("without exchanging there is nothing to put back")

    def kill(job: str, change: str) -> Any:
        for path in ("f", "d/f"):
            folder_world.put(path, "old")
        folder_world.put("d/g", "other")
        folder_world.main  # noqa: B018 - the state is there
        words = (folder_world.folder, folder_world.state, folder_world.kind != "named", job, change)
        done = run_python(KILLED, *words)
        assert done.returncode == -signal.SIGKILL, done.stderr
        return folder_world

    return kill


def tidy(world: Any, place: str) -> Any:
    with world.main.store.begin_transaction(1) as transaction:
        transaction.clean_up(is_known=KNOWN.__contains__, place=of(place))
    for top in (world.folder, world.state):
        assert not [name for _, _, names in os.walk(top) for name in names if name.startswith(".memtui-")]
    return world.tree()


@pytest.mark.parametrize(("change", "held"), [("in place", b"theirs"), ("replaced", b"theirs"), ("link", "theirs")])
def test_what_they_wrote_while_we_replaced_it_stands_beside(killed: Any, change: str, held: Any) -> None:
    assert tidy(killed("write", change), "f") == {**BEFORE, "f": b"ours", "f~1": held}


@pytest.mark.parametrize(("change", "held"), [("in place", b"theirs"), ("replaced", b"theirs"), ("link", "theirs")])
def test_what_they_wrote_while_we_deleted_it_stands_there_again(killed: Any, change: str, held: Any) -> None:
    assert tidy(killed("delete d/f", change), "d/f") == {**BEFORE, "d/f": held}


def test_a_directory_in_which_they_wrote_while_we_deleted_it_stands_there_again(killed: Any) -> None:
    assert tidy(killed("delete d", "in place"), "d") == {**BEFORE, "d/f": b"theirs"}


@pytest.mark.parametrize("job", ["write", "delete d/f", "delete d"])
def test_what_is_known_is_not_put_back(killed: Any, job: str) -> None:
    tree = tidy(killed(job, "nothing"), "f")
    assert "f~1" not in tree
    assert ("d" in tree, "d/f" in tree) == (job != "delete d", job == "write")


def test_where_its_place_is_gone_it_stands_at_the_top(killed: Any) -> None:
    world = killed("delete d/f", "in place")
    assert tidy(world, "no/such/place")["place"] == b"theirs"
    assert tidy(killed("write", "in place"), "")["recovered"] == b"theirs"


def test_a_first_writer_who_does_not_know_removes_none_of_it(killed: Any) -> None:
    world = killed("write", "in place")
    (world.state / recovery.UNTIDY).touch()
    store = world.store()
    with store.begin_transaction(1):
        pass
    store.close()
    assert tidy(world, "f")["f~1"] == b"theirs"


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO])
def test_what_cannot_be_looked_at_is_not_removed(killed: Any, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where that may pass, it waits out of sight; else it is put back."""
    world = killed("write", "nothing")

    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(recovery, "read_consistently", refuse)
        with world.main.store.begin_transaction(1) as transaction:
            transaction.clean_up(is_known=KNOWN.__contains__, place=of("f"))
    after = {**BEFORE, "f": b"ours"}
    waits = code == errno.EIO
    assert ("f~1" in world.tree(), (world.state / recovery.UNTIDY).exists()) == (not waits, waits)
    assert tidy(world, "f") == (after if waits else {**after, "f~1": b"old"})


def test_only_directories_that_a_dead_writer_made_are_removed_and_only_while_they_are_empty(folder_world: Any) -> None:
    store, folder = folder_world.main.store, folder_world.folder
    for name in ("ours", "ours/inner", "filled", "theirs", "of no intent", "not listed yet", "open to all"):
        folder_world.make(name)
        (folder / name).chmod(0o700)
    (folder / "open to all").chmod(0o755)
    folder_world.put("filled/theirs", "x")
    for name in ("ours", "ours/inner", "filled", "theirs", "of no intent"):
        store.passing.add_made(name)
        store.passing.add_made(name, (folder / name).stat().st_ino + (name == "theirs"))
    for name in ("not listed yet", "open to all", "never\nmade"):
        store.passing.add_made(name)
    asked = ["ours", "ours/inner", "filled", "theirs", "not listed yet", "open to all", "never\nmade"]
    with store.begin_transaction(1) as transaction:
        transaction.unmake(asked)
    assert sorted(folder_world.tree()) == ["filled", "filled/theirs", "of no intent", "open to all", "theirs"]


def test_a_line_of_the_list_that_was_not_written_to_its_end_says_nothing(folder_world: Any) -> None:
    passing, path = folder_world.main.store.passing, folder_world.state / "passing"
    passing.add_made("d")
    passing.keep()
    with path.open("ab") as file:
        file.write(b"made:not hexadecimal\nmade:64 12")
    assert passing.get_made() == {"d": None}
    passing.add_made("e", 7)
    passing.add(".memtui-name", 8)
    assert passing.get_made() == {"d": None, "e": 7}
    assert passing.has(".memtui-name", 8)
    passing.forget()
    assert passing.get_made() == {"d": None}


KILLED_AT_PLACEHOLDER = """
import os
import signal
import sys
from memtui.core.paths import MemoryPath
from memtui.store.folder import FolderStore
rename = os.rename
def dies(old, new, **options):
    if new == "d":
        os.kill(os.getpid(), signal.SIGKILL)
    rename(old, new, **options)
os.rename = dies
store = FolderStore(*sys.argv[1:], moving="placeholder")
with store.begin_transaction(5) as transaction:
    transaction.delete(MemoryPath.from_relative("d"), expected={})
"""


def test_a_directory_that_held_the_place_of_what_was_put_back_is_not_in_its_way(
    plain_world: Any, run_python: Any
) -> None:
    plain_world.put("d/f", "theirs")
    before = plain_world.tree()
    plain_world.main  # noqa: B018 - the state is there
    process = run_python(KILLED_AT_PLACEHOLDER, plain_world.folder, plain_world.state, wait=False)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert plain_world.tree() == {"d": None}
    assert tidy(plain_world, "d") == before
