"""The writes that agents announce, kept outside the record until the change is found.

A program such as Claude Code writes memory files without memtui; a hook of it says which, and what they will hold. The
process that finds the change then records it as that agent's and not as one from outside. An announcement proves
nothing by itself: only a text that is found as announced, in time and once, is recorded so.
"""

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from memtui.core.events import Agent, Event, Version, sha256
from memtui.core.lazy_dataclass import dataclass
from memtui.fs.atomic import write_atomic
from memtui.fs.no_atime import open_without_atime

DIRECTORY = "announced"
"""Of the announcements, in the state directory of a folder."""
_MOST = 256
"""Announcements that are kept; the oldest go first."""
_LONGEST = 65_536
"""Bytes of one."""
_EARLY_US = 2_000_000
"""Microseconds by which two clocks may differ."""


_FRONT_MATTER = re.compile(rb"---\r?\n(?:(?!---)[^\n]*+\n)*+---[ \t]*+\r?\n")
_STAMP = re.compile(rb"[ \t]*+(?:(?:node_type|originSessionId|modified)[ \t]*+:|metadata:[ \t]*+\r?\Z|\r?\Z)")


def hash_unstamped(data: bytes) -> str:
    """SHA-256 of a note without what Claude Code writes into its front matter by itself, such as the time."""
    front = _FRONT_MATTER.match(data)
    if front is None:
        return sha256(data)
    lines = sorted(line.strip() for line in front[0].split(b"\n") if not _STAMP.match(line))
    return sha256(b"\n".join([*lines, data[front.end() :].lstrip(b"\r\n")]))


@dataclass(frozen=True, slots=True)
class Announcement:
    """A change that an agent is about to make, or has just made, by itself. Times are microseconds since 1970.

    Attributes:
        hashes: SHA-256 of the file's future text, in hexadecimal: any of these; empty where that is not known.
        note: For the log, such as `Write`.
        is_new: Whether there was nothing at the path by then.
        arguments: What else is known of the call, as JSON.
        unstamped: `hash_unstamped` of the text, where the agent stamps what it writes.
        is_gone: Whether the path is to be empty.
        moved_to: The path where the file is to stand then; empty for none.
    """

    path: str
    actor: Agent
    call_id: str
    hashes: tuple[str, ...]
    note: str
    from_us: int
    until_us: int
    is_new: bool = False
    arguments: str | None = None
    unstamped: tuple[str, ...] = ()
    is_gone: bool = False
    moved_to: str = ""

    def matches(
        self,
        version: Version | None,
        now_us: int,
        *,
        moved_to: str | None = None,
        read: Callable[[], bytes | None] = lambda: None,
    ) -> bool:
        """Whether what was found now is what was announced; `read` gives the found text."""
        if not self.from_us - _EARLY_US <= now_us <= self.until_us:
            return False
        if moved_to is not None:
            return self.is_gone and self.moved_to == moved_to
        if self.is_gone or version is None:
            return self.is_gone and version is None
        if not (self.hashes or self.unstamped) or version.sha256 in self.hashes:
            return True
        return bool(self.unstamped) and (data := read()) is not None and hash_unstamped(data) in self.unstamped

    def is_recorded_by(self, events: Sequence[Event]) -> bool:
        """Whether one of the events of its path is the announced change already: it is found once."""
        return any(event.call_id == self.call_id and event.actor == self.actor for event in events)


class AnnouncementStore:
    """The announcements of one folder, in its state directory or in memory. Several processes may use it at once."""

    def __init__(self, state: str | os.PathLike[str] | None) -> None:
        self._directory = None if state is None else os.path.join(state, DIRECTORY)
        self._here: dict[str, Announcement] = {}

    def add(self, announcement: Announcement) -> None:
        """Keep one; a later one of the same call and path takes its place. Raises `OSError`."""
        name = _name_file(announcement.call_id, announcement.path)
        if self._directory is None:
            self._here[name] = announcement
            while len(self._here) > _MOST:
                del self._here[next(iter(self._here))]
            return
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        self._make_room(self._directory)
        write_atomic(os.path.join(self._directory, name), _encode(announcement), sync=False)

    def group_by_path(self) -> Mapping[str, Sequence[Announcement]]:
        """All of them, by their paths."""
        found: dict[str, list[Announcement]] = {}
        for each in self._here.values() if self._directory is None else _load_announcements(self._directory):
            found.setdefault(each.path, []).append(each)
        return found

    def get(self, call_id: str, path: str) -> Announcement | None:
        """That of a call for a path: nothing else is read."""
        name = _name_file(call_id, path)
        return self._here.get(name) if self._directory is None else _decode(os.path.join(self._directory, name))

    def find_by_call(self, call_id: str) -> Announcement | None:
        """One that a call made, whatever its path."""
        return next(iter(self.list_by_call(call_id)), None)

    def list_by_call(self, call_id: str) -> list[Announcement]:
        """All that a call made."""
        return [each for all in self.group_by_path().values() for each in all if each.call_id == call_id]

    def _make_room(self, directory: str) -> None:
        """Remove what holds no more, and the oldest if there are too many."""
        aged = []
        with os.scandir(directory) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # another hook has just moved it to its place
                    aged.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path))
        aged.sort()
        if len(aged) < _MOST // 2:
            return
        now_us = time.time_ns() // 1_000
        live = []
        for at_ns, path in aged:
            kept = _decode(path)
            if kept is None and at_ns // 1_000 > now_us - 60_000_000:
                continue  # on its way, it seems
            if kept is None or kept.until_us < now_us:
                with contextlib.suppress(OSError):
                    os.unlink(path)
            else:
                live.append(path)
        for path in live[: max(len(live) - _MOST + 1, 0)]:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _name_file(call_id: str, path: str) -> str:
    return sha256(f"{call_id}\0{path}".encode("utf-8", "surrogatepass"))[:32]


def _load_announcements(directory: str) -> Iterator[Announcement]:
    try:
        fd = open_without_atime(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            names = sorted(os.listdir(fd))
        finally:
            os.close(fd)
    except OSError:
        return
    for name in names:
        if "." not in name and (kept := _decode(os.path.join(directory, name))) is not None:
            yield kept


def _encode(announcement: Announcement) -> bytes:
    actor = announcement.actor
    record = {
        "path": announcement.path,
        "actor": [actor.name, actor.model, actor.session],
        "call_id": announcement.call_id,
        "hashes": list(announcement.hashes),
        "note": announcement.note,
        "from_us": announcement.from_us,
        "until_us": announcement.until_us,
        "is_new": announcement.is_new,
        "arguments": announcement.arguments,
        "unstamped": list(announcement.unstamped),
        "is_gone": announcement.is_gone,
        "moved_to": announcement.moved_to,
    }
    return json.dumps(record).encode("ascii")


def _decode(path: str) -> Announcement | None:
    """One as it was kept; `None` for anything else."""
    try:
        with open(open_without_atime(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            record = json.loads(file.read(_LONGEST))
        name, model, session = record["actor"]
        unstamped, moved_to = tuple(record.get("unstamped", ())), record.get("moved_to", "")  # not in older ones
        texts = (record["path"], name, record["call_id"], record["note"], moved_to, *record["hashes"], *unstamped)
        maybe = (model, session, record["arguments"])
        if not all(isinstance(each, str) for each in texts + tuple(each for each in maybe if each is not None)):
            return None
        return Announcement(
            record["path"],
            Agent(name, model, session),
            record["call_id"],
            tuple(record["hashes"]),
            record["note"],
            int(record["from_us"]),
            int(record["until_us"]),
            record["is_new"] is True,
            record["arguments"],
            unstamped,
            record.get("is_gone") is True,
            moved_to,
        )
    except (OSError, ValueError, LookupError, TypeError, RecursionError, OverflowError):
        return None
