"""What the home keeps of the folders of this machine while one of them is open."""

from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple

from memtui.core.lazy_dataclass import dataclass
from memtui.flows.home import FolderFacts, FolderFactsReader
from memtui.places.folders import MemoryLocation


@dataclass(slots=True)
class HomeState:
    """What is known of the folders.

    Attributes:
        folders: As they are listed.
        facts: What their journals and audits say, by path.
        limits: What loads of those that were on screen, by path.
        reader: Reads these facts, in one thread at a time.
        path: The folder that was opened last.
        query: What was searched for in all of them.
        watches: Whether folders are watched in the background.
    """

    folders: Sequence[MemoryLocation] = ()
    facts: dict[str, FolderFacts] = field(default_factory=dict)
    limits: dict[str, str] = field(default_factory=dict)
    reader: FolderFactsReader = field(default_factory=FolderFactsReader)
    path: str = ""
    query: str = ""
    watches: bool = False


class EverywhereHit(NamedTuple):
    """A note that was found in a folder, and the line (from 1) with the text, where it is one."""

    folder: str
    path: str
    line: int | None
    text: str
