"""What was done to a folder, as small values: a long record has many of them."""

from typing import NamedTuple

from memtui.core.events import Actor, Agent, Version


class Step(NamedTuple):
    """What a thing was after an event.

    Attributes:
        seq: The event's number; the one after which the span begins for what stood there before.
        name: What it was called; of something that is gone, what it was called last.
        version: What it held; `None` for nothing.
    """

    seq: int
    name: str
    version: Version | None


class Deed(NamedTuple):
    """An event that changed something, as much of it as is needed of all of them.

    Attributes:
        seq: Its number.
        at_us: When it began, in microseconds since 1970.
        actor: Who; whose it was as somebody said later, where somebody did.
        command: What it was.
        note: What is noted with it.
        added: Lines; `None` where that is not known.
        removed: Lines.
        is_one: Whether it changed one path.
    """

    seq: int
    at_us: int
    actor: Actor
    command: str
    note: str
    added: int | None
    removed: int | None
    is_one: bool

    @property
    def session(self) -> str | None:
        """In which conversation."""
        return self.actor.session if isinstance(self.actor, Agent) else None
