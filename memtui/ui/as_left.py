"""A folder as it was left: from what was remembered and what the settings say to what the panes show, and back."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from memtui.config.sections import Ui
from memtui.core.snapshot import Entry
from memtui.ui.files.outline import Outline, Sort
from memtui.ui.preview import View

if TYPE_CHECKING:
    from memtui.ui.remembered import Left


def outline_of(entries: Iterable[Entry], left: "Left | None", ui: Ui, *, pins: Iterable[str] = ()) -> Outline:
    """The rows of a folder as they were left, else as the settings say.

    Args:
        entries: What is in the folder.
        left: How it was left; `None` if that is not known.
        ui: The settings.
        pins: What stands on top.
    """
    name = left.sort if left is not None and _is_sort(left.sort) else ui.sort
    hidden = left.hidden if left is not None and left.hidden is not None else ui.hidden
    outline = Outline(entries, sort=_sort(name), reverse=name.startswith("-"), hidden=hidden, pins=pins)
    if left is not None:
        for path in left.expanded:
            outline.expand(path)
        for path in left.collapsed:
            outline.collapse(path)
    return outline


def view_of(left: "Left | None", ui: Ui) -> View:
    """How notes are shown."""
    names = [view.name.lower() for view in View]
    name = left.view if left is not None and left.view in names else ui.view
    return View[name.upper()]


def left_of(
    outline: Outline, cursor: str | None, view: View, dividers: Mapping[str, int], words: Mapping[str, str]
) -> "Left":
    """How a folder is left.

    Args:
        outline: Its rows.
        cursor: The entry under the cursor.
        view: How notes are shown.
        dividers: Where the divider is, by size class.
        words: What others want remembered.
    """
    from memtui.ui.remembered import Left  # deferred: behind the first paint

    folders = _folders(outline)
    return Left(
        cursor=cursor or "",
        expanded=tuple(sorted(outline.expanded)),
        collapsed=tuple(path for path in folders if not outline.is_expanded(path)),
        sort=f"{'-' if outline.reverse else ''}{outline.sort.value}",
        hidden=outline.hidden,
        view=view.name.lower(),
        dividers=dict(dividers),
        words=dict(words),
    )


def _folders(outline: Outline) -> list[str]:
    """The directories, each before those in it."""
    found: list[str] = []
    todo = [""]
    while todo:
        inside = outline.folders_in(todo.pop())
        found += inside
        todo += inside
    return found


def _is_sort(name: str) -> bool:
    return name.removeprefix("-") in [sort.value for sort in Sort]


def _sort(name: str) -> Sort:
    return Sort(name.removeprefix("-"))
