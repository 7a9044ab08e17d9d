"""Giving up the right to write: what the kernel really refuses afterwards, and what still works."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memtui.fs.landlock import SandboxStatus, get_landlock_version
from tests.conftest import wait_until
from tests.neutral.conftest import run_beside_thread

_TRY = """
import json
import os
import resource
import socket
import sqlite3
import struct
import subprocess
import sys
import threading

resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
place = sys.argv[1]
if len(sys.argv) > 3:  # as a kernel of an earlier version answers, which refuses rights that it does not know
    from memtui.fs import landlock

    version, real = int(sys.argv[3]), landlock._call_syscall
    known = (1 << (13 if version < 2 else 14 if version < 3 else 15 if version < 5 else 16)) - 1

    def answered(number, *arguments):
        if number == 444:
            if arguments[2].value & 1:
                return version
            asked = arguments[0]._obj
            assert not asked.files & ~known, "a right that this kernel does not know"
            assert version >= 4 or not asked.network
            assert arguments[1].value == (8 if version < 4 else 16 if version < 6 else 24)
        if number == 445:
            assert not struct.unpack_from("=Q", arguments[2].raw)[0] & ~known
        return real(number, *arguments)

    landlock._call_syscall = answered
kept = open(os.path.join(place, "kept"), "w")
server = socket.create_server(("127.0.0.1", 0))
from memtui.fs.landlock import restrict_writes
confined = restrict_writes(**json.loads(sys.argv[2]))

def tried(act):
    try:
        act()
    except OSError as error:
        return error.errno
    return 0

def at(name):
    return os.path.join(place, name)

def in_a_thread(act):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(tried(act)))
    thread.start()
    thread.join()
    if codes != [0]:
        raise OSError(codes[0], "")

def connect():
    socket.create_connection(server.getsockname()).close()

def by_a_child():
    command = [sys.executable, "-c", "import sys; open(sys.argv[1], 'a')", at("old")]
    if subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
        raise OSError(13, "")

def memory_database():
    database = sqlite3.connect(":memory:")
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("CREATE TABLE t (a)")
    database.executemany("INSERT INTO t VALUES (?)", ((os.urandom(500),) for _ in range(5_000)))
    assert len(database.execute("SELECT a FROM t ORDER BY a").fetchall()) == 5_000

found = {
    "make": tried(lambda: open(at("new"), "x")),
    "write": tried(lambda: open(at("old"), "r+")),
    "append": tried(lambda: open(at("old"), "a")),
    "truncate": tried(lambda: os.truncate(at("old"), 0)),
    "unlink": tried(lambda: os.unlink(at("old"))),
    "rename": tried(lambda: os.rename(at("old"), at("other"))),
    "rename into": tried(lambda: os.rename(at("old"), at("inner/old"))),
    "mkdir": tried(lambda: os.mkdir(at("d"))),
    "rmdir": tried(lambda: os.rmdir(at("inner"))),
    "symlink": tried(lambda: os.symlink("x", at("l"))),
    "link": tried(lambda: os.link(at("old"), at("l"))),
    "fifo": tried(lambda: os.mkfifo(at("f"))),
    "nameless": tried(lambda: os.open(place, os.O_TMPFILE | os.O_RDWR)),
    "socket": tried(lambda: socket.socket(socket.AF_UNIX).bind(at("s"))),
    "shared memory": tried(lambda: open("/dev/shm/memtui-neutral", "x")),
    "home": tried(lambda: open(os.path.expanduser("~/memtui-neutral"), "x")),
    "in a thread": tried(lambda: in_a_thread(lambda: open(at("new"), "x"))),
    "by a child": tried(by_a_child),
    "read": tried(lambda: open(at("old")).read()),
    "list": tried(lambda: os.listdir(place)),
    "what was open": tried(lambda: (kept.write("x"), kept.flush())),
    "nowhere": tried(lambda: open(os.devnull, "w").write("x")),
    "a database in memory": tried(memory_database),
    "in": tried(lambda: open(at("inner/new"), "x")),
    "connect": tried(connect),
}
core = resource.getrlimit(resource.RLIMIT_CORE)[0]
print(json.dumps({"version": confined.version, "sentence": confined.sentence, "found": found, "core": core}))
"""

_CHANGES = (
    "make",
    "write",
    "append",
    "truncate",
    "unlink",
    "rename",
    "rename into",
    "mkdir",
    "rmdir",
    "symlink",
    "link",
    "fifo",
    "nameless",
    "socket",
    "shared memory",
    "home",
    "in a thread",
    "by a child",
)
_WORKS = ("read", "list", "what was open", "nowhere", "a database in memory")

needs_landlock = pytest.mark.skipif(not get_landlock_version(), reason="this kernel has no Landlock")


def tried(place: Path, version: int | None = None, **options: object) -> Any:
    """What a process can do that gave up its right to write, such as on a kernel with an earlier Landlock."""
    (place / "old").write_text("text")
    (place / "inner").mkdir()
    words = [sys.executable, "-c", _TRY, os.fspath(place), json.dumps(options)]
    words += [] if version is None else [str(version)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_landlock
@pytest.mark.parametrize("version", [None, *range(1, 8)], ids=lambda version: f"Landlock {version or 'as it is'}")
def test_the_kernel_refuses_every_change_and_every_connection(tmp_path: Path, version: int | None) -> None:
    if version is not None and version > get_landlock_version():
        pytest.skip(f"this kernel has Landlock {get_landlock_version()}")
    told = tried(tmp_path, version)
    assert told["version"] == (version or get_landlock_version())
    refused = {name for name, code in told["found"].items() if code}
    expected = {*_CHANGES, "in"} | ({"connect"} if told["version"] >= 4 else set())
    if told["version"] < 3:
        expected.discard("truncate")
    assert refused == expected
    what = "writing files" if "truncate" in expected else "opening files for writing"
    network = " and from making TCP connections" if "connect" in expected else ""
    assert told["sentence"] == f"The kernel keeps this process from {what}{network} (Landlock {told['version']})."
    assert (tmp_path / "old").read_text() == ("text" if "truncate" in expected else "")
    assert sorted(each.name for each in tmp_path.iterdir() if each.name != "home") == ["inner", "kept", "old"]
    assert told["core"] == 0


@needs_landlock
def test_a_place_and_the_network_may_be_kept(tmp_path: Path) -> None:
    told = tried(tmp_path, but=[os.fspath(tmp_path / "inner"), os.fspath(tmp_path / "none")], network=True)
    assert [name for name in (*_WORKS, "in", "connect") if told["found"][name]] == []
    assert all(told["found"][name] for name in _CHANGES if name not in ("rename into", "rmdir"))
    assert "connection" not in told["sentence"]


@needs_landlock
def test_reading_may_be_given_up_elsewhere_and_then_no_program_starts(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("text")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/note").write_text("text")
    code = """
import json, os, subprocess, sys
from memtui.fs.landlock import restrict_writes
place = sys.argv[1]
readable = [os.path.join(place, name) for name in ("inner", "none")] + [sys.prefix, sys.base_prefix, "/usr", "/lib"]
confined = restrict_writes(readable=readable)
def tried(act):
    try:
        act()
    except OSError as error:
        return error.errno
    return 0
print(json.dumps([
    tried(lambda: open(os.path.join(place, "inner/note")).close()),
    tried(lambda: os.listdir(os.path.join(place, "inner"))),
    tried(lambda: open(os.devnull, "r+").close()),
    tried(lambda: open(os.path.join(place, "old")).close()),
    tried(lambda: os.listdir(place)),
    tried(lambda: open(os.path.join(place, "inner/note"), "a").close()),
    tried(lambda: subprocess.run([sys.executable, "-c", ""], check=True)),
]))
"""
    words = [sys.executable, "-c", code, os.fspath(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [0, 0, 0, 13, 13, 13, 13]


def test_what_only_reads_goes_on(tmp_path: Path) -> None:
    told = tried(tmp_path)
    assert [name for name in _WORKS if told["found"][name]] == []


@needs_landlock
def test_it_is_too_late_once_there_is_another_thread() -> None:
    imports = "from memtui.fs.landlock import restrict_writes"
    assert "another thread would keep the right to write: drop it earlier" in run_beside_thread(
        imports, "restrict_writes()"
    )


_WITHOUT = """
import json
import resource
import sys
from memtui.fs import landlock

def refuse(number, *arguments):
    raise OSError(int(sys.argv[1]), "")

landlock._call_syscall = refuse
confined = landlock.restrict_writes()
open(sys.argv[2], "x").close()
print(json.dumps([confined.version, confined.sentence, resource.getrlimit(resource.RLIMIT_CORE)[0]]))
"""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (38, "This kernel has no Landlock: memtui itself opens everything read-only."),
        (95, "This kernel has no Landlock: memtui itself opens everything read-only."),
        (1, "This process may not use Landlock (operation not permitted): memtui itself opens everything read-only."),
    ],
    ids=["a kernel without the call", "switched off", "a sandbox that forbids it"],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the numbers are Linux's")
def test_where_the_kernel_takes_no_right_it_is_said(tmp_path: Path, code: int, words: str) -> None:
    command = [sys.executable, "-c", _WITHOUT, str(code), os.fspath(tmp_path / "made")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == [0, words, 0]


def test_the_sentence_is_true_of_what_is_kept() -> None:
    assert (
        SandboxStatus(7, has_network=True).sentence == "The kernel keeps this process from writing files (Landlock 7)."
    )
    assert SandboxStatus(7, has_network=False, exceptions="its own temporary ones").sentence == (
        "The kernel keeps this process from writing files, but for its own temporary ones, and from making TCP "
        "connections (Landlock 7)."
    )
    assert SandboxStatus(7, exceptions="its own temporary ones").sentence == (
        "The kernel keeps this process from writing files, but for its own temporary ones (Landlock 7)."
    )
    assert SandboxStatus(0, reason="This system has no Landlock:").sentence == (
        "This system has no Landlock: memtui itself opens everything read-only."
    )


@needs_landlock
def test_who_was_forked_before_writes_for_who_cannot_any_more(tmp_path: Path) -> None:
    code = """
import sys
from memtui.fs.landlock import restrict_writes
from memtui.fs.exports import ExportWriter, WriteFailed
from memtui.fs.write_helper import WriteHelper
folder, target = sys.argv[1:]
with WriteHelper(ExportWriter(folder, None)) as scribe:
    restrict_writes()
    try:
        open(target, "w")
    except PermissionError:
        print("refused")
    scribe.write(target, b"report\\n")
    try:
        scribe.write(folder + "/report.md", b"x")
    except WriteFailed as error:
        print(error.reason.value)
"""
    folder, target = tmp_path / "memories", tmp_path / "report.md"
    folder.mkdir()
    words = [sys.executable, "-c", code, os.fspath(folder), os.fspath(target)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["refused", "forbidden"]
    assert target.read_bytes() == b"report\n"
    assert list(folder.iterdir()) == []


_IN_A_DIRECTORY = """
import os
import signal
import sys
import tempfile
from memtui.fs.landlock import restrict_writes
from memtui.fs.exports import ExportWriter
from memtui.fs.write_helper import WriteHelper

folder, end = sys.argv[1:]
scribe = WriteHelper(ExportWriter(folder, None), has_directory=True)
restrict_writes(but=[scribe.directory])
tempfile.tempdir = scribe.directory
with open(os.path.join(scribe.directory, "left behind"), "w"), tempfile.TemporaryDirectory() as place:
    with open(os.path.join(place, "one"), "w"):
        pass
try:
    open(scribe.directory + "-beside", "w")
except PermissionError:
    print(scribe.directory, scribe.pid, oct(os.stat(scribe.directory).st_mode & 0o777), flush=True)
if end == "closed":
    scribe.close()
else:
    os.kill(os.getpid() if end == "killed" else scribe.pid, signal.SIGKILL if end == "killed" else signal.SIGTERM)
    os._exit(0)
"""


@needs_landlock
@pytest.mark.parametrize("end", ["closed", "killed", "its helper is"])
def test_a_directory_of_its_own_can_be_written_to_and_is_removed_however_it_ends(tmp_path: Path, end: str) -> None:
    folder, place = tmp_path / "memories", tmp_path / "elsewhere"
    folder.mkdir()
    place.mkdir()
    words = [sys.executable, "-c", _IN_A_DIRECTORY, os.fspath(folder), end]
    # The usual place is in the memory folder, where nothing may be made.
    environment = {**os.environ, "TMPDIR": os.fspath(folder), "TEMP": os.fspath(place)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    directory, helper, mode = done.stdout.split()
    assert (os.path.dirname(directory), mode) == (os.fspath(place), "0o700")
    wait_until(lambda: not os.path.exists(f"/proc/{helper}") or not list(place.iterdir()))
    assert (list(folder.iterdir()), list(place.iterdir())) == ([], [])


@needs_landlock
def test_an_editor_of_ones_own_is_refused_with_a_sentence() -> None:
    code = """
import contextlib
from memtui.fs.landlock import restrict_writes
from memtui.editing.external_editor import EditorUnavailable, edit_copy
restrict_writes()
try:
    edit_copy(["true"], b"text", name="message.md", aside=contextlib.nullcontext())
except EditorUnavailable as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("Could not write a copy to edit: ")
    assert done.stdout.endswith("Nothing was changed.\n")
