"""The tour of the demo: captions that point at what has just happened, while the story waits."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.geometry import Region, Size
from textual.pilot import Pilot

from memtui.agents import demo
from memtui.memory import open as open_memory
from memtui.ui.app import MemtuiApp
from memtui.ui.key_names import list_labels
from memtui.ui.screens import tour
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.help import HelpScreen
from memtui.ui.screens.tour import CaptionScreen, TourGuide, place_beside
from tests.ui.conftest import screen_text, wait_for


class Story:
    """The story, played in a thread."""

    def __init__(self, app: MemtuiApp, folder: Path, state: Path) -> None:
        self.stop = threading.Event()
        self.steps = 0
        guide = TourGuide(app, self.stop, demo.load_captions())

        def follow(step: demo.DemoStep, answer: demo.Answer) -> None:
            self.steps += 1
            guide.follow(step, answer)

        def play() -> None:
            with open_memory(folder, state=state) as memory:
                demo.play_story(memory, speed=0, stop=self.stop, listener=follow)

        self.thread = threading.Thread(target=play)
        self.thread.start()


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour, "_DEAF_SECONDS", 0)
    monkeypatch.setattr(tour, "_LOOK_SECONDS", 0)


@asynccontextmanager
async def touring(tmp_path: Path, size: tuple[int, int]) -> AsyncIterator[tuple[MemtuiApp, Pilot[int], Story]]:
    folder, state = tmp_path / "m", tmp_path / "s"
    folder.mkdir()
    demo.prepare_folder(folder)
    app = MemtuiApp(str(folder), state=str(state))
    async with app.run_test(size=size) as pilot:
        await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen) and "7 notes" in screen_text(app))
        story = Story(app, folder, state)
        try:
            yield app, pilot, story
        finally:
            story.stop.set()
            story.thread.join()


def is_shown(app: MemtuiApp, title: str) -> bool:
    return isinstance(app.screen, CaptionScreen) and f" {title} " in screen_text(app)


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 36), (200, 50)])
async def test_the_story_waits_for_each_caption_and_any_key_goes_on(tmp_path: Path, size: tuple[int, int]) -> None:
    async with touring(tmp_path, size) as (app, pilot, story):
        for caption in demo.load_captions():
            await wait_for(app, pilot, lambda title=caption.title: is_shown(app, title), caption.title)
            assert story.steps == caption.after
            assert screen_text(app).count("any key: next") == 1
            await pilot.press("x")
        await wait_for(app, pilot, lambda: not story.thread.is_alive(), "the end of the story")
        assert isinstance(app.screen, BrowseScreen)


async def test_escape_ends_the_tour_and_not_the_story(tmp_path: Path) -> None:
    async with touring(tmp_path, (80, 24)) as (app, pilot, story):
        await wait_for(app, pilot, lambda: is_shown(app, "Files"))
        await pilot.press("escape")
        await wait_for(app, pilot, lambda: not story.thread.is_alive(), "the end of the story")
        assert isinstance(app.screen, BrowseScreen)


async def test_captions_are_left_out_while_another_screen_is_open(tmp_path: Path) -> None:
    folder, state = tmp_path / "m", tmp_path / "s"
    folder.mkdir()
    app = MemtuiApp(str(folder), state=str(state))
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen))
        app.push_screen(HelpScreen(()))
        await wait_for(app, pilot, lambda: isinstance(app.screen, HelpScreen))
        story = Story(app, folder, state)
        await wait_for(app, pilot, lambda: not story.thread.is_alive(), "the end of the story")
        assert isinstance(app.screen, HelpScreen)


def test_the_captions_point_at_what_there_is_with_keys_that_are_bound() -> None:
    captions = demo.load_captions()
    assert [each.after for each in captions] == sorted({each.after for each in captions})
    for each in captions:
        assert len(each.text) < 160
        for name in tour._KEY.findall(each.text):
            assert list_labels(name), name


@pytest.mark.parametrize("screen", [Size(20, 5), Size(80, 24), Size(200, 50)])
@pytest.mark.parametrize(
    "target",
    [
        Region(),
        Region(0, 1, 30, 15),
        Region(30, 1, 170, 30),
        Region(0, 16, 200, 6),
        Region(0, 0, 200, 50),
        Region(0, 23, 80, 1),
    ],
)
def test_a_caption_is_always_within_the_screen(target: Region, screen: Size) -> None:
    box = Size(min(46, screen.width), 5)
    x, y = place_beside(target, box, screen)
    assert 0 <= x <= screen.width - box.width
    assert 0 <= y <= screen.height - box.height


async def test_ctrl_c_twice_leaves_from_a_caption(tmp_path: Path) -> None:
    async with touring(tmp_path, (120, 36)) as (app, pilot, _):
        first = demo.load_captions()[0]
        await wait_for(app, pilot, lambda: is_shown(app, first.title), first.title)
        await pilot.press("ctrl+c")
        assert is_shown(app, first.title)
        await pilot.press("ctrl+c")
        await wait_for(app, pilot, lambda: app.return_value == 130, "the end")
