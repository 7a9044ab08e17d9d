"""`memtui [DIR]`: the browser. Here it is only decided whether it can run, and where."""

import os
import sys

from memtui.cli import output, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options


def run(options: Options, word: str | None) -> int:
    """Browse a folder; without one, the browser offers those that it finds."""
    given = places.named(options, word)
    folder = places.existing(given) if given is not None else None
    insist_on_terminal("For scripts use: memtui ls, memtui log --json")
    from memtui.ui.app import browse  # for start-up cost: plain verbs never load Textual

    return browse(folder, state=options.state, read_only=options.read_only)


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
