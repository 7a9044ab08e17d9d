"""What an audit found nothing in, so that the next one need not look there again.

Of 10,000 notes most are as they were, and hold nothing. What is kept is only that: the hash of a note, and the families
of rules that found nothing in it; and the same of checks that compare names and contents of all notes. A note with a
finding is looked at again each time. So no finding is ever taken from here, nothing that a note says is kept, and what
comes of a finding (its origin, its mask, whether it is excepted) is as new as in the first audit.

An audit must not be deceived, so this decides what it trusts:

- *Not times and sizes.* They can be set, and memory that is mapped changes a file without any of them. Every file is
  read, and its bytes hashed: that is the floor of each audit.
- *Not for the journal.* Its chain is verified each time: somebody who edits it could write here as well that it is
  intact, and the head that a reviewer noted would not tell.
- *Not across rules.* What is kept counts for one digest: version, code and data of the rules, Python, the person's own
  rules, and settings. With another one everything is looked at anew.
- *The state directory*, as for the review file and its dismissals: no agent reaches it through memtui. Whoever can
  write there as the person can change memtui itself. `--read-only` neither reads nor keeps any of this.

A note that was looked at only in part, or in which a rule broke down, is not clean. What is damaged is as if it were
not there. Only what the last audit saw is kept: 32 bytes a note. Two audits at once replace the file whole, and
either's is right.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from memtui.audit.context import AuditContext, Note
from memtui.audit.model import Hit
from memtui.core.code_hash import hash_packages
from memtui.fs.exports import WriteFailed
from memtui.fs.no_atime import read_regular_file
from memtui.fs.write_helper import FileWriter

MOST_BYTES = 64_000_000
"""Of what is read and kept: about two million notes."""
_KIND = "memtui clean notes 1"
_HEX = 32  # characters of a digest
_CHECKS = 32  # of those that were made or asked for last
_CODE = ("audit", "core", "knowledge", "notes", "places", "scan")
"""The packages whose code and data decide what is found."""


class _Check(NamedTuple):
    """What a check of all notes that found nothing said of itself."""

    counted: dict[str, str]
    skipped: list[list[str]]


class _Kept(NamedTuple):
    """What is kept of one audit."""

    rules: str
    notes: dict[str, set[str]]
    """The families that found nothing in a note, by its digest."""
    checks: dict[str, _Check]
    """By the name of a check and the digest of all that it looked at."""


class AuditCache:
    """What was found clean, by the last audit and by this one.

    Args:
        data: What `encode` made of the last one; `None` for none. Damaged, it counts for none.
    """

    def __init__(self, data: bytes | None = None) -> None:
        self._kept = _parse(data)
        self._data = data

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found clean yet, or nothing of it was kept."""
        return not (self._kept.notes or self._kept.checks)

    def begin(self, subject: AuditContext) -> None:
        """Begin an audit: what was kept under other rules, or of other notes, is forgotten."""
        rules, before = _compute_rules_digest(subject), self._kept
        if before.rules != rules:
            self._kept = _Kept(rules, {}, {})
            return
        digests = (note.digest for note in subject.notes.values())
        notes = {digest: before.notes[digest] for digest in digests if digest in before.notes}
        self._kept = _Kept(rules, notes, before.checks)

    def is_clean(self, note: Note, family: str) -> bool:
        """Whether a family of rules found nothing in a note that says the same, at the same place."""
        return note.data is not None and family in self._kept.notes.get(note.digest, ())

    def select_unclean(self, notes: Iterable[Note], family: str) -> list[Note]:
        """The notes that a family of rules has to look at."""
        kept = self._kept.notes
        return [note for note in notes if note.data is None or family not in kept.get(note.digest, ())]

    def add_clean(self, note: Note, family: str) -> None:
        """Remember that a family of rules looked at all of a note, and found nothing."""
        if note.data is not None:
            self._kept.notes.setdefault(note.digest, set()).add(family)

    def find_in_all(
        self,
        name: str,
        subject: AuditContext,
        find: Callable[[AuditContext], Iterable[Hit]],
        *,
        is_single: bool = False,
    ) -> Iterator[Hit]:
        """The hits of a check over names and contents of all notes; it is not made where it found nothing in the same.

        Args:
            find: Depends on names, contents, settings and selection only, and says what it counted and skipped.
            is_single: Whether what it said of other notes is forgotten.
        """
        digest, log = f"{name} {subject.digest}", subject.log
        check = self._kept.checks.pop(digest, None)
        if check is None:
            counted, skipped, found = dict(log.counted), len(log.skipped), False
            for hit in find(subject):
                found = True
                yield hit
            if found:
                return
            check = _Check(
                {key: words for key, words in log.counted.items() if counted.get(key) != words},
                [[each.rule, each.reason] for each in log.skipped[skipped:]],
            )
        else:
            log.counted.update(check.counted)
            for rule, reason in check.skipped:
                log.skip(reason, rule)
        if is_single:
            for other in [key for key in self._kept.checks if key.startswith(f"{name} ")]:
                del self._kept.checks[other]
        self._kept.checks[digest] = check

    def encode(self) -> bytes | None:
        """What this audit found clean, to be kept; `None` for what is too much, or the same as before."""
        by_families: dict[str, list[str]] = {}
        for digest, families in self._kept.notes.items():
            by_families.setdefault(" ".join(sorted(families)), []).append(digest)
        notes = {families: "".join(sorted(digests)) for families, digests in sorted(by_families.items())}
        checks = dict(list(self._kept.checks.items())[-_CHECKS:])
        document = {"kind": _KIND, "rules": self._kept.rules, "notes": notes, "checks": checks}
        body = json.dumps(document, separators=(",", ":")).encode()
        data = hashlib.sha256(body).hexdigest().encode() + b"\n" + body
        if data == self._data or len(data) > MOST_BYTES:
            return None
        self._data = data
        return data


def _parse(data: bytes | None) -> _Kept:
    """What was kept; nothing of what is damaged."""
    sha256, _, body = (data or b"").partition(b"\n")
    document = json.loads(body) if hashlib.sha256(body).hexdigest().encode() == sha256 else {}
    if document.get("kind") != _KIND:
        return _Kept("", {}, {})
    notes = {
        digests[at : at + _HEX]: set(families.split())
        for families, digests in document["notes"].items()
        for at in range(0, len(digests), _HEX)
    }
    return _Kept(document["rules"], notes, {name: _Check(*check) for name, check in document["checks"].items()})


def read_cache(path: str | os.PathLike[str] | None) -> AuditCache | None:
    """What was kept in a file; `None` for no path. A file that cannot be read is as if it were not there."""
    if path is None:
        return None
    try:
        data = read_regular_file(os.fspath(path), MOST_BYTES)
    except OSError:
        data = None
    return AuditCache(data)


def keep_cache(cache: AuditCache, path: str | os.PathLike[str], writer: FileWriter) -> None:
    """Keep it for the next audit; where nothing can be kept, that one looks at everything."""
    if (data := cache.encode()) is not None:
        with contextlib.suppress(WriteFailed):
            writer.keep(path, data)


def _compute_rules_digest(subject: AuditContext) -> str:
    """What decides, besides a note itself, what is found in it."""
    decisive = (hash_packages(_CODE), subject.custom.digest, subject.audit, subject.memory, subject.dialect.name)
    return hashlib.sha256(repr(decisive).encode("utf-8", "surrogatepass")).hexdigest()
