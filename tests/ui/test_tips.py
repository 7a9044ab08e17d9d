"""One-time tips: one at a start, each once, and none where nobody reads it or wants it."""

from pathlib import Path

import pytest

from memtui.config import Config, LoadedConfig
from memtui.config.settings import UiSettings
from memtui.fs.state import get_state_home
from memtui.ui import tips
from memtui.ui.key_names import list_labels
from memtui.ui.screens.browse_live import LiveController
from tests.ui.conftest import Opening


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state home"))


def test_each_tip_is_shown_once_and_names_a_key() -> None:
    shown = [tips.take_tip() for _ in range(len(tips.TIPS) + 2)]
    assert shown[-2:] == ["", ""]
    assert len(set(shown[:-2])) == len(tips.TIPS)
    for (name, words), tip in zip(tips.TIPS, shown, strict=False):
        assert tip == f"Tip: {list_labels(name)[0]} {words}."
        assert len(tip) < 60


@pytest.mark.parametrize("kept", [b"", b"-1", b"99", b"many", b"9" * 5_000, b"\xff"])
def test_a_file_that_makes_no_sense_is_no_error(kept: bytes) -> None:
    get_state_home().mkdir(parents=True)
    (get_state_home() / "tips").write_bytes(kept)
    assert tips.take_tip() in ("", f"Tip: / {tips.TIPS[0][1]}.")


def test_what_cannot_be_noted_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(tips, "write_atomic", fail)
    assert tips.take_tip() == ""


async def test_a_start_shows_the_next_one(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as app:
        assert "Tip:" not in app.text  # nobody reads a screen without a terminal
    monkeypatch.setattr("memtui.ui.app.MemtuiApp.is_headless", False)
    for name, _ in tips.TIPS[:2]:
        async with opened() as app:
            await app.wait_for(lambda name=name: f"Tip: {list_labels(name)[0]} " in app.text, "the tip")


@pytest.mark.parametrize("tips_on", [False, True])
async def test_the_settings_turn_them_off(opened: Opening, monkeypatch: pytest.MonkeyPatch, tips_on: bool) -> None:
    asked: list[bool] = []
    monkeypatch.setattr("memtui.ui.app.MemtuiApp.is_headless", False)
    monkeypatch.setattr(LiveController, "_show_tip", lambda _: asked.append(True))
    async with opened(loaded=LoadedConfig(Config(ui=UiSettings(tips=tips_on, remember=False)))) as app:
        await app.wait_for(app.looked_at_all)
        await app.wait_for(lambda: app.browse.status.live == "LIVE")
        if tips_on:
            await app.wait_for(lambda: asked, "a tip")
        assert bool(asked) is tips_on


async def test_an_empty_folder_takes_no_tip_that_needs_a_note(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtui.ui.app.MemtuiApp.is_headless", False)
    async with opened({}) as app:
        await app.wait_for(app.looked_at_all)
        await app.wait_for(lambda: app.browse.status.live == "LIVE")
        assert "This folder has no notes yet." in app.text
    assert tips.take_tip().startswith("Tip: / ")
