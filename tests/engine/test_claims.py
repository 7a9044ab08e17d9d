"""What an agent announces and then writes with its own tools is recorded as its own; nothing else is."""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core import wording
from memtui.core.events import Agent, Outside, Result, sha256
from memtui.engine.claims import parse_claim
from memtui.fs.state import get_state_directory
from memtui.journal import transfer, verify
from memtui.journal.announcements import DIRECTORY, Announcement, AnnouncementStore
from memtui.memory import connect
from tests.conftest import fill

CLAUDE = Agent("Claude Code", session="a-session")
SECOND = 1_000_000


def now_us() -> int:
    return time.time_ns() // 1_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path / "memories", {"prefs.md": "tea\n"})


@pytest.fixture
def memory(folder: Path) -> Iterator[memtui.Engine]:
    with memtui.open(folder) as memory:
        yield memory


def announce(memory: memtui.Engine, path: str, text: str | None, *, call: str = "toolu_1", seconds: int = 60) -> None:
    wanted = None if text is None else sha256(text.encode())
    until = now_us() + seconds * SECOND
    memory.claims.announce(path, actor=CLAUDE, call_id=call, sha256=wanted, note="Write", until_us=until)


def last(memory: memtui.Engine) -> Any:
    return list(memory.events())[-1]


def test_a_change_that_is_found_as_announced_is_the_agents(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "prefs.md", "coffee\n")
    (folder / "prefs.md").write_text("coffee\n")
    assert memory.reconcile(["prefs.md"]) == 1
    event = last(memory)
    assert (event.actor, event.command, event.call_id, event.note) == (CLAUDE, "modified", "toolu_1", "Write")
    assert event.result is Result.OK
    assert (event.added, event.removed) == (1, 1)
    assert wording.describe_event(event) == "Claude Code edited prefs.md (+1 -1)."


def test_a_new_file_and_its_new_directory_are_the_agents_together(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "notes/a.md", "a\n")
    (folder / "notes").mkdir()
    (folder / "notes/a.md").write_text("a\n")
    memory.reconcile()
    event = last(memory)
    assert (event.actor, event.command, event.path) == (CLAUDE, "created", "/memories/notes/a.md")
    assert [change.path for change in event.changes] == ["notes", "notes/a.md"]


def test_another_text_than_announced_is_from_outside(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "prefs.md", "coffee\n")
    (folder / "prefs.md").write_text("water\n")
    memory.reconcile()
    assert last(memory).actor == Outside()


def test_another_path_than_announced_is_from_outside(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "prefs.md", "coffee\n")
    (folder / "other.md").write_text("coffee\n")
    memory.reconcile()
    assert last(memory).actor == Outside()


def test_an_announcement_counts_once(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "prefs.md", "coffee\n")
    actors = []
    for text in ("coffee\n", "water\n", "coffee\n"):
        (folder / "prefs.md").write_text(text)
        memory.reconcile()
        actors.append(last(memory).actor)
    assert actors == [CLAUDE, Outside(), Outside()]
    announce(memory, "prefs.md", "coffee\n")  # the same call says it again, once it is done
    (folder / "prefs.md").write_text("water\n")
    memory.reconcile()
    (folder / "prefs.md").write_text("coffee\n")
    memory.reconcile()
    assert last(memory).actor == Outside()


def test_an_announcement_expires(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "prefs.md", "coffee\n", seconds=-1)
    (folder / "prefs.md").write_text("coffee\n")
    memory.reconcile()
    assert last(memory).actor == Outside()


def test_without_a_text_the_time_alone_decides(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "prefs.md", None)
    (folder / "prefs.md").write_text("anything\n")
    memory.reconcile()
    assert last(memory).actor == CLAUDE


def test_a_deletion_is_never_taken_for_an_announced_write(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "prefs.md", None)
    (folder / "prefs.md").unlink()
    memory.reconcile()
    assert (last(memory).actor, last(memory).command) == (Outside(), "deleted")


def test_another_process_that_finds_it_records_it_as_announced(
    memory: memtui.Engine, folder: Path, run_python: Callable[..., Any]
) -> None:
    announce(memory, "prefs.md", "coffee\n")
    (folder / "prefs.md").write_text("coffee\n")
    done = run_python("import memtui, sys; memtui.open(sys.argv[1]).close()", folder)
    assert done.returncode == 0, done.stderr
    assert last(memory).actor == CLAUDE


def test_a_command_that_settles_the_path_first_records_it_as_announced(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "prefs.md", "coffee\n")
    (folder / "prefs.md").write_text("coffee\n")
    memory.execute(
        {"command": "insert", "path": "/memories/prefs.md", "insert_line": 1, "insert_text": "milk\n"},
        actor=Agent("other"),
    )
    announced, inserted = list(memory.events())[-2:]
    assert (announced.actor, inserted.actor) == (CLAUDE, Agent("other"))


def test_among_many_changes_the_announced_one_stands_alone(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "n050.md", "50\n")
    for number in range(100):
        (folder / f"n{number:03}.md").write_text(f"{number}\n")
    memory.reconcile()
    others, own = list(memory.events())[-2:]
    assert (own.actor, own.path) == (CLAUDE, "/memories/n050.md")
    assert (others.actor, len(others.changes)) == (Outside(), 99)


def test_at_the_first_look_only_what_was_not_there_before_is_the_agents(folder: Path) -> None:
    (folder / "new.md").write_text("new\n")
    state = get_state_directory(str(folder))
    for path, text, is_new in (("prefs.md", "tea\n", False), ("new.md", "new\n", True)):
        said = Announcement(path, CLAUDE, "toolu_1", (sha256(text.encode()),), "Write", 0, now_us() + SECOND, is_new)
        state.mkdir(parents=True, exist_ok=True)
        AnnouncementStore(state).add(said)
    with memtui.open(folder) as memory:
        found, own = memory.events()
        assert (found.command, found.actor, [each.path for each in found.changes]) == ("found", Outside(), ["prefs.md"])
        assert (own.command, own.actor, own.path) == ("created", CLAUDE, "/memories/new.md")


def test_it_can_be_taken_back_verified_and_exported(memory: memtui.Engine, folder: Path) -> None:
    announce(memory, "prefs.md", "coffee\n")
    (folder / "prefs.md").write_text("coffee\n")
    memory.reconcile()
    seq = last(memory).seq
    assert memory.undo([seq]).event is not None
    assert (folder / "prefs.md").read_text() == "tea\n"
    assert memory.undo_since(0, session="a-session").problem != ""  # it is taken back already
    with contextlib.closing(sqlite3.connect(get_state_directory(str(folder)) / "journal.db")) as journal:
        assert verify.verify_journal(journal).is_intact
        exported = b"".join(transfer.iter_export_lines(journal, folder="here", exported="now"))
    assert b"a-session" in exported
    memory.redact(path="prefs.md", reason="a test")
    with contextlib.closing(sqlite3.connect(get_state_directory(str(folder)) / "journal.db")) as journal:
        assert verify.verify_journal(journal).is_intact


def test_what_was_found_before_it_was_announced_is_said_and_not_rewritten(memory: memtui.Engine, folder: Path) -> None:
    (folder / "prefs.md").write_text("coffee\n")
    memory.reconcile()
    before = last(memory)
    hashes = [sha256(b"coffee\n")]
    told = memory.claims.claim("prefs.md", actor=CLAUDE, call_id="toolu_1", hashes=hashes, note="Write")
    assert told is not None
    assert list(memory.events())[-2:] == [before, told]
    assert (told.actor, told.command, told.changes, told.result) == (CLAUDE, "claimed", (), Result.NO_CHANGE)
    assert told.note == f"#{before.seq} was its Write, found before it was announced"
    assert memory.claims.claim("prefs.md", actor=CLAUDE, call_id="toolu_1", hashes=hashes, note="Write") is None


def test_what_an_agent_claimed_is_taken_back_with_all_that_it_did(memory: memtui.Engine, folder: Path) -> None:
    (folder / "prefs.md").write_text("coffee\n")
    memory.reconcile()
    memory.claims.claim("prefs.md", actor=CLAUDE, call_id="toolu_1", hashes=[sha256(b"coffee\n")], note="Write")
    assert memory.undo_since(0, actor_name="outside", rehearse=True).problem != ""
    assert memory.undo_since(0, session="another", rehearse=True).problem != ""
    assert memory.undo_since(0, actor_name=CLAUDE.name, session=CLAUDE.session).event is not None
    assert (folder / "prefs.md").read_text() == "tea\n"


@pytest.mark.parametrize("text", [b"water\n", b""])
def test_nobody_can_claim_another_text(memory: memtui.Engine, folder: Path, text: bytes) -> None:
    (folder / "prefs.md").write_text("coffee\n")
    memory.reconcile()
    head = memory.get_head()
    assert memory.claims.claim("prefs.md", actor=CLAUDE, call_id="c", hashes=[sha256(text)], note="Write") is None
    assert memory.get_head() == head


def test_what_an_agent_did_through_memtui_cannot_be_claimed_by_another(memory: memtui.Engine) -> None:
    command = {"command": "create", "path": "/memories/prefs.md", "file_text": "coffee\n"}
    memory.execute(command, actor=Agent("other"))
    assert (
        memory.claims.claim("prefs.md", actor=CLAUDE, call_id="c", hashes=[sha256(b"coffee\n")], note="Write") is None
    )


def test_a_path_that_leads_out_is_no_path(memory: memtui.Engine) -> None:
    with pytest.raises(ValueError, match="not a path"):
        announce(memory, "../prefs.md", None)


def test_what_cannot_be_kept_is_said(memory: memtui.Engine, folder: Path) -> None:
    (get_state_directory(str(folder)) / DIRECTORY).write_text("in the way")
    with pytest.raises(memtui.MemtuiError, match="announced change cannot be recorded"):
        announce(memory, "prefs.md", "coffee\n")


def test_announcements_are_bounded_and_the_newest_stay(tmp_path: Path) -> None:
    kept = AnnouncementStore(tmp_path)
    for number in range(300):
        until = now_us() + 60 * SECOND
        kept.add(Announcement("a.md", CLAUDE, f"call {number}", (), "Write", now_us(), until))
        path = max((tmp_path / DIRECTORY).iterdir(), key=os.path.getctime)
        os.utime(path, ns=(number * 10**9, number * 10**9))
    calls = {each.call_id for each in kept.group_by_path()["a.md"]}
    assert len(calls) <= 256
    assert {"call 299", "call 200"} <= calls


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[", b"\xff", b"[" * 60_000, b'{"path":1}', b'{"actor":[1,2]}', b"null", b"1" * 9_999]
)
def test_a_damaged_announcement_is_none(memory: memtui.Engine, folder: Path, data: bytes) -> None:
    announce(memory, "prefs.md", "coffee\n")
    (get_state_directory(str(folder)) / DIRECTORY / "damaged").write_bytes(data)
    (folder / "prefs.md").write_text("coffee\n")
    memory.reconcile()
    assert last(memory).actor == CLAUDE


def test_an_announcement_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    said = Announcement("odd \udcff", Agent("a", "b", None), "c", ("0" * 64, "1" * 64), "n", 1, 2, True, '{"a":1}')
    AnnouncementStore(tmp_path).add(said)
    AnnouncementStore(tmp_path).add(replace(said, note="later"))
    assert AnnouncementStore(tmp_path).group_by_path() == {"odd \udcff": [replace(said, note="later")]}
    assert AnnouncementStore(tmp_path).find_by_call("c") == replace(said, note="later")
    assert AnnouncementStore(tmp_path).find_by_call("d") is None


def test_a_read_only_memory_knows_of_it_too(folder: Path) -> None:
    with memtui.open(folder) as memory:
        announce(memory, "prefs.md", "coffee\n")
    (folder / "prefs.md").write_text("coffee\n")
    with connect(folder, read_only=True) as memory:
        memory.reconcile()
        assert last(memory).actor == CLAUDE
    with memtui.open(folder) as memory:
        assert last(memory).actor == CLAUDE


def test_many_hooks_at_once_announce_without_getting_in_each_others_way(tmp_path: Path) -> None:
    until, faults = now_us() + 60 * SECOND, list[Exception]()

    def announce_many(name: str) -> None:
        for number in range(80):
            said = Announcement("a.md", CLAUDE, f"{name}-{number}", (), "Write", now_us(), until)
            try:
                AnnouncementStore(tmp_path).add(said)
            except OSError as error:
                faults.append(error)

    threads = [threading.Thread(target=announce_many, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_a_text_that_was_written_beside_its_file_and_seen_there_is_the_agents(
    memory: memtui.Engine, folder: Path
) -> None:
    announce(memory, "prefs.md", "coffee\n")
    (folder / "prefs.md.tmp").write_text("coffee\n")
    memory.reconcile()
    (folder / "prefs.md.tmp").rename(folder / "prefs.md")
    memory.reconcile()
    assert any(event.actor == CLAUDE and event.call_id == "toolu_1" for event in memory.events())


def test_a_claim_is_of_a_whole_change_or_of_nothing(memory: memtui.Engine, folder: Path) -> None:
    fill(folder, {"d/a.md": "a\n", "d/b.md": "b\n"})
    memory.reconcile()
    (folder / "d" / "a.md").unlink()
    (folder / "d" / "b.md").unlink()
    (folder / "d").rmdir()
    memory.reconcile()
    assert last(memory).command == "deleted"
    claim = memory.claims.claim
    assert claim("d/a.md", actor=CLAUDE, call_id="toolu_1", hashes=None, note="Bash: rm") is None
    others = {"d/b.md": None}
    said = claim("d/a.md", actor=CLAUDE, call_id="toolu_1", hashes=None, note="Bash: rm", others=others)
    assert said is not None
    assert said.command == "claimed"
    assert (
        claim("d/b.md", actor=CLAUDE, call_id="toolu_1", hashes=None, note="Bash: rm", others={"d/a.md": None}) is None
    )


def test_a_file_that_was_seen_while_an_agent_wrote_it_is_all_the_agents(memory: memtui.Engine, folder: Path) -> None:
    (folder / "copy.md").touch()
    memory.reconcile()
    seen = last(memory)
    announce(memory, "copy.md", "coffee\n")
    (folder / "copy.md").write_text("coffee\n")
    memory.reconcile()
    assert last(memory).actor == CLAUDE
    claim = memory.claims.claim
    hashes = [sha256(b"coffee\n")]
    told = claim("copy.md", actor=CLAUDE, call_id="toolu_1", hashes=hashes, note="Bash: cp")
    assert told is not None
    assert parse_claim(told) == seen.seq
    assert claim("copy.md", actor=CLAUDE, call_id="toolu_1", hashes=hashes, note="Bash: cp") is None
    assert [each.actor for each in memory.history.read_events(memory.events()) if each.path == "/memories/copy.md"] == [
        CLAUDE,
        CLAUDE,
    ]


def test_a_file_that_another_agent_wrote_anew_is_not_claimed_with_its_moment(
    memory: memtui.Engine, folder: Path
) -> None:
    (folder / "copy.md").touch()
    memory.reconcile()
    command = {"command": "create", "path": "/memories/copy.md", "file_text": "coffee\n"}
    memory.execute(command, actor=Agent("other"))
    claim = memory.claims.claim
    assert claim("copy.md", actor=CLAUDE, call_id="c", hashes=[sha256(b"coffee\n")], note="Bash: cp") is None


def test_a_note_renamed_into_place_is_claimed_with_its_temporary_file(memory: memtui.Engine, folder: Path) -> None:
    for name, text in {"prefs.md": "coffee\n", "new.md": "new\n"}.items():
        temporary = folder / f"{name}.tmp.4711"
        temporary.write_text(text)
        memory.reconcile()
        temporary.rename(folder / name)
        memory.reconcile()
        found = last(memory)
        assert len(found.changes) == 2
        hashes = [sha256(text.encode())]
        told = memory.claims.claim(name, actor=CLAUDE, call_id="toolu_1", hashes=hashes, note="Write")
        assert told is not None
        assert parse_claim(told) == found.seq
