"""`memtui demo`: a scripted agent at work, in a folder that is made for it."""

import argparse
import math

from memtui.cli.browse import insist_on_terminal, terminal_asked
from memtui.cli.configured import configured
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb


def _arguments(parser: Parser) -> None:
    parser.add_argument("--speed", metavar="X", type=_speed, default=1.0, help="how many times as fast; 1 if not given")
    parser.add_argument("--keep", metavar="DIR", help="work in this folder, and leave it behind")


def _speed(given: str) -> float:
    try:
        speed = float(given)
    except ValueError:
        speed = 0.0
    if not (math.isfinite(speed) and speed > 0):
        raise argparse.ArgumentTypeError(f"{given!r} is no number above 0")
    return speed


def _run(options: Options, arguments: argparse.Namespace) -> int:
    insist_on_terminal("The demo draws on it; see: memtui demo --help")
    loaded = configured(options)
    try:
        with terminal_asked(loaded):
            from memtui.ui.demo import demo  # for start-up cost: plain verbs never load Textual

            return demo(speed=arguments.speed, keep=arguments.keep, loaded=loaded)
    except FileExistsError as error:
        raise Failure(Exit.USAGE, str(error)) from error


VERB = Verb(
    "demo",
    "watch a scripted agent",
    (("memtui demo", "in a temporary folder"), ("memtui demo --speed 4", "four times as fast")),
    _arguments,
    _run,
    keeps_rights=True,
)
