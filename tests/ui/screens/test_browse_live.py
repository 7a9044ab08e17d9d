"""What others do moves the panes, without a key, and under the right name."""

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.events import Agent, WatchMode
from memtui.engine import Engine
from memtui.ui import session
from memtui.ui.widgets.tree import changes
from memtui.ui.widgets.tree.view import TreeView

Opening = Callable[..., AbstractAsyncContextManager[Any]]
Run = Callable[..., Any]

AGENT = """
import sys, memtui
folder, state, *words = sys.argv[1:]
with memtui.open(folder, state=state) as memory:
    answer = memory.execute(
        {"command": "create", "path": "/memories/" + words[0], "file_text": words[1]}, actor=memtui.Agent("Clara")
    )
    assert not answer.is_error, answer.text
"""
WRITER = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"


def create(engine: Engine, name: str, text: str = "text\n", actor: str = "Clara") -> None:
    answer = engine.execute({"command": "create", "path": f"/memories/{name}", "file_text": text}, actor=Agent(actor))
    assert not answer.is_error, answer.text


def delete(engine: Engine, name: str) -> None:
    answer = engine.execute({"command": "delete", "path": f"/memories/{name}"}, actor=Agent("Clara"))
    assert not answer.is_error, answer.text


async def test_a_plain_write_by_another_process_shows_everywhere_as_outside(opened: Opening, run_python: Run) -> None:
    async with opened() as app:
        run_python(WRITER, app.folder / "new.md", "# Brand new\n")
        await app.wait_for(lambda: "new.md" in app.rows and "Brand new" in app.text)
        assert ("outside", "created", "/memories/new.md") in app.actors
        assert app.shown("new.md")[1] == "+"
        run_python(WRITER, app.folder / "alpha.md", "# Second text\n")
        await app.wait_for(lambda: "Second text" in app.text)
        assert app.actors[-1] == ("outside", "modified", "/memories/alpha.md")
        await app.wait_for(lambda: app.shown("alpha.md")[1] == "~", "the mark")


async def test_the_activity_goes_back_to_the_beginning_of_the_record(
    opened: Opening, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(session, "RECENT", 4)
    folder, state = tmp_path / "memories", tmp_path / "state"
    folder.mkdir()
    with memtui.open(folder, state=state) as engine:
        for number in range(10):
            create(engine, f"n{number}.md")
    async with opened({}, folder=folder, state=state) as app:
        view = app.screen.activity
        assert [row.path for row in view.items] == [f"/memories/n{number}.md" for number in (6, 7, 8, 9)]
        await app.press("3", "home")
        await app.wait_for(lambda: view.row_count == 8, "earlier ones")
        assert view.cursor_item.path == "/memories/n6.md", "the cursor is where it was"
        await app.press("home")
        await app.wait_for(lambda: [row.seq for row in view.items] == list(range(1, 11)), "the first event")


async def test_a_file_that_is_renamed_over_a_note_is_one_change_on_screen_as_well(opened: Opening) -> None:
    async with opened() as app:
        app.put(".tmp-1-abc", "# First\n")
        await app.wait_for(lambda: ".tmp-1-abc" in app.rows, "the temporary file")
        (app.folder / ".tmp-1-abc").replace(app.folder / "alpha.md")
        await app.wait_for(lambda: app.actors[-1] == ("outside", "modified", "/memories/alpha.md"), "the change")
        await app.wait_for(lambda: ".tmp-1-abc" not in app.rows, "no row of it")
        assert not any(path.endswith(".tmp-1-abc") for _, _, path in app.actors)
        assert app.browse.event_marks.find_below("") == ["alpha.md"]


async def test_since_you_last_looked_counts_only_what_was_not_on_screen(opened: Opening) -> None:
    async with opened() as app:
        app.put("watched.md", "new\n")
        await app.wait_for(lambda: "watched.md" in app.rows)
        await app.to("zeta.txt")
        await app.press("d")
        await app.wait_for(lambda: app.actors[-1][:2] == ("you", "delete"), "the deletion")
    with app.engine() as engine:
        create(engine, "unwatched.md")
        create(engine, "alpha.md", "another text\n")
        delete(engine, "watched.md")
    async with opened({}) as app:
        await app.wait_for(lambda: app.message.startswith("Since you last looked: 1 new, 1 changed, 1 deleted."))


async def test_an_agent_in_another_process_shows_under_its_own_name_only(opened: Opening, run_python: Run) -> None:
    async with opened() as app:
        before = len(app.actors)
        done = run_python(AGENT, app.folder, app.state, "from/afar.md", "# Written by Clara\n")
        assert done.returncode == 0, done.stderr
        await app.wait_for(lambda: "Written by Clara" in app.text)
        await app.press("R")
        await app.wait_for(lambda: "Rescanned the folder" in app.message)
        assert [row for row in app.actors[before:] if row[1] != "found"] == [
            ("Clara", "create", "/memories/from/afar.md")
        ]
        assert app.cursor == "from/afar.md"


async def test_a_second_engine_in_this_process_shows_under_its_own_name_only(opened: Opening) -> None:
    async with opened() as app:
        before = len(app.actors)
        with app.engine() as engine:
            create(engine, "one.md", "# One\n")
            create(engine, "one.md", "# Two\n")
            delete(engine, "alpha.md")
            engine.execute(
                {"command": "rename", "old_path": "/memories/zeta.txt", "new_path": "/memories/eta.txt"},
                actor=Agent("Clara"),
            )
        await app.wait_for(lambda: "eta.txt" in app.rows and len(app.actors) >= before + 4)
        await app.press("R")
        await app.wait_for(lambda: "Rescanned the folder" in app.message)
        assert [actor for actor, _, _ in app.actors[before:]] == ["Clara"] * 4
        assert app.shown("eta.txt")[1] == ">"
        assert "zeta.txt" not in app.rows


async def test_what_this_engine_did_is_never_outside(opened: Opening) -> None:
    async with opened() as app:
        before = len(app.actors)
        create(app.browse.session.engine, "mine.md")
        await app.wait_for(lambda: "mine.md" in app.rows)
        await app.press("R")
        await app.wait_for(lambda: "Rescanned the folder" in app.message)
        assert [row[0] for row in app.actors[before:]] == ["Clara"]


async def test_a_refusal_is_said_and_marked(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            answer = engine.execute(
                {"command": "str_replace", "path": "/memories/alpha.md", "old_str": "nowhere", "new_str": "x"},
                actor=Agent("Clara"),
            )
        assert answer.is_error
        await app.wait_for(lambda: app.message.startswith("Refused: Clara"))
        assert app.shown("alpha.md")[1] == "!"
        assert "Refused:" in app.text


async def test_following_goes_there_until_the_person_moves_and_again_on_f(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            create(engine, "notes/one.md", "# First jump\n")
            await app.wait_for(lambda: app.cursor == "notes/one.md" and "First jump" in app.text)
            assert "following" in app.text
            await app.press("up")
            await app.wait_for(lambda: "following" not in app.text)
            here = app.cursor
            create(engine, "notes/two.md")
            await app.wait_for(lambda: "notes/two.md" in app.rows)
            assert app.cursor == here
            await app.press("f")
            create(engine, "notes/three.md")
            await app.wait_for(lambda: app.cursor == "notes/three.md")
            await app.press("f")
            await app.wait_for(lambda: "following" not in app.text)


async def test_moving_in_the_activity_ends_following_and_opens_that_file(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            create(engine, "one.md")
            create(engine, "two.md")
        await app.wait_for(lambda: app.cursor == "two.md")
        await app.press("3", "up")
        await app.wait_for(lambda: app.cursor == "one.md" and "following" not in app.text)


async def test_pause_holds_the_screen_still_and_catches_up(opened: Opening) -> None:
    async with opened() as app:
        await app.press("P")
        await app.wait_for(lambda: "PAUSED" in app.text)
        rows, activity = app.rows, len(app.actors)
        with app.engine() as engine:
            create(engine, "while_away.md")
            create(engine, "second.md")
        await app.wait_for(lambda: "PAUSED, 2 new" in app.text)
        assert (app.rows, len(app.actors)) == (rows, activity)
        await app.press("P")
        await app.wait_for(lambda: "while_away.md" in app.rows and "second.md" in app.rows)
        assert len(app.actors) == activity + 2
        assert app.browse.header.status.live == "LIVE"
        assert "PAUSED" not in app.text


async def test_the_cursor_stays_on_its_file_when_others_come_and_go_above(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "GONE_SECONDS", 0.05)
    async with opened() as app:
        await app.press("f")
        await app.to("zeta.txt")
        row = app.rows.index("zeta.txt")
        for number in range(20):
            app.put(f"above{number}.md", "x\n")
        await app.wait_for(lambda: len([name for name in app.rows if name.startswith("above")]) == 20)
        assert (app.cursor, app.rows.index("zeta.txt")) == ("zeta.txt", row + 20)
        assert app.shown("zeta.txt").startswith(">")
        for number in range(20):
            (app.folder / f"above{number}.md").unlink()
        await app.wait_for(lambda: not [name for name in app.rows if name.startswith("above")])
        assert app.cursor == "zeta.txt"


@pytest.fixture
def drops(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What would drop deleted entries after a while, and does when it is called."""
    held: list[Callable[[], None]] = []
    set_timer = TreeView.set_timer

    def hold(tree: TreeView, delay: float, callback: Callable[[], None], **options: Any) -> Any:
        return held.append(callback) if delay == changes.GONE_SECONDS else set_timer(tree, delay, callback, **options)

    monkeypatch.setattr(TreeView, "set_timer", hold)
    return held


async def test_a_deleted_file_is_struck_through_and_dropped_later(
    opened: Opening, drops: list[Callable[[], None]]
) -> None:
    async with opened() as app:
        (app.folder / "zeta.txt").unlink()
        await app.wait_for(lambda: app.shown("zeta.txt")[1] == "-")
        files = app.browse.files
        line = files.render_line(app.rows.index("zeta.txt"))
        assert any(segment.style and segment.style.strike for segment in line if "zeta" in segment.text)
        files.call_later(drops[0])
        await app.wait_for(lambda: "zeta.txt" not in app.rows)


@pytest.mark.parametrize("keys", [(), ("M",)], ids=["changed", "marked as seen"])
async def test_a_file_that_comes_back_is_not_dropped(
    opened: Opening, drops: list[Callable[[], None]], keys: tuple[str, ...]
) -> None:
    async with opened() as app:
        (app.folder / "zeta.txt").unlink()
        await app.wait_for(lambda: app.shown("zeta.txt")[1] == "-")
        app.put("zeta.txt", "it is back\n")
        await app.wait_for(lambda: app.shown("zeta.txt")[1] == "~")
        await app.press(*keys)
        (app.folder / "alpha.md").unlink()
        await app.wait_for(lambda: len(drops) == 2)
        for drop in drops:
            app.browse.files.call_later(drop)
        await app.wait_for(lambda: "alpha.md" not in app.rows)
        assert "zeta.txt" in app.rows


async def test_a_whole_tree_that_goes_is_dropped(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "GONE_SECONDS", 0.05)
    async with opened() as app:
        shutil.rmtree(app.folder / "notes")
        await app.wait_for(lambda: not [name for name in app.rows if name.startswith("notes")])
        app.put("notes/again.md", "again\n")
        await app.wait_for(lambda: "notes/again.md" in app.rows)


async def test_the_deleted_file_under_the_cursor_says_so(opened: Opening) -> None:
    async with opened() as app:
        await app.to("zeta.txt")
        (app.folder / "zeta.txt").unlink()
        await app.wait_for(lambda: "Deleted. V shows all its versions." in app.text)


async def test_a_flood_arrives_whole(opened: Opening) -> None:
    async with opened({}) as app:
        for number in range(600):
            app.put(f"d{number % 7}/f{number}.md", f"{number}\n")
        await app.wait_for(lambda: app.browse.files.outline.files == 600)
        await app.wait_for(lambda: "600 notes" in app.text)
        with app.engine() as engine:
            made = [change.path for event in engine.events() for change in event.changes if change.before is None]
        assert len([path for path in made if path.endswith(".md")]) == 600


async def test_the_first_file_ends_the_empty_state(opened: Opening) -> None:
    async with opened({}) as app:
        assert "This folder has no notes yet." in app.text
        assert "e edit" not in app.text
        assert "u undo" not in app.text
        assert "/ find" not in app.text
        app.put("first.md", "# The first memory\n")
        await app.wait_for(lambda: "The first memory" in app.text)
        assert "This folder has no notes yet." not in app.text
        await app.wait_for(lambda: "e edit" in app.text and "u undo" in app.text, "the keys of a note")
        assert "/ find" in app.text
        (app.folder / "first.md").unlink()
        await app.wait_for(lambda: "This folder has no notes." in app.text)
        assert "u undo" in app.text  # what was there can come back
        app.put("first.md", "# The first memory\n")
        await app.wait_for(lambda: "The first memory" in app.text)
        await app.press("down", "2", "1")


async def test_the_view_of_an_empty_folder_counts_what_is_recorded_after_it_was_shown(opened: Opening) -> None:
    async with opened({}) as app:
        assert "This folder has no notes yet." in app.text
        assert "deleted note" not in app.text
        with app.engine() as engine:
            for number in range(3):
                create(engine, f"{number}.md")
                delete(engine, f"{number}.md")
        await app.wait_for(lambda: "list and restore 3 deleted notes" in app.text)


async def test_a_folder_that_vanishes_is_said_and_one_that_comes_back_is_live(opened: Opening, tmp_path: Path) -> None:
    async with opened() as app:
        aside = tmp_path / "aside"
        app.folder.rename(aside)
        await app.wait_for(lambda: app.browse._watching.mode is WatchMode.GONE)
        await app.wait_for(lambda: "missing" in app.text)
        assert "No folder at" in app.text or "not there" in app.text
        aside.rename(app.folder)
        await app.wait_for(lambda: app.browse._watching.mode is WatchMode.LIVE)
        app.put("after.md", "# After it came back\n")
        await app.wait_for(lambda: "After it came back" in app.text)
        assert not [row for row in app.actors if row[1] == "deleted"]


async def test_marks_and_what_was_seen_outlive_a_session(opened: Opening) -> None:
    async with opened() as app:
        app.put("alpha.md", "changed once\n")
        await app.wait_for(lambda: app.shown("alpha.md")[1] == "~")
        await app.press("M")
        await app.rest()
    (app.folder / "zeta.txt").write_text("changed while nobody looked\n")
    async with opened({}) as again:
        await again.wait_for(lambda: again.shown("zeta.txt")[1] == "~")
        assert again.shown("alpha.md")[1] == " "


async def test_a_link_out_that_appears_is_shown_and_not_followed(opened: Opening, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("outside\n")
    async with opened() as app:
        os.symlink(outside, app.folder / "door")
        await app.wait_for(lambda: "door" in app.rows)
        (outside / "another.md").write_text("outside\n")
        app.put("marker.md", "x\n")
        await app.wait_for(lambda: "marker.md" in app.rows)
        await app.press("R")
        await app.wait_for(lambda: "Rescanned the folder" in app.message)
        assert not [name for name in app.rows if name.startswith("door/")]
        assert not [row for row in app.actors if "another" in row[2] or "secret" in row[2]]


async def test_the_activity_goes_on_while_the_files_do_not_follow(opened: Opening) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        await app.press("home")
        await app.wait_for(lambda: "following" not in app.text)
        for number in range(20):
            app.put(f"new-{number:02}.md", "new\n")
            await app.wait_for(lambda number=number: f"new-{number:02}.md" in app.rows, "the file")
        await app.wait_for(lambda: "new-19.md" in app.text.partition("3 Activity")[2], "the newest row")
        here = app.cursor
        assert not app.browse.follow
        await app.press("3", "up")
        assert not app.browse.activity.follow
        app.put("last.md", "last\n")
        await app.wait_for(lambda: "last.md" in app.rows, "the file")
        assert app.cursor != "last.md"
        assert here is not None
        await app.press("end")
        await app.wait_for(lambda: app.browse.follow and app.browse.activity.follow, "following")


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        (("a.md", "MEMORY.md", "README.md"), "MEMORY.md"),
        (("a.md", "README.md", "notes/MEMORY.md"), "README.md"),
        (("a.md", "b.md"), "a.md"),
    ],
)
async def test_the_first_opening_shows_the_index(opened: Opening, files: tuple[str, ...], shown: str) -> None:
    async with opened(dict.fromkeys(files, "# Note\n")) as app:
        await app.note_of(shown)
        assert app.cursor == shown
        await app.to("a.md")
    async with opened({}) as app:
        await app.note_of("a.md")
        assert app.cursor == "a.md"


async def test_the_links_that_another_program_broke_by_a_rename_are_rewritten_on_demand(opened: Opening) -> None:
    files = {"MEMORY.md": "- [A](user_a.md)\n", "user_a.md": "one two three\n", "b.md": "[[user_a]]\n"}
    async with opened(files) as app:
        await app.press("colon", *"relink", "enter")
        await app.wait_for(lambda: app.message.startswith("No rename by an agent or another program broke"), "nothing")
        (app.folder / "user_a.md").rename(app.folder / "ann.md")
        await app.wait_for(lambda: "2 links lead nowhere since user_a.md was renamed." in app.message, "the offer")
        assert ":relink rewrites them." in app.text
        await app.press("colon", *"relink", "enter")
        await app.wait_for(lambda: app.message.startswith("Rewrote 2 links in 2 notes."), "the answer")
        assert (app.folder / "MEMORY.md").read_text() == "- [A](ann.md)\n"
        assert (app.folder / "b.md").read_text() == "[[ann]]\n"
        await app.press("u")
        await app.wait_for(lambda: (app.folder / "b.md").read_text() == "[[user_a]]\n", "the undo")
