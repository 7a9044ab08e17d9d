"""Find as a person uses it: type, see, open; in names, in texts, in the past; while an agent goes on writing."""

import os
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from memtui.core.events import Agent
from memtui.search.results import Scope
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.find import FindScreen
from memtui.ui.screens.history import HistoryScreen
from memtui.ui.widgets.results import LineRow, NameRow, OldNameRow, PastNoteRow, PastRow
from tests.ui.conftest import DEADLINE

Opening = Callable[..., AbstractAsyncContextManager[Any]]

FILES = {
    "learnings/postgres_migrations.md": "# Order\n\n1. add the column\n2. run the pg migration in batches\n"
    + "x\n" * 60,
    "plan.md": "the pg migration plan\n\n- before: nothing\n",
    "notes/today.md": "Berlin\n",
    ".hidden.md": "a hidden pg migration\n",
}


async def find(app: Any, *words: str) -> FindScreen:
    """Press `/`, type words, and wait for their results."""
    await app.press("slash")
    await app.wait_for(lambda: isinstance(app.app.screen, FindScreen), "the find screen")
    screen = app.app.screen
    assert isinstance(screen, FindScreen)
    await app.wait_for(lambda: screen.line.has_focus, "the box")
    await app.wait_for(lambda: screen._finder.is_complete, "all texts")
    await typed(app, screen, " ".join(words))
    return screen


async def typed(app: Any, screen: FindScreen, text: str) -> None:
    """Type, and wait for the results."""
    if text:
        await app.press(*(" " if letter == " " else letter for letter in text))
    await app.wait_for(lambda: screen._answered == (screen.line.value, screen._scope), "the results")
    await app.rest()


def hits(screen: FindScreen, kind: type) -> list[str]:
    return [row.path for row in screen.found._rows if isinstance(row, kind)]


async def test_names_and_texts_are_found_as_one_types_with_the_note_beside(opened: Opening) -> None:
    async with opened(FILES) as app:
        screen = await find(app, "pg", "migr")
        assert hits(screen, NameRow) == ["learnings/postgres_migrations.md"]
        assert set(hits(screen, LineRow)) == {"learnings/postgres_migrations.md", "plan.md"}
        await app.wait_for(lambda: "add the column" in app.text)
        assert "names 1" in app.text
        assert "2 lines in 2 notes." in screen.message.text


async def test_enter_opens_the_note_at_the_line_and_n_goes_on_from_there(opened: Opening) -> None:
    files = {"long.md": "".join(f"line {number}\n\n" for number in range(200)) + "the needle\n\nand a needle\n"}
    async with opened(files) as app:
        screen = await find(app, "needle")
        await app.press("down")
        assert isinstance(screen.found.cursor_item, LineRow)
        await app.press("enter")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen), "the browser")
        await app.wait_for(lambda: "the needle" in app.text, "the line")
        await app.rest()
        assert app.cursor == "long.md"
        note = app.browse.note
        assert note.has_focus
        first = note._match
        assert note.document.source[first : first + 6] == "needle"
        await app.press("n")
        assert note._match == note.document.source.rindex("needle")


async def test_without_a_query_the_notes_are_listed_with_their_ages(opened: Opening) -> None:
    async with opened({"old.md": "old", "new.md": "new"}) as app:
        os.utime(app.folder / "old.md", (1_000, 1_000))
        screen = await find(app)
        await app.wait_for(lambda: "Newest first" in app.text and screen.found.row_count == 2, "both")
        rows = [screen.found.render_line(y).text.lstrip(" >").split() for y in range(2)]
        assert [row[-2] for row in rows] == ["new.md", "old.md"]
        assert [row[-1][-1] for row in rows] == ["s", "y"]


async def test_a_typo_still_finds_the_file_below_a_rule(opened: Opening) -> None:
    async with opened(FILES) as app:
        screen = await find(app, "psotgres")
        assert screen._listed.names.hits == ()
        assert [hit.path for hit in screen._listed.names.similar] == ["learnings/postgres_migrations.md"]
        assert "-- similar" in app.text
        await app.press("enter")
        await app.wait_for(lambda: app.cursor == "learnings/postgres_migrations.md")


async def test_tab_looks_elsewhere_and_the_scope_is_kept_for_the_next_time(opened: Opening) -> None:
    async with opened(FILES) as app:
        screen = await find(app, "pg")
        await app.press("tab")
        await typed(app, screen, "")
        assert screen._scope is Scope.NAMES
        assert not hits(screen, LineRow)
        await app.press("tab")
        await typed(app, screen, "")
        assert not hits(screen, NameRow)
        assert hits(screen, LineRow)
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
        again = await find(app)
        assert (again.line.value, again._scope) == ("pg", Scope.TEXT)


async def test_what_is_gone_is_found_with_who_and_when_and_enter_shows_its_history(opened: Opening) -> None:
    async with opened(FILES) as app:
        with app.engine() as engine:
            engine.execute(
                {"command": "str_replace", "path": "/memories/plan.md", "old_str": "nothing", "new_str": "something"},
                actor=Agent("Clara"),
            )
            engine.execute({"command": "delete", "path": "/memories/notes/today.md"}, actor=Agent("Clara"))
        await app.wait_for(lambda: "notes/today.md" not in app.browse.files.outline)
        screen = await find(app, "nothing")
        assert hits(screen, PastRow) == ["plan.md"]
        await app.press("down")
        await app.wait_for(lambda: "removed" in app.text and "Clara" in app.text, "the story")
        screen.line.value = "berlin"
        await typed(app, screen, "")
        assert hits(screen, PastNoteRow) == ["notes/today.md"]
        await app.wait_for(lambda: "The note is deleted" in " ".join(app.text.split()))
        await app.press("enter")
        await app.wait_for(lambda: isinstance(app.app.screen, HistoryScreen), "its history")


async def test_results_follow_what_an_agent_writes_and_the_cursor_stays(opened: Opening) -> None:
    async with opened(FILES) as app:
        screen = await find(app, "migration")
        await app.press("down", "down")
        here = screen.found.cursor_item
        assert here is not None
        path = here.path
        with app.engine() as engine:
            engine.execute(
                {"command": "create", "path": "/memories/a.md", "file_text": "another migration\n"}, actor=Agent("Cl")
            )
        await app.wait_for(lambda: "a.md" in hits(screen, LineRow), "the new line")
        assert screen.found.cursor_item is not None
        assert screen.found.cursor_item.path == path


async def test_what_cannot_be_read_is_said_and_the_box_goes_on(opened: Opening) -> None:
    async with opened(FILES, size=(80, 24)) as app:
        screen = await find(app)
        screen.line.value = "fo:x pg"
        await app.wait_for(lambda: "There is no filter fo:" in screen.message.text)
        assert "by:" in " ".join(app.text.split())
        screen.line.value = "re:(pg"
        await app.wait_for(lambda: "re:" in screen.message.text and "fo:" not in screen.message.text)
        screen.line.value = "re:p[gh] mig"
        await typed(app, screen, "")
        assert set(hits(screen, LineRow)) == {"learnings/postgres_migrations.md", "plan.md"}


async def test_without_a_word_the_newest_notes_are_there_to_choose_from(opened: Opening) -> None:
    async with opened(FILES) as app:
        with app.engine() as engine:
            engine.execute(
                {"command": "create", "path": "/memories/plan.md", "file_text": "newer\n"}, actor=Agent("Clara")
            )
        screen = await find(app)
        await app.wait_for(lambda: hits(screen, NameRow)[:1] == ["plan.md"], "the newest first")
        assert len(hits(screen, NameRow)) == 3


async def test_hostile_names_and_texts_are_only_shown(opened: Opening) -> None:
    files = {
        "a\u202egpj.md": "evil\x1b]52;c;aGk=\x07 [@click=app.bell]needle[/]\u200b\n",
        "漢字/needle.md": "[/x] needle\n",
    }
    async with opened(files, size=(60, 15)) as app:
        screen = await find(app, "needle")
        assert len(hits(screen, LineRow)) == 2
        for size, key in (((60, 15), "down"), ((80, 24), "up"), ((200, 50), "down")):
            await app.pilot.resize_terminal(*size)
            for _ in range(4):
                await app.press(key)
                await app.rest()
                assert "\x1b" not in app.text
                assert "\u202e" not in app.text


async def test_nothing_found_says_so_and_enter_does_nothing(opened: Opening) -> None:
    async with opened(FILES) as app:
        screen = await find(app, "zzzzqqq")
        assert screen.message.text == "Nothing found."
        await app.press("enter", "f4", "down", "up")
        assert app.app.screen is screen
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))


async def test_a_deleted_and_a_renamed_note_are_found_by_the_names_that_they_had(opened: Opening) -> None:
    async with opened(FILES) as app:
        with app.engine() as engine:
            engine.execute({"command": "delete", "path": "/memories/plan.md"}, actor=Agent("Clara"))
            engine.files.move({"notes/today.md": "notes/monday.md"})
        await app.wait_for(lambda: "notes/monday.md" in app.browse.files.outline)
        screen = await find(app, "plan")
        assert [row.name.path for row in screen.found._rows if isinstance(row, OldNameRow)] == ["plan.md"]
        await app.wait_for(lambda: "the pg migration plan" in app.text, "its last text")
        assert "Deleted" in app.text
        screen.line.value = "today"
        await typed(app, screen, "")
        (row,) = [row for row in screen.found._rows if isinstance(row, OldNameRow)]
        assert (row.name.path, row.path) == ("notes/today.md", "notes/monday.md")
        await app.press(*["down"] * 9)  # names that are like it come first
        assert screen.found.cursor_item is row
        await app.press("enter")
        await app.wait_for(lambda: isinstance(app.app.screen, HistoryScreen), "its history")


async def test_a_filter_that_cannot_be_read_shows_no_rows_and_says_so_once(opened: Opening) -> None:
    async with opened(FILES) as app:
        screen = await find(app, "migration")
        assert hits(screen, LineRow)
        for query in ("migration fo:x", "since:nonsense migration", "re:(", "migration"):
            screen.line.value = query
            await typed(app, screen, "")
            if query == "migration":
                assert hits(screen, LineRow)
            else:
                assert screen.found.items == [], query
                await app.wait_for(lambda: screen.message.has_class("-warning"), "the reason")
                assert app.text.count(screen.message.text[:30]) == 1, query
                await app.press("enter")
                assert app.app.screen is screen


async def test_enter_waits_for_the_results_of_its_query(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(FILES) as app:
        screen = await find(app, "migration")
        late = threading.Event()
        search = screen._run_query

        def search_late(*arguments: Any) -> Any:
            assert late.wait(DEADLINE)
            return search(*arguments)

        monkeypatch.setattr(screen, "_run_query", search_late)
        screen.line.value = "berlin"
        await app.press("enter")
        await app.pilot.pause()
        assert app.app.screen is screen  # the rows are still those of another query
        late.set()
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen), "the note")
        await app.wait_for(lambda: app.cursor == "notes/today.md", "the note of the query")


async def test_in_a_read_only_session_the_key_that_edits_says_why_not(opened: Opening) -> None:
    async with opened(FILES, read_only=True) as app:
        screen = await find(app, "plan")
        assert "find.edit" not in {active.binding.id for active in screen.active_bindings.values()}
        await app.press("f4")
        await app.wait_for(lambda: screen.message.text == "Read-only. Start without --read-only to edit.")
