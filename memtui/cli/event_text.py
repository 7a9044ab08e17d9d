"""An event as a line for a person, and as an object for a program."""

import os
from collections.abc import Sequence

from memtui.cli import output
from memtui.core.actors import shown_name
from memtui.core.events import Agent, Change, Event, Memtui, Person, Version
from memtui.core.paths import ROOT_NAME, MemoryPath
from memtui.core.refusals import reason
from memtui.core.snapshot import Kind

_OPERATIONS = {"view": "viewed", "found": "found", "redact": "redacted", "began": "began", "imported": "told"}
"""What is said of events that change no path, or not for a change's sake."""
_FOUND_SO = frozenset({"created", "modified", "claimed", "imported"})
"""What an agent did with tools of its own, and announced."""


def aligned(event: Event) -> str:
    """One line in columns. A value that is wider than its column pushes the rest aside and is never cut."""
    path = event.path if event.new_path is None else f"{event.path} -> {event.new_path}"
    columns = (
        f"{event.seq:>6}",
        f"{event.at.astimezone():%Y-%m-%d %H:%M:%S}",
        output.cell(shown_name(event.actor), 11),
        output.cell(event.command, 11),
        output.cell(path, 36),
        f"{event.result.shown:<9}",
        f"{_counts(event):<9}",
        f"{_duration(event):>6}",
        output.cell(event.note or (reason(event) if event.is_error else ""), 0),
    )
    return "  ".join(columns).rstrip()


def record(event: Event, folder: str) -> dict[str, object]:
    """An event with the keys that programs rely on; keys may be added, none is taken away.

    Args:
        event: Which.
        folder: The memory folder, for the real path.
    """
    actor = event.actor
    before, after = _hashes(event)
    return {
        "schema": output.SCHEMA,
        "seq": event.seq,
        "ts": output.utc(event.at_us),
        "actor": actor.name,
        "actor_kind": type(actor).__name__.lower(),
        "model": actor.model if isinstance(actor, Agent) else None,
        "session": actor.session if isinstance(actor, Agent) else None,
        "tool": event.command if isinstance(actor, Agent | Person) and event.command not in _FOUND_SO else None,
        "path": event.path,
        "real": _real(event.path, folder),
        "new_path": event.new_path,
        "op": _operation(event),
        "result": event.result.value,
        "added": event.added,
        "removed": event.removed,
        "duration_us": event.duration_us,
        "call_id": event.call_id,
        "sha256_before": before,
        "sha256_after": after,
        "changes": [change_record(change) for change in event.changes],
        "note": event.note,
        "moved": [[str(MemoryPath.of(old)), str(MemoryPath.of(new))] for old, new in _moved(event)],
        "undoes": list(event.undoes),
        "redacted": list(event.redacted),
        "hash": event.hash,
    }


def _moved(event: Event) -> Sequence[tuple[str, str]]:
    """What was moved by itself, `(old, new)`: one thing, or all of many."""
    if event.moved or event.new_path is None or event.is_error or not event.changes:
        return event.moved
    old, new = (path.removeprefix(f"{ROOT_NAME}/") for path in (event.path, event.new_path))
    return ((old, new),)


def _operation(event: Event) -> str | None:
    """What became of the path: the same words whoever did it."""
    if event.command in _OPERATIONS:
        return None if event.is_error else _OPERATIONS[event.command]
    if not event.changes:
        return None
    if event.new_path is not None or (event.moved and event.command == "rename"):
        return "renamed"
    if event.command in ("restore", "undo", "redo"):  # of several paths, where each may come, go or change
        operations = {_changed(change) for change in _told(event)}
        return operations.pop() if len(operations) == 1 else "modified"
    return _changed(_own(event) or event.changes[0])


def _changed(change: Change) -> str:
    return "created" if change.before is None else "deleted" if change.after is None else "modified"


def _told(event: Event) -> Sequence[Change]:
    """The change of the path that the event names; else those of files, else all."""
    own = _own(event)
    kinds = [(change, change.after or change.before) for change in event.changes]
    files = [change for change, version in kinds if version is not None and version.kind is not Kind.DIRECTORY]
    return [own] if own is not None and own in files else files or event.changes


def _own(event: Event) -> Change | None:
    """The change of the path that the event names."""
    return next((change for change in event.changes if str(MemoryPath.of(change.path)) == event.path), None)


def _hashes(event: Event) -> tuple[str | None, str | None]:
    if event.viewed is not None:
        return event.viewed.sha256, event.viewed.sha256
    own = _own(event)
    if own is None:
        return None, None
    after = own.after
    if event.new_path is not None:
        moved = (change for change in event.changes if str(MemoryPath.of(change.path)) == event.new_path)
        after = next((change.after for change in moved), None)
    return _hash(own.before), _hash(after)


def _hash(version: Version | None) -> str | None:
    return version.sha256 if version else None


def change_record(change: Change) -> dict[str, object]:
    """A change with the keys that programs rely on."""
    version = change.after or change.before
    return {
        "path": str(MemoryPath.of(change.path)),
        "kind": version.kind.value if version else None,
        "sha256_before": _hash(change.before),
        "sha256_after": _hash(change.after),
    }


def _real(path: str, folder: str) -> str | None:
    """The path on this machine; `None` for one that the engine refused to understand."""
    if path == ROOT_NAME:
        return folder
    parts = path.split("/")
    if not path.startswith(ROOT_NAME + "/") or {"", ".", ".."} & set(parts[1:]):
        return None
    return os.path.join(folder, path[len(ROOT_NAME) + 1 :])


def _counts(event: Event) -> str:
    return "" if event.added is None else f"+{event.added} -{event.removed}"


def _duration(event: Event) -> str:
    if event.is_outside or isinstance(event.actor, Memtui) or not event.duration_us:
        return ""
    if event.duration_us < 1_000_000:
        return f"{max(1, round(event.duration_us / 1_000))} ms"
    return f"{event.duration_us / 1_000_000:.1f} s"
