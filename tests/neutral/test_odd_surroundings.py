"""An audit where little is as usual: the disk cannot be written to, or what belongs elsewhere lies in the folder."""

import contextlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import cli
from memtui import memory as memory_module
from memtui.audit.provenance import check_chain
from memtui.cli import main
from memtui.core.errors import FolderMissing, StateUnusable
from memtui.core.paths import MemoryPath
from memtui.engine import JournalSource
from memtui.journal.sqlite import Journal
from tests.neutral.conftest import Recorded
from tests.neutral.mounts import apart, needs_mounts
from tests.neutral.trees import age, differences, traces

SECONDS = 60


def rules(report: str) -> Counter[str]:
    """The rules of a report as JSON, each with how many findings it has."""
    found: dict[str, Any] = json.loads(report)
    return Counter(finding["rule"] for finding in found["findings"])


def audited(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """An audit as JSON, by a process of its own: one gives up its right to write for good."""
    return subprocess.run(
        [sys.executable, "-m", "memtui", "audit", os.fspath(folder), "--format", "json", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def copied(recorded: Recorded, place: Path) -> None:
    """The folder and its journal side by side, as one who takes them elsewhere has them."""
    place.mkdir()
    recorded.folder.rename(place / "memories")
    recorded.state.rename(place / "state")


_MOUNTS = {
    "a part of a disk": 'mount --bind "$1" "$2"; mount -o remount,bind,ro "$2"',
    "a disk": 'mount -t tmpfs none "$2"; cp -a "$1/." "$2"; mount -o remount,ro "$2"',
    "layers": 'mount -t overlay none -o "lowerdir=$1:$3" "$2"',
}


@needs_mounts
@pytest.mark.parametrize("kind", _MOUNTS)
@pytest.mark.parametrize(
    "words",
    [
        "audit memories --state state --format json --read-only",
        "log --dir memories --state state --read-only",
        "verify --dir memories --state state --read-only",
        "review --dir memories --state state --read-only",
    ],
    ids=lambda words: words.partition(" ")[0],
)
def test_a_disk_that_is_mounted_read_only_is_read_as_any_other(
    recorded: Recorded, tmp_path: Path, kind: str, words: str
) -> None:
    place, mounted, other = tmp_path / "place", tmp_path / "mounted", tmp_path / "other"
    copied(recorded, place)
    mounted.mkdir()
    other.mkdir()
    command = [sys.executable, "-P", "-m", "memtui", *words.split()]
    watched = [place / "memories", place / "state"]
    before = traces(*watched)
    usual = subprocess.run(command, capture_output=True, text=True, cwd=place, timeout=SECONDS, check=False)
    script = _MOUNTS[kind] + '\n! touch "$2/made" 2>/dev/null\ncd "$2"; shift 3; exec "$@"'
    done = apart(script, os.fspath(place), os.fspath(mounted), os.fspath(other), *command)
    if kind == "layers" and "mount" in done.stderr:
        pytest.skip("layers cannot be mounted here")
    assert done.returncode in (0, 1), done.stderr
    assert (done.returncode, done.stderr) == (usual.returncode, usual.stderr)
    if "json" in words:
        assert rules(done.stdout) == rules(usual.stdout)
        assert rules(done.stdout)["outside-change"] == 1
    if words.startswith("log"):
        assert done.stdout == usual.stdout != ""
    if kind != "a disk":  # that one is a copy, and what is copied was read
        assert differences(before, traces(*watched)) == []


_VERBS = (
    "audit {folder} --format json",
    "audit {folder} --since last --format html --read-only",
    "log --dir {folder} --read-only",
    "review --dir {folder} --read-only",
    "doctor {folder} --read-only",
)


@pytest.mark.sweep(each="what")
@pytest.mark.parametrize("words", _VERBS, ids=lambda words: words.partition(" ")[0])
@pytest.mark.parametrize("what", ["home", "state and settings", "temporary files", "where it is started"])
def test_what_lies_in_the_folder_is_left_alone_even_where_all_else_is_put_there(
    recorded: Recorded, tmp_path: Path, what: str, words: str
) -> None:
    folder = os.fspath(recorded.folder)
    inside: dict[str, dict[str, str]] = {
        "home": {"HOME": folder, "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""},
        "state and settings": {f"XDG_{name}_HOME": f"{folder}/x" for name in ("STATE", "CONFIG", "CACHE")},
        "temporary files": {"TMPDIR": folder, "TEMP": folder, "TMP": folder, "SQLITE_TMPDIR": folder},
        "where it is started": {},
    }
    # Beside the journal an audit keeps how many findings it had, but for --read-only; in the folder it keeps nothing.
    watched = [recorded.folder, *([recorded.state] if "--read-only" in words else [])]
    age(recorded.folder, recorded.state)
    before = traces(*watched)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "memtui", *words.format(folder=folder).split()],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **inside[what]},
        cwd=recorded.folder if what == "where it is started" else tmp_path,
        timeout=SECONDS,
        check=False,
    )
    assert differences(before, traces(*watched)) == []
    if done.returncode == 3:
        assert "is inside the memory folder" in done.stderr
    else:
        assert done.returncode in (0, 1), done.stderr


# A journal that is not to be had


@pytest.mark.parametrize("how", ["removed", "emptied"])
def test_that_a_journal_is_gone_which_there_was_is_a_broken_record(recorded: Recorded, how: str) -> None:
    journal = recorded.state / "journal.db"
    journal.unlink() if how == "removed" else os.truncate(journal, 0)
    before = traces(recorded.folder, recorded.state)
    with memory_module.observe(recorded.folder) as observer:
        assert observer.recorded.source is JournalSource.NONE
        assert observer.recorded.is_damaged
        assert observer.recorded.problem.startswith("The journal for this folder is missing from ")
    with memtui.open(recorded.folder, read_only=True) as memory:
        first = next(memory.events())
        assert (first.command, first.note) == ("began", "the earlier journal for this folder is missing")
    assert rules(audited(recorded.folder).stdout)["chain-broken"] == 1
    assert differences(before, traces(recorded.folder, recorded.state)) == []


def test_a_folder_that_never_had_a_journal_is_no_broken_record(recorded: Recorded, tmp_path: Path) -> None:
    with memory_module.observe(recorded.folder, state=tmp_path / "none") as observer:
        assert not observer.recorded.is_damaged
    without = "--state", os.fspath(tmp_path / "none")
    found = rules(audited(recorded.folder, *without, "--only", "chain-broken,no-journal").stdout)
    assert (found["chain-broken"], found["no-journal"]) == (0, 1)


@pytest.fixture
def unreadable(recorded: Recorded) -> Path:
    """A journal that is there, and that nobody can open."""
    journal = recorded.state / "journal.db"
    journal.unlink()
    journal.symlink_to(journal)
    return journal


def test_a_journal_that_cannot_be_looked_at_is_not_taken_for_none(recorded: Recorded, unreadable: Path) -> None:
    with pytest.raises(
        StateUnusable, match=r"^The journal cannot be read: .* \(too many levels of symbolic links\)\.$"
    ):
        Journal.copy_from(os.fspath(unreadable))
    with memory_module.observe(recorded.folder) as observer:
        assert "too many levels of symbolic links" in observer.recorded.problem
        assert observer.recorded.source is JournalSource.NONE


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("verb", ["log", "verify", "export", "stats", "blame new.md"])
def test_a_verb_that_tells_what_was_says_that_it_cannot_know(
    recorded: Recorded, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    assert main([*verb.split(), "--read-only", "--dir", os.fspath(recorded.folder)]) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert "cannot be read" in told.err
    assert "too many levels of symbolic links" in told.err


def _put_directory(path: Path) -> str:
    path.mkdir()
    return "a directory"


def _put_fifo(path: Path) -> str:
    os.mkfifo(path)
    return "a FIFO"


def _put_socket(path: Path) -> str:
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as made, contextlib.chdir(path.parent):
        made.bind(path.name)
    return "a socket"


def _put_device(path: Path) -> str:
    path.symlink_to("/dev/zero")
    return "a device"


@pytest.mark.parametrize("put", [_put_directory, _put_fifo, _put_socket, _put_device])
@pytest.mark.parametrize("is_read_only", [True, False])
def test_what_is_no_file_in_place_of_the_journal_is_a_failure_of_every_verb_that_reads_it(
    recorded: Recorded, capsys: pytest.CaptureFixture[str], put: Callable[[Path], str], is_read_only: bool
) -> None:
    journal = recorded.state / "journal.db"
    journal.unlink()
    kind = put(journal)
    options = ["--dir", os.fspath(recorded.folder), *(["--read-only"] if is_read_only else [])]
    for verb, code in (("log", 3), ("verify", 3), ("export", 3), ("stats", 3), ("doctor", 1)):
        assert main([verb, *options]) == code, verb
        told = capsys.readouterr()
        assert f"it is not a regular file but {kind}" in " ".join((told.out + told.err).split()), verb
    assert not stat.S_ISREG(journal.stat().st_mode)
    with memory_module.observe(recorded.folder, state=recorded.state) as observer:
        assert check_chain(observer, 0).state == "broken"


def test_an_audit_fails_where_a_directory_was_put_in_place_of_the_journal(recorded: Recorded) -> None:
    (recorded.state / "journal.db").unlink()
    (recorded.state / "journal.db").mkdir()
    done = audited(recorded.folder)
    assert (done.returncode, rules(done.stdout)["chain-broken"]) == (1, 1)


@pytest.mark.parametrize(("verb", "code"), [("verify", 3), ("doctor", 1)])
def test_a_journal_that_was_there_and_is_gone_is_a_failure(
    recorded: Recorded, capsys: pytest.CaptureFixture[str], verb: str, code: int
) -> None:
    (recorded.state / "journal.db").unlink()
    assert main([verb, "--dir", os.fspath(recorded.folder)]) == code
    told = capsys.readouterr()
    assert "The journal for".lower() in " ".join((told.out + told.err).split()).lower()


# While it is at work


@pytest.mark.parametrize("how", ["removed", "renamed", "replaced by a folder", "replaced by a link"])
def test_a_folder_that_goes_while_it_is_looked_at_is_told_and_nothing_else_is_read(
    recorded: Recorded, tmp_path: Path, how: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "prefs.md").write_text("what another folder holds")
    with memory_module.observe(recorded.folder, look=False) as observer:
        recorded.folder.rename(tmp_path / "away")
        if how == "removed":
            shutil.rmtree(tmp_path / "away")
        elif how == "replaced by a folder":
            other.rename(recorded.folder)
        elif how == "replaced by a link":
            recorded.folder.symlink_to(other)
        with pytest.raises(FolderMissing, match="it was moved, unmounted, deleted or replaced"):
            observer.reconcile()
        for look in (observer.attach, lambda: list(observer.iter_names())):
            with pytest.raises(FolderMissing, match="it was moved, unmounted, deleted or replaced"):
                look()
        assert observer.get_entry("prefs.md") is None
        assert observer.get_head()[0] == recorded.head
        with contextlib.suppress(OSError):
            assert b"another folder" not in observer.store.read(MemoryPath.from_relative("prefs.md"), limit=100).data


_UNMOUNTED = """
import os
import sys
from memtui import memory
from memtui.core.errors import FolderMissing
with memory.observe(sys.argv[1], state=sys.argv[2], look=False) as observer:
    assert os.system(f'umount -l "{sys.argv[1]}"') == 0
    try:
        observer.reconcile()
    except FolderMissing as error:
        print(error)
"""


@needs_mounts
def test_a_folder_that_is_unmounted_while_it_is_looked_at_is_told(recorded: Recorded, tmp_path: Path) -> None:
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    words = 'mount --bind "$1" "$2"; exec "$3" -c "$4" "$2" "$5"'
    given = map(os.fspath, (recorded.folder, mounted, sys.executable, _UNMOUNTED, recorded.state))
    done = apart(words, *given)
    assert "it was moved, unmounted, deleted or replaced" in done.stdout, done.stderr


_WATCHED = """
import sys
from memtui.cli import main
sys.exit(main(["audit", sys.argv[1], "--watch", "--format", "json"]))
"""


def test_an_audit_that_keeps_watching_leaves_no_trace_where_nothing_changed(recorded: Recorded) -> None:
    age(recorded.folder, recorded.state)
    before = traces(recorded.folder, recorded.state)
    words = [sys.executable, "-c", _WATCHED, os.fspath(recorded.folder)]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            one_report(process.stdout)
            assert differences(before, traces(recorded.folder, recorded.state)) == []
            made = recorded.folder / "made" / "new.md"
            made.parent.mkdir()
            made.write_text("new")
            for _ in range(20):  # it may have looked between the two
                if any("made/new.md" in line for line in one_report(process.stdout)):
                    break
            after = traces(recorded.folder, recorded.state)
        finally:
            process.terminate()
    left = [each for each in differences(before, after) if "/made" not in each]
    assert all(each.startswith(f"{recorded.folder}: ") for each in left), left
    assert not any("atime_ns" in each for each in left), left


def one_report(lines: Any) -> list[str]:
    """The next report as JSON, which ends with a brace of its own."""
    found: list[str] = []
    for line in lines:
        found.append(line)
        with contextlib.suppress(ValueError):
            json.loads("".join(found))
            return found
    raise AssertionError("it ended")


_CHURN = """
import os, random, sys
names, place = [f"{sys.argv[1]}/n{number}.md" for number in range(40)], random.Random(7)
print("begun", flush=True)
while True:
    name, way = place.choice(names), place.randrange(6)
    try:
        if way < 3:
            with open(name, "w") as file:
                file.write(place.choice("AB") * place.randrange(30_000))
        elif way == 3:
            os.rename(name, place.choice(names))
        elif way == 4:
            os.unlink(name)
            os.symlink(sys.argv[2], name)
        else:
            os.unlink(name)
            os.mkdir(name)
    except OSError:
        try:
            os.rmdir(name)
        except OSError:
            pass
"""


def test_a_folder_that_is_written_to_all_the_time_is_told_without_what_is_outside(
    recorded: Recorded, tmp_path: Path
) -> None:
    """Files become links that lead out, and directories, and files again, while they are looked at and read."""
    outside = tmp_path / "outside.md"
    outside.write_text("canary of what is outside\n" * 20)
    for number in range(40):
        (recorded.folder / f"n{number}.md").write_text("text\n")
    words = [sys.executable, "-c", _CHURN, os.fspath(recorded.folder), os.fspath(outside)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as churning:
        assert churning.stdout is not None
        try:
            assert churning.stdout.readline() == "begun\n"
            for _ in range(3):
                done = audited(recorded.folder, "--since", "1", "--all")
                assert (done.returncode, done.stderr) == (1, "")
                assert rules(done.stdout)["outside-change"] > 0
                assert "canary" not in done.stdout
        finally:
            churning.kill()


def test_that_there_is_no_more_memory_is_said_and_is_no_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1 would tell a pipeline that something was found."""

    def more_than_there_is(words: Sequence[str], *, own_process: bool) -> int:
        del words, own_process
        raise MemoryError

    monkeypatch.setattr(cli, "_dispatch", more_than_there_is)
    assert main(["audit"]) == 70
    assert capsys.readouterr().err == ("memtui stopped: out of memory. Raise its limit, or open a smaller folder.\n")
