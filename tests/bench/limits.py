"""What may only take so long, however great or hostile it is: said by the tests beside what they check, measured here.

A test asserts no duration: whoever runs it may have a slow machine, or one that does other things as well. With
`python -m tests.bench limits` the same tests run alone, one after the other, and what is slower than it may be is told.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.memories import Memories
from tests.bench.table import Row, within

_RECORD = "MEMTUI_LIMITS"
_ROOT = Path(__file__).parents[2]


@contextmanager
def at_most(seconds: float, *, waiting: bool = False) -> Iterator[None]:
    """What is done within may take so long. The tests only do it; the measurement looks at the clock.

    Args:
        seconds: Of a processor.
        waiting: Whether it is the clock on the wall that counts, because somebody waits.
    """
    clock = time.monotonic if waiting else time.process_time
    began = clock()
    yield
    took = clock() - began
    if record := os.environ.get(_RECORD):
        name = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        with Path(record).open("a", encoding="utf-8") as file:
            file.write(json.dumps([name, took, seconds]) + "\n")


def measure(_: Memories) -> Iterable[Row]:
    """Run the tests that name a limit, and tell each that was missed, and of each other test the slowest case."""
    with tempfile.TemporaryDirectory() as place:
        record = Path(place) / "limits"
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-m", "limit"]
        done = subprocess.run(
            words, cwd=_ROOT, env={**os.environ, _RECORD: str(record)}, stdout=sys.stderr, check=False
        )
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    slowest: dict[str, Row] = {}
    for name, took, seconds in sorted(lines, key=lambda line: line[1] / line[2]):
        row = within(name.rpartition("::")[2].removeprefix("test_").replace("_", " "), took, seconds)
        slowest[name if row.missed else name.partition("[")[0]] = row
    if done.returncode:
        slowest[""] = Row("tests that name a limit", "failed", target="all pass", missed=True)
    return slowest.values()
