"""The history screen over a real memory: what is compared, what is restored, and what is left alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

import memtui
from memtui.core.events import Actor, Agent, Person
from memtui.core.unicode import HIDDEN
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.ui.screens.history import HistoryScreen
from tests.ui.conftest import ScreenApp, ScreenDriver

CLAUDE = Agent("Claude")
TEN = "".join(f"line {number}\n" for number in range(1, 11))


class Open(ScreenDriver):
    """The history above an empty screen."""

    def __init__(self, app: ScreenApp, pilot: Pilot[int], engine: Engine) -> None:
        super().__init__(app, pilot, HistoryScreen)
        self.engine = engine

    @property
    def screen(self) -> HistoryScreen:
        return self.app.pushed

    @property
    def rows(self) -> list[str]:
        view = self.screen.versions
        return [view.render_line(y).text.rstrip() for y in range(view.row_count)]

    @property
    def diff(self) -> list[str]:
        view = self.screen.diff
        lines = [view.render_line(y).text.rstrip() for y in range(view.size.height)]
        return [line for line in lines if line]

    @property
    def titles(self) -> str:
        return str(self.screen.diff.border_title)

    async def press(self, *keys: str) -> None:
        await super().press(*keys)
        await self.rest()

    async def rest(self) -> None:
        for _ in range(2):
            await self.wait_for(lambda: all(worker.is_finished for worker in self.app.workers), "the workers")
            await self.pilot.pause()
        await self.wait_for(lambda: not self.screen._reading, "the versions")
        await self.wait_for(
            lambda: self.screen._shown is not None and self.screen._shown.pair == self.screen._pair, "the comparison"
        )
        await self.pilot.pause()


class Memory:
    """A memory whose past a test writes."""

    def __init__(self, place: Path) -> None:
        self.folder = place / "memories"
        self.folder.mkdir()
        self.state = place / "state"
        self.engine = memtui.open(self.folder, state=self.state)

    def do(self, command: str, actor: Actor = CLAUDE, **fields: object) -> int:
        answer = self.engine.execute({"command": command, **fields}, actor=actor, call_id="toolu_01A9")
        assert not answer.is_error, answer.text
        return answer.event.seq

    def write(self, path: str, text: str, actor: Actor = CLAUDE) -> int:
        return self.do("create", actor, path=f"/memories/{path}", file_text=text)

    def read(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()

    def reopen(self, *, read_only: bool) -> None:
        self.engine.close()
        self.engine = memtui.open(self.folder, state=self.state, read_only=read_only)

    def shown(
        self, path: str = "a.md", *, size: tuple[int, int] = (80, 24), diff_first: bool = False, at: int | None = None
    ) -> AbstractAsyncContextManager[Open]:
        @asynccontextmanager
        async def show() -> AsyncIterator[Open]:
            app = ScreenApp(HistoryScreen(self.engine, path, title="~/memories", diff_first=diff_first, at=at))
            async with app.run_test(size=size) as pilot:
                opened = Open(app, pilot, self.engine)
                await opened.wait_for(lambda: app.screen is app.pushed, "the screen")
                await opened.wait_for(lambda: app.pushed.versions.row_count, "the versions")
                await opened.rest()
                yield opened

        return show()


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path)


# What is shown


async def test_the_newest_version_is_selected_and_its_change_is_shown(memory: Memory) -> None:
    memory.write("a.md", "one\ntwo\n")
    memory.write("a.md", "one\nTWO\n", Person())
    async with memory.shown() as app:
        assert app.rows[0].startswith(">B now   ~ you")
        assert app.rows[0].endswith("+1 -1")
        assert app.rows[1].startswith(" A ")
        assert "+ Claude" in app.rows[1]
        assert app.diff == ["   one", "┃- two", "┃+ TWO"]
        assert "2 Diff" in app.titles
        assert "> now" in app.titles
        assert "unified" in app.titles
        assert "hunk 1/1  +1 -1" in app.text
        assert "B you overwrote it at " in app.text
        assert "create, call toolu_01A9, #2" in app.text


async def test_the_first_version_is_compared_with_nothing(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    async with memory.shown() as app:
        assert app.diff == ["┃+ one"]
        assert "nothing > now" in app.titles


async def test_it_opens_where_it_is_asked_to(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    second = memory.write("a.md", "two\n")
    memory.write("b.md", "other\n")
    memory.write("a.md", "three\n")
    async with memory.shown(at=second, diff_first=True) as app:
        assert app.screen.focused is app.screen.diff
        assert app.rows[1].startswith(">B")
        assert app.diff == ["┃- one", "┃+ two"]
        await app.press("v")
        assert app.screen.focused is app.screen.versions
        await app.press("enter")
        assert app.screen.focused is app.screen.diff


async def test_brackets_go_from_version_to_version_in_either_pane(memory: Memory) -> None:
    for text in ("one\n", "two\n", "three\n"):
        memory.write("a.md", text)
    async with memory.shown(diff_first=True) as app:
        await app.press("left_square_bracket")
        assert app.diff == ["┃- one", "┃+ two"]
        await app.press("left_square_bracket")
        assert app.diff == ["┃+ one"]
        await app.press("right_square_bracket", "right_square_bracket")
        assert app.diff == ["┃- two", "┃+ three"]


async def test_any_two_versions_are_compared_the_older_one_first(memory: Memory) -> None:
    for text in ("one\n", "two\n", "three\n", "four\n"):
        memory.write("a.md", text)
    async with memory.shown() as app:
        await app.press("space", "left_square_bracket", "left_square_bracket", "left_square_bracket")
        assert app.diff == ["┃- one", "┃+ four"]
        await app.press("space", "right_square_bracket")
        assert app.diff == ["┃- one", "┃+ four"]
        assert [row[1] for row in app.rows] == ["B", " ", " ", "A"]
        assert "A and B picked" in str(app.screen.versions.border_subtitle)
        await app.press("space")
        assert app.diff == ["┃- one", "┃+ two"]
        await app.press("escape")
        assert not app.app.left
        await app.press("home")
        assert app.diff == ["┃- three", "┃+ four"]
        await app.pilot.press("escape")
        await app.wait_for(lambda: app.app.left)


async def test_a_rename_says_that_only_the_name_changed(memory: Memory) -> None:
    memory.write("prefs.md", "one\n")
    memory.do("rename", old_path="/memories/prefs.md", new_path="/memories/a.md")
    async with memory.shown() as app:
        assert "> Claude" in app.rows[0]
        assert app.rows[0].endswith("renamed")
        assert "Only the name changed" in app.text
        assert "renamed from prefs.md" in app.text
        await app.press("left_square_bracket")
        assert app.diff == ["┃+ one"]


async def test_equal_versions_have_no_difference(memory: Memory) -> None:
    for text in ("one\n", "two\n", "one\n"):
        memory.write("a.md", text)
    async with memory.shown() as app:
        await app.press("space", "end")
        assert "No difference" in app.text
        await app.press("y")
        assert app.message == "No diff to copy."
        await app.press("r")
        assert app.message == "No hunk to revert."


async def test_a_text_that_is_not_kept_says_so(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    memory.write("a.md", "two\n")
    memory.engine.redact(event=1)
    async with memory.shown() as app:
        assert "is not kept" in app.text
        await app.press("end", "R")
        assert app.message.startswith("Not restored: ")
        assert memory.read("a.md") == "two\n"


async def test_side_by_side_from_110_columns_and_by_hand(memory: Memory) -> None:
    memory.write("a.md", "one\ntwo words here\n")
    memory.write("a.md", "one\ntwo words there\nthree\n")
    async with memory.shown(size=(110, 30)) as app:
        assert "A  " in app.titles
        assert "side by side" in app.titles
        first, second, third = app.diff[:3]
        assert first.split("│")[0].split() == ["1", "one"]
        assert [half.split() for half in second.split("│")] == [
            ["┃", "2", "-", "two", "words", "here"], ["2", "+", "two", "words", "there"],
        ]  # fmt: skip
        assert [half.split() for half in third.split("│")] == [["┃"], ["3", "+", "three"]]
        await app.press("s")
        assert app.diff == ["   one", "┃- two words here", "┃+ two words there", "┃+ three"]
        await app.pilot.resize_terminal(100, 30)
        await app.press("s")
        assert "│" in app.diff[0]
        assert "A you" in app.text or "A Claude" in app.text


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (109, 30), (110, 30), (120, 36), (200, 50)])
async def test_the_edges_fit_every_size(memory: Memory, size: tuple[int, int]) -> None:
    memory.write("a.md", "one\n")
    memory.write("a.md", "two\n", Agent("An agent with quite a long name"))
    async with memory.shown(size=size) as app:
        for keys in ((), ("s",), ("s", "w")):
            await app.press(*keys)
            lines = app.text.split("\n")
            assert all(cell_len(line) <= size[0] for line in lines)
            assert "…" not in lines[1]
            view = app.screen.diff
            if "side by side" in app.titles:
                column = view.region.x + lines[1][view.region.x :].index("┬")
                assert lines[2][column] == "│"


async def test_too_small_a_terminal_says_so_and_recovers(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    async with memory.shown(size=(59, 14)) as app:
        assert "memtui needs 60x15 (now 59x14)" in app.text
        await app.pilot.resize_terminal(80, 24)
        await app.rest()
        assert app.diff == ["┃+ one"]


async def test_hunks_words_and_folds_have_keys(memory: Memory) -> None:
    memory.write("a.md", TEN * 3)
    memory.write("a.md", "first\n" + TEN * 3 + "last\n")
    async with memory.shown() as app:
        assert app.diff[-2:] == ["   line 10", " + last"]
        assert "   ... 24 unchanged lines (x: expand)" in app.diff
        await app.press("n")
        assert app.diff[-1] == "┃+ last"
        assert str(app.screen.diff.border_subtitle).startswith("hunk 2/2")
        await app.press("n")
        assert app.diff[0] == "┃+ first"
        await app.press("N", "x")
        assert not any("unchanged" in line for line in app.diff)
        assert app.diff[-1] == "┃+ last"
        await app.press("x", "w")
        assert any("unchanged" in line for line in app.diff)
        assert "lines" in app.titles


async def test_a_click_shows_folded_lines(memory: Memory) -> None:
    memory.write("a.md", TEN * 5)
    memory.write("a.md", TEN * 5 + "last\n")
    async with memory.shown() as app:
        assert app.diff[0] == "   ... 47 unchanged lines (x: expand)"
        await app.pilot.click("#diff", offset=(8, 1))
        await app.rest()
        assert not any("unchanged" in line for line in app.diff)
        await app.press("g")
        assert app.diff[:2] == ["   line 1", "   line 2"]


async def test_the_current_hunk_is_one_that_is_in_view(memory: Memory) -> None:
    memory.write("a.md", "".join(f"{number}\n" for number in range(200)))
    memory.write("a.md", "".join(f"{number}{'!' * (number % 20 == 0)}\n" for number in range(200)))
    async with memory.shown(diff_first=True) as app:
        await app.press("pagedown", "pagedown")
        assert any(line.startswith("┃") for line in app.diff)
        await app.press("G")
        assert app.screen.diff.position == (10, 10)
        await app.press("g")
        assert any(line.startswith("┃") for line in app.diff)


async def test_other_line_ends_and_bytes_that_are_no_text_are_told(memory: Memory) -> None:
    memory.write("a.md", "one\ntwo\n")
    (memory.folder / "a.md").write_bytes(b"one\r\ntw\xff\r\n")
    memory.engine.reconcile()
    async with memory.shown() as app:
        assert app.diff[0] == "   Line ends: LF before, CRLF after. Not"
        assert "┃+ one\\x0d" in app.diff
        assert "┃+ tw\\xff\\x0d" in app.diff
        await app.press("r")
        assert memory.read("a.md") == "one\ntwo\n"


async def test_links_that_a_change_added_and_removed_are_listed_beside_its_lines(memory: Memory) -> None:
    memory.write("a.md", "one [[tea]]\n")
    memory.write("a.md", "one\n- part_of [[kitchen]]\n")
    async with memory.shown() as app:
        said = " ".join(line.strip() for line in app.diff[:2])
        assert said == "Links added: part_of kitchen. Links removed: tea."


async def test_a_missing_last_newline_is_told(memory: Memory) -> None:
    memory.write("a.md", "one\ntwo")
    memory.write("a.md", "one\ntwo\n")
    async with memory.shown() as app:
        assert app.diff == ["   one", "┃- two", "┃  no newline at the end", "┃+ two"]


HOSTILE = "\x1b]52;c;QQ==\x07 [/x] [@click=app.quit]x[/] \u202egnp.exe \U000e0041 \x9b2J"


async def test_hostile_texts_and_names_are_shown_and_do_nothing(memory: Memory) -> None:
    (memory.folder / "[b]\x1b.md").write_text("one\n")
    memory.engine.reconcile()
    (memory.folder / "[b]\x1b.md").write_text(HOSTILE + "\n" + "\u202e" * 300 + "\n")
    memory.engine.reconcile()
    memory.write("a.md", HOSTILE, Agent("[/x]\x1b[2J\u202e"))
    for path in ("[b]\x1b.md", "a.md"):
        async with memory.shown(path, size=(120, 36)) as app:
            assert HIDDEN.search(app.text.replace("\n", " ")) is None
            if "side" in app.titles:
                await app.press("s")
            assert "\\x1b]52;c;QQ==\\x07 [/x] [@click=app.quit]x[/] <U+202E>gnp.exe" in "".join(app.diff)
            assert "[b]\\x1b.md" in app.text or "[/x]\\x" in app.text
            await app.press("s", "w", "n", "y", "x", "G")
            assert HIDDEN.search(app.text.replace("\n", " ")) is None


# What is done


async def test_restoring_makes_a_new_version(memory: Memory) -> None:
    for text in ("one\n", "two\n", "three\n"):
        memory.write("a.md", text)
    async with memory.shown() as app:
        await app.press("left_square_bracket", "left_square_bracket", "R")
        assert memory.read("a.md") == "one\n"
        assert app.message.startswith("Restored a.md as of ")
        assert app.message.endswith("New version 4; nothing was lost.")
        assert len(app.rows) == 4
        assert app.rows[3].startswith(">")
        await app.press("home", "R")
        assert app.message.startswith("Nothing to restore: this is the current version")
        event = memory.engine.history.versions_of("a.md")[0].event
        assert (event.command, event.actor, event.note) == ("restore", Person(), "as of #1")


async def test_of_two_picked_versions_the_older_one_is_restored(memory: Memory) -> None:
    for text in ("one\n", "two\n", "three\n"):
        memory.write("a.md", text)
    async with memory.shown() as app:
        await app.press("left_square_bracket", "space", "home", "R")
        assert memory.read("a.md") == "two\n"


async def test_what_was_deleted_comes_back(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    memory.do("delete", path="/memories/a.md")
    async with memory.shown() as app:
        assert "- Claude" in app.rows[0]
        assert app.diff == ["┃- one"]
        await app.press("R")
        assert memory.read("a.md") == "one\n"
        assert "New version 3;" in app.message


async def test_what_changed_meanwhile_is_not_written_over(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    memory.write("a.md", "two\n")
    async with memory.shown() as app:
        await app.press("end")
        (memory.folder / "a.md").write_text("somebody's\n")
        await app.press("R")
        assert memory.read("a.md") == "somebody's\n"
        assert "Not restored: a.md has changed since (another program, " in app.message


async def test_one_hunk_is_taken_back_and_every_other_byte_stays(memory: Memory) -> None:
    before = "\ufefffirst\r\n" + TEN + "last"
    after = "\ufeffFIRST\r\n" + TEN + "LAST"
    memory.write("a.md", before)
    memory.write("a.md", after)
    async with memory.shown() as app:
        await app.press("n", "r")
        assert memory.read("a.md") == "\ufeffFIRST\r\n" + TEN + "last"
        assert app.message.startswith("Reverted hunk 2 in a.md. New version 3;")


async def test_a_hunk_of_an_older_event_is_taken_back_where_its_lines_still_stand(memory: Memory) -> None:
    memory.write("a.md", TEN)
    memory.write("a.md", TEN.replace("line 2\n", "line two\n").replace("line 9\n", "line nine\n"))
    memory.write("a.md", "new\n" + memory.read("a.md").replace("line nine\n", "nine!\n"))
    async with memory.shown() as app:
        await app.press("left_square_bracket", "r")
        assert memory.read("a.md") == "new\n" + TEN.replace("line 9\n", "nine!\n")
        await app.press("n", "r")
        assert app.message == "Not reverted: these lines have changed since."
        assert len(app.rows) == 4


async def test_an_event_is_undone_and_done_again(memory: Memory) -> None:
    memory.write("a.md", "one\n", Person())
    memory.write("a.md", "two\n", Person())
    async with memory.shown() as app:
        await app.press("u")
        await app.wait_for(lambda: memory.read("a.md") == "one\n")
        await app.rest()
        assert app.rows[1].startswith(">")
        await app.press("U")
        await app.wait_for(lambda: memory.read("a.md") == "two\n")
        await app.rest()
        assert len(app.rows) == 4


async def test_what_an_agent_did_is_undone_after_a_question(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    memory.write("a.md", "two\n")
    async with memory.shown() as app:
        await app.pilot.press("u")
        await app.wait_for(lambda: app.app.screen is not app.screen, "the question")
        await app.pilot.press("n")
        await app.wait_for(lambda: app.app.screen is app.screen)
        await app.rest()
        assert (memory.read("a.md"), app.message) == ("two\n", "Nothing was undone.")
        await app.pilot.press("u")
        await app.wait_for(lambda: app.app.screen is not app.screen, "the question")
        await app.pilot.press("y")
        await app.wait_for(lambda: app.message.startswith("Undid "))
        assert memory.read("a.md") == "one\n"


async def test_a_new_text_has_the_whole_width(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    memory.write("a.md", "two\n")
    async with memory.shown(size=(120, 36)) as app:
        assert "side by side" in app.titles
        await app.press("end")
        assert app.diff == ["┃+ one"]


async def test_the_patch_is_copied(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    (memory.folder / "a.md").write_bytes(b"two\xff")
    memory.engine.reconcile()
    async with memory.shown() as app:
        await app.press("y")
        assert app.app.clipboard.startswith("--- a/a.md\n+++ b/a.md\n@@ -1,1 +1,1 @@\n-one\n+two")
        assert app.message == "Copied the patch, 6 lines (terminal)."


# While others go on


async def test_a_new_version_leaves_the_cursor_where_it_is(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    memory.write("a.md", "two\n")
    async with memory.shown() as app:
        await asyncio.to_thread(memory.write, "a.md", "three\n")
        await app.wait_for(lambda: len(app.rows) == 3, "the new version")
        await app.rest()
        assert app.rows[1].startswith(">B")
        assert app.diff == ["┃- one", "┃+ two"]
        assert app.message == "Claude overwrote a.md (+1 -1)."
        await asyncio.to_thread(memory.write, "b.md", "other\n")
        await app.rest()
        assert len(app.rows) == 3


async def test_a_file_that_took_the_place_of_another_brings_its_history(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    memory.write("b.md", "two\n")
    memory.do("delete", path="/memories/a.md")
    async with memory.shown() as app:
        await asyncio.to_thread(memory.do, "rename", old_path="/memories/b.md", new_path="/memories/a.md")
        await app.wait_for(lambda: len(app.rows) == 4, "the history of the other")
        await app.rest()
        assert [row[9] for row in app.rows] == [">", "-", "+", "+"]


async def test_what_another_program_records_is_noticed(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    async with memory.shown() as app:
        with memtui.open(memory.folder, state=memory.state) as other:
            answer = await asyncio.to_thread(
                other.execute, {"command": "create", "path": "/memories/a.md", "file_text": "two\n"}, actor=CLAUDE
            )
        assert not answer.is_error
        app.screen.check_for_events()
        await app.wait_for(lambda: len(app.rows) == 2, "the other program's version")
        await app.rest()


async def test_nothing_is_heard_after_it_is_left(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    async with memory.shown() as app:
        await app.pilot.press("q")
        await app.wait_for(lambda: app.app.left)
        await app.pilot.pause()
        assert not memory.engine._calls._subscribers


# Read-only


async def test_read_only_offers_no_change_and_says_why(memory: Memory) -> None:
    memory.write("a.md", "one\n")
    memory.write("a.md", "two\n")
    memory.reopen(read_only=True)
    async with memory.shown(size=(120, 36)) as app:
        assert "READ-ONLY: nothing under ~/memories can be changed" in app.text
        assert "╔═ 1 Versions" in app.text
        keys = app.text.split("\n")[-1]
        assert "restore" not in keys
        assert "revert hunk" not in keys
        await app.press("end")
        for key in ("R", "r", "u", "U"):
            app.screen.message.show_message("")
            await app.press(key)
            assert app.message == "Read-only. Start without --read-only to edit."
        assert memory.read("a.md") == "two\n"
        await app.press("y")
        assert app.message.startswith("Copied the patch")


# Much


async def test_a_thousand_versions_open_at_once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1_000):
        memory.write("a.md", f"{number}\n")
    read: list[str] = []
    text = Journal.get_text
    monkeypatch.setattr(Journal, "get_text", lambda journal, sha256: read.append(sha256) or text(journal, sha256))
    async with memory.shown() as app:
        assert len(app.rows) == 1_000
        assert len(read) <= 20, "more was read than what is shown"
        await app.press("G")
        assert app.diff == ["┃+ 0"]


async def test_a_long_line_is_broken_not_cut(memory: Memory) -> None:
    memory.write("a.md", "start " + "word " * 200 + "end\n")
    async with memory.shown(diff_first=True) as app:
        assert app.diff[0].startswith("┃+ start word")
        await app.press("G")
        assert app.diff[-1].endswith("word end")
