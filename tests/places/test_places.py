"""Memory folders are found where they are kept, with what they are about; nothing is opened that is a note."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.cli import main
from memtui.fs.state import list_recent_folders, remember_folder
from memtui.places.claude_code import encode_path, find_project
from memtui.places.folders import MemoryLocation, MemoryOwner, find_memory_folders, format_owner, format_project
from memtui.places.probe import DirectoryProber


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory of the test's own, and a working directory in it that holds nothing."""
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    unset = ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_REMOTE_MEMORY_DIR", "XDG_CONFIG_HOME", "MEMTUI_DIR", "MEMTUI_CONFIG")
    for name in unset:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(home / "work")
    return home


def _project(home: Path, project: Path, *lines: object) -> Path:
    """What Claude Code keeps of a project; its session file says these lines."""
    kept = home / ".claude" / "projects" / encode_path(str(project))
    (kept / "memory").mkdir(parents=True)
    (kept / "memory" / "MEMORY.md").write_text("- [a](a.md)\n")
    if lines:
        said = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        (kept / "session.jsonl").write_text("\n".join(said) + "\n")
    return kept / "memory"


def _only(places: list[MemoryLocation]) -> MemoryLocation:
    assert len(places) == 1
    return places[0]


def test_nothing_is_found_where_nothing_is(home: Path) -> None:
    assert find_memory_folders(home=str(home)) == []


@pytest.mark.parametrize("name", ["memories", "memory/memories"])
def test_a_folder_of_a_usual_name_is_found_here(home: Path, name: str) -> None:
    (home / "work" / name).mkdir(parents=True)
    (home / "work" / name / "a.md").write_text("a")
    place = _only(find_memory_folders(home=str(home)))
    assert (place.owner, place.path, place.files) == (MemoryOwner.HERE, str(home / "work" / name), 1)
    assert place.changed_ns == (home / "work" / name / "a.md").stat().st_mtime_ns


def test_a_project_of_claude_code_is_told_by_its_sessions(home: Path) -> None:
    project = home / "my.app" / "back_end"
    memory = _project(home, project, "{half a line", {"type": "summary"}, {"cwd": str(project / "src")}, {"cwd": 7})
    place = _only(find_memory_folders(home=str(home)))
    assert (place.owner, place.path) == (MemoryOwner.CLAUDE_CODE, str(memory))
    assert (place.project, place.project_exists) == (str(project), False)
    assert format_project(place) == "for ~/my.app/back_end (deleted)"
    project.mkdir(parents=True)
    place = _only(find_memory_folders(home=str(home)))
    assert place.project_exists
    assert format_project(place) == "for ~/my.app/back_end"


def test_a_project_whose_path_is_too_long_for_a_name_is_told_by_its_sessions(home: Path) -> None:
    project = home / ("deep" * 30) / ("deeper" * 30)
    kept = home / ".claude" / "projects" / f"{encode_path(str(project))[:200]}-1a2b3c"
    kept.mkdir(parents=True)
    (kept / "s.jsonl").write_text(json.dumps({"cwd": str(project / "src")}) + "\n")
    assert find_project(str(kept)) in {str(project), str(project / "src")}
    (kept / "s.jsonl").write_text(json.dumps({"cwd": str(home / "other")}) + "\n")
    assert find_project(str(kept)) is None


def test_a_project_without_sessions_is_told_by_the_directories_that_there_are(home: Path) -> None:
    project = home / "a-b" / "c.d"
    project.mkdir(parents=True)
    _project(home, project)
    assert _only(find_memory_folders(home=str(home))).project == str(project)
    (home / "a.b" / "c-d").mkdir(parents=True)  # written in the same way: nobody knows which
    place = _only(find_memory_folders(home=str(home)))
    assert place.project is None
    assert format_project(place) == "unknown project"


def test_a_session_of_another_place_is_not_believed(home: Path) -> None:
    kept = _project(home, home / "gone", {"cwd": "/etc"}).parent
    assert find_project(str(kept)) is None


def test_a_session_file_that_is_no_file_is_not_waited_for(home: Path) -> None:
    kept = _project(home, home / "gone").parent
    os.mkfifo(kept / "session.jsonl")
    assert find_project(str(kept)) is None


def test_agents_of_claude_code_are_found_by_name(home: Path) -> None:
    (home / ".claude" / "agent-memory" / "reviewer").mkdir(parents=True)
    (home / "work" / ".claude" / "agent-memory" / "tester").mkdir(parents=True)
    places = {place.name: place for place in find_memory_folders(home=str(home))}
    assert places["reviewer"].project is None
    assert places["tester"].project == str(home / "work")
    assert format_owner(places["tester"]) == "agent tester"


def test_a_directory_that_claude_codes_settings_name_is_found(home: Path) -> None:
    (home / "notes").mkdir()
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"autoMemoryDirectory": "~/notes"}')
    assert _only(find_memory_folders(home=str(home))).path == str(home / "notes")
    (home / ".claude" / "settings.json").write_text('{"autoMemoryDirectory": ["~/notes"]')
    assert find_memory_folders(home=str(home)) == []


def test_memories_of_the_editor_are_found_with_their_workspace(home: Path) -> None:
    user = home / ".config" / "Code" / "User"
    storage = user / "workspaceStorage" / "0a1b"
    shared = user / "globalStorage" / "github.copilot-chat" / "memory-tool" / "memories"
    own = storage / "GitHub.copilot-chat" / "memory-tool" / "memories"
    shared.mkdir(parents=True)
    own.mkdir(parents=True)
    (storage / "workspace.json").write_text('{"folder": "file:///srv/my%20app"}')
    places = {place.path: place for place in find_memory_folders(home=str(home))}
    assert places[str(shared)].project is None
    assert places[str(own)].project == "/srv/my app"
    assert {place.owner for place in places.values()} == {MemoryOwner.VSCODE}


@pytest.mark.parametrize("said", ['{"folder": "vscode-remote://ssh/x"}', "[]", "{", '{"folder": 7}'])
def test_a_workspace_that_is_not_on_this_machine_is_not_known(home: Path, said: str) -> None:
    storage = home / ".vscode-server" / "data" / "User" / "workspaceStorage" / "0a1b"
    (storage / "GitHub.copilot-chat" / "memory-tool" / "memories").mkdir(parents=True)
    (storage / "workspace.json").write_text(said)
    assert _only(find_memory_folders(home=str(home))).project is None


def test_a_folder_that_was_opened_before_is_offered_again(home: Path) -> None:
    folder = home / "elsewhere"
    folder.mkdir()
    with memtui.open(folder, read_only=True):
        assert list_recent_folders() == []
    with memtui.open(folder):
        assert list_recent_folders() == [str(folder)]
    place = _only(find_memory_folders(home=str(home)))
    assert (place.path, place.owner) == (str(folder), MemoryOwner.RECENT)
    folder.rmdir()
    assert find_memory_folders(home=str(home)) == []


def test_what_a_state_directory_says_is_not_believed_blindly(tmp_path: Path, home: Path) -> None:
    store = home / "state" / "memtui" / "stores" / "x-1"
    store.mkdir(parents=True)
    (store / "journal.db").write_text("")
    for said in (b"relative", b"/a\0b", b"/" + b"x" * 9_000, b""):
        (store / "folder").write_bytes(said)
        assert list_recent_folders() == []
    remember_folder(tmp_path / "not-there", "/a")
    assert not (tmp_path / "not-there").exists()


def test_the_one_that_changed_last_comes_first_and_a_folder_comes_once(home: Path) -> None:
    for number, name in enumerate(["memories", "work/memories"]):
        (home / name).mkdir()
        (home / name / "a").write_text("a")
        os.utime(home / name / "a", (number, number))
    (home / "work" / "memory").mkdir()
    (home / "work" / "memory" / "memories").symlink_to(home / "memories")
    assert [place.path for place in find_memory_folders(home=str(home))] == [
        str(home / "work/memories"),
        str(home / "memories"),
    ]
    assert len(find_memory_folders(home=str(home), limit=1)) == 1


def test_the_verb_lists_them_all(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["places"]) == 1
    assert "No memory folder was found" in capfd.readouterr().err
    memory = _project(home, home / "app\x1b[2J", {"cwd": str(home / "app\x1b[2J")})
    assert main(["places"]) == 0
    out = capfd.readouterr().out
    assert "for ~/app\\x1b[2J (deleted)" in out
    assert "\x1b" not in out
    assert main(["places", "--json"]) == 0
    record = json.loads(capfd.readouterr().out)["places"][0]
    assert record["path"] == str(memory)
    assert record["project"] == str(home / "app\x1b[2J")
    assert record["project_exists"] is False
    assert record["files"] == 1
    assert main(["places", "-0"]) == 0
    assert capfd.readouterr().out == f"{memory}\0"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/srv/my_app.v2", "-srv-my-app-v2"),
        ("/home/zoë/b", "-home-zo--b"),
        ("/srv/記憶", "-srv---"),
        ("/srv/\U0001f600x", "-srv---x"),
    ],
)
def test_a_project_is_named_as_claude_code_counts_characters(path: str, name: str) -> None:
    assert encode_path(path) == name


def test_a_project_with_an_emoji_in_its_name_is_found_without_sessions(home: Path) -> None:
    project = home / "\U0001f600 app"
    project.mkdir()
    _project(home, project)
    assert _only(find_memory_folders(home=str(home))).project == str(project)


def test_memories_of_every_directory_of_configuration_are_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tops = [".claude", ".claude-work", ".config/claude", "named", "mounted"]
    for top in tops:
        (home / top / "projects" / "-srv-app" / "memory").mkdir(parents=True)
    (home / ".claude-router").mkdir()
    (home / "mounted" / "projects" / "-srv-app" / "agent-memory-local" / "tester").mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "named"))
    monkeypatch.setenv("CLAUDE_CODE_REMOTE_MEMORY_DIR", str(home / "mounted"))
    places = find_memory_folders(home=str(home))
    memories = {place.path for place in places if place.owner is MemoryOwner.CLAUDE_CODE}
    assert memories == {str(home / top / "projects" / "-srv-app" / "memory") for top in tops}
    assert [place.name for place in places if place.owner is MemoryOwner.CLAUDE_AGENT] == ["tester"]


def test_what_known_projects_keep_is_found_from_anywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = home / "app"
    for kind in ("agent-memory", "agent-memory-local"):
        (project / ".claude" / kind / f"of-{kind}").mkdir(parents=True)
    (project / ".claude" / "settings.local.json").write_text('{"autoMemoryDirectory": "~/chosen"}')
    (home / "chosen").mkdir()
    _project(home, project, {"cwd": str(project)})
    places = {place.name or place.display_path: place.project for place in find_memory_folders(home=str(home))}
    assert places["of-agent-memory"] == places["of-agent-memory-local"] == places["~/chosen"] == str(project)
    (project / "src" / "deep").mkdir(parents=True)
    monkeypatch.chdir(project / "src" / "deep")
    (project / ".git").mkdir()
    monkeypatch.setenv("HOME", str(home / "another"))
    assert {place.name for place in find_memory_folders(home=str(home / "another")) if place.name} == {
        "of-agent-memory",
        "of-agent-memory-local",
    }


def test_settings_of_a_project_that_others_share_lead_nowhere(home: Path) -> None:
    project = home / "app"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude" / "settings.json").write_text('{"autoMemoryDirectory": "~/chosen"}')
    (home / "chosen").mkdir()
    _project(home, project, {"cwd": str(project)})
    assert str(home / "chosen") not in {place.path for place in find_memory_folders(home=str(home))}


def test_a_working_directory_or_a_home_that_is_gone_stops_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _project(home, home / "app")
    gone = home / "work" / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert len(find_memory_folders(home=str(home))) == 1
    assert find_memory_folders(home=str(home / "nobody")) == []


def test_names_that_are_no_text_are_listed_and_told_exactly(home: Path, capfdbinary: Any) -> None:
    kept = os.fsencode(home) + b"/.claude/projects/-x\xff/memory"
    os.makedirs(kept)
    with open(kept + b"/\xfe.md", "wb") as file:
        file.write(b"x")
    assert _only(find_memory_folders(home=str(home))).files == 1
    for words in (["places"], ["places", "--json"], ["places", "-0"]):
        assert main(words) == 0
    out = capfdbinary.readouterr().out
    assert b"-x\\xff/memory" in out
    assert out.endswith(kept + b"\0")


def test_what_may_not_be_looked_at_is_listed_as_far_as_it_is_known(home: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is forbidden here")
    memory = _project(home, home / "app")
    memory.chmod(0)
    try:
        assert _only(find_memory_folders(home=str(home))).files == 0
    finally:
        memory.chmod(0o700)


class Far:
    """A disk on which one directory does not answer until it is let go."""

    def __init__(self, dead: str) -> None:
        self.dead = dead
        self.asked: list[str] = []
        self.let_go = threading.Event()

    def __call__(self, path: str) -> bool:
        self.asked.append(path)
        if path.startswith(self.dead):
            self.let_go.wait()
        return os.path.isdir(path)


@pytest.fixture
def far(home: Path) -> Iterator[Far]:
    far = Far(str(home / "far"))
    yield far
    far.let_go.set()


def test_a_disk_that_does_not_answer_keeps_nobody_waiting(home: Path, far: Far) -> None:
    near = _project(home, home / "near", {"cwd": str(home / "near")})
    _project(home, home / "far" / "app", {"cwd": str(home / "far" / "app")})
    places = {
        place.project: place
        for place in find_memory_folders(home=str(home), reach=DirectoryProber(patience=1.0, look=far))
    }
    assert places[str(home / "near")].path == str(near)
    assert places[str(home / "far" / "app")].project_exists is None
    assert format_project(places[str(home / "far" / "app")]) == "for ~/far/app (does not respond)"


def test_a_folder_on_a_disk_that_does_not_answer_is_listed_as_such(home: Path, far: Far) -> None:
    folder = home / "far" / "memories"
    folder.mkdir(parents=True)
    with memtui.open(folder):
        pass
    place = _only(find_memory_folders(home=str(home), reach=DirectoryProber(patience=1.0, look=far)))
    assert (place.path, place.files, place.is_counted) == (str(folder), 0, False)
    assert format_project(place) == "the disk does not respond"


def test_below_a_directory_that_did_not_answer_nothing_more_is_asked(home: Path, far: Far) -> None:
    with DirectoryProber(patience=1.0, look=far) as reach:
        assert reach.is_directory(str(home / "far")) is None
        assert reach.is_directory(str(home / "far" / "a")) is None
        assert reach.is_directory(str(home)) is True
    assert far.asked.count(str(home / "far" / "a")) == 0


def test_a_thread_that_looks_ends_with_the_looking(home: Path) -> None:
    before = set(threading.enumerate())
    find_memory_folders(home=str(home))
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
    assert not {thread for thread in set(threading.enumerate()) - before if thread.name == "places"}
