"""`memtui prune`: delete notes that are out of use; with `--record`, remove old texts from the journal."""

import argparse
import re
import shutil
import sys
import textwrap
import time
from typing import TYPE_CHECKING

from memtui.cli import context, output, restore
from memtui.cli.context import open_memory, require_writable
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError
from memtui.cli.parsing import Parser, Verb
from memtui.cli.restore import confirm
from memtui.core import times
from memtui.core.history import ActionResult, PruneResult
from memtui.core.paths import MemoryPath
from memtui.core.unicode import measure_cells, to_one_line
from memtui.core.wording import COLUMN, PLAIN, format_count, format_duration, format_size

if TYPE_CHECKING:
    from memtui.audit.outside import NoteEvent
    from memtui.audit.pruning import PruneCandidate, PrunePlan

_NOT_DONE = "Nothing was removed"
_SIZE = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,6}))?([kmgt]?)(?:i?b)?", re.IGNORECASE | re.ASCII)
_TO_RECORD = "To remove old texts from history: memtui prune --record"


def add_prune_options(parser: Parser) -> None:
    parser.add_value("--older-than", "AGE", "not read by an agent nor changed for: 90d, 1y", type=_parse_age)
    parser.add_flag("--unread", "only what no agent has read at all")
    parser.add_flag("--apply", "delete them, as one event")
    parser.add_flag("--record", "instead remove old texts in history, for good")
    parser.add_value("--max-bytes", "SIZE", "with --record: the oldest, until the rest fits", type=_parse_size)
    parser.add_flag("-n --dry-run", "only list them, as without --apply")
    parser.add_flag("-y --yes", "with --record: do not ask")


def _parse_age(given: str) -> int:
    try:
        return times.parse_age(given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from None


def _parse_size(given: str) -> int:
    found = _SIZE.fullmatch(given.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"Can't read {given!r} as a size. Try 4096, 500K, 100M or 1.5G")
    whole, fraction, unit = found.groups()
    power = 1 << 10 * " kmgt".index(unit.lower() or " ")
    return int(whole) * power + int(int(fraction or 0) * power / 10 ** len(fraction or ""))


def run_prune(options: Options, arguments: argparse.Namespace) -> int:
    _validate_arguments(arguments)
    if arguments.record:
        return _prune_record(options, arguments)
    if arguments.apply:
        require_writable(options, "No note was deleted")
    from memtui.audit import pruning  # noqa: PLC0415 - start-up: loads every rule

    path = context.resolve_folder(options)
    with open_memory(path, options) as memory:
        planned = pruning.plan_prune(
            memory, older_than_us=arguments.older_than, unread=arguments.unread, now_us=time.time_ns() // 1_000
        )
        planned = pruning.add_links(memory, planned)
        done = pruning.execute_prune(memory, planned) if arguments.apply and planned.candidates else None
    if options.json:
        output.print_json(_serialize_plan(planned, done))
    elif done is None:
        _print_plan(planned, quiet=options.quiet, is_applied=arguments.apply)
    else:
        restore.print_result(done, options, _format_result(done, planned), folder=path, dry_run=False)
    return restore.get_exit_code(done) if done is not None else ExitCode.OK


def _validate_arguments(arguments: argparse.Namespace) -> None:
    """Raise `Failure` for arguments that contradict, or that meant the journal before notes could be pruned."""
    problem = ""
    if arguments.record:
        if arguments.older_than is None and arguments.max_bytes is None:
            problem = "--record needs --older-than AGE or --max-bytes SIZE. See: memtui prune --help"
        elif arguments.unread or arguments.apply:
            problem = "--unread and --apply do not go with --record. Nothing was removed."
    elif arguments.max_bytes is not None:
        problem = f"--max-bytes needs --record. Nothing was removed. {_TO_RECORD} --max-bytes SIZE"
    elif arguments.yes:
        problem = (
            f"--yes needs --record; --apply deletes notes. Nothing was removed. {_TO_RECORD} --older-than AGE --yes"
        )
    elif arguments.older_than is None:
        problem = "give an age: --older-than 90d. Nothing is deleted without --apply. See: memtui prune --help"
    elif arguments.apply and arguments.dry_run:
        problem = "--apply and --dry-run do not go together. Nothing was removed. Leave one of them out."
    if problem:
        raise UsageError(f"memtui prune: {problem}")


def _print_plan(planned: "PrunePlan", *, quiet: bool, is_applied: bool) -> None:
    """Print the notes that would go, with the reasons."""
    if not planned.candidates:
        if not quiet:
            _print_wrapped(_format_empty_plan(planned))
    else:
        counts = f"{len(planned.candidates):,} of {format_count(planned.notes, 'note')}"
        size = format_size(planned.bytes, PLAIN)
        _print_wrapped(f"Would delete: {counts}, {size}, {_describe_criteria(planned)}.")
        width = min(40, max(measure_cells(to_one_line(note.path)) for note in planned.candidates))
        for note in planned.candidates:
            why = "; ".join(filter(None, (note.reason, note.link_warning)))
            place = f"  {output.pad_cell(note.path, width)}  {format_size(note.bytes, COLUMN):>6}"
            if not output.is_terminal(sys.stdout) or measure_cells(f"{place}  {why}") <= _get_width():
                output.print_line(f"{place}  {why}")
            else:
                output.print_line(place)
                _print_wrapped(why, indent=6)
    for staying in planned.exempt if not quiet else ():
        output.print_line(f"  kept: {to_one_line(staying.path)} ({staying.reason})")
    if planned.caution:
        _print_remark(planned.caution)
    if planned.candidates and not is_applied and not quiet:
        _print_remark("Nothing was deleted. To delete them, add --apply; memtui undo restores them.")


def _print_wrapped(words: str, indent: int = 0) -> None:
    """A sentence; on a terminal, set in the width there is."""
    if not output.is_terminal(sys.stdout):
        output.print_line(words)
        return
    for line in textwrap.wrap(words, max(20, _get_width() - indent), break_on_hyphens=False):
        output.print_line(" " * indent + line)


def _print_remark(words: str) -> None:
    """A sentence beside the output, set in the same way."""
    is_set = output.is_terminal(sys.stderr)
    for line in textwrap.wrap(words, max(20, _get_width()), break_on_hyphens=False) if is_set else [words]:
        output.print_message(line)


def _get_width() -> int:
    return shutil.get_terminal_size().columns


def _format_empty_plan(planned: "PrunePlan") -> str:
    which = "is unchanged and never read by an agent" if planned.unread else "is unread and unchanged"
    but = ", apart from those kept" if planned.exempt else ""
    return (
        f"Nothing to delete: none of {format_count(planned.notes, 'note')} {which}"
        f" for {format_duration(planned.older_than_us / 1e6)}{but}."
    )


def _describe_criteria(planned: "PrunePlan") -> str:
    age = format_duration(planned.older_than_us / 1e6)
    if not planned.older_than_us:
        return "each never read by an agent" if planned.unread else "whatever their age"
    if planned.unread:
        return f"each never read by an agent and unchanged for {age}"
    return f"each neither read by an agent nor changed for {age}"


def _format_result(done: ActionResult, planned: "PrunePlan") -> str:
    if done.event is None:
        return ""
    deleted = {change.path for change in done.changes}
    leading = {path for note in planned.candidates if note.path in deleted for path in note.linked_from}
    words = f"Deleted {restore.format_file_count(restore.select_visible_changes(done.changes))}."
    undo = restore.format_undo_hint(done)
    if not leading:
        return f"{words} {undo}"
    first = to_one_line(min(leading))
    sources = first if len(leading) == 1 else f"{first} and {format_count(len(leading) - 1, 'other note')}"
    return f"{words} {sources} still {'links' if len(leading) == 1 else 'link'} there. {undo}"


def _serialize_plan(planned: "PrunePlan", done: ActionResult | None) -> dict[str, object]:
    """The plan and its result as JSON."""
    return {
        "done": done is not None and done.event is not None,
        "dry_run": done is None,
        "older_than_seconds": planned.older_than_us // 1_000_000,
        "unread": planned.unread,
        "notes": [_serialize_note(note) for note in planned.candidates],
        "bytes": planned.bytes,
        "stay": [{"path": str(MemoryPath.from_relative(note.path)), "why": note.reason} for note in planned.exempt],
        "caution": planned.caution or None,
        "problem": (done.problem or None) if done is not None else None,
        "left": [left.sentence for left in done.skipped] if done is not None else [],
        "event": done.event.seq if done is not None and done.event is not None else None,
    }


def _serialize_note(note: "PruneCandidate") -> dict[str, object]:
    return {
        "path": str(MemoryPath.from_relative(note.path)),
        "bytes": note.bytes,
        "why": note.reason,
        "days": note.age.days,
        "known": note.age.basis,
        "linked_from": [str(MemoryPath.from_relative(path)) for path in note.linked_from],
        "read": _serialize_activity(note.age.last_read),
        "change": _serialize_activity(note.age.last_change),
    }


def _serialize_activity(event: "NoteEvent | None") -> dict[str, object] | None:
    return None if event is None else {"event": event.seq, "at": output.format_utc(event.at_us), "by": event.actor_name}


PRUNE_VERB = Verb("prune", add_prune_options, run_prune)


# `memtui prune --record`: remove old texts from the journal. Events and the folder stay.


def _prune_record(options: Options, arguments: argparse.Namespace) -> int:
    """Remove old texts from the journal, after a question; returns the exit code."""
    if not arguments.dry_run:
        require_writable(options, _NOT_DONE)
    path = context.resolve_folder(options)
    older_than_us = None
    if arguments.older_than is not None:
        older_than_us = max(0, time.time_ns() // 1_000 - arguments.older_than)
    with open_memory(path, options) as memory:
        pruned = memory.prune(older_than_us=older_than_us, max_bytes=arguments.max_bytes, rehearse=True)
        if pruned.texts and not arguments.dry_run:
            if not arguments.yes:
                output.print_message(
                    f"Would remove for good: {_format_text_count(pruned)}. Events and current texts stay."
                )
                if not confirm("Remove these texts?", _NOT_DONE):
                    output.print_message(f"{_NOT_DONE}.")
                    return ExitCode.FINDINGS
            pruned = memory.prune(older_than_us=older_than_us, max_bytes=arguments.max_bytes)
    if options.json:
        output.print_json(_serialize_pruned(pruned, dry_run=arguments.dry_run))
    elif not options.quiet:
        output.print_line(_format_pruned(pruned, dry_run=arguments.dry_run))
    return ExitCode.OK


def _format_pruned(pruned: PruneResult, *, dry_run: bool) -> str:
    remaining = f"{format_size(pruned.kept_bytes, PLAIN)} are kept"
    if not pruned.texts:
        return f"Nothing to remove; {remaining}."
    return f"{'Would remove' if dry_run else 'Removed'}: {_format_text_count(pruned)}; {remaining}."


def _format_text_count(pruned: PruneResult) -> str:
    return f"{pruned.texts:,} old {'text' if pruned.texts == 1 else 'texts'}, {format_size(pruned.bytes, PLAIN)}"


def _serialize_pruned(pruned: PruneResult, *, dry_run: bool) -> dict[str, object]:
    return {
        "done": bool(pruned.events),
        "dry_run": dry_run,
        "texts": pruned.texts,
        "bytes": pruned.bytes,
        "kept_bytes": pruned.kept_bytes,
        "events": [event.seq for event in pruned.events],
    }
