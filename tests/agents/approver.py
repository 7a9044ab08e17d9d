"""A running memtui to which approvals of other processes come."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memtui.agents.remote_approval import ApprovalQuestion, ApprovalServer

LIMIT = 180.0
"""Seconds after which it should have opened, on a busy machine too."""


@contextmanager
def open_approver(state: Path, answer: Callable[[ApprovalQuestion], object]) -> Iterator[None]:
    """Take the questions about the memory whose state is there."""
    server = ApprovalServer(state, answer)
    server.start()
    try:
        assert server.wait_until_open(LIMIT)
        yield
    finally:
        server.close()
