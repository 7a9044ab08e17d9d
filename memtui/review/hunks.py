"""The hunks of a changed file, with fingerprints that stay the same while other hunks change."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field

from memtui.core import diffs
from memtui.core.diffs import TextDiff
from memtui.core.events import EntryKind, Version
from memtui.core.lazy_dataclass import dataclass
from memtui.engine import Observer
from memtui.review.inbox import ChangedFile, ChangedHunk, ReviewMark, ReviewVerdict, TrackStep
from memtui.review.marks import Review
from memtui.review.tracks import PathTrack, get_version_key

# The state of a review: a verdict counts for exactly the texts over which it was given. An accepted text is where the
# next review begins; a flag stays until the text is accepted or reverted.

_JUDGEMENTS = frozenset({ReviewVerdict.ACCEPT, ReviewVerdict.FLAG})


def is_review_end(mark: ReviewMark) -> bool:
    """Whether somebody said that they have seen all that there was."""
    return not mark.path and not mark.hunk and mark.verdict is ReviewVerdict.ACCEPT


class MarkIndex:
    """What reviewers said, thing by thing."""

    def __init__(
        self, marks: Sequence[ReviewMark], things: Iterable[PathTrack], stood: Callable[[str, int], str]
    ) -> None:
        self._stood = stood
        self._dones = [(at, mark) for at, mark in enumerate(marks) if is_review_end(mark)]
        self._of_path: dict[str, list[tuple[int, ReviewMark]]] = {}
        for at, mark in enumerate(marks):
            if mark.path:
                self._of_path.setdefault(mark.path, []).append((at, mark))
        self._called: dict[str, list[PathTrack]] = {}
        """By each name of which something is said, the things that were called so."""
        for thing in things if self._of_path else ():
            for name in thing.names:
                if name in self._of_path:
                    self._called.setdefault(name, []).append(thing)

    def get_marks(self, thing: PathTrack, *, with_dones: bool) -> list[ReviewMark]:
        """What was said of a thing under any of its names, the oldest first.

        Args:
            with_dones: Whether ended reviews are included.
        """
        found = list(self._dones) if with_dones else []
        for name in thing.names if self._of_path else ():
            found += [(at, mark) for at, mark in self._of_path.get(name, ()) if self._applies_to(mark, thing)]
        return [mark for _, mark in sorted(found, key=lambda each: each[0])]

    def has_match(self, mark: ReviewMark) -> bool:
        """Whether a mark was given over what any of the things was and became."""
        return any(find_mark_span(thing, mark, 0) is not None for thing in self._called.get(mark.path, ()))

    def _applies_to(self, mark: ReviewMark, thing: PathTrack) -> bool:
        """Whether a mark is about this one of the things that are called so, as it was or became by then."""
        if _matches_mark(mark, thing):
            return True
        if any(_matches_mark(mark, other) for other in self._called[mark.path]):
            return False
        if thing.steps[-1].seq <= mark.seq or not any(_is_marked_state(mark, step) for step in thing.steps):
            return True
        return self._stood(mark.path, mark.seq) != mark.after  # else it has become so again since


def _matches_mark(mark: ReviewMark, thing: PathTrack) -> bool:
    """Whether a thing was, at the time of a mark, what the mark was given over."""
    return _is_marked_state(mark, thing.steps[thing.find_step_index(mark.seq)])


def _is_marked_state(mark: ReviewMark, step: TrackStep) -> bool:
    """Whether something was after a step what a mark was given over. What is gone has no name any more."""
    return get_version_key(step.version) == mark.after and (step.name == mark.path or step.version is None)


@dataclass(slots=True)
class TrackReview:
    """What reviewers settled of one thing.

    Attributes:
        start: The position of the first step to review.
        accepted: The accepted steps, from and to, since the last ended review; `None` for none.
        flags: The fingerprints of flagged hunks; `""` for the whole file.
        waiting: The start if it had not been flagged when a review was ended.
        marks: Those on open changes.
        accepted_marks: Those on accepted changes.
    """

    start: int = 0
    accepted: tuple[int, int] | None = None
    flags: set[str] = field(default_factory=set)
    last: ReviewMark | None = None
    waiting: int = 0
    accepted_at: int = 0
    marks: list[ReviewMark] = field(default_factory=list)
    accepted_marks: list[ReviewMark] = field(default_factory=list)


def resolve_marks(
    thing: PathTrack, marks: Iterable[ReviewMark], dones: Collection[int], counts: str | None
) -> TrackReview:
    """Follow what was said of a thing.

    Args:
        dones: Numbers of the last events of ended reviews that the journal knows.
        counts: The reviewer whose acceptance counts; `None` for anyone. Flags of all reviewers count.
    """
    found = TrackReview()
    for mark in marks:
        if is_review_end(mark):
            if mark.seq in dones and counts in (None, mark.reviewer):
                _apply_review_end(found, thing, mark)
            continue
        span = find_mark_span(thing, mark, found.start)
        if span is None or span[1] >= found.start:
            found.marks.append(mark)
        if mark.verdict is ReviewVerdict.REVERTED:
            found.flags -= {mark.hunk} if mark.hunk else set(found.flags)
        elif span is None or mark.verdict not in _JUDGEMENTS:
            if mark.verdict is ReviewVerdict.ACCEPT and _accepts_past_step(mark, thing, found.start):
                found.last = mark  # it was given over what came before this record begins
        elif _apply_verdict(found, mark, *span, counts=counts in (None, mark.reviewer)) and not mark.hunk:
            found.last = mark
    return found


def _apply_verdict(found: TrackReview, mark: ReviewMark, begin: int, end: int, *, counts: bool) -> bool:
    """Apply a flag or an acceptance of steps; returns whether it is the last verdict, if it is about the whole."""
    if mark.verdict is ReviewVerdict.FLAG:
        found.flags.add(mark.hunk)
        if begin < found.start:
            found.start, found.marks, found.accepted_marks = begin, [*found.accepted_marks, *found.marks], []
    elif counts and mark.hunk:
        found.flags.discard(mark.hunk)
        if not found.flags:
            found.start = max(found.start, found.waiting)
    elif counts:
        if begin > found.start or end < found.start:
            return False  # it was given over less than what is left to be looked at, or long ago
        found.flags.clear()
        found.accepted, found.start, found.accepted_at = (begin, end), end, mark.seq
        found.marks, found.accepted_marks = [], found.marks
    return True


def _apply_review_end(found: TrackReview, thing: PathTrack, done: ReviewMark) -> None:
    """Somebody said that they have seen all that there was."""
    found.waiting = max(found.waiting, thing.find_step_index(done.seq))
    if found.flags:
        return
    # What was accepted earlier was not what came after that review, though it be the same again.
    if found.start <= found.waiting or found.accepted_at < done.seq:
        found.start, found.marks = found.waiting, []
    found.accepted = None
    found.last = found.last if _accepts_past_step(found.last, thing, found.start) else None


def _accepts_past_step(mark: ReviewMark | None, thing: PathTrack, at: int) -> bool:
    """Whether a mark accepts what a thing was at one of its steps."""
    if mark is None or mark.verdict is not ReviewVerdict.ACCEPT or mark.hunk:
        return False
    return _is_marked_state(mark, thing.steps[at])


def find_mark_span(thing: PathTrack, mark: ReviewMark, start: int) -> tuple[int, int] | None:
    """Between which steps a mark was given: the positions of the texts before and after; `None` for other texts.

    Args:
        start: The position of the first step to review; of several matching texts the last one up to here is meant.
    """
    steps = thing.steps
    ends = [at for at, step in enumerate(steps) if _is_marked_state(mark, step)]
    if not ends:
        return None
    by_then = [at for at in ends if steps[at].seq <= mark.seq]
    end = by_then[-1] if by_then else ends[0]  # seen before anybody had recorded it
    begins = [at for at in range(end) if get_version_key(steps[at].version) == mark.before]
    if not begins:
        return None
    early = [at for at in begins if at <= start]
    return (early[-1] if early else begins[-1]), end


def find_open_flag(marks: Sequence[ReviewMark]) -> int | None:
    """The position of the first flag that nobody has taken back under the name that it was given; `None` if none is."""
    flags: dict[str, dict[str, int]] = {}
    for at, mark in enumerate(marks):
        if not mark.path:
            continue
        of_path = flags.setdefault(mark.path, {})
        if mark.verdict is ReviewVerdict.FLAG:
            of_path.setdefault(mark.hunk, at)
        elif mark.verdict in (ReviewVerdict.ACCEPT, ReviewVerdict.REVERTED):
            if mark.hunk:
                of_path.pop(mark.hunk, None)
            else:
                of_path.clear()
    return min((at for of_path in flags.values() for at in of_path.values()), default=None)


MOST_BYTES = 1_000_000
"""Bytes of the largest texts that are compared line by line."""
MOST_HUNKS = 2_000
"""Hunks of one file up to which each is listed."""
_MOST_VERSIONS = 200  # versions between two texts that are compared to find out which of them brought in what
_MOST_TOGETHER = 8_000_000  # bytes of these together


@dataclass(frozen=True, slots=True)
class HunkComparison:
    """The two texts of a changed file."""

    difference: TextDiff | None
    problem: str = ""  # why the texts cannot be compared, as a sentence; else empty


def compare_file(observer: Observer, file: ChangedFile) -> HunkComparison:
    """Compare what a changed file held and holds."""
    sides: list[str] = []
    for version in (file.before, file.after):
        if version is not None and version.kind is not EntryKind.FILE:
            return HunkComparison(None, f"It is not a file: a {version.kind.value}.")
        if version is not None and version.size > MOST_BYTES:
            return HunkComparison(None, f"It is too large to compare: {version.size:,} bytes.")
        data = observer.history.text(version)
        if data is None:
            return HunkComparison(None, f"The text {'after' if sides else 'before'} is not kept.")
        if b"\0" in data:
            return HunkComparison(None, "It is not text.")
        sides.append(data.decode("utf-8", "surrogateescape"))
    difference = diffs.compare_texts(sides[0], sides[1])
    if len(difference.hunks) > MOST_HUNKS:
        return HunkComparison(None, f"It has {len(difference.hunks):,} hunks, too many to list one by one.")
    return HunkComparison(difference)


def find_changed_hunks(observer: Observer, file: ChangedFile, review: Review) -> list[ChangedHunk]:
    """The hunks of a changed file, with what was said of each; none where its texts cannot be compared."""
    difference = compare_file(observer, file).difference
    if difference is None:
        return []
    of_hunks = _find_hunk_marks(file, review)
    brought, took = _find_line_authors(observer, file, difference)
    found = []
    for hunk, fingerprint in zip(difference.hunks, compute_fingerprints(difference), strict=True):
        events = {*brought[hunk.new_start : hunk.new_end], *took[hunk.old_start : hunk.old_end]} - {0}
        marks = tuple(mark for mark in of_hunks if mark.hunk == fingerprint)
        found.append(ChangedHunk(hunk, fingerprint, tuple(sorted(events)), marks))
    return found


def compute_fingerprints(difference: TextDiff) -> list[str]:
    """What each hunk is known by: the text before, the place in it, and the lines.

    The lines alone will not do: an agent could move an accepted line to where nobody would have accepted it.
    """
    before = hashlib.sha256(difference.before.encode("utf-8", "surrogatepass")).hexdigest()
    found = []
    for hunk in difference.hunks:
        old = list(difference.old[hunk.old_start : hunk.old_end])
        new = list(difference.new[hunk.new_start : hunk.new_end])
        body = json.dumps([before, hunk.old_start, old, new])
        found.append(hashlib.sha256(body.encode()).hexdigest()[:16])
    return found


def _find_hunk_marks(file: ChangedFile, review: Review) -> list[ReviewMark]:
    """What was said of hunks of a file since it was last settled as a whole."""
    names = {file.path, file.previous_path or file.path, *(step.name for step in file.steps)}
    first = file.events[0].seq if file.events else 0
    begin = get_version_key(file.before)
    of_hunks: list[ReviewMark] = []
    for mark in review.valid_marks:
        if is_review_end(mark):
            if mark.seq < first:
                of_hunks.clear()
        elif mark.path not in names:
            continue
        elif mark.hunk:
            of_hunks.append(mark)
        elif mark.verdict is ReviewVerdict.ACCEPT and mark.after == begin:
            of_hunks.clear()
    return of_hunks


# Authors of hunks


def _find_line_authors(observer: Observer, file: ChangedFile, difference: TextDiff) -> tuple[list[int], list[int]]:
    """The number of the event that brought in each new line, and took each old one; 0 where that is not known."""
    brought, took = [0] * len(difference.new), [0] * len(difference.old)
    if len(file.events) == 1:
        seq = file.events[0].seq
        return [seq] * len(brought), [seq] * len(took)
    versions = [step.version for step in file.steps[1:] if step.version is not None]
    if len(file.steps) > _MOST_VERSIONS or sum(version.size for version in versions) > _MOST_TOGETHER:
        return brought, took
    wanted = {version.sha256 for version in versions if version.sha256 is not None}
    texts = observer.history.get_texts(wanted)
    lines: Sequence[str] = difference.old
    origins = [-1 - at for at in range(len(lines))]
    """Of each line, the event that brought it in; of one of the first, its position as -1, -2 and so on."""
    for seq, _, version in file.steps[1:]:
        text = _decode_version(version, texts)
        if text is None:
            continue  # not kept: what it did is told of the next one
        after = diffs.split_lines(text)
        now: list[int] = []
        at = 0
        for hunk in diffs.find_hunks(lines, after):
            now += origins[at : hunk.old_start]
            for line in origins[hunk.old_start : hunk.old_end]:
                if line < 0:
                    took[-1 - line] = seq
            now += [seq] * (hunk.new_end - hunk.new_start)
            at = hunk.old_end
        origins, lines = now + origins[at:], after
    if len(origins) == len(brought):
        brought = [max(line, 0) for line in origins]
    return brought, took


def _decode_version(version: Version | None, texts: dict[str, bytes]) -> str | None:
    if version is None:
        return ""
    data = texts.get(version.sha256 or "")
    return None if data is None else data.decode("utf-8", "surrogateescape")
