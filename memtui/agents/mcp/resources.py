"""The notes as resources: listed page by page, and read as the view of whoever reads them."""

from dataclasses import dataclass
from datetime import UTC, datetime

import mcp_types as types
from mcp.shared.exceptions import MCPError

from memtui.agents.mcp.telling import listed, words_of
from memtui.agents.mcp.uris import ROOT_URI, TEMPLATE, place_of, uri_of
from memtui.core.errors import MemtuiError
from memtui.core.events import Agent
from memtui.core.listing import human_size
from memtui.core.paths import MemoryPath
from memtui.core.visible import one_line
from memtui.engine import Engine

PAGE = 200
LARGEST = 4 * 1024 * 1024
"""Bytes of the largest note that is sent as a whole."""
_NOT_FOUND = -32002
_KINDS = {"md": "text/markdown", "markdown": "text/markdown", "json": "application/json", "html": "text/html"}
_PLAIN = "text/plain"


@dataclass(frozen=True, slots=True)
class _Listed:
    """All that is listed, as of an event."""

    seq: int
    paths: list[str]


class Resources:
    """Lists and reads notes. May be used from several threads.

    Args:
        memory: The open memory.
    """

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self._listed: _Listed | None = None

    def page(self, cursor: str | None) -> types.ListResourcesResult:
        """One page of the list; the cursor is the URI of the last one before it.

        Raises:
            MCPError: There is no such cursor, or the folder cannot be looked at.
        """
        after = place_in(cursor).relative if cursor else ""
        paths = [path for path in self._paths(again=not cursor) if path > after][: PAGE + 1]
        resources = [resource for path in paths[:PAGE] if (resource := self._resource(path))]
        if not cursor:
            resources.insert(0, _folder())
        following = uri_of(paths[PAGE - 1]) if len(paths) > PAGE else None
        return types.ListResourcesResult(resources=resources, next_cursor=following)

    def _paths(self, *, again: bool) -> list[str]:
        """What is listed. Pages that follow are of the same list, unless something happened since."""
        try:
            seq = self._memory.head()[0]
            if again or self._listed is None or self._listed.seq != seq:
                self._listed = _Listed(seq, listed(self._memory))
        except (MemtuiError, OSError) as error:
            raise MCPError(types.INTERNAL_ERROR, words_of(error)) from error
        return self._listed.paths

    def _resource(self, path: str) -> types.Resource | None:
        entry = self._memory.entry(path)
        if entry is None:
            return None  # it has gone since it was listed
        changed = datetime.fromtimestamp((entry.mtime_ns or 0) // 1_000_000_000, UTC)
        return types.Resource(
            uri=uri_of(path),
            name=one_line(path),
            mime_type=_mime_type(path),
            size=entry.size,
            annotations=types.Annotations(last_modified=f"{changed:%Y-%m-%dT%H:%M:%SZ}"),
        )

    def read(self, uri: str, *, actor: Agent, call_id: str | None) -> types.ReadResourceResult:
        """Read a note, or list a directory. It is a view by whoever asks, and recorded as one.

        Raises:
            MCPError: There is no such thing, or it cannot be read as text; in the words of the engine.
        """
        place = place_in(uri)
        entry = None if place.is_root else self._memory.entry(place.relative)
        if entry is not None and (entry.size or 0) > LARGEST:
            sizes = f"{human_size(entry.size or 0)}, the limit is {human_size(LARGEST)}"
            what = f"Error: {place} is too large to be read as a whole: {sizes}. View it in parts with the tool memory"
            raise MCPError(types.INVALID_PARAMS, what, {"uri": uri})
        command = {"command": "view", "path": str(place)}
        answer = self._memory.execute(command, actor=actor, call_id=call_id)
        if answer.is_error:
            raise MCPError(_NOT_FOUND, answer.text, {"uri": uri})
        if answer.event.viewed is None:
            return _contents(uri, _PLAIN, answer.text)
        data = self._memory.history.text(answer.event.viewed)
        if data is None:  # the record does not keep it, or could not: what stands there now
            data = self._memory.look(place.relative).data
        if data is None:
            raise MCPError(types.INTERNAL_ERROR, f"The text of {place} could not be read.", {"uri": uri})
        return _contents(uri, _mime_type(place.relative), data.decode("utf-8", "replace"))


def place_in(uri: str) -> MemoryPath:
    """The place that a URI names.

    Raises:
        MCPError: It names none.
    """
    try:
        return place_of(uri)
    except ValueError as error:
        raise MCPError(types.INVALID_PARAMS, str(error), {"uri": one_line(uri)[:256]}) from None


def templates() -> types.ListResourceTemplatesResult:
    """The one template."""
    template = types.ResourceTemplate(
        name="memory",
        title="A memory",
        uri_template=TEMPLATE,
        description="A note by its path below /memories, each name percent-encoded; of a directory, what is in it.",
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


def _folder() -> types.Resource:
    return types.Resource(
        uri=ROOT_URI,
        name="/memories",
        title="All memories",
        description="What is in the memory folder, two levels deep. A subscription to it tells of every change.",
        mime_type=_PLAIN,
    )


def _contents(uri: str, mime_type: str, text: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)])


def _mime_type(path: str) -> str:
    return _KINDS.get(path.rpartition(".")[2].lower(), _PLAIN)
