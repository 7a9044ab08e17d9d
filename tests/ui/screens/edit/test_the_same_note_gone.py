"""A note that is deleted, moved or replaced while a person edits it: whatever she chooses, nothing is lost."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from memtui.core.events import Agent
from memtui.editing.drafts import EditDraftStore
from memtui.engine import Engine
from memtui.ui.screens.conflict import ConflictScreen
from memtui.ui.screens.edit import EditScreen

Opening = Callable[..., AbstractAsyncContextManager[Any]]
CLAUDE = Agent("Claude")
TEXT = "one\ntwo\nthree\n"
MINE = "mine one\ntwo\nthree\n"


def deleted(engine: Engine, folder: Path) -> None:
    del folder
    engine.execute({"command": "delete", "path": "/memories/a.md"}, actor=CLAUDE)


def moved(engine: Engine, folder: Path) -> None:
    del folder
    words = {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/sub/b.md"}
    engine.execute(words, actor=CLAUDE)


def moved_and_changed(engine: Engine, folder: Path) -> None:
    moved(engine, folder)
    words = {"command": "str_replace", "path": "/memories/sub/b.md", "old_str": "three", "new_str": "THREE"}
    engine.execute(words, actor=CLAUDE)


def replaced(engine: Engine, folder: Path) -> None:
    (folder / "a.md").unlink()
    (folder / "a.md").mkdir()
    (folder / "a.md/x").write_text("x\n")
    engine.reconcile()


def binary(engine: Engine, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"\xff\0")
    engine.reconcile()


@pytest.mark.parametrize(
    ("happens", "key", "there", "draft"),
    [
        (deleted, "k", {"a.md": MINE}, False),
        (deleted, "t", {}, True),
        (moved, "o", {"sub/b.md": TEXT, "a.md": MINE}, False),
        (moved_and_changed, "m", {"sub/b.md": "mine one\ntwo\nTHREE\n"}, False),
        (replaced, "b", {"a.md/x": "x\n", "a (mine).md": MINE}, False),
        (replaced, "t", {"a.md/x": "x\n"}, True),
        (binary, "k", {"a.md": MINE}, False),
        (deleted, "escape", {}, False),
    ],
)
async def test_whatever_is_chosen_both_are_kept(
    opened: Opening, happens: Callable[[Engine, Path], None], key: str, there: dict[str, str], draft: bool
) -> None:
    async with opened({"a.md": TEXT}, size=(80, 24)) as app:
        await app.to("a.md")
        await app.press("e")
        await app.wait_for(
            lambda: isinstance(app.app.screen, EditScreen) and app.app.screen.drafts.is_open, "the editor"
        )
        screen = app.app.screen
        await app.press(*"mine", "space")
        await app.wait_for(lambda: screen.area.text == MINE, "what was typed")
        with app.engine() as other:
            happens(other, app.folder)
        await app.press("ctrl+s")
        await app.wait_for(lambda: isinstance(app.app.screen, ConflictScreen), "the question")
        await app.press(key)
        await app.wait_for(lambda: not isinstance(app.app.screen, ConflictScreen), "the answer")
        if key == "escape":
            assert screen.drafts.is_unsaved
            assert screen.area.text == MINE
        else:
            await app.wait_for(lambda: app.app.screen is not screen or not screen.drafts.is_unsaved, "the end of it")
        await app.rest()
        files = {str(path.relative_to(app.folder)): path for path in app.folder.rglob("*") if path.is_file()}
        held = {name: path.read_bytes().decode("utf-8", "surrogateescape") for name, path in files.items()}
        assert held == there
        kept = [each.text for each in EditDraftStore(app.state / "drafts").list_latest()]
        assert kept == ([MINE] if draft else [])
        # What stood there is in the history, whatever takes its place now.
        with app.engine() as engine:
            texts = {
                engine.history.text(row.after) for name in ("a.md", *there) for row in engine.history.versions_of(name)
            }
            assert TEXT.encode() in texts
            assert all(text.encode("utf-8", "surrogateescape") in texts for text in there.values())
