"""Carrying changes between a folder and another place, until both are equal.

Each step is one event on one side, made only if what stands there is what was seen, and marked with the event of the
other side that it follows. So a mirror may be killed between any two steps: the next one reads from the records what
was done, plans the rest anew, and does nothing twice.
"""

import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from itertools import pairwise

from memtui.core.events import Actor, Agent, EntryKind, Version, sha256
from memtui.core.history import ActionResult, describe_skipped
from memtui.core.lazy_dataclass import dataclass
from memtui.core.wording import format_size
from memtui.mirror.ancestors import Ancestor, AncestorStore
from memtui.mirror.common_history import CommonHistory
from memtui.mirror.deletions import DeletionGuard, WipeFound
from memtui.mirror.renames import Attempts, RenameCarrier
from memtui.mirror.reports import Report
from memtui.mirror.resolution import name_conflict_notes, resolve
from memtui.mirror.side import Side

PAUSE_SECONDS = 1.0
"""After which it is looked again whether what went without a command is still not there."""
_ROUNDS = 50
"""How often it is planned anew while others keep changing both sides."""
_STEPS_BACK = 20
"""Versions of one note that are carried one by one, each with its author."""
_RETRY_SECONDS = 30.0
"""After which it is tried again to carry what one side did not take."""
_MANY = 1_000
"""Paths from which on all that a side knows is read at once."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What is to be done at one path of a side.

    Attributes:
        seq: The number of the event of the other side that this follows.
        data: The bytes of a file that is written.
    """

    path: str
    wanted: Version | None
    expected: Version | None
    actor: Actor
    seq: int
    data: bytes | None = None
    kind: str = ""


class Mirror:
    """Keeps a folder and another place equal. Used by one thread.

    Args:
        folder: The side whose files programs read and write.
        source: The other one.
        ancestors: What both had in common at last.
        accepts_wipes: Whether what is found until both are equal for the first time is carried, however much is gone.
        pause: Seconds between two looks at what went without a command.
        clock: Monotonic, in seconds.
    """

    def __init__(
        self,
        folder: Side,
        source: Side,
        ancestors: AncestorStore,
        *,
        accepts_wipes: bool = False,
        pause: float = PAUSE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._history = CommonHistory(folder, source, ancestors)
        self._deletions = DeletionGuard(self._history, accepts_all=accepts_wipes, pause=pause, clock=clock)
        self._renames = RenameCarrier(self._history)
        self._attempts = Attempts()
        self._folder = folder
        self._source = source
        self._clock = clock
        self._dirty = set(ancestors.get_paths())
        self._left: dict[str, tuple[Version | None, Version | None, str]] = {}
        self._retries: dict[str, float] = {}
        """When it is tried again to carry what was left."""
        self._unnamed: dict[str, Side] = {}
        """Paths whose names only a folder can hold, and that changed."""
        self._wipe: WipeFound | None = None

    @property
    def is_equal(self) -> bool:
        """Whether nothing is left to be carried, but what cannot be."""
        return not self._dirty

    @property
    def left(self) -> Mapping[str, str]:
        """What differs and is left so, with the reason."""
        return {path: reason for path, (_, _, reason) in self._left.items()}

    @property
    def wait_seconds(self) -> float | None:
        """In how many seconds it has to be looked again without any news; `None` for never."""
        return self._deletions.wait_seconds

    @property
    def retry_seconds(self) -> float | None:
        """In how many seconds it is worth it to call again only to try once more what was left; `None` for never."""
        return max(min(self._retries.values()) - self._clock(), 0.0) if self._retries else None

    def accept(self, wipe: WipeFound) -> None:
        """Carry what `sync` has asked about."""
        self._deletions.accept(wipe)

    def sync(self) -> Iterator[Report]:
        """Carry what changed since the last time, and what is still to be carried.

        Yields:
            Each change once it is done, and what cannot be carried.

        Raises:
            WipeFound: More is gone on one side than is carried unasked. Other changes were carried.
            LockTimeout, FolderMissing, StateUnusable, UnsettledChange: One side cannot be used now. What was carried
                stays carried; call again.
        """
        for _ in range(_ROUNDS):
            due = self._look()
            yield from self._leave_unnamed()
            self._settle(due)
            self._wipe = None
            if not self._dirty:
                self._deletions.end_acceptance()
                self._history.keep_heads()
                break
            is_progress = False
            for report in self._carry_round():
                is_progress = True
                if report is not None:
                    yield report
            if not is_progress:
                break
        if self._wipe is not None:
            raise self._wipe

    # Looking

    def _look(self) -> set[str]:
        """Find what changed; returns what is to be tried again."""
        self._deletions.confirm()
        due = {path for path, at in self._retries.items() if at <= self._clock()}
        for path in due:
            self._retries.pop(path)
        self._dirty |= due
        for side in self._history.sides:
            changed = {path for path in side.look() if ".git" not in path.split("/")}  # that belongs to its place
            unnamed = {path for path in changed if not _is_utf8(path)}
            self._dirty |= changed - unnamed
            self._unnamed.update((path, side) for path in unnamed)
        return due

    def _settle(self, due: Collection[str]) -> None:
        """Note which paths are equal by now; those that were left are left, but for what is `due`."""
        equal: dict[str, Ancestor] = {}
        is_many = len(self._dirty) > _MANY
        get_here, get_there = (side.read_all() if is_many else side.get for side in (self._folder, self._source))
        for path in list(self._dirty):
            here, there = get_here(path), get_there(path)
            if here == there:
                self._dirty.discard(path)
                self._left.pop(path, None)
                self._retries.pop(path, None)
                self._deletions.forget(path)
                self._attempts.forget(path)
                kept = self._history.ancestors.get(path)
                if (kept.version if kept else None) != here:
                    equal[path] = Ancestor(here, self._folder.head[0], self._source.head[0])
            elif path in self._left and self._left[path][:2] == (here, there) and path not in due:
                self._dirty.discard(path)
        if equal:
            self._history.ancestors.update(equal)

    def _leave_unnamed(self) -> Iterator[Report]:
        for path, side in self._unnamed.items():
            self._left.pop(path, None)
            if side.get(path) is not None:
                yield self._leave(path, self._history.get_other(side), "its name is not UTF-8")
        self._unnamed.clear()

    # One round. Each thing that was done is yielded, as a report if there is anything to say.

    def _carry_round(self) -> Iterator[Report | None]:
        moved = list(self._renames.carry(self._dirty))
        if moved:
            yield from moved
            return
        steps: dict[tuple[str, int], list[_Step]] = {}
        history = self._history
        ancestors = {path: history.find_ancestor(path) or history.find_forebear(path) for path in sorted(self._dirty)}
        self._wipe = self._deletions.find_wipe(ancestors)
        for path, ancestor in ancestors.items():
            here, there = self._folder.get(path), self._source.get(path)
            if here == there or (self._wipe is not None and path in self._wipe.paths):
                continue
            if (reason := _find_unportable(here, there)) is not None:
                yield self._leave(path, self._folder if here is None else self._source, reason)
                continue
            known = ancestor.version if ancestor else None
            if there == known or (there is None and here != known):  # a change is more than a deletion
                giver, taker = self._folder, self._source
            elif here == known or here is None:
                giver, taker = self._source, self._folder
            else:
                yield from self._carry_both(path, ancestor)
                continue
            if giver.get(path) is None and self._deletions.is_unconfirmed(giver, path):
                continue
            expected = here if taker is self._folder else there  # what was decided upon, whatever stands there by now
            expected = yield from self._carry_earlier(giver, taker, path, ancestor, expected)
            step = self._make_step(giver, taker, path, ancestor, expected)
            if isinstance(step, Report):
                yield step
            elif step is not None:
                steps.setdefault((taker.name, step.seq), []).append(step)
        for (name, _), group in steps.items():
            taker = self._folder if name == "folder" else self._source
            yield from self._carry(taker, group)

    # Contents

    def _make_step(
        self, giver: Side, taker: Side, path: str, ancestor: Ancestor | None, expected: Version | None
    ) -> _Step | Report | None:
        """The step that gives one side what stands on the other one; `None` where that is changing just now."""
        wanted, last = giver.get(path), giver.get_last_event(path)
        if last is None or last.after != wanted:
            return None
        author = self._history.find_author(giver, path, ancestor) or last.event
        data = giver.get_text(wanted) if wanted is not None and wanted.kind is EntryKind.FILE else None
        if data is None and wanted is not None and wanted.kind is EntryKind.FILE:
            return self._leave(path, taker, "its text is not kept")
        return _Step(path, wanted, expected, author.actor, last.event.seq, data)

    def _carry_earlier(
        self, giver: Side, taker: Side, path: str, ancestor: Ancestor | None, expected: Version | None
    ) -> Generator[Report | None, None, Version | None]:
        """Carry the versions of other authors that came before the last one, so that each line keeps its author.

        Returns:
            What is expected at the path then.
        """
        if ancestor is None or ancestor.version is None or expected is None or giver.get(path) is None:
            return expected
        events = giver.get_events(path, ancestor.get_number(giver.name))[-_STEPS_BACK:]
        events = [found for found in events if not self._history.is_ours(found.event)]
        for found, following in pairwise(events):
            version = found.after
            if found.event.actor == following.event.actor or version is None or version in (expected, giver.get(path)):
                continue
            if version.kind is not EntryKind.FILE or (data := giver.get_text(version)) is None:
                continue
            step = _Step(path, version, expected, found.event.actor, found.event.seq, data)
            for report in self._carry(taker, [step]):
                yield report
                expected = version if report is not None and report.kind == "changed" else expected
        return expected

    def _carry_both(self, path: str, ancestor: Ancestor | None) -> Iterator[Report | None]:
        """Carry what both sides changed: the folder gets all of it, and the source gets that by the next round."""
        here, there = self._folder.get(path), self._source.get(path)
        assert here is not None
        assert there is not None
        last = self._source.get_last_event(path)
        if last is None or last.after != there:
            return
        if not here.kind is there.kind is EntryKind.FILE:
            yield self._leave(path, self._source, "a file on one side and a directory on the other")
            return
        mine, theirs = self._folder.get_text(here), self._source.get_text(there)
        if mine is None or theirs is None:
            yield self._leave(path, self._source, "its text is not kept")
            return
        base = None
        if ancestor is not None and ancestor.version is not None:
            base = self._source.get_text(ancestor.version)
            base = self._folder.get_text(ancestor.version) if base is None else base
        data, is_conflict = resolve(base, mine, theirs)
        if data == mine:  # the folder has all of it: only the source lacks something
            step = self._make_step(self._folder, self._source, path, ancestor, there)
            if isinstance(step, _Step):
                yield from self._carry(self._source, [step])
            return
        actor = (self._history.find_author(self._source, path, ancestor) or last.event).actor
        kept_in = self._keep_beside(path, mine, here) if is_conflict else ""
        if isinstance(kept_in, ActionResult):
            is_again = self._attempts.is_worth_again(path, kept_in)
            yield None if is_again else self._leave_for_now(path, self._folder, kept_in)
            return
        wanted = Version(EntryKind.FILE, sha256(data), len(data))
        step = _Step(path, wanted, here, actor, last.event.seq, data, "conflict" if kept_in else "merged")
        yield from self._carry(self._folder, [step], kept_in=kept_in)

    def _keep_beside(self, path: str, data: bytes, version: Version) -> str | ActionResult:
        """Have the folder keep its own text in a note beside; returns its path, or why that could not be made."""
        last = self._folder.get_last_event(path)
        by = self._history.sign(self._folder, self._folder, last.event.actor, 0)[0] if last else Agent("mirror")
        for name in name_conflict_notes(path, data):
            standing = self._folder.get(name)
            if standing == version:
                return name
            if standing is not None:
                continue
            result = self._folder.engine.files.carry(
                {name: version},
                expected={name: None},
                texts={version.sha256 or "": data},
                command="create",
                note=f"of {path}, which was changed in {self._source.title} as well",
                call_id=None,
                actor=by,
            )
            return name if result.event is not None else result
        return ActionResult(problem="Not carried: the names for a note beside it are taken.")

    def _carry(self, taker: Side, steps: list[_Step], *, kept_in: str = "") -> Iterator[Report | None]:
        """Do steps together, as one event; one by one where that cannot be done."""
        giver = self._history.get_other(taker)
        first = steps[0]
        actor, note = self._history.sign(giver, taker, first.actor, first.seq)
        if all(step.actor == first.actor for step in steps):
            result = taker.engine.files.carry(
                {step.path: step.wanted for step in steps},
                expected={step.path: step.expected for step in steps},
                texts={step.wanted.sha256 or "": step.data for step in steps if step.wanted and step.data is not None},
                command=_name_command(steps),
                note=note,
                call_id=str(self._history.make_mark(first.seq)),
                actor=actor,
            )
            if result.event is not None:
                yield from self._report(taker, steps, result, kept_in)
                return
        else:
            result = ActionResult(problem="several authors")
        if len(steps) > 1:
            for step in steps:
                yield from self._carry(taker, [step])
        elif _is_kept_directory(result, first):
            if any(path.startswith(first.path + "/") for path in self._left):
                yield self._leave(first.path, taker, "it holds what is left out")
        elif taker.get(first.path) == first.wanted or self._attempts.is_worth_again(first.path, result):
            yield None
        else:
            yield self._leave_for_now(first.path, taker, result)

    def _report(
        self, taker: Side, steps: Iterable[_Step], result: ActionResult, kept_in: str
    ) -> Iterator[Report | None]:
        done = {change.path for change in result.changes}
        giver = self._history.get_other(taker)
        for step in steps:
            if step.path not in done:
                continue
            version = step.wanted or step.expected
            if step.wanted is None and step.expected is not None and step.expected.kind is EntryKind.FILE:
                self._deletions.note_carried(giver)
            if version is not None and version.kind is EntryKind.DIRECTORY:
                yield None
                continue
            kind = step.kind or ("deleted" if step.wanted is None else "changed" if step.expected else "created")
            yield Report(kind, taker.name, step.path, step.actor, step.seq, new_path=kept_in)

    def _leave_for_now(self, path: str, taker: Side, result: ActionResult) -> Report | None:
        """Leave what a side did not take, and try it again later; that is said once."""
        before = self._left.get(path)
        report = self._leave(path, taker, describe_skipped(result.skipped) if result.skipped else result.problem)
        self._retries[path] = self._clock() + _RETRY_SECONDS
        return None if before == self._left[path] else report

    def _leave(self, path: str, taker: Side, reason: str) -> Report:
        self._dirty.discard(path)
        self._left[path] = self._folder.get(path), self._source.get(path), reason
        return Report("left", taker.name, path, reason=reason)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _find_unportable(*versions: Version | None) -> str | None:
    """Why a path cannot be carried; `None` if it can be."""
    for version in versions:
        if version is None or version.kind is EntryKind.DIRECTORY:
            continue
        if version.kind is EntryKind.LINK:
            return "a link says something in its own place only"
        if version.kind is EntryKind.OTHER:
            return "it is no file"
        if version.sha256 is None:
            return f"it is too large to be kept, {format_size(version.size)}"
    return None


def _name_command(steps: Iterable[_Step]) -> str:
    if all(step.wanted is None for step in steps):
        return "delete"
    return "create" if all(step.expected is None for step in steps) else "write"


def _is_kept_directory(result: ActionResult, step: _Step) -> bool:
    """Whether a directory stays as there is something in it, which the other side gets."""
    is_directory = step.expected is not None and step.expected.kind is EntryKind.DIRECTORY
    return step.wanted is None and is_directory and not result.skipped
