"""Find: one box over names, texts and the past, with results as one types and the note at the matching line.

Whatever is looked for is looked for in a thread; a newer query cancels the older one, and typing never waits.
"""

import contextlib
import time
from collections.abc import Callable
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from memtui.core.actors import named_in_a_sentence
from memtui.core.errors import Closed, MemtuiError
from memtui.core.events import Event
from memtui.core.visible import one_line
from memtui.search.finder import Finder, Stopped
from memtui.search.found import Found, LineHit, NameHit, NamesFound, Scope
from memtui.search.query import FILTERS, BadQuery, Query, parse
from memtui.ui import titles, wording
from memtui.ui.find.listing import (
    PAST,
    FormerRow,
    Hit,
    LineRow,
    NameRow,
    NoteRow,
    PastNoteRow,
    PastRow,
    counted,
    rows_of,
)
from memtui.ui.find.rows import FoundView
from memtui.ui.frame import Header, KeyLine, MessageLine, Status
from memtui.ui.note.view import NoteView
from memtui.ui.preview import Preview, View
from memtui.ui.screens.above import AboveBrowser

_LIMIT = 500
"""Names, notes and lines of the past that are listed; more are counted."""
_PER_NOTE = 20
"""Lines of each note that are listed; more are counted."""
_NEWS_SECONDS = 0.25
"""How often changes of the memory may lead to a new look while nobody types."""
_PATIENCE = 0.3
"""Seconds of reading after which what was found so far is shown."""
_PASSED = {Scope.ALL: "all", Scope.NAMES: "names", Scope.TEXT: "text", Scope.PAST: "past"}

Open = Callable[[str, int | None, str], object]
"""Opens a note: its path, the line, and the text that was found there."""


class QueryLine(Input):
    """What is typed. Enter opens what is found."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "open", id="find.open", tooltip="Open the note at this line"),
    ]


class FindScreen(AboveBrowser):
    """Finds any memory, present or past.

    Args:
        finder: What looks.
        title: How the folder is called.
        text: What to begin with.
        scope: Where to look at first.
        open_at: Opens a note in the browser, once this screen is gone.
        edit_at: Opens a note in the person's own editor.
        remember: Told what was typed and where was looked, when the screen is left.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f4", "edit", "edit", id="find.edit", tooltip="Edit the note at this line in your own editor"),
        Binding("tab", "scope(1)", "scope", id="find.scope", tooltip="Look in names, texts, the past, or all"),
        Binding(
            "shift+tab", "scope(-1)", "scope before", id="find.scope_before", tooltip="The scope before", show=False
        ),
        Binding("up,ctrl+p", "move(-1)", "up", id="find.up", tooltip="One result up", show=False),
        Binding("down,ctrl+n", "move(1)", "down", id="find.down", tooltip="One result down", show=False),
        Binding("pageup", "page(-1)", "page up", id="find.page_up", tooltip="One page of results up", show=False),
        Binding("pagedown", "page(1)", "page down", id="find.page_down", tooltip="One page down", show=False),
        Binding("shift+up", "scroll(-1)", "note up", id="find.note_up", tooltip="Scroll the note up", show=False),
        Binding("shift+down", "scroll(1)", "note down", id="find.note_down", tooltip="Scroll it down", show=False),
        Binding("escape", "leave", "back", id="find.leave", tooltip="Back to where you were"),
    ]  # fmt: skip

    AUTO_FOCUS = "#query"
    BANNERS_BEFORE = "#box"
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
        & .pane { border: round $foreground 35%; border-title-color: $foreground; background: $background; }
        & .pane { border-subtitle-color: $foreground; }
        & #found { width: 1fr; height: 1fr; }
        & #beside { width: 1fr; height: 1fr; }
        & #note { width: 1fr; height: 1fr; }
        & #story { display: none; height: auto; max-height: 5; padding: 0 1; background: $panel; }
        &.-past #story, &.-refused #story { display: block; }
        &.-refused #story { color: $text-warning; }
        &.-medium #beside { width: 7fr; }
        &.-medium #found { width: 5fr; }
        &.-wide #beside { width: 9fr; }
        &.-wide #found { width: 7fr; }
    }
    """

    header = getters.query_one(Header)
    found = getters.query_one("#found", FoundView)
    note = getters.query_one("#note", NoteView)
    line = getters.query_one("#query", Input)

    class _Answered(Message):
        """What a query found."""

        def __init__(self, text: str, scope: Scope, found: Found, *, is_rest: bool = False) -> None:
            super().__init__()
            self.is_rest = is_rest
            self.text = text
            self.scope = scope
            self.found = found

    class _Refused(Message):
        """What is wrong with a query, or why it could not be looked."""

        def __init__(self, text: str, words: str) -> None:
            super().__init__()
            self.text = text
            self.words = words

    class _Shown(Message):
        """What a note holds, or held."""

        def __init__(self, hit: Hit, data: bytes | None) -> None:
            super().__init__()
            self.hit = hit
            self.data = data

    def __init__(
        self,
        finder: Finder,
        *,
        title: str,
        text: str,
        scope: Scope,
        open_at: Open,
        edit_at: Open,
        remember: Callable[[str, Scope], object],
    ) -> None:
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
        self._preview.view = View.SOURCE
        self._titles = titles.Titles()
        self._answered: tuple[str, Scope] | None = None
        self._listed = Found()
        self._news: Timer | None = None

    def compose(self) -> ComposeResult:
        """The box, what was found, and the note."""
        yield Header()
        with Horizontal(id="box"):
            yield Static("> ", id="prompt")
            yield QueryLine(self._text, placeholder="names, texts, and what once was", compact=True, id="query")
            yield Static(id="count", markup=False)
        with Horizontal(id="body"):
            yield FoundView(id="found", classes="pane")
            with Container(id="beside"):
                yield NoteView(id="note", classes="pane")
                yield Static(id="story", markup=False)
        yield MessageLine(id="message")
        yield KeyLine()

    def on_mount(self) -> None:
        """Look at once: without a word typed, the newest notes are listed."""
        self.header.status = Status(self._folder, live="FIND", follow=None, read_only=self._engine.read_only)
        self.note.can_focus = False
        self._show_scope()
        self._search(fresh=True)

    # What is looked for

    @on(Input.Changed, "#query")
    def _type(self, event: Input.Changed) -> None:
        event.stop()
        self._search()

    def take_news(self, last: int) -> None:
        """Something changed: look again soon, with the cursor where it is."""
        del last
        if self._news is None:
            self._news = self.set_timer(_NEWS_SECONDS, self._take_news)

    def _take_news(self) -> None:
        self._news = None
        self._search(fresh=True)

    def _search(self, *, fresh: bool = False) -> None:
        self._look(self.line.value, self._scope, fresh)

    @work(thread=True, exclusive=True, group="find", exit_on_error=False)
    def _look(self, text: str, scope: Scope, fresh: bool) -> None:
        """Answer from what is known, then, if there is news, from that as well."""
        worker = get_current_worker()

        def stop() -> bool:
            return worker.is_cancelled

        try:
            query = parse(text, now_us=time.time_ns() // 1_000)
            self.post_message(self._Answered(text, scope, self._find(query, scope, stop)))
            while (fresh or not self._finder.is_complete) and self._finder.refresh(stop=stop, seconds=_PATIENCE):
                self.post_message(self._Answered(text, scope, self._find(query, scope, stop)))
        except (Stopped, Closed):
            return
        except BadQuery as error:
            self.post_message(self._Refused(text, str(error)))
            self._look_for_rest(text, scope, error.rest, stop)
        except (MemtuiError, OSError) as error:
            self.post_message(self._Refused(text, str(error)))

    def _look_for_rest(self, text: str, scope: Scope, rest: Query, stop: Callable[[], bool]) -> None:
        """Of what cannot be read, go on showing what the rest of it finds."""
        with contextlib.suppress(Stopped, Closed, MemtuiError, OSError):  # what is wrong is said already
            self.post_message(self._Answered(text, scope, self._find(rest, scope, stop), is_rest=True))

    def _find(self, query: Query, scope: Scope, stop: Callable[[], bool]) -> Found:
        """What a query finds; without one the notes that changed last, to choose from at once."""
        if not query.is_empty:
            return self._finder.find(query, scope, limit=_LIMIT, per_note=_PER_NOTE, stop=stop)
        if scope not in (Scope.ALL, Scope.NAMES):
            return Found()
        paths = sorted(self._finder.paths, key=lambda path: (-self._finder.changed_us(path), path))
        return Found(NamesFound(tuple(NameHit(path, (), 0.0) for path in paths[:_LIMIT]), total=len(paths)))

    @on(_Refused)
    def _show_refusal(self, message: _Refused) -> None:
        if message.text == self.line.value:
            self.message.say(message.words, warning=True)
            self.query_one("#story", Static).update(Content(message.words))
            self.add_class("-refused")

    @on(_Answered)
    def _show_found(self, message: _Answered) -> None:
        if message.text != self.line.value or message.scope is not self._scope:
            return  # more was typed meanwhile
        found = message.found
        keep = self._answered == (message.text, message.scope)
        self._answered = message.text, message.scope
        self._listed = found
        self.found.show(rows_of(found, message.scope), keep=keep)
        count = counted(found, message.scope) if message.text.strip() else ""
        self.query_one("#count", Static).update(Content(f"{count}  {found.seconds * 1_000:.1f} ms" if count else ""))
        if not message.is_rest:
            self.remove_class("-refused")
            self.message.say(self._about(found, message.text))
        self._show_position()

    def _about(self, found: Found, text: str) -> str:
        """One line on what was found, or on what can be typed."""
        if not text.strip():
            return f"'exact ^start end$ !not  {' '.join(f'{name}:' for name in FILTERS)}"
        words = [found.problem.rstrip(".")] if found.problem else []
        if found.text.looked < found.text.of:
            words.append(f"{found.text.looked:,} of {found.text.of:,} notes looked through so far")
        if found.past.looked < found.past.of:
            words.append(f"{found.past.looked:,} of {found.past.of:,} versions looked through so far")
        if found.past.gone_texts and self._scope is Scope.PAST:
            words.append(f"{found.past.gone_texts:,} texts are not kept any more")
        if found.text.unread and self._scope is Scope.TEXT:
            words.append(f"{wording.files(found.text.unread)} no text that can be searched")
        if words:
            return f"{', '.join(words)}."
        if found.is_empty:
            elsewhere = "" if self._scope is Scope.ALL else "  Tab looks elsewhere."
            return f"Nothing found.{elsewhere}"
        if found.text.notes:
            return f"{_count(found.text.total_lines, 'line')} in {_count(found.text.total_notes, 'note')}."
        return ""

    def action_scope(self, step: int) -> None:
        """Look elsewhere."""
        self._scope = self._scope.next(step)
        self._show_scope()
        self._search()

    def _show_scope(self) -> None:
        parts: list[Content] = []
        for scope, name in _PASSED.items():
            here = scope is self._scope
            style = "bold $text-accent" if here else "not bold $foreground"
            parts.append(Content.styled(f"[{name}]" if here else f" {name} ", style))
        box = self.query_one("#box")
        box.border_title = Content.assemble("Find in ", Content("").join(parts))
        box.border_subtitle = "Tab: elsewhere   Esc: back"

    # The list and the note

    @on(FoundView.Highlighted)
    def _open_note(self) -> None:
        hit = self.found.here
        self._show_position()
        self.set_class(isinstance(hit, PAST), "-past")
        if hit is None:
            self._preview.clear()
            self.note.show_notice("Nothing found." if self.line.value.strip() else "")
            self._titles.put(self.note, "Note")
        else:
            self._read(hit)

    def _show_position(self) -> None:
        at, total = self.found.position
        words = "Results" if self.line.value.strip() else "Newest first"
        self._titles.put(self.found, words, f"{at:,} of {total:,}")

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read(self, hit: Hit) -> None:
        worker = get_current_worker()
        try:
            match hit:
                case PastRow(past):
                    data = self._engine.history.text(past.version)
                case FormerRow(name):
                    data = self._engine.history.text(name.version)
                case PastNoteRow(hits):
                    data = self._engine.history.text(hits[0].version)
                case _:
                    data = self._engine.look(hit.path).data
        except Closed:
            return
        except (MemtuiError, OSError) as error:
            self.app.call_from_thread(self.message.say, str(error), warning=True)
            return
        if not worker.is_cancelled:
            self.post_message(self._Shown(hit, data))

    @on(_Shown)
    def _show_note(self, message: _Shown) -> None:
        hit = message.hit
        if hit is not self.found.here:
            return
        name = one_line(hit.path if self.size.width >= 100 else hit.path.rpartition("/")[2])
        line = _line_of(hit)
        self._titles.put(self.note, name, f"line {line.line:,}" if line else "")
        if message.data is None:
            self._preview.clear()
            self.note.show_notice(name, "It holds no text that could be shown, or is gone by now.")
        else:
            lines = frozenset({line.line}) if line else frozenset[int]()
            self._preview.show_data(hit.path, message.data, self.note, lines=lines, follow=False, again=False)
            if line:
                self.note.search(_literal(hit))
                self.note.show_match_from(line.line)
        if isinstance(hit, PAST):
            self.query_one("#story", Static).update(Content(_story(hit)))

    # What the person does

    def action_move(self, step: int) -> None:
        """The next result, or the one before."""
        (self.found.action_down if step > 0 else self.found.action_up)()

    def action_page(self, pages: int) -> None:
        """Some pages of results."""
        self.found.action_page(pages)

    def action_scroll(self, step: int) -> None:
        """Scroll the note."""
        (self.note.action_scroll_down if step > 0 else self.note.action_scroll_up)()

    @on(Input.Submitted, "#query")
    @on(FoundView.Opened)
    def action_open(self) -> None:
        """Open it there: a note at its line, something past in its history."""
        hit = self.found.here
        match hit:
            case None:
                self.message.say("Nothing is found that could be opened.")
            case PastRow(past):
                self._open_history(past.now or past.path, past.came.seq)
            case FormerRow(name):
                self._open_history(hit.path, name.ended.seq)
            case PastNoteRow(hits):
                self._open_history(hits[0].now or hits[0].path, hits[0].came.seq)
            case _:
                self._leave()
                line = _line_of(hit)
                self._open_at(hit.path, line.line if line else None, _literal(hit))

    def _open_history(self, path: str, at: int) -> None:
        from memtui.ui.screens.history import HistoryScreen  # deferred: only where something past is opened

        self.app.push_screen(HistoryScreen(self._engine, path, title=self._folder, at=at))

    def action_edit(self) -> None:
        """Edit it there."""
        hit = self.found.here
        if hit is None or isinstance(hit, PAST):
            self.message.say("Only what is there now can be edited. Enter opens the history.")
        else:
            line = _line_of(hit)
            self._edit_at(hit.path, line.line if line else None, _literal(hit))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is edited in a read-only session."""
        if action == "edit" and self._engine.read_only:
            return False
        return super().check_action(action, parameters)

    def on_key(self, event: Key) -> None:
        """Say why nothing can be edited in a read-only session."""
        if event.key == "f4" and self._engine.read_only:
            event.stop()
            self.message.say(self.why_read_only, warning=True)

    def action_leave(self) -> None:
        """Back."""
        self._leave()

    def _leave(self) -> None:
        self._remember(self.line.value, self._scope)
        self.dismiss(None)


def _line_of(hit: Hit) -> LineHit | None:
    match hit:
        case LineRow(_, line):
            return line
        case NoteRow(hits):
            return hits.lines[0] if hits.lines else None
        case PastRow(past):
            return past.line
        case PastNoteRow(hits):
            return hits[0].line
        case NameRow() | FormerRow():
            return None


def _literal(hit: Hit) -> str:
    """The text that matched, as it stands in the note."""
    line = _line_of(hit)
    if line is None or not line.spans:
        return ""
    start, end = line.spans[0]
    return line.text[start:end]


def _story(hit: FormerRow | PastRow | PastNoteRow) -> str:
    """When and by whom a line or a name came and went."""
    now_us = time.time_ns() // 1_000

    def told(verb: str, event: Event) -> str:
        return f"{verb} {wording.when(event, now_us)} by {named_in_a_sentence(event.actor)} (#{event.seq})"

    match hit:
        case FormerRow(name):
            now, former = name.now, name.path
            words = told("Renamed" if now else "Deleted", name.ended) + "."
        case PastRow(past) | PastNoteRow((past, *_)):
            now, former = past.now, past.path
            words = told("Came", past.came) + (f", {told('went', past.went)}." if past.went else ", and still stands.")
    if now is None:
        words += " The note is deleted; Enter shows its history, where it can be brought back."
    elif now != former:
        words += f" The note is {now} now."
    return one_line(words)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
