"""Events for records."""

import dataclasses

from memtui.core.events import Change, EntryKind, Event, Person, Version, sha256

EVENT = Event(at_us=1, actor=Person(), command="create", path="/memories/f", answer="ok", arguments="{}")


def changed(text: bytes, name: str = "f") -> Event:
    """An event that left a text at a path where nothing was."""
    version = Version(EntryKind.FILE, sha256(text), len(text))
    return dataclasses.replace(EVENT, changes=(Change(name, None, version),))
