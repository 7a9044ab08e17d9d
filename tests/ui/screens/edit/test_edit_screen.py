"""The editor over a real memory: what is typed, what is saved, and what becomes of the memory meanwhile."""

import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key, Paste
from textual.pilot import Pilot

import memtui
from memtui.core.events import Agent, Person, Version
from memtui.core.unicode import HIDDEN
from memtui.editing.drafts import DraftNotSaved, EditDraftStore
from memtui.editing.save import NoteSaver
from memtui.engine import Engine
from memtui.ui.screens.conflict import ConflictScreen, EditDiffScreen
from memtui.ui.screens.dialogs import MenuScreen
from memtui.ui.screens.edit import EditScreen
from memtui.ui.widgets.editor.find_bar import FindBar
from tests.ui.conftest import ScreenApp, ScreenDriver

CLAUDE = Agent("Claude")
HOSTILE = "hid\u202eden \x1b]52;c;eA==\x07 zero\u200b\n\tform\x0cfeed\x85 한국 tail"


class Open(ScreenDriver):
    """The editor above an empty screen."""

    def __init__(self, app: ScreenApp, pilot: Pilot[int], engine: Engine, folder: Path) -> None:
        super().__init__(app, pilot, EditScreen)
        self.engine = engine
        self.folder = folder
        self.area = app.pushed.area

    @property
    def screen(self) -> EditScreen:
        return self.app.pushed

    async def type(self, words: str) -> None:
        await self.pilot.press(*("space" if each == " " else each for each in words))

    async def save(self) -> None:
        await self.press("ctrl+s")
        await self.wait_for(lambda: not self.screen.drafts.is_unsaved and "aved" in self.message, "the save")

    def bytes(self, name: str = "note.md") -> bytes:
        return (self.folder / name).read_bytes()

    def agent(self, old: str, new: str) -> None:
        """An agent changes the note, and the editor is told."""
        command = {"command": "str_replace", "path": "/memories/note.md", "old_str": old, "new_str": new}
        answer = self.engine.execute(command, actor=CLAUDE)
        assert not answer.is_error, answer.text
        self.screen.handle_new_events(self.engine.get_head()[0])


Editing = Callable[..., AbstractAsyncContextManager[Open]]


@pytest.fixture
def editing(tmp_path: Path) -> Editing:
    """Opens the editor on a note: `async with editing(held) as edit`."""
    folder, state = tmp_path / "memories", tmp_path / "state"

    @asynccontextmanager
    async def run(
        held: str | bytes | None = None, *, size: tuple[int, int] = (80, 24), read_only: bool = False,
        new_text: str | None = None, line: int | None = None, asks: bool = False,
    ) -> AsyncIterator[Open]:  # fmt: skip
        folder.mkdir(exist_ok=True)
        if held is not None:
            (folder / "note.md").write_bytes(held.encode() if isinstance(held, str) else held)
        with memtui.open(folder, state=state, read_only=read_only) as engine:
            app = ScreenApp(EditScreen(engine, "note.md", line=line, new_text=new_text))
            async with app.run_test(size=size) as pilot:
                edit = Open(app, pilot, engine, folder)
                await edit.wait_for(lambda: app.pushed.drafts.is_open, "the note")
                if asks:
                    await edit.wait_for(lambda: isinstance(app.screen, MenuScreen), "the offer of the draft")
                else:
                    await edit.wait_for(lambda: all(worker.is_finished for worker in app.workers), "the workers")
                yield edit

    return run


async def test_what_hides_is_seen_while_it_is_edited_and_is_kept(editing: Editing) -> None:
    async with editing(HOSTILE) as edit:
        assert "hid<U+202E>den \\x1b]52;c;eA==\\x07 zero<U+200B>" in edit.text
        assert "form\\x0cfeed\\x85" in edit.text
        assert not HIDDEN.search(edit.text)
        await edit.press("right", "right", "right", "right")
        await edit.type("X")  # right behind the override, which is one character
        await edit.press("ctrl+end", "backspace")
        await edit.save()
        wanted = HOSTILE.replace("\u202eden", "\u202eXden").removesuffix("l")
        assert edit.bytes() == wanted.encode()
        event = edit.engine.history.versions_of("note.md")[0].event
        assert isinstance(event.actor, Person)


async def test_backspace_takes_one_hidden_character_and_delete_the_next(editing: Editing) -> None:
    async with editing("a\u200b\u202eb") as edit:
        await edit.press("right", "right", "backspace", "delete")
        assert edit.area.text == "ab"


@pytest.mark.parametrize("held", [b"one\r\ntwo\r\n", b"\xef\xbb\xbfone\ntwo", b"one\r\ntwo\nthree", b"one\ntwo"])
async def test_ends_of_lines_mark_and_missing_last_end_stay_as_they_were(editing: Editing, held: bytes) -> None:
    async with editing(held) as edit:
        await edit.type("x")
        await edit.save()
        assert edit.bytes() == held.replace(b"one", b"xone")


async def test_a_text_that_is_not_utf_8_is_shown_and_cannot_be_changed(editing: Editing) -> None:
    async with editing(b"caf\xe9\n") as edit:
        assert "caf\\xe9" in edit.text
        await edit.wait_for(lambda: "READ-ONLY: It is not UTF-8 text" in edit.text)
        assert "Ctrl+S" not in edit.text
        await edit.press("x", "ctrl+s", "delete")
        assert edit.area.text == "caf\udce9\n"
        assert edit.bytes() == b"caf\xe9\n"
        await edit.press("escape")
        await edit.wait_for(lambda: edit.app.left)


async def test_a_read_only_session_shows_the_note_and_changes_nothing(editing: Editing) -> None:
    async with editing("one\n"):
        pass
    async with editing(read_only=True) as edit:
        await edit.press("x", "ctrl+s", "ctrl+x", "tab", "enter")
        assert edit.bytes() == b"one\n"
        assert "READ-ONLY" in edit.text


async def test_undo_goes_back_step_by_step_and_redo_forwards(editing: Editing) -> None:
    async with editing("one\ntwo\n") as edit:
        await edit.press("shift+down", "shift+down", "tab")
        assert edit.area.text == "  one\n  two\n"
        await edit.press("ctrl+z")
        assert edit.area.text == "one\ntwo\n"
        assert not edit.screen.drafts.is_unsaved
        await edit.press("ctrl+y", "shift+tab")
        assert edit.area.text == "one\ntwo\n"


async def test_a_list_goes_on_and_ends_with_an_empty_item(editing: Editing) -> None:
    async with editing("- one") as edit:
        await edit.press("end", "enter")
        await edit.type("two")
        await edit.press("enter", "enter")
        await edit.type("end")
        assert edit.area.text == "- one\n- two\nend"


async def test_pasted_line_ends_of_a_terminal_are_those_of_a_text(editing: Editing) -> None:
    async with editing("") as edit:
        edit.area.post_message(Paste("a\rb\r\nc\x1b[31m"))
        await edit.wait_for(lambda: edit.area.text)
        assert edit.area.text == "a\nb\nc\x1b[31m"


async def test_find_goes_from_match_to_match_and_replaces_all_as_one_step(editing: Editing) -> None:
    async with editing("Needle\nx needle\nNEEDLE end\n") as edit:
        await edit.press("ctrl+f")
        await edit.wait_for(lambda: isinstance(edit.app.focused.parent if edit.app.focused else None, FindBar))
        await edit.type("needle")
        assert "1 of 3" in edit.text
        await edit.press("enter")
        assert edit.area.selected_text == "needle"
        await edit.press("up", "up")
        assert edit.area.selected_text == "NEEDLE"
        await edit.press("tab")
        await edit.type("pin")
        await edit.press("f2")
        assert edit.area.text == "pin\nx pin\npin end\n"
        assert "replaced 3" in edit.text
        await edit.press("escape", "ctrl+z")
        await edit.wait_for(lambda: edit.area.text == "Needle\nx needle\nNEEDLE end\n")
        await edit.press("f3")
        assert edit.area.selected_text.lower() == "needle"


async def test_what_an_agent_changes_is_shown_at_once_while_nothing_was_typed(editing: Editing) -> None:
    async with editing("# Head\n\nlikes tea\nlast\n") as edit:
        await edit.press("ctrl+end")
        edit.agent("likes tea", "likes coffee\nand cake")
        await edit.wait_for(lambda: "coffee" in edit.area.text, "the change")
        assert "Claude changed this note" in edit.message
        assert edit.area.cursor_location == (5, 0)
        assert not edit.screen.drafts.is_unsaved
        await edit.press("ctrl+z")
        await edit.wait_for(lambda: "likes tea" in edit.area.text and edit.screen.saver.external_change is not None)
        await edit.press("ctrl+s")
        await edit.wait_for(lambda: "CONFLICT" in edit.text or "Claude" in edit.text, "the question")
        assert b"coffee" in edit.bytes()


async def test_what_changed_meanwhile_is_merged_while_typing_and_the_cursor_stays_in_its_word(
    editing: Editing,
) -> None:
    async with editing("# Head\n\nlikes **tea** a lot\n- end\n") as edit:
        await edit.press("ctrl+end", "up", "end")
        await edit.type(" mine")
        edit.agent("likes **tea** a lot\n", "likes **green tea** a lot\nand more\n")
        await edit.wait_for(lambda: "^G merges now" in edit.text, "the line")
        assert "Claude changed this note" in edit.text
        assert "! CHANGED" in edit.text
        await edit.press("ctrl+g")
        await edit.wait_for(lambda: "green tea" in edit.area.text, "the merge")
        await edit.type("!")
        assert edit.area.text == "# Head\n\nlikes **green tea** a lot\nand more\n- end mine!\n"
        assert edit.bytes().endswith(b"- end\n")
        await edit.press("ctrl+z", "ctrl+z")
        await edit.wait_for(lambda: edit.area.text == "# Head\n\nlikes **tea** a lot\n- end mine\n", "undo")
        await edit.wait_for(lambda: edit.screen.saver.external_change is not None, "the line again")
        await edit.press("ctrl+y")
        await edit.save()
        assert edit.bytes() == b"# Head\n\nlikes **green tea** a lot\nand more\n- end mine\n"


async def test_taking_a_merge_back_never_makes_the_next_save_overwrite_what_was_merged(editing: Editing) -> None:
    async with editing("one\ntwo\nthree\n") as edit:
        await edit.type("my ")
        edit.agent("three", "four")
        await edit.wait_for(lambda: edit.screen.saver.external_change is not None)
        await edit.press("ctrl+g")
        await edit.wait_for(lambda: "four" in edit.area.text)
        await edit.press("ctrl+z", "ctrl+s")
        await edit.wait_for(lambda: edit.app.screen is not edit.screen, "the question")
        assert edit.bytes() == b"one\ntwo\nfour\n"
        await edit.press("m")
        await edit.wait_for(lambda: edit.bytes() == b"my one\ntwo\nfour\n", "the merge")


async def test_what_is_typed_is_kept_as_a_draft_and_offered_again(editing: Editing) -> None:
    async with editing("one\n") as edit:
        await edit.type("typed ")
    assert edit.bytes() == b"one\n"
    async with editing(asks=True) as edit:
        await edit.wait_for(lambda: "an unsaved draft of" in edit.text)
        await edit.press("e")
        await edit.wait_for(lambda: edit.area.text == "typed one\n")
        await edit.save()
        assert edit.bytes() == b"typed one\n"
    async with editing() as edit:
        assert edit.area.text == "typed one\n"


async def test_what_an_editor_had_saved_before_it_failed_is_kept_as_a_draft(
    editing: Editing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nfor last; do :; done\necho half >> "$last"\nexit 3\n')
    script.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(script))
    async with editing("one\n") as edit:
        monkeypatch.setattr(edit.app, "suspend", _nothing)
        await edit.press("f4")
        await edit.wait_for(lambda: "ended with 3." in edit.message)
        assert edit.area.text == "one\n"
        await edit.wait_for(lambda: all(worker.is_finished for worker in edit.app.workers))
    async with editing(asks=True) as edit:
        await edit.press("e")
        await edit.wait_for(lambda: edit.area.text == "one\nhalf\n")


async def test_a_draft_of_an_older_version_is_merged_with_the_newer_one(editing: Editing) -> None:
    async with editing("one\ntwo\nthree\n") as edit:
        await edit.type("mine ")
    async with editing(asks=True) as edit:
        edit.agent("three", "four")
        await edit.press("e")
        await edit.wait_for(lambda: edit.screen.saver.external_change is not None, "the line")
        await edit.press("ctrl+g")
        await edit.wait_for(lambda: edit.area.text == "mine one\ntwo\nfour\n", "the merge")


async def test_news_that_come_before_the_first_frame_end_nothing(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    with memtui.open(tmp_path / "memories", state=tmp_path / "state") as engine:
        screen = EditScreen(engine, "note.md")
        screen.handle_new_events(1)
        assert not screen.drafts.is_open
        assert not screen.drafts.is_unsaved


async def test_a_save_pressed_during_another_saves_what_was_typed_since(
    editing: Editing, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    save = NoteSaver.save

    def slow(self: NoteSaver, data: bytes, based_on: Version | None, *, base: bytes | None = None) -> Any:
        begun.set()
        assert go_on.wait(10)
        return save(self, data, based_on, base=base)

    monkeypatch.setattr(NoteSaver, "save", slow)
    async with editing("text") as edit:
        await edit.type("one ")
        await edit.press("ctrl+s")
        await edit.wait_for(begun.is_set, "the first save")
        await edit.type("two ")
        await edit.press("ctrl+s", "ctrl+s")
        go_on.set()
        await edit.wait_for(
            lambda: edit.bytes() == b"one two text" and not edit.screen.drafts.is_unsaved, "the second save"
        )
        await edit.wait_for(lambda: all(worker.is_finished for worker in edit.app.workers), "the workers")
        assert len(edit.engine.history.versions_of("note.md")) == 3  # the third had nothing to write
        assert edit.message.startswith("Saved")


async def test_leaving_a_note_deleted_keeps_one_draft_and_says_where_it_is(editing: Editing, tmp_path: Path) -> None:
    async with editing("text") as edit:
        await edit.type("mine ")
        edit.engine.execute({"command": "delete", "path": "/memories/note.md"}, actor=CLAUDE)
        await edit.press("ctrl+s")
        await edit.wait_for(lambda: isinstance(edit.app.screen, ConflictScreen), "the question")
        await edit.press("t")
        await edit.wait_for(lambda: edit.app.left, "the end")
    [draft] = (tmp_path / "state").rglob("*.draft")
    assert draft.read_bytes().endswith(b"\nmine text")


async def test_another_window_on_the_same_memory_is_told_of_at_once_or_as_soon_as_it_types(
    editing: Editing, tmp_path: Path
) -> None:
    other = EditDraftStore(tmp_path / "state" / "drafts")
    try:
        async with editing("text") as edit:
            await edit.type("a")
            await edit.wait_for(lambda: list((tmp_path / "state").rglob("*.draft")), "the draft")
            assert "Another" not in edit.message
            other.save("note.md", "theirs", None)
            await edit.type("b")
            await edit.wait_for(lambda: "Another memtui window is editing this note" in edit.message, "the sentence")
            await edit.save()
            await edit.press("escape")
        async with editing() as edit:
            await edit.wait_for(lambda: "Another memtui window is editing this note" in edit.message, "the sentence")
    finally:
        other.close()


async def test_a_letter_that_was_meant_for_the_text_deletes_no_draft(editing: Editing, tmp_path: Path) -> None:
    async with editing("text") as edit:
        await edit.type("mine ")
    async with editing(asks=True) as edit:
        await edit.press("x", "x", "y", "enter")  # she types on; Enter takes what is marked, which keeps it
        await edit.wait_for(lambda: edit.app.screen is edit.screen, "the text")
        assert list((tmp_path / "state").rglob("*.draft"))
    async with editing(asks=True) as edit:
        await edit.press("x", "d")
        await edit.wait_for(lambda: "Deleted the draft" in edit.message, "the sentence")
        assert not list((tmp_path / "state").rglob("*.draft"))


async def test_what_no_draft_takes_goes_to_a_file_of_its_own_at_the_end(
    editing: Editing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise DraftNotSaved("No draft is kept: no space left on device. Your text is on this screen only.")

    (tmp_path / "other").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "other"))
    monkeypatch.setattr(EditDraftStore, "save", full)
    async with editing("text") as edit:
        edit.app.last_words = words = []  # type: ignore[attr-defined]
        await edit.type("mine ")
    [file] = (tmp_path / "other").iterdir()
    assert file.read_bytes() == b"mine text"
    assert words == [f"note.md was not saved. No draft could be written; the text is in {file}."]


async def test_what_is_typed_while_the_text_comes_stays_in_order(editing: Editing) -> None:
    async with editing("") as edit:
        edit.area.hold_input()
        await edit.type("ab")
        edit.area.post_message(Key("c", "c"))  # on its way when the text comes
        edit.area.post_message(Paste("d\re"))
        edit.area.release_input()
        await edit.wait_for(lambda: edit.area.text == "abcd\ne", "all of it")
        await edit.type("f")
        await edit.wait_for(lambda: edit.area.text == "abcd\nef", "the last letter")


async def test_a_key_of_the_screen_that_is_typed_while_the_text_comes_does_what_it_does(editing: Editing) -> None:
    async with editing("one\n") as edit:
        edit.area.hold_input()
        await edit.type("my ")
        await edit.press("ctrl+s")
        assert edit.bytes() == b"one\n"
        edit.area.release_input()
        await edit.wait_for(lambda: edit.bytes() == b"my one\n", "the save")


async def test_closing_asks_and_what_is_not_saved_is_kept(editing: Editing) -> None:
    async with editing("one\n") as edit:
        await edit.type("x")
        await edit.press("escape")
        await edit.wait_for(lambda: isinstance(edit.app.screen, MenuScreen))
        await edit.press("escape")
        await edit.wait_for(lambda: edit.app.screen is edit.screen)
        assert not edit.app.left
        await edit.press("escape", "d")
        await edit.wait_for(lambda: edit.app.left)
    assert edit.bytes() == b"one\n"
    async with editing(asks=True) as edit:
        await edit.wait_for(lambda: "a text not saved at" in edit.text)


async def test_no_draft_comes_behind_a_text_that_is_not_to_be_saved(
    editing: Editing, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with editing("one\n") as edit:
        drop = EditDraftStore.drop

        def drop_late(drafts: EditDraftStore, path: str) -> None:
            edit.app.call_from_thread(edit.screen.drafts.save_draft)  # as its timer does, in the midst of it
            drop(drafts, path)

        await edit.type("x")
        monkeypatch.setattr(EditDraftStore, "drop", drop_late)
        await edit.press("escape")
        await edit.wait_for(lambda: isinstance(edit.app.screen, MenuScreen))
        await edit.press("d")
        await edit.wait_for(lambda: edit.app.left)
    async with editing(asks=True) as edit:
        await edit.wait_for(lambda: "a text not saved at" in edit.text)


async def test_a_new_note_is_made_by_saving_it_and_not_before(editing: Editing) -> None:
    async with editing(new_text="---\nname: x\n---\n") as edit:
        assert edit.screen.drafts.is_unsaved
        assert not (edit.folder / "note.md").exists()
        await edit.save()
        assert edit.bytes() == b"---\nname: x\n---\n"
        await edit.press("escape")
        await edit.wait_for(lambda: edit.app.left)


async def test_the_difference_is_shown_before_it_is_saved(editing: Editing) -> None:
    async with editing("one\ntwo\n") as edit:
        await edit.type("my ")
        await edit.press("ctrl+d")
        await edit.wait_for(lambda: isinstance(edit.app.screen, EditDiffScreen) and "my one" in edit.text)
        assert "Nothing is written yet" in edit.text
        await edit.press("escape")
        await edit.wait_for(lambda: edit.app.screen is edit.screen)
        assert edit.bytes() == b"one\ntwo\n"


async def test_the_preview_stands_beside_the_text_where_there_is_room_and_in_its_place_where_not(
    editing: Editing,
) -> None:
    async with editing("# Head\n\n**bold**\n", size=(120, 36)) as edit:
        await edit.wait_for(lambda: edit.screen.preview.display and edit.text.count("bold") == 2)
        assert edit.screen.preview.region.width >= 45
        await edit.pilot.resize_terminal(80, 24)
        await edit.wait_for(lambda: not edit.screen.preview.display)
        await edit.press("ctrl+o")
        await edit.wait_for(lambda: edit.screen.preview.display and not edit.area.display)
        await edit.press("escape")
        await edit.wait_for(lambda: edit.area.display and edit.app.focused is edit.area)
        assert not edit.app.left


async def test_going_to_a_line_and_past_the_last_one(editing: Editing) -> None:
    async with editing("".join(f"{n}\n" for n in range(1, 200)), line=150) as edit:
        assert edit.area.cursor_location == (149, 0)
        assert "150" in edit.text
        await edit.press("ctrl+l")
        await edit.wait_for(lambda: edit.app.screen is not edit.screen)
        await edit.press("9", "9", "9", "enter")
        await edit.wait_for(lambda: edit.area.cursor_location == (199, 0))


async def test_a_terminal_that_is_too_small_says_so_and_keeps_the_text(editing: Editing) -> None:
    async with editing("one\n") as edit:
        await edit.type("x")
        await edit.pilot.resize_terminal(50, 12)
        await edit.wait_for(lambda: "memtui needs 60x15 (now 50x12)" in edit.text)
        await edit.pilot.resize_terminal(60, 15)
        await edit.wait_for(lambda: edit.app.focused is edit.area)
        await edit.type("y")
        assert edit.area.text == "xyone\n"


async def test_a_large_note_costs_a_key_no_more_than_a_small_one(editing: Editing) -> None:
    text = "- a line of some length that is like all the others here\n" * 20_000
    async with editing(text) as edit:
        edit.area.go_to_line(10_000)
        drawn: list[int] = []
        before = edit.area.document.text
        rows_of = edit.area.wrapped_document._wrap_lines
        edit.area.wrapped_document._wrap_lines = lambda lines: drawn.append(len(lines)) or rows_of(lines)  # type: ignore[func-returns-value, method-assign]
        await edit.type("abc")
        await edit.press("enter", "ctrl+z")
        assert sum(drawn) <= 10  # lines that were wrapped anew
        assert len(edit.area.text) == len(before) + 3


async def test_the_persons_own_editor_gets_a_copy_and_what_it_left_is_one_step(
    editing: Editing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor"
    script.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/args\nfor last; do :; done\necho added >> "$last"\n')
    script.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(script))
    async with editing("one\n") as edit:
        monkeypatch.setattr(edit.app, "suspend", _nothing)
        await edit.press("f4")
        await edit.wait_for(lambda: edit.area.text == "one\nadded\n")
        assert "Changed in your editor." in edit.message
        assert str(edit.folder) not in (tmp_path / "args").read_text()
        assert edit.bytes() == b"one\n"
        await edit.press("ctrl+z")
        assert edit.area.text == "one\n"


def _nothing() -> AbstractContextManager[None]:
    return nullcontext()
