"""A session's commands once more, through the real engine: is each answered as it was then?

The commands run on a folder that is made for it, in order. Between them the folder is brought to where others had
brought the recorded one, as far as its journal tells; so a difference is one of memtui's own, or of a journal that is
not there. What a person declined is not carried out, and what she edited is written as she did.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Self

from memtui.agents.chat.sessions.records import Record, mapping_in, number_in, text_in
from memtui.core import commands
from memtui.core.errors import Refusal
from memtui.core.events import Actor, Agent, Change, Event, Memtui, Person, Version, sha256
from memtui.core.messages import Message
from memtui.core.snapshot import Kind
from memtui.engine import Engine
from memtui.engine.history import History
from memtui.journal.sqlite import Journal

LONGEST_PAUSE = 10.0
"""Seconds: a longer pause, such as one in which the person was away, is not waited for as a whole."""
_BATCH_BYTES = 32_000_000


class How(Enum):
    """What was made of a record."""

    EXECUTED = "executed"
    DECLINED = "you declined it then"
    STOPPED = "you stopped it then"
    NOT_APPROVED = "nobody approved it then"
    READ_ONLY = "memory was read-only then"
    EDITED = "you edited it then, and it is written as you did"
    EDIT_LOST = "you edited it then, and what you wrote is not kept"
    NOT_RUN = "it was not run then"
    NOT_OURS = "it is no tool of memtui's"
    UNDONE = "you took it back then"
    OTHERS = "others had changed this meanwhile"


@dataclass(frozen=True, slots=True)
class Replayed:
    """One record, replayed.

    Attributes:
        how: What was made of it.
        turn: In which turn it was.
        call_id: The model's id of the call; empty for what is none.
        fields: The input of the call.
        recorded: The answer then; `None` where there was none.
        was_error: Whether that was a refusal.
        now: The answer now; `None` for what is not carried out.
        is_error: Whether that is a refusal.
        name: The tool.
        event: What was recorded now.
    """

    how: How
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
        """Whether it is answered in another way than it was."""
        if self.now is None or self.recorded is None:
            return self.how is How.EDIT_LOST
        return self.now != self.recorded or self.is_error != self.was_error


class Origin:
    """The journal of the folder in which a session was held: what the folder held, and what others did to it.

    Args:
        journal: A copy of it; nothing is written.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.history = History(journal, nullcontext)

    @classmethod
    def at(cls, path: Path) -> Self | None:
        """The journal in a file; `None` if there is none.

        Raises:
            StateUnusable: There is one that cannot be read.
        """
        return cls(Journal.copy_of(str(path))) if path.exists() else None

    def close(self) -> None:
        """Let go of the copy."""
        self._journal.close()

    def is_of(self, records: Iterable[Record]) -> bool:
        """Whether a session's calls stand in it under their numbers: it may be another, begun anew."""
        for record in records:
            if record["type"] == "session" and number_in(record, "seq") > self._journal.head()[0]:
                return False
            if record["type"] == "call" and number_in(record, "seq"):
                event = self._journal.event(number_in(record, "seq"))
                return event is not None and event.call_id == text_in(record, "call_id")
        return True

    def events(self, after: int, until: int) -> Iterator[Event]:
        """The events after a number, up to another."""
        while after < until:
            page = self._journal.events(after, limit=min(1_000, until - after))
            if not page:
                return
            yield from page
            after = page[-1].seq

    def text(self, version: Version | None) -> bytes | None:
        """The bytes of a version; `None` where they are not kept."""
        return self._journal.text(version.sha256) if version is not None and version.sha256 else None


def set_out(memory: Engine, origin: Origin, at: int) -> list[str]:
    """Have an empty folder hold what the recorded one held right after an event.

    Returns:
        Paths that it could not be given: their text is not kept.
    """
    left: list[str] = []
    batch: dict[str, Version | None] = {}
    texts: dict[str, bytes] = {}

    def put() -> None:
        done = memory.restore(batch, texts=texts, partial=True, note=f"as of #{at} of the record", actor=Memtui())
        left.extend(each.path for each in done.left)
        batch.clear()
        texts.clear()

    for path, version in sorted(origin.history.state(at).items(), key=lambda item: item[0].split("/")):
        if (text := origin.text(version)) is not None and version.sha256:
            texts[version.sha256] = text
        batch[path] = version
        if sum(map(len, texts.values())) > _BATCH_BYTES:
            put()
    if batch:
        put()
    return left


def replay(
    records: Iterable[Record],
    memory: Engine,
    *,
    origin: Origin | None = None,
    speed: float = 0,
    wait: Callable[[float], object] = lambda _: None,
) -> Iterator[Replayed]:
    """Replay a session.

    Args:
        records: The session.
        memory: An open memory over a folder that holds what the recorded one held (`set_out`).
        origin: The journal of the recorded folder, for what others did meanwhile.
        speed: How many times as fast as it was; 0 for no waiting at all.
        wait: Waits for seconds.
    """
    replayer = _Replayer(memory, origin)
    before: datetime | None = None
    for record in records:
        at = _time(record)
        if speed and before is not None and at is not None and record["type"] in ("call", "undone"):
            wait(min(max(0.0, (at - before).total_seconds()), LONGEST_PAUSE) / speed)
        before = at or before
        yield from replayer.take(record)


def _time(record: Record) -> datetime | None:
    try:
        found = datetime.fromisoformat(text_in(record, "at"))
    except ValueError:
        return None
    return found if found.tzinfo else None


class _Replayer:
    """Takes one record after the other."""

    def __init__(self, memory: Engine, origin: Origin | None) -> None:
        self._memory = memory
        self._origin = origin
        self._at = 0
        self._session: str | None = None
        self._model: str | None = None
        self._made: dict[int, list[int]] = {}

    def take(self, record: Record) -> Iterator[Replayed]:
        match record["type"]:
            case "session":
                self._at = max(self._at, number_in(record, "seq"))
                self._session = text_in(record, "id") or None
                self._model = text_in(record, "model") or None
            case "setting":
                self._model = text_in(record, "model") or self._model
            case "call":
                edit_seq = number_in(record, "edit_seq")
                yield from self._catch_up(number_in(record, "seq"), own=edit_seq)
                yield self._call(record)
            case "undone":
                yield from self._catch_up(number_in(record, "seq"))
                yield self._undo(record)

    def _catch_up(self, seq: int, own: int = 0) -> Iterator[Replayed]:
        """Do what others did before an event of the session's."""
        if not seq:
            return
        for event in self._origin.events(self._at, seq - 1) if self._origin else ():
            if event.changes and event.seq != own and event.command != "found":
                yield self._do_as_others(event, self._origin)
        self._at = max(self._at, seq)

    def _do_as_others(self, event: Event, origin: Origin | None) -> Replayed:
        wanted = {change.path: change.after for change in event.changes}
        texts = {
            version.sha256: text
            for version in wanted.values()
            if origin and version and version.sha256 and (text := origin.text(version)) is not None
        }
        actor: Actor = event.actor
        done = self._memory.restore(
            wanted, texts=texts, partial=True, note=f"{event.command} at #{event.seq} of the record", actor=actor
        )
        fields = {"command": event.command, "path": event.path, "actor": actor.name}
        return Replayed(How.OTHERS, 0, fields=fields, event=done.event)

    def _call(self, record: Record) -> Replayed:
        fields = mapping_in(record, "input")
        how = how_of(record)
        told = Replayed(
            how,
            number_in(record, "turn"),
            text_in(record, "call_id"),
            fields,
            text_in(record, "answer"),
            was_error=record.get("is_error") is True,
            name=text_in(record, "name"),
        )
        if how is How.EDITED:
            return self._edited(record, told)
        if how is not How.EXECUTED:
            return told
        answer = self._memory.execute(record.get("input"), actor=self._actor, call_id=told.call_id)
        return self._answered(told, answer.text, answer.event, is_error=answer.is_error)

    @property
    def _actor(self) -> Agent:
        return Agent("Claude", self._model, self._session)

    def _answered(self, told: Replayed, text: str, *events: Event, is_error: bool) -> Replayed:
        made = self._made.setdefault(told.turn, [])
        made += (event.seq for event in events if event.changes)
        return Replayed(
            told.how,
            told.turn,
            told.call_id,
            told.fields,
            told.recorded,
            told.was_error,
            text,
            is_error,
            told.name,
            events[-1],
        )

    def _edited(self, record: Record, told: Replayed) -> Replayed:
        """Write what the person wrote in the place of what was asked for."""
        fields = mapping_in(record, "input")
        data = self._edit(record)
        try:
            command = commands.judge(fields).command
        except Refusal:
            data = None
        if data is None or isinstance(command, commands.Rename) or command.path.is_root:
            return Replayed(How.EDIT_LOST, told.turn, told.call_id, fields, told.recorded, told.was_error)
        version = Version(Kind.FILE, sha256(data), len(data))
        done = self._memory.restore(
            {command.path.relative: version},
            texts={version.sha256 or "": data},
            note="edited by you first",
            actor=Person(),
        )
        answer = self._memory.answer_instead(
            fields,
            Message.EDITED_FIRST,
            actor=self._actor,
            call_id=told.call_id,
            is_error=False,
            note="edited by you first",
            values={"view": self._memory.answer_to_view(command.path)},
        )
        events = [each for each in (done.event, answer.event) if each is not None]
        return self._answered(told, done.problem or answer.text, *events, is_error=answer.is_error)

    def _edit(self, record: Record) -> bytes | None:
        text = record.get("edit")
        if isinstance(text, str):
            return text.encode("utf-8", "surrogatepass")
        event = self._origin.history.event(number_in(record, "edit_seq")) if self._origin else None
        written = next((each.after for each in event.changes if _is_file(each)), None) if event else None
        return self._origin.text(written) if self._origin and written else None

    def _undo(self, record: Record) -> Replayed:
        turn = number_in(record, "turn")
        made = self._made.pop(turn, [])
        if not made:
            return Replayed(How.UNDONE, turn, recorded="", now="", name="")
        done = self._memory.undo(made)
        recorded = self._origin.history.event(number_in(record, "seq")) if self._origin else None
        then = "Taken back." if recorded is None else _listed(recorded.changes)
        now = done.problem or ("Taken back." if recorded is None else _listed(done.changes))
        return Replayed(
            How.UNDONE, turn, recorded=then, now=now, is_error=bool(done.problem), name="", event=done.event
        )


def _is_file(change: Change) -> bool:
    return change.after is not None and change.after.kind is Kind.FILE


def _listed(changes: Iterable[Change]) -> str:
    """What a change came to, to be compared."""
    rows = (f"{change.path}: {change.after.sha256 if change.after else 'gone'}" for change in changes)
    return "\n".join(sorted(rows))


_VERDICTS = (
    (re.compile(r"Error: the user declined to "), How.DECLINED),
    (re.compile(r"Error: could not \w+ .*: the user stopped before it was done\. ", re.DOTALL), How.STOPPED),
    (re.compile(r"Error: could not \w+ .*: the user has to approve it and ", re.DOTALL), How.NOT_APPROVED),
    (re.compile(r"Error: could not \w+ .*: read-only\Z", re.DOTALL), How.READ_ONLY),
)
_NOTES = {"declined": How.DECLINED, "stopped": How.STOPPED, "not approved": How.NOT_APPROVED}


def how_of(record: Record) -> How:
    """What is to be made of a recorded call."""
    if text_in(record, "name") != "memory":
        return How.NOT_OURS
    if "seq" in record and record["seq"] is None:  # it never came to the engine: cut off, or one too many
        return How.NOT_RUN
    if isinstance(record.get("edit"), str) or number_in(record, "edit_seq"):
        return How.EDITED
    if record.get("is_error") is not True:
        return How.EXECUTED
    if found := _NOTES.get(text_in(record, "note")):
        return found
    answer = text_in(record, "answer")
    return next((how for pattern, how in _VERDICTS if pattern.match(answer)), How.EXECUTED)
