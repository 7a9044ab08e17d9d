"""Looks for the places where a note is only named: in all other notes, which takes longer than reading its links."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile

from textual import on
from textual.message import Message
from textual.worker import get_current_worker

from memtui.core.lazy_dataclass import dataclass
from memtui.engine import Engine
from memtui.knowledge.graph import Graph
from memtui.knowledge.mentions import Mention, find_mentions_by_text
from memtui.knowledge.model import ParsedNote
from memtui.knowledge.source import GraphStopped
from memtui.ui.controller import Controller, controller_work
from memtui.ui.messages import report_errors
from memtui.ui.screens.graph_base import GraphOverlayScreen

_REST = 10.0
"""How much longer than it takes to look through all notes they are not looked through again."""


class MentionController(Controller[GraphOverlayScreen]):
    """Finds the mentions of a note.

    Args:
        show: Shows them, once they are found.

    Attributes:
        found: The mentions; `None` as long as they are not known.
        lines: The lines in which they stand, by path and number: `a.md:3`.
    """

    @dataclass(eq=False)
    class _MentionsRead(Message):
        path: str
        mentions: Sequence[Mention]
        lines: Mapping[str, str]

    def __init__(self, screen: GraphOverlayScreen, engine: Engine, show: Callable[[], None]) -> None:
        super().__init__(screen)
        self._engine, self._show = engine, show
        self.found: Sequence[Mention] | None = None
        self.lines: Mapping[str, str] = {}
        self._path = ""
        self._rest_until = 0.0

    @property
    def is_rested(self) -> bool:
        """Whether all notes may be looked through again only because something happened."""
        return time.monotonic() >= self._rest_until

    def read(self, path: str, *, keep: bool) -> None:
        """Look for the mentions of a note; `keep` shows what was found before until then."""
        if not keep or path != self._path:
            self.found, self.lines = None, {}
        self._path = path
        self._read_in_thread(path)

    @controller_work(thread=True, exclusive=True, group="mentions", exit_on_error=False)
    def _read_in_thread(self, path: str) -> None:
        worker, source, started = get_current_worker(), self._engine.knowledge, time.monotonic()

        def describe(graph: Graph) -> tuple[list[ParsedNote], list[str], dict[str, list[str]]]:
            note = graph.get_note(path)
            if note is None:
                return [], [], {}
            linked = {edge.source: [path] for edge in graph.get_edges_in(path)}
            return [note], [each.path for each in graph.notes if each.path != path], linked

        with report_errors(self.screen.post_message):
            try:
                notes, others, linked = source.query(describe, stop=lambda: worker.is_cancelled)
            except GraphStopped:
                return
            texts = takewhile(lambda _: not worker.is_cancelled, source.iter_texts(others))
            found: list[Mention] = []
            lines: dict[str, str] = {}
            for text, mentions in find_mentions_by_text(notes, texts, linked):
                found += mentions
                lines.update(_iter_lines(text, mentions))
            if not worker.is_cancelled:
                self._rest_until = time.monotonic() + (time.monotonic() - started) * _REST
                self.screen.post_message(self._MentionsRead(path, found, lines))

    @on(_MentionsRead)
    def _take(self, message: _MentionsRead) -> None:
        if message.path == self._path:
            self.found, self.lines = message.mentions, message.lines
            self._show()


def _iter_lines(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[str, str]]:
    lines = text.split("\n")
    for each in mentions:
        yield f"{each.source}:{each.line}", lines[each.line - 1]
