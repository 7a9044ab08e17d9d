"""What other people's programs rely on: the names, the example, and a quick import."""

from pathlib import Path
from typing import Any

import pytest

import memtui

ME = memtui.Agent("a")
HEAVY = (
    "textual",
    "anthropic",
    "pydantic",
    "yaml",
    "rich",
    "watchfiles",
    "markdown_it",
    "rapidfuzz",
    "pygments",
    "platformdirs",
)


def test_the_example_of_the_design_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "app/memories").mkdir(parents=True)
    memory = memtui.open("~/app/memories")
    answer = memory.execute({"command": "view", "path": "/memories"}, actor=memtui.Agent("my-agent"))
    assert (answer.text.split("\n")[1:], answer.is_error) == (["0B\t/memories"], False)
    assert answer.event.actor == memtui.Agent("my-agent")
    assert [event.seq for event in memory.events(after=0)] == [answer.event.seq]
    assert list(memory.events(after=answer.event.seq)) == []
    memory.close()


def test_a_memory_is_a_context_manager_and_may_be_kept_nowhere() -> None:
    with memtui.open_in_memory(settings=memtui.Settings(create="refuse")) as memory:
        create = {"command": "create", "path": "/memories/f", "file_text": "x"}
        assert not memory.execute(create, actor=memtui.Person()).is_error
        assert memory.execute(create, actor=memtui.Person()).is_error
    with pytest.raises(memtui.MemtuiError):
        memory.execute(create, actor=memtui.Person())


def test_the_journal_is_kept_where_it_is_told_or_below_the_state_home(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    with memtui.open(tmp_path / "notes", state=tmp_path / "there"):
        assert (tmp_path / "there/journal.db").exists()
    with memtui.open(tmp_path / "notes"):
        (kept,) = (tmp_path / "xdg-state/memtui/stores").iterdir()
        assert kept.name.startswith("notes-")
        assert kept.stat().st_mode & 0o777 == 0o700


def test_what_was_recorded_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    with memtui.open(tmp_path / "notes") as memory:
        memory.execute({"command": "create", "path": "/memories/f", "file_text": "x"}, actor=memtui.Agent("a"))
        events = list(memory.events())
    with memtui.open(tmp_path / "notes") as memory:
        assert list(memory.events()) == events


def test_every_public_name_is_there() -> None:
    assert all(hasattr(memtui, name) for name in memtui.__all__)
    assert {"open", "open_in_memory", "Agent", "Person", "Settings", "Answer", "Event"} <= set(memtui.__all__)


def test_the_memory_tool_at_the_top_opens_a_folder_and_closes_it_with_itself(run_python: Any, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    done = run_python(
        "import sys, memtui; tool = memtui.MemoryTool(sys.argv[1]);"
        "print(tool.call({'command': 'create', 'path': '/memories/f', 'file_text': 'x'}, call_id='toolu_1'))",
        str(tmp_path / "notes"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "File created successfully at: /memories/f\n"
    with memtui.open(tmp_path / "notes") as memory:
        (event,) = (event for event in memory.events() if event.command == "create")
    assert (event.actor, event.call_id) == (memtui.Agent("Claude"), "toolu_1")


def test_a_subscriber_is_told_of_events_until_it_goes() -> None:
    told: list[int] = []
    with memtui.open_in_memory() as memory:
        leave = memory.subscribe(lambda: told.append(1))
        view = {"command": "view", "path": "/memories"}
        memory.execute(view, actor=memtui.Agent("a"))
        assert told == [1]
        leave()
        memory.execute(view, actor=memtui.Agent("a"))
    assert told == [1]


def test_a_subscriber_may_execute_commands_and_even_close_the_memory(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    memory = memtui.open(tmp_path / "notes", settings=memtui.Settings(lock_seconds=0))
    inner: list[memtui.Answer] = []

    def answer_once() -> None:
        if not inner:
            inner.append(memory.execute({"command": "create", "path": "/memories/b", "file_text": ""}, actor=ME))
            memory.close()

    memory.subscribe(answer_once)
    outer = memory.execute({"command": "create", "path": "/memories/a", "file_text": ""}, actor=ME)
    assert [outer.is_error, inner[0].is_error] == [False, False]
    with pytest.raises(memtui.core.errors.MemoryClosed):
        memory.execute({"command": "view", "path": "/memories"}, actor=ME)


def test_a_subscriber_that_fails_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[type[BaseException]] = []
    told: list[int] = []
    monkeypatch.setattr("sys.excepthook", lambda kind, *_: said.append(kind))
    with memtui.open_in_memory() as memory:
        leave = memory.subscribe(lambda: 1 // 0)
        memory.subscribe(lambda: told.append(1))
        create = {"command": "create", "path": "/memories/f", "file_text": "x"}
        assert not memory.execute(create, actor=ME).is_error
        assert (said, told) == ([ZeroDivisionError], [1])
        leave()
        leave()
        memory.execute(create, actor=ME)
    assert (said, told) == ([ZeroDivisionError], [1, 1])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("create", "replace"),
        ("messages", ""),
        ("view_char_limit", -1),
        ("max_files", 1.5),
        ("max_total_bytes", "5"),
        ("max_file_bytes", None),
        ("max_read_bytes", True),
        ("lock_seconds", -0.1),
        ("lock_seconds", float("nan")),
        ("lock_seconds", float("inf")),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_its_name(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{field} must be "):
        memtui.Settings(**{field: value})


def test_a_limit_of_0_is_off() -> None:
    limits = {"view_char_limit": 0, "listing_limit": 0, "max_file_bytes": 0, "max_total_bytes": 0, "max_files": 0}
    with memtui.open_in_memory(settings=memtui.Settings(max_read_bytes=0, lock_seconds=0, **limits)) as memory:
        create = {"command": "create", "path": "/memories/f", "file_text": "x" * 2_000_000}
        assert not memory.execute(create, actor=ME).is_error
        assert len(memory.execute({"command": "view", "path": "/memories/f"}, actor=ME).text) > 2_000_000
        assert memory.inspect_path("f").data == b"x" * 2_000_000


def test_importing_memtui_loads_nothing_heavy(run_python: Any) -> None:
    done = run_python("import sys, memtui; print(*sorted({name.partition('.')[0] for name in sys.modules}))")
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "memtui" in loaded
    assert loaded.isdisjoint(HEAVY)
