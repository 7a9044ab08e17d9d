"""Files for a person: where they may lie, how they are written, and the process that writes them for another one."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.fs.exports import ExportWriter, WriteFailed, WriteFailureReason
from memtui.fs.write_helper import FileWriter, LocalWriter
from tests.conftest import fill, wait_until
from tests.neutral.conftest import run_beside_thread


class _InAnother:
    """A process that was forked by one without threads: the one that runs the tests has some."""

    def __init__(self, folder: Path, state: Path) -> None:
        words = [sys.executable, "-c", _ASKED, os.fspath(folder), os.fspath(state)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def write(self, path: str, data: bytes, *, force: bool = False) -> None:
        """Have it written."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([path, data.decode("latin-1"), force]) + "\n")
        self._process.stdin.flush()
        why, text = json.loads(self._process.stdout.readline())
        if why is not None:
            raise WriteFailed(WriteFailureReason(why), text)

    def close(self) -> None:
        """Have it end."""
        self._process.communicate(timeout=30)
        assert self._process.returncode == 0


_ASKED = """
import json
import sys
from memtui.fs.exports import ExportWriter, WriteFailed
from memtui.fs.write_helper import WriteHelper
with WriteHelper(ExportWriter(sys.argv[1], sys.argv[2])) as scribe:
    for line in sys.stdin:
        path, data, force = json.loads(line)
        try:
            scribe.write(path, data.encode("latin-1"), force=force)
            print(json.dumps([None, None]), flush=True)
        except WriteFailed as error:
            print(json.dumps([error.reason.value, str(error)]), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path / "memories", {"note.md": "text"})


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "kept" / "of-memories"
    path.mkdir(parents=True)
    return path


@pytest.fixture(params=["here", "in another process"])
def writer(request: pytest.FixtureRequest, folder: Path, state: Path) -> Iterator[FileWriter]:
    made: FileWriter = (
        LocalWriter(ExportWriter(folder, state)) if request.param == "here" else _InAnother(folder, state)
    )
    with contextlib.closing(made):
        yield made


def test_a_file_is_written_whole_and_for_its_owner_only(writer: FileWriter, tmp_path: Path) -> None:
    target = tmp_path / "reports" / "march" / "report.md"
    data = bytes(range(256)) * 10_000
    writer.write(os.fspath(target), data)
    assert target.read_bytes() == data
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700
    assert [each.name for each in target.parent.iterdir()] == ["report.md"]


def test_what_stands_there_is_kept_unless_it_may_be_replaced(writer: FileWriter, tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    target.write_text("earlier")
    with pytest.raises(WriteFailed) as caught:
        writer.write(os.fspath(target), b"new")
    assert caught.value.reason is WriteFailureReason.EXISTS
    assert "already exists. Nothing was written." in str(caught.value)
    assert target.read_text() == "earlier"
    writer.write(os.fspath(target), b"new", force=True)
    assert target.read_text() == "new"


@pytest.mark.parametrize("force", [False, True])
def test_nothing_is_written_in_the_folder_or_beside_the_journal(
    writer: FileWriter, folder: Path, state: Path, tmp_path: Path, force: bool
) -> None:
    by_link = tmp_path / "by-link"
    by_link.symlink_to(folder)
    file_link = tmp_path / "report.md"
    file_link.symlink_to(folder / "note.md")
    for target in (
        folder / "report.md",
        folder / "new" / "report.md",
        folder / ".." / "memories" / "report.md",
        by_link / "report.md",
        file_link,
        state / "report.md",
        state / "journal.db",
    ):
        with pytest.raises(WriteFailed) as caught:
            writer.write(os.fspath(target), b"x", force=force)
        assert caught.value.reason is WriteFailureReason.FORBIDDEN
        assert str(caught.value).startswith("Refused: ")
    assert [each.name for each in folder.iterdir()] == ["note.md"]
    assert (folder / "note.md").read_text() == "text"
    assert list(state.iterdir()) == []


def test_a_directory_that_is_swapped_for_a_link_is_found_out(folder: Path, tmp_path: Path) -> None:
    """By its path it is outside; what was opened is the folder, as through a mount."""
    outgoing = ExportWriter(folder, None)
    fd = os.open(folder / ".", os.O_RDONLY)
    try:
        with pytest.raises(WriteFailed, match="inside the memory folder"):
            outgoing._check_directory(fd, os.fspath(tmp_path / "elsewhere" / "report.md"))
    finally:
        os.close(fd)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", WriteFailureReason.NAME),
        ("..", WriteFailureReason.NAME),
        ("directory", WriteFailureReason.NAME),
        ("fifo", WriteFailureReason.NAME),
        ("a\0b", WriteFailureReason.NAME),
    ],
)
def test_a_name_that_can_be_no_file_is_refused(
    writer: FileWriter, tmp_path: Path, name: str, why: WriteFailureReason
) -> None:
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(WriteFailed) as caught:
        writer.write(f"{tmp_path}/{name}", b"x", force=True)
    assert caught.value.reason is why
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_what_the_system_refuses_is_told(writer: FileWriter) -> None:
    with pytest.raises(WriteFailed) as caught:
        writer.write("/proc/memtui-neutral", b"x")
    assert caught.value.reason is WriteFailureReason.FAILED
    assert "could not be written" in str(caught.value)


def test_a_name_that_is_not_unicode_is_written(writer: FileWriter, tmp_path: Path) -> None:
    name = os.fsdecode(b"report-\xff.md")
    writer.write(os.path.join(tmp_path, name), b"x")
    assert os.path.exists(os.path.join(os.fsencode(tmp_path), b"report-\xff.md"))


# The process


_PARENT = """
import os
import signal
import sys
import time
from memtui.fs.exports import ExportWriter
from memtui.fs.write_helper import WriteHelper
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may have told it to be ignored
scribe = WriteHelper(ExportWriter(None, None))
print(scribe.pid, flush=True)
for line in sys.stdin:
    if line.strip() == "write":
        scribe.write(sys.argv[1], b"x", force=True)
    elif line.strip() == "close":
        scribe.close()
    print("done", flush=True)
"""


@contextlib.contextmanager
def parent(target: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A process that has a scribe, and the scribe's number."""
    words = [sys.executable, "-c", _PARENT, os.fspath(target)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate(timeout=30)


def asked(process: "subprocess.Popen[str]", what: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(what + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc")


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_with_its_parent_however_that_ends(tmp_path: Path, number: int) -> None:
    with parent(tmp_path / "report") as (process, scribe):
        assert is_running(scribe)
        process.send_signal(number)
        process.wait(timeout=30)
        wait_until(lambda: not is_running(scribe))


@needs_proc
def test_half_a_file_is_not_written_where_its_parent_was_killed(tmp_path: Path) -> None:
    code = """
import json
import os
import signal
import sys
from memtui.fs import write_helper
from memtui.fs.exports import ExportWriter
writer = write_helper.WriteHelper(ExportWriter(None, None))
print(writer.pid, flush=True)
words = json.dumps({"path": sys.argv[1], "force": True}).encode()
writer._socket.sendall(write_helper._ASKED.pack(len(words), 1_000_000) + words + bytes(900_000))
os.kill(os.getpid(), signal.SIGKILL)
"""
    (tmp_path / "out").mkdir()
    words = [sys.executable, "-c", code, os.fspath(tmp_path / "out" / "report")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    wait_until(lambda: not is_running(int(done.stdout)))
    assert list((tmp_path / "out").iterdir()) == []


@needs_proc
def test_it_is_no_zombie_once_it_was_closed(tmp_path: Path) -> None:
    with parent(tmp_path / "report") as (process, scribe):
        assert asked(process, "close") == "done"
        assert not os.path.exists(f"/proc/{scribe}")


@needs_proc
def test_ctrl_c_in_the_parents_terminal_leaves_it_at_work(tmp_path: Path) -> None:
    with parent(tmp_path / "report") as (process, scribe):
        assert os.getpgid(scribe) != os.getpgid(process.pid)
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP):
            os.kill(scribe, number)
        assert asked(process, "write") == "done"
        assert (tmp_path / "report").read_bytes() == b"x"


@needs_proc
def test_it_holds_nothing_of_its_parents_but_their_line(tmp_path: Path) -> None:
    with parent(tmp_path / "report") as (process, scribe):
        assert asked(process, "write") == "done"
        held = {os.readlink(each.path) for each in os.scandir(f"/proc/{scribe}/fd")}
        assert {each.partition(":")[0] for each in held} == {"/dev/null", "socket"}
        assert os.readlink(f"/proc/{scribe}/cwd") == "/"


@needs_proc
def test_what_was_open_above_a_limit_that_was_lowered_is_not_held_either(tmp_path: Path) -> None:
    code = """
import os
import resource
import sys
from memtui.fs.exports import ExportWriter
from memtui.fs.write_helper import WriteHelper
high = os.dup2(os.open(sys.argv[1], os.O_RDONLY), 200)
resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
with WriteHelper(ExportWriter(None, None)) as scribe:
    print(*(os.readlink(each.path) for each in os.scandir(f"/proc/{scribe.pid}/fd")))
"""
    words = [sys.executable, "-c", code, os.fspath(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert os.fspath(tmp_path) not in done.stdout
    assert "socket:" in done.stdout


@needs_proc
def test_that_it_was_killed_is_told_and_leaves_no_zombie(tmp_path: Path) -> None:
    code = """
import os
import signal
import sys
from memtui.fs.exports import ExportWriter, WriteFailed
from memtui.fs.write_helper import WriteHelper
scribe = WriteHelper(ExportWriter(None, None))
pid = scribe.pid
os.kill(pid, signal.SIGKILL)
for _ in range(2):
    try:
        scribe.write(sys.argv[1], b"x")
    except WriteFailed as error:
        print(error)
print(os.path.exists(f"/proc/{pid}"), scribe.pid)
scribe.close()
"""
    words = [sys.executable, "-c", code, os.fspath(tmp_path / "report")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    first, second, last = done.stdout.splitlines()
    assert first.startswith("The writer process ended.")
    assert second.startswith("The writer process has ended. Nothing was written.")
    assert last == "False 0"
    assert not (tmp_path / "report").exists()


def test_it_is_not_forked_beside_threads() -> None:
    imports = "from memtui.fs.exports import ExportWriter; from memtui.fs.write_helper import WriteHelper"
    assert "before there are threads" in run_beside_thread(imports, "WriteHelper(ExportWriter(None, None))")


@pytest.mark.parametrize("call", ["os.fork", "socket.socketpair"])
def test_that_there_can_be_no_such_process_is_said(call: str) -> None:
    code = f"""
import errno, os, socket
from memtui.fs.exports import ExportWriter, WriteFailed
from memtui.fs.write_helper import WriteHelper
def refused():
    raise BlockingIOError(errno.EAGAIN, "")
{call} = refused
before = len(os.listdir("/dev/fd"))
try:
    WriteHelper(ExportWriter(None, None))
except WriteFailed as error:
    print(error.reason.value, error)
print(len(os.listdir("/dev/fd")) - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [
        "failed The writer process could not be started: resource temporarily unavailable. Nothing was written.",
        "0",
    ]


def test_several_threads_may_ask_it_at_once(tmp_path: Path) -> None:
    code = """
import sys
import threading
from memtui.fs.exports import ExportWriter
from memtui.fs.write_helper import WriteHelper
with WriteHelper(ExportWriter(None, None)) as scribe:
    def write(number):
        for turn in range(20):
            scribe.write(f"{sys.argv[1]}/{number}-{turn}", str(number).encode() * 10_000)
    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""
    subprocess.run([sys.executable, "-c", code, os.fspath(tmp_path / "all")], timeout=60, check=True)
    written = {each.name: each.read_text() for each in (tmp_path / "all").iterdir()}
    assert len(written) == 80
    assert all(text == name.partition("-")[0] * 10_000 for name, text in written.items())


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_path_means_what_it_means_to_the_process_that_asks(tmp_path: Path, folder: Path, state: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    words = [sys.executable, "-c", _ASKED, os.fspath(folder), os.fspath(state)]
    asked = "".join(json.dumps([path, "text", False]) + "\n" for path in ("/proc/self/cwd/one.txt", "two.txt"))
    done = subprocess.run(words, input=asked, capture_output=True, text=True, cwd=here, timeout=60, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [[None, None], [None, None]]
    assert sorted(path.name for path in here.iterdir()) == ["one.txt", "two.txt"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_folder_that_is_named_by_the_process_itself_is_still_the_folder(folder: Path, state: Path) -> None:
    words = [sys.executable, "-c", _ASKED, os.fspath(folder), os.fspath(state)]
    asked = json.dumps(["/proc/self/cwd/report.txt", "text", False]) + "\n"
    done = subprocess.run(words, input=asked, capture_output=True, text=True, cwd=folder, timeout=60, check=True)
    why, said = json.loads(done.stdout)
    assert (why, "is inside the memory folder" in said) == ("forbidden", True)
    assert [path.name for path in folder.iterdir()] == ["note.md"]


_HISTORY = """
import sys
from memtui.fs.exports import ExportWriter, WriteFailed
from memtui.fs.write_helper import WriteHelper
folder, state, history = sys.argv[1:]
with WriteHelper(ExportWriter(folder, state), kept=[history] if history else []) as scribe:
    for data in (b"first", b"second"):
        try:
            scribe.keep(f"{state}/audits.json", data)
        except WriteFailed as error:
            print(error.reason.value)
    try:
        scribe.write(f"{state}/audits.json", b"other", force=True)
    except WriteFailed as error:
        print(error.reason.value)
"""


@pytest.mark.parametrize("named", [True, False])
def test_beside_the_journal_it_replaces_one_file_that_was_named_when_it_began(
    named: bool, folder: Path, state: Path, tmp_path: Path
) -> None:
    history = state / "audits.json"
    history.symlink_to(tmp_path / "elsewhere")  # it is replaced, and not followed
    words = [sys.executable, "-c", _HISTORY, str(folder), str(state), str(history) if named else ""]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert (done.stdout, done.stderr) == ("forbidden\n" if named else "forbidden\n" * 3, "")
    assert not (tmp_path / "elsewhere").exists()
    assert history.is_symlink() is not named
    if named:
        assert (history.read_bytes(), history.stat().st_mode & 0o777) == (b"second", 0o600)
