"""Notes that no agent has read and nobody has changed for long, as far as the journal knows."""

from collections.abc import Iterator

from memtui.audit.findings import Family, Hit, Severity
from memtui.audit.prose import is_hidden
from memtui.audit.reads import Uses, uses_of
from memtui.audit.rule import Rule
from memtui.audit.staleness import age_of, loaded_unasked, unrecorded_of
from memtui.audit.subject import Subject

_STALE = Rule(
    id="stale",
    family=Family.UPKEEP,
    severity=Severity.WARN,
    title="a note that nobody needs any more",
    why="What no agent has read and nobody has changed for months is likely to be out of date, and is still "
    "believed by whoever finds it. Only memtui's journal knows what was read; without it, the file's time is all.",
    do="Read it: bring it up to date, or let it go (memtui prune shows all of them).",
    bad="A note that was last changed 300 days ago, and that no agent has viewed since.",
    good="A note that was last changed 300 days ago, and that an agent viewed last week.",
    settings=("stale_days",),
)
RULES = (_STALE,)


def across(subject: Subject) -> Iterator[Hit]:
    """Which notes are stale. What every session loads unasked is never seen to be read, and is none."""
    days = subject.audit.stale_days
    if not days:
        return
    history = subject.observer.history
    uses = uses_of(history, until=subject.on_disk) if subject.on_disk else Uses()
    unrecorded = unrecorded_of(history, subject.on_disk)
    loaded = loaded_unasked(subject.notes.keys(), lambda path: subject.notes[path].text)
    for note in subject.notes.values():
        if not note.size or note.path in subject.pins or is_hidden(note.path) or note.path in loaded:
            continue
        age = age_of(
            note.path,
            uses,
            mtime_us=note.mtime_ns // 1_000,
            now_us=subject.now_us,
            is_recorded=note.path not in unrecorded,
        )
        if age.days >= days:
            yield Hit(
                rule=_STALE.id,
                path=note.path,
                words=age.words,
                facts={"days": age.days, "known": age.known},
                identity="",
            )
