"""The colors go with the terminal: it is asked, without breaking what is typed meanwhile, and never waited for long."""

import os
import pty
import re
import select
import termios
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from memtui.ui.startup import BackgroundQuery, parse_background
from memtui.ui.terminal import AnswerFilter
from memtui.ui.theme import choose_theme, has_many_colors
from tests.conftest import wait_until
from tests.ui.conftest import Starting, Terminal

WHITE, BLACK = b"\x1b]11;rgb:ffff/ffff/fafa\x1b\\", b"\x1b]11;rgb:1e/1e/1e\x07"
ATTRIBUTES = b"\x1b[?62;22c"
LIGHT, DARK = b"48;2;251;250;253", b"48;2;20;21;27"
"""The backgrounds of the light theme and of the dark one."""


class Asked:
    """A question to a terminal that a test plays."""

    def __init__(self, typed: bytes = b"", answered: bytes = b"") -> None:
        self.terminal, self.inner = pty.openpty()
        self.before = termios.tcgetattr(self.inner)
        os.write(self.terminal, typed)
        self.question = BackgroundQuery(self.inner, self.inner)
        self.question.ask()
        asked = b""
        while b"\x1b[c" not in asked:
            asked += os.read(self.terminal, 100)
        os.write(self.terminal, answered)
        if answered:
            select.select([self.inner], [], [], 10)
        self.question.read()

    def answer(self, data: bytes) -> None:
        os.write(self.terminal, data)


@pytest.fixture
def asked() -> Iterator[type[Asked]]:
    made: list[Asked] = []

    class Kept(Asked):
        def __init__(self, typed: bytes = b"", answered: bytes = b"") -> None:
            super().__init__(typed, answered)
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
    assert one.question.hand_over() == b"jj\x1b[Ak\rq"


def test_what_it_answered_before_anybody_reads_is_known_at_once(
    asked: type[Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.ui.startup.LIMIT", 0.0)
    one = asked(answered=b"j" + WHITE + ATTRIBUTES + b"k")
    assert one.question.is_light() is True
    assert one.question.late_answer is None
    assert one.question.hand_over() == b"jk"


def test_an_answer_after_it_was_asked_for_is_late_and_not_lost(
    asked: type[Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = asked()
    with monkeypatch.context() as quick:
        quick.setattr("memtui.ui.startup.LIMIT", 0.0)
        assert one.question.is_light() is None
    one.answer(WHITE + ATTRIBUTES)
    wait_until(lambda: one.question.late_answer, "the answer")
    assert one.question.hand_over() == b""


def test_a_terminal_that_does_not_answer_is_not_waited_for_long(asked: type[Asked]) -> None:
    one = asked()
    assert one.question.is_light() is None
    assert one.question.hand_over() == b""


ANSWERS = (
    WHITE, BLACK, ATTRIBUTES, b"\x1b]10;rgb:dddd/dddd/dddd\x07", b"\x1b]4;1;rgba:dd/dd/dd/ff\x1b\\", b"\x1b[>41;390;0c",
    b"\x1bP>|XTerm(390)\x1b\\", b"\x1bP1+r544e=787465726d\x1b\\", b"\x1bP!|00000000\x1b\\", b"\x1b_Gi=1;OK\x1b\\",
    b"\x1b[?1u", b"\x1b[?997;1n", b"\x1b[0n", b"\x1b]52;c;cmVk\x07", b"\x1b[?1;2S",
)  # fmt: skip
KEYS = (
    b"j", b"rgb:", b"\x1b[A", b"\x1b[1;5C", b"\x1bOP", b"\x1b[<0;3;4M", b"\x1b[I", b"\x1b[?2026;2$y", b"\x1b[97;5u",
    b"\x1b[15~", b"\x1b[48;24;80;480;800t", "ö".encode(), b"\r", b"\x1b[200~a\x1b]11;rgb:1/2/3\x07b\x1b[201~",
    b"\x1b\x1b",
)  # fmt: skip
"""What a person types or pastes, and what Textual asks for."""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_is_no_key_however_late_and_in_whatever_pieces(answer: bytes) -> None:
    for cut in range(len(answer)):
        clock = Clock()
        answers = AnswerFilter(now=clock)
        assert answers.feed(b"j") == (b"j", [])
        clock.now += 1_000.0
        first, _ = answers.feed(b"k" + answer[:cut])
        clock.now += 0.5
        second, found = answers.feed(answers.tick() + answer[cut:] + b"l")
        # An Escape of its own is a key at once: nothing behind it is one.
        assert first + second == (b"k\x1bl" if cut == 1 else b"kl"), cut
        assert found == [answer]
        assert answers.feed(b"m") == (b"m", [])


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_byte_by_byte_is_no_key(answer: bytes) -> None:
    answers = AnswerFilter()
    read = answers.feed(b"j" + answer[:2])[0]
    read += b"".join(answers.feed(bytes([byte]))[0] for byte in answer[2:] + b"k")
    assert read == b"jk"


@given(st.lists(st.sampled_from([*KEYS, *ANSWERS]), max_size=12))
def test_of_keys_and_answers_the_keys_are_left(pieces: list[bytes]) -> None:
    kept, found = AnswerFilter().feed(b"".join(pieces) + b".")
    assert kept == b"".join(piece for piece in pieces if piece in KEYS) + b"."
    assert found == [piece for piece in pieces if piece in ANSWERS]


def test_a_report_behind_an_escape_that_was_handed_on_begins_with_it_once() -> None:
    answers = AnswerFilter(now=Clock())
    assert [answers.feed(piece)[0] for piece in (b"j\x1b", b"[?", b"2026;2$y")] == [b"j\x1b", b"", b"[?2026;2$y"]


@given(st.lists(st.sampled_from(KEYS), max_size=8), st.data())
def test_keys_arrive_in_whatever_pieces_they_come(pieces: list[bytes], data: st.DataObject) -> None:
    clock, whole = Clock(), b"".join(pieces)
    answers, read = AnswerFilter(now=clock), b""
    cuts = sorted({0, len(whole), *data.draw(st.lists(st.integers(0, len(whole)), max_size=6))})
    for start, end in pairwise(cuts):
        read += answers.feed(whole[start:end])[0]
    clock.now += 2.0
    assert read + answers.tick() == whole


@pytest.mark.parametrize("held", [b"\x1b]", b"\x1b[", b"\x1bP", b"\x1b_", b"\x1b]1"])
def test_what_may_be_a_key_with_alt_is_held_for_a_moment_only(held: bytes) -> None:
    clock = Clock()
    answers = AnswerFilter(now=clock)
    assert answers.feed(held) == (b"", [])
    assert answers.tick() == b""
    clock.now += 2.0
    assert answers.tick() == held
    assert answers.feed(b"j") == (b"j", [])


def test_an_answer_that_does_not_end_is_dropped() -> None:
    clock = Clock()
    answers = AnswerFilter(now=clock)
    assert answers.feed(b"j\x1b]11;rgb:dd") == (b"j", [])
    clock.now += 6.0
    assert answers.tick() == b""
    assert answers.feed(b"k") == (b"k", [])


def test_escape_alone_is_not_held_back() -> None:
    assert AnswerFilter().feed(b"\x1b") == (b"\x1b", [])
    assert parse_background(WHITE) is True
    assert parse_background(BLACK) is False
    assert parse_background(ATTRIBUTES) is None


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
        ("auto", None, {"TERM": "xterm-256color"}, "memtui-dark"),
        ("auto", None, {"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "memtui-light"),
        ("auto", False, {"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "memtui-dark"),
        ("auto", True, {"TERM": "xterm-256color"}, "memtui-light"),
        ("auto", None, {"TERM": "screen"}, "ansi-dark"),
        ("auto", True, {"TERM": "xterm-16color"}, "ansi-light"),
        ("nord", True, {"TERM": "screen"}, "nord"),
        ("nrod", None, {"TERM": "xterm-256color"}, "memtui-dark"),
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


PATIENT = (
    "import sys; from memtui.ui import startup; startup.LIMIT = 20.0; from memtui.cli import main; sys.exit(main())"
)
"""memtui, which waits for the answer of a terminal that a busy machine keeps from answering in time."""


def opened(terminal: Starting, tmp_path: Path, *, program: tuple[str, ...] = ("-m", "memtui"), **env: str) -> Terminal:
    folder = tmp_path / "memories"
    folder.mkdir()
    for name in ("one.md", "two.md", "three.md"):
        (folder / name).write_text(name)
    return terminal(*program, folder, env=env)


@pytest.mark.parametrize(("verb", "shown"), [((), " note"), (("audit",), "Findings")])
def test_a_light_terminal_gets_light_colors_and_what_was_typed_ahead_arrives(
    terminal: Starting, tmp_path: Path, verb: tuple[str, ...], shown: str
) -> None:
    window = opened(terminal, tmp_path, program=("-c", PATIENT, *verb))
    window.press("jj")  # nothing is on the screen yet
    window.wait_for(lambda: b"\x1b]11;?" in window.raw)
    window.press((WHITE + ATTRIBUTES).decode())
    window.wait_for(shown)
    assert LIGHT in window.raw
    assert DARK not in window.raw
    window.press("q")
    assert window.end() == 0
    window_after = window.raw.rpartition(b"\x1b[?1049l")[2]
    assert b"rgb:" not in window_after


def test_an_answer_that_comes_late_changes_the_colors_and_presses_no_key(terminal: Starting, tmp_path: Path) -> None:
    window = opened(terminal, tmp_path)
    window.wait_for(" note")
    window.wait_for("3 notes")
    window.settle()
    assert DARK in window.raw
    before = without_ages(window.text)
    late = (
        "\x1b[?6",
        "2c",
        "\x1b]11;rgb:ff",
        "ff/ffff/ffff\x1b",
        "\\",
        "\x1b]10;rgb:dddd/dd",
        "dd/dddd\x07",
        "\x1b[?1u",
    )
    for piece in late:
        window.press(piece)
        window.settle()
    window.wait_for(lambda: LIGHT in window.raw)
    assert without_ages(window.text) == before
    window.press("q")
    assert window.end() == 0


def test_a_theme_that_is_named_is_asked_nobody_about(terminal: Starting, tmp_path: Path) -> None:
    window = opened(terminal, tmp_path, TEXTUAL_THEME="nord")
    window.wait_for(" note")
    assert b"\x1b]11;?" not in window.raw
    assert b"48;2;46;52;64" in window.raw
