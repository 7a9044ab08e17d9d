"""`memtui log`: what happened to a memory folder, as the journal has it."""

import argparse
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from memtui import opening
from memtui.cli import moments, output, places
from memtui.cli.configured import complain, configured
from memtui.cli.event_text import aligned, record
from memtui.cli.exits import Exit, Failure
from memtui.cli.following import follow
from memtui.cli.opened import look_again
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.events import Event
from memtui.core.moments import Moment
from memtui.core.paths import MemoryPath
from memtui.core.visible import one_line
from memtui.engine import Engine

_FIRST_WHEN_FOLLOWING = 10
_BACKWARDS_US = 60_000_000
"""Microseconds from which on a clock is said to have run backwards. Commands that overlap differ by less."""


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder")
    parser.add_argument("-f", "--follow", action="store_true", help="go on: print what happens, as it happens")
    parser.add_argument("-n", "--last", metavar="N", type=count, help="only the last N; with --follow 10 if not given")
    parser.add_argument(
        "--since", metavar="MOMENT", type=moments.moment, help="only from then on: 41, 10:14, yesterday"
    )
    parser.add_argument(
        "--until", metavar="MOMENT", type=moments.moment, help="only up to then, that event or day included"
    )
    parser.add_argument("--path", metavar="PATH", help="only what touched it, by its old names too, or below it")
    parser.add_argument("--actor", metavar="NAME", help="only what NAME did: an agent, you, outside, memtui")
    parser.add_argument("--errors", action="store_true", help="only what was refused or failed")
    parser.add_argument("--head", action="store_true", help="only the number and the hash of the last event")


def count(given: str) -> int:
    """A number, for argparse.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    if not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise argparse.ArgumentTypeError(f"{given!r} is no number of events")
    return int(given)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.follow and arguments.until is not None:
        raise Failure(Exit.USAGE, "memtui log: --follow never ends, and --until does. Leave one of them out.")
    path = places.folder(options, arguments.folder)
    loaded = configured(options, path)
    complain(loaded, options)
    settings = loaded.config.memory
    with opening.connect(path, state=options.state, read_only=options.read_only, settings=settings) as memory:
        if not options.read_only:
            look_again(memory)
        if arguments.head:
            _print_head(memory, options)
            return 0
        wanted = _filter(memory, arguments, path)
        seq, _ = memory.head()
        speaks = loaded.config.ui.screen_reader
        printer = _Printer(path, options, _sentence(arguments.follow) if speaks else aligned)
        for event in _last(memory, seq, wanted, arguments):
            printer.print(event)
        output.flush()
        if arguments.follow:
            for event in follow(memory, path, options, after=seq):
                if wanted is None or wanted(event):
                    printer.print(event)
                    output.flush()
    return 0


def _last(
    memory: Engine, until: int, wanted: Callable[[Event], bool] | None, arguments: argparse.Namespace
) -> Iterable[Event]:
    last: int | None = arguments.last
    if last is None:
        last = _FIRST_WHEN_FOLLOWING if arguments.follow else None
    if wanted is None:
        return _up_to(until, memory.events(after=0 if last is None else max(0, until - last)))
    found = filter(wanted, _up_to(until, memory.events()))
    return found if last is None else deque(found, maxlen=last)


def _up_to(seq: int, events: Iterator[Event]) -> Iterator[Event]:
    """The events up to a number: what comes while they are printed is not among them."""
    for event in events:
        if event.seq > seq:
            return
        yield event


def _filter(memory: Engine, arguments: argparse.Namespace, path: str) -> Callable[[Event], bool] | None:
    """Which events are asked for; `None` for all."""
    tests: list[Callable[[Event], bool]] = []
    if arguments.errors:
        tests.append(lambda event: event.is_error)
    if arguments.actor is not None:
        tests.append(lambda event: event.actor.name.casefold() == arguments.actor.casefold())
    if arguments.since is not None:
        tests.append(_since(arguments.since))
    if arguments.until is not None:
        tests.append(_until(arguments.until))
    if arguments.path is not None:
        place = places.place(arguments.path, path)
        names = _names(memory, place)
        tests.append(lambda event: any(event.seq <= last and _touches(event, name) for name, last in names))
    return (lambda event: all(test(event) for test in tests)) if tests else None


def _since(when: Moment) -> Callable[[Event], bool]:
    if when.seq is not None:
        first = when.seq
        return lambda event: event.seq >= first
    at_us = when.first_us if when.first_us is not None else time.time_ns() // 1_000
    return lambda event: event.at_us >= at_us


def _until(when: Moment) -> Callable[[Event], bool]:
    if when.seq is not None:
        last = when.seq
        return lambda event: event.seq <= last
    at_us = when.last_us
    return lambda event: at_us is None or event.at_us <= at_us


def _names(memory: Engine, place: MemoryPath) -> list[tuple[str, float]]:
    """What a path was called, each name with the number of the last event in which it was called so."""
    names: list[tuple[str, float]] = [(str(place), float("inf"))]
    if not place.is_root:
        rows = memory.history.versions_of(place.relative)
        names += ((str(MemoryPath.of(row.moved_from)), row.event.seq) for row in rows if row.moved_from is not None)
    return names


def _touches(event: Event, start: str) -> bool:
    named = [name for name in (event.path, event.new_path) if name]
    named += [str(MemoryPath.of(change.path)) for change in event.changes]
    return any(name == start or name.startswith(start + "/") for name in named)


class _Printer:
    """Prints events, and says once that the clock ran backwards between two of them."""

    def __init__(self, path: str, options: Options, shown: Callable[[Event], str]) -> None:
        self._path = path
        self._shown = shown
        self._options = options
        self._previous: Event | None = None
        self._is_said = options.quiet or options.json

    def print(self, event: Event) -> None:
        """Print one."""
        if self._options.json:
            output.json_line(record(event, self._path))
        else:
            output.line(self._shown(event))
        previous, self._previous = self._previous, event
        if previous is not None and not self._is_said and previous.at_us - event.at_us > _BACKWARDS_US:
            self._is_said = True
            behind = output.age((previous.at_us - event.at_us) / 1e6)
            output.message(
                f"The clock ran backwards: by its time #{event.seq} is {behind} older than #{previous.seq} before it. "
                "The numbers tell the order."
            )


def _sentence(is_followed: bool) -> Callable[[Event], str]:
    """Says an event in one sentence; with its number where somebody reads back what was, to undo it."""
    from memtui.cli.reader.sentences import sentence  # for start-up cost: only where it is wanted

    return lambda event: one_line(sentence(event, numbered=not is_followed))


def _print_head(memory: Engine, options: Options) -> None:
    seq, hash = memory.head()
    if options.json:
        output.json_line({"schema": output.SCHEMA, "seq": seq, "hash": hash})
    else:
        output.line(f"{seq} {hash}")


VERB = Verb(
    "log",
    "print what happened",
    (
        ("memtui log --follow", "and go on as it happens"),
        ("memtui log --since yesterday --path notes", "of a directory"),
        ("memtui log --json -n 100 --errors", "one JSON object a line"),
    ),
    _arguments,
    _run,
    (
        "The first column is the event's number: memtui diff 41, memtui undo 41.",
        "First looks for changes from outside and records them; not with --read-only.",
    ),
)
