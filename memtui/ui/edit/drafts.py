"""Texts that a person typed and that no memory holds yet: kept outside the folder, where they outlive whatever happens.

A crash, a closed terminal, a machine that loses power, a second memtui on the same note: none of it may cost a word.
Each text is a file of its own, whole at every moment. Whether the one who wrote it still runs is told by a lock that
the kernel takes back with the process, never by its number, which another process may have by now.
"""

import contextlib
import errno
import fcntl
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.core.edits import count_lines
from memtui.core.errors import MemtuiError
from memtui.core.events import sha256
from memtui.state import make_private
from memtui.ui.kept import keep as keep_file

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine

DIRECTORY = "drafts"
"""Of the drafts, in the state directory of a folder."""
_SCHEMA = 1
_DRAFT = ".draft"
_OWNER = ".owner"
_NOBODY = "-"
"""The owner of a text that was set aside."""
_UNKNOWN = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOLCK)
_HALF_WRITTEN = 3_600.0
"""Seconds after which a file that is not in its place yet will never be."""
_LONGEST_HEAD = 65_536

_here: set[str] = set()
"""The owners in this process: a lock of its own tells a process nothing."""


class NotKept(MemtuiError):
    """A draft could not be written; the words say why, and where the text is now."""


class Why(StrEnum):
    """Why a text is kept beside the note."""

    EDITING = "editing"
    """It was being typed."""
    TAKEN = "taken"
    """The other version was taken in its place."""
    DISCARDED = "discarded"
    """The person closed the editor without saving."""


_WORDS = {
    Why.EDITING: "an unsaved draft of",
    Why.TAKEN: "your version, set aside at",
    Why.DISCARDED: "a text not saved at",
}


@dataclass(frozen=True, slots=True)
class EditDraft:
    r"""One text that was kept.

    Attributes:
        path: The note that it was meant for, relative to the folder.
        text: The text; its lines end in `\n`.
        base: SHA-256, in hexadecimal, of the bytes that it was made from; `None` for a note that was new.
        at_us: When it was kept, in microseconds since 1970.
        why: Why it was.
        cursor: Row and column, from 0, where the cursor stood.
        file: Where it lies.
    """

    path: str
    text: str
    base: str | None
    at_us: int
    why: Why
    cursor: tuple[int, int]
    file: Path

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return count_lines(self.text)

    def words(self, now_us: int) -> str:
        """What it is, for a sentence: `an unsaved draft of 10:02 (12 lines)`.

        Args:
            now_us: The time, in microseconds since 1970.
        """
        at, today = datetime.fromtimestamp(self.at_us / 1e6), datetime.fromtimestamp(now_us / 1e6).date()
        clock = at.strftime("%H:%M" if at.date() == today else "%Y-%m-%d %H:%M")
        return f"{_WORDS[self.why]} {clock} ({self.lines:,} {'line' if self.lines == 1 else 'lines'})"


class EditDrafts:
    """The drafts of one folder. Every method may be called from any thread, and waits for the disk.

    Args:
        directory: Where they lie, made when there is something to keep; `None` keeps nothing.
        now_us: Tells the time, in microseconds since 1970.
    """

    def __init__(self, directory: Path | None, *, now_us: Callable[[], int] = lambda: time.time_ns() // 1_000) -> None:
        self._directory = directory
        self._now_us = now_us
        self._lock = threading.Lock()
        self._owner = f"{os.getpid()}-{secrets.token_hex(6)}"
        self._held = -1
        self._kept: dict[str, tuple[str, str | None]] = {}
        """By path, what was kept last: the same again needs no writing."""

    # Keeping

    def keep(self, path: str, text: str, base: str | None, *, cursor: tuple[int, int] = (0, 0)) -> None:
        """Keep what is being typed in place of what was kept of the same note before.

        Args:
            path: The note, relative to the folder.
            text: All of it.
            base: SHA-256 of the bytes that it was made from; `None` for a note that is new.
            cursor: Row and column, from 0, where the cursor stands.

        Raises:
            NotKept: It could not be written. What was kept before still is.
        """
        with self._lock:
            if self._directory is None or self._kept.get(path) == (text, base):
                return
            draft = EditDraft(path, text, base, self._now_us(), Why.EDITING, cursor, self._own(self._directory, path))
            self._write(draft, self._owner)
            self._kept[path] = (text, base)

    def set_aside(self, path: str, text: str, base: str | None, *, why: Why = Why.TAKEN) -> EditDraft | None:
        """Keep a text for later, until the person takes it back or forgets it. What was being typed is this, and goes.

        Args:
            path: The note, relative to the folder.
            text: All of it.
            base: SHA-256 of the bytes that it was made from.
            why: Why it is not what the note holds.

        Returns:
            The draft; `None` where nothing can be kept at all.

        Raises:
            NotKept: It could not be written.
        """
        with self._lock:
            if self._directory is None:
                return None
            file = (
                self._directory / f"{_name(path)}-{_NOBODY}{sha256(text.encode('utf-8', 'surrogatepass'))[:12]}{_DRAFT}"
            )
            draft = EditDraft(path, text, base, self._now_us(), why, (0, 0), file)
            self._write(draft, _NOBODY)
            self._drop(path)
            return draft

    def drop(self, path: str) -> None:
        """The note holds the text now, or the person does not want it: what was being typed goes."""
        with self._lock:
            self._drop(path)

    def adopt(self, draft: EditDraft, *, path: str | None = None) -> None:
        """Go on with a draft: it is what is being typed in this process now, and lies nowhere else.

        Args:
            draft: One that was found.
            path: What its note is called now, if it was renamed since.

        Raises:
            NotKept: It could not be written; it stays where it was.
        """
        path = draft.path if path is None else path
        self.keep(path, draft.text, draft.base, cursor=draft.cursor)
        with self._lock:
            if self._directory is not None and draft.file != self._own(self._directory, path):
                self._remove(draft.file)

    def forget(self, draft: EditDraft) -> None:
        """The person does not want it any more."""
        with self._lock:
            self._remove(draft.file)
            if self._kept and self._directory is not None and draft.file == self._own(self._directory, draft.path):
                self._kept.pop(draft.path, None)

    def close(self) -> None:
        """Let go of what is being typed here: it stays, and whoever opens the note next is told of it."""
        with self._lock:
            self._kept.clear()
            _here.discard(self._owner)
            if self._held >= 0:
                os.close(self._held)
                self._held = -1
                if self._directory is not None:
                    self._remove(self._directory / f"{self._owner}{_OWNER}")

    # Finding

    def found(self, path: str, *, former: Collection[str] = (), now: str | None = None) -> tuple[EditDraft, ...]:
        """What was left of a note, the newest first: by processes that have ended, or set aside.

        Args:
            path: The note, relative to the folder.
            former: What it was called before.
            now: The text that the note holds: a draft of just that is no loss to anybody, and goes.
        """
        kept: list[EditDraft] = []
        for draft in sorted(self._left(self._of(path, *former)), key=_newest_first):
            if draft.text == now or any(draft.text == each.text for each in kept):
                self.forget(draft)  # the same words are kept elsewhere
            else:
                kept.append(draft)
        return tuple(kept)

    def elsewhere(self, path: str) -> tuple[EditDraft, ...]:
        """What is being typed of a note in other windows right now."""
        others = ((draft, owner) for draft, owner in self._of(path) if owner not in (_NOBODY, self._owner))
        return tuple(draft for draft, owner in others if self._lives(owner))

    def all(self) -> tuple[EditDraft, ...]:
        """Whatever was left of any note, the newest first; of the same text of a note, only the newest."""
        found: dict[tuple[str, str], EditDraft] = {}
        for draft in sorted(self._left(self._in_files("")), key=_newest_first):
            found.setdefault((draft.path, draft.text), draft)
        return tuple(found.values())

    # Removing for good

    def everything(self) -> tuple[tuple[EditDraft, bool], ...]:
        """Every draft that lies there, also one that says the same as another; and whether it is being typed now."""
        return tuple(
            (draft, owner == self._owner or (owner != _NOBODY and self._lives(owner)))
            for draft, owner in self._in_files("")
        )

    def rewrite(self, draft: EditDraft, text: str) -> None:
        """Have a draft that nobody is typing hold another text; all else of it stays.

        Args:
            draft: One that was found.
            text: What it holds from now on.

        Raises:
            OSError: It could not be written. It holds what it held.
        """
        with self._lock:
            with open(os.open(draft.file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as held:
                head = held.readline(_LONGEST_HEAD)
            keep_file(draft.file, head + text.encode("utf-8", "surrogatepass"))

    def half_written(self) -> tuple[Path, ...]:
        """What a process that was killed left of drafts: nobody ever reads it."""
        if self._directory is None:
            return ()
        try:
            names = sorted(os.listdir(self._directory))
        except OSError:
            return ()
        return tuple(self._directory / name for name in names if name.startswith(".") and f"{_DRAFT}." in name)

    def _left(self, drafts: Iterable[tuple[EditDraft, str]]) -> Iterator[EditDraft]:
        """Those that nobody is typing just now."""
        for draft, owner in drafts:
            if owner in (_NOBODY, self._owner) or not self._lives(owner):
                yield draft

    def _of(self, *paths: str) -> Iterator[tuple[EditDraft, str]]:
        for path in dict.fromkeys(paths):
            yield from ((draft, owner) for draft, owner in self._in_files(_name(path)) if draft.path == path)

    def _in_files(self, start: str) -> Iterator[tuple[EditDraft, str]]:
        if self._directory is None:
            return
        try:
            names = sorted(os.listdir(self._directory))
        except OSError:
            return
        for name in names:
            if name.startswith(start) and name.endswith(_DRAFT) and not name.startswith("."):
                read = _read(self._directory / name)
                if read is not None:
                    yield read

    # Files

    def _own(self, directory: Path, path: str) -> Path:
        return directory / f"{_name(path)}-{self._owner}{_DRAFT}"

    def _write(self, draft: EditDraft, owner: str) -> None:
        head = {
            "schema": _SCHEMA,
            "path": draft.path,
            "base": draft.base,
            "at_us": draft.at_us,
            "why": draft.why.value,
            "cursor": list(draft.cursor),
            "owner": owner,
        }
        data = json.dumps(head).encode("ascii") + b"\n" + draft.text.encode("utf-8", "surrogatepass")
        try:
            if owner != _NOBODY:
                self._hold()
            keep_file(draft.file, data)
        except OSError as error:
            reason = (error.strerror or "input/output error").lower()
            raise NotKept(f"No draft is kept: {reason}. Your text is on this screen only.") from error

    def _hold(self) -> None:
        """Hold the lock that says that this process runs; before its first draft can be seen."""
        if self._held >= 0 or self._directory is None:
            return
        make_private(self._directory)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        fd = os.open(self._directory / f"{self._owner}{_OWNER}", flags, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _UNKNOWN:
                os.close(fd)
                raise
        self._held = fd
        _here.add(self._owner)
        self._tidy(self._directory)

    def _tidy(self, directory: Path) -> None:
        """Remove what was left half written by processes that were killed long ago."""
        with contextlib.suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                if (
                    entry.name.startswith(".")
                    and entry.stat(follow_symlinks=False).st_mtime < time.time() - _HALF_WRITTEN
                ):
                    self._remove(Path(entry.path))

    def _lives(self, owner: str) -> bool:
        """Whether who wrote a draft still runs."""
        if owner in _here or self._directory is None:
            return owner in _here
        file = self._directory / f"{owner}{_OWNER}"
        try:
            fd = os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two that ask do not take each other for it
        except BlockingIOError:
            return True
        except OSError as error:
            return error.errno in _UNKNOWN and _runs(owner)
        finally:
            os.close(fd)
        self._remove(file)
        return False

    def _drop(self, path: str) -> None:
        self._kept.pop(path, None)
        if self._directory is not None:
            self._remove(self._own(self._directory, path))

    @staticmethod
    def _remove(file: Path) -> None:
        with contextlib.suppress(OSError):  # one that stays is offered once more: nothing is lost by it
            file.unlink()


def drafts_of(engine: "Engine") -> EditDrafts:
    """The drafts of an open memory. Of one that is kept in memory, or only looked at, none are kept."""
    journal = engine.journal.path
    return EditDrafts(Path(journal).parent / DIRECTORY if journal is not None and not engine.read_only else None)


def _newest_first(draft: EditDraft) -> int:
    return -draft.at_us


def _name(path: str) -> str:
    """What the files of a path's drafts begin with."""
    return sha256(path.encode("utf-8", "surrogatepass"))[:16]


def _read(file: Path) -> tuple[EditDraft, str] | None:
    """A draft and who wrote it; `None` for what is none."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as held:
            head = json.loads(held.readline(_LONGEST_HEAD))
            text = held.read().decode("utf-8", "surrogatepass")
        row, column = head["cursor"]
        path, owner, base = head["path"], head["owner"], head["base"]
        if not all(isinstance(each, str) for each in (path, owner, "" if base is None else base)):
            return None
        if "/" in owner or "\0" in owner:
            return None
        cursor = (int(row), int(column))
        return EditDraft(path, text, base, int(head["at_us"]), Why(head["why"]), cursor, file), owner
    except (OSError, ValueError, LookupError, TypeError, RecursionError, OverflowError):
        return None


def _runs(owner: str) -> bool:
    """The same where the file system knows no locks: by the number of the process, which may be another's by now."""
    number = owner.partition("-")[0]
    if not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
