"""Drafts: unsaved texts, kept outside the folder, where they survive a crash, a closed terminal or a loss of power.

Each text is a file of its own, replaced atomically. Whether its writer still runs is told by a lock that the kernel
releases with the process, not by its number, which another process may have by now.
"""

import contextlib
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.core.edits import count_lines
from memtui.core.errors import LockTimeout, MemtuiError
from memtui.core.events import sha256
from memtui.core.lazy_dataclass import dataclass
from memtui.core.wording import format_count
from memtui.editing.external_editor import write_private
from memtui.fs.locks import lock_file
from memtui.fs.state import make_private_directory

if TYPE_CHECKING:  # the engine is loaded behind the first paint
    from memtui.engine import Engine


DIRECTORY = "drafts"
"""Within the state directory of a folder."""
_SCHEMA = 1
_LATEST = 250_000_000_000 * 1_000_000  # in the year 9892: of later times there are no dates
_DRAFT = ".draft"
_OWNER = ".owner"
_NOBODY = "-"
"""The owner of a text that was set aside."""
_HALF_WRITTEN = 3_600.0
"""Seconds after which a temporary file is abandoned."""
_LONGEST_HEAD = 65_536

_here: set[str] = set()
"""The owners in this process: a process can take its own lock again."""


class DraftNotSaved(MemtuiError):
    """A draft could not be written; the words say why, and where the text is now."""


class DraftReason(StrEnum):
    """Why a text is a draft."""

    EDITING = "editing"
    TAKEN = "taken"
    """The other version was taken in its place."""
    DISCARDED = "discarded"
    """The person closed the editor without saving."""


_WORDS = {
    DraftReason.EDITING: "an unsaved draft of",
    DraftReason.TAKEN: "your version, set aside at",
    DraftReason.DISCARDED: "a text not saved at",
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
    reason: DraftReason
    cursor: tuple[int, int]
    file: Path

    @property
    def line_count(self) -> int:
        return count_lines(self.text)

    def describe(self, now_us: int) -> str:
        """For a sentence: `an unsaved draft of 10:02 (12 lines)`; the time is in microseconds since 1970."""
        at, today = datetime.fromtimestamp(self.at_us / 1e6), datetime.fromtimestamp(now_us / 1e6).date()
        clock = at.strftime("%H:%M" if at.date() == today else "%Y-%m-%d %H:%M")
        return f"{_WORDS[self.reason]} {clock} ({format_count(self.line_count, 'line')})"


class EditDraftStore:
    """The drafts of one folder. Thread-safe and blocking.

    Args:
        directory: Created when there is something to keep; `None` keeps nothing.
        now_us: The time, in microseconds since 1970.
    """

    def __init__(self, directory: Path | None, *, now_us: Callable[[], int] = lambda: time.time_ns() // 1_000) -> None:
        self._directory = directory
        self._now_us = now_us
        self._lock = threading.Lock()
        self._owner = f"{os.getpid()}-{secrets.token_hex(6)}"
        self._owner_fd = -1
        self._saved: dict[str, tuple[str, str | None]] = {}
        """By path, the last text that was kept: the same again needs no write."""

    def save(self, path: str, text: str, base: str | None, *, cursor: tuple[int, int] = (0, 0)) -> None:
        """Keep a text that is being typed, in place of the earlier draft of the note.

        Args:
            path: The note, relative to the folder.
            text: All of it.
            base: SHA-256 of the bytes that it was made from; `None` for a note that is new.
            cursor: Row and column, from 0.

        Raises:
            DraftNotSaved: The earlier draft is still there.
        """
        with self._lock:
            if self._directory is None or self._saved.get(path) == (text, base):
                return
            file = self._get_own_file(self._directory, path)
            draft = EditDraft(path, text, base, self._now_us(), DraftReason.EDITING, cursor, file)
            self._write(draft, self._owner)
            self._saved[path] = (text, base)

    def set_aside(
        self, path: str, text: str, base: str | None, *, why: DraftReason = DraftReason.TAKEN
    ) -> EditDraft | None:
        """Keep a text until the person takes it back or forgets it, in place of the draft of this editor.

        Returns:
            The draft; `None` where no drafts are kept.

        Raises:
            DraftNotSaved: It could not be written.
        """
        with self._lock:
            if self._directory is None:
                return None
            digest = sha256(text.encode("utf-8", "surrogatepass"))[:12]
            file = self._directory / f"{_build_name_prefix(path)}-{_NOBODY}{digest}{_DRAFT}"
            draft = EditDraft(path, text, base, self._now_us(), why, (0, 0), file)
            self._write(draft, _NOBODY)
            self._drop(path)
            self._saved[path] = (text, base)  # an editor that has not closed yet does not keep it twice
            return draft

    def drop(self, path: str) -> None:
        """Delete the draft of this editor."""
        with self._lock:
            self._drop(path)

    def adopt(self, draft: EditDraft, *, path: str | None = None) -> None:
        """Continue a draft in this editor; `path` is the note's name now, if it was renamed since.

        Raises:
            DraftNotSaved: The draft is still where it was.
        """
        path = draft.path if path is None else path
        self.save(path, draft.text, draft.base, cursor=draft.cursor)
        with self._lock:
            if self._directory is not None and draft.file != self._get_own_file(self._directory, path):
                self._remove(draft.file)

    def discard(self, draft: EditDraft) -> None:
        with self._lock:
            self._remove(draft.file)
            if self._directory is not None and draft.file == self._get_own_file(self._directory, draft.path):
                self._saved.pop(draft.path, None)

    def close(self) -> None:
        """Release this editor's drafts: the next one to open the note is offered them."""
        with self._lock:
            self._saved.clear()
            _here.discard(self._owner)
            if self._owner_fd >= 0:
                os.close(self._owner_fd)
                self._owner_fd = -1
                if self._directory is not None:
                    self._remove(self._directory / f"{self._owner}{_OWNER}")

    def find(self, path: str, *, former: Collection[str] = (), now: str | None = None) -> tuple[EditDraft, ...]:
        """The drafts of a note that nobody is typing, the newest first.

        Args:
            path: The note, relative to the folder.
            former: Its former names.
            now: The text of the note: a draft with the same text is deleted.
        """
        drafts: list[EditDraft] = []
        for draft in sorted(
            self._iter_abandoned(self._iter_note_drafts(path, *former)), key=lambda draft: -draft.at_us
        ):
            if draft.text == now or any(draft.text == each.text for each in drafts):
                self.discard(draft)  # the same words are kept elsewhere
            else:
                drafts.append(draft)
        return tuple(drafts)

    def find_elsewhere(self, path: str) -> tuple[EditDraft, ...]:
        """The drafts of a note that other windows are typing."""
        others = (each for each in self._iter_note_drafts(path) if each[1] not in (_NOBODY, self._owner))
        return tuple(draft for draft, owner in others if self._is_owner_running(owner))

    def list_latest(self) -> tuple[EditDraft, ...]:
        """The drafts of all notes that nobody is typing, the newest first, without duplicates."""
        found: dict[tuple[str, str], EditDraft] = {}
        for draft in sorted(self._iter_abandoned(self._read_files("")), key=lambda draft: -draft.at_us):
            found.setdefault((draft.path, draft.text), draft)
        return tuple(found.values())

    def list_all(self) -> tuple[tuple[EditDraft, bool], ...]:
        """Every draft, duplicates included, and whether it is being typed now."""
        return tuple(
            (draft, owner == self._owner or (owner != _NOBODY and self._is_owner_running(owner)))
            for draft, owner in self._read_files("")
        )

    def rewrite(self, draft: EditDraft, text: str) -> None:
        """Replace the text of a draft that nobody is typing.

        Raises:
            OSError: It is unchanged.
        """
        with self._lock:
            with open(os.open(draft.file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as stream:
                head = stream.readline(_LONGEST_HEAD)
            write_private(draft.file, head + text.encode("utf-8", "surrogatepass"))

    def find_partial(self) -> tuple[Path, ...]:
        """Temporary files of processes that were killed."""
        return tuple(file for file in self._list_files() if file.name.startswith(".") and f"{_DRAFT}." in file.name)

    def _iter_abandoned(self, drafts: Iterable[tuple[EditDraft, str]]) -> Iterator[EditDraft]:
        for draft, owner in drafts:
            if owner in (_NOBODY, self._owner) or not self._is_owner_running(owner):
                yield draft

    def _iter_note_drafts(self, *paths: str) -> Iterator[tuple[EditDraft, str]]:
        for path in dict.fromkeys(paths):
            yield from (each for each in self._read_files(_build_name_prefix(path)) if each[0].path == path)

    def _read_files(self, start: str) -> Iterator[tuple[EditDraft, str]]:
        for file in self._list_files():
            if file.name.startswith(start) and file.name.endswith(_DRAFT) and not file.name.startswith("."):
                draft = _parse_draft(file)
                if draft is not None:
                    yield draft

    def _list_files(self) -> list[Path]:
        try:
            return sorted(self._directory.iterdir()) if self._directory is not None else []
        except OSError:
            return []

    def _get_own_file(self, directory: Path, path: str) -> Path:
        return directory / f"{_build_name_prefix(path)}-{self._owner}{_DRAFT}"

    def _write(self, draft: EditDraft, owner: str) -> None:
        head = {
            "schema": _SCHEMA, "path": draft.path, "base": draft.base, "at_us": draft.at_us,
            "why": draft.reason.value, "cursor": list(draft.cursor), "owner": owner,
        }  # fmt: skip
        data = json.dumps(head).encode("ascii") + b"\n" + draft.text.encode("utf-8", "surrogatepass")
        try:
            if owner != _NOBODY:
                self._acquire_lock()
            write_private(draft.file, data)
        except (OSError, LockTimeout) as error:
            reason = ((isinstance(error, OSError) and error.strerror) or "input/output error").lower()
            raise DraftNotSaved(f"No draft is kept: {reason}. Your text is on this screen only.") from error

    def _acquire_lock(self) -> None:
        """Lock this process's owner file, before its first draft can be seen."""
        if self._owner_fd >= 0 or self._directory is None:
            return
        make_private_directory(self._directory)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        fd = os.open(self._directory / f"{self._owner}{_OWNER}", flags, 0o600)
        try:
            lock_file(fd, seconds=1.0)  # whoever finds it asks for a moment whether it is held
        except (OSError, LockTimeout):
            os.close(fd)
            raise
        self._owner_fd = fd
        _here.add(self._owner)
        self._remove_partial(self._directory)

    def _remove_partial(self, directory: Path) -> None:
        with contextlib.suppress(OSError), os.scandir(directory) as entries:
            oldest = time.time() - _HALF_WRITTEN
            for entry in entries:
                if entry.name.startswith(".") and entry.stat(follow_symlinks=False).st_mtime < oldest:
                    self._remove(Path(entry.path))

    def _is_owner_running(self, owner: str) -> bool:
        if owner in _here or self._directory is None:
            return owner in _here
        file = self._directory / f"{owner}{_OWNER}"
        try:
            fd = os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            if not lock_file(fd, shared=True):  # shared: two that ask do not take each other for it
                return _is_process_running(owner)
        except LockTimeout:
            return True
        except OSError:
            return False
        finally:
            os.close(fd)
        self._remove(file)
        return False

    def _drop(self, path: str) -> None:
        self._saved.pop(path, None)
        if self._directory is not None:
            self._remove(self._get_own_file(self._directory, path))

    @staticmethod
    def _remove(file: Path) -> None:
        with contextlib.suppress(OSError):  # one that stays is offered once more: nothing is lost by it
            file.unlink()


def open_drafts(engine: "Engine") -> EditDraftStore:
    """The drafts of an open memory; none are kept for one in memory, or in a read-only session."""
    directory = None if engine.read_only else engine.journal.files.directory
    return EditDraftStore(Path(directory) / DIRECTORY if directory is not None else None)


def _build_name_prefix(path: str) -> str:
    """The start of the file names of a path's drafts."""
    return sha256(path.encode("utf-8", "surrogatepass"))[:16]


def _parse_draft(file: Path) -> tuple[EditDraft, str] | None:
    """A draft and its owner; `None` if the file is malformed."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
            head = json.loads(stream.readline(_LONGEST_HEAD))
            text = stream.read().decode("utf-8", "surrogatepass")
        row, column = head["cursor"]
        path, owner, base = head["path"], head["owner"], head["base"]
        if not all(isinstance(each, str) for each in (path, owner, "" if base is None else base)):
            return None
        if not owner.isascii() or "/" in owner or "\0" in owner:
            return None
        cursor = (int(row), int(column))
        at_us = min(max(int(head["at_us"]), 0), _LATEST)
        return EditDraft(path, text, base, at_us, DraftReason(head["why"]), cursor, file), owner
    except (OSError, ValueError, LookupError, TypeError, RecursionError, OverflowError):
        return None


def _is_process_running(owner: str) -> bool:
    """The fallback for file systems without locks: by the process number, which may be another's by now."""
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
