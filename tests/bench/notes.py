"""Notes of every size under the cursor: until they are on screen, how fast they turn their pages, and their memory."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.bench.memories import Memories
from tests.bench.table import Row, mebibytes, middle, seconds, within
from tests.bench.terminal import Terminal, memtui

SIZES = (("1 KB", 1_000), ("100 KB", 100_000), ("5 MB", 5_000_000))
ROUNDS = 8
PAGES = 60
LIMIT = 0.15
_MARK = r"mark-\d{5}"
_PAGE_DOWN = "\x1b[6~"
FRAMES = 30
"""Pages a second that look fluent."""


def measure(memories: Memories) -> Iterable[Row]:
    """Selecting, then paging through."""
    for label, size in SIZES:
        folder = memories.empty(f"notes-{size}")
        (folder / "a.md").write_text("# The other note\n\nother-note\n", encoding="utf-8")
        (folder / "b.md").write_text(_note(size), encoding="utf-8")
        yield from _shown(label, folder, memories.new_state(), pages=PAGES if size > 10_000 else 0)


def _shown(label: str, folder: Path, state: Path, *, pages: int) -> Iterator[Row]:
    with Terminal(memtui(folder, state)) as terminal:
        terminal.when("other-note")
        terminal.settle()
        times = []
        for _ in range(ROUNDS):
            after = terminal.mark
            times.append(-terminal.press("j") + terminal.when("mark-00000", after=after))
            after = terminal.mark
            terminal.press("k")
            terminal.when("other-note", after=after)
        yield within(
            f"notes: {label}, from key to first line", middle(times), LIMIT, also=f" (worst {seconds(max(times))})"
        )
        if pages:
            terminal.press("j")
            terminal.settle()
            frames = list(_page(terminal, pages))
            rate = 1 / middle(frames)
            yield Row(
                f"notes: {label}, pages turned in a second",
                f"{rate:.0f} (slowest page {seconds(max(frames))})",
                target=f"≥ {FRAMES}",
                missed=rate < FRAMES,
            )
        yield Row(f"notes: {label}, peak memory", mebibytes(terminal.peak_memory()))


def _page(terminal: Terminal, pages: int) -> Iterator[float]:
    """Seconds from each key to the first words that were not on screen before."""
    terminal.press("\r")
    terminal.settle()
    seen = terminal.marks(_MARK, after=0)
    for _ in range(pages):
        begun = terminal.mark
        pressed = terminal.press(_PAGE_DOWN)
        arrived, _text = terminal.find(_MARK, after=begun, accept=_not_in(frozenset(seen)))
        yield arrived - pressed
        terminal.settle(0.02)
        seen |= terminal.marks(_MARK, after=begun)


def _not_in(seen: frozenset[str]) -> Callable[[str], bool]:
    return lambda text: text not in seen


def _note(size: int) -> str:
    """A note with a little of everything, and a numbered word in each block."""
    blocks: list[str] = []
    length = number = 0
    while length < size:
        blocks.append(_BLOCKS[number % len(_BLOCKS)].format(mark=f"mark-{number:05d}"))
        length += len(blocks[-1])
        number += 1
    return "".join(blocks)


_BLOCKS = (
    "## Heading {mark}\n\n",
    "A paragraph, {mark}, with **strong** and *emphasised* words, `code`, a [link](https://example.org) and enough "
    "text that it has to be wrapped at the edge of the pane, whatever its width may be.\n\n",
    "- item {mark}\n- another item\n  - inside it\n- [x] a task\n\n",
    "```python\ndef function():\n    return '{mark}'  # a comment\n```\n\n",
    "| name | value |\n|---|---|\n| {mark} | 1 |\n| other | 2 |\n\n",
    "> A quotation, {mark}.\n\n",
)
