"""Undo, redo and undoing everything by somebody: what is asked, what is done, and what is said."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from memtui.core.events import Agent
from memtui.engine import Engine
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen

Opening = Callable[..., AbstractAsyncContextManager[Any]]
CLARA = Agent("Clara", session="s1")


def replace(engine: Engine, name: str, old: str, new: str, actor: Agent = CLARA) -> None:
    answer = engine.execute(
        {"command": "str_replace", "path": f"/memories/{name}", "old_str": old, "new_str": new}, actor=actor
    )
    assert not answer.is_error, answer.text


def create(engine: Engine, name: str, text: str = "text\n", actor: Agent = CLARA) -> None:
    answer = engine.execute({"command": "create", "path": f"/memories/{name}", "file_text": text}, actor=actor)
    assert not answer.is_error, answer.text


def delete(engine: Engine, name: str) -> None:
    answer = engine.execute({"command": "delete", "path": f"/memories/{name}"}, actor=CLARA)
    assert not answer.is_error, answer.text


async def change_alpha(app: Any) -> None:
    """Let an agent change a note, and wait until it is shown."""
    with app.engine() as engine:
        replace(engine, "alpha.md", "first", "second")
    await app.wait_for(lambda: "second" in app.text)


async def asked(app: Any) -> str:
    """Wait for a question, and say what it is."""
    await app.wait_for(lambda: isinstance(app.app.screen, ConfirmScreen) and "y yes  n no" in app.text, "a question")
    return " ".join(app.text.splitlines())


async def back(app: Any) -> None:
    await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen), "the browser")


async def test_u_asks_about_the_last_change_of_another_and_takes_it_back(opened: Opening) -> None:
    async with opened() as app:
        await change_alpha(app)
        await app.press("u")
        question = await asked(app)
        assert "Undo: Clara edited alpha.md (+1 -1)," in question
        assert "ago?" in question
        await app.press("y")
        await app.wait_for(lambda: app.message.startswith("Undid "), "the word on it")
        assert app.message == "Undid Clara's edit of alpha.md (+1 -1). U redoes it."
        assert "first" in (app.folder / "alpha.md").read_text()
        await app.wait_for(lambda: ("you", "undo", "/memories/alpha.md") in app.actors)
        await app.wait_for(lambda: app.shown("alpha.md")[1] == " ", "no mark: she did it herself")


@pytest.mark.parametrize("key", ["enter", "escape", "n", "q"])
async def test_anything_but_y_undoes_nothing(opened: Opening, key: str) -> None:
    async with opened() as app:
        await change_alpha(app)
        await app.press("u")
        await asked(app)
        await app.press("x", "space", key)
        await back(app)
        await app.wait_for(lambda: app.message == "Nothing was undone.")
        assert "second" in (app.folder / "alpha.md").read_text()


async def test_redo_and_undo_go_to_and_fro_and_her_own_are_not_asked_about(opened: Opening) -> None:
    async with opened() as app:
        await change_alpha(app)
        await app.press("u")
        await asked(app)
        await app.press("y")
        await app.wait_for(lambda: app.message.startswith("Undid "))
        await app.press("U")
        await app.wait_for(lambda: app.message.startswith("Redid "))
        assert "second" in (app.folder / "alpha.md").read_text()
        await app.press("U")
        await app.wait_for(lambda: app.message == "Nothing to redo.")


async def test_what_has_changed_since_is_not_undone_and_it_says_why(opened: Opening) -> None:
    async with opened() as app:
        await change_alpha(app)
        seq = app.browse.activity.cursor_item.seq
        app.put("alpha.md", "written by somebody else\n")
        await app.wait_for(lambda: app.actors[-1][0] == "outside")
        await app.press("3", "up")
        assert app.browse.activity.cursor_item.seq == seq
        await app.press("u")
        await asked(app)
        await app.press("y")
        await app.wait_for(lambda: app.message.startswith("Not undone: alpha.md has changed since"))
        assert app.message.endswith("v shows the difference.")
        assert (app.folder / "alpha.md").read_text() == "written by somebody else\n"


async def test_in_the_activity_u_takes_back_the_event_under_the_cursor_and_capital_u_redoes_it(
    opened: Opening,
) -> None:
    async with opened() as app:
        with app.engine() as engine:
            replace(engine, "alpha.md", "first", "second")
            replace(engine, "zeta.txt", "plain", "other")
        await app.wait_for(lambda: app.actors[-1][2].endswith("zeta.txt"))
        await app.press("3", "up")
        await app.wait_for(lambda: app.cursor == "alpha.md")
        await app.press("u")
        assert "alpha.md" in await asked(app)
        await app.press("y")
        await app.wait_for(lambda: "first" in (app.folder / "alpha.md").read_text())
        await app.wait_for(lambda: app.message.startswith("Undid "))
        assert (app.folder / "zeta.txt").read_text() == "other text\n"
        await app.press("u")
        await app.wait_for(lambda: "was undone already" in app.message)
        await app.press("U")
        await app.wait_for(lambda: "second" in (app.folder / "alpha.md").read_text())


async def test_a_look_is_nothing_to_undo(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            engine.execute({"command": "view", "path": "/memories/alpha.md"}, actor=CLARA)
        await app.wait_for(lambda: app.actors[-1][1] == "view")
        await app.press("3", "u")
        await app.wait_for(lambda: "changed nothing that can be undone" in app.message)
        await app.press("1", "u")
        await app.wait_for(lambda: app.message.startswith("Nothing to undo"))


async def test_a_deletion_says_where_the_lost_are_and_u_brings_the_note_back(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            delete(engine, "zeta.txt")
        await app.wait_for(lambda: "D lists deleted notes, u undoes it." in app.text)
        await app.press("u")
        assert "Clara deleted zeta.txt" in await asked(app)
        await app.press("y")
        await app.wait_for((app.folder / "zeta.txt").exists)
        await app.wait_for(lambda: app.shown("zeta.txt")[1] == " ")


async def test_everything_by_one_agent_is_undone_after_a_rehearsal(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            replace(engine, "alpha.md", "first", "second")
            create(engine, "new.md")
            replace(engine, "zeta.txt", "plain", "other")
            create(engine, "by_another.md", actor=Agent("Otto"))
        app.put("zeta.txt", "changed since\n")
        await app.wait_for(lambda: app.actors[-1][0] == "outside" and "by_another.md" in app.rows)
        await app.press("Z")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen) and "Clara, session s1" in app.text)
        assert "Otto" in app.text
        await app.press(next(line for line in app.text.splitlines() if "Clara" in line).split("Clara")[0].split()[-1])
        await app.wait_for(lambda: "since" in app.text and "the last 10 minutes" in app.text)
        await app.press("1")
        question = await asked(app)
        assert "3 changes in 2 files would be undone; skipped: zeta.txt has changed since" in question
        await app.press("y")
        await app.wait_for(lambda: app.message.startswith("Undid Clara's changes to 2 files."))
        assert "Skipped: zeta.txt has changed since" in app.message
        assert "first" in (app.folder / "alpha.md").read_text()
        assert not (app.folder / "new.md").exists()
        assert (app.folder / "by_another.md").exists()
        assert (app.folder / "zeta.txt").read_text() == "changed since\n"


async def test_a_read_only_session_offers_no_change_and_says_so_where_one_is_asked_for(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            replace(engine, "alpha.md", "first", "second")
    async with opened({}, read_only=True) as app:
        shown = {active.binding.id for active in app.browse.active_bindings.values()}
        assert not shown & {"browse.undo", "browse.redo", "browse.undo_since", "browse.restore_loss"}
        assert {"browse.diff", "browse.history", "browse.past", "browse.deleted", "note.blame"} <= shown
        for key in ("u", "U", "Z"):
            app.browse.message.show_message("")
            await app.press(key)
            await app.wait_for(lambda: app.message == "Read-only. Start without --read-only to edit.")
        assert "second" in (app.folder / "alpha.md").read_text()


async def test_a_hostile_name_in_a_question_is_text(opened: Opening) -> None:
    name = "[red]a\x1b[31m\u202ex.md"
    async with opened() as app:
        app.put(name, "one\n")
        await app.wait_for(lambda: name in app.rows)
        app.put(name, "two\n")
        await app.wait_for(lambda: app.actors[-1][1] == "modified")
        await app.press("u")
        question = await asked(app)
        assert "[red]a\\x1b[31m<U+202E>x.md" in question
        await app.press("y")
        await app.wait_for(lambda: app.message.startswith("Undid"))
        assert (app.folder / name).read_text() == "one\n"
        assert "\x1b" not in app.text


async def test_the_question_has_its_answers_in_sight_however_long_it_is(opened: Opening) -> None:
    name = "a" * 200 + ".md"
    async with opened(size=(60, 15)) as app:
        app.put(name, "one\n")
        await app.wait_for(lambda: name in app.rows)
        await app.press("u")
        question = await asked(app)
        assert "Undo: Another program created" in question
        assert len(app.text.splitlines()) == 15
