"""Text that wants to act, through every pane, in a real pseudo-terminal: nothing of it arrives as a control.

What the terminal receives is parsed, byte by byte. Every control must be of a kind that the same session over a
harmless folder sends as well, and no character that hides or reorders text may be among the rest.
"""

import os
import re
import signal
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.core.events import Agent

Starting = Callable[..., Any]

PAYLOADS = {
    "erase": "\x1b[2J\x1b[31m",
    "clipboard": "\x1b]52;c;aG9zdGlsZQ==\x07",
    "title": "\x1b]0;hostile\x07\x1b]2;hostile\x1b\\",
    "link": "\x1b]8;;http://hostile.example\x1b\\x\x1b]8;;\x1b\\",
    "device": '\x1bP$q"p\x1b\\\x1b[c\x1b[6n\x1b[5n',
    "paste": "\x1b[201~:q\r",
    "c1": "\x9b31m\x9d52;c;aG9zdGlsZQ==\x9c\x90x\x9c\x85\x84",
    "bell": "\x07\x08\x7f\x0b\x0c\x0e\x0f",
    "bidi": "\u202egpj.exe\u202c\u2066\u2067\u2069\u200e\u200f\u061c",
    "hidden": "a\u200bb\u2060c\ufeffd\u00ade\u200de\U000e0041\U000e007f\u2064",
    "lines": "one\u2028two\u2029three",
    "markup": "[/x][@click=app.quit]quit[/][bold",
    "click": "[@click=app.simulate_key('q')]x[/]",
    "rich": "[link=http://hostile.example]x[/link][red]r[/red]",
    "wide": "漢字" * 30,
    "emoji": "👨\u200d👩\u200d👧❤\ufe0f🏳\ufe0f\u200d🌈",
    "rtl": "עברית العربية",
    "long": "very_long_name_" * 12,
}

ALLOWED_HIDDEN = {"\u200c", "\u200d", "\ufe0e", "\ufe0f"}
"""What scripts and emoji need."""

MARKDOWN = """---
title: {0}
{0}: value
---
# heading {0}

text {0} **bold {0}** `code {0}` ~~{0}~~ [a link {0}](http://example.com/{0} "{0}") ![an image {0}](x{0}.png)

<b onclick="{0}">html {0}</b> <!-- comment {0} -->

| {0} | b |
|---|---|
| {0} | `{0}` |

- item {0}
  - [ ] task {0}

> quote {0}

```{0}
code {0}
```

```python
print("{0}")
```

[ref {0}]: http://example.com/{0}
[^1]: {0}
"""


def hidden_names(payload: str) -> bytes:
    """A payload as part of a file's name: what no name can hold is left out, and a byte is broken."""
    return payload.replace("/", "_").encode("utf-8")[:180].decode("utf-8", "ignore").encode()


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder whose names, notes, agents and events are hostile, and so is its own name."""
    own_name = "".join(PAYLOADS[key] for key in ("clipboard", "bidi", "markup"))
    place = os.fsencode(tmp_path) + b"/" + hidden_names(own_name)
    os.mkdir(place)
    for key, payload in PAYLOADS.items():
        name = key.encode() + b" " + hidden_names(payload)
        os.mkdir(place + b"/dir " + name)
        with open(place + b"/dir " + name + b"/" + name + b".md", "wb") as file:
            file.write(MARKDOWN.replace("{0}", payload).encode())
        with open(place + b"/" + name, "wb") as file:
            file.write(payload.encode() + b"\n")
    with open(place + b"/broken \xff\xfe\x9b\xed\xa0\x80.md", "wb") as file:
        file.write(b"broken \xff\xfe\x1b]52;c;eA==\x07\n")
    for key, suffix in (("erase", b"json"), ("title", b"py"), ("c1", b"html"), ("bidi", b"toml")):
        with open(place + b"/" + key.encode() + b"." + suffix, "wb") as file:
            file.write(f'{{"{PAYLOADS[key]}": "{PAYLOADS[key]}"}}\n# {PAYLOADS[key]}\n'.encode())
    return Path(os.fsdecode(place))


def act(folder: Path, state: Path) -> None:
    """What an agent with hostile names does, recorded as it is."""
    with memtui.open(folder, state=state) as memory:
        for payload in PAYLOADS.values():
            agent = Agent(payload, payload, payload)
            for command in (
                {"command": "view", "path": f"/memories/{payload}"},
                {"command": "create", "path": "/memories/target.md", "file_text": f"{payload}\n{payload}\n"},
                {"command": payload, "path": payload},
                {"command": "rename", "old_path": payload, "new_path": f"/memories/../{payload}"},
                {"command": "str_replace", "path": "/memories/target.md", "old_str": payload, "new_str": payload * 2},
            ):
                memory.execute(command, actor=agent, call_id=payload)


KEYS: tuple[tuple[str, int], ...] = (
    ("\t", 3),
    ("t", 3),
    ("1", 1),
    ("j", 70),
    ("l", 4),
    (".", 1),
    ("G", 1),
    ("m", 1),
    ("]", 6),
    ("z", 2),
    ("3", 1),
    ("k", 30),
    ("\r", 1),
    ("2", 1),
    ("\x04", 3),
    ("y", 1),
    ("\x1b[B", 1),
    ("\x1b", 1),
    ("?", 1),
    ("\x1b", 1),
    (":", 1),
    ("hidden", 1),
    ("\x1b", 1),
    ("P", 2),
    ("B", 2),
    ("3", 1),
    ("k", 3),
    ("u", 1),
    ("n", 1),
    ("v", 1),
    ("\x1b", 1),
    ("T", 1),
    ("[", 4),
    ("]", 2),
    ("\x1b", 1),
    ("D", 1),
    (" ", 2),
    ("j", 3),
    ("\x1b", 1),
    ("R", 1),
)
"""What is pressed, and how often."""


def press_all(screen: Any, typed: str) -> None:
    """Go through every pane, menu and dialog, and type a text wherever text can be typed."""
    for keys, times in KEYS:
        for _ in range(times):
            screen.press(keys)
            screen.read(0.01)
        screen.settle()
    screen.press("/")
    screen.wait_for("Find in ")
    screen.press(typed)
    screen.settle()
    for _ in range(3):
        screen.press("\t")
        screen.settle()
        screen.press("\x1b[B")  # down, so that the note is shown
        screen.settle()
    screen.press("\x1b")
    screen.settle()
    screen.wait_for("1 Files")
    for keys in ("i", "y", "r", "e"):
        screen.press(keys)
        screen.settle()
        screen.press("\x1b")
        screen.settle()
        screen.wait_for("1 Files")
    screen.press("\x06")
    screen.wait_for("Find in this note")
    screen.press(typed)
    screen.settle()
    screen.press("\x1b")
    screen.settle()
    screen.press("o")
    screen.settle()
    if "No memory folder found" not in screen.text:  # else the box has the focus already
        screen.press("\t")
        screen.settle()
    screen.press(typed + "\r")
    screen.settle()
    screen.press("\x1b")
    screen.settle()
    assert screen.process.poll() is None, f"something quit it; on screen:\n{screen.text}"


_STYLE = re.compile(r"(?:(?:[0-9]|[34]8;2;\d+;\d+;\d+);?)+m")
"""Attributes and colours as Textual writes them where a terminal has them all."""


def shapes(screen: Any) -> set[tuple[str, str]]:
    """The controls that were received, without the places of the cursor."""
    return {(kind, re.sub(r"\d+", "N", held) if held.endswith("H") else held) for kind, held in screen.seen}


@pytest.fixture(scope="module")
def usual(shared_terminal: Starting, tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str]]:
    """What the same session sends over a harmless folder."""
    folder = tmp_path_factory.mktemp("harmless")
    (folder / "d").mkdir(parents=True)
    for number in range(40):
        (folder / "d" / f"{number}.md").write_text("# Note\n\n**bold** `code` ~~gone~~ *slanted*\n\n- [ ] item\n")
    screen = shared_terminal("-m", "memtui", folder)
    screen.wait_for(" note")
    press_all(screen, "harmless")
    screen.kill(signal.SIGTERM)
    screen.end()
    return shapes(screen)


def assert_harmless(screen: Any, usual: set[tuple[str, str]]) -> None:
    for kind, held in shapes(screen):
        if kind == "csi" and held.endswith("m"):
            assert _STYLE.fullmatch(held), held
        elif kind == "csi" and held.endswith("H"):
            assert held == "N;NH"
        else:
            assert (kind, held) in usual, f"{kind} {held!r} is not what a harmless folder sends"
    assert not screen.unfinished
    for text in screen.written:
        for character in text:
            category = unicodedata.category(character)
            assert category not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co") or character in ALLOWED_HIDDEN, (
                f"U+{ord(character):04X} reached the terminal in {text!r}"
            )
            assert not 0xE0000 <= ord(character) <= 0xE0FFF


@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_nothing_in_a_hostile_folder_acts(
    terminal: Starting, hostile: Path, usual: set[tuple[str, str]], tmp_path: Path, size: tuple[int, int]
) -> None:
    state = tmp_path / "state"
    act(hostile, state)
    screen = terminal("-m", "memtui", "--state", state, hostile, size=size)
    screen.wait_for(" note")
    press_all(screen, "[/x][@click=app.quit]x[/] \u202e\u2066 漢字")
    act(hostile, state)  # while it is looked at
    (hostile / "late \x1b]52;c;eA==\x07\u202e[bold").write_text("\x1b[2J late\n")
    screen.settle()
    screen.press("]]t]t]")
    screen.settle()
    assert screen.process.poll() is None
    assert_harmless(screen, usual)
    assert "aG9zdGlsZQ" not in "".join(held for kind, held in screen.seen if kind == "osc")
    screen.press("q")
    assert screen.end() == 0
    assert_harmless(screen, usual)


def test_hostile_paste_into_a_text_box_is_text(terminal: Starting, usual: set[tuple[str, str]], tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.md").write_text("a\n")
    screen = terminal("-m", "memtui", folder)
    screen.wait_for(" note")
    for opening in ("/", "o\t", ":"):
        screen.press(opening)
        screen.settle()
        for payload in ("\x9b31m\x9d52;c;eA==\x9c", "\u202e\u2066\u200b\U000e0041", "[@click=app.quit]x[/]", "[/x]"):
            screen.press(f"\x1b[200~{payload}\x1b[201~")
            screen.settle()
        screen.press("\r")
        screen.settle()
        screen.press("\x1b")
        screen.settle()
        screen.press("\x1b")
        screen.settle()
    assert screen.process.poll() is None, screen.text
    assert_harmless(screen, usual)


def test_read_only_and_a_missing_folder_with_hostile_names_are_harmless_too(
    terminal: Starting, hostile: Path, usual: set[tuple[str, str]]
) -> None:
    screen = terminal("-m", "memtui", "--read-only", hostile)
    screen.wait_for("READ-ONLY")
    screen.settle()
    assert_harmless(screen, usual)
    screen.press("q")
    assert screen.end() == 0
    gone = terminal("-m", "memtui", os.fspath(hostile) + "\u202e\x9b31m")
    assert gone.end() != 0
    assert_harmless(gone, usual | {("control", "\r"), ("control", "\n")})
