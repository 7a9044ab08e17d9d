"""`memtui redo`: do again what undo took back."""

import argparse

from memtui.cli import moments, places, restored
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.restored import Wording
from memtui.cli.undo import number
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.events import Event
from memtui.core.restoring import Restored
from memtui.core.visible import one_line
from memtui.engine import Engine

_WORDING = Wording("Not redone", "Do this again?")


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "event", metavar="EVENT", nargs="?", type=number, help="an undo, or what was undone; else the last"
    )
    parser.add_argument("--partial", action="store_true", help="what can be done again, where not all can")
    restored.add_common(parser)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    if not arguments.dry_run:
        insist_on_writing(options, _WORDING.not_done)
    path = places.folder(options)
    with opened(path, options) as memory:
        undo = _undo(memory, arguments.event)
        return restored.settle(
            lambda rehearse: memory.undo([undo.seq], partial=arguments.partial, rehearse=rehearse),
            options,
            _WORDING,
            lambda result: _done(result, undo),
            folder=path,
            dry_run=arguments.dry_run,
            ask=False,
        )


def _undo(memory: Engine, seq: int | None) -> Event:
    """The undo that is to be taken back.

    Raises:
        Failure: There is none.
    """
    history = memory.history
    if seq is None:
        undo = history.redoable()
        if undo is None:
            raise Failure(Exit.MISSING, "Not redone: nothing stands undone. Nothing was written.")
        return undo
    event = history.event(seq)
    if event is None:
        raise moments.no_event(memory, seq)
    if event.command == "undo" and history.undone_by(seq) is None:
        return event
    by = history.undone_by(seq)
    undo = history.event(by) if by is not None else None
    if undo is None or undo.command != "undo":
        raise Failure(
            Exit.MISSING, f"Not redone: {moments.described(event)} does not stand undone. Nothing was written."
        )
    return undo


def _done(result: Restored, undo: Event) -> str:
    seqs = undo.undoes
    again = result.event.seq if result.event else ""
    what = f"#{seqs[0]}" if len(seqs) == 1 else f"#{seqs[0]} to #{seqs[-1]}" if seqs else f"#{undo.seq}"
    return one_line(f"Done again: {what}; {restored.counted(result.changes)}. memtui undo {again} takes it back.")


VERB = Verb(
    "redo",
    "do again what undo took",
    (
        ("memtui redo", "the last undo is taken back"),
        ("memtui redo 41", "event 41, which was undone, is done again"),
    ),
    _arguments,
    _run,
    (
        "It is a new event. What has changed since is left alone, and said. With --json:",
        "done, problem, changes, left, event. Exit codes: 0 done, 3 nothing to do again,",
        "4 read-only, 5 changed since.",
    ),
)
