"""How a folder was left: where the cursor was, what was expanded, how wide the panes were.

It lies beside the folder's journal, out of the agent's reach. It is only a convenience: what cannot be read is as if it
were not there, what cannot be written is not missed, and of two windows the last one that is closed is remembered.
"""

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FILE = "screen.json"
_SCHEMA = 1
_MOST_BYTES = 2_000_000
_MOST_PATHS = 5_000


@dataclass(frozen=True, slots=True)
class Left:
    """How a folder was left.

    Attributes:
        cursor: The entry under the cursor, relative to the folder; empty for none.
        expanded: Directories that were expanded.
        collapsed: Directories that were not.
        sort: How files were sorted, as the settings call it; empty as the settings say.
        hidden: Whether hidden files were shown; `None` as the settings say.
        view: How notes were shown, as the settings call it; empty as the settings say.
        dividers: The column of the divider by size class, such as `wide`.
        words: What others want remembered, such as the scope of find, by a name of theirs.
    """

    cursor: str = ""
    expanded: tuple[str, ...] = ()
    collapsed: tuple[str, ...] = ()
    sort: str = ""
    hidden: bool | None = None
    view: str = ""
    dividers: Mapping[str, int] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)


def read(directory: Path) -> Left:
    """How the folder was left whose state lies in a directory; from a worker."""
    try:
        fd = os.open(directory / _FILE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return Left()
            held = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return Left()
    return _left(held) if isinstance(held, dict) and held.get("schema") == _SCHEMA else Left()


def write(directory: Path, left: Left) -> None:
    """Keep how a folder is left, whole or not at all; from a worker. The directory is never made for it."""
    held = {
        "schema": _SCHEMA,
        "cursor": left.cursor,
        "expanded": list(left.expanded[:_MOST_PATHS]),
        "collapsed": list(left.collapsed[:_MOST_PATHS]),
        "sort": left.sort,
        "hidden": left.hidden,
        "view": left.view,
        "dividers": dict(left.dividers),
        "words": dict(left.words),
    }
    with contextlib.suppress(OSError):
        fd, name = tempfile.mkstemp(prefix=f".{_FILE}-", dir=directory)
        try:
            with open(fd, "w", encoding="utf-8") as file:
                json.dump(held, file)  # escaped: a name that is no text stays what it is
            os.replace(name, directory / _FILE)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise


def _left(held: dict[str, Any]) -> Left:
    hidden = held.get("hidden")
    return Left(
        cursor=_text(held.get("cursor")),
        expanded=_texts(held.get("expanded")),
        collapsed=_texts(held.get("collapsed")),
        sort=_text(held.get("sort")),
        hidden=hidden if isinstance(hidden, bool) else None,
        view=_text(held.get("view")),
        dividers={name: at for name, at in _items(held.get("dividers")) if type(at) is int and 0 < at < 10_000},
        words={name: value for name, value in _items(held.get("words")) if isinstance(value, str)},
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _items(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []
