"""Opening a folder to look at it: with its journal, without one, with an export, from a disk that cannot be written."""

import base64
import gzip
import json
import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.cli import main
from memtui.core.errors import FolderMissing, StateUnusable
from memtui.engine import JournalSource
from memtui.fs import state
from memtui.journal import chain
from tests.neutral.conftest import Recorded
from tests.neutral.trees import age, differences, traces

Lines = list[dict[str, Any]]


@pytest.fixture
def export(recorded: Recorded, tmp_path: Path) -> Path:
    """The journal of the folder, as `memtui export` writes it."""
    path = tmp_path / "journal.jsonl"
    assert main(["export", os.fspath(recorded.folder), "-o", os.fspath(path)]) == 0
    return path


def lines_of(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text().splitlines()]


def put(path: Path, lines: Lines) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def linked(lines: Lines) -> Lines:
    """The same events with a chain that is computed anew, as somebody would who wants to deceive."""
    head = chain.START
    for line in lines:
        if "seq" in line:
            head = chain.hash_link(head, line["body"].encode())
            line["hash"] = head.hex()
    lines[-1]["head"] = head.hex()
    return lines


# Without a journal


def test_a_copy_without_a_journal_is_looked_at_and_that_is_said(recorded: Recorded, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(recorded.folder, copy, symlinks=True)
    with memory_module.observe(copy) as observer:
        assert observer.recorded.source is JournalSource.NONE
        assert (observer.recorded.last, observer.recorded.has_texts) == (0, False)
        assert observer.recorded.problem == "memtui has no history of this folder."
        assert {entry.path for entry in observer.iter_names()} >= {"prefs.md", "notes/today.md"}
        assert [event.command for event in observer.events()] == ["found"]
    assert not state.get_state_directory(os.fspath(copy)).exists()


def test_a_damaged_journal_is_said_and_the_folder_is_looked_at(recorded: Recorded) -> None:
    journal = recorded.state / "journal.db"
    journal.write_bytes(b"SQLite format 3\0" + bytes(4_000))
    before = traces(recorded.folder, recorded.state)
    with memory_module.observe(recorded.folder) as observer:
        assert observer.recorded.source is JournalSource.NONE
        assert observer.recorded.is_damaged
        assert "journal" in observer.recorded.problem
    assert differences(before, traces(recorded.folder, recorded.state)) == []


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FolderMissing, match="No folder at"):
        memory_module.observe(tmp_path / "none")


def test_a_folder_that_cannot_be_looked_at_is_not_said_to_be_missing(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for opened in (memtui.open, memory_module.observe):
        with pytest.raises(FolderMissing, match="loop cannot be opened: too many levels of symbolic links"):
            opened(loop)


# As another user, and on a disk that cannot be written


def as_nobody(look: Callable[[], None]) -> None:
    """Do something in a process that is another user."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    nobody = pwd.getpwnam("nobody")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
            look()
            code = 0
        except BaseException as error:
            os.write(2, repr(error).encode())
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def open_to_all(recorded: Recorded) -> Iterator[Recorded]:
    """A folder that anybody may read and nobody may write, and a state directory that only its owner may read."""
    place = Path(tempfile.mkdtemp(prefix="memtui-neutral-"))  # what pytest makes is for its owner only
    shutil.copytree(recorded.folder, place / "memories", symlinks=True)
    shutil.copytree(recorded.state, place / "state")
    for directory, _, names in os.walk(place / "memories"):
        os.chmod(directory, 0o555)
        for name in names:
            if not os.path.islink(os.path.join(directory, name)):
                os.chmod(os.path.join(directory, name), 0o444)
    os.chmod(place, 0o755)
    os.chmod(place / "state", 0o700)
    yield Recorded(place / "memories", place / "state", recorded.head)
    shutil.rmtree(place)


def test_another_user_looks_at_a_tree_that_cannot_be_written(open_to_all: Recorded) -> None:
    before = traces(open_to_all.folder, open_to_all.state)

    def look() -> None:
        os.environ["XDG_STATE_HOME"] = "/nonexistent"
        with memory_module.observe(open_to_all.folder, state=open_to_all.state) as observer:
            assert observer.recorded.source is JournalSource.NONE
            assert observer.recorded.problem.endswith("cannot be read: permission denied.")
            assert observer.inspect_path("prefs.md").data == b"- long answers\n- Berlin\n"
            assert observer.get_totals().files == 3

    as_nobody(look)
    after = traces(open_to_all.folder, open_to_all.state)
    assert [each for each in differences(before, after) if "atime_ns" not in each] == []


def test_another_user_may_be_given_the_journal_itself(open_to_all: Recorded) -> None:
    journal = open_to_all.folder.parent / "given.db"
    shutil.copy(open_to_all.state / "journal.db", journal)
    os.chmod(journal, 0o444)

    def look() -> None:
        with memory_module.observe(open_to_all.folder, journal=journal, state="/nonexistent/state") as observer:
            assert observer.recorded.last == open_to_all.head
            assert [event.path for event in observer.events(open_to_all.head)] == ["/memories/prefs.md"]

    as_nobody(look)
    assert sorted(each.name for each in journal.parent.iterdir()) == ["given.db", "memories", "state"]


def test_what_another_user_may_not_read_in_the_folder_is_no_crash(open_to_all: Recorded) -> None:
    os.chmod(open_to_all.folder / "prefs.md", 0o400)
    os.chmod(open_to_all.folder / "notes", 0o700)

    def look() -> None:
        with memory_module.observe(open_to_all.folder, state="/nonexistent/state") as observer:
            assert observer.inspect_path("prefs.md").problem == "It cannot be read: permission denied."
            assert observer.inspect_path("new.md").data == b"c\nb\n"

    as_nobody(look)


# An exported journal


def test_an_export_stands_in_for_the_journal(recorded: Recorded, export: Path, tmp_path: Path) -> None:
    with memtui.open(recorded.folder, read_only=True) as memory:
        known = [(event.seq, event.hash, event.actor, event.path, event.answer) for event in memory.events()]
    before = traces(recorded.folder, recorded.state)
    with memory_module.observe(recorded.folder, journal=export, state=tmp_path / "none") as observer:
        last = observer.recorded.last
        assert observer.recorded.source is JournalSource.EXPORT
        assert (last, observer.recorded.has_texts) == (recorded.head, True)
        told = [(event.seq, event.hash, event.actor, event.path, event.answer) for event in observer.events()]
        assert told[:last] == known[:last]
        assert [event.path for event in observer.events(last)] == ["/memories/prefs.md"]
        assert observer.journal.verify().is_intact
        first = observer.history.get_event(2)
        assert first is not None
        assert observer.history.text(first.changes[0].after) == b"a\nb\n"
    assert differences(before, traces(recorded.folder, recorded.state)) == []


def test_an_export_of_a_folder_that_did_not_change_finds_nothing_new(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "a.md").write_text("a\n")
    with memtui.open(folder):
        pass
    target = tmp_path / "journal.jsonl"
    assert main(["export", os.fspath(folder), "-o", os.fspath(target)]) == 0
    with memory_module.observe(folder, journal=target) as observer:
        assert list(observer.events(observer.recorded.last)) == []
        assert observer.get_totals() == (1, 2)


def test_an_export_without_texts_says_that_there_are_none(recorded: Recorded, tmp_path: Path) -> None:
    target = tmp_path / "events.jsonl"
    assert main(["export", os.fspath(recorded.folder), "-o", os.fspath(target), "--no-texts"]) == 0
    with memory_module.observe(recorded.folder, journal=target) as observer:
        assert not observer.recorded.has_texts
        assert observer.recorded.last == recorded.head
        event = observer.history.get_event(2)
        assert event is not None
        assert observer.history.text(event.changes[0].after) is None


def test_a_database_may_be_named_itself(recorded: Recorded, tmp_path: Path) -> None:
    age(recorded.state)
    before = traces(recorded.folder, recorded.state)
    named = recorded.state / "journal.db"
    with memory_module.observe(recorded.folder, journal=named, state=tmp_path / "none") as observer:
        assert observer.recorded.source is JournalSource.JOURNAL
        assert observer.recorded.last == recorded.head
    assert differences(before, traces(recorded.folder, recorded.state)) == []


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def _without_end(path: Path) -> None:
    put(path, lines_of(path)[:-1])


def _without_an_event(path: Path) -> None:
    lines = lines_of(path)
    put(path, [line for line in lines if line.get("seq") != 2])


def _with_another_event(path: Path) -> None:
    lines = lines_of(path)
    lines[2]["body"] = lines[2]["body"].replace("Claude", "Nobody")
    put(path, lines)


def _with_another_text(path: Path) -> None:
    lines = lines_of(path)
    version = next(line for line in lines if "text" in line)
    version["text"] += "and more"
    put(path, lines)


def _set_answer(path: Path, text: str) -> None:
    lines = lines_of(path)
    line = next(line for line in lines if line.get("answer"))
    line["answer"] = text
    put(path, lines)


def _with_another_answer(path: Path) -> None:
    _set_answer(path, "something else")


def _with_a_lone_surrogate(path: Path) -> None:
    _set_answer(path, "\ud800")


def _that_leaves_the_folder(path: Path) -> None:
    lines = lines_of(path)
    lines[2]["body"] = lines[2]["body"].replace('[["new.md"', '[["../../etc/passwd"')
    put(path, linked(lines))


def _of_the_year_100000(path: Path) -> None:
    lines = lines_of(path)
    body = json.loads(lines[2]["body"])
    body["at_us"] = 10**18
    lines[2]["body"] = json.dumps(body)
    put(path, linked(lines))


def _with_a_deep_body(path: Path) -> None:
    lines = lines_of(path)
    lines[2]["body"] = "[" * 200_000
    put(path, linked(lines))


def _deep(path: Path) -> None:
    path.write_text("[" * 200_000)


def _compressed(path: Path) -> None:
    path.write_bytes(gzip.compress(path.read_bytes()))


def _of_a_newer_memtui(path: Path) -> None:
    lines = lines_of(path)
    lines[0]["schema"] = 99
    put(path, lines)


def _foreign(path: Path) -> None:
    path.write_text('{"name": "something else"}\n')


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _with_bad_base64(path: Path) -> None:
    lines = lines_of(path)
    version = next(line for line in lines if "text" in line)
    version["base64"] = base64.b64encode(version.pop("text").encode()).decode()[:-1] + "*"
    put(path, lines)


def _behind_its_end(path: Path) -> None:
    lines = lines_of(path)
    put(path, [*lines, lines[-1]])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_cut_short, "it was cut off"),
        (_without_end, "its last line is missing: it was cut off"),
        (_without_an_event, "lines are missing"),
        (_with_another_event, "event 2 does not match its hash"),
        (_with_another_text, "was changed: its text has another hash"),
        (_with_another_answer, "the answer of event 2 is not what it names"),
        (_that_leaves_the_folder, "event 2 is invalid"),
        (_of_the_year_100000, "event 2 is invalid"),
        (_with_a_deep_body, "event 2 is invalid"),
        (_deep, "it is not a journal written by"),
        (_compressed, "unpack it with gunzip"),
        (_of_a_newer_memtui, "written by a newer memtui"),
        (_foreign, "it is not a journal written by"),
        (_empty, "it is empty"),
        (_with_a_lone_surrogate, "cannot be written as text"),
        (_with_bad_base64, "cannot be read"),
        (_behind_its_end, "it continues after its last line"),
    ],
    ids=lambda each: each.__name__.strip("_") if callable(each) else "",
)
def test_an_export_that_was_tampered_with_is_refused_with_a_sentence(
    recorded: Recorded, export: Path, spoil: Callable[[Path], None], words: str
) -> None:
    spoil(export)
    with pytest.raises(StateUnusable) as caught:
        memory_module.observe(recorded.folder, journal=export)
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["a FIFO", "a directory"])
def test_a_journal_that_is_no_file_is_refused_without_waiting(
    recorded: Recorded, tmp_path: Path, make: Callable[[str], None]
) -> None:
    path = tmp_path / "odd"
    make(os.fspath(path))
    with pytest.raises(StateUnusable, match="cannot be used: it is not a regular file"):
        memory_module.observe(recorded.folder, journal=path)


def test_a_journal_that_is_not_there_is_said(recorded: Recorded, tmp_path: Path) -> None:
    with pytest.raises(StateUnusable, match="There is no journal at"):
        memory_module.observe(recorded.folder, journal=tmp_path / "none.db")


def test_an_event_that_was_redacted_stays_so_in_an_export(recorded: Recorded, tmp_path: Path) -> None:
    with memtui.open(recorded.folder) as memory:
        memory.redact(match="c\nb")
        head = memory.get_head()
    target = tmp_path / "redacted.jsonl"
    assert main(["export", os.fspath(recorded.folder), "-o", os.fspath(target)]) == 0
    with memory_module.observe(recorded.folder, journal=target) as observer:
        assert observer.get_head() == head
        assert observer.journal.verify().is_intact
        assert observer.journal.has_version(sha256(b"c\nb\n").hexdigest())
        assert not observer.journal.has_text(sha256(b"c\nb\n").hexdigest())
