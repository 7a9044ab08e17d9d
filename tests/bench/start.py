"""From the command line to the first frame, to a verb's answer, and to a screen that is opened for the first time."""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from time import perf_counter

from tests.bench import bare
from tests.bench.memories import Memories
from tests.bench.table import Row, compared, middle, seconds, within
from tests.bench.terminal import Terminal, environment, memtui

ROUNDS = 9
FILES = 1_000
LIMIT = 1.2
"""How much longer than a bare Textual application the browser may take."""
VERB_LIMIT = 1.2
"""How much longer than the browser the chat and the audit may take."""
NOTHING_LIMIT = 2.0
"""How much longer than a Python that does nothing `--version` may take."""
ANSWER_LIMIT = 0.15
"""Seconds that a plain verb may take."""
OPENING_LIMIT = 0.1
"""Seconds from a key to the screen that it opens for the first time."""
_FEW = 100
_NOTE = "note-000000.md"
_VERBS = (("ls",), ("show", _NOTE), ("search", "topic"), ("stats",), ("log",), ("diff", _NOTE), ("blame", _NOTE))
_SCREENS = (("find", "/", "Find in"), ("editor", "e", "memtui edit"), ("history", "V", "1 Versions"))
"""Screens, the keys that open them, and what they show."""
_READING_SECONDS = 2.0
"""How long somebody looks at the folder before the first key: what is opened next is loaded meanwhile."""


def measure(memories: Memories) -> Iterable[Row]:
    """First paint and first file name, then verbs, then the first opening of screens."""
    yield from _measure_frames(memories)
    yield from _measure_verbs(memories)
    yield from _measure_screens(memories)


def _measure_frames(memories: Memories) -> Iterable[Row]:
    folder, state = memories.of_size(FILES), memories.known_state(FILES)
    painted: list[float] = []
    named: list[float] = []
    nothing: list[float] = []
    chatted: list[float] = []
    audited: list[float] = []
    for number in range(ROUNDS + 1):
        with Terminal([bare.__file__]) as terminal:
            bare_time = terminal.when("bare header") - terminal.started
        with Terminal(memtui(folder, state)) as terminal:
            ours = terminal.when("memtui") - terminal.started
            name = terminal.when("note-000000") - terminal.started
        with Terminal(memtui(folder, state, "chat")) as terminal:
            chat = terminal.when("memtui chat") - terminal.started
        with Terminal(memtui(folder, state, "audit")) as terminal:
            audit = terminal.when("memtui audit") - terminal.started
        if number:  # the first one compiles
            nothing.append(bare_time)
            painted.append(ours)
            named.append(name)
            chatted.append(chat)
            audited.append(audit)
    least = middle(nothing)
    yield compared("start: first paint", middle(painted), least, LIMIT, name="bare Textual")
    yield compared(f"start: first file name of {FILES:,}", middle(named), least, None, name="bare Textual")
    for verb, times in (("chat", chatted), ("audit", audited)):
        yield compared(f"start: first paint of {verb}", middle(times), middle(painted), VERB_LIMIT, name="memtui")


def _measure_verbs(memories: Memories) -> Iterable[Row]:
    folder, state = memories.of_size(_FEW), memories.known_state(_FEW)
    where = ("--dir", str(folder), "--state", str(state), "--no-config")
    calls = {"--version": ("-m", "memtui", "--version"), "nothing": ("-c", "pass")}
    calls |= {verb: ("-m", "memtui", verb, *words, *where) for verb, *words in _VERBS}
    took: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(ROUNDS + 1):
        for name, words in calls.items():
            time = _time(words)
            if number:  # the first one compiles
                took[name].append(time)
    version, nothing = middle(took.pop("--version")), middle(took.pop("nothing"))
    yield compared("start: `memtui --version`", version, nothing, NOTHING_LIMIT, name="python")
    verb, worst = max(((name, middle(times)) for name, times in took.items()), key=lambda each: each[1])
    yield within(f"start: the slowest of {len(took)} plain verbs over {_FEW} notes (`{verb}`)", worst, ANSWER_LIMIT)


def _time(words: Sequence[str]) -> float:
    began = perf_counter()
    subprocess.run([sys.executable, *words], env=environment(), stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - began


def _measure_screens(memories: Memories) -> Iterable[Row]:
    folder, state = memories.of_size(FILES), memories.known_state(FILES)
    took: dict[str, list[float]] = {name: [] for name, _, _ in _SCREENS}
    for _ in range(ROUNDS):
        for name, key, shown in _SCREENS:
            with Terminal(memtui(folder, state)) as terminal:
                terminal.when("note-000000")
                terminal.rest(_READING_SECONDS)
                mark = terminal.mark
                pressed = terminal.press(key)
                took[name].append(terminal.when(shown, after=mark) - pressed)
    times = {name: middle(each) for name, each in took.items()}
    last = max(times, key=lambda name: times[name])
    others = ", ".join(f"{name} {seconds(time)}" for name, time in times.items() if name != last)
    yield within(f"start: first opening of the slowest screen ({last})", times[last], OPENING_LIMIT, also=f"; {others}")
