"""What is said of files that a person puts in order."""

from collections.abc import Callable, Collection, Iterable

from memtui.core.events import Change
from memtui.core.restoring import Restored, Why
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.ui import said_keys, wording
from memtui.ui.files.contents import parent_of
from memtui.ui.taking_back import Said


def named(paths: Collection[str], is_folder: Callable[[str], bool]) -> str:
    """Some entries in a few words: `plan.md`, `notes/`, `3 files in notes/`, `2 folders and 5 files`."""
    if len(paths) == 1:
        path = next(iter(paths))
        return f"{one_line(path)}{'/' if is_folder(path) else ''}"
    folders = sum(map(is_folder, paths))
    files = len(paths) - folders
    words = [f"{folders:,} {'folder' if folders == 1 else 'folders'}"] if folders else []
    words += [wording.files(files)] if files else []
    parents = {parent_of(path) for path in paths}
    where = next(iter(parents)) if len(parents) == 1 else ""
    return " and ".join(words) + (f" in {one_line(where)}/" if where else "")


def files_in(changes: Iterable[Change]) -> int:
    """How many files, links and the like are concerned, directories left aside."""
    versions = {change.path: change.after or change.before for change in changes}
    return sum(version is not None and version.kind is not Kind.DIRECTORY for version in versions.values())


def told(restored: Restored, done: str, *, again: str = "") -> Said:
    """What came of it: done, done but for some, or not done and why.

    Args:
        restored: What came of it.
        done: A sentence for what was done.
        again: How it is taken back, unless by the usual key alone.
    """
    if restored.event is None:
        return Said(restored.problem or "There was nothing to do.", is_warning=True)
    again = again or f"{said_keys.undo()} takes it back."
    words = f"{done} {again}"
    stopped = sum(left.why is Why.STOPPED for left in restored.left)
    if stopped:
        words = f"Stopped: {wording.files(stopped)} left as before. What was done by then stays; "
        words += f"{said_keys.undo()} takes that back."
    elif restored.left:
        words = (
            f"{done} Left as it is: {left_of(restored)}. {again}"  # what stays comes first: lines are cut at the end
        )
    if restored.problem:
        words = restored.problem
    return Said(words, bool(restored.left or restored.problem), restored.event.seq)


def left_of(restored: Restored) -> str:
    """What is left as it is, by its first."""
    more = len(restored.left) - 1
    return restored.left[0].sentence + (f", and {more:,} more" if more else "")
