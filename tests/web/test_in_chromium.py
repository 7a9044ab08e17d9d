"""The page in a web browser: its cells are those of the terminal, and its keys do what they do there."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.web.chromium import Page, find_chromium, open_page
from tests.web.conftest import LIMIT, Serving
from tests.web.terminal import Terminal, read_text, run_in_terminal

PRESSED = [
    ("ArrowUp", b"\x1b[A", "2 today.md", True),
    ("k", b"k", "2 later.md", True),
    ("ArrowDown", b"\x1b[B", "2 today.md", True),
    ("y", b"y", "path for the agent", True),
    ("Escape", b"\x1b", "path for the agent", False),
    ("V", b"V", "history  notes/today.md", True),
]
"""Keys of the web and of a terminal, and words that are there or not when they have worked."""


@pytest.fixture(autouse=True)
def _chromium() -> None:
    find_chromium()


async def wait_for(page: Page, enough: Callable[[str], object]) -> str:
    """Wait until the text of the page is as expected."""
    text = ""
    try:
        async with asyncio.timeout(LIMIT):
            while not enough(text := read_text(await page.read_cells())):
                await asyncio.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"the page stayed at\n{text}\n{await page.read_words()}\n{page.problems}")
    return text


async def wait_for_words(page: Page, words: str) -> None:
    async with asyncio.timeout(LIMIT):
        while words not in await page.read_words():
            await asyncio.sleep(0.05)


async def assert_equal(page: Page, terminal: Terminal) -> None:
    """Both come to show the same cells; times and ages go on in both."""
    ours, theirs = [], []
    try:
        async with asyncio.timeout(LIMIT):
            while True:
                await asyncio.to_thread(terminal.read)
                ours, theirs = await page.read_cells(), terminal.cells
                if ours == theirs:
                    return
    except TimeoutError:
        pairs = zip(ours, theirs, strict=False)
        differences = [(y, x, a, b) for y, row in enumerate(pairs) for x, (a, b) in enumerate(zip(*row)) if a != b]  # noqa: B905
        pytest.fail(f"{len(ours)} and {len(theirs)} rows; {differences[:20]}\n{read_text(ours)}\n{read_text(theirs)}")


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 36)])
async def test_the_cells_of_the_page_are_those_of_the_terminal(
    serving: Serving, folder: Path, columns: int, rows: int
) -> None:
    with run_in_terminal(columns, rows, "--read-only", os.fspath(folder)) as terminal:
        async with open_page() as page:
            await page.go_to(serving.url)
            await wait_for(page, lambda text: "prefs.md" in text)
            await page.set_size(columns, rows)
            await wait_for(page, lambda text: len(text.splitlines()) == rows)
            await assert_equal(page, terminal)
            for key, code, words, is_there in PRESSED:
                await page.press(key)
                terminal.press(code)
                await wait_for(page, lambda text, words=words, is_there=is_there: (words in text) is is_there)
                await assert_equal(page, terminal)
            await page.set_size(columns + 10, rows - 3)
            terminal.resize(columns + 10, rows - 3)
            await assert_equal(page, terminal)
            problems = [each for each in page.problems if "favicon.ico" not in each]
            assert problems == []


async def test_the_mouse_and_live_changes_arrive(serving: Serving, folder: Path) -> None:
    async with open_page() as page:
        await page.go_to(serving.url)
        text = await wait_for(page, lambda text: "prefs.md" in text and "Watching" in text)
        await page.set_size(100, 30)
        text = await wait_for(page, lambda text: len(text.splitlines()) == 30 and "notes/" in text)
        row = next(number for number, line in enumerate(text.splitlines()) if "prefs.md" in line and "║" in line)
        await page.click(8, row)
        await wait_for(page, lambda text: "日本語" in text)
        (folder / "new.md").write_text("written meanwhile\n")
        await wait_for(page, lambda text: "new.md" in text)


async def test_the_address_works_once_and_a_reload_in_the_same_browser_goes_on(serving: Serving) -> None:
    async with open_page() as page:
        await page.go_to(serving.url)
        await wait_for(page, lambda text: "prefs.md" in text)
        assert "token" not in await page.evaluate("location.href")
        assert await page.evaluate("document.cookie") == ""
        (first,) = serving.find_viewers()
        await page.call("Page.reload")
        await wait_for(page, lambda text: "prefs.md" in text)
        async with asyncio.timeout(LIMIT):
            while first in serving.find_viewers():
                await asyncio.sleep(0.05)
        assert len(serving.find_viewers()) == 1
    async with open_page() as other:
        await other.go_to(serving.url)
        assert "used already" in str(await _read_when_there(lambda: other.evaluate("document.body?.innerText")))
        async with asyncio.timeout(LIMIT):
            while serving.find_viewers():
                await asyncio.sleep(0.05)


async def _read_when_there(read: Callable[[], Awaitable[object]]) -> object:
    async with asyncio.timeout(LIMIT):
        while not (found := await read()):
            await asyncio.sleep(0.05)
    return found


async def test_a_foreign_page_reaches_nothing(serving: Serving) -> None:
    path, _ = serving.exchange()
    async with open_page() as page:
        await page.go_to("data:text/html,<p>foreign</p>")
        outcome = await page.evaluate(
            f"""new Promise((done) => {{
                const socket = new WebSocket("ws://127.0.0.1:{serving.port}{path}screen");
                socket.onopen = () => done("open");
                socket.onerror = () => done("refused");
            }})"""
        )
        assert outcome == "refused"
        assert serving.find_viewers() == []


async def test_what_leads_out_of_the_folder_does_nothing_and_q_ends_the_viewer(serving: Serving) -> None:
    async with open_page() as page:
        await page.go_to(serving.url)
        await wait_for(page, lambda text: "prefs.md" in text)
        await page.press("o")
        await page.press("A")
        await page.press("?")
        help_text = await wait_for(page, lambda text: "Keys" in text or "keys" in text)
        assert "Open another folder" not in help_text
        await page.press("Escape")
        await page.press("q")
        await wait_for_words(page, "Ended. Reload this page to open it again.")


async def test_the_end_of_the_server_ends_the_viewers(serving: Serving) -> None:
    async with open_page() as page:
        await page.go_to(serving.url)
        await wait_for(page, lambda text: "prefs.md" in text)
        (viewer,) = serving.find_viewers()
        serving.process.terminate()
        await asyncio.to_thread(serving.process.wait, LIMIT)
        assert not Path(f"/proc/{viewer}").exists()
        await wait_for_words(page, "memtui serve has ended.")
