"""Telling clients what changed: who wants to know what, and a mailbox for each that cannot overflow.

Whatever changes, by this server, by another process or from outside, becomes one set of paths; each mailbox keeps of
it what its client asked for, each thing once. A client that reads slowly is told less often, and never less.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import anyio

from memtui.core.events import Change, Event
from memtui.core.snapshot import Kind

MOST_WANTED = 10_000
"""URIs that one client may subscribe to."""
MOST_MAILBOXES = 1_024
PAUSE = 0.05
"""Seconds between two deliveries to one client: what happens meanwhile is told at once."""


class TooMany(Exception):
    """There is no room for another subscription; the words say so."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed.

    Attributes:
        paths: Relative to the folder, with every directory above them, and `""`.
        listed: Whether files came or went.
    """

    paths: frozenset[str]
    listed: bool


def changed_by(events: Iterable[Event]) -> Changed:
    """What events changed."""
    paths: set[str] = set()
    listed = False
    for event in events:
        for change in event.changes:
            paths.add(change.path)
            listed = listed or _comes_or_goes(change)
    above = {path[:at] for path in paths for at, character in enumerate(path) if character == "/"}
    return Changed(frozenset(paths | above | ({""} if paths else set())), listed)


def _comes_or_goes(change: Change) -> bool:
    there = change.after if change.before is None else change.before
    return (change.before is None or change.after is None) and there is not None and there.kind is not Kind.DIRECTORY


@dataclass(slots=True, eq=False)
class Mailbox:
    """What one client wants to know, and what it has not been told yet. Lives on the event loop.

    Attributes:
        wants_list: Whether it wants to know that files came or went.
    """

    wants_list: bool
    _wanted: dict[str, dict[str, None]] = field(default_factory=dict)
    """The URIs, as the client wrote them, by the path that they name."""
    _updated: dict[str, None] = field(default_factory=dict)
    _listed: bool = False
    _news: anyio.Event = field(default_factory=anyio.Event)

    def want(self, uri: str, path: str) -> None:
        """Subscribe to a URI.

        Raises:
            TooMany: It has too many already.
        """
        if len(self._wanted) >= MOST_WANTED and path not in self._wanted:
            raise TooMany(f"This client has {MOST_WANTED:,} subscriptions already. Unsubscribe from some first.")
        self._wanted.setdefault(path, {})[uri] = None

    def drop(self, path: str) -> None:
        """Unsubscribe from a path, under whatever URI."""
        for uri in self._wanted.pop(path, {}):
            self._updated.pop(uri, None)

    def put(self, changed: Changed) -> None:
        """Keep of a change what is wanted."""
        updated = changed.paths & self._wanted.keys()
        for path in updated:
            self._updated |= self._wanted[path]
        self._listed = self._listed or (changed.listed and self.wants_list)
        if self._updated or self._listed:
            self._news.set()

    async def take(self) -> tuple[bool, list[str]]:
        """Wait for something to tell: whether files came or went, and the URIs that changed."""
        await self._news.wait()
        self._news = anyio.Event()
        taken = self._listed, list(self._updated)
        self._listed = False
        self._updated.clear()
        return taken


class Hub:
    """All mailboxes of a server. Lives on the event loop."""

    def __init__(self) -> None:
        self.mailboxes: set[Mailbox] = set()

    def open(self, *, wants_list: bool) -> Mailbox:
        """A new mailbox; `close` it when its client has gone.

        Raises:
            TooMany: There are too many already.
        """
        if len(self.mailboxes) >= MOST_MAILBOXES:
            raise TooMany("This server has too many subscribers already.")
        mailbox = Mailbox(wants_list)
        self.mailboxes.add(mailbox)
        return mailbox

    def close(self, mailbox: Mailbox) -> None:
        """Forget a mailbox."""
        self.mailboxes.discard(mailbox)

    def publish(self, changed: Changed) -> None:
        """Put a change into every mailbox that wants it."""
        for mailbox in self.mailboxes:
            mailbox.put(changed)
