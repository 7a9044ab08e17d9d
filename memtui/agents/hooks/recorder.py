"""Recording the writer of a memory file: announced before the write, found and recorded after.

Before, only the coming content is announced, which takes no database. After, the engine looks at the file in a process
of its own, which the agent does not wait for: each version is recorded, also where no memtui runs.
"""

import os
import time
from collections.abc import Callable, Mapping

from memtui.agents.hooks.payload import AFTER, HookCall, MemoryFileLocation, predict_results
from memtui.core.events import sha256
from memtui.core.messages import MessageKey
from memtui.core.paths import MemoryPath
from memtui.fs.state import get_state_home, make_private_directory
from memtui.journal.announcements import Announcement, AnnouncementStore

LARGEST = 16_000_000
"""Bytes of the largest file that is read."""
_BEFORE_US = 3_600_000_000
"""How long after its announcement a write may come: Claude Code may ask its user first."""
_AFTER_US = 86_400_000_000
"""How long after a write it may be found; another content than the announced one is an external change."""


def read_file(path: str) -> bytes | None:
    """The content of a file; `None` where there is none.

    Raises:
        OSError: It cannot be read, is no file, or is too large.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    if len(data) > LARGEST:
        raise OSError(f"{path} is too large")
    return data


def announce_write(
    call: HookCall, place: MemoryFileLocation, texts: tuple[bytes, ...], *, is_new: bool, note: str = ""
) -> None:
    """Announce a write that a call is about to make, or has made.

    Args:
        call: The call.
        place: The file.
        texts: Its content after the write, any of these.
        is_new: Whether there was no file before.
        note: For the log; by default the tool's name.

    Raises:
        OSError: It cannot be stored.
    """
    now_us = time.time_ns() // 1_000
    make_private_directory(place.state)
    until_us = now_us + (_AFTER_US if call.event == AFTER else _BEFORE_US)
    hashes = tuple(map(sha256, texts))
    AnnouncementStore(place.state).add(
        Announcement(
            place.path, call.actor, call.call_id, hashes, note or call.tool, now_us, until_us, is_new, call.arguments
        )
    )


def announce_result(call: HookCall, place: MemoryFileLocation) -> Announcement | None:
    """Announce the write that a call has made, unless that was announced before; the announcement.

    Raises:
        OSError: The file cannot be read, or the announcement cannot be stored.
    """
    store = AnnouncementStore(place.state)
    announced = store.find_by_call(call.call_id)
    if announced is not None and announced.path != place.path:
        announced = None
    now = read_file(os.path.join(place.folder, place.path))
    if now is None or (announced is not None and sha256(now) in announced.hashes):
        return announced
    before = _get_original(call)
    expected = predict_results(call.tool, call.given, before) if call.tool == "Write" or before is not None else ()
    if expected:
        is_so = any(now.split() == each.split() for each in expected)  # but for spaces, which the tool may set right
        texts = (now,) if is_so else expected
    elif announced is not None:
        return announced
    else:
        texts = (now,)
    announce_write(call, place, texts, is_new=announced.is_new if announced is not None else not _had_file(call))
    return store.find_by_call(call.call_id)


def _get_original(call: HookCall) -> bytes | None:
    """The content before, as the tool reports it."""
    original = call.response.get("originalFile") if isinstance(call.response, dict) else None
    return original.encode("utf-8", "surrogatepass") if isinstance(original, str) else None


def _had_file(call: HookCall) -> bool:
    """Whether there may have been a file before."""
    return not (isinstance(call.response, dict) and call.response.get("type") == "create")


def record_write(call: HookCall, place: MemoryFileLocation, announced: Announcement) -> None:
    """Have the engine find the write."""
    from memtui.memory import connect  # noqa: PLC0415 - start-up: opens a database

    with connect(place.folder, state=place.state, settings=place.settings) as memory:
        memory.reconcile([place.path])
        memory.claims.claim(
            place.path, actor=call.actor, call_id=call.call_id, hashes=announced.hashes, note=announced.note
        )


def record_refusal(
    call: HookCall, place: MemoryFileLocation, message: MessageKey, note: str, values: Mapping[str, object]
) -> None:
    """Record a change that a person refused or replaced, as for every agent that asks."""
    from memtui.memory import connect  # noqa: PLC0415 - start-up: opens a database

    path = str(MemoryPath.from_relative(place.path))
    edits = call.given.get("edits")
    edit = edits[0] if isinstance(edits, list) and edits and isinstance(edits[0], dict) else call.given
    command: dict[str, object] = {"command": "create", "path": path, "file_text": call.given.get("content")}
    if call.tool != "Write":
        old, new = edit.get("old_string"), edit.get("new_string")
        command = {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
    with connect(place.folder, state=place.state, settings=place.settings) as memory:
        memory.reconcile([place.path])
        is_error, actor, call_id = message is not MessageKey.EDITED_FIRST, call.actor, call.call_id
        memory.answer_instead(
            command, message, actor=actor, call_id=call_id, is_error=is_error, note=note, values=values
        )


def record_baseline(place: MemoryFileLocation) -> None:
    """Record the present content of a path that is about to be overwritten, in a folder that is new to the engine."""
    from memtui.memory import connect  # noqa: PLC0415 - start-up: opens a database

    with connect(place.folder, state=place.state, settings=place.settings) as memory:
        memory.reconcile([place.path])


def run_in_background(work: Callable[[], None], failed: Callable[[Exception], object]) -> None:
    """Run work in a forked process without output, that is not waited for."""
    if os.fork():
        return
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        work()
    except Exception as error:  # without a terminal: it is stored in full
        failed(error)
    finally:
        os._exit(0)


def link_session(call: HookCall) -> None:
    """Announce the session of a call to our own tool, for the server that executes it.

    Raises:
        OSError: It cannot be stored.
    """
    now_us = time.time_ns() // 1_000
    make_private_directory(get_state_home())
    AnnouncementStore(get_state_home()).add(
        Announcement("", call.actor, call.call_id, (), call.tool, now_us, now_us + _BEFORE_US, arguments=call.arguments)
    )
