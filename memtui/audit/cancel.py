"""Cancellation of an audit."""

from collections.abc import Callable

from memtui.core.errors import MemtuiError


class AuditCancelled(MemtuiError):
    """Nobody waits for the audit; nothing is known of the folder."""

    def __init__(self) -> None:
        super().__init__("The audit was stopped before its end. Nothing was changed.")


def check_cancelled(stop: Callable[[], bool]) -> None:
    """Raise `AuditCancelled` where the caller asks to stop."""
    if stop():
        raise AuditCancelled
