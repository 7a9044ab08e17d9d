"""The notes that others changed since the person last looked."""

from dataclasses import dataclass

from memtui.cli.reader.sentences import format_event_sentence, is_file
from memtui.core.events import Event, Person, Version
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.engine.lineage import find_moves

SEEN = "seen"
"""The journal's key of the last event that the person has seen; the browser uses the same."""


@dataclass(slots=True)
class UnseenNote:
    """The changes of one note: its versions then and now, the last event, how many, and its former path."""

    path: str
    before: Version | None
    after: Version | None
    last: Event
    times: int = 1
    was: str = ""


class UnseenNotes:
    """The notes that others changed since the person last looked; each event is read once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._found: dict[str, UnseenNote] = {}
        self._seen = -1
        self._until = 0

    def get_seen_seq(self) -> int:
        """The number of the event up to which the person has seen everything."""
        seen = self._engine.get_metadata(SEEN)
        return int(seen) if seen and seen.isdecimal() else self._engine.get_head()[0]

    def list_notes(self) -> list[UnseenNote]:
        """All of them, the last change first."""
        seen = self.get_seen_seq()
        if seen != self._seen:
            self._found, self._seen, self._until = {}, seen, seen
        for event in self._engine.events(self._until):
            self._until = event.seq
            if not (event.is_error or event.command in ("found", "began") or isinstance(event.actor, Person)):
                self._add_event(event)
        return [each for each in reversed(self._found.values()) if each.before != each.after or each.was]

    def format_greeting(self) -> str:
        """How much is new, in a sentence; empty if nothing is."""
        new = self.list_notes()
        if not new:
            return ""
        last = format_event_sentence(new[0].last)
        return f"{format_count(len(new), 'note')} changed since you last looked. The last one: {last}"

    def mark_seen(self, until: int) -> None:
        """Everything up to an event has been seen."""
        self._engine.set_metadata(SEEN, str(until))

    def _add_event(self, event: Event) -> None:
        came_from = find_moves(event)
        moved_away = set(came_from.values())
        known = {path: self._found.pop(path) for path in (*came_from, *moved_away) if path in self._found}
        for change in event.changes:
            path, old = change.path, came_from.get(change.path)
            if not is_file(change.after or change.before) or (path in moved_away and change.after is None):
                continue
            earlier = known.get(old or path) or self._found.pop(path, None)
            before = earlier.before if earlier else change.after if old is not None else change.before
            was = (earlier.was if earlier else "") or old or ""
            times = earlier.times + 1 if earlier else 1
            self._found[path] = UnseenNote(path, before, change.after, event, times, "" if was == path else was)
