"""The home: all folders by agent and project, live; one goes in and comes back, and searches all of them."""

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

import memtui
from memtui import sqlite_file
from memtui.audit.trend import KIND, SCHEMA
from memtui.config import Config, LoadedConfig
from memtui.config.settings import UiSettings
from memtui.flows import home_watch
from memtui.flows.home import FolderFacts, FolderFactsReader
from memtui.fs.state import AUDITS, COPY, get_state_directory, remember_folder
from memtui.places.claude_code import encode_path
from memtui.places.folders import MemoryLocation, MemoryOwner
from memtui.places.probe import DirectoryProber
from memtui.ui.app import MemtuiApp
from memtui.ui.screens import places as places_module
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.find_everywhere import FindEverywhereScreen
from memtui.ui.screens.places import FolderPickerScreen
from memtui.ui.widgets.home_rows import HomeRows, describe_home_folder
from tests.ui.conftest import screen_text, wait_for
from tests.ui.test_random_keys import press_at_once


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two projects of Claude Code, and the folders of two other agents."""
    home = tmp_path / "home"
    for name in ("one", "two"):
        project = home / "src" / name
        project.mkdir(parents=True)
        memory = home / ".claude" / "projects" / encode_path(str(project)) / "memory"
        memory.mkdir(parents=True)
        (memory / "MEMORY.md").write_text(f"# Index\n\nWe deploy {name} from main.\n")
        (memory.parent / "s.jsonl").write_text(json.dumps({"cwd": str(project)}) + "\n")
    for path, text in (
        (".codex/memories/memory_summary.md", "v1\ndeploy with make\n"),
        (".hermes/memories/MEMORY.md", "Tea.\n"),
    ):
        (home / path).parent.mkdir(parents=True)
        (home / path).write_text(text)
    for name in ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_REMOTE_MEMORY_DIR", "CODEX_HOME", "HERMES_HOME", "XDG_CONFIG_HOME",
                 "MEMTUI_DIR"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.chdir(home)
    monkeypatch.setattr(places_module, "_READ_SECONDS", 0.05)
    monkeypatch.setattr(places_module, "_SHARE", 1)
    return home


def write(folder: Path, name: str, actor: str) -> None:
    with memtui.open(folder) as memory:
        create = {"command": "create", "path": f"/memories/{name}", "file_text": "x\n"}
        assert not memory.execute(create, actor=memtui.Agent(actor)).is_error


async def reach_home(app: MemtuiApp, pilot: Pilot[int], folders: int = 4) -> OptionList:
    def is_listed() -> bool:
        return isinstance(app.screen, FolderPickerScreen) and app.screen.query_one(OptionList).option_count == folders

    await wait_for(app, pilot, is_listed, "the folders")
    return app.screen.query_one(OptionList)


def find_row(app: MemtuiApp, words: str) -> str:
    return next((line for line in screen_text(app).splitlines() if words in line), "")


async def test_each_row_tells_what_the_journal_and_the_last_audit_say(home: Path) -> None:
    folder = home / ".codex" / "memories"
    with memtui.open(folder) as memory:
        memory.set_metadata("seen", str(memory.get_head()[0]))
    write(folder, "a.md", "Codex\x1b[2J")
    document = {"schema": SCHEMA, "kind": KIND, "digest": "x", "audits": [[1, 3, 0, 0]], "fingerprints": []}
    (get_state_directory(str(folder)) / AUDITS).write_text(json.dumps(document))
    kept = sorted((path, path.stat().st_mtime_ns) for path in (home / "state").rglob("*"))
    app = MemtuiApp(None)
    async with app.run_test(size=(140, 30)) as pilot:
        await reach_home(app, pilot)
        await wait_for(app, pilot, lambda: "3 failures" in find_row(app, "Codex"))
        row = find_row(app, "Codex")
        assert "2 files, 22 B, " in row
        assert "ago by Codex\\x1b[2J, 1 unseen, 3 failures" in row
        rows = [line for line in screen_text(app).splitlines() if " ago" in line]
        owners = [next(word for word in ("Claude Code", "Codex", "Hermes") if word in row) for row in rows]
        assert sorted(owners) == ["Claude Code", "Claude Code", "Codex", "Hermes"]
        assert abs(owners.index("Claude Code") - (3 - owners[::-1].index("Claude Code"))) == 1, "side by side"
    assert sorted((path, path.stat().st_mtime_ns) for path in (home / "state").rglob("*")) == kept


@pytest.mark.usefixtures("home")
async def test_below_the_list_stands_what_the_agent_loads() -> None:
    app = MemtuiApp(None)
    async with app.run_test(size=(120, 30)) as pilot:
        options = await reach_home(app, pilot)
        hermes = next(at for at in range(4) if "Hermes" in str(options.get_option_at_index(at).prompt))
        options.highlighted = hermes
        words = "MEMORY.md loads whole, at most 2,200 characters; USER.md loads whole, at most 1,375 characters"
        await wait_for(app, pilot, lambda: words in screen_text(app), "the limits")
        options.highlighted = (hermes + 1) % 4
        await wait_for(app, pilot, lambda: words not in screen_text(app), "those of another")


async def test_rows_are_live(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places_module, "_FIND_SECONDS", 0.1)
    folder = home / ".hermes" / "memories"
    app = MemtuiApp(None)
    async with app.run_test(size=(100, 30)) as pilot:
        options = await reach_home(app, pilot)
        await pilot.press("end")
        here = app.screen.query_one("#place", Static).content
        (folder / "USER.md").write_text("Ada.\n")
        await wait_for(app, pilot, lambda: "2 files" in find_row(app, "Hermes"), "the new file")
        write(folder, "b.md", "Hermes 4")
        await wait_for(app, pilot, lambda: "by Hermes 4" in find_row(app, "~/.hermes"), "the writer")
        (home / "memories").mkdir()
        (home / "memories" / "a.md").write_text("a")
        await wait_for(app, pilot, lambda: options.option_count == 5, "the new folder")
        assert app.screen.query_one("#place", Static).content == here, "the cursor stays on its folder"
        (home / "memories" / "a.md").unlink()
        (home / "memories").rmdir()
        await wait_for(app, pilot, lambda: options.option_count == 4, "the end of the folder")


async def test_folders_are_watched_where_the_person_wants_it_and_it_is_said_which(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places_module, "_READ_SECONDS", 3_600.0)  # nothing else looks
    app = MemtuiApp(None)
    async with app.run_test(size=(120, 30)) as pilot:
        await reach_home(app, pilot)
        assert "Folders are not watched in the background" in screen_text(app)
        await pilot.press("f6")
        await wait_for(app, pilot, lambda: "watching 4 of 4" in screen_text(app), "the watches")
        write(home / ".hermes" / "memories", "b.md", "Hermes 4")
        await wait_for(app, pilot, lambda: "by Hermes 4" in find_row(app, "~/.hermes"), "the writer")
        await wait_for(app, pilot, lambda: "2 files" in find_row(app, "~/.hermes"), "the file")
        await pilot.press("f6")
        await wait_for(app, pilot, lambda: "watching 4 of 4" not in screen_text(app), "the end of the watches")
        monkeypatch.setattr(home_watch, "MOST_FOLDERS", 2)
        await pilot.press("f6")
        await wait_for(app, pilot, lambda: "watching 2 of 4" in screen_text(app), "two of them")
        assert "by Hermes 4" in find_row(app, "~/.hermes")
        await press_at_once(app, ["end", "end"])
        await wait_for(app, pilot, lambda: "not watched" in screen_text(app), "which are not")


async def test_watching_can_be_settled_for_good(home: Path) -> None:
    del home
    app = MemtuiApp(None, loaded=LoadedConfig(Config(ui=UiSettings(watch_home=True))))
    async with app.run_test(size=(80, 24)) as pilot:
        await reach_home(app, pilot)
        await wait_for(app, pilot, lambda: "watching 4 of 4" in screen_text(app), "the watches")


def test_what_is_watched_is_bounded_and_first_what_has_a_journal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / ".hermes" / "memories", "b.md", "Hermes")
    many = [MemoryLocation(f"/nowhere/{number}", f"/nowhere/{number}", 1, 1) for number in range(3)]
    large = MemoryLocation("/large", "/large", home_watch.MOST_FILES + 1, 1)
    dead = MemoryLocation("/dead", "/dead", 0, None, is_counted=False)
    recorded = MemoryLocation(str(home / ".hermes/memories"), "", home_watch.MOST_FILES + 1, 1)
    monkeypatch.setattr(home_watch, "MOST_FOLDERS", 3)
    assert home_watch.choose_watched([large, dead, *many, recorded]) == [recorded.path, "/nowhere/0", "/nowhere/1"]


async def test_one_goes_in_and_comes_back_to_where_one_was(home: Path) -> None:
    del home
    app = MemtuiApp(None)
    async with app.run_test(size=(100, 30)) as pilot:
        options = await reach_home(app, pilot)
        await pilot.press("down", "down")
        assert options.highlighted == 2
        path = app.screen._folders[2].path  # type: ignore[attr-defined]
        await pilot.press("enter")
        await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen) and ".md" in screen_text(app), "a note")
        await press_at_once(app, ["j", "backspace"])
        options = await reach_home(app, pilot)
        assert options.highlighted == 2
        assert "see a demo" not in screen_text(app)
        await pilot.press("escape")
        await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen), "the folder again")
        assert app.screen.session.folder == path  # type: ignore[attr-defined]
        await pilot.press("backspace")
        await reach_home(app, pilot)
        await pilot.press("home", "enter")
        await wait_for(
            app,
            pilot,
            lambda: isinstance(app.screen, BrowseScreen) and app.screen.session.folder != path,
            "another one",
        )
        assert sum(isinstance(screen, BrowseScreen) for screen in app.screen_stack) == 1


async def test_who_did_not_come_from_home_is_told_so(home: Path) -> None:
    app = MemtuiApp(str(home / ".codex" / "memories"))
    async with app.run_test(size=(100, 30)) as pilot:
        await wait_for(app, pilot, lambda: "memory_summary.md" in screen_text(app), "its file")
        await pilot.press("backspace")
        await wait_for(app, pilot, lambda: "Cannot go back: no link was followed." in screen_text(app))


async def test_a_search_finds_in_all_folders_and_opens_the_note_at_the_line(home: Path) -> None:
    app = MemtuiApp(None)
    async with app.run_test(size=(100, 30)) as pilot:
        await reach_home(app, pilot)
        await pilot.press("slash")
        await wait_for(app, pilot, lambda: isinstance(app.screen, FindEverywhereScreen), "the search")
        await pilot.press(*"deploy")
        await wait_for(app, pilot, lambda: "Found in 3 folders." in screen_text(app), "the results")
        shown = screen_text(app)
        assert "Codex  ~/.codex/memories" in shown
        assert "We deploy two from main." in shown
        assert not (home / "state" / "memtui" / "stores").exists(), "no journal is made to search"
        await press_at_once(app, [*" two", "enter"])
        await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen), "the folder")
        await wait_for(app, pilot, lambda: "We deploy two from main." in screen_text(app), "the note")
        assert app.screen.session.folder.endswith("-two/memory")  # type: ignore[attr-defined]
        await pilot.press("backspace")
        await reach_home(app, pilot)
        await pilot.press("slash")
        await wait_for(app, pilot, lambda: "Found in 1 folder." in screen_text(app), "the same query")


async def test_beside_the_results_of_all_folders_stands_the_note(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = dict.fromkeys([str(home / ".codex/memories")], None)

    class Prober(DirectoryProber):
        def is_directory(self, path: str) -> bool | None:
            return answers.get(path, True)

    monkeypatch.setattr("memtui.ui.screens.find_everywhere.DirectoryProber", Prober)
    app = MemtuiApp(None)
    async with app.run_test(size=(120, 30)) as pilot:
        await reach_home(app, pilot)
        await press_at_once(app, ["slash", *"We deploy two"])
        await wait_for(app, pilot, lambda: "# Index" in screen_text(app), "the text of the note")
        assert "line 3" in screen_text(app)
        await press_at_once(app, ["ctrl+u", *"make"])
        await wait_for(app, pilot, lambda: "The disk of this folder does not respond." in screen_text(app))
        await pilot.resize_terminal(80, 24)
        await wait_for(app, pilot, lambda: not app.screen.query_one("#beside").display, "the list alone")
        await pilot.resize_terminal(120, 30)
        answers.clear()
        await press_at_once(app, ["ctrl+u", *"Tea"])
        await wait_for(app, pilot, lambda: screen_text(app).count("Tea.") == 2, "a result and its note")


async def test_a_search_says_what_it_cannot_do(home: Path) -> None:
    (home / ".codeium/windsurf/memories").mkdir(parents=True)
    (home / ".codeium/windsurf/memories/0.pb").write_text("deploy")
    app = MemtuiApp(None)
    async with app.run_test(size=(100, 30)) as pilot:
        await reach_home(app, pilot, 5)
        await wait_for(app, pilot, lambda: "cannot be read" in find_row(app, "Windsurf"))
        await press_at_once(app, ["slash", *"zebra", "enter"])
        await wait_for(app, pilot, lambda: "Nothing to open." in screen_text(app))
        line = app.screen.query_one(Input)
        line.value = "make"
        await wait_for(app, pilot, lambda: "not searched: ~/.codeium/windsurf/memories." in screen_text(app))
        line.value = "re:("
        await wait_for(app, pilot, lambda: "Invalid regular expression" in screen_text(app))
        line.value = ""
        await wait_for(app, pilot, lambda: "since:" in screen_text(app), "the syntax")
        await pilot.press("escape")
        await reach_home(app, pilot, 5)


async def test_a_second_slash_types_a_path_from_the_root(home: Path) -> None:
    app = MemtuiApp(None)
    async with app.run_test(size=(100, 30)) as pilot:
        await reach_home(app, pilot)
        await press_at_once(app, ["slash", "slash", *str(home)[1:]])
        await wait_for(app, pilot, lambda: isinstance(app.screen, FolderPickerScreen), "the home")
        await wait_for(app, pilot, lambda: app.screen.query_one(Input).value == str(home), "the path")


async def test_of_thousands_of_folders_only_those_on_screen_are_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del home
    count = 2_000
    listed = [
        MemoryLocation(
            f"/nowhere/{number}", f"/nowhere/{number}", 1, 1, MemoryOwner.CLAUDE_CODE, f"/src/a-project-{number}", True
        )
        for number in range(count)
    ]
    read: list[str] = []

    def read_facts(_: FolderFactsReader, folder: str) -> FolderFacts:
        read.append(folder)
        return FolderFacts(unseen=7)

    monkeypatch.setattr(places_module, "find_memory_folders", lambda **_: listed)
    monkeypatch.setattr(places_module, "refresh_folder", lambda place, _: place)
    monkeypatch.setattr(FolderFactsReader, "read", read_facts)
    app = MemtuiApp(None)
    async with app.run_test(size=(100, 30)) as pilot:
        options = await reach_home(app, pilot, count)
        await wait_for(app, pilot, lambda: screen_text(app).count("7 unseen") == options.size.height, "the rows")
        assert set(read) == {f"/nowhere/{number}" for number in range(options.size.height)}
        await pilot.press("end")
        await wait_for(app, pilot, lambda: "7 unseen" in find_row(app, "a-project-1999"), "the last row")
        assert len(set(read)) <= 3 * options.size.height
        assert "2,000 folders by agent" in screen_text(app)


@pytest.mark.parametrize("width", [60, 72, 112, 192])
def test_rows_tell_folders_apart_and_drop_what_has_no_room(width: int) -> None:
    places = [
        MemoryLocation(
            f"/{number}", f"~/{number}", 1_234, 1, MemoryOwner.CLAUDE_CODE,
            f"/home/somebody/src/a-project-of-a-name-that-is-long-{number}", number % 2 == 0, size=5_000,
        )
        for number in range(30)
    ]  # fmt: skip
    facts = FolderFacts(unseen=12, writer="An agent of a very long name", written_ns=1, failures=3)
    rows = HomeRows(places, width)
    lines = [rows.format(number, place, facts).plain for number, place in enumerate(places)]
    assert len({line[5:] for line in lines}) == len(places)
    assert all(len(line) <= max(width, 66) for line in lines)
    assert all("1,234 files" in line for line in lines)


def test_what_is_urgent_stays_longest() -> None:
    place = MemoryLocation("/a", "/a", 12, 1, size=5_000)
    facts = FolderFacts(unseen=2, writer="Claude", written_ns=1, failures=1)
    assert describe_home_folder(place, facts, 80).endswith(" by Claude, 2 unseen, 1 failure")
    assert "4.9K" in describe_home_folder(place, facts, 80)
    narrow = describe_home_folder(place, facts, 38)
    assert "Claude" not in narrow
    assert narrow.endswith("2 unseen, 1 failure")


async def test_stores_are_a_group_of_their_own_and_open_as_folders_do(home: Path) -> None:
    place = f"sqlite:{home}/{'a-name-that-goes-on/' * 4}team.db"
    (home / ("a-name-that-goes-on/" * 4)).mkdir(parents=True)
    with memtui.open(place) as memory:
        create = {"command": "create", "path": "/memories/tea.md", "file_text": "We drink zebra tea.\n"}
        assert not memory.execute(create, actor=memtui.Agent("Planner")).is_error
    app = MemtuiApp(None)
    async with app.run_test(size=(120, 30)) as pilot:
        options = await reach_home(app, pilot, 6)
        await wait_for(app, pilot, lambda: "by Planner" in find_row(app, "team.db"), "the writer")
        lines = screen_text(app).splitlines()
        heading = next(at for at, line in enumerate(lines) if line.strip() == "Stores")
        assert "  5  sqlite:~/a-name" in lines[heading + 1]
        assert ".." in lines[heading + 1].split("SQLite file")[0], "cut in the middle"
        assert "Memory folders and stores opened before" in screen_text(app)
        await pilot.press("end")
        assert options.highlighted == 5
        assert f"sqlite:~/{'a-name-that-goes-on/' * 4}team.db" in screen_text(app)
        await pilot.press("up")
        assert options.highlighted == 3, "the heading is no choice"
        await press_at_once(app, ["slash", *"zebra"])
        await wait_for(app, pilot, lambda: "Found in 1 place." in screen_text(app), "the text of the store")
        await press_at_once(app, ["enter"])
        await wait_for(app, pilot, lambda: "We drink zebra tea." in screen_text(app), "the note")
        await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen), "the store")
        assert app.screen.session.folder == place  # type: ignore[attr-defined]
        await pilot.press("backspace")
        options = await reach_home(app, pilot, 6)
        assert options.highlighted == 5
        await press_at_once(app, ["5"])
        await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen), "the store by its number")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("sqlite:/nowhere/at.db", "No folder at /nowhere, in which the file could be made."),
        ("postgres://me:hunter2@db.example/app", "Put it into ~/.pgpass, or PGPASSWORD."),
        ("postgres://me@/app?host=/nowhere", "The server cannot be reached"),
    ],
)
async def test_an_address_that_cannot_be_opened_leaves_one_at_home(home: Path, typed: str, said: str) -> None:
    del home
    app = MemtuiApp(None)
    async with app.run_test(size=(120, 30)) as pilot:
        await reach_home(app, pilot)
        app.screen.query_one(Input).value = typed
        await pilot.press("enter")
        await wait_for(app, pilot, lambda: said in screen_text(app), "the sentence")
        assert isinstance(app.screen, FolderPickerScreen)
        await reach_home(app, pilot)


async def test_an_address_that_is_typed_is_opened(home: Path) -> None:
    app = MemtuiApp(None)
    async with app.run_test(size=(120, 30)) as pilot:
        await reach_home(app, pilot)
        app.screen.query_one(Input).value = "sqlite:~/new.db"
        await pilot.press("enter")
        await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen), "the store")
        assert app.screen.session.folder == f"sqlite:{home}/new.db"  # type: ignore[attr-defined]


@pytest.mark.usefixtures("home")
async def test_a_store_whose_server_is_away_opens_under_its_banner() -> None:
    place = "postgres://me@/app?host=/nowhere&application_name=hunter2&store=team"
    where = get_state_directory(place)
    where.mkdir(parents=True)
    with sqlite_file.connect(f"sqlite:{where / COPY}", state=where) as memory:
        create = {"command": "create", "path": "/memories/tea.md", "file_text": "We drink tea.\n"}
        assert not memory.execute(create, actor=memtui.Agent("Planner")).is_error
    remember_folder(where, place)
    app = MemtuiApp(None)
    async with app.run_test(size=(120, 30)) as pilot:
        await reach_home(app, pilot, 6)
        await wait_for(app, pilot, lambda: "by Planner" in find_row(app, "postgres://"), "what the copy says")
        assert "hunter2" not in screen_text(app)
        await press_at_once(app, ["5"])
        await wait_for(app, pilot, lambda: "The last known notes are shown." in screen_text(app), "the banner")
        await wait_for(app, pilot, lambda: "We drink tea." in screen_text(app), "the note")
