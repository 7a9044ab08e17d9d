"""Time travel: the folder as it was at any event, step by step, and brought back from there."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from memtui.core.events import Agent
from memtui.engine import Engine
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen, PromptScreen
from memtui.ui.screens.past import PastScreen
from memtui.ui.widgets.empty import Timeline

Opening = Callable[..., AbstractAsyncContextManager[Any]]
CLARA = Agent("Clara")


def act(engine: Engine, command: str, **fields: object) -> int:
    answer = engine.execute({"command": command, **fields}, actor=CLARA)
    assert not answer.is_error, answer.text
    return answer.event.seq


def story(engine: Engine) -> dict[str, int]:
    """A few events, by what they did."""
    return {
        "create": act(engine, "create", path="/memories/new.md", file_text="one\n"),
        "view": act(engine, "view", path="/memories/new.md"),
        "edit": act(engine, "str_replace", path="/memories/new.md", old_str="one", new_str="two"),
        "rename": act(engine, "rename", old_path="/memories/notes", new_path="/memories/diary"),
        "delete": act(engine, "delete", path="/memories/zeta.txt"),
    }


async def make_story(app: Any) -> dict[str, int]:
    """Let those events happen, and wait until they are on screen."""
    with app.engine() as engine:
        made = story(engine)
    await app.wait_for(lambda: app.actors[-1][1] == "delete")
    return made


async def travel(app: Any) -> PastScreen:
    """Press T and wait until the past is on screen."""
    await app.press("T")
    await app.wait_for(lambda: isinstance(app.app.screen, PastScreen) and app.app.screen._ready, "the past")
    await app.rest()
    screen = app.app.screen
    assert isinstance(screen, PastScreen)
    return screen


async def to(app: Any, past: PastScreen, seq: int) -> None:
    """Step back or forward to an event."""
    while past._point_in_time.at != seq:
        before = past._point_in_time.at
        await app.press("left_square_bracket" if before > seq else "right_square_bracket")
        await app.wait_for(lambda before=before: past._point_in_time.at != before, "a step")
    await app.rest()


def rows(past: PastScreen) -> list[str]:
    return [path for path in past.files.outline if path not in past._ghosts]


async def test_links_that_an_event_added_and_removed_are_listed_beside_its_lines(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            act(engine, "create", path="/memories/new.md", file_text="one\n\n[[beta]]\n")
            seq = act(engine, "str_replace", path="/memories/new.md", old_str="[[beta]]", new_str="[[zeta]]")
        await app.wait_for(lambda: app.actors[-1][1] == "str_replace")
        past = await travel(app)
        await to(app, past, seq)
        await app.wait_for(lambda: past.change.links != "", "the links")
        assert "Links added: zeta. Links removed: beta." in app.text
        await to(app, past, seq - 1)
        await app.wait_for(lambda: past.change.links == "Links added: beta.", "the links of the event before")


async def test_stepping_back_and_forth_shows_what_stood_at_each_event(opened: Opening) -> None:
    async with opened() as app:
        made = await make_story(app)
        past = await travel(app)
        assert f"AS OF {past._point_in_time.event.at.astimezone():%H:%M:%S}" in app.text.splitlines()[0]
        assert f"#{made['delete']} of {made['delete']}  Clara deleted zeta.txt" in app.text
        assert "zeta.txt" in past._ghosts, "what the event took away is there, struck through"
        await to(app, past, made["rename"])
        assert "zeta.txt" in rows(past)
        assert "diary/beta.md" in rows(past)
        await to(app, past, made["edit"])
        assert "notes/beta.md" in rows(past)
        assert "diary" not in rows(past)
        assert past.files.cursor_path == "new.md"
        await app.wait_for(lambda: past.note.document.source == "two\n", "the text as it was")
        await app.wait_for(lambda: "- one" in app.text and "+ two" in app.text, "the change of the event")
        await to(app, past, made["create"])
        await app.wait_for(lambda: past.note.document.source == "one\n")
        await to(app, past, made["create"] - 1)
        assert "new.md" not in rows(past)
        await to(app, past, made["delete"])
        assert "zeta.txt" not in rows(past)
        assert {"diary/beta.md", "new.md"} <= set(rows(past))
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))


async def test_patched_rows_are_those_that_the_record_gives_for_every_event(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            story(engine)
            act(engine, "rename", old_path="/memories/diary", new_path="/memories/notes")
            act(engine, "delete", path="/memories/notes")
            act(engine, "create", path="/memories/notes", file_text="a file now\n")
            last = act(engine, "create", path="/memories/deep/er/x.md", file_text="x\n")
        await app.wait_for(lambda: app.actors[-1][2].endswith("x.md"))
        past = await travel(app)
        past.files.set_hidden(True)

        def stands(at: int) -> set[str]:
            return {path for path in past._history.get_state(at) if path}

        def shown() -> set[str]:
            contents = past.files.outline._contents
            return {entry.path for entry in contents.list_subtree("")} - set(past._ghosts)

        for key in ("left_square_bracket", "right_square_bracket"):
            for _ in range(last + 2):
                assert shown() == stands(past._point_in_time.at), past._point_in_time
                before = past._point_in_time.at
                await app.press(key)
                await app.rest()
                if past._point_in_time.at == before:
                    break
        assert past._point_in_time.at == last


async def test_what_memtui_found_had_been_there_before_it_looked(opened: Opening) -> None:
    async with opened() as app:
        past = await travel(app)
        await app.press("home")
        await app.rest()
        await app.press("left_square_bracket")
        await app.wait_for(lambda: past.message.text == "This is the beginning of the history.")
        assert "alpha.md" in rows(past)


async def test_before_the_first_note_there_is_nothing(opened: Opening) -> None:
    async with opened({}) as app:
        with app.engine() as engine:
            act(engine, "create", path="/memories/first.md", file_text="one\n")
        await app.wait_for(lambda: "first.md" in app.rows)
        past = await travel(app)
        await app.press("left_square_bracket")
        await app.wait_for(lambda: "Before the first event" in app.text)
        assert past._point_in_time.at == 0
        assert not len(past.files.outline)
        await app.press("left_square_bracket")
        await app.wait_for(lambda: past.message.text == "This is the beginning of the history.")
        await app.press("right_square_bracket")
        await app.wait_for(lambda: "first.md" in rows(past))


async def test_home_and_end_go_to_the_first_and_the_last_event(opened: Opening) -> None:
    async with opened() as app:
        made = await make_story(app)
        past = await travel(app)
        await app.press("home")
        await app.wait_for(lambda: past._point_in_time.at == 1 and past._ready)
        assert "zeta.txt" in rows(past)
        await app.press("end")
        await app.wait_for(lambda: past._point_in_time.at == made["delete"] and past._ready)


async def test_from_the_activity_it_begins_right_after_the_event_under_the_cursor(opened: Opening) -> None:
    async with opened() as app:
        made = await make_story(app)
        await app.press("3", "up", "up")
        assert app.browse.activity.cursor_item.seq == made["edit"]
        past = await travel(app)
        assert past._point_in_time.at == made["edit"]
        assert "notes/beta.md" in rows(past)
        assert past.files.cursor_path == "new.md"


@pytest.mark.parametrize("words", ["#{edit}", "{edit}"])
async def test_a_number_is_gone_to(opened: Opening, words: str) -> None:
    async with opened() as app:
        made = await make_story(app)
        past = await travel(app)
        await app.press("number_sign")
        await app.wait_for(lambda: isinstance(app.app.screen, PromptScreen))
        await app.press(*words.format(**made).replace("#", ""), "enter")
        await app.wait_for(lambda: past._point_in_time.at == made["edit"])


async def test_what_is_no_moment_is_said(opened: Opening) -> None:
    async with opened() as app:
        past = await travel(app)
        for words, said in (("soon", "Can't read 'soon' as a time"), ("9999", "No event #9999.")):
            await app.press("number_sign")
            await app.wait_for(lambda: isinstance(app.app.screen, PromptScreen))
            await app.press(*words, "enter")
            await app.wait_for(lambda said=said: said in past.message.text)


async def test_the_cursor_stays_once_the_person_has_moved_it(opened: Opening) -> None:
    async with opened() as app:
        made = await make_story(app)
        past = await travel(app)
        await to(app, past, made["edit"])
        await app.press("up")
        await app.wait_for(lambda: not past.follow)
        here = past.files.cursor_path
        await to(app, past, made["create"])
        assert past.files.cursor_path == here
        await app.press("f")
        await app.wait_for(lambda: past.files.cursor_path == "new.md")


async def test_a_note_is_restored_from_the_past_after_a_question(opened: Opening) -> None:
    async with opened() as app:
        made = await make_story(app)
        past = await travel(app)
        await to(app, past, made["create"])
        await app.press("R")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen) and "this note: new.md" in app.text)
        await app.press("f")
        await app.wait_for(lambda: isinstance(app.app.screen, ConfirmScreen) and "Restore new.md: 1 file" in app.text)
        await app.press("y")
        await app.wait_for(lambda: past.message.text.startswith("Restored new.md as of"))
        assert (app.folder / "new.md").read_text() == "one\n"


async def test_the_whole_folder_is_restored_and_the_question_counts(opened: Opening) -> None:
    async with opened() as app:
        await make_story(app)
        past = await travel(app)
        await app.press("home")
        await app.rest()
        await app.press("R")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen))
        await app.press("a")
        await app.wait_for(lambda: isinstance(app.app.screen, ConfirmScreen))
        await app.wait_for(lambda: "are newer and would be deleted" in app.text)
        await app.press("y")
        await app.wait_for(lambda: past.message.text.startswith("Restored the whole folder"))
        assert not (app.folder / "new.md").exists()
        assert (app.folder / "zeta.txt").exists()
        assert (app.folder / "notes" / "beta.md").exists()


async def test_looking_at_the_past_records_and_changes_nothing(opened: Opening) -> None:
    async with opened() as app:
        made = await make_story(app)
        past = await travel(app)
        await to(app, past, 1)
        await app.press("home", "end", "escape")
        with app.engine() as engine:
            assert engine.get_head()[0] == made["delete"]


async def test_in_a_read_only_session_nothing_is_restored_and_it_says_why(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            story(engine)
    async with opened({}, read_only=True) as app:
        past = await travel(app)
        assert "past.restore" not in {active.binding.id for active in past.active_bindings.values()}
        await app.press("R")
        await app.wait_for(lambda: past.message.text == "Read-only. Start without --read-only to edit.")


async def test_the_past_says_so_in_words_at_every_size(opened: Opening) -> None:
    async with opened(size=(60, 15)) as app:
        await make_story(app)
        past = await travel(app)
        for size in ((60, 15), (80, 24), (120, 36), (200, 50)):
            await app.pilot.resize_terminal(*size)
            await app.wait_for(lambda width=size[0]: past.query_one(Timeline).region.width == width, f"{size}")
            assert "AS OF" in app.text.splitlines()[0]
            for pane in past.query(".pane, Header, KeyLine, Timeline, #message"):
                assert not pane.display or pane.region in past.region
            assert all(len(line) <= size[0] for line in app.text.splitlines())


async def test_hostile_names_and_texts_of_the_past_are_text(opened: Opening) -> None:
    name = "[red]a\x1b[31m\u202ex.md"
    async with opened() as app:
        app.put(name, "\x1b]52;c;aGk=\x07 [@click=app.quit]x[/]\n")
        await app.wait_for(lambda: name in app.rows)
        (app.folder / name).unlink()
        await app.wait_for(lambda: app.actors[-1][1] == "deleted")
        past = await travel(app)
        assert name in past._ghosts
        await app.press("left_square_bracket")
        await app.wait_for(lambda: "[@click=app.quit]x[/]" in app.text)
        assert "[red]a\\x1b[31m<U+202E>x.md" in app.text
        assert "\x1b" not in app.text


async def test_ages_below_it_do_not_pass_so_nothing_repaints_it(opened: Opening) -> None:
    async with opened() as app:
        await make_story(app)
        await app.press("B")
        await app.wait_for(lambda: app.app.screen.blame is not None, "the blame")
        below = app.app.screen
        assert below._age_timer._timer is not None
        await travel(app)
        below._age_timer._end()
        assert below._age_timer._timer is None
        await app.press("escape")
        await app.wait_for(lambda: below._age_timer._timer is not None, "that ages pass again")
