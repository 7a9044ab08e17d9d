"""One search without a record: it finds what the finder finds, also with a second process."""

import os
import signal
import socket
from pathlib import Path

import pytest

from memtui.core.settings import Settings
from memtui.fs import fork
from memtui.memory import make_record, observe_unrecorded
from memtui.search import text_scan
from memtui.search.finder import Finder
from memtui.search.query import parse_query
from memtui.search.results import Scope, SearchResults
from memtui.search.text_scan import can_scan, scan_texts
from memtui.store.base import ReadableStore
from memtui.store.open_folder import ReadOnlyFolder

NOW_US = 1_800_000_000_000_000
ALL = 1_000
MOST = 2_000
QUERIES = [
    "lisbon", "Lisbon", "moved lisbon", '"moved to"', "lisbon | porto", "!porto moved", "^moved", "lisbon$", "strasse",
    "é", "re:mov.d", "lisbon re:to", "in:people/ lisbon", "!in:people/ lisbon", "zyzzyva", "k", "'moved",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "memories"
    for number in range(24):
        path = folder / ("people" if number % 3 else "notes/deep") / f"n{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {number}\n\nMoved to {'Lisbon' if number % 2 else 'Porto'} in 20{number}\nlisbon\n")
        os.utime(path, ns=(0, number % 5 * 10**9))
    (folder / "café.md").write_text("Hauptstraße, Café\r\nmoved to Lisbon\r\n")
    (folder / "kelvin.md").write_text("300 \u212a\n")  # the sign folds to the letter
    (folder / "upper.md").write_text("LISBON")
    (folder / "empty.md").write_bytes(b"")
    (folder / "binary.md").write_bytes(b"lisbon \xff\xfe")
    (folder / "large.md").write_text("lisbon\n" * MOST)
    (folder / ".hidden.md").write_text("lisbon")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "x.md").write_text("lisbon")
    (tmp_path / "outside.md").write_text("lisbon")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    os.mkfifo(folder / "fifo.md")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket.md"))
    return folder


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A second process pays after three notes; returns those that were made."""
    made: list[int] = []
    real = os.fork

    def note_fork() -> int:
        made.append(real())
        return made[-1]

    monkeypatch.setattr(os, "fork", note_fork)
    monkeypatch.setattr(fork, "FEWEST", 3)
    monkeypatch.setattr(text_scan, "FEWEST", 3)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(fork, "count_threads", lambda: 1)
    return made


def scan(folder: Path, query: str, *, hidden: bool = False, limit: int = ALL) -> SearchResults:
    store: ReadableStore = ReadOnlyFolder(str(folder))
    try:
        asked = parse_query(query, now_us=NOW_US)
        assert can_scan(asked)
        return scan_texts(store, asked, hidden=hidden, most=MOST, limit=limit, per_note=ALL, whole_lines=True)
    finally:
        store.close()


def find(folder: Path, query: str, state: Path, *, hidden: bool = False, limit: int = ALL) -> SearchResults:
    settings = Settings(max_read_bytes=MOST)
    with observe_unrecorded(str(folder), make_record(), state=state, settings=settings) as observer:
        finder = Finder(observer, hidden=hidden)
        finder.refresh(scope=Scope.TEXT)
        return finder.find(parse_query(query, now_us=NOW_US), Scope.TEXT, limit=limit, per_note=ALL, whole_lines=True)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("hidden", [False, True])
def test_it_finds_what_the_finder_finds(folder: Path, tmp_path: Path, query: str, hidden: bool) -> None:
    expected = find(folder, query, tmp_path / "state", hidden=hidden)
    assert scan(folder, query, hidden=hidden).text == expected.text
    assert scan(folder, query, hidden=hidden, limit=2).text == find(
        folder, query, tmp_path / "state", hidden=hidden, limit=2
    ).text  # fmt: skip
    assert bool(expected.text.notes) is (query != "zyzzyva")


@pytest.mark.parametrize("query", QUERIES)
def test_two_processes_find_what_one_finds(folder: Path, query: str, request: pytest.FixtureRequest) -> None:
    expected = scan(folder, query)
    made: list[int] = request.getfixturevalue("forking")
    assert scan(folder, query).text == expected.text
    (pid,) = made
    with pytest.raises(ProcessLookupError):  # it was waited for
        os.kill(pid, 0)


def test_what_a_process_that_ends_too_early_left_is_searched_here(
    folder: Path, forking: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, own, real = scan(folder, "zyzzyva").text.looked, os.getpid(), ReadOnlyFolder._read_entry

    def read_entry(self: ReadOnlyFolder, *given: object) -> object:
        if os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(ReadOnlyFolder, "_read_entry", read_entry)
    found = scan(folder, "lisbon").text
    assert found.looked == expected
    assert len(forking) == 2
    assert {note.path for note in found.notes} >= {"upper.md", *(f"people/n{number}.md" for number in (1, 2, 23))}


def test_it_needs_no_record_and_no_process_for_few_notes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("forked"))
    assert scan(folder, "lisbon").text.total_notes == 26


@pytest.mark.parametrize("query", ["by:claude x", "since:2d x", "tag:a x", "type:json x", "flag:secret x"])
def test_who_when_and_of_what_kind_needs_the_finder(query: str) -> None:
    assert not can_scan(parse_query(query, now_us=NOW_US))
