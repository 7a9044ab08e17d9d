"""What every test starts from: a state directory of its own, and memories over every kind of store."""

import gc
import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import memtui
from memtui.core.events import EntryKind
from memtui.core.paths import MemoryPath
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.journal.verify_report import FindingWeight
from memtui.postgres import place
from memtui.postgres.journal import ServerJournal
from memtui.postgres.place import Follower, ServerStore
from memtui.store.base import Store
from memtui.store.folder import FolderStore
from memtui.store.memory import MemoryStore
from memtui.store.sqlite import SqliteStore
from tests import pg_server, sampling
from tests.pg_server import OwnServer
from tests.warm import Warm

HERE = Path(__file__).parent
BY_NAME = ("node", "packaging")
"""Rooms whose tests take their time, so that they run only where they are asked for by name."""
_SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
_EXAMPLES = sampling.many(100, 20)
settings.register_profile("quick", deadline=None, max_examples=_EXAMPLES, suppress_health_check=_SLOW)
settings.register_profile(
    "ci", deadline=None, max_examples=_EXAMPLES, derandomize=True, suppress_health_check=_SLOW, database=None
)
settings.load_profile("ci" if os.environ.get("CI") else "quick")


def pytest_configure(config: pytest.Config) -> None:
    """Know the switch before anything is looked for, and let the programs that tests start be compiled only once."""
    gc.set_threshold(20_000, 20, 20)  # what is collected stays to the end: there is little garbage in it
    sampling.check()
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None) and "PYTHONPYCACHEPREFIX" not in os.environ:
        kept = tempfile.TemporaryDirectory(prefix="memtui-bytecode-")
        os.environ["PYTHONPYCACHEPREFIX"] = kept.name  # the workers have it from here
        config.add_cleanup(kept.cleanup)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, pytest.CollectReport]:
    """Let each worker begin with other files: what one has compiled the others load."""
    report = yield
    if isinstance(collector, pytest.Directory) and (worker := os.environ.get("PYTEST_XDIST_WORKER")):
        first = len(report.result) * int(worker[2:]) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        report.result = report.result[first:] + report.result[:first]
    return report


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what names a limit of time, what has a store and other cases (one store each is the sample), and fuzzing."""
    if "at_most" in getattr(item.function.__code__, "co_names", ()):  # type: ignore[attr-defined]
        item.add_marker(pytest.mark.limit)
    for name in ("world", "folder_world", "resolver_world"):
        params = item.callspec.params if hasattr(item, "callspec") else {}
        if name in params and len(params) > 1 and item.get_closest_marker("sweep") is None:
            item.add_marker(pytest.mark.sweep(each=name))
    if hasattr(item.function, "hypothesis") and item.get_closest_marker("sweep") is None:  # type: ignore[attr-defined]
        item.add_marker(pytest.mark.sweep)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Have the files in one order in every worker, and leave out what is asked for by name and what is not sampled."""
    items.sort(key=lambda item: item.path)
    asked = {part for word in config.args for part in Path(word.partition("::")[0]).parts}
    for item in items:
        if (room := item.path.relative_to(HERE).parts[0]) in BY_NAME and room not in asked:
            item.add_marker(pytest.mark.skip(reason=f"slower; run them by name: pytest tests/{room}"))
    yield
    items[:], left_out = sampling.chosen(items)
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish() -> None:
    """Thousands of tests that were collected stay to the end: whoever looks for garbage need not go over them."""
    gc.collect()
    gc.freeze()


class StandIn:
    """Stands for a store, a transaction or a journal: what a subclass does not do itself is done by that."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


FOLDERS = ("openat2", "walk", "named", "apart")
STORES = ("memory", "sqlite", "postgres", *FOLDERS)
ME = memtui.Agent("tester", "a-model", "a-session")


def wait_until(condition: Callable[[], object], what: str = "a condition", seconds: float = 30.0) -> None:
    """Wait until something holds that another thread or process does; a look at it costs little."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            pytest.fail(f"waited in vain for {what}")
        time.sleep(0.01)  # else the looks would take a processor from what is waited for


NOTES: Mapping[str, str] = {"prefs.md": "- short answers\n- Berlin\n", "notes/today.md": "standup at ten\n"}
"""A small memory."""


def make_chain(top: Path, names: list[str]) -> int:
    """Directories in one another, however long their path: the descriptor of the innermost."""
    fd = os.open(top, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=fd)
        inner = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    return fd


def fill(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files as somebody who is not memtui would; the folder is made where it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, held in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held.encode() if isinstance(held, str) else held)
    return folder


def set_clock(engine: Engine, now_ns: Callable[[], int]) -> None:
    """Give an engine another clock."""
    object.__setattr__(engine._context, "now_ns", now_ns)  # frozen for the program; its parts hold this one


def settle(engine: Engine) -> None:
    """Have what waits be recorded where reading alone does not do it: no reader waits for a server."""
    if isinstance(engine.journal, ServerJournal):
        engine.journal.deferred.flush()


@dataclass
class World:
    """One memory, its engine, and the means to look at it and to change it from outside.

    Attributes:
        kind: Which store: in memory, one SQLite file with its journal, one on a PostgreSQL server with this machine's
            copy, or a folder (both resolvers, without nameless files, with its state on another file system; synced
            behind the answers, or before them where it is `walk` or `named`).
        folder: The folder; `None` for what has none.
        address: The address on the server; empty for what is on none.
    """

    kind: str
    folder: Path | None
    state: Path | None
    address: str = ""
    made: list[Engine] = field(default_factory=list)
    copies: list[ServerJournal] = field(default_factory=list)

    def store(self) -> Store:
        """A new store over the same bytes."""
        if self.address:
            journal, _, _ = place._open_copy(self.address, self.state, memtui.Settings())
            self.copies.append(journal)
            return ServerStore(journal, Follower(journal), title="here")
        if self.folder is None:
            if self.state is not None:
                return SqliteStore.open(str(self.state / "journal.db"), title="here")
            return self.made[0].store if self.made else MemoryStore()
        resolver: Any = "walk" if self.kind == "walk" else None
        return FolderStore(
            str(self.folder),
            str(self.state),
            title="here",
            resolver=resolver,
            nameless=self.kind != "named",
            synced=self.kind in ("walk", "named"),
        )

    def engine(self, *, store: Store | None = None, journal: Journal | None = None, **settings: Any) -> Engine:
        """A new engine; over the same folder and journal, unless the memory is in memory."""
        if self.address:
            if journal is None:
                store = store or self.store()
                journal = self.copies[-1]
            assert isinstance(journal, ServerJournal)
            store = store or ServerStore(journal, Follower(journal), title="here")
            real: Any = getattr(store, "_real", store)
            real._journal, real._entries = journal, journal.entries  # they change in one transaction
        elif journal is None:
            path = None if self.state is None else str(self.state / "journal.db")
            journal = Journal(path, has_entries=self.kind == "sqlite")
        engine = Engine(store or self.store(), journal, settings=memtui.Settings(**settings))
        self.made.append(engine)
        engine.reconcile()
        return engine

    @property
    def main(self) -> Engine:
        """The first engine."""
        return self.made[0] if self.made else self.engine()

    def ask(self, engine: Engine | None = None, /, **command: object) -> memtui.Answer:
        """Execute a command as an agent."""
        return (engine or self.main).execute(command, actor=ME)

    def put(self, path: str, data: bytes | str) -> None:
        """Write a file as somebody who is not memtui would."""
        data = data.encode() if isinstance(data, str) else data
        if self.folder is not None:
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            return
        store, where = self.main.store, MemoryPath.from_relative(path)
        node = store.get_node(where)
        with store.begin_transaction(1) as transaction:
            transaction.write(where, data, expected=node.stamp if node else None)

    def fill(self, files: Mapping[str, str]) -> "World":
        """Write files as somebody who is not memtui would, and have them recorded."""
        for path, text in files.items():
            self.put(path, text)
        self.main.reconcile()
        return self

    def make(self, path: str) -> None:
        """Make a directory as somebody who is not memtui would."""
        if self.folder is not None:
            (self.folder / path).mkdir(parents=True, exist_ok=True)
            return
        self.put(path + "/passing", b"")
        with self.main.store.begin_transaction(1) as transaction:
            transaction.delete(MemoryPath.from_relative(path + "/passing"))

    def tree(self) -> dict[str, bytes | str | None]:
        """Every path with a file's bytes, a link's target, and `None` for anything else."""
        if self.folder is not None:
            return tree_of(self.folder)
        store = self.main.store
        return {
            node.path: store.read(MemoryPath.from_relative(node.path), limit=1 << 30).data
            if node.kind is EntryKind.FILE
            else None
            for node in store.scan(MemoryPath())
        }

    def picture(self) -> object:
        """All that a refusal must leave alone: names, bytes, modes and times."""
        return picture_of(self.folder) if self.folder is not None else self.tree()


def tree_of(folder: Path) -> dict[str, bytes | str | None]:
    """Every path below a folder with a file's bytes, a link's target, and `None` for anything else."""
    found: dict[str, bytes | str | None] = {}
    for directory, directories, files in os.walk(folder):
        for name in (*directories, *files):
            path = os.path.join(directory, name)
            mode = os.lstat(path).st_mode
            held: bytes | str | None = None
            if stat.S_ISREG(mode):
                held = Path(path).read_bytes()
            elif stat.S_ISLNK(mode):
                held = os.readlink(path)
            found[os.path.relpath(path, folder)] = held
    return found


def picture_of(folder: Path) -> dict[str, tuple[object, ...]]:
    """Names, bytes, modes, times and inodes below and at a folder."""
    picture: dict[str, tuple[object, ...]] = {}
    for path, held in {**tree_of(folder), ".": None}.items():
        seen = os.lstat(folder / path)
        picture[path] = (held, seen.st_mode, seen.st_mtime_ns, seen.st_ino, seen.st_nlink)
    return picture


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of the test's own, as pytest's; only that its name is not the test's.

    Screens and answers show paths: a word that a test looks for, or must not find, would stand in its own name.
    """
    return tmp_path_factory.mktemp("t")


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg-state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg-config"))  # no settings of whoever runs the tests
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in (
        "COLORFGBG",
        "MEMTUI_CONFIG",
        "MEMTUI_DIR",
        "MEMTUI_EDITOR",
        "MEMTUI_READ_ONLY",
        "MEMTUI_SCREEN_READER",
        "SSH_CONNECTION",
        "TEXTUAL_THEME",
        "TEXTUAL_ANIMATIONS",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def server() -> Iterator[OwnServer]:
    """A PostgreSQL server, one for all tests of a process."""
    if pg_server.MISSING:
        pytest.skip(pg_server.MISSING)
    with pg_server.run_server() as own:
        yield own


def _world(kind: str, tmp_path: Path, request: pytest.FixtureRequest | None = None) -> Iterator[World]:
    if kind == "memory":
        world = World(kind, None, None)
        yield world
        _check_caches(world)
    elif kind == "sqlite":
        world = World(kind, None, tmp_path)
        yield world
        _check_caches(world)
    elif kind == "postgres":
        assert request is not None
        address = request.getfixturevalue("server").address(f"w-{os.urandom(6).hex()}")
        world = World(kind, None, tmp_path / "state", address)
        yield world
        _check_caches(world)
    else:
        folder = tmp_path / "folder"
        folder.mkdir()
        with tempfile.TemporaryDirectory(dir=_other_file_system(tmp_path) if kind == "apart" else tmp_path) as state:
            world = World(kind, folder, Path(state))
            yield world
            _check_caches(world)
    for engine in world.made:
        engine.close()
    for copy in world.copies:
        copy.close()


def _check_caches(world: World) -> None:
    """What each journal notes beside its chain is what the chain says, whatever the test did; unless it was damaged."""
    for engine in world.made:
        if not engine._calls.is_closed:
            weights = {finding.weight: finding.text for finding in engine.journal.verify().findings}
            if not weights.keys() & {FindingWeight.EVENT, FindingWeight.FILE}:
                assert not weights.keys() & {FindingWeight.STATE, FindingWeight.INDEX}, weights


def _other_file_system(tmp_path: Path) -> str:
    other = "/dev/shm"
    if not os.access(other, os.W_OK) or os.stat(other).st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("there is no second file system to write to")
    return other


@pytest.fixture(params=STORES)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A memory over each store in turn."""
    yield from _world(request.param, tmp_path, request)


@pytest.fixture(params=FOLDERS)
def folder_world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A memory over each kind of folder in turn."""
    yield from _world(request.param, tmp_path)


@pytest.fixture(params=("openat2", "walk"))
def resolver_world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A memory over a folder, once with each resolver."""
    yield from _world(request.param, tmp_path)


@pytest.fixture
def plain_world(tmp_path: Path) -> Iterator[World]:
    """A memory over a folder as it is by default."""
    yield from _world("openat2", tmp_path)


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """Starts programs in a process that has loaded memtui already, one for all workers."""
    shared = tmp_path_factory.getbasetemp()
    process = Warm(shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared)
    yield process
    process.close()


@pytest.fixture
def run_python(warm: Warm) -> Callable[..., Any]:
    """Run a Python program in a process of its own, which can import memtui.

    One that asks what is loaded, or that need not end, or that is started in some way of its own, is started afresh.
    """

    def run(program: str, *arguments: object, wait: bool = True, **options: Any) -> Any:
        environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": str(Path(memtui.__file__).parents[1])}
        words = ["-c", program, *map(str, arguments)]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        if not wait:
            return subprocess.Popen([sys.executable, *words], env=environment, **pipes, **options)
        if options or "sys.modules" in program:
            whole = [sys.executable, *words]
            return subprocess.run(whole, env=environment, timeout=60, check=False, **pipes, **options)
        done = warm.run(words, env=environment)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
