"""Draw the pictures that the README shows, by driving the real application.

Run it from the repository: `python screenshots/make.py [NAME …]`. It works in a temporary home directory, plays
the demo's story through the real engine, presses keys, and writes an SVG and a PNG a picture. The PNGs need
`pip install '.[screenshots]'` and a monospaced font on the machine (DejaVu Sans Mono is asked for first).
"""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import resvg_py
from textual.pilot import Pilot

import memtui
from memtui.agents.demo import play, prepare
from memtui.ui.app import MemtuiApp
from memtui.ui.screens.browse import BrowseScreen

HERE = Path(__file__).parent
WAIT_SECONDS = 20.0


@dataclass(frozen=True)
class Picture:
    """One picture: its file's name, the size of the terminal, the theme, and what is pressed before."""

    name: str
    size: tuple[int, int] = (120, 36)
    theme: str = "textual-dark"
    keys: Sequence[str] = ()
    empty: bool = False
    read_only: bool = False
    wiped: bool = False
    """Whether somebody outside deletes everything at the end."""


PICTURES = (
    Picture("browse"),
    Picture("browse-80x24", (80, 24)),
    Picture("browse-200x50", (200, 50)),
    Picture("browse-light", theme="catppuccin-latte"),
    Picture("model-view", (80, 24), keys=("t", "t")),
    Picture("history", keys=("G", "V")),
    Picture("history-80x24", (80, 24), keys=("G", "V")),
    Picture("past", keys=("T", *["left_square_bracket"] * 4)),
    Picture("blame", (100, 30), keys=("j", "B", "2", "z")),
    Picture("loss", (100, 30), wiped=True),
    Picture("deleted", (80, 24), keys=("D",), wiped=True),
    Picture("help", keys=("question_mark",)),
    Picture("palette", (100, 30), keys=("colon",)),
    Picture("empty", (80, 24), empty=True),
    Picture("read-only", (100, 30), read_only=True),
)


async def draw(picture: Picture) -> None:
    """Drive the application to where the picture is taken."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        os.environ["XDG_STATE_HOME"] = str(Path(home, "state"))
        folder = Path(home, "app", "memories")
        folder.mkdir(parents=True)
        if not picture.empty:
            prepare(folder)
        app = MemtuiApp(str(folder), read_only=picture.read_only)
        async with app.run_test(size=picture.size) as pilot:
            app.theme = picture.theme
            await until(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.header.status.live == "LIVE")
            screen = app.screen
            assert isinstance(screen, BrowseScreen)
            if not picture.empty and not picture.read_only:
                with memtui.open(folder) as memory:
                    count = await asyncio.to_thread(play, memory, speed=0)
                await until(pilot, lambda: screen.activity.counters.all > count)
            await until(pilot, lambda: picture.empty or bool(screen.note.source))
            if picture.wiped:
                for entry in folder.iterdir():
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
                await until(pilot, lambda: bool(screen.query("#loss")))
            for key in picture.keys:
                await pilot.press(key)
                await settled(pilot)
            await settled(pilot)
            svg = tidy(app.export_screenshot(title="memtui"))
    path = HERE / f"{picture.name}.svg"
    path.write_text(svg, encoding="utf-8")
    path.with_suffix(".png").write_bytes(bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=1.0)))
    print(path.name, path.with_suffix(".png").name)


def tidy(svg: str) -> str:
    """The picture without fonts from elsewhere, so that it shows the same with and without a network."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code, monospace", "'DejaVu Sans Mono', monospace")


async def until(pilot: Pilot[int], condition: Callable[[], bool]) -> None:
    """Wait for a condition, with a bound."""
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
    while not condition():
        if asyncio.get_running_loop().time() > deadline:
            raise TimeoutError("the application did not come to where the picture is taken")
        await pilot.pause(0.02)


async def settled(pilot: Pilot[int]) -> None:
    """Wait until the screen has stopped changing."""
    before, same = "", 0

    def quiet() -> bool:
        nonlocal before, same
        now = pilot.app.export_screenshot()
        before, same = now, same + 1 if now == before else 0
        return same >= 5

    await until(pilot, quiet)


def main(names: Sequence[str]) -> int:
    """Draw all pictures, or those named."""
    unknown = set(names) - {picture.name for picture in PICTURES}
    if unknown:
        print(f"No picture called {', '.join(sorted(unknown))}.", file=sys.stderr)
        return 2
    for picture in PICTURES:
        if not names or picture.name in names:
            asyncio.run(draw(picture))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
