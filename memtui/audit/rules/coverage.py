"""What an audit could not look at: too large, special, closed to it, or more than it has time for.

Whoever wants to hide something puts it where nobody looks. So it is a finding at `fail`, beside which nothing is in
order, and no choice of other rules leaves it out.
"""

from collections.abc import Iterator

from memtui.audit.context import AuditContext, Note
from memtui.audit.model import AuditRule, Hit, read_rules
from memtui.core.events import EntryKind
from memtui.core.wording import format_count

RULES: tuple[AuditRule, ...] = read_rules("coverage")


def check_note(note: Note, subject: AuditContext) -> Iterator[Hit]:
    """A file that could not be read."""
    del subject
    if note.data is None:
        rule = "too-large" if note.is_too_large else "unreadable"
        yield Hit.for_file(note.path, rule, note.problem or "It cannot be read.")


def check_folder(subject: AuditContext) -> Iterator[Hit]:
    """Directories that could not be read, what is no file, and rules of a person's own that are not used."""
    for other in subject.others.values():
        if other.kind is EntryKind.OTHER:
            yield Hit.for_file(other.path, "special-file", f"{other.what or 'a special file'}, not a note")
        elif other.is_unread:
            yield Hit.for_file(other.path, "unreadable", other.problem)
    for problem in subject.custom.problems:
        yield Hit.for_file("", "unused-rules", problem, identity=problem)
    names = format_count(len(subject.notes) + len(subject.others), "name")
    own = sum(note.is_git_file for note in subject.notes.values())
    checked = f"; {own:,} of them git's own, with right checksums" if own else ""
    subject.log.counted["coverage"] = f"{names}, every file read to its end{checked}"
