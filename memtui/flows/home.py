"""What a person sees of all her memory folders at once: in which order they stand, and what is known of each.

What a folder's journal and its last audit say is read when it is asked for, and again only where their files changed.
Nothing is created or changed.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from memtui.audit.trend import MOST_BYTES, read_last_counts
from memtui.core.errors import MemtuiError
from memtui.core.events import format_actor_in_sentence
from memtui.core.lazy_dataclass import dataclass
from memtui.fs import state as fs_state
from memtui.memory import JournalSummary, summarize_journal
from memtui.places.folders import MemoryLocation, format_owner
from memtui.places.probe import read_start

_UNRECORDED_NS = 2_000_000_000
"""A file that is newer than the last recorded change by more nanoseconds was changed by somebody who is not known."""


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """What the journal and the last audit of a folder say.

    Attributes:
        unseen: Files that others changed since the person looked.
        writer: Who made the last change, as in a sentence; empty where that is not known.
        written_ns: When that was, in nanoseconds since 1970; 0 where that is not known.
        failures: Findings of the last audit that fail; `None` where there was none.
    """

    unseen: int = 0
    writer: str = ""
    written_ns: int = 0
    failures: int | None = None

    def get_writer(self, place: MemoryLocation) -> str:
        """Who made the last change of the folder; empty where it was made behind the journal's back."""
        return self.writer if (place.changed_ns or 0) <= self.written_ns + _UNRECORDED_NS else ""


class FolderFactsReader:
    """Reads the facts of folders, from one thread; what did not change is not read again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, FolderFacts]] = {}

    def read(self, folder: str) -> FolderFacts:
        """The facts of a folder; none where its journal cannot be read."""
        try:
            directory, journal = fs_state.get_state_directory(folder), fs_state.locate_record(folder)
        except MemtuiError:  # the state would lie inside it: there is no journal
            return FolderFacts()
        stamps = [_get_stamp(path) for path in (journal, f"{journal}-wal", directory / fs_state.AUDITS)]
        seen, facts = self._known.get(folder, (None, FolderFacts()))
        if seen != stamps:
            facts = _read_facts(folder, directory)
            self._known[folder] = stamps, facts
        return facts


def _get_stamp(path: str | Path) -> tuple[int, int] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_size, seen.st_mtime_ns


def _read_facts(folder: str, directory: Path) -> FolderFacts:
    try:
        journal = summarize_journal(folder)
    except (MemtuiError, OSError):
        journal = JournalSummary()
    counts = read_last_counts(read_start(str(directory / fs_state.AUDITS), MOST_BYTES, os.O_NOFOLLOW))
    last = journal.last
    return FolderFacts(
        unseen=journal.unseen,
        writer=format_actor_in_sentence(last.actor) if last is not None else "",
        written_ns=last.at_us * 1_000 if last is not None else 0,
        failures=None if counts is None else counts.fail,
    )


def group_folders(found: Iterable[MemoryLocation], before: Sequence[MemoryLocation] = ()) -> list[MemoryLocation]:
    """Folders by agent and project: the agent that wrote last is first, and so are its projects and their folders.

    What was listed before stays in its order, so that no row moves while somebody reads; what is new is last of its
    agent. Behind all folders are the stores that are none.

    Args:
        found: The folders, the one that changed last first.
        before: As they were listed.
    """
    by_path = {place.path: place for place in found}
    kept = [by_path.pop(place.path) for place in before if place.path in by_path]
    agents: dict[str, dict[str, list[MemoryLocation]]] = {}
    for place in [*kept, *by_path.values()]:
        agents.setdefault(_get_group(place), {}).setdefault(place.project or place.path, []).append(place)
    grouped = (place for projects in agents.values() for places in projects.values() for place in places)
    return sorted(grouped, key=lambda place: not place.is_folder)


def _get_group(place: MemoryLocation) -> str:
    """The agent under which a folder stands; those of one program's agents stand together."""
    return format_owner(place) if not place.name else str(place.owner)
