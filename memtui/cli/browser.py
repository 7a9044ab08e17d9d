"""`memtui [DIR]`: the browser. Here it is only decided whether it can run, and where."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memtui.cli import context, output
from memtui.cli.context import load_config
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError

if TYPE_CHECKING:
    from memtui.config import LoadedConfig

_NEW_OBJECTS = 200_000
"""How many more objects there are before Python looks through them for garbage: all that is made until the first folder
is shown stays, and to look through it took 14 ms of the start of a browser and 26 of that of a chat, on a busy machine.
From then on `memtui.ui.garbage` has it looked through."""


def run_browser(options: Options, word: str | None) -> int:
    """Browse a folder; without one, the browser offers those that it finds."""
    given = context.find_folder(options, word)
    return browse_folder(options, context.resolve_existing_folder(given) if given is not None else None)


def browse_folder(options: Options, folder: str | None) -> int:
    """The browser of a folder, or of all."""
    loaded = load_config(options, folder)
    if loaded.config.ui.screen_reader:
        from memtui.cli.reader.menu import run_reader  # noqa: PLC0415 - start-up: only with a screen reader

        return run_reader(
            folder,
            loaded,
            state=options.state,
            read_only=options.read_only,
            chat_options=lambda: context.build_chat_options(loaded, options),
        )
    require_terminal("For scripts use: memtui ls, memtui log --json")
    with detect_terminal_background(loaded):
        from memtui.ui.app import browse  # noqa: PLC0415 - start-up: loads Textual

        return browse(
            folder,
            state=options.state,
            read_only=options.read_only,
            loaded=loaded,
            chat_options=lambda: context.build_chat_options(loaded, options),
            run_demo=lambda: show_demo(loaded),
        )


@contextmanager
def detect_terminal_background(loaded: "LoadedConfig", *, reads: bool = True) -> Iterator[None]:
    """Ask the terminal whether it is light while all else is loaded; at the end it is as it was before.

    `reads` says whether the answer is read from now on: there is another thread then.
    """
    from memtui.ui import startup  # noqa: PLC0415 - start-up: only for screens

    thresholds = gc.get_threshold()
    gc.set_threshold(max(_NEW_OBJECTS, thresholds[0]), *thresholds[1:])
    if loaded.config.theme == "auto":
        startup.start_query(reads=reads)
    startup.load_textual()
    try:
        yield
    finally:
        startup.reset_query()
        gc.set_threshold(*thresholds)


def require_terminal(otherwise: str) -> None:
    """Raise `Failure` where no screen can be drawn or no keys arrive; `otherwise` says what to run instead."""
    capable = os.environ.get("TERM", "") not in ("", "dumb")
    if not (capable and output.is_terminal(sys.stdin) and output.is_terminal(sys.stdout)):
        raise UsageError(f"memtui needs a terminal. {otherwise}")


_NEXT_COMMANDS = (
    "With a folder of your own:",
    "  memtui DIR              browse it while an agent writes",
    "  memtui hook install     record Claude Code's changes under its name",
    "  memtui mcp DIR          serve it to any MCP client",
)


def show_demo(loaded: "LoadedConfig", *, speed: float = 1.0, keep: str | None = None, tour: bool = True) -> int:
    """Run the demo, and print how to begin with a folder of one's own."""
    from memtui.ui.demo_app import run_demo_app  # noqa: PLC0415 - start-up: loads Textual

    try:
        code = run_demo_app(speed=speed, keep=keep, tour=tour, loaded=loaded)
    except FileExistsError as error:
        raise UsageError(str(error)) from error
    if code == ExitCode.OK:
        for line in _NEXT_COMMANDS:
            output.print_line(line)
    return code
