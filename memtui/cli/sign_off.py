"""The actions of `memtui review` on findings and on the review as a whole: dismiss, restore, done, export, verify."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial

from memtui.audit.model import AuditFinding
from memtui.cli import output
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError, format_os_error
from memtui.cli.review_context import ReviewContext
from memtui.cli.review_text import serialize_mark
from memtui.core.paths import format_path
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.fs.no_atime import read_regular_file
from memtui.fs.write_helper import FileWriter
from memtui.review import sign_off, triage, verdicts
from memtui.review.inbox import ChangedHunk, MarkedFinding, ReviewMark, ReviewVerdict

_NOT = "Nothing was noted."
_MOST_BYTES = 64_000_000
_HEXADECIMAL = frozenset("0123456789abcdef")


# Findings


def dismiss(desk: ReviewContext) -> int:
    """Dismiss findings by their fingerprints, all of them or none."""
    reason, today = (desk.given.text or "").strip(), datetime.now(UTC).date()
    fingerprints = _parse_fingerprints(desk.given.paths, "dismiss")
    try:
        until = triage.parse_end(desk.given.until or "never", today)
    except ValueError as error:
        raise UsageError(f"memtui review dismiss: {error} {_NOT}") from error
    audit = desk.run_audit()
    excepted = {each.finding.fingerprint: each for each in audit.excepted}
    known = {each.fingerprint: each for each in audit.findings}
    known |= {name: each.finding for name, each in excepted.items() if each.by == "dismissal"}
    for name in fingerprints:
        if name in known:
            _require_dismissible(desk, known[name], reason, until, today)
        elif name in excepted:
            raise Failure(
                ExitCode.FINDINGS, f"Not dismissed: {name} is already excluded by the {excepted[name].by}. {_NOT}"
            )
        else:
            raise NotFound(f"Not dismissed: there is no finding {name}. {_NOT} To list them: memtui audit --all")
    head = verdicts.get_head(desk.memory)
    build = partial(verdicts.build_finding_mark, reviewer=desk.reviewer, head=head, words=reason, until=until)
    marks = [build(ReviewVerdict.DISMISS, triage.mark_finding(known[name])) for name in fingerprints]
    desk.save_marks(marks)
    end = f" until {until}" if until else ""
    return _print_marks(desk, marks, f"Dismissed{end}: {{}}. Undo: memtui review restore {' '.join(fingerprints)}")


def _require_dismissible(desk: ReviewContext, finding: AuditFinding, reason: str, until: str, today: date) -> None:
    """Raise `Failure` for a finding that may not be dismissed so."""
    where = sign_off.name_findings([triage.mark_finding(finding)])
    if problem := triage.explain_limit(finding, until, today):
        raise Failure(ExitCode.REFUSED, f"Not dismissed: {where}: {problem}. {_NOT}")
    data = desk.memory.inspect_path(finding.location.path).data if finding.masked is not None else None
    text = data.decode("utf-8", "surrogateescape") if data is not None else None
    if triage.holds_secret(reason, triage.get_masked_text(finding, text), desk.custom.matcher):
        raise UsageError(f"memtui review dismiss: {triage.SECRET_IN_WORDS}")


def restore_findings(desk: ReviewContext) -> int:
    """Have dismissed findings count again."""
    fingerprints = _parse_fingerprints(desk.given.paths, "restore")
    dismissed = triage.find_dismissals(desk.review)
    for name in fingerprints:
        if name not in dismissed:
            words = f"Not restored: there is no dismissed finding {name}. {_NOT}"
            raise NotFound(f"{words} To list them: memtui review dismissed")
    words, head = desk.given.text or "", verdicts.get_head(desk.memory)
    if triage.holds_secret(words, rules=desk.custom.matcher):
        raise UsageError(f"memtui review restore: {triage.SECRET_IN_WORDS}")
    build = partial(verdicts.build_finding_mark, reviewer=desk.reviewer, head=head, words=words)
    marks = [build(ReviewVerdict.RESTORE, dismissed[name].findings[0]) for name in fingerprints]
    desk.save_marks(marks)
    return _print_marks(desk, marks, "Restored: {}. It counts again." if len(marks) == 1 else "Restored: {}.")


def _print_marks(desk: ReviewContext, marks: Sequence[ReviewMark], words: str) -> int:
    if desk.options.json:
        records = [serialize_mark(mark) for mark in marks]
        output.print_json({"done": True, "review": format_path(desk.file.path), "marks": records})
    elif not desk.options.quiet:
        output.print_line(words.format(sign_off.name_findings([mark.findings[0] for mark in marks])))
    return ExitCode.OK


def list_dismissed(desk: ReviewContext) -> int:
    """List what is dismissed, ended ones included: who, when, why and until when."""
    found = triage.find_dismissals(desk.review, desk.given.reviewer)
    today = datetime.now(UTC).date().isoformat()
    if desk.options.json:
        marks = [serialize_mark(mark) for mark in found.values()]
        output.print_json({"dismissed": marks, "problem": desk.review.problem or None})
        return ExitCode.OK
    if desk.review.problem:
        output.print_message(desk.review.problem)
    if not found:
        output.print_line("Nothing is dismissed.")
    for mark in found.values():
        for line in _format_dismissal(mark, today):
            output.print_line(line)
    return ExitCode.OK


def _format_dismissal(mark: ReviewMark, today: str) -> Iterator[str]:
    finding = mark.findings[0]
    end = f"until {to_one_line(mark.until)}" if mark.until else "forever"
    end = f"ended on {to_one_line(mark.until)}" if mark.until and mark.until < today else end
    named = sign_off.name_findings([finding])
    yield f"{finding.fingerprint}  {named}  {end}"
    by = f"{to_one_line(mark.reviewer) or 'an unnamed reviewer'}, {str(output.format_utc(mark.at_us))[:10]}"
    yield f"    {by}: {to_one_line(str(serialize_mark(mark)['words']))}"


def _parse_fingerprints(given: Sequence[str], action: str) -> list[str]:
    names = list(dict.fromkeys(each.lower() for each in given))
    for name in names:
        if len(name) != 16 or not _HEXADECIMAL.issuperset(name):
            words = f"{to_one_line(name)!r} is not a fingerprint of 16 digits, as listed by memtui audit --all."
            raise UsageError(f"memtui review {action}: {words} {_NOT}")
    return names


# The end of a review


def accept_with_failures(
    desk: ReviewContext, chosen: Mapping[str, Collection[ChangedHunk]], *, is_named: bool
) -> dict[str, list[MarkedFinding]]:
    """The findings that must not stay in what is accepted, by path, which are told with it.

    Args:
        chosen: The paths, each with its hunks, or with none for all of the note.
        is_named: Whether each note was named. Of many at once nobody has read the findings, so they stay undecided.
    """
    audit = desk.run_audit_for_failures(chosen)
    failures = {path: found for path, hunks in chosen.items() if (found := sign_off.list_failures(audit, path, hunks))}
    if failures and not desk.options.quiet:
        listed = [each for found in failures.values() for each in found]
        named, start = sign_off.name_findings(listed), format_count(len(listed), "failure")
        end = "Not accepted with it: accept such a note by name, or flag it."
        end = "It is accepted with it." if is_named else end
        output.print_message(f"{start}: {named}. {end}")
    return failures if is_named else {}


def end_review(desk: ReviewContext) -> int:
    """The reviewer has seen all that there is."""
    given = desk.given
    given.since = "last"
    reason = (given.accept_failures or "").strip()
    if triage.holds_secret(f"{reason}\n{given.text or ''}", rules=desk.custom.matcher):
        raise UsageError(f"memtui review done: {triage.SECRET_IN_WORDS}")
    head = verdicts.get_head(desk.memory)  # first: what comes after it, nobody is taken to have seen
    found = desk.load_inbox(accepted=True, plain=True)
    if given.seen is not None:
        head = _get_seen_head(desk, head)
    audit = desk.run_audit(inbox=found)
    decided = sign_off.decide_findings(desk.memory, desk.review, found, audit, seen=given.seen)
    undecided = sign_off.find_undecided(decided)
    if undecided and not reason:
        raise Failure(ExitCode.REFUSED, _format_refusal(undecided))
    marks = verdicts.end_review(
        found, reviewer=desk.reviewer, head=head, words=given.text or "", findings=sign_off.accept_failures(decided),
        failures_reason=reason if undecided else "",
    )  # fmt: skip
    if given.seen is not None:
        marks = marks[-1:]
    desk.save_marks(marks)
    flagged = sum(file.verdict is ReviewVerdict.FLAG for file in found.files)
    if desk.options.json:
        records = [serialize_mark(mark) for mark in marks]
        document = {"done": True, "review": format_path(desk.file.path), "marks": records, "flagged": flagged}
        output.print_json({**document, "accepted_failures": len(undecided)})
    elif not desk.options.quiet:
        stay = f" {format_count(flagged, 'flagged file')} {'stays' if flagged == 1 else 'stay'}." if flagged else ""
        spite = f" With {format_count(len(undecided), 'undecided failure')}." if undecided else ""
        begins = f"The next review begins after #{head[0]} ({head[1][:8]})."
        output.print_line(f"Reviewed by {to_one_line(desk.reviewer)}. {begins}{stay}{spite}")
    return ExitCode.OK


def _format_refusal(undecided: Sequence[MarkedFinding]) -> str:
    count = format_count(len(undecided), "undecided failure")
    return (
        f"Not signed off: {count}: {sign_off.name_findings(undecided)}. {_NOT} "
        "Fix or revert the note, flag or accept it by name, or dismiss the finding "
        f"(memtui review dismiss {undecided[0].fingerprint} --reason TEXT). To sign off anyway: "
        "memtui review done --accept-failures REASON"
    )


def _get_seen_head(desk: ReviewContext, head: verdicts.Head) -> verdicts.Head:
    seq: int = desk.given.seen
    if seq > head[0]:
        raise NotFound(f"There is no event #{seq}. The last one is #{head[0]}.")
    if seq > desk.memory.recorded.last:  # a list records nothing, so that another event may have had its number there
        words = f"event #{seq} is recorded only now. {_NOT} Review it, then sign off: memtui review"
        raise Failure(ExitCode.CONFLICT, f"Not signed off: {words}")
    event = desk.memory.history.get_event(seq)
    return (seq, event.hash) if event is not None else head


# The record of it


def export_record(desk: ReviewContext, writer: FileWriter) -> int:
    """Write the record of the last review that was ended, or of that which `--seen` names."""
    at = sign_off.find_sign_off(desk.review, desk.given.seen)
    if at is None:
        which = f"No review was signed off at #{desk.given.seen}" if desk.given.seen else "No review was signed off yet"
        raise NotFound(f"{which}: there is nothing to export. To sign off: memtui review done")
    if at in desk.review.doubtful:
        raise Failure(ExitCode.FINDINGS, f"Not exported: {desk.review.problem}")
    if desk.review.problem:
        output.print_message(desk.review.problem)
    record = sign_off.build_record(desk.memory, desk.review, at)
    text = sign_off.render_record(record, "json" if desk.options.json else desk.given.format or "md")
    given: str | None = desk.given.output
    data = text.encode("utf-8", "backslashreplace")
    if given is None or given == "-":
        output.write_bytes(data)
        return ExitCode.OK
    writer.write(given, data, force=desk.given.force)
    if not desk.options.quiet:
        where = format_path(os.path.abspath(os.path.expanduser(given)))
        output.print_message(f"{sign_off.describe_record(record)}: the record is in {where}.")
    return ExitCode.OK


def verify_record(desk: ReviewContext) -> int:
    """Compare an exported record with the review file and the journal."""
    (given,) = desk.given.paths
    name = format_path(os.path.abspath(os.path.expanduser(given)))
    try:
        data = read_regular_file(os.path.expanduser(given), _MOST_BYTES)
    except OSError as error:
        raise NotFound(f"{name} cannot be read: {format_os_error(error)}. Nothing was compared.") from error
    if data is None or len(data) > _MOST_BYTES:
        raise UsageError(f"{name} is not a file, or too large for a record. Nothing was compared.")
    try:
        problems = sign_off.verify_record(desk.memory, desk.review, data, on_disk=verdicts.get_head(desk.memory)[0])
    except ValueError as error:
        raise UsageError(f"{name} is not a sign-off record: {error}. Write one: memtui review export") from error
    if desk.options.json:
        output.print_json({"intact": not problems, "problems": problems})
    for sentence in () if desk.options.json else problems:
        output.print_line(sentence)
    if not problems and not desk.options.json and not desk.options.quiet:
        output.print_line(f"{name} matches the review file and the journal.")
    return ExitCode.FINDINGS if problems else ExitCode.OK
