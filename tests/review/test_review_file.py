"""Two reviewers at once, and one that dies: nothing that was noted is lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memtui.core.errors import MemtuiError
from memtui.fs.exports import ExportWriter, WriteFailed, WriteFailureReason
from memtui.fs.write_helper import LocalWriter
from memtui.review import marks
from memtui.review.inbox import ReviewMark, ReviewVerdict
from memtui.review.marks import NOTHING, Review, ReviewFile, ReviewFileUnusable

WRITER = """
import sys
from memtui.review.inbox import ReviewMark, ReviewVerdict
from memtui.review.marks import ReviewFile
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(count):
    ReviewFile(path).add([ReviewMark(reviewer=name, at_us=number, verdict=ReviewVerdict.NOTE, path=f"{number}.md")])
    print(number, flush=True)
"""

ANYWHERE = ExportWriter(None, None, nothing=NOTHING)


def mark(number: int, reviewer: str = "ada") -> ReviewMark:
    return ReviewMark(reviewer=reviewer, at_us=number, verdict=ReviewVerdict.NOTE, path=f"{number}.md")


def started(path: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def test_two_reviewers_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "review.json"
    processes = [started(path, name, 25) for name in ("ada", "bob", "cyd")]
    for process in processes:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert out.count(b"\n") == 25
    review = Review.read(path)
    assert review.problem == ""
    for name in ("ada", "bob", "cyd"):
        assert [mark.at_us for mark in review.marks if mark.reviewer == name] == list(range(25))
    assert os.listdir(path.parent) == ["review.json"]


@pytest.mark.parametrize("after", [1, 4, 9])
def test_one_that_is_killed_leaves_a_whole_file_with_all_that_it_said_it_kept(after: int, tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    process = started(path, "ada", 10_000)
    assert process.stdout is not None
    said = 0
    while said < after:
        assert process.stdout.readline()
        said += 1
    process.send_signal(signal.SIGKILL)
    said += process.stdout.read().count(b"\n")
    process.stdout.close()
    process.wait(timeout=30)
    review = Review.read(path)
    assert review.problem == ""
    assert len(review.marks) >= said
    ReviewFile(path).add([mark(1, "bob")])
    assert os.listdir(tmp_path) == ["review.json"]
    assert Review.read(path).marks[-1].reviewer == "bob"


def test_where_there_are_no_locks_what_another_one_wrote_over_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "review.json"

    class Slow(LocalWriter):
        """Another reviewer replaces the file right after the first time that it is written."""

        times = 0

        def write(self, path: str, data: bytes, *, force: bool = False) -> None:
            super().write(path, data, force=force)
            self.times += force
            if force and self.times == 1:
                LocalWriter(ANYWHERE).write(path, Review().add_marks([mark(7, "bob")]).to_json(), force=True)

    review = ReviewFile(path, writer=Slow(ANYWHERE)).add([mark(1)])
    assert [mark.reviewer for mark in review.marks] == ["bob", "ada"]
    assert Review.read(path).marks == review.marks


def test_a_place_that_cannot_be_written_to_is_said_and_nothing_is_noted(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x")
    with pytest.raises(MemtuiError, match=r"cannot be read|Nothing was written"):
        ReviewFile(blocked / "review.json").add([mark(1)])

    class Full(LocalWriter):
        def write(self, path: str, data: bytes, *, force: bool = False) -> None:
            del data, force
            raise WriteFailed(
                WriteFailureReason.FAILED, f"{path} could not be written: no space left on device. {NOTHING}"
            )

    with pytest.raises(WriteFailed, match="no space left"):
        ReviewFile(tmp_path / "review.json", writer=Full(ANYWHERE)).add([mark(1)])
    assert os.listdir(tmp_path) == ["file"]


def test_what_a_dead_writer_left_beside_the_file_goes(tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    ReviewFile(path).add([mark(1)])
    stray = tmp_path / ".review.json.abc123.part"
    stray.write_text("half")
    other = tmp_path / ".other.json.abc123.part"
    other.write_text("not ours")
    ReviewFile(path).add([mark(2)])
    assert not stray.exists()
    assert other.exists()


def test_nothing_to_say_writes_nothing(tmp_path: Path) -> None:
    assert ReviewFile(tmp_path / "review.json").add([]).marks == ()
    assert os.listdir(tmp_path) == []


def test_a_second_reviewer_sees_what_the_first_one_said(tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    begin = time.time_ns()
    ReviewFile(path, folder="~/memories").add([mark(1, "ada")])
    assert [mark.reviewer for mark in ReviewFile(path).load().marks] == ["ada"]
    assert ReviewFile(path).load().folder == "~/memories"
    assert path.stat().st_mtime_ns >= begin - 2_000_000_000


FILLS = """
import resource
import sys
from memtui.review.inbox import ReviewMark, ReviewVerdict
from memtui.review.marks import ReviewFile
from memtui.core.errors import MemtuiError
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    mark = ReviewMark(reviewer="bob", at_us=1, verdict=ReviewVerdict.NOTE, path="a.md", words="x" * 9000)
    ReviewFile(sys.argv[1]).add([mark])
except MemtuiError as error:
    print(error)
"""


def test_where_there_is_no_room_for_all_of_it_nothing_is_noted_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    ReviewFile(path).add([mark(1)])
    before = path.read_bytes()
    out = subprocess.run([sys.executable, "-c", FILLS, str(path)], capture_output=True, text=True, check=True).stdout
    assert out.endswith("could not be written: file too large. Nothing was written.\n")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["review.json"]


def test_no_file_is_written_that_could_not_be_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "MOST_BYTES", 10_000)
    path = tmp_path / "review.json"
    ReviewFile(path).add([mark(1)])
    with pytest.raises(ReviewFileUnusable, match=r"Nothing was written: .* Start another one with --review"):
        ReviewFile(path).add(
            [ReviewMark(reviewer="ada", at_us=1, verdict=ReviewVerdict.NOTE, path="a.md", words="x" * 10_000)]
        )
    assert [mark.at_us for mark in Review.read(path).marks] == [1]


def test_a_link_is_left_as_it_is_and_so_is_what_it_leads_to(tmp_path: Path) -> None:
    shared, path = tmp_path / "shared.json", tmp_path / "review.json"
    ReviewFile(shared).add([mark(1)])
    before = shared.read_bytes()
    path.symlink_to(shared)
    with pytest.raises(ReviewFileUnusable, match=r"is not a regular file\."):
        ReviewFile(path).add([mark(2)])
    assert path.is_symlink()
    assert shared.read_bytes() == before
