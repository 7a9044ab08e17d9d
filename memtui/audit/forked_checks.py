"""Checks that a second process makes: see `memtui.fs.fork`.

It looks at the last part of the notes, family by family as the audit itself does with the others, then makes some
checks of all notes, and tells the hits of each step. Whatever is not as usual there (a rule that breaks down, a note of
very many hits, the end of the process) is left to the audit, which then makes that check as it would have without.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from itertools import islice
from typing import Any

from memtui.audit.context import AuditContext, Note
from memtui.audit.model import Hit
from memtui.fs.fork import Fork, Tell, does_fork_pay

_SHARE = 0.34
"""Of the notes: as much as both are at it equally long, since the duplicates are its too."""
_FAMILIES = 6  # that look at notes, where none is left out
_MOST = 200  # hits of one note that are told

CheckNote = Callable[[Note, AuditContext], Iterable[Hit]]
CheckAll = Callable[[AuditContext], Iterable[Hit]]


class ForkedChecks:
    """The checks that a process makes, once it was begun; until then none.

    Attributes:
        fork: The process.
        paths: The notes that it looks at.
    """

    def __init__(self) -> None:
        self.fork = Fork()
        self.paths: frozenset[str] = frozenset()
        self._steps: list[str] = []

    def begin(
        self,
        subject: AuditContext,
        families: Sequence[tuple[str, CheckNote]],
        notes: Sequence[Note],
        in_all: Sequence[tuple[str, CheckAll]],
    ) -> None:
        """Begin them, where there is anything to look at.

        Args:
            families: Those that check notes, by name, in the order in which they are asked for.
            notes: Those to look at.
            in_all: Checks of all notes, by name, in the order in which they are asked for.
        """
        if notes:
            self.fork.begin(partial(_serve, subject, families, notes, in_all))
            self._steps = [name for name, _ in (*families, *in_all)]
            self.paths = frozenset(note.path for note in notes) if self.fork.is_running else frozenset()

    def receive(self, name: str) -> Any:
        """What came of a step: for a family, hits by path, and `None` for a note that is left to the audit; for another
        check, its hits, what it counted and what it skipped. `None` where the process does not tell.
        """
        while self.fork.is_running and name in self._steps:
            found = self.fork.receive()
            if self._steps.pop(0) == name:
                return found
        return None


def select_notes(notes: Collection[Note], families: int) -> Sequence[Note]:
    """The notes that a second process is to look at; none where it does not pay, or cannot be.

    Args:
        families: How many look at them: where there are few, a process pays for more notes only.
    """
    if not does_fork_pay(len(notes) * families // _FAMILIES):
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


# In the forked process.


def _serve(
    subject: AuditContext,
    families: Sequence[tuple[str, CheckNote]],
    notes: Sequence[Note],
    in_all: Sequence[tuple[str, CheckAll]],
    tell: Tell,
) -> None:
    """Tell what comes of each step."""
    for name, check in families:
        found = {note.path: _pack(check, note, subject) for note in notes if not subject.is_clean(note, name)}
        tell({path: hits for path, hits in found.items() if hits != []})
    for _, check_all in in_all:
        log = subject.log
        counted, skipped = dict(log.counted), len(log.skipped)
        hits = [_to_fields(hit) for hit in check_all(subject)]
        more = {key: words for key, words in log.counted.items() if counted.get(key) != words}
        tell((hits, more, [(each.rule, each.reason) for each in log.skipped[skipped:]]))


def _pack(check: CheckNote, note: Note, subject: AuditContext) -> list[Any] | None:
    """The hits of a note; `None` for what the audit has to see for itself."""
    try:
        hits = list(islice(check(note, subject), _MOST + 1))
    except Exception:  # the audit does this check again by itself, and reports that the rule broke down
        return None
    return [_to_fields(hit) for hit in hits] if len(hits) <= _MOST else None


def _to_fields(hit: Hit) -> tuple[Any, ...]:
    return tuple(dict(hit.facts) if each.name == "facts" else getattr(hit, each.name) for each in fields(Hit))
