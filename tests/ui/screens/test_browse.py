"""The browser driven by keys and mouse: panes, marks, sizes, menus, help and folders to choose."""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from textual.events import MouseDown, MouseEvent, MouseMove, MouseUp
from textual.widgets import Input, OptionList

from memtui.core.errors import StateUnusable
from memtui.core.events import Agent
from memtui.ui import key_queue
from memtui.ui.app import MemtuiApp
from memtui.ui.messages import FailureReported
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.dialogs import MenuScreen
from memtui.ui.screens.find import FindScreen
from memtui.ui.screens.graph import GraphScreen
from memtui.ui.screens.help import HelpScreen
from memtui.ui.screens.places import FolderPickerScreen
from memtui.ui.session import FolderSession
from tests.ui.test_random_keys import press_at_once

Opening = Callable[..., AbstractAsyncContextManager[Any]]
Starting = Callable[..., Any]

SIZES = [(60, 15), (80, 24), (120, 36), (200, 50)]


async def test_opening_shows_files_note_and_activity(opened: Opening) -> None:
    async with opened() as app:
        text = app.text
        for expected in ("1 Files", "alpha.md", "notes/", "beta.md", "3 Activity", "found", "following", "5 notes"):
            assert expected in text
        await app.to("alpha.md")
        assert "2 alpha.md" in app.text
        assert "The first note." in app.text
        assert ".hidden.md" not in app.rows


async def test_a_key_that_was_on_its_way_finds_no_action_on_a_screen_without_widgets(opened: Opening) -> None:
    async with opened() as app:
        known = app.app.screen
        assert known.check_action("leave", ())
        coming = BrowseScreen(str(app.folder), state=str(app.state), title="")
        actions = {binding.action.partition("(")[0] for _, binding in coming._bindings}
        assert "leave" in actions
        assert {action for action in actions if coming.check_action(action, ())} == set()
    assert {action for action in actions if known.check_action(action, ())} == set()


@pytest.fixture
def may_open(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Until it is set, no folder is opened."""
    event, open_engine = threading.Event(), FolderSession._open

    def open_later(session: FolderSession) -> object:
        assert event.wait(60)
        return open_engine(session)

    monkeypatch.setattr(FolderSession, "_open", open_later)
    return event


async def test_a_key_that_needs_the_folder_says_that_it_is_being_opened(
    opened: Opening, may_open: threading.Event
) -> None:
    async with opened(ready=False) as app:
        try:
            await app.wait_for_screen(BrowseScreen)
            for key in ("W", "O", "w", "V", "T", "D", "i", "slash", "e", "a", "r", "d", "u", "A"):
                app.browse.message.show_message(f"before {key}")
                await app.press(key)
                await app.wait_for(lambda: app.message == "Opening the folder. Try again in a moment.", key)
        finally:
            may_open.set()
        await app.wait_for(lambda: "alpha.md" in app.rows, "the folder")
        await app.press("W")
        await app.wait_for_screen(GraphScreen)


async def test_keys_typed_before_the_folder_is_shown_wait_for_it(
    opened: Opening, may_open: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_queue, "_LIMIT_SECONDS", 60.0)
    async with opened(ready=False) as app:
        try:
            await app.wait_for_screen(BrowseScreen)
            await press_at_once(app.app, ["slash", *"beta"])
            await app.rest()
            assert app.app.screen is app.browse
        finally:
            may_open.set()
        await app.wait_for_screen(FindScreen)
        await app.wait_for(lambda: app.app.screen.query_one(Input).value == "beta", "what was typed")


async def test_keys_do_not_wait_for_a_folder_that_cannot_be_opened(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: FolderSession) -> object:
        raise StateUnusable("There is no disk.")

    monkeypatch.setattr(FolderSession, "_open", fail)
    monkeypatch.setattr(key_queue, "_LIMIT_SECONDS", 60.0)
    async with opened(ready=False) as app:
        await app.wait_for_screen(BrowseScreen)
        await app.wait_for(lambda: app.message == "There is no disk.", "the reason")
        await app.press("question_mark")
        await app.wait_for_screen(HelpScreen)


async def test_panes_never_overlap(opened: Opening) -> None:
    async with opened(size=SIZES[0]) as app:
        app.put("alpha.md", "changed\n")
        for size in SIZES:
            await app.pilot.resize_terminal(*size)
            await app.wait_for(lambda: "changed" in app.text)
            cells: set[tuple[int, int]] = set()
            for pane in app.browse.query(".pane, Header, KeyLine, #message"):
                if pane.display and pane.region.area:
                    own = {(x, y) for x in range(pane.region.x, pane.region.right) for y in pane.region.line_range}
                    assert not own & cells, f"{pane} overlaps at {size}"
                    assert pane.region in app.browse.region
                    cells |= own
            assert "alpha.md" in app.text
            lines = app.text.splitlines()
            assert "memtui" in lines[0]
            assert "q quit" in lines[-1]


async def test_a_terminal_that_is_too_small_is_said_and_it_recovers(opened: Opening) -> None:
    async with opened(size=(80, 24)) as app:
        await app.pilot.resize_terminal(48, 12)
        await app.wait_for(lambda: "memtui needs 60x15 (now 48x12). q quit" in app.text)
        assert app.text.strip() == "memtui needs 60x15 (now 48x12). q quit"
        await app.pilot.resize_terminal(80, 24)
        await app.wait_for(lambda: "1 Files" in app.text and "alpha.md" in app.text)


async def test_what_had_the_focus_has_it_again_when_there_is_room_again(opened: Opening) -> None:
    async with opened(size=(80, 24)) as app:
        await app.pilot.press("2")
        await app.wait_for(lambda: app.browse.focused is app.browse.note)
        await app.pilot.resize_terminal(48, 12)
        await app.wait_for(lambda: "memtui needs" in app.text)
        await app.pilot.resize_terminal(80, 24)
        await app.wait_for(lambda: app.browse.focused is app.browse.note)


async def test_resizing_keeps_the_cursor_and_fills_the_screen(opened: Opening) -> None:
    async with opened(size=(200, 50)) as app:
        await app.to("zeta.txt")
        for size in (*SIZES, (100, 20), (99, 19), (160, 45), (120, 36)):
            await app.pilot.resize_terminal(*size)
            await app.wait_for(lambda size=size: app.browse.size == size)
            await app.pilot.pause()
            assert app.cursor == "zeta.txt"
            assert ">  " in app.text or ">" in app.text
            await app.wait_for(lambda size=size: all(len(line) <= size[0] for line in app.text.splitlines()), "it fits")


async def test_panes_by_number_and_tab(opened: Opening) -> None:
    async with opened() as app:
        for key, name in (("2", "note"), ("3", "activity"), ("1", "files")):
            await app.press(key)
            assert app.browse.focused.id == name
        seen = []
        for _ in range(4):
            seen.append(app.browse.focused.id)
            await app.press("tab")
        assert seen == ["files", "note", "activity", "files"]
        await app.press("shift+tab")
        assert app.browse.focused.id == "files"


async def test_3_brings_the_activity_back_where_it_was_put_away(opened: Opening) -> None:
    async with opened(size=(80, 18)) as app:
        assert "3 Activity" not in app.text
        await app.press("3")
        await app.wait_for(lambda: "3 Activity" in app.text)
        assert app.browse.focused.id == "activity"


async def test_zoom_and_sizes_give_and_take_room(opened: Opening) -> None:
    async with opened() as app:
        note, files = app.browse.note, app.browse.files
        before = (note.region, files.region)
        await app.press("2", "z")
        await app.wait_for(lambda: note.region.width == 120)
        assert files.region.area == 0
        await app.press("z")
        await app.wait_for(lambda: (note.region, files.region) == before)
        await app.press("plus")
        await app.wait_for(lambda: note.region.width > before[0].width)
        await app.press("plus")
        await app.wait_for(lambda: note.region.width == 120)
        await app.press("escape")
        await app.wait_for(lambda: (note.region, files.region) == before)
        await app.press("3", "plus", "plus")
        await app.wait_for(lambda: app.browse.activity.region.height > 30)
        await app.press("underscore", "underscore", "1")
        await app.wait_for(lambda: (note.region, files.region) == before)


async def test_the_divider_moves_by_keys_and_back(opened: Opening) -> None:
    async with opened() as app:
        files = app.browse.files
        width = files.region.width
        await app.press("greater_than_sign", "greater_than_sign", "less_than_sign")
        await app.wait_for(lambda: files.region.width == width + 2)
        await app.press("equals_sign")
        await app.wait_for(lambda: files.region.width == width)
        await app.press(*["greater_than_sign"] * 40)
        await app.pilot.pause()
        assert files.region.width <= 90
        await app.press("equals_sign")
        await app.wait_for(lambda: files.region.width == width)


def test_the_divider_is_dragged(terminal: Starting, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.md").write_text("a\n")
    screen = terminal("-m", "memtui", tmp_path / "folder")
    screen.wait_for(" note")
    screen.settle()
    assert screen.text.splitlines()[1].index("╮") == 37
    for move in ("\x1b[<0;38;6M", "\x1b[<32;60;6M", "\x1b[<0;60;6m"):
        screen.press(move)
    screen.wait_for(lambda: screen.text.splitlines()[1].index("╮") == 59)
    screen.press("=")
    screen.wait_for(lambda: screen.text.splitlines()[1].index("╮") == 37)


async def test_a_drag_moves_the_divider_and_lets_it_go_though_the_pane_under_the_mouse_is_busy(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(size=(120, 36)) as app, asyncio.timeout(30):
        screen, released = app.app.screen, asyncio.Event()
        release = screen.release_mouse
        monkeypatch.setattr(screen, "release_mouse", lambda: (release(), released.set()))

        def send(kind: type[MouseEvent], x: int, button: int) -> None:
            event = kind(None, x, 6, 0, 0, button, False, False, False, screen_x=x, screen_y=6)
            event.set_sender(app.app)
            app.app._driver.send_message(event)

        files = screen.query_one("#files")
        right = files.region.right
        screen.get_widget_at(right, 6)[0].call_next(released.wait)  # it is busy until then
        send(MouseDown, right, 1)
        send(MouseMove, right + 22, 1)
        send(MouseUp, right + 22, 1)
        try:
            await released.wait()
        finally:
            released.set()
        await app.wait_for(lambda: files.region.right == right + 23)
        send(MouseMove, 60, 0)
        await app.pilot.pause()
        assert files.region.right == right + 23
        assert app.app.mouse_captured is None


async def test_marks_are_walked_and_seen_one_by_one_or_all_at_once(opened: Opening) -> None:
    async with opened() as app:
        await app.press("f")
        for name in ("alpha.md", "notes/beta.md", "zeta.txt"):
            app.put(name, f"{name} has changed\n")
        await app.wait_for(lambda: "Files  ~3" in app.text)
        await app.press("home", "right_square_bracket")
        first = app.cursor
        await app.press("right_square_bracket")
        second = app.cursor
        await app.press("right_square_bracket")
        assert {first, second, app.cursor} == {"alpha.md", "notes/beta.md", "zeta.txt"}
        await app.press("left_square_bracket")
        assert app.cursor == second
        await app.note_of(second)
        await app.press("m")
        assert app.shown(second)[1] == " "
        assert "Files  ~2" in app.text
        await app.press("M")
        assert str(app.browse.files.border_title).endswith("Files")
        await app.press("right_square_bracket")
        assert app.message == "No unseen changes."


async def test_unseen_changes_are_counted_by_kind(opened: Opening) -> None:
    async with opened() as app:
        app.put("one.md", "new\n")
        app.put("notes/beta.md", "changed\n")
        (app.folder / "zeta.txt").unlink()
        await app.wait_for(lambda: str(app.browse.files.border_title).endswith("Files  +1 ~1 -1"))


async def test_a_folder_is_marked_as_seen_with_all_below_it(opened: Opening) -> None:
    async with opened() as app:
        app.put("notes/beta.md", "x\n")
        app.put("notes/gamma.md", "x\n")
        await app.wait_for(lambda: len(app.browse.event_marks) == 2)
        await app.press("home", "m")
        await app.wait_for(lambda: str(app.browse.files.border_title).endswith("Files"))


async def test_hidden_files_come_and_go(opened: Opening) -> None:
    async with opened() as app:
        await app.to("zeta.txt")
        await app.press("full_stop")
        await app.wait_for(lambda: ".hidden.md" in app.rows)
        assert app.cursor == "zeta.txt"
        await app.press("full_stop")
        await app.wait_for(lambda: ".hidden.md" not in app.rows)


async def test_the_sort_menu_sorts(opened: Opening) -> None:
    files = {"b_small.md": "x", "a_middle.md": "x" * 50, "c_large.md": "x" * 5_000}
    async with opened(files) as app:
        for age, name in enumerate(("c_large.md", "b_small.md", "a_middle.md")):
            os.utime(app.folder / name, (1_700_000_000 - age * 1_000,) * 2)
        await app.press("R")
        await app.wait_for(lambda: "Rescanned the folder" in app.message)
        for key, order in (("s", "cab"), ("S", "bac"), ("m", "cba"), ("M", "abc"), ("N", "cba"), ("n", "abc")):
            await app.press("comma")
            await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen))
            await app.press(key)
            await app.wait_for(lambda: app.message.startswith("Sorted") and isinstance(app.app.screen, BrowseScreen))
            await app.wait_for(lambda order=order: "".join(name[0] for name in app.rows) == order, f"{key}: {order}")


async def test_the_copy_menu_copies_path_or_content(opened: Opening) -> None:
    async with opened() as app:
        await app.to("zeta.txt")
        await app.press("y")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen))
        await app.press("p")
        await app.wait_for(lambda: app.app.clipboard == "/memories/zeta.txt")
        await app.press("y")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen))
        await app.press("down", "enter")
        await app.wait_for(lambda: app.app.clipboard == "plain text\n")
        assert app.message.startswith("Copied content")
        await app.press("y")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen))
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))


async def test_help_begins_with_the_most_used_keys_of_the_pane_and_enter_runs_one(opened: Opening) -> None:
    async with opened() as app:
        for key, own in (("1", "browse.find"), ("3", "activity.open"), ("2", "browse.find")):
            await app.press(key, "question_mark")
            await app.wait_for(lambda: isinstance(app.app.screen, HelpScreen))
            await app.wait_for(lambda: app.app.screen.query_one(OptionList).options, "its lines")
            options = app.app.screen.query_one(OptionList).options
            assert options[0].disabled
            headings = [index for index, option in enumerate(options) if option.disabled]
            assert headings[1] == 11
            assert options[1].id == own
            await app.press("escape")
            await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
        await app.press("question_mark")
        await app.wait_for(lambda: isinstance(app.app.screen, HelpScreen))
        options = app.app.screen.query_one(OptionList)
        options.highlighted = options.get_option_index("files.hidden")
        await app.press("enter")
        await app.wait_for(lambda: ".hidden.md" in app.rows)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / "memories").mkdir(parents=True)
    (home / "memories" / "found.md").write_text("# Found here\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    return home


@pytest.mark.usefixtures("home")
async def test_a_folder_is_chosen_by_its_number(opened: Opening) -> None:
    async with opened() as app:
        await app.press("o")
        await app.wait_for(lambda: isinstance(app.app.screen, FolderPickerScreen) and "memories" in app.text)
        await app.wait_for(lambda: "Memory folders on this machine" in app.text)
        await app.press("1")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen) and "found.md" in app.rows)
        await app.wait_for(lambda: "Found here" in app.text)
        assert "alpha.md" not in app.rows


@pytest.mark.usefixtures("home")
async def test_a_typed_folder_is_opened_and_a_missing_one_is_not_made(opened: Opening, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "other.md").write_text("# The other folder\n")
    async with opened() as app:
        await app.press("o")
        await app.wait_for(lambda: isinstance(app.app.screen, FolderPickerScreen))
        places = app.app.screen
        places.query_one(Input).focus()
        missing = tmp_path / "missing"
        places.query_one(Input).value = str(missing)
        await app.press("enter")
        await app.wait_for(lambda: "Nothing was created." in app.text and "No folder at" in app.text)
        assert not missing.exists()
        places.query_one(Input).value = str(other)
        await app.press("enter")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen) and "other.md" in app.rows)


@pytest.mark.usefixtures("home")
async def test_leaving_the_choice_goes_back_to_the_folder(opened: Opening) -> None:
    async with opened() as app:
        await app.press("o")
        await app.wait_for(lambda: isinstance(app.app.screen, FolderPickerScreen))
        await app.press("escape")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen))
        assert "alpha.md" in app.rows


@pytest.mark.usefixtures("home")
async def test_without_a_folder_it_asks_and_leaving_ends_it() -> None:
    app = MemtuiApp(None)
    async with app.run_test(size=(80, 24)) as pilot:
        while not isinstance(app.screen, FolderPickerScreen):
            await pilot.pause()
        await pilot.press("escape")
        while app.is_running and app.return_code is None:
            await pilot.pause()
    assert app.return_value == 0


async def test_a_folder_that_is_missing_is_said(tmp_path: Path) -> None:
    app = MemtuiApp(str(tmp_path / "missing"), state=str(tmp_path / "state"))
    async with app.run_test(size=(80, 24)) as pilot:
        while "No folder at" not in str(getattr(app.screen, "message", None) and app.screen.message.text):
            await pilot.pause()
    assert not (tmp_path / "missing").exists()


async def test_a_read_only_session_says_so_and_writes_nowhere(opened: Opening, tmp_path: Path) -> None:
    async with opened(read_only=True) as app:
        assert "READ-ONLY" in app.text.splitlines()[0]
        assert "READ-ONLY: nothing under" in app.text
        assert "READ-ONLY" in app.text
        assert "╔" in app.text
        assert app.app.title == "memtui (read-only)"
        app.put("new.md", "# From outside\n")
        await app.wait_for(lambda: "new.md" in app.rows)
        await app.to("new.md")
        assert "From outside" in app.text
        answer = app.browse.session.engine.execute({"command": "delete", "path": "/memories/new.md"}, actor=Agent("x"))
        assert answer.is_error
    assert not app.state.exists()
    assert not (tmp_path / "xdg-state" / "memtui" / "stores").exists()


async def test_a_broken_journal_is_set_aside_which_is_said_and_everything_works(
    opened: Opening, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    broken = b"this is not a database" * 1_000
    (state / "journal.db").write_bytes(broken)
    async with opened(state=state) as app:
        await app.wait_for(
            lambda: "A new history began here: the earlier journal was damaged" in app.text, "the reason"
        )
        assert "Earlier history is not known." in app.text
        await app.to("alpha.md")
        await app.wait_for(lambda: "The first note." in app.text)
        assert "READ-ONLY" not in app.text
    assert [path.read_bytes() for path in state.glob("journal-damaged-*.db")] == [broken]
    async with opened({}, state=state) as again:
        assert "A new history began here" not in again.text.split("3 Activity")[0]


async def test_looking_again_while_it_is_looked_already_is_no_fault(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as app:
        session = app.browse.session
        look, started, go_on = session.rescan, [], threading.Event()

        def slow() -> bool:
            started.append(1)
            go_on.wait(20)
            return look()

        monkeypatch.setattr(session, "rescan", slow)
        await app.press("R")
        await app.wait_for(lambda: len(started) == 1, "the first look")
        await app.press("R")
        await app.wait_for(lambda: len(started) == 2, "the second look")
        go_on.set()
        await app.wait_for(lambda: app.message == "Rescanned the folder.", "the end of it")
        assert app.app.is_running


async def test_what_the_session_cannot_read_for_a_moment_is_said_and_shown_later(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as app:
        session = app.browse.session
        events, failures, said = session.engine.journal.get_events, iter([True]), []

        def failing(*arguments: Any, **options: Any) -> Any:
            if next(failures, False):
                raise StateUnusable("The journal cannot be read.")
            return events(*arguments, **options)

        monkeypatch.setattr("memtui.ui.session._RETRY_SECONDS", 0.01)
        monkeypatch.setattr(session, "_post", lambda message, post=session._post: (said.append(message), post(message)))
        monkeypatch.setattr(session.engine.journal, "get_events", failing)
        (Path(session.folder) / "later.md").write_text("later")
        await app.wait_for(lambda: "later.md" in app.text, "the new file")
        assert [message.reason for message in said if isinstance(message, FailureReported)] == [
            "The journal cannot be read. Trying again."
        ]
