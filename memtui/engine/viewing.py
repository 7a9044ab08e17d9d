"""What stands in the store, as it is shown: to an agent that views it, and to a person who looks."""

from collections.abc import Iterator
from dataclasses import dataclass

from memtui.core import commands, edits
from memtui.core.errors import LeavesRoot, Refusal
from memtui.core.listing import DEPTH, Listed, human_size, listing
from memtui.core.messages import Message
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.core.snapshot import Kind
from memtui.engine.faults import reason_of
from memtui.store.base import Content, Node, NotRegular, Readable, TooLarge

NOT_THERE = "It is not there any more."
"""What is said of a path at which nothing stands; whatever else keeps it from being looked at is said otherwise."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What stands at a path for a person who looks: looking is no event.

    Attributes:
        node: What it is; `None` if nothing is there.
        data: A file's bytes; `None` if they could not be read.
        problem: Why not, as a sentence; empty if they could.
    """

    node: Node | None
    data: bytes | None = None
    problem: str = ""


class Viewer:
    """Shows what is there; nothing is recorded.

    Args:
        store: Where to look.
        settings: How much an agent is shown at a time, and what is read at all.
    """

    def __init__(self, store: Readable, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def view(self, command: commands.View, *, as_agent: bool) -> tuple[str, Content | None, str]:
        path = command.path
        node = self._store.node(path, follow=True)
        if node is None:
            raise Refusal(Message.VIEW_MISSING, path=path)
        if node.kind is Kind.DIRECTORY:
            text = listing(str(path), self._below(node), limit=self._settings.listing_limit if as_agent else 0)
            entries = text.count("\n") - 1
            return text, None, f"{entries:,} {'entry' if entries == 1 else 'entries'}"
        if node.kind is not Kind.FILE:
            raise Refusal(Message.UNSUPPORTED_TYPE, path=path)
        limit = self._settings.read_limit
        try:
            content = self._store.read(path, limit=limit)
            text = content.data.decode("utf-8")
        except FileNotFoundError:
            raise Refusal(Message.GONE, path=path) from None
        except NotRegular:
            raise Refusal(Message.UNSUPPORTED_TYPE, path=path) from None
        except TooLarge as error:
            sizes = {"size": human_size(error.size), "limit": human_size(limit)}
            raise Refusal(Message.TOO_LARGE_TO_READ, path=path, **sizes) from None
        except UnicodeDecodeError:
            raise Refusal(Message.NOT_UTF8, path=path) from None
        char_limit = self._settings.view_char_limit if as_agent else 0
        lines = edits.count_lines(text)
        answer = edits.view(text, str(path), command.view_range, limit=char_limit)
        return answer, content, f"{lines:,} {'line' if lines == 1 else 'lines'}"

    def _below(self, directory: Node) -> Iterator[Listed]:
        """What a listing adds up. Links are looked through only where they are listed."""
        start = len(directory.path) + 1 if directory.path else 0
        for node in self._store.scan(MemoryPath.of(directory.path)):
            parts = tuple(node.path[start:].split("/"))
            if node.kind is not Kind.LINK:
                yield Listed(parts, node.kind is Kind.DIRECTORY, node.size)
            elif len(parts) <= DEPTH:
                yield from self._linked(parts, node)

    def _linked(self, parts: tuple[str, ...], link: Node) -> Iterator[Listed]:
        try:
            target = self._store.node(MemoryPath.of(link.path), follow=True)
        except (LeavesRoot, OSError):
            return
        if target is None:
            return
        yield Listed(parts, target.kind is Kind.DIRECTORY, target.size)
        if target.kind is Kind.DIRECTORY:
            start = len(target.path) + 1 if target.path else 0
            for node in self._store.scan(MemoryPath.of(target.path)):
                if node.kind is not Kind.LINK:
                    inner = (*parts, *node.path[start:].split("/"))
                    yield Listed(inner, node.kind is Kind.DIRECTORY, node.size)

    def look(self, place: MemoryPath) -> Seen:
        node: Node | None = None
        try:
            node = self._store.node(place)
            if node is None:
                return Seen(None, problem=NOT_THERE)
            if node.kind is Kind.LINK:
                return self._look_through(place, node)
            if node.kind is not Kind.FILE:
                return Seen(node)
            return Seen(node, self._store.read(place, limit=self._settings.read_limit).data)
        except TooLarge as error:
            limit = human_size(self._settings.read_limit)
            return Seen(node, problem=f"It is too large to show: {human_size(error.size)}; the limit is {limit}.")
        except (NotRegular, FileNotFoundError):
            return Seen(None, problem="It changed while it was opened.")
        except LeavesRoot:
            return Seen(None, problem="It lies behind a link that leads out of the memory folder.")
        except OSError as error:
            return Seen(node, problem=f"It cannot be read: {reason_of(error)}.")

    def _look_through(self, place: MemoryPath, link: Node) -> Seen:
        try:
            target = self._store.node(place, follow=True)
        except (LeavesRoot, OSError):
            return Seen(link, problem="It is a link that leads out of the memory folder. It is not followed.")
        if target is None:
            return Seen(link, problem="It is a link to something that is not there.")
        if target.kind is not Kind.FILE:
            return Seen(link, problem=f"It is a link to {MemoryPath.of(target.path)}.")
        return Seen(link, self._store.read(place, limit=self._settings.read_limit).data)
