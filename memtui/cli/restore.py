"""`memtui restore`: have a note, a directory or the whole folder hold again what it held at a moment."""

import argparse
import shlex
from dataclasses import dataclass

from memtui.cli import moments, places, restored
from memtui.cli.exits import Exit, Failure
from memtui.cli.moments import Spot
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.restored import Wording
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.events import Event, Version
from memtui.core.paths import MemoryPath
from memtui.core.restoring import Restored
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.engine import Engine

_WORDING = Wording("Not restored", "Restore this?")


def _arguments(parser: Parser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="notes or directories; PATH@MOMENT as with --at")
    parser.add_argument("--at", metavar="MOMENT", type=moments.moment, help="as of when: 41, 2026-11-20, 10:14, 2h ago")
    parser.add_argument("--all", action="store_true", help="the whole folder, exactly as it was; needs --at")
    restored.add_common(parser)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    if bool(arguments.paths) is arguments.all:
        raise Failure(Exit.USAGE, "memtui restore: name what to restore: a PATH, or --all. See: memtui restore --help")
    if arguments.all and arguments.at is None:
        raise Failure(
            Exit.USAGE, "memtui restore: --all needs --at MOMENT: as of when? What happened is listed by: memtui log"
        )
    if not arguments.dry_run:
        insist_on_writing(options, _WORDING.not_done)
    path = places.folder(options)
    spots = [moments.spot(given, path, arguments.at) for given in arguments.paths]
    with opened(path, options) as memory:
        wanted = _Wanted(memory)
        if arguments.all:
            wanted.add_directory(MemoryPath(), moments.seq_of(memory, arguments.at))
        for spot in spots:
            wanted.add(spot)
        return restored.settle(
            wanted.restore,
            options,
            _WORDING,
            wanted.done,
            folder=path,
            dry_run=arguments.dry_run,
            ask=not arguments.yes and not wanted.is_one_file,
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """Something that was named, and is to be again what it was.

    Attributes:
        path: A file, or a directory with all that is in it; `""` for the whole folder.
        seq: The number of the event right after which it was so.
        version: What the file was; `None` for a directory, which is to be exactly as it was.
        event: The event to speak of; `None` if there is none.
    """

    path: str
    seq: int
    version: Version | None
    event: Event | None


class _Wanted:
    """Finds what is to be put back, and puts it back as one event.

    Attributes:
        parts: What was named.
    """

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self._head, _ = memory.head()
        self.parts: list[_Part] = []

    @property
    def is_one_file(self) -> bool:
        """Whether it is so little that nobody needs to be asked."""
        return len(self.parts) == 1 and self.parts[0].version is not None

    def restore(self, rehearse: bool) -> Restored:
        """Do it, or only find out what would be done."""
        wanted: dict[str, Version | None] = {}
        expected: dict[str, Version | None] = {}
        for part in self.parts:
            if part.version is not None:
                wanted[part.path] = part.version
                continue
            for change in self._memory.history.between(self._head, part.seq, part.path):
                wanted.setdefault(change.path, change.after)
                expected.setdefault(change.path, change.before)
        seqs = {part.event.seq if part.event else part.seq for part in self.parts}
        return self._memory.restore(
            wanted,
            expected=expected,
            rehearse=rehearse,
            note=f"as of #{seqs.pop()}" if len(seqs) == 1 else "",
            path=self.parts[0].path if len(self.parts) == 1 else None,
        )

    def done(self, result: Restored) -> str:
        """That it was done, as a sentence."""
        part = self.parts[0]
        then = f" as of {moments.said(part.event)}" if part.event else ""
        if self.is_one_file:
            what = f"Restored {part.path}{then}."
        elif len(self.parts) == 1:
            what = f"Restored {part.path or 'the whole folder'}{then}; {restored.counted(result.changes)}."
        else:
            what = f"Restored {restored.counted(result.changes)}."
        return f"{one_line(what)} Nothing is lost: memtui undo takes it back."

    def add(self, spot: Spot) -> None:
        """Want a path as of a moment, or else as it was before.

        Raises:
            Failure: It was not there, or it is not clear when is meant.
        """
        if spot.place.is_root:
            raise Failure(
                Exit.USAGE, "memtui restore: that is the whole folder. Say so: memtui restore --all --at MOMENT"
            )
        if spot.moment is None:
            self.parts.append(self._before(spot.place))
            return
        seq = moments.seq_of(self._memory, spot.moment)
        version = moments.insist_on_version(self._memory, spot.place, seq, spot.moment)
        if version.kind is Kind.DIRECTORY:
            self.add_directory(spot.place, seq)
        else:
            event = self._memory.history.last_touching(spot.place.relative, seq)
            self.parts.append(_Part(spot.place.relative, seq, version, event))

    def add_directory(self, place: MemoryPath, seq: int) -> None:
        """Want a directory exactly as it was right after an event.

        Raises:
            Failure: That was before the record began: nothing is known of then.
        """
        if seq == 0:
            raise Failure(Exit.MISSING, "Not restored: nothing was recorded by then. Nothing was written.")
        self.parts.append(_Part(place.relative, seq, None, self._memory.history.event(seq)))

    def _before(self, place: MemoryPath) -> _Part:
        """What stood at a path before its last change, or what stood there last."""
        now = self._memory.history.version_at(place.relative, self._head)
        rows = self._memory.history.versions_of(place.relative)
        heard = (row for row in self._memory.history.told_of(place.relative) if row.after and row.after.sha256)
        if not rows and (last := next(heard, None)) is not None:
            return _Part(place.relative, last.event.seq, last.after, last.event)
        if not rows:
            raise Failure(Exit.MISSING, f"Nothing was ever recorded at {place}. What is there is listed by: memtui ls")
        for row in rows:
            before, seq = row.before, row.event.seq - 1
            if before is None or before == now:
                continue
            if before.kind is Kind.DIRECTORY:
                raise _unclear(place, seq)
            return _Part(
                place.relative, seq, before, self._memory.history.last_touching(row.moved_from or row.path, seq)
            )
        if now is not None and now.kind is Kind.DIRECTORY:
            raise _unclear(place, None)
        first = moments.said_time(rows[-1].event)
        raise Failure(
            Exit.MISSING,
            f"Not restored: {place} has held nothing else since it was first recorded, {first}. Nothing was written.",
        )


def _unclear(place: MemoryPath, last: int | None) -> Failure:
    name = shlex.quote(place.relative)
    hint = f"It was last there as of #{last}: memtui restore {name} --at {last}" if last else "Say so with --at MOMENT."
    return Failure(Exit.USAGE, f"memtui restore: {place} is a directory. As of when? {hint}")


VERB = Verb(
    "restore",
    "get back what was",
    (
        ("memtui restore notes/today.md", "as before it changed, or was deleted"),
        ("memtui restore notes/today.md@41", "as it was right after event 41"),
        ("memtui restore notes --at yesterday", "a directory, exactly as it was then"),
        ("memtui restore --all --at 10:14", "the whole folder"),
    ),
    _arguments,
    _run,
    (
        "Without a moment: the text before the last change that is still to be seen; of",
        "what is gone, the last one. It is a new event, so memtui undo takes it back.",
        "Directories and several files are asked about: --yes where there is no terminal.",
        "Exit codes: 0 done, 3 nothing to restore, 4 read-only, 5 something in its way.",
    ),
)
