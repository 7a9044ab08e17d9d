"""`memtui undo`: take back what somebody did, as a new event; never what has been built upon since."""

import argparse
import re

from memtui.cli import moments, places, restored
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.restored import Wording
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.events import Event, Person
from memtui.core.moments import Moment
from memtui.core.restoring import Restored
from memtui.core.visible import one_line
from memtui.engine import Engine

_WORDING = Wording("Not undone", "Undo this?")
_NUMBER = re.compile("#?([0-9]{1,18})")


def number(given: str) -> int:
    """The number of an event, for argparse.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    found = _NUMBER.fullmatch(given)
    if found is None:
        raise argparse.ArgumentTypeError(f"{given!r} is no event's number; they are listed by: memtui log")
    return int(found[1])


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "events", metavar="EVENT", nargs="*", type=number, help="numbers, such as 41; else the last change"
    )
    parser.add_argument("--actor", metavar="NAME", help="all that NAME did: an agent, you, outside")
    parser.add_argument("--session", metavar="ID", help="all that was done in one session of an agent")
    parser.add_argument(
        "--since", metavar="MOMENT", type=moments.moment, help="only from then on: 41, 10:14, yesterday"
    )
    parser.add_argument("--partial", action="store_true", help="what can be taken back, where not all can")
    restored.add_common(parser)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    many = arguments.actor is not None or arguments.session is not None or arguments.since is not None
    if many and arguments.events:
        raise Failure(
            Exit.USAGE, "memtui undo: name events, or whose and since when; not both. See: memtui undo --help"
        )
    if not arguments.dry_run:
        insist_on_writing(options, _WORDING.not_done)
    path = places.folder(options)
    with opened(path, options) as memory:
        if many:
            return _undo_many(memory, options, arguments, path)
        events = [_event(memory, seq) for seq in dict.fromkeys(arguments.events)] or [_last(memory)]
        wording = _WORDING
        ask = len(events) > 1
        if not arguments.events and not isinstance(events[0].actor, Person):
            ask = True
            wording = Wording(f"Not undone: {moments.described(events[0])}", f"Undo {moments.described(events[0])}?")
        seqs = [event.seq for event in events]
        return restored.settle(
            lambda rehearse: memory.undo(seqs, partial=arguments.partial, rehearse=rehearse),
            options,
            wording,
            lambda result: _done(result, events),
            folder=path,
            dry_run=arguments.dry_run,
            ask=ask and not arguments.yes,
        )


def _undo_many(memory: Engine, options: Options, arguments: argparse.Namespace, path: str) -> int:
    after = _before(memory, arguments.since) if arguments.since is not None else 0
    return restored.settle(
        lambda rehearse: memory.undo_since(
            after,
            actor_name=arguments.actor,
            session=arguments.session,
            partial=arguments.partial,
            rehearse=rehearse,
        ),
        options,
        _WORDING,
        lambda result: _done(result, []),
        folder=path,
        dry_run=arguments.dry_run,
        ask=not arguments.yes,
    )


def _before(memory: Engine, since: Moment) -> int:
    """The number of the event before the first one that is meant."""
    if since.seq is not None:
        moments.seq_of(memory, since)
        return max(0, since.seq - 1)
    return moments.seq_of(memory, since, beginning=True)


def _event(memory: Engine, seq: int) -> Event:
    event = memory.history.event(seq)
    if event is None:
        raise moments.no_event(memory, seq)
    return event


def _last(memory: Engine) -> Event:
    event = memory.history.undoable()
    if event is None:
        raise Failure(
            Exit.MISSING, "Not undone: there is no change that was not taken back already. Nothing was written."
        )
    return event


def _done(result: Restored, events: list[Event]) -> str:
    """That it was done, as a sentence."""
    taken = result.event.undoes if result.event else ()
    if len(events) == 1:
        what = f"{moments.described(events[0])}; {restored.counted(result.changes)}"
    else:
        many = f"{len(taken):,} event{'s' * (len(taken) != 1)}"
        span = f", #{taken[0]} to #{taken[-1]}" if len(taken) > 1 else f", #{taken[0]}" if taken else ""
        what = f"{many}{span}; {restored.counted(result.changes)}"
    return one_line(f"Undone: {what}. memtui redo does it again.")


VERB = Verb(
    "undo",
    "take changes back",
    (
        ("memtui undo", "the last change"),
        ("memtui undo 41", "what event 41 did"),
        ("memtui undo --actor Claude --since 10:14", "all that Claude did since then"),
    ),
    _arguments,
    _run,
    (
        "It is a new event. What has changed since is left alone, and said. --since 41",
        "begins with event 41. Asks before it undoes several events, or what somebody",
        "else did last: --yes where there is no terminal. With --json: done, problem,",
        "changes, left, event. Exit codes: 0, 3 nothing to undo, 4 read-only, 5 changed.",
    ),
)
