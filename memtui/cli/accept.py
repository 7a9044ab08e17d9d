"""`memtui admin accept`: this machine goes on from a server that was set back. What only it has is shown, and kept."""

import argparse
import shlex

from memtui.cli import context, output
from memtui.cli.event_text import format_event_row
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure
from memtui.core.paths import MemoryPath, format_path, resolve_place
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.postgres.divergence import DifferingNote, DivergedCopy, Divergence, NothingToAccept, format_kept

_MOST_NOTES = 40
"""Notes that are listed; more are counted."""


def run_accept(options: Options, given: argparse.Namespace) -> int:
    """Run `admin accept`. Raises `Failure` where there is nothing to accept."""
    place = resolve_place(given.address)
    try:
        diverged = DivergedCopy(place, options.state, context.load_memory_settings(options, place))
    except NothingToAccept as error:
        raise Failure(ExitCode.REFUSED, f"{error} Nothing was done.") from error
    with diverged:
        found = diverged.divergence
        _print_divergence(found, format_path(place))
        done = "Done" if given.yes else "Would do"
        kept = diverged.accept() if given.yes else ""
        beside = f", as {format_kept(kept)}" if kept else ""
        output.print_message(f"{done}: keep this machine's copy beside{beside}")
        output.print_message(f"{done}: go on from the server, at event {found.common + found.there:,}")
        if kept:
            output.print_message(f"What only it has: {_make_hint(format_kept(kept), found.common)}")
        back = sum(note.can_be_put_back for note in found.notes)
        if given.bring_back and given.yes:
            return _put_back(diverged, kept)
        if given.bring_back:
            output.print_message(f"{done}: put back {format_count(back, 'note')}, each as a new change")
        elif back and not kept:
            output.print_message(f"Not put back: {format_count(back, 'note')}. As new changes: --bring-back")
        if not given.yes:
            output.print_message("Nothing was done. To do it: --yes")
    return ExitCode.OK


def _make_hint(kept: str, common: int) -> str:
    """How to see what only a kept file has, behind an event."""
    place = shlex.quote(kept)
    return f"memtui diff --dir {place} {common} now" if common else f"memtui log {place}"


def _put_back(diverged: DivergedCopy, kept: str) -> int:
    """Put notes back, and list those that were not. Returns the exit code."""
    code = ExitCode.OK
    count = 0
    for note, problem in diverged.put_back(kept):
        count += not problem
        if problem:
            code = ExitCode.CONFLICT
            output.print_message(f"Not put back: {_format_note(note)}. {problem}")
    for note in diverged.divergence.notes:
        if note.here != note.base and not note.can_be_put_back:
            output.print_message(f"Left as the server has it: {_format_note(note)}, {note.describe()}")
    output.print_message(f"Done: put back {format_count(count, 'note')}, each as a new change")
    return code


def _format_note(note: DifferingNote) -> str:
    return to_one_line(str(MemoryPath.from_relative(note.path)))


def _print_divergence(found: Divergence, shown: str) -> None:
    count = found.head - found.common
    numbers = f"{found.common + 1:,} to {found.head:,}" if count > 1 else f"{found.head:,}"
    output.print_line(
        f"Only this machine's copy of {to_one_line(shown)} has {format_count(count, 'event')}, {numbers}:"
    )
    for event in found.first:
        output.print_line(format_event_row(event))
    if count > len(found.first):
        output.print_line(f"       and {count - len(found.first):,} more")
    others = f"{format_count(found.there, 'other event')} behind it" if found.there else "nothing behind it"
    same = f"The last event of both is {found.common:,}." if found.common else "They have no event in common."
    output.print_line(f"{same} The server has {others}.")
    if found.redactions:
        words = format_count(found.redactions, "redaction")
        output.print_line(f"{words} among them: those texts are on the server again. Redact them there.")
    if not found.notes:
        output.print_line("No note differs.")
        return
    output.print_line("1 note differs:" if len(found.notes) == 1 else f"{len(found.notes):,} notes differ:")
    listed = found.notes[:_MOST_NOTES]
    for note in listed:
        output.print_line(f"  {note.describe():<21}  {_format_note(note)}")
    if len(listed) < len(found.notes):
        output.print_line(f"  and {len(found.notes) - len(listed):,} more")
