"""What the preview shows of every kind of file, and finding in it."""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

import memtui
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.ui.widgets.find_line import FindLine
from memtui.ui.widgets.preview import PreviewMode
from tests.neutral.keys import press_every_key
from tests.neutral.trees import age, differences, traces

FILES = {"alpha.md": "# Alpha\n", "notes/beta.md": "needle\n", ".hidden.md": "hidden\n", "zeta.txt": "plain\n"}

Opening = Callable[..., AbstractAsyncContextManager[Any]]


async def test_t_goes_through_rendered_source_and_what_the_model_sees(opened: Opening) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        assert "The first note." in app.text
        await app.press("t")
        await app.wait_for(lambda: "*first*" in app.text and "source" in app.text)
        await app.press("t")
        await app.wait_for(lambda: "as the model sees it" in app.text)
        with app.engine() as engine:
            answer = engine.preview_view(MemoryPath.from_relative("alpha.md"))
        await app.wait_for(lambda: app.browse.note.document.source == answer)
        assert "Here's the content of /memories/alpha.md with line numbers:" in app.text
        await app.press("t")
        await app.wait_for(lambda: "*first*" not in app.text)


async def test_what_the_model_sees_of_a_folder_and_of_a_long_note_is_the_exact_answer(opened: Opening) -> None:
    async with opened({"long.md": "a line of text\n" * 3_000, "d/x.md": "x"}) as app:
        app.browse.preview.view = PreviewMode.MODEL
        for name in ("long.md", "d"):
            await app.to(name)
            with app.engine() as engine:
                answer = engine.preview_view(MemoryPath.from_relative(name))
            await app.wait_for(lambda answer=answer: app.browse.note.document.source == answer)


async def test_looking_is_no_event(opened: Opening) -> None:
    async with opened() as app:
        with app.engine() as engine:
            before = len(list(engine.events()))
        for name in ("alpha.md", "zeta.txt", "notes/beta.md"):
            await app.to(name)
            await app.press("t", "t", "t")
        await app.rest()
        with app.engine() as engine:
            assert len(list(engine.events())) == before


async def test_find_goes_through_the_matches_and_esc_forgets_them(opened: Opening) -> None:
    text = "".join(f"line {number} {'needle' if number % 40 == 0 else ''}\n\n" for number in range(200))
    async with opened({"long.md": text}) as app:
        await app.to("long.md")
        await app.press("ctrl+f")
        await app.wait_for(lambda: app.browse.query(FindLine))
        await app.press(*"needle", "enter")
        await app.wait_for(lambda: not app.browse.query(FindLine))
        note = app.browse.note
        assert app.browse.focused is note
        places = [note._match]
        for _ in range(3):
            await app.press("n")
            await app.wait_for(lambda: note._match != places[-1], "the next match")
            places.append(note._match)
        assert places == sorted(places)
        await app.press("N")
        await app.wait_for(lambda: note._match == places[-2], "the match before")
        assert note.scroll_offset.y > 0
        await app.press("ctrl+f")
        await app.wait_for(lambda: app.browse.query(FindLine))
        await app.press(*"zzz")
        await app.press("escape")
        await app.wait_for(lambda: not app.browse.query(FindLine))
        assert note.search("") == 0
        await app.press("n")
        assert note._match == -1


async def test_keys_typed_into_find_do_nothing_else(opened: Opening) -> None:
    async with opened() as app:
        await app.press("ctrl+f")
        await app.wait_for(lambda: app.browse.query(FindLine))
        await app.press(*"qfPtm.o1?:")
        await app.wait_for(lambda: app.browse.query_one(Input).value == "qfPtm.o1?:", "what was typed")
        assert app.app.is_running
        assert app.browse.follow


async def test_what_is_no_text_says_so(opened: Opening) -> None:
    files = {
        "binary.md": (b"\x00\x01\x02" * 100, "Binary data, 300 B. Not shown as text."),
        "empty.md": (b"", "This file is empty."),
        "odd.md": (b"broken \xff\xfe bytes\n", "\\xff\\xfe"),
    }
    async with opened({name: data for name, (data, _) in files.items()}) as app:
        for name, (_, words) in files.items():
            await app.to(name)
            await app.wait_for(lambda words=words: words in app.text, name)


async def test_what_is_no_file_says_so(opened: Opening, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("the secret outside")
    os.mkfifo(folder / "pipe")
    (folder / "out").symlink_to(tmp_path / "secret.md")
    (folder / "dangling").symlink_to("nowhere.md")
    (folder / "inside").symlink_to("alpha.md")
    (folder / "loop").symlink_to("loop")
    async with opened(folder=folder) as app:
        for name, words in (
            ("pipe", "A FIFO, a socket or a device. memtui does not open it."),
            ("out", "It is a link that leads out of the memory folder."),
            ("dangling", "It is a link to a missing file."),
            ("loop", "It is a link that leads"),
            ("inside", "The first note."),
            ("notes", "A directory. Enter expands or collapses it."),
        ):
            await app.to(name)
            await app.wait_for(lambda words=words: words in " ".join(app.text.split()), f"{name}: {words}")
            for _ in range(3):
                await app.press("t")
                await app.rest()
            assert "the secret outside" not in app.text


async def test_a_file_that_cannot_be_read_says_why(opened: Opening) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    async with opened() as app:
        (app.folder / "alpha.md").chmod(0)
        await app.to("zeta.txt")
        await app.to("alpha.md")
        await app.wait_for(lambda: "It cannot be read: permission denied." in app.text)


async def test_a_file_that_is_too_large_says_so(opened: Opening) -> None:
    async with opened() as app:
        app.browse.session.engine._viewer._settings = Settings(max_read_bytes=1_000)
        app.put("large.md", "x" * 5_000)
        await app.to("large.md")
        await app.wait_for(lambda: "It is too large to show" in app.text)


def first_paragraph(text: str) -> str:
    line = next(line for line in text.splitlines() if "paragraph number" in line)
    return line.split("number ")[1].split()[0]


async def test_a_note_that_changes_keeps_its_place(opened: Opening) -> None:
    lines = [f"paragraph number {number}\n\n" for number in range(300)]
    async with opened({"long.md": "".join(lines)}) as app:
        await app.to("long.md")
        await app.press("f", "2", *["pagedown"] * 4)
        top = first_paragraph(app.text)
        app.put("long.md", "a new first paragraph\n\n" + "".join(lines))
        await app.wait_for(lambda: "another program" in str(app.browse.note.border_subtitle))
        await app.rest()
        assert first_paragraph(app.text) == top


async def test_the_lines_that_changed_are_marked_until_they_were_seen(opened: Opening) -> None:
    async with opened({"a.md": "one\n\ntwo\n\nthree\n"}) as app:
        app.put("a.md", "one\n\ntwo and more\n\nthree\n")
        await app.wait_for(lambda: "two and more" in app.text)
        line = next(line for line in app.text.splitlines() if "two and more" in line)
        assert "┃" in line
        await app.press("m")
        await app.wait_for(lambda: "┃" not in app.text)


NO_LOOKING = ("app.back", "app.quit", "app.copy", "browse.chat")
"""Keys that end the session, or begin another one; those of `file.` are there to change files."""


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("read_only", [False, True], ids=["ordinary", "read-only"])
async def test_looking_changes_nothing(opened: Opening, tmp_path: Path, read_only: bool) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    state = tmp_path / "state"
    with memtui.open(folder, state=state):  # so that there is a journal, which may not be touched either
        pass
    age(folder, state)
    watched = (folder, state) if read_only else (folder,)
    before = traces(*watched)
    async with opened({}, folder=folder, read_only=read_only) as app:
        pressed = await press_every_key(
            app.browse,
            app.press,
            panes=("1", "2", "3"),
            is_left_out=lambda name: name in NO_LOOKING or name.startswith("file."),
            stays_open=(FindLine,),
        )
        assert len(pressed) > 50
        for name in [name for name in app.rows if not (folder / name).is_dir()]:
            await app.to(name)
        await app.rest()
    found = differences(before, traces(*watched))
    if not read_only:  # the system lists directories to watch them
        found = [each for each in found if not ("atime_ns" in each and os.path.isdir(each.partition(": ")[0]))]
    assert found == []
    assert {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.*")} == dict(FILES)
