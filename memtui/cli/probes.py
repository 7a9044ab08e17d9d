"""What `memtui doctor` finds out, each as one line.

The memory folder is only looked at: what has to be tried out is tried in the state directory where there is
one, else in a temporary directory.
"""

import contextlib
import importlib.metadata
import os
import platform
import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

import memtui
from memtui.confinement import offered
from memtui.core.errors import Busy, MemtuiError, StateUnusable
from memtui.core.paths import ROOT
from memtui.core.snapshot import Kind
from memtui.journal.reading import copied
from memtui.opening import JOURNAL, state_directory
from memtui.places import short
from memtui.store.confined import Moving, Place, exchange, rename_to_free_name
from memtui.store.folder import FolderStore
from memtui.store.locks import held
from memtui.watch import why_slower

_PACKAGES = ("textual", "watchfiles", "markdown-it-py", "rapidfuzz", "anthropic")
_REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "afs", "ceph", "virtiofs", "vboxsf")
"""Beginnings of the names of file systems on which locks or change notices may not reach other machines."""
_FEW_WATCHES = 8_192
_REPORTED_MS = 1_000
"""How long a change may take to be reported."""


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warn", "fail"]
    text: str


def system() -> Iterator[Check]:
    """memtui, Python, packages, terminal and kernel."""
    yield Check("memtui", "ok", memtui.__version__)
    yield Check("python", "ok", f"{platform.python_version()} ({short(sys.executable)})")
    yield Check("platform", "ok", f"{platform.system()} {platform.release()} {platform.machine()}")
    yield Check("sqlite", "ok", sqlite3.sqlite_version)
    for package in _PACKAGES:
        try:
            yield Check(package, "ok", importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Check(package, "fail" if package == "textual" else "warn", "not installed")
    try:
        yield Check("mcp", "ok", importlib.metadata.version("mcp"))
    except importlib.metadata.PackageNotFoundError:
        yield Check("mcp", "ok", "not installed; memtui mcp needs it: pip install 'memtui[mcp]'")
    yield _landlock()
    yield _terminal()
    yield _encoding()
    yield from _inotify()


def _landlock() -> Check:
    version = offered()
    if version:
        return Check("Landlock", "ok", f"version {version}: with --read-only the kernel lets memtui write no file")
    return Check("Landlock", "ok", "not here: with --read-only memtui itself opens everything read-only")


def folder(path: str | None, problem: str | None) -> Iterator[Check]:
    """The memory folder.

    Args:
        path: Where it is, with links resolved; `None` if there is none.
        problem: Why one that was named is not there.
    """
    if path is None:
        none = "none is named, and there is no ./memories here"
        yield Check("folder", "fail" if problem else "warn", problem or none)
        return
    try:
        store = FolderStore(path, None, title=short(path))
    except MemtuiError as error:
        yield Check("folder", "fail", str(error))
        return
    try:
        yield Check("folder", "ok", short(path))
        yield _writable("folder writable", path, missing="warn")
        closed = files = 0
        for node in store.scan(ROOT):
            files += node.kind is Kind.FILE
            closed += not os.access(os.path.join(path, node.path), os.R_OK, follow_symlinks=node.kind is not Kind.LINK)
        unreadable = f", {closed:,} things cannot be read" if closed else ""
        yield Check("files", "warn" if closed else "ok", f"{files:,}{unreadable}")
        yield _file_system(path)
        by = {"openat2": "by the kernel (openat2)", "walk": "by a walk of our own (no openat2 here)"}
        yield Check("confinement", "ok", by[store.resolver])
    finally:
        store.close()


def state(path: str | None, chosen: str | None, *, read_only: bool = False) -> Iterator[Check]:
    """The state directory of a folder and the journal in it, and what the file system there can do.

    Args:
        path: The folder, with links resolved; `None` if there is none.
        chosen: The state directory, if somebody said so.
        read_only: Whether nothing is tried out, since that would have to be made.
    """
    where: Path | None = None
    if path is not None:
        try:
            where = state_directory(path, chosen)
        except MemtuiError as error:
            yield Check("state", "fail", str(error))
    if where is not None and path is not None:
        yield from _state_directory(where, path)
        yield from _journal(where / JOURNAL)
    if read_only:
        yield Check("probes", "ok", "nothing is tried out: this is read-only")
        return
    with contextlib.ExitStack() as stack:
        try:
            if where is None or not os.access(where, os.W_OK | os.X_OK):
                where = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memtui-doctor-")))
            # A directory of our own, so that nothing is left whatever happens.
            ours = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doctor-", dir=where)))
            yield from _calls(ours)
        except OSError as error:
            yield Check("probes", "fail", f"no place to try things out: {_why(error)}")


def _state_directory(where: Path, path: str) -> Iterator[Check]:
    there = where
    try:
        while not there.exists() and there != there.parent:
            there = there.parent
    except OSError as error:
        yield Check("state", "fail", f"{short(where)}: {_why(error)}")
        return
    if there == where:
        if not where.is_dir():
            yield Check("state", "fail", f"{short(where)} is no directory")
            return
        yield Check("state", "ok", short(where))
    else:
        yield Check("state", "ok", f"{short(where)} (not there yet)")
    yield _writable("state writable", str(there), missing="fail")
    try:
        same = os.stat(there).st_dev == os.stat(path).st_dev
    except OSError as error:
        yield Check("file systems", "warn", _why(error))
        return
    apart = "state and folder are on two: what is being written waits beside its place for a moment"
    yield Check("file systems", "ok", "state and folder are on the same one" if same else apart)


def _journal(path: Path) -> Iterator[Check]:
    try:
        if not path.exists():
            yield Check("journal", "ok", "none yet")
            return
        with contextlib.closing(copied(str(path))) as database:
            words = database.execute("PRAGMA quick_check(1)").fetchone()[0]
            count = database.execute("SELECT count(*) FROM events").fetchone()[0]
            head = database.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    except (OSError, sqlite3.Error) as error:
        reason = _why(error) if isinstance(error, OSError) else error
        yield Check("journal", "fail", f"{short(path)} cannot be read: {reason}")
        return
    yield Check("journal", "ok" if words == "ok" else "fail", f"quick_check: {words}")
    if head:
        yield Check(
            "events",
            "ok" if head[0] == count else "fail",
            f"{count:,}, head {head[0]} {bytes(head[1]).hex()}",
        )
    else:
        yield Check("events", "ok", "0")


def _calls(directory: Path) -> Iterator[Check]:
    """Calls that not every kernel and file system has, each tried out in a directory of our own."""
    yield Check(
        "O_TMPFILE",
        *(("ok", "works") if _has_tmpfile(directory) else ("ok", "not here: names are used instead")),
    )
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield _renameat2(directory, fd)
        yield _links(directory, fd)
        yield _directory_sync(fd)
        yield _locks(fd)
    finally:
        os.close(fd)
    yield _journal_mode(directory)
    yield _watches(directory)


def _has_tmpfile(directory: Path) -> bool:
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag:
        return False
    try:
        os.close(os.open(directory, flag | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError:
        return False
    return True


def _moved(directory: Path, fd: int, name: str, moving: Moving) -> Moving | None:
    """How a file is moved when a way is asked for; `None` if it cannot be, or if it overwrites."""
    old, taken, new = (Place(fd, f"{name}-{each}", (), owned=False) for each in ("old", "taken", "new"))
    for each in (old, taken):
        (directory / each.name).touch()
    with contextlib.suppress(FileExistsError):
        rename_to_free_name(old, taken, moving)
        return None
    return rename_to_free_name(old, new, moving)


def _renameat2(directory: Path, fd: int) -> Check:
    places = [Place(fd, f"exchanged-{each}", (), owned=False) for each in "ab"]
    for place in places:
        (directory / place.name).touch()
    try:
        works = _moved(directory, fd, "renamed", "renameat2") == "renameat2" and exchange(*places)
    except OSError as error:
        return Check("renameat2", "warn", _why(error))
    weaker = "what another program writes in the moment of a replacement may be lost, a kill may leave two names"
    return Check("renameat2", *(("ok", "works") if works else ("warn", f"not here: {weaker}")))


def _links(directory: Path, fd: int) -> Check:
    try:
        works = _moved(directory, fd, "linked", "link") == "link"
    except OSError as error:
        return Check("links", "warn", _why(error))
    weaker = "where renameat2 is missing too, a kill may leave an empty file"
    return Check("links", *(("ok", "works") if works else ("warn", f"no hard links here: {weaker}")))


def _directory_sync(fd: int) -> Check:
    try:
        os.fsync(fd)
    except OSError as error:
        return Check("directory sync", "warn", f"{_why(error)}: a power cut may take the last changes back")
    return Check("directory sync", "ok", "works")


def _locks(fd: int) -> Check:
    try:
        with held(fd, 1.0) as locking:
            try:
                with held(fd, 0.0, locking):
                    return Check("locks", "fail", "they do not exclude: two writers could collide")
            except Busy:
                pass
    except StateUnusable:
        return Check("locks", "fail", "none here: nothing is written, browsing works")
    except OSError as error:
        return Check("locks", "fail", f"{_why(error)}: nothing is written, browsing works")
    return Check("locks", "ok", "flock" if locking == "flock" else "record locks (flock is not here)")


def _journal_mode(directory: Path) -> Check:
    try:
        with contextlib.closing(sqlite3.connect(directory / "probe.db")) as database:
            mode = database.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            database.execute("CREATE TABLE probe (value)")
    except sqlite3.Error as error:
        return Check("journal mode", "fail", f"a journal cannot be kept there: {error}")
    if mode == "wal":
        return Check("journal mode", "ok", "WAL")
    return Check("journal mode", "warn", f"{mode}, not WAL: every record is synced, and a reader may have to wait")


def _watches(directory: Path) -> Check:
    """Whether a change is reported; if not, folders are looked through every two seconds."""
    try:
        notify = RustNotify([str(directory)], False, False, 0, False, True)
    except (OSError, WatchfilesRustInternalError) as error:
        return Check("watches", "warn", why_slower(error))
    try:
        (directory / "watched").touch()
        seen = isinstance(notify.watch(1, 1, _REPORTED_MS, None), set)
    finally:
        notify.close()
    slower = "changes are not reported here: folders are checked every 10 s"
    return Check("watches", *(("ok", "changes are reported") if seen else ("warn", slower)))


def _writable(name: str, path: str, *, missing: Literal["warn", "fail"]) -> Check:
    if os.access(path, os.W_OK | os.X_OK):
        return Check(name, "ok", "yes")
    return Check(name, missing, f"no: {short(path)} cannot be written to")


def _file_system(path: str) -> Check:
    kind = _file_system_type(path)
    if kind is None:
        return Check("file system", "ok", "type not known")
    if kind.startswith(_REMOTE):
        return Check("file system", "warn", f"{kind}: changes made on other machines may be noticed late")
    return Check("file system", "ok", kind)


def _file_system_type(path: str) -> str | None:
    """The type of the innermost mount that holds a path, from the kernel's table."""
    found: tuple[int, str] | None = None
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
            for row in table:
                left, _, right = row.partition(" - ")
                point = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), left.split()[4])
                inside = point in ("/", path) or path.startswith(point + "/")
                if inside and (found is None or len(point) >= found[0]):
                    found = (len(point), right.split()[0])
    except (OSError, IndexError, ValueError):
        return None
    return found[1] if found else None


def _terminal() -> Check:
    term = os.environ.get("TERM", "")
    colors = os.environ.get("COLORTERM", "")
    words = (
        f"TERM={term}"
        + (f" COLORTERM={colors}" if colors else "")
        + (" NO_COLOR" if os.environ.get("NO_COLOR") else "")
    )
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
        return Check("terminal", "warn", f"{words}, not connected to one")
    if term in ("", "dumb"):
        return Check("terminal", "warn", f"{words}: browsing needs a capable one")
    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    small = columns < 60 or rows < 15
    return Check(
        "terminal",
        "warn" if small else "ok",
        f"{words} {columns}x{rows}" + (", needs 60x15" if small else ""),
    )


def _encoding() -> Check:
    encoding = (sys.stdout.encoding if sys.stdout else None) or "unknown"
    if encoding.lower().replace("-", "") == "utf8":
        return Check("encoding", "ok", encoding)
    return Check("encoding", "warn", f"{encoding}: not all text can be shown; set LANG to one that ends in .UTF-8")


def _inotify() -> Iterator[Check]:
    limits: dict[str, int] = {}
    for name in ("max_user_watches", "max_user_instances", "max_queued_events"):
        with (
            contextlib.suppress(OSError, ValueError),
            open(f"/proc/sys/fs/inotify/{name}", encoding="ascii") as file,
        ):
            limits[name] = int(file.read())
    if limits:
        few = limits.get("max_user_watches", _FEW_WATCHES) < _FEW_WATCHES
        hint = "; to raise: sudo sysctl fs.inotify.max_user_watches=524288" if few else ""
        words = ", ".join(f"{name} {value}" for name, value in limits.items())
        yield Check("inotify", "warn" if few else "ok", words + hint)


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
