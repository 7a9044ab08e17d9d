"""The parts of the MCP server that need no client: URIs, subscriptions."""

import asyncio
import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.mcp import stdio
from memtui.agents.mcp.resources import (
    MOST_MAILBOXES,
    MOST_WANTED,
    SubscriptionHub,
    TooManySubscriptions,
    build_uri,
    collect_changes,
    parse_uri,
)
from memtui.core.events import Agent, Change, EntryKind, Event, Version

NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..")
)
RAW = st.binary(min_size=1, max_size=20).filter(lambda name: b"/" not in name and b"\0" not in name)


@given(st.lists(NAMES | RAW.map(lambda raw: raw.decode("utf-8", "surrogateescape")), min_size=1, max_size=4))
def test_a_uri_names_exactly_its_path(parts: list[str]) -> None:
    if {".", ".."} & set(parts):
        return
    path = "/".join(parts)
    uri = build_uri(path)
    assert parse_uri(uri).relative == path
    assert uri.isascii()
    assert uri.isprintable()
    assert " " not in uri


@pytest.mark.parametrize("uri", ["memory:///", "MEMORY:///", "memory:////"])
def test_the_folder_has_a_uri(uri: str) -> None:
    assert parse_uri(uri).is_root


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "memory:/x",
        "memory://x/y",
        "memory:///..",
        "memory:///a/%2E%2e",
        "memory:///a%2fb",
        "memory:///%00",
        "x:///a",
    ],
)
def test_what_names_nothing_in_the_folder_is_no_uri_of_a_memory(uri: str) -> None:
    with pytest.raises(ValueError, match="memory"):
        parse_uri(uri)


def _change(path: str, *, before: bool, after: bool) -> Event:
    version = Version(EntryKind.FILE, "0" * 64, 1)
    change = Change(path, version if before else None, version if after else None)
    return Event(at_us=0, actor=Agent("x"), command="create", path=path, changes=(change,))


def test_a_mailbox_holds_each_thing_once_and_only_what_is_wanted() -> None:
    async def run() -> None:
        hub = SubscriptionHub()
        box, other = hub.open(wants_list=False), hub.open(wants_list=True)
        box.subscribe("memory:///a", "a")
        box.subscribe("memory:///d", "d")
        for _ in range(1_000):
            hub.publish(collect_changes([_change("a", before=True, after=True), _change("b", before=True, after=True)]))
        hub.publish(collect_changes([_change("d/e/f", before=False, after=True)]))
        assert await box.take() == (False, ["memory:///a", "memory:///d"])
        assert await other.take() == (True, [])
        box.unsubscribe("a")
        hub.publish(collect_changes([_change("a", before=True, after=True)]))
        hub.publish(collect_changes([_change("d", before=True, after=False)]))
        assert await box.take() == (False, ["memory:///d"])
        hub.close(box)
        assert hub.mailboxes == {other}

    asyncio.run(run())


def test_subscriptions_have_an_end() -> None:
    hub = SubscriptionHub()
    box = hub.open(wants_list=True)
    for number in range(MOST_WANTED):
        box.subscribe(f"memory:///{number}", str(number))
    with pytest.raises(TooManySubscriptions, match="10,000"):
        box.subscribe("memory:///more", "more")
    for _ in range(MOST_MAILBOXES - 1):
        hub.open(wants_list=True)
    with pytest.raises(TooManySubscriptions):
        hub.open(wants_list=True)


def test_a_pipe_that_does_not_wait_is_not_taken_for_one_that_has_ended() -> None:
    out, into = os.pipe()
    os.set_blocking(out, False)

    async def read_both() -> list[bytes | None]:
        lines = stdio.LineReader(out, asyncio.get_running_loop())
        os.write(into, b"one\n")
        found = [await asyncio.wait_for(lines.get_line(), 10)]
        await asyncio.sleep(0)  # the reader looks again, and finds nothing yet
        os.write(into, b"two\n")
        found.append(await asyncio.wait_for(lines.get_line(), 10))
        os.close(into)
        with pytest.raises(EOFError):
            await asyncio.wait_for(lines.get_line(), 10)
        return found

    assert asyncio.run(read_both()) == [b"one", b"two"]
    os.close(out)


def test_a_file_is_read_as_a_pipe_is(tmp_path: Path) -> None:
    (tmp_path / "requests").write_bytes(b"one\n" + b"x" * 100_000 + b"\nlast")

    async def read_all() -> list[bytes | None]:
        with (tmp_path / "requests").open("rb") as file:
            lines, found = stdio.LineReader(file.fileno(), asyncio.get_running_loop()), []
            with contextlib.suppress(EOFError):
                while True:
                    found.append(await asyncio.wait_for(lines.get_line(), 10))
            return found

    assert asyncio.run(read_all()) == [b"one", b"x" * 100_000, b"last"]


def test_a_line_that_was_begun_is_finished_if_its_task_is_cancelled() -> None:
    out, into = os.pipe()
    first, second = b"a" * 1_000_000 + b"\n", b"b\n"

    async def write_both() -> bytes:
        loop = asyncio.get_running_loop()
        writer = stdio.LineWriter(into, loop)
        begun = asyncio.create_task(writer.write(first))
        await asyncio.sleep(0)  # the pipe is full now
        later = asyncio.create_task(writer.write(second))
        begun.cancel()
        with pytest.raises(asyncio.CancelledError):
            await begun
        read = bytearray()
        while len(read) < len(first) + len(second):
            read += await asyncio.wait_for(loop.run_in_executor(None, os.read, out, 65_536), 10)
        await asyncio.wait_for(later, 10)
        return bytes(read)

    assert asyncio.run(write_both()) == first + second
    os.close(out)
    os.close(into)


def test_a_client_that_has_gone_is_told_to_each_who_writes() -> None:
    out, into = os.pipe()

    async def write_to_nobody() -> None:
        writer = stdio.LineWriter(into, asyncio.get_running_loop())
        begun = asyncio.create_task(writer.write(b"a" * 1_000_000 + b"\n"))
        await asyncio.sleep(0)  # the pipe is full now
        os.close(out)
        with pytest.raises(BrokenPipeError):
            await asyncio.wait_for(begun, 10)
        with pytest.raises(BrokenPipeError):
            await asyncio.wait_for(writer.write(b"more\n"), 10)

    asyncio.run(write_to_nobody())
    os.close(into)
