"""Marks: the verdicts of reviewers as a document that is readable, portable and tamper-evident.

It is kept outside the memory folder, where no agent reaches it. Each mark holds the journal's head at the time and the
hash of the mark before it, and the document that of the last one: a mark that was changed, dropped or moved is found.
As with the journal, a document that somebody made anew from the start is not: its hash has to be noted elsewhere.
"""

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memtui.core.errors import LockTimeout, MemtuiError, StateUnusable
from memtui.core.hashing import hash_bytes
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import format_path
from memtui.core.unicode import to_one_line, visible_json
from memtui.fs.atomic import ASIDE
from memtui.fs.exports import ExportWriter
from memtui.fs.locks import lock_file
from memtui.fs.state import get_state_directory, get_state_home
from memtui.fs.write_helper import FileWriter, LocalWriter
from memtui.review.inbox import FINDING_VERDICTS, MarkedFinding, ReviewMark, ReviewVerdict

KIND = "memtui review"
SCHEMA = 2
"""The highest that is read; a file without a verdict on a finding is written as 1, so that an older memtui reads it."""
MOST_BYTES = 64 * 1024 * 1024
"""Bytes of the largest review file that is read."""
START = hash_bytes(b"memtui review 1")
"""What stands in for the hash of the mark before the first one."""
_LONGEST_NAME = 200  # bytes of a folder's name that become part of a file's
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TEXTS = ("reviewer", "path", "before", "after", "hunk", "words", "head")
_MORE_TEXTS = ("until", "failures_reason")
"""Fields that stand in a mark only where they say something."""


class ReviewFileUnusable(StateUnusable):
    """A review file cannot be used; the words say which and why. It was left as it is."""


@dataclass(frozen=True, slots=True)
class Review:
    """What reviewers said, the oldest mark first.

    Attributes:
        problem: A defect in the chain of marks, as a sentence; else empty.
        doubtful: Positions in `marks` of changed ones and of those after a gap: they do not count.
        entries: The marks as stored, with fields of later versions of memtui.
    """

    path: Path | None = None
    folder: str = ""
    marks: tuple[ReviewMark, ...] = ()
    problem: str = ""
    hash: str = START
    doubtful: frozenset[int] = frozenset()
    entries: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Review":
        """Read a review file. One that is not there is an empty review.

        Raises:
            ReviewFileUnusable: It is no review file, is damaged, too large or of a newer version, or cannot be read.
        """
        place = Path(path)
        data = _read_bytes(place)
        return cls(place) if data is None else _parse_review(data, place)

    @property
    def valid_marks(self) -> tuple[ReviewMark, ...]:
        """The marks that count: those that stand as they were written."""
        return tuple(mark for at, mark in enumerate(self.marks) if at not in self.doubtful)

    def add_marks(self, marks: Iterable[ReviewMark]) -> "Review":
        """The review with more marks, chained to those that it has."""
        added, entries, last = [], [], self.hash
        for mark in marks:
            entry = _build_entry(mark, last)
            last = compute_digest(entry)
            added.append(mark)
            entries.append(entry)
        return replace(self, marks=(*self.marks, *added), entries=(*self.entries, *entries), hash=last)

    def to_json(self) -> bytes:
        """The document: the same marks, the same bytes."""
        document = {
            "schema": SCHEMA if any(mark.verdict in FINDING_VERDICTS for mark in self.marks) else 1,
            "kind": KIND,
            "folder": self.folder,
            "marks": [dict(entry) for entry in self.entries],
            "hash": self.hash,
        }
        text = json.dumps(document, ensure_ascii=False, indent=2)
        return (visible_json(text) + "\n").encode()


def get_reviewer() -> str:
    """The name of the logged-in user."""
    try:
        import pwd  # noqa: PLC0415 - not on every system

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return os.environ.get("LOGNAME") or os.environ.get("USER") or f"user {os.getuid()}"


def get_review_path(folder: str, state_home: str | os.PathLike[str] | None = None) -> Path:
    """Where the marks of a folder are kept, unless somebody said otherwise.

    Raises:
        ReviewFileUnusable: It would lie inside the folder, within the agent's reach.
    """
    home = get_state_home() if state_home is None else Path(os.path.realpath(state_home)) / "memtui"
    identity = hash_bytes(os.fsencode(folder))[:12]
    name = os.fsdecode(os.fsencode(os.path.basename(folder))[:_LONGEST_NAME]) or "root"
    return resolve_review_path(home / "reviews" / f"{name}-{identity}.json", folder)


def resolve_review_path(
    path: str | os.PathLike[str] | None, folder: str, state: str | os.PathLike[str] | None = None
) -> Path:
    """A review file that somebody named, with links resolved; for `None` the usual one.

    Raises:
        ReviewFileUnusable: It is inside the memory folder, where an agent could write verdicts, or beside its journal.
    """
    if path is None:
        return get_review_path(folder)
    place = Path(os.path.realpath(os.path.expanduser(path)))
    if not folder:
        return place
    inner = Path(folder)
    if place == inner or inner in place.parents:
        raise ReviewFileUnusable(
            f"The review file {_format_path(place)} is inside the memory folder {_format_path(inner)}, where an agent "
            "could reach it. Nothing was written. Choose another one with --review."
        )
    directory = get_state_directory(folder, state)
    if place == directory or directory in place.parents:
        raise ReviewFileUnusable(
            f"The review file {_format_path(place)} is in {_format_path(directory)}, where the journal is kept. "
            "Nothing was written. Choose another one with --review."
        )
    return place


# Reading


def _read_bytes(path: Path) -> bytes | None:
    """All of a file; `None` if there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _build_unreadable_error(path, error) from error
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode):
            raise ReviewFileUnusable(
                f"{_format_path(path)} is not a review file: it is not a regular file. Nothing was written."
            )
        if seen.st_size > MOST_BYTES:
            raise ReviewFileUnusable(
                f"The review file {_format_path(path)} has {seen.st_size:,} bytes, over the limit of {MOST_BYTES:,}. "
                "Nothing was written. Name another one with --review."
            )
        with open(fd, "rb", closefd=False) as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _build_unreadable_error(path, error) from error
    finally:
        os.close(fd)


def _parse_review(data: bytes, path: Path) -> Review:
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        if data.lstrip().startswith(b"{") and f'"{KIND}"'.encode() in data[:200]:
            where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            raise ReviewFileUnusable(
                f"The review file {_format_path(path)} is cut short or damaged{where}. Nothing was written. Restore "
                "a copy of it, or name another one with --review."
            ) from error
        raise _build_foreign_error(path) from error
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise _build_foreign_error(path)
    schema = document.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise ReviewFileUnusable(
            f"The review file {_format_path(path)} was written by a newer memtui (schema {schema}; this one reads "
            f"{SCHEMA}). Nothing was written. Use that version, or name another file with --review."
        )
    entries, folder, last = document.get("marks"), document.get("folder"), document.get("hash")
    if (
        schema not in range(1, SCHEMA + 1)
        or not isinstance(entries, list)
        or not isinstance(folder, str)
        or not isinstance(last, str)
    ):
        raise ReviewFileUnusable(
            f"The review file {_format_path(path)} has missing or wrong fields. Nothing was written."
        )
    marks = []
    for number, entry in enumerate(entries, start=1):
        try:
            _require_known_verdict(entry, number, path)
            marks.append(_parse_mark(entry))
        except (ValueError, OverflowError, TypeError, KeyError) as error:
            raise ReviewFileUnusable(
                f"Mark {number} of the review file {_format_path(path)} cannot be read. Nothing was written."
            ) from error
    problem, doubtful = _verify_chain(entries, last, path)
    return Review(path, folder, tuple(marks), problem, last, doubtful, tuple(entries))


def _require_known_verdict(entry: object, number: int, path: Path) -> None:
    """Raise for a verdict of a later memtui: what it takes back would count, were it left out."""
    verdict = entry.get("verdict") if isinstance(entry, dict) else None
    if isinstance(verdict, str) and verdict not in set(ReviewVerdict):
        raise ReviewFileUnusable(
            f"Mark {number} of the review file {_format_path(path)} says {to_one_line(verdict[:40])!r}, which this "
            "memtui does not know. Nothing was written. Use a newer version, or name another file with --review."
        )


def _parse_mark(entry: object) -> ReviewMark:
    """A mark as it stands in the document.

    Raises:
        TypeError, KeyError, ValueError, OverflowError: It is none.
    """
    if not isinstance(entry, dict) or not isinstance(entry["previous"], str):
        raise TypeError("no mark")
    texts = {name: entry[name] for name in _TEXTS} | {name: entry.get(name, "") for name in _MORE_TEXTS}
    seq = entry["seq"]
    if not all(isinstance(text, str) for text in texts.values()) or type(seq) is not int or seq < 0:
        raise TypeError("no mark")
    at = datetime.fromisoformat(entry["at"])
    at_us = (at - _EPOCH) // timedelta(microseconds=1)
    findings, since = tuple(map(_parse_finding, entry.get("findings", ()))), entry.get("since")
    if since is not None and type(since) is not int:
        raise TypeError("no mark")
    verdict = ReviewVerdict(entry["verdict"])
    return ReviewMark(at_us=at_us, verdict=verdict, seq=seq, findings=findings, since=since, **texts)


def _parse_finding(entry: Mapping[str, Any]) -> MarkedFinding:
    texts = {name: entry[name] for name in ("fingerprint", "rule", "severity", "path")}
    texts |= {name: entry.get(name, "") for name in ("evidence", "decision")}
    line, count = entry.get("line"), entry.get("count", 1)
    if not all(isinstance(text, str) for text in texts.values()) or type(count) is not int:
        raise TypeError("no finding")
    if line is not None and type(line) is not int:
        raise TypeError("no finding")
    return MarkedFinding(line=line, count=count, **texts)


def _verify_chain(entries: Sequence[Mapping[str, Any]], last: str, path: Path) -> tuple[str, frozenset[int]]:
    """Where the chain does not hold: in words, and which marks are not vouched for by what comes after them."""
    broken: list[int] = []
    previous = START
    for at, entry in enumerate(entries):
        if entry["previous"] != previous:
            broken.append(at)
        previous = compute_digest(entry)
    if previous != last:
        broken.append(len(entries))
    if not broken:
        return "", frozenset()
    at = broken[0]
    where = "before its first mark" if at == 0 else f"after mark {at} of {len(entries)}"
    return (
        f"The review file {_format_path(path)} was changed by another program: {where} a mark was changed, "
        "dropped or moved. Uncertain marks do not count, so some changes have to be reviewed again."
    ), frozenset(at - 1 for at in broken if at)


def _build_entry(mark: ReviewMark, previous: str) -> dict[str, Any]:
    more: dict[str, Any] = {name: getattr(mark, name) for name in _MORE_TEXTS if getattr(mark, name)}
    if mark.since is not None:
        more["since"] = mark.since
    if mark.findings:
        more["findings"] = [serialize_finding(each) for each in mark.findings]
    return {
        "at": (_EPOCH + timedelta(microseconds=mark.at_us)).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "reviewer": mark.reviewer,
        "verdict": mark.verdict.value,
        "path": mark.path,
        "hunk": mark.hunk,
        "words": mark.words,
        "before": mark.before,
        "after": mark.after,
        "seq": mark.seq,
        "head": mark.head,
        **more,
        "previous": previous,
    }


def serialize_finding(finding: MarkedFinding) -> dict[str, Any]:
    """A finding as it stands in a mark: what is by default is left out."""
    entry: dict[str, Any] = {name: getattr(finding, name) for name in ("fingerprint", "rule", "severity", "path")}
    if finding.line is not None:
        entry["line"] = finding.line
    if finding.count != 1:
        entry["count"] = finding.count
    return entry | {name: text for name in ("evidence", "decision") if (text := getattr(finding, name))}


def compute_digest(entry: Mapping[str, Any]) -> str:
    """The hash of a mark as it stands in the document, with that of the mark before it."""
    body = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hash_bytes(body.encode("ascii"))


def _build_foreign_error(path: Path) -> ReviewFileUnusable:
    return ReviewFileUnusable(
        f"{_format_path(path)} is not a review file of memtui. Nothing was written. Name another one with --review; "
        "a missing one is created."
    )


def _build_unreadable_error(path: Path, error: OSError) -> ReviewFileUnusable:
    reason = os.strerror(error.errno or errno.EIO).lower()
    return ReviewFileUnusable(f"The review file {_format_path(path)} cannot be read: {reason}. Nothing was written.")


def _format_path(path: Path) -> str:
    return to_one_line(format_path(path))


# The review file. It is written under a lock of its directory and replaced atomically, so that two writers lose
# nothing; a process without the right to write can take the lock, and another process writes for it.

_ATTEMPTS = 20  # how often it is written anew, where there are no locks and others are faster
_LOCK_SECONDS = 10.0  # what a file system answers that knows no such lock, or none of a directory
NOTHING = "Nothing was written."
"""What is said where no mark could be kept."""


class ReviewFile:
    """Where the marks of a folder are kept.

    Args:
        writer: Writes, where that is allowed; by default this process, anywhere.
    """

    def __init__(self, path: str | os.PathLike[str], *, folder: str = "", writer: FileWriter | None = None) -> None:
        self.path = Path(path)
        self._folder = folder
        self._writer = writer or LocalWriter(ExportWriter(None, None, nothing=NOTHING))

    def load(self) -> Review:
        """What it holds now; an empty review if it is not there.

        Raises:
            ReviewFileUnusable: It cannot be used.
        """
        review = Review.read(self.path)
        return review if review.folder or review.marks else replace(review, folder=self._folder)

    def add(self, marks: Iterable[ReviewMark]) -> Review:
        """Add marks behind those that are there by now.

        Returns:
            What it holds then.

        Raises:
            ReviewFileUnusable: It cannot be used. Nothing of it was changed.
            UnconfirmedChange: It could not be written, the same.
            LockTimeout: Another process holds the lock for too long.
        """
        added = list(marks)
        if not added:
            return self.load()
        _require_file(self.path)
        self._create()
        with _hold_lock(self.path):
            for _ in range(_ATTEMPTS):
                review = self.load().add_marks(added)
                data = review.to_json()
                if len(data) > MOST_BYTES:
                    raise ReviewFileUnusable(
                        f"Nothing was written: {_format_path(self.path)} would have {len(data):,} bytes, over the "
                        f"limit of {MOST_BYTES:,}. Start another one with --review."
                    )
                self._writer.write(str(self.path), data, force=True)
                if self.load().entries[: len(review.entries)] == review.entries:
                    return review  # else there are no locks, and another program wrote over it
        raise LockTimeout(f"Nothing was written: other programs keep writing to {_format_path(self.path)}.")

    def _create(self) -> None:
        """Make an empty review if there is none, and the directory with it: the lock needs that."""
        if self.path.exists():
            return
        empty = replace(Review(self.path), folder=self._folder)
        try:
            self._writer.write(str(self.path), empty.to_json(), force=False)
        except MemtuiError:
            if not self.path.exists():  # else somebody else was faster
                raise


@contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file's directory, where there is one to be had.

    Raises:
        LockTimeout: Somebody else has it for too long.
    """
    try:
        fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        fd = -1  # such as a directory that may be entered and not read: what is written is looked at afterwards
    try:
        if fd >= 0 and _acquire_lock(fd, path):
            _remove_leftovers(path)
        yield
    finally:
        if fd >= 0:
            os.close(fd)


def _acquire_lock(fd: int, path: Path) -> bool:
    try:
        return lock_file(fd, seconds=_LOCK_SECONDS)
    except LockTimeout:
        raise LockTimeout(f"Nothing was written: another program is writing to {_format_path(path)}.") from None
    except OSError as error:
        raise ReviewFileUnusable(f"Nothing was written: {_format_path(path)} cannot be locked.") from error


def _remove_leftovers(path: Path) -> None:
    """Remove what a process left that died before its file was in its place. The lock must be held."""
    with contextlib.suppress(OSError):
        for name in os.listdir(path.parent):
            if name.startswith(f".{path.name}.") and name.endswith(ASIDE):
                with contextlib.suppress(OSError):
                    os.unlink(path.parent / name)


def _require_file(path: Path) -> None:
    """Go on only where a file stands, or nothing: a link would be replaced, and not what it leads to."""
    with contextlib.suppress(OSError):  # said by whoever reads it, or writes it
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise ReviewFileUnusable(f"Nothing was written: {_format_path(path)} is not a regular file.")
