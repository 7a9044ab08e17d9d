"""Carrying changes between a folder and another place, until both are equal.

Each step is one event on one side, made only if what stands there is what was seen, and marked with the event of the
other side that it follows. So a mirror may be killed between any two steps: the next one reads from the records what
was done, plans the rest anew, and does nothing twice.
"""

import socket
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import pairwise

from memtui.core.errors import MemtuiError
from memtui.core.events import Actor, Agent, EntryKind, Event, Outside, Version, format_actor_in_sentence, sha256
from memtui.core.history import ActionResult, SkipReason, describe_skipped
from memtui.core.lazy_dataclass import dataclass
from memtui.core.wording import format_size
from memtui.engine.restore import find_top_moves
from memtui.mirror.ancestors import Ancestor, AncestorStore, Mark, parse_mark
from memtui.mirror.reports import Report
from memtui.mirror.resolution import name_conflict_notes, resolve
from memtui.mirror.side import PathEvent, Side

PAUSE_SECONDS = 1.0
"""After which it is looked again whether what went without a command is still not there."""
_ROUNDS = 50
"""How often it is planned anew while others keep changing both sides."""
_STEPS_BACK = 20
"""Versions of one note that are carried one by one, each with its author."""
_WIPE_SECONDS = 60.0
_FEWEST_WIPED = 2
_RETRY_SECONDS = 30.0
"""After which it is tried again to carry what one side did not take."""
_MANY = 1_000
"""Paths from which on all that a side knows is read at once."""
_AGAIN = frozenset({SkipReason.CHANGED, SkipReason.TAKEN, SkipReason.STOPPED, SkipReason.MISSING})
"""Why something was not done that may be done as it is planned anew."""


class WipeFound(MemtuiError):
    """So much is not there any more on one side that a person is asked before it goes on the other side as well.

    Attributes:
        side: Where it went, `folder` or `source`.
        paths: What would be deleted on the other side.
        total: How many files both had.
    """

    def __init__(self, side: Side, paths: frozenset[str], total: int) -> None:
        self.side = side.name
        self.paths = paths
        self.total = total
        super().__init__(
            f"{len(paths):,} of {total:,} notes are no longer in the {side.name} ({side.title}), or are empty there"
            + (", and its record is another one than before" if side.is_replaced else "")
            + ". Nothing was deleted on the other side."
        )


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
        self._folder = folder
        self._source = source
        self._ancestors = ancestors
        self._accepts_all = accepts_wipes
        self._pause = pause
        self._clock = clock
        self._accepted: set[str] = set()
        self._dirty = set(ancestors.get_paths())
        self._left: dict[str, tuple[Version | None, Version | None, str]] = {}
        self._retries: dict[str, float] = {}
        """When it is tried again to carry what was left."""
        self._missing: dict[str, tuple[int, float]] = {}
        """What went without a command: by which event, and when that was seen first."""
        self._confirmed: dict[str, int] = {}
        self._unmovable: set[tuple[str, str]] = set()
        self._wiped: deque[tuple[float, str]] = deque()
        self._wipe: WipeFound | None = None
        self._asked = ancestors.get_asked()
        for side in (folder, source):
            self._recognise(side)

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
        if not self._missing:
            return None
        return max(max(seen for _, seen in self._missing.values()) + self._pause - self._clock(), 0.0)

    @property
    def retry_seconds(self) -> float | None:
        """In how many seconds it is worth it to call again only to try once more what was left; `None` for never."""
        return max(min(self._retries.values()) - self._clock(), 0.0) if self._retries else None

    def accept(self, wipe: WipeFound) -> None:
        """Carry what `sync` has asked about."""
        self._accepted |= wipe.paths
        self._keep_asked(self._asked - wipe.paths)

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
            self._settle(due)
            self._wipe = None
            if not self._dirty:
                self._accepts_all = False
                self._accepted.clear()
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

    def _keep_asked(self, paths: frozenset[str]) -> None:
        """Remember of which paths a person was asked, until she has said so or they are equal again."""
        if paths != self._asked:
            self._asked = paths
            self._ancestors.set_asked(paths)

    # Looking

    def _recognise(self, side: Side) -> None:
        """Find out whether a side still has the record that it had the last time."""
        kept = self._ancestors.get_head(side.name)
        if kept is None or not kept[0]:
            return
        event = side.engine.journal.get_event(kept[0])
        if event is None or event.hash != kept[1]:
            side.is_replaced = True
            self._ancestors.forget_numbers(side.name)

    def _look(self) -> set[str]:
        """Find what changed; returns what is to be tried again."""
        self._confirm_missing()
        due = {path for path, at in self._retries.items() if at <= self._clock()}
        for path in due:
            self._retries.pop(path)
        self._dirty |= due
        for side in (self._folder, self._source):
            changed = side.look()
            self._dirty |= {path for path in changed if _is_mirrored(path)}
        return due

    def _confirm_missing(self) -> None:
        """Look again at what went without a command, once nothing more has gone for a moment."""
        if not self._missing or self.wait_seconds:
            return
        for side in (self._folder, self._source):
            side.engine.reconcile([path for path in self._missing if side.get(path) is None])
        self._confirmed.update({path: seq for path, (seq, _) in self._missing.items()})
        self._missing.clear()

    def _settle(self, due: Collection[str]) -> None:
        """Note which paths are equal by now; those that were left are left, but for what is `due`."""
        equal: dict[str, Ancestor] = {}
        is_many = len(self._dirty) > _MANY
        get_here, get_there = (side.read_all() if is_many else side.get for side in (self._folder, self._source))
        for path in list(self._dirty):
            here, there = get_here(path), get_there(path)
            if here == there:
                self._dirty.discard(path)
                for waiting in (self._left, self._missing, self._confirmed, self._retries):
                    waiting.pop(path, None)
                kept = self._ancestors.get(path)
                if (kept.version if kept else None) != here:
                    equal[path] = Ancestor(here, self._folder.head[0], self._source.head[0])
            elif path in self._left and self._left[path][:2] == (here, there) and path not in due:
                self._dirty.discard(path)
            if path not in self._dirty and path in self._asked:
                self._keep_asked(self._asked - {path})
        if equal:
            self._ancestors.update(equal, {side.name: side.head for side in (self._folder, self._source)})

    def _find_ancestor(self, path: str) -> Ancestor | None:
        """What both sides had in common at a path at last: as it was kept, or as later events of either side say.

        `None` where nothing is known of it.
        """
        kept = self._ancestors.get(path)
        folder, source = (kept.folder, kept.source) if kept else (0, 0)
        marked: list[tuple[int, int, Ancestor]] = []
        for found, mark in self._iter_marked(self._folder, path, folder):
            version = self._get_marked_version(self._source, path, mark, found)
            at = found.event.seq if version == found.after else 0
            marked.append((mark.seq, found.event.seq, Ancestor(version, at, mark.seq)))
        for found, mark in self._iter_marked(self._source, path, source):
            version = self._get_marked_version(self._folder, path, mark, found)
            at = found.event.seq if version == found.after else 0
            marked.append((found.event.seq, mark.seq, Ancestor(version, mark.seq, at)))
        for _, _, each in sorted(marked, key=lambda each: each[:2]):
            if each.folder > folder or each.source > source:
                folder, source = max(folder, each.folder), max(source, each.source)
                kept = Ancestor(each.version, folder, source)
        return kept

    def _iter_marked(self, side: Side, path: str, after: int) -> Iterator[tuple[PathEvent, Mark]]:
        for found in side.get_events(path, after):
            mark = parse_mark(found.event.call_id)
            if mark is not None and mark.mirror == self._ancestors.mirror:
                yield found, mark

    def _get_marked_version(self, other: Side, path: str, mark: Mark, found: PathEvent) -> Version | None:
        if mark.version is not None and found.after is not None:
            return mark.version
        return other.get_version_at(path, mark.seq)

    def _is_ours(self, event: Event) -> bool:
        mark = parse_mark(event.call_id)
        return mark is not None and mark.mirror == self._ancestors.mirror

    # One round. Each thing that was done is yielded, as a report if there is anything to say.

    def _carry_round(self) -> Iterator[Report | None]:
        moved = list(self._carry_moves())
        if moved:
            yield from moved
            return
        steps: dict[tuple[str, int], list[_Step]] = {}
        ancestors = {path: self._find_ancestor(path) or self._find_forebear(path) for path in sorted(self._dirty)}
        self._wipe = self._find_wipe(ancestors)
        if self._wipe is not None:
            self._keep_asked(self._asked | self._wipe.paths)
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
            if giver.get(path) is None and self._is_unconfirmed(giver, path):
                continue
            yield from self._carry_earlier(giver, taker, path, ancestor)
            step = self._make_step(giver, taker, path, ancestor)
            if isinstance(step, Report):
                yield step
            elif step is not None:
                steps.setdefault((taker.name, step.seq), []).append(step)
        for (name, _), group in steps.items():
            taker = self._folder if name == "folder" else self._source
            yield from self._carry(taker, group)

    def _is_unconfirmed(self, giver: Side, path: str) -> bool:
        """Whether it is not known yet that a path is to be empty: only a command says so at once."""
        last = giver.get_last_event(path)
        seq = last.event.seq if last is not None else 0
        if last is not None and not isinstance(last.event.actor, Outside):
            return False
        if self._confirmed.get(path) == seq:
            return False
        if self._missing.get(path, (None,))[0] != seq:
            self._missing[path] = seq, self._clock()
        return True

    def _find_wipe(self, ancestors: Mapping[str, Ancestor | None]) -> WipeFound | None:
        """What would be deleted, or emptied, where that is too much at once."""
        if self._accepts_all:
            return None
        now = self._clock()
        while self._wiped and self._wiped[0][0] < now - _WIPE_SECONDS:
            self._wiped.popleft()
        for giver, taker in ((self._folder, self._source), (self._source, self._folder)):
            paths = frozenset(
                path
                for path, ancestor in ancestors.items()
                if ancestor is not None
                and path not in self._accepted
                and _is_lost(ancestor.version, giver.get(path))
                and taker.get(path) == ancestor.version
                and not (giver.get(path) is None and self._is_unconfirmed(giver, path))
            )
            earlier = sum(name == giver.name for _, name in self._wiped)
            total = self._ancestors.count_files() + earlier
            lost = len(paths) + earlier
            is_wipe = lost >= _FEWEST_WIPED and lost * 2 >= total and (total >= 5 or lost == total)
            if paths and (is_wipe or giver.is_replaced or paths & self._asked):
                return WipeFound(giver, paths, max(total, lost))
        return None

    # Moves

    def _carry_moves(self) -> Iterator[Report | None]:
        """Give things on one side the names that they got on the other one."""
        found: dict[str, dict[str, tuple[str, Event]]] = {"folder": {}, "source": {}}
        for path in sorted(self._dirty):
            for giver, taker in ((self._source, self._folder), (self._folder, self._source)):
                if giver.get(path) is None or taker.get(path) is not None or self._ancestors.get(path) is not None:
                    continue
                for old, event in giver.iter_origins(path):
                    common = self._find_ancestor(old)
                    if common is None or common.version is None:
                        continue
                    if event.seq > (common.folder if giver is self._folder else common.source):
                        found[giver.name][old] = path, event
                    break
        done: set[str] = set()
        for giver, taker in ((self._source, self._folder), (self._folder, self._source)):
            by_event: dict[int, list[tuple[str, str]]] = {}
            events: dict[int, Event] = {}
            for old, (new, event) in found[giver.name].items():
                if old in done:
                    continue
                done.add(old)
                stands = old
                if taker.get(old) is None and old in found[taker.name]:
                    stands = found[taker.name][old][0]  # both gave it another name: the source's is the one
                if taker.get(stands) is None or (stands, new) in self._unmovable:
                    continue
                events[event.seq] = event
                by_event.setdefault(event.seq, []).append((stands, new))
            for seq, pairs in by_event.items():
                yield from self._carry_event_moves(giver, taker, events[seq], pairs, found[giver.name])

    def _carry_event_moves(
        self,
        giver: Side,
        taker: Side,
        event: Event,
        pairs: list[tuple[str, str]],
        origins: Mapping[str, tuple[str, Event]],
    ) -> Iterator[Report | None]:
        moves = dict(pairs)
        original = {new: old for old, (new, _) in origins.items()}
        for old, new in find_top_moves(event):
            below = taker.engine.journal.get_known_below(old)
            files = [path for path, each in below.items() if each.version.kind is EntryKind.FILE]
            inside = {path: new + path[len(old) :] for path in files}
            if not inside or taker.get(new) is not None or any(moves.get(path) != to for path, to in inside.items()):
                continue
            kept = {path: self._find_ancestor(path) for path in inside}
            if all(
                each is not None and giver.get_version_at(inside[path], event.seq) == each.version
                for path, each in kept.items()
            ):
                result = self._move(giver, taker, event, old, new, Mark(self._ancestors.mirror, event.seq))
                if result.event is not None:
                    for path in inside:
                        moves.pop(path)
                    yield Report("renamed", taker.name, old, event.actor, event.seq, new_path=new)
        for old, new in moves.items():
            common = self._find_ancestor(original[new])
            assert common is not None
            exact = giver.get_version_at(new, event.seq) == common.version
            mark = Mark(self._ancestors.mirror, event.seq, None if exact else common.version)
            result = self._move(giver, taker, event, old, new, mark)
            if result.event is not None:
                yield Report("renamed", taker.name, old, event.actor, event.seq, new_path=new)
            elif not _is_worth_again(result):
                self._unmovable.add((old, new))
                yield None

    def _move(self, giver: Side, taker: Side, event: Event, old: str, new: str, mark: Mark) -> ActionResult:
        actor, note = self._sign(giver, taker, event.actor, event.seq)
        return taker.engine.files.carry(
            {},
            expected={old: taker.get(old), new: None},
            moves=((old, new),),
            command="rename",
            note=note,
            call_id=str(mark),
            actor=actor,
        )

    # Contents

    def _make_step(self, giver: Side, taker: Side, path: str, ancestor: Ancestor | None) -> _Step | Report | None:
        """The step that gives one side what stands on the other one; `None` where that is changing just now."""
        wanted, last = giver.get(path), giver.get_last_event(path)
        if last is None or last.after != wanted:
            return None
        author = self._find_author(giver, path, ancestor) or last.event
        data = giver.get_text(wanted) if wanted is not None and wanted.kind is EntryKind.FILE else None
        if data is None and wanted is not None and wanted.kind is EntryKind.FILE:
            return self._leave(path, taker, "its text is not kept")
        return _Step(path, wanted, taker.get(path), author.actor, last.event.seq, data)

    def _find_author(self, giver: Side, path: str, ancestor: Ancestor | None) -> Event | None:
        """The last event since the ancestor that is not the mirror's own, also under the names before."""
        after = 0 if ancestor is None else ancestor.folder if giver is self._folder else ancestor.source
        for name in (path, *(old for old, _ in giver.iter_origins(path))):
            events = [found.event for found in giver.get_events(name, after) if not self._is_ours(found.event)]
            if events:
                return events[-1]
        return None

    def _carry_earlier(self, giver: Side, taker: Side, path: str, ancestor: Ancestor | None) -> Iterator[Report | None]:
        """Carry the versions of other authors that came before the last one, so that each line keeps its author."""
        if ancestor is None or ancestor.version is None or giver.get(path) is None:
            return
        after = ancestor.folder if giver is self._folder else ancestor.source
        events = [found for found in giver.get_events(path, after)[-_STEPS_BACK:] if not self._is_ours(found.event)]
        standing = taker.get(path)
        for found, following in pairwise(events):
            version = found.after
            if found.event.actor == following.event.actor or version is None or version in (standing, giver.get(path)):
                continue
            data = giver.get_text(version) if version.kind is EntryKind.FILE else None
            if data is None or taker.get(path) != standing or standing is None:
                continue
            step = _Step(path, version, standing, found.event.actor, found.event.seq, data)
            yield from self._carry(taker, [step])
            standing = taker.get(path)

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
            base = self._source.get_text(ancestor.version) or self._folder.get_text(ancestor.version)
        data, is_conflict = resolve(base, mine, theirs)
        if data == mine:  # the folder has all of it: only the source lacks something
            step = self._make_step(self._folder, self._source, path, ancestor)
            if isinstance(step, _Step):
                yield from self._carry(self._source, [step])
            return
        actor = (self._find_author(self._source, path, ancestor) or last.event).actor
        kept_in = self._keep_beside(path, mine, here) if is_conflict else ""
        if isinstance(kept_in, ActionResult):
            yield None if _is_worth_again(kept_in) else self._leave_for_now(path, self._folder, kept_in)
            return
        wanted = Version(EntryKind.FILE, sha256(data), len(data))
        step = _Step(path, wanted, here, actor, last.event.seq, data, "conflict" if kept_in else "merged")
        yield from self._carry(self._folder, [step], kept_in=kept_in)

    def _find_forebear(self, path: str) -> Ancestor | None:
        """The newest version that both records know a path to have held, where nothing else is known of it.

        So a copy of memories, which has their record, is no stranger to them. That something is missing says nothing.
        """
        if self._folder.get(path) is None or self._source.get(path) is None:
            return None
        known = set(self._source.iter_versions(path))
        version = next((version for version in self._folder.iter_versions(path) if version in known), None)
        return None if version is None else Ancestor(version, 0, 0)

    def _keep_beside(self, path: str, data: bytes, version: Version) -> str | ActionResult:
        """Have the folder keep its own text in a note beside; returns its path, or why that could not be made."""
        last = self._folder.get_last_event(path)
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
                actor=self._sign(self._folder, self._folder, last.event.actor, 0)[0] if last else Agent("mirror"),
            )
            return name if result.event is not None else result
        return ActionResult(problem="Not carried: the names for a note beside it are taken.")

    def _carry(self, taker: Side, steps: list[_Step], *, kept_in: str = "") -> Iterator[Report | None]:
        """Do steps together, as one event; one by one where that cannot be done."""
        giver = self._source if taker is self._folder else self._folder
        first = steps[0]
        actor, note = self._sign(giver, taker, first.actor, first.seq)
        if all(step.actor == first.actor for step in steps):
            result = taker.engine.files.carry(
                {step.path: step.wanted for step in steps},
                expected={step.path: step.expected for step in steps},
                texts={step.wanted.sha256 or "": step.data for step in steps if step.wanted and step.data is not None},
                command=_name_command(steps),
                note=note,
                call_id=str(Mark(self._ancestors.mirror, first.seq)),
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
        elif _is_worth_again(result) or taker.get(first.path) == first.wanted:
            yield None
        elif not _is_kept_directory(result, first):
            yield self._leave_for_now(first.path, taker, result)
        elif any(path.startswith(first.path + "/") for path in self._left):
            yield self._leave(first.path, taker, "it holds what is left out")

    def _report(
        self, taker: Side, steps: Iterable[_Step], result: ActionResult, kept_in: str
    ) -> Iterator[Report | None]:
        done = {change.path for change in result.changes}
        now = self._clock()
        giver = self._source if taker is self._folder else self._folder
        for step in steps:
            if step.path not in done:
                continue
            version = step.wanted or step.expected
            if step.wanted is None and step.expected is not None and step.expected.kind is EntryKind.FILE:
                self._wiped.append((now, giver.name))
            if version is not None and version.kind is EntryKind.DIRECTORY:
                yield None
                continue
            kind = step.kind or ("deleted" if step.wanted is None else "changed" if step.expected else "created")
            yield Report(kind, taker.name, step.path, step.actor, step.seq, new_path=kept_in)

    def _sign(self, giver: Side, taker: Side, actor: Actor, seq: int) -> tuple[Actor, str]:
        """Who a carried change is by on the side that takes it, and what its note says."""
        words = f"from {giver.title} #{seq}"
        if isinstance(actor, Outside):  # that would say that it came to this side without a command
            words = f"for {format_actor_in_sentence(actor)}, {words}"
            actor = Agent(f"mirror of {giver.title}")
        if taker.signer is not None and not (isinstance(actor, Agent) and actor.name == taker.signer):
            words = words if words.startswith("for ") else f"for {actor.name}, {words}"
            actor = Agent(taker.signer)
        return actor, words

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


def make_title(shown: str) -> str:
    """A place as the other side's log names it: a folder and a file with the name of this machine."""
    return shown if "://" in shown else f"{socket.gethostname()}:{shown}"


def _is_mirrored(path: str) -> bool:
    """Whether a path is anybody's memory: what git keeps for itself belongs to its place."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return ".git" not in path.split("/")


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


def _is_lost(before: Version | None, now: Version | None) -> bool:
    """Whether a file went, or was emptied."""
    if before is None or before.kind is not EntryKind.FILE:
        return False
    return now is None or (now.kind is EntryKind.FILE and not now.size and bool(before.size))


def _name_command(steps: Iterable[_Step]) -> str:
    if all(step.wanted is None for step in steps):
        return "delete"
    return "create" if all(step.expected is None for step in steps) else "write"


def _is_worth_again(result: ActionResult) -> bool:
    """Whether something came between."""
    if not result.skipped:
        return not result.problem or "keeps changing" in result.problem
    return any(each.reason in _AGAIN for each in result.skipped)


def _is_kept_directory(result: ActionResult, step: _Step) -> bool:
    """Whether a directory stays as there is something in it, which the other side gets."""
    is_directory = step.expected is not None and step.expected.kind is EntryKind.DIRECTORY
    return step.wanted is None and is_directory and not result.skipped
