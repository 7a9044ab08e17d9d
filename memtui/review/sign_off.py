"""The end of a review: what still has to be decided, and the record of who accepted what, when and with which words.

A record is made from the review file and the journal alone, so that anybody who has both can make it again and compare.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memtui.audit.masking import mask_message
from memtui.audit.model import Audit, AuditFinding, Severity
from memtui.audit.provenance import check_chain
from memtui.audit.report.markdown import format_code, format_sentence
from memtui.audit.report.wording import CHANGES, format_utc, replace_all_surrogates
from memtui.core.unicode import to_one_line, visible_json
from memtui.core.wording import format_count
from memtui.engine import Observer
from memtui.review.hunks import find_changed_hunks, is_review_end
from memtui.review.inbox import (
    ACCEPTED_FAILURE,
    ChangedFile,
    ChangedHunk,
    Inbox,
    MarkedFinding,
    ReviewMark,
    ReviewVerdict,
)
from memtui.review.inbox_builder import build_inbox, find_event
from memtui.review.marks import Review, compute_digest, serialize_finding
from memtui.review.tracks import get_version_key
from memtui.review.triage import find_dismissals, mark_finding
from memtui.review.verdicts import find_verdict, is_in_hunk

# What is decided of the findings in what changed.

_FLAGGED, _ACCEPTED, _DISMISSED = "flagged", "accepted", "dismissed"


def decide_findings(
    observer: Observer, review: Review, inbox: Inbox, audit: Audit, *, seen: int | None = None
) -> list[MarkedFinding]:
    """The findings in what changed that must not stay or should be looked at, each with what was decided of it.

    One that must not stay is decided where its note or its lines are flagged, or were accepted when it was shown. What
    is said of the folder as a whole, such as a broken record, is about every change.

    Args:
        inbox: Without filters, with accepted files.
        seen: The number of the last event that is signed; later findings are left out.
    """
    files = {file.path: file for file in inbox.files}
    of_hunks = {mark.path for mark in review.valid_marks if mark.hunk}
    hunks: dict[str, Sequence[ChangedHunk]] = {}
    decided: list[MarkedFinding] = []
    for finding in audit.findings:
        place = finding.location.path
        is_of_folder = not place and finding.severity is Severity.FAIL
        if finding.severity is Severity.INFO or not (is_of_folder or place in files):
            continue
        if seen is not None and (finding.origin.seq or 0) > seen:
            continue
        if place in files and place not in hunks:
            is_judged = not of_hunks.isdisjoint({place, *(step.name for step in files[place].steps)})
            hunks[place] = find_changed_hunks(observer, files[place], review) if is_judged else ()
        decision = _decide(files[place], hunks[place], finding) if place in files else ""
        decided.append(mark_finding(finding, decision))
    dismissed = (each.finding for each in audit.excepted if each.by == "dismissal")
    decided += [mark_finding(each, _DISMISSED) for each in dismissed if each.location.path in files]
    return decided


def _decide(file: ChangedFile, hunks: Iterable[ChangedHunk], finding: AuditFinding) -> str:
    """What was decided of a finding; empty for nothing."""
    of_line = [each.marks for each in hunks if is_in_hunk(finding.location.line, each)]
    if ReviewVerdict.FLAG in (file.verdict, *map(find_verdict, of_line)):
        return _FLAGGED
    if finding.severity is not Severity.FAIL and file.verdict is ReviewVerdict.ACCEPT:
        return _ACCEPTED
    is_shown = any(
        mark.verdict is ReviewVerdict.ACCEPT and finding.fingerprint in {known.fingerprint for known in mark.findings}
        for marks in (file.marks, *of_line)
        for mark in marks
    )
    return _ACCEPTED if is_shown else ""


def find_undecided(decided: Iterable[MarkedFinding]) -> list[MarkedFinding]:
    """The findings that must not stay of which nothing was decided."""
    return [each for each in decided if each.severity == Severity.FAIL and not each.decision]


def accept_failures(decided: Iterable[MarkedFinding]) -> tuple[MarkedFinding, ...]:
    """The same findings; those that must not stay and are undecided are accepted in spite of that."""
    return tuple(
        replace(each, decision=ACCEPTED_FAILURE) if each.severity == Severity.FAIL and not each.decision else each
        for each in decided
    )


def list_failures(audit: Audit, path: str, hunks: Collection[ChangedHunk] = ()) -> list[MarkedFinding]:
    """The findings in a note, or in hunks of it, that must not stay: for an acceptance that is given over them."""
    return [
        mark_finding(finding)
        for finding in audit.findings
        if finding.severity is Severity.FAIL
        and finding.location.path == path
        and (not hunks or any(is_in_hunk(finding.location.line, each) for each in hunks))
    ]


def name_findings(findings: Sequence[MarkedFinding], most: int = 3) -> str:
    """The first findings in a sentence: `keys.md:3 (anthropic-key), a.md (no-text) and 4 more`."""
    named = [f"{format_place(each)} ({to_one_line(each.rule)})" for each in findings[:most]]
    more = f" and {len(findings) - most:,} more" if len(findings) > most else ""
    return ", ".join(named) + more


def format_place(finding: MarkedFinding) -> str:
    """Where a finding is: `notes/a.md:3`, or the folder."""
    path = to_one_line(finding.path) or "the folder"
    return path if finding.line is None else f"{path}:{finding.line}"


# The record.

KIND = "memtui sign-off"
SCHEMA = 1
_BEFORE, _SHOWN = 20, 80
"""Characters of a difference that are shown: before it, and at most."""
_VERDICTS = {"accept": "accepted", "flag": "flagged", None: "seen"}
_MARK = re.compile(r"^Mark ([0-9]{1,9}), `([0-9a-f]{64})`", re.MULTILINE)


def find_sign_off(review: Review, seq: int | None = None) -> int | None:
    """The position of the last mark that ended a review, or of the last one that ended it at an event."""
    return next(
        (
            at
            for at in range(len(review.marks) - 1, -1, -1)
            if is_review_end(review.marks[at]) and seq in (None, review.marks[at].seq)
        ),
        None,
    )


def build_record(observer: Observer, review: Review, at: int) -> dict[str, Any]:
    """The record of the review that a mark ended, as values that JSON has.

    Raises:
        StateUnusable, MemoryClosed: The journal cannot be read.
    """
    mark = review.marks[at]
    before = replace(review, marks=review.marks[:at], doubtful=frozenset(each for each in review.doubtful if each < at))
    inbox = _build_past_inbox(observer, before, mark)
    dismissals = find_dismissals(before)
    record = {
        "schema": SCHEMA,
        "kind": KIND,
        "folder": review.folder,
        "reviewer": mark.reviewer,
        "ts": format_utc(mark.at_us),
        "words": mask_message(mark.words),
        "range": {"after": inbox.since, "since": inbox.since_words, "until": mark.seq},
        "journal": {"seq": mark.seq, "hash": mark.head},
        "mark": {"number": at + 1, "hash": compute_digest(review.entries[at])},
        "failures_reason": mask_message(mark.failures_reason) or None,
        "findings": [_serialize_decision(each, dismissals) for each in mark.findings],
        "changes": [_serialize_change(file) for file in sorted(inbox.files, key=lambda file: file.path.split("/"))],
    }
    return replace_all_surrogates(record)  # type: ignore[no-any-return]


def _build_past_inbox(observer: Observer, before: Review, mark: ReviewMark) -> Inbox:
    """What there was to review for the one who ended the review."""
    inbox = build_inbox(observer, before, accepted=True, runs=False, until=mark.seq)
    if mark.since is not None and mark.since != inbox.since:  # only the acceptance of this reviewer counted
        inbox = build_inbox(observer, before, accepted=True, runs=False, until=mark.seq, reviewer=mark.reviewer)
    return inbox


def _serialize_decision(finding: MarkedFinding, dismissals: Mapping[str, ReviewMark]) -> dict[str, Any]:
    entry = serialize_finding(finding)
    dismissal = dismissals.get(finding.fingerprint)
    if finding.decision == _DISMISSED and dismissal is not None:
        entry["reason"] = mask_message(dismissal.words)
        entry["by"], entry["ts"] = dismissal.reviewer, format_utc(dismissal.at_us)
        entry["until"] = dismissal.until or None
    return entry


def _serialize_change(file: ChangedFile) -> dict[str, Any]:
    judged = next((mark for mark in reversed(file.marks) if mark.verdict is file.verdict), None)
    return {
        "path": file.path,
        "was": file.previous_path or None,
        "sign": file.sign,
        "before": get_version_key(file.before) or None,
        "after": get_version_key(file.after) or None,
        "events": [event.seq for event in file.events],
        "by": list(file.actors),
        "verdict": file.verdict.value if file.verdict is not None else None,
        "reviewer": judged.reviewer if judged is not None else None,
        "words": [mask_message(mark.words) for mark in file.marks if mark.words],
    }


def render_record(record: Mapping[str, Any], format: str) -> str:
    """A record as `json` or `md`."""
    if format == "json":
        return visible_json(json.dumps(record, ensure_ascii=False, indent=2)) + "\n"
    return "\n".join(_iter_markdown(record)) + "\n"


def _iter_markdown(record: Mapping[str, Any]) -> Iterator[str]:
    journal, mark, span = record["journal"], record["mark"], record["range"]
    yield from (f"# Sign-off of {format_code(record['folder'])}", "")
    yield f"Signed off by {format_code(record['reviewer'] or 'somebody')}, {record['ts']}."
    if record["words"]:
        yield from ("", f"> {format_sentence(record['words'])}")
    yield ""
    yield f"Events: after {span['after']}, up to {span['until']} (since {format_sentence(span['since'])})."
    yield ""
    yield f"Journal head: event {journal['seq']}, {format_code(journal['hash'])}."
    yield ""
    yield f"Mark {mark['number']}, `{mark['hash']}`, in the review file. Check it: `memtui review verify FILE`."
    if record["failures_reason"]:
        yield from ("", f"**Signed in spite of what must not stay:** {format_sentence(record['failures_reason'])}")
    yield from ("", f"## Changes ({len(record['changes']):,})", "")
    for change in record["changes"]:
        yield from _iter_change_lines(change)
    if not record["changes"]:
        yield "Nothing changed."
    yield from ("", f"## Findings ({len(record['findings']):,})", "")
    for finding in record["findings"]:
        yield _format_finding_line(finding)
    if not record["findings"]:
        yield "Nothing that must not stay, or should be looked at, stood in what changed."


def _iter_change_lines(change: Mapping[str, Any]) -> Iterator[str]:
    was = f", was {format_code(change['was'])}" if change["was"] else ""
    verdict = _VERDICTS[change["verdict"]]
    who = f" by {format_code(change['reviewer'])}" if change["reviewer"] else ""
    yield f"- {format_code(change['path'])}{was}: {CHANGES[change['sign']]}, {verdict}{who}"
    yield f"  - before {format_code(change['before'] or 'nothing')}"
    yield f"  - after {format_code(change['after'] or 'nothing')}"
    events = ", ".join(map(str, change["events"]))
    yield f"  - events {events or 'none'}, by {', '.join(map(format_code, change['by'])) or 'nobody known'}"
    for words in change["words"]:
        yield f"  - words: {format_sentence(words)}"


def _format_finding_line(finding: Mapping[str, Any]) -> str:
    place = finding["path"] or "the folder"
    place += f":{finding['line']}" if "line" in finding else ""
    said = finding.get("decision", "not decided")
    if "reason" in finding:
        until = f" until {finding['until']}" if finding["until"] else ""
        said += f" by {format_code(finding['by'] or 'somebody')}, {finding['ts']}{until}: "
        said += format_sentence(finding["reason"])
    fingerprint = format_code(finding["fingerprint"])
    return f"- {finding['severity']} {format_code(finding['rule'])} at {format_code(place)} ({fingerprint}): {said}"


# Checking a record.


def verify_record(observer: Observer, review: Review, data: bytes, *, on_disk: int) -> list[str]:
    """What of an exported record is not as the review file and the journal have it, as sentences.

    Args:
        on_disk: The number of the last event in the journal.

    Raises:
        ValueError: It is no record; the words are a sentence.
    """
    text = data.decode("utf-8", "replace")
    given = _parse_json(text)
    number, hash = _find_mark(text, given)
    at = next((at for at, entry in enumerate(review.entries) if compute_digest(entry) == hash), None)
    problems = [review.problem] if review.problem else []
    chain = check_chain(observer, on_disk)
    if chain.state != "intact":
        problems.append(f"Journal: {to_one_line(chain.words)}.")
    if at is None:
        there = f"has {format_count(len(review.marks), 'mark')}"
        if 0 < number <= len(review.marks):
            there = f"has {compute_digest(review.entries[number - 1])[:16]} there"
        return [*problems, f"The record is of mark {number} with the hash {hash[:16]}, but the review file {there}."]
    if at in review.doubtful:
        problems.append(f"Mark {at + 1} of the review file is not certain: the marks after it do not confirm it.")
    mark = review.marks[at]
    event = find_event(observer, mark.seq) if mark.seq else None
    if mark.seq and (event is None or event.hash != mark.head):
        problems.append(f"The journal has no event {mark.seq} with the hash {mark.head[:16]}, which was signed.")
        return problems  # what changed up to there cannot be told from another record
    record = build_record(observer, review, at)
    if given is not None:
        return problems + list(_compare(given, json.loads(render_record(record, "json")), ""))
    return problems + list(_compare_lines(text, render_record(record, "md")))


def _parse_json(text: str) -> dict[str, Any] | None:
    """The document of a record as JSON; `None` for one as Markdown."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it is invalid JSON") from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise ValueError("it is not a record of a sign-off")
    return document


def _find_mark(text: str, given: Mapping[str, Any] | None) -> tuple[int, str]:
    """The number and the hash of the mark that a record is of."""
    mark = given.get("mark") if given is not None else None
    if isinstance(mark, dict) and type(mark.get("number")) is int and isinstance(mark.get("hash"), str):
        return mark["number"], mark["hash"]
    found = _MARK.search(text) if given is None else None
    if found is None:
        raise ValueError("it does not name a mark of a review file")
    return int(found[1]), found[2]


def _compare(given: object, known: object, where: str) -> Iterator[str]:
    """Where two values of JSON differ, as sentences."""
    if isinstance(given, dict) and isinstance(known, dict):
        for name in dict.fromkeys([*known, *given]):
            place = f"{where}, {name}" if where else name
            if name not in given:
                yield f"{_capitalize(place)} is missing in the file."
            elif name not in known:
                yield f"{_capitalize(place)} is in the file only."
            else:
                yield from _compare(given[name], known[name], place)
    elif isinstance(given, list) and isinstance(known, list) and len(given) == len(known):
        for number, (one, other) in enumerate(zip(given, known, strict=True), start=1):
            name = other.get("path") if isinstance(other, dict) else None
            yield from _compare(one, other, f"{where} {number}{f' ({to_one_line(name)})' if name else ''}")
    elif isinstance(given, list) and isinstance(known, list):
        yield f"{_capitalize(where)}: the file lists {len(given):,}, but there were {len(known):,}."
    elif given != known or type(given) is not type(known):
        yield f"{_capitalize(where)}: {_describe_difference(given, known)}"


def _compare_lines(given: str, known: str) -> Iterator[str]:
    one, other = given.splitlines(), known.splitlines()
    for number, (line, right) in enumerate(zip(one, other, strict=False), start=1):
        if line != right:
            yield f"Line {number}: {_describe_difference(line, right)}"
    if len(one) != len(other):
        yield f"The file has {format_count(len(one), 'line')}, and the record {len(other):,}."


def _capitalize(words: str) -> str:
    words = to_one_line(words)
    return words[:1].upper() + words[1:]


def _describe_difference(given: object, known: object) -> str:
    """What a file says and what it was, cut to where they differ."""
    one, other = (to_one_line(each if isinstance(each, str) else json.dumps(each)) for each in (given, known))
    same = next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), 0)
    start = max(same - _BEFORE, 0)
    return f"the file says {_cut(one, start)}, but it was {_cut(other, start)}."


def _cut(text: str, start: int) -> str:
    end = "..." if len(text) > start + _SHOWN else ""
    return f'"{"..." if start else ""}{text[start : start + _SHOWN]}{end}"'


def describe_record(record: Mapping[str, Any]) -> str:
    """A record in a sentence."""
    count = format_count(len(record["changes"]), "changed note")
    who, seq = to_one_line(record["reviewer"]) or "somebody", record["journal"]["seq"]
    return f"{count}, signed off by {who} up to event {seq:,} on {str(record['ts'])[:10]}"
