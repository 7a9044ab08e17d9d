"""An inbox as lines for a person, and as an object for a program."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from memtui.audit.masking import MASK, find_secret_spans, mask_message, mask_text
from memtui.audit.report.wording import format_actor
from memtui.cli import output
from memtui.core import diffs
from memtui.core.events import shorten_actor_name
from memtui.core.paths import MemoryPath
from memtui.core.unicode import measure_cells, to_one_line
from memtui.core.wording import format_count
from memtui.review.hunks import HunkComparison
from memtui.review.inbox import ChangedFile, ChangedHunk, ChangeRun, Inbox, ReviewMark, ReviewVerdict
from memtui.review.inbox_builder import group_by_folder
from memtui.review.marks import serialize_finding
from memtui.review.tracks import get_version_key
from memtui.review.verdicts import find_verdict
from memtui.scan.rule_matches import SecretRules

_DETAILS = 4 + 2 + 9 + 2 + 9 + 2 + 11
"""Cells of a line beside the name: the sign before it, and how often, how much and by whom behind it."""
_LEAST_NAME = 20
_LOST = 10
"""Lost facts of a run that are listed; all of them in JSON."""
_WORDS = {
    ReviewVerdict.ACCEPT: "accepted",
    ReviewVerdict.FLAG: "flagged",
    ReviewVerdict.NOTE: "noted",
    ReviewVerdict.REVERTED: "reverted",
    ReviewVerdict.DISMISS: "dismissed",
    ReviewVerdict.RESTORE: "restored",
}


# Lines


def format_inbox(inbox: Inbox, left: int, width: int | None = None) -> Iterator[str]:
    """The inbox, a line for each file and each directory changed as a whole; lines wrap at `width` cells."""
    yield f"Since {to_one_line(inbox.since_words)}: {format_count(left, 'change')} to review, up to #{inbox.until}."
    folded = group_by_folder(inbox)
    inside = {file.path for files in folded.values() for file in files}
    folded_rows: list[tuple[ChangedFile, Sequence[ChangedFile]]] = [
        (_merge_directory(folder, files), files) for folder, files in folded.items()
    ]
    folded_rows += [(file, ()) for file in inbox.files if file.path not in inside]
    rows = [(_format_name(file, len(files)), file) for file, files in folded_rows]
    column = max((measure_cells(name) for name, _ in rows), default=0)
    if width is not None:
        column = min(column, max(width - _DETAILS, _LEAST_NAME))
    for name, file in rows:
        yield from _format_row(name, file, column, width)
    for run in inbox.runs:
        yield from _format_run(run)


def _format_row(name: str, file: ChangedFile, column: int, width: int | None) -> Iterator[str]:
    """A file with its changes, in one line where that fits."""
    details = (
        f"{format_count(len(file.events), 'event'):<9}",
        f"{_format_counts(file):<9}",
        output.pad_cell(", ".join(map(shorten_actor_name, file.actors)), 11),
    )
    verdict = _format_verdict(file)
    whole = "  ".join((f"  {file.sign} {output.pad_cell(name, column)}", *details, verdict)).rstrip()
    if width is None or measure_cells(whole) <= width:
        yield whole
        return
    if measure_cells(to_one_line(name)) <= column:
        yield "  ".join((f"  {file.sign} {output.pad_cell(name, column)}", *details)).rstrip()
    else:
        yield f"  {file.sign} {to_one_line(name)}"
        yield ("    " + "  ".join(details)).rstrip()
    yield from textwrap.wrap(verdict, width, initial_indent="    ", subsequent_indent="    ") if verdict else ()


def _merge_directory(folder: str, files: Sequence[ChangedFile]) -> ChangedFile:
    """Files that came, went or moved along with their directory, as if they were one."""
    first = files[0]
    events = {event.seq: event for file in files for event in file.events}
    tail = first.path[len(folder) :]
    return ChangedFile(
        path=folder,
        previous_path=first.previous_path[: -len(tail)] if first.previous_path.endswith(tail) else "",
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


def _format_name(file: ChangedFile, files: int) -> str:
    name = f"{file.previous_path} -> {file.path}" if file.previous_path else file.path
    return f"{name}/ ({format_count(files, 'file')})" if files else name


def _format_counts(file: ChangedFile) -> str:
    return "" if file.added is None else f"+{file.added} -{file.removed}"


def _format_verdict(file: ChangedFile) -> str:
    """The verdicts on a file, with the reviewers and their words."""
    parts = [_format_mark(mark) for mark in file.marks]
    if file.staleness_note:
        parts.append(file.staleness_note)
    if file.run is not None:
        parts.append(f"run {file.run}")
    return "; ".join(parts)


def _format_mark(mark: ReviewMark) -> str:
    words = f": {mask_message(to_one_line(mark.words))}" if mark.words else ""
    return f"{_WORDS[mark.verdict]} by {to_one_line(mark.reviewer) or 'an unnamed reviewer'}{words}"


def _format_run(run: ChangeRun) -> Iterator[str]:
    session = f", session {to_one_line(run.session)}" if run.session else ""
    events = f"#{run.first}" if run.first == run.last else f"#{run.first} to #{run.last}"
    yield ""
    yield (
        f"Run {run.number}: {to_one_line(format_actor(run.actor))}{session}, {events}, "
        f"{format_count(len(run.paths), 'file')}, +{run.added} -{run.removed}"
    )
    count = len(run.lost) + run.unlisted
    if run.unsearched:
        yield f"  facts lost: {f'{count:,}, perhaps more' if count else 'unknown'}: {run.unsearched}"
    else:
        yield f"  facts lost: {count:,}" if count else "  facts lost: none"
    for fact in run.lost[:_LOST]:
        yield f"    {to_one_line(fact.path)}:{fact.line}  {mask_message(to_one_line(fact.text))}"
    if count > _LOST:
        yield f"    and {count - _LOST:,} more: memtui review --json"


def format_hunks(
    found: HunkComparison, hunks: Sequence[ChangedHunk], rules: SecretRules, path: str
) -> Iterator[tuple[str, str]]:
    """The numbered hunks of a file as `(sign, line)`, with secrets masked and hidden characters visible.

    Args:
        rules: Of the person's own files: what they find is masked, too.
        path: Of the file, relative to the folder.
    """
    if found.difference is None:
        yield "", f"    {found.problem}"
        return
    old, new = (_mask_lines(lines, rules, path) for lines in (found.difference.old, found.difference.new))
    for number, changed in enumerate(hunks, start=1):
        hunk = changed.hunk
        verdicts = "; ".join(_format_mark(mark) for mark in changed.marks)
        events = ", ".join(f"#{seq}" for seq in changed.events[:5]) + (" and more" if len(changed.events) > 5 else "")
        head = f"    hunk {number} of {len(hunks)}, line {hunk.new_start + 1}"
        yield "@", "  ".join(part for part in (head, events, verdicts) if part)
        for line in old[hunk.old_start : hunk.old_end]:
            yield "-", f"    - {to_one_line(line)}"
        for line in new[hunk.new_start : hunk.new_end]:
            yield "+", f"    + {to_one_line(line)}"


def _mask_lines(lines: Sequence[str], rules: SecretRules, path: str) -> list[str]:
    """The lines of a text without their ends, and without any secret."""
    text = "".join(lines)
    spans = find_secret_spans(text, rules, path)
    shown: list[str] = []
    at = first = 0
    for line in lines:
        end = at + len(line)
        while first < len(spans) and spans[first][1] <= at:
            first += 1
        inside = [span for span in spans[first:] if span[0] < end] if first < len(spans) else []
        plain = line.removesuffix("\n")
        for start, stop in reversed(inside):
            plain = MASK + plain[stop - at :] if start < at else mask_text(plain, (start - at, stop - at))
        shown.append(plain)
        at = end
    return shown


# Objects


def serialize_inbox(
    inbox: Inbox,
    *,
    left: int,
    head: tuple[int, str],
    review: str,
    reviewer: str | None,
    hunks: Sequence[tuple[HunkComparison, Sequence[ChangedHunk]]] | None = None,
    rules: SecretRules,
) -> dict[str, object]:
    """The inbox as JSON. `head` is number and hash of the last event, `hunks` those of each file if they are wanted."""
    return {
        "since": {
            "seq": inbox.since,
            "ts": output.format_utc(inbox.since_us) if inbox.since_us is not None else None,
            "words": inbox.since_words,
        },
        "until": inbox.until,
        "head": {"seq": head[0], "hash": head[1]},
        "review": review,
        "reviewer": reviewer,
        "problem": inbox.problem or None,
        "left": left,
        "files": [_serialize_file(file, hunks[at] if hunks else None, rules) for at, file in enumerate(inbox.files)],
        "runs": [_serialize_run(run) for run in inbox.runs],
    }


def _serialize_file(
    file: ChangedFile, found: tuple[HunkComparison, Sequence[ChangedHunk]] | None, rules: SecretRules
) -> dict[str, object]:
    said: dict[str, object] = {
        "path": str(MemoryPath.from_relative(file.path)),
        "was": str(MemoryPath.from_relative(file.previous_path)) if file.previous_path else None,
        "sign": file.sign,
        "before": get_version_key(file.before) or None,
        "after": get_version_key(file.after) or None,
        "events": [event.seq for event in file.events],
        "actors": list(file.actors),
        "sessions": list(file.sessions),
        "added": file.added,
        "removed": file.removed,
        "verdict": file.verdict.value if file.verdict else None,
        "changed_since": file.staleness_note or None,
        "marks": [serialize_mark(mark) for mark in file.marks],
        "run": file.run,
    }
    if found is not None:
        said["hunks"] = list(_serialize_hunks(*found, rules, file.path))
        said["no_hunks"] = found[0].problem or None
    return said


def _serialize_hunks(
    found: HunkComparison, hunks: Iterable[ChangedHunk], rules: SecretRules, path: str
) -> Iterator[dict[str, object]]:
    if found.difference is None:
        return
    old, new = (_mask_lines(lines, rules, path) for lines in (found.difference.old, found.difference.new))
    for number, changed in enumerate(hunks, start=1):
        hunk: diffs.Hunk = changed.hunk
        verdict = find_verdict(changed.marks)
        yield {
            "number": number,
            "fingerprint": changed.fingerprint,
            "old_start": hunk.old_start + 1,
            "new_start": hunk.new_start + 1,
            "removed": old[hunk.old_start : hunk.old_end],
            "added": new[hunk.new_start : hunk.new_end],
            "events": list(changed.events),
            "verdict": verdict.value if verdict else None,
            "marks": [serialize_mark(mark) for mark in changed.marks],
        }


def serialize_mark(mark: ReviewMark) -> dict[str, object]:
    """A mark with the keys that programs rely on."""
    return {
        "reviewer": mark.reviewer,
        "ts": output.format_utc(mark.at_us),
        "verdict": mark.verdict.value,
        "path": str(MemoryPath.from_relative(mark.path)) if mark.path else None,
        "hunk": mark.hunk or None,
        "words": mask_message(mark.words),
        "seq": mark.seq,
        "head": mark.head,
        "until": mark.until or None,
        "findings": [serialize_finding(each) for each in mark.findings],
        "failures_reason": mask_message(mark.failures_reason) or None,
    }


def _serialize_run(run: ChangeRun) -> dict[str, object]:
    return {
        "number": run.number,
        "actor": run.actor,
        "session": run.session,
        "first": run.first,
        "last": run.last,
        "ts": output.format_utc(run.at_us),
        "until": output.format_utc(run.until_us),
        "paths": [str(MemoryPath.from_relative(path)) for path in run.paths],
        "added": run.added,
        "removed": run.removed,
        "lost": [
            {
                "path": str(MemoryPath.from_relative(fact.path)),
                "line": fact.line,
                "text": mask_message(fact.text),
                "seq": fact.seq,
            }
            for fact in run.lost
        ],
        "unlisted": run.unlisted,
        "unsearched": run.unsearched or None,
    }
