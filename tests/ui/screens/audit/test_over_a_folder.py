"""The audit's screen over a real folder: from the browser, where changes are taken back, and alone."""

import hashlib
import os
import random
import shutil
import signal
import stat
import string
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import memtui
from memtui.core.events import Agent
from memtui.fs.landlock import get_landlock_version
from memtui.review.inbox import ReviewVerdict
from memtui.review.marks import Review, get_review_path
from memtui.ui.audit_app import AuditApp
from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.dialogs import ConfirmScreen, MenuScreen
from tests.ui.conftest import Starting, fill
from tests.ui.declared import declared
from tests.ui.screens.audit.made import secret

Opening = Callable[..., AbstractAsyncContextManager[Any]]
CLARA = Agent("Clara", session="session-1")


async def reviewing(app: Any, key: str = "A") -> AuditScreen:
    """Open the audit from the browser, and wait until it is done."""
    await app.press(key)
    await app.wait_for(lambda: isinstance(app.app.screen, AuditScreen), "the audit")
    screen = app.app.screen
    assert isinstance(screen, AuditScreen)
    await app.wait_for(lambda: screen.lists.audit is not None, "what it found")
    await app.rest()
    return screen


def edit(app: Any, path: str, old: str, new: str) -> None:
    """An agent changes a note."""
    with app.engine() as engine:
        command = {"command": "str_replace", "path": f"/memories/{path}", "old_str": old, "new_str": new}
        assert not engine.execute(command, actor=CLARA).is_error


async def to(app: Any, screen: AuditScreen, path: str) -> None:
    """Put the cursor on a changed file, and wait until it is compared."""
    await app.press("3")
    await app.wait_for(lambda: screen.focused is screen.lists.changes, "the changes")
    await app.wait_for(lambda: screen.lists.changes.go_to(path), path)
    await app.wait_for(
        lambda: screen.detail.change is not None and screen.detail.change.file.path == path, f"the diff of {path}"
    )
    await app.rest()


async def test_a_reviewer_accepts_flags_and_takes_back_and_the_next_review_starts_there(opened: Opening) -> None:
    async with opened() as app:
        screen = await reviewing(app)
        await app.press("D")
        await app.wait_for_screen(ConfirmScreen)
        await app.press("y")
        await app.wait_for(lambda: "Review ended" in screen.message.text, "the first review's end")
        await app.wait_for(lambda: screen.lists.changes.row_count == 0, "nothing to review")
        await app.press("q")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen), "the browser")
        edit(app, "alpha.md", "*first*", "*second*")
        edit(app, "notes/beta.md", "needle one", "pin one")
        edit(app, "notes/beta.md", "needle three", "pin three")
        edit(app, "zeta.txt", "plain", "fancy")
        await app.wait_for(lambda: len([each for each in app.actors if each[0] == "Clara"]) == 4, "what Clara did")
        screen = await reviewing(app)
        assert {row.file.path for row in screen.lists.changes._rows if hasattr(row, "file")} == {
            "alpha.md", "notes/beta.md", "zeta.txt"
        }  # fmt: skip
        await to(app, screen, "alpha.md")
        await app.press("space")
        await app.wait_for(lambda: "1 of 3" in screen.message.text, "the first mark")
        await to(app, screen, "zeta.txt")
        await app.press("F", "enter")
        await app.wait_for(lambda: "2 of 3" in screen.message.text, "the second mark")
        await to(app, screen, "notes/beta.md")
        await app.press("r")
        await app.wait_for(lambda: isinstance(app.app.screen, MenuScreen), "what is asked")
        await app.press("h")
        await app.wait_for(lambda: "needle one" in (app.folder / "notes/beta.md").read_text(), "the hunk")
        assert "pin three" in (app.folder / "notes/beta.md").read_text()
        await app.wait_for(lambda: "undoes that" in screen.message.text, "what was done")
        await app.wait_for(lambda: screen.run.audit_worker is None, "the look after that")
        taken = screen.lists.audit
        await app.press("u")
        await app.wait_for(lambda: "pin one" in (app.folder / "notes/beta.md").read_text(), "the undoing")
        await app.wait_for(lambda: screen.lists.audit is not taken, "a look at what is there again")
        review = Review.read(get_review_path(os.path.realpath(app.folder)))
        assert [(mark.verdict, mark.path) for mark in review.marks][-3:] == [
            (ReviewVerdict.ACCEPT, "alpha.md"),
            (ReviewVerdict.FLAG, "zeta.txt"),
            (ReviewVerdict.REVERTED, "notes/beta.md"),
        ]


async def test_the_commands_offer_audit_and_review(opened: Opening) -> None:
    async with opened() as app:
        await app.press("colon", *"review the")
        await app.wait_for(lambda: "Review the changes since" in app.text, "the command")
        await app.press("enter")
        await app.wait_for(lambda: isinstance(app.app.screen, AuditScreen), "the review")
        screen = app.app.screen
        await app.wait_for(lambda: screen.focused is screen.lists.changes, "the changes first")


async def test_a_secret_is_found_and_masked_and_its_history_asks_before_it_shows_it(opened: Opening) -> None:
    async with opened({"key.md": f"the key is {secret()}\n", "a.md": "a\n"}, size=(160, 40)) as app:
        screen = await reviewing(app)
        await app.wait_for(
            lambda: screen.lists.finding is not None and "key" in screen.lists.finding.rule, "the finding"
        )
        await app.wait_for(lambda: "the key is sk-ant" in app.text, "its line")
        assert secret() not in app.text
        await app.press("V")
        await app.wait_for(lambda: "Its versions show the masked values" in app.text, "the question")
        await app.press("n")
        await app.wait_for(lambda: app.app.screen is screen, "back")


async def test_a_change_meanwhile_is_told_and_looked_at_when_asked_for(opened: Opening) -> None:
    async with opened() as app:
        screen = await reviewing(app)
        app.put("alpha.md", "# Alpha\n\nanother text\n")
        await app.wait_for(lambda: "changed since" in screen.message.text, "that it changed")
        taken = screen.lists.audit
        await app.press("R")
        await app.wait_for(lambda: screen.lists.audit is not taken, "another look")


async def test_a_read_only_browser_reviews_and_changes_nothing(opened: Opening) -> None:
    async with opened(read_only=True, ready=False) as app:
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen) and "alpha.md" in app.text, "the browser")
        before = taken_down(app.folder)
        screen = await reviewing(app)
        assert "READ-ONLY" in app.text
        await app.press("3", "r")
        await app.wait_for(lambda: "Read-only." in screen.message.text, "why not")
        await app.press("R")
        await app.rest()
        await app.press("q")
        await app.wait_for(lambda: isinstance(app.app.screen, BrowseScreen), "the browser")
        assert taken_down(app.folder) == before


# Alone, on a terminal, with the kernel's word


def taken_down(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything that could be told to have changed below a directory, its reading included."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted([folder, *folder.rglob("*")]):
        known = path.lstat()
        held = ""
        if stat.S_ISREG(known.st_mode):
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOATIME", 0))
            with open(descriptor, "rb") as file:
                held = hashlib.sha256(file.read()).hexdigest()
        times = (known.st_mtime_ns, known.st_ctime_ns, known.st_atime_ns if held else 0)
        found[str(path)] = (known.st_mode, known.st_uid, known.st_gid, known.st_size, held, *times)
    return found


def prepared(tmp_path: Path) -> tuple[Path, Path]:
    """A folder with a record, and what was changed in it since behind its back; and where its journal lies."""
    folder, state = tmp_path / "memories", tmp_path / "state"
    fill(folder, {"a.md": "# A\n\n- one\n", "notes/b.md": "# B\n", "key.md": f"{secret()}\n"})
    with memtui.open(folder, state=state) as memory:
        memory.execute({"command": "create", "path": "/memories/c.md", "file_text": "# C\n"}, actor=CLARA)
    fill(folder, {"a.md": "# A\n\n- two\n"})
    for path in folder.rglob("*"):
        os.utime(path, ns=(1_000_000_000, 1_000_000_000))
    return folder, state


SENT = {
    "escape": "\x1b", "enter": "\r", "tab": "\t", "shift+tab": "\x1b[Z", "up": "\x1b[A", "down": "\x1b[B",
    "right": "\x1b[C", "left": "\x1b[D", "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "home": "\x1b[H",
    "end": "\x1b[F", "f1": "\x1bOP", "f4": "\x1bOS", "f5": "\x1b[15~", "space": " ", "backspace": "\x7f",
    "ctrl+d": "\x04", "ctrl+u": "\x15", "ctrl+p": "\x10", "ctrl+t": "\x14",
}  # fmt: skip
"""What a terminal sends for keys that are no characters."""


def test_every_key_that_there_is_leaves_folder_and_journal_as_they_were(tmp_path: Path, terminal: Starting) -> None:
    folder, state = prepared(tmp_path)
    screen = terminal("-m", "memtui", "audit", folder, "--state", state, "--no-config")
    screen.wait_for("snapshot")
    screen.settle()
    before = taken_down(folder), taken_down(state)
    assert "secret" in screen.text
    keys = [*SENT.values(), *string.ascii_letters.replace("q", ""), *string.digits, *"[].,;'/?!@#$%&*()_+-=<>~|{}"]
    random.Random(6).shuffle(keys)
    for number, key in enumerate(keys):
        screen.press(key)
        screen.read(0.05)
        if number % 4 == 0:
            screen.press("\x1b")
            screen.settle()
    for keys_of_a_course in (
        *["\x1b"] * 3,
        "3 ",
        "3Fx\r",
        "3mx\r",
        "X",
        "y",
        "D",
        "y",
        "R",
        "W",
        "V",
        "\x1b",
        "o",
        "\x1b",
    ):
        screen.press(keys_of_a_course)
        screen.settle()
    screen.press("\x11")
    assert screen.end() == 0, screen.text
    assert (taken_down(folder), taken_down(state)) == before
    assert list((tmp_path / "xdg-state/memtui/reviews").iterdir())


def test_where_the_kernel_offers_it_the_process_cannot_write_there_at_all(tmp_path: Path, terminal: Starting) -> None:
    folder, state = prepared(tmp_path)
    screen = terminal("-m", "memtui", "audit", folder, "--state", state, "--no-config", size=(160, 40))
    screen.wait_for("READ-ONLY: nothing under")
    screen.wait_for("Landlock" if get_landlock_version() else "opens everything read-only")
    screen.kill(signal.SIGTERM)
    assert screen.end() == 128 + signal.SIGTERM


def test_a_journal_that_a_crash_left_is_read_although_nothing_may_be_written(
    tmp_path: Path, terminal: Starting
) -> None:
    folder, state = prepared(tmp_path)
    left = tmp_path / "left"
    with memtui.open(folder, state=state) as memory:
        memory.execute({"command": "create", "path": "/memories/d.md", "file_text": "# D\n"}, actor=CLARA)
        shutil.copytree(state, left)  # as it is while somebody writes, without what only a running process has
    (left / "journal.db-shm").unlink(missing_ok=True)
    assert (left / "journal.db-wal").stat().st_size > 0
    screen = terminal("-m", "memtui", "audit", folder, "--state", left, "--no-config", size=(160, 40))
    screen.wait_for("snapshot")
    screen.wait_for("Clara 2")
    screen.press("q")
    assert screen.end() == 0, screen.text


def test_the_keys_of_the_audit_that_change_something_are_few_and_known() -> None:
    changing = {"revert", "undo_here", "redo_here", "restore_loss"}
    bound = {binding.action for binding in declared(AuditScreen)}
    assert changing <= bound
    assert not any(binding.action.startswith(("delete", "edit", "rename")) for binding in declared(AuditScreen))
    assert AuditApp.TITLE == "memtui (read-only)"
