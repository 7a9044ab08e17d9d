"""Find: one box over names, texts and the past, with results as one types and the note at the matching line.

Searches run in a thread; a newer query cancels the older one, and typing never waits.
"""

import time
from collections.abc import Callable
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
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
from memtui.search.finder import Finder
from memtui.search.query import FILTERS, Query, parse_query
from memtui.search.results import LineHit, NameHit, NameResults, Scope, SearchCancelled, SearchResults
from memtui.ui import frame
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.key_names import label_key
from memtui.ui.messages import report_errors
from memtui.ui.screens.above_browser import OverlayScreen
from memtui.ui.widgets.markdown.view import NoteView
from memtui.ui.widgets.preview import Preview, PreviewMode
from memtui.ui.widgets.results import (
    PAST,
    Hit,
    LineRow,
    NameRow,
    NoteRow,
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


class QueryLine(Input):
    """The query; Enter opens the result."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "open", id="find.open", tooltip="Open the note at this line")
    ]


class FindScreen(OverlayScreen):
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
        Binding("up,ctrl+p", "move(-1)", "up", id="find.up", tooltip="One result up", show=False),
        Binding("down,ctrl+n", "move(1)", "down", id="find.down", tooltip="One result down", show=False),
        Binding("pageup", "page(-1)", "page up", id="find.page_up", tooltip="One page of results up", show=False),
        Binding("pagedown", "page(1)", "page down", id="find.page_down", tooltip="One page down", show=False),
        Binding("shift+up", "scroll(-1)", "note up", id="find.note_up", tooltip="Scroll the note up", show=False),
        Binding("shift+down", "scroll(1)", "note down", id="find.note_down", tooltip="Scroll the note down",
                show=False),
        Binding("escape", "leave", "back", id="find.leave", tooltip="Back to where you were"),
    ]  # fmt: skip

    AUTO_FOCUS = "#query"
    BANNER_ANCHOR = "#box"
    CHANGES = frozenset({"edit"})
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]  # noqa: RUF012 - as Textual has it

    DEFAULT_CSS = """
    FindScreen {
        layout: vertical;

        & #box { height: 3; border: round $accent; border-title-color: $text-accent; border-title-style: bold; }
        & #box { border-subtitle-color: $foreground; padding: 0 1; }
        & #prompt { width: 2; color: $text-accent; text-style: bold; }
        & Input { width: 1fr; }
        & #count { width: auto; min-width: 10; text-align: right; color: $foreground; }
        & #body { height: 1fr; }
        & #found { width: 1fr; height: 1fr; }
        & #beside { width: 1fr; height: 1fr; }
        & #note { width: 1fr; height: 1fr; }
        & #story { display: none; height: auto; max-height: 5; padding: 0 1; background: $panel; }
        &.-past #story { display: block; }
        &.-medium #beside { width: 7fr; }
        &.-medium #found { width: 5fr; }
        &.-wide #beside { width: 9fr; }
        &.-wide #found { width: 7fr; }
    }
    """

    header = getters.query_one(Header)
    found = getters.query_one("#found", ResultsView)
    note = getters.query_one("#note", NoteView)
    line = getters.query_one("#query", Input)

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

    @dataclass(eq=False)
    class _NoteRead(Message):
        """The content of a note, now or once."""

        hit: Hit
        data: bytes | None

    def __init__(
        self, finder: Finder, *, title: str, text: str, scope: Scope, open_at: Callable[[str, int | None, str], object],
        edit_at: Callable[[str, int | None], object], remember: Callable[[str, Scope], object],
    ) -> None:  # fmt: skip
        super().__init__()
        self._finder = finder
        self._engine = finder.engine
        self._folder = title
        self._text = text
        self._scope = scope
        self._open_at = open_at
        self._edit_at = edit_at
        self._remember = remember
        self._preview = Preview()
        self._preview.view = PreviewMode.SOURCE
        self._titles = frame.PaneTitles()
        self._answered: tuple[str, Scope] | None = None
        self._opens_answer = False
        """Whether Enter was pressed before the results of the query were there."""
        self._listed = SearchResults()
        self._refresh_delay_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Header()
        with Horizontal(id="box"):
            yield Static("> ", id="prompt")
            yield QueryLine(self._text, placeholder="names, text, history", compact=True, id="query")
            yield Static(id="count", markup=False)
        with Horizontal(id="body"):
            yield ResultsView(id="found", classes="pane")
            with Container(id="beside"):
                yield NoteView(id="note", classes="pane")
                yield Static(id="story", markup=False)
        yield MessageLine(id="message")
        yield KeyLine()

    def on_mount(self) -> None:
        self.header.status = HeaderStatus(self._folder, live="FIND", follow=None, read_only=self._engine.read_only)
        self.note.can_focus = False
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
        self._show_position()

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

    # The list and the note

    @on(ResultsView.Highlighted)
    def _open_note(self) -> None:
        hit = self.found.cursor_item
        self._show_position()
        self.set_class(isinstance(hit, PAST), "-past")
        if hit is None:
            self._preview.clear()
            self.note.show_notice("Nothing found." if self.line.value.strip() else "")
            self._titles.set_title(self.note, "Note")
        else:
            self._read_hit(hit)

    def _show_position(self) -> None:
        at, total = self.found.position
        words = "Results" if self.line.value.strip() else "Newest first"
        self._titles.set_title(self.found, words, f"{at:,} of {total:,}")

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read_hit(self, hit: Hit) -> None:
        worker = get_current_worker()
        with report_errors(self.post_message):
            match hit:
                case OldNameRow(past) | PastRow(past) | PastNoteRow((past, *_)):
                    data = self._engine.history.text(past.version)
                case _:
                    data = self._engine.inspect_path(hit.path).data
            if not worker.is_cancelled:
                self.post_message(self._NoteRead(hit, data))

    @on(_NoteRead)
    def _show_note(self, message: _NoteRead) -> None:
        hit = message.hit
        if hit is not self.found.cursor_item:
            return
        name = to_one_line(hit.path if self.size.width >= 100 else hit.path.rpartition("/")[2])
        line = get_line(hit)
        self._titles.set_title(self.note, name, f"line {line.line:,}" if line else "")
        if message.data is None:
            self._preview.clear()
            self.note.show_notice(name, "It has no text, or it was deleted.")
        else:
            lines = frozenset({line.line}) if line else frozenset[int]()
            self._preview.show_data(hit.path, message.data, self.note, lines=lines, follow=False, again=False)
            if line:
                self.note.search(get_matched_text(hit))
                self.note.show_match_from(line.line)
        if isinstance(hit, PAST):
            self.query_one("#story", Static).update(Content(_describe_history(hit)))

    # What the person does

    def action_move(self, step: int) -> None:
        self.found.action_rows(step)

    def action_page(self, pages: int) -> None:
        self.found.action_pages(pages)

    def action_scroll(self, step: int) -> None:
        self.note.action_rows(step)

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


def get_line(hit: Hit) -> LineHit | None:
    match hit:
        case LineRow(_, line):
            return line
        case NoteRow(hits):
            return hits.lines[0] if hits.lines else None
        case PastRow(past):
            return past.line
        case PastNoteRow(hits):
            return hits[0].line
        case NameRow() | OldNameRow():
            return None


def get_matched_text(hit: Hit) -> str:
    """The text that matched, as it stands in the note."""
    line = get_line(hit)
    if line is None or not line.spans:
        return ""
    start, end = line.spans[0]
    return line.text[start:end]


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
