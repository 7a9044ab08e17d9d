"""What a person protects: no agent's command changes it, and what others change there is said to be protected.

Judged under the writer lock, by where things really are: a link, another spelling that the file system takes for the
same, or a directory that holds something protected is no way around it. The paths are kept beside the record, out of
every agent's reach. Whoever writes files with tools of their own cannot be kept from it; that is found and told.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from memtui.core import commands, protection
from memtui.core.errors import LeavesRoot, Refusal
from memtui.core.events import Actor, Agent, Change, Event
from memtui.core.messages import Message
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.restoring import Left, Restored, Why
from memtui.engine import reconcile
from memtui.engine.faults import what_of
from memtui.engine.moving import common_directory, nearest
from memtui.journal.sqlite import Journal
from memtui.store.base import Readable, Store, Transaction

NOTE = "protected"
"""The name under which the paths are kept."""
_TOUCHED = "a protected path"
"""What is noted of an event that changed one all the same."""


class Protected:
    """Judges what would change a protected path, and changes nothing itself.

    Args:
        store: Where things really are.
        journal: Where the paths are kept.
    """

    def __init__(self, store: Readable, journal: Journal) -> None:
        self._readable = store
        self._journal = journal

    def paths(self) -> tuple[str, ...]:
        """What is protected: each path, and all below it."""
        return protection.unpacked(self._journal.note(NOTE))

    # Judging

    def insist(self, actor: Actor, command: commands.Change) -> None:
        """Refuse an agent's command at a protected path, whatever it would do there.

        Raises:
            Refusal: It is one.
        """
        if not isinstance(actor, Agent) or not (paths := self.paths()):
            return
        for path in self._named(command):
            self._insist_on(path, paths, what_of(command))

    def insist_on(self, actor: Actor, changes: Iterable[Change], values: Mapping[str, object]) -> None:
        """Refuse an agent's changes of which any is at a protected path.

        Args:
            actor: Whose.
            changes: What would be changed, where it really is.
            values: What the refusal's fields hold: `verb` and `path`.

        Raises:
            Refusal: One is.
        """
        if not isinstance(actor, Agent) or not (paths := self.paths()):
            return
        for change in changes:
            self._insist_on(change.path, paths, values)

    def touched(self, event: Event) -> Event:
        """An event of somebody who was not asked, which says so if it changed what is protected."""
        paths = self.paths() if event.command != "found" else ()
        about = [change.path for change in event.changes] or [event.path.removeprefix(f"{ROOT}/")]
        if not paths or not any(self._holder(path, paths) is not None for path in about):
            return event
        return replace(event, note=", ".join(part for part in (event.note, _TOUCHED) if part))

    def _insist_on(self, path: str, paths: Collection[str], values: Mapping[str, object]) -> None:
        holder = self._holder(path, paths)
        if holder is not None:
            raise Refusal(Message.PROTECTED, **{**values, "protected": MemoryPath.of(holder)})

    def _holder(self, path: str, paths: Collection[str]) -> str | None:
        """The protected path that is this one or holds it; `None` if none does."""
        for each in paths:
            if protection.holds(each, path):
                return each
        for each in paths:
            if protection.may_hold(each, path) and self._is_same(each, path):
                return each
        return None

    def _is_same(self, protected: str, path: str) -> bool:
        """Whether the system takes the beginning of a path for a protected one that is spelled otherwise."""
        beginning = "/".join(path.split("/")[: protected.count("/") + 1])
        try:
            here, there = (reconcile.standing(self._readable, each) for each in (beginning, protected))
        except OSError:
            return True  # nobody can tell
        if here is None or there is None:
            return here is there  # where nothing stands yet, either name may become the other one
        return here.kind is there.kind and here.stamp[-1] == there.stamp[-1]

    def _named(self, command: commands.Change) -> Iterator[str]:
        """The paths that a command names, and where they really are."""
        places = (command.old_path, command.new_path) if isinstance(command, commands.Rename) else (command.path,)
        for place in places:
            yield place.relative
            yield reconcile.real(self._readable, place.relative)
            if not isinstance(command, commands.Rename | commands.Delete):
                try:
                    node = self._readable.node(place, follow=True)
                except (OSError, LeavesRoot):
                    continue  # planning says why not
                if node is not None:
                    yield node.path


class Protection(Protected):
    """Keeps protected paths.

    Args:
        store: Where things really are.
        journal: Where the paths are kept.
        now_us: Tells the time, in microseconds since 1970.
        writing: Takes the writer lock.
        recorded: Told once something was recorded.
    """

    def __init__(
        self,
        store: Store,
        journal: Journal,
        *,
        now_us: Callable[[], int],
        writing: Callable[[], AbstractContextManager[Transaction]],
        recorded: Callable[[], None],
    ) -> None:
        super().__init__(store, journal)
        self._store = store
        self._now_us = now_us
        self._writing = writing
        self._recorded = recorded

    def _stands(self, path: str) -> bool:
        try:
            return reconcile.standing(self._store, path) is not None
        except OSError:
            return True

    def protect(self, paths: Collection[str], *, actor: Actor) -> Restored:
        """See `Files.protect`."""
        with self._writing():
            before = self.paths()
            real = [reconcile.real(self._store, path) for path in paths]
            missing = tuple(Left(path, Why.MISSING) for path in real if path and not self._stands(path))
            if missing:
                return Restored((), missing, problem=f"Not protected: {_told(missing)}.")
            new = [path for path in real if not any(protection.holds(each, path) for each in before)]
            if not new:
                return Restored(problem="Not protected: it is so already.")
            self._journal.set_note(NOTE, protection.packed(protection.added(before, new)))
            return self._record("protect", new, actor)

    def unprotect(self, paths: Collection[str], *, actor: Actor) -> Restored:
        """See `Files.unprotect`."""
        with self._writing():
            before = self.paths()
            real = [path if path in before else reconcile.real(self._store, path) for path in paths]
            gone = {each for each in before if any(protection.holds(path, each) for path in real)}
            held = {path: each for path in real for each in before if each not in gone and protection.holds(each, path)}
            if held:
                path, holder = next(iter(held.items()))
                words = f"{_shown(path)} is protected with {_shown(holder)}. Take the protection from that"
                return Restored(problem=f"Still protected: {words}.")
            if not gone:
                return Restored(problem="Nothing to do: it is not protected.")
            restored = self._record("unprotect", sorted(gone), actor)
            self._journal.set_note(NOTE, protection.packed(set(before) - gone))
            return restored

    def _record(self, command: str, paths: Collection[str], actor: Actor) -> Restored:
        path = next(iter(paths)) if len(paths) == 1 else common_directory(list(paths))
        event = Event(
            at_us=self._now_us(),
            actor=actor,
            command=command,
            path=str(MemoryPath.of(path)),
            no_change=True,
            note=f"{len(paths):,} paths" if len(paths) > 1 else "",
        )
        recorded = self._journal.append([event])[-1]
        self._recorded()
        return Restored(event=recorded)

    def go_along(self, planned: Iterable[tuple[str, str]]) -> tuple[str, ...] | None:
        """What a person is about to move stays protected: under both names until it is moved.

        Args:
            planned: `(old, new)`.

        Returns:
            What was protected before, for `arrive`; `None` if nothing of it moves.
        """
        paths = self.paths()
        more = _followed(paths, planned) if paths else ()
        if set(more) <= set(paths):
            return None
        self._journal.set_note(NOTE, protection.packed((*paths, *more)))
        return paths

    def arrive(self, before: tuple[str, ...], moved: Iterable[tuple[str, str]]) -> None:
        """What was moved is protected under its new name only."""
        self._journal.set_note(NOTE, protection.packed(_followed(before, moved)))


def _followed(paths: Iterable[str], moved: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    by_old = dict(moved)
    tops = ((path, nearest(path, by_old)) for path in paths)
    return tuple(path if top is None else by_old[top] + path[len(top) :] for path, top in tops)


def _told(left: Collection[Left]) -> str:
    more = len(left) - 1
    return next(iter(left)).sentence + (f", and {more:,} more" if more else "")


def _shown(path: str) -> str:
    return str(MemoryPath.of(path))
