"""`memtui undo`: undo events by a new event; later changes of the same files are never lost."""

import argparse
from functools import partial

from memtui.cli import context, restore, times
from memtui.cli.context import open_memory, require_writable
from memtui.cli.options import Options
from memtui.cli.output import NotFound, UsageError
from memtui.cli.parsing import Parser, Verb
from memtui.core.events import Event
from memtui.core.history import ActionResult
from memtui.core.times import PointInTime
from memtui.core.unicode import to_one_line
from memtui.engine import Engine
from memtui.flows.undo import needs_confirmation

_NOT_UNDONE = "Not undone"


def add_undo_options(parser: Parser) -> None:
    parser.add_value(
        "events", "EVENT", "event numbers, such as 41; else the last change", nargs="*", type=times.parse_event_number
    )
    parser.add_value("--actor", "NAME", "everything NAME did: an agent, you, outside")
    parser.add_value("--session", "ID", "everything done in one session of an agent")
    parser.add_value("--since", "MOMENT", "only since then: 41, 10:14, yesterday", type=times.parse_moment)
    parser.add_flag("--partial", "undo what can be undone, skip the rest")
    restore.add_confirm_options(parser)


def run_undo(options: Options, arguments: argparse.Namespace) -> int:
    many = arguments.actor is not None or arguments.session is not None or arguments.since is not None
    if many and arguments.events:
        raise UsageError("memtui undo: EVENT does not go with --actor, --session or --since. See: memtui undo --help")
    if not arguments.dry_run:
        require_writable(options, _NOT_UNDONE)
    path = context.resolve_folder(options)
    with open_memory(path, options) as memory:
        if many:
            return _undo_many(memory, options, arguments, path)
        events = [_get_event(memory, seq) for seq in dict.fromkeys(arguments.events)] or [_get_last_undoable(memory)]
        is_named = bool(arguments.events)
        last = times.describe_event(events[0])
        return restore.run_with_confirmation(
            lambda rehearse: memory.undo([event.seq for event in events], partial=arguments.partial, rehearse=rehearse),
            options,
            arguments,
            done=lambda result: _format_undone(result, events),
            question="Undo this?" if is_named else f"Undo {last}?",
            not_done=_NOT_UNDONE if is_named else f"{_NOT_UNDONE}: {last}",
            folder=path,
            ask=needs_confirmation(events, is_named=is_named),
        )


def _undo_many(memory: Engine, options: Options, arguments: argparse.Namespace, path: str) -> int:
    after = _find_seq_before(memory, arguments.since) if arguments.since is not None else 0
    undo = partial(
        memory.undo_since, after, actor_name=arguments.actor, session=arguments.session, partial=arguments.partial
    )
    return restore.run_with_confirmation(
        lambda rehearse: undo(rehearse=rehearse),
        options,
        arguments,
        done=lambda result: _format_undone(result, []),
        question="Undo this?",
        not_done=_NOT_UNDONE,
        folder=path,
    )


def _find_seq_before(memory: Engine, since: PointInTime) -> int:
    """The number of the event before the first one that is meant."""
    if since.seq is not None:
        times.find_seq(memory, since)
        return max(0, since.seq - 1)
    return times.find_seq(memory, since, beginning=True)


def _get_event(memory: Engine, seq: int) -> Event:
    event = memory.history.get_event(seq)
    if event is None:
        raise times.make_no_event_failure(memory, seq)
    return event


def _get_last_undoable(memory: Engine) -> Event:
    event = memory.history.get_undoable()
    if event is None:
        raise NotFound("Not undone: there is no change left to undo. Nothing was written.")
    return event


def _format_undone(result: ActionResult, events: list[Event]) -> str:
    """That it was done, as a sentence."""
    taken = result.event.undoes if result.event else ()
    if len(events) == 1:
        what = f"{times.describe_event(events[0])}; {restore.format_change_counts(result.changes)}"
    else:
        many = f"{len(taken):,} event{'s' * (len(taken) != 1)}"
        span = f", #{taken[0]} to #{taken[-1]}" if len(taken) > 1 else f", #{taken[0]}" if taken else ""
        what = f"{many}{span}; {restore.format_change_counts(result.changes)}"
    redo = f"memtui redo {result.event.seq}" if result.event else "memtui redo"
    return to_one_line(f"Undid {what}. Redo: {redo}")


UNDO_VERB = Verb("undo", add_undo_options, run_undo)


# `memtui redo`: undo an undo.

_NOT_REDONE = "Not redone"


def add_redo_options(parser: Parser) -> None:
    parser.add_value(
        "event", "EVENT", "an undo, or an undone event; else the last", nargs="?", type=times.parse_event_number
    )
    parser.add_flag("--partial", "redo what can be redone, skip the rest")
    restore.add_confirm_options(parser)


def run_redo(options: Options, arguments: argparse.Namespace) -> int:
    if not arguments.dry_run:
        require_writable(options, _NOT_REDONE)
    path = context.resolve_folder(options)
    with open_memory(path, options) as memory:
        undo = _find_undo(memory, arguments.event)
        return restore.run_with_confirmation(
            lambda rehearse: memory.undo([undo.seq], partial=arguments.partial, rehearse=rehearse),
            options,
            arguments,
            done=lambda result: _format_redone(result, undo),
            question="Redo this?",
            not_done=_NOT_REDONE,
            folder=path,
            ask=False,
        )


def _find_undo(memory: Engine, seq: int | None) -> Event:
    """The undo that is to be undone. Raises `Failure` if there is none."""
    history = memory.history
    if seq is None:
        undo = history.get_redoable()
        if undo is None:
            raise NotFound("Not redone: there is nothing left to redo. Nothing was written.")
        return undo
    event = history.get_event(seq)
    if event is None:
        raise times.make_no_event_failure(memory, seq)
    if event.command == "undo" and history.find_undoing_event(seq) is None:
        return event
    by = history.find_undoing_event(seq)
    undo = history.get_event(by) if by is not None else None
    if undo is None or undo.command != "undo":
        raise NotFound(f"Not redone: {times.describe_event(event)} is not undone. Nothing was written.")
    return undo


def _format_redone(result: ActionResult, undo: Event) -> str:
    seqs = undo.undoes
    again = result.event.seq if result.event else ""
    what = f"#{seqs[0]}" if len(seqs) == 1 else f"#{seqs[0]} to #{seqs[-1]}" if seqs else f"#{undo.seq}"
    return to_one_line(f"Redid {what}; {restore.format_change_counts(result.changes)}. Undo: memtui undo {again}")


REDO_VERB = Verb("redo", add_redo_options, run_redo)
