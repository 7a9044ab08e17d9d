"""Recording what a shell command of Claude Code changes: announced before, found and claimed after."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from memtui.agents.hooks.payload import PATCH, HookCall, MemoryFileLocation
from memtui.agents.hooks.recorder import announce_write, read_file, record_refusals
from memtui.agents.hooks.shell_call import ShellChange, locate_patched_files
from memtui.agents.transcripts.shell import is_confirmed, parse_effects
from memtui.core.messages import MessageKey
from memtui.core.paths import MemoryPath
from memtui.journal.announcements import Announcement, AnnouncementStore

_DONE, _HEAD = "Success. Updated the following files:", 1_000
"""What Codex answers to a patch that was applied, at the beginning of its answer."""
_REFUSALS = 20
"""Changes of one refused command that are recorded."""


def announce_changes(call: HookCall, changes: Iterable[ShellChange]) -> None:
    """Announce what a shell command is about to change."""
    for each in changes:
        texts = None if each.after is None else (each.after,)
        note = f"{call.tool}: {each.verb}"
        announce_write(call, each.place, texts, is_new=each.before is None, note=note, moved_to=each.moved_to)


def announce_effects(
    call: HookCall, locate: Callable[[str], MemoryFileLocation | None]
) -> dict[MemoryFileLocation, list[Announcement]]:
    """Announce what a shell command has changed, as far as that is certain; all that it announced, by folder."""
    command, details = call.given.get("command"), call.response if isinstance(call.response, dict) else {}
    found: dict[MemoryFileLocation, list[Announcement]] = {}
    if not isinstance(command, str) or call.given.get("run_in_background") is True:
        return found
    if call.tool == PATCH:
        _announce_patched(call, command, locate, found)
        return found
    for effect in parse_effects(command, call.directory):
        target = effect.file
        if effect.source and (effect.is_into or os.path.isdir(target)):
            target = os.path.join(target, os.path.basename(effect.source))
        gone = [target] if effect.verb == "rm" else [effect.source] if effect.verb == "mv" else []
        for path in dict.fromkeys((*gone, target)):
            place = locate(path)
            if place is None:
                continue
            folder = place._replace(path="")
            if folder not in found:
                found[folder] = AnnouncementStore(place.state).list_by_call(call.call_id)
            is_known = any(each.path == place.path for each in found[folder])
            if is_known or not is_confirmed(effect, details) or (path in gone) is os.path.lexists(path):
                continue
            text = None if path in gone or os.path.islink(path) or os.path.isdir(path) else read_file(path)
            if path in gone or text is not None:
                texts = None if text is None else (text,)
                note = f"{call.tool}: {effect.verb}"
                found[folder].append(announce_write(call, place, texts, is_new=False, note=note))
    return found


def _announce_patched(
    call: HookCall,
    patch: str,
    locate: Callable[[str], MemoryFileLocation | None],
    found: dict[MemoryFileLocation, list[Announcement]],
) -> None:
    """Announce what a patch of Codex has changed: Codex says whether it did, and the files what they hold."""
    is_done = isinstance(call.response, str) and _DONE in call.response[:_HEAD]
    for each, paths in locate_patched_files(call, patch):
        for path in paths:
            place = locate(path)
            if place is None:
                continue
            folder = place._replace(path="")
            if folder not in found:
                found[folder] = AnnouncementStore(place.state).list_by_call(call.call_id)
            if not is_done or any(known.path == place.path for known in found[folder]):
                continue
            text = None if os.path.islink(path) else read_file(path)
            if text is not None or not os.path.lexists(path):
                texts = None if text is None else (text,)
                note = f"{call.tool}: {each.verb}"
                found[folder].append(announce_write(call, place, texts, is_new=False, note=note))


def record_shell_refusal(
    call: HookCall,
    place: MemoryFileLocation,
    changes: Sequence[ShellChange],
    message: MessageKey,
    note: str,
    values: Mapping[str, object],
) -> None:
    """The same of a shell command, for each of its first changes."""
    commands: dict[str, dict[str, object]] = {}
    targets = {each.moved_to for each in changes}
    for each in changes[:_REFUSALS]:
        path = str(MemoryPath.from_relative(each.place.path))
        if each.moved_to:
            new = str(MemoryPath.from_relative(each.moved_to))
            commands[each.place.path] = {"command": "rename", "old_path": path, "new_path": new}
        elif each.after is None:
            commands[each.place.path] = {"command": "delete", "path": path}
        elif each.place.path not in targets:
            text = each.after.decode("utf-8", "replace")
            commands[each.place.path] = {"command": "create", "path": path, "file_text": text}
    record_refusals(call, place, commands, message, note, values)
