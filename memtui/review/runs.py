"""Runs: many changes that one actor made in one go, such as a dream or a clean-up.

A run is made in one conversation without a longer pause, or is a burst from outside. It changes five files, with two
deleted or twenty lines removed; or three, with most deleted. Where the actor or the note with the change has a name
such as `dream` or `clean-up`, two files with any removal are enough. A revert by a person is no run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from memtui.audit.fact_loss import LONGEST, DroppedStatement, find_lost_statements, find_statements, normalize_statement
from memtui.audit.masking import mask_lines
from memtui.core.events import EntryKind, Outside, Version, format_actor_name
from memtui.core.lazy_dataclass import dataclass
from memtui.engine import Observer
from memtui.review.inbox import ChangeRun, LostFact, TrackedEvent, TrackStep, VersionTexts
from memtui.review.tracks import PathTrack, PathTracks
from memtui.scan.rule_matches import NO_SECRET_RULES, SecretRules

PAUSE_US = 10 * 60 * 1_000_000
"""The longest pause within a run in a conversation."""
SHORT_PAUSE_US = 5 * 60 * 1_000_000
"""The longest one where no conversation is known."""
BURST_PAUSE_US = 2 * 60 * 1_000_000
"""The longest one between changes from outside, by when they were found."""
MANY_FILES = 5
SOME_FILES = 3
FEW_FILES = 2
MANY_DELETED = 2
MANY_LINES = 20
MOST_LOST = 2_000
"""Lost facts that are listed of one run."""
_MOST_TOLD = 10_000  # lost facts that are listed of all runs together
_MOST_DROPPED = 30_000  # dropped lines that are held against the notes
_AT_ONCE = 500  # notes whose texts are held at a time
_NO_RUN = frozenset({"undo", "redo", "restore", "redact", "began", "found"})
_CALLS_ITSELF_SO = re.compile(
    r"\b(?:auto[- ]?)?"
    r"(?:dream|consolidat|clean[- ]?up|clean(?:ing|er)|compact|prun(?:e|ing)|tid(?:y|ied)|merg|de-?dup|reflect)",
    re.IGNORECASE,
)


def find_runs(
    observer: Observer,
    followed: PathTracks,
    shown: Sequence[tuple[PathTrack, int]],
    rules: SecretRules = NO_SECRET_RULES,
) -> tuple[ChangeRun, ...]:
    """The runs in a span of the record, the oldest first.

    Args:
        shown: Open tracks, each with the position of its first open step: accepted steps belong to no run.
        rules: Of a person's own files: what they find is masked, too.
    """
    groups = list(_group_events(followed))
    of_seq = {seq: group for group in groups for seq in group.seqs}
    for thing, start in shown:
        if thing.is_directory:
            continue
        for at in range(start + 1, len(thing.steps)):
            group = of_seq.get(thing.steps[at].seq)
            if group is not None:
                group.parts.setdefault(id(thing), _RunPart(thing)).at.append(at)
    large = [group for group in groups if len(group.parts) >= FEW_FILES]
    texts = VersionTexts(observer)
    found = [group for group in large if _is_run(group, _count_removed(group, texts))]
    _add_lost_facts(observer, found, texts, rules)
    return tuple(_build_run(group, number) for number, group in enumerate(found, start=1))


def _build_run(group: "_RunGroup", number: int) -> ChangeRun:
    first, last = group.events[0], group.events[-1]
    names = {part.thing.current.name for part in group.parts.values()}
    return ChangeRun(
        number=number,
        actor=format_actor_name(first.actor),
        session=first.session,
        first=first.seq,
        last=last.seq,
        at_us=first.at_us,
        until_us=last.at_us,
        paths=tuple(sorted(names, key=lambda path: path.split("/"))),
        added=group.added,
        removed=group.removed,
        lost=tuple(group.lost),
        unlisted=group.unlisted,
        unsearched=group.unsearched,
    )


@dataclass(slots=True)
class _RunPart:
    """What a group did to one thing: the positions of the steps."""

    thing: PathTrack
    at: list[int] = field(default_factory=list)

    @property
    def before(self) -> TrackStep:
        return self.thing.steps[self.at[0] - 1]

    @property
    def after(self) -> TrackStep:
        return self.thing.steps[self.at[-1]]

    @property
    def ends(self) -> tuple[Version | None, Version | None]:
        """What it was before the group and after it."""
        return self.before.version, self.after.version

    @property
    def versions(self) -> list[Version | None]:
        return [step.version for step in self.thing.steps[self.at[0] - 1 : self.at[-1] + 1]]


@dataclass(slots=True)
class _RunGroup:
    """Changes that one actor made in one go."""

    events: list[TrackedEvent]
    parts: dict[int, _RunPart] = field(default_factory=dict)
    added: int = 0
    removed: int = 0
    lost: list[LostFact] = field(default_factory=list)
    unlisted: int = 0
    unsearched: str = ""

    @property
    def seqs(self) -> list[int]:
        return [event.seq for event in self.events]


def _group_events(followed: PathTracks) -> Iterator[_RunGroup]:
    """Changes by one actor in one conversation, one close behind the other. Others may act in between."""
    last: dict[tuple[str, str | None], _RunGroup] = {}
    groups: list[_RunGroup] = []
    for event in followed.events.values():
        if event.command in _NO_RUN:
            continue
        key = (followed.get_actor_name(event.actor), event.session)
        group = last.get(key)
        if group is None or event.at_us - group.events[-1].at_us > _get_max_pause(event):
            group = last[key] = _RunGroup([])
            groups.append(group)
        group.events.append(event)
    return iter(groups)


def _get_max_pause(event: TrackedEvent) -> int:
    if isinstance(event.actor, Outside):
        return BURST_PAUSE_US
    return PAUSE_US if event.session else SHORT_PAUSE_US


def _count_removed(group: _RunGroup, texts: VersionTexts) -> int:
    """Count what a group added and removed; the lines that it removed."""
    events = {event.seq: event for event in group.events}
    parts = list(group.parts.values())
    for part in texts.iter_loaded(parts, lambda part: () if _get_recorded_counts(part, events) else part.ends):
        added, removed = _get_recorded_counts(part, events) or texts.count_changes(*part.ends) or (0, 0)
        group.added += added
        group.removed += removed
    return group.removed


def _get_recorded_counts(part: _RunPart, events: Mapping[int, TrackedEvent]) -> tuple[int, int] | None:
    """What the record itself counted, where one event changed one thing."""
    return events[part.after.seq].line_counts if len(part.at) == 1 else None


def _is_run(group: _RunGroup, removed: int) -> bool:
    files = len(group.parts)
    deleted = sum(part.after.version is None and part.before.version is not None for part in group.parts.values())
    if files >= MANY_FILES and (deleted >= MANY_DELETED or removed >= MANY_LINES):
        return True
    if files >= SOME_FILES and deleted >= MANY_DELETED and 2 * deleted >= files:
        return True
    names = (name[:200] for event in group.events for name in (event.actor.name, event.note))
    return files >= FEW_FILES and removed + deleted > 0 and any(map(_CALLS_ITSELF_SO.search, names))


# Facts lost


def _add_lost_facts(observer: Observer, groups: Sequence[_RunGroup], texts: VersionTexts, rules: SecretRules) -> None:
    """Note what each run dropped that stands nowhere any more; of many, the newest runs are looked at."""
    dropped: list[DroppedStatement] = []
    owners: dict[tuple[str, int], tuple[_RunGroup, Version]] = {}
    for group in reversed(groups):
        for each, version in _find_dropped(group, texts) if len(dropped) < _MOST_DROPPED else ():
            owners[each.path, each.seq] = group, version
            dropped.append(each)
            if len(dropped) == _MOST_DROPPED:
                break
        if len(dropped) == _MOST_DROPPED:
            group.unsearched = f"only {_MOST_DROPPED:,} dropped lines are checked, those of the newest runs"
    gone: dict[int, list[DroppedStatement]] = {}
    for each in find_lost_statements(dropped, _read_notes(observer)) if dropped else ():
        gone.setdefault(id(owners[each.path, each.seq][0]), []).append(each)
    left = _MOST_TOLD
    for group in reversed(groups):
        found = gone.get(id(group), [])
        shown = found[: min(left, MOST_LOST)]
        left -= len(shown)
        group.unlisted = len(found) - len(shown)
        group.lost = _mask_facts([(each, owners[each.path, each.seq][1]) for each in shown], texts, rules)


def _find_dropped(group: _RunGroup, texts: VersionTexts) -> Iterator[tuple[DroppedStatement, Version]]:
    """The statements that were there before a run and that it removed from where they stood, each with its text."""
    mine = set(group.seqs)
    for part in texts.iter_loaded(list(group.parts.values()), lambda part: part.versions):
        if any(
            version and version.kind is EntryKind.FILE and texts.get_text(version) is None for version in part.versions
        ):
            group.unsearched = "some texts are not kept or cannot be compared"
        yield from _find_dropped_from(part, mine, texts)


def _find_dropped_from(
    part: _RunPart, mine: set[int], texts: VersionTexts
) -> Iterator[tuple[DroppedStatement, Version]]:
    """What a run removed from one thing: not what it had put there itself."""
    steps = part.thing.steps[part.at[0] - 1 : part.at[-1] + 1]
    before = _split_lines(texts.get_text(steps[0].version))
    known = set(before)
    for old, new in pairwise(steps):
        if old.version == new.version:
            continue
        after = _split_lines(texts.get_text(new.version))
        stood, stand = set(before), set(after)
        change = stand - stood
        if new.seq not in mine:
            known |= change
        elif gone := [at for at, line in enumerate(before) if line not in stand and line in known]:
            again = {normalize_statement(line): line for line in change}
            for line, text in find_statements(before, gone):
                if (key := normalize_statement(text)) in again:
                    known.add(again[key])  # the same in other letters: it may be dropped yet
                elif old.version is not None:
                    yield DroppedStatement(old.name, line, text, new.seq), old.version
        before = after


def _mask_facts(
    facts: Sequence[tuple[DroppedStatement, Version]], texts: VersionTexts, rules: SecretRules
) -> list[LostFact]:
    """Facts without any secret, also such as only the note tells to be one."""
    shown: dict[tuple[str, Version], list[str]] = {}
    notes = list(dict.fromkeys((each.path, version) for each, version in facts))
    for path, version in texts.iter_loaded(notes, lambda note: (note[1],)):
        shown[path, version] = mask_lines(_split_lines(texts.get_text(version)), rules, path)
    return [
        LostFact(each.path, each.line, shown[each.path, version][each.line - 1].strip()[:LONGEST], each.seq)
        for each, version in facts
    ]


def _split_lines(text: str | None) -> list[str]:
    return text.split("\n") if text else []


def _read_notes(observer: Observer) -> Iterator[str]:
    """The texts of all files that stand now, each once."""
    state = observer.history.get_state(observer.get_head()[0])
    hashes = sorted({each.sha256 for each in state.values() if each.kind is EntryKind.FILE and each.sha256})
    for start in range(0, len(hashes), _AT_ONCE):
        for data in observer.history.get_texts(hashes[start : start + _AT_ONCE]).values():
            if b"\0" not in data:
                yield data.decode("utf-8", "surrogateescape")
