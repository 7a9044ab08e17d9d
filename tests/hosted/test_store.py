"""A hosted store is a memory as any other: commands reach it, and its changes and their authors reach the memory."""

from tests.hosted.conftest import Hosting, Open, ask, read_copy

from memtui.core.events import Agent
from memtui.engine import Engine


def test_opened_it_holds_what_the_store_holds_with_its_history(hosting: Hosting, open_store: Open) -> None:
    memory = hosting.create("/a/plan.md", "one\n")
    hosting.memories.update(memory.id, memory_store_id=hosting.id, content="two\n")
    hosting.memories.update(memory.id, memory_store_id=hosting.id, path="/b/plan.md")
    engine = open_store()
    assert read_copy(engine) == hosting.read_all() == {
        "/prefs.md": "- short answers\n",
        "/notes/today.md": "standup at ten\n",
        "/b/plan.md": "two\n",
    }
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
