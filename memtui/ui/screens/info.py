"""Details of a note and of an event, and the origin of lines; Enter goes along a link, or copies a row."""

import os
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from rich.cells import cell_len
from textual import getters, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from memtui.agents.origin import LineOrigin, describe_origin, find_origins, group_origins
from memtui.core.errors import MemtuiError
from memtui.core.events import EntryKind
from memtui.core.unicode import to_one_line
from memtui.fs.state import get_state_directory
from memtui.notes.links import Backlink, Link, find_links
from memtui.ui.clipboard import copy_and_report
from memtui.ui.event_facts import collect_event_facts
from memtui.ui.key_names import ENTER, label_key
from memtui.ui.links import NoteFact, collect_facts, count_reads
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.theme import to_content, truncate
from memtui.ui.widgets.choice_list import ChoiceList

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.ui.links import FolderTexts


_NAME_WIDTH = 16

Answer = TypeVar("Answer")


class FactsScreen(ModalScreen[Answer], DismissOnceScreen[Answer], Generic[Answer]):
    """Facts in rows, which are loaded in a thread."""

    DEFAULT_CSS = """
    FactsScreen { align: center middle; background: $background 60%; }
    FactsScreen OptionList {
        width: 92; max-width: 98%; height: auto; max-height: 90%; padding: 0 1; background: $surface;
        border: round $accent; border-title-color: $text-accent; border-title-style: bold;
        border-subtitle-color: $foreground; scrollbar-size-vertical: 1;
    }
    FactsScreen OptionList:focus { border: round $accent; }
    FactsScreen OptionList > .option-list--option-disabled { color: $foreground; }
    """

    options = getters.query_one(ChoiceList)

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._facts: list[NoteFact] = []
        self._problem = ""

    def compose(self) -> ComposeResult:
        options = ChoiceList(markup=False)
        options.border_title = to_content(self._title)
        options.border_subtitle = f"{label_key('details.back')} back"
        yield options

    def on_mount(self) -> None:
        self._load_facts()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_facts)

    @property
    def width(self) -> int:
        """Cells for a row, the same whether there is a scroll bar or not: rows come in one by one."""
        return max(self.options.content_region.width - self.options.styles.scrollbar_size_vertical - 2, 20)

    @abstractmethod
    def _load_facts(self) -> object:
        """Load the facts, in a thread."""

    @abstractmethod
    def _show_facts(self) -> None:
        """Show the facts that are known by now."""

    def _copy_fact(self, fact: NoteFact) -> None:
        def report(words: str, is_warning: bool) -> None:
            self.options.border_subtitle = to_content(words, "$text-warning" if is_warning else "")

        value = os.path.expanduser(fact.value) if fact.name == "file" else fact.value  # programs know no `~`
        copy_and_report(self.app, value, f"the {fact.name}", report)


def format_fact_row(fact: NoteFact, width: int) -> Content:
    """A name, and beside it the value in as many lines as it needs."""
    room = max(10, width - _NAME_WIDTH)
    rest = to_one_line(fact.value)
    lines: list[str] = []
    while rest:
        take = len(rest)
        while cell_len(rest[:take]) > room:
            take -= max(1, (cell_len(rest[:take]) - room) // 2)
        if take < len(rest) and (space := rest.rfind(" ", room // 2, take)) > 0:
            take = space + 1
        lines.append(rest[:take])
        rest = rest[take:]
    first, *others = lines or [""]
    parts = [Content.assemble((f"{fact.name:<{_NAME_WIDTH}}", "$text-accent"), Content(first))]
    return Content("\n").join([*parts, *(Content(" " * _NAME_WIDTH + line) for line in others)])


def format_heading_row(words: str, width: int, *, is_first: bool = False) -> Option:
    """A row that cannot be chosen, with a line behind its words."""
    above = "" if is_first else "\n"
    line = "─" * max(0, width - len(words) - 1)
    return Option(Content.styled(f"{above}{words} {line}", "bold $text-primary"), disabled=True)


_MOST = 200
"""Links of each kind that are listed."""


class DetailsScreen(FactsScreen[Link | Backlink | None]):
    """Shows details of a note, and answers with the link to go along.

    Args:
        path: The note, relative to the folder.
        folder: The folder's path.
        marks: Words such as `pinned` and `protected`.
        texts: Returns the texts of the folder; called in a thread.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,i", "dismiss", "Back", id="details.back", tooltip="Close")
    ]

    def __init__(
        self, engine: "Engine", path: str, *, folder: str, marks: tuple[str, ...] = (),
        texts: "Callable[[], FolderTexts]",
    ) -> None:  # fmt: skip
        super().__init__(f"Details of {path}")
        self._engine = engine
        self._path = path
        self._folder = folder
        self._marks = marks
        self._texts = texts
        self._links: list[Link] = []
        self._backlinks: list[Backlink] | None = None
        self._is_note = True

    @work(thread=True, exclusive=True, group="details", exit_on_error=False)
    def _load_facts(self) -> None:
        """Load the facts, the quick ones first."""
        worker, engine, path = get_current_worker(), self._engine, self._path
        now_us = time.time_ns() // 1_000

        def stop() -> bool:
            return worker.is_cancelled

        def show(**found: object) -> None:
            if not stop():
                self.app.call_from_thread(self._apply_facts, found)

        try:
            facts = collect_facts(engine, path, folder=self._folder, marks=self._marks, now_us=now_us)
            seen = engine.inspect_path(path)
            is_note = seen.node is None or seen.node.kind is not EntryKind.DIRECTORY
            text = "" if seen.data is None else seen.data.decode("utf-8", "replace")
            show(_facts=facts, _links=find_links(text, path), _is_note=is_note)
            show(_facts=[*facts, count_reads(engine, path, now_us, stop=stop)])
            if is_note:
                show(_backlinks=self._texts().find_backlinks(path, stop))
        except (MemtuiError, OSError) as error:
            show(_problem=str(error))

    def _apply_facts(self, found: dict[str, object]) -> None:
        vars(self).update(found)
        self._show_facts()

    def _show_facts(self) -> None:
        options, width = self.options, self.width
        before = options.highlighted
        rows = [Option(format_fact_row(fact, width), id=f"f{at}") for at, fact in enumerate(self._facts)]
        if not self._facts and not self._problem:
            rows.append(Option(Content("Loading .."), disabled=True))
        if self._problem:
            rows.append(Option(to_content(self._problem, "$text-warning"), disabled=True))
        if self._links:
            rows += [_format_counted_heading("links", len(self._links), width)]
            rows += [Option(_format_link(link, width), id=f"l{at}") for at, link in enumerate(self._links[:_MOST])]
        if self._backlinks:
            rows += [_format_counted_heading("linked from", len(self._backlinks), width)]
            shown = self._backlinks[:_MOST]
            rows += [Option(_format_backlink(one, width), id=f"b{at}") for at, one in enumerate(shown)]
        elif self._facts and self._is_note:
            words = "Searching for links to it .." if self._backlinks is None else "No other note links to it."
            rows += [Option(Content("\n" + words), disabled=True)]
        options.clear_options()
        options.add_options(rows)
        enabled = [index for index, row in enumerate(rows) if not row.disabled]
        if enabled:
            options.highlighted = before if before in enabled else enabled[0]
        self._show_hint()

    def _show_hint(self) -> None:
        """Show what Enter does with the row."""
        option = self.options.highlighted_option
        is_fact = option is not None and (option.id or "").startswith("f")
        does = "" if option is None else f"{ENTER} copies it   " if is_fact else f"{ENTER} goes there   "
        self.options.border_subtitle = f"{does}{label_key('details.back')} back"

    def on_option_list_option_highlighted(self) -> None:
        self._show_hint()

    def on_option_list_option_selected(self, event: ChoiceList.OptionSelected) -> None:
        kind, number = (event.option_id or " ")[0], int((event.option_id or "x0")[1:])
        if kind == "l":
            self.dismiss(self._links[number])
        elif kind == "b" and self._backlinks:
            self.dismiss(self._backlinks[number])
        elif kind == "f":
            self._copy_fact(self._facts[number])


def _format_counted_heading(name: str, count: int, width: int) -> Option:
    more = f", the first {_MOST:,}" if count > _MOST else ""
    return format_heading_row(f"{name} {count:,}{more}", width)


def _format_link(link: Link, width: int) -> Content:
    label = "" if link.label in (link.target, f"@{link.target}") else f"  {link.label}"
    return to_content(truncate(to_one_line(f"{link.line:>5}  {link.target}{label}"), width))


def _format_backlink(one: Backlink, width: int) -> Content:
    return to_content(truncate(to_one_line(f"{one.path}:{one.link.line}  {one.text.strip()}"), width))


class EventScreen(FactsScreen[None]):
    """Shows all that is recorded of an event.

    Args:
        seq: Its number.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,i", "dismiss", "Back", id="event.back", tooltip="Close")]

    def __init__(self, engine: "Engine", seq: int) -> None:
        super().__init__(f"Event #{seq}")
        self._engine = engine
        self._seq = seq

    @work(thread=True, exclusive=True, group="event", exit_on_error=False)
    def _load_facts(self) -> None:
        worker, facts, problem = get_current_worker(), list[NoteFact](), ""
        try:
            event = self._engine.history.get_event(self._seq)
            facts = collect_event_facts(event) if event is not None else []
            problem = "" if event is not None else f"Event #{self._seq} is not in the history."
        except (MemtuiError, OSError) as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._apply_facts, facts, problem)

    def _apply_facts(self, facts: list[NoteFact], problem: str) -> None:
        self._facts, self._problem = facts, problem
        self._show_facts()

    def _show_facts(self) -> None:
        options, width, before = self.options, self.width, self.options.highlighted
        rows = [Option(format_fact_row(fact, width), id=f"f{at}") for at, fact in enumerate(self._facts)]
        if not rows:
            words = to_content(self._problem, "$text-warning") if self._problem else Content("Looking ..")
            rows = [Option(words, disabled=True)]
        options.clear_options()
        options.add_options(rows)
        if self._facts:
            options.highlighted = before or 0
            options.border_subtitle = f"{ENTER} copies it   {label_key('event.back')} back"

    def on_option_list_option_selected(self, event: ChoiceList.OptionSelected) -> None:
        self._copy_fact(self._facts[int((event.option_id or "f0")[1:])])


_LINES = 3
"""Lines of a stretch that are shown."""


class OriginScreen(FactsScreen[None]):
    """Shows the origin of the lines of a note: the session, the prompt and the call that wrote them.

    Args:
        path: The note, relative to the folder.
        line: The line to begin at, from 1.
        folder: The folder's path.
        state: The directory of its journal, if not the usual one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Back", id="origin.back", tooltip="Close")]

    def __init__(self, engine: "Engine", path: str, line: int, *, folder: str, state: str | None) -> None:
        super().__init__(f"Origin of {path}")
        self._engine = engine
        self._path = path
        self._line = line
        self._folder = folder
        self._state = state
        self._stretches: Sequence[Sequence[LineOrigin]] | None = None

    @work(thread=True, exclusive=True, group="origin", exit_on_error=False)
    def _load_facts(self) -> None:
        worker, problem, stretches = get_current_worker(), "", list[list[LineOrigin]]()
        try:
            seen = self._engine.inspect_path(self._path)
            if seen.data is None:
                problem = seen.problem or "It has no lines."
            else:
                state = get_state_directory(self._folder, self._state)
                stretches = group_origins(find_origins(self._engine, self._path, seen.data, state=state))
        except (MemtuiError, OSError) as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._apply_origins, stretches, problem)

    def _apply_origins(self, stretches: Sequence[Sequence[LineOrigin]], problem: str) -> None:
        self._stretches = stretches
        self._problem = problem or ("" if stretches else "The file is empty.")
        self._show_facts()

    def _show_facts(self) -> None:
        options, width = self.options, self.width
        before, here = options.highlighted, None
        rows: list[Option] = []
        self._facts = []
        for stretch in self._list_visible_stretches():
            rows += _format_stretch(stretch, width, is_first=not rows)
            if stretch[0].line <= self._line:
                here = len(rows)
            for name, words in describe_origin(stretch[0]):
                rows.append(Option(format_fact_row(NoteFact(name, words), width), id=f"f{len(self._facts)}"))
                self._facts.append(NoteFact(name, words))
        if self._stretches is None:
            rows.append(Option(Content("Loading .."), disabled=True))
        elif self._problem:
            rows.append(Option(to_content(self._problem, "$text-warning"), disabled=True))
        elif len(self._stretches) > _MOST:
            words = f"{len(self._stretches) - _MOST:,} more ranges are not listed: memtui origin lists all."
            rows.append(Option(Content("\n" + words), disabled=True))
        options.clear_options()
        options.add_options(rows)
        if self._facts:
            options.highlighted = here if before is None else before
            options.scroll_to_highlight(top=before is None)

    def _list_visible_stretches(self) -> Sequence[Sequence[LineOrigin]]:
        """At most `_MOST` stretches, with that of the line to begin at among them."""
        stretches = self._stretches or ()
        here = sum(stretch[0].line <= self._line for stretch in stretches) - 1
        start = max(0, min(here - _MOST // 2, len(stretches) - _MOST))
        return stretches[start : start + _MOST]

    def on_option_list_option_highlighted(self) -> None:
        self.options.border_subtitle = f"{ENTER} copies it   {label_key('origin.back')} back"

    def on_option_list_option_selected(self, event: ChoiceList.OptionSelected) -> None:
        self._copy_fact(self._facts[int((event.option_id or "f0")[1:])])


def _format_stretch(stretch: Sequence[LineOrigin], width: int, *, is_first: bool) -> list[Option]:
    """The lines that were written together, as far as they have room."""
    first, last = stretch[0].line, stretch[-1].line
    words = f"line {first}" if first == last else f"lines {first}-{last}"
    shown = [to_content(truncate(f"  | {origin.text}", width)) for origin in stretch[:_LINES]]
    if len(stretch) > _LINES:
        shown.append(Content(f"  | and {len(stretch) - _LINES:,} more"))
    heading = format_heading_row(words, width, is_first=is_first)
    return [heading, Option(Content("\n").join(shown), disabled=True)]
