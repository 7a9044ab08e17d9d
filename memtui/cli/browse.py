"""`memtui [DIR]`: the browser. Here it is only decided whether it can run, and where."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memtui.cli import output, places
from memtui.cli.configured import configured
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options

if TYPE_CHECKING:
    from memtui.agents.chat.options import ChatOptions
    from memtui.config import Loaded


def run(options: Options, word: str | None) -> int:
    """Browse a folder; without one, the browser offers those that it finds."""
    given = places.named(options, word)
    folder = places.existing(given) if given is not None else None
    loaded = configured(options, folder)
    if loaded.config.ui.screen_reader:
        from memtui.cli.reader.run import run as run_reader  # for start-up cost, and it needs no terminal

        return run_reader(
            folder,
            loaded,
            state=options.state,
            read_only=options.read_only,
            chat_options=lambda: _chat_options(options, loaded),
        )
    insist_on_terminal("For scripts use: memtui ls, memtui log --json")
    with terminal_asked(loaded):
        from memtui.ui.app import browse  # for start-up cost: plain verbs never load Textual

        return browse(
            folder,
            state=options.state,
            read_only=options.read_only,
            loaded=loaded,
            chat_options=lambda: _chat_options(options, loaded),
        )


@contextmanager
def terminal_asked(loaded: "Loaded") -> Iterator[None]:
    """Ask the terminal whether it is light while all else is loaded; at the end it is as it was before."""
    from memtui.ui import background  # for start-up cost: not for those who are told that they have no terminal

    if loaded.config.theme == "auto":
        background.ask()
    try:
        yield
    finally:
        background.forget()


def _chat_options(options: Options, loaded: "Loaded") -> "ChatOptions":
    from memtui.cli.chat_options import chat_options  # for start-up cost: only for who chats

    return chat_options(loaded, options)


def insist_on_terminal(otherwise: str) -> None:
    """Go on only where a screen can be drawn and keys arrive.

    Args:
        otherwise: What to do instead.

    Raises:
        Failure: It cannot.
    """
    capable = os.environ.get("TERM", "") not in ("", "dumb")
    if not (capable and output.is_terminal(sys.stdin) and output.is_terminal(sys.stdout)):
        raise Failure(Exit.USAGE, f"memtui needs a terminal. {otherwise}")
