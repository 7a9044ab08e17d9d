"""From the command line to the first frame, against a Textual application that does nothing."""

from collections.abc import Iterable

from tests.bench import bare
from tests.bench.memories import Memories
from tests.bench.table import Row, compared, middle
from tests.bench.terminal import Terminal, memtui

ROUNDS = 9
FILES = 1_000
LIMIT = 1.2
"""How much longer than a bare Textual application the browser may take."""
VERB_LIMIT = 1.2
"""How much longer than the browser the chat and the audit may take."""


def measure(memories: Memories) -> Iterable[Row]:
    """First paint and first file name."""
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
