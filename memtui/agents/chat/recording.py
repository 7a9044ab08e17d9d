"""What a conversation wants of whoever keeps it; see `memtui.agents.chat.sessions`."""

from collections.abc import Callable
from typing import Protocol

from memtui.agents.chat.sessions.restored import Restored


class Recorder(Protocol):
    """Keeps a conversation as it happens."""

    id: str

    def write(self, kind: str, /, **fields: object) -> None:
        """Keep a record, now; see `memtui.agents.chat.sessions.records` for kinds and fields."""

    def restored(self) -> Restored:
        """What the conversation begins with."""

    def listen(self, told: Callable[[str], None]) -> None:
        """Be told in sentences what became of what is kept."""

    def close(self) -> None:
        """Let go of it."""


class Unrecorded:
    """Keeps nothing."""

    def __init__(self, id: str) -> None:
        self.id = id

    def write(self, kind: str, /, **fields: object) -> None:
        """Nothing is kept."""

    def restored(self) -> Restored:
        """It begins anew."""
        return Restored()

    def listen(self, told: Callable[[str], None]) -> None:
        """There is nothing to tell."""

    def close(self) -> None:
        """There is nothing to let go of."""
