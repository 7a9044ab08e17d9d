"""Draw the moving picture of the README: a real session with the demo's story, one frame a step.

`python -m screenshots.movie` writes `movie.gif` beside this file: the agent works step by step while the browser is
open, and a person looks at a change, goes back in time and finds a text. It needs `pip install '.[screenshots]'`.
"""

import asyncio
import io
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image
from textual.pilot import Pilot

import memtui
from memtui.agents.demo import play_story, prepare_folder
from memtui.ui.app import MemtuiApp
from memtui.ui.screens.browse import BrowseScreen
from screenshots.make import HERE, own_home, settled, take_png, until

SIZE = (100, 30)
ZOOM = 0.75
STEP_MS, READ_MS = 900, 2_200
"""How long a step of the agent is shown, and what is to be read."""
COLOURS = 64
LIMIT = 2_000_000
"""Bytes that the file may have."""


@dataclass
class Movie:
    """The frames so far, and how long each is shown."""

    pilot: Pilot[int]
    frames: list[Image.Image] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    async def take(self, shown_ms: int) -> None:
        await settled(self.pilot)
        self.frames.append(Image.open(io.BytesIO(take_png(self.pilot.app, zoom=ZOOM))).convert("RGB"))
        self.times.append(shown_ms)

    async def press(self, *keys: str, shown_ms: int = READ_MS) -> None:
        await self.pilot.press(*keys)
        await self.take(shown_ms)

    def save(self, path: Path) -> None:
        """One palette for all frames, so that what stays the same costs nothing."""
        width, height = self.frames[0].size
        strip = Image.new("RGB", (width, height * len(self.frames)))
        for number, frame in enumerate(self.frames):
            strip.paste(frame, (0, number * height))
        palette = strip.quantize(COLOURS)
        first, *others = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames]
        first.save(path, save_all=True, append_images=others, duration=self.times, loop=0, optimize=True)


async def _watch_the_agent(movie: Movie, screen: BrowseScreen, folder: str) -> None:
    """The story, step by step; each goes on once its frame is taken."""
    loop = asyncio.get_running_loop()
    steps: asyncio.Queue[int] = asyncio.Queue()
    go_on = threading.Semaphore(0)

    def wait(*_: object) -> None:
        loop.call_soon_threadsafe(steps.put_nowait, memory.get_head()[0])
        go_on.acquire()

    with memtui.open(folder) as memory:
        story = asyncio.create_task(asyncio.to_thread(play_story, memory, speed=0, listener=wait))
        while not story.done():
            step = asyncio.create_task(steps.get())
            await asyncio.wait([step, story], return_when=asyncio.FIRST_COMPLETED)
            if not step.done():
                step.cancel()
                break
            seq = step.result()
            await until(movie.pilot, lambda: screen.last_seq >= seq)  # noqa: B023 - waited for here
            await movie.take(STEP_MS)
            go_on.release()
        await story


async def film(path: Path) -> None:
    with own_home() as folder:
        prepare_folder(folder)
        app = MemtuiApp(str(folder))
        async with app.run_test(size=SIZE) as pilot:
            app.theme = "memtui-dark"
            await until(pilot, lambda: isinstance(app.screen, BrowseScreen) and app.screen.header.status.live == "LIVE")
            screen = app.screen
            assert isinstance(screen, BrowseScreen)
            movie = Movie(pilot)
            await movie.take(READ_MS)
            await _watch_the_agent(movie, screen, str(folder))
            await movie.press("v")
            await movie.press("escape", "T", shown_ms=STEP_MS)
            for _ in range(6):
                await movie.press("left_square_bracket", shown_ms=STEP_MS)
            await movie.press("escape", shown_ms=STEP_MS)
            await movie.press("slash", shown_ms=STEP_MS)
            for letter in "remind":
                await movie.press(letter, shown_ms=STEP_MS // 4)
            await movie.press("enter")
            movie.save(path)


def main() -> int:
    """Draw it beside this file."""
    path = HERE / "movie.gif"
    asyncio.run(film(path))
    size = path.stat().st_size
    print(f"{path.name}: {size:,} bytes")
    return 0 if size <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
