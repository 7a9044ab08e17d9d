"""The keys that lead to the past of a note: its last change, its versions, and who wrote each line."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from memtui.core.errors import StateUnusable
from memtui.core.events import Agent
from memtui.journal.sqlite import Journal
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.history import HistoryScreen
from memtui.ui.widgets.preview import PreviewMode
from tests.conftest import set_clock

Opening = Callable[..., AbstractAsyncContextManager[Any]]


def replace(engine: Any, name: str, old: str, new: str, actor: str = "Clara") -> None:
    answer = engine.execute(
        {"command": "str_replace", "path": f"/memories/{name}", "old_str": old, "new_str": new}, actor=Agent(actor)
    )
    assert not answer.is_error, answer.text


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What histories were asked for: path, whether the difference comes first, and as of which event."""
    found: list[Any] = []
    make = HistoryScreen.__init__

    def remember(self: HistoryScreen, engine: Any, path: str, **options: Any) -> None:
        found.append((path, options["diff_first"], options["at"]))
        make(self, engine, path, **options)

    monkeypatch.setattr(HistoryScreen, "__init__", remember)
    return found


async def test_v_opens_the_history_of_the_note_and_q_comes_back(opened: Opening, asked: list[Any]) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        for key in "vV":
            await app.press(key)
            await app.wait_for(lambda: isinstance(app.app.screen, HistoryScreen))
            assert asked[-1] == ("alpha.md", key == "v", None)
            await app.press("q")
            await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
        assert len(asked) == 2


async def test_in_the_activity_v_opens_the_event_under_the_cursor(opened: Opening, asked: list[Any]) -> None:
    async with opened() as app:
        with app.engine() as engine:
            replace(engine, "alpha.md", "first", "second")
            replace(engine, "zeta.txt", "plain", "other")
        await app.wait_for(lambda: app.actors[-1][2].endswith("zeta.txt"))
        await app.press("3", "up")
        seq = app.browse.activity.cursor_item.seq
        await app.press("v")
        await app.wait_for(lambda: isinstance(app.app.screen, HistoryScreen))
        assert asked == [("alpha.md", True, seq)]


async def test_a_folder_has_no_versions_and_says_so(opened: Opening) -> None:
    async with opened() as app:
        await app.to("notes")
        await app.press("V")
        await app.wait_for(lambda: app.message.startswith("A directory has no versions"))


async def test_b_says_beside_each_line_who_wrote_it_and_takes_it_away_again(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            replace(engine, "alpha.md", "The *first* note.", "The second note.\nAnd a third line.", "Clara")
        await app.wait_for(lambda: "And a third line." in app.text)
        await app.to("alpha.md")
        await app.press("B")
        await app.wait_for(lambda: any("Clara" in line and "The second" in line for line in app.text.splitlines()))
        lines = app.text.splitlines()
        first = next(line for line in lines if "# Alpha" in line)
        assert "first saw" in first
        assert "outside" not in first
        third = next(line for line in lines if "And a third line." in line)
        assert "Clara" not in third.split("And a third")[0], "equal neighbours are said once"
        assert "line 1: memtui first saw it" in app.text
        assert app.browse.preview.view is PreviewMode.SOURCE
        await app.press("B")
        await app.wait_for(lambda: "line 1: memtui first saw it" not in app.text)
        assert app.browse.preview.view is PreviewMode.RENDERED


async def test_the_gutter_keeps_up_with_a_note_that_changes(opened: Opening) -> None:
    async with opened() as app:
        await app.to("zeta.txt")
        await app.press("B")
        await app.wait_for(lambda: any("first saw" in line and "plain text" in line for line in app.text.splitlines()))
        with app.engine() as engine:
            replace(engine, "zeta.txt", "plain", "another", "Otto")
        await app.wait_for(lambda: any("Otto" in line and "another text" in line for line in app.text.splitlines()))


async def test_t_takes_the_gutter_away_as_well(opened: Opening) -> None:
    async with opened() as app:
        await app.to("zeta.txt")
        await app.press("B")
        await app.wait_for(lambda: "line 1:" in app.text)
        await app.press("t")
        await app.wait_for(lambda: "line 1:" not in app.text)


async def test_a_clock_that_is_behind_the_last_event_is_said_once(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            set_clock(engine, lambda: time.time_ns() + 3 * 3_600 * 1_000_000_000 + 5_000_000_000)
            replace(engine, "alpha.md", "first", "second")
        await app.wait_for(lambda: app.actors[-1][0] == "Clara")
    async with opened({}) as again:
        await again.wait_for(
            lambda: (
                again.message
                == "The clock is 3 h behind the last event: times may be out of order, event numbers are not."
            )
        )
        await again.to("zeta.txt")


async def test_a_journal_that_cannot_be_written_is_still_read(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as app:
        with app.engine() as engine:
            replace(engine, "alpha.md", "first", "second")
        await app.wait_for(lambda: app.actors[-1][0] == "Clara")

    def refuse(self: Journal, path: str | None) -> None:
        del self, path
        raise StateUnusable("The journal cannot be opened: the disk is read-only.")

    monkeypatch.setattr(Journal, "__init__", refuse)
    async with opened({}, ready=False) as app:
        await app.wait_for(lambda: "The journal cannot be opened" in " ".join(app.text.split()), "the reason")
        await app.wait_for(lambda: "alpha.md" in app.rows)
        assert "nothing is recorded or changed. Browsing and history work." in " ".join(app.text.split())
        assert ("Clara", "str_replace", "/memories/alpha.md") in app.actors
        await app.to("alpha.md")
        await app.press("V")
        await app.wait_for(lambda: isinstance(app.app.screen, HistoryScreen))


async def test_a_journal_of_a_newer_memtui_is_said_and_browsing_works(opened: Opening, tmp_path: Path) -> None:
    async with opened():
        pass
    with sqlite3.connect(tmp_path / "state" / "journal.db") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    async with opened({}, ready=False) as app:
        await app.wait_for(lambda: "The journal was written by a newer memtui" in " ".join(app.text.split()))
        await app.wait_for(lambda: "alpha.md" in app.rows)
        assert "nothing is recorded or changed. Browsing works." in " ".join(app.text.split())
        await app.press("u")
        await app.wait_for(lambda: app.message.startswith("Nothing can be changed: The journal was written by"))
