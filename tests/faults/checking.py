"""What must be true of a folder and its journal whatever happened to those who wrote there."""

import contextlib
import hashlib
import json
import os
import sqlite3
import stat
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import memtui
from memtui.core.events import EntryKind, Event, Version
from memtui.core.paths import ROOT, MemoryPath
from memtui.engine import Engine
from memtui.journal import chain
from memtui.journal.bodies import unpack_body
from memtui.store.folder import FolderStore


def make_environment() -> dict[str, str]:
    """The environment of a harness."""
    return {
        **os.environ,
        "PYTHONPATH": str(Path(memtui.__file__).parents[1]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",  # the same calls in the same order
    }


def run_module(name: str, *words: object, limit: float, before: tuple[str, ...] = ()) -> Any:
    """Run a module of this package in a process of its own; what its last line says.

    Args:
        name: The module.
        words: What it is given.
        limit: Seconds that it may take.
        before: A program that starts it.
    """
    command = [*before, sys.executable, "-m", f"tests.faults.{name}", *map(str, words)]
    done = subprocess.run(command, env=make_environment(), capture_output=True, text=True, timeout=limit, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    return json.loads(done.stdout.splitlines()[-1])


PASSING = ".memtui-"
Seen = tuple[int, bytes | None]
"""Type and mode, and what it holds."""
Tree = Mapping[str, Seen]


def tree_of(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """Every path below a folder with its type and mode, and what it holds; without what is on its way."""
    found: dict[str, tuple[int, bytes | None]] = {}
    for directory, directories, files in os.walk(folder):
        directories[:] = [name for name in directories if not name.startswith(PASSING)]
        for name in (*directories, *files):
            if name.startswith(PASSING):
                continue
            path = os.path.join(directory, name)
            mode = os.lstat(path).st_mode
            held = None
            if stat.S_ISREG(mode):
                held = Path(path).read_bytes()
            elif stat.S_ISLNK(mode):
                held = os.fsencode(os.readlink(path))
            found[os.path.relpath(path, folder)] = (mode, held)
    return found


def files_of(tree: Tree) -> dict[str, tuple[int, bytes | None]]:
    """A tree without its directories."""
    return {path: seen for path, seen in tree.items() if not stat.S_ISDIR(seen[0])}


def shown_temporaries(folder: Path, state: Path) -> Iterator[str]:
    """Names of ours that a listing would show."""
    store = FolderStore(str(folder), str(state))
    try:
        for node in store.scan(ROOT):
            if PASSING in node.path:
                yield f"{node.path} is shown"
    finally:
        store.close()


def left_over(folder: Path, state: Path) -> Iterator[str]:
    """Whatever of ours still lies about once somebody has opened the folder."""
    for top in (folder, state):
        for directory, directories, files in os.walk(top):
            for name in (*directories, *files):
                if name.startswith((PASSING, "token.")) or name == "untidy":
                    yield f"{os.path.join(directory, name)} was left"


def untrue(engine: Engine, state: Path, *, unread: bool = False) -> Iterator[str]:
    """Everything in which the journal is wrong, about itself or about the folder. The engine has just looked.

    Args:
        engine: Of an open folder.
        state: Where its journal lies.
        unread: Whether a file may be known without its text, because a fault kept anybody from reading it.
    """
    journal = engine.journal
    if journal.get_intents():
        yield f"intents are left: {journal.get_intents()}"
    events = list(engine.events())
    yield from _broken(state / "journal.db")
    yield from _missing_texts(engine, events)
    nodes = {node.path: node for node in engine.store.scan(ROOT)}
    known = journal.get_known_below("")
    if set(nodes) != set(known):
        yield f"known are {sorted(known)}, there are {sorted(nodes)}"
        return
    for path, node in nodes.items():
        version = version_of(engine, path, node.kind)
        if unread and known[path].version == Version(node.kind, None, version.size):
            continue
        if (known[path].stamp, known[path].version) != (node.stamp, version):
            yield f"{path} is known as {known[path]}, but is {version} {node.stamp}"
    stands = {path: known[path].version for path in known}
    if (folded := fold(events)) != stands:
        yield f"the events lead to {folded}, known is {stands}"


def fold(events: list[Event]) -> dict[str, Version]:
    """What stands where, if nothing but these events ever happened."""
    stands: dict[str, Version] = {}
    for event in events:
        for change in event.changes:
            if change.after is None:
                stands.pop(change.path, None)
            else:
                stands[change.path] = change.after
    return stands


def version_of(engine: Engine, path: str, kind: EntryKind) -> Version:
    """The version that a path really holds."""
    place = MemoryPath.from_relative(path)
    if kind is EntryKind.FILE:
        data = engine.store.read(place, limit=1 << 30).data
        return Version(kind, hashlib.sha256(data).hexdigest(), len(data))
    if kind is EntryKind.LINK:
        return Version(kind, hashlib.sha256(engine.store.read_link(place)).hexdigest())
    return Version(kind)


def promised(event: Event) -> Iterator[str]:
    """The hashes of the texts that an event names."""
    versions = [version for change in event.changes for version in (change.before, change.after)]
    for version in (*versions, event.viewed):
        if version is not None and version.sha256 is not None:
            yield version.sha256


def _missing_texts(engine: Engine, events: list[Event]) -> Iterator[str]:
    for sha256 in {each for event in events for each in promised(event)}:
        text = engine.journal.get_text(sha256)
        if text is None:
            yield f"a text that was promised is missing: {sha256}"
        elif hashlib.sha256(text).hexdigest() != sha256:
            yield f"a text is another one: {sha256}"


def _broken(path: Path) -> Iterator[str]:
    """Everything that is wrong with the database itself, without code of ours but the hash and how a body is kept."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        words = database.execute("PRAGMA integrity_check").fetchone()[0]
        if words != "ok":
            yield f"the database is damaged: {words}"
        previous = chain.START
        for expected, (seq, body, link) in enumerate(
            database.execute("SELECT seq, body, hash FROM events ORDER BY seq"), 1
        ):
            previous = chain.hash_link(previous, unpack_body(body))
            if (seq, link) != (expected, previous):
                yield f"the chain breaks at {seq}"
                return
        for sha256, packed, data in database.execute("SELECT sha256, packed, data FROM versions"):
            text = zlib.decompress(data) if packed else data
            if hashlib.sha256(text).digest() != sha256:
                yield f"the text of {sha256.hex()} is another one"
        counted = database.execute("SELECT count(*), coalesce(sum(size), 0) FROM known WHERE kind = 'file'").fetchone()
        if counted != (totals := database.execute("SELECT files, bytes FROM totals").fetchone()):
            yield f"the totals are {totals}, but {counted} are known"
