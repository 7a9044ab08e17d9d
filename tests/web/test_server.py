"""The server: what it refuses before it starts a process, and what one page may cost."""

import asyncio
import json
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http.client import RemoteDisconnected
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from memtui.web import MOST_FRAME_BYTES, MOST_MESSAGE_BYTES
from memtui.web.gate import Gate
from memtui.web.server import Limits, WebServer
from tests.web.conftest import LIMIT, ask

ECHO = "import sys\nfor line in sys.stdin.buffer:\n    sys.stdout.buffer.write(line)\n    sys.stdout.buffer.flush()"
FLOOD = """
import os, sys
while True:
    os.write(1, b"x" * 65_535 + b"\\n")
    with open(sys.argv[1], "ab") as counted:
        counted.write(b".")
"""
DEAF = (
    "import signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(600)"
)


class Viewers:
    """Starts small programs in place of viewers, and counts them."""

    def __init__(self, *words: str) -> None:
        self._words = words
        self.started: list[Process] = []

    async def start(self) -> Process:
        viewer = await asyncio.create_subprocess_exec(
            sys.executable, "-c", *self._words, stdin=PIPE, stdout=PIPE, limit=MOST_FRAME_BYTES
        )
        self.started.append(viewer)
        return viewer


class Site:
    """A running server, and how to reach it."""

    def __init__(self, gate: Gate, viewers: Viewers) -> None:
        self.gate, self.viewers = gate, viewers
        self.token_target = gate.address.removeprefix("http://").partition("/")[2].join(("/", ""))
        self.port = urlsplit(gate.address).port or 0
        self.path = self.cookie = ""

    async def ask(self, target: str, **options: Any) -> Any:
        return await asyncio.to_thread(ask, self.port, target, **options)

    async def enter(self) -> None:
        """Use the token."""
        reply = await self.ask(self.token_target)
        assert reply.status == 303
        self.path, self.cookie = reply.headers["Location"], reply.headers["Set-Cookie"].partition(";")[0]

    def open(self, **changed: Any) -> Any:
        """Open the websocket as the page does."""
        host = f"127.0.0.1:{self.port}"
        headers = {"Cookie": self.cookie, **changed.pop("headers", {})}
        options = {
            "origin": f"http://{host}",
            "additional_headers": headers,
            "max_size": None,
            "close_timeout": 1,
            **changed,
        }
        return connect(f"ws://{host}{self.path}screen", proxy=None, **options)


@asynccontextmanager
async def run_site(*words: str, **limits: Any) -> AsyncIterator[Site]:
    bound = socket.create_server(("127.0.0.1", 0))
    gate, viewers, ended = Gate(bound.getsockname()[1]), Viewers(*(words or (ECHO,))), asyncio.Event()
    task = asyncio.create_task(WebServer(gate, viewers.start, Limits(**limits)).run(bound, ended=ended))
    try:
        yield Site(gate, viewers)
    finally:
        ended.set()
        await asyncio.wait_for(task, LIMIT)
        assert [viewer for viewer in viewers.started if viewer.returncode is None] == []


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(LIMIT):
        while not condition():
            await asyncio.sleep(0.01)


async def test_messages_go_both_ways_once_the_page_has_its_session() -> None:
    async with run_site() as site:
        await site.enter()
        async with site.open() as page:
            await page.send('["hello",80,24,false]')
            assert await page.recv() == '["hello",80,24,false]'
        await until(lambda: site.viewers.started[0].returncode is not None)


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": "http://evil.example"},
        {"origin": None},
        {"headers": {"Cookie": ""}},
        {"headers": {"Cookie": "memtui=old"}},
    ],
    ids=["foreign origin", "no origin", "no cookie", "another cookie"],
)
async def test_a_page_that_is_not_ours_starts_no_process(changed: dict[str, Any]) -> None:
    async with run_site() as site:
        await site.enter()
        with pytest.raises(InvalidStatus) as refused:
            async with site.open(**changed):
                pass
        assert refused.value.response.status_code == 403
        assert site.viewers.started == []


async def test_a_rebound_name_a_used_token_and_another_method_start_no_process() -> None:
    async with run_site() as site:
        rebound = await site.ask(site.token_target, host=f"evil.example:{site.port}")
        assert rebound.status == 421
        await site.enter()
        assert (await site.ask(site.token_target)).status == 403
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13"}
        headers = {**upgrade, "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Cookie": site.cookie}
        origin = f"http://127.0.0.1:{site.port}"
        target = f"{site.path}screen"
        assert (await site.ask(target, host="evil.example", Origin="http://evil.example", **headers)).status == 421
        assert (await site.ask(target, method="POST", Origin=origin, **headers)).status == 405
        assert (await site.ask(target, Origin=origin, Cookie=site.cookie)).status == 426
        with pytest.raises(RemoteDisconnected):
            await site.ask(target, Origin=origin, Content_Length="5", **headers)
        assert site.viewers.started == []
        assert (await site.ask(target, Origin=origin, **headers)).status == 101, (
            "all that was wrong is what was changed"
        )


async def test_every_answer_forbids_what_the_page_does_not_need() -> None:
    async with run_site() as site:
        await site.enter()
        for target in (site.path, f"{site.path}page.js", f"{site.path}page.css", "/", "/nothing"):
            reply = await site.ask(target, Cookie=site.cookie)
            policy = reply.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert reply.headers["Referrer-Policy"] == "no-referrer"
            assert reply.headers["Cache-Control"] == "no-store"
        page = (await site.ask(site.path, Cookie=site.cookie)).body
        assert "http:" not in page
        assert "https:" not in page


async def test_a_message_that_is_too_large_or_binary_ends_the_viewer() -> None:
    async with run_site() as site:
        await site.enter()
        for message, code in (("x" * (MOST_MESSAGE_BYTES + 1), 1009), (b"[]", 1008), ("[]\n[]", 1008)):
            async with site.open() as page:
                await page.send(message)
                with pytest.raises(ConnectionClosed) as closed:
                    await asyncio.wait_for(page.recv(), LIMIT)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == code
        await until(lambda: all(viewer.returncode is not None for viewer in site.viewers.started))


async def test_more_pages_than_the_limit_are_told_so_and_start_no_process() -> None:
    async with run_site(viewers=2) as site:
        await site.enter()
        async with site.open() as first, site.open() as second:
            for page in (first, second):
                await page.send("[]")
                assert await page.recv() == "[]"
            async with site.open() as third:
                with pytest.raises(ConnectionClosed) as closed:
                    await asyncio.wait_for(third.recv(), LIMIT)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.reason == "Too many viewers: 2 are open. Close one, and reload."
            assert len(site.viewers.started) == 2
        await until(lambda: all(viewer.returncode is not None for viewer in site.viewers.started))
        async with site.open() as page:
            await page.send("[]")
            assert await page.recv() == "[]"


async def test_a_page_without_a_key_ends_though_it_draws() -> None:
    async with run_site(idle_seconds=0.5) as site:
        await site.enter()
        async with site.open() as page:
            await page.send('["hello",80,24,false]')
            with pytest.raises(ConnectionClosed) as closed:
                await asyncio.wait_for(_acknowledge(page), LIMIT)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.reason == "Ended: no key was pressed for a long time."


async def _acknowledge(page: ClientConnection) -> None:
    while True:
        await page.send('["ack",1]')
        await page.recv()


async def test_a_page_that_sends_without_end_is_read_slowly() -> None:
    async with run_site(rate=50.0, burst=10) as site:
        await site.enter()
        async with site.open() as page:
            loop = asyncio.get_running_loop()
            began = loop.time()
            sends = asyncio.create_task(_send_many(page, 60))
            for _ in range(60):
                await asyncio.wait_for(page.recv(), LIMIT)
            await sends
            assert loop.time() - began >= 0.9, "50 of them wait for a fiftieth of a second each"


async def _send_many(page: ClientConnection, count: int) -> None:
    for _ in range(count):
        await page.send('["key","j",0]')


async def test_a_page_that_does_not_read_stops_its_viewer(tmp_path: Path) -> None:
    counted = tmp_path / "counted"
    async with run_site(FLOOD, str(counted)) as site:
        await site.enter()
        async with site.open(max_queue=1) as page:
            await until(counted.exists)
            before = -1
            async with asyncio.timeout(LIMIT):
                while before != (before := counted.stat().st_size):
                    await asyncio.sleep(0.5)
            assert before * 65_536 < 5 * MOST_FRAME_BYTES, "it could have written more in that time"
            await page.recv()
        await until(lambda: site.viewers.started[0].returncode is not None)


async def test_a_viewer_that_does_not_end_is_killed_with_its_page_and_with_the_server() -> None:
    async with run_site(DEAF) as site:
        await site.enter()
        async with site.open() as page:
            assert await page.recv() == "up"
        await until(lambda: site.viewers.started[0].returncode is not None)
        still = await site.open().__aenter__()
        assert await still.recv() == "up"
    assert len(site.viewers.started) == 2  # `run_site` has seen that both have ended
    with pytest.raises(ConnectionClosed):
        await still.recv()


async def test_a_viewer_that_ends_ends_its_page() -> None:
    end = json.dumps({"end": "Ended."})
    async with run_site(f"print({end!r}, flush=True)") as site:
        await site.enter()
        async with site.open() as page:
            assert await page.recv() == end
            with pytest.raises(ConnectionClosed):
                await asyncio.wait_for(page.recv(), LIMIT)
