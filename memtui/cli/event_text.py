"""An event as a line for a person, and as an object for a program."""

import os
from collections.abc import Sequence

from memtui.cli import output
from memtui.core.events import (
    Agent,
    Change,
    EntryKind,
    Event,
    Memtui,
    Person,
    Version,
    format_actor_name,
    shorten_actor_name,
)
from memtui.core.guards import GUARDS, decode_guard
from memtui.core.messages import summarize_refusal
from memtui.core.paths import ROOT_NAME, MemoryPath
from memtui.core.wording import format_latency, format_result

_OPERATIONS = {
    "view": "viewed",
    "found": "found",
    "redact": "redacted",
    "began": "began",
    "imported": "told",
    "repair": "repaired",
    "adopt": "adopted",
    "protect": "protected",
    "unprotect": "unprotected",
    "pin": "pinned",
    "unpin": "unpinned",
    "dismiss": "dismissed",
}
"""The `op` of events that change no path."""
_FOUND_SO = frozenset({"created", "modified", "claimed", "imported"})
"""Commands of changes that an agent made with tools of its own."""


def format_event_row(event: Event) -> str:
    """One line in columns. A value that is wider than its column pushes the rest aside and is never cut."""
    path = event.path if event.new_path is None else f"{event.path} -> {event.new_path}"
    columns = (
        f"{event.seq:>6}",
        f"{event.at.astimezone():%Y-%m-%d %H:%M:%S}",
        output.pad_cell(shorten_actor_name(format_actor_name(event.actor)), 11),
        output.pad_cell(event.command, 11),
        output.pad_cell(path, 36),
        f"{format_result(event):<9}",
        f"{_format_counts(event):<9}",
        f"{_format_duration(event):>6}",
        output.pad_cell(event.note or (summarize_refusal(event) if event.is_error else ""), 0),
    )
    return "  ".join(columns).rstrip()


def serialize_event(event: Event, folder: str) -> dict[str, object]:
    """An event as JSON with its real path in `folder`; keys may be added, none is removed."""
    actor = event.actor
    before, after = _get_hashes(event)
    return {
        "schema": output.SCHEMA,
        "seq": event.seq,
        "ts": output.format_utc(event.at_us),
        "actor": actor.name,
        "actor_kind": type(actor).__name__.lower(),
        "model": actor.model if isinstance(actor, Agent) else None,
        "session": actor.session if isinstance(actor, Agent) else None,
        "tool": event.command if isinstance(actor, Agent | Person) and event.command not in _FOUND_SO else None,
        "path": event.path,
        "real": _resolve_real_path(event.path, folder),
        "new_path": event.new_path,
        "op": _get_operation(event),
        "result": event.result.value,
        "added": event.added,
        "removed": event.removed,
        "duration_us": event.duration_us,
        "call_id": event.call_id,
        "sha256_before": before,
        "sha256_after": after,
        "changes": [serialize_change(change) for change in event.changes],
        "note": event.note,
        "moved": [
            [str(MemoryPath.from_relative(old)), str(MemoryPath.from_relative(new))] for old, new in _list_moves(event)
        ],
        "undoes": list(event.undoes),
        "redacted": list(event.redacted),
        "noted": {name: decode_guard(value) for name, value in event.noted if name in GUARDS},
        "hash": event.hash,
    }


def _list_moves(event: Event) -> Sequence[tuple[str, str]]:
    """The moves of an event, as `(old, new)`."""
    if event.moved or event.new_path is None or event.is_error or not event.changes:
        return event.moved
    old, new = (path.removeprefix(f"{ROOT_NAME}/") for path in (event.path, event.new_path))
    return ((old, new),)


def _get_operation(event: Event) -> str | None:
    """The operation on the path, in the same words for every actor."""
    if event.command in _OPERATIONS:
        return None if event.is_error else _OPERATIONS[event.command]
    if not event.changes:
        return None
    if event.new_path is not None or (event.moved and event.command == "rename"):
        return "renamed"
    if event.command in ("restore", "undo", "redo"):  # of several paths, where each may come, go or change
        operations = {_classify_change(change) for change in _select_changes(event)}
        return operations.pop() if len(operations) == 1 else "modified"
    return _classify_change(_find_own_change(event) or event.changes[0])


def _classify_change(change: Change) -> str:
    return "created" if change.before is None else "deleted" if change.after is None else "modified"


def _select_changes(event: Event) -> Sequence[Change]:
    """The change of the path that the event names; else those of files, else all."""
    own = _find_own_change(event)
    kinds = [(change, change.after or change.before) for change in event.changes]
    files = [change for change, version in kinds if version is not None and version.kind is not EntryKind.DIRECTORY]
    return [own] if own is not None and own in files else files or event.changes


def _find_own_change(event: Event) -> Change | None:
    """The change of the path that the event names."""
    return next((change for change in event.changes if str(MemoryPath.from_relative(change.path)) == event.path), None)


def _get_hashes(event: Event) -> tuple[str | None, str | None]:
    if event.viewed is not None:
        return event.viewed.sha256, event.viewed.sha256
    own = _find_own_change(event)
    if own is None:
        return None, None
    after = own.after
    if event.new_path is not None:
        moved = (change for change in event.changes if str(MemoryPath.from_relative(change.path)) == event.new_path)
        after = next((change.after for change in moved), None)
    return _get_hash(own.before), _get_hash(after)


def _get_hash(version: Version | None) -> str | None:
    return version.sha256 if version else None


def serialize_change(change: Change) -> dict[str, object]:
    """A change with the keys that programs rely on."""
    version = change.after or change.before
    return {
        "path": str(MemoryPath.from_relative(change.path)),
        "kind": version.kind.value if version else None,
        "sha256_before": _get_hash(change.before),
        "sha256_after": _get_hash(change.after),
    }


def _resolve_real_path(path: str, folder: str) -> str | None:
    """The path on this machine; `None` for one that the engine refused to understand."""
    if path == ROOT_NAME:
        return folder
    parts = path.split("/")
    if not path.startswith(ROOT_NAME + "/") or {"", ".", ".."} & set(parts[1:]):
        return None
    return os.path.join(folder, path[len(ROOT_NAME) + 1 :])


def _format_counts(event: Event) -> str:
    return "" if event.added is None else f"+{event.added} -{event.removed}"


def _format_duration(event: Event) -> str:
    if event.is_outside or isinstance(event.actor, Memtui) or not event.duration_us:
        return ""
    return format_latency(max(event.duration_us / 1_000, 1))
