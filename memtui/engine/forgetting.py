"""Removing texts from the record for good: a secret that must go, and what is older than anybody wants to keep.

Events, their hashes and the reason stay, so the chain still verifies; only texts go. No agent can ask for it.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from memtui.core.events import Actor, Event, Memtui, Version, sha256
from memtui.core.losses import Loss
from memtui.core.paths import MemoryPath
from memtui.core.redaction import Pruned, Redacted
from memtui.core.restoring import Restored
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line, visible
from memtui.engine.arranging import Arrangement
from memtui.engine.history import History
from memtui.engine.restoring import Deed, Restorer
from memtui.journal.sqlite import Journal
from memtui.store.base import Transaction

REDACTED = b"[redacted]"
"""What stands in a file where the text was."""
_HASHES = 1_000
"""Hashes that one event names at most."""
_LARGE_TEXT = 256
"""Characters of an answer, or of arguments, that are worth removing for their age."""
_CUT = re.compile(r"\[\.\.\. [0-9,]+ more characters\]")
"""What stands where a text was cut before it was recorded; see `commands.recorded`."""
_TELLING = 4
"""Characters of a text that give it away."""
_NAMED = 5
"""How many of many names are named."""


@dataclass(slots=True)
class _Doomed:
    """What is going to be removed.

    Attributes:
        versions: Bytes by SHA-256.
        events: Hashes of answers and arguments, by the number of their event.
        bytes: Of all texts together.
        left: What cannot be removed, as sentences.
        also: What goes along although it was not meant, as sentences.
        own: The paths that are meant; `None` for any.
        spared: SHA-256 of versions that stay, since notes that are not meant hold them as well.
    """

    versions: dict[str, int] = field(default_factory=dict)
    events: dict[int, list[str]] = field(default_factory=dict)
    bytes: int = 0
    left: list[str] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    own: frozenset[str] | None = None
    spared: set[str] = field(default_factory=set)

    @property
    def hashes(self) -> list[str]:
        return [*self.versions, *(each for hashes in self.events.values() for each in hashes)]


class Forgetter:
    """Removes texts.

    Args:
        journal: From where.
        history: What was.
        restorer: Takes the text out of the files.
        now_us: Tells the time, in microseconds since 1970.
        writing: Takes the writer lock.
        recorded: Told once something was recorded.
        lost: Tells what went and is to be had again.
    """

    def __init__(
        self,
        journal: Journal,
        history: History,
        restorer: Restorer,
        *,
        now_us: Callable[[], int],
        writing: Callable[[], AbstractContextManager[Transaction]],
        recorded: Callable[[], None],
        lost: Callable[[], Loss | None],
    ) -> None:
        self._lost = lost
        self._journal = journal
        self._history = history
        self._restorer = restorer
        self._now_us = now_us
        self._writing = writing
        self._recorded = recorded

    def redact(
        self, *, event: int | None, path: str | None, match: str | None, reason: str, rehearse: bool, actor: Actor
    ) -> Redacted:
        """See `Engine.redact`."""
        doomed = _Doomed()
        found: Event | None = None
        if match is not None:
            if not match:
                return Redacted(problem="Nothing was removed: the text to be removed is empty.")
            if match in reason:
                return Redacted(problem="Nothing was removed: the reason holds the text itself, and reasons stay.")
            self._doom_match(doomed, match)
        elif path is not None:
            versions = self._history.versions_of(path, told=True)
            if not versions:
                return Redacted(problem=f"Nothing was removed: nothing is known of {one_line(path)}.")
            self._doom(doomed, (version for row in versions for version in (row.before, row.after)))
            doomed.own = frozenset({path})
        elif event is not None:
            found = self._journal.event(event)
            if found is None:
                return Redacted(problem=f"Nothing was removed: there is no event {event}.")
            written = [change.after for change in found.changes if change.after and change.after.sha256]
            self._doom(doomed, written or [found.viewed, *(change.before for change in found.changes)])
            self._doom_texts(doomed, found)
            doomed.own = frozenset(change.path for change in found.changes)
        if doomed.own is not None:
            self._spare_others(doomed, doomed.own)
        self._doom_those_about(doomed)
        doomed.left += (
            f"The damaged journal {name} was not searched. It is beside the journal; remove it if it holds the text."
            for name in self._journal.set_aside()
        )
        cleaned = self._clean(doomed, match, reason, rehearse=rehearse, actor=actor)
        if cleaned.problem and not cleaned.changes:
            return Redacted(left=tuple(each.sentence for each in cleaned.left), problem=cleaned.problem)
        if not doomed.hashes:
            problem = "" if cleaned.changes else _nothing(doomed, match)
            return Redacted(changes=cleaned.changes, left=tuple(doomed.left), event=cleaned.event, problem=problem)
        about = path if path is not None else ""
        if found is not None:
            about = found.path.removeprefix("/memories/") if found.path.startswith("/memories/") else ""
        recorded: list[Event] = []
        if not rehearse:
            recorded = self._forget(doomed, about, reason, actor)
        return Redacted(
            texts=len(doomed.hashes),
            bytes=doomed.bytes,
            events=tuple(sorted(doomed.events)),
            changes=cleaned.changes,
            left=tuple(doomed.left),
            also=tuple(doomed.also),
            event=recorded[-1] if recorded else None,
        )

    def prune(
        self, older_than_us: int | None, max_bytes: int | None, *, rehearse: bool, spared_since_us: int | None = None
    ) -> Pruned:
        """See `Engine.prune`.

        Args:
            older_than_us: See there.
            max_bytes: See there.
            rehearse: See there.
            spared_since_us: What stood in the folder at that time, or later, is not removed for its bytes.
        """
        with self._writing():
            last_named: dict[str, int] = {}
            doomed = _Doomed()
            for _, body in self._journal.bodies(0, self._journal.head()[0]):
                record = json.loads(body)
                for each in _versions_in(record):
                    last_named[each] = max(last_named.get(each, 0), record["at_us"])
            standing = {known.version.sha256 for known in self._journal.known_below("").values()}
            if (loss := self._lost()) is not None:  # it is to be restored yet
                standing |= {change.before.sha256 for change in (*loss.changes, *loss.others) if change.before}
            sizes = {each: size for each, size in self._journal.sizes().items() if size[1] is not None}
            total = sum(packed or 0 for _, packed in sizes.values())
            freed = 0
            for each in sorted(sizes.keys() - standing, key=lambda each: last_named.get(each, 0)):
                too_old = older_than_us is not None and last_named.get(each, 0) < older_than_us
                spared = spared_since_us is not None and last_named.get(each, 0) >= spared_since_us
                if too_old or (max_bytes is not None and total - freed > max_bytes and not spared):
                    doomed.versions[each] = sizes[each][0]
                    freed += sizes[each][1] or 0
            if older_than_us is not None:
                freed += self._doom_old_texts(doomed, older_than_us)
            events: list[Event] = []
            if doomed.hashes and not rehearse:
                reason = "older than is kept" if older_than_us is not None else "over the bytes that are kept"
                events = self._record(doomed, "", reason, Memtui())
        if events:
            self._journal.settle_down()
            self._recorded()
        return Pruned(len(doomed.hashes), freed, total - freed, tuple(events))

    # What is to go

    def _doom(self, doomed: _Doomed, versions: Iterable[Version | None]) -> None:
        for version in versions:
            if version is not None and version.sha256 is not None and version.sha256 not in doomed.versions:
                data = self._journal.text(version.sha256)
                if data and data != REDACTED:  # nothing is given away by nothing
                    doomed.versions[version.sha256] = len(data)
                    doomed.bytes += len(data)

    def _spare_others(self, doomed: _Doomed, own: frozenset[str]) -> None:
        """Leave what other notes hold as well: they were not meant, and what they hold may not be lost."""
        for path, known in self._journal.known_below("").items():
            if path not in own and known.version.sha256 in doomed.versions:
                doomed.spared.add(known.version.sha256 or "")
                doomed.left.append(
                    f"The same text stands in {one_line(path)}, which was not meant: it stays there, and so in the "
                    "record. Redact that as well, or by --match."
                )
        for each in doomed.spared:
            doomed.bytes -= doomed.versions.pop(each)
        doomed.also += (
            f"{one_line(gone.path)}, which was removed by #{gone.event.seq}, held it as well and cannot be had again."
            for gone in self._history.deleted()
            if gone.path not in own and gone.version.sha256 in doomed.versions
        )

    def _doom_match(self, doomed: _Doomed, match: str) -> None:
        wanted = match.encode("utf-8", "surrogatepass")
        for each in self._journal.sizes():
            data = self._journal.text(each)
            if data is not None and wanted in data:
                doomed.versions[each] = len(data)
                doomed.bytes += len(data)
        shown = {
            match,
            *(visible(each, newline="\\n", tab="\\t") for each in (match, repr(match)[1:-1])),
        }  # see `quoted`
        forms = {*shown, *(json.dumps(each, ensure_ascii=ascii)[1:-1] for each in shown for ascii in (True, False))}
        named: list[int] = []
        for event in self._events():
            if any(_holds(text, forms) for text in (event.answer, event.arguments) if text):
                self._doom_texts(doomed, event)
            names = {event.path, event.new_path or "", event.note, event.call_id or ""}
            names.update(change.path for change in event.changes)
            names.update(name for pair in event.moved for name in pair)
            if any(form in name for name in names for form in shown):
                named.append(event.seq)
        if named:
            more = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
            events = ", ".join(f"#{seq}" for seq in named[:_NAMED])
            doomed.left.append(f"Names and notes of events are part of the chain and stay: {events}{more} name it.")

    def _doom_those_about(self, doomed: _Doomed) -> None:
        """What was answered about a text, and how it was asked for, may hold parts of it."""
        if not doomed.versions:
            return
        for seq, body in self._journal.bodies(0, self._journal.head()[0]):
            if any(each in doomed.versions for each in _versions_in(json.loads(body))):
                event = self._journal.event(seq)
                assert event is not None
                self._doom_texts(doomed, event)

    def _doom_texts(self, doomed: _Doomed, event: Event) -> None:
        texts = [text for text in (event.answer, event.arguments) if text is not None]
        if texts and event.seq not in doomed.events:
            encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
            doomed.events[event.seq] = [sha256(text) for text in encoded]
            doomed.bytes += sum(map(len, encoded))

    def _doom_old_texts(self, doomed: _Doomed, older_than_us: int) -> int:
        freed = 0
        for event in self._events():
            texts = [text for text in (event.answer, event.arguments) if text is not None]
            if event.at_us < older_than_us and any(len(text) > _LARGE_TEXT for text in texts):
                self._doom_texts(doomed, event)
                freed += sum(map(len, texts))
        return freed

    def _events(self) -> Iterator[Event]:
        after = 0
        while page := self._journal.events(after, limit=500):
            yield from page
            after = page[-1].seq

    # Out of the files, and out of the record

    def _clean(self, doomed: _Doomed, match: str | None, reason: str, *, rehearse: bool, actor: Actor) -> Restored:
        """Take the text out of the files that hold it: a match is replaced, a whole text goes with its file."""
        wanted: dict[str, Version | None] = {}
        expected: dict[str, Version | None] = {}
        texts: dict[str, bytes] = {}
        for each, known in self._journal.known_below("").items():
            version = known.version
            if version.kind is Kind.FILE and version.sha256 is None and match is not None:
                doomed.left.append(f"{one_line(each)} could not be read, so it was not searched.")
            is_own = doomed.own is not None and each in doomed.own and version.sha256 in doomed.spared
            if version.sha256 not in doomed.versions and not is_own:
                continue
            expected[each] = version
            wanted[each] = None
            if match is not None and version.kind is Kind.FILE and version.sha256 is not None:
                data = self._journal.text(version.sha256) or b""
                data = data.replace(match.encode("utf-8", "surrogatepass"), REDACTED)
                without = Version(Kind.FILE, sha256(data), len(data))
                wanted[each] = without
                texts[without.sha256 or ""] = data
        if match is not None:
            doomed.left += (
                f"The text stands in the name {one_line(each)}. Rename it."
                for each in self._journal.known_below("")
                if match in each
            )
        if not wanted:
            return Restored()
        deed = Deed("redact", actor, "Nothing was removed", note=reason)
        arrangement = Arrangement(wanted, expected, texts)
        return self._restorer.arrange(arrangement, deed, partial=False, rehearse=rehearse)

    def _forget(self, doomed: _Doomed, about: str, reason: str, actor: Actor) -> list[Event]:
        with self._writing():
            for each, known in self._journal.known_below("").items():
                if doomed.versions.pop(known.version.sha256 or "", None) is not None:
                    doomed.left.append(f"{one_line(each)} came to hold the text meanwhile. Do it again.")
            events = self._record(doomed, about, reason, actor)
        if not self._journal.settle_down(thoroughly=True):
            doomed.left.append(
                "Another program reads the journal at this moment: the journal's log holds the text until it is done. "
                "Do it again then to be sure."
            )
        self._recorded()
        return events

    def _record(self, doomed: _Doomed, about: str, reason: str, actor: Actor) -> list[Event]:
        hashes = sorted(set(doomed.hashes))
        events = [
            Event(
                at_us=self._now_us(),
                actor=actor,
                command="redact",
                path=str(MemoryPath.of(about)),
                note=f"{reason}: {count} removed" if reason else f"{count} removed",
                redacted=tuple(part),
            )
            for at in range(0, len(hashes), _HASHES)
            for part in [hashes[at : at + _HASHES]]
            for count in [f"{len(part):,} {'text' if len(part) == 1 else 'texts'}"]
        ]
        return self._journal.forget(events, doomed.versions, doomed.events)


def _holds(text: str, forms: Iterable[str]) -> bool:
    """Whether a text holds another one, or where it was cut the beginning of it."""
    for form in forms:
        if form in text:
            return True
        for cut in _CUT.finditer(text):
            before = text[: cut.start()]
            if any(before.endswith(form[:length]) for length in range(_TELLING, len(form))):
                return True
    return False


def _versions_in(record: Mapping[str, Any]) -> Iterator[str]:
    """The SHA-256 of every version that an event names."""
    for _, before, after in record.get("changes", ()):
        for version in (before, after):
            if version is not None and version[1] is not None:
                yield version[1]
    viewed = record.get("viewed")
    if viewed is not None and viewed[1] is not None:
        yield viewed[1]


def _nothing(doomed: _Doomed, match: str | None) -> str:
    what = "it stands nowhere in the record's texts" if match is not None else "no text of it is kept"
    return f"Nothing was removed: {what}." + (" " + " ".join(doomed.left) if doomed.left else "")
