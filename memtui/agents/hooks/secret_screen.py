"""Keys in what Claude Code is about to write: left out of the tool's input, or refused, as the settings say.

A hook changes what a tool is given, and not the file: a key is left out only where the file is certain to be without it
then; every other change with a key is refused.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from memtui.agents.hooks.decision import DENY, HookDecision
from memtui.agents.hooks.payload import HookCall, MemoryFileLocation, predict_results
from memtui.agents.hooks.recorder import read_file
from memtui.agents.hooks.shell_call import ShellChange
from memtui.agents.transcripts.edits import find_texts
from memtui.agents.transcripts.parse import TranscriptCall, TranscriptResult
from memtui.core.errors import Refusal
from memtui.core.paths import MemoryPath
from memtui.core.settings import SecretPolicy
from memtui.journal.announcements import Announcement
from memtui.scan.secret_policy import describe_new_secrets, screen_text

_INSTEAD = "Store a reference instead of it, for example the name of an environment variable."


class ScreenedCall(NamedTuple):
    """A call of a tool that writes a file, without the keys that may not be written.

    Attributes:
        call: The call; with another input where a key is left out.
        texts: The contents that the file may have after it, the likeliest first.
        left_out: What is left out, as a note for the log; empty for nothing.
        refusal: Why the call may not be made; `None` if it may.
    """

    call: HookCall
    texts: tuple[bytes, ...]
    left_out: str = ""
    refusal: HookDecision | None = None


def screen_call(
    call: HookCall, place: MemoryFileLocation, before: bytes | None, texts: tuple[bytes, ...], policy: SecretPolicy
) -> ScreenedCall:
    """A call as it may be made.

    Args:
        call: The call.
        place: The file.
        before: Its content.
        texts: The contents that it may have after the call; empty where they cannot be told.
        policy: `block` or `redact`.
    """
    # where they cannot be told, the tool may find its place by rules of its own
    may = [_decode(text) for text in texts] or _list_new_texts(call)
    refusal = _refuse_texts(place, _decode(before), may)
    redacted = _redact_call(call, place, before, texts) if refusal is not None and policy == "redact" else None
    return redacted or ScreenedCall(call, texts, refusal=refusal)


def _redact_call(
    call: HookCall, place: MemoryFileLocation, before: bytes | None, texts: tuple[bytes, ...]
) -> ScreenedCall | None:
    """The call without new keys; `None` where the file may not become what it would be without them."""
    screen = partial(screen_text, MemoryPath.from_relative(place.path), _decode(before), policy="redact")
    files = [screen(_decode(text)) for text in texts]
    wanted = tuple(file.text.encode("utf-8", "surrogateescape") for file in files)
    given = _map_new_texts(call, lambda text: screen(text).text)
    if not files or predict_results(call.tool, given, before) != wanted:
        return None
    return ScreenedCall(replace(call, given=given), wanted, files[0].note)


def _list_new_texts(call: HookCall) -> list[str]:
    """What a call puts into the file."""
    texts: list[str] = []

    def keep(text: str) -> str:
        texts.append(text)
        return text

    _map_new_texts(call, keep)
    return texts


def _map_new_texts(call: HookCall, change: Callable[[str], str]) -> dict[str, Any]:
    """The input of a call with each text changed that it puts into the file."""

    def change_field(fields: Mapping[str, Any]) -> dict[str, Any]:
        text = fields.get(name)
        return {**fields, name: change(text)} if isinstance(text, str) else dict(fields)

    name, edits = "content" if call.tool == "Write" else "new_string", call.given.get("edits")
    if call.tool != "MultiEdit" or not isinstance(edits, list):
        return change_field(call.given)
    return {**call.given, "edits": [change_field(edit) if isinstance(edit, Mapping) else edit for edit in edits]}


def warn_of_secret(call: HookCall, place: MemoryFileLocation, announced: Announcement) -> str:
    """What Claude Code tells its model where a key was written all the same, as JSON; empty for no new key.

    Another hook's input may have won over ours, and an old Claude Code takes none.
    """
    if announced.note != call.tool:
        return ""  # what was left out is left out, or the person wrote it
    details = call.response if isinstance(call.response, dict) else {}
    told = TranscriptCall(call.call_id, call.tool, call.path, call.given, "")
    before = find_texts(told, TranscriptResult(call.call_id, False, details), None)[0]
    if before is None and details.get("type") != "create":
        return ""
    now = read_file(os.path.join(place.folder, place.path))
    found = describe_new_secrets(before, _decode(now))
    if not found:
        return ""
    reason = f"{place.path} {found}, which may not be written there. Take the value out now. {_INSTEAD}"
    return json.dumps({"decision": "block", "reason": reason})


def refuse_shell_secrets(changes: Sequence[ShellChange]) -> HookDecision | None:
    """The refusal of a command that would write a key into one of its files; `None` for any other.

    A key that is moved within a folder is no new one.
    """
    for change in changes:
        if change.after is None:
            continue
        sources = [each.before for each in changes if each.moved_to == change.place.path]
        was = "\n".join(_decode(text) for text in (change.before, *sources) if text is not None)
        refusal = _refuse_texts(change.place, was, [_decode(change.after)])
        if refusal is not None:
            return refusal
    return None


def _refuse_texts(place: MemoryFileLocation, before: str, texts: Sequence[str]) -> HookDecision | None:
    path = MemoryPath.from_relative(place.path)
    for text in texts:
        try:
            screen_text(path, before, text, "block")
        except Refusal as refusal:
            words = str(refusal).removeprefix("Error: ").replace(str(path), place.path, 1)
            return HookDecision(DENY, words, None, refusal.message, "secret", refusal.values)
    return None


def _decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")
