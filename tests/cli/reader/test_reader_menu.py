"""memtui line by line: every menu, in this process, with lines from a pipe."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import memtui
from memtui.cli.reader.menu import ON, run_reader
from memtui.config import Config, EditorSettings, LoadedConfig
from memtui.core.errors import FolderMissing
from memtui.engine import Engine
from tests.cli.conftest import CALL_ID, CLAUDE

Talk = Callable[..., str]
HOSTILE = "\x1b[2J\x1b]0;pwned\x07 \u202egnp.exe"


@pytest.fixture(autouse=True)
def _no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)


@pytest.fixture
def talk(folder: Path, capsys: pytest.CaptureFixture[str]) -> Talk:
    """Say lines to memtui until there are no more, and hear what it said."""

    def talk(*lines: str, read_only: bool = False, editor: str = "", where: Path | None = folder) -> str:
        ear, mouth = os.pipe()
        os.write(mouth, "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
        os.close(mouth)
        loaded = LoadedConfig(Config(editor=EditorSettings(command=editor)))
        try:
            code = run_reader(str(where) if where else None, loaded, state=None, read_only=read_only, fd=ear)
        finally:
            os.close(ear)
        heard = capsys.readouterr()
        assert code == 0
        assert heard.err == ""
        assert heard.out.startswith(f"{ON}\n")
        assert not set(heard.out) & {"\x1b", "\x07", "\r", "\u202e"}, "nothing drives the terminal, whoever wrote it"
        return heard.out

    return talk


def as_agent(folder: Path, **command: object) -> None:
    """Have an agent do something."""
    with memtui.open(folder) as memory:
        answer = memory.execute(command, actor=CLAUDE, call_id=CALL_ID)
        assert not answer.is_error, answer.text


def looked_at(folder: Path) -> None:
    """Have the folder be one that the person has looked at before."""
    with memtui.open(folder) as memory:
        memory.set_metadata("seen", str(memory.get_head()[0]))


def editor_that(does: str, tmp_path: Path) -> str:
    """An editor that runs a line of Python, with the file as `path`."""
    script = tmp_path / "editor.py"
    script.write_text(f"import sys\nfrom pathlib import Path\npath = Path(sys.argv[1])\n{does}\n")
    return f"{sys.executable} {script}"


def test_the_first_line_says_that_the_mode_is_on_and_the_menu_has_numbers(talk: Talk) -> None:
    heard = talk()
    assert heard.splitlines()[0] == "[memtui screen reader mode: on]"
    assert "3 files" in heard
    assert "\n1. Unseen changes\n2. Files\n3. Find\n4. New note\n5. Undo\n6. Redo\n" in heard
    assert heard.endswith("Number: \nClosed.\n")


def test_the_end_of_input_ends_it_wherever_it_is(talk: Talk) -> None:
    for lines in ([], ["2"], ["files", "prefs"], ["find"], ["new note"], ["new note", "x", "1"], ["follow"]):
        assert talk(*lines).endswith("\nClosed.\n"), lines


def test_q_ends_it_from_a_menu_below(talk: Talk) -> None:
    assert talk("files", "q", "files").count("The memory folder") == 1


def test_what_is_not_understood_is_one_sentence_and_asked_again(talk: Talk) -> None:
    heard = talk("99", HOSTILE, "fi", "b", "", "files", "0", "-1", "1.5", "٣", "")
    assert "There is no 99 here. Type 1 to 13; ? repeats, q quits." in heard
    assert "There is no \\x1b[2J\\x1b]0;pwned\\x07 <U+202E>gnp.exe here." in heard
    assert "2 begin with fi. Type more, or a number." in heard
    assert heard.count("Type 1 to 2;") == 4


def test_a_menu_is_told_once_and_again_on_demand(talk: Talk) -> None:
    assert talk("b", "b").count("1. Unseen changes") == 1
    assert talk("b", "?", "?").count("1. Unseen changes") == 3


def test_files_are_told_folder_by_folder(talk: Talk) -> None:
    heard = talk("files", "notes", "today", "read", "", "", "h", "")
    assert "The memory folder, 1 directory and 1 file. 1 hidden one not listed." in heard
    assert "1. notes, directory\n2. prefs.md, 25 bytes\n" in heard
    assert "notes, 1 file.\n1. today.md, 15 bytes\n" in heard
    assert "standup at ten\nEnd of notes/today.md.\n" in heard
    assert "2. .hidden, 1 byte\n" in heard


def test_a_long_list_and_a_long_note_are_told_in_parts(talk: Talk, folder: Path) -> None:
    for number in range(45):
        (folder / f"n{number:02}.md").write_text("x")
    (folder / "a.md").write_text("".join(f"line {number}\n" for number in range(1, 51)))
    heard = talk("files", "", "", "a.md", "read", "", "", "read", "48", "read", "700", "b")
    assert "20. n17.md, 1 byte\n28 more.\n" in heard
    assert "48. prefs.md, 25 bytes\n" in heard
    assert "line 20\nLine 20 of 50." in heard
    assert "line 50\nEnd of a.md.\n" in heard
    assert "There is no line 700." in heard


def test_hidden_characters_of_names_and_texts_are_named(talk: Talk, folder: Path) -> None:
    (folder / f"evil{HOSTILE.replace('/', '')}.md").write_text(f"{HOSTILE}\nzero\u200bwidth\n")
    (folder / "odd.md").write_bytes(b"caf\xe9\n")
    (folder / "binary").write_bytes(b"\0\1\2")
    heard = talk("files", "evil", "numbered", "read with", "b", "odd.md", "read", "b", "binary", "read", "b")
    assert "evil\\x1b[2J\\x1b]0;pwned\\x07 <U+202E>gnp.exe.md" in heard
    assert "It holds 5 hidden characters, shown by their code." in heard
    assert "1: \\x1b[2J" in heard
    assert "2: zero<U+200B>width" in heard
    assert "caf\\xe9" in heard
    assert "binary, 3 bytes, is binary: there is nothing to read." in heard


def test_what_others_did_is_new_until_it_is_marked(talk: Talk, folder: Path) -> None:
    looked_at(folder)
    as_agent(folder, command="str_replace", path="/memories/prefs.md", old_str="Berlin", new_str="Lisbon")
    as_agent(folder, command="create", path="/memories/new.md", file_text="a\n")
    as_agent(folder, command="delete", path="/memories/notes/today.md")
    heard = talk("unseen", "prefs", "", "a", "unseen")
    assert "3 notes changed since you last looked. The last one: " in heard
    assert "1. notes/today.md is deleted; last at " in heard
    assert "2. new.md is new; last at " in heard
    assert "3. prefs.md changed; last at " in heard
    assert "Line 2 was: - Berlin\nLine 2 is now: - Lisbon\n" in heard
    assert heard.count("Nothing changed since you last looked.") == 1
    assert "changed since you last looked" not in talk()


def test_find_tells_names_lines_and_what_is_gone(talk: Talk, folder: Path) -> None:
    looked_at(folder)
    as_agent(folder, command="str_replace", path="/memories/prefs.md", old_str="Berlin", new_str="Lisbon")
    heard = talk("find", "prefs", "1", "", "", "lisbon", "1", "", "", "berlin", "1", "", "", "nowhere", "bye:x", "")
    assert "1. prefs.md\n" in heard
    assert "1. prefs.md, line 2: - Lisbon\n" in heard
    assert "2: - Lisbon\nEnd of prefs.md.\n" in heard
    assert "1. Past: prefs.md, line 2: - Berlin; added at " in heard
    assert "by Claude\n" in heard
    assert "Nothing found." in heard
    assert "bye" in heard.partition("Nothing found.")[2]


def test_the_history_is_told_and_a_version_put_back(talk: Talk, folder: Path) -> None:
    looked_at(folder)
    as_agent(folder, command="str_replace", path="/memories/prefs.md", old_str="Berlin", new_str="Lisbon")
    to_first = ["files", "prefs", "history", "2"]
    heard = talk(*to_first, "read it", "changes since", "restore it", "n", "restore it", "y", "", "1", "what it")
    assert "Claude edited prefs.md, 1 line added, 1 removed. This is the current version.\n2. " in heard
    assert "prefs.md as it was after event 1, 2 lines" in heard
    assert "Not restored. Nothing was written." in heard
    assert "prefs.md is as it was after event 1. Undo undoes it." in heard
    assert "You restored prefs.md" in heard
    assert (folder / "prefs.md").read_text() == "- short answers\n- Berlin\n"
    heard = talk("files", "prefs", "history", "1", "restore it")
    assert "Nothing to restore: this is the current version.\n" in heard


def test_undo_and_redo_say_what_they_would_do_and_wait_for_a_yes(talk: Talk, folder: Path) -> None:
    looked_at(folder)
    as_agent(folder, command="str_replace", path="/memories/prefs.md", old_str="Berlin", new_str="Lisbon")
    heard = talk("undo", "perhaps", "n", "redo")
    assert ": Claude edited prefs.md, 1 line added, 1 removed? y or n: " in heard
    assert "Please answer y for yes or n for no." in heard
    assert "Nothing was undone." in heard
    assert "Nothing to redo." in heard
    assert "Lisbon" in (folder / "prefs.md").read_text()
    talk("undo", "y")
    assert "Berlin" in (folder / "prefs.md").read_text()
    talk("redo")
    assert "Lisbon" in (folder / "prefs.md").read_text()


def test_all_that_somebody_did_is_taken_back_since_a_moment(talk: Talk, folder: Path) -> None:
    looked_at(folder)
    as_agent(folder, command="create", path="/memories/a.md", file_text="a\n")
    as_agent(folder, command="create", path="/memories/b.md", file_text="b\n")
    (folder / "mine.md").write_text("x")
    heard = talk(
        "undo changes", "claude", "soon", "undo changes", "claude", "3", "n", "undo changes", "claude", "today", "y"
    )
    assert "Can't read 'soon' as a time" in heard
    assert "1 change in 1 file would be undone. y or n: " in heard
    assert "2 changes in 2 files would be undone. y or n: " in heard
    assert sorted(each.name for each in folder.glob("*.md")) == ["mine.md", "prefs.md"]


def test_the_folder_is_put_back_as_of_an_event(talk: Talk, folder: Path) -> None:
    looked_at(folder)
    as_agent(folder, command="create", path="/memories/a.md", file_text="a\n")
    as_agent(folder, command="delete", path="/memories/prefs.md")
    heard = talk("restore the", "99", "restore the", "1", "n", "restore the", "1", "y", "restore the", "1")
    assert "There is no event #99." in heard
    newer = "1 of them is newer and would be deleted"
    assert f"Restore the whole folder: 2 files would be as at event 1; {newer}. y or n: " in heard
    assert "Nothing was restored." in heard
    assert heard.count("Nothing to restore: the whole folder is as it was at event 1.") == 1
    assert sorted(each.name for each in folder.glob("*.md")) == ["prefs.md"]


def test_several_are_moved_and_deleted_in_one_step(talk: Talk, folder: Path) -> None:
    for name in "abcde":
        (folder / f"{name}.md").write_text(name)
    heard = talk(
        "files", "o", "move several", "2, 4-5", "archive", "o", "delete several", "9-2", "o", "delete several",
        "1 3", "n", "o", "delete several", "1 3", "y", "b", "undo",
    )  # fmt: skip
    assert "Moved 3 files to archive/. Undo undoes all of it." in heard
    assert "There is no 9-2 here: numbers go from 1 to 5." in heard
    assert "archive, b.md.\nDelete 1 directory and 1 file, 4 files in all? Undo restores them" in heard
    assert "Undid your deletion of " in heard
    assert sorted(str(each.relative_to(folder)) for each in folder.rglob("?.md")) == [
        "archive/a.md", "archive/c.md", "archive/d.md", "b.md", "e.md",
    ]  # fmt: skip


def test_what_was_moved_is_told_as_moved(talk: Talk, folder: Path) -> None:
    looked_at(folder)
    as_agent(folder, command="rename", old_path="/memories/prefs.md", new_path="/memories/likes.md")
    as_agent(folder, command="str_replace", path="/memories/likes.md", old_str="Berlin", new_str="Lisbon")
    as_agent(folder, command="rename", old_path="/memories/notes", new_path="/memories/old")
    heard = talk("unseen", "2", "b", "b")
    assert "1. old/today.md was notes/today.md; last at " in heard
    assert "2. likes.md was prefs.md and changed, 2 changes; last at " in heard
    assert "Line 2 is now: - Lisbon\n" in heard
    assert "is deleted" not in heard


def test_lately_tells_each_event_and_takes_it_back(talk: Talk, folder: Path) -> None:
    looked_at(folder)
    as_agent(folder, command="view", path="/memories/prefs.md")
    as_agent(folder, command="create", path="/memories/new.md", file_text="a\n")
    heard = talk("recent", "1", "what it", "go to", "", "undo", "y", "", "", "recent")
    assert "1. " in heard
    assert "Claude created new.md, 1 line added.\n" in heard
    assert "looked at" not in heard
    assert "It is new.\n1 line added, in 1 place.\nLine 1 is new: a\n" in heard
    assert not (folder / "new.md").exists()


def test_a_note_is_renamed_copied_and_deleted_and_brought_back(talk: Talk, folder: Path) -> None:
    heard = talk("files", "prefs", "rename", "likes.md", "copy", "notes/", "delete")
    assert "Renamed prefs.md to likes.md. Undo undoes it." in heard
    assert "Copied likes.md to notes/likes.md." in heard
    assert "Deleted likes.md. Undo restores it, Deleted notes lists deleted notes." in heard
    assert sorted(each.name for each in folder.rglob("*.md")) == ["likes.md", "today.md"]
    heard = talk("deleted notes", "1", "read", "restore")
    assert "1. likes.md, at " in heard
    assert "Restored likes.md. Undo undoes it." in heard
    assert (folder / "likes.md").read_text() == "- short answers\n- Berlin\n"


def test_a_name_out_of_the_folder_or_over_another_note_is_refused(talk: Talk, folder: Path) -> None:
    heard = talk("files", "prefs", "rename", "../../x.md", "rename", "/notes/today.md", "rename", "/", "b")
    assert "Refused: ../../x.md is outside the memory folder. Nothing was read or written." in heard
    assert "notes/today.md already exists" in heard
    assert "That is the whole folder. Name a file in it." in heard
    assert (folder / "prefs.md").exists()


def test_a_folder_is_renamed_deleted_and_protected(talk: Talk, folder: Path) -> None:
    heard = talk("files", "notes", "o", "rename", "old", "old", "o", "protect", "o", "unprotect", "o", "delete", "y")
    assert "Renamed notes/ to old/. Undo undoes it." in heard
    assert "Protected old/: no agent can change it." in heard
    assert "No longer protected: old/. Agents can change it again." in heard
    assert "Delete old/ and the 1 file in it? Undo restores it, Deleted notes lists deleted notes." in heard
    assert not (folder / "old").exists()


def test_a_protected_note_says_so_and_details_and_links_are_told(talk: Talk, folder: Path) -> None:
    (folder / "index.md").write_text("See [[prefs]], [site](https://example.com/) and [gone](gone.md).\n")
    lines = ["files", "index.md", "links", "2", "3", "1", "protect", "details", "blame", "read the agent", "b"]
    heard = talk(*lines)
    assert "1. Line 1, to prefs.md\n2. Line 1, out of this folder, to https://example.com/\n" in heard
    assert "3. Line 1, to gone.md, which does not exist\n" in heard
    assert "It cannot be opened from here." in heard
    assert "It is protected from agents." in heard
    assert "25 bytes, 2 lines, 5 words, about 7 tokens." in heard
    assert "1: - short answers\n" in heard
    assert "Here's the content of /memories/prefs.md with line numbers:" in heard


def test_a_new_note_is_written_line_by_line(talk: Talk, folder: Path) -> None:
    lines = ["new note", "people/ann", "person", "a person", "delete", "2", "20", "delete", "1", "7"]
    lines += ["change", "1", "Ann, painter", "write lines before", "1", "top", ".", "undo", "hear it", "what i"]
    heard = talk("new note", "people/ann", "a note", *lines[4:], "save", "new note", "people/ann", "new note", "box/")
    assert "There is no line 20: it has 2 lines." in heard
    assert "There is no line 7: it has 2 lines." in heard
    assert "Line 1 is: # Ann\n" in heard
    assert "Undid the last step." in heard
    assert "Line 1 was: # Ann\nLine 1 is now: Ann, painter\n" in heard
    assert "Saved people/ann.md, 2 lines added." in heard
    assert "people/ann.md already exists." in heard
    assert "Created the directory box/. Undo undoes it." in heard
    assert (folder / "people/ann.md").read_text() == "Ann, painter\n\n"
    assert (folder / "box").is_dir()


def test_an_empty_json_begins_with_lines_and_a_bad_name_is_refused(talk: Talk, folder: Path) -> None:
    heard = talk("new note", "a\u202eb.md", "new note", "n.txt", "one", "", "two", ".", "save")
    assert "not allowed" in heard
    assert (folder / "n.txt").read_text() == "one\n\ntwo\n"


def test_what_was_typed_is_offered_after_the_input_broke_off(talk: Talk, folder: Path) -> None:
    talk("files", "prefs", "edit", "write lines at", "typed and lost")
    assert "typed" not in (folder / "prefs.md").read_text()
    heard = talk("files", "prefs", "edit", "continue", "save")
    assert "There are unsaved drafts of prefs.md." in heard
    assert "There is an unsaved draft of " in heard
    assert (folder / "prefs.md").read_text() == "- short answers\n- Berlin\ntyped and lost\n"
    assert "unsaved drafts" not in talk()


def test_the_editor_gets_a_copy_and_line_ends_stay(talk: Talk, folder: Path, tmp_path: Path) -> None:
    (folder / "dos.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    editor = editor_that("path.write_text(path.read_text().replace('two', 'three\\nfour'))", tmp_path)
    heard = talk("files", "dos.md", "edit", "in your editor", editor=editor)
    assert "Saved dos.md, 2 lines added, 1 removed." in heard
    assert (folder / "dos.md").read_bytes() == b"\xef\xbb\xbfone\r\nthree\r\nfour"


def test_an_editor_that_fails_changes_nothing_and_loses_nothing(talk: Talk, folder: Path, tmp_path: Path) -> None:
    editor = editor_that("path.write_text('half'); sys.exit(3)", tmp_path)
    heard = talk(
        "files",
        "prefs",
        "edit",
        "in your editor",
        "edit",
        "hear",
        "forget",
        "delete the",
        "delete it",
        "b",
        editor=editor,
    )
    assert "ended with 3.\nWhat it saved is kept as a draft: Edit offers it." in heard
    assert "half\n" in heard
    assert (folder / "prefs.md").read_text() == "- short answers\n- Berlin\n"
    heard = talk("files", "prefs", "edit", "in your editor", editor=str(tmp_path / "no such editor"))
    assert "cannot be started" in heard


def conflicting(folder: Path, tmp_path: Path, mine: str, theirs: str) -> str:
    """An editor that writes one text, while an agent writes another."""
    (tmp_path / "agent.py").write_text(
        "import memtui\n"
        f"with memtui.open({str(folder)!r}) as memory:\n"
        f"    memory.execute({{'command': 'create', 'path': '/memories/prefs.md', 'file_text': {theirs!r}}},\n"
        "        actor=memtui.Agent('Claude', 'a-model', 's'))\n"
    )
    does = "import subprocess\n"
    does += f"subprocess.run([sys.executable, {str(tmp_path / 'agent.py')!r}], check=True)\n"
    return editor_that(does + f"path.write_text({mine!r})", tmp_path)


def test_both_changes_are_merged_where_they_go_together(talk: Talk, folder: Path, tmp_path: Path) -> None:
    mine, theirs = "- long answers\n- Berlin\n", "- short answers\n- Berlin\n- Lisbon\n"
    heard = talk(
        "files", "prefs", "edit", "in your editor", "hear what claude", "hear what i", "merge",
        editor=conflicting(folder, tmp_path, mine, theirs),
    )  # fmt: skip
    assert "Claude overwrote" not in heard
    assert "prefs.md: Claude changed this file while you were editing.\nClaude, " in heard
    assert ", create, +1.\nNothing has been written. Both versions are kept whichever you choose.\n" in heard
    assert "Line 3 is new: - Lisbon" in heard
    assert "Line 1 is now: - long answers" in heard
    assert "Merged: 1 place of yours and 1 of the other, 0 decided by you." in heard
    assert (folder / "prefs.md").read_text() == "- long answers\n- Berlin\n- Lisbon\n"


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        (["merge", "1"], "- short answers\n- Porto\n"),
        (["merge", "2"], "- short answers\n- Lisbon\n"),
        (["merge", "3"], "- short answers\n- Porto\n- Lisbon\n"),
        (["merge", "b", "keep"], "- short answers\n- Porto\n"),
        (["take"], "- short answers\n- Lisbon\n"),
        (["back", "b"], "- short answers\n- Lisbon\n"),
    ],
)
def test_where_they_do_not_go_together_the_person_decides(
    answers: list[str], text: str, talk: Talk, folder: Path, tmp_path: Path
) -> None:
    editor = conflicting(folder, tmp_path, "- short answers\n- Porto\n", "- short answers\n- Lisbon\n")
    heard = talk("files", "prefs", "edit", "in your editor", *answers, editor=editor)
    if answers[0] == "merge":
        assert "Place 1 of 1, line 2: both changed it.\nBefore: - Berlin\nYours: - Porto\nClaude: - Lisbon\n" in heard
    assert (folder / "prefs.md").read_text() == text
    with memtui.open(folder) as memory:
        held = [memory.history.text(row.after) for row in memory.history.versions_of("prefs.md")]
    assert b"- short answers\n- Lisbon\n" in held, "what the agent wrote is in the history"
    if answers[0] in ("take", "back"):
        assert "There are unsaved drafts of prefs.md." in talk()


def test_nothing_can_be_changed_where_all_is_read_only(talk: Talk, folder: Path, state_home: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    heard = talk(
        "undo", "redo", "new note", "files", "prefs", "edit", "rename", "copy", "delete", "protect", "read",
        read_only=True,
    )  # fmt: skip
    assert ", read-only, " in heard
    for not_done in ("undone", "redone", "edited", "renamed", "copied", "deleted"):
        assert f"Not {not_done}: this session is read-only. Nothing was written." in heard
    assert "Nothing was created: this session is read-only." in heard
    assert "- short answers\n- Berlin\nEnd of prefs.md." in heard
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert not state_home.exists()


def test_much_that_went_at_once_is_said_and_brought_back(talk: Talk, folder: Path) -> None:
    looked_at(folder)
    with memtui.open(folder) as memory:
        memory.clear(actor=CLAUDE)
    heard = talk("restore deleted", "y", "files")
    assert "3 of 3 notes were deleted at " in heard
    assert "Restored 3 notes." in heard
    assert (folder / "prefs.md").exists()


def test_an_agent_that_does_not_ask_is_told_so(talk: Talk) -> None:
    assert "No agent is asking." in talk("questions")


def test_a_folder_is_chosen_where_none_is_named(talk: Talk, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.chdir(folder)
    heard = talk("1", "files", where=None)
    assert "Which memory folder? Found on this machine:\n1. ~/memories, 3 files\n" in heard
    assert "1. notes, directory" in heard
    heard = talk("p", "/no/such/folder", "p", str(folder), where=None)
    assert "No folder at /no/such/folder." in heard
    assert "3 files" in heard
    assert "files" not in talk("", where=None).partition("Enter quits")[2]


def test_a_store_that_was_opened_before_can_be_chosen(
    talk: Talk, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.chdir(folder)
    with memtui.open(f"sqlite:{tmp_path}/team.db") as memory:
        create = {"command": "create", "path": "/memories/plan.md", "file_text": "deploy by hand\n"}
        assert not memory.execute(create, actor=CLAUDE).is_error
    heard = talk("2", "files", where=None)
    assert (
        "Which memory folder or store? Found on this machine, and opened before:\n1. ~/memories, 3 files\n2. " in heard
    )
    assert "team.db, SQLite file, 1 file\n" in heard
    assert "1. plan.md" in heard


def test_a_folder_that_goes_away_ends_it_with_a_sentence(talk: Talk, folder: Path, tmp_path: Path) -> None:
    editor = editor_that(f"Path({str(folder)!r}).rename({str(tmp_path / 'away')!r})", tmp_path)
    with pytest.raises(FolderMissing):
        talk("files", "prefs", "edit", "in your editor", "b", "b", "undo", editor=editor)


def test_a_fault_within_a_choice_is_said_and_the_menu_comes_again(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Engine, __: object = None) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memtui.engine.history.JournalHistory.get_undoable", broken)
    heard = talk("undo", "files")
    assert "It failed: no space left on device." in heard
    assert "1. notes, directory" in heard
