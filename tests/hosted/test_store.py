"""A hosted store is a memory as any other: commands reach it, and its changes and their authors reach the memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.core.events import Agent, Person, sha256
from memtui.core.paths import MemoryPath
from memtui.engine import Engine
from memtui.hosted.journal import HostedJournal
from tests.conftest import wait_until
from tests.hosted.conftest import Hosting, Open, ask, read_copy
from tests.serve.conftest import ADA, PLANNER


def test_opened_it_holds_what_the_store_holds_with_its_history(hosting: Hosting, open_store: Open) -> None:
    memory = hosting.create("/a/plan.md", "one\n")
    hosting.memories.update(memory.id, memory_store_id=hosting.id, content="two\n")
    hosting.memories.update(memory.id, memory_store_id=hosting.id, path="/b/plan.md")
    engine = open_store()
    assert (
        read_copy(engine)
        == hosting.read_all()
        == {
            "/prefs.md": "- short answers\n",
            "/notes/today.md": "standup at ten\n",
            "/b/plan.md": "two\n",
        }
    )
    rows = list(engine.history.versions_of("b/plan.md"))
    assert [row.event.command for row in rows] == ["renamed", "modified", "created"]
    assert {row.event.actor for row in rows} == {Agent("user_ada")}
    assert engine.reconcile() == 0
    assert engine.journal.verify().is_intact


def test_the_six_commands_reach_the_store(hosting: Hosting, memory: Engine) -> None:
    assert not ask(memory, "create", "x/a.md", file_text="one\n").is_error
    assert not ask(memory, "str_replace", "x/a.md", old_str="one", new_str="two").is_error
    assert not ask(memory, "insert", "x/a.md", insert_line=1, insert_text="three\n").is_error
    assert "three" in ask(memory, "view", "x/a.md").text
    before = hosting.find("/x/a.md").id
    moved = ask(memory, "rename", old_path="/memories/x/a.md", new_path="/memories/y/b.md")
    assert not moved.is_error, moved.text
    assert hosting.find("/y/b.md").id == before, "it is the same memory"
    assert not ask(memory, "delete", "notes").is_error
    assert hosting.read_all() == read_copy(memory) == {"/prefs.md": "- short answers\n", "/y/b.md": "two\nthree\n"}
    memory.store.attach()
    assert [event.command for event in memory.events() if event.actor == Agent("tester") and event.changes] == [
        "create",
        "str_replace",
        "insert",
        "rename",
        "delete",
    ], "none of them is seen again as somebody else's"
    assert memory.reconcile() == 0
    assert memory.journal.verify().is_intact


def test_a_change_of_another_program_is_seen_with_its_author(hosting: Hosting, memory: Engine) -> None:
    agent = hosting.connect(PLANNER).beta.memory_stores.memories
    made = agent.create(hosting.id, path="/new/a.md", content="one\n")
    agent.update(made.id, memory_store_id=hosting.id, content="two\n")
    agent.update(made.id, memory_store_id=hosting.id, path="/new/b.md")
    head = memory.get_head()[0]
    assert "two" in ask(memory, "view", "new/b.md").text
    found = [event for event in memory.events(head) if event.changes]
    assert [(event.command, event.path, event.new_path) for event in found] == [
        ("created", "/memories/new/a.md", None),
        ("modified", "/memories/new/a.md", None),
        ("renamed", "/memories/new/a.md", "/memories/new/b.md"),
    ]
    assert {event.actor for event in found} == {Agent("apikey_planner")}
    assert memory.history.blame("new/b.md", b"two\n").lines == (found[1],)
    agent.delete(made.id, memory_store_id=hosting.id)
    memory.store.attach()
    assert "/new/b.md" not in read_copy(memory)
    assert memory.store.get_node(MemoryPath.from_relative("new")) is None, "the API keeps no empty folder"
    assert memory.reconcile() == 0
    assert memory.journal.verify().is_intact


def test_a_rename_with_a_new_text_is_a_rename_and_a_change(hosting: Hosting, memory: Engine) -> None:
    prefs = hosting.find("/prefs.md")
    hosting.memories.update(prefs.id, memory_store_id=hosting.id, path="/b.md", content="long answers\n")
    memory.store.attach()
    rows = list(memory.history.versions_of("b.md"))
    assert [row.event.command for row in rows][:2] == ["modified", "renamed"]
    assert read_copy(memory) == hosting.read_all()


def test_who_watches_has_changes_without_asking(hosting: Hosting, memory: Engine) -> None:
    assert memory.journal.files.bells, "somebody watches"
    hosting.create("/a.md", "one\n")
    wait_until(lambda: read_copy(memory).get("/a.md") == "one\n", "the change in the store")


def test_undo_restore_and_moves_of_folders_reach_the_store(hosting: Hosting, memory: Engine) -> None:
    for number in range(3):
        ask(memory, "create", f"d/{number}.md", file_text=f"{number}\n")
    before, head = hosting.read_all(), memory.get_head()[0]
    ids = {each.path: each.id for each in hosting.memories.list(hosting.id)}
    assert not ask(memory, "rename", old_path="/memories/d", new_path="/memories/e").is_error
    assert hosting.find("/e/1.md").id == ids["/d/1.md"]
    assert memory.undo([memory.get_head()[0]]).event is not None
    assert hosting.read_all() == before
    assert hosting.find("/d/1.md").id == ids["/d/1.md"]
    assert not memory.clear(actor=Person()).is_error
    assert hosting.read_all() == {}
    assert memory.restore_directory("", head).event is not None
    assert hosting.read_all() == read_copy(memory) == before
    assert memory.reconcile() == 0
    assert memory.journal.verify().is_intact


def test_two_notes_that_change_places_do_so_in_the_store(hosting: Hosting, memory: Engine) -> None:
    done = memory.files.move({"prefs.md": "notes/today.md", "notes/today.md": "prefs.md"})
    assert done.event is not None, done.problem
    assert (
        hosting.read_all()
        == read_copy(memory)
        == {
            "/prefs.md": "standup at ten\n",
            "/notes/today.md": "- short answers\n",
        }
    )
    memory.store.attach()
    assert memory.reconcile() == 0


def test_two_machines_write_to_one_store(hosting: Hosting, open_store: Open, tmp_path: Path) -> None:
    one, two = open_store(state=tmp_path / "one"), open_store(state=tmp_path / "two")
    ask(one, "create", "count.md", file_text="0\n")
    for number in range(6):
        engine = (one, two)[number % 2]
        answer = ask(engine, "str_replace", "count.md", old_str=f"{number}\n", new_str=f"{number + 1}\n")
        assert not answer.is_error, answer.text
    for engine in (one, two):
        engine.store.attach()
        assert read_copy(engine)["/count.md"] == hosting.read_all()["/count.md"] == "6\n"
        assert engine.journal.verify().is_intact


def test_what_is_redacted_in_the_store_goes_from_the_copy(
    hosting: Hosting, memory: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(memory, "create", "key.md", file_text="the key is hunter2\n")
    ask(memory, "str_replace", "key.md", old_str="hunter2", new_str="elsewhere")
    version = next(each for each in hosting.versions.list(hosting.id) if each.operation == "created")
    hosting.versions.redact(version.id, memory_store_id=hosting.id)
    monkeypatch.setattr("memtui.hosted.journal.REDACTIONS_US", 0)
    memory.store.attach()
    assert not any("hunter2" in text for text in iter_texts(memory))
    assert [event.note for event in memory.events() if event.command == "redact"] == ["redacted in the store"]
    assert read_copy(memory)["/key.md"] == "the key is elsewhere\n"
    assert memory.journal.verify().is_intact


def test_what_a_person_redacts_here_is_redacted_in_the_store(hosting: Hosting, open_store: Open) -> None:
    memory = open_store(ADA)
    ask(memory, "create", "key.md", file_text="the key is hunter2\n")
    ask(memory, "create", "key.md", file_text="none\n")
    memory.store.attach()
    assert memory.redact(match="hunter2", reason="a key").event is not None
    assert not any("hunter2" in (each.content or "") for each in hosting.versions.list(hosting.id, view="full"))
    assert not any("hunter2" in text for text in iter_texts(memory))


def test_redacted_versions_are_not_taken_over(hosting: Hosting, open_store: Open) -> None:
    made = hosting.create("/key.md", "the key is hunter2\n")
    hosting.memories.update(made.id, memory_store_id=hosting.id, content="none\n")
    hosting.versions.redact(made.memory_version_id, memory_store_id=hosting.id)
    memory = open_store()
    assert read_copy(memory) == hosting.read_all()
    assert [row.event.command for row in memory.history.versions_of("key.md")] == ["created"]


def test_many_versions_are_taken_over_page_by_page(hosting: Hosting, open_store: Open) -> None:
    made = hosting.create("/count.md", "0\n")
    for number in range(1, 130):
        hosting.memories.update(made.id, memory_store_id=hosting.id, content=f"{number}\n")
    memory = open_store()
    assert len(list(memory.history.versions_of("count.md"))) == 130
    assert read_copy(memory) == hosting.read_all()


def test_a_memory_whose_path_is_another_ones_folder_is_left_out(memory: Engine) -> None:
    journal = memory.journal
    assert isinstance(journal, HostedJournal)
    journal._keep_texts({sha256(b"below\n"): b"below\n"})
    with memory.store.begin_transaction(1), journal._write() as edit:
        edit.put("mem_1", "prefs.md/below.md", sha256(b"below\n"), Agent("other"), 1)
    assert read_copy(memory) == {"/prefs.md": "- short answers\n", "/notes/today.md": "standup at ten\n"}


def iter_texts(memory: Engine) -> Iterator[str]:
    """All that the record keeps."""
    for each in memory.journal.get_version_sizes():
        yield (memory.journal.get_text(each) or b"").decode()
    for event in memory.events():
        yield f"{event.answer} {event.arguments}"
