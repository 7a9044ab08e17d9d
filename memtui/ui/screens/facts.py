"""A window with what there is to say of a note, a row for each thing; Enter copies one, Esc goes back."""

from typing import Generic, TypeVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.core.visible import one_line
from memtui.ui.clipboard import copy_and_say
from memtui.ui.linking.about import Fact
from memtui.ui.screens.once import Once
from memtui.ui.text import content

_NAME_WIDTH = 15

Answer = TypeVar("Answer")


class FactsScreen(ModalScreen[Answer], Once[Answer], Generic[Answer]):
    """Says what it is about at the top, looks in a thread, and shows what it found.

    Args:
        title: What it is about, in plain words.
    """

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

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        """One list."""
        options = OptionList(markup=False)
        options.border_title = content(self._title)
        options.border_subtitle = "Esc back"
        yield options

    def on_mount(self) -> None:
        """Look; what takes long comes later."""
        self._look()

    def on_resize(self) -> None:
        """Break the lines anew."""
        self.call_after_refresh(self._show)

    @property
    def options(self) -> OptionList:
        """The list."""
        return self.query_one(OptionList)

    @property
    def width(self) -> int:
        """Cells for a row."""
        return max(self.options.scrollable_content_region.width - 2, 20)

    def _look(self) -> object:
        """Begin to find out, in a thread."""
        raise NotImplementedError  # each subclass knows what it is about

    def _show(self) -> None:
        """Show what is known by now."""
        raise NotImplementedError  # as above

    def _copy(self, fact: Fact, value: str | None = None) -> None:
        """Copy a fact, or what is meant by it, and say so."""
        copy_and_say(self.app, fact.value if value is None else value, f"the {fact.name}", self._say)

    def _say(self, words: str, is_warning: bool) -> None:
        self.options.border_subtitle = content(words, "$text-warning" if is_warning else "")


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
