"""Conversations kept as they happen, so that a crash, a full disk or the end of the day loses nothing that was said.

A session is a file of its own beside the journal, outside the memory folder and for its owner only: it holds what was
said, which may be secret. Keys and headers never come here. Its lines are described in `records.py` beside it.
"""

import contextlib
import errno
import fcntl
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Self

from memtui.agents.chat.options import ChatOptions
from memtui.agents.chat.sessions import records as lines
from memtui.agents.chat.sessions.finding import (
    LAST,
    SUFFIX,
    NoSession,
    SessionSummary,
    find,
    records_in,
    sessions_in,
    unusable,
)
from memtui.agents.chat.sessions.records import SCHEMA, Record
from memtui.agents.chat.sessions.restored import Restored, restored_from
from memtui.agents.chat.sessions.retold import events_of
from memtui.core.errors import Busy, StateUnusable
from memtui.core.visible import one_line
from memtui.places import short
from memtui.state import make_private

__all__ = ["CHATS", "LAST", "NoSession", "Session", "SessionSummary", "events_of", "find", "records_in", "sessions_in"]

CHATS = "chats"
"""The directory of the sessions, within the state directory of their folder."""
_LATER = frozenset({"session", "setting"})
"""Records that make no file yet: a chat in which nothing was said leaves nothing behind."""
_COPIED = 1 << 20
_STRANGE = frozenset({"always", "seq", "edit_seq"})
"""Fields that mean something only where the session was written."""


class Session:
    """A conversation being kept. May be used from several threads.

    Made by `new`, `resume` or `fork`. A disk that fails is said once and never raised: what could not be written is
    held and written as soon as it can be.

    Attributes:
        id: Its name, such as `20261121-175900-4f3a`.
        path: Its file. A new session has one as soon as something is said.
    """

    def __init__(self, path: Path, *, fd: int | None = None, kept: bool = True) -> None:
        self.id = path.name.removesuffix(SUFFIX)
        self.path = path
        self._kept = kept
        self._fd = fd
        self._is_torn = False
        self._is_failing = False
        self._held: list[bytes] = []
        self._lock = threading.RLock()
        self._told: Callable[[str], None] | None = None
        self._sentences: list[str] = []
        self._damage_said = False
        self._is_strange = False
        """Whether it lies elsewhere: what it allows was allowed to somebody else, or of another folder."""

    @classmethod
    def new(
        cls,
        directory: Path,
        *,
        folder: str,
        model: str | None = None,
        options: ChatOptions | None = None,
        seq: int = 0,
        kept: bool = True,
    ) -> Self:
        """Begin a session.

        Args:
            directory: Where sessions are kept: `CHATS` in the state directory. It is made when it is needed.
            folder: The memory folder.
            model: Which model is to answer, where known.
            options: How the conversation is held.
            seq: The number of the journal's last event.
            kept: Whether it is written at all; a read-only memtui writes nothing anywhere.
        """
        options = options or ChatOptions()
        session = cls(directory / (_new_id() + SUFFIX), kept=kept)
        session.write(
            "session",
            schema=SCHEMA,
            id=session.id,
            folder=folder,
            model=model or options.model,
            provider=options.provider,
            seq=seq,
        )
        session.write("setting", policy=options.policy.value, effort=options.effort, thinking=options.thinking)
        return session

    @classmethod
    def resume(cls, directory: Path, name: str = LAST, *, kept: bool = True) -> Self:
        """Go on with a session.

        Args:
            directory: Where sessions are kept.
            name: Its id, a beginning of it that no other has, `last`, or a file.
            kept: Whether what is said from now on is written.

        Raises:
            NoSession: There is none of that name, or several are meant.
            Busy: Another process goes on with it.
            StateUnusable: It cannot be read, or was written by a newer memtui.
        """
        path = find(directory, name)
        flags = (os.O_RDWR | os.O_APPEND if kept else os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            fd = os.open(path, flags)
        except OSError as error:
            raise unusable(path, error) from error
        session = cls(path, fd=fd, kept=kept)
        session._is_strange = _lies_elsewhere(path, directory)
        try:
            if kept:
                _lock(fd, session.id)
                if not os.path.samestat(os.fstat(fd), os.stat(path)):
                    raise Busy(f"Session {session.id} was rewritten just now. Nothing was changed. Try again.")
            if next(session.records(), None) is None and os.fstat(fd).st_size:
                raise StateUnusable(f"{one_line(short(path))} is no session of memtui. Nothing was changed.")
            if kept:
                session._mend_end()
        except BaseException as error:
            os.close(fd)
            if isinstance(error, OSError):
                raise unusable(path, error) from error
            raise
        return session

    @classmethod
    def fork(cls, directory: Path, name: str = LAST, *, kept: bool = True) -> Self:
        """Go on from a copy of a session as it is now, also while somebody else goes on with the session itself.

        Args:
            directory: Where sessions are kept.
            name: As for `resume`.
            kept: As for `resume`; a copy that is not kept is the session itself, only read.

        Raises:
            NoSession, StateUnusable: As for `resume`; also where the copy cannot be written.
        """
        if not kept:
            return cls.resume(directory, name, kept=False)
        source = find(directory, name)
        path = directory / (_new_id() + SUFFIX)
        aside = path.with_name(f".{path.name}.part")
        try:
            make_private(directory)
            fd = os.open(aside, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise unusable(path, error) from error
        session = cls(path, fd=fd)
        session._is_strange = _lies_elsewhere(source, directory)
        try:
            _lock(fd, session.id)
            with open(fd, "ab", buffering=_COPIED, closefd=False) as file:
                session._copy(source, file)
            os.rename(aside, path)
        except BaseException as error:
            os.close(fd)
            with contextlib.suppress(OSError):
                os.unlink(aside)
            if isinstance(error, OSError):
                raise unusable(source, error, "cannot be copied") from error
            raise
        return session

    def _copy(self, source: Path, file: IO[bytes]) -> None:
        header: Record | None = None
        for record in records_in(source, self._note_damage):
            if header is None:
                header = record if record["type"] == "session" else lines.record("session", {"schema": SCHEMA})
                file.write(lines.line_of({**header, "id": self.id, "forked_from": source.name.removesuffix(SUFFIX)}))
                if record is header:
                    continue
            file.write(lines.line_of(self._as_ours(record)))

    # Writing

    def write(self, kind: str, /, **fields: object) -> None:
        """Keep a record, now. A disk that fails is a sentence to whoever listens, once, and nothing is raised for it.

        Raises:
            TypeError, ValueError: A field has no form in JSON: that is a bug of the caller's.
        """
        line = lines.line_of(lines.record(kind, fields))
        with self._lock:
            self._held.append(line)
            if self._kept and (self._fd is not None or kind not in _LATER):
                self._write_held()

    def _write_held(self) -> None:
        try:
            if self._fd is None:
                self._fd = self._made()
            while self._held:
                self._append(self._fd, self._held[0])
                del self._held[0]
        except Busy as busy:  # nobody else can have the name of a new session; if so, it is not ours
            self._kept = False
            self._say(f"{busy} This conversation is not saved.")
        except OSError as error:
            if not self._is_failing:
                self._is_failing = True
                reason = os.strerror(error.errno or 0).lower()
                self._say(
                    f"The session cannot be saved in {short(self.path.parent)}: {reason}. The conversation goes on; "
                    "what is said is held and saved as soon as it can be."
                )
        else:
            if self._is_failing:
                self._is_failing = False
                self._say("The session is saved again, with all that was said meanwhile.")

    def _made(self) -> int:
        make_private(self.path.parent)
        fd = os.open(self.path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        _lock(fd, self.id)
        return fd

    def _append(self, fd: int, line: bytes) -> None:
        """Write a line as a whole, or leave no trace of it."""
        if self._is_torn:
            line = b"\n" + line
        size = os.fstat(fd).st_size
        try:
            written = os.write(fd, line)
            while written < len(line):
                written += os.write(fd, line[written:])
        except OSError:
            try:
                os.ftruncate(fd, size)
            except OSError:
                self._is_torn = True
            raise
        self._is_torn = False

    def _mend_end(self) -> None:
        """Have the file end with a whole line, and say what was removed for it."""
        fd = self._fd
        assert fd is not None
        size = os.fstat(fd).st_size
        start = _last_line(fd, size)
        if start == size:
            return
        if size - start < lines.LONGEST_LINE and lines.parsed(os.pread(fd, size - start, start)) is not None:
            os.write(fd, b"\n")
            return
        os.ftruncate(fd, start)
        self._say(
            "The last line of this session was cut off, as by a crash, and was removed. What is before it is all there."
        )

    def close(self) -> None:
        """Let go of the file: others may go on with the session. What could not be written is tried once more."""
        with self._lock:
            if self._held and self._fd is not None and self._kept:
                self._write_held()
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None
            self._kept = False

    @property
    def lacks(self) -> bool:
        """Whether something that was said is not in the file, since the disk fails."""
        with self._lock:
            return self._is_failing and bool(self._held)

    # What is to be said

    def listen(self, told: Callable[[str], None]) -> None:
        """Be told in sentences what became of the file: those of until now at once, later ones as they come.

        Args:
            told: Is called in whichever thread writes or reads.
        """
        with self._lock:
            self._told = told
            sentences, self._sentences = self._sentences, []
        for sentence in sentences:
            told(sentence)

    def _say(self, sentence: str) -> None:
        if self._told is not None:
            self._told(sentence)
        else:
            self._sentences.append(sentence)

    def _note_damage(self, number: int) -> None:
        if not self._damage_said:
            self._damage_said = True
            self._say(f"Line {number} of this session is damaged and is left out. What is around it is all there.")

    # Reading

    def records(self) -> Iterator[Record]:
        """What was recorded until now, in order, and never in memory as a whole."""
        with self._lock:
            held = list(self._held)
            fd = None if self._fd is None else os.dup(self._fd)  # the session may be closed meanwhile
        if fd is not None:
            try:
                yield from map(self._as_ours, lines.read(_lines_of(fd), self._note_damage))
            finally:
                os.close(fd)
        yield from lines.read(held)

    def _as_ours(self, record: Record) -> Record:
        """A record as it may be gone by here: of a session from elsewhere without what was allowed there, and without
        the numbers that events have in the journal there.
        """
        strange = _STRANGE if self._is_strange else frozenset()
        return {name: value for name, value in record.items() if name not in strange} if strange else record

    def restored(self) -> Restored:
        """What the conversation goes on with.

        Raises:
            StateUnusable: The file cannot be read.
        """
        try:
            return restored_from(self.records())
        except OSError as error:
            raise unusable(self.path, error) from error


def _lies_elsewhere(path: Path, directory: Path) -> bool:
    return os.path.realpath(path.parent) != os.path.realpath(directory)


_FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


def _lines_of(fd: int) -> Iterator[bytes]:
    """The lines of an open file, read at a place of their own, up to where it ends now."""
    size = os.fstat(fd).st_size
    at = 0

    def read(most: int) -> bytes:
        nonlocal at
        data = os.pread(fd, min(most, size - at), at)
        at += len(data)
        return data

    return lines.lines_in(read)


def _last_line(fd: int, size: int) -> int:
    """Where what is behind the last line end begins."""
    at = size
    while at:
        start = max(0, at - _COPIED)
        found = os.pread(fd, at - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return 0


def _lock(fd: int, id: str) -> None:
    """Keep others from going on with a session for as long as the file is open.

    Raises:
        Busy: Somebody does already.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Busy(
            f"Session {id} is open in another memtui. Nothing was changed. Close it there, or go on from a copy: "
            f"memtui chat --fork {id}"
        ) from None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
            raise  # else the file system has no locks


def _new_id() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
