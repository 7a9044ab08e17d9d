"""The signals that end a process, taken as Ctrl+C is: what is temporary is removed, and what was said is kept."""

import contextlib
import signal
from collections.abc import Iterator
from typing import NoReturn


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """Have the signals that end a process raise `SystemExit` meanwhile, with the code that a shell gives them."""

    def end(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
