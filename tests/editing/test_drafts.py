"""What was typed and not saved outlives whatever happens to the process that it was typed in."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import memtui
from memtui.core.errors import MemtuiError
from memtui.editing.drafts import DraftNotSaved, DraftReason, EditDraft, EditDraftStore, open_drafts

ANOTHER = """
import resource
import signal
import sys
from pathlib import Path
from memtui.editing.drafts import DraftNotSaved, EditDraftStore
for number in (signal.SIGHUP, signal.SIGTERM):  # under nohup they are ignored, and so in every child
    signal.signal(number, signal.SIG_DFL)
drafts = EditDraftStore(Path(sys.argv[1]))
number = 0
for order in sys.stdin:
    match order.split():
        case ["keep", path, text]:
            drafts.save(path, text, "base")
        case ["fill", size]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
        case ["grow", path, size]:
            try:
                drafts.save(path, "x" * int(size), "base")
            except DraftNotSaved as error:
                print(error, flush=True)
                continue
        case ["storm", path]:
            print("storming", flush=True)
            while True:
                number += 1
                drafts.save(path, f"{number}\\n" * 5_000, "base")
        case ["close"]:
            drafts.close()
    print("done", flush=True)
"""


class Another:
    """Another memtui, as far as drafts go."""

    def __init__(self, directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", ANOTHER, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(Path(memtui.__file__).parents[1])},
        )  # fmt: skip

    def do(self, *words: object) -> str:
        """Give an order; what is answered."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(*words, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()

    def end(self, number: signal.Signals) -> None:
        """End it in the middle of whatever it does."""
        self.process.send_signal(number)
        self.process.wait(60)


@contextmanager
def another(directory: Path) -> Iterator[Another]:
    process = Another(directory)
    try:
        yield process
    finally:
        process.process.kill()
        process.process.communicate()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "state/drafts"


def clock(*times: int) -> Callable[[], int]:
    """A clock that says these, one after the other."""
    left = iter(times)
    return lambda: next(left)


def found(drafts: EditDraftStore, path: str = "a.md") -> list[str]:
    return [draft.text for draft in drafts.find(path)]


def test_a_draft_is_found_again_with_all_that_was_known_of_it(directory: Path) -> None:
    text = "é\r \ud800 \x1b[31m\n" * 3
    first = EditDraftStore(directory, now_us=clock(7_000_000))
    first.save("notes/ü \udcff.md", text, "abc", cursor=(2, 5))
    first.close()
    [draft] = EditDraftStore(directory).find("notes/ü \udcff.md")
    assert (draft.path, draft.text, draft.base, draft.at_us) == ("notes/ü \udcff.md", text, "abc", 7_000_000)
    assert (draft.reason, draft.cursor, draft.line_count) == (DraftReason.EDITING, (2, 5), 3)
    assert found(EditDraftStore(directory), "notes/other.md") == []


def test_nobody_else_can_read_it(directory: Path) -> None:
    EditDraftStore(directory).save("a.md", "mine\n", None)
    assert directory.stat().st_mode & 0o777 == 0o700
    assert [file.stat().st_mode & 0o777 for file in directory.iterdir()] == [0o600, 0o600]


def test_what_is_saved_leaves_nothing_behind(directory: Path) -> None:
    drafts = EditDraftStore(directory)
    drafts.save("a.md", "mine\n", None)
    drafts.save("b.md", "other\n", None)
    drafts.drop("a.md")
    drafts.drop("never.md")
    drafts.close()
    assert [file.suffix for file in directory.iterdir()] == [".draft"]
    assert [draft.path for draft in EditDraftStore(directory).list_latest()] == ["b.md"]
    EditDraftStore(directory).find("b.md", now="other\n")
    assert list(directory.iterdir()) == []


def test_the_same_text_is_not_written_again(directory: Path) -> None:
    drafts = EditDraftStore(directory, now_us=clock(1, 2))
    drafts.save("a.md", "mine\n", None)
    drafts.save("a.md", "mine\n", None, cursor=(0, 3))
    drafts.save("a.md", "mine!\n", None)
    with pytest.raises(StopIteration):
        drafts.save("a.md", "mine!!\n", None)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_it_survives_the_sudden_end_of_its_process(directory: Path, number: signal.Signals) -> None:
    with another(directory) as process:
        assert process.do("keep", "a.md", "typed") == "done"
        here = EditDraftStore(directory)
        assert found(here) == []  # whoever types it is still there
        assert [draft.text for draft in here.find_elsewhere("a.md")] == ["typed"]
        process.end(number)
        assert found(here) == ["typed"]
        assert here.find_elsewhere("a.md") == ()


def test_a_kill_in_the_middle_of_writing_leaves_a_whole_draft(directory: Path) -> None:
    for _ in range(6):
        with another(directory) as process:
            assert process.do("keep", "a.md", "first") == "done"
            assert process.do("storm", "a.md") == "storming"
            [file] = directory.glob("*.draft")
            before, until = file.stat().st_mtime_ns, time.monotonic() + 60
            while file.stat().st_mtime_ns == before:
                assert time.monotonic() < until
                time.sleep(0.001)
            process.end(signal.SIGKILL)
        drafts = EditDraftStore(directory)
        for draft in drafts.find("a.md"):
            assert len(set(draft.text.split())) == 1
            assert draft.line_count in (1, 5_000)
            drafts.discard(draft)
    assert list(directory.glob("*.draft")) == []
    left = [file for file in directory.iterdir() if file.name.startswith(".")]
    for file in left:  # what a kill left half written goes once nobody can be writing it any more
        os.utime(file, (1, 1))
    EditDraftStore(directory).save("a.md", "mine", None)
    assert not any(file.exists() for file in left)


def test_two_windows_on_one_note_keep_a_draft_each(directory: Path) -> None:
    with another(directory) as process:
        here = EditDraftStore(directory)
        here.save("a.md", "here", None)
        process.do("keep", "a.md", "there")
        here.save("a.md", "here, more", None)
        assert [draft.text for draft in here.find_elsewhere("a.md")] == ["there"]
        process.do("close")
        here.close()
        assert sorted(found(EditDraftStore(directory))) == ["here, more", "there"]


def test_who_goes_on_with_a_draft_has_it_alone(directory: Path) -> None:
    left = EditDraftStore(directory)
    left.save("a.md", "left\n", "base", cursor=(0, 2))
    left.close()
    here = EditDraftStore(directory)
    [draft] = here.find("a.md")
    here.adopt(draft)
    with another(directory):
        assert [each.text for each in here.find("a.md")] == ["left\n"]
        assert len(list(directory.glob("*.draft"))) == 1
    here.drop("a.md")
    assert list(directory.glob("*.draft")) == []


def test_a_text_that_was_set_aside_stays_until_it_is_forgotten(directory: Path) -> None:
    drafts = EditDraftStore(directory, now_us=clock(1, 2, 3, 4))
    drafts.save("a.md", "mine\n", "base")
    drafts.set_aside("a.md", "mine\n", "base")
    drafts.set_aside("a.md", "mine\n", "base", why=DraftReason.DISCARDED)  # the same once more is one
    drafts.set_aside("a.md", "another\n", "base")
    drafts.drop("a.md")
    with another(directory):
        assert [draft.text for draft in drafts.list_latest()] == ["another\n", "mine\n"]
    drafts.close()
    later = EditDraftStore(directory)
    assert found(later) == ["another\n", "mine\n"]
    later.discard(later.find("a.md")[0])
    assert found(later) == ["mine\n"]


def test_a_text_that_was_set_aside_is_not_kept_twice_by_an_editor_that_has_not_closed_yet(directory: Path) -> None:
    store = EditDraftStore(directory)
    store.save("a.md", "one\n", None)
    store.set_aside("a.md", "two\n", None)
    store.save("a.md", "two\n", None)
    assert [draft.text for draft, _ in store.list_all()] == ["two\n"]
    store.save("a.md", "three\n", None)
    assert sorted(draft.text for draft, _ in store.list_all()) == ["three\n", "two\n"]
    store.close()


def test_the_same_words_are_offered_once(directory: Path) -> None:
    first = EditDraftStore(directory, now_us=clock(1))
    first.set_aside("a.md", "mine\n", None)
    second = EditDraftStore(directory, now_us=clock(2))
    second.save("a.md", "mine\n", None)
    second.close()
    drafts = EditDraftStore(directory)
    assert [draft.at_us for draft in drafts.list_latest()] == [2]
    assert [draft.at_us for draft in drafts.find("a.md")] == [2]
    assert len(list(directory.glob("*.draft"))) == 1


def test_a_draft_is_found_under_the_former_name_of_its_note(directory: Path) -> None:
    drafts = EditDraftStore(directory)
    drafts.set_aside("old.md", "mine\n", None)
    [draft] = drafts.find("new.md", former=("older.md", "old.md"))
    assert draft.path == "old.md"
    drafts.adopt(draft, path="new.md")
    assert [each.path for each in drafts.list_latest()] == ["new.md"]
    drafts.drop("new.md")
    assert drafts.list_latest() == ()


def test_a_full_disk_is_said_and_what_was_kept_before_stays(directory: Path) -> None:
    with another(directory) as process:
        process.do("grow", "a.md", 1_000)
        process.do("fill", 4_000)
        words = process.do("grow", "a.md", 100_000)
        assert words.startswith("No draft is kept: file too large.")
        assert "on this screen only" in words
        assert process.do("grow", "a.md", 2_000) == "done"  # there is room again, for less
        process.do("grow", "a.md", 100_000)
        process.end(signal.SIGKILL)
    assert [len(text) for text in found(EditDraftStore(directory))] == [2_000]
    assert [file for file in directory.iterdir() if file.name.startswith(".")] == []


def test_a_directory_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    drafts = EditDraftStore(tmp_path / "file/drafts")
    with pytest.raises(DraftNotSaved, match="No draft is kept: "):
        drafts.save("a.md", "mine\n", None)
    with pytest.raises(MemtuiError):
        drafts.set_aside("a.md", "mine\n", None)
    assert drafts.list_latest() == ()


@pytest.mark.parametrize(
    "held",
    [b"", b"{}\n", b"[]\ntext", b"not json\n", b'{"path": 1}\n', b"\xff" * 100_000, b'{"path":"a.md","cursor":[0]}\nx'],
)
def test_what_is_no_draft_is_left_alone_and_harms_nothing(directory: Path, held: bytes) -> None:
    drafts = EditDraftStore(directory)
    drafts.set_aside("a.md", "mine\n", None)
    [good] = directory.glob("*.draft")
    broken = good.with_name(good.name.replace("-", "-x", 1))
    broken.write_bytes(held)
    (directory / f"{good.name[:16]}-pipe.draft").symlink_to("/dev/zero")
    assert found(drafts) == ["mine\n"]
    assert broken.read_bytes() == held


def test_drafts_lie_beside_the_journal_and_nowhere_where_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    with memtui.open(tmp_path / "memories", state=tmp_path / "state") as engine:
        open_drafts(engine).set_aside("a.md", "mine\n", None)
    with memtui.open(tmp_path / "memories", state=tmp_path / "state", read_only=True) as engine:
        assert open_drafts(engine).list_latest() == ()
        assert open_drafts(engine).set_aside("a.md", "more\n", None) is None
    with memtui.open_in_memory() as engine:
        open_drafts(engine).save("a.md", "mine\n", None)
    assert [file.suffix for file in (tmp_path / "state/drafts").iterdir()] == [".draft"]
    assert list((tmp_path / "memories").iterdir()) == []


def test_a_draft_says_what_it_is_and_when_it_was_written() -> None:
    at_us = 1_700_000_000_000_000
    draft = EditDraft("a.md", "one\ntwo\n", None, at_us, DraftReason.EDITING, (0, 0), Path("x"))
    assert draft.describe(at_us).startswith("an unsaved draft of ")
    assert draft.describe(at_us).endswith(" (2 lines)")
    assert "2023-11-" in draft.describe(at_us + 10 * 86_400_000_000)
