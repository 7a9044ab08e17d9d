"""Completes a link while it is typed: names and titles behind `[[`, headings behind `#`, paths behind `](`."""

from typing import TYPE_CHECKING

from textual import on
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea
from textual.worker import get_current_worker

from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.ui.controller import Controller, controller_work
from memtui.ui.screens.above_browser import OverlayScreen
from memtui.ui.theme import truncate, truncate_middle
from memtui.ui.widgets.editor.area import EditorArea

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.knowledge.completion import Completion, LinkRequest

_ROWS = 5
"""Completions in view."""
_CLOSING = {"wiki": "]]", "heading": "]]", "path": ")"}


class CompletionRows(Static):
    """The completions below the text."""

    DEFAULT_CSS = """
    CompletionRows { display: none; height: auto; padding: 0 1; background: $panel; }
    CompletionRows.-open { display: block; }
    """


class CompletionController(Controller[OverlayScreen]):
    """Offers completions of the link at the cursor. Up and Down choose, Enter and Tab take one, Esc closes the list."""

    @dataclass(eq=False)
    class _CompletionsFound(Message):
        request: "LinkRequest"
        found: "list[Completion]"

    def __init__(self, screen: OverlayScreen, engine: "Engine", area: EditorArea, path: str) -> None:
        super().__init__(screen)
        self._engine, self._area, self._path = engine, area, path
        self._request: LinkRequest | None = None
        self._found: list[Completion] = []
        self._chosen = 0
        area.key_filter = self._handle_key

    @property
    def is_open(self) -> bool:
        """Whether completions are listed."""
        return bool(self._found) and self._request is not None

    @on(TextArea.Changed)
    @on(TextArea.SelectionChanged)
    def _look(self, message: TextArea.Changed | TextArea.SelectionChanged) -> None:
        if message.text_area is not self._area or self._area.read_only:
            return
        request = self._find_request()
        if isinstance(message, TextArea.SelectionChanged) and (request is None or not self.is_open):
            self.close()  # the cursor only passes by
        elif request is None:
            self.close()
        elif request != self._request:
            self._request = request
            self._complete_in_thread(request)

    def _find_request(self) -> "LinkRequest | None":
        row, column = self._area.cursor_location
        before = self._area.document.get_line(row)[:column]
        if "[" not in before or not self._area.selection.is_empty:
            return None
        from memtui.knowledge.completion import find_link_request  # noqa: PLC0415 - start-up: only for a link

        return find_link_request(before)

    @controller_work(thread=True, exclusive=True, group="complete", exit_on_error=False)
    def _complete_in_thread(self, request: "LinkRequest") -> None:
        from memtui.knowledge.completion import complete_link  # noqa: PLC0415 - start-up: only for a link
        from memtui.knowledge.source import GraphStopped  # noqa: PLC0415 - start-up: only for a link

        worker = get_current_worker()
        try:
            found = self._engine.knowledge.query(
                lambda graph: complete_link(graph, request, self._path), stop=lambda: worker.is_cancelled
            )
        except (GraphStopped, MemtuiError, OSError):
            return  # without completions the text is typed as before
        if not worker.is_cancelled:
            self.screen.post_message(self._CompletionsFound(request, found))

    @on(_CompletionsFound)
    def _show_found(self, message: _CompletionsFound) -> None:
        if message.request == self._request == self._find_request():
            self._found, self._chosen = message.found, 0
            self._show()

    def close(self) -> None:
        """Take the list away."""
        self._request = None
        if self._found:
            self._found = []
            self._show()

    def _show(self) -> None:
        rows = self.screen.query_one(CompletionRows)
        rows.set_class(self.is_open, "-open")
        width = max(self.screen.size.width - 4, 8)
        top = max(0, min(self._chosen - _ROWS // 2, len(self._found) - _ROWS))
        lines = []
        for number, each in enumerate(self._found[top : top + _ROWS], top):
            name = truncate(to_one_line(each.text), width * 2 // 3)
            label = truncate_middle(to_one_line(each.label), max(width - len(name) - 4, 4))
            is_chosen = number == self._chosen
            style = "$block-cursor-foreground on $block-cursor-background" if is_chosen else ""
            lines.append(Content.styled(f"{'>' if is_chosen else ' '} {name}  {label}", style))
        rows.update(Content("\n").join(lines))

    def _handle_key(self, key: str) -> bool:
        """Whether a key was one for the list."""
        if not self.is_open or self._request != self._find_request():
            return False
        match key:
            case "up" | "down":
                self._chosen = (self._chosen + (1 if key == "down" else -1)) % len(self._found)
                self._show()
            case "enter" | "tab":
                self._take(self._found[self._chosen])
            case "escape":
                self._found = []
                self._show()
            case _:
                return False
        return True

    def _take(self, chosen: "Completion") -> None:
        request = self._request
        assert request is not None
        row, column = self._area.cursor_location
        closing = _CLOSING[request.kind]
        rest = self._area.document.get_line(row)[column:]
        end = column + len(closing) if rest.startswith(closing) else column
        self.close()
        self._area.replace(chosen.text + closing, (row, request.start), (row, end), maintain_selection_offset=False)
        self._area.move_cursor((row, request.start + len(chosen.text) + len(closing)))
