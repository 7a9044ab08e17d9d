"""One query in many memory folders, each opened only to be read: no journal is made, nothing is recorded."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import field

from memtui import memory as memory_module
from memtui.core.errors import MemtuiError, StateUnusable
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import NO_FOLDER
from memtui.core.settings import Settings
from memtui.engine import Observer
from memtui.fs.state import get_state_directory, make_state_test
from memtui.journal.record import Record
from memtui.places.folders import MemoryLocation
from memtui.recent_stores import observe_store, start_updates
from memtui.search.finder import Finder
from memtui.search.query import Query
from memtui.search.results import Scope, SearchResults, Stop, check_cancelled, never_stop

GetSettings = Callable[[str], Settings]
"""The settings of a folder."""


@dataclass(frozen=True, slots=True)
class FolderResults:
    """What was found in one folder.

    Attributes:
        problem: Why the folder, its history, or what is newest in it was not searched: the end of a sentence; empty if
            all was.
        is_searched: Whether names and texts were searched.
    """

    place: MemoryLocation
    found: SearchResults = field(default_factory=SearchResults)
    problem: str = ""
    is_searched: bool = True


def search_folders(
    places: Iterable[MemoryLocation],
    query: Query,
    scope: Scope,
    *,
    limit: int,
    per_note: int,
    hidden: bool = False,
    whole_lines: bool = False,
    history: bool = True,
    get_settings: GetSettings | None = None,
    asks_servers: bool = False,
    stop: Stop = never_stop,
) -> Iterator[FolderResults]:
    """Search folders one after the other; of each its results, also where nothing was found.

    Args:
        places: The folders. One that is closed, or whose disk did not respond, is told and not opened.
        query: The query.
        scope: Where.
        limit: Most names, notes and lines of the past of one folder; the rest is counted.
        per_note: Most lines of each note; the rest is counted.
        hidden: Whether hidden files are searched as well.
        whole_lines: Whether long lines are not cut.
        history: Whether journals are read; without them only what stands in the folders is found.
        get_settings: The settings of a folder; the defaults if not given.
        asks_servers: Whether what this machine has of stores on servers is brought up to date first.
        stop: Asked now and then whether to give up.

    Raises:
        SearchCancelled: By `stop`.
    """
    looks = scope is Scope.PAST or bool(query.filters)  # of a folder without a journal, too
    has_state = make_state_test()
    places = list(places)
    wait = start_updates(place.path for place in places) if asks_servers else None
    with closing(memory_module.make_record()) as empty:
        for place in places:
            check_cancelled(stop)
            if reason := describe_unreadable(place):
                yield FolderResults(place, problem=reason, is_searched=False)
                continue
            try:
                reads = history and (looks or has_state(place.path))
                settings = get_settings(place.path) if get_settings is not None else None
                behind = wait(place.path) if wait is not None else ""
                with _open_to_read(place.path, settings, empty, history=reads, looks=looks) as (memory, problem):
                    finder = Finder(memory, hidden=hidden)
                    finder.refresh(scope=scope if not query.filters.concerns_text else Scope.ALL, stop=stop)
                    check_cancelled(stop)
                    found = finder.find(
                        query, scope, limit=limit, per_note=per_note, whole_lines=whole_lines, stop=stop
                    )
            except OSError as error:
                yield FolderResults(place, problem=os.strerror(error.errno or 0).lower(), is_searched=False)
            except MemtuiError as error:
                check_cancelled(stop)
                yield FolderResults(place, problem=str(error), is_searched=False)
            else:
                yield FolderResults(place, found, problem or (behind and f"searched as it was last read: {behind}"))


def describe_unreadable(place: MemoryLocation) -> str:
    """Why a folder is not opened, as the end of a sentence; empty for one that is."""
    return place.closed or ("" if place.responds else "the disk does not respond")


@contextmanager
def _open_to_read(
    path: str, settings: Settings | None, empty: Record, *, history: bool, looks: bool
) -> Iterator[tuple[Observer, str]]:
    """A memory to be read, and why its history cannot be. Of a store that is no folder it is what this machine has.

    A journal made in memory is what costs most of a small folder, and most folders have none on the disk: those share
    `empty`, unless events are to be made of what `looks` for changes finds.
    """
    problem = ""
    if path.startswith(NO_FOLDER):
        with observe_store(path, settings=settings) as stored:
            yield stored, ""
        return
    if history:
        try:
            memory = memory_module.connect(path, read_only=True, settings=settings)
        except StateUnusable as error:
            problem = f"its history cannot be read: {error}"
        else:
            with memory:
                if looks or os.path.exists(get_state_directory(path) / memory_module.JOURNAL):
                    memory.reconcile()  # what is not recorded yet, in memory only
                yield memory, ""
            return
    observer = memory_module.observe_unrecorded(path, empty, settings=settings)
    with closing(observer.store):
        yield observer, problem
