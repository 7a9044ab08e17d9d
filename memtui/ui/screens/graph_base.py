"""What the screens over the graph share: a line that filters, and a list that is read again when events come."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Static

from memtui.engine import Engine
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine, PaneTitles
from memtui.ui.screens.above_browser import OverlayScreen

OpenAt = Callable[[str, int | None], None]
"""Leaves for the files, to a note and a line of it."""
_LOOK_SECONDS = 1.0
"""Least seconds between two reads of the graph."""
_READING = "Reading the links."
_SCANNING = "First scan of the folder: not all notes are read yet."


class GraphProgress:
    """How far the graph is known to a screen over it: while the first scan goes on, it says nothing for sure."""

    def __init__(self, screen: "GraphOverlayScreen") -> None:
        self._screen = screen
        self._state = _READING
        self.rest_until = 0.0
        """When the whole graph may be read again, in seconds of the monotonic clock."""
        self.was_scanned = False
        """Whether the graph was read, or is to be, since the end of the first scan."""

    @contextmanager
    def measure_read(self) -> Iterator[None]:
        """Around reading the whole graph, in a thread: it is not begun again meanwhile, nor in a rest behind it."""
        started, self.rest_until = time.monotonic(), math.inf
        try:
            yield
        finally:
            ended = time.monotonic()
            self.rest_until = ended + (ended - started) * self._screen.REST

    @property
    def is_scanned(self) -> bool:
        """Whether all notes are recorded."""
        return (browser := self._screen.browser) is None or browser.is_scanned

    def note_end_of_scan(self) -> bool:
        """Whether the first scan has ended since the graph was read: it is read again at once."""
        if self.was_scanned or not self.is_scanned or math.isinf(self.rest_until):
            return False
        self.was_scanned, self.rest_until = True, 0.0
        return True

    def qualify(self, words: str) -> str:
        """What the graph says of all notes, or that not all are recorded."""
        return words if self.is_scanned else _SCANNING

    def show_state(self, words: str) -> None:
        """Show what the graph says of all notes in place of what it said before, not of anything else."""
        before, self._state = self._state, self.qualify(words)
        if before != self._state and self._screen.message.text == before:
            self._screen.message.show_message(self._state)


class GraphOverlayScreen(OverlayScreen):
    """A screen over the graph of a folder.

    Args:
        title: The folder's title.
        open_at: Leaves for the files.
    """

    BANNER_ANCHOR = "#narrow"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it
    LIVE: ClassVar[str]
    """The word in the header."""
    PLACEHOLDER: ClassVar[str] = "type to filter"
    LEAVE: ClassVar[str]
    """The id of the key that goes back."""
    REST: ClassVar[float] = 10.0
    """How many times as long as it took to read the whole graph it is not read again."""

    DEFAULT_CSS = """
    GraphOverlayScreen {
        & #narrow { height: 1; padding: 0 1; background: $panel; }
        & #prompt { width: auto; color: $text-accent; text-style: bold; }
        & Input { width: 1fr; background: $panel; }
        & #count { width: auto; min-width: 14; text-align: right; }
        & #body { height: 1fr; }
        & #body > .pane { width: 1fr; height: 1fr; }
    }
    """

    def __init__(self, engine: Engine, *, title: str, open_at: OpenAt | None = None) -> None:
        super().__init__()
        self._engine = engine
        self._folder = title
        self._open_at = open_at
        self._is_stale = False
        self._is_loaded = False
        self.progress = GraphProgress(self)
        self._titles = PaneTitles()

    def compose(self) -> ComposeResult:
        yield Header()
        with Horizontal(id="narrow"):
            yield Static("/ ", id="prompt")
            yield Input(placeholder=self.PLACEHOLDER, compact=True, id="filter")
            yield Static(id="count", markup=False)
        yield from self.compose_body()
        yield MessageLine(id="message")
        yield KeyLine("app.commands", "app.help", self.LEAVE)

    def compose_body(self) -> Iterator[Widget]:
        """The panes."""
        raise NotImplementedError  # Textual's metaclass admits no abstract methods

    def read(self, *, again: bool = False) -> None:
        """Read the graph in a thread; `again` keeps the cursor where it is."""
        raise NotImplementedError  # as above

    def focus_list(self) -> None:
        """Leave the filter."""
        raise NotImplementedError  # as above

    def on_mount(self) -> None:
        read_only = self._engine.read_only
        self.query_one(Header).status = HeaderStatus(self._folder, live=self.LIVE, follow=None, read_only=read_only)
        self.message.show_message(_READING)
        self.progress.was_scanned = self.progress.is_scanned
        self.read()
        self.set_interval(_LOOK_SECONDS, self._refresh_if_stale)

    def handle_new_events(self, last: int) -> None:
        del last
        self._is_stale = True

    def handle_undo_done(self) -> None:
        self.read(again=True)

    def _refresh_if_stale(self) -> None:
        self._is_stale |= self.progress.note_end_of_scan()
        if self._is_stale and self._is_loaded and self.is_current:
            self._is_stale = False
            self.follow_events()

    def follow_events(self) -> None:
        """Read again, as something happened in the folder; `_is_stale` has it asked for again a moment later."""
        self._is_stale = time.monotonic() < self.progress.rest_until
        if not self._is_stale:
            self.read(again=True)

    # The filter

    @property
    def typed(self) -> str:
        """What the person filters by."""
        return self.query_one(Input).value

    def show_count(self, words: str) -> None:
        """Show words behind the filter."""
        self.query_one("#count", Static).update(words)

    def action_narrow(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _confirm_filter(self) -> None:
        self.focus_list()

    def action_leave(self) -> None:
        """Clear the filter, else go back."""
        line = self.query_one(Input)
        if line.value or self.focused is line:
            line.value = ""
            self.focus_list()
        else:
            self.dismiss(None)

    def open_in_files(self, path: str, line: int | None) -> None:
        """Leave for a note in the files."""
        if path.startswith("#") or path.endswith("/") or not path or self._open_at is None:
            self.message.show_message("Only a note can be opened.")
        else:
            self._open_at(path, line)
