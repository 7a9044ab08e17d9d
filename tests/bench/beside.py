"""Browsers that stay open beside an agent which writes: what it costs the agent, and what it costs them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from tests.bench.memories import Memories
from tests.bench.table import Row, compared, mebibytes, middle, nearly_worst
from tests.bench.terminal import Terminal, memtui

BROWSERS = 5
RATE = 25
"""Commands a second, as of a busy agent."""
SECONDS = 20
EVENTS = (1_000, 10_000)
"""Memory is looked at after these: behind the first it must not grow."""
_FILES = 1_000
_RESTING = 60
"""Seconds: ages of minutes change once in them."""
_UNTIL_MINUTES = 61
"""Seconds: ages are shown in minutes then, and not every second is another one."""

_WRITER = """
import json, sys, time
from memtui import Agent
from memtui.memory import connect
folder, state, count, rate, first = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
took = []
with connect(folder, state=state) as engine:
    began = time.monotonic()
    for number in range(count):
        if rate:
            time.sleep(max(0.0, began + number / rate - time.monotonic()))
        path = f"/memories/area-00/written-{number % 50:02d}.md"
        command = {"command": "create", "path": path, "file_text": f"# Note {first + number}\\n\\n- a line of words\\n"}
        before = time.perf_counter()
        answer = engine.execute(command, actor=Agent("writer"))
        took.append(time.perf_counter() - before)
        assert not answer.is_error, answer.text
print(json.dumps(took))
"""

_WATCHER = """
import sys, time
from watchfiles import watch
folder, share = sys.argv[1], float(sys.argv[2])
print("ready", flush=True)
began, used = time.monotonic(), time.process_time()
for _ in watch(folder, step=10, debounce=20):
    time.sleep(0.5)
    while time.process_time() - used < share * (time.monotonic() - began):
        pass
"""
"""Shows changes twice a second, and takes a share of a core in all: what any such program costs, in a terminal of its
own, where its priority counts among its own only (Linux groups processes by session)."""


def measure(memories: Memories) -> Iterable[Row]:
    """An agent alone, beside browsers and beside plain programs of their load, and a browser over many events."""
    folder, state = memories.of_size(_FILES), memories.known_state(_FILES)
    alone = _write(folder, state, RATE * SECONDS, RATE)
    with ExitStack() as opened:
        browsers = [opened.enter_context(Terminal(memtui(folder, state))) for _ in range(BROWSERS)]
        for browser in browsers:
            browser.when(" note")
            browser.settle(1.0)
        before = [_processor_time(browser) for browser in browsers]
        beside = _write(folder, state, RATE * SECONDS, RATE)
        used = [_processor_time(browser) - began for browser, began in zip(browsers, before, strict=True)]
    plain = _write_beside_plain(folder, state, middle(used) / SECONDS)
    what = f"beside: a create, {RATE} a second, with {BROWSERS} browsers open"
    other = f"with {BROWSERS} plain programs that take as much, as often"
    yield compared(what, middle(beside), middle(plain), 1.1, name=other)
    yield compared(f"{what}, p99", nearly_worst(beside), nearly_worst(plain), 1.1, name=other)
    yield compared(what, middle(beside), middle(alone), 1.2, name="with none")
    yield compared(f"{what}, p99", nearly_worst(beside), nearly_worst(alone), None, name="with none")
    yield Row(f"beside: a core's share that each of {BROWSERS} browsers takes", f"{middle(used) / SECONDS:.1%}")
    yield from _grown(folder, state)
    memories.forget(_FILES)  # it has other files by now


def _grown(folder: Path, state: Path) -> Iterable[Row]:
    """What an open browser holds after many events."""
    written = 0
    memory, files = [], []
    with Terminal(memtui(folder, state)) as browser:
        browser.when(" note")
        for events in EVENTS:
            _write(folder, state, events - written, 0, first=written)
            written = events
            browser.settle(2.0)
            memory.append(browser.memory())
            files.append(len(os.listdir(f"/proc/{browser.process.pid}/fd")))
        browser.rest(_UNTIL_MINUTES)
        drawn, used = browser.mark, _processor_time(browser)
        browser.rest(_RESTING)
        drawn, used = browser.mark - drawn, _processor_time(browser) - used
    early, late = memory
    what = f"beside: memory of a browser after {EVENTS[1]:,} events"
    growth = f"{late / early:.2f}"
    yield Row(
        what, mebibytes(late), f"after {EVENTS[0]:,} {mebibytes(early)}", growth, "≤ 1.05", missed=late > early * 1.05
    )
    yield Row(
        f"beside: its open files after {EVENTS[1]:,} events", f"{files[1]}", f"{files[0]}", missed=files[1] > files[0]
    )
    yield Row(f"beside: drawn in {_RESTING} s at rest", f"{drawn} B")
    yield Row(
        "beside: a core's share at rest", f"{used / _RESTING:.2%}", target="≤ 0.30%", missed=used > 0.003 * _RESTING
    )


def _write_beside_plain(folder: Path, state: Path, share: float) -> list[float]:
    """Seconds of each command beside plain programs that watch the folder, and take a share of a core each."""
    with ExitStack() as opened:
        for _ in range(BROWSERS):
            words = [sys.executable, "-c", _WATCHER, str(folder), str(share)]
            plain = opened.enter_context(subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True))
            opened.callback(plain.kill)
            assert plain.stdout is not None
            plain.stdout.readline()
        return _write(folder, state, RATE * SECONDS, RATE)


def _write(folder: Path, state: Path, count: int, rate: int, *, first: int = 0) -> list[float]:
    """Seconds of each command of another process; as fast as they go where the rate is 0."""
    words = [sys.executable, "-c", _WRITER, str(folder), str(state), str(count), str(rate), str(first)]
    return list(json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout))


def _processor_time(browser: Terminal) -> float:
    """Seconds that its process used so far."""
    words = Path(f"/proc/{browser.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
