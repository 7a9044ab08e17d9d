"""A session's commands once more, through the real engine: is each answered as it was then?

The commands run on a folder that is made for it, in order. Between them the recorded changes of others are applied, as
far as the journal tells; so a difference is one of memtui's own, or of a missing journal. A declined command is not
executed, and an edited one is written as the person edited it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Self

from memtui.agents.chat.events import CLAUDE
from memtui.agents.chat.sessions.records import Record, get_mapping, get_number, get_text
from memtui.core import commands
from memtui.core.errors import Refusal
from memtui.core.events import Actor, Agent, Change, EntryKind, Event, Memtui, Person, Version, sha256
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey
from memtui.engine import Engine
from memtui.engine.calls import CallTracker
from memtui.engine.history import JournalHistory
from memtui.journal.record import ReadableRecord
from memtui.memory import copy_record

LONGEST_PAUSE = 10.0
"""Seconds: a longer pause, such as one in which the person was away, is not waited for as a whole."""
_BATCH_BYTES = 32_000_000


class ReplayOutcome(Enum):
    """The treatment of a record."""

    EXECUTED = "executed"
    DECLINED = "you declined it"
    STOPPED = "you stopped it"
    NOT_APPROVED = "nobody approved it"
    READ_ONLY = "memory was read-only"
    EDITED = "you edited it; your text is written"
    EDIT_LOST = "you edited it; your text is not kept"
    NOT_RUN = "the session did not run it"
    NOT_OURS = "it is not a tool of memtui"
    UNDONE = "you undid it"
    OTHERS = "changed outside the session"


@dataclass(frozen=True, slots=True)
class ReplayedRecord:
    """One record, replayed.

    Attributes:
        call_id: The model's id of the call; empty for a record of another kind.
        fields: The input of the call.
        recorded: The answer then, which was a refusal if `was_error`; `None` where there was none.
        now: The answer now, which is a refusal if `is_error`; `None` for a call that is not executed.
        event: The journal's event now.
    """

    outcome: ReplayOutcome
    turn: int
    call_id: str = ""
    fields: Mapping[str, object] | None = None
    recorded: str | None = None
    was_error: bool = False
    now: str | None = None
    is_error: bool = False
    name: str = "memory"
    event: Event | None = None

    @property
    def differs(self) -> bool:
        """Whether the answer differs from the recorded one."""
        if self.now is None or self.recorded is None:
            return self.outcome is ReplayOutcome.EDIT_LOST
        return self.now != self.recorded or self.is_error != self.was_error


class RecordedJournal:
    """A copy of the journal of a session's folder: its earlier states, and the changes of others."""

    def __init__(self, journal: ReadableRecord) -> None:
        self._journal = journal
        self.history = JournalHistory(journal, CallTracker())

    @classmethod
    def from_file(cls, path: Path) -> Self | None:
        """A copy of the journal in a file; `None` if there is none.

        Raises:
            StateUnusable: It cannot be read.
        """
        return cls(copy_record(path)) if path.exists() else None

    def close(self) -> None:
        """Close the copy."""
        self._journal.close()

    def has_session(self, records: Iterable[Record]) -> bool:
        """Whether a session's calls are in it under their numbers: it may be another journal, begun anew."""
        ids = set[str]()
        for record in records:
            if record["type"] == "session":
                ids |= {get_text(record, name) for name in ("id", "forked_from")} - {""}
                if get_number(record, "seq") > self._journal.get_head()[0]:
                    return False
            if record["type"] == "call" and get_number(record, "seq"):
                event = self._journal.get_event(get_number(record, "seq"))
                if event is not None and isinstance(event.actor, Agent) and event.actor.session in ids:
                    return True  # a call through MCP has another id in the journal
                return event is not None and event.call_id == get_text(record, "call_id")
        return True

    def iter_events(self, after: int, until: int) -> Iterator[Event]:
        """The events after a number, up to another."""
        while after < until:
            page = self._journal.get_events(after, limit=min(1_000, until - after))
            if not page:
                return
            yield from page
            after = page[-1].seq

    def get_text(self, version: Version | None) -> bytes | None:
        """The bytes of a version; `None` where they are not kept."""
        return self._journal.get_text(version.sha256) if version is not None and version.sha256 else None


def restore_folder(memory: Engine, origin: RecordedJournal, at: int) -> list[str]:
    """Restore an empty folder to the recorded state right after an event.

    Returns:
        Paths that could not be restored: their text is not kept.
    """
    skipped: list[str] = []
    batch: dict[str, Version | None] = {}
    texts: dict[str, bytes] = {}

    def put() -> None:
        note = f"as of #{at} of the recorded folder"
        done = memory.restore(batch, texts=texts, partial=True, note=note, actor=Memtui())
        skipped.extend(each.path for each in done.skipped)
        batch.clear()
        texts.clear()

    for path, version in sorted(origin.history.get_state(at).items(), key=lambda item: item[0].split("/")):
        if (text := origin.get_text(version)) is not None and version.sha256:
            texts[version.sha256] = text
        batch[path] = version
        if sum(map(len, texts.values())) > _BATCH_BYTES:
            put()
    if batch:
        put()
    return skipped


def replay_session(
    records: Iterable[Record],
    memory: Engine,
    *,
    origin: RecordedJournal | None = None,
    speed: float = 0,
    wait: Callable[[float], object] = lambda _: None,
) -> Iterator[ReplayedRecord]:
    """Replay a session.

    Args:
        records: The session.
        memory: An open memory over a folder in the recorded state (`restore_folder`).
        origin: The journal of the recorded folder, for the changes of others.
        speed: How many times as fast as it was; 0 for no waiting at all.
        wait: Waits for seconds.
    """
    replayer = _SessionReplayer(memory, origin)
    before: datetime | None = None
    for record in records:
        at = _parse_time(record)
        if speed and before is not None and at is not None and record["type"] in ("call", "undone"):
            wait(min(max(0.0, (at - before).total_seconds()), LONGEST_PAUSE) / speed)
        before = at or before
        yield from replayer.replay_record(record)


def _parse_time(record: Record) -> datetime | None:
    try:
        found = datetime.fromisoformat(get_text(record, "at"))
    except ValueError:
        return None
    return found if found.tzinfo else None


class _SessionReplayer:
    """Replays one record after the other."""

    def __init__(self, memory: Engine, origin: RecordedJournal | None) -> None:
        self._memory = memory
        self._origin = origin
        self._at = 0
        self._session: str | None = None
        self._model: str | None = None
        self._agent = CLAUDE
        self._made: dict[int, list[int]] = {}

    def replay_record(self, record: Record) -> Iterator[ReplayedRecord]:
        match record["type"]:
            case "session":
                self._at = max(self._at, get_number(record, "seq"))
                self._session = get_text(record, "id") or None
                self._model = get_text(record, "model") or None
            case "setting":
                self._model = get_text(record, "model") or self._model
            case "turn_began":
                self._agent = get_text(record, "agent") or CLAUDE
            case "call":
                edit_seq, seq = get_number(record, "edit_seq"), get_number(record, "seq")
                yield from self._catch_up(seq, own=edit_seq)
                if seq and get_text(record, "name") != "memory":  # an agent's write with a tool of its own
                    yield from self._catch_up(seq + 1)
                    self._at = seq
                yield self._replay_call(record)
            case "undone":
                yield from self._catch_up(get_number(record, "seq"))
                yield self._replay_undo(record)

    def _catch_up(self, seq: int, own: int = 0) -> Iterator[ReplayedRecord]:
        """Apply the changes of others before an event of the session's."""
        if not seq:
            return
        for event in self._origin.iter_events(self._at, seq - 1) if self._origin else ():
            if event.changes and event.seq != own and event.command != "found":
                yield self._apply_other_event(event, self._origin)
        self._at = max(self._at, seq)

    def _apply_other_event(self, event: Event, origin: RecordedJournal | None) -> ReplayedRecord:
        versions = {change.path: change.after for change in event.changes}
        texts = {
            version.sha256: text
            for version in versions.values()
            if origin and version and version.sha256 and (text := origin.get_text(version)) is not None
        }
        actor: Actor = event.actor
        note = f"{event.command} at #{event.seq} of the recorded folder"
        done = self._memory.restore(versions, texts=texts, partial=True, note=note, actor=actor)
        fields = {"command": event.command, "path": event.path, "actor": actor.name}
        return ReplayedRecord(ReplayOutcome.OTHERS, 0, fields=fields, event=done.event)

    def _replay_call(self, record: Record) -> ReplayedRecord:
        fields = get_mapping(record, "input")
        how = classify_record(record)
        replayed = ReplayedRecord(
            how,
            get_number(record, "turn"),
            get_text(record, "call_id"),
            fields,
            get_text(record, "answer"),
            was_error=record.get("is_error") is True,
            name=get_text(record, "name"),
        )
        if how is ReplayOutcome.EDITED:
            return self._replay_edit(record, replayed)
        if how is not ReplayOutcome.EXECUTED:
            return replayed
        answer = self._memory.execute(record.get("input"), actor=self._actor, call_id=replayed.call_id)
        return self._add_answer(replayed, answer.text, answer.event, is_error=answer.is_error)

    @property
    def _actor(self) -> Agent:
        return Agent(self._agent, self._model if self._agent == CLAUDE else None, self._session)

    def _add_answer(self, replayed: ReplayedRecord, text: str, *events: Event, is_error: bool) -> ReplayedRecord:
        self._made.setdefault(replayed.turn, []).extend(event.seq for event in events if event.changes)
        return replace(replayed, now=text, is_error=is_error, event=events[-1])

    def _replay_edit(self, record: Record, replayed: ReplayedRecord) -> ReplayedRecord:
        """Write the person's text in place of the command."""
        fields = get_mapping(record, "input")
        data = self._get_edit_bytes(record)
        try:
            command = commands.parse_command(fields).command
        except Refusal:
            data = None
        if data is None or isinstance(command, commands.Rename) or command.path.is_root:
            return replace(replayed, outcome=ReplayOutcome.EDIT_LOST)
        version, note = Version(EntryKind.FILE, sha256(data), len(data)), "edited by you first"
        versions, texts = {command.path.relative: version}, {version.sha256 or "": data}
        done = self._memory.restore(versions, texts=texts, note=note, actor=Person())
        view, actor = self._memory.preview_view(command.path), self._actor
        answer = self._memory.answer_instead(
            fields, MessageKey.EDITED_FIRST, actor=actor, call_id=replayed.call_id, is_error=False, note=note,
            values={"view": view},
        )  # fmt: skip
        events = [each for each in (done.event, answer.event) if each is not None]
        return self._add_answer(replayed, done.problem or answer.text, *events, is_error=answer.is_error)

    def _get_edit_bytes(self, record: Record) -> bytes | None:
        text = record.get("edit")
        if isinstance(text, str):
            return text.encode("utf-8", "surrogatepass")
        event = self._origin.history.get_event(get_number(record, "edit_seq")) if self._origin else None
        versions = [each.after for each in event.changes if each.after] if event else []
        written = next((version for version in versions if version.kind is EntryKind.FILE), None)
        return self._origin.get_text(written) if self._origin and written else None

    def _replay_undo(self, record: Record) -> ReplayedRecord:
        turn = get_number(record, "turn")
        made = self._made.pop(turn, [])
        if not made:
            return ReplayedRecord(ReplayOutcome.UNDONE, turn, recorded="", now="", name="")
        done = self._memory.undo(made)
        recorded = self._origin.history.get_event(get_number(record, "seq")) if self._origin else None
        then = "Undone." if recorded is None else _format_changes(recorded.changes)
        now = done.problem or ("Undone." if recorded is None else _format_changes(done.changes))
        return ReplayedRecord(
            ReplayOutcome.UNDONE, turn, recorded=then, now=now, is_error=bool(done.problem), name="", event=done.event
        )


def _format_changes(changes: Iterable[Change]) -> str:
    """Changes as a text to compare."""
    rows = (f"{change.path}: {change.after.sha256 if change.after else 'deleted'}" for change in changes)
    return "\n".join(sorted(rows))


_REFUSALS = (
    (re.compile(r"Error: the user declined to "), ReplayOutcome.DECLINED),
    (re.compile(r"Error: could not \w+ .*: the user stopped before it was done\. ", re.DOTALL), ReplayOutcome.STOPPED),
    (re.compile(r"Error: could not \w+ .*: the user has to approve it and ", re.DOTALL), ReplayOutcome.NOT_APPROVED),
    (re.compile(r"Error: could not \w+ .*: read-only\Z", re.DOTALL), ReplayOutcome.READ_ONLY),
)
_NOTES = {
    "declined": ReplayOutcome.DECLINED,
    "stopped": ReplayOutcome.STOPPED,
    "not approved": ReplayOutcome.NOT_APPROVED,
}


def classify_record(record: Record) -> ReplayOutcome:
    """The treatment of a recorded call."""
    if get_text(record, "name") != "memory":
        return ReplayOutcome.NOT_OURS
    if "seq" in record and record["seq"] is None:  # it never came to the engine: cut off, or one too many
        return ReplayOutcome.NOT_RUN
    if isinstance(record.get("edit"), str) or get_number(record, "edit_seq"):
        return ReplayOutcome.EDITED
    if record.get("is_error") is not True:
        return ReplayOutcome.EXECUTED
    if found := _NOTES.get(get_text(record, "note")):
        return found
    answer = get_text(record, "answer")
    return next((how for pattern, how in _REFUSALS if pattern.match(answer)), ReplayOutcome.EXECUTED)
