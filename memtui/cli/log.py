"""`memtui log`: what happened to a memory folder, as the journal has it."""

import argparse
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from memtui import opening
from memtui.cli import output, places
from memtui.cli.event_text import aligned, record
from memtui.cli.following import follow
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.errors import Busy
from memtui.core.events import Event
from memtui.core.paths import MemoryPath
from memtui.engine import Engine

_FIRST_WHEN_FOLLOWING = 10


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder")
    parser.add_argument("-f", "--follow", action="store_true", help="go on: print what happens, as it happens")
    parser.add_argument("-n", "--last", metavar="N", type=_count, help="only the last N; with --follow 10 if not given")
    parser.add_argument("--path", metavar="PATH", help="only what touched this path or what is below it")
    parser.add_argument("--actor", metavar="NAME", help="only what NAME did: an agent, you, outside, memtui")
    parser.add_argument("--errors", action="store_true", help="only what was refused or failed")
    parser.add_argument("--head", action="store_true", help="only the number and the hash of the last event")


def _count(given: str) -> int:
    if not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise argparse.ArgumentTypeError(f"{given!r} is no number of events")
    return int(given)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    path = places.folder(options, arguments.folder)
    wanted = _filter(arguments, path)
    with opening.connect(path, state=options.state, read_only=options.read_only) as memory:
        if not options.read_only:
            _look_again(memory)
        if arguments.head:
            _print_head(memory, options)
            return 0
        seq, _ = memory.journal.head()
        _print(_last(memory, seq, wanted, arguments), path, options)
        output.flush()
        if arguments.follow:
            for event in follow(memory, path, options, after=seq):
                if wanted is None or wanted(event):
                    _print([event], path, options)
                    output.flush()
    return 0


def _look_again(memory: Engine) -> None:
    try:
        memory.reconcile()
    except Busy as busy:
        output.message(f"{busy} Its changes are listed; those from outside may be missing.")


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


def _filter(arguments: argparse.Namespace, path: str) -> Callable[[Event], bool] | None:
    """Which events are asked for; `None` for all."""
    tests: list[Callable[[Event], bool]] = []
    if arguments.errors:
        tests.append(lambda event: event.is_error)
    if arguments.actor is not None:
        tests.append(lambda event: event.actor.name.casefold() == arguments.actor.casefold())
    if arguments.path is not None:
        place = places.place(arguments.path, path)
        tests.append(lambda event: _touches(event, place))
    return (lambda event: all(test(event) for test in tests)) if tests else None


def _touches(event: Event, place: MemoryPath) -> bool:
    named = [name for name in (event.path, event.new_path) if name]
    named += [str(MemoryPath.of(change.path)) for change in event.changes]
    start = str(place)
    return any(name == start or name.startswith(start + "/") for name in named)


def _print(events: Iterable[Event], path: str, options: Options) -> None:
    for event in events:
        if options.json:
            output.json_line(record(event, path))
        else:
            output.line(aligned(event))


def _print_head(memory: Engine, options: Options) -> None:
    seq, hash = memory.journal.head()
    if options.json:
        output.json_line({"schema": output.SCHEMA, "seq": seq, "hash": hash})
    else:
        output.line(f"{seq} {hash}")


VERB = Verb(
    "log",
    "print what happened, who did it and when",
    (
        ("memtui log --follow", "and go on as it happens; Ctrl-C ends it"),
        ("memtui log --json -n 100 --errors", "one JSON object a line, for programs"),
    ),
    _arguments,
    _run,
    ("First looks for changes from outside and records them; not with --read-only.",),
)
