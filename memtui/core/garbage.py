"""Python's collector of garbage, where a million values are made and all of them are kept."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reduce_gc() -> Iterator[None]:
    """For the time of a pass over a long record, or over many notes.

    Python's collector would look at what is kept again and again, which took half of the time of an inbox of 100,000
    events. Once it may look again, it would begin with all that came meanwhile, which takes a second over the links of
    100,000 notes. So where the process leaves out what stays (`gc.freeze`), that is left out as well.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count():
            gc.freeze()
        if was_on:
            gc.enable()
