"""`memtui doctor`: checks of the system, the settings, the folder and the journal. It leaves nothing behind."""

import argparse
import contextlib
import importlib.metadata
import os
import platform
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import memtui
from memtui.cli import context, output
from memtui.cli.config import add_screen_problems
from memtui.cli.context import load_config
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure
from memtui.cli.parsing import Parser, Verb
from memtui.config.load import LoadedConfig
from memtui.core.edits import format_human_size
from memtui.core.errors import LockTimeout, MemtuiError, StateUnusable
from memtui.core.events import EntryKind
from memtui.core.paths import HOSTED, NO_FOLDER, ROOT, SQLITE, MemoryPath, format_path
from memtui.core.settings import Durability
from memtui.fs.beneath import Moving, PathHandle, exchange, rename_noreplace
from memtui.fs.landlock import get_landlock_version
from memtui.fs.locks import hold_lock
from memtui.fs.state import REMOTE, UNJOURNALLED, get_file_system_type, get_state_directory
from memtui.journal.rows import check_regular_files
from memtui.journal.snapshot import copy_to_memory
from memtui.journal.standing import is_doubtful
from memtui.memory import JOURNAL, is_journal_missing, load_postgres, load_remote
from memtui.store.folder import FolderStore

# The checks, each one line.
#
# The memory folder is only read: system calls are tried out in the state directory where there is
# one, else in a temporary directory.

_PACKAGES = ("textual", "watchfiles", "markdown-it-py", "rapidfuzz", "anthropic")
_FEW_WATCHES = 8_192
_REPORTED_SECONDS = 1.0
"""How long a change may take to be reported."""


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warn", "fail"]
    text: str


def check_system() -> Iterator[Check]:
    """memtui, Python, packages, terminal and kernel."""
    yield Check("memtui", "ok", memtui.__version__)
    yield Check("python", "ok", f"{platform.python_version()} ({format_path(sys.executable)})")
    yield Check("platform", "ok", f"{platform.system()} {platform.release()} {platform.machine()}")
    yield Check("sqlite", "ok", sqlite3.sqlite_version)
    for package in _PACKAGES:
        try:
            yield Check(package, "ok", importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Check(package, "fail" if package == "textual" else "warn", "not installed")
    for package, command, extra in (
        ("mcp", "memtui mcp", "mcp"),
        ("websockets", "memtui serve --web", "web"),
        ("psycopg", "postgres://...", "postgres"),
    ):
        try:
            yield Check(package, "ok", importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Check(package, "ok", f"not installed; {command} needs it: pip install 'memtui[{extra}]'")
    yield _check_landlock()
    yield _check_terminal()
    yield _check_encoding()
    yield from _check_inotify()


def _check_landlock() -> Check:
    version = get_landlock_version()
    if version:
        return Check("Landlock", "ok", f"version {version}: with --read-only the kernel blocks every write of memtui")
    return Check("Landlock", "ok", "not available: with --read-only memtui itself opens everything read-only")


def check_folder(path: str | None, problem: str | None) -> Iterator[Check]:
    """The memory folder; `problem` says why the named one is not there."""
    if path is None:
        none = "none was given, and there is no ./memories here"
        yield Check("folder", "fail" if problem else "warn", problem or none)
        return
    try:
        store = FolderStore(path, None, title=format_path(path))
    except MemtuiError as error:
        yield Check("folder", "fail", str(error))
        return
    try:
        yield Check("folder", "ok", format_path(path))
        yield _check_writable("folder writable", path, missing="warn")
        closed = files = 0
        for node in store.scan(ROOT):
            files += node.kind is EntryKind.FILE
            closed += not store.is_accessible(MemoryPath.from_relative(node.path), os.R_OK)
        unreadable = f", {closed:,} entries cannot be read" if closed else ""
        yield Check("files", "warn" if closed else "ok", f"{files:,}{unreadable}")
        yield _check_file_system(path)
        by = {"openat2": "by the kernel (openat2)", "walk": "by memtui, step by step (no openat2 here)"}
        yield Check("confinement", "ok", by[store.resolver])
    finally:
        store.close()


def check_sqlite_file(place: str) -> Iterator[Check]:
    """One file with texts and record."""
    file = Path(place.removeprefix(SQLITE))
    try:
        size = file.stat().st_size
    except OSError as error:
        yield Check("file", "fail", f"{format_path(place)}: {_format_os_error(error)}")
        return
    yield Check("file", "ok", f"{format_path(place)}, {format_human_size(size)}")
    yield _check_writable("file writable", str(file), missing="warn")
    yield _check_writable("folder writable", str(file.parent), missing="warn")
    if (kind := get_file_system_type(str(file))) is not None and kind.startswith(REMOTE):
        yield Check("file system", "fail", f"{kind}: two machines that write to one file would damage it")
    else:
        yield Check("file system", "ok", kind or "type unknown")
    yield from _check_journal(file)


def check_state(
    path: str | None, chosen: str | None, durability: Durability, *, read_only: bool = False
) -> Iterator[Check]:
    """The state directory, its journal, and the system calls there; read-only, none is tried out."""
    where: Path | None = None
    if path is not None:
        try:
            where = get_state_directory(path, chosen)
        except MemtuiError as error:
            yield Check("state", "fail", str(error))
    if where is not None and path is not None:
        yield from _check_state_directory(where, path)
        yield _check_durability(where, durability)
        if is_journal_missing(where):
            yield Check(
                "journal", "fail", f"the journal for this folder is missing from {format_path(where / JOURNAL)}"
            )
        else:
            yield from _check_journal(where / JOURNAL)
    if read_only:
        yield Check("probes", "ok", "skipped: this is read-only")
        return
    with contextlib.ExitStack() as stack:
        try:
            if where is None or not os.access(where, os.W_OK | os.X_OK):
                where = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memtui-doctor-")))
            # A directory of our own, so that nothing is left whatever happens.
            ours = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doctor-", dir=where)))
            yield from _check_system_calls(ours)
        except OSError as error:
            yield Check("probes", "fail", f"no directory to try them in: {_format_os_error(error)}")


def _check_state_directory(where: Path, path: str) -> Iterator[Check]:
    there = where
    try:
        while not there.exists() and there != there.parent:
            there = there.parent
    except OSError as error:
        yield Check("state", "fail", f"{format_path(where)}: {_format_os_error(error)}")
        return
    if there == where:
        if not where.is_dir():
            yield Check("state", "fail", f"{format_path(where)} is not a directory")
            return
        yield Check("state", "ok", format_path(where))
    else:
        yield Check("state", "ok", f"{format_path(where)} (does not exist yet)")
    yield _check_writable("state writable", str(there), missing="fail")
    try:
        same = os.stat(there).st_dev == os.stat(path).st_dev
    except OSError as error:
        yield Check("file systems", "warn", _format_os_error(error))
        return
    apart = "state and folder are on two: temporary files are written beside the notes"
    yield Check("file systems", "ok", "state and folder are on the same one" if same else apart)


def _check_durability(where: Path, durability: Durability) -> Check:
    """Whether a power cut may leave the folder behind the journal, and what makes up for that."""
    synced = "files and journal are on disk before a command answers"
    if durability == "folder":
        return Check("durability", "ok", f"folder: {synced}")
    if (kind := get_file_system_type(str(where))) in UNJOURNALLED:
        return Check("durability", "warn", f"folder: {synced}, because {kind} could lose the journal in a power cut")
    words = "the journal is on disk before a command answers, the files within a second"
    after = "After a power cut, other programs may see older or empty files until memtui opens the folder"
    return Check("durability", "ok", f"journal: {words}. {after}")


def _check_journal(path: Path) -> Iterator[Check]:
    try:
        check_regular_files(str(path))
        if not path.exists():
            yield Check("journal", "ok", "none yet")
            return
        with contextlib.closing(copy_to_memory(str(path))) as database:
            words = database.execute("PRAGMA quick_check(1)").fetchone()[0]
            count = database.execute("SELECT count(*) FROM events").fetchone()[0]
            head = database.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
            doubtful = _is_doubtful(database)
    except (OSError, sqlite3.Error) as error:
        reason = _format_os_error(error) if isinstance(error, OSError) else error
        yield Check("journal", "fail", f"{format_path(path)} cannot be read: {reason}")
        return
    yield Check("journal", "ok" if words == "ok" else "fail", f"quick_check: {words}")
    if head:
        yield Check("events", "ok" if head[0] == count else "fail", f"{count:,}, head {head[0]} {bytes(head[1]).hex()}")
    else:
        yield Check("events", "ok", "0")
    words = "differs from the events: memtui verify shows where" if doubtful else "as the events say"
    yield Check("known state", "fail" if doubtful else "ok", words)


def _is_doubtful(database: sqlite3.Connection) -> bool:
    try:
        return is_doubtful(lambda query: database.execute(query).fetchall())
    except (ValueError, LookupError, TypeError, AttributeError):
        return True  # rows that memtui did not write


def _check_system_calls(directory: Path) -> Iterator[Check]:
    """Calls that not every kernel and file system has, each tried out in a directory of our own."""
    yield Check("O_TMPFILE", "ok", "works" if _has_tmpfile(directory) else "not available: names are used instead")
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield _check_renameat2(directory, fd)
        yield _check_links(directory, fd)
        yield _check_directory_sync(fd)
        yield _check_locks(fd)
    finally:
        os.close(fd)
    yield _check_journal_mode(directory)
    yield _check_watcher(directory)


def _has_tmpfile(directory: Path) -> bool:
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag:
        return False
    try:
        os.close(os.open(directory, flag | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError:
        return False
    return True


def _probe_move(directory: Path, fd: int, name: str, moving: Moving) -> Moving | None:
    """How a file is moved when a way is asked for; `None` if it cannot be, or if it overwrites."""
    old, taken, new = (PathHandle(fd, f"{name}-{each}", (), owned=False) for each in ("old", "taken", "new"))
    for each in (old, taken):
        (directory / each.name).touch()
    with contextlib.suppress(FileExistsError):
        rename_noreplace(old, taken, moving)
        return None
    return rename_noreplace(old, new, moving)


def _check_renameat2(directory: Path, fd: int) -> Check:
    places = [PathHandle(fd, f"exchanged-{each}", (), owned=False) for each in "ab"]
    for place in places:
        (directory / place.name).touch()
    try:
        works = _probe_move(directory, fd, "renamed", "renameat2") == "renameat2" and exchange(*places)
    except OSError as error:
        return Check("renameat2", "warn", _format_os_error(error))
    weaker = "a write by another program during a replace may be lost, a kill may leave two names"
    return Check("renameat2", *(("ok", "works") if works else ("warn", f"not available: {weaker}")))


def _check_links(directory: Path, fd: int) -> Check:
    try:
        works = _probe_move(directory, fd, "linked", "link") == "link"
    except OSError as error:
        return Check("links", "warn", _format_os_error(error))
    weaker = "where renameat2 is missing too, a kill may leave an empty file"
    return Check("links", *(("ok", "works") if works else ("warn", f"no hard links here: {weaker}")))


def _check_directory_sync(fd: int) -> Check:
    try:
        os.fsync(fd)
    except OSError as error:
        return Check("directory sync", "warn", f"{_format_os_error(error)}: a power cut may undo the last changes")
    return Check("directory sync", "ok", "works")


def _check_locks(fd: int) -> Check:
    try:
        with hold_lock(fd, 1.0) as locking:
            try:
                with hold_lock(fd, 0.0, locking):
                    return Check("locks", "fail", "they do not lock: two writers could collide")
            except LockTimeout:
                pass
    except StateUnusable:
        return Check("locks", "fail", "not available: nothing is written, browsing works")
    except OSError as error:
        return Check("locks", "fail", f"{_format_os_error(error)}: nothing is written, browsing works")
    return Check("locks", "ok", "flock" if locking == "flock" else "record locks (flock is not available)")


def _check_journal_mode(directory: Path) -> Check:
    try:
        with contextlib.closing(sqlite3.connect(directory / "probe.db")) as database:
            mode = database.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            database.execute("CREATE TABLE probe (value)")
    except sqlite3.Error as error:
        return Check("journal mode", "fail", f"a journal cannot be stored there: {error}")
    if mode == "wal":
        return Check("journal mode", "ok", "WAL")
    return Check("journal mode", "warn", f"{mode}, not WAL: every event is synced, and a reader may have to wait")


def _check_watcher(directory: Path) -> Check:
    """Whether a change is reported; if not, folders are looked through every two seconds."""
    from memtui import watch  # noqa: PLC0415 - start-up: loads the watcher's library

    try:
        watches = watch.open_watches(str(directory))
    except OSError as error:
        return Check("watches", "warn", watch.explain_polling(error))
    try:
        (directory / "watched").touch()
        seen = bool(watches.wait(_REPORTED_SECONDS).paths)
    finally:
        watches.close()
    slower = "changes are not reported here: folders are checked every 10 s"
    return Check("watches", *(("ok", "changes are reported") if seen else ("warn", slower)))


def _check_writable(name: str, path: str, *, missing: Literal["warn", "fail"]) -> Check:
    if os.access(path, os.W_OK | (os.X_OK if os.path.isdir(path) else 0)):
        return Check(name, "ok", "yes")
    return Check(name, missing, f"no: {format_path(path)} cannot be written to")


def _check_file_system(path: str) -> Check:
    kind = get_file_system_type(path)
    if kind is None:
        return Check("file system", "ok", "type unknown")
    if kind.startswith(REMOTE):
        return Check("file system", "warn", f"{kind}: changes made on other machines may be noticed late")
    return Check("file system", "ok", kind)


def _check_terminal() -> Check:
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
        return Check("terminal", "warn", f"{words}: browsing needs a full terminal")
    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    small = columns < 60 or rows < 15
    return Check(
        "terminal", "warn" if small else "ok", f"{words} {columns}x{rows}" + (", needs 60x15" if small else "")
    )


def _check_encoding() -> Check:
    encoding = (sys.stdout.encoding if sys.stdout else None) or "unknown"
    if encoding.lower().replace("-", "") == "utf8":
        return Check("encoding", "ok", encoding)
    return Check("encoding", "warn", f"{encoding}: not all text can be shown; set LANG to one that ends in .UTF-8")


def _check_inotify() -> Iterator[Check]:
    limits: dict[str, int] = {}
    for name in ("max_user_watches", "max_user_instances", "max_queued_events"):
        with contextlib.suppress(OSError, ValueError), open(f"/proc/sys/fs/inotify/{name}", encoding="ascii") as file:
            limits[name] = int(file.read())
    if limits:
        few = limits.get("max_user_watches", _FEW_WATCHES) < _FEW_WATCHES
        hint = "; to raise: sudo sysctl fs.inotify.max_user_watches=524288" if few else ""
        words = ", ".join(f"{name} {value}" for name, value in limits.items())
        yield Check("inotify", "warn" if few else "ok", words + hint)


def _format_os_error(error: OSError) -> str:
    return error.strerror.lower() if error.strerror else str(error)


def add_doctor_options(parser: Parser) -> None:
    parser.add_value("folder", "DIR", "the memory folder", nargs="?")


def run_doctor(options: Options, arguments: argparse.Namespace) -> int:
    path, problem = None, None
    given = context.find_folder(options, arguments.folder)
    if given is not None:
        try:
            path = context.resolve_existing_folder(given)
        except Failure as failure:
            problem = str(failure)
    loaded = add_screen_problems(load_config(options, path), path)
    checks = [
        *check_system(),
        *_check_settings(loaded),
        *_check_place(path, problem, options, loaded.config.memory.durability),
    ]
    failed = any(check.state == "fail" for check in checks)
    if options.json:
        records = [{"name": check.name, "state": check.state, "text": check.text} for check in checks]
        output.print_json({"ok": not failed, "checks": records})
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            output.print_line(f"{check.state:<4}  {check.name:<{width}}  {output.pad_cell(check.text, 0)}".rstrip())
    return ExitCode.FINDINGS if failed else ExitCode.OK


def _check_place(path: str | None, problem: str | None, options: Options, durability: Durability) -> Iterator[Check]:
    """Where the memories are: a folder with its journal, a file that holds both, or a server."""
    if path is None or not path.startswith(NO_FOLDER):
        yield from check_folder(path, problem)
        yield from check_state(path, options.state, durability, read_only=options.read_only)
        return
    if path.startswith(SQLITE):
        yield from check_sqlite_file(path)
    elif path.startswith(HOSTED):
        yield from (Check(*each) for each in load_remote(path).check_place(path, options.state))
    else:
        try:
            load_postgres()
        except StateUnusable as error:
            yield Check("address", "fail", str(error))
        else:
            from memtui.postgres.doctor import check_place  # noqa: PLC0415 - an extra

            yield from (Check(*each) for each in check_place(path, options.state, read_only=options.read_only))
    yield from check_state(None, None, durability, read_only=options.read_only)


def _check_settings(loaded: LoadedConfig) -> Iterator[Check]:
    """The file of settings and its problems."""
    if loaded.path is None:
        yield Check("config", "ok", "no file is read: --no-config")
        return
    others = stat.S_IWGRP | stat.S_IWOTH
    try:
        writable = loaded.exists and bool(os.stat(loaded.path).st_mode & others)
    except OSError:
        writable = False
    where = format_path(loaded.path)
    if writable:
        words = f"other users can write to {where}, which sets the editor to run: chmod go-w {where}"
        yield Check("config", "warn", words)
    else:
        yield Check("config", "ok", where if loaded.exists else f"{where} (does not exist)")
    for problem in loaded.problems:
        yield Check("config", "warn", problem.sentence)


DOCTOR_VERB = Verb("doctor", add_doctor_options, run_doctor)
