"""Choosing among the memory folders of a machine: each on one line, all of them, and any other by its path."""

from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from memtui.places import encode_path
from memtui.ui.app import MemtuiApp
from memtui.ui.screens.places import FolderPickerScreen
from tests.ui.conftest import screen_text, wait_for

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
        assert any("(gone)" in row for row in rows)
        assert any("type its path" in line for line in lines)
        options = app.screen.query_one(OptionList)
        assert options.option_count == COUNT
        await pilot.press("end")
        assert options.highlighted == COUNT - 1
        assert not str(options.get_option_at_index(COUNT - 1).prompt).strip()[0].isdigit()
        await pilot.press("tab")
        assert isinstance(app.screen.focused, Input)


async def test_where_nothing_is_found_there_is_a_way_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home / "nobody"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "nowhere"))
    (home / "empty").mkdir()
    monkeypatch.chdir(home / "empty")
    app = MemtuiApp(None)
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_for(app, pilot, lambda: "memtui demo" in screen_text(app))
        assert isinstance(app.screen.focused, Input)
    assert not (home / "nobody").exists()
