"""Whatever is typed on whatever screen, however fast: no key ends the program but those that are there for it."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.pilot import Pilot

from memtui.ui import clipboard
from memtui.ui.screens import external_link
from memtui.ui.screens.conflict import ConflictScreen
from memtui.ui.textual_private import character_to_key
from tests.ui.conftest import FILES, Opening
from tests.ui.screens.test_approval_screen import ask, look, proposal_of

PARTS, KEYS = 7, 100
"""How often each scene begins anew, and the keys that are pressed in it: 30,000 in all."""
NOTES = FILES | {"link.md": "[a](alpha.md) <https://example.org>\n"}
SIZES = ((80, 24), (120, 36), (200, 50), (40, 10))

SCENES: dict[str, tuple[str, ...]] = {
    "files": (), "note": ("2",), "activity": ("3",), "commands": ("colon",), "typed command": ("colon", *"undo"),
    "help": ("question_mark",), "themes": ("ctrl+t",), "folders": ("o",), "find": ("slash", "e"),
    "find in the note": ("ctrl+f", "o"), "sort": ("comma",), "new": ("a",), "rename": ("r",), "copy": ("c",),
    "rename many": ("asterisk", "r", "e"), "edit": ("e",), "find and replace": ("e", "ctrl+f", "o"),
    "changes of the text": ("e", "x", "ctrl+d"), "history": ("V",), "past": ("T",), "deleted": ("d", "D"),
    "details": ("i",), "event": ("3", "i"), "audit": ("A",), "review": ("A", "3"), "undo": ("d", "u"),
    "undo everything": ("Z",), "copy menu": ("y",), "link": ("2", "l", "enter"),
}  # fmt: skip
"""What leads to each screen."""


async def _lead_to_conflict(app: Any, _: contextlib.ExitStack) -> None:
    await app.to("alpha.md")
    await app.press("e", "x")
    (app.folder / "alpha.md").write_text("another first line\n")
    await app.press("ctrl+s")
    await app.wait_for(lambda: isinstance(app.app.screen, ConflictScreen), "the conflict")


async def _lead_to_approval(app: Any, stack: contextlib.ExitStack) -> None:
    for path in ("alpha.md", "new.md", "deep/er.md"):
        asking = await ask(app, proposal_of(path, None if path != "alpha.md" else "# Alpha\n"))
        stack.callback(asking.stopped.set)
    await look(app)


LED: dict[str, Callable[[Any, contextlib.ExitStack], Awaitable[None]]] = {
    "conflict": _lead_to_conflict,
    "approval": _lead_to_approval,
}
"""Scenes that take more than keys; what the stack holds is done at the end."""

NAMED = (
    "up", "down", "left", "right", "pageup", "pagedown", "home", "end", "enter", "enter", "enter", "escape", "tab",
    "shift+tab", "backspace", "delete", "space", "f1", "f2", "f3", "f4", "f6", "f7", "f8", "f9", "shift+up",
    "shift+down", "shift+left", "shift+right", "ctrl+home", "ctrl+end", "ctrl+left", "ctrl+right",
    *(f"ctrl+{letter}" for letter in "abdefgklnoprstuvwxy"),
)  # fmt: skip
CHARACTERS = {character_to_key(chr(code)): chr(code) for code in range(32, 127)}
TYPED = tuple(key for key in CHARACTERS if key != "q")
WORDS = ("undo", "rename", "history", "blame", "theme", "delete", "audit", "find", "zz", "~/", "/tmp")
"""What somebody types into a box, after a key that may open it and before keys that end it."""
OPENING = ("colon", "ctrl+p", "question_mark", "slash", "r", "a", "o", "ctrl+t")


def choose_keys(chance: random.Random) -> list[str]:
    """A few keys that come at once."""
    kind = chance.random()
    if kind < 0.15:
        word = [character_to_key(letter) for letter in chance.choice(WORDS)]
        ends = chance.choices(("enter", "enter", "escape", "pagedown", "down"), k=chance.randrange(1, 4))
        return [chance.choice(OPENING), *word, *ends]
    length = chance.choice((1, 1, 1, 2, 3, 8))
    return [chance.choice((*NAMED, "q")) if chance.random() < 0.5 else chance.choice(TYPED) for _ in range(length)]


async def press_at_once(app: App[Any], keys: list[str]) -> None:
    """Press keys as a terminal hands them on: without a pause between them."""
    driver = app._driver
    assert driver is not None
    for key in keys:
        event = events.Key(key, CHARACTERS.get(key))
        event.set_sender(app)
        driver.send_message(event)


async def type_anything(app: App[Any], pilot: Pilot[Any], chance: random.Random, pressed: list[str]) -> None:
    """Press keys at random, until the program ends; they are added to `pressed`."""
    while len(pressed) < KEYS and app.is_running and not app._exit:
        keys = choose_keys(chance)
        pressed += keys
        await press_at_once(app, keys)
        if chance.random() < 0.5:
            await asyncio.sleep(0)
        else:
            await pilot.pause()
    await pilot.pause()


@pytest.fixture(autouse=True)
def nothing_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is started, and nothing is written beside the test."""
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr(external_link, "open_external_link", lambda *_, **__: True)
    monkeypatch.setattr(clipboard, "list_copy_methods", lambda *_: [])
    monkeypatch.chdir(tmp_path)


@pytest.mark.sweep(keep=1, always=("1-commands", "1-rename", "1-folders"))
@pytest.mark.parametrize("scene", [*SCENES, *LED])
@pytest.mark.parametrize("part", range(1, PARTS + 1))
async def test_any_keys_in_any_order_and_at_any_speed(opened: Opening, scene: str, part: int) -> None:
    chance = random.Random(f"{scene} {part}")
    pressed: list[str] = []
    try:
        async with opened(NOTES, size=chance.choice(SIZES[:3] if scene in LED else SIZES)) as app:
            with contextlib.ExitStack() as stack:
                if lead := LED.get(scene):
                    await lead(app, stack)
                for key in SCENES.get(scene, ()):
                    await app.press(key)
                    await app.pilot.pause()
                await type_anything(app.app, app.pilot, chance, pressed)
    except Exception as error:
        raise AssertionError(f"{scene} {part}: {' '.join(pressed[-40:])}") from error


async def test_a_key_that_comes_when_no_screen_is_left_is_ignored(opened: Opening) -> None:
    """It was typed before the program ended, and came to a widget of a screen that has closed since."""
    async with opened(NOTES) as app:
        key = events.Key("e", "e")
        key.set_sender(app.app)
        key._set_forwarded()
        app.app.exit()
    assert not app.app.screen_stack
    await app.app.on_event(key)
