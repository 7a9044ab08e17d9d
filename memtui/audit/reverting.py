"""Taking back a change that a reviewer does not want: one undoable event, in a session that may write."""

from dataclasses import replace

from memtui.audit.changed_hunks import compared
from memtui.audit.inbox import ChangedFile, ChangedHunk
from memtui.core.events import Actor, Person, Version, sha256
from memtui.core.restoring import Restored
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.engine import Engine
from memtui.engine.moving import above

_PAST = "Not reverted"
_YOU = Person()


def revert(
    engine: Engine, file: ChangedFile, hunk: ChangedHunk | None = None, *, rehearse: bool = False, actor: Actor = _YOU
) -> Restored:
    """Have a file be what it was before the change, or one hunk of it.

    Args:
        engine: The memory.
        file: The changed file, as the reviewer was shown it: if anything else stands there by now, nothing is done.
        hunk: Only this hunk; the file keeps the name that it has.
        rehearse: Whether it is only found out what would be changed.
        actor: Who does it.

    Returns:
        With `problem`, and `left` where something is in the way, if nothing was done.

    Raises:
        Busy, FolderMissing, StateUnusable, Closed: It could not be tried.
    """
    if hunk is not None and file.before is not None and file.after is not None:
        return _without(engine, file, hunk, rehearse, actor)
    if file.was and file.before == file.after:
        expected = {file.path: file.after}
        return _told(engine.files.move({file.path: file.was}, expected=expected, rehearse=rehearse, actor=actor))
    wanted: dict[str, Version | None] = {file.path: file.before}
    expected_now: dict[str, Version | None] = {file.path: file.after}
    if file.was:
        wanted = {file.path: None, file.was: file.before}
        expected_now[file.was] = None
    if wanted[file.path] is None:
        wanted |= dict.fromkeys(_made_for(engine, file))
    return _told(
        engine.restore(
            wanted,
            expected=expected_now,
            rehearse=rehearse,
            note=f"review: as before {_first(file)}",
            path=file.was or file.path,
            actor=actor,
        )
    )


def _made_for(engine: Engine, file: ChangedFile) -> list[str]:
    """The directories above a file that were not there before: they go with it, unless something else is in them."""
    since = file.steps[0].seq if file.steps else 0
    return [path for path in above(file.path) if engine.history.version_at(path, since) is None]


def _without(engine: Engine, file: ChangedFile, hunk: ChangedHunk, rehearse: bool, actor: Actor) -> Restored:
    found = compared(engine, file)
    if found.difference is None:
        return Restored(problem=f"{_PAST}: {one_line(file.path)} has no hunks. {found.problem}")
    if hunk.hunk not in found.difference.hunks:
        return Restored(problem=f"{_PAST}: {one_line(file.path)} has no such hunk.")
    data = found.difference.without(hunk.hunk).encode("utf-8", "surrogateescape")
    version = Version(Kind.FILE, sha256(data), len(data))
    return _told(
        engine.restore(
            {file.path: version},
            expected={file.path: file.after},
            texts={version.sha256 or "": data},
            rehearse=rehearse,
            note=f"review: one hunk as before {_first(file)}",
            actor=actor,
        )
    )


def _first(file: ChangedFile) -> str:
    return f"#{file.events[0].seq}" if file.events else "the change"


def _told(restored: Restored) -> Restored:
    """What came of it, in the words of a review."""
    for past in ("Not restored", "Not moved"):
        if restored.problem.startswith(past):
            return replace(restored, problem=_PAST + restored.problem.removeprefix(past))
    return restored
