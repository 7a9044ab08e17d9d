"""The hunks of one changed file: found when somebody looks at it, and known again when other hunks have changed."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from memtui.audit.inbox import ChangedFile, ChangedHunk, Mark, Verdict
from memtui.audit.marks import Review
from memtui.audit.settling import is_done
from memtui.audit.things import key_of
from memtui.core import diffs
from memtui.core.diffs import Difference
from memtui.core.events import Version
from memtui.core.snapshot import Kind
from memtui.engine import Observer

MOST_BYTES = 1_000_000
"""Bytes of the largest texts that are compared line by line."""
MOST_HUNKS = 2_000
"""Hunks of one file that are told one by one."""
_MOST_VERSIONS = 200
"""Versions between two texts that are compared to find out which of them brought in what."""
_MOST_TOGETHER = 8_000_000
"""Bytes of these together."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The two texts of a changed file.

    Attributes:
        difference: Them compared; `None` where that cannot be.
        problem: Why not, as a sentence; empty if it can.
    """

    difference: Difference | None
    problem: str = ""


def compared(observer: Observer, file: ChangedFile) -> Compared:
    """Compare what a changed file held and holds."""
    sides: list[str] = []
    for version in (file.before, file.after):
        if version is not None and version.kind is not Kind.FILE:
            return Compared(None, f"It is no file: a {version.kind.value}.")
        if version is not None and version.size > MOST_BYTES:
            return Compared(None, f"It is too large to be compared: {version.size:,} bytes.")
        data = observer.history.text(version)
        if data is None:
            return Compared(None, f"The text {'after' if sides else 'before'} is not kept.")
        if b"\0" in data:
            return Compared(None, "It is not text.")
        sides.append(data.decode("utf-8", "surrogateescape"))
    difference = diffs.compare(sides[0], sides[1])
    if len(difference.hunks) > MOST_HUNKS:
        return Compared(None, f"It has {len(difference.hunks):,} hunks, too many to be told one by one.")
    return Compared(difference)


def hunks(observer: Observer, file: ChangedFile, review: Review) -> list[ChangedHunk]:
    """The hunks of a changed file, with what was said of each; none where its texts cannot be compared.

    Args:
        observer: The memory.
        file: Which.
        review: What reviewers said.
    """
    difference = compared(observer, file).difference
    if difference is None:
        return []
    said = _said(file, review)
    brought, took = _authors(observer, file, difference)
    found = []
    for hunk, fingerprint in zip(difference.hunks, fingerprints(difference), strict=True):
        events = {*brought[hunk.new_start : hunk.new_end], *took[hunk.old_start : hunk.old_end]} - {0}
        marks = tuple(mark for mark in said if mark.hunk == fingerprint)
        found.append(ChangedHunk(hunk, fingerprint, tuple(sorted(events)), marks))
    return found


def fingerprints(difference: Difference) -> list[str]:
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


def _said(file: ChangedFile, review: Review) -> list[Mark]:
    """What was said of hunks of a file since it was last settled as a whole."""
    names = {file.path, file.was or file.path, *(step.name for step in file.steps)}
    first = file.events[0].seq if file.events else 0
    begin = key_of(file.before)
    said: list[Mark] = []
    for mark in review.counting:
        if is_done(mark):
            if mark.seq < first:
                said.clear()
        elif mark.path not in names:
            continue
        elif mark.hunk:
            said.append(mark)
        elif mark.verdict is Verdict.ACCEPT and mark.after == begin:
            said.clear()
    return said


# Who brought in, and who took


def _authors(observer: Observer, file: ChangedFile, difference: Difference) -> tuple[list[int], list[int]]:
    """The number of the event that brought in each new line, and took each old one; 0 where that is not known."""
    brought, took = [0] * len(difference.new), [0] * len(difference.old)
    if len(file.events) == 1:
        seq = file.events[0].seq
        return [seq] * len(brought), [seq] * len(took)
    versions = [step.version for step in file.steps[1:] if step.version is not None]
    if len(file.steps) > _MOST_VERSIONS or sum(version.size for version in versions) > _MOST_TOGETHER:
        return brought, took
    wanted = {version.sha256 for version in versions if version.sha256 is not None}
    texts = observer.history.texts(wanted)
    lines: Sequence[str] = difference.old
    came = [-1 - at for at in range(len(lines))]
    """Of each line, the event that brought it in; of one of the first, its position as -1, -2 and so on."""
    for seq, _, version in file.steps[1:]:
        text = _text(version, texts)
        if text is None:
            continue  # not kept: what it did is told of the next one
        after = diffs.lines_of(text)
        now: list[int] = []
        at = 0
        for hunk in diffs.blocks(lines, after):
            now += came[at : hunk.old_start]
            for line in came[hunk.old_start : hunk.old_end]:
                if line < 0:
                    took[-1 - line] = seq
            now += [seq] * (hunk.new_end - hunk.new_start)
            at = hunk.old_end
        came, lines = now + came[at:], after
    if len(came) == len(brought):
        brought = [max(line, 0) for line in came]
    return brought, took


def _text(version: Version | None, texts: dict[str, bytes]) -> str | None:
    if version is None:
        return ""
    data = texts.get(version.sha256 or "")
    return None if data is None else data.decode("utf-8", "surrogateescape")
