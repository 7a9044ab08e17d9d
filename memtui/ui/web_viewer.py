"""The process behind a page of `memtui serve --web`: the browser that only looks, with a web page for its terminal.

It reads the page's messages from its stdin and writes frames to its stdout. What a page has not drawn yet is not drawn
again: at most two frames are on the way, however fast the folder changes and however slow the page is.

A person at a terminal may start programs, open other folders and pay for a conversation. A page may not: this process
gives up the right to write, to connect, to start programs and to read other files, where the kernel takes it; Python
refuses the first three everywhere; and no action leads there.
"""

import base64
import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, cast

from rich.console import RenderableType
from textual.actions import ActionParseResult
from textual.app import App
from textual.dom import DOMNode
from textual.driver import Driver
from textual.events import Resize
from textual.geometry import Size
from textual.screen import Screen

from memtui.config import LoadedConfig, load_config
from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.fs.landlock import restrict_writes
from memtui.fs.state import get_state_directory
from memtui.ui.app import MemtuiApp, run
from memtui.ui.messages import ChatRequested
from memtui.ui.terminal import BackgroundDetected
from memtui.ui.web_frames import CellGrid, parse_events, parse_message, parse_size
from memtui.web import MOST_COLUMNS, MOST_MESSAGE_BYTES, MOST_ROWS

_FRAMES_AHEAD = 2
_STUCK_SECONDS = 3.0
"""How long the screens may take to close once the page has gone."""
_LARGEST = MOST_COLUMNS, MOST_ROWS
_CLIPBOARD = "\x1b]52;c;"
_READABLE = ("/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev/null", "/dev/tty")
"""What Python and its libraries read, beside their own files."""
_LOCAL_ACTIONS = frozenset(
    (
        "places",
        "chat",
        "audit",
        "edit_elsewhere",
        "outside",
        "external",
        "answer_question",
        "suspend_process",
        "screenshot",
    )
)
"""Actions that are for a person at the terminal of this machine."""


@dataclass(frozen=True, slots=True)
class PagePipes:
    """The way to a page, and how it began.

    Attributes:
        reads: The page's messages.
        writes: A descriptor.
        size: Columns and rows.
        is_light: Whether the page is to be light.
    """

    reads: BinaryIO
    writes: int
    size: tuple[int, int]
    is_light: bool = False

    def send(self, message: object) -> None:
        """Send a message; a page that has gone gets none."""
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        with contextlib.suppress(OSError):
            while data:
                data = data[os.write(self.writes, data) :]


class PageDriver(Driver):
    """Has a web page for a terminal."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        self._viewer = cast("ViewerApp", app)
        self._pipes = self._viewer.pipes
        super().__init__(app, debug=debug, mouse=mouse, size=size or self._pipes.size)
        self._grid = CellGrid(*self._pipes.size)
        self._sent = self._drawn = 0
        self._is_planned = False
        self._copied = ""

    @property
    def is_web(self) -> bool:
        return True

    def write(self, data: str) -> None:
        """Draw what the application displays; of all else that goes to a terminal only a copied text is for a page."""
        drawing, self._viewer.drawing = self._viewer.drawing, None
        if drawing is not None:
            self._grid.draw(self._viewer.console.render(drawing))
        elif data.startswith(_CLIPBOARD):
            self._copied = base64.b64decode(data.removeprefix(_CLIPBOARD).rstrip("\a")).decode("utf-8", "replace")
        if not self._is_planned:
            self._is_planned = True
            self._loop.call_soon(self._send_frame)

    def _send_frame(self) -> None:
        self._is_planned = False
        if self._sent - self._drawn >= _FRAMES_AHEAD:
            return
        frame = self._grid.build_frame(self._sent + 1)
        if self._copied:
            frame["copy"], self._copied = self._copied, ""
        if frame["rows"] or "copy" in frame:
            self._sent += 1
            self._pipes.send(frame)

    def start_application_mode(self) -> None:
        size = Size(*self._pipes.size)
        self._app.post_message(Resize(size, size))
        self._app.post_message(BackgroundDetected(self._pipes.is_light))
        threading.Thread(target=self._read_messages, name="memtui-page", daemon=True).start()

    def disable_input(self) -> None:
        """The page's messages are read until the process ends: that it has gone ends it."""

    def stop_application_mode(self) -> None:
        """The page is told by `main`."""

    def _read_messages(self) -> None:
        while line := self._pipes.reads.readline(MOST_MESSAGE_BYTES + 2):
            message = parse_message(line)
            match message:
                case ["ack", int(number)]:
                    self._loop.call_soon_threadsafe(self._note_drawn, number)
                    continue
            if (size := parse_size(message, "size", most=_LARGEST)) is not None:
                self._loop.call_soon_threadsafe(self._resize, size)
                continue
            for event in parse_events(message):
                self.process_message(event)
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._app.exit, 0)
        time.sleep(_STUCK_SECONDS)
        os._exit(0)

    def _note_drawn(self, number: int) -> None:
        self._drawn = max(self._drawn, min(number, self._sent))
        self._send_frame()

    def _resize(self, size: tuple[int, int]) -> None:
        self._size = size
        self._grid.resize(*size)
        self._app.post_message(Resize(Size(*size), Size(*size)))
        self._app.refresh()


class ViewerApp(MemtuiApp):
    """The browser of one folder for a page.

    Args:
        folder: The folder.
        pipes: The way to the page.
        state: The directory of its journal; `None` for the usual place.
        loaded: The settings.
    """

    def __init__(self, folder: str, pipes: PagePipes, *, state: str | None, loaded: LoadedConfig) -> None:
        self.pipes = pipes
        self.drawing: RenderableType | None = None
        """What the driver is about to be given as text for a terminal."""
        super().__init__(folder, state=state, read_only=True, loaded=loaded)
        self._only_folder = os.path.realpath(folder)

    def get_driver_class(self) -> type[Driver]:
        return PageDriver

    def open_folder(self, folder: str) -> None:
        """Show the folder of this viewer, and no other one."""
        if os.path.realpath(folder) == self._only_folder:
            super().open_folder(folder)

    def on_chat_requested(self, message: ChatRequested) -> None:
        """Begin no conversation."""
        message.prevent_default()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        self.drawing = renderable
        super()._display(screen, renderable)
        self.drawing = None

    def _check_action_state(self, action: str, default_namespace: DOMNode) -> bool | None:
        """Leave local actions out of the help, the commands and the key line."""
        return False if _is_local(action) else super()._check_action_state(action, default_namespace)

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action, unless it is a local one."""
        return False if _is_local(action) else await super().run_action(action, default_namespace, namespaces)


def _is_local(action: "str | ActionParseResult") -> bool:
    name = action.partition("(")[0].rpartition(".")[2] if isinstance(action, str) else action[1]
    return name in _LOCAL_ACTIONS


# What this process gives up.

_PROGRAMS = (
    "subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork", "os.forkpty", "pty.spawn",
    "webbrowser.open",
)  # fmt: skip
_CONNECTIONS = ("socket.connect", "socket.bind", "socket.sendto")
_CHANGES = (
    "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate",
    "os.utime", "os.setxattr", "os.removexattr",
)  # fmt: skip
_REFUSED = frozenset((*_PROGRAMS, *_CONNECTIONS, *_CHANGES))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _refuse(event: str, arguments: Sequence[Any]) -> None:
    """Refuse what a viewer never does; for `sys.addaudithook`, which nothing takes back."""
    if event in _REFUSED or (
        event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING and arguments[0] != os.devnull
    ):
        raise PermissionError(f"A viewer may not: {event}")


def confine(folder: str, state: str) -> None:
    """Give up all rights but to read the folder, its record and Python's own files, for good."""
    readable = {folder, state, sys.prefix, sys.base_prefix, sys.exec_prefix, *filter(None, sys.path), *_READABLE}
    restrict_writes(readable=sorted(readable))
    sys.addaudithook(_refuse)


def main(given: str) -> int:
    """Run a viewer until its page goes; returns the exit code.

    Args:
        given: JSON with the fields of `memtui.web.server.ViewerOptions`.
    """
    options = json.loads(given)
    writes, reads = os.dup(1), os.fdopen(os.dup(0), "rb")
    with open(os.devnull, "r+b") as null:  # whatever prints is not part of a message
        os.dup2(null.fileno(), 0)
        os.dup2(null.fileno(), 1)
    hello = parse_message(reads.readline(MOST_MESSAGE_BYTES + 2))
    size = parse_size(hello, "hello", most=_LARGEST)
    if size is None:
        return 1
    is_light = isinstance(hello, list) and hello[-1] is True
    pipes = PagePipes(reads, writes, size, is_light)
    words = "Ended."
    try:
        code = _run_app(options, pipes)
    except MemtuiError as error:
        code, words = 1, str(error)
    except Exception as error:  # the last one to see it: it has no other place to go
        code, words = 70, f"The viewer stopped because of a bug: {type(error).__name__}."
    pipes.send({"end": words})
    return code


def _run_app(options: dict[str, Any], pipes: PagePipes) -> int:
    folder, state = options["folder"], options["state"]
    loaded = load_config(path=options["config"], use_file=not options["no_config"], folder=folder)
    ui = replace(loaded.config.ui, remember=False)
    loaded = replace(loaded, config=replace(loaded.config, ui=ui))
    confine(folder, str(get_state_directory(folder, state)))
    return run(ViewerApp(folder, pipes, state=state, loaded=loaded))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
