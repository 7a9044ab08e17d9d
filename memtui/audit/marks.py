"""What reviewers said of changes, as a document: readable, portable, and such that it shows when it was changed.

It is kept outside the memory folder, where no agent reaches it. Each mark holds the journal's head at the time and the
hash of the mark before it, and the document that of the last one: a mark that was changed, dropped or moved is found.
As with the journal, a document that somebody made anew from the start is not: its hash has to be noted elsewhere.
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memtui.audit.inbox import Mark, Verdict
from memtui.core.errors import StateUnusable
from memtui.core.visible import one_line, visible_json
from memtui.places import short
from memtui.places import state_home as usual_state_home
from memtui.state import state_directory

KIND = "memtui review"
SCHEMA = 1
MOST_BYTES = 64 * 1024 * 1024
"""Bytes of the largest review file that is read."""
START = hashlib.sha256(b"memtui review 1").hexdigest()
"""What stands in for the hash of the mark before the first one."""
_LONGEST_NAME = 200
"""Bytes of a folder's name that become part of a file's."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TEXTS = ("reviewer", "path", "before", "after", "hunk", "words", "head")


class ReviewUnusable(StateUnusable):
    """A review file cannot be used; the words say which and why. It was left as it is."""


@dataclass(frozen=True, slots=True)
class Review:
    """What reviewers said, the oldest mark first.

    Attributes:
        path: The file it was read from; `None` for one that was never kept.
        folder: Of which folder, as a person writes it.
        marks: What was said.
        problem: What is wrong with the chain of marks, as a sentence; empty if nothing is.
        hash: The hash of the last mark, as the document says; what the next one is chained to.
        doubtful: Positions in `marks` of what was changed, or stands where something was dropped: it does not count.
        entries: The marks as they stand in the document, with what a later version of memtui may have added.
    """

    path: Path | None = None
    folder: str = ""
    marks: tuple[Mark, ...] = ()
    problem: str = ""
    hash: str = START
    doubtful: frozenset[int] = frozenset()
    entries: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Review":
        """Read a review file. One that is not there is an empty review.

        Raises:
            ReviewUnusable: It is no review file, is damaged, too large or of a newer version, or cannot be read.
        """
        place = Path(path)
        data = _bytes_of(place)
        return cls(place) if data is None else _parsed(data, place)

    @property
    def counting(self) -> tuple[Mark, ...]:
        """The marks that count: those that stand as they were written."""
        return tuple(mark for at, mark in enumerate(self.marks) if at not in self.doubtful)

    def with_mark(self, mark: Mark) -> "Review":
        """The review with one more mark."""
        return self.with_marks([mark])

    def with_marks(self, marks: Iterable[Mark]) -> "Review":
        """The review with more marks, chained to those that it has."""
        added, entries, last = [], [], self.hash
        for mark in marks:
            entry = _entry(mark, last)
            last = _digest(entry)
            added.append(mark)
            entries.append(entry)
        return replace(self, marks=(*self.marks, *added), entries=(*self.entries, *entries), hash=last)

    def to_json(self) -> bytes:
        """The document: the same marks, the same bytes."""
        document = {
            "schema": SCHEMA,
            "kind": KIND,
            "folder": self.folder,
            "marks": [dict(entry) for entry in self.entries],
            "hash": self.hash,
        }
        text = json.dumps(document, ensure_ascii=False, indent=2)
        return (visible_json(text) + "\n").encode()


def review_path(folder: str, state_home: str | os.PathLike[str] | None = None) -> Path:
    """Where the marks of a folder are kept, unless somebody said otherwise.

    Args:
        folder: The folder, with links resolved.
        state_home: In place of `$XDG_STATE_HOME`.

    Raises:
        ReviewUnusable: It would lie inside the folder, within the agent's reach.
    """
    home = usual_state_home() if state_home is None else Path(os.path.realpath(state_home)) / "memtui"
    identity = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    name = os.fsdecode(os.fsencode(os.path.basename(folder))[:_LONGEST_NAME]) or "root"
    return outside(home / "reviews" / f"{name}-{identity}.json", folder)


def outside(path: str | os.PathLike[str], folder: str, state: str | os.PathLike[str] | None = None) -> Path:
    """A review file that somebody named, with links resolved.

    Args:
        path: As it was named; `~` is expanded.
        folder: The memory folder, with links resolved; empty for one that is kept in memory.
        state: Where the folder's journal lies, if somebody said so.

    Raises:
        ReviewUnusable: It is inside the memory folder, where an agent could write verdicts, or beside its journal.
    """
    place = Path(os.path.realpath(os.path.expanduser(path)))
    if not folder:
        return place
    inner = Path(folder)
    if place == inner or inner in place.parents:
        raise ReviewUnusable(
            f"The review file {_said(place)} is inside the memory folder {_said(inner)}, where an agent could "
            "reach it. Nothing was written. Choose another one with --review."
        )
    kept = state_directory(folder, state)
    if place == kept or kept in place.parents:
        raise ReviewUnusable(
            f"The review file {_said(place)} is in {_said(kept)}, where the journal is kept. Nothing was written. "
            "Choose another one with --review."
        )
    return place


# Reading


def _bytes_of(path: Path) -> bytes | None:
    """All of a file; `None` if there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode):
            raise ReviewUnusable(f"{_said(path)} is not a file, so it is no review file. It was left as it is.")
        if seen.st_size > MOST_BYTES:
            raise ReviewUnusable(
                f"The review file {_said(path)} has {seen.st_size:,} bytes, and no more than {MOST_BYTES:,} are read. "
                "It was left as it is. Name another one with --review."
            )
        with open(fd, "rb", closefd=False) as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    finally:
        os.close(fd)


def _parsed(data: bytes, path: Path) -> Review:
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        if data.lstrip().startswith(b"{") and f'"{KIND}"'.encode() in data[:200]:
            where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            raise ReviewUnusable(
                f"The review file {_said(path)} is cut short or damaged{where}. It was left as it is. Put back a copy "
                "of it, or name another one with --review."
            ) from error
        raise _foreign(path) from error
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise _foreign(path)
    schema = document.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise ReviewUnusable(
            f"The review file {_said(path)} was written by a newer memtui (schema {schema}; this one reads {SCHEMA}). "
            "It was left as it is. Use that version, or name another file with --review."
        )
    entries, folder, last = document.get("marks"), document.get("folder"), document.get("hash")
    if schema != SCHEMA or not isinstance(entries, list) or not isinstance(folder, str) or not isinstance(last, str):
        raise ReviewUnusable(f"The review file {_said(path)} lacks what every review file has. It was left as it is.")
    marks = []
    for number, entry in enumerate(entries, start=1):
        try:
            marks.append(_mark(entry))
        except (ValueError, OverflowError, TypeError, KeyError) as error:
            raise ReviewUnusable(
                f"Mark {number} of the review file {_said(path)} cannot be read. It was left as it is."
            ) from error
    problem, doubtful = _checked(entries, last, path)
    return Review(path, folder, tuple(marks), problem, last, doubtful, tuple(entries))


def _mark(entry: object) -> Mark:
    """A mark as it stands in the document.

    Raises:
        TypeError, KeyError, ValueError, OverflowError: It is none.
    """
    if not isinstance(entry, dict) or not isinstance(entry["previous"], str):
        raise TypeError("no mark")
    texts = {name: entry[name] for name in _TEXTS}
    seq = entry["seq"]
    if not all(isinstance(text, str) for text in texts.values()) or type(seq) is not int or seq < 0:
        raise TypeError("no mark")
    at = datetime.fromisoformat(entry["at"])
    at_us = (at - _EPOCH) // timedelta(microseconds=1)
    return Mark(at_us=at_us, verdict=Verdict(entry["verdict"]), seq=seq, **texts)


def _checked(entries: Sequence[Mapping[str, Any]], last: str, path: Path) -> tuple[str, frozenset[int]]:
    """Where the chain does not hold: in words, and which marks are not vouched for by what comes after them."""
    broken: list[int] = []
    previous = START
    for at, entry in enumerate(entries):
        if entry["previous"] != previous:
            broken.append(at)
        previous = _digest(entry)
    if previous != last:
        broken.append(len(entries))
    if not broken:
        return "", frozenset()
    at = broken[0]
    where = "before its first mark" if at == 0 else f"behind mark {at} of {len(entries)}"
    return (
        f"The review file {_said(path)} was changed by something else than memtui: {where} a mark was changed, dropped "
        "or moved. What is not certain does not count, so some changes have to be reviewed again."
    ), frozenset(at - 1 for at in broken if at)


def _entry(mark: Mark, previous: str) -> dict[str, Any]:
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
        "previous": previous,
    }


def _digest(entry: Mapping[str, Any]) -> str:
    """The hash of a mark as it stands in the document, with that of the mark before it."""
    body = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(body.encode("ascii")).hexdigest()


def _foreign(path: Path) -> ReviewUnusable:
    return ReviewUnusable(
        f"{_said(path)} is no review file of memtui. It was left as it is. Name another one with --review; one that is "
        "not there is made."
    )


def _unreadable(path: Path, error: OSError) -> ReviewUnusable:
    reason = os.strerror(error.errno or errno.EIO).lower()
    return ReviewUnusable(f"The review file {_said(path)} cannot be read: {reason}. It was left as it is.")


def _said(path: Path) -> str:
    return one_line(short(path))
