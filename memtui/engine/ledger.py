"""What one writing session finds out about the store, to be recorded in one go.

Whoever is about to change a path first settles what stands there: if it is not what the journal knew, somebody
changed it without telling us, and that is recorded before the new event, with its text. So no version is lost
between two looks, and a change of ours is never taken for one from outside.
"""

import errno
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memtui.core import diffs
from memtui.core.events import Change, Event, Outside, Version, sha256
from memtui.core.paths import MemoryPath
from memtui.core.snapshot import Kind
from memtui.journal.announced import Announcement, Announcements
from memtui.journal.sqlite import Journal, Known
from memtui.store.base import UNSEEN, Node, NotRegular, Readable, TooLarge

MANY = 64
"""Differences above which those of one kind share an event."""
_DIFF_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class _Difference:
    command: str
    path: str
    before: Version | None
    after: Version | None
    new_path: str | None = None
    replaced: Version | None = None
    """What stood where it moved to."""


class Ledger:
    """Differences found, texts read and states learnt, until they are recorded.

    Args:
        store: Where to look.
        journal: What was known.
        now_us: The time, in microseconds since 1970.
        max_read_bytes: The largest file that is read.
        first_look: Whether the folder was never looked at before: what is there then was *found*.
        announced: What agents said that they would write by themselves.
        touched: Notes on an event that it changed what is protected.
    """

    def __init__(
        self,
        store: Readable,
        journal: Journal,
        now_us: int,
        *,
        max_read_bytes: int,
        first_look: bool = False,
        announced: Announcements | None = None,
        touched: Callable[[Event], Event] = lambda event: event,
    ) -> None:
        self._touched = touched
        self._store = store
        self._journal = journal
        self._now_us = now_us
        self._limit = max_read_bytes
        self._appeared = "found" if first_look else "created"
        self._announced = announced
        self._differences: dict[str, _Difference] = {}
        self._unread_for_now: set[str] = set()
        self.texts: dict[str, bytes] = {}
        self.known: dict[str, Known | None] = {}

    def reset(self) -> None:
        """Forget all that was found: somebody was faster, and it has to be looked again."""
        self._differences.clear()
        self.texts.clear()
        self.known.clear()

    def settle(self, path: str, node: Node | None, data: bytes | None = None) -> Version | None:
        """Hold what stands at a path against what was known, noting a difference.

        Args:
            path: Relative to the folder.
            node: What was just seen there; `None` for nothing.
            data: Its bytes, where they have been read already.

        Returns:
            The version that stands there now; its text is kept.
        """
        was = self._journal.known(path)
        version = self._version_of(node, was, data) if node else None
        before = was.version if was else None
        stamp = UNSEEN if path in self._unread_for_now else node.stamp if node else UNSEEN
        if node is None or version is None:
            if was:
                self.known[path] = None
        elif was is None or was.stamp != stamp or was.version != version:
            self.known[path] = Known(version, stamp)
        if before != version:
            command = self._appeared if before is None else "deleted" if version is None else "modified"
            if was and node and version and was.stamp in (node.stamp, UNSEEN) and was.version == _unread(version):
                command = "found"  # the same as then: it could not be read, and now it was
            self._differences[path] = _Difference(command, path, before, version)
        else:
            self._differences.pop(path, None)  # what was seen a moment ago has passed
        return version

    def settle_move(self, old: str, new: str, node: Node) -> None:
        """Note that the thing known at `old` now stands at `new`, if its text is the same.

        Another text means that it was changed as well, or that the system has used its number again.
        """
        was = self._journal.known(old)
        version = self._version_of(node, was, None)
        if was is None or was.version != version:
            self.settle(old, None)
            self.settle(new, node)
            return
        self.known[old] = None
        self.known[new] = Known(version, node.stamp)
        there = self._journal.known(new)
        replaced = there.version if there else None
        self._differences[old] = _Difference("renamed", old, was.version, version, new, replaced)

    def keep(self, data: bytes) -> Version:
        """Keep a text that is about to be written, or was just read."""
        version = Version(Kind.FILE, sha256(data), len(data))
        self.texts[version.sha256 or ""] = data
        return version

    def events(self) -> list[Event]:
        """The differences as events: each its own, or many of a kind together. What was announced stands alone."""
        return [self._touched(event) for event in self._events()] if self._differences else []

    def _events(self) -> list[Event]:
        told: list[Event] = []
        found: list[list[_Difference]] = []
        announced = self._announced.by_path() if self._announced is not None else {}
        for group in _folded(self._differences.values()):
            said = self._said_of(group, announced) if announced else None
            if said is None:
                found.append(group)
            else:
                told.append(_as_announced(self._event(group), said))
        if len(found) <= MANY and self._appeared != "found":
            return [*(self._event(group) for group in found), *told]
        together: dict[str, list[_Difference]] = {}
        for group in found:
            together.setdefault(group[0].command, []).extend(group)
        return [*(self._event(group) for group in together.values()), *told]

    def _said_of(
        self, group: Sequence[_Difference], announced: Mapping[str, Sequence[Announcement]]
    ) -> Announcement | None:
        """What was announced of a difference: of one file that appeared or changed, with the directories it needed."""
        *made, last = group
        if any(_is_file(each.after or each.before) for each in made) or not _is_file(last.after):
            return None
        for said in announced.get(last.path, ()):
            if last.command == "found" and not said.is_new:
                continue  # nobody knows whether it stood there before
            if said.fits(last.after, self._now_us) and not said.is_told_by(
                self._journal.events_of(last.path, limit=64)
            ):
                return said
        return None

    def _version_of(self, node: Node, was: Known | None, data: bytes | None) -> Version:
        if node.kind not in (Kind.FILE, Kind.LINK):
            return Version(node.kind)
        if was and was.stamp == node.stamp and was.version.kind is node.kind and was.version.sha256 is not None:
            return was.version
        try:
            if node.kind is Kind.LINK:
                return self._keep_target(self._store.read_link(MemoryPath.of(node.path)))
            if data is None:
                data = self._store.read(MemoryPath.of(node.path), limit=self._limit).data
        except (TooLarge, NotRegular, FileNotFoundError):
            return Version(node.kind, None, node.size)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EIO):
                raise
            if error.errno == errno.EIO:
                self._unread_for_now.add(node.path)  # it may pass: the next look tries again
            return Version(node.kind, None, node.size)
        return self.keep(data)

    def _keep_target(self, target: bytes) -> Version:
        version = link_version(target)
        self.texts[version.sha256 or ""] = target
        return version

    def _event(self, group: Sequence[_Difference]) -> Event:
        first = group[0]
        event = Event(
            at_us=self._now_us,
            actor=Outside(),
            command=first.command,
            path=str(MemoryPath.of(first.path)),
            new_path=str(MemoryPath.of(first.new_path)) if first.new_path is not None else None,
            changes=tuple(change for difference in group for change in _changes(difference)),
        )
        files = [difference for difference in group if _is_file(difference.after or difference.before)]
        if len(files) > 1 or (first.command in ("deleted", "renamed") and len(group) > 1):
            path = first.path if _heads(first, group) else _common_directory(group)
            return replace(event, path=str(MemoryPath.of(path)), note=_count(len(files), "file"))
        shown = files[0] if files else first
        counts = self._counts(shown)
        return replace(
            event,
            path=str(MemoryPath.of(shown.path)),
            added=counts.added if counts else None,
            removed=counts.removed if counts else None,
        )

    def _counts(self, difference: _Difference) -> diffs.Counts | None:
        if difference.command == "renamed" and difference.before == difference.after:
            return None
        before, after = self.text_of(difference.before), self.text_of(difference.after)
        return None if before is None or after is None else diffs.counts(before, after)

    def text_of(self, version: Version | None) -> str | None:
        """The text of a version; `""` for nothing, `None` for what is not text or too large to compare."""
        if version is None:
            return ""
        if version.kind is not Kind.FILE or version.sha256 is None or version.size > _DIFF_LIMIT:
            return None
        data = self.texts.get(version.sha256)
        if data is None:
            data = self._journal.text(version.sha256)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None


def _as_announced(event: Event, said: Announcement) -> Event:
    """An event as that of who announced it."""
    command = "created" if event.command == "found" else event.command
    return replace(
        event, actor=said.actor, command=command, call_id=said.call_id, note=said.note, arguments=said.arguments
    )


def link_version(target: bytes) -> Version:
    """The version that a link is: what it points to, as it is written in it."""
    return Version(Kind.LINK, sha256(target))


def _unread(version: Version) -> Version:
    """What a version is known as while its text cannot be read."""
    return Version(version.kind, None, version.size)


def _folded(differences: Iterable[_Difference]) -> list[list[_Difference]]:
    """One group an event: what went or moved with its directory joins it, a new directory joins its first file."""
    groups: list[list[_Difference]] = []
    heads: dict[tuple[str, str], list[_Difference]] = {}
    waiting: dict[str, _Difference] = {}
    for difference in sorted(differences, key=lambda each: each.path.split("/")):
        parents = list(_parents(difference.path))
        if difference.command in ("deleted", "renamed"):
            group = next((heads[key] for parent in parents if (key := (difference.command, parent)) in heads), None)
            if group is not None and _moved_along(group[0], difference):
                group.append(difference)
                continue
            groups.append([difference])
            if _is_directory(difference.before):
                heads[difference.command, difference.path] = groups[-1]
        elif difference.command == "created" and _is_directory(difference.after):
            waiting[difference.path] = difference
        else:
            made = [waiting.pop(parent) for parent in reversed(parents) if parent in waiting]
            groups.append([*made, difference])
    groups += ([difference] for difference in waiting.values())
    return groups


def _moved_along(head: _Difference, difference: _Difference) -> bool:
    if head.new_path is None or difference.new_path is None:
        return head.new_path is difference.new_path
    return difference.new_path == head.new_path + difference.path[len(head.path) :]


def _parents(path: str) -> Iterable[str]:
    """The directories above a path, innermost first, without the folder itself."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _changes(difference: _Difference) -> list[Change]:
    if difference.new_path is None:
        return [Change(difference.path, difference.before, difference.after)]
    return [
        Change(difference.path, difference.before, None),
        Change(difference.new_path, difference.replaced, difference.after),
    ]


def _heads(first: _Difference, group: Sequence[_Difference]) -> bool:
    return all(each is first or each.path.startswith(first.path + "/") for each in group)


def _common_directory(group: Sequence[_Difference]) -> str:
    common = group[0].path.split("/")[:-1]
    for difference in group:
        parts = difference.path.split("/")[:-1]
        while parts[: len(common)] != common:
            common.pop()
    return "/".join(common)


def _is_file(version: Version | None) -> bool:
    return version is not None and version.kind is Kind.FILE


def _is_directory(version: Version | None) -> bool:
    return version is not None and version.kind is Kind.DIRECTORY


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
