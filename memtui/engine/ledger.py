"""The differences between store and journal that one writing session finds, to be recorded in one go.

Before a path is changed, what stands there is settled: if it is not what the journal knew, another program changed it,
and that is recorded before the new event, with its text. So no version is lost between two looks, and a change of ours
is never taken for one from outside.
"""

import errno
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from memtui.core import diffs
from memtui.core.attributes import UNKNOWN, Attributes, is_same_stamp, read_stamp
from memtui.core.events import Change, EntryKind, Event, Outside, Version, sha256
from memtui.core.guards import LOOKED_AT
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.wording import format_count
from memtui.engine.moves import find_common_directory, iter_parents
from memtui.engine.replacements import PathEvents, is_note, is_temporary
from memtui.journal.announcements import Announcement, AnnouncementStore
from memtui.journal.record import KnownPath, ReadableRecord
from memtui.scan.secret_policy import describe_new_secrets
from memtui.store.base import UNSEEN, FileTooLarge, Node, NotRegularFile, ReadableStore

MANY = 64
"""Differences above which those of one kind share an event."""
_DIFF_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class _FoundChange:
    command: str
    path: str
    before: Version | None
    after: Version | None
    new_path: str | None = None
    replaced: Version | None = None
    """The directory that stood at `new_path`."""
    temporary: Change | None = None
    """How the file that was renamed over the note, or to it, went from its temporary name."""

    def get_partner(self) -> str | None:
        """The other path of a difference of two."""
        return self.new_path if self.temporary is None else self.temporary.path


class Ledger:
    """Differences found, texts read and states learnt, until they are recorded.

    Args:
        first_look: Whether the folder was never looked at before: what is there then was *found*. `None` to read it
            from the journal.
        announced: The writes that agents announced.
        annotate: Notes on an event that it changed what is protected.
    """

    def __init__(
        self,
        store: ReadableStore,
        journal: ReadableRecord,
        now_us: int,
        *,
        max_read_bytes: int,
        first_look: bool | None,
        announced: AnnouncementStore,
        annotate: Callable[[Event], Event],
    ) -> None:
        self._annotate = annotate
        self._store = store
        self._journal = journal
        self._now_us = now_us
        self._limit = max_read_bytes
        self._first_look = first_look
        self._announced = announced
        self._differences: dict[str, _FoundChange] = {}
        self._partners: dict[str, str] = {}
        """Of a difference of two paths, the other one's: the path under which the difference stands."""
        self._unread_for_now: set[str] = set()
        self._recorded: dict[str, KnownPath | None] = {}
        """What the journal knows of paths, while it is asked for many of them at once."""
        self.texts: dict[str, bytes] = {}
        self.known: dict[str, KnownPath | None] = {}

    @property
    def now_ns(self) -> int:
        """The time of this writing session, in nanoseconds since 1970."""
        return self._now_us * 1_000

    @cached_property
    def _appeared(self) -> str:
        """The command of what was not known: looked up for the first difference only, as hardly any ledger has one."""
        first_look = self._journal.get_metadata(LOOKED_AT) is None if self._first_look is None else self._first_look
        return "found" if first_look else "created"

    @cached_property
    def _path_events(self) -> PathEvents:
        return PathEvents(self._journal)

    @property
    def _next_seq(self) -> int:
        return self._journal.get_head()[0] + 1

    def get_recorded(self, path: str) -> KnownPath | None:
        """What the journal knows of a path, without what this session found."""
        return self._recorded[path] if path in self._recorded else self._journal.get_known(path)

    @contextmanager
    def prefetch(self, paths: Sequence[str]) -> Iterator[None]:
        """Have asked the journal for many paths at once, as long as nothing is recorded."""
        self._recorded = dict.fromkeys(paths) | self._journal.get_known_paths(paths)
        try:
            yield
        finally:
            self._recorded = {}

    def reset(self) -> None:
        """Forget all that was found: somebody was faster, and it has to be looked again."""
        self._differences.clear()
        self._partners.clear()
        self.texts.clear()
        self.known.clear()

    def compare_path(self, path: str, node: Node | None, data: bytes | None = None) -> Version | None:
        """Compare what stands at a path (`data`: its bytes, if read already) with the known state, noting a difference.

        Returns:
            The version that stands there now; its text is kept.
        """
        self._separate(path)
        recorded = self.get_recorded(path)
        version = self._read_version(node, recorded, data) if node else None
        before = recorded.version if recorded else None
        stamp = UNSEEN if path in self._unread_for_now else node.stamp if node else UNSEEN
        now = KnownPath(version, stamp) if version is not None else None
        if now == recorded:
            self.known.pop(path, None)  # it is as it was, also if it was seen otherwise a moment ago
        else:
            self.known[path] = now
        unread = Version(version.kind, None, version.size) if version else None
        if recorded and node and before != version and before == unread and _is_unchanged(recorded, node):
            # The same as then: it could not be read, and now it was.
            self._differences[path] = _FoundChange("found", path, before, version)
        else:
            self._note_difference(path, before, version)
        return version

    def _note_difference(self, path: str, before: Version | None, version: Version | None) -> None:
        """Note how a path alone differs; or that it does not: what was seen a moment ago has passed."""
        if before == version:
            self._differences.pop(path, None)
            return
        command = self._appeared if before is None else "deleted" if version is None else "modified"
        self._differences[path] = _FoundChange(command, path, before, version)

    def _separate(self, path: str) -> None:
        """Take apart what was found of a path, which is compared again, and another one together."""
        key = self._partners.get(path, path)
        found = self._differences.get(key)
        other = found.get_partner() if found is not None else None
        if other is None:
            return
        del self._differences[key], self._partners[other]
        for each in {key, other} - {path}:
            recorded, known = self.get_recorded(each), self.known.get(each)
            self._note_difference(each, recorded.version if recorded else None, known.version if known else None)

    def compare_move(self, old: str, new: str, node: Node) -> None:
        """Note that the thing known at `old` now stands at `new`, if its text is the same.

        Another text means that it was changed as well, or that the system has used its inode again. A file that was
        renamed over a note is a change of that note.
        """
        self._separate(old)
        self._separate(new)
        recorded = self._journal.get_known(old)
        there = self._journal.get_known(new)
        version = self._read_version(node, recorded, None)
        before = there.version if there else None
        is_moved_note = recorded is not None and is_note(recorded.version) and is_note(version)
        if recorded and is_moved_note and (is_note(before) or (before is None and self._is_made_beside(old, new))):
            self.known[old] = None
            self.known[new] = KnownPath(version, node.stamp)
            command = "modified" if before else "created"
            temporary = Change(old, recorded.version, None)
            self._differences.pop(old, None)
            self._differences[new] = _FoundChange(command, new, before, version, temporary=temporary)
            self._partners[old] = new
            return
        if recorded is None or recorded.version != version:
            self.compare_path(old, None)
            self.compare_path(new, node)
            return
        self.known[old] = None
        self.known[new] = KnownPath(version, node.stamp)
        self._differences.pop(new, None)
        self._differences[old] = _FoundChange("renamed", old, recorded.version, version, new, before)
        self._partners[new] = old

    def _is_made_beside(self, old: str, new: str) -> bool:
        """Whether a program wrote a new note under a hidden name first, or one such as `note.md.tmp.123`."""
        passing, name = (path.rpartition("/")[2] for path in (old, new))
        if name.startswith(".") or not (passing.startswith(".") or passing.startswith((f"{name}.tmp", f"{name}.temp"))):
            return False
        return self.is_temporary(old)

    def is_temporary(self, path: str) -> bool:
        """Whether what the journal knows at a path came from outside a moment ago, perhaps to be renamed."""
        return is_temporary(self._path_events, path, self._next_seq, self._now_us)

    def is_too_large(self, version: Version) -> bool:
        """Whether a version is known by its size only, because nobody reads a file that large."""
        return version.kind is EntryKind.FILE and version.sha256 is None and version.size > self._limit

    def add_text(self, data: bytes) -> Version:
        """Keep a text that is about to be written, or was just read."""
        version = Version(EntryKind.FILE, sha256(data), len(data))
        self.texts[version.sha256 or ""] = data
        return version

    def make_events(self, *, together: bool = False) -> list[Event]:
        """The differences as events: each its own, or many of a kind together. What was announced stands alone."""
        return [self._annotate(event) for event in self._make_group_events(together)] if self._differences else []

    def _make_group_events(self, all_together: bool) -> list[Event]:
        claimed: list[Event] = []
        found: list[list[_FoundChange]] = []
        announced = self._announced.group_by_path()
        for group in _group_differences(self._differences.values()):
            announcement = self._find_announcement(group, announced) if announced else None
            if announcement is None:
                found.append(group)
            else:
                claimed.append(_as_announced(self._make_event(group), announcement))
        if len(found) <= MANY and self._appeared != "found" and not all_together:
            return [*(self._make_event(group) for group in found), *claimed]
        together: dict[str, list[_FoundChange]] = {}
        for group in found:
            together.setdefault(group[0].command, []).extend(group)
        return [*(self._make_event(group) for group in together.values()), *claimed]

    def _find_announcement(
        self, group: Sequence[_FoundChange], announced: Mapping[str, Sequence[Announcement]]
    ) -> Announcement | None:
        """What one call announced of all files of a group, whatever directories come and go with them."""
        found: Announcement | None = None
        for each in group:
            if not _is_directory(each.after or each.before):
                found = self._find_file_announcement(each, announced, found)
                if found is None:
                    return None
        return found

    def _find_file_announcement(
        self, difference: _FoundChange, announced: Mapping[str, Sequence[Announcement]], other: Announcement | None
    ) -> Announcement | None:
        """What was announced of a file, by the call that announced another one."""
        old, new = difference.path, difference.new_path
        candidates: list[tuple[Announcement, str | None]] = [(each, new) for each in announced.get(old, ())]
        if new is not None:  # a text that was written beside the file, and moved there
            candidates += ((each, None) for each in announced.get(new, ()))
        for each, moved_to in candidates:
            if difference.command == "found" and not each.is_new:
                continue  # nobody knows whether it stood there before
            if other is not None and (each.call_id, each.actor) != (other.call_id, other.actor):
                continue
            after = difference.after
            if each.matches(after, self._now_us, moved_to=moved_to, read=lambda: self._get_data(difference.after)):
                events = self._journal.get_path_events(each.path, limit=64)
                if not each.is_recorded_by(events):
                    return each
        return None

    def recall_directory(self, path: str) -> Version:
        """The version by which a directory that is not there is made again: with the permissions that it last had."""
        found = self.recall_attributes(path, Version(EntryKind.DIRECTORY))
        return replace(found, attributes=Attributes(found.attributes.mode))

    def recall_attributes(self, path: str, version: Version) -> Version:
        """A version that comes back where nothing stands: with the permissions that the path last had.

        What was seen last is newer than what the version's own event tells; so is its time, if it held the same.
        """
        known = self.get_recorded(path)
        last = known.version if known and known.version.attributes != UNKNOWN else None
        if last is None and (event := next(self._path_events.iter_before(path, self._next_seq), None)) is not None:
            last = event.change.after or event.change.before
        if last is None or last.kind is not version.kind:
            return version
        attributes = last.attributes if last == version else Attributes(last.attributes.mode)
        return replace(version, attributes=attributes.fill(version.attributes))

    def _read_version(self, node: Node, recorded: KnownPath | None, data: bytes | None) -> Version:
        version = self._read_content(node, recorded, data)
        if node.kind is EntryKind.OTHER:
            return version
        return Version(version.kind, version.sha256, version.size, node.attributes)

    def _read_content(self, node: Node, recorded: KnownPath | None, data: bytes | None) -> Version:
        if node.kind not in (EntryKind.FILE, EntryKind.LINK):
            return Version(node.kind)
        is_kept = recorded and recorded.version.kind is node.kind and recorded.version.sha256
        if recorded and is_kept and is_same_stamp(recorded.stamp, node.stamp):
            return recorded.version
        try:
            if node.kind is EntryKind.LINK:
                target = self._store.read_link(MemoryPath.from_relative(node.path))
                version = make_link_version(target)
                self.texts[version.sha256 or ""] = target
                return version
            if data is None:
                data = self._store.read(MemoryPath.from_relative(node.path), limit=self._limit).data
        except (FileTooLarge, NotRegularFile, FileNotFoundError):
            return Version(node.kind, None, node.size)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EIO):
                raise
            if error.errno == errno.EIO:
                self._unread_for_now.add(node.path)  # it may pass: the next look tries again
            return Version(node.kind, None, node.size)
        return self.add_text(data)

    def _make_event(self, group: Sequence[_FoundChange]) -> Event:
        first = group[0]
        event = Event(
            at_us=self._now_us,
            actor=Outside(),
            command=first.command,
            path=str(MemoryPath.from_relative(first.path)),
            new_path=str(MemoryPath.from_relative(first.new_path)) if first.new_path is not None else None,
            changes=tuple(change for difference in group for change in _make_changes(difference)),
        )
        files = [difference for difference in group if _is_file(difference.after or difference.before)]
        if len(files) > 1 or (first.command in ("deleted", "renamed") and len(group) > 1):
            path = first.path if _is_head(first, group) else find_common_directory([each.path for each in group])
            return replace(event, path=str(MemoryPath.from_relative(path)), note=format_count(len(files), "file"))
        shown = files[0] if files else first
        added, removed = self._count_lines(shown) or (None, None)
        note = self._describe_secrets(shown) if shown.command in ("created", "modified") else ""
        return replace(event, path=str(MemoryPath.from_relative(shown.path)), added=added, removed=removed, note=note)

    def _describe_secrets(self, difference: _FoundChange) -> str:
        before = self.get_text(difference.before) if _is_file(difference.before) else ""
        return describe_new_secrets(before, self.get_text(difference.after) if _is_file(difference.after) else None)

    def _count_lines(self, difference: _FoundChange) -> diffs.LineCounts | None:
        if difference.command == "renamed" and difference.before == difference.after:
            return None
        before, after = self.get_text(difference.before), self.get_text(difference.after)
        return None if before is None or after is None else diffs.count_changes(before, after)

    def get_text(self, version: Version | None) -> str | None:
        """The text of a version; `""` for nothing, `None` for what is not text or too large to compare."""
        if version is None:
            return ""
        if version.kind is not EntryKind.FILE or version.sha256 is None or version.size > _DIFF_LIMIT:
            return None
        data = self._get_data(version)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def _get_data(self, version: Version | None) -> bytes | None:
        """The bytes of a file's version; `None` where they are not known."""
        if version is None or version.kind is not EntryKind.FILE or version.sha256 is None:
            return None
        data = self.texts.get(version.sha256)
        return self._journal.get_text(version.sha256) if data is None else data


def _is_unchanged(recorded: KnownPath, node: Node) -> bool:
    """Whether a path was not written since it was recorded, as far as that is known."""
    return recorded.stamp == UNSEEN or is_same_stamp(recorded.stamp, node.stamp)


def add_attributes(changes: Iterable[Change], known: Mapping[str, KnownPath | None]) -> tuple[Change, ...]:
    """Changes that were made, with the attributes of what stands there since, as far as those were seen."""
    return tuple(_add_attributes(change, known.get(change.path)) for change in changes)


def _add_attributes(change: Change, now: KnownPath | None) -> Change:
    after = change.after
    if after is None or now is None or now.version != after:
        return change
    attributes = read_stamp(after.kind, now.stamp).fill(after.attributes)
    return change if attributes == after.attributes else replace(change, after=replace(after, attributes=attributes))


def _as_announced(event: Event, announcement: Announcement) -> Event:
    command = "created" if event.command == "found" else event.command
    by, call_id, note = announcement.actor, announcement.call_id, announcement.note
    note = ", ".join(filter(None, (note, event.note)))
    return replace(event, actor=by, command=command, call_id=call_id, note=note, arguments=announcement.arguments)


def make_link_version(target: bytes) -> Version:
    """The version that a link is: what it points to, as it is written in it."""
    return Version(EntryKind.LINK, sha256(target))


def _group_differences(differences: Iterable[_FoundChange]) -> list[list[_FoundChange]]:
    """One group an event: what went or moved with its directory joins it, a new directory joins its first file."""
    groups: list[list[_FoundChange]] = []
    heads: dict[tuple[str, str], list[_FoundChange]] = {}
    waiting: dict[str, _FoundChange] = {}
    for difference in sorted(differences, key=lambda each: each.path.split("/")):
        if difference.command in ("deleted", "renamed"):
            parents = iter_parents(difference.path) if heads else ()
            group = next((heads[key] for parent in parents if (key := (difference.command, parent)) in heads), None)
            if group is not None and _has_moved_along(group[0], difference):
                group.append(difference)
            else:
                group = [difference]
                groups.append(group)
            if _is_directory(difference.before):  # each, not only the head: the next search ends at the parent
                heads[difference.command, difference.path] = group
        elif difference.command == "created" and _is_directory(difference.after):
            waiting[difference.path] = difference
        else:
            parents = iter_parents(difference.path) if waiting else ()
            made = [waiting.pop(parent) for parent in reversed(list(parents)) if parent in waiting]
            groups.append([*made, difference])
    groups += ([difference] for difference in waiting.values())
    return groups


def _has_moved_along(head: _FoundChange, difference: _FoundChange) -> bool:
    if head.new_path is None or difference.new_path is None:
        return head.new_path is difference.new_path
    return difference.new_path == head.new_path + difference.path[len(head.path) :]


def _make_changes(difference: _FoundChange) -> list[Change]:
    if difference.new_path is not None:
        return [
            Change(difference.path, difference.before, None),
            Change(difference.new_path, difference.replaced, difference.after),
        ]
    change = Change(difference.path, difference.before, difference.after)
    return [change] if difference.temporary is None else [difference.temporary, change]


def _is_head(first: _FoundChange, group: Sequence[_FoundChange]) -> bool:
    return all(each is first or each.path.startswith(first.path + "/") for each in group)


def _is_file(version: Version | None) -> bool:
    return version is not None and version.kind is EntryKind.FILE


def _is_directory(version: Version | None) -> bool:
    return version is not None and version.kind is EntryKind.DIRECTORY
