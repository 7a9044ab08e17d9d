"""A line to type a name in: over the row that it belongs to, or at the foot of the screen.

It is a screen of its own above the panes, which stay visible and alive, so that it takes no key from a focused pane.
The name is validated while it is typed.
"""

from collections.abc import Callable, Collection
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from memtui.core import wording
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.editing.templates import InvalidName, TypedPath, add_extension, find_common_prefix, parse_name
from memtui.flows.files import FolderContext
from memtui.flows.rename_plan import find_obstacle, parse_target
from memtui.ui.flows.dialog import PHRASES
from memtui.ui.key_names import ENTER, label_key
from memtui.ui.screens.dialogs import DismissOnceScreen
from memtui.ui.theme import truncate
from memtui.ui.widgets.tree.outline import get_name, get_parent, is_at_or_below, list_ancestors

_NARROWEST = 24
"""Cells of a line over a row, at least; names are often longer than their pane is wide."""
_MARGIN = 2
"""Cells that a line over a row leaves free at the left."""
_REVALIDATE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class NameVerdict:
    """A sentence about a name while it is typed."""

    words: str = ""
    is_problem: bool = False


NameValidator = Callable[[str], NameVerdict]


class NameLineScreen(ModalScreen[str | None], DismissOnceScreen[str | None]):
    """Asks for a path; the result is the typed value, or `None` if the person left or changed nothing.

    Args:
        question: A few words before the line.
        value: The first value; safe to show.
        at: The position of the cursor in it.
        judge: Validates a value.
        complete: The folders that a value may be completed to.
        does: The word for Enter.
        hint: A sentence for the first value.
        takes_first: Whether the first value is accepted.
        place: The place of the row on screen; `None` where it is not visible.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", id="line.back", tooltip="Cancel"),
        Binding("tab", "complete", "complete", id="line.complete", tooltip="Complete the directory, or the next one"),
    ]

    DEFAULT_CSS = """
    NameLineScreen { background: transparent; layers: base over; }
    NameLineScreen #foot { dock: bottom; height: auto; }
    NameLineScreen #words { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    NameLineScreen #words.-problem { color: $text-warning; }
    NameLineScreen #keys { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    NameLineScreen #ask { height: 1; padding: 0 1; background: $boost; }
    NameLineScreen #ask.-over { layer: over; position: absolute; padding: 0; }
    NameLineScreen #question { width: auto; color: $text-accent; text-style: bold; }
    NameLineScreen #ask.-over #question { display: none; }
    NameLineScreen Input, NameLineScreen Input:focus { width: 1fr; background: $primary 40%; color: $foreground; }
    NameLineScreen:ansi Input, NameLineScreen:ansi Input:focus { background: ansi_default; text-style: underline; }
    """

    def __init__(
        self,
        question: str,
        value: str,
        *,
        at: int,
        judge: NameValidator,
        complete: Callable[[str], list[str]],
        does: str,
        hint: str = "",
        takes_first: bool = False,
        place: Callable[[], Region | None] | None = None,
    ) -> None:
        super().__init__()
        self._question = question
        self._first = value
        self._at = at
        self._check_name = judge
        self._complete = complete
        self._does = does
        self._hint = hint
        self._takes_first = takes_first
        self._locate_row = place
        self._offered: list[str] = []
        self._offer = 0
        self._tail = ""
        self._verdict = NameVerdict()

    def compose(self) -> ComposeResult:
        """The line; at the foot a sentence about the value, and the keys."""
        line = Horizontal(
            Static(Content(f"{self._question} "), id="question"),
            Input(self._first, compact=True, select_on_focus=False),
            id="ask",
        )
        if self._locate_row is not None and self._locate_row() is not None:
            line.add_class("-over")
            yield line
            yield Vertical(Static(id="words"), Static(id="keys"), id="foot")
        else:
            self._locate_row = None
            yield Vertical(Static(id="words"), line, Static(id="keys"), id="foot")

    def on_mount(self) -> None:
        field = self.query_one(Input)
        field.focus()
        field.cursor_position = self._at
        keys = f"{ENTER} {self._does}   {label_key('line.complete')} complete   {label_key('line.back')} cancel"
        self.query_one("#keys", Static).update(Content(keys))
        self._show_verdict(NameVerdict(self._hint))
        if self._locate_row is not None:
            self.set_interval(_REVALIDATE_SECONDS, self._revalidate)  # the rows below may move

    def on_resize(self) -> None:
        self.call_after_refresh(self._align_to_row)
        self._align_to_row()

    def _revalidate(self) -> None:
        self._align_to_row()
        value = self.query_one(Input).value
        verdict = self._check_name(value)
        if verdict != self._verdict and (verdict.is_problem or value != self._first):
            self._show_verdict(verdict)

    def _align_to_row(self) -> None:
        if self._locate_row is None:
            return
        line, place = self.query_one("#ask"), self._locate_row()
        if place is None:  # the row is not visible: the line stays where it was
            return
        width = max(place.width, _NARROWEST, cell_len(self.query_one(Input).value) + 2)
        left = max(min(place.x, self.size.width - 1 - width), min(place.x, _MARGIN))
        width = max(min(width, self.size.width - left - 1), 1)
        if (line.styles.offset.x.value, line.styles.offset.y.value) != (left, place.y):
            line.styles.offset = (left, place.y)
        if line.styles.width is None or line.styles.width.value != width:
            line.styles.width = width

    @on(Input.Changed)
    def _validate(self, event: Input.Changed) -> None:
        event.stop()
        self._offered = []
        self._show_verdict(self._check_name(event.value) if event.value != self._first else NameVerdict(self._hint))
        self._align_to_row()

    def _show_verdict(self, verdict: NameVerdict) -> None:
        self._verdict = verdict
        self._show_words(verdict.words, is_problem=verdict.is_problem)

    def _show_words(self, words: str, *, is_problem: bool = False) -> None:
        line = self.query_one("#words", Static)
        words = words or ("" if self._locate_row is None else self._question)
        line.update(Content(truncate(to_one_line(words), max(self.size.width - 2, 1))))
        line.set_class(is_problem, "-problem")

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value.strip() or (event.value == self._first and not self._takes_first):
            self.dismiss(None)
            return
        verdict = self._check_name(event.value)
        if verdict.is_problem:
            self._show_words(verdict.words, is_problem=True)
            self.app.bell()
        else:
            self.dismiss(event.value)

    def action_complete(self) -> None:
        """Complete the folder as far as it is unambiguous; from then on offer one after the other."""
        field = self.query_one(Input)
        if self._offered and field.value == self._offered[self._offer] + self._tail:
            self._offer = (self._offer + 1) % len(self._offered)
            self._put_completion(self._offered[self._offer], self._tail)
            return
        begun, rest = field.value[: field.cursor_position], field.value[field.cursor_position :]
        found = self._complete(begun)
        if not found:
            self._show_words("No directory starts with that. A missing one is created.")
            return
        start = find_common_prefix(found)
        if len(found) > 1 and len(start) > len(begun.lstrip("/")):
            self._put_completion(start, rest)
        else:
            self._offered, self._offer, self._tail = found, 0, self._find_name_rest(begun, rest)
            self._put_completion(found[0], self._tail)
        if len(found) > 1:
            self._show_words("  ".join(path.rstrip("/").rpartition("/")[2] + "/" for path in found))

    def _find_name_rest(self, begun: str, rest: str) -> str:
        """The text behind a completed folder: the name, but not the rest of the folder that is replaced."""
        if "/" in rest:
            return rest.partition("/")[2]
        if not rest or rest == self._first.rpartition("/")[2]:
            return rest
        return begun.rpartition("/")[2] + rest

    def _put_completion(self, folder: str, behind: str) -> None:
        field = self.query_one(Input)
        with self.prevent(Input.Changed):
            field.value = folder + behind
        field.cursor_position = len(folder)
        self._verdict = self._check_name(field.value)  # not shown: the list of folders is more useful
        self._align_to_row()

    def on_click(self, event: events.Click) -> None:
        """A click beside the line leaves it."""
        if not self.query_one("#ask").region.contains(event.screen_x, event.screen_y):
            self.dismiss(None)

    def action_back(self) -> None:
        self.dismiss(None)


# Validators of names. Each one returns what Enter will do, as a sentence, or raises `InvalidName`.


def _make_validator(judge: Callable[[str], str]) -> NameValidator:
    def validate(typed: str) -> NameVerdict:
        try:
            return NameVerdict(judge(typed))
        except InvalidName as error:
            return NameVerdict(str(error), is_problem=True)

    return validate


def resolve_new_path(typed: str) -> TypedPath:
    """The path of a new memory: the typed one, with an extension.

    Raises:
        InvalidName: It cannot be a name.
    """
    given = parse_name(typed.strip())
    if not given.path:
        raise InvalidName("Type a name.")
    return given if given.is_folder else parse_name(add_extension(given.path))


def validate_new(known: FolderContext, start: str) -> NameValidator:
    """Validates the name of a new memory; `start` is the folder in the line at first."""

    @_make_validator
    def validate(typed: str) -> str:
        if not typed.strip():
            return "Type a name; one that ends with / makes a directory."
        new = resolve_new_path(typed)
        if known.exists(new.path):
            there = f"{to_one_line(new.path)}{'/' if known.is_folder(new.path) else ''} already exists"
            raise InvalidName(f"{there}; type a name." if typed == start else f"{there}.")
        _require_folders(new.path, known)
        target = f"directory {to_one_line(new.path)}/" if new.is_folder else to_one_line(new.path)
        return f"Creates {target}{_list_created_folders(new.path, known)}."

    return validate


def _resolve_target(typed: str, old: str, known: FolderContext) -> str:
    if not known.exists(old):  # an agent may move or delete it meanwhile
        back = label_key("line.back")
        raise InvalidName(f"{to_one_line(old)} was moved or deleted. {back} cancels.")
    return parse_target(typed, old, known.is_folder(old), PHRASES)


def validate_rename(known: FolderContext, old: str) -> NameValidator:
    """Validates the new path of a memory or a folder."""

    @_make_validator
    def validate(typed: str) -> str:
        new = _resolve_target(typed, old, known)
        if new == old:
            return "The name is unchanged."
        if obstacle := find_obstacle(old, new, {old: new}, known.is_folder, known.exists):
            if known.is_folder(new) and not known.is_folder(old):
                obstacle += f" Type {to_one_line(new)}/ to move it there."
            raise InvalidName(obstacle)
        verb = "Renames it to" if get_parent(old) == get_parent(new) else "Moves it to"
        return f"{verb} {to_one_line(new)}{_list_created_folders(new, known)}."

    return validate


def validate_copy(known: FolderContext, old: str) -> NameValidator:
    """Validates the path of a copy."""

    @_make_validator
    def validate(typed: str) -> str:
        new = _resolve_target(typed, old, known)
        if known.exists(new):
            raise InvalidName(f"{to_one_line(new)} already exists.")
        if is_at_or_below(new, old):
            raise InvalidName("Cannot copy a directory into itself.")
        _require_folders(new, known)
        return f"Copies it to {to_one_line(new)}{_list_created_folders(new, known)}."

    return validate


def validate_folder(known: FolderContext, paths: Collection[str], does: str) -> NameValidator:
    """Validates the folder that some memories go into; `does` is a word such as `Moves`."""
    unnameable = next((path for path in paths if not _can_be_named(get_name(path))), None)

    @_make_validator
    def validate(typed: str) -> str:
        folder = parse_name(typed).path
        if unnameable is not None:
            raise InvalidName(f"{to_one_line(unnameable)} has a name that is not allowed. Rename it first.")
        if folder and known.exists(folder) and not known.is_folder(folder):
            raise InvalidName(f"{to_one_line(folder)} is not a directory.")
        _require_folders(folder, known)
        inside = next((path for path in paths if folder and is_at_or_below(folder, path)), None)
        if inside is not None:
            raise InvalidName(f"Cannot put {to_one_line(inside)}/ into itself.")
        new = [f"{folder}/{get_name(path)}" if folder else get_name(path) for path in paths]
        taken = next((path for path in new if known.exists(path) and path not in paths), None)
        if taken is not None:
            raise InvalidName(f"{to_one_line(taken)} already exists.")
        twice = next((path for path in new if new.count(path) > 1), None) if len(set(new)) < len(new) else None
        if twice is not None:
            raise InvalidName(f"Two of them would be named {to_one_line(twice)}.")
        place = f"{to_one_line(folder)}/" if folder else "the memory folder"
        made = "" if not folder or known.exists(folder) else ", a new directory"
        return f"{does} {wording.format_count(len(paths), 'note')} to {place}{made}."

    return validate


def _can_be_named(name: str) -> bool:
    """Whether a new memory may have the name of a present one."""
    try:
        return parse_name(name).path == name
    except InvalidName:
        return False


def _require_folders(path: str, known: FolderContext) -> None:
    """Raise `InvalidName` if a parent of a path is a file."""
    for parent in list_ancestors(path):
        if known.exists(parent) and not known.is_folder(parent):
            raise InvalidName(f"{to_one_line(parent)} is not a directory.")


def _list_created_folders(path: str, known: FolderContext) -> str:
    missing = [parent for parent in list_ancestors(path) if not known.exists(parent)]
    return f", and directory {to_one_line(missing[0])}/" if missing else ""
