"""From the files into the editor and back: here, and in the person's own."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from memtui.core.events import Agent, Person
from memtui.editing.drafts import EditDraftStore
from memtui.editing.external_editor import EditorUnavailable, build_command, edit_copy, parse_editor_command
from memtui.ui.screens.edit import EditScreen
from tests.ui.conftest import Opened

Opening = Callable[..., AbstractAsyncContextManager[Opened]]

NOTE = "line one\nline two\nline three\n"


def _own_editor(path: Path, script: str) -> str:
    editor = path / "editor"
    editor.write_text(f"#!/bin/sh\nfor file; do :; done\n{script}\n")
    editor.chmod(0o700)
    return str(editor)


async def test_e_edits_the_note_under_the_cursor_and_esc_leads_back(opened: Opening) -> None:
    async with opened({"notes/a.md": NOTE}) as app:
        await app.to("notes/a.md")
        await app.press("e")
        await app.wait_for(
            lambda: isinstance(app.app.screen, EditScreen) and app.app.screen.drafts.is_open, "the editor"
        )
        await app.press("m", "y", "space", "ctrl+s")
        await app.wait_for(lambda: (app.folder / "notes/a.md").read_text() == "my " + NOTE, "the save")
        await app.wait_for(lambda: "Saved notes/a.md (+1 -1)." in app.text, "the words")
        await app.press("escape")
        await app.wait_for(lambda: app.app.screen is app.browse)
        await app.press("u")
        await app.wait_for(lambda: (app.folder / "notes/a.md").read_text() == NOTE, "undo")


async def test_a_folder_and_a_read_only_session_say_why_nothing_is_edited(opened: Opening) -> None:
    async with opened({"notes/a.md": NOTE}) as app:
        app.browse.files.focus()
        await app.press("home", "e")
        await app.wait_for(lambda: "is a directory" in app.message)
    async with opened({"notes/a.md": NOTE}, read_only=True) as app:
        await app.to("notes/a.md")
        await app.press("e")
        await app.wait_for(lambda: "Read-only." in app.message)
        await app.press("E")
        assert app.app.screen is app.browse


async def test_what_the_persons_own_editor_leaves_is_saved_as_hers(
    opened: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'printf "mine\\r\\n" >> "$file"; echo "$PWD $file" > ' + str(tmp_path / "where")
    monkeypatch.setenv("VISUAL", _own_editor(tmp_path, script))
    async with opened({"a.md": b"one\r\ntwo\r\n"}) as app:
        monkeypatch.setattr(app.app, "suspend", nullcontext)
        await app.to("a.md")
        await app.press("E")
        await app.wait_for(lambda: "Saved a.md (+1)." in app.message, "the save")
        assert (app.folder / "a.md").read_bytes() == b"one\r\ntwo\r\nmine\r\n"
        assert str(app.folder) not in (tmp_path / "where").read_text().split()[1]
        with app.engine() as engine:
            assert isinstance(engine.history.versions_of("a.md")[0].event.actor, Person)


async def test_a_change_while_the_own_editor_is_open_is_a_conflict_and_nothing_is_lost(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened({"a.md": NOTE}) as app:
        monkeypatch.setattr(app.app, "suspend", nullcontext)

        def run(words: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
            """An editor in which the person works while an agent writes."""
            file = Path(words[-1])
            file.write_text(file.read_text().replace("line three", "my three"))
            with app.engine() as engine:
                command = {"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "ONE"}
                assert not engine.execute(command, actor=Agent("Claude")).is_error
            return subprocess.CompletedProcess(words, 0)

        monkeypatch.setenv("VISUAL", "vi")
        await app.to("a.md")
        monkeypatch.setattr(subprocess, "run", run)
        await app.press("E")
        await app.wait_for(lambda: "Claude changed this file" in app.text, "the question")
        assert (app.folder / "a.md").read_text() == NOTE.replace("one", "ONE")
        await app.press("m")
        await app.wait_for(lambda: "my three" in (app.folder / "a.md").read_text(), "the merge")
        assert (app.folder / "a.md").read_text() == "line ONE\nline two\nmy three\n"


@pytest.mark.parametrize(
    ("script", "words"),
    [("exit 3", "ended with 3. Nothing was changed."), ('printf "\\377" > "$file"', "not UTF-8 text")],
)
async def test_an_editor_that_fails_changes_nothing_and_says_so(
    opened: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    monkeypatch.setenv("VISUAL", _own_editor(tmp_path, script))
    async with opened({"a.md": NOTE}) as app:
        monkeypatch.setattr(app.app, "suspend", nullcontext)
        await app.to("a.md")
        await app.press("E")
        await app.wait_for(lambda: words in app.message, words)
        assert (app.folder / "a.md").read_text() == NOTE


def test_an_editor_that_is_not_there_gives_the_screen_back() -> None:
    came_back: list[bool] = []

    @contextmanager
    def aside() -> Iterator[None]:
        yield  # as Textual has it: what is raised in here leaves the terminal to nobody
        came_back.append(True)

    with pytest.raises(
        EditorUnavailable, match=r"^there cannot be started: no such file or directory\. Nothing was changed\.$"
    ):
        edit_copy(["/not/there"], b"text", name="n.md", aside=aside())
    assert came_back


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (["vi"], ["vi", "+7", "n.md"]),
        (["/usr/bin/nano", "-w"], ["/usr/bin/nano", "-w", "+7", "n.md"]),
        (["hx"], ["hx", "n.md:7"]),
        (["code", "--wait"], ["code", "--wait", "-g", "n.md:7"]),
        (["code"], ["code", "--wait", "-g", "n.md:7"]),
        (["somewhat"], ["somewhat", "n.md"]),
    ],
)
def test_an_editor_begins_at_the_line_if_it_is_known_to(command: list[str], wanted: list[str]) -> None:
    assert build_command(command, "n.md", 7) == wanted


async def test_a_draft_that_a_crash_left_is_told_at_the_next_start(opened: Opening) -> None:
    async with opened() as app:
        assert "draft" not in app.message
        state = app.state
    drafts = EditDraftStore(state / "drafts")
    drafts.save("notes/gone.md", "what I was typing", None)
    drafts.close()  # as the end of a process does: nobody types it any more
    async with opened() as app:
        await app.wait_for(lambda: app.message == "Unsaved draft of notes/gone.md found. e on the note opens it.")


@pytest.mark.parametrize("installed", [("nano",), ("vi", "nano"), ("sensible-editor", "vi", "nano")])
def test_where_no_editor_is_set_one_that_is_installed_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...]
) -> None:
    for name in installed:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("EDITOR", " ")
    monkeypatch.delenv("VISUAL", raising=False)
    assert parse_editor_command("") == [installed[0]]
    assert parse_editor_command("code --wait") == ["code", "--wait"]
    monkeypatch.setenv("EDITOR", "kak -n")
    assert parse_editor_command("") == ["kak", "-n"]


def test_without_any_editor_it_is_said_how_to_set_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EditorUnavailable, match="No editor is set"):
        parse_editor_command("")
