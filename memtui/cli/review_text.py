"""An inbox as lines for a person, and as an object for a program."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from memtui.audit.changed_hunks import Compared
from memtui.audit.inbox import ChangedFile, ChangedHunk, Inbox, LostFact, Mark, Run, Verdict
from memtui.audit.inboxes import settled_folders
from memtui.audit.judging import judgement
from memtui.audit.masking import MASK, cleaned, masked, secret_spans
from memtui.audit.things import key_of
from memtui.cli import output
from memtui.core import diffs
from memtui.core.paths import MemoryPath
from memtui.core.visible import one_line

_DETAILS = 4 + 2 + 9 + 2 + 9 + 2 + 11
"""Cells of a line beside the name: the sign before it, and how often, how much and by whom behind it."""
_LEAST_NAME = 20
_LOST = 10
"""Lost facts of a run that are listed; all of them in JSON."""
_WORDS = {
    Verdict.ACCEPT: "accepted",
    Verdict.FLAG: "flagged",
    Verdict.NOTE: "noted",
    Verdict.REVERTED: "reverted",
}


# Lines


def lines(inbox: Inbox, left: int, width: int | None = None) -> Iterator[str]:
    """The inbox, a file a line; what came, went or moved as a whole directory is one line.

    Args:
        inbox: Which.
        left: How many of its files are left to be reviewed.
        width: Cells of the terminal: what does not fit into a line gets another one; `None` for a line each.
    """
    yield f"Since {one_line(inbox.since_words)}: {_counted(left, 'change')} to review, up to #{inbox.until}."
    folded = settled_folders(inbox)
    inside = {file.path for files in folded.values() for file in files}
    told: list[tuple[ChangedFile, Sequence[ChangedFile]]] = [
        (_as_one(folder, files), files) for folder, files in folded.items()
    ]
    told += [(file, ()) for file in inbox.files if file.path not in inside]
    rows = [(_name(file, len(files)), file) for file, files in told]
    column = max((output.cells(name) for name, _ in rows), default=0)
    if width is not None:
        column = min(column, max(width - _DETAILS, _LEAST_NAME))
    for name, file in rows:
        yield from _row(name, file, column, width)
    for run in inbox.runs:
        yield from _run(run)


def _row(name: str, file: ChangedFile, column: int, width: int | None) -> Iterator[str]:
    """A file with what became of it, in one line where that fits."""
    details = (
        f"{_counted(len(file.events), 'event'):<9}",
        f"{_lines_of(file):<9}",
        output.cell(", ".join(file.actors), 11),
    )
    said = _said(file)
    whole = "  ".join((f"  {file.sign} {output.cell(name, column)}", *details, said)).rstrip()
    if width is None or output.cells(whole) <= width:
        yield whole
        return
    if output.cells(one_line(name)) <= column:
        yield "  ".join((f"  {file.sign} {output.cell(name, column)}", *details)).rstrip()
    else:
        yield f"  {file.sign} {one_line(name)}"
        yield ("    " + "  ".join(details)).rstrip()
    yield from textwrap.wrap(said, width, initial_indent="    ", subsequent_indent="    ") if said else ()


def _as_one(folder: str, files: Sequence[ChangedFile]) -> ChangedFile:
    """Files that came, went or moved along with their directory, as if they were one."""
    first = files[0]
    events = {event.seq: event for file in files for event in file.events}
    tail = first.path[len(folder) :]
    return ChangedFile(
        path=folder,
        was=first.was[: -len(tail)] if first.was.endswith(tail) else "",
        before=first.before,
        after=first.after,
        events=tuple(events[seq] for seq in sorted(events)),
        actors=tuple(dict.fromkeys(actor for file in files for actor in file.actors)),
        added=sum(file.added or 0 for file in files),
        removed=sum(file.removed or 0 for file in files),
        marks=first.marks,
        earlier=first.earlier,
        run=first.run,
    )


def _name(file: ChangedFile, files: int) -> str:
    name = f"{file.was} -> {file.path}" if file.was else file.path
    return f"{name}/ ({_counted(files, 'file')})" if files else name


def _lines_of(file: ChangedFile) -> str:
    return "" if file.added is None else f"+{file.added} -{file.removed}"


def _said(file: ChangedFile) -> str:
    """What was said of a file: the verdict, by whom, and with which words."""
    parts = [_mark(mark) for mark in file.marks]
    if file.changed_since:
        parts.append(file.changed_since)
    if file.run is not None:
        parts.append(f"run {file.run}")
    return "; ".join(parts)


def _mark(mark: Mark) -> str:
    words = f": {cleaned(one_line(mark.words))}" if mark.words else ""
    return f"{_WORDS[mark.verdict]} by {one_line(mark.reviewer) or 'somebody'}{words}"


def _run(run: Run) -> Iterator[str]:
    session = f", session {one_line(run.session)}" if run.session else ""
    events = f"#{run.first}" if run.first == run.last else f"#{run.first} to #{run.last}"
    yield ""
    yield (
        f"Run {run.number}: {one_line(run.actor)}{session}, {events}, {_counted(len(run.paths), 'file')}, "
        f"+{run.added} -{run.removed}"
    )
    count = len(run.lost) + run.unlisted
    if run.unsearched:
        yield f"  facts lost: {f'{count:,}, perhaps more' if count else 'not known'}: {run.unsearched}"
    else:
        yield f"  facts lost: {count:,}" if count else "  facts lost: none that is nowhere else"
    for fact in run.lost[:_LOST]:
        yield f"    {one_line(fact.path)}:{fact.line}  {_text(fact)}"
    if count > _LOST:
        yield f"    and {count - _LOST:,} more: memtui review --json"


def _text(fact: LostFact) -> str:
    return cleaned(one_line(fact.text))


def hunk_lines(found: Compared, hunks: Sequence[ChangedHunk]) -> Iterator[tuple[str, str]]:
    """The hunks of a file with their numbers: `(sign, line)`, where the sign tells what the line is.

    No secret is shown, and nothing hidden stays so.
    """
    if found.difference is None:
        yield "", f"    {found.problem}"
        return
    old, new = _masked_lines(found.difference.old), _masked_lines(found.difference.new)
    for number, changed in enumerate(hunks, start=1):
        hunk = changed.hunk
        said = "; ".join(_mark(mark) for mark in changed.marks)
        events = ", ".join(f"#{seq}" for seq in changed.events[:5]) + (" and more" if len(changed.events) > 5 else "")
        head = f"    hunk {number} of {len(hunks)}, line {hunk.new_start + 1}"
        yield "@", "  ".join(part for part in (head, events, said) if part)
        for line in old[hunk.old_start : hunk.old_end]:
            yield "-", f"    - {one_line(line)}"
        for line in new[hunk.new_start : hunk.new_end]:
            yield "+", f"    + {one_line(line)}"


def _masked_lines(lines: Sequence[str]) -> list[str]:
    """The lines of a text without their ends, and without any secret."""
    text = "".join(lines)
    spans = secret_spans(text)
    shown: list[str] = []
    at = first = 0
    for line in lines:
        end = at + len(line)
        while first < len(spans) and spans[first][1] <= at:
            first += 1
        inside = [span for span in spans[first:] if span[0] < end] if first < len(spans) else []
        plain = line.removesuffix("\n")
        for start, stop in reversed(inside):
            plain = MASK + plain[stop - at :] if start < at else masked(plain, (start - at, stop - at))
        shown.append(plain)
        at = end
    return shown


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


# Objects


def record(
    inbox: Inbox,
    *,
    left: int,
    head: tuple[int, str],
    review: str,
    reviewer: str | None,
    hunks: Sequence[tuple[Compared, Sequence[ChangedHunk]]] | None = None,
) -> dict[str, object]:
    """The inbox with the keys that programs rely on; keys may be added, none is taken away.

    Args:
        inbox: Which.
        left: How many of its files are left to be reviewed.
        head: The record's head.
        review: The review file.
        reviewer: Whose acceptance counts; `None` for anybody's.
        hunks: Those of each file, where they were asked for.
    """
    return {
        "schema": output.SCHEMA,
        "since": {
            "seq": inbox.since,
            "ts": output.utc(inbox.since_us) if inbox.since_us is not None else None,
            "words": inbox.since_words,
        },
        "until": inbox.until,
        "head": {"seq": head[0], "hash": head[1]},
        "review": review,
        "reviewer": reviewer,
        "problem": inbox.problem or None,
        "left": left,
        "files": [_file(file, hunks[at] if hunks else None) for at, file in enumerate(inbox.files)],
        "runs": [_run_record(run) for run in inbox.runs],
    }


def _file(file: ChangedFile, found: tuple[Compared, Sequence[ChangedHunk]] | None) -> dict[str, object]:
    said: dict[str, object] = {
        "path": str(MemoryPath.of(file.path)),
        "was": str(MemoryPath.of(file.was)) if file.was else None,
        "sign": file.sign,
        "before": key_of(file.before) or None,
        "after": key_of(file.after) or None,
        "events": [event.seq for event in file.events],
        "actors": list(file.actors),
        "sessions": list(file.sessions),
        "added": file.added,
        "removed": file.removed,
        "verdict": file.verdict.value if file.verdict else None,
        "changed_since": file.changed_since or None,
        "marks": [mark_record(mark) for mark in file.marks],
        "run": file.run,
    }
    if found is not None:
        said["hunks"] = list(_hunks(*found))
        said["no_hunks"] = found[0].problem or None
    return said


def _hunks(found: Compared, hunks: Iterable[ChangedHunk]) -> Iterator[dict[str, object]]:
    if found.difference is None:
        return
    old, new = _masked_lines(found.difference.old), _masked_lines(found.difference.new)
    for number, changed in enumerate(hunks, start=1):
        hunk: diffs.Hunk = changed.hunk
        verdict = judgement(changed.marks)
        yield {
            "number": number,
            "fingerprint": changed.fingerprint,
            "old_start": hunk.old_start + 1,
            "new_start": hunk.new_start + 1,
            "removed": old[hunk.old_start : hunk.old_end],
            "added": new[hunk.new_start : hunk.new_end],
            "events": list(changed.events),
            "verdict": verdict.value if verdict else None,
            "marks": [mark_record(mark) for mark in changed.marks],
        }


def mark_record(mark: Mark) -> dict[str, object]:
    """A mark with the keys that programs rely on."""
    return {
        "reviewer": mark.reviewer,
        "ts": output.utc(mark.at_us),
        "verdict": mark.verdict.value,
        "path": str(MemoryPath.of(mark.path)) if mark.path else None,
        "hunk": mark.hunk or None,
        "words": cleaned(mark.words),
        "seq": mark.seq,
        "head": mark.head,
    }


def _run_record(run: Run) -> dict[str, object]:
    return {
        "number": run.number,
        "actor": run.actor,
        "session": run.session,
        "first": run.first,
        "last": run.last,
        "ts": output.utc(run.at_us),
        "until": output.utc(run.until_us),
        "paths": [str(MemoryPath.of(path)) for path in run.paths],
        "added": run.added,
        "removed": run.removed,
        "lost": [
            {"path": str(MemoryPath.of(fact.path)), "line": fact.line, "text": cleaned(fact.text), "seq": fact.seq}
            for fact in run.lost
        ],
        "unlisted": run.unlisted,
        "unsearched": run.unsearched or None,
    }
