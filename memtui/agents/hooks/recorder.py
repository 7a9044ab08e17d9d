"""Recording the writer of a memory file: announced before the write, found and recorded after.

Before, only the coming content is announced, which takes no database. After, the engine looks at the file in a process
of its own, which the agent does not wait for: each version is recorded, also where no memtui runs.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from memtui.agents.hooks.payload import AFTER, WRITING, HookCall, MemoryFileLocation, predict_results
from memtui.core.events import sha256
from memtui.core.messages import MessageKey
from memtui.core.paths import MemoryPath
from memtui.fs.state import get_state_home, make_private_directory
from memtui.journal.announcements import Announcement, AnnouncementStore, hash_unstamped

LARGEST = 16_000_000
"""Bytes of the largest file that is read."""
_BEFORE_US = 3_600_000_000
"""How long after its announcement a write may come: Claude Code may ask its user first."""
_GONE_US = 600_000_000
"""How long after its announcement a deletion may come: every deletion looks like it."""
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
    call: HookCall,
    place: MemoryFileLocation,
    texts: tuple[bytes, ...] | None,
    *,
    is_new: bool,
    note: str = "",
    moved_to: str = "",
) -> Announcement:
    """Announce a write that a call is about to make, or has made.

    Args:
        call: The call.
        place: The file.
        texts: Its content after the write, any of these; `None` where it is deleted or moved away.
        is_new: Whether there was no file before.
        note: For the log; by default the tool's name.
        moved_to: Where it is moved to.

    Raises:
        OSError: It cannot be stored.
    """
    now_us = time.time_ns() // 1_000
    make_private_directory(place.state)
    until_us = _GONE_US if texts is None else _AFTER_US if call.event == AFTER else _BEFORE_US
    hashes = tuple(map(sha256, texts or ()))
    stamped = tuple(each for each in map(hash_unstamped, texts or ()) if each not in hashes)
    announcement = Announcement(
        place.path,
        call.actor,
        call.call_id,
        hashes,
        note or call.tool,
        now_us,
        now_us + until_us,
        is_new,
        call.arguments,
        stamped if call.tool in WRITING else (),
        texts is None,
        moved_to,
    )
    AnnouncementStore(place.state).add(announcement)
    return announcement


def announce_result(call: HookCall, place: MemoryFileLocation) -> Announcement | None:
    """Announce the write that a call has made, unless that was announced before; the announcement.

    Raises:
        OSError: The file cannot be read, or the announcement cannot be stored.
    """
    announced = AnnouncementStore(place.state).get(call.call_id, place.path)
    now = read_file(os.path.join(place.folder, place.path))
    if now is None or (announced is not None and sha256(now) in announced.hashes):
        return announced
    details = call.response if isinstance(call.response, dict) else {}
    if details.get("staged") is True:
        return None  # held back: nothing is written yet
    texts = _find_written_texts(call, details, now)
    if not texts:
        if announced is not None:
            return announced
        texts = (now,)
    # a file that may have been there before is not new
    is_new = announced.is_new if announced is not None else details.get("type") == "create"
    is_stamped = announced is not None and hash_unstamped(now) in (*announced.hashes, *announced.unstamped)
    return announce_write(call, place, texts, is_new=is_new, note=announced.note if announced and is_stamped else "")


def _find_written_texts(call: HookCall, details: Mapping[str, Any], now: bytes) -> tuple[bytes, ...]:
    """The contents that a tool may have written, by its answer and its input; empty where they are not known."""
    from memtui.agents.transcripts.edits import find_texts  # noqa: PLC0415 - start-up: not where it was announced
    from memtui.agents.transcripts.parse import TranscriptCall, TranscriptResult  # noqa: PLC0415 - start-up: as above

    told = TranscriptCall(call.call_id, call.tool, call.path, call.given, "")
    before, after = find_texts(told, TranscriptResult(call.call_id, False, details), None)
    known = None if before is None else before.encode("utf-8", "surrogatepass")
    texts = list(predict_results(call.tool, call.given, known)) if call.tool == "Write" or known is not None else []
    if after is not None:  # the exact text, with what Claude Code adds by itself
        texts.insert(0, after.encode("utf-8", "surrogatepass"))
    # but for spaces and line ends, which the tool may set right, and for what it adds by itself
    stamped = {hash_unstamped(each) for each in texts}
    is_so = hash_unstamped(now) in stamped or any(now.split() == each.split() for each in texts)
    return (now, *texts) if is_so else tuple(texts)


def record_write(call: HookCall, place: MemoryFileLocation, announced: Iterable[Announcement]) -> None:
    """Have the engine find the writes of a call."""
    from memtui.memory import connect  # noqa: PLC0415 - start-up: opens a database

    wanted = {each.path: None if each.is_gone else each.hashes for each in announced}
    notes = {each.path: each.note for each in announced}
    with connect(place.folder, state=place.state, settings=place.settings) as memory:
        memory.reconcile(list(wanted))
        for path, hashes in wanted.items():
            memory.claims.claim(
                path, actor=call.actor, call_id=call.call_id, hashes=hashes, note=notes[path], others=wanted
            )


def record_refusal(
    call: HookCall, place: MemoryFileLocation, message: MessageKey, note: str, values: Mapping[str, object]
) -> None:
    """Record a change that a person refused or replaced, as for every agent that asks."""
    path = str(MemoryPath.from_relative(place.path))
    edits = call.given.get("edits")
    edit = edits[0] if isinstance(edits, list) and edits and isinstance(edits[0], dict) else call.given
    command: dict[str, object] = {"command": "create", "path": path, "file_text": call.given.get("content")}
    if call.tool != "Write":
        old, new = edit.get("old_string"), edit.get("new_string")
        command = {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
    record_refusals(call, place, {place.path: command}, message, note, values)


def record_refusals(
    call: HookCall,
    place: MemoryFileLocation,
    commands: Mapping[str, Mapping[str, object]],
    message: MessageKey,
    note: str,
    values: Mapping[str, object],
) -> None:
    """Record commands that a person refused."""
    from memtui.memory import connect  # noqa: PLC0415 - start-up: opens a database

    is_error = message is not MessageKey.EDITED_FIRST
    with connect(place.folder, state=place.state, settings=place.settings) as memory:
        memory.reconcile(list(commands))
        for command in commands.values():
            memory.answer_instead(
                command, message, actor=call.actor, call_id=call.call_id, is_error=is_error, note=note, values=values
            )


def record_baseline(place: MemoryFileLocation, paths: Sequence[str] = ()) -> None:
    """Record the present content of paths that are about to be overwritten or deleted."""
    from memtui.memory import connect  # noqa: PLC0415 - start-up: opens a database

    with connect(place.folder, state=place.state, settings=place.settings) as memory:
        memory.reconcile(list(paths) or [place.path])


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
