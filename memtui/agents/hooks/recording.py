"""Recording who wrote a memory file: announced before it is written, found and recorded after.

Before, it is only written down what the file will hold, which takes no database. After, the engine looks at the file in
a process of its own, which the agent does not wait for: each version is recorded, also where no memtui runs.
"""

import os
import time
from collections.abc import Callable, Mapping

from memtui.agents.hooks.calls import AFTER, HookCall
from memtui.agents.hooks.folders import Place
from memtui.agents.hooks.results import results
from memtui.core.events import sha256
from memtui.core.messages import Message
from memtui.core.paths import MemoryPath
from memtui.journal.announced import Announcement, Announcements
from memtui.places import state_home
from memtui.state import make_private

LARGEST = 16_000_000
"""Bytes of the largest file that is read."""
_BEFORE_US = 3_600_000_000
"""For how long what was announced may be written: Claude Code may ask its user first."""
_AFTER_US = 86_400_000_000
"""For how long what was written may be found; each other text than the announced one stays one from outside."""


def read(path: str) -> bytes | None:
    """What a file holds; `None` where there is none.

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


def announce(call: HookCall, place: Place, texts: tuple[bytes, ...], *, is_new: bool, note: str = "") -> None:
    """Write down what a call is about to write, or has written.

    Args:
        call: Which.
        place: Where.
        texts: What the file will hold, any of these.
        is_new: Whether there was none before.
        note: For the log; by default the tool's name.

    Raises:
        OSError: It cannot be kept.
    """
    now_us = time.time_ns() // 1_000
    make_private(place.state)
    Announcements(place.state).add(
        Announcement(
            place.path,
            call.actor,
            call.call_id,
            tuple(map(sha256, texts)),
            note or call.tool,
            now_us,
            now_us + (_AFTER_US if call.event == AFTER else _BEFORE_US),
            is_new,
            call.arguments,
        )
    )


def announce_done(call: HookCall, place: Place) -> Announcement | None:
    """Write down what a call has written, unless that was said before it was; returns what is written down.

    Raises:
        OSError: The file cannot be read, or it cannot be kept.
    """
    kept = Announcements(place.state)
    said = kept.of_call(call.call_id)
    if said is not None and said.path != place.path:
        said = None
    now = read(os.path.join(place.folder, place.path))
    if now is None or (said is not None and sha256(now) in said.hashes):
        return said
    before = _before(call)
    expected = results(call.tool, call.given, before) if call.tool == "Write" or before is not None else ()
    if expected:
        is_so = any(now.split() == each.split() for each in expected)  # but for spaces, which the tool may set right
        texts = (now,) if is_so else expected
    elif said is not None:
        return said
    else:
        texts = (now,)
    announce(call, place, texts, is_new=said.is_new if said is not None else not _had_file(call))
    return kept.of_call(call.call_id)


def _before(call: HookCall) -> bytes | None:
    """What the tool says that the file held."""
    held = call.response.get("originalFile") if isinstance(call.response, dict) else None
    return held.encode("utf-8", "surrogatepass") if isinstance(held, str) else None


def _had_file(call: HookCall) -> bool:
    """Whether there was a file before; where nobody tells, there may have been one."""
    return not (isinstance(call.response, dict) and call.response.get("type") == "create")


def record(call: HookCall, place: Place, said: Announcement) -> None:
    """Have the engine find what was written."""
    from memtui.opening import connect  # deferred: it opens a database, which nobody waits for

    with connect(place.folder, state=place.state, settings=place.settings) as memory:
        memory.reconcile([place.path])
        memory.tell_late(place.path, actor=call.actor, call_id=call.call_id, hashes=said.hashes, note=said.note)


def record_refusal(call: HookCall, place: Place, message: Message, note: str, values: Mapping[str, object]) -> None:
    """Record what a person decided against, or did otherwise, as for any agent that asks."""
    from memtui.opening import connect  # deferred, as above

    path = str(MemoryPath.of(place.path))
    edits = call.given.get("edits")
    edit = edits[0] if isinstance(edits, list) and edits and isinstance(edits[0], dict) else call.given
    command: dict[str, object] = {"command": "create", "path": path, "file_text": call.given.get("content")}
    if call.tool != "Write":
        old, new = edit.get("old_string"), edit.get("new_string")
        command = {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
    with connect(place.folder, state=place.state, settings=place.settings) as memory:
        memory.reconcile([place.path])
        memory.answer_instead(
            command,
            message,
            actor=call.actor,
            call_id=call.call_id,
            is_error=message is not Message.EDITED_FIRST,
            note=note,
            values=values,
        )


def look_before(place: Place) -> None:
    """Have the engine record what stands at a path, in a folder that it never saw: it is about to be overwritten."""
    from memtui.opening import connect  # deferred: once in the life of a folder

    with connect(place.folder, state=place.state, settings=place.settings) as memory:
        memory.reconcile([place.path])


def in_background(work: Callable[[], None], failed: Callable[[Exception], object]) -> None:
    """Do something in a process of its own, that nobody waits for and that says nothing."""
    if os.fork():
        return
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        work()
    except Exception as error:  # nobody sees it: it is kept in full
        failed(error)
    finally:
        os._exit(0)


def link(call: HookCall) -> None:
    """Write down in which session our own tool is called, for the server that carries the call out.

    Raises:
        OSError: It cannot be kept.
    """
    now_us = time.time_ns() // 1_000
    make_private(state_home())
    Announcements(state_home()).add(
        Announcement("", call.actor, call.call_id, (), call.tool, now_us, now_us + _BEFORE_US, arguments=call.arguments)
    )
