"""A home with the folders of many agents, each laid out as its program does, and traps beside them."""

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from memtui.cli import main
from memtui.places import dialects
from memtui.places.dialects import load_dialects
from memtui.places.folders import MemoryLocation, MemoryOwner, find_memory_folders, format_owner, format_project
from memtui.places.probe import DirectoryProber
from tests.conftest import fill

_UNSET = (
    "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_REMOTE_MEMORY_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MEMTUI_DIR",
    "MEMTUI_CONFIG", "CODEX_HOME", "HERMES_HOME", "OPENCLAW_WORKSPACE_DIR", "OPENCLAW_STATE_DIR", "SERENA_HOME",
    "GEMINI_CLI_HOME", "QWEN_HOME", "QWEN_RUNTIME_DIR", "QWEN_CODE_MEMORY_BASE_DIR", "LETTA_LOCAL_BACKEND_DIR",
    "BASIC_MEMORY_CONFIG_DIR", "OH_PERSISTENCE_DIR",
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    work = home / "work"
    key = "".join(letter if letter.isalnum() else "-" for letter in str(work))
    bank = dict.fromkeys(("projectbrief.md", "activeContext.md", "progress.md"), "x")
    files: Mapping[str, str] = {
        f".claude/projects/{key}/memory/MEMORY.md": "- [a](a.md)\n",
        f".claude/projects/{key}/session.jsonl": json.dumps({"cwd": str(work)}) + "\n",
        ".claude/agent-memory/tester/MEMORY.md": "x",
        ".codex/memories/memory_summary.md": "v1\n",
        ".codex/memories/rollout_summaries/one.md": "x",
        ".hermes/memories/MEMORY.md": "a\n§\nb",
        ".hermes/profiles/other/memories/USER.md": "x",
        ".openclaw/workspace/SOUL.md": "x",
        ".openclaw/workspace/memory/2026-11-20.md": "x",
        ".letta/agents/agent-1/memory/MEMORY.md": "x",
        ".letta/agents/agent-2/memory/system/persona.md": "---\ndescription: a\n---\nx\n",
        ".gemini/tmp/work/memory/MEMORY.md": "x",
        ".gemini/tmp/work/.project_root": f"{work}\n",
        f".qwen/projects/{key}/memory/one.md": "x",
        f".qwen/projects/{key}/chat.jsonl": json.dumps({"cwd": str(work)}) + "\n",
        ".serena/memories/global/style.md": "x",
        ".serena/serena_config.yml": f"gui: false\nprojects:\n# mine\n- {home}/far\n- '{home}/moved'\nlog: 1\n- /no\n",
        "far/.serena/memories/topic/one.md": "x",
        ".local/share/kilo/memory/far-0123456789ab/manifest.json": json.dumps({"canonical": f"{home}/far"}),
        ".local/share/kilo/memory/far-0123456789ab/project.md": "x",
        ".config/goose/memory/work.txt": "x",
        "work/.goose/memory/project.txt": "x",
        ".basic-memory/config.json": json.dumps({"projects": {"main": {"path": f"{home}/basic"}, "old": "/no/such"}}),
        "basic/note.md": "x",
        ".codeium/windsurf/memories/0.pb": "x",
        "far/.openhands/memory/2026-11-20.md": "x",
        ".config/Code/User/globalStorage/github.copilot-chat/memory-tool/memories/a.md": "x",
        **{f"work/memory-bank/{name}": text for name, text in bank.items()},
    }
    fill(home, files)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    for name in _UNSET:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(work)
    return home


def find(home: Path) -> dict[str, list[MemoryLocation]]:
    found: dict[str, list[MemoryLocation]] = {}
    for place in find_memory_folders(home=str(home), limit=None):
        found.setdefault(format_owner(place), []).append(place)
    return found


def test_each_agent_is_named_with_its_project(home: Path) -> None:
    found = find(home)
    paths = {owner: sorted(str(Path(each.path).relative_to(home)) for each in found[owner]) for owner in found}
    assert paths == {
        "Claude Code": [os.path.relpath(found["Claude Code"][0].path, home)],
        "agent tester": [".claude/agent-memory/tester"],
        "Codex": [".codex/memories"],
        "Hermes": [".hermes/memories", ".hermes/profiles/other/memories"],
        "OpenClaw": [".openclaw/workspace"],
        "Letta Code": [".letta/agents/agent-1/memory", ".letta/agents/agent-2/memory"],
        "Gemini CLI": [".gemini/tmp/work/memory"],
        "Qwen Code": [os.path.relpath(found["Qwen Code"][0].path, home)],
        "Serena": [".serena/memories/global", "far/.serena/memories"],
        "Memory bank": ["work/memory-bank"],
        "Kilo Code": [".local/share/kilo/memory/far-0123456789ab"],
        "goose": [".config/goose/memory", "work/.goose/memory"],
        "Basic Memory": ["basic"],
        "OpenHands": ["far/.openhands/memory"],
        "Windsurf": [".codeium/windsurf/memories"],
        "VS Code": [".config/Code/User/globalStorage/github.copilot-chat/memory-tool/memories"],
    }
    projects = {place.owner: place.project for places in found.values() for place in places if place.project}
    work, far = str(home / "work"), str(home / "far")
    assert projects == {
        MemoryOwner.CLAUDE_CODE: work,
        "gemini": work,
        "qwen": work,
        "serena": far,
        "memory-bank": work,
        "kilo": far,
        "goose": work,
        "openhands": far,
    }


def test_what_cannot_be_read_is_named_and_says_so(home: Path) -> None:
    (place,) = find(home)["Windsurf"]
    assert find_memory_folders(home=str(home), limit=None)[-1] == place, "it is last, whenever it changed"
    assert format_project(place) == "encrypted files: they cannot be read"


@pytest.mark.parametrize(
    ("owner", "path", "files"),
    [
        ("Codex", ".codex/memories", {"holiday.md": "x"}),
        ("Memory bank", "work/memory-bank", {"accounts.md": "x", "progress.md": "x", "activeContext.md": "x"}),
        ("OpenClaw", ".openclaw/workspace", {"MEMORY.md": "x"}),
        ("Kilo Code", ".local/share/kilo/memory/far-0123456789ab", {"project.md": "x"}),
        ("goose", ".config/goose/memory", {"note.md": "x"}),
        ("Windsurf", ".codeium/windsurf/memories", {"global_rules.md": "x"}),
    ],
)
def test_a_name_alone_proves_nothing(home: Path, owner: str, path: str, files: Mapping[str, str]) -> None:
    assert str(home / path) in [place.path for place in find(home)[owner]]
    for each in (home / path).rglob("*"):
        if each.is_file():
            each.unlink()
    for directory in ("memory", "rollout_summaries"):
        if (home / path / directory).is_dir():
            (home / path / directory).rmdir()
    fill(home / path, files)
    assert str(home / path) not in [place.path for place in find(home).get(owner, [])]


def test_a_variable_of_the_agent_moves_its_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(home / "elsewhere [1]", {"memories/raw_memories.md": "x"})
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere [1]"))
    assert [place.path for place in find(home)["Codex"]] == [str(home / "elsewhere [1]/memories")]
    monkeypatch.setenv("CODEX_HOME", "relative")
    assert [place.path for place in find(home)["Codex"]] == [str(home / ".codex/memories")]


def test_a_project_that_moved_is_said_to_be_gone(home: Path) -> None:
    (home / ".gemini/tmp/work/.project_root").write_text(str(home / "moved"))
    (place,) = find(home)["Gemini CLI"]
    assert place.project == str(home / "moved")
    assert format_project(place).endswith("moved (deleted)")


@pytest.mark.parametrize("said", ["", "relative", "/a\nb", "/a\0b", "x" * 20_000])
def test_a_file_that_names_no_path_tells_no_project(home: Path, said: str) -> None:
    (home / ".gemini/tmp/work/.project_root").write_text(said)
    assert find(home)["Gemini CLI"][0].project is None


@pytest.mark.parametrize("text", ["", "[]", '{"projects": 3}', '{"projects": {"a": 1, "b": {"path": 2}}}', "{" * 5_000])
def test_a_register_that_cannot_be_read_names_nothing(home: Path, text: str) -> None:
    (home / ".basic-memory/config.json").write_text(text)
    (home / ".serena/serena_config.yml").write_text(text)
    found = find(home)
    assert "Basic Memory" not in found
    assert [place.path for place in found["Serena"]] == [str(home / ".serena/memories/global")]


def test_a_link_that_leads_to_a_folder_that_is_found_already_is_no_second_one(home: Path) -> None:
    (home / ".openclaw/workspace-link").symlink_to(home / ".openclaw/workspace")
    assert len(find(home)["OpenClaw"]) == 1


def test_a_disk_that_does_not_answer_is_named_and_waited_for_once(home: Path) -> None:
    asked: list[str] = []

    def look(path: str) -> bool:
        asked.append(path)
        if path.startswith(str(home / ".codex")):
            dead.acquire()
        return os.path.isdir(path)

    dead = threading.Semaphore(0)
    try:
        places = find_memory_folders(home=str(home), limit=None, reach=DirectoryProber(patience=0.2, look=look))
    finally:
        dead.release(100)
    (place,) = [place for place in places if place.owner == "codex"]
    assert format_project(place) == "the disk does not respond"
    assert len([path for path in asked if path.startswith(str(home / ".codex"))]) <= 2
    assert [place for place in places if place.owner == "hermes"]


@pytest.mark.usefixtures("home")
def test_they_are_listed_for_people_and_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["places", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["places"]
    assert {each["owner"] for each in listed} >= {dialect.name for dialect in load_dialects()} - {"kilo-bank"}
    assert main(["places"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("Hermes" in line and "~/.hermes/memories" in line for line in lines)
    assert any("Windsurf" in line and line.endswith("they cannot be read") for line in lines)


def test_what_is_known_of_a_kind_is_spelled_right() -> None:
    names = [dialect.name for dialect in load_dialects()]
    assert len(set(names)) == len(names) >= 12
    for dialect in load_dialects():
        assert dialect.marks or dialect.at or dialect.name == "basic-memory"  # its configuration names them
        assert dialect.needs <= max(len(dialect.marks), 1)
        assert all(pattern.startswith("{") for pattern in dialect.folders)
    with pytest.raises(ValueError, match="unknown key: folder"):
        dialects._build_dialect("x", title="X", folder=["{~/x}"])


@pytest.mark.usefixtures("home")
def test_an_audit_of_all_says_what_is_so_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--everywhere", "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    found = {
        (each["folder"].split("/")[1], finding["rule"], finding["words"])
        for each in report["folders"]
        for finding in each.get("findings", ())
    }
    assert report["summary"]["audited"] == 19
    assert found == {
        (".claude", "index-entry-missing", "has an entry for a.md, which does not exist"),
        (".qwen", "agent-refuses",
         "Qwen Code refuses it: it needs front matter with a type: user, feedback, project or reference"),
    }  # fmt: skip
