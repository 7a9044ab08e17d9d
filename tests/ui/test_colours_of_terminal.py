"""The colors go with the terminal: it is asked, without breaking what is typed meanwhile, and never waited for long."""

import os
import pty
import re
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from memtui.ui.terminal import BackgroundQuery
from memtui.ui.theme import choose_theme, has_many_colors
from tests.ui.conftest import Starting, Terminal

WHITE, BLACK = b"\x1b]11;rgb:ffff/ffff/fafa\x1b\\", b"\x1b]11;rgb:1e/1e/1e\x07"
ATTRIBUTES = b"\x1b[?62;22c"
LATTE, DARK = b"48;2;239;241;245", b"48;2;18;18;18"
"""The backgrounds of the light theme and of the dark one."""


class Asked:
    """A question to a terminal that a test plays."""

    def __init__(self, typed: bytes = b"") -> None:
        self.terminal, self.inner = pty.openpty()
        self.before = termios.tcgetattr(self.inner)
        os.write(self.terminal, typed)
        self.question = BackgroundQuery(self.inner, self.inner)
        self.question.start()
        asked = b""
        while b"\x1b[c" not in asked:
            asked += os.read(self.terminal, 100)

    def answer(self, data: bytes) -> None:
        os.write(self.terminal, data)


@pytest.fixture
def asked() -> Iterator[type[Asked]]:
    made: list[Asked] = []

    class Kept(Asked):
        def __init__(self, typed: bytes = b"") -> None:
            super().__init__(typed)
            made.append(self)

    yield Kept
    for each in made:
        each.question.restore()
        each.question.hand_over()
        os.close(each.terminal)
        os.close(each.inner)


@pytest.mark.parametrize(("answer", "light"), [(WHITE, True), (BLACK, False), (b"", None)])
def test_what_it_answers_is_known_and_nothing_of_it_is_left(
    asked: type[Asked], answer: bytes, light: bool | None
) -> None:
    one = asked()
    one.answer(answer + ATTRIBUTES)
    assert one.question.is_light() is light
    assert one.question.hand_over() == b""


def test_what_is_typed_before_and_meanwhile_is_handed_on_in_order(asked: type[Asked]) -> None:
    one = asked(typed=b"jj")
    one.answer(b"\x1b[A" + WHITE + b"k\r" + ATTRIBUTES + b"q")
    assert one.question.is_light() is True
    assert one.question.hand_over() + one.question.strip_answers(b"x") == b"jj\x1b[Ak\rqx"


def test_a_terminal_that_does_not_answer_is_not_waited_for_long(asked: type[Asked]) -> None:
    one = asked()
    assert one.question.is_light() is None
    assert one.question.hand_over() == b""


def test_an_answer_that_comes_late_and_in_pieces_is_no_key(asked: type[Asked]) -> None:
    one = asked()
    assert one.question.is_light() is None
    one.question.hand_over()
    read = one.question.strip_answers(b"j" + WHITE[:2])  # an Escape of its own is a key, and handed on at once
    for byte in WHITE[2:]:
        read += one.question.strip_answers(bytes([byte]))
    read += one.question.strip_answers(b"\x1b[B" + ATTRIBUTES[:2])
    for byte in ATTRIBUTES[2:] + b"k":
        read += one.question.strip_answers(bytes([byte]))
    assert read == b"j\x1b[Bk"
    assert one.question.is_light() is True
    assert one.question.strip_answers(WHITE) == WHITE  # it answers once: whatever comes now is the person's


def test_escape_alone_is_not_held_back(asked: type[Asked]) -> None:
    one = asked()
    one.question.hand_over()
    assert one.question.strip_answers(b"\x1b") == b"\x1b"


def test_the_terminal_is_as_it_was_afterwards(asked: type[Asked]) -> None:
    one = asked()
    assert termios.tcgetattr(one.inner) != one.before
    one.answer(ATTRIBUTES)
    one.question.hand_over()
    one.question.restore()
    assert termios.tcgetattr(one.inner) == one.before
    assert one.question.attributes == one.before


@pytest.mark.parametrize(
    ("wanted", "light", "environ", "theme"),
    [
        ("auto", None, {"TERM": "xterm-256color"}, "textual-dark"),
        ("auto", None, {"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "catppuccin-latte"),
        ("auto", False, {"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "textual-dark"),
        ("auto", True, {"TERM": "xterm-256color"}, "catppuccin-latte"),
        ("auto", None, {"TERM": "screen"}, "ansi-dark"),
        ("auto", True, {"TERM": "xterm-16color"}, "ansi-light"),
        ("nord", True, {"TERM": "screen"}, "nord"),
        ("nrod", None, {"TERM": "xterm-256color"}, "textual-dark"),
    ],
)
def test_the_theme_goes_with_the_terminal_unless_one_is_named(
    wanted: str, light: bool | None, environ: dict[str, str], theme: str
) -> None:
    assert choose_theme(wanted, light=light, environ=environ) == theme


@pytest.mark.parametrize(
    "term", ["xterm-256color", "screen", "xterm", "linux", "xterm-kitty", "xterm-16color", "vt100"]
)
@pytest.mark.parametrize("color", ["", "truecolor"])
def test_as_many_colors_are_counted_on_as_will_be_written(term: str, color: str) -> None:
    environ = {"TERM": term, "COLORTERM": color}
    written = Console(force_terminal=True, _environ=environ).color_system
    assert has_many_colors(environ) == (written in ("256", "truecolor"))


def without_ages(text: str) -> str:
    return re.sub(r" +\d+s", "", text)


def opened(terminal: Starting, tmp_path: Path, **env: str) -> Terminal:
    folder = tmp_path / "memories"
    folder.mkdir()
    for name in ("one.md", "two.md", "three.md"):
        (folder / name).write_text(name)
    return terminal("-m", "memtui", folder, env=env)


def test_a_light_terminal_gets_light_colors_and_what_was_typed_ahead_arrives(
    terminal: Starting, tmp_path: Path
) -> None:
    window = opened(terminal, tmp_path)
    window.press("jj")  # nothing is on the screen yet
    window.wait_for(lambda: b"\x1b]11;?" in window.raw)
    window.press((WHITE + ATTRIBUTES).decode())
    window.wait_for("LIVE")
    assert LATTE in window.raw
    assert DARK not in window.raw
    window.press("q")
    assert window.end() == 0
    window_after = window.raw.rpartition(b"\x1b[?1049l")[2]
    assert b"rgb:" not in window_after


def test_an_answer_that_comes_late_changes_the_colors_and_presses_no_key(terminal: Starting, tmp_path: Path) -> None:
    window = opened(terminal, tmp_path)
    window.wait_for("LIVE")
    window.wait_for("3 files 20 B")
    window.settle()
    assert DARK in window.raw
    before = without_ages(window.text)
    for piece in ("\x1b]11;rgb:ff", "ff/ffff/ffff\x1b", "\\\x1b[?6", "2c"):
        window.press(piece)
        window.settle()
    window.wait_for(lambda: LATTE in window.raw)
    assert without_ages(window.text) == before
    window.press("q")
    assert window.end() == 0


def test_a_theme_that_is_named_is_asked_nobody_about(terminal: Starting, tmp_path: Path) -> None:
    window = opened(terminal, tmp_path, TEXTUAL_THEME="nord")
    window.wait_for("LIVE")
    assert b"\x1b]11;?" not in window.raw
    assert b"48;2;46;52;64" in window.raw
