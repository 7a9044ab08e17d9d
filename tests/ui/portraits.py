"""What every screen looks like, as text that a person can read and compare: its letters, and below them its styles.

`python -m tests.ui.portraits [NAME …]` writes them to `tests/ui/pictures`; a test holds the screens against them. Look
at the difference before you keep it: it is what people will see. Digits are all `0`, because clocks, ages and hashes
are never the same twice.
"""

import asyncio
import io
import re
import string
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from unittest import mock

import textual
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.app import App

from memtui.engine import Engine
from memtui.ui.widgets.tree.view import TreeView
from screenshots.make import PICTURES, Picture, scene

KEPT = Path(__file__).parent / "pictures"
SIZES = ((80, 24), (120, 36))
DRAWN_WITH = ".".join(textual.__version__.split(".")[:2])
"""Another Textual may draw another picture, and be right."""
_LETTERS = string.ascii_letters
_HASH = re.compile(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{6,64}\b")
_SECOND = 1_000_000_000
_LATEST_NS = 5_000_000_000
"""Ages have one digit as long as no more has passed."""
_RUN = re.compile(r"\d")


def portraits() -> Iterator[Picture]:
    """Every scene of the pictures, at the sizes at which screens are designed."""
    seen: set[Picture] = set()
    for picture in PICTURES:
        kind = replace(picture, name="", size=(0, 0))
        if kind in seen:
            continue
        seen.add(kind)
        name = re.sub(r"-\d+x\d+$", "", picture.name)
        for width, height in SIZES:
            yield replace(picture, name=f"{name}-{width}x{height}", size=(width, height), live=False)


async def portrait(picture: Picture) -> str:
    """Drive the application to a scene, and write down what is on screen."""
    with _still_clock():
        async with scene(picture) as app:
            return written(app)


@contextmanager
def _still_clock() -> Iterator[None]:
    """Whatever was written a moment ago was written now, and took no time; however slow the machine is."""
    now, real = time.time_ns(), time.time_ns
    defaults = TreeView.__init__.__kwdefaults__
    second, ticks = now // _SECOND * _SECOND, count()  # whatever is recorded is of one second
    engines = Engine.__init__.__kwdefaults__
    with (
        mock.patch("time.time", return_value=now / 1e9),
        mock.patch("time.time_ns", return_value=now),
        mock.patch("time.perf_counter_ns", return_value=0),
        mock.patch("memtui.search.finder.time", mock.Mock(perf_counter=lambda: 0.0, monotonic=time.monotonic)),
        mock.patch.dict(defaults, {"now": lambda: min(real(), now + _LATEST_NS)}),
        mock.patch.dict(engines, {"now_ns": lambda: second + next(ticks) * 1_000}),
        mock.patch("memtui.ui.widgets.tree.view.FRESH", 0.01),  # no row is still lit when it is looked at
    ):
        yield


def written(app: App[int]) -> str:
    """The letters on screen, then for each cell the style it has, then what the styles are."""
    width, height = app.size
    console = Console(width=width, height=height, file=io.StringIO(), force_terminal=True, record=True)
    console.print(app.screen._compositor.render_update(full=True, screen_stack=app._background_screens))
    letters: list[str] = []
    cells: list[str] = []
    names: dict[str, str] = {}
    for line in Segment.split_lines(segment for segment in console._record_buffer if not segment.control):
        text, marks = "", ""
        for segment in line:
            style = _described(segment.style)
            name = names.setdefault(style, _LETTERS[len(names)] if len(names) < len(_LETTERS) else "?")
            text += segment.text
            marks += name * segment.cell_length
        letters.append(_masked(text.rstrip()))
        cells.append(marks)
    legend = [f"{name} {style}" for style, name in names.items()]
    return "\n".join([f"textual {DRAWN_WITH}", *letters, "", *cells, "", *legend]) + "\n"


def _described(style: Style | None) -> str:
    return "plain" if style is None else str(style.without_color + Style(color=style.color, bgcolor=style.bgcolor))


def _masked(line: str) -> str:
    return _RUN.sub("0", _HASH.sub(lambda match: "0" * len(match.group()), line))


def main(names: Sequence[str]) -> int:
    """Write all of them, or those whose name begins with one of the names."""
    KEPT.mkdir(exist_ok=True)
    for picture in portraits():
        if not names or picture.name.startswith(tuple(names)):
            text = asyncio.run(portrait(picture))
            (KEPT / f"{picture.name}.txt").write_text(text, encoding="utf-8")
            sys.stdout.write(f"{picture.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
