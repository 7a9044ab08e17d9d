"""`memtui log`: the events of a memory folder."""

import argparse
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile

from memtui import memory as memory_module
from memtui.cli import context, output, times
from memtui.cli.context import load_config, observe_external_changes, report_setting_problems
from memtui.cli.event_text import format_event_row, serialize_event
from memtui.cli.follow import (
    FIRST_WHEN_FOLLOWING,
    GitEventFilter,
    build_common_tests,
    follow_events,
    make_sentence_formatter,
)
from memtui.cli.options import Options
from memtui.cli.output import UsageError
from memtui.cli.parsing import Parser, Verb, parse_event_count
from memtui.core.events import Event
from memtui.core.paths import MemoryPath
from memtui.core.wording import format_age
from memtui.engine import Engine

_STEP = 100
"""Events that are read at once, at least, where the last ones are looked for."""
_BACKWARDS_US = 60_000_000
"""Microseconds from which on a clock is said to have run backwards. Commands that overlap differ by less."""


def add_log_options(parser: Parser) -> None:
    parser.add_value("folder", "DIR", "the memory folder; or a path inside it, as --path", nargs="?")
    parser.add_flag("-f --follow", "keep printing new events as they happen")
    parser.add_value("-n --last", "N", "only the last N; default 10 with --follow", type=parse_event_count)
    parser.add_value("--since", "MOMENT", "only since then: 41, 10:14, yesterday", type=times.parse_moment)
    parser.add_value("--until", "MOMENT", "only until then, that event or day included", type=times.parse_moment)
    parser.add_value("--path", "PATH", "only this path, with its old names, and below it")
    parser.add_value("--actor", "NAME", "only events by NAME: an agent, you, outside, memtui")
    parser.add_flag("--errors", "only refused and failed events")
    parser.add_flag("--head", "only the number and the hash of the last event")
    parser.add_flag("--everywhere")
    parser.add_flag("--all")


def run_log(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.follow and arguments.until is not None:
        raise UsageError("memtui log: --follow and --until do not go together. Leave one of them out.")
    if arguments.everywhere:
        from memtui.cli.log_many import log_everywhere  # noqa: PLC0415 - start-up: only for many folders

        return log_everywhere(options, arguments)
    path, place = context.resolve_word(options, arguments.folder)
    if not place.is_root:
        if arguments.path is not None:
            raise UsageError(f"memtui log: two paths were given: {arguments.folder} and {arguments.path}. Give one.")
        arguments.path = place.relative
    loaded = load_config(options, path)
    report_setting_problems(loaded, options)
    settings = loaded.config.memory
    with memory_module.connect(path, state=options.state, read_only=options.read_only, settings=settings) as memory:
        if not options.read_only:
            observe_external_changes(memory)
        if arguments.head:
            _print_head(memory, options)
            return 0
        if not place.is_root and not _is_known(memory, place, path):
            raise context.make_missing_failure(place, path)
        matches = _build_filter(memory, arguments, path)
        git = GitEventFilter(arguments)
        seq, _ = memory.get_head()
        speaks = loaded.config.ui.screen_reader
        printer = _EventPrinter(
            path, options, make_sentence_formatter(arguments.follow) if speaks else format_event_row
        )
        for event in _select_last(memory, seq, matches, git, arguments):
            printer.print_event(event)
        output.flush()
        git.report(options)
        if arguments.follow:
            for event in memory.history.read_events(follow_events(memory, path, options, after=seq)):
                if (matches is None or matches(event)) and git.accepts(event):
                    printer.print_event(event)
                    output.flush()
    return 0


def _select_last(
    memory: Engine,
    until: int,
    matches: Callable[[Event], bool] | None,
    git: GitEventFilter,
    arguments: argparse.Namespace,
) -> Iterable[Event]:
    last: int | None = arguments.last
    if last is None:
        last = FIRST_WHEN_FOLLOWING if arguments.follow else None
    if matches is not None:
        found = filter(git.accepts, filter(matches, _read_until(memory, 0, until)))
        return found if last is None else deque(found, maxlen=last)
    if last is None:
        return filter(git.accepts, _read_until(memory, 0, until))
    read = deque(filter(git.accepts, _read_until(memory, max(0, until - last), until)))
    first = max(0, until - last)
    while len(read) < last and first:  # some are a part of another one, or git's
        behind, first = first, max(0, first - max(last, _STEP))
        read.extendleft(reversed(list(filter(git.accepts, _read_until(memory, first, behind)))))
    return deque(read, maxlen=last)


def _read_until(memory: Engine, after: int, seq: int) -> Iterator[Event]:
    """The events after a number and up to another, as they are read; later ones come while these are printed."""
    return memory.history.read_events(takewhile(lambda event: event.seq <= seq, memory.events(after=after)))


def _build_filter(memory: Engine, arguments: argparse.Namespace, path: str) -> Callable[[Event], bool] | None:
    """Which events are asked for; `None` for all."""
    tests = build_common_tests(arguments)
    if arguments.path is not None:
        place = context.parse_memory_path(arguments.path, path)
        names = _trace_names(memory, place)
        tests.append(lambda event: any(event.seq <= last and _touches(event, name) for name, last in names))
    return (lambda event: all(test(event) for test in tests)) if tests else None


def _trace_names(memory: Engine, place: MemoryPath) -> list[tuple[str, float]]:
    """The names of a path, each with the last event in which it was called so."""
    names: list[tuple[str, float]] = [(str(place), float("inf"))]
    if not place.is_root:
        rows = memory.history.versions_of(place.relative)
        names += (
            (str(MemoryPath.from_relative(row.moved_from)), row.event.seq) for row in rows if row.moved_from is not None
        )
    return names


def _is_known(memory: Engine, place: MemoryPath, path: str) -> bool:
    """Whether something is at a place, or an event names it."""
    name = str(place)
    return os.path.lexists(os.path.join(path, *place.parts)) or any(_touches(each, name) for each in memory.events())


def _touches(event: Event, start: str) -> bool:
    named = [name for name in (event.path, event.new_path) if name]
    named += [str(MemoryPath.from_relative(change.path)) for change in event.changes]
    return any(name == start or name.startswith(start + "/") for name in named)


class _EventPrinter:
    """Prints events, and says once that the clock ran backwards between two of them."""

    def __init__(self, path: str, options: Options, shown: Callable[[Event], str]) -> None:
        self._path = path
        self._shown = shown
        self._options = options
        self._previous: Event | None = None
        self._has_warned = options.quiet or options.json

    def print_event(self, event: Event) -> None:
        """Print one."""
        if self._options.json:
            output.print_json_line(serialize_event(event, self._path))
        else:
            output.print_line(self._shown(event))
        previous, self._previous = self._previous, event
        if previous is not None and not self._has_warned and previous.at_us - event.at_us > _BACKWARDS_US:
            self._has_warned = True
            behind = format_age((previous.at_us - event.at_us) / 1e6)
            output.print_message(
                f"The clock ran backwards: by its time #{event.seq} is {behind} older than #{previous.seq}. "
                "The numbers give the order."
            )


def _print_head(memory: Engine, options: Options) -> None:
    seq, hash = memory.get_head()
    if options.json:
        output.print_json_line({"schema": output.SCHEMA, "seq": seq, "hash": hash})
    else:
        output.print_line(f"{seq} {hash}")


LOG_VERB = Verb("log", add_log_options, run_log)
