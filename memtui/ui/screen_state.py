"""The state of a folder's screen, restored at the next start: cursor, expanded folders, sizes of panes.

It lies beside the folder's journal, out of the agent's reach. Errors are ignored, and of two windows the last one that
is closed wins.
"""

import contextlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from memtui.config.settings import UiSettings
from memtui.core.events import FolderEntry
from memtui.core.lazy_dataclass import dataclass
from memtui.fs.atomic import write_atomic
from memtui.ui.widgets.preview import PreviewMode
from memtui.ui.widgets.tree.outline import Outline, SortOrder

_FILE = "screen.json"
_SCHEMA = 1
_MOST_BYTES = 2_000_000
_MOST_PATHS = 5_000


@dataclass(frozen=True, slots=True)
class FolderViewState:
    """How a folder was left.

    Attributes:
        cursor: The entry under the cursor, relative to the folder; empty for none.
        sort: As in the settings; empty for the default.
        hidden: `None` for the default.
        view: The view of notes, as in the settings; empty for the default.
        dividers: The column of the divider by size class, such as `wide`.
        words: Values of other parts of the screen, such as the scope of find.
    """

    cursor: str = ""
    expanded: tuple[str, ...] = ()
    collapsed: tuple[str, ...] = ()
    sort: str = ""
    hidden: bool | None = None
    view: str = ""
    dividers: Mapping[str, int] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)


def load_view_state(directory: Path) -> FolderViewState:
    """The state in a directory; blocking."""
    import json  # noqa: PLC0415 - start-up: not before the first paint

    try:
        fd = os.open(directory / _FILE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return FolderViewState()
            record = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return FolderViewState()
    return (
        _parse_view_state(record) if isinstance(record, dict) and record.get("schema") == _SCHEMA else FolderViewState()
    )


def save_view_state(directory: Path, state: FolderViewState) -> None:
    """Write the state atomically; blocking. The directory is never created."""
    import json  # noqa: PLC0415 - start-up: not before the first paint

    paths = {"expanded": state.expanded[:_MOST_PATHS], "collapsed": state.collapsed[:_MOST_PATHS]}
    record = {"schema": _SCHEMA, **asdict(state), **paths}
    with contextlib.suppress(OSError):
        data = json.dumps(record).encode("ascii")  # escaped: a name that is no text stays what it is
        write_atomic(directory / _FILE, data, sync=False)


def _parse_view_state(record: dict[str, Any]) -> FolderViewState:
    hidden = record.get("hidden")
    return FolderViewState(
        cursor=_parse_text(record.get("cursor")),
        expanded=_parse_texts(record.get("expanded")),
        collapsed=_parse_texts(record.get("collapsed")),
        sort=_parse_text(record.get("sort")),
        hidden=hidden if isinstance(hidden, bool) else None,
        view=_parse_text(record.get("view")),
        dividers={name: at for name, at in _parse_items(record.get("dividers")) if type(at) is int and 0 < at < 10_000},
        words={name: value for name, value in _parse_items(record.get("words")) if isinstance(value, str)},
    )


def _parse_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _parse_texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _parse_items(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


# A folder as it was left: from what was remembered and what the settings say to what the panes show, and back.


def restore_outline(
    entries: Iterable[FolderEntry], state: "FolderViewState | None", ui: UiSettings, *, pins: Iterable[str] = ()
) -> Outline:
    """The rows of a folder as they were left, else as the settings say; `pins` stand on top."""
    state = state or FolderViewState()
    name = state.sort if state.sort.removeprefix("-") in list(SortOrder) else ui.sort
    hidden = state.hidden if state.hidden is not None else ui.hidden
    sort = SortOrder(name.removeprefix("-"))
    outline = Outline(entries, sort=sort, reverse=name.startswith("-"), hidden=hidden, pins=pins)
    for path in state.expanded:
        outline.expand(path)
    for path in state.collapsed:
        outline.collapse(path)
    return outline


def restore_view(state: "FolderViewState | None", ui: UiSettings) -> PreviewMode:
    names = [view.name.lower() for view in PreviewMode]
    name = state.view if state is not None and state.view in names else ui.view
    return PreviewMode[name.upper()]


def capture_view_state(
    outline: Outline, cursor: str | None, view: PreviewMode, dividers: Mapping[str, int], words: Mapping[str, str]
) -> "FolderViewState":
    return FolderViewState(
        cursor=cursor or "",
        expanded=tuple(sorted(outline.expanded)),
        collapsed=tuple(path for path in _list_directories(outline) if not outline.is_expanded(path)),
        sort=f"{'-' if outline.reverse else ''}{outline.sort.value}",
        hidden=outline.hidden,
        view=view.name.lower(),
        dividers=dict(dividers),
        words=dict(words),
    )


def _list_directories(outline: Outline) -> list[str]:
    """All directories, parents first."""
    found: list[str] = []
    todo = [""]
    while todo:
        inside = outline.list_folders_in(todo.pop())
        found += inside
        todo += inside
    return found
