"""Removing texts from the record for good: a secret that must go, and what is older than anybody wants to keep.

Events, their hashes and the reason stay, so the chain still verifies; only texts go. No agent can ask for it.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from memtui.core.events import Actor, EntryKind, Event, Memtui, Version, sha256
from memtui.core.history import ActionResult, PruneResult, RedactionResult
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath, format_path
from memtui.core.unicode import to_one_line, visible
from memtui.core.wording import format_count
from memtui.engine.apply import ChangeSet
from memtui.engine.context import EngineContext
from memtui.engine.history import JournalHistory
from memtui.engine.refusals import describe_error
from memtui.engine.restore import ActionRecord, Restorer
from memtui.engine.stats import MassLossMonitor
from memtui.fs.state import KNOWN_NOTES
from memtui.journal.chain import decode_body

REDACTED = b"[redacted]"
_HASHES = 1_000
"""Hashes that one event names at most."""
_LARGE_TEXT = 256
"""Characters of an answer, or of arguments, that are worth removing for their age."""
_CUT = re.compile(r"\[\.\.\. [0-9,]+ more characters\]")
"""What stands where a text was cut before it was recorded; see `commands.recorded`."""
_TELLING = 4
_NAMED = 5


@dataclass(slots=True)
class _RedactionPlan:
    """What is going to be removed.

    Attributes:
        versions: Sizes in bytes by SHA-256.
        events: Hashes of answers and arguments, by the number of their event.
        bytes: Of all texts together.
        left: What cannot be removed, as sentences.
        also: What goes along although it was not meant, as sentences.
        own: The paths that are meant; `None` for any.
        spared: SHA-256 of versions that stay, since notes that are not meant hold them as well.
        about: The path of the redaction's event, relative to the folder.
    """

    versions: dict[str, int] = field(default_factory=dict)
    events: dict[int, list[str]] = field(default_factory=dict)
    bytes: int = 0
    left: list[str] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    own: frozenset[str] | None = None
    spared: set[str] = field(default_factory=set)
    about: str = ""

    @property
    def hashes(self) -> list[str]:
        return [*self.versions, *(each for hashes in self.events.values() for each in hashes)]


class Redactor:
    def __init__(
        self, context: EngineContext, history: JournalHistory, restorer: Restorer, losses: MassLossMonitor
    ) -> None:
        self._context = context
        self._history = history
        self._restorer = restorer
        self._losses = losses

    def redact(
        self,
        *,
        event: int | None,
        path: str | None,
        match: str | None,
        version: str | None,
        reason: str,
        rehearse: bool,
        actor: Actor,
    ) -> RedactionResult:
        plan = _RedactionPlan()
        if match is not None:
            problem = self._plan_match(plan, match, reason)
        elif version is not None:
            problem = ""
            self._add_versions(plan, [Version(EntryKind.FILE, version)])
            plan.own = frozenset()  # what a file holds stays
        elif path is not None:
            problem = self._plan_path(plan, path)
        else:
            problem = self._plan_event(plan, event or 0)
        if problem:
            return RedactionResult(problem=f"Nothing was removed: {problem}.")
        if plan.own is not None:
            self._spare_others(plan, plan.own)
        self._add_related_events(plan)
        plan.left += (
            f"The damaged journal {name} was not searched. It is beside the journal; remove it if it holds the text."
            for name in self._context.journal.files.list_damaged()
        )
        cleaned = self._redact_files(plan, match, reason, rehearse=rehearse, actor=actor)
        if cleaned.problem and not cleaned.changes:
            return RedactionResult(left=tuple(each.sentence for each in cleaned.skipped), problem=cleaned.problem)
        if not plan.hashes:
            problem = "" if cleaned.changes else _explain_nothing(plan, match)
            return RedactionResult(changes=cleaned.changes, left=tuple(plan.left), event=cleaned.event, problem=problem)
        recorded = [] if rehearse else self._redact_journal(plan, reason, actor)
        return RedactionResult(
            texts=len(plan.hashes),
            bytes=plan.bytes,
            events=tuple(sorted(plan.events)),
            changes=cleaned.changes,
            left=tuple(plan.left),
            also=tuple(plan.also),
            event=recorded[-1] if recorded else None,
        )

    def prune(
        self, older_than_us: int | None, max_bytes: int | None, *, rehearse: bool, spared_since_us: int | None = None
    ) -> PruneResult:
        """See `Engine.prune`; what stood in the folder at `spared_since_us` or later is not removed for its bytes."""
        journal = self._context.journal
        with self._context.begin_transaction():
            plan = _RedactionPlan()
            last_named = self._find_last_named()
            standing = {known.version.sha256 for known in journal.get_known_below("").values()}
            if (loss := self._losses.get_current()) is not None:  # it is to be restored yet
                standing |= {change.before.sha256 for change in (*loss.changes, *loss.others) if change.before}
            sizes = {
                each: (size, packed)
                for each, (size, packed) in journal.get_version_sizes().items()
                if packed is not None
            }
            total = sum(packed for _, packed in sizes.values())
            freed = 0
            for each in sorted(sizes.keys() - standing, key=lambda each: last_named.get(each, 0)):
                too_old = older_than_us is not None and last_named.get(each, 0) < older_than_us
                spared = spared_since_us is not None and last_named.get(each, 0) >= spared_since_us
                if too_old or (max_bytes is not None and total - freed > max_bytes and not spared):
                    plan.versions[each] = sizes[each][0]
                    freed += sizes[each][1]
            if older_than_us is not None:
                freed += self._add_old_texts(plan, older_than_us)
            events: list[Event] = []
            if plan.hashes and not rehearse:
                reason = "older than keep_days" if older_than_us is not None else "over keep_bytes"
                events = self._record(plan, reason, Memtui())
        if events:
            journal.checkpoint()
            self._context.calls.mark_changed()
        return PruneResult(len(plan.hashes), freed, total - freed, tuple(events))

    def _find_last_named(self) -> dict[str, int]:
        """When each text was last named by an event, by its SHA-256, in microseconds since 1970."""
        last_named: dict[str, int] = {}
        for _, record in self._iter_records():
            for each in _iter_hashes(record):
                last_named[each] = max(last_named.get(each, 0), record["at_us"])
        return last_named

    # What is to go

    def _plan_match(self, plan: _RedactionPlan, match: str, reason: str) -> str:
        """Plan to remove a text wherever it is; returns why not, if so."""
        if not match:
            return "the text to remove is empty"
        if match in reason:
            return "the reason contains the text itself, and reasons stay"
        needle = match.encode("utf-8", "surrogatepass")
        for each in self._context.journal.get_version_sizes():
            data = self._context.journal.get_text(each)
            if data is not None and needle in data:
                plan.versions[each] = len(data)
                plan.bytes += len(data)
        self._add_mentions(plan, match)
        return ""

    def _plan_path(self, plan: _RedactionPlan, path: str) -> str:
        """Plan to remove the texts of a path; returns why not, if so."""
        versions = self._history.versions_of(path, imported=True)
        if not versions:
            return f"there is no history of {to_one_line(path)}"
        self._add_versions(plan, (version for row in versions for version in (row.before, row.after)))
        plan.own, plan.about = frozenset({path}), path
        return ""

    def _plan_event(self, plan: _RedactionPlan, seq: int) -> str:
        """Plan to remove the texts of an event; returns why not, if so."""
        event = self._context.journal.get_event(seq)
        if event is None:
            return f"there is no event {seq}"
        written = [change.after for change in event.changes if change.after and change.after.sha256]
        self._add_versions(plan, written or [event.viewed, *(change.before for change in event.changes)])
        self._add_event_texts(plan, event)
        plan.own = frozenset(change.path for change in event.changes)
        plan.about = event.path.removeprefix("/memories/") if event.path.startswith("/memories/") else ""
        return ""

    def _add_versions(self, plan: _RedactionPlan, versions: Iterable[Version | None]) -> None:
        for version in versions:
            if version is not None and version.sha256 is not None and version.sha256 not in plan.versions:
                data = self._context.journal.get_text(version.sha256)
                if data and data != REDACTED:  # nothing is given away by nothing
                    plan.versions[version.sha256] = len(data)
                    plan.bytes += len(data)

    def _spare_others(self, plan: _RedactionPlan, own: frozenset[str]) -> None:
        """Leave what other notes hold as well: they were not meant, and what they hold may not be lost."""
        for path, known in self._context.journal.get_known_below("").items():
            if path not in own and known.version.sha256 in plan.versions:
                plan.spared.add(known.version.sha256 or "")
                plan.left.append(
                    f"The same text is in {to_one_line(path)} too: it stays there and in the history. "
                    "Redact that as well, or use --match."
                )
        for each in plan.spared:
            plan.bytes -= plan.versions.pop(each)
        for gone in self._history.find_deleted():
            if gone.path not in own and gone.version.sha256 in plan.versions:
                source = f"{to_one_line(gone.path)}, which was deleted by #{gone.event.seq}"
                plan.also.append(f"{source}, had it too and can no longer be restored.")

    def _add_mentions(self, plan: _RedactionPlan, match: str) -> None:
        """Plan to remove the answers and arguments that hold a text; name the events whose names and notes do."""
        shown = {
            match,
            *(visible(each, newline="\\n", tab="\\t") for each in (match, repr(match)[1:-1])),
        }  # see `quote_value`
        forms = {*shown, *(json.dumps(each, ensure_ascii=ascii)[1:-1] for each in shown for ascii in (True, False))}
        named: list[int] = []
        for event in self._context.journal.iter_events():
            if any(_has_text(text, forms) for text in (event.answer, event.arguments) if text):
                self._add_event_texts(plan, event)
            names = {event.path, event.new_path or "", event.note, event.call_id or ""}
            names.update(change.path for change in event.changes)
            names.update(name for pair in event.moved for name in pair)
            if any(form in name for name in names for form in shown):
                named.append(event.seq)
        if named:
            more = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
            events = ", ".join(f"#{seq}" for seq in named[:_NAMED])
            plan.left.append(f"Names and notes of events are part of the chain and stay: see {events}{more}.")

    def _add_related_events(self, plan: _RedactionPlan) -> None:
        """What was answered about a text, and how it was asked for, may hold parts of it."""
        if not plan.versions:
            return
        for seq, record in self._iter_records():
            if any(each in plan.versions for each in _iter_hashes(record)):
                event = self._context.journal.get_event(seq)
                assert event is not None
                self._add_event_texts(plan, event)

    def _add_event_texts(self, plan: _RedactionPlan, event: Event) -> None:
        texts = [text for text in (event.answer, event.arguments) if text is not None]
        if texts and event.seq not in plan.events:
            encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
            plan.events[event.seq] = [sha256(text) for text in encoded]
            plan.bytes += sum(map(len, encoded))

    def _add_old_texts(self, plan: _RedactionPlan, older_than_us: int) -> int:
        freed = 0
        for event in self._context.journal.iter_events():
            texts = [text for text in (event.answer, event.arguments) if text is not None]
            if event.at_us < older_than_us and any(len(text) > _LARGE_TEXT for text in texts):
                self._add_event_texts(plan, event)
                freed += sum(map(len, texts))
        return freed

    def _iter_records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for seq, body in self._context.journal.iter_bodies(0, self._context.journal.get_head()[0]):
            yield seq, decode_body(body)

    # Out of the files, and out of the record

    def _redact_files(
        self, plan: _RedactionPlan, match: str | None, reason: str, *, rehearse: bool, actor: Actor
    ) -> ActionResult:
        """Take the text out of the files that hold it: a match is replaced, a whole text goes with its file."""
        targets: dict[str, Version | None] = {}
        expected: dict[str, Version | None] = {}
        texts: dict[str, bytes] = {}
        for each, known in self._context.journal.get_known_below("").items():
            version = known.version
            if version.kind is EntryKind.FILE and version.sha256 is None and match is not None:
                plan.left.append(f"{to_one_line(each)} was not searched: it could not be read.")
            is_own = plan.own is not None and each in plan.own and version.sha256 in plan.spared
            if version.sha256 not in plan.versions and not is_own:
                continue
            expected[each] = version
            targets[each] = None
            if match is not None and version.kind is EntryKind.FILE and version.sha256 is not None:
                data = self._context.journal.get_text(version.sha256) or b""
                data = data.replace(match.encode("utf-8", "surrogatepass"), REDACTED)
                texts[sha256(data)] = data
                targets[each] = Version(EntryKind.FILE, sha256(data), len(data))
        if match is not None:
            names = (each for each in self._context.journal.get_known_below("") if match in each)
            plan.left += (f"The text is in the name {to_one_line(each)}. Rename the file." for each in names)
        if not targets:
            return ActionResult()
        action = ActionRecord("redact", actor, "Nothing was removed", note=reason)
        change_set = ChangeSet(targets, expected, texts)
        return self._restorer.apply_change_set(change_set, action, rehearse=rehearse)

    def _redact_journal(self, plan: _RedactionPlan, reason: str, actor: Actor) -> list[Event]:
        with self._context.begin_transaction():
            for each, known in self._context.journal.get_known_below("").items():
                if plan.versions.pop(known.version.sha256 or "", None) is not None:
                    plan.left.append(f"{to_one_line(each)} got the text while it was removed. Redact again.")
            events = self._record(plan, reason, actor)
        if not self._context.journal.checkpoint(thoroughly=True):
            plan.left.append(
                "Another program is reading the journal: its log keeps the text until that ends. "
                "Redact again then to be sure."
            )
        self._context.calls.mark_changed()
        return events

    def _record(self, plan: _RedactionPlan, reason: str, actor: Actor) -> list[Event]:
        hashes = sorted(set(plan.hashes))
        events: list[Event] = []
        for at in range(0, len(hashes), _HASHES):
            part = tuple(hashes[at : at + _HASHES])
            count = format_count(len(part), "text")
            note = f"{reason}: {count} removed" if reason else f"{count} removed"
            at_us, path = self._context.get_now_us(), str(MemoryPath.from_relative(plan.about))
            events.append(Event(at_us=at_us, actor=actor, command="redact", path=path, note=note, redacted=part))
        recorded = self._context.journal.redact(events, plan.versions, plan.events)
        self._remove_known_notes(plan)
        return recorded

    def _remove_known_notes(self, plan: _RedactionPlan) -> None:
        """Remove what is kept of notes for their graph: it may hold words of what was removed."""
        if (directory := self._context.journal.files.directory) is None:
            return
        path = os.path.join(directory, KNOWN_NOTES)
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            plan.left.append(f"{format_path(path)} may hold the text and cannot be removed: {describe_error(error)}.")


def _has_text(text: str, forms: Iterable[str]) -> bool:
    """Whether a text holds another one, or where it was cut the beginning of it."""
    for form in forms:
        if form in text:
            return True
        for cut in _CUT.finditer(text):
            before = text[: cut.start()]
            if any(before.endswith(form[:length]) for length in range(_TELLING, len(form))):
                return True
    return False


def _iter_hashes(record: Mapping[str, Any]) -> Iterator[str]:
    """The SHA-256 of every version that an event names."""
    for _, before, after in record.get("changes", ()):
        for version in (before, after):
            if version is not None and version[1] is not None:
                yield version[1]
    viewed = record.get("viewed")
    if viewed is not None and viewed[1] is not None:
        yield viewed[1]


def _explain_nothing(plan: _RedactionPlan, match: str | None) -> str:
    reason = "it is not in the history" if match is not None else "no text of it is kept"
    return f"Nothing was removed: {reason}." + (" " + " ".join(plan.left) if plan.left else "")
