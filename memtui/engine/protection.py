"""What a person protects: no agent's command changes it, and what others change there is said to be protected.

Checked under the writer lock, by real paths: a link, another spelling that the file system takes for the same, or a
directory that holds something protected is no way around it. The paths are what the last event says that set them, out
of every agent's reach. Programs that write files by themselves cannot be kept from it; that is found and recorded.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from memtui.core import commands
from memtui.core import paths as core_paths
from memtui.core.errors import Refusal, SymlinkEscape
from memtui.core.events import Actor, Agent, Change, Event, Memtui
from memtui.core.guards import PROTECTED
from memtui.core.messages import MessageKey
from memtui.core.paths import ROOT, MemoryPath
from memtui.engine import reconcile
from memtui.engine.moves import find_nearest
from memtui.engine.refusals import describe_command
from memtui.journal.record import ReadableRecord
from memtui.store.base import ReadableStore

_TOUCHED = "a protected path"
"""What is noted of an event that changed one all the same."""


class ProtectionGuard:
    def __init__(self, store: ReadableStore, journal: ReadableRecord) -> None:
        self._store = store
        self._journal = journal

    def get_paths(self) -> tuple[str, ...]:
        return core_paths.decode_protected(self._journal.get_metadata(PROTECTED))

    # Judging

    def check_command(self, actor: Actor, command: commands.ChangeCommand) -> None:
        """Refuse an agent's command at a protected path, whatever it would do there; raises `Refusal`."""
        if not isinstance(actor, Agent) or not (paths := self.get_paths()):
            return
        for path in self._resolve_named_paths(command):
            self._check_path(path, paths, describe_command(command))

    def check_changes(self, actor: Actor, changes: Iterable[Change], values: Mapping[str, object]) -> None:
        """Refuse an agent's changes if any real path of them is protected; raises `Refusal`, filled with `values`."""
        if not isinstance(actor, Agent) or not (paths := self.get_paths()):
            return
        for change in changes:
            self._check_path(change.path, paths, values)

    def annotate_event(self, event: Event) -> Event:
        """An event of somebody who was not asked, which says so if it changed what is protected."""
        paths = self.get_paths() if event.command != "found" else ()
        about = [change.path for change in event.changes] or [event.path.removeprefix(f"{ROOT}/")]
        if not paths or not any(self._find_holder(path, paths) is not None for path in about):
            return event
        return replace(event, note=", ".join(part for part in (event.note, _TOUCHED) if part))

    def _check_path(self, path: str, paths: Collection[str], values: Mapping[str, object]) -> None:
        holder = self._find_holder(path, paths)
        if holder is not None:
            raise Refusal(MessageKey.PROTECTED, **{**values, "protected": MemoryPath.from_relative(holder)})

    def _find_holder(self, path: str, paths: Collection[str]) -> str | None:
        """The protected path that is this one or holds it; `None` if none does."""
        for each in paths:
            if core_paths.covers(each, path):
                return each
        for each in paths:
            if core_paths.may_cover(each, path) and self._is_same_path(each, path):
                return each
        return None

    def _is_same_path(self, protected: str, path: str) -> bool:
        """Whether the system takes the beginning of a path for a protected one that is spelled otherwise."""
        beginning = "/".join(path.split("/")[: protected.count("/") + 1])
        try:
            here, there = (reconcile.find_node(self._store, each) for each in (beginning, protected))
        except OSError:
            return True  # nobody can tell
        if here is None or there is None:
            return here is there  # where nothing stands yet, either name may become the other one
        return here.kind is there.kind and here.stamp[-1] == there.stamp[-1]

    def _resolve_named_paths(self, command: commands.ChangeCommand) -> Iterator[str]:
        """The paths that a command names, and where they really are."""
        places = (command.old_path, command.new_path) if isinstance(command, commands.Rename) else (command.path,)
        for place in places:
            yield place.relative
            yield reconcile.resolve_path(self._store, place.relative)
            if not isinstance(command, commands.Rename | commands.Delete):
                try:
                    node = self._store.get_node(place, follow=True)
                except (OSError, SymlinkEscape):
                    continue  # planning says why not
                if node is not None:
                    yield node.path

    # Moving along

    def note_possible_moves(self, event: Event, planned: Iterable[tuple[str, str]]) -> Event:
        """An event with moves, pairs of `(old, new)`, of which perhaps not all is done: both names are protected."""
        paths = self.get_paths()
        return note_protected(event, paths, (*paths, *_follow_moves(paths, planned)))

    def make_stranded_event(self, at_us: int, planned: Iterable[tuple[str, str]]) -> list[Event]:
        """What is recorded where moves stand half done until the disk works again; nothing if nothing is protected."""
        event = Event(at_us=at_us, actor=Memtui(), command="protect", path=str(ROOT), no_change=True)
        event = self.note_possible_moves(replace(event, note="until a move is settled"), planned)
        return [event] if event.noted else []

    def note_moves(self, event: Event, moved: Iterable[tuple[str, str]]) -> Event:
        """The event of moves that are done: what was protected is so under its new name only."""
        paths = self.get_paths()
        return note_protected(event, paths, _follow_moves(paths, moved))


def note_protected(event: Event, before: Collection[str], paths: Collection[str]) -> Event:
    """An event that sets which paths are protected, if it changes that."""
    if set(paths) == set(before):
        return event
    return replace(event, noted=((PROTECTED, core_paths.encode_protected(paths)),))


def _follow_moves(paths: Iterable[str], moved: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    by_old = dict(moved)
    tops = ((path, find_nearest(path, by_old)) for path in paths)
    return tuple(path if top is None else by_old[top] + path[len(top) :] for path, top in tops)
