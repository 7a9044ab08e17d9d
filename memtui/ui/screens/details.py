"""Details of a note: what it is, who wrote it, what it is linked with; Enter goes along a link, or copies a row."""

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from memtui.core.errors import MemtuiError
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.notes.links import Backlink, Link, links_of
from memtui.ui.linking.about import Fact, facts_of, reads_of
from memtui.ui.screens.facts import FactsScreen, fact_row, heading_row
from memtui.ui.text import content, fit

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.ui.linking.texts import Texts

_MOST = 200
"""Links of each kind that are listed."""


class DetailsScreen(FactsScreen[Link | Backlink | None]):
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

    def __init__(
        self,
        engine: "Engine",
        path: str,
        *,
        folder: str,
        marks: tuple[str, ...] = (),
        texts: "Callable[[], Texts]",
    ) -> None:
        super().__init__(f"Details of {path}")
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
        options, width = self.options, self.width
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
            self._copy(fact, value)


def _counted(name: str, count: int, width: int) -> Option:
    more = f", the first {_MOST:,}" if count > _MOST else ""
    return heading_row(f"{name} {count:,}{more}", width)


def _link(link: Link, width: int) -> Content:
    label = "" if link.label in (link.target, f"@{link.target}") else f"  {link.label}"
    return content(fit(one_line(f"{link.line:>5}  {link.target}{label}"), width))


def _backlink(one: Backlink, width: int) -> Content:
    return content(fit(one_line(f"{one.path}:{one.link.line}  {one.text.strip()}"), width))
