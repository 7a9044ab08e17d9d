"""The folder follows the journal: its files get to the disk behind the answers, and are made again after a power cut.

A command is answered once its event and its text are in the journal, synced; the file in the folder is whole in memory,
and on the disk a moment later. So a killed process loses nothing, and what a power cut takes from the folder, or leaves
of it half, is written again from the journal by the next one who opens it: every event behind the last that is known to
be settled, in order. What another program has put there since is left, and recorded by the next look.

A power cut is known by the number that a system has for each time it was started. The journal notes the last number
together with the last settled event.
"""

import contextlib
import ctypes
import errno
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Any

from memtui.core.attributes import UNKNOWN
from memtui.core.errors import MemtuiError, SymlinkEscape, UnconfirmedChange
from memtui.core.events import Change, EntryKind, Event, Version, sha256, squash_changes
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.engine import reconcile
from memtui.engine.ledger import make_link_version
from memtui.journal.chain import decode_body
from memtui.journal.record import KnownPath, Record
from memtui.store.base import ConcurrentChange, FileTooLarge, Node, NotRegularFile, Store, Transaction

SETTLED = "settled"
"""The name under which a journal notes how far the folder is settled: the system's start, and an event's number."""
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_BOOT_NAME = b"kern.bootsessionuuid"
_SECONDS = 1.0
"""After which the folder is settled at the latest."""
_COUNT, _BYTES = 1_000, 16_000_000
"""Events, or bytes of texts, after which it is settled before that."""
_SECTOR = 512
"""Bytes that a disk writes at once."""


def read_boot_id() -> str | None:
    """What tells this start of the system from every other one; `None` where nothing does."""
    if sys.platform == "darwin":
        found, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
        asked = ctypes.CDLL(None).sysctlbyname(_BOOT_NAME, found, ctypes.byref(size), None, ctypes.c_size_t(0))
        return found.value.decode("ascii", "replace") if asked == 0 else None
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            return file.read(64).strip()
    except (OSError, UnicodeDecodeError):
        return None


@dataclass(frozen=True, slots=True)
class SettledMark:
    """How far the folder is known to be on the disk: up to an event, during one start of the system."""

    boot: str
    seq: int

    @classmethod
    def load(cls, journal: Record) -> "SettledMark | None":
        """The mark of a journal; `None` if it has none."""
        boot, _, seq = (journal.get_metadata(SETTLED) or "").rpartition(" ")
        return cls(boot, int(seq)) if seq.isdecimal() and len(seq) < 20 else None

    def save(self, journal: Record) -> None:
        journal.set_metadata(SETTLED, f"{self.boot} {self.seq}")


@contextlib.contextmanager
def as_unconfirmed() -> Iterator[None]:
    """For a sync behind a change: that stands."""
    try:
        yield
    except OSError as error:
        raise UnconfirmedChange(os.strerror(error.errno or 0)) from error


def needs_sync(changes: Iterable[Change]) -> bool:
    """Whether changes cannot be made again from the journal, so that the folder has to be synced before the answer."""
    versions = (version for change in changes for version in (change.before, change.after) if version is not None)
    return any(
        each.kind is EntryKind.OTHER or (each.kind is EntryKind.FILE and each.sha256 is None) for each in versions
    )


class Settler:
    """Has the disk confirm what stands in the folder, some time after it was written.

    Args:
        keep_open: Keeps the memory open while it lasts; raises `MemoryClosed`.
    """

    def __init__(
        self, store: Store, journal: Record, keep_open: Callable[[], contextlib.AbstractContextManager[None]]
    ) -> None:
        self._store = store
        self._journal = journal
        self._keep_open = keep_open
        self._lock = threading.Lock()
        self._settling = threading.Lock()
        self._timer: threading.Timer | None = None
        self._events = self._bytes = 0
        self._failed = False

    def note(self, size: int) -> None:
        """Note that an event of so many bytes waits for it."""
        if self._store.is_synced:
            return
        with self._lock:
            self._events += 1
            self._bytes += size
            is_full = self._events >= _COUNT or self._bytes >= _BYTES
            if self._timer is not None and (not is_full or self._timer.interval == 0):
                return
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(0 if is_full else _SECONDS, self._settle_open)
            self._timer.daemon = True
            self._timer.name = "memtui settle"
            self._timer.start()

    def close(self) -> None:
        """Settle what waits, as the last call of an engine."""
        with self._lock:
            timer = self._timer
        if timer is not None:
            timer.cancel()
            with contextlib.suppress(OSError, MemtuiError):  # the next start of the system looks again
                self.settle()

    def settle(self) -> None:
        """Have the disk confirm all that is recorded by now.

        Raises:
            OSError: It does not. Nothing is lost: what has been written is written again after a power cut.
            StateUnusable: The journal cannot be read or written.
        """
        with self._settling:
            with self._lock:
                self._timer, self._events, self._bytes = None, 0, 0
            mark, head = SettledMark.load(self._journal), self._journal.get_head()[0]
            if mark is None or mark.seq >= head or self._failed:
                return
            paths = {path for record in _iter_own(self._journal, mark.seq, head) for path, *_ in record["changes"]}
            try:
                self._store.sync_paths(paths)
            except OSError:
                self._failed = True  # a later call would only say that the disk has nothing to do
                raise
            SettledMark(mark.boot, head).save(self._journal)

    def _settle_open(self) -> None:
        with contextlib.suppress(OSError, MemtuiError), self._keep_open():
            self.settle()


def _iter_own(journal: Record, after: int, until: int) -> Iterator[dict[str, Any]]:
    """The events with changes that were made through an engine, as they are encoded."""
    for _, body in journal.iter_bodies(after, until):
        if b'"changes":' in body:
            record = decode_body(body)
            if record["actor"][0] != "outside":
                yield record


@dataclass(slots=True)
class _MeantPath:
    """What events have meant to stand at a path: the last version, and those that may be there in its place."""

    after: Version | None = None
    is_ours: bool = True
    others: list[Version | None] = field(default_factory=list)


class RollForward:
    """Makes the folder hold again, after a power cut, what events have left in it.

    Args:
        limit: Bytes of the largest file that is read.
        events: Those that are not known to be settled, in order.
    """

    def __init__(self, store: Store, journal: Record, limit: int, events: Iterable[Event]) -> None:
        self._store = store
        self._journal = journal
        self._limit = limit
        self._meant = _collect_meant(events)

    def is_remnant(self, data: bytes) -> bool:
        """Whether bytes are what the cut has left of a text that was on its way, whatever its name is now."""
        versions = {each for meant in self._meant.values() for each in (*meant.others, meant.after)}
        return self._is_torn(data, versions)

    def run(self, transaction: Transaction) -> None:
        """Write again what they have left.

        Raises:
            OSError: A path cannot be looked at, or written, just now.
        """
        mine = {path: each for path, each in self._meant.items() if each.is_ours}
        known: dict[str, KnownPath | None] = {}
        for path in sorted(mine, key=lambda each: each.count("/"), reverse=True):  # what is inside goes first
            with _skip_closed():
                self._clear_way(transaction, path, mine[path])
        for path in sorted(mine, key=lambda each: each.count("/")):
            with _skip_closed():
                if (now := self._put_in_place(transaction, path, mine[path])) is not None:
                    known[path] = now
                elif mine[path].after is None and reconcile.find_node(self._store, path) is None:
                    known[path] = None
        if not self._store.is_synced:
            self._store.sync_paths(self._meant)
        self._journal.append_events([], known=known)

    def _clear_way(self, transaction: Transaction, path: str, meant: _MeantPath) -> None:
        """Remove what was to go, or stands where something of another kind is to be."""
        node, after = reconcile.find_node(self._store, path), meant.after
        if node is None or (after is not None and after.kind is node.kind) or not self._is_older(node, meant):
            return
        place = MemoryPath.from_relative(path)
        if node.kind is EntryKind.DIRECTORY:
            try:
                transaction.remove_empty(place)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                    raise
        else:
            with contextlib.suppress(FileNotFoundError):
                transaction.delete(place, expected={path: node.stamp})

    def _put_in_place(self, transaction: Transaction, path: str, meant: _MeantPath) -> KnownPath | None:
        """Have a path hold what was meant; what is known of it then, `None` if another program's thing stands there."""
        after, node = meant.after, reconcile.find_node(self._store, path)
        if after is None or after.kind is EntryKind.OTHER:
            return None
        place = MemoryPath.from_relative(path)
        if after.kind is EntryKind.DIRECTORY:
            if node is None:
                transaction.make_directory(place)
                if after.attributes != UNKNOWN:
                    transaction.set_directory_attributes(place, after.attributes)
                node = reconcile.find_node(self._store, path)
            return KnownPath(after, node.stamp) if node is not None and node.kind is after.kind else None
        if node is not None and self._read_version(node) == after:
            return KnownPath(after, node.stamp)
        if node is not None and not (node.kind is after.kind and self._is_older(node, meant)):
            return None
        text = self._journal.get_text(after.sha256) if after.sha256 else None
        if text is None:
            return None
        if after.kind is EntryKind.LINK:
            if node is not None:
                transaction.delete(place, expected={path: node.stamp})
            written = transaction.make_link(place, text, mtime_ns=after.attributes.mtime_ns)
        else:
            expected = node.stamp if node is not None else None
            written = transaction.write(place, text, expected=expected, attributes=after.attributes)
        return KnownPath(after, written.node.stamp)

    def _is_older(self, node: Node, meant: _MeantPath) -> bool:
        """Whether a thing is what stood there before the power was cut, or what the cut has left of a text of ours."""
        if node.kind is EntryKind.DIRECTORY:
            return any(each is not None and each.kind is EntryKind.DIRECTORY for each in meant.others)
        version = self._read_version(node)
        if version is not None and version in meant.others:
            return True
        if node.kind is not EntryKind.FILE:
            return False
        data = self._read(node)
        return data is not None and self._is_torn(data, (*meant.others, meant.after))

    def _is_torn(self, data: bytes, versions: Iterable[Version | None]) -> bool:
        """Whether bytes are what is left of one of these versions."""
        files = (each.sha256 for each in versions if each is not None and each.kind is EntryKind.FILE and each.sha256)
        texts = (self._journal.get_text(each) for each in files)
        return any(is_torn(data, text) for text in texts if text is not None)

    def _read_version(self, node: Node) -> Version | None:
        if node.kind is EntryKind.LINK:
            return make_link_version(self._store.read_link(MemoryPath.from_relative(node.path)))
        if node.kind is not EntryKind.FILE:
            return Version(node.kind)
        data = self._read(node)
        return Version(EntryKind.FILE, sha256(data), len(data)) if data is not None else None

    def _read(self, node: Node) -> bytes | None:
        try:
            return self._store.read(MemoryPath.from_relative(node.path), limit=self._limit).data
        except (FileTooLarge, NotRegularFile):
            return None


def is_torn(data: bytes, text: bytes) -> bool:
    """Whether bytes are what a power cut may leave of a text: a beginning of it, in which sectors may be blank."""
    if len(data) > len(text):
        return False
    for start in range(0, len(data), _SECTOR):
        sector = data[start : start + _SECTOR]
        if sector != text[start : start + len(sector)] and sector.strip(b"\0"):
            return False
    return True


def _collect_meant(events: Iterable[Event]) -> dict[str, _MeantPath]:
    meant: dict[str, _MeantPath] = {}
    for event in events:
        for change in squash_changes(event.changes):
            each = meant.setdefault(change.path, _MeantPath(others=[change.before]))
            each.others.append(change.after)
            each.after = change.after
            each.is_ours = not (event.is_outside or event.is_error)  # nobody knows what a failing disk has done
    for each in meant.values():
        each.others = [other for other in each.others if other is None or other != each.after]
    return meant


_CLOSED = (errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ELOOP)


@contextlib.contextmanager
def _skip_closed() -> Iterator[None]:
    """For a path that another program has closed, or taken, since: the next look tells."""
    try:
        yield
    except (SymlinkEscape, ConcurrentChange, UnconfirmedChange):
        pass
    except OSError as error:
        if error.errno not in _CLOSED:
            raise
