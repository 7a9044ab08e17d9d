"""What the tests of the screens share: an app over a folder, waiting for conditions, and a real terminal."""

import asyncio
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from rich.cells import cell_len
from textual import on
from textual._context import visible_screen_stack
from textual.app import App, ComposeResult
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot, WaitForScreenTimeout
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

import memtui
from memtui.config import LoadedConfig
from memtui.engine import Engine
from memtui.ui.app import MemtuiApp
from memtui.ui.garbage import GarbageSchedule
from memtui.ui.key_names import set_keymap
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.session import EventPace
from memtui.ui.terminal import TerminalSanitizer
from tests.conftest import fill
from tests.warm import Warm

M = TypeVar("M", bound=Message)

DEADLINE = 15.0
"""Seconds after which a condition is taken to hold never."""
_REST = 5.0
"""Seconds for what an ended program has written to arrive, where another one keeps its terminal open."""

FILES: Mapping[str, str] = {
    "alpha.md": "# Alpha\n\nThe *first* note.\n",
    "notes/beta.md": "# Beta\n\nneedle one\n\nneedle two\n\nneedle three\n",
    "notes/gamma.md": "# Gamma\n",
    "zeta.txt": "plain text\n",
    ".hidden.md": "hidden\n",
}


@pytest.fixture(autouse=True)
def no_garbage_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave nothing out of the collection of garbage: in a test, everything goes."""
    monkeypatch.setattr(GarbageSchedule, "REST_SECONDS", 3_600.0)


_wait_for_screen = Pilot._wait_for_screen


@pytest.fixture(autouse=True)
def wait_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait once more for widgets that did not answer in time, and name those that never do.

    Time passes for Textual while a loaded machine does not let the test run, and a widget that closes need not answer.
    """

    async def wait(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
        try:
            return await _wait_for_screen(pilot, timeout)
        except WaitForScreenTimeout:
            pumps: list[MessagePump] = [pilot.app, *pilot.app.screen.walk_children(with_self=True)]
            silent = {pump for pump in pumps if pump.call_later(lambda pump=pump: silent.discard(pump))}
            try:
                return await _wait_for_screen(pilot, timeout)
            except WaitForScreenTimeout:
                raise AssertionError(f"waited twice for {silent}") from None

    monkeypatch.setattr(Pilot, "_wait_for_screen", wait)


@pytest.fixture(autouse=True)
def events_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold no events back: a test waits for what is shown."""
    monkeypatch.setattr(EventPace, "CREDIT", 3_600.0)


class ScreenDriver:
    """An application of which one screen is tested, with what a test does to it and sees of it."""

    def __init__(self, app: App[Any], pilot: Pilot[Any], kind: type[Screen[Any]]) -> None:
        self.app: Any = app
        self.pilot = pilot
        self._kind = kind

    @property
    def screen(self) -> Any:
        """The screen that is tested, also while another one is above it."""
        return next(screen for screen in self.app.screen_stack if isinstance(screen, self._kind))

    @property
    def text(self) -> str:
        """All that is on the topmost screen."""
        return screen_text(self.app)

    @property
    def message(self) -> str:
        """What the message line says."""
        return self.screen.message.text

    async def press(self, *keys: str) -> None:
        """Press keys."""
        await self.pilot.press(*keys)

    async def wait_for(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait until a condition holds; fail with what is on screen if it never does."""
        await wait_for(self.app, self.pilot, condition, what)


class ScreenApp(App[int]):
    """Nothing but one screen, above an empty one."""

    CSS_PATH = Path(memtui.__file__).parent / "ui" / "app.tcss"

    def __init__(self, pushed: Screen[None]) -> None:
        super().__init__()
        self._filters.append(TerminalSanitizer())
        self.pushed: Any = pushed
        self.left = False

    def on_mount(self) -> None:
        self.push_screen(Screen[None]())
        self.push_screen(self.pushed, self._leave)

    def _leave(self, _: None) -> None:
        self.left = True


class WidgetApp(App[None]):
    """Nothing but one widget, and its messages of the kinds that a subclass names."""

    KEPT: tuple[type[Message], ...] = ()

    def __init__(self, view: Widget) -> None:
        super().__init__()
        self._filters.append(TerminalSanitizer())
        self.view: Any = view
        self.messages: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()

    @on(Message)
    def keep(self, message: Message) -> None:
        if isinstance(message, self.KEPT):
            self.messages.append(message)

    def get_messages(self, kind: type[M]) -> list[M]:
        """The messages of a kind, in order."""
        return [message for message in self.messages if isinstance(message, kind)]


class PaintCounter:
    """Counts how often the widget is painted with which a class inherits it."""

    paints = 0

    def render_lines(self, crop: Region) -> list[Strip]:
        self.paints += 1
        return super().render_lines(crop)  # type: ignore[misc,no-any-return]


class Opened(ScreenDriver):
    """An application over a folder."""

    def __init__(self, app: MemtuiApp, pilot: Pilot[int], folder: Path, state: Path) -> None:
        super().__init__(app, pilot, BrowseScreen)
        self.folder = folder
        self.state = state

    @property
    def browse(self) -> BrowseScreen:
        """The screen with the panes."""
        return self.screen

    @property
    def cursor(self) -> str | None:
        """The file under the cursor."""
        return self.browse.files.cursor_path

    @property
    def rows(self) -> list[str]:
        """The paths of the rows of the files."""
        return list(self.browse.files.outline)

    @property
    def actors(self) -> list[tuple[str, str, str]]:
        """Who did what to which path, as the activity tells it."""
        return [(row.actor, row.command, row.path) for row in self.browse.activity.items]

    def shown(self, name: str) -> str:
        """The row of a file as it is drawn."""
        files = self.browse.files
        row = self.rows.index(name)
        return files.render_line(row - files.scroll_offset.y).text

    def engine(self) -> Engine:
        """Another engine over the same folder and journal, as another program would have it."""
        return memtui.open(self.folder, state=self.state)

    def put(self, name: str, held: str | bytes) -> None:
        """Write a file as somebody who is not memtui would."""
        fill(self.folder, {name: held})

    async def wait_for_screen(self, screen: type) -> None:
        """Wait until such a screen is on top."""
        await self.wait_for(lambda: isinstance(self.app.screen, screen) and self.app.screen.is_current, screen.__name__)
        await self.pilot.pause()

    async def to(self, name: str) -> None:
        """Put the cursor on a file as a person does, and wait until its note is shown."""
        await self.wait_for(lambda: name in self.rows, f"a row for {name}")
        self.browse.files.focus()
        await self.wait_for(lambda: self.browse.files.has_focus, "the focus on the files")
        while (before := self.cursor) != name:
            here = self.rows.index(before) if before in self.rows else 0
            await self.press("down" if self.rows.index(name) > here else "up")
            await self.wait_for(lambda before=before: self.cursor != before, f"a move from {before}")
        await self.note_of(name)

    async def note_of(self, name: str) -> None:
        """Wait until the note of a file is shown."""
        title = name.rpartition("/")[2]
        await self.wait_for(lambda: title in str(self.browse.note.border_title), f"the note of {name}")
        await self.rest()

    async def rest(self) -> None:
        """Wait until all that was begun in threads is on screen."""
        await self.wait_for(lambda: all(worker.is_finished for worker in self.app.workers), "the workers")
        await self.pilot.pause()

    def looked_at_all(self) -> bool:
        """Whether the whole folder was looked at once, and the screen knows what was found."""
        return self.browse.is_scanned


def screen_text(app: App[Any]) -> str:
    """What is drawn on the topmost screen, line by line."""
    visible_screen_stack.set(app._background_screens)  # or rows are kept without what is below them
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


async def wait_for(app: App[Any], pilot: Pilot[Any], condition: Callable[[], object], what: str = "") -> None:
    """Wait until a condition holds; fail with what is on screen if it never does."""
    until = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > until:
            pytest.fail(f"waited in vain for {what or 'a condition'}; on screen:\n{screen_text(app)}")
        await asyncio.sleep(0.01)
        await pilot.pause()


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Let an app work until a condition holds, for a bounded number of turns of its message pump."""
    for _ in range(300):
        if condition():
            return
        await pilot.pause()
    assert condition()


Opening = Callable[..., AbstractAsyncContextManager[Opened]]


@pytest.fixture(autouse=True)
def usual_keys() -> Iterator[None]:
    """Sentences name the usual keys again after a test in which an app had a key map."""
    yield
    set_keymap({})


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opening:
    """Opens the app over a folder: `async with opened(files) as app`."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg-state"))

    @asynccontextmanager
    async def open_app(
        files: Mapping[str, str | bytes] | None = None,
        *,
        size: tuple[int, int] = (120, 36),
        read_only: bool = False,
        ready: bool = True,
        folder: Path | None = None,
        state: Path | None = None,
        loaded: LoadedConfig | None = None,
    ) -> AsyncIterator[Opened]:
        place = folder or tmp_path / "memories"
        place.mkdir(exist_ok=True)
        fill(place, FILES if files is None else files)
        state = state or tmp_path / "state"
        app = MemtuiApp(str(place), state=str(state), read_only=read_only, loaded=loaded)
        async with app.run_test(size=size) as pilot:
            opened = Opened(app, pilot, place, state)
            if ready:
                await wait_for(app, pilot, lambda: isinstance(app.screen, BrowseScreen), "the screen")
                await opened.wait_for(lambda: opened.browse.status.live in ("LIVE", "POLLING"), "LIVE")
                await opened.wait_for(lambda: opened.browse.session._watch is not None, "the watcher")
                await opened.wait_for(lambda: "Opening" not in opened.message, "the folder")
                await opened.wait_for(opened.looked_at_all, "the first look")
                await opened.rest()
            yield opened

    return open_app


_TOKEN = re.compile(
    r"\x1b\[(?P<csi>[0-?]*[ -/]*[@-~])"
    r"|\x1b\](?P<osc>[^\x07\x1b\x9c]*)(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[PX^_](?P<dcs>[^\x1b\x9c]*)(?:\x1b\\|\x9c)"
    r"|\x1b(?P<esc>[ -/]*[0-OQ-WYZ\\`-~])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
    r"|(?P<text>[^\x00-\x1f\x7f-\x9f]+)",
    re.DOTALL,
)


class Terminal:
    """A program in a pseudo-terminal, and what a terminal makes of what it writes.

    Attributes:
        process: The program.
        seen: Every control of its output, as (kind, content), in order.
        written: Every piece of text, in order.
    """

    def __init__(
        self, warm: Warm, words: list[str], size: tuple[int, int], env: Mapping[str, str], cwd: Path | None
    ) -> None:
        self.size = size
        self._fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.process = warm.start(words, (inner, inner, inner), env=env, cwd=cwd, terminal=True)
        self._name = os.ttyname(inner)
        os.close(inner)
        self._decode = codecs.getincrementaldecoder("utf-8")("strict")
        self._rest = ""
        self._open = True
        self.raw = b""
        self.seen: list[tuple[str, str]] = []
        self.written: list[str] = []
        self._cells: dict[tuple[int, int], str] = {}
        self._at = (1, 1)

    def read(self, seconds: float = 0.05) -> bool:
        """Take in what was written; tells whether there may be more."""
        if self._open and select.select([self._fd], [], [], seconds)[0]:
            try:
                data = os.read(self._fd, 1 << 16)
            except OSError:
                data = b""
            if not data:
                self.close()
            self.raw += data
            self._take(self._decode.decode(data, final=not data))
        return self._open

    def _take(self, text: str) -> None:
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                self._rest = text[at:]  # a sequence that is not complete yet
                return
            self._act(match.lastgroup or "", match[match.lastgroup or 0])
            at = match.end()

    def _act(self, kind: str, held: str) -> None:
        if kind != "text":
            self.seen.append((kind, held))
        if kind == "text":
            self.written.append(held)
            row, column = self._at
            for character in held:
                self._cells[row, column] = character
                for covered in range(1, cell_len(character)):
                    self._cells[row, column + covered] = ""
                column += cell_len(character)
            self._at = (row, column)
        elif kind == "csi" and held.endswith("H"):
            row, _, column = held[:-1].partition(";")
            self._at = (int(row or 1), int(column or 1))
        elif held == "\r" and kind == "control":
            self._at = (self._at[0], 1)
        elif held == "\n" and kind == "control":
            self._at = (self._at[0] + 1, self._at[1])

    @property
    def text(self) -> str:
        """What is on the screen."""
        rows = range(1, self.size[1] + 1)
        columns = range(1, self.size[0] + 1)
        return "\n".join("".join(self._cells.get((row, column), " ") for column in columns).rstrip() for row in rows)

    def wait_for(self, condition: Callable[[], object] | str) -> None:
        """Read until a condition holds, or a text is on the screen."""
        holds = (lambda: condition in self.text) if isinstance(condition, str) else condition
        until = time.monotonic() + 2 * DEADLINE
        while not holds():
            if not self.read() and not holds():
                pytest.fail(f"ended with {self.process.wait()} before {condition!r}; on screen:\n{self.text}")
            if time.monotonic() > until:
                pytest.fail(f"waited in vain for {condition!r}; on screen:\n{self.text}")

    def settle(self) -> None:
        """Read until nothing has been written for a moment, by a program that has taken in all keys and waits for more.

        A busy machine may let it wait for its turn for longer than any moment: Esc and the next key would be one.
        """
        before, until = -1, time.monotonic() + 2 * DEADLINE
        while (before != len(self.raw) or not self._waits()) and time.monotonic() < until:
            before = len(self.raw)
            self.read(0.2)

    def _waits(self) -> bool:
        """Whether all threads of the program sleep, and nothing that was typed is unread; true where it has ended."""
        try:
            for stat in Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
                if stat.read_text().rpartition(")")[2].split()[0] in "RD":
                    return False
            inner = os.open(self._name, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            return True
        try:
            return fcntl.ioctl(inner, termios.FIONREAD, bytes(4)) == bytes(4)
        finally:
            os.close(inner)

    def press(self, keys: str) -> None:
        """Type characters, or sequences that keys send."""
        if not self._open:
            pytest.fail(f"it has ended with {self.process.wait()}; on screen:\n{self.text}")
        os.write(self._fd, keys.encode())

    def kill(self, number: signal.Signals) -> None:
        """Send a signal to the program."""
        os.kill(self.process.pid, number)

    def end(self) -> int:
        """Read until the program has ended; its exit code."""
        until = time.monotonic() + 2 * DEADLINE
        while self.process.poll() is None:
            self.read()
            if time.monotonic() > until:
                pytest.fail(f"it does not end; on screen:\n{self.text}")
        until = time.monotonic() + _REST
        while self.read(0.2) and time.monotonic() < until:
            pass
        return self.process.wait()

    @property
    def unfinished(self) -> str:
        """The beginning of a sequence whose end has not come."""
        return self._rest

    @property
    def modes(self) -> dict[str, bool]:
        """What was switched on or off last: `1049` the alternate screen, `25` the cursor, `1000` the mouse."""
        modes: dict[str, bool] = {}
        for kind, held in self.seen:
            if kind == "csi" and held.startswith("?") and held[-1] in "hl":
                modes.update(dict.fromkeys(held[1:-1].split(";"), held[-1] == "h"))
        return modes

    def close(self) -> None:
        """Take the terminal away."""
        if self._open:
            self._open = False
            os.close(self._fd)


Starting = Callable[..., Terminal]


@pytest.fixture(scope="session", autouse=True)
def _styles_cost_less() -> Iterator[None]:
    """Every application has the same style sheets: parse them once, and look up rules by what they are."""
    parsed: dict[object, list[RuleSet]] = {}
    parse = Stylesheet._parse_rules

    def parse_once(sheet: Stylesheet, css: str, *words: Any, **options: Any) -> list[RuleSet]:
        key = (css, repr(words), repr(options), tuple(sheet._variables.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, css, *words, **options)
        return list(parsed[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        patch.setattr(RuleSet, "__hash__", object.__hash__)  # which it is, only without a call for each
        patch.setattr("textual.strip.FIFOCache", lambda _: {})  # seven for each line drawn, which do not live long
        yield


@contextmanager
def _starting(warm: Warm, state: Path) -> Iterator[Starting]:
    started: list[Terminal] = []

    def start(
        *words: object, size: tuple[int, int] = (120, 36), env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Terminal:
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(memtui.__file__).parents[1]),
            "XDG_STATE_HOME": str(state),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "COLUMNS": str(size[0]),
            "LINES": str(size[1]),
            **(env or {}),
        }
        started.append(Terminal(warm, [*map(str, words)], size, environment, cwd))
        return started[-1]

    try:
        yield start
    finally:
        for each in started:
            if each.process.poll() is None:
                each.process.kill()
            each.process.wait()
            each.close()


@pytest.fixture
def terminal(warm: Warm, tmp_path: Path) -> Iterator[Starting]:
    """Starts a program in a pseudo-terminal of its own: `terminal("-m", "memtui", folder)`."""
    with _starting(warm, tmp_path / "xdg-state") as start:
        yield start


@pytest.fixture(scope="module")
def shared_terminal(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starting]:
    """The same, for what several tests compare with."""
    with _starting(warm, tmp_path_factory.mktemp("shared")) as start:
        yield start
