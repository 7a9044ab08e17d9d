"""Runs: many changes that one actor made in one go, such as a dream or a clean-up, told as one.

A run is what one actor changed in one conversation without a longer pause, or without a conversation within minutes; a
burst from outside as well. It has to be large, and it has to take something away: five files, with two of them deleted
or twenty lines removed; or three, with most of them deleted. Of one that calls itself so, two files and anything that
was removed are enough: `dream`, `consolidate`, `clean-up`, `compact`, `prune`, `tidy`, `merge`, `deduplicate` or
`reflect`, in the actor's name or in what is noted with the change. What a person takes back is no run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from memtui.audit.deeds import Deed, Step
from memtui.audit.facts import LONGEST, Dropped, lost, normalised, statements
from memtui.audit.inbox import LostFact, Run
from memtui.audit.masking import without_secrets
from memtui.audit.texts import Texts
from memtui.audit.things import Followed, Thing
from memtui.core.actors import shown_name
from memtui.core.events import Outside, Version
from memtui.core.snapshot import Kind
from memtui.engine import Observer

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
"""Lost facts that are told of a run."""
_MOST_TOLD = 10_000
"""Lost facts that are told of all runs together."""
_MOST_DROPPED = 30_000
"""Dropped lines that are held against the notes."""
_AT_ONCE = 500
"""Notes whose texts are held at a time."""
_NO_RUN = frozenset({"undo", "redo", "restore", "redact", "began", "found"})
_CALLS_ITSELF_SO = re.compile(
    r"\b(?:auto[- ]?)?"
    r"(?:dream|consolidat|clean[- ]?up|clean(?:ing|er)|compact|prun(?:e|ing)|tid(?:y|ied)|merg|de-?dup|reflect)",
    re.IGNORECASE,
)


def runs_of(observer: Observer, followed: Followed, shown: Sequence[tuple[Thing, int]]) -> tuple[Run, ...]:
    """The runs in a span of the record, the oldest first.

    Args:
        observer: The memory.
        followed: What happened.
        shown: What is told, each with the position of the step from which on: what is settled belongs to no run.
    """
    groups = list(_grouped(followed))
    of_seq = {seq: group for group in groups for seq in group.seqs}
    for thing, start in shown:
        if thing.is_directory:
            continue
        for at in range(start + 1, len(thing.steps)):
            group = of_seq.get(thing.steps[at].seq)
            if group is not None:
                group.parts.setdefault(id(thing), _Part(thing)).at.append(at)
    large = [group for group in groups if len(group.parts) >= FEW_FILES]
    texts = Texts(observer)
    found = [group for group in large if _is_run(group, _removed(group, texts))]
    _lose(observer, found, texts)
    return tuple(_run(group, number) for number, group in enumerate(found, start=1))


def _run(group: "_Group", number: int) -> Run:
    first, last = group.deeds[0], group.deeds[-1]
    names = {part.thing.now.name for part in group.parts.values()}
    return Run(
        number=number,
        actor=shown_name(first.actor),
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
class _Part:
    """What a group did to one thing: the positions of the steps."""

    thing: Thing
    at: list[int] = field(default_factory=list)

    @property
    def before(self) -> Step:
        return self.thing.steps[self.at[0] - 1]

    @property
    def after(self) -> Step:
        return self.thing.steps[self.at[-1]]

    @property
    def ends(self) -> tuple[Version | None, Version | None]:
        """What it was before the group and after it."""
        return self.before.version, self.after.version

    @property
    def versions(self) -> list[Version | None]:
        return [step.version for step in self.thing.steps[self.at[0] - 1 : self.at[-1] + 1]]


@dataclass(slots=True)
class _Group:
    """Changes that one actor made in one go."""

    deeds: list[Deed]
    parts: dict[int, _Part] = field(default_factory=dict)
    added: int = 0
    removed: int = 0
    lost: list[LostFact] = field(default_factory=list)
    unlisted: int = 0
    unsearched: str = ""

    @property
    def seqs(self) -> list[int]:
        return [deed.seq for deed in self.deeds]


def _grouped(followed: Followed) -> Iterator[_Group]:
    """Changes by one actor in one conversation, one close behind the other. Others may act in between."""
    last: dict[tuple[str, str | None], _Group] = {}
    groups: list[_Group] = []
    for deed in followed.deeds.values():
        if deed.command in _NO_RUN:
            continue
        key = (followed.name_of(deed.actor), deed.session)
        group = last.get(key)
        if group is None or deed.at_us - group.deeds[-1].at_us > _pause(deed):
            group = last[key] = _Group([])
            groups.append(group)
        group.deeds.append(deed)
    return iter(groups)


def _pause(deed: Deed) -> int:
    if isinstance(deed.actor, Outside):
        return BURST_PAUSE_US
    return PAUSE_US if deed.session else SHORT_PAUSE_US


def _removed(group: _Group, texts: Texts) -> int:
    """Count what a group added and removed; the lines that it removed."""
    deeds = {deed.seq: deed for deed in group.deeds}
    parts = list(group.parts.values())
    for part in texts.loaded(parts, lambda part: () if _counted(part, deeds) else part.ends):
        added, removed = _counted(part, deeds) or texts.counts(*part.ends) or (0, 0)
        group.added += added
        group.removed += removed
    return group.removed


def _counted(part: _Part, deeds: Mapping[int, Deed]) -> tuple[int, int] | None:
    """What the record itself counted, where one event changed one thing."""
    if len(part.at) != 1:
        return None
    deed = deeds[part.after.seq]
    return (deed.added, deed.removed) if deed.is_one and deed.added is not None and deed.removed is not None else None


def _is_run(group: _Group, removed: int) -> bool:
    files = len(group.parts)
    deleted = sum(part.after.version is None and part.before.version is not None for part in group.parts.values())
    if files >= MANY_FILES and (deleted >= MANY_DELETED or removed >= MANY_LINES):
        return True
    if files >= SOME_FILES and deleted >= MANY_DELETED and 2 * deleted >= files:
        return True
    return files >= FEW_FILES and removed + deleted > 0 and any(_calls_itself_so(deed) for deed in group.deeds)


def _calls_itself_so(deed: Deed) -> bool:
    return bool(_CALLS_ITSELF_SO.search(deed.actor.name[:200]) or _CALLS_ITSELF_SO.search(deed.note[:200]))


# Facts lost


def _lose(observer: Observer, groups: Sequence[_Group], texts: Texts) -> None:
    """Note what each run dropped that stands nowhere any more; of many, the newest runs are looked at."""
    dropped: list[Dropped] = []
    owners: dict[tuple[str, int], tuple[_Group, Version]] = {}
    for group in reversed(groups):
        for each, version in _dropped(group, texts) if len(dropped) < _MOST_DROPPED else ():
            owners[each.path, each.seq] = group, version
            dropped.append(each)
            if len(dropped) == _MOST_DROPPED:
                break
        if len(dropped) == _MOST_DROPPED:
            group.unsearched = f"no more than {_MOST_DROPPED:,} dropped lines are looked at, those of the newest runs"
    gone: dict[int, list[Dropped]] = {}
    for each in lost(dropped, _notes(observer)) if dropped else ():
        gone.setdefault(id(owners[each.path, each.seq][0]), []).append(each)
    left = _MOST_TOLD
    for group in reversed(groups):
        found = gone.get(id(group), [])
        told = found[: min(left, MOST_LOST)]
        left -= len(told)
        group.unlisted = len(found) - len(told)
        group.lost = _masked([(each, owners[each.path, each.seq][1]) for each in told], texts)


def _dropped(group: _Group, texts: Texts) -> Iterator[tuple[Dropped, Version]]:
    """The statements that were there before a run and that it removed from where they stood, each with its text."""
    mine = set(group.seqs)
    for part in texts.loaded(list(group.parts.values()), lambda part: part.versions):
        if any(version and version.kind is Kind.FILE and texts.text(version) is None for version in part.versions):
            group.unsearched = "some of the texts are not kept, or cannot be compared"
        yield from _dropped_from(part, mine, texts)


def _dropped_from(part: _Part, mine: set[int], texts: Texts) -> Iterator[tuple[Dropped, Version]]:
    """What a run removed from one thing: not what it had put there itself."""
    steps = part.thing.steps[part.at[0] - 1 : part.at[-1] + 1]
    before = _lines(texts.text(steps[0].version))
    known = set(before)
    for old, new in pairwise(steps):
        if old.version == new.version:
            continue
        after = _lines(texts.text(new.version))
        stood, stand = set(before), set(after)
        came = stand - stood
        if new.seq not in mine:
            known |= came
        elif gone := [at for at, line in enumerate(before) if line not in stand and line in known]:
            again = {normalised(line): line for line in came}
            for line, text in statements(before, gone):
                if (key := normalised(text)) in again:
                    known.add(again[key])  # the same in other letters: it may be dropped yet
                elif old.version is not None:
                    yield Dropped(old.name, line, text, new.seq), old.version
        before = after


def _masked(facts: Sequence[tuple[Dropped, Version]], texts: Texts) -> list[LostFact]:
    """Facts without any secret, also such as only the note tells to be one."""
    shown: dict[Version, list[str]] = {}
    for version in texts.loaded(list(dict.fromkeys(version for _, version in facts)), lambda version: (version,)):
        shown[version] = without_secrets(_lines(texts.text(version)))
    return [
        LostFact(each.path, each.line, shown[version][each.line - 1].strip()[:LONGEST], each.seq)
        for each, version in facts
    ]


def _lines(text: str | None) -> list[str]:
    return text.split("\n") if text else []


def _notes(observer: Observer) -> Iterator[str]:
    """The texts of all files that stand now, each once."""
    state = observer.history.state(observer.head()[0])
    hashes = sorted({each.sha256 for each in state.values() if each.kind is Kind.FILE and each.sha256})
    for start in range(0, len(hashes), _AT_ONCE):
        for data in observer.history.texts(hashes[start : start + _AT_ONCE]).values():
            if b"\0" not in data:
                yield data.decode("utf-8", "surrogateescape")
