"""Notes as resources: listed page by page, read as a view of the client, and watched by subscriptions."""

import re
from collections.abc import Iterable
from dataclasses import field
from datetime import UTC, datetime
from urllib.parse import quote, unquote_to_bytes

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

from memtui.agents.mcp.answers import format_error, list_files
from memtui.core.edits import format_human_size
from memtui.core.errors import MemtuiError
from memtui.core.events import Agent, Change, EntryKind, Event
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.unicode import to_one_line
from memtui.engine import Engine

# Notes as URIs: `memory:///notes/today.md`. Pure, and exact both ways, whatever a name holds.
#
# Each name is percent-encoded as its bytes, so that a name with a line feed, a control character or bytes that are no
# text is a URI like any other, and none can be taken for a separator.

ROOT_URI = "memory:///"
TEMPLATE = "memory:///{+path}"
_START = re.compile("memory:///", re.IGNORECASE)
_LONGEST = 8_192


def build_uri(relative: str) -> str:
    """The URI of a path relative to the folder; `""` is the folder."""
    return ROOT_URI + "/".join(quote(part.encode("utf-8", "surrogateescape"), safe="") for part in relative.split("/"))


def parse_uri(uri: str) -> MemoryPath:
    """The path that a URI names.

    Raises:
        ValueError: It names none, with the reason.
    """
    match = _START.match(uri)
    if match is None or len(uri) > _LONGEST or "?" in uri or "#" in uri:
        raise ValueError("A memory's URI is memory:/// and its path, percent-encoded, such as memory:///notes/today.md")
    parts = tuple(_decode_part(part) for part in uri[match.end() :].split("/") if part)
    return MemoryPath(parts)


def _decode_part(encoded: str) -> str:
    try:
        name = unquote_to_bytes(encoded).decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        name = ""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise ValueError("That URI names nothing that can be in the memory folder.")
    return name


PAGE = 200
LARGEST = 4 * 1024 * 1024
"""Bytes of the largest note that is sent as a whole."""
_MOST_COMPLETED = 100
"""By the protocol."""
_NOT_FOUND = -32002
_KINDS = {"md": "text/markdown", "markdown": "text/markdown", "json": "application/json", "html": "text/html"}
_PLAIN = "text/plain"


@dataclass(frozen=True, slots=True)
class _ResourceListing:
    """All listed paths, as of an event."""

    seq: int
    paths: list[str]


class NoteResources:
    """Lists and reads notes. May be used from several threads."""

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self._listed: _ResourceListing | None = None

    def list_page(self, cursor: str | None) -> types.ListResourcesResult:
        """One page of the list; the cursor is the URI of the last one before it.

        Raises:
            MCPError: The cursor is invalid, or the folder cannot be read.
        """
        after = resolve_uri(cursor).relative if cursor else ""
        paths = [path for path in self._list_paths(again=not cursor) if path > after][: PAGE + 1]
        resources = [resource for path in paths[:PAGE] if (resource := self._build_resource(path))]
        if not cursor:
            resources.insert(0, _build_folder_resource())
        following = build_uri(paths[PAGE - 1]) if len(paths) > PAGE else None
        return types.ListResourcesResult(resources=resources, next_cursor=following)

    def _list_paths(self, *, again: bool) -> list[str]:
        """The listed paths. Pages that follow are of the same list, unless an event came since."""
        try:
            seq = self._memory.get_head()[0]
            if again or self._listed is None or self._listed.seq != seq:
                self._listed = _ResourceListing(seq, list_files(self._memory))
        except (MemtuiError, OSError) as error:
            raise MCPError(types.INTERNAL_ERROR, format_error(error)) from error
        return self._listed.paths

    def _build_resource(self, path: str) -> types.Resource | None:
        entry = self._memory.get_entry(path)
        if entry is None:
            return None  # it has gone since it was listed
        changed = datetime.fromtimestamp((entry.mtime_ns or 0) // 1_000_000_000, UTC)
        return types.Resource(
            uri=build_uri(path),
            name=to_one_line(path),
            mime_type=_guess_mime_type(path),
            size=entry.size,
            annotations=types.Annotations(last_modified=f"{changed:%Y-%m-%dT%H:%M:%SZ}"),
        )

    def complete(self, written: str) -> types.CompleteResult:
        """The paths, percent-encoded as in a URI, that begin like a text; directories, with a slash, too."""
        written = written.removeprefix(ROOT_URI)
        paths = self._list_paths(again=True)
        above = {path[: at + 1] for path in paths for at, character in enumerate(path) if character == "/"}
        lower = written.casefold()
        found = [
            encoded
            for path in sorted({*paths, *above})
            if (encoded := build_uri(path).removeprefix(ROOT_URI)).casefold().startswith(lower)
            or path.casefold().startswith(lower)
        ]
        shown = found[:_MOST_COMPLETED]
        return types.CompleteResult(
            completion=types.Completion(values=shown, total=len(found), has_more=len(found) > len(shown))
        )

    def read(self, uri: str, *, actor: Agent, call_id: str | None) -> types.ReadResourceResult:
        """Read a note, or list a directory. It is recorded as a view of the actor's.

        Raises:
            MCPError: It is not there, or cannot be read as text; in the words of the engine.
        """
        place = resolve_uri(uri)
        entry = None if place.is_root else self._memory.get_entry(place.relative)
        if entry is not None and (entry.size or 0) > LARGEST:
            sizes = f"{format_human_size(entry.size or 0)}, the limit is {format_human_size(LARGEST)}"
            what = f"Error: {place} is too large to be read as a whole: {sizes}. View it in parts with the tool memory"
            raise MCPError(types.INVALID_PARAMS, what, {"uri": uri})
        command = {"command": "view", "path": str(place)}
        answer = self._memory.execute(command, actor=actor, call_id=call_id)
        if answer.is_error:
            raise MCPError(_NOT_FOUND, answer.text, {"uri": uri})
        if answer.event.viewed is None:
            return _build_contents(uri, _PLAIN, answer.text)
        data = self._memory.history.text(answer.event.viewed)
        if data is None:  # not in the journal: the present content
            data = self._memory.inspect_path(place.relative).data
        if data is None:
            raise MCPError(types.INTERNAL_ERROR, f"The text of {place} could not be read.", {"uri": uri})
        return _build_contents(uri, _guess_mime_type(place.relative), data.decode("utf-8", "replace"))


def resolve_uri(uri: str) -> MemoryPath:
    """The path that a URI names.

    Raises:
        MCPError: It names none.
    """
    try:
        return parse_uri(uri)
    except ValueError as error:
        raise MCPError(types.INVALID_PARAMS, str(error), {"uri": to_one_line(uri)[:256]}) from None


def build_templates() -> types.ListResourceTemplatesResult:
    """The one template."""
    template = types.ResourceTemplate(
        name="memory",
        title="A memory",
        uri_template=TEMPLATE,
        description="A note by its path below /memories, each name percent-encoded; of a directory, what is in it.",
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


def _build_folder_resource() -> types.Resource:
    return types.Resource(
        uri=ROOT_URI,
        name="/memories",
        title="All memories",
        description="What is in the memory folder, two levels deep. A subscription to it tells of every change.",
        mime_type=_PLAIN,
    )


def _build_contents(uri: str, mime_type: str, text: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)])


def _guess_mime_type(path: str) -> str:
    return _KINDS.get(path.rpartition(".")[2].lower(), _PLAIN)


# Whatever changes, by this server, by another process or from outside, becomes one set of paths; each mailbox keeps of
# it what its client asked for, each thing once. A client that reads slowly is told less often, and never less.

MOST_WANTED = 10_000
"""URIs that one client may subscribe to."""
MOST_MAILBOXES = 1_024
PAUSE = 0.05
"""Seconds between two deliveries to one client: later changes wait and go together."""


class TooManySubscriptions(Exception):
    """There is no room for another subscription."""


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """The paths that changed, with every directory above them and `""`, and whether files came or went."""

    paths: frozenset[str]
    listed: bool


def collect_changes(events: Iterable[Event]) -> ResourceChange:
    """The paths that events changed."""
    paths: set[str] = set()
    listed = False
    for event in events:
        for change in event.changes:
            paths.add(change.path)
            listed = listed or _adds_or_removes(change)
    above = {path[:at] for path in paths for at, character in enumerate(path) if character == "/"}
    return ResourceChange(frozenset(paths | above | ({""} if paths else set())), listed)


def _adds_or_removes(change: Change) -> bool:
    there = change.after if change.before is None else change.before
    return (
        (change.before is None or change.after is None) and there is not None and there.kind is not EntryKind.DIRECTORY
    )


@dataclass(slots=True, eq=False)
class SubscriptionMailbox:
    """The subscriptions of one client, and the updates that it has not been sent yet. Lives on the event loop."""

    wants_list: bool
    _subscribed: dict[str, dict[str, None]] = field(default_factory=dict)
    """The URIs, as the client wrote them, by the path that they name."""
    _updated: dict[str, None] = field(default_factory=dict)
    _listed: bool = False
    _has_updates: anyio.Event = field(default_factory=anyio.Event)

    def subscribe(self, uri: str, path: str) -> None:
        """Subscribe to a URI.

        Raises:
            TooManySubscriptions: The client has too many already.
        """
        if len(self._subscribed) >= MOST_WANTED and path not in self._subscribed:
            raise TooManySubscriptions(
                f"This client has {MOST_WANTED:,} subscriptions already. Unsubscribe from some first."
            )
        self._subscribed.setdefault(path, {})[uri] = None

    def unsubscribe(self, path: str) -> None:
        """Unsubscribe from a path, under any URI."""
        for uri in self._subscribed.pop(path, {}):
            self._updated.pop(uri, None)

    def put(self, changed: ResourceChange) -> None:
        """Add the subscribed part of a change."""
        updated = changed.paths & self._subscribed.keys()
        for path in updated:
            self._updated |= self._subscribed[path]
        self._listed = self._listed or (changed.listed and self.wants_list)
        if self._updated or self._listed:
            self._has_updates.set()

    async def take(self) -> tuple[bool, list[str]]:
        """Wait for updates: whether files came or went, and the URIs that changed."""
        await self._has_updates.wait()
        self._has_updates = anyio.Event()
        taken = self._listed, list(self._updated)
        self._listed = False
        self._updated.clear()
        return taken


class SubscriptionHub:
    """All mailboxes of a server. Lives on the event loop."""

    def __init__(self) -> None:
        self.mailboxes: set[SubscriptionMailbox] = set()

    def open(self, *, wants_list: bool) -> SubscriptionMailbox:
        """A new mailbox; `close` it when its client has gone.

        Raises:
            TooManySubscriptions: There are too many already.
        """
        if len(self.mailboxes) >= MOST_MAILBOXES:
            raise TooManySubscriptions("This server has too many subscribers already.")
        mailbox = SubscriptionMailbox(wants_list)
        self.mailboxes.add(mailbox)
        return mailbox

    def close(self, mailbox: SubscriptionMailbox) -> None:
        """Forget a mailbox."""
        self.mailboxes.discard(mailbox)

    def publish(self, changed: ResourceChange) -> None:
        """Put a change into every mailbox."""
        for mailbox in self.mailboxes:
            mailbox.put(changed)
