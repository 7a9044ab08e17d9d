"""The protocols of a record: what was done, what stood where, and what is known to stand there now.

The seam for every database that keeps one. Nothing above may assume that it is a file on this machine: what lies beside
one, where there is any, is behind `RecordFiles`. Faults arrive as `StateUnusable`, whatever the database is.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memtui.core.events import Event, Version, WatchStatus

if TYPE_CHECKING:
    from memtui.journal.deferred import DeferredEvents
    from memtui.journal.verify_report import RepairReport, VerifyReport


class KnownPath(NamedTuple):
    """What the record last knew of a path: its version, and the stamp by which a store tells it unchanged.

    The attributes of the version are those that the stamp tells.
    """

    version: Version
    stamp: tuple[int, ...]


class Intent(NamedTuple):
    """An event that was begun.

    Attributes:
        seq: The number that it will have, if no other event is recorded before it.
        body: What will stand in the chain then.
    """

    id: int
    event: Event
    seq: int
    body: bytes


class FolderTotals(NamedTuple):
    """The files that are known, and their bytes together."""

    files: int
    bytes: int


class RecordFiles(Protocol):
    """What this machine has on its disks of a record."""

    @property
    def directory(self) -> str | None:
        """Where else is kept what belongs to the memory, such as drafts of edits; `None` where nothing is kept."""
        ...

    @property
    def bells(self) -> Sequence[str]:
        """The files in which it shows that some process recorded something; none where that shows in no file."""
        ...

    @property
    def status(self) -> WatchStatus:
        """How it comes to hold what others record: live, where this is the record itself."""
        ...

    def get_size(self) -> int:
        """Bytes of the record; 0 where it has no file."""
        ...

    def list_damaged(self) -> list[str]:
        """The names of earlier records that were damaged, and are kept beside this one."""
        ...


class ReadableRecord(Protocol):
    """The record of a memory, for those who only read. Calls may come from any thread.

    Every method may raise `StateUnusable`: it cannot be read; `JournalDamaged`, if it is not what was recorded.
    """

    @property
    def files(self) -> RecordFiles:
        """What of it lies on this machine."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether others may read it, now or later: one that is not goes with its process."""
        ...

    def close(self) -> None:
        """Record what waits, and let go of it. Calls afterwards fail."""
        ...

    # Events

    def get_head(self) -> tuple[int, str]:
        """The number and hash of the last event; 0 and the chain's start before the first."""
        ...

    def get_event(self, seq: int) -> Event | None:
        """The event of a number; `None` if there is none."""
        ...

    def get_events(self, after: int = 0, *, limit: int = -1) -> list[Event]:
        """The events after number `after` in order, at most `limit` of them (negative: all)."""
        ...

    def iter_events(self) -> Iterator[Event]:
        """All events in order, read page by page."""
        ...

    def get_path_events(self, path: str, *, limit: int = -1, before: int | None = None) -> list[Event]:
        """The events that changed a path, newest first, at most `limit` (negative: all), of numbers below `before`."""
        ...

    def iter_small_events(self, seqs: Sequence[int]) -> Iterator[Event | None]:
        """The events of some numbers, at first a few at a time and then more; `None` for a large one, or none."""
        ...

    def get_event_texts(self, seq: int) -> tuple[str | None, str | None]:
        """The answer and the arguments of an event; `None` for what it has not, or what was removed."""
        ...

    def iter_bodies(self, after: int, until: int, *, backwards: bool = False) -> Iterator[tuple[int, bytes]]:
        """`(number, body)` of the events after one number and up to another: cheaper if few fields are needed."""
        ...

    def get_touching_seqs(self, path: str) -> list[int]:
        """The numbers of the events that changed a path, in order."""
        ...

    def find_previous_touching(self, path: str, seq: int) -> int | None:
        """The number of the last event before a number that changed a path."""
        ...

    def find_next_touching(self, path: str, seq: int) -> int | None:
        """The number of the first event after a number that changed a path."""
        ...

    def get_touched_paths(self, seq: int) -> dict[str, int | None]:
        """The paths that events up to a number changed, each with the number of the event, if only one did."""
        ...

    def get_missing_paths(self) -> dict[str, int]:
        """The paths that are not known to be there now, each with the number of the last event that touched it."""
        ...

    def get_undoing_seqs(self, seq: int) -> list[int]:
        """The numbers of the events that took an event back, or took back what did."""
        ...

    def find_newest_undo(self, before: int) -> int | None:
        """The number of the newest event before a number that took something back."""
        ...

    # Versions

    def get_text(self, sha256: str) -> bytes | None:
        """The bytes of a version; `None` where they are not kept."""
        ...

    def get_texts(self, hashes: Collection[str]) -> dict[str, bytes]:
        """The bytes of versions by SHA-256, those that are kept."""
        ...

    def has_text(self, sha256: str) -> bool:
        """Whether the bytes of a version are kept."""
        ...

    def has_version(self, sha256: str) -> bool:
        """Whether a version was ever kept, also one that was removed since."""
        ...

    def get_version_sizes(self) -> dict[str, tuple[int, int | None]]:
        """The bytes of every version by SHA-256: unpacked, and as kept; `None` for one that is not kept."""
        ...

    # What is known to stand there

    def get_known(self, path: str) -> KnownPath | None:
        """What is known of a path; `None` where nothing is known to be."""
        ...

    def get_known_paths(self, paths: Sequence[str]) -> dict[str, KnownPath]:
        """What is known of each of many paths; those of which nothing is are left out."""
        ...

    def get_known_below(self, path: str, *, as_prefix: bool = False) -> dict[str, KnownPath]:
        """What is known of everything below a directory, `""` for all; or of each path that begins so."""
        ...

    def get_totals(self) -> FolderTotals:
        """How many files are known, and their bytes."""
        ...

    def get_metadata(self, name: str) -> str | None:
        """A small value that was kept under a name; what guards memories is read from the events (`Event.noted`)."""
        ...

    # Trust

    def verify(self, *, apart: bool = False) -> "VerifyReport":
        """Whether the record is still what was recorded.

        Args:
            apart: Whether others can use it meanwhile. Then only what was committed is looked at.
        """
        ...

    def is_doubtful(self) -> bool:
        """Whether what is known of the folder seems not to be what the events left; cheap, and no proof of anything."""
        ...


class Record(ReadableRecord, Protocol):
    """The record of a memory, which is added to.

    Every method that writes may raise `StateUnusable`: then nothing of the call was recorded.
    """

    @property
    def deferred(self) -> "DeferredEvents":
        """Events that are recorded in a moment, before any that is recorded later."""
        ...

    @property
    def is_current(self) -> bool:
        """Whether this is known to be all: a copy may lack what others recorded (`Store.begin_transaction`)."""
        ...

    # Changes that were begun

    def get_intents(self) -> list[Intent]:
        """Events that were begun and neither recorded nor dropped: their process died, or is at it now."""
        ...

    def has_intents(self) -> bool:
        """Whether there are any."""
        ...

    def add_intent(
        self,
        event: Event,
        texts: Mapping[str, bytes],
        *,
        found: Sequence[Event] = (),
        known: Mapping[str, KnownPath | None] | None = None,
        durable: bool = True,
        final: bool = False,
    ) -> Intent:
        """Note an event that is about to happen, complete, with its texts by SHA-256.

        Args:
            event: What; it is given a number by `finish_intent`.
            texts: Bytes by SHA-256, of versions that the events name.
            found: Events that are recorded at once, before it.
            known: The known state that those leave.
            durable: Whether to wait until the disk confirms.
            final: Whether it will be recorded as it is here, by `finish_intent`. A record that others share may then
                record it at once, and the change follows.

        Raises:
            ConcurrentChange: Somebody else recorded something meanwhile: plan it anew.
            UnsettledChange: It may have been recorded, or not.
        """
        ...

    def finish_intent(self, intent: Intent, known: Mapping[str, KnownPath | None], *, durable: bool) -> Event:
        """Record an event that has come to pass as its intent said; returns it as recorded.

        Not `durable`, it may be lost by a power cut that leaves the intent, from which the same event can be recorded
        again: byte for byte, unless others were recorded in between. Then this waits until the disk confirms.
        """
        ...

    def drop_intent(self, intent: int) -> None:
        """What was intended did not happen."""
        ...

    # Adding

    def append_events(
        self,
        events: Sequence[Event],
        *,
        texts: Mapping[str, bytes] | None = None,
        known: Mapping[str, KnownPath | None] | None = None,
        intent: int | None = None,
        durable: bool = True,
    ) -> list[Event]:
        """Record events, all or none.

        Args:
            events: In order; their `seq` and `hash` are given here.
            texts: Bytes by SHA-256, of versions that the events name.
            known: The known state from now on, by path; `None` for a path where nothing is.
            intent: The intent that has come to pass.
            durable: Whether to wait until the disk confirms.

        Returns:
            The events as recorded.

        Raises:
            ConcurrentChange: This was not current: others recorded something, which is taken over now.
        """
        ...

    def set_metadata(self, name: str, value: str) -> None:
        """Keep a small value under a name. What guards memories is set by an event: `ValueError`."""
        ...

    def forget_stamps(self, unseen: Sequence[int], hashes: Mapping[str, str]) -> list[str]:
        """Have the paths looked at again of which another SHA-256 is known than is given; returns these.

        The stamp of each could have been made that of another text.
        """
        ...

    # Removing, and mending

    def redact(self, events: Sequence[Event], versions: Collection[str], texts: Collection[int]) -> list[Event]:
        """Remove versions (by SHA-256) and texts of events (by number) for good, and record that.

        Events, hashes and reasons stay. Until `checkpoint(thoroughly=True)` the disk may still hold the bytes. The
        `events` of the redaction together name the hash of each text in `redacted`; they are returned as recorded.
        """
        ...

    def checkpoint(self, *, thoroughly: bool = False) -> bool:
        """Give back the room of what was removed.

        Args:
            thoroughly: Whether nothing of a removed text may be left.

        Returns:
            Whether nothing is left, as far as the record's own files go: a reader may keep it from that.
        """
        ...

    def repair(self, unseen: Sequence[int], make_event: "Callable[[RepairReport], Event]") -> "RepairReport":
        """Make anew what is kept beside the chain, and record that by an event if anything of it was wrong.

        Args:
            unseen: The stamp of a path that is to be looked at again: all are.
            make_event: Makes the event.

        Raises:
            StateUnusable: The chain itself is broken, and nothing was changed.
        """
        ...
