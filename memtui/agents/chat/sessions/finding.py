"""Which sessions there are, and which one is meant. Nothing here writes."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memtui.agents.chat.sessions import records as lines
from memtui.agents.chat.sessions.records import Record
from memtui.core.errors import MemtuiError, StateUnusable
from memtui.core.visible import one_line
from memtui.places import short

LAST = "last"
"""What the session is called that was written to last."""
SUFFIX = ".jsonl"
"""How the files of sessions end."""

_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4,}\Z")
_BUFFER = 1 << 20
_TITLE = 60


class NoSession(MemtuiError):
    """There is no session of that name; the words say which there are, or how to find out."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a list.

    Attributes:
        id: Its name.
        path: Its file.
        at: When it began, as it was recorded; empty if that is lost.
        changed_ns: When it was written to last, in nanoseconds since 1970.
        turns: How many turns are in it, without those that were taken out.
        title: Its first words, on one line, safe to show.
        model: Which model answered last.
        forked_from: The session that it goes on from.
        size: Bytes of the file.
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


def records_in(path: Path, damaged: Callable[[int], None] = lambda _: None) -> Iterator[Record]:
    """The records of a file, in order, and never in memory as a whole.

    Args:
        path: The file.
        damaged: Is told the number of a line that is left out because it cannot be read.

    Raises:
        OSError: It cannot be read.
        StateUnusable: It was written by a newer memtui.
    """
    with path.open("rb", buffering=_BUFFER) as file:
        yield from lines.read(lines.lines_in(file.read), damaged)


def find(directory: Path, name: str) -> Path:
    """The file of a session.

    Args:
        directory: Where sessions are kept.
        name: Its id, a beginning of it that no other has, `last`, or a file.

    Raises:
        NoSession: There is none of that name, or several are meant.
    """
    if os.sep in name or name.endswith(SUFFIX):
        path = Path(name).expanduser()
        if path.is_file():
            return path
        raise NoSession(f"There is no session at {one_line(short(path))}. Those there are: memtui chat --sessions")
    paths = _files(directory)
    if not paths:
        raise NoSession("No session is kept for this folder yet. Begin one: memtui chat")
    if name == LAST:
        return max(paths, key=lambda path: (_changed_ns(path), path.name))
    found = [path for path in paths if path.name.startswith(name)] if name else []
    exact = [path for path in found if path.name == name + SUFFIX]
    match exact or found:
        case [one]:
            return one
        case []:
            raise NoSession(f"No session is called {one_line(name)!r}. Those there are: memtui chat --sessions")
        case several:
            raise NoSession(
                f"{len(several):,} sessions begin with {one_line(name)!r}, such as "
                f"{' and '.join(sorted(path.name.removesuffix(SUFFIX) for path in several)[:2])}. Say more of the name."
            )


def sessions_in(directory: Path) -> list[SessionSummary]:
    """The sessions of a folder, the one that was written to last first. One that cannot be read is left out."""
    found = []
    for path in _files(directory):
        with contextlib.suppress(OSError):
            found.append(_summary(path))
    return sorted(found, key=lambda each: (each.changed_ns, each.id), reverse=True)


def _files(directory: Path) -> list[Path]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return [directory / name for name in names if name.endswith(SUFFIX) and _ID.match(name.removesuffix(SUFFIX))]


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


_TOLD = tuple(b'{"type":"%s"' % kind for kind in (b"session", b"turn_began", b"rewound", b"setting"))
"""How the lines begin that a summary is made of: the others need not be parsed, and they are the long ones."""


def _summary(path: Path) -> SessionSummary:
    header: Record = {}
    turns: set[int] = set()
    title, model = "", None
    with path.open("rb", buffering=_BUFFER) as file:
        status = os.fstat(file.fileno())
        for line in lines.lines_in(file.read):
            record = lines.parsed(line) if line.startswith(_TOLD) else None
            match record and record["type"]:
                case "session" if record and not header:
                    header = record
                case "turn_began" if record:
                    turns.add(lines.number_in(record, "turn"))
                    title = title or _title(lines.text_in(record, "text"))
                case "rewound" if record:
                    turns = {turn for turn in turns if turn < lines.number_in(record, "turn")}
                case "setting" if record:
                    model = lines.text_in(record, "model") or model
    return SessionSummary(
        id=path.name.removesuffix(SUFFIX),
        path=path,
        at=lines.text_in(header, "at"),
        changed_ns=status.st_mtime_ns,
        turns=len(turns),
        title=title,
        model=model or lines.text_in(header, "model") or None,
        forked_from=lines.text_in(header, "forked_from") or None,
        size=status.st_size,
    )


def _title(text: str) -> str:
    words = one_line(" ".join(text[: _TITLE * 8].split()))
    return words if len(words) <= _TITLE else words[: _TITLE - 1].rstrip() + "…"


def unusable(path: Path, error: OSError, what: str = "cannot be read") -> StateUnusable:
    """The error of a session whose file fails."""
    reason = os.strerror(error.errno or 0).lower()
    return StateUnusable(f"The session {one_line(short(path))} {what}: {reason}. Nothing was changed.")
