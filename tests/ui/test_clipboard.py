"""The ways to copy, and what is said of them."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from textual.app import App

from memtui.ui import clipboard
from memtui.ui.clipboard import ClipboardError, copy_and_report, copy_text, list_copy_methods
from memtui.ui.screens.dialogs import MenuScreen
from tests.ui.conftest import wait_for


def _names(environment: Mapping[str, str], *there: str) -> list[str]:
    return [way.name for way in list_copy_methods(environment, lambda name: name if name in there else None)]


@pytest.mark.parametrize(
    ("environment", "there", "names"),
    [
        ({"TERM": "xterm"}, "", ["terminal"]),
        ({"TERM": "linux"}, "", []),
        ({"TERM": "xterm", "DISPLAY": ":0"}, "xclip xsel", ["xclip", "terminal"]),
        ({"TERM": "xterm", "DISPLAY": ":0"}, "xsel", ["xsel", "terminal"]),
        ({"TERM": "xterm"}, "xclip xsel wl-copy", ["terminal"]),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "wl-copy xclip", ["wl-copy", "xclip", "terminal"]),
        ({"TERM": "tmux", "TMUX": "x"}, "tmux", ["tmux"]),
        ({"TERM": "xterm"}, "pbcopy", ["pbcopy", "terminal"]),
        ({"TERM": "xterm", "SSH_CONNECTION": "x", "WAYLAND_DISPLAY": "w"}, "pbcopy wl-copy", ["terminal"]),
        ({"MEMTUI_CLIPBOARD": "tmux", "DISPLAY": ":0"}, "xclip", ["tmux"]),
        ({"MEMTUI_CLIPBOARD": "OSC52", "TMUX": "x"}, "tmux", ["terminal"]),
    ],
)
def test_the_surest_way_comes_first(environment: dict[str, str], there: str, names: list[str]) -> None:
    assert _names(environment, *there.split()) == names


def test_a_way_that_is_forced_and_is_none_is_said() -> None:
    with pytest.raises(ClipboardError, match=r"MEMTUI_CLIPBOARD is smoke\. Use terminal, tmux, wl-copy, xclip"):
        list_copy_methods({"MEMTUI_CLIPBOARD": "smoke"})
    with pytest.raises(ClipboardError, match="off"):
        list_copy_methods({"MEMTUI_CLIPBOARD": "off"})


class _Terminal(App[None]):
    """An application that remembers what is written to its terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []

    def listen(self) -> None:
        assert self._driver is not None
        self._driver.write = self.written.append  # type: ignore[method-assign, assignment]


_X11 = {"TERM": "xterm", "DISPLAY": ":0"}


async def test_it_is_said_which_way_a_text_went() -> None:
    app = _Terminal()
    ran: list[tuple[Sequence[str], bytes]] = []

    def takes(command: Sequence[str], data: bytes) -> bool:
        ran.append((command, data))
        return "-w" not in command

    async with app.run_test():
        app.listen()
        found = {"environment": _X11, "find": lambda name: name if name == "xclip" else None}
        assert await copy_text(app, "grün", run=takes, **found) == "clipboard"  # type: ignore[arg-type]
        assert ran == [(("xclip", "-selection", "clipboard", "-in"), "grün".encode())]
        assert app.clipboard == "grün"
        tmux = {"environment": {"TMUX": "x"}, "find": lambda name: name if name == "tmux" else None}
        assert await copy_text(app, "a\udcffb", run=takes, **tmux) == "tmux"  # type: ignore[arg-type]
        assert [command[-2:] for command, data in ran[1:] if data == b"a\xffb"] == [("-w", "-"), ("load-buffer", "-")]
        assert app.written == []
        assert await copy_text(app, "x", run=lambda *_: False, **found) == "terminal"  # type: ignore[arg-type]
        assert app.written == ["\x1b]52;c;eA==\x07"]


async def test_what_cannot_be_copied_is_said_and_nothing_is_written() -> None:
    app = _Terminal()
    async with app.run_test():
        app.listen()
        with pytest.raises(ClipboardError, match=r"The terminal takes at most 74,000 bytes, this is 80,000\."):
            await copy_text(app, "x" * 80_000, environment={"TERM": "xterm"}, run=lambda *_: False)
        with pytest.raises(ClipboardError, match="No clipboard program works"):
            await copy_text(app, "x", environment={"TERM": "linux"}, run=lambda *_: False)
        assert app.written == []


async def test_what_cannot_be_copied_can_be_written_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    app, said = _Terminal(), list[tuple[str, bool]]()
    async with app.run_test() as pilot:
        app.listen()
        for key in ("escape", "w"):
            copy_and_report(app, "x" * 80_000 + "\udcff", "content", lambda *words: said.append(words))
            await wait_for(app, pilot, lambda: isinstance(app.screen, MenuScreen), "the offer")
            await pilot.press(key)
            await app.workers.wait_for_complete()
    [file] = tmp_path.iterdir()
    assert said == [("Nothing was copied.", True), (f"Written to {file}.", True)]
    assert file.read_bytes() == b"x" * 80_000 + b"\xff"
    assert file.stat().st_mode & 0o777 == 0o600
    assert not any("]52;" in each for each in app.written)


def test_a_program_that_is_not_there_or_fails_takes_nothing() -> None:
    assert clipboard._run_copy_command(("true",), b"x" * 100_000) is True
    assert clipboard._run_copy_command(("false",), b"x") is False
    assert clipboard._run_copy_command(("memtui-is-not-this",), b"x") is False
