"""A mass loss and a folder that vanishes: said loudly, put right with one key, and never made worse."""

import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from memtui.core.events import WatchMode
from memtui.ui.screens.dialogs import ConfirmScreen
from memtui.ui.widgets.tree import changes

Opening = Callable[..., AbstractAsyncContextManager[Any]]
Starting = Callable[..., Any]


def wipe(folder: Path) -> None:
    for each in list(folder.iterdir()):
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink()


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_wipe_raises_the_banner_and_one_key_brings_everything_back(opened: Opening) -> None:
    async with opened() as app:
        before = held(app.folder)
        wipe(app.folder)
        await app.wait_for(lambda: "5 of 5 notes were deleted at" in app.text, "the banner")
        line = next(line for line in app.text.splitlines() if "notes were deleted" in line)
        assert "(another program). Ctrl+R restores them.   x keeps them deleted" in line
        await app.press("ctrl+r")
        await app.wait_for(lambda: app.message == "Restored 5 notes.")
        await app.wait_for(lambda: "notes were deleted" not in app.text, "no banner")
        assert held(app.folder) == before
        await app.wait_for(lambda: "alpha.md" in app.rows and app.shown("alpha.md")[1] == " ")
        assert ("you", "restore", "/memories") in app.actors


@pytest.mark.parametrize("pane", ["1", "2", "3", "slash"])
async def test_the_key_works_in_every_pane_and_while_typing(opened: Opening, pane: str) -> None:
    async with opened() as app:
        before = held(app.folder)
        await app.press(pane)
        wipe(app.folder)
        await app.wait_for(lambda: "5 of 5 notes were deleted at" in app.text)
        await app.press("ctrl+r")
        await app.wait_for(lambda: held(app.folder) == before)


async def test_without_a_loss_the_keys_are_not_there(opened: Opening) -> None:
    async with opened() as app:
        shown = {active.binding.id for active in app.browse.active_bindings.values()}
        assert not shown & {"browse.restore_loss", "browse.dismiss_loss"}
        count = len(app.actors)
        await app.press("ctrl+r", "x")
        await app.rest()
        assert len(app.actors) == count


async def test_the_banner_is_there_in_the_empty_state_too_and_after_opening_anew(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "GONE_SECONDS", 0.05)
    async with opened() as app:
        wipe(app.folder)
        await app.wait_for(lambda: "notes were deleted" in app.text)
        await app.wait_for(lambda: "This folder has no notes." in app.text, "the empty state")
        await app.wait_for(lambda: "list and restore 5 deleted notes" in app.text)
        assert "notes were deleted" in app.text
    async with opened({}) as again:
        await again.wait_for(lambda: "5 of 5 notes were deleted at" in again.text, "the banner")
        await again.press("ctrl+r")
        await again.wait_for(lambda: "alpha.md" in again.rows)
        await again.wait_for(lambda: "notes were deleted" not in again.text)


async def test_it_is_kept_so_only_after_a_question_and_that_is_remembered(opened: Opening) -> None:
    async with opened() as app:
        wipe(app.folder)
        await app.wait_for(lambda: "notes were deleted" in app.text)
        await app.press("x")
        await app.wait_for(lambda: isinstance(app.app.screen, ConfirmScreen))
        await app.press("enter")
        await app.rest()
        assert "notes were deleted" in app.text
        await app.press("x")
        await app.wait_for(lambda: isinstance(app.app.screen, ConfirmScreen) and "Dismiss this warning?" in app.text)
        await app.press("y")
        await app.wait_for(lambda: "notes were deleted" not in app.text)
        assert not held(app.folder)
    async with opened({}) as again:
        await again.rest()
        assert "notes were deleted" not in again.text


async def test_a_read_only_session_has_the_banner_without_the_key(opened: Opening) -> None:
    async with opened():
        pass
    async with opened({}, read_only=True) as app:
        wipe(app.folder)
        await app.wait_for(lambda: "notes were deleted" in app.text)
        assert "Start without --read-only to restore them." in app.text
        assert "Ctrl+R" not in app.text
        await app.press("ctrl+r")
        await app.wait_for(lambda: app.message.startswith("Read-only."))
        assert not held(app.folder)


@pytest.mark.parametrize("is_seen_gone", [False, True])
async def test_a_folder_removed_and_made_again_raises_the_banner_and_goes_on(
    opened: Opening, is_seen_gone: bool
) -> None:
    async with opened() as app:
        before = held(app.folder)
        shutil.rmtree(app.folder)
        if is_seen_gone:
            await app.wait_for(lambda: app.browse._watching.mode is WatchMode.GONE)
        app.folder.mkdir()
        await app.wait_for(lambda: "5 of 5 notes were deleted at" in app.text, "the banner")
        await app.wait_for(lambda: app.browse._watching.mode is WatchMode.LIVE)
        app.put("after.md", "# After it was made again\n")
        await app.wait_for(lambda: "After it was made again" in app.text)
        await app.press("ctrl+r")
        await app.wait_for(lambda: app.message == "Restored 5 notes.")
        assert before.items() <= held(app.folder).items()


async def test_one_deleted_note_of_several_is_no_loss(opened: Opening) -> None:
    async with opened() as app:
        (app.folder / "alpha.md").unlink()
        await app.wait_for(lambda: app.actors[-1][1] == "deleted")
        await app.rest()
        assert "notes were deleted" not in app.text


async def test_a_great_wipe_is_dropped_in_one_go_and_does_not_hold_the_screen_up(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "GONE_SECONDS", 0.05)
    files = {f"d{number % 40}/note{number}.md": f"{number}\n" for number in range(600)}
    async with opened(files) as app:
        await app.wait_for(lambda: app.browse.files.outline.files == 600)
        files_view = app.browse.files
        drop, refresh = files_view.drop, []
        files_view.drop = lambda paths: (refresh.append(len(list(paths))), drop(paths))
        wipe(app.folder)
        await app.wait_for(lambda: "600 of 600 notes were deleted" in app.text, "the banner")
        await app.wait_for(lambda: not len(files_view.outline), "no rows")
        assert len(refresh) <= 20, "rows were dropped a few at a time"
        await app.press("ctrl+r")
        await app.wait_for(lambda: app.message == "Restored 600 notes.")
        await app.wait_for(lambda: files_view.outline.files == 600)
        await app.wait_for(lambda: "notes were deleted" not in app.text, "no banner")


async def test_a_folder_that_vanishes_is_said_as_such_and_stays_on_screen_as_it_was(
    opened: Opening, tmp_path: Path
) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        aside = tmp_path / "aside"
        app.folder.rename(aside)
        await app.wait_for(lambda: app.browse._watching.mode is WatchMode.GONE)
        await app.wait_for(lambda: "The last known files are shown" in app.text, "the banner")
        assert "none is recorded as deleted" in app.text
        assert "1 Files  outdated" in app.text
        assert "alpha.md" in app.rows
        assert "The first note." in app.text
        assert "notes were deleted" not in app.text
        aside.rename(app.folder)
        await app.wait_for(lambda: app.browse._watching.mode is WatchMode.LIVE)
        await app.wait_for(lambda: "The last known files are shown" not in app.text)
        await app.wait_for(lambda: "is available again." in app.message)
        assert "outdated" not in app.text
        assert not [row for row in app.actors if row[1] == "deleted"]


def test_the_banner_stands_in_a_real_terminal(terminal: Starting, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(6):
        (folder / f"note{number}.md").write_text(f"# Note {number}\n")
    screen = terminal("-m", "memtui", folder, size=(80, 24))
    screen.wait_for(" note")
    screen.wait_for("6 notes")
    screen.settle()
    wipe(folder)
    screen.wait_for("6 of 6 notes were deleted at")
    screen.press("\x12")
    screen.wait_for("Restored 6 notes.")
    assert len(list(folder.iterdir())) == 6
