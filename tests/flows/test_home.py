"""What is known of each folder at home, and in which order folders stand."""

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import memtui
from memtui.audit.trend import KIND, SCHEMA
from memtui.flows import home as home_module
from memtui.flows.home import FolderFacts, FolderFactsReader, group_folders
from memtui.fs.state import AUDITS, get_state_directory
from memtui.places.folders import MemoryLocation, MemoryOwner, refresh_folder
from memtui.places.probe import DirectoryProber


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "memories"
    folder.mkdir()
    return folder


def write(folder: Path, name: str, actor: str = "Claude") -> None:
    with memtui.open(folder) as memory:
        create = {"command": "create", "path": f"/memories/{name}", "file_text": "x\n"}
        assert not memory.execute(create, actor=memtui.Agent(actor)).is_error


def keep_audit(folder: Path, content: bytes) -> None:
    (get_state_directory(str(folder)) / AUDITS).write_bytes(content)


def build_audits(*counts: tuple[int, int, int]) -> bytes:
    audits = [[number, *each] for number, each in enumerate(counts)]
    document = {"schema": SCHEMA, "kind": KIND, "digest": "x", "audits": audits, "fingerprints": []}
    return json.dumps(document).encode()


def test_nothing_is_known_of_a_folder_without_a_journal_and_none_is_made(folder: Path, tmp_path: Path) -> None:
    assert FolderFactsReader().read(str(folder)) == FolderFacts()
    assert not (tmp_path / "state").exists()


def test_the_last_writer_the_unseen_files_and_the_last_audit_are_told(folder: Path, tmp_path: Path) -> None:
    write(folder, "seen.md")
    with memtui.open(folder) as memory:
        memory.set_metadata("seen", str(memory.get_head()[0]))
        memory.execute({"command": "view", "path": "/memories/seen.md"}, actor=memtui.Agent("Reader"))
        memory.execute({"command": "delete", "path": "/memories/../x"}, actor=memtui.Agent("Refused"))
    keep_audit(folder, build_audits((7, 0, 0), (2, 5, 1)))
    reader = FolderFactsReader()
    facts = reader.read(str(folder))
    assert (facts.unseen, facts.writer, facts.failures) == (0, "Claude", 2)
    write(folder, "a.md", "Codex")
    kept = sorted((path, path.stat().st_mtime_ns) for path in (tmp_path / "state").rglob("*"))
    facts = reader.read(str(folder))
    assert (facts.unseen, facts.writer, facts.failures) == (1, "Codex", 2)
    assert sorted((path, path.stat().st_mtime_ns) for path in (tmp_path / "state").rglob("*")) == kept
    keep_audit(folder, b'{"schema": 1')
    assert reader.read(str(folder)).failures is None


def test_what_did_not_change_is_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "a.md")
    reader = FolderFactsReader()
    facts = reader.read(str(folder))
    monkeypatch.setattr(home_module, "summarize_journal", None)  # it would raise
    assert reader.read(str(folder)) == facts


def test_a_damaged_journal_says_nothing(folder: Path) -> None:
    write(folder, "a.md")
    journal = get_state_directory(str(folder)) / "journal.db"
    journal.write_bytes(b"no journal" * 1_000)
    assert FolderFactsReader().read(str(folder)) == FolderFacts()


def test_who_wrote_is_not_said_of_a_change_that_nobody_recorded(folder: Path) -> None:
    write(folder, "a.md")
    facts = FolderFactsReader().read(str(folder))
    place = MemoryLocation(str(folder), "~/memories", 1, facts.written_ns)
    assert facts.get_writer(place) == "Claude"
    assert facts.get_writer(replace(place, changed_ns=facts.written_ns + 60_000_000_000)) == ""


def build_place(path: str, owner: str, project: str | None = None, title: str = "", name: str = "") -> MemoryLocation:
    return MemoryLocation(path, path, 1, 1, owner, project, True, name, title=title)


def test_folders_stand_by_agent_and_project_in_the_order_of_their_last_change() -> None:
    found = [
        build_place("/1", MemoryOwner.CLAUDE_CODE, "/app"),
        build_place("/2", "codex", title="Codex"),
        build_place("/3", MemoryOwner.CLAUDE_CODE, "/other"),
        build_place("/4", MemoryOwner.CLAUDE_CODE, "/app"),
        build_place("/5", MemoryOwner.CLAUDE_AGENT, "/app", name="tester"),
        build_place("/6", MemoryOwner.HERE),
        build_place("/7", MemoryOwner.CLAUDE_AGENT, "/app", name="reviewer"),
    ]
    assert [place.path for place in group_folders(found)] == ["/1", "/4", "/3", "/2", "/5", "/7", "/6"]


def test_no_row_moves_where_another_folder_was_written_last() -> None:
    before = [build_place(path, "codex", title="Codex") for path in ("/1", "/2", "/3")]
    now = [build_place(path, "codex", title="Codex") for path in ("/4", "/3", "/1")]
    now.append(build_place("/5", MemoryOwner.HERE))
    assert [place.path for place in group_folders(now, before)] == ["/1", "/3", "/4", "/5"]


def test_a_folder_is_looked_at_again(folder: Path) -> None:
    place = build_place(str(folder), MemoryOwner.HERE)
    (folder / "a.md").write_text("abc")
    with DirectoryProber() as reach:
        now = refresh_folder(place, reach)
        assert now is not None
        assert (now.files, now.size, now.changed_ns) == (1, 3, os.stat(folder / "a.md").st_mtime_ns)
        assert refresh_folder(replace(place, path=str(folder / "gone")), reach) is None
    released = threading.Event()
    try:
        dead = DirectoryProber(patience=0.01, look=lambda _: released.wait())
        silent = refresh_folder(place, dead)
    finally:
        released.set()
    assert silent is not None
    assert not silent.responds
