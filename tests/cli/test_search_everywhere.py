"""`memtui search --everywhere`: one query in every agent's folder, and nothing is written for it."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import recent_stores
from memtui.cli import main, search_many
from memtui.fs.state import COPY, get_state_directory, remember_folder
from memtui.places.folders import find_memory_folders
from memtui.places.probe import DirectoryProber
from memtui.sqlite_file import connect as connect_file
from tests.cli.conftest import CLAUDE, Run

Ask = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the folders of three agents, one of which cannot be read."""
    home = tmp_path / "home"
    for name, text in (
        (".claude/projects/-srv-app/memory/MEMORY.md", "deploy from main\n"),
        (".codex/memories/memory_summary.md", "v1\ndeploy with make\n"),
        (".codeium/windsurf/memories/0.pb", "deploy"),
    ):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(text, encoding="utf-8")
    for name in ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_REMOTE_MEMORY_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "MEMTUI_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def ask(*words: str) -> tuple[int, list[str], str]:
        code = main(["search", "--everywhere", *words])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    return ask


def _list_tree(top: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_mtime_ns) for path in top.rglob("*"))


def test_each_folder_is_searched_and_nothing_is_written(home: Path, ask: Ask, state_home: Path) -> None:
    before = _list_tree(home)
    code, lines, err = ask("deploy")
    assert code == 0
    assert sorted(lines) == [
        f"{home}/.claude/projects/-srv-app/memory/MEMORY.md:1:deploy from main",
        f"{home}/.codex/memories/memory_summary.md:2:deploy with make",
    ]
    assert err == "~/.codeium/windsurf/memories was not searched: encrypted files: they cannot be read.\n"
    assert _list_tree(home) == before
    assert not state_home.exists()


def test_the_exit_codes_are_those_of_search(home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("zebra", "--quiet") == (1, [], "")
    assert ask("re:(")[0] == 2
    for option in ("--dir", "--state"):
        code, _, err = ask("deploy", option, str(home))
        assert (code, f"--everywhere and {option} do not go together" in err) == (2, True)
    monkeypatch.setenv("HOME", str(home / "nobody"))
    monkeypatch.chdir(home / ".codeium")
    code, _, err = ask("deploy")
    assert (code, "No memory folder found in the usual places" in err) == (3, True)


def test_names_and_history_are_searched_without_recording(home: Path, ask: Ask) -> None:
    folder = home / ".codex" / "memories"
    with memtui.open(folder) as memory:
        create = {"command": "create", "path": "/memories/token.md", "file_text": "the token is x\n"}
        memory.execute(create, actor=CLAUDE)
        memory.execute({"command": "delete", "path": "/memories/token.md"}, actor=CLAUDE)
        head = memory.get_head()
    assert ask("--names", "summary")[:2] == (0, [f"{folder}/memory_summary.md"])
    (folder / "memory_summary.md").write_text("v1\nbuild with make\n")  # nobody recorded that yet
    code, (name, line), _ = ask("--past", "token")
    assert code == 0
    assert name.startswith(f"{folder}/token.md@{head[0]}\tdeleted in #")
    assert line.startswith(f"{folder}/token.md@{head[0] - 1}:1:the token is x\tadded in #")
    assert ask("build")[1] == [f"{folder}/memory_summary.md:2:build with make"]
    with memtui.memory.connect(folder, read_only=True) as memory:
        assert memory.get_head() == head


def test_folders_without_a_record_share_one_journal(home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / ".codex" / "memories"
    memtui.open(folder).close()
    opened: list[str] = []
    connect = memtui.memory.connect

    def note_connect(path: str, **words: Any) -> Any:
        opened.append(path)
        return connect(path, **words)

    monkeypatch.setattr(memtui.memory, "connect", note_connect)
    assert len(ask("deploy")[1]) == 2
    assert opened == [str(folder)]


def test_a_settings_file_counts_unless_it_is_in_the_folder(home: Path, ask: Ask) -> None:
    folder = home / ".codex" / "memories"
    (home / "own.toml").write_text("[memory]\nmax_read_bytes = 5\n")
    (folder / "own.toml").write_text("[memory]\nmax_read_bytes = 5\n")
    assert ask("deploy", "--config", str(home / "own.toml"))[1] == []
    assert ask("deploy", "--config", str(folder / "own.toml"))[1] == [f"{folder}/memory_summary.md:2:deploy with make"]


def test_a_damaged_journal_stops_no_search(home: Path, ask: Ask, state_home: Path) -> None:
    folder = home / ".codex" / "memories"
    memtui.open(folder).close()
    (journal,) = state_home.rglob("journal.db")
    journal.write_bytes(b"no journal" * 1_000)
    code, lines, err = ask("make")
    assert (code, lines) == (0, [f"{folder}/memory_summary.md:2:deploy with make"])
    assert "~/.codex/memories: its history cannot be read: " in err


def test_a_program_gets_the_results_of_each_folder(home: Path, ask: Ask) -> None:
    code, lines, err = ask("--json", "make")
    document = json.loads("\n".join(lines))
    assert (code, document["searched"]) == (0, 2)
    (found,) = document["folders"]
    assert (found["folder"], found["owner"]) == (f"{home}/.codex/memories", "codex")
    assert found["text"][0]["real"] == f"{home}/.codex/memories/memory_summary.md"
    (closed,) = document["not_searched"]
    assert closed["problem"] == "encrypted files: they cannot be read"
    assert "was not searched" in err


def test_paths_alone_are_exact(home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (home / ".codex" / "memories" / "a\nb.md").write_text("berlin\n")
    assert main(["search", "--everywhere", "-0", "berlin", "-q"]) == 0
    assert capfdbinary.readouterr().out == os.fsencode(f"{home}/.codex/memories/a\nb.md\0")


def test_a_person_sees_whose_folder_and_project_it_is(home: Path, run_in_terminal: Run) -> None:
    (home / ".codex" / "memories" / "evil.md").write_text("deploy \x1b[2J\n")
    project = home / "app"
    kept = home / ".claude" / "projects" / str(project).replace("/", "-").replace("_", "-")
    (kept / "memory").mkdir(parents=True)
    (kept / "memory" / "MEMORY.md").write_text("deploy by night\n")
    (kept / "s.jsonl").write_text(json.dumps({"cwd": str(project)}) + "\n")
    shown = run_in_terminal("search", "--everywhere", "--no-color", "deploy").out.decode()
    assert "Codex  ~/.codex/memories\n" in shown
    assert f"Claude Code  ~/.claude/projects/{kept.name}/memory  for ~/app (deleted)\nText\n" in shown
    assert "\x1b[2J" not in shown
    assert "~/.codeium/windsurf/memories was not searched" in shown
    nothing = run_in_terminal("search", "--everywhere", "--no-color", "zebra")
    assert (nothing.code, b"Nothing found in 3 folders." in nothing.out) == (1, True)


def test_what_is_not_shown_is_counted_over_all(home: Path, ask: Ask) -> None:
    for folder in (".codex/memories", ".claude/projects/-srv-app/memory"):
        for number in range(3):
            (home / folder / f"more-{number}.md").write_text("berlin\n")
    _, lines, err = ask("--text", "-n", "1", "berlin")
    assert len(lines) == 2
    assert "Not shown: 4 more notes. All of them: --limit 0" in err


def test_a_dead_disk_is_said_and_waited_for_once(home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = home / ".claude"
    waiting: list[str] = []
    released = threading.Event()

    def look(path: str) -> bool:
        if Path(path).is_relative_to(dead) and Path(path).name == "memory":
            waiting.append(path)
            released.wait()
        return os.path.isdir(path)

    def find(*, limit: int | None) -> object:
        return find_memory_folders(limit=limit, reach=DirectoryProber(patience=0.05, look=look))

    monkeypatch.setattr(search_many, "find_memory_folders", find)
    try:
        code, lines, err = ask("deploy")
    finally:
        released.set()
    assert (code, lines) == (0, [f"{home}/.codex/memories/memory_summary.md:2:deploy with make"])
    assert "~/.claude/projects/-srv-app/memory was not searched: the disk does not respond.\n" in err
    assert len(waiting) == 1


@pytest.mark.usefixtures("home")
def test_stores_that_were_opened_before_are_searched_as_well(ask: Ask, tmp_path: Path) -> None:
    create = {"command": "create", "path": "/memories/plan.md", "file_text": "deploy by hand\n"}
    with memtui.open(f"sqlite:{tmp_path}/team.db") as memory:
        assert not memory.execute(create, actor=CLAUDE).is_error
    away = f"postgres://me@/app?host={tmp_path}/nowhere&store=team"
    where = get_state_directory(away)
    where.mkdir(parents=True)
    with connect_file(f"sqlite:{where / COPY}", state=where) as memory:
        assert not memory.execute(create, actor=CLAUDE).is_error
    remember_folder(where, away)
    code, lines, err = ask("hand")
    assert code == 0
    assert sorted(lines) == [f"{away}/plan.md:1:deploy by hand", f"sqlite:{tmp_path}/team.db/plan.md:1:deploy by hand"]
    assert f"{away}: searched as it was last read: The server cannot be reached" in err
    assert "team.db: searched" not in err
    code, _, err = ask("hand", "--read-only")
    assert (code, "searched as it was last read" in err) == (0, False)
    code, lines, _ = ask("hand", "--json")
    document = json.loads("\n".join(lines))
    assert away in {each["folder"] for each in document["folders"]}


def test_a_server_that_does_not_answer_is_waited_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()

    class Silent:
        @staticmethod
        def update_copy(place: str) -> str:
            answers.wait()
            return place

    monkeypatch.setattr(recent_stores, "load_remote", lambda _: Silent)
    places = ["postgres://a@/b", "anthropic:memstore_1", "sqlite:team.db"]
    try:
        wait = recent_stores.start_updates(places, seconds=0.01)
        assert [wait(place) for place in places] == [*["its server did not answer within 0 s"] * 2, ""]
    finally:
        answers.set()
    assert [recent_stores.start_updates(places)(place) for place in places] == ["", "", ""]
