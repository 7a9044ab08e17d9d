"""Reading a folder for an audit: every name in it, and every byte, once; nothing is changed and no link is followed."""

import os
import time
from collections.abc import Callable, Iterable

from memtui.audit.inbox import Inbox
from memtui.audit.stopping import go_on
from memtui.audit.subject import Note, Other, Subject
from memtui.core.audit_settings import AuditSettings
from memtui.core.errors import LeavesRoot
from memtui.core.listing import human_size
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.settings import Settings
from memtui.core.snapshot import Kind
from memtui.engine import Observer
from memtui.store.base import Node, NotRegular, TooLarge

_EVERY = 64
"""Files between two reports of how far it is."""
_NO_AUDIT = AuditSettings()
_NO_LIMITS = Settings()


def subject_of(
    observer: Observer,
    *,
    settings: AuditSettings = _NO_AUDIT,
    memory: Settings = _NO_LIMITS,
    now_us: int | None = None,
    on_disk: int = 0,
    repo: str | None = None,
    pins: Iterable[str] = (),
    place: str = "",
    chosen: Iterable[str] = (),
    inbox: Inbox | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Subject:
    """Everything that stands in a folder now.

    Args:
        observer: The open memory.
        settings: How the audit is done.
        memory: The limits that hold for the folder.
        now_us: The time, in microseconds since 1970; by default as the clock says.
        on_disk: The number of the last event that is in the journal on the disk.
        repo: A repository that notes are compared with.
        pins: Notes that somebody has pinned.
        place: Where the folder is on this machine.
        chosen: The ids of the rules that run; empty for all.
        inbox: What changed since the last review.
        progress: Told what is done, how many, and of how many.
        stop: Asked now and then whether to give up.

    Raises:
        Stopped: `stop` said so.
        FolderMissing: The folder is gone, or was replaced.
        OSError: The folder itself cannot be read.
    """
    nodes = list(observer.store.scan(ROOT))
    files = sum(node.kind is Kind.FILE for node in nodes)
    inhabited = {node.path.rpartition("/")[0] for node in nodes}
    notes: dict[str, Note] = {}
    others: dict[str, Other] = {}
    for node in sorted(nodes, key=lambda node: node.path):
        if len(notes) % _EVERY == 0:
            go_on(stop)
            if progress is not None:
                progress("read", len(notes), files)
        if node.kind is Kind.FILE:
            notes[node.path] = _note(observer, node, memory.read_limit)
        else:
            others[node.path] = _other(observer, node, is_empty=node.path not in inhabited)
    return Subject(
        notes=notes,
        others=others,
        observer=observer,
        audit=settings,
        memory=memory,
        now_us=time.time_ns() // 1_000 if now_us is None else now_us,
        on_disk=on_disk,
        repo=repo,
        pins=frozenset(pins),
        place=place,
        chosen=frozenset(chosen),
        inbox=inbox,
        stop=stop,
    )


def _note(observer: Observer, node: Node, limit: int) -> Note:
    data, problem = None, ""
    try:
        content = observer.store.read(MemoryPath.of(node.path), limit=limit)
        if content.node.path == node.path:  # else a link was put there since it was looked at
            data, node = content.data, content.node
        else:
            problem = "It was replaced by a link while it was read."
    except FileNotFoundError:
        problem = "It went away while the folder was read."
    except (NotRegular, LeavesRoot):
        problem = "It was replaced by something else while it was read."
    except TooLarge as error:
        problem = f"It has {human_size(error.size)}, and no more than {human_size(limit)} are read of a file."
    except OSError as error:
        problem = f"It cannot be read: {_why(error)}."
    return Note(node.path, data, node.mtime_ns, node.size, node.links, problem)


def _other(observer: Observer, node: Node, *, is_empty: bool) -> Other:
    path = MemoryPath.of(node.path)
    if node.kind is Kind.DIRECTORY:
        return Other(node.path, node.kind, problem=_problem_of_directory(observer, path) if is_empty else "")
    if node.kind is not Kind.LINK:
        return Other(node.path, node.kind, what=node.what)
    try:
        target = os.fsdecode(observer.store.read_link(path))
    except (NotRegular, LeavesRoot):
        return Other(node.path, node.kind, problem="It was replaced by something else while it was looked at.")
    except OSError as error:
        return Other(node.path, node.kind, problem=f"It cannot be looked at: {_why(error)}.")
    try:
        is_dangling = observer.store.node(path, follow=True) is None
    except LeavesRoot:
        return Other(node.path, node.kind, target, leaves=True)
    except OSError as error:  # such as links that lead to each other
        return Other(node.path, node.kind, target, is_dangling=True, problem=f"It leads nowhere: {_why(error)}.")
    return Other(node.path, node.kind, target, is_dangling=is_dangling)


def _problem_of_directory(observer: Observer, path: MemoryPath) -> str:
    """Why nothing was found in a directory; empty where nothing is in it."""
    try:
        next(iter(observer.store.scan(path, complete=True)), None)
    except OSError as error:
        return f"It cannot be read: {_why(error)}."
    return ""


def _why(error: OSError) -> str:
    return os.strerror(error.errno or 0).lower()
