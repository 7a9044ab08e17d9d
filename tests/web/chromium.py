"""A page in Chromium without a window, driven through its DevTools protocol."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.web.conftest import LIMIT
from tests.web.terminal import Cell

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_CELLS = """
(() => {
  const screen = document.getElementById("screen");
  if (!screen) return []; // not this page yet
  const columns = Number(screen.dataset.columns);
  const normal = document.getElementById("probe").getBoundingClientRect().width / 50, width = Math.round(normal);
  const hex = (color) => color.match(/[0-9.]+/g).slice(0, 3)
    .map((part) => Number(part).toString(16).padStart(2, "0")).join("");
  const rows = [];
  for (const row of screen.children) {
    const cells = new Array(columns).fill(null);
    for (const run of row.children) {
      const box = run.getBoundingClientRect(), style = getComputedStyle(run), text = [...run.textContent];
      const left = box.left / width, count = box.width / width;
      const look = [hex(style.color), hex(style.backgroundColor)];
      look.push(Number(style.fontWeight) >= 600, style.fontStyle === "italic");
      const drawn = document.createRange();
      drawn.selectNodeContents(run);
      const isPlain = /^[ -~]+$/.test(run.textContent);
      const overlaps = cells.slice(left, left + count).some((cell) => cell !== null);
      const isAligned = !isPlain || Math.abs(drawn.getBoundingClientRect().width - box.width) < 0.5;
      const isInGrid = Number.isInteger(left) && Number.isInteger(count) && !overlaps && isAligned;
      if (!isInGrid) return `bad run ${run.textContent}`;
      if (isPlain) text.forEach((character, at) => { cells[left + at] = [character, ...look]; });
      else for (let at = 0; at < count; at++) cells[left + at] = [at ? "" : run.textContent.normalize("NFC"), ...look];
    }
    rows.push(cells);
  }
  return rows;
})()
"""
_CODES = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "F1": 112}


class Page:
    """One page."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._sent = 0
        self.problems: list[str] = []
        """What the browser wrote to its console, such as what a policy forbade."""

    async def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol."""
        self._sent += 1
        await self._connection.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        async with asyncio.timeout(LIMIT):
            while True:
                message = json.loads(await self._connection.recv())
                if message.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                    self.problems.append(json.dumps(message["params"]))
                if message.get("id") == self._sent:
                    assert "error" not in message, message
                    return message["result"]

    async def evaluate(self, script: str) -> Any:
        """The value of an expression, in the page."""
        done = await self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    async def go_to(self, url: str) -> None:
        await self.call("Page.navigate", url=url)

    async def set_size(self, columns: int, rows: int) -> None:
        """Make the window as large as so many cells."""
        probe = "document.getElementById('probe')"
        width, height = await self.evaluate(
            f"[Math.round({probe}.getBoundingClientRect().width / 50), {probe}.getBoundingClientRect().height]"
        )
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=columns * width + width // 2, height=int(rows * height) + 3,
            deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    async def press(self, key: str) -> None:
        """Press a key and let it go."""
        text = key if len(key) == 1 else ""
        code = _CODES.get(key, ord(key.upper()[0]))
        options = {"key": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **options)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    async def click(self, column: int, row: int) -> None:
        """Click on a cell."""
        width = await self.evaluate("Math.round(document.getElementById('probe').getBoundingClientRect().width / 50)")
        at = {"x": column * width + 2, "y": row * 18 + 9, "button": "left", "clickCount": 1}
        await self.call("Input.dispatchMouseEvent", type="mousePressed", **at)
        await self.call("Input.dispatchMouseEvent", type="mouseReleased", **at)

    async def read_cells(self) -> list[list[Cell]]:
        """The cells as they are laid out."""
        rows = await self.evaluate(_CELLS)
        assert not isinstance(rows, str), rows
        return [[tuple(cell) if cell else ("", "", "", False, False) for cell in row] for row in rows]

    async def read_words(self) -> str:
        """What the page says of its connection."""
        return str(await self.evaluate("document.getElementById('words')?.textContent ?? ''"))


def find_chromium() -> str:
    """The program; skips the test where there is none."""
    for name in _PROGRAMS:
        if (found := shutil.which(name)) is not None:
            return found
    pytest.skip("needs Chromium: apt-get install chromium")


@asynccontextmanager
async def open_page() -> AsyncIterator[Page]:
    """Start Chromium with an empty page."""
    program = find_chromium()
    with tempfile.TemporaryDirectory(prefix="memtui-chromium-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--remote-debugging-port=0", f"--user-data-dir={profile}",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "HOME": profile},
        )  # fmt: skip
        try:
            port = await _read_port(Path(profile) / "DevToolsActivePort", process)
            targets = json.loads(await asyncio.to_thread(_read, f"http://127.0.0.1:{port}/json/list"))
            target = next(each for each in targets if each["type"] == "page")
            async with connect(target["webSocketDebuggerUrl"], max_size=None, proxy=None) as connection:
                page = Page(connection)
                dark = {"name": "prefers-color-scheme", "value": "dark"}
                await page.call("Emulation.setEmulatedMedia", features=[dark])
                for domain in ("Page", "Runtime", "Log"):
                    await page.call(f"{domain}.enable")
                yield page
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(LIMIT)


async def _read_port(path: Path, process: "subprocess.Popen[bytes]") -> int:
    async with asyncio.timeout(LIMIT):
        while not (path.exists() and len(path.read_text().splitlines()) > 1):
            assert process.poll() is None, "Chromium has ended"
            await asyncio.sleep(0.05)
    return int(path.read_text().splitlines()[0])


def _read(url: str) -> bytes:
    with urlopen(url, timeout=LIMIT) as answer:
        return bytes(answer.read())
