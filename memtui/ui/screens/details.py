"""Details of a note: what it is, who wrote it, what it is linked with; Enter goes along a link, or copies a row."""

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from memtui.core.errors import MemtuiError
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.notes.links import Backlink, Link, links_of
from memtui.ui.clipboard import copy_and_say
from memtui.ui.linking.about import Fact, facts_of, reads_of
from memtui.ui.screens.once import Once
from memtui.ui.text import content, fit

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.ui.linking.texts import Texts

_NAME_WIDTH = 15
_MOST = 200
"""Links of each kind that are listed."""


class DetailsScreen(ModalScreen[Link | Backlink | None], Once[Link | Backlink | None]):
    """Shows what there is to say of a note, and answers with the link that the person wants to go along.

    Args:
        engine: The open memory.
        path: The note, relative to the folder.
        folder: Where the folder is.
        marks: Words such as `pinned` and `protected`.
        texts: Makes what knows the texts of the folder; called in a thread.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,i", "dismiss", "Back", id="details.back", tooltip="Close"),
    ]

    DEFAULT_CSS = """
    DetailsScreen { align: center middle; background: $background 60%; }
    DetailsScreen OptionList {
        width: 92; max-width: 98%; height: auto; max-height: 90%; padding: 0 1; background: $surface;
        border: round $accent; border-title-color: $text-accent; border-title-style: bold;
        border-subtitle-color: $foreground; scrollbar-size-vertical: 1;
    }
    DetailsScreen OptionList:focus { border: round $accent; }
    DetailsScreen OptionList > .option-list--option-disabled { color: $foreground; }
    """

    def __init__(
        self,
        engine: "Engine",
        path: str,
        *,
        folder: str,
        marks: tuple[str, ...] = (),
        texts: "Callable[[], Texts]",
    ) -> None:
        super().__init__()
        self._engine = engine
        self._path = path
        self._folder = folder
        self._marks = marks
        self._texts = texts
        self._facts: list[Fact] = []
        self._reads: Fact | None = None
        self._links: list[Link] = []
        self._backlinks: list[Backlink] | None = None
        self._problem = ""
        self._is_note = True

    def compose(self) -> ComposeResult:
        """One list: what can be read, and what can be gone to."""
        options = OptionList(markup=False)
        options.border_title = content(f"Details of {self._path}")
        options.border_subtitle = "Esc back"
        yield options

    def on_mount(self) -> None:
        """Look; what takes long comes later."""
        self._look()

    def on_resize(self) -> None:
        """Break the lines anew."""
        self.call_after_refresh(self._show)

    @work(thread=True, exclusive=True, group="details", exit_on_error=False)
    def _look(self) -> None:
        """Gather it, the quick things first."""
        worker, engine, path = get_current_worker(), self._engine, self._path
        now_us = time.time_ns() // 1_000

        def stop() -> bool:
            return worker.is_cancelled

        def show(**found: object) -> None:
            if not stop():
                self.app.call_from_thread(self._take, found)

        try:
            facts = facts_of(engine, path, folder=self._folder, marks=self._marks, now_us=now_us)
            seen = engine.look(path)
            is_note = seen.node is None or seen.node.kind is not Kind.DIRECTORY
            text = "" if seen.data is None else seen.data.decode("utf-8", "replace")
            show(_facts=facts, _links=links_of(text, path), _is_note=is_note)
            show(_reads=reads_of(engine, path, now_us, stop=stop).fact)
            if is_note:
                show(_backlinks=self._texts().backlinks(path, stop))
        except (MemtuiError, OSError) as error:
            show(_problem=str(error))

    def _take(self, found: dict[str, object]) -> None:
        for name, value in found.items():
            setattr(self, name, value)
        self._show()

    def _show(self) -> None:
        options = self.query_one(OptionList)
        width = max(options.scrollable_content_region.width - 2, 20)
        before = options.highlighted
        facts = [*self._facts, *([self._reads] if self._reads else [])]
        rows = [Option(fact_row(fact, width), id=f"f{at}") for at, fact in enumerate(facts)]
        if not self._facts and not self._problem:
            rows.append(Option(Content("Looking .."), disabled=True))
        if self._problem:
            rows.append(Option(content(self._problem, "$text-warning"), disabled=True))
        if self._links:
            rows += [_counted("links", len(self._links), width)]
            rows += [Option(_link(link, width), id=f"l{at}") for at, link in enumerate(self._links[:_MOST])]
        if self._backlinks:
            rows += [_counted("linked from", len(self._backlinks), width)]
            rows += [Option(_backlink(one, width), id=f"b{at}") for at, one in enumerate(self._backlinks[:_MOST])]
        elif self._facts and self._is_note:
            words = "Looking for links to it .." if self._backlinks is None else "No other note links to it."
            rows += [Option(Content("\n" + words), disabled=True)]
        options.clear_options()
        options.add_options(rows)
        enabled = [index for index, row in enumerate(rows) if not row.disabled]
        if enabled:
            options.highlighted = before if before in enabled else enabled[0]
        self._hint(options)

    def _hint(self, options: OptionList) -> None:
        """What Enter does with the row."""
        option = options.highlighted_option
        is_fact = option is not None and (option.id or "").startswith("f")
        does = "" if option is None else "Enter copies it   " if is_fact else "Enter goes there   "
        options.border_subtitle = f"{does}Esc back"

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say what can be done there."""
        self._hint(event.option_list)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go there, or copy it."""
        kind, number = (event.option_id or " ")[0], int((event.option_id or "x0")[1:])
        if kind == "l":
            self.dismiss(self._links[number])
        elif kind == "b" and self._backlinks:
            self.dismiss(self._backlinks[number])
        elif kind == "f":
            facts = [*self._facts, *([self._reads] if self._reads else [])]
            fact = facts[number]
            value = os.path.expanduser(fact.value) if fact.name == "file" else fact.value  # programs know no `~`
            copy_and_say(self.app, value, f"the {fact.name}", self._say)

    def _say(self, words: str, is_warning: bool) -> None:
        options = self.query_one(OptionList)
        options.border_subtitle = content(words, "$text-warning" if is_warning else "")


def fact_row(fact: Fact, width: int) -> Content:
    """A name, and beside it the value in as many lines as it needs."""
    room = max(10, width - _NAME_WIDTH)
    rest = one_line(fact.value)
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


def heading_row(words: str, width: int, *, is_first: bool = False) -> Option:
    """A row that cannot be chosen, with a line behind its words."""
    above = "" if is_first else "\n"
    line = "-" * max(0, width - len(words) - 1)
    return Option(Content.styled(f"{above}{words} {line}", "bold $text-primary"), disabled=True)


def _counted(name: str, count: int, width: int) -> Option:
    more = f", the first {_MOST:,}" if count > _MOST else ""
    return heading_row(f"{name} {count:,}{more}", width)


def _link(link: Link, width: int) -> Content:
    label = "" if link.label in (link.target, f"@{link.target}") else f"  {link.label}"
    return content(fit(one_line(f"{link.line:>5}  {link.target}{label}"), width))


def _backlink(one: Backlink, width: int) -> Content:
    return content(fit(one_line(f"{one.path}:{one.link.line}  {one.text.strip()}"), width))
