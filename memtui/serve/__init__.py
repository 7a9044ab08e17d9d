"""The hosted memory stores' API over memory folders: `/v1/memory_stores` and what is below it.

The paths, fields and errors are those that the official SDK's `client.beta.memory_stores` sends and understands; its
types are the specification. A store is a folder, a memory is a text file in it, and a version is an event of its
journal. Every change is a command that the engine validates, applies and records, with the token's actor.
"""

from memtui.core.lazy_dataclass import dataclass

MOST_CONTENT_BYTES = 102_400
"""Bytes of a memory's content, as UTF-8."""
MOST_SHOWN_BYTES = 1_000_000
"""Bytes of the largest file that is a memory: other programs may write larger ones than the API takes."""
MOST_BODY_BYTES = 1_048_576
"""Bytes of a request's body: a content of which every byte is escaped in JSON fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """What clients may use.

    Attributes:
        rate: Requests of one token a second, on average.
        burst: Requests of one token that come at once.
        failures: Requests a second without a valid token that are answered with more than "too many".
        body_seconds: How soon a request's body is complete.
        answer_seconds: How soon a request is answered: a disk that does not answer keeps no client waiting.
        connections: Connections at a time.
        threads: Requests that are worked on at a time.
        store_threads: The same of one store.
        open_stores: Folders that are kept open.
    """

    rate: float = 100.0
    burst: int = 400
    failures: float = 10.0
    body_seconds: float = 30.0
    answer_seconds: float = 60.0
    connections: int = 256
    threads: int = 32
    store_threads: int = 8
    open_stores: int = 64
