"""The server's log: one JSON object a line, without tokens, paths of memories, queries or contents."""

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime


class ServerLog:
    """Writes records. Every method may be called from any thread.

    Args:
        write: Takes a line without its end.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._lock = threading.Lock()

    def write(self, event: str, **fields: object) -> None:
        """Write a record; a log that cannot be written ends no request."""
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        line = json.dumps({"time": at, "event": event, **fields}, ensure_ascii=True, separators=(",", ":"))
        with self._lock:
            try:
                self._write(line)
            except OSError:
                return
