"""The journal of a hosted store: this machine's copy, in which nothing is changed before the store has it.

The copy is a journal and a store like those of `sqlite:FILE`, in the state directory, with two tables more: which
memory of the store stands at which path, and the versions that are taken over. The API changes one memory at a time, so
an event with many changes is many requests, sent once its intent is noted; what a broken connection leaves in doubt is
asked for by that intent.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from memtui.core.attributes import UNKNOWN, Attributes
from memtui.core.errors import MemtuiError, OutcomeUnknown, RemoteRefused, StateUnusable, UnsettledChange
from memtui.core.events import Actor, Change, EntryKind, Event, Memtui, Outside, Person, Version, sha256, squash_changes
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.unicode import to_one_line
from memtui.engine.lineage import find_moves
from memtui.engine.recovery import IN_STEPS
from memtui.hosted.api import MOST_BYTES, PAGE, Conflict, HostedApi, RemoteMemory, RemoteVersion, StoreInfo
from memtui.journal.record import Intent, KnownPath
from memtui.journal.schema import HOSTED
from memtui.journal.sqlite import Journal, WriteTransaction
from memtui.store.base import ConcurrentChange
from memtui.store.sqlite import TableEntries

_CURSOR, _BEGUN, _UNSURE, _REDACTIONS = "hosted.cursor", "hosted.begun", "hosted.unsure", "hosted.redactions"
"""Metadata: the newest version that is taken over; when the store was made; whether the copy may differ from it; and
when it was last asked for redactions, in microseconds since 1970."""
REDACTIONS_US = 3_600_000_000
"""How often it is asked for redactions, which may be of any version."""
_BATCH = 100
"""Versions that are taken over in one transaction."""
_MOST_NEW = 5
"""Versions that are new as a rule: the SDK takes a millisecond for each of a page."""
_SINGLY = 8
"""Contents that are asked for one by one; more are read page by page."""
_DIRECTORY = Version(EntryKind.DIRECTORY)


class _Call(NamedTuple):
    """One request: what becomes of the memory at `old`, `None` for a new one, as `new`, `None` for nothing."""

    old: str | None
    new: str | None
    before: Version | None
    after: Version | None


class HostedJournal(Journal):
    """See `Record`. What is read is what this machine knows; `catch_up` takes over what is new in the store.

    Whoever writes, or calls `catch_up`, holds the writers' lock of the store that is over the same file.

    Args:
        path: The copy.
        api: The store.
    """

    def __init__(self, path: str, api: HostedApi) -> None:
        super().__init__(path, has_entries=True)
        self.api = api
        self._entries = TableEntries(self._db)
        self._sent: Intent | None = None
        self._info: StoreInfo | None = None
        for _, sql in HOSTED.values():
            self._execute(sql.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))

    def close(self) -> None:
        super().close()
        self.api.close()

    # From the store

    def has_news(self) -> bool:
        """Whether the store has versions that are not taken over, or something is in doubt. Needs no lock."""
        if self._info is None:
            self._check_store()
        newest = self.api.find_newest()
        return newest not in (None, self.get_metadata(_CURSOR)) or self.is_behind() or self._is_check_due()

    def is_behind(self) -> bool:
        """Whether the copy was never like the store, or is not known to be like it."""
        return not self.is_begun or self.get_metadata(_UNSURE) == "1" or self.has_intents()

    @property
    def is_begun(self) -> bool:
        """Whether the copy was like the store once."""
        return self.get_metadata(_BEGUN) is not None

    def _check_store(self) -> StoreInfo:
        """What the API says of the store; raises `StateUnusable` where it is not the one of this copy."""
        info = self.api.get_info()
        if self.get_metadata(_BEGUN) not in (None, str(info.created_us)):
            raise StateUnusable("Another memory store has this id than before. Nothing was changed.")
        self._info = info
        return info

    def catch_up(self) -> bool:
        """Take over what is new in the store; returns whether anything was.

        Raises:
            StateUnusable: It cannot be asked, or is another one than before.
        """
        head = self._read_head()[0]
        info = self._info or self._check_store()
        is_unsure = self.is_behind()
        cursor, fresh = self.get_metadata(_CURSOR), list[RemoteVersion]()
        if self._settle_intents(cursor):
            self.set_metadata(_UNSURE, "1")
            return True  # what came to pass is recorded before what came after it
        for version in self.api.iter_versions(limit=_MOST_NEW if cursor is not None else PAGE):
            if version.id == cursor:
                break
            fresh.append(version)
        else:
            is_unsure = is_unsure or cursor is not None  # the last one that was taken over is not kept any more
        newest = fresh[0].id if fresh else cursor
        fresh = self._drop_overridden(fresh)
        self._load_contents(fresh, cursor)
        fresh.reverse()
        for at in range(0, len(fresh), _BATCH):
            self._take(fresh[at : at + _BATCH])
        if newest is not None and newest != cursor:
            self.set_metadata(_CURSOR, newest)
        if is_unsure:
            self._compare()
            self.set_metadata(_UNSURE, "0")
        if not self.is_begun:
            self.set_metadata(_BEGUN, str(info.created_us))
        if self._is_check_due():
            self._take_redactions()
        return self._read_head()[0] != head

    def _drop_overridden(self, versions: Sequence[RemoteVersion]) -> list[RemoteVersion]:
        """Versions, newest first, without those of this machine, and what those overrode: a rename just before."""
        ours: set[str] = set()
        kept: list[RemoteVersion] = []
        with WriteTransaction(self, durable=False):
            for version in versions:
                if self._find_version(version.id):
                    ours.add(version.memory_id)
                elif version.memory_id in ours:
                    self._note_version(version.id, version.sha256)
                else:
                    kept.append(version)
        return kept

    def _load_contents(self, versions: Sequence[RemoteVersion], cursor: str | None) -> None:
        """Have the journal hold the contents of versions, as far as they are not redacted."""
        lacking = {each.sha256 or "": each.id for each in versions if each.sha256 and not self.has_text(each.sha256)}
        if len(lacking) > _SINGLY:
            texts: dict[str, bytes] = {}
            for version in self.api.iter_versions(full=True):
                if version.id == cursor:
                    break
                if version.content is not None and lacking.pop(version.sha256 or "", ""):
                    texts[sha256(version.content)] = version.content
                if len(texts) >= _SINGLY:
                    self._keep_texts(texts)
            self._keep_texts(texts)
        for version_id in lacking.values():
            content = self.api.get_content(version_id)
            if content is not None:
                self._keep_texts({sha256(content): content})

    def _keep_texts(self, texts: dict[str, bytes]) -> None:
        with WriteTransaction(self, durable=False):
            self._store_texts(texts)
        texts.clear()

    def _take(self, versions: Iterable[RemoteVersion]) -> None:
        with self._write() as edit:
            for version in versions:
                self._note_version(version.id, version.sha256)
                if version.is_deleted:
                    edit.remove(version.memory_id, version.actor, version.at_us)
                elif version.path is not None and version.sha256 is not None and self.has_text(version.sha256):
                    edit.put(version.memory_id, version.path, version.sha256, version.actor, version.at_us)

    def _compare(self) -> None:
        """Have the copy hold what the store lists, whatever its history says."""
        found = list(self.api.iter_memories())
        listed = {memory.id for memory in found}
        held = dict(self._query("SELECT id, path FROM hosted_memories"))
        now_us = _get_now_us()
        for memory in found:
            if not self.has_text(memory.sha256):
                content = self.api.get_content(memory.version_id)
                if content is not None:
                    self._keep_texts({sha256(content): content})
        with self._write() as edit:
            for memory_id in held.keys() - listed:
                edit.remove(memory_id, Outside(), now_us)
            for memory in found:
                if self.has_text(memory.sha256):
                    edit.put(memory.id, memory.path, memory.sha256, Outside(), memory.at_us)
                    self._note_version(memory.version_id, memory.sha256)

    @contextmanager
    def _write(self) -> Iterator["_Edit"]:
        """A transaction in which versions are taken over: events, memories, and what is known of them."""
        with WriteTransaction(self, durable=False):
            edit = _Edit(self)
            yield edit
            self._chain_events(edit.events)
            self._store_known(edit.known)

    def _settle_intents(self, cursor: str | None) -> bool:
        """Have the copy hold what came to pass of changes whose answer was lost; recovery records the outcome.

        Returns:
            Whether somebody has changed some of it since.
        """
        intents = self.get_intents()
        if not intents:
            return False
        found = {memory.path: memory for memory in self.api.iter_memories()}
        passed = self._find_passed(cursor)
        has_passed = False
        with WriteTransaction(self, durable=False, flush=False):
            for event in (intent.event for intent in intents):
                files = [each for each in squash_changes(event.changes) if not each.is_directory]
                listed = [each for each in files if _is_listed(each.after, found.get(each.path))]
                others = [each for each in files if each not in listed and each.after is not None]
                were = {each: memory for each in others if (memory := passed.get((each.path, _get_sha(each.after))))}
                is_whole = len(listed) + len(were) == len(files)
                is_in_steps = event.command in IN_STEPS or (isinstance(event.actor, Person) and not event.moved)
                if not (is_whole or is_in_steps):
                    continue  # what came to pass of it is taken over as its versions are
                for change in listed:
                    self._put_in_place(change, found.get(change.path))
                for change, memory in were.items():  # found again until it is recorded
                    self._put_in_place(change, memory, is_taken=False)
                if is_whole:
                    self._put_directories([each for each in squash_changes(event.changes) if each.is_directory])
                has_passed = has_passed or bool(were)
        return has_passed

    def _put_in_place(self, change: Change, memory: RemoteMemory | None, *, is_taken: bool = True) -> None:
        """Have the copy hold what a change left in the store."""
        if change.after is None:
            self._entries.remove([change.path])
            self._execute("DELETE FROM hosted_memories WHERE path = ?", (change.path,))
        elif memory is not None and (data := self.get_text(memory.sha256)) is not None:
            for parent in _iter_parents(change.path):
                if self._entries.get(parent) is None:
                    self._entries.put(parent, EntryKind.DIRECTORY, b"", UNKNOWN)
            if self._read_entry(change.path) != memory.sha256:
                self._entries.put(change.path, EntryKind.FILE, data, change.after.attributes)
            self._note_memory(memory, is_taken=is_taken)

    def _put_directories(self, changes: Iterable[Change]) -> None:
        """Have the copy have the directories that changes left; the store has none."""
        for change in sorted(changes, key=lambda each: each.path, reverse=True):
            if change.after is None and not self._entries.list_below(change.path):
                self._entries.remove([change.path])
            elif change.after is not None and self._entries.get(change.path) is None:
                self._entries.put(change.path, EntryKind.DIRECTORY, b"", UNKNOWN)

    def _find_passed(self, cursor: str | None) -> dict[tuple[str, str | None], RemoteMemory]:
        """What stood in the store behind the newest version that is taken over, by path and SHA-256."""
        passed: dict[tuple[str, str | None], RemoteMemory] = {}
        for each in self.api.iter_versions(limit=_MOST_NEW):
            if each.id == cursor:
                break
            if each.path is not None and each.sha256 is not None and not self._find_version(each.id):
                memory = RemoteMemory(each.memory_id, each.id, each.path, each.sha256, each.at_us)
                passed[each.path, each.sha256] = memory
        return passed

    # Redactions

    def _is_check_due(self) -> bool:
        last = int(self.get_metadata(_REDACTIONS) or 0)
        return not last <= _get_now_us() < last + REDACTIONS_US

    def _take_redactions(self) -> None:
        """Remove from the copy what was redacted in the store."""
        redacted = {each.id: each for each in self.api.iter_versions() if each.is_redacted}
        rows = self._query("SELECT id, sha256 FROM hosted_versions WHERE sha256 IS NOT NULL")
        held, gone = {sha for key, sha in rows if key not in redacted}, {sha for key, sha in rows if key in redacted}
        standing = {known.version.sha256 for known in self.get_known_below("").values()}
        hashes = sorted(each for each in gone - held - standing if self.has_text(each))
        if hashes:
            texts = self._find_texts_about(set(hashes))
            removed = (*hashes, *(sha256(text.encode()) for pair in texts.values() for text in pair if text))
            note = "redacted in the store"
            event = Event(
                at_us=_get_now_us(),
                actor=Memtui(),
                command="redact",
                path=str(ROOT),
                note=note,
                redacted=tuple(sorted(set(removed))),
            )
            super().redact([event], hashes, list(texts))
            self.checkpoint(thoroughly=True)
        with WriteTransaction(self, durable=False):
            keys = [(key,) for key in redacted]
            self._db.executemany("UPDATE hosted_versions SET sha256 = NULL WHERE id = ?", keys)
        self.set_metadata(_REDACTIONS, str(_get_now_us()))

    def _find_texts_about(self, hashes: Collection[str]) -> dict[int, tuple[str | None, str | None]]:
        """The answers and arguments of events that are about texts, by the events' numbers."""
        found: dict[int, tuple[str | None, str | None]] = {}
        for event in self.iter_events():
            versions = [event.viewed, *(each for change in event.changes for each in (change.before, change.after))]
            texts = event.answer, event.arguments
            if any(texts) and any(each is not None and each.sha256 in hashes for each in versions):
                found[event.seq] = texts
        return found

    def redact(self, events: Sequence[Event], versions: Collection[str], texts: Collection[int]) -> list[Event]:
        """See `Record.redact`: what a person removes is redacted in the store first; what only ages, here alone."""
        if not all(isinstance(event.actor, Memtui) for event in events):
            for each in versions:
                for (version_id,) in self._query("SELECT id FROM hosted_versions WHERE sha256 = ?", (each,)):
                    self.api.redact(version_id)
        return super().redact(events, versions, texts)

    # To the store

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
        calls = list(_plan_calls(event))
        if calls and self._info is not None and self._info.is_archived:
            raise RemoteRefused("The memory store is archived: it can be read, and is not changed any more.")
        contents = {call: self._get_content(call, texts) for call in calls}
        intent = super().add_intent(event, texts, found=found, known=known, durable=durable or bool(calls), final=final)
        done: list[_Call] = []
        try:
            for call in calls:
                self._send(call, contents[call])
                done.append(call)
        except OutcomeUnknown:
            raise  # whoever is next asks, and goes by the intent
        except Conflict as conflict:
            self._take_back(done)
            super().drop_intent(intent.id)
            if not self.catch_up():
                self.set_metadata(_UNSURE, "1")
                if not self.catch_up():
                    raise RemoteRefused(f"The API refused it: {conflict}") from None
            raise ConcurrentChange from None
        except MemtuiError:
            self._take_back(done)
            super().drop_intent(intent.id)
            raise
        self._sent = intent if calls else None
        return intent

    def finish_intent(self, intent: Intent, known: Mapping[str, KnownPath | None], *, durable: bool) -> Event:
        self._sent = None
        return super().finish_intent(intent, known, durable=durable)

    def drop_intent(self, intent: int) -> None:
        if self._sent is not None and self._sent.id == intent:  # it has come to pass, whatever went wrong here
            self._sent = None
            raise UnsettledChange("The change is in the memory store, and could not be made on this machine.")
        super().drop_intent(intent)

    def append_events(
        self,
        events: Sequence[Event],
        *,
        texts: Mapping[str, bytes] | None = None,
        known: Mapping[str, KnownPath | None] | None = None,
        intent: int | None = None,
        durable: bool = True,
    ) -> list[Event]:
        if self._sent is not None and self._sent.id == intent:
            sent, made = self._sent.event.changes, [change for event in events for change in event.changes]
            if {each.path: each.after for each in sent} != {each.path: each.after for each in made}:
                self.set_metadata(_UNSURE, "1")  # less was changed here
            self._sent = None
        return super().append_events(events, texts=texts, known=known, intent=intent, durable=durable)

    def _get_content(self, call: _Call, texts: Mapping[str, bytes]) -> str | None:
        """The content that a request sends; `None` for none. Raises `RemoteRefused` where the API takes none such."""
        if call.after is None or (call.before is not None and call.before.sha256 == call.after.sha256):
            return None
        sha = call.after.sha256 or ""
        data = texts.get(sha) if sha in texts else self.get_text(sha)
        shown = MemoryPath.from_relative(call.new or "")
        if data is None:
            raise RemoteRefused(f"The text of {to_one_line(str(shown))} is not kept.")
        if len(data) > MOST_BYTES:
            raise RemoteRefused(f"The API takes at most {MOST_BYTES:,} bytes, and this has {len(data):,}.")
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise RemoteRefused("The API keeps only text in UTF-8, and this is none.") from None

    def _send(self, call: _Call, content: str | None) -> None:
        if call.new is None:
            memory_id = self._find_memory(call.old or "")
            self.api.delete(memory_id, expected=(call.before and call.before.sha256) or "")
            with WriteTransaction(self, durable=False, flush=False):
                self._execute("DELETE FROM hosted_memories WHERE id = ?", (memory_id,))
            return
        if call.old is None:
            memory = self.api.create(call.new, content or "")
        else:
            memory_id, expected = self._find_memory(call.old), (call.before and call.before.sha256) or ""
            path = None if call.old == call.new else call.new
            memory = self.api.update(memory_id, expected=expected, path=path, content=content)
            if memory.path != call.new:
                before = self.get_text(expected)
                if before is not None:
                    with suppress(Conflict, MemtuiError):  # else it is taken over as a change
                        self.api.update(memory_id, expected=memory.sha256, path=None, content=before.decode())
                raise Conflict(f"The memory at {to_one_line(call.old)} was renamed.")
        with WriteTransaction(self, durable=False, flush=False):
            is_meant = call.after is not None and memory.sha256 == call.after.sha256
            self._note_memory(memory, is_taken=is_meant)  # what was left out of it is taken over as a change

    def _take_back(self, done: Sequence[_Call]) -> None:
        """Undo requests, as what they belong to could not be done; what cannot be undone is taken over as a change."""
        for call in reversed(done):
            back = _Call(call.new, call.old, call.after, call.before)
            try:
                self._send(back, self._get_content(back, {}))
            except (Conflict, MemtuiError):
                self.set_metadata(_UNSURE, "1")

    def _find_memory(self, path: str) -> str:
        rows = self._query("SELECT id FROM hosted_memories WHERE path = ?", (path,))
        if not rows:
            raise Conflict(f"There is no memory at {to_one_line(path)}.")
        return str(rows[0][0])

    # The two tables; a transaction is open

    def _find_version(self, version_id: str) -> bool:
        return bool(self._execute("SELECT 1 FROM hosted_versions WHERE id = ?", (version_id,)))

    def _note_version(self, version_id: str, sha: str | None) -> None:
        self._execute("INSERT OR REPLACE INTO hosted_versions VALUES (?, ?)", (version_id, sha))

    def _note_memory(self, memory: RemoteMemory, *, is_taken: bool = True) -> None:
        self._execute("DELETE FROM hosted_memories WHERE id = ? OR path = ?", (memory.id, memory.path))
        self._execute("INSERT INTO hosted_memories VALUES (?, ?)", (memory.id, memory.path))
        if is_taken:
            self._note_version(memory.version_id, memory.sha256)

    def _read_entry(self, path: str) -> str | None:
        found = self._entries.read(path, MOST_BYTES * 10)
        return sha256(found[1]) if found is not None and found[1] is not None else None


class _Edit:
    """Changes of a store as events of the copy, with the rows that they leave, within a transaction."""

    def __init__(self, journal: HostedJournal) -> None:
        self._journal = journal
        self._entries = journal._entries
        self.events: list[Event] = []
        self.known: dict[str, KnownPath | None] = {}

    def put(self, memory_id: str, path: str, sha: str, actor: Actor, at_us: int) -> None:
        """A memory stands at a path, with a content that is kept; it is left out where something is in its way."""
        journal = self._journal
        rows = journal._execute("SELECT path FROM hosted_memories WHERE id = ?", (memory_id,))
        old = str(rows[0][0]) if rows else None
        if old != path and not self._is_free(path):
            if old is not None:
                self.remove(memory_id, actor, at_us)
            return
        data = journal.get_text(sha) or b""
        attributes = Attributes(None, at_us * 1_000)
        after = Version(EntryKind.FILE, sha, len(data))
        before = self._find_file(path)
        if old is not None and old != path and before is None and (moved := self._find_file(old)) is not None:
            made = self._make_parents(path)
            self._entries.move(old, path)
            self._know(path, moved)
            changes = (*made, Change(old, moved, None), Change(path, None, moved), *self._remove(old))
            self._add("renamed", old, changes, actor, at_us, new_path=path)
            before = moved
        elif old is not None and old != path:
            self._add("deleted", old, self._remove(old), actor, at_us)
        journal._execute("DELETE FROM hosted_memories WHERE id = ? OR path = ?", (memory_id, path))
        journal._execute("INSERT INTO hosted_memories VALUES (?, ?)", (memory_id, path))
        if before != after:
            made = self._make_parents(path)
            self._entries.put(path, EntryKind.FILE, data, attributes)
            self._know(path, after)
            command = "created" if before is None else "modified"
            self._add(command, path, (*made, Change(path, before, after)), actor, at_us)

    def remove(self, memory_id: str, actor: Actor, at_us: int) -> None:
        """A memory was deleted."""
        rows = self._journal._execute("SELECT path FROM hosted_memories WHERE id = ?", (memory_id,))
        if rows:
            path = str(rows[0][0])
            self._journal._execute("DELETE FROM hosted_memories WHERE id = ?", (memory_id,))
            self._add("deleted", path, self._remove(path), actor, at_us)

    def _is_free(self, path: str) -> bool:
        parents = (self._entries.get(parent) for parent in _iter_parents(path))
        if any(node is not None and node.kind is not EntryKind.DIRECTORY for node in parents):
            return False
        node = self._entries.get(path)
        return node is None or node.kind is EntryKind.FILE

    def _find_file(self, path: str) -> Version | None:
        found = self._entries.read(path, MOST_BYTES * 10)
        if found is None or found[0].kind is not EntryKind.FILE or found[1] is None:
            return None
        return Version(EntryKind.FILE, sha256(found[1]), len(found[1]))

    def _make_parents(self, path: str) -> list[Change]:
        made = [parent for parent in _iter_parents(path) if self._entries.get(parent) is None]
        for parent in made:
            self._entries.put(parent, EntryKind.DIRECTORY, b"", UNKNOWN)
            self._know(parent, _DIRECTORY)
        return [Change(parent, None, _DIRECTORY) for parent in made]

    def _remove(self, path: str) -> list[Change]:
        """Remove a file, if it is there, and the directories in which nothing is left."""
        changes: list[Change] = []
        if (before := self._find_file(path)) is not None:
            changes.append(Change(path, before, None))
            self._entries.remove([path])
        self.known[path] = None
        for parent in reversed(list(_iter_parents(path))):
            if self._entries.list_below(parent):
                break
            self._entries.remove([parent])
            self.known[parent] = None
            changes.append(Change(parent, _DIRECTORY, None))
        return changes

    def _know(self, path: str, version: Version) -> None:
        node = self._entries.get(path)
        self.known[path] = KnownPath(version, node.stamp) if node is not None else None

    def _add(
        self,
        command: str,
        path: str,
        changes: Sequence[Change],
        actor: Actor,
        at_us: int,
        *,
        new_path: str | None = None,
    ) -> None:
        if changes:
            shown, new = (str(MemoryPath.from_relative(each)) if each else None for each in (path, new_path))
            self.events.append(
                Event(at_us=at_us, actor=actor, command=command, path=shown or "", new_path=new, changes=tuple(changes))
            )


def _plan_calls(event: Event) -> Iterator[_Call]:
    """The requests by which the changes of an event are made: deletions last, so that nothing is lost before.

    Raises:
        RemoteRefused: Something is changed that the API cannot keep.
    """
    changes = {change.path: change for change in squash_changes(event.changes)}
    for change in changes.values():
        if change.after is not None and change.after.kind not in (EntryKind.FILE, EntryKind.DIRECTORY):
            raise RemoteRefused("The API keeps no links.")
    files = {
        path: Change(path, *(each if _is_file(each) else None for each in (change.before, change.after)))
        for path, change in changes.items()
        if _is_file(change.before) or _is_file(change.after)
    }
    if not files and any(each.before is None for each in changes.values()):
        raise RemoteRefused("The API keeps no folder in which no memory is.")
    moves = {new: old for new, old in find_moves(event).items() if new in files and old in files}
    moves = {new: old for new, old in moves.items() if files[new].before is None and files[old].after is None}
    for new, old in moves.items():
        yield _Call(old, new, files[old].before, files[new].after)
    for path, change in files.items():
        if change.after is not None and path not in moves and change.before != change.after:
            yield _Call(path if change.before else None, path, change.before, change.after)
    for path, change in files.items():
        if change.after is None and path not in moves.values():
            yield _Call(path, None, change.before, None)


def _is_listed(version: Version | None, memory: RemoteMemory | None) -> bool:
    """Whether the store lists a memory as a version that was to be there, or none where none was to be."""
    return _get_sha(version) == (memory.sha256 if memory else None)


def _get_sha(version: Version | None) -> str | None:
    return version.sha256 if version else None


def _is_file(version: Version | None) -> bool:
    return version is not None and version.kind is EntryKind.FILE


def _iter_parents(path: str) -> Iterator[str]:
    """The directories of a path, outermost first."""
    parts = path.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts)))


def _get_now_us() -> int:
    return time.time_ns() // 1_000
