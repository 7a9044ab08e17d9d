"""The files of chat sessions, written as the conversation goes on: no crash or full disk loses a message.

A session is a file of its own beside the journal, outside the memory folder and for its owner only: its messages may be
secret. Keys and headers never come here. Its lines are described in `records.py` beside it.
"""

import contextlib
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Self

from memtui.agents.chat.events import ChatOptions
from memtui.agents.chat.sessions import records
from memtui.agents.chat.sessions.records import SCHEMA, Record, RestoredSession, restore_session
from memtui.core.errors import LockTimeout, MemtuiError, StateUnusable
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import format_path
from memtui.core.unicode import to_one_line
from memtui.fs.locks import lock_file
from memtui.fs.state import make_private_directory

CHATS = "chats"
"""The directory of the sessions, within the state directory of their folder."""
LAST = "last"
"""The name of the session that was written to last."""
SUFFIX = ".jsonl"

_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4,}\Z")
_BUFFER = 1 << 20
_TITLE = 60
_LATER = frozenset({"session", "setting"})
"""Records that make no file yet: a chat without a message leaves nothing behind."""
_FOREIGN = frozenset({"always", "seq", "edit_seq"})
"""Fields that mean something only where the session was written."""
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class SessionNotFound(MemtuiError):
    """There is no session of that name; the message lists those there are, or the verb that does."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a list. `at` is its recorded beginning, `changed_ns` the mtime of its file.

    `title` is its first words, on one line, safe to show; `turns` does not count those that were taken out.
    """

    id: str
    path: Path
    at: str
    changed_ns: int
    turns: int
    title: str
    model: str | None
    forked_from: str | None
    size: int
    agent: str = ""
    """Who answered last, where that is an agent's own program."""


def read_records(path: Path, damaged: Callable[[int], None] = lambda _: None) -> Iterator[Record]:
    """The records of a file, in order; never in memory as a whole.

    Args:
        path: The file.
        damaged: Called with the number of each line that cannot be parsed.

    Raises:
        OSError: It cannot be read.
        StateUnusable: It was written by a newer memtui.
    """
    with path.open("rb", buffering=_BUFFER) as file:
        yield from records.parse_records(records.iter_lines(file.read), damaged)


def find_session(directory: Path, name: str) -> Path:
    """The file of a session.

    Args:
        directory: The directory of sessions.
        name: Its id, a beginning of it that no other has, `last`, or a file.

    Raises:
        SessionNotFound: None has that name, or several have.
    """
    if os.sep in name or name.endswith(SUFFIX):
        path = Path(name).expanduser()
        if path.is_file():
            return path
        raise SessionNotFound(
            f"No session at {to_one_line(format_path(path))}. List the sessions: memtui chat --sessions"
        )
    paths = _list_files(directory)
    if not paths:
        raise SessionNotFound("No saved sessions for this folder. Start one: memtui chat")
    if name == LAST:
        return max(paths, key=lambda path: (_get_mtime_ns(path), path.name))
    found = [path for path in paths if path.name.startswith(name)] if name else []
    exact = [path for path in found if path.name == name + SUFFIX]
    match exact or found:
        case [one]:
            return one
        case []:
            raise SessionNotFound(
                f"No session is named {to_one_line(name)!r}. List the sessions: memtui chat --sessions"
            )
        case several:
            raise SessionNotFound(
                f"{len(several):,} sessions begin with {to_one_line(name)!r}, such as "
                f"{' and '.join(sorted(path.name.removesuffix(SUFFIX) for path in several)[:2])}. "
                "Type more of the name."
            )


def list_sessions(directory: Path) -> list[SessionSummary]:
    """The sessions of a folder, the one that was written to last first. An unreadable one is left out."""
    found = []
    for path in _list_files(directory):
        with contextlib.suppress(OSError):
            found.append(_summarize(path))
    return sorted(found, key=lambda each: (each.changed_ns, each.id), reverse=True)


def _list_files(directory: Path) -> list[Path]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return [directory / name for name in names if name.endswith(SUFFIX) and _ID.match(name.removesuffix(SUFFIX))]


def _get_mtime_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


_SUMMARIZED = tuple(b'{"type":"%s"' % kind for kind in (b"session", b"turn_began", b"rewound", b"setting"))
"""Beginnings of the lines that a summary is made of: the others, which are long, need not be parsed."""


def _summarize(path: Path) -> SessionSummary:
    header: Record = {}
    turns: set[int] = set()
    title, agent, model = "", "", None
    with path.open("rb", buffering=_BUFFER) as file:
        status = os.fstat(file.fileno())
        for line in records.iter_lines(file.read):
            record = records.parse_record(line) if line.startswith(_SUMMARIZED) else None
            if record is None:
                continue
            match record["type"]:
                case "session" if not header:
                    header = record
                case "turn_began":
                    turns.add(records.get_number(record, "turn"))
                    agent = to_one_line(records.get_text(record, "agent")[:_TITLE])
                    title = title or records.make_title(records.get_text(record, "text")[: _TITLE * 8], _TITLE)
                case "rewound":
                    turns = {turn for turn in turns if turn < records.get_number(record, "turn")}
                case "setting":
                    model = records.get_text(record, "model") or model
    return SessionSummary(
        id=path.name.removesuffix(SUFFIX),
        path=path,
        at=records.get_text(header, "at"),
        changed_ns=status.st_mtime_ns,
        turns=len(turns),
        title=title,
        model=model or records.get_text(header, "model") or None,
        forked_from=records.get_text(header, "forked_from") or None,
        size=status.st_size,
        agent=agent,
    )


def make_unusable_error(path: Path, error: OSError, what: str = "cannot be read") -> StateUnusable:
    """The error of a session whose file fails."""
    reason = os.strerror(error.errno or 0).lower()
    return StateUnusable(f"The session {to_one_line(format_path(path))} {what}: {reason}. Nothing was changed.")


class ChatSession:
    """A conversation that is recorded. May be used from several threads.

    Made by `create`, `resume` or `fork`. A disk that fails is reported once and never raised: records that could not be
    written are held and written as soon as possible.

    Attributes:
        id: Its name, such as `20261121-175900-4f3a`.
        path: Its file. A new session has one as soon as a message is sent.
        is_copy: Whether it is a copy that is not kept, and so has the id of the session itself.
    """

    is_copy = False

    def __init__(self, path: Path, *, fd: int | None = None, kept: bool = True) -> None:
        self.id = path.name.removesuffix(SUFFIX)
        self.path = path
        self._is_saved = kept
        self._fd = fd
        self._is_torn = False
        self._is_failing = False
        self._held: list[bytes] = []
        self._lock = threading.RLock()
        self._listener: Callable[[str], None] | None = None
        self._sentences: list[str] = []
        self._is_damage_reported = False
        self._is_foreign = False
        """Whether it lies elsewhere: its allowed paths are another person's, or of another folder."""

    @classmethod
    def create(
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
            directory: The directory of sessions: `CHATS` in the state directory. It is made when it is needed.
            folder: The memory folder.
            model: The model that is to answer, where known.
            options: The options of the conversation.
            seq: The number of the journal's last event.
            kept: Whether it is written at all; a read-only memtui writes nothing anywhere.
        """
        options = options or ChatOptions()
        session = cls(directory / (_generate_id() + SUFFIX), kept=kept)
        model, provider = model or options.model, options.provider
        session.write("session", schema=SCHEMA, id=session.id, folder=folder, model=model, provider=provider, seq=seq)
        session.write("setting", policy=options.policy.value, effort=options.effort, thinking=options.thinking)
        return session

    @classmethod
    def resume(cls, directory: Path, name: str = LAST, *, kept: bool = True) -> Self:
        """Open a session to go on with it.

        Args:
            directory: The directory of sessions.
            name: See `find_session`.
            kept: Whether records are written from now on.

        Raises:
            SessionNotFound: None has that name, or several have.
            LockTimeout: It is open in another process.
            StateUnusable: It cannot be read, or was written by a newer memtui.
        """
        path = find_session(directory, name)
        flags = (os.O_RDWR | os.O_APPEND if kept else os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            fd = os.open(path, flags)
        except OSError as error:
            raise make_unusable_error(path, error) from error
        session = cls(path, fd=fd, kept=kept)
        session._is_foreign = _is_outside(path, directory)
        try:
            if kept:
                _lock_file(fd, session.id)
                if not os.path.samestat(os.fstat(fd), os.stat(path)):
                    raise LockTimeout(f"Session {session.id} was rewritten just now. Nothing was changed. Try again.")
            if next(session.iter_records(), None) is None and os.fstat(fd).st_size:
                raise StateUnusable(
                    f"{to_one_line(format_path(path))} is not a session of memtui. Nothing was changed."
                )
            if kept:
                session._repair_end()
        except BaseException as error:
            os.close(fd)
            if isinstance(error, OSError):
                raise make_unusable_error(path, error) from error
            raise
        return session

    @classmethod
    def fork(cls, directory: Path, name: str = LAST, *, kept: bool = True) -> Self:
        """Open a copy of a session as it is now, also while the session itself is open elsewhere.

        The arguments and errors are those of `resume`; a copy that is not kept is the session itself, only read.
        """
        if not kept:
            session = cls.resume(directory, name, kept=False)
            session.is_copy = True
            return session
        source = find_session(directory, name)
        path = directory / (_generate_id() + SUFFIX)
        aside = path.with_name(f".{path.name}.part")
        try:
            make_private_directory(directory)
            fd = os.open(aside, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise make_unusable_error(path, error) from error
        session = cls(path, fd=fd)
        session._is_foreign = _is_outside(source, directory)
        try:
            _lock_file(fd, session.id)
            with open(fd, "ab", buffering=_BUFFER, closefd=False) as file:
                session._copy(source, file)
            os.rename(aside, path)
        except BaseException as error:
            os.close(fd)
            with contextlib.suppress(OSError):
                os.unlink(aside)
            if isinstance(error, OSError):
                raise make_unusable_error(source, error, "cannot be copied") from error
            raise
        return session

    def _copy(self, source: Path, file: IO[bytes]) -> None:
        header: Record | None = None
        for record in read_records(source, self._note_damage):
            if header is None:
                header = record if record["type"] == "session" else records.make_record("session", {"schema": SCHEMA})
                origin = {"id": self.id, "forked_from": source.name.removesuffix(SUFFIX)}
                file.write(records.serialize_record({**header, **origin}))
                if record is header:
                    continue
            file.write(records.serialize_record(self._sanitize_record(record)))

    # Writing

    def write(self, kind: str, /, **fields: object) -> None:
        """Write a record, now. A disk that fails is reported to the listener, once, and not raised.

        Raises:
            TypeError, ValueError: A field has no form in JSON: that is a bug of the caller's.
        """
        line = records.serialize_record(records.make_record(kind, fields))
        with self._lock:
            self._held.append(line)
            if self._is_saved and (self._fd is not None or kind not in _LATER):
                self._write_held()

    def _write_held(self) -> None:
        try:
            if self._fd is None:
                self._fd = self._create_file()
            while self._held:
                self._append(self._fd, self._held[0])
                del self._held[0]
        except LockTimeout as error:  # the name of a new session is unique; if not, the file is not ours
            self._is_saved = False
            self._report(f"{error} This conversation is not saved.")
        except OSError as error:
            if not self._is_failing:
                self._is_failing = True
                reason = os.strerror(error.errno or 0).lower()
                self._report(
                    f"The session cannot be saved in {format_path(self.path.parent)}: {reason}. The conversation "
                    "continues and is saved as soon as possible."
                )
        else:
            if self._is_failing:
                self._is_failing = False
                self._report("The session is saved again. Nothing is missing.")

    def _create_file(self) -> int:
        make_private_directory(self.path.parent)
        fd = os.open(self.path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        _lock_file(fd, self.id)
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

    def _repair_end(self) -> None:
        """End the file with a whole line, and report a part that was removed for it."""
        fd = self._fd
        assert fd is not None
        size = os.fstat(fd).st_size
        start = _find_last_line(fd, size)
        if start == size:
            return
        if size - start < records.LONGEST_LINE and records.parse_record(os.pread(fd, size - start, start)) is not None:
            os.write(fd, b"\n")
            return
        os.ftruncate(fd, start)
        self._report(
            "The last line of this session was incomplete, as after a crash, and was removed. The rest is intact."
        )

    def close(self) -> None:
        """Close the file: others may go on with the session. Held records are tried once more."""
        with self._lock:
            if self._held and self._fd is not None and self._is_saved:
                self._write_held()
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None
            self._is_saved = False

    @property
    def is_incomplete(self) -> bool:
        """Whether records are missing in the file, since the disk fails."""
        with self._lock:
            return self._is_failing and bool(self._held)

    def listen(self, listener: Callable[[str], None]) -> None:
        """Report to a listener in sentences: earlier ones at once, later ones in the thread that writes or reads."""
        with self._lock:
            self._listener = listener
            sentences, self._sentences = self._sentences, []
        for sentence in sentences:
            listener(sentence)

    def _report(self, sentence: str) -> None:
        if self._listener is not None:
            self._listener(sentence)
        else:
            self._sentences.append(sentence)

    def _note_damage(self, number: int) -> None:
        if not self._is_damage_reported:
            self._is_damage_reported = True
            self._report(f"Line {number} of this session is damaged and was skipped. The rest was read.")

    # Reading

    def iter_records(self) -> Iterator[Record]:
        """The records until now, in order; never in memory as a whole."""
        with self._lock:
            held = list(self._held)
            fd = None if self._fd is None else os.dup(self._fd)  # the session may be closed meanwhile
        yield from records.complete_streams(self._iter_parsed(fd, held))

    def _iter_parsed(self, fd: int | None, held: list[bytes]) -> Iterator[Record]:
        if fd is not None:
            try:
                yield from map(self._sanitize_record, records.parse_lines(_read_lines(fd), self._note_damage))
            finally:
                os.close(fd)
        yield from records.parse_lines(held)

    def _sanitize_record(self, record: Record) -> Record:
        """A record; of a session from elsewhere without its allowed paths and its journal's event numbers."""
        if not self._is_foreign:
            return record
        return {name: value for name, value in record.items() if name not in _FOREIGN}

    def restore(self) -> RestoredSession:
        """The state that the conversation goes on with.

        Raises:
            StateUnusable: The file cannot be read.
        """
        try:
            return restore_session(self.iter_records())
        except OSError as error:
            raise make_unusable_error(self.path, error) from error


def _is_outside(path: Path, directory: Path) -> bool:
    return os.path.realpath(path.parent) != os.path.realpath(directory)


def _read_lines(fd: int) -> Iterator[bytes]:
    """The lines of an open file up to its end now, read with `pread`."""
    size = os.fstat(fd).st_size
    at = 0

    def read(most: int) -> bytes:
        nonlocal at
        data = os.pread(fd, min(most, size - at), at)
        at += len(data)
        return data

    return records.iter_lines(read)


def _find_last_line(fd: int, size: int) -> int:
    """The offset behind the last line end."""
    at = size
    while at:
        start = max(0, at - _BUFFER)
        found = os.pread(fd, at - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return 0


def _lock_file(fd: int, id: str) -> None:
    """Lock a session for as long as the file is open.

    Raises:
        LockTimeout: It is locked elsewhere.
    """
    try:
        lock_file(fd)
    except LockTimeout:
        advice = f"Close it there, or continue in a copy: memtui chat --fork {id}"
        raise LockTimeout(f"Session {id} is open in another memtui. Nothing was changed. {advice}") from None


def _generate_id() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
