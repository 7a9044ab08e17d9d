"""Giving up on an audit that nobody waits for any more."""

from memtui.core.errors import MemtuiError


class Stopped(MemtuiError):
    """Nobody waits for the audit; nothing is known of the folder."""

    def __init__(self) -> None:
        super().__init__("The audit was stopped before its end. Nothing was changed.")
