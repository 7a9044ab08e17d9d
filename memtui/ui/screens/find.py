"""Find: one box over names, texts and the past, with results as one types and the note at the matching line.

Searches run in a thread; a newer query cancels the older one, and typing never waits.
"""

import time
from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from memtui.core import wording
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import Event, format_actor_in_sentence
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.search.finder import Finder
from memtui.search.query import FILTERS, Query, parse_query
from memtui.search.results import NameHit, NameResults, Scope, SearchCancelled, SearchResults
from memtui.ui.frame import HeaderStatus
from memtui.ui.key_names import label_key
from memtui.ui.screens.above_browser import OverlayScreen
from memtui.ui.screens.find_base import FIND_CSS, FindBase, NoteContent, get_line, get_matched_text
from memtui.ui.widgets.results import (
    PAST,
    Hit,
    OldNameRow,
    PastNoteRow,
    PastRow,
    ResultsView,
    build_result_rows,
    format_counts,
)

_LIMIT = 500
"""Names, notes and lines of the past that are listed; more are counted."""
_PER_NOTE = 20
"""Lines of each note that are listed; more are counted."""
_NEWS_SECONDS = 0.25
"""The least time between two searches after events."""
_PATIENCE = 0.3
"""Seconds of reading after which results are shown."""
_SCOPES = {Scope.ALL: "all", Scope.NAMES: "names", Scope.TEXT: "text", Scope.PAST: "past"}


class FindScreen(OverlayScreen, FindBase[None]):
    """Finds any memory, present or past.

    Args:
        title: The folder's name.
        text: The first query.
        scope: Its scope.
        open_at: Opens a note in the browser, once this screen is gone: its path, the line, and the text found there.
        edit_at: Opens a note at a line in the person's own editor.
        remember: Takes query and scope when the screen is left.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f4", "edit", "edit", id="find.edit", tooltip="Edit the note at this line in $EDITOR"),
        Binding("tab", "scope(1)", "scope", id="find.scope", tooltip="Search in names, text, history, or all"),
        Binding("shift+tab", "scope(-1)", "previous scope", id="find.scope_before", tooltip="The previous scope",
                show=False),
        Binding("escape", "leave", "back", id="find.leave", tooltip="Back to where you were"),
    ]  # fmt: skip

    BANNER_ANCHOR = "#box"
    CHANGES = frozenset({"edit"})

    DEFAULT_CSS = FIND_CSS.replace("FindBase", "FindScreen")

    @dataclass(eq=False)
    class _SearchAnswered(Message):
        """The results of a query."""

        text: str
        scope: Scope
        found: SearchResults

    @dataclass(eq=False)
    class _SearchRefused(Message):
        """Why a query cannot be answered."""

        text: str
        scope: Scope
        words: str

    def __init__(
        self, finder: Finder, *, title: str, text: str, scope: Scope, open_at: Callable[[str, int | None, str], object],
        edit_at: Callable[[str, int | None], object], remember: Callable[[str, Scope], object],
    ) -> None:  # fmt: skip
        super().__init__()
        self._finder = finder
        assert isinstance(finder.engine, Engine)  # the browser's: a history can be opened from here
        self._engine = finder.engine
        self._folder = title
        self._text = text
        self._scope = scope
        self._open_at = open_at
        self._edit_at = edit_at
        self._remember = remember
        self._answered: tuple[str, Scope] | None = None
        self._listed = SearchResults()
        self._refresh_delay_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield from self.compose_find(self._text, "names, text, history", ResultsView(id="found", classes="pane"))

    def on_mount(self) -> None:
        self.header.status = HeaderStatus(self._folder, live="FIND", follow=None, read_only=self._engine.read_only)
        self._show_scope()
        self._search(fresh=True)

    # What is looked for

    @on(Input.Changed, "#query")
    def _handle_input(self, event: Input.Changed) -> None:
        event.stop()
        self._opens_answer = False
        self._search()

    def handle_new_events(self, last: int) -> None:
        """Search again soon, with the cursor where it is."""
        del last
        if self._refresh_delay_timer is None:
            self._refresh_delay_timer = self.set_timer(_NEWS_SECONDS, self._refresh_results)

    def _refresh_results(self) -> None:
        self._refresh_delay_timer = None
        self._search(fresh=True)

    def _search(self, *, fresh: bool = False) -> None:
        self._search_in_thread(self.line.value, self._scope, fresh)

    @work(thread=True, exclusive=True, group="find", exit_on_error=False)
    def _search_in_thread(self, text: str, scope: Scope, fresh: bool) -> None:
        """Answer from the known texts, then, if there are newer ones, from those as well."""
        worker = get_current_worker()

        def stop() -> bool:
            return worker.is_cancelled

        def answer(query: Query) -> None:
            self.post_message(self._SearchAnswered(text, scope, self._run_query(query, scope, stop)))

        try:
            query = parse_query(text, now_us=time.time_ns() // 1_000)
            answer(query)
            while (fresh or not self._finder.is_complete) and self._finder.refresh(stop=stop, seconds=_PATIENCE):
                answer(query)
        except (SearchCancelled, MemoryClosed):
            return
        except (MemtuiError, OSError) as error:
            self.post_message(self._SearchRefused(text, scope, str(error)))

    def _run_query(self, query: Query, scope: Scope, stop: Callable[[], bool]) -> SearchResults:
        """The results of a query; without one, the notes by the time of their last change."""
        if not query.is_empty:
            return self._finder.find(query, scope, limit=_LIMIT, per_note=_PER_NOTE, stop=stop)
        if scope not in (Scope.ALL, Scope.NAMES):
            return SearchResults()
        changed = {path: self._finder.get_changed_us(path) for path in self._finder.paths}
        paths = sorted(changed, key=lambda path: (-changed[path], path))
        hits = tuple(NameHit(path, (), 0.0, changed_us=changed[path]) for path in paths[:_LIMIT])
        return SearchResults(NameResults(hits, total=len(paths)))

    @on(_SearchRefused)
    def _show_refusal(self, message: _SearchRefused) -> None:
        """No rows: those of another query would be taken for its answer."""
        if message.text == self.line.value and message.scope is self._scope:
            self._show_rows(message.text, message.scope, SearchResults())
            self.message.show_message(message.words, warning=True)

    @on(_SearchAnswered)
    def _show_found(self, message: _SearchAnswered) -> None:
        if message.text != self.line.value or message.scope is not self._scope:
            return  # more was typed meanwhile
        self._show_rows(message.text, message.scope, message.found)
        self.message.show_message(self._describe_results(message.found, message.text))
        if self._opens_answer:
            self.action_open()

    def _show_rows(self, text: str, scope: Scope, found: SearchResults) -> None:
        keep = self._answered == (text, scope)
        self._answered = text, scope
        self._listed = found
        self.found.show(build_result_rows(found, scope), keep=keep)
        count = format_counts(found, scope) if text.strip() and not found.is_empty else ""
        self.query_one("#count", Static).update(Content(f"{count}  {found.seconds * 1_000:.1f} ms" if count else ""))
        self.show_position()

    def _describe_results(self, found: SearchResults, text: str) -> str:
        """One line on the results, or on the syntax of queries."""
        if not text.strip():
            return f"'exact ^start end$ !not  {' '.join(f'{name}:' for name in FILTERS)}"
        words = [found.problem.rstrip(".")] if found.problem else []
        if found.text.looked < found.text.of:
            words.append(f"{found.text.looked:,} of {found.text.of:,} notes searched so far")
        if found.past.looked < found.past.of:
            words.append(f"{found.past.looked:,} of {found.past.of:,} versions searched so far")
        if found.past.missing_texts and self._scope is Scope.PAST:
            words.append(f"{found.past.missing_texts:,} texts were not kept")
        if found.text.unread and self._scope is Scope.TEXT:
            words.append(f"{wording.format_file_count(found.text.unread)} without searchable text")
        if words:
            return f"{', '.join(words)}."
        if found.is_empty:
            elsewhere = "" if self._scope is Scope.ALL else f"  {label_key('find.scope')} searches elsewhere."
            return f"Nothing found.{elsewhere}"
        if found.text.notes:
            return f"{format_count(found.text.total_lines, 'line')} in {format_count(found.text.total_notes, 'note')}."
        return ""

    def action_scope(self, step: int) -> None:
        self._scope = self._scope.get_next(step)
        self._show_scope()
        self._search()

    def _show_scope(self) -> None:
        parts = [
            Content.styled(f"[{name}]", "bold $text-accent")
            if scope is self._scope
            else Content.styled(f" {name} ", "not bold $foreground")
            for scope, name in _SCOPES.items()
        ]
        box = self.query_one("#box")
        box.border_title = Content.assemble("Find in ", Content("").join(parts))
        box.border_subtitle = f"{label_key('find.scope')}: elsewhere   {label_key('find.leave')}: back"

    def read_content(self, hit: Hit, is_cancelled: Callable[[], bool]) -> NoteContent:
        del is_cancelled
        match hit:
            case OldNameRow(past) | PastRow(past) | PastNoteRow((past, *_)):
                return NoteContent(self._engine.history.text(past.version))
            case _:
                return NoteContent(self._engine.inspect_path(hit.path).data)

    @on(FindBase.NoteRead)
    def _show_history_line(self, message: FindBase.NoteRead) -> None:
        if message.hit is self.found.cursor_item and isinstance(message.hit, PAST):
            self.query_one("#story", Static).update(Content(_describe_history(message.hit)))

    # What the person does

    @on(Input.Submitted, "#query")
    @on(ResultsView.Opened)
    def action_open(self) -> None:
        """Open it there: a note at its line, something past in its history; once the query is answered."""
        self._opens_answer = self._answered != (self.line.value, self._scope)
        if self._opens_answer:
            return
        hit = self.found.cursor_item
        match hit:
            case None:
                self.message.show_message("Nothing to open.")
            case PastRow(past) | PastNoteRow((past, *_)):
                self._open_history(past.now or past.path, past.added_by.seq)
            case OldNameRow(name):
                self._open_history(hit.path, name.ended_by.seq)
            case _:
                self.action_leave()
                line = get_line(hit)
                self._open_at(hit.path, line.line if line else None, get_matched_text(hit))

    def _open_history(self, path: str, at: int) -> None:
        from memtui.ui.screens.history import HistoryScreen  # noqa: PLC0415 - start-up: for the past only

        self.app.push_screen(HistoryScreen(self._engine, path, title=self._folder, at=at))

    def action_edit(self) -> None:
        hit = self.found.cursor_item
        if hit is None or isinstance(hit, PAST):
            words = "Only current notes can be edited."
            self.message.show_message(f"{words} {label_key('find.open')} opens the history.")
        else:
            line = get_line(hit)
            self._edit_at(hit.path, line.line if line else None)

    def action_leave(self) -> None:
        self._remember(self.line.value, self._scope)
        self.dismiss(None)


def _describe_history(hit: OldNameRow | PastRow | PastNoteRow) -> str:
    """When and by whom a line or a name came and went."""
    now_us = time.time_ns() // 1_000

    def describe(verb: str, event: Event) -> str:
        when, actor = wording.format_event_time(event, now_us), format_actor_in_sentence(event.actor)
        return f"{verb} {when} by {actor} (#{event.seq})"

    match hit:
        case OldNameRow(name):
            now, path = name.now, name.path
            words = describe("Renamed" if now else "Deleted", name.ended_by) + "."
        case PastRow(past) | PastNoteRow((past, *_)):
            now, path = past.now, past.path
            end = describe("removed", past.removed_by) if past.removed_by else "still in the note"
            words = f"{describe('Added', past.added_by)}, {end}."
    if now is None:
        gone = "" if isinstance(hit, OldNameRow) else "The note is deleted; "
        words += f" {gone}{label_key('find.open')} opens its history to restore it."
    elif now != path:
        words += f" The note is now {now}."
    return to_one_line(words)
