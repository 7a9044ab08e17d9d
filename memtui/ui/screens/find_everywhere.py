"""Find in all folders, and in this machine's copies of stores: names and texts, as they are read one after the other.

No journal is opened for it unless a filter asks for one, and nothing is recorded or made.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import NO_FOLDER
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.memory import connect_without_journal
from memtui.places.folders import MemoryLocation, find_memory_folders, format_owner, format_project_or_path
from memtui.places.probe import DirectoryProber
from memtui.recent_stores import observe_store
from memtui.search.everywhere import FolderResults, search_folders
from memtui.search.query import FILTERS, InvalidQuery, Query, parse_query
from memtui.search.results import Scope, SearchCancelled, Stop
from memtui.ui.frame import HeaderStatus
from memtui.ui.home_state import EverywhereHit, HomeState
from memtui.ui.key_names import label_key
from memtui.ui.messages import FailureReported
from memtui.ui.screens.find_base import FIND_CSS, FindBase, NoteContent, get_line, get_matched_text
from memtui.ui.widgets.results import PAST, Hit, ResultRow, ResultsView, build_result_rows, get_row_key
from memtui.ui.widgets.row_list import LabelRow

_LIMIT = 100
"""Names and notes of one folder that are listed; more are counted."""
_PER_NOTE = 5
_MOST_FOLDERS = 200
"""Folders with hits that are listed; more are counted."""
_TYPING_SECONDS = 0.15
"""Seconds for which nothing is typed before folders are read."""
_SHOW_SECONDS = 0.2
"""Seconds after which what was found so far is shown."""


class EverywhereResults(ResultsView):
    """The results of many folders; notes of one name in two of them are two rows."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self._folders: dict[int, str] = {}

    def show_folders(self, rows: Sequence[tuple[str, ResultRow]], *, keep: bool) -> None:
        """Show rows, each with the path of its folder."""
        self._folders = {id(row): folder for folder, row in rows}
        self.show([row for _, row in rows], keep=keep)

    def find_folder(self, item: Hit) -> str | None:
        """The folder of a row; `None` for one that is shown no longer."""
        return self._folders.get(id(item))

    def _get_key(self, item: Hit) -> object:
        return self._folders.get(id(item)), get_row_key(item)


class FindEverywhereScreen(FindBase[EverywhereHit | str | None]):
    """Answers with what the person chose, with the path that she began to type instead, or with `None`.

    Args:
        home: The folders; what was searched for is kept there.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", id="find.leave", tooltip="Back to where you were"),
    ]

    DEFAULT_CSS = f"""
    {FIND_CSS.replace("FindBase", "FindEverywhereScreen")}
    FindEverywhereScreen.-narrow #beside {{ display: none; }}
    """

    found = getters.query_one("#found", EverywhereResults)

    @dataclass(eq=False)
    class _Answered(Message):
        """What a query has found so far."""

        text: str
        results: Sequence[FolderResults]
        searched: int
        of: int
        is_done: bool

    @dataclass(eq=False)
    class _Refused(Message):
        """Why a query cannot be answered."""

        text: str
        words: str

    def __init__(self, home: HomeState) -> None:
        super().__init__()
        self._home = home
        self._answered = ""
        self._is_done = False
        self._prober = DirectoryProber()
        self._probing = threading.Lock()

    def compose(self) -> ComposeResult:
        yield from self.compose_find(self._home.query, "names and text of all folders", EverywhereResults(id="found"))

    def on_mount(self) -> None:
        self.header.status = HeaderStatus("home", live="FIND", follow=None)
        box = self.query_one("#box")
        box.border_title = "Find in all folders"
        box.border_subtitle = f"{label_key('find.leave')}: back"
        self._search()

    # What is looked for

    @on(Input.Changed, "#query")
    def _handle_input(self, event: Input.Changed) -> None:
        event.stop()
        if event.value == "/":  # nobody searches for that: a path from the root
            self.dismiss(event.value)
            return
        self._opens_answer = False
        self._search()

    def _search(self) -> None:
        text = self.line.value
        self._is_done = False
        if text.strip():
            self._search_in_thread(text, self._home.folders)
        else:
            self.workers.cancel_group(self, "find")
            self._show_rows(text, ())
            self.query_one("#count", Static).update("")
            filters = " ".join(f"{name}:" for name in FILTERS)
            self.message.show_message(f"'exact ^start end$ !not  {filters}  // types a path from the root")

    @work(thread=True, exclusive=True, group="find", exit_on_error=False)
    def _search_in_thread(self, text: str, folders: Sequence[MemoryLocation]) -> None:
        worker = get_current_worker()
        until = time.monotonic() + _TYPING_SECONDS
        while time.monotonic() < until:
            time.sleep(0.02)
            if worker.is_cancelled:
                return
        try:
            query = parse_query(text, now_us=time.time_ns() // 1_000)
        except InvalidQuery as error:
            self.post_message(self._Refused(text, str(error)))
            return
        places = [place for place in folders or find_memory_folders(limit=None) if place.files or not place.responds]
        results: list[FolderResults] = []
        show_at = time.monotonic() + _SHOW_SECONDS
        try:
            for number, each in enumerate(self._iter_results(places, query, lambda: worker.is_cancelled), start=1):
                results.append(each)
                if time.monotonic() >= show_at:
                    self.post_message(self._Answered(text, list(results), number, len(places), is_done=False))
                    show_at = time.monotonic() + _SHOW_SECONDS
        except SearchCancelled:
            return
        self.post_message(self._Answered(text, results, len(places), len(places), is_done=True))

    def _iter_results(self, places: Sequence[MemoryLocation], query: Query, stop: Stop) -> Iterator[FolderResults]:
        return search_folders(
            places, query, Scope.ALL, limit=_LIMIT, per_note=_PER_NOTE, history=bool(query.filters), stop=stop
        )

    @on(_Refused)
    def _show_refusal(self, message: _Refused) -> None:
        """No rows: those of another query would be taken for its answer."""
        if message.text == self.line.value:
            self._show_rows(message.text, ())
            self.message.show_message(message.words, warning=True)

    @on(_Answered)
    def _show_answer(self, message: _Answered) -> None:
        if message.text != self.line.value:
            return  # more was typed meanwhile
        hits = [each for each in message.results if not _is_without_hits(each)]
        self._is_done = message.is_done
        self._show_rows(message.text, hits[:_MOST_FOLDERS])
        lines = sum(each.found.text.total_lines for each in hits)
        names = sum(each.found.names.total for each in hits)
        self.query_one("#count", Static).update(Content(f"names {names:,}  text {lines:,}" if hits else ""))
        self.message.show_message(self._describe_results(message, len(hits)))
        if self._opens_answer and (hits or message.is_done):
            self.action_open()

    def _describe_results(self, message: _Answered, folders: int) -> str:
        unread = [each.place.display_path for each in message.results if not each.is_searched]
        noun = "folder" if all(each.place.is_folder for each in message.results) else "place"
        all_ = f"{message.of:,} {noun}s"
        words = [] if message.is_done else [f"{message.searched:,} of {all_} searched so far"]
        words += [f"found in {format_count(folders, noun)}"] if folders else ["nothing found"]
        if folders > _MOST_FOLDERS:
            words.append(f"{folders - _MOST_FOLDERS:,} of them are not listed")
        if unread:
            words.append(f"not searched: {unread[0]}" + (f" and {len(unread) - 1:,} more" if len(unread) > 1 else ""))
        problem = next((each.found.problem.rstrip(".") for each in message.results if each.found.problem), "")
        sentence = ", ".join([*filter(None, [problem]), *words])
        return to_one_line(f"{sentence[:1].upper()}{sentence[1:]}.")

    def _show_rows(self, text: str, hits: Sequence[FolderResults]) -> None:
        rows: list[tuple[str, ResultRow]] = []
        for each in hits:
            folder = each.place.path
            rows.append((folder, LabelRow(f"{format_owner(each.place)}  {format_project_or_path(each.place)}")))
            found = build_result_rows(each.found, Scope.TEXT)
            rows += [(folder, row) for row in found if not isinstance(row, PAST)]
        self.found.show_folders(rows, keep=self._answered == text)
        self._answered = text

    def read_content(self, hit: Hit, is_cancelled: Callable[[], bool]) -> NoteContent:
        folder = self.found.find_folder(hit)
        if folder is None:
            return NoteContent(None)
        if folder.startswith(NO_FOLDER):
            with observe_store(folder) as stored:
                return NoteContent(stored.inspect_path(hit.path).data)
        with self._probing:  # one after the other: a disk that does not answer is waited for once
            if is_cancelled():
                return NoteContent(None)
            if self._prober.is_directory(folder) is None:
                return NoteContent(None, "The disk of this folder does not respond.")
        with connect_without_journal(folder) as memory:
            content = memory.inspect_path(hit.path)
            return NoteContent(content.data, content.problem or NoteContent(None).problem)

    @on(FailureReported)
    def _show_failure(self, message: FailureReported) -> None:
        self.message.show_message(message.reason, warning=True)

    def on_unmount(self) -> None:
        self._prober.__exit__()

    # What the person does

    @on(Input.Submitted, "#query")
    @on(ResultsView.Opened)
    def action_open(self) -> None:
        """Open the note in its folder, at the line; once there is an answer to the query."""
        hit = self.found.cursor_item if self._answered == self.line.value else None
        self._opens_answer = hit is None and not self._is_done and bool(self.line.value.strip())
        folder = self.found.find_folder(hit) if hit is not None else None
        if hit is not None and folder is not None:
            line = get_line(hit)
            self._home.query = self.line.value
            self.dismiss(EverywhereHit(folder, hit.path, line.line if line else None, get_matched_text(hit)))
        elif not self._opens_answer:
            self.message.show_message("Nothing to open.")

    def action_leave(self) -> None:
        self._home.query = self.line.value
        self.dismiss(None)


def _is_without_hits(each: FolderResults) -> bool:
    return not (each.found.names.hits or each.found.text.notes)
