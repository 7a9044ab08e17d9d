"""A folder is shown as it was left, and no file that is broken keeps it from being shown."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.events import Agent
from memtui.ui.screen_state import FolderViewState, load_view_state, save_view_state
from memtui.ui.widgets.preview import PreviewMode
from tests.ui.conftest import Opening

FULL = FolderViewState(
    cursor="notes/a.md", expanded=("notes",), collapsed=("old",), sort="-size", hidden=True, view="source",
    dividers={"files wide": 42}, words={"find.scope": "text"},
)  # fmt: skip


def test_what_was_written_is_read_and_only_its_owner_may(tmp_path: Path) -> None:
    assert load_view_state(tmp_path) == FolderViewState()
    save_view_state(tmp_path, FULL)
    assert load_view_state(tmp_path) == FULL
    save_view_state(tmp_path, FolderViewState(cursor="\udcff\ud83d name"))
    assert load_view_state(tmp_path) == FolderViewState(cursor="\udcff\ud83d name")
    (only,) = tmp_path.iterdir()
    assert stat.S_IMODE(only.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "held",
    ["", "{", "[]", "null", '{"schema": 2, "cursor": "x"}', "[" * 100_000, "\0" * 10, '{"schema": 1, "cursor": 3, '
     '"expanded": {"a": 1}, "collapsed": [1, null], "hidden": 1, "dividers": {"a": "b", "c": -1, "d": true}, '
     '"words": {"a": 1}, "sort": [], "view": null}'],
)  # fmt: skip
def test_what_is_broken_is_as_if_it_were_not_there(tmp_path: Path, held: str) -> None:
    (tmp_path / "screen.json").write_text(held)
    assert load_view_state(tmp_path) == FolderViewState()


def test_nothing_but_a_file_is_read_and_what_cannot_be_written_is_not_missed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "screen.json")
    assert load_view_state(tmp_path) == FolderViewState()
    (tmp_path / "screen.json").unlink()
    (tmp_path / "screen.json").symlink_to(tmp_path / "other.json")
    (tmp_path / "other.json").write_text(json.dumps({"schema": 1, "cursor": "x"}))
    assert load_view_state(tmp_path) == FolderViewState()
    save_view_state(tmp_path / "not there", FULL)
    assert not (tmp_path / "not there").exists()


async def test_a_folder_is_shown_as_it_was_left(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes/beta.md")
        await app.press("full_stop", "t", "greater_than_sign", "greater_than_sign")
        await app.rest()
        app.browse.remembered_words["find.scope"] = "text"
        width = app.browse.files.outer_size.width
        assert app.browse.preview.view is PreviewMode.SOURCE
    async with opened() as app:
        assert app.cursor == "notes/beta.md"
        assert app.browse.files.outline.hidden
        assert app.browse.preview.view is PreviewMode.SOURCE
        assert app.browse.remembered_words["find.scope"] == "text"
        await app.wait_for(lambda: app.browse.files.outer_size.width == width, "the divider")
        await app.press("h", "h")
        await app.wait_for(lambda: "notes/beta.md" not in app.rows)
    async with opened() as app:
        assert app.cursor == "notes"
        assert "notes/beta.md" not in app.rows
    async with opened(size=(170, 40)) as app:  # the divider was put there for another size
        assert app.browse.files.outer_size.width == 42


async def test_who_may_change_nothing_leaves_no_trace(opened: Opening) -> None:
    async with opened() as app:
        await app.to("zeta.txt")
    before = (app.state / "screen.json").read_bytes()
    async with opened(read_only=True) as app:
        assert app.cursor == "zeta.txt"
        await app.to("alpha.md")
    assert (app.state / "screen.json").read_bytes() == before


async def test_what_is_new_comes_before_where_the_cursor_was(opened: Opening) -> None:
    async with opened() as app:
        await app.to("zeta.txt")
        folder = app.folder
    (folder / "alpha.md").write_text("changed meanwhile\n")
    async with opened({}) as app:
        await app.wait_for(lambda: app.cursor == "alpha.md", "the cursor at what changed")


async def test_only_what_came_since_it_was_left_leads_the_cursor_away(opened: Opening) -> None:
    def write(app: Any, name: str) -> None:
        with app.engine() as engine:
            engine.execute({"command": "create", "path": f"/memories/{name}", "file_text": "x\n"}, actor=Agent("Clara"))

    async with opened() as app:
        write(app, "new.md")  # seen on screen, and not marked as seen
        await app.wait_for(lambda: app.cursor == "new.md", "the new one")
        await app.to("notes/beta.md")
    async with opened() as app:
        await app.wait_for(lambda: app.cursor is not None, "a cursor")
        assert app.cursor == "notes/beta.md"
    engine = memtui.open(app.folder, state=app.state)
    engine.execute({"command": "create", "path": "/memories/later.md", "file_text": "x\n"}, actor=Agent("Clara"))
    engine.close()
    async with opened() as app:
        assert app.cursor == "later.md"
