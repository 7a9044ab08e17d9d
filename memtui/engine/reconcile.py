"""Finding what was changed behind our back.

Looking for suspects needs no lock and no reading: stamps are compared. Only the suspects are then looked at again
under the writer lock, a limited number at a time, so that a first look at a huge folder keeps nobody waiting.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memtui.core.errors import SymlinkEscape
from memtui.core.events import EntryKind
from memtui.core.paths import ROOT, MemoryPath
from memtui.engine.ledger import Ledger
from memtui.engine.replacements import is_note
from memtui.journal.record import KnownPath, ReadableRecord
from memtui.store.base import FileContent, FileTooLarge, Node, NotRegularFile, ReadableStore, get_lasting_stamp

BATCH = 256
"""Paths that are settled in one go, under one lock."""
BATCH_BYTES = 32_000_000
"""Bytes of files after which one go ends as well: its texts are held until they are recorded."""


class Suspect(NamedTuple):
    """A path whose stamp is not the known one.

    Attributes:
        moved_to: Where its thing seems to have gone.
        size: Bytes that are to be read.
        was_gone: Whether nothing stood there.
    """

    path: str
    moved_to: str | None = None
    size: int = 0
    was_gone: bool = False


def find_suspects(
    store: ReadableStore,
    journal: ReadableRecord,
    paths: Iterable[str] | None,
    *,
    limit: int,
    stop: Callable[[], bool] = lambda: False,
) -> list[Suspect]:
    """The paths that have to be looked at again, in the order in which they should be.

    Only `paths` and below them, `None` for everywhere. A file that was not read yet, and has at most `limit` bytes,
    is looked at again. `stop` is asked again and again; once it is true, nothing has been found.
    """
    new: dict[str, Node] = {}
    gone: dict[str, KnownPath] = {}
    passed: dict[str, KnownPath] = {}
    if paths is None and store.is_as_known():
        return []
    store.get_node(ROOT)  # raises if the folder itself is gone
    for scope in [""] if paths is None else _find_scopes(paths):
        try:
            node = find_node(store, scope)
            known = journal.get_known_below(scope)
            passed |= known
            if scope:
                _compare(scope, node, journal.get_known(scope), new, gone, limit)
                _add_suspect_parents(store, journal, scope, new)
            if node and node.kind is EntryKind.DIRECTORY:
                for below in store.scan(MemoryPath.from_relative(scope)):
                    if stop():
                        return []
                    _compare(below.path, below, known.pop(below.path, None), new, gone, limit)
        except OSError:
            continue  # not ours to look at
        gone |= known
    gone |= _find_just_renamed(store, journal, passed, new, gone, is_whole=paths is None)
    return list(_pair_moves(new, gone))


def _find_just_renamed(
    store: ReadableStore,
    journal: ReadableRecord,
    passed: dict[str, KnownPath],
    new: Mapping[str, Node],
    gone: Mapping[str, KnownPath],
    *,
    is_whole: bool,
) -> dict[str, KnownPath]:
    """Files that were renamed after their old name was looked at (`passed`), or whose old name was not looked at."""
    numbers: set[int] = set()
    prefixes: set[str] = set()
    for path, node in new.items():
        before = passed.get(path) if is_whole else journal.get_known(path)
        if node.kind is EntryKind.FILE and (before is None or before.stamp[-1] != node.stamp[-1]):
            numbers.add(node.stamp[-1])
            if not is_whole:
                prefixes |= {path, os.path.join(os.path.dirname(path), ".")}
    numbers -= {known.stamp[-1] for known in gone.values()}
    if not numbers:
        return {}
    for prefix in prefixes:  # how programs name what they write beside a note
        passed |= journal.get_known_below(prefix, as_prefix=True)
    return {
        path: each
        for path, each in passed.items()
        if each.stamp[-1] in numbers and path not in new and path not in gone and find_node(store, path) is None
    }


Entry = tuple[Node, FileContent | Exception | None]
"""What stands in a folder, and what was read of it: see `ReadableStore.scan_contents`."""


def list_entries(entries: Iterable[Entry]) -> list[Suspect]:
    """All that was read of a folder of which nothing is known, in the order in which it should be looked at."""
    found = [Suspect(node.path, None, node.size) for node, _ in entries]
    return sorted(found, key=lambda each: each.path.split("/"))  # directories before what they hold


def compare_entries(ledger: Ledger, batch: Sequence[Suspect], read: Mapping[str, Entry], *, limit: int) -> None:
    """Note what was just read of a folder of which nothing is known. The writer lock must be held.

    Args:
        read: What was read, by path.
        limit: Bytes of the largest file that is kept.
    """
    with ledger.prefetch([suspect.path for suspect in batch]):
        for suspect in batch:
            node, content = read[suspect.path]
            data = content.data if isinstance(content, FileContent) and len(content.data) <= limit else None
            try:
                ledger.compare_path(node.path, node, data)
            except (OSError, SymlinkEscape):
                continue  # not ours to look at, or changing just now


def compare_suspects(store: ReadableStore, ledger: Ledger, batch: Sequence[Suspect], *, limit: int) -> None:
    """Look at suspects again and note their differences. The writer lock must be held.

    Args:
        limit: Bytes of the largest file that is kept.
    """
    with ledger.prefetch([suspect.path for suspect in batch]):
        gone = [each.path for each in batch if each.was_gone and each.moved_to is None]
        renamed = _find_renamed(store, ledger, gone)
        for suspect in batch:
            if suspect.path in renamed.values():
                continue  # told with what was renamed to it
            try:
                _compare_suspect(store, ledger, suspect, renamed, limit)
            except (OSError, SymlinkEscape):
                continue  # not ours to look at, or changing just now: the next look tells, and the others are told now


def _compare_suspect(
    store: ReadableStore, ledger: Ledger, suspect: Suspect, renamed: Mapping[str, str], limit: int
) -> None:
    if ledger.get_recorded(suspect.path) is None and (content := _read_file(store, suspect, limit)) is not None:
        ledger.compare_path(suspect.path, content.node, content.data)
        return
    node = find_node(store, suspect.path)
    moved_to = suspect.moved_to
    if node is None and moved_to is None:
        found = renamed if suspect.was_gone else _find_renamed(store, ledger, [suspect.path])
        moved_to = found.get(suspect.path)
    moved = find_node(store, moved_to) if moved_to is not None else None
    if node is None and moved is not None:
        ledger.compare_move(suspect.path, moved.path, moved)
        return
    version = ledger.compare_path(suspect.path, node)
    if version and version.sha256 is None and find_node(store, suspect.path) is None:
        ledger.compare_path(suspect.path, None)  # gone while it was read
    if moved is not None:
        ledger.compare_path(moved.path, moved)


def _read_file(store: ReadableStore, suspect: Suspect, limit: int) -> FileContent | None:
    """A file of which nothing is known, with its node; `None` for anything else: that is looked at first."""
    if not suspect.size or suspect.was_gone or suspect.moved_to is not None:
        return None
    try:
        content = store.read(MemoryPath.from_relative(suspect.path), limit=limit)
    except (OSError, SymlinkEscape, NotRegularFile, FileTooLarge):
        return None
    return content if content.node.path == suspect.path else None


def _find_renamed(store: ReadableStore, ledger: Ledger, gone: Iterable[str]) -> dict[str, str]:
    """Where files that are gone stand now in their directory: whoever looks during a rename sees neither name."""
    files: dict[str, dict[int, KnownPath]] = {}
    paths: dict[tuple[str, int], str] = {}
    for path in gone:
        known = ledger.get_recorded(path)
        if known is not None and is_note(known.version):
            directory = os.path.dirname(path)
            files.setdefault(directory, {})[known.stamp[-1]] = known
            paths[directory, known.stamp[-1]] = path
    found: dict[str, str] = {}
    for directory, wanted in files.items():
        try:
            for now in store.find_inodes(MemoryPath.from_relative(directory), wanted):
                node, recorded = find_node(store, now), ledger.get_recorded(now)
                known = wanted.get(node.stamp[-1]) if node is not None else None
                if node is None or known is None or (recorded is not None and recorded.stamp == node.stamp):
                    continue  # gone meanwhile, or told already
                path = paths[directory, node.stamp[-1]]
                # The system uses numbers again: either it is as it was, or it was on its way and is finished now.
                if get_lasting_stamp(known.stamp) == get_lasting_stamp(node.stamp) or ledger.is_temporary(path):
                    found[path] = now
        except (OSError, SymlinkEscape):
            continue  # the directory went with them, or is not ours to look at
    return found


def find_node(store: ReadableStore, path: str) -> Node | None:
    """What stands at a path itself, not through a link on the way; raises `OSError`."""
    try:
        node = store.get_node(MemoryPath.from_relative(path))
    except SymlinkEscape:
        return None
    return node if node is not None and node.path == path else None


def resolve_path(store: ReadableStore, path: str) -> str:
    """Where a path is once the links on the way to it were followed; a link at its end is meant itself."""
    above, slash, name = path.rpartition("/")
    if not slash:
        return path
    try:
        node = store.get_node(MemoryPath.from_relative(above), follow=True)
    except (OSError, SymlinkEscape):
        return path  # looking at it says why it cannot be
    if node is None:
        return f"{resolve_path(store, above)}/{name}"
    return f"{node.path}/{name}" if node.path else name


def resolve_paths(store: ReadableStore, paths: Iterable[str]) -> dict[str, str]:
    """Where paths really are, as `resolve_path` has it; each directory is looked at once."""
    directories: dict[str, str] = {}
    found: dict[str, str] = {}
    for path in paths:
        above, slash, name = path.rpartition("/")
        if above not in directories:
            directories[above] = resolve_path(store, f"{above}/_")[:-1] if slash else ""
        found[path] = directories[above] + name
    return found


def iter_batches(found: Sequence[Suspect], size: int = BATCH) -> Iterator[Sequence[Suspect]]:
    """Suspects in lots that one lock may be held for."""
    start = total = 0
    for at, suspect in enumerate(found):
        if at - start == size or (at > start and total + suspect.size > BATCH_BYTES):
            yield found[start:at]
            start, total = at, 0
        total += suspect.size
    if start < len(found):
        yield found[start:]


def _find_scopes(paths: Iterable[str]) -> list[str]:
    """The paths without those that lie below another one."""
    kept: list[str] = []
    for path in sorted(set(paths), key=lambda each: each.split("/")):
        if path == "":
            return [""]
        if not kept or not (path == kept[-1] or path.startswith(kept[-1] + "/")):
            kept.append(path)
    return kept


def _compare(
    path: str, node: Node | None, known: KnownPath | None, new: dict[str, Node], gone: dict[str, KnownPath], limit: int
) -> None:
    if node is None:
        if known is not None:
            gone[path] = known
        return
    could_be_read = (
        known is not None and known.version.sha256 is None and node.kind is EntryKind.FILE and node.size <= limit
    )
    if known is None or known.stamp != node.stamp or known.version.kind is not node.kind or could_be_read:
        new[path] = node


def _add_suspect_parents(store: ReadableStore, journal: ReadableRecord, path: str, new: dict[str, Node]) -> None:
    """A hint about a file in a new directory is one about the directory as well."""
    parent = os.path.dirname(path)
    while parent and parent not in new and journal.get_known(parent) is None:
        node = find_node(store, parent)
        if node is None:
            return
        new[parent] = node
        parent = os.path.dirname(parent)


def _pair_moves(new: dict[str, Node], gone: dict[str, KnownPath]) -> Iterator[Suspect]:
    """Suspects, with what has only moved as one: the same thing at another path."""
    appeared = {(node.kind, node.stamp[-1]): path for path, node in new.items()}
    came_from: dict[str, str] = {}
    for path, known in gone.items():
        now = appeared.get((known.version.kind, known.stamp[-1]))
        if now is None or known.version.kind is EntryKind.OTHER:
            continue
        # The system uses numbers again: of two that had it, the one that was not written since has moved.
        if now not in came_from or get_lasting_stamp(known.stamp) == get_lasting_stamp(new[now].stamp):
            came_from[now] = path
    moved = {path: now for now, path in came_from.items()}
    _discard_reused_inodes(moved, gone)
    settled = set(moved.values())
    order: Callable[[str], list[str]] = lambda path: path.split("/")  # noqa: E731 - directories before what they hold
    for path in sorted((*gone, *(path for path in new if path not in settled)), key=order):
        node = new.get(moved.get(path, path))
        yield Suspect(path, moved.get(path), node.size if node else 0, was_gone=path in gone)


def _discard_reused_inodes(moved: dict[str, str], gone: Mapping[str, KnownPath]) -> None:
    """A directory has moved only if something in it moved along: the system uses numbers again."""
    parents = {os.path.dirname(path) for path in gone}
    along: set[tuple[str, str]] = set()
    for old, new in moved.items():
        above = old, new
        while os.path.basename(above[0]) == os.path.basename(above[1]) and all(above):
            above = os.path.dirname(above[0]), os.path.dirname(above[1])
            along.add(above)
    for old, new in tuple(moved.items()):
        if old in parents and (old, new) not in along:
            del moved[old]
