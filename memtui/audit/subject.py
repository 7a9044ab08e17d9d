"""What the rules look at: a folder at one moment, and what the journal knows of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from memtui.audit.audit import Chain
from memtui.audit.inbox import Inbox
from memtui.audit.stopping import Stopped
from memtui.core.audit_settings import AuditSettings
from memtui.core.settings import Settings
from memtui.core.snapshot import Kind
from memtui.engine import Observer

if TYPE_CHECKING:
    from memtui.audit.repository import Repository


@dataclass(frozen=True)
class Note:
    """A file of the folder.

    Attributes:
        path: Relative to the folder, "/"-joined. May hold surrogates (PEP 383).
        data: Its bytes; `None` if they could not be read.
        mtime_ns: When it was last written, in nanoseconds since 1970.
        size: In bytes.
        links: How many names it has on its file system (hard links).
        problem: Why it could not be read, as a sentence; empty if it could.
    """

    path: str
    data: bytes | None
    mtime_ns: int
    size: int
    links: int = 1
    problem: str = ""

    @cached_property
    def text(self) -> str | None:
        """What it says; `None` if that is not UTF-8, or could not be read."""
        try:
            return None if self.data is None else self.data.decode()
        except UnicodeDecodeError:
            return None


@dataclass(frozen=True)
class Other:
    """A name in the folder that is no file.

    Attributes:
        path: Relative to the folder.
        kind: Directory, link or other.
        target: Where a link leads, as it is written; empty for anything else.
        leaves: Whether a link leads out of the folder.
        is_dangling: Whether a link leads to nothing.
        what: What another thing is, such as `a FIFO`.
        problem: Why it could not be looked at; empty if it could.
    """

    path: str
    kind: Kind
    target: str = ""
    leaves: bool = False
    is_dangling: bool = False
    what: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Subject:
    """A folder at one moment.

    Attributes:
        notes: All files, by path, in order.
        others: All that is no file, by path, in order; directories too.
        observer: The open memory, for what the journal knows.
        audit: How the audit is done.
        memory: The limits that hold for the folder.
        now_us: The time, in microseconds since 1970.
        on_disk: The number of the last event that is in the journal on the disk: what comes after it was found only
            now, and nobody recorded it.
        repo: A repository that notes are compared with; `None` if none was named.
        pins: Notes that somebody has pinned.
        place: Where the folder is on this machine; empty for one that is kept in memory.
        inbox: What changed since the last review; `None` where no review was given.
        chosen: The ids of the rules that run; empty for all. What others find is dropped, so that a family may leave
            out what costs and what nobody asked for: see `wants`.
        stop: Asked now and then whether nobody waits for it any more: see `go_on`.
    """

    notes: Mapping[str, Note]
    others: Mapping[str, Other]
    observer: Observer
    audit: AuditSettings
    memory: Settings
    now_us: int
    on_disk: int = 0
    repo: str | None = None
    pins: frozenset[str] = frozenset()
    place: str = ""
    chosen: frozenset[str] = frozenset()
    inbox: Inbox | None = None
    stop: Callable[[], bool] = lambda: False

    def go_on(self) -> None:
        """For a rule that takes its time over all notes together: ask now and then.

        Raises:
            Stopped: Nobody waits for it any more.
        """
        if self.stop():
            raise Stopped

    @cached_property
    def chain(self) -> Chain:
        """What is known of the journal; it is checked once."""
        from memtui.audit.record import chain_of  # deferred: to check a journal needs the database

        return chain_of(self.observer, self.on_disk)

    @cached_property
    def repository(self) -> "Repository | None":
        """The repository that notes are compared with, at one moment; `None` if none was named."""
        if self.repo is None:
            return None
        from memtui.audit.repository import Repository  # deferred: only where one was named

        return Repository(self.repo)

    def wants(self, *rules: str) -> bool:
        """Whether any of these rules runs."""
        return not self.chosen or not self.chosen.isdisjoint(rules)
