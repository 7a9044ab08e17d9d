"""Where a file for a person may lie, however its place is named, and what is left of one that was never whole."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.fs import atomic
from memtui.fs.exports import ExportWriter, MountOrigin, WriteFailed, WriteFailureReason, get_mount_origin
from tests.neutral.mounts import apart, needs_mounts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "memories"
    (path / "notes").mkdir(parents=True)
    (path / "note.md").write_text("text")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    return path


@pytest.fixture(params=["without a name at first", "with a name at once"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a file is begun: as this system can, and as one that has no nameless files."""
    if request.param == "with a name at once":
        monkeypatch.setattr(atomic, "_NAMELESS", 0)
    return str(request.param)


def names(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


_WRITE = """
import sys
from memtui.fs.exports import ExportWriter, WriteFailed
outgoing = ExportWriter(sys.argv[1], None)
for target in sys.argv[2:]:
    try:
        outgoing.write(target, b"x", parents=True)
        print("written")
    except WriteFailed as error:
        print(error.reason.value)
"""


@needs_mounts
@pytest.mark.parametrize("part", ["", "notes"], ids=["all of it", "a part of it"])
def test_the_folder_mounted_elsewhere_is_still_the_folder(folder: Path, out: Path, part: str) -> None:
    words = 'mount --bind "$1/$2" "$3"; exec "$4" -c "$5" "$1" "$3/report.md" "$3/new/deep/report.md"'
    done = apart(words, os.fspath(folder), part, os.fspath(out), sys.executable, _WRITE)
    assert done.stdout.split() == ["forbidden", "forbidden"], done.stderr
    assert names(folder) == ["note.md", "notes"]
    assert names(folder / "notes") == []


@needs_mounts
def test_what_is_mounted_beside_the_folder_is_written_to(folder: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "memories of others").mkdir()
    words = 'mount --bind "$1 of others" "$2"; exec "$3" -c "$4" "$1" "$2/report.md"'
    done = apart(words, os.fspath(folder), os.fspath(out), sys.executable, _WRITE)
    assert done.stdout.split() == ["written"], done.stderr
    assert names(tmp_path / "memories of others") == ["report.md"]


def test_a_place_is_within_itself_and_what_is_above_it() -> None:
    place = MountOrigin(b"8:1", b"/a/b")
    assert place.is_within(place)
    assert place.is_within(MountOrigin(b"8:1", b"/a"))
    assert place.is_within(MountOrigin(b"8:1", b""))
    assert not place.is_within(MountOrigin(b"8:1", b"/a/b/c"))
    assert not place.is_within(MountOrigin(b"8:2", b"/a"))
    assert not MountOrigin(b"8:1", b"/ab").is_within(MountOrigin(b"8:1", b"/a"))


@pytest.mark.skipif(not os.path.exists("/proc/self/mountinfo"), reason="this system does not tell of its mounts")
def test_an_inner_directory_is_within_an_outer_one_whatever_its_name_holds(folder: Path) -> None:
    inner = folder / "a b\\040\tc"
    inner.mkdir()
    origins = []
    for path in (inner, folder):
        fd = os.open(path, os.O_RDONLY)
        origins.append(get_mount_origin(fd))
        os.close(fd)
    assert origins[0] is not None
    assert origins[1] is not None
    assert origins[0].is_within(origins[1])
    assert not origins[1].is_within(origins[0])


def test_a_folder_that_was_moved_meanwhile_is_still_the_folder(folder: Path, tmp_path: Path) -> None:
    known = ExportWriter(folder, None)
    folder.rename(tmp_path / "moved")
    for target in ("report.md", "new/report.md"):
        with pytest.raises(WriteFailed) as caught:
            known.write(os.fspath(tmp_path / "moved" / target), b"x", parents=True)
        assert caught.value.reason is WriteFailureReason.FORBIDDEN
    assert names(tmp_path / "moved") == ["note.md", "notes"]


@pytest.mark.parametrize("where", ["note.md", "notes/deep.md"])
def test_another_name_of_a_memory_is_not_replaced(folder: Path, out: Path, where: str) -> None:
    """The memory would keep its bytes, but lose a name, which shows."""
    (folder / where).write_text("text")
    os.link(folder / where, out / "report.md")
    before = (folder / where).stat()
    with pytest.raises(WriteFailed, match="is another name of a note") as caught:
        ExportWriter(folder, None).write(os.fspath(out / "report.md"), b"x", force=True)
    assert caught.value.reason is WriteFailureReason.FORBIDDEN
    assert (folder / where).stat() == before


def test_another_name_of_the_journal_is_not_replaced(folder: Path, out: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "journal.db").write_text("journal")
    os.link(state / "journal.db", out / "report.md")
    with pytest.raises(WriteFailed, match="or of the journal"):
        ExportWriter(folder, state).write(os.fspath(out / "report.md"), b"x", force=True)
    assert (state / "journal.db").stat().st_nlink == 2


def test_a_report_that_has_two_names_elsewhere_is_replaced(folder: Path, out: Path) -> None:
    (out / "report.md").write_text("earlier")
    os.link(out / "report.md", out / "copy.md")
    ExportWriter(folder, None).write(os.fspath(out / "report.md"), b"new", force=True)
    assert ((out / "report.md").read_text(), (out / "copy.md").read_text()) == ("new", "earlier")


def test_a_name_that_is_too_long_is_told_as_the_system_tells_it(folder: Path, out: Path) -> None:
    for force in (False, True):
        with pytest.raises(WriteFailed, match=r"could not be written: file name too long\. Nothing was written\.$"):
            ExportWriter(folder, None).write(os.fspath(out / ("n" * 300)), b"x", force=force)
    assert names(out) == []


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("force", [False, True])
def test_both_ways_lead_to_the_same_file(folder: Path, out: Path, force: bool) -> None:
    target = out / "report.md"
    if force:
        target.write_text("earlier")
    ExportWriter(folder, None).write(os.fspath(target), b"all of it", force=force)
    assert target.read_bytes() == b"all of it"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert names(out) == ["report.md"]


@pytest.mark.usefixtures("way")
def test_what_came_there_meanwhile_is_kept(folder: Path, out: Path) -> None:
    target = out / "report.md"
    file = ExportWriter(folder, None).create_file(os.fspath(target))
    file.write(b"ours")
    target.write_text("theirs")
    with pytest.raises(WriteFailed) as caught:
        file.commit()
    file.close()
    assert caught.value.reason is WriteFailureReason.EXISTS
    assert target.read_text() == "theirs"
    assert names(out) == ["report.md"]


_FULL = """
import resource
import sys
from memtui.fs import atomic
from memtui.fs.exports import ExportWriter, WriteFailed
from memtui.fs.write_helper import LocalWriter, WriteHelper
if sys.argv[3] == "with a name at once":
    atomic._NAMELESS = 0
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
target = sys.argv[2] + "/report.md"
for kind in (LocalWriter, WriteHelper):
    with kind(ExportWriter(sys.argv[1], None)) as writer:
        for force in (False, True):
            try:
                writer.write(target, bytes(3_000_000), force=force)
            except WriteFailed as error:
                print(error.reason.value, error)
        writer.write(target, b"it goes on", force=True)
"""


def test_where_there_is_no_space_nothing_is_left_and_it_goes_on(folder: Path, out: Path, way: str) -> None:
    words = [sys.executable, "-c", _FULL, os.fspath(folder), os.fspath(out), way]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    first, *others = done.stdout.splitlines()
    assert first.startswith("failed ")
    assert first.endswith("could not be written: file too large. Nothing was written.")
    assert [line.split()[0] for line in others] == ["failed", "exists", "failed"]
    assert names(out) == ["report.md"]
    assert (out / "report.md").read_text() == "it goes on"


_BEGIN = """
import signal
import sys
from memtui.fs.exports import ExportWriter
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, and so in every child
file = ExportWriter(sys.argv[1], None).create_file(sys.argv[2], force=True)
file.write(bytes(5_000_000))
print("begun", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system has no files without a name")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_of_a_file_whose_writer_was_killed(folder: Path, out: Path, number: int) -> None:
    words = [sys.executable, "-c", _BEGIN, os.fspath(folder), os.fspath(out / "report.md")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        assert process.wait(timeout=30) == -number
    assert names(out) == []
