"""The first screen where no folder is named: memory folders here, stores opened before, the demo, and a path.

Nothing is made or changed.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from memtui.core.errors import MemtuiError
from memtui.core.paths import NO_FOLDER, format_path, resolve_place
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.flows.home import FolderFacts, group_folders
from memtui.flows.home_watch import MOST_FOLDERS, HomeWatcher, choose_watched
from memtui.memory import check_place
from memtui.places.folders import (
    ENOUGH,
    MemoryLocation,
    find_memory_folders,
    format_project,
    list_limits,
    refresh_folder,
)
from memtui.places.probe import DirectoryProber
from memtui.recent_stores import find_recent_stores, refresh_store
from memtui.ui.frame import Header, HeaderStatus, KeyLine, MessageLine
from memtui.ui.home_state import EverywhereHit, HomeState
from memtui.ui.key_names import ENTER, label_key
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.theme import to_content, truncate, truncate_middle
from memtui.ui.widgets.choice_list import ChoiceInput, ChoiceList
from memtui.ui.widgets.home_rows import INDENT, HomeRows

_ENDS = {"home": "first", "end": "last"}
"""Keys that move in the list while nothing is typed."""
_ABOUT = (
    "memtui shows the notes of AI agents while they write them.",
    "Every change is kept in a history: see it, undo it, audit it.",
)
DEMO = "\0demo"
"""The answer for the demo: no path holds a zero byte."""
_DEMO_KEY = "d"
_READ_SECONDS, _FIND_SECONDS = 3.0, 20.0
"""Least seconds between two looks at the folders on screen, and between two searches for folders."""
_SHARE = 10
"""So many times as long as a look took is waited for the next one."""
_MOST_ENTRIES = 10_000
"""Entries of a directory that are looked at to complete a path."""


class _PathInput(ChoiceInput):
    """The path, which takes every letter; its list stands above it."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """A `/` that is typed first is no part of the path."""
        return (key != "slash" or bool(self.value)) and super().check_consume_key(key, character)

    def find_move(self, event: events.Key) -> str | None:
        return super().find_move(event) or (None if self.value else _ENDS.get(event.key))


class FolderChoice(NamedTuple):
    """What the person chose: a folder or a store, and a place in it where she searched for one."""

    folder: str
    hit: EverywhereHit | None = None


class FolderPickerScreen(DismissOnceScreen[FolderChoice | None]):
    """The home: answers with the folder that the person chose, with `DEMO` for one, or with `None`.

    Args:
        home: What is known of the folders; it outlives this screen.
        offers_demo: Whether the demo can be chosen.
        read_only: Whether what is chosen is opened read-only.
    """

    CSS_PATH = "dialogs.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "complete", id="places.complete", tooltip="Complete the path", priority=True),
        Binding("slash", "search", "search all", id="places.search",
                tooltip="Search names and texts of all folders and stores", priority=True),
        Binding("f6", "watch", "watch", id="places.watch",
                tooltip="Watch folders and stores in the background: on/off"),
        Binding("escape", "dismiss", "back", id="places.back", tooltip="Close the list"),
    ]  # fmt: skip
    AUTO_FOCUS = "Input"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (28, "-high"), (36, "-tall"), (48, "-very-tall")]  # noqa: RUF012 - as Textual has it

    def __init__(self, home: HomeState, *, offers_demo: bool, read_only: bool = False) -> None:
        super().__init__()
        self._offers_demo = offers_demo
        self._read_only = read_only
        self._home = home
        self._stops = threading.Event()
        self._scrolled = threading.Event()
        """Wakes the thread that reads what is known of the rows on screen."""
        self._on_screen: Sequence[MemoryLocation] = ()
        self._prompts: list[Content] = []
        self._formatter = HomeRows((), 0)
        self._watcher = HomeWatcher(self._read_changed)
        self._reading = threading.Lock()
        """Held while a journal is read: one is at a time."""

    @property
    def _folders(self) -> Sequence[MemoryLocation]:
        return self._home.folders

    @property
    def _is_open(self) -> bool:
        """Whether there is a list to draw: a screen that is closed loses its widgets before it leaves itself."""
        return self.is_attached and self.query_one_optional(ChoiceList) is not None

    def compose(self) -> ComposeResult:
        yield Header()
        with Vertical(id="body"):
            yield Static(id="intro", markup=False)
            options = ChoiceList(markup=False)
            options.can_focus = False  # each letter is one of the path
            yield options
            yield Static(id="place", markup=False)
            words = f"or type a path or an address: {label_key('places.complete')} completes it, {ENTER} opens it"
            yield _PathInput(words)
            yield Static(Content.from_markup(self._format_others()), id="others")
        yield MessageLine()
        yield KeyLine("places.search", "places.watch", "places.complete", "places.back")

    def on_mount(self) -> None:
        self._show_watched()
        if self._folders:
            self._show_folders(self._folders)
        else:
            self._show_intro("Searching for memory folders on this machine.")
        self._show_watching()
        self.watch(self.query_one(ChoiceList), "scroll_y", self._note_scrolled, init=False)
        self._read_folders()

    def on_unmount(self) -> None:
        self._stops.set()
        self._scrolled.set()
        self._watcher.watch(())

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_rows)

    # What is known of the folders

    @work(thread=True, exit_on_error=False)
    def _read_folders(self) -> None:
        """Find the folders, now and then anew, and read what is known of those on screen."""
        find_again = 0.0
        while not self._stops.is_set():
            began = time.monotonic()
            if began >= find_again:
                found = [*find_memory_folders(limit=None), *find_recent_stores()]
                self._call(self._show_folders, group_folders(found, self._home.folders))
                find_again = time.monotonic() + max(_FIND_SECONDS, _SHARE * (time.monotonic() - began))
                began = time.monotonic()
            self._watcher.watch(
                choose_watched(self._folders) if self._home.watches and not self._stops.is_set() else ()
            )
            self._call(self._show_watched)
            self._call(self._update_rows)  # ages go on, and other rows may be in sight
            if self._read_rows():
                find_again = min(find_again, time.monotonic() + _READ_SECONDS)
            self._wait(max(_READ_SECONDS, _SHARE * (time.monotonic() - began)))

    def _read_rows(self) -> bool:
        """Read the files and the journals of the folders on screen; a disk that does not answer is waited for once.

        Returns:
            Whether one of them is gone.
        """
        is_gone = False
        with DirectoryProber() as reach:
            for place in self._on_screen:
                if self._stops.is_set() or self._scrolled.is_set():
                    break  # others are on screen
                now = refresh_folder(place, reach) if place.is_folder else refresh_store(place, reach)
                is_gone |= now is None
                facts = self._read_facts(place)
                if now is None:
                    continue
                if place.path not in self._home.limits and now.responds:
                    self._home.limits[place.path] = "; ".join(list_limits(now))
                    self._call(self._show_path)
                if now != place or facts != self._home.facts.get(place.path):
                    self._call(self._show_facts, now, facts)
        return is_gone

    def _read_facts(self, place: MemoryLocation) -> FolderFacts:
        with self._reading:
            return self._home.reader.read(place.path)

    def _read_changed(self, path: str) -> None:
        """Read a place that changed, in the thread that watches it; the next search finds one gone."""
        place = next((each for each in self._folders if each.path == path), None)
        if place is not None and not self._stops.is_set():
            with DirectoryProber() as reach:
                now = refresh_folder(place, reach) if place.is_folder else refresh_store(place, reach)
            if now is not None:
                self._call(self._show_facts, now, self._read_facts(now))
        self._call(self._show_watched)

    def _show_watched(self) -> None:
        """Say in the header how many places are watched, and below the list whether that of the cursor is not."""
        if not self._is_open:
            return
        count, places = len(self._watcher.paths), len(self._folders)
        words = f"watching {count:,} of {places:,}" if self._home.watches and places else ""
        self.query_one(Header).status = HeaderStatus("home", live=words, follow=False)
        self._show_path()

    def _show_watching(self) -> None:
        """Say whether folders and stores are watched in the background, and how that is changed."""
        key = label_key("places.watch")
        self.query_one(MessageLine).show_message(
            f"Watching stores, folders with a journal and small ones, at most {MOST_FOLDERS}. {key} stops it."
            if self._home.watches
            else f"Folders are not watched in the background. {key} watches them."
        )

    def _wait(self, seconds: float) -> None:
        self._scrolled.wait(seconds)
        self._scrolled.clear()

    def _call(self, show: Callable[..., object], *values: object) -> None:
        """Run a function in the thread of the screen, unless that is gone."""
        if not self._stops.is_set():
            with contextlib.suppress(RuntimeError):  # the application ended meanwhile
                self.app.call_from_thread(show, *values)

    def _show_folders(self, places: Sequence[MemoryLocation]) -> None:
        if not self._is_open:
            return
        at = self._find_cursor()
        here = self._folders[at].path if at is not None else self._home.path
        is_new = [place.path for place in places] != [place.path for place in self._folders]
        self._home.folders = places
        if places:
            self._show_intro(f"{_describe_list(places)}; a number or {ENTER} opens one.")
        else:
            self._show_intro("No memory folder found in the usual places.")
        if is_new or not self.query_one(ChoiceList).option_count:
            self._show_rows(here)
        else:
            self._update_rows()

    def _show_facts(self, place: MemoryLocation, facts: FolderFacts) -> None:
        self._home.facts[place.path] = facts
        self._home.folders = [place if each.path == place.path else each for each in self._folders]
        self._update_rows()

    def _show_rows(self, here: str = "") -> None:
        """List all folders, with the cursor on one of them."""
        if not self._is_open:
            return
        options = self.query_one(ChoiceList)
        paths = [place.path for place in self._folders]
        at = paths.index(here) if here in paths else self._find_cursor() or 0
        options.clear_options()
        self._formatter = HomeRows(self._folders, options.scrollable_content_region.width - 2)
        self._prompts = [self._format_row(number) for number in range(len(self._folders))]
        rows = [Option(prompt) for prompt in self._prompts]
        if heading := self._heading:
            rows.insert(heading, Option(Content.styled(f"{' ' * INDENT}Stores", "bold"), disabled=True))
        options.add_options(rows)
        options.highlighted = self._find_row(min(at, len(paths) - 1)) if paths else None
        self.call_after_refresh(self._note_scrolled)

    @property
    def _heading(self) -> int:
        """The row with the heading of the stores, behind the folders; 0 where there are not both."""
        folders = sum(place.is_folder for place in self._folders)
        return folders if folders < len(self._folders) else 0

    def _find_row(self, number: int) -> int:
        """The row of a folder or a store."""
        return number + (0 < self._heading <= number)

    def _find_cursor(self) -> int | None:
        """The number of the folder or the store under the cursor."""
        row = self.query_one(ChoiceList).highlighted if self._is_open else None
        return self._find_number(row) if row is not None and self._prompts else None

    def _find_number(self, row: int) -> int:
        """The number of the folder or the store in a row."""
        return min(row - (0 < self._heading <= row), len(self._folders) - 1)

    def _format_row(self, number: int) -> Content:
        place = self._folders[number]
        return self._formatter.format(number, place, self._home.facts.get(place.path))

    def _note_scrolled(self) -> None:
        self._update_rows()
        self._scrolled.set()

    def _update_rows(self) -> None:
        """Draw those rows in sight anew that say something else now; the others are once they come in sight."""
        if not self._is_open or len(self._prompts) != len(self._folders):
            return
        options = self.query_one(ChoiceList)
        top, height = round(options.scroll_y), options.scrollable_content_region.height
        in_sight = range(max(self._find_number(top), 0), min(top + height, len(self._folders)))
        self._on_screen = [self._folders[number] for number in in_sight]
        for number in in_sight:
            prompt = self._format_row(number)
            if prompt != self._prompts[number]:
                self._prompts[number] = prompt
                options.replace_option_prompt_at_index(self._find_row(number), prompt)

    def _show_intro(self, words: str) -> None:
        first, *others = _ABOUT
        lines = [Content.styled(first, "bold"), *map(Content, others), Content(""), Content(words)]
        self.query_one("#intro", Static).update(Content("\n").join(lines))

    def _format_others(self) -> str:
        """The demo, and how an agent comes to use a folder."""
        key = "[bold $text-accent]"
        demo = f"{key}{_DEMO_KEY}[/]  see a demo: a scripted agent in a temporary folder\n" if self._offers_demo else ""
        return f"{demo}{key}·[/]  to let an agent use a folder: [bold]memtui mcp --help[/], [bold]memtui hook --help[/]"

    @on(ChoiceList.OptionHighlighted)
    def _show_path(self) -> None:
        """The whole path of the folder under the cursor, which its row may shorten or name by its project."""
        at = self._find_cursor()
        if at is not None:
            place = self._folders[at]
            width = self.query_one(ChoiceList).size.width - INDENT
            not_watched = "not watched" if self._home.watches and place.path not in self._watcher.paths else ""
            about = filter(None, (format_project(place), not_watched, self._home.limits.get(place.path)))
            lines = [
                to_content(truncate_middle(place.display_path, width)),
                to_content(truncate("   ".join(about), width)),
            ]
            self.query_one("#place", Static).update(Content("\n").join(lines))

    # Choosing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A `/` behind something that was typed is one of the path."""
        return (action != "search" or not self.query_one(Input).value) and super().check_action(action, parameters)

    def _open(self, number: int) -> None:
        if not self._folders[number].responds:
            self.query_one(MessageLine).show_message("The disk of this folder does not respond.", warning=True)
            return
        self._open_place(self._folders[number].path)

    def _open_place(self, path: str, hit: EverywhereHit | None = None) -> None:
        if path.startswith(NO_FOLDER):
            self.query_one(MessageLine).show_message(f"Opening {to_one_line(format_path(path))}")
            self._open_store(path, hit)
        else:
            self._home.path = path
            self.dismiss(FolderChoice(path, hit))

    @work(thread=True, exclusive=True, group="open", exit_on_error=False)
    def _open_store(self, place: str, hit: EverywhereHit | None) -> None:
        """Choose a store, if it can be opened: what keeps it from that is said here."""
        worker = get_current_worker()
        try:
            check_place(place, read_only=self._read_only)
        except (MemtuiError, OSError) as error:
            if not worker.is_cancelled:
                self._call(self._show_failure, to_one_line(str(error)))
        else:
            if not worker.is_cancelled:
                self._home.path = place
                self._call(self.dismiss, FolderChoice(place, hit))

    def _show_failure(self, words: str) -> None:
        self.query_one(MessageLine).show_message(words, warning=True)

    @on(ChoiceList.OptionSelected)
    def _choose(self, event: ChoiceList.OptionSelected) -> None:
        self._open(self._find_number(event.option_index))

    @on(Input.Changed)
    def _choose_by_number(self, event: Input.Changed) -> None:
        """A digit or the demo's letter that is typed first chooses; behind anything else it is one of the path."""
        if len(event.value) == 1 and event.value in "123456789"[: len(self._folders)]:
            self._open(int(event.value) - 1)
        elif event.value == _DEMO_KEY and self._offers_demo:
            self.dismiss(FolderChoice(DEMO))

    def action_watch(self) -> None:
        """Watch the folders and stores in the background, or stop."""
        self._home.watches = not self._home.watches
        self._show_watching()
        self._scrolled.set()  # the thread that reads them sets the watches

    def action_search(self) -> None:
        """Search all folders."""
        from memtui.ui.screens.find_everywhere import FindEverywhereScreen  # noqa: PLC0415 - start-up: loads the search

        def found(hit: EverywhereHit | str | None) -> None:
            if isinstance(hit, str):  # a path from the root
                field = self.query_one(Input)
                field.value = hit
                field.cursor_position = len(hit)
            elif hit is not None:
                self._open_place(hit.folder, hit)

        self.app.push_screen(FindEverywhereScreen(self._home), found)

    @on(Input.Submitted)
    def _open_path(self, event: Input.Submitted) -> None:
        """Open what was typed; without it, the folder under the cursor."""
        typed = event.value.strip()
        here = self._find_cursor()
        path = resolve_place(typed)
        if not typed and here is not None:
            self._open(here)
        elif typed and "\0" not in typed and (typed.startswith(NO_FOLDER) or os.path.isdir(path)):
            self._open_place(path)
        else:
            words = (
                f"No folder at {to_one_line(typed)}. Nothing was created." if typed else "Type the path of a folder."
            )
            self.query_one(MessageLine).show_message(words if typed else "Type the path of a folder.", warning=True)

    def action_complete(self) -> None:
        self._complete(self.query_one(Input).value)

    @work(thread=True, exclusive=True, group="complete", exit_on_error=False)
    def _complete(self, typed: str) -> None:
        completed, names = complete_directory(typed)  # a dead mount may never answer
        self.app.call_from_thread(self._show_completion, typed, completed, names)

    def _show_completion(self, typed: str, completed: str, names: Sequence[str]) -> None:
        field = self.query_one(Input)
        if field.value != typed:
            return  # more was typed meanwhile
        field.value = completed
        field.cursor_position = len(completed)
        words = "  ".join(f"{name}/" for name in names) if len(names) != 1 else ""
        self.query_one(MessageLine).show_message(words or ("" if names else "No directory starts with that."))


def _describe_list(places: Sequence[MemoryLocation]) -> str:
    """What is listed, in words."""
    folders = sum(place.is_folder for place in places)
    if not folders:
        return "Stores that were opened before"
    if folders > ENOUGH:
        stores = f" and {format_count(len(places) - folders, 'store')}" if folders < len(places) else ""
        return f"{folders:,} folders by agent{stores}"
    return "Memory folders on this machine" if folders == len(places) else "Memory folders and stores opened before"


def complete_directory(typed: str) -> tuple[str, Sequence[str]]:
    """A path as far as it is unambiguous, and the names of the directories that it may go on with; blocking."""
    if typed == "~":
        return "~/", ["~"]
    above, sep, begun = typed.rpartition("/")
    try:
        with os.scandir(os.path.expanduser(above + sep) or ".") as entries:
            found = [each for _, each in zip(range(_MOST_ENTRIES), entries, strict=False)]
    except (OSError, ValueError):
        return typed, []
    names = sorted(
        each.name
        for each in found
        if each.name.startswith(begun or "") and (begun or not each.name.startswith(".")) and each.is_dir()
        if to_one_line(each.name) == each.name  # a line of text cannot hold the others
    )
    if not names:
        return typed, []
    common = os.path.commonprefix(names)  # noqa: RUF071 - by characters, as a shell does
    return above + sep + common + ("/" if len(names) == 1 else ""), names
