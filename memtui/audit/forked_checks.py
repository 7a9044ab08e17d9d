"""Checks that a second process makes, so that the audit of a large folder has two processors.

It is forked once everything is read, so nothing has to be sent to it: it looks at the last part of the notes, family by
family as the audit itself does with the others, then for duplicates, and tells the hits of each step. Whatever is not
as usual there (a rule that breaks down, a note of very many hits, the end of the process) is left to the audit, which
then makes that check as it would have without. So a result never depends on it.

It needs a process without other threads, of which a forked one would know nothing: in the audit's screen all is done in
one.
"""

import contextlib
import gc
import marshal
import os
import signal
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any, NoReturn, Self

from memtui.audit.context import AuditContext, Note
from memtui.audit.model import Hit
from memtui.fs.landlock import count_threads

FEWEST = 1_000
"""Notes to look at, from which on it pays: a process costs as much as some hundred of them."""
_SHARE = 0.4
"""Of the notes: as much as both are at it equally long, since the duplicates are its too."""
_MOST = 200  # hits of one note that are told
_SIZE = struct.Struct("!Q")

CheckNote = Callable[[Note, AuditContext], Iterable[Hit]]
CheckAll = Callable[[AuditContext], Iterable[Hit]]


class ForkedChecks:
    """A process that makes some checks of an audit, once it was begun; until then there is none.

    Attributes:
        paths: The notes that it looks at.
    """

    def __init__(self) -> None:
        self.paths: frozenset[str] = frozenset()
        self._steps: list[str] = []
        self._pid = 0
        self._reading = -1

    def begin(
        self,
        subject: AuditContext,
        families: Sequence[tuple[str, CheckNote]],
        notes: Sequence[Note],
        in_all: Sequence[tuple[str, CheckAll]],
    ) -> None:
        """Fork it, where there is anything to look at.

        Args:
            families: Those that check notes, by name, in the order in which they are asked for.
            notes: Those to look at.
            in_all: Checks of all notes, by name, in the order in which they are asked for.
        """
        if not notes:
            return
        self._reading, writing = os.pipe2(os.O_CLOEXEC)
        try:
            self._pid = os.fork()
        except OSError:
            return
        else:
            if self._pid == 0:
                os.close(self._reading)
                _serve(writing, subject, families, notes, in_all)
        finally:
            os.close(writing)
        self._steps = [name for name, _ in (*families, *in_all)]
        self.paths = frozenset(note.path for note in notes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        if self._reading >= 0:
            os.close(self._reading)

    def receive(self, name: str) -> Any:
        """What came of a step: for a family, hits by path, and `None` for a note that is left to the audit; for another
        check, its hits, what it counted and what it skipped. `None` where the process does not tell.
        """
        while self._pid and name in self._steps:
            try:
                (size,) = _SIZE.unpack(self._read(_SIZE.size))
                found = marshal.loads(self._read(size))
            except (EOFError, OSError, ValueError, TypeError):
                self._end()
                return None
            if self._steps.pop(0) == name:
                return found
        return None

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = os.read(self._reading, min(count - len(data), 1 << 20))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def _end(self) -> None:
        pid, self._pid = self._pid, 0
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def select_notes(notes: Collection[Note]) -> Sequence[Note]:
    """The notes that a second process is to look at; none where it does not pay, or cannot be."""
    processors = getattr(os, "sched_getaffinity", lambda _: ())(0)
    if len(notes) < FEWEST or len(processors) < 2 or count_threads() > 1:
        return ()
    left = sum(note.size for note in notes) * (1 - _SHARE)
    for number, note in enumerate(notes):
        left -= note.size
        if left < 0:
            return list(notes)[number:]
    return ()


def unpack_hits(packed: Iterable[Any]) -> Iterator[Hit]:
    """The hits that a step told."""
    return (Hit(*each) for each in packed)


# The forked process.


def _serve(
    writing: int,
    subject: AuditContext,
    families: Sequence[tuple[str, CheckNote]],
    notes: Sequence[Note],
    in_all: Sequence[tuple[str, CheckAll]],
) -> NoReturn:
    """Tell what comes of each step. Never returns: nothing of the audit's is to run here."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)  # it ends with the audit: at its next word at the latest
        gc.disable()
        for name, check in families:
            found = {note.path: _pack(check, note, subject) for note in notes if not subject.is_clean(note, name)}
            _tell(writing, {path: hits for path, hits in found.items() if hits != []})
        for _, check_all in in_all:
            log = subject.log
            counted, skipped = dict(log.counted), len(log.skipped)
            hits = [_to_fields(hit) for hit in check_all(subject)]
            more = {key: words for key, words in log.counted.items() if counted.get(key) != words}
            _tell(writing, (hits, more, [(each.rule, each.reason) for each in log.skipped[skipped:]]))
    finally:
        os._exit(0)


def _tell(writing: int, found: Any) -> None:
    data = marshal.dumps(found)
    left = memoryview(_SIZE.pack(len(data)) + data)
    while left:
        left = left[os.write(writing, left) :]


def _pack(check: CheckNote, note: Note, subject: AuditContext) -> list[Any] | None:
    """The hits of a note; `None` for what the audit has to see for itself."""
    try:
        hits = list(islice(check(note, subject), _MOST + 1))
    except Exception:  # the audit does this check again by itself, and reports that the rule broke down
        return None
    return [_to_fields(hit) for hit in hits] if len(hits) <= _MOST else None


def _to_fields(hit: Hit) -> tuple[Any, ...]:
    return tuple(dict(hit.facts) if each.name == "facts" else getattr(hit, each.name) for each in fields(Hit))
