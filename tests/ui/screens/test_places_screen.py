"""Choosing among the memory folders of a machine: each on one line, all of them, and any other by its path."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

import memtui
from memtui.places.claude_code import encode_path
from memtui.places.folders import MemoryLocation, MemoryOwner
from memtui.ui.app import MemtuiApp
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.places import FolderPickerScreen, complete_directory
from memtui.ui.theme import truncate_apart
from memtui.ui.widgets.empty import format_folder_rows
from tests.ui.conftest import screen_text, wait_for
from tests.ui.test_random_keys import press_at_once

COUNT = 14


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    for number in range(COUNT):
        project = home / "src" / f"a-project-of-a-long-name-{number}"
        memory = home / ".claude" / "projects" / encode_path(str(project)) / "memory"
        memory.mkdir(parents=True)
        (memory / "MEMORY.md").write_text("x")
        (memory.parent / "s.jsonl").write_text(f'{{"cwd": "{project}"}}\n')
        if number % 2:
            project.mkdir(parents=True)
    for name in ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_REMOTE_MEMORY_DIR", "XDG_CONFIG_HOME", "MEMTUI_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.chdir(home)
    return home


@pytest.mark.usefixtures("home")
async def test_all_folders_are_offered_each_on_a_line_and_the_line_for_others_is_in_view() -> None:
    app = MemtuiApp(None)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(app, pilot, lambda: isinstance(app.screen, FolderPickerScreen))
        await wait_for(app, pilot, lambda: f"{COUNT} folders" in screen_text(app))
        await wait_for(app, pilot, lambda: screen_text(app).count("Claude Code") == 9)
        lines = screen_text(app).splitlines()
        rows = [line for line in lines if "Claude Code" in line]
        assert all("1 file, " in row and " ago" in row for row in rows)
        assert any("(missing)" in row for row in rows)
        assert any("or type a path" in line for line in lines)
        assert any("see a demo" in line for line in lines)
        assert any("memtui mcp --help" in line for line in lines)
        assert len(set(rows)) == 9
        options = app.screen.query_one(OptionList)
        assert options.option_count == COUNT
        assert isinstance(app.screen.focused, Input)
        await pilot.press("end")
        assert options.highlighted == COUNT - 1
        assert not str(options.get_option_at_index(COUNT - 1).prompt).strip()[0].isdigit()
        place = app.screen.query_one("#place", Static)
        await wait_for(app, pilot, lambda: ".claude/projects" in str(place.content), "the path behind the project")


async def test_what_others_changed_since_one_looked_is_counted_and_nothing_is_made(home: Path) -> None:
    first, *_ = sorted(home.glob(".claude/projects/*/memory"))
    with memtui.open(first) as memory:
        memory.set_metadata("seen", str(memory.get_head()[0]))
        for name in ("a.md", "b.md"):
            command = {"command": "create", "path": f"/memories/{name}", "file_text": "x"}
            assert not memory.execute(command, actor=memtui.Agent("Claude")).is_error
        memory.files.create("mine.md", b"y")
    kept = sorted(home.glob("state/**/*"))
    app = MemtuiApp(None)
    async with app.run_test(size=(100, 24)) as pilot:
        await wait_for(app, pilot, lambda: "2 unseen" in screen_text(app))
        assert screen_text(app).count("unseen") == 1
    assert sorted(home.glob("state/**/*")) == kept


async def test_where_nothing_is_found_there_is_a_way_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home / "nobody"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "nowhere"))
    (home / "empty").mkdir()
    monkeypatch.chdir(home / "empty")
    app = MemtuiApp(None)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(app, pilot, lambda: "see a demo" in screen_text(app))
        assert isinstance(app.screen.focused, Input)
    assert not (home / "nobody").exists()


_PART = st.sampled_from(["importer", "a-project-of-a-long-name", "src", "work", "x" * 30, "データ", "memory", "1", "2"])


@given(st.lists(st.lists(_PART, min_size=1, max_size=7).map("/".join), min_size=1, max_size=12, unique=True))
def test_cut_paths_are_told_apart(names: list[str]) -> None:
    cut = truncate_apart(names, 32)
    assert all(cell_len(each) <= 32 for each in cut)
    assert all(short == name for short, name in zip(cut, names, strict=True) if cell_len(name) <= 32)
    assert len(set(cut)) == len(names)


@pytest.mark.parametrize("width", [56, 70, 74, 114])
@pytest.mark.parametrize(("before", "behind"), [("", "-customer"), ("/home/somebody/src/", ""), ("/mnt/data/", "/app")])
def test_two_projects_are_told_apart_in_their_rows(width: int, before: str, behind: str) -> None:
    places = [
        MemoryLocation(
            f"/home/u/.claude/projects/{number}/memory", f"~/.claude/projects/{number}/memory", 1_234, 1,
            MemoryOwner.CLAUDE_CODE, f"{before}a-project-of-a-name-that-is-long-{number}{behind}", number % 2 == 0,
        )
        for number in range(20)
    ]  # fmt: skip
    rows = [row.plain for row in format_folder_rows(places, width)]
    assert len({row[5:] for row in rows}) == len(places)
    assert all(cell_len(row) <= max(width, 60) for row in rows)


async def picking(app: MemtuiApp, pilot: Pilot[int]) -> Input:
    await wait_for(app, pilot, lambda: isinstance(app.screen, FolderPickerScreen))
    await wait_for(app, pilot, lambda: f"{COUNT} folders" in screen_text(app), "the folders")
    return app.screen.query_one(Input)


async def test_what_is_typed_is_a_path_and_none_of_it_runs_in_the_folder(home: Path) -> None:
    (home / "src" / "notes" / "kept").mkdir(parents=True)
    (home / "src" / "notes" / "kept" / "a.md").write_text("a")
    app = MemtuiApp(None)
    async with app.run_test(size=(80, 24)) as pilot:
        field = await picking(app, pilot)
        await pilot.press(*"src")
        assert field.value == "src"
        assert "src" in screen_text(app)
        await press_at_once(app, ["slash", *"no", "tab"])
        await wait_for(app, pilot, lambda: field.value == "src/notes/", "the completion")
        await pilot.press("tab")
        await wait_for(app, pilot, lambda: field.value == "src/notes/kept/", "the completion")
        await press_at_once(app, ["enter", *"daqq", "enter"])
        await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen), "the folder")
        await wait_for(app, pilot, lambda: "a.md" in screen_text(app), "its file")
        assert app.is_running
    assert (home / "src" / "notes" / "kept" / "a.md").read_text() == "a"


@pytest.mark.parametrize(
    ("keys", "opens"), [(("3",), "here"), (("enter",), "here"), (("slash", "slash", "3"), ""), (("x", "1"), "")]
)
async def test_a_digit_chooses_only_while_nothing_is_typed(home: Path, keys: tuple[str, ...], opens: str) -> None:
    del home
    app = MemtuiApp(None)
    async with app.run_test(size=(80, 24)) as pilot:
        field = await picking(app, pilot)
        await press_at_once(app, [*keys, *"qqd"])
        if opens:
            await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen), "the folder")
            await wait_for(app, pilot, lambda: "MEMORY.md" in screen_text(app), "its file")
        else:
            await wait_for(app, pilot, lambda: len(field.value) == 5, "what was typed")
        assert app.is_running


async def test_a_path_that_leads_nowhere_is_said(home: Path) -> None:
    app = MemtuiApp(None)
    async with app.run_test(size=(80, 24)) as pilot:
        field = await picking(app, pilot)
        field.value = str(home / "nothing")
        await pilot.press("tab")
        await wait_for(app, pilot, lambda: "No directory starts with that" in screen_text(app))
        await pilot.press("enter")
        await wait_for(app, pilot, lambda: "No folder at" in screen_text(app))


def test_a_path_is_completed_as_a_shell_does(home: Path) -> None:
    for name in ("work/one", "work/only", ".hidden/x", "odd\n", "wörk"):
        (home / name).mkdir(parents=True)
    (home / "word.txt").write_text("no folder")
    assert complete_directory("wor") == ("work/", ["work"])
    assert complete_directory("work/o") == ("work/on", ["one", "only"])
    assert complete_directory("~/.hid") == ("~/.hidden/", [".hidden"])
    assert complete_directory(f"{home}/wö") == (f"{home}/wörk/", ["wörk"])
    assert complete_directory("~") == ("~/", ["~"])
    for typed in ("odd", "nobody/x", "a\0b", "word", "~nobody/"):
        assert complete_directory(typed) == (typed, [])
