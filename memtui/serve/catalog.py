"""The stores: the folders below a directory that a person names, and places that are named one by one.

A place is a folder, a SQLite file, or memories on a server. What the API says of a store besides its memories (its id,
name, description, metadata, whether it is archived) is kept beside the journal, or beside this machine's copy of it.
Nothing of it is inside the folder.
"""

import json
import os
import re
import secrets
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from pathlib import Path

from memtui.core.events import Actor, sha256
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import NO_FOLDER, SERVER, hide_secrets
from memtui.core.settings import Settings
from memtui.engine import Engine
from memtui.fs.atomic import write_atomic
from memtui.fs.state import get_state_directory, make_private_directory
from memtui.memory import connect
from memtui.serve.errors import CONFLICT, ApiError, make_forbidden, make_invalid, make_missing, make_refusal_error
from memtui.serve.paths import is_presentable
from memtui.serve.store import OpenStore

_FILE = "hosted.json"
"""The file beside a journal that holds what the API says of the store."""
_MOST_FILE_BYTES = 65_536
_MOST_STORES = 1_000
_LONGEST_SLUG = 64
_NOT_IN_SLUGS = re.compile("[^a-z0-9]+")
_NOT_IN_PLACES = re.compile("(?<=://)[^/@]*@")
"""Whose login it is: the same store has others too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """What the API says of a store; times are in microseconds since 1970.

    Attributes:
        since: The number of the event behind which it begins: what a deleted store held is no part of it.
        deleted_us: When it was deleted; its folder may have been made again since.
    """

    id: str
    name: str
    description: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    created_us: int = 0
    updated_us: int = 0
    archived_us: int | None = None
    since: int = 0
    deleted_us: int | None = None


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """A store and where it is.

    Attributes:
        key: Its name on this server, by which rights are given: that of its folder.
        folder: Where: a folder's path, or another place (see `resolve_place`).
        is_removable: Whether it may be deleted: not where a person named it alone.
    """

    key: str
    folder: str
    info: StoreInfo
    is_removable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """Which stores are served.

    Attributes:
        root: The directory whose folders are stores, with links resolved; `None` for none.
        folders: Folders and other places that are stores, by their names, with links resolved.
        state: The directory for the journals; `None` for the usual one.
        read_only: Whether every change is refused, and nothing is recorded.
        load_settings: The settings of a folder.
    """

    root: str | None
    folders: Mapping[str, str]
    load_settings: Callable[[str], Settings]
    state: str | None = None
    read_only: bool = False

    def get_state(self, folder: str) -> str | None:
        """Where the journal of a folder is, if a directory was named for all of them."""
        if self.state is None:
            return None
        name = (os.path.basename(folder) or "root") if _is_folder(folder) else "store"
        return os.path.join(self.state, f"{name}-{sha256(os.fsencode(folder))[:12]}")


class StoreCatalog:
    """Finds, opens and changes stores. Every method may be called from any thread.

    Args:
        options: Which ones.
        most_open: How many folders are kept open.
        now_us: The clock, in microseconds since 1970.
    """

    def __init__(
        self, options: StoreOptions, most_open: int, now_us: Callable[[], int] = lambda: time.time_ns() // 1_000
    ) -> None:
        self._options = options
        self._most_open = most_open
        self._now_us = now_us
        self._lock = threading.RLock()
        self._infos: dict[str, tuple[tuple[int, int], StoreInfo]] = {}
        """By folder, each with the stamp of its file: another server may change it."""
        self._found: dict[str, StoreEntry] = {}
        """The entries that were asked for last, by id."""
        self._open: OrderedDict[str, OpenStore] = OrderedDict()

    def close(self) -> None:
        with self._lock:
            stores = list(self._open.values())
            self._open.clear()
        for store in stores:
            store.close()

    @property
    def open_count(self) -> int:
        return len(self._open)

    # Finding

    def iter_entries(self) -> Iterator[StoreEntry]:
        """All stores, archived ones as well; raises `OSError` if the directory cannot be read."""
        for key, folder in self._options.folders.items():
            yield StoreEntry(key, folder, self._get_info(key, folder), False)
        for key in self._list_names():
            if key not in self._options.folders:
                folder = os.path.join(self._options.root or "", key)
                yield StoreEntry(key, folder, self._get_info(key, folder), True)

    def find(self, store_id: str) -> StoreEntry:
        """A store; raises `ApiError` if there is none."""
        entry = self._found.get(store_id)
        if entry is not None and _is_there(entry.folder):
            info = self._get_info(entry.key, entry.folder)
            if info.id == store_id:
                return replace(entry, info=info)
        for entry in self.iter_entries():
            if entry.info.id == store_id:
                self._found[store_id] = entry
                return entry
        self._found.pop(store_id, None)
        raise make_missing("memory store", store_id)

    def check(self) -> None:
        """Raise `OSError` if the folders cannot be read. Servers are not asked: theirs is another health."""
        self._list_names()
        for folder in filter(_is_folder, self._options.folders.values()):
            os.stat(folder)

    def _list_names(self) -> Sequence[str]:
        if self._options.root is None:
            return ()
        with os.scandir(self._options.root) as found:
            return sorted(
                each.name
                for each in found
                if not each.name.startswith(".") and each.is_dir(follow_symlinks=False) and is_presentable(each.name)
            )

    def _get_info(self, key: str, folder: str) -> StoreInfo:
        path = get_state_directory(folder, self._options.get_state(folder)) / _FILE
        with self._lock:
            stamp, known = _get_stamp(path), self._infos.get(folder)
            if known is not None and known[0] == stamp:
                return known[1]
            kept = _read_info(path)
            info = kept if kept is not None and kept.deleted_us is None else self._begin_info(key, folder, kept)
            self._infos[folder] = _get_stamp(path), info
            return info

    def _begin_info(self, key: str, folder: str, kept: StoreInfo | None) -> StoreInfo:
        """What is said of a folder that was no store yet, or none any more."""
        if not _is_folder(folder):
            return self._begin_place_info(key, folder)
        if self._options.read_only:
            changed_us = os.stat(folder).st_mtime_ns // 1_000
            return StoreInfo(
                id=f"memstore_{sha256(os.fsencode(folder))[:24]}",
                name=key,
                created_us=changed_us,
                updated_us=changed_us,
            )
        since = kept.since if kept is not None else 0
        changed_us = min(os.stat(folder).st_mtime_ns // 1_000, self._now_us())
        info = StoreInfo(id=_make_id(), name=key, created_us=changed_us, updated_us=changed_us, since=since)
        self._save_info(folder, info)
        return info

    def _begin_place_info(self, key: str, place: str) -> StoreInfo:
        """What is said of a place that is no folder. Its id is the same on every machine that serves it."""
        now_us = self._now_us()
        identity = _NOT_IN_PLACES.sub("", hide_secrets(place) if place.startswith(SERVER) else place)
        info = StoreInfo(
            id=f"memstore_{sha256(os.fsencode(identity))[:24]}", name=key, created_us=now_us, updated_us=now_us
        )
        if not self._options.read_only:
            self._save_info(place, info)
        return info

    def _save_info(self, folder: str, info: StoreInfo) -> None:
        where = get_state_directory(folder, self._options.get_state(folder))
        make_private_directory(where)
        write_atomic(where / _FILE, json.dumps(asdict(info), ensure_ascii=True).encode())

    # Opening

    @contextmanager
    def use(self, entry: StoreEntry) -> Iterator[OpenStore]:
        """An open store, which stays open meanwhile."""
        with self._lock:
            store = self._open.get(entry.folder)
            if store is not None and store.id == entry.info.id:
                self._open.move_to_end(entry.folder)
            else:
                store = self._open[entry.folder] = OpenStore(entry.info.id, entry.info.since)
            store.users += 1
            idle = [folder for folder, each in self._open.items() if not each.users]
            closing = [self._open.pop(folder) for folder in idle[: max(len(self._open) - self._most_open, 0)]]
        for each in closing:
            each.close()
        try:
            store.open(lambda: self._connect(entry.folder))
            yield store
        finally:
            with self._lock:
                store.users -= 1

    def _connect(self, folder: str) -> Engine:
        settings = replace(self._options.load_settings(folder), create="overwrite")
        return connect(
            folder, state=self._options.get_state(folder), read_only=self._options.read_only, settings=settings
        )

    # Changing

    def create(self, name: str, description: str, metadata: Mapping[str, str]) -> StoreEntry:
        """Make a folder, and a store of it."""
        self._require_writable()
        root = self._options.root
        if root is None:
            raise make_forbidden("This server has no directory for new stores: it was started without --stores.")
        with self._lock:
            if len(self._list_names()) >= _MOST_STORES:
                raise make_invalid(f"There are {_MOST_STORES:,} memory stores, and more are not made.")
            key = self._make_folder(root, name)
            folder, now_us = os.path.join(root, key), self._now_us()
            info = StoreInfo(
                id=_make_id(),
                name=name,
                description=description,
                metadata=dict(metadata),
                created_us=now_us,
                updated_us=now_us,
            )
            self._save_info(folder, info)
            return StoreEntry(key, folder, info, True)

    def _make_folder(self, root: str, name: str) -> str:
        slug = _NOT_IN_SLUGS.sub("-", name.lower()).strip("-")[:_LONGEST_SLUG].strip("-") or "store"
        number = 1
        while True:
            key = slug if number == 1 else f"{slug}-{number}"
            folder = os.path.join(root, key)
            number += 1
            if key in self._options.folders or get_state_directory(folder, self._options.get_state(folder)).exists():
                continue  # a journal of an earlier folder is there: what it holds is not this store's
            try:
                os.mkdir(folder, 0o700)
            except FileExistsError:
                continue
            return key

    def update(self, entry: StoreEntry, change: Callable[[StoreInfo], StoreInfo]) -> StoreEntry:
        """Change what the API says of a store; what is changed is not its memories."""
        self._require_writable()
        with self._lock:
            before = self._get_info(entry.key, entry.folder)
            info = change(before)
            if info != before:
                info = replace(info, updated_us=self._now_us())
                self._save_info(entry.folder, info)
            return replace(entry, info=info)

    def archive(self, entry: StoreEntry) -> StoreEntry:
        now_us = self._now_us()
        with self.use(entry) as store, store.writing:  # what is being written is written before
            return self.update(
                entry, lambda info: info if info.archived_us is not None else replace(info, archived_us=now_us)
            )

    def delete(self, entry: StoreEntry, actor: Actor) -> None:
        """Delete all memories of a store, and its folder. The journal stays, for the person."""
        self._require_writable()
        if not entry.is_removable:
            raise make_forbidden("This memory store was named when the server was started: it is not deleted.")
        with self.use(entry) as store, store.writing:
            answer = store.memory.clear(actor=actor)
            if answer.is_error:
                raise make_refusal_error(answer)
            head = store.memory.get_head()[0]
            store.is_closing = True
            try:
                os.rmdir(entry.folder)
            except OSError as error:
                store.is_closing = False
                raise ApiError(
                    409, CONFLICT, "Its memories were deleted, and its folder stays: another program wrote to it."
                ) from error
            with self._lock:
                self._save_info(entry.folder, replace(entry.info, since=head, deleted_us=self._now_us()))
                self._open.pop(entry.folder, None)
        store.close()

    def _require_writable(self) -> None:
        if self._options.read_only:
            raise make_forbidden("This server is read-only.")


def _is_folder(place: str) -> bool:
    return not place.startswith(NO_FOLDER)


def _is_there(place: str) -> bool:
    """Whether a folder is there and no link; of other places it is found out when they are opened."""
    return not _is_folder(place) or (os.path.isdir(place) and not os.path.islink(place))


def _make_id() -> str:
    return f"memstore_{secrets.token_hex(12)}"


def _get_stamp(path: Path) -> tuple[int, int]:
    """Numbers that differ once a file was replaced; zeros for none."""
    try:
        seen = path.stat()
    except OSError:
        return 0, 0
    return seen.st_mtime_ns, seen.st_ino


def _read_info(path: Path) -> StoreInfo | None:
    """What is kept of a store; `None` for nothing, and for what memtui did not write."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            data = file.read(_MOST_FILE_BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
        kept = json.loads(data)
        info = StoreInfo(**kept)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    is_whole = isinstance(info.id, str) and isinstance(info.name, str) and isinstance(info.metadata, dict)
    return info if is_whole and all(isinstance(each, int) for each in (info.created_us, info.since)) else None
