"""What was changed in a folder by somebody who is not in the record, and still matters.

A change from outside has no author, no call and no approval behind it: it is where a poisoned memory would come from.
Where most of a folder is written so, that is how the folder is kept, and it is told once and not of every note.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from memtui.audit.findings import Hit
from memtui.audit.subject import Note, Subject
from memtui.core.events import Event

RULE = "outside-change"
_BY_OUTSIDE = b'"actor":["outside"'
_FOUND = b'"command":"found"'
"""What was there when memtui first looked is nobody's change."""
_CLAIMING = b'"command":"claimed"'
_CLAIMED = re.compile(r"#(\d{1,18}) was its ")
_PAGE = 2_000
_FEWEST_USUAL = 20
"""Notes written from outside below which each is told by itself, however few others there are."""
_DONE = {"created": "made", "modified": "changed", "deleted": "removed", "renamed": "renamed"}


@dataclass(frozen=True, slots=True)
class _Step:
    """One change of one path by somebody outside."""

    seq: int
    done: str
    is_gone: bool


def outside_changes(subject: Subject, since: int | None) -> Iterator[Hit]:
    """Changes that nobody claimed.

    Args:
        subject: The folder.
        since: The number of the event up to which somebody has reviewed. `None` where nobody has: then only what
            still stands is told, and what was found just now.
    """
    if not subject.on_disk:
        return  # nothing was recorded at all, which is told elsewhere
    steps = _steps(subject, since or 0)
    stands = {path for path, own in steps.items() if path in subject.notes and any(not step.is_gone for step in own)}
    is_usual = len(stands) > _FEWEST_USUAL and len(stands) * 2 > len(subject.notes)
    if is_usual:
        count, files = len(stands), len(subject.notes)
        words = f"{count:,} of {files:,} notes were written outside memtui: nobody is known to have written them"
        last = max(step.seq for path in stands for step in steps[path])
        yield Hit(
            rule=RULE, path="", words=words, evidence="", facts={"notes": count, "files": files}, identity=f"{last}"
        )
    for path, own in sorted(steps.items()):
        note = subject.notes.get(path)
        new = [step for step in own if step.seq > subject.on_disk]
        if new:
            yield _found_now(path, new, is_there=note is not None or path in subject.others)
        elif since is not None:
            if not (is_usual and path in stands):
                yield _since(path, own)
        elif path in stands and not is_usual and note is not None:
            yield from _standing(subject, note, {step.seq for step in own})


def _steps(subject: Subject, after: int) -> dict[str, list[_Step]]:
    """What somebody outside did to each path behind an event, the oldest first; what was claimed is left out."""
    found: list[tuple[int, str, str, bool]] = []
    claimed: set[int] = set()
    history = subject.observer.history
    while page := history.bodies(after, limit=_PAGE):
        for number, body in page:
            if _CLAIMING in body:
                told = _CLAIMED.match(str(json.loads(body).get("note", "")))
                claimed |= {int(told[1])} if told else set()
            elif _BY_OUTSIDE in body and _FOUND not in body:
                event = json.loads(body)
                done = _DONE.get(str(event.get("command")), "changed")
                for path, before, now in event.get("changes", ()):
                    if (now or before)[0] != "directory":
                        found.append((number, str(path), done, now is None))
        after = page[-1][0]
    steps: dict[str, list[_Step]] = {}
    for number, path, done, is_gone in found:
        if number not in claimed:
            steps.setdefault(path, []).append(_Step(number, done, is_gone))
    return steps


def _found_now(path: str, steps: list[_Step], *, is_there: bool) -> Hit:
    last = steps[-1]
    done = last.done if is_there or last.done != "changed" else "removed"
    words = f"{done} outside memtui since it last looked: nobody recorded by whom"
    return Hit(rule=RULE, path=path, words=words, facts={"seq": last.seq}, identity=f"{path} {done} now")


def _since(path: str, steps: list[_Step]) -> Hit:
    last = steps[-1]
    times = f", {len(steps)} times" if len(steps) > 1 else ""
    words = f"{last.done} outside memtui since the last review{times}"
    return Hit(
        rule=RULE, path=path, words=words, facts={"seq": last.seq, "changes": len(steps)}, identity=f"{last.seq}"
    )


def _standing(subject: Subject, note: Note, numbers: set[int]) -> Iterator[Hit]:
    """Lines of a note that somebody outside brought in, and that still stand."""
    if note.data is None:
        return
    owners = subject.observer.history.blame(note.path, note.data).lines
    mine = [(line, owner) for line, owner in enumerate(owners) if owner is not None and owner.seq in numbers]
    if not mine:
        return
    text = note.text
    newest: Event = max((owner for _, owner in mine), key=lambda owner: owner.seq)
    first = min(line for line, owner in mine if owner.seq == newest.seq)
    words = _lines_words(len(mine), len(owners))
    facts = {"seq": newest.seq, "lines": len(mine)}
    start = end = None
    if text is not None:
        start, end = _line(text, first)
    yield Hit(rule=RULE, path=note.path, words=words, start=start, end=end, facts=facts, identity=f"{newest.seq}")


def _lines_words(mine: int, lines: int) -> str:
    """How many of a note's lines came from outside."""
    by = "nobody is known to have written"
    if lines == 1:
        return f"its only line was written outside memtui: {by} it"
    if mine == 1:
        return f"one of its {lines:,} lines was written outside memtui: {by} it"
    many = f"all its {lines:,}" if mine == lines else f"{mine:,} of its {lines:,}"
    return f"{many} lines were written outside memtui: {by} them"


def _line(text: str, number: int) -> tuple[int, int]:
    """Where a line, from 0, begins and ends."""
    start = 0
    for _ in range(number):
        start = text.find("\n", start) + 1
    end = text.find("\n", start)
    return start, len(text) if end < 0 else end
