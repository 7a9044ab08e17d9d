"""`memtui prune`: let notes go that nobody needs; with `--record`, remove old texts from the record."""

import argparse
import re
import shutil
import sys
import textwrap
import time
from typing import TYPE_CHECKING

from memtui.cli import output, places, restored
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.pruning_record import prune_record
from memtui.cli.verb import Options, Parser, Verb
from memtui.core import moments
from memtui.core.listing import human_size
from memtui.core.paths import MemoryPath
from memtui.core.restoring import Restored
from memtui.core.visible import one_line

if TYPE_CHECKING:
    from memtui.audit.pruning import Going, Plan
    from memtui.audit.reads import Deed

_NOT_DONE = "Nothing was removed"
_SIZE = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,6}))?([kmgt]?)(?:i?b)?", re.IGNORECASE | re.ASCII)
_TO_RECORD = "Old texts are removed from the record by: memtui prune --record"


def _arguments(parser: Parser) -> None:
    parser.add_argument("--older-than", metavar="AGE", type=_age, help="not read by an agent nor changed for: 90d, 1y")
    parser.add_argument("--unread", action="store_true", help="only what no agent has read at all")
    parser.add_argument("--apply", action="store_true", help="do it, as one step that undo takes back")
    parser.add_argument("--record", action="store_true", help="not notes: texts that stand nowhere, for good")
    parser.add_argument(
        "--max-bytes", metavar="SIZE", type=_size, help="of the record: the oldest, until the rest fits"
    )
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would go, as without --apply")
    parser.add_argument("-y", "--yes", action="store_true", help="with --record: do not ask")


def _age(given: str) -> int:
    try:
        return moments.age(given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from None


def _size(given: str) -> int:
    found = _SIZE.fullmatch(given.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{given!r} is no size. It may be 4096, 500K, 100M or 1.5G")
    whole, fraction, unit = found.groups()
    power = 1 << 10 * " kmgt".index(unit.lower() or " ")
    return int(whole) * power + int(int(fraction or 0) * power / 10 ** len(fraction or ""))


def _run(options: Options, arguments: argparse.Namespace) -> int:
    _insist_on_sense(arguments)
    if arguments.record:
        return prune_record(options, arguments, _NOT_DONE)
    if arguments.apply:
        insist_on_writing(options, "No note was deleted")
    from memtui.audit import pruning  # for start-up cost: who prunes the record does not need it

    path = places.folder(options)
    with opened(path, options) as memory:
        planned = pruning.plan(
            memory, older_than_us=arguments.older_than, unread=arguments.unread, now_us=time.time_ns() // 1_000
        )
        planned = pruning.with_links(memory, planned)
        done = pruning.run(memory, planned) if arguments.apply and planned.going else None
    if options.json:
        output.document(_record(planned, done))
    elif done is None:
        _print(planned, quiet=options.quiet, is_applied=arguments.apply)
    else:
        restored.tell(done, options, _done(done, planned), folder=path, dry_run=False)
    return restored.code_of(done) if done is not None else Exit.OK


def _insist_on_sense(arguments: argparse.Namespace) -> None:
    """Refuse words that make no sense together, and those that meant the record before notes could be pruned.

    Raises:
        Failure: They do.
    """
    problem = ""
    if arguments.record:
        if arguments.older_than is None and arguments.max_bytes is None:
            problem = "say what may go: --older-than AGE or --max-bytes SIZE. See: memtui prune --help"
        elif arguments.unread or arguments.apply:
            problem = "--unread and --apply are about notes, and --record is not. Nothing was removed."
    elif arguments.max_bytes is not None:
        problem = (
            f"--max-bytes is about the record, not about notes. Nothing was removed. {_TO_RECORD} --max-bytes SIZE"
        )
    elif arguments.yes:
        problem = (
            "this is about notes, and --apply is what does it. Nothing was removed. "
            f"{_TO_RECORD} --older-than AGE --yes"
        )
    elif arguments.older_than is None:
        problem = "say how old a note must be: --older-than 90d. Nothing goes without --apply. See: memtui prune --help"
    elif arguments.apply and arguments.dry_run:
        problem = "--apply does it, and --dry-run does not. Nothing was removed. Leave one of them out."
    if problem:
        raise Failure(Exit.USAGE, f"memtui prune: {problem}")


def _print(planned: "Plan", *, quiet: bool, is_applied: bool) -> None:
    """What would go, and why."""
    if not planned.going:
        if not quiet:
            _sentence(_nothing(planned))
    else:
        _sentence(f"What would go: {_counted(planned)}, {_meaning(planned)}.")
        width = min(40, max(output.cells(one_line(note.path)) for note in planned.going))
        for note in planned.going:
            why = "; ".join(filter(None, (note.why, note.links)))
            place = f"  {output.cell(note.path, width)}  {human_size(note.bytes):>6}"
            if not output.is_terminal(sys.stdout) or output.cells(f"{place}  {why}") <= _columns():
                output.line(f"{place}  {why}")
            else:
                output.line(place)
                _sentence(why, indent=6)
    for staying in planned.staying if not quiet else ():
        output.line(f"  stays: {one_line(staying.path)} ({staying.why})")
    if planned.caution:
        _aside(planned.caution)
    if planned.going and not is_applied and not quiet:
        _aside("Nothing was removed. To do it, add --apply; memtui undo takes it back.")


def _sentence(words: str, indent: int = 0) -> None:
    """A sentence; on a terminal, set in the width there is."""
    if not output.is_terminal(sys.stdout):
        output.line(words)
        return
    for line in textwrap.wrap(words, max(20, _columns() - indent), break_on_hyphens=False):
        output.line(" " * indent + line)


def _aside(words: str) -> None:
    """A sentence beside the output, set in the same way."""
    is_set = output.is_terminal(sys.stderr)
    for line in textwrap.wrap(words, max(20, _columns()), break_on_hyphens=False) if is_set else [words]:
        output.message(line)


def _columns() -> int:
    return shutil.get_terminal_size().columns


def _nothing(planned: "Plan") -> str:
    from memtui.audit.staleness import counted  # for start-up cost, as above

    which = "none that no agent has read was left unchanged" if planned.unread else "none was left unread and unchanged"
    but = ", save what stays" if planned.staying else ""
    return f"Nothing is to go: of {_notes(planned.notes)} {which} for {counted(planned.older_than_us)}{but}."


def _meaning(planned: "Plan") -> str:
    from memtui.audit.staleness import counted  # for start-up cost, as above

    age = counted(planned.older_than_us)
    if not planned.older_than_us:
        return "each never read by an agent" if planned.unread else "whatever their age"
    if planned.unread:
        return f"each never read by an agent and unchanged for {age}"
    return f"each neither read by an agent nor changed for {age}"


def _counted(planned: "Plan") -> str:
    return f"{len(planned.going):,} of {_notes(planned.notes)}, {human_size(planned.bytes)}"


def _notes(count: int) -> str:
    return f"{count:,} {'note' if count == 1 else 'notes'}"


def _done(done: Restored, planned: "Plan") -> str:
    if done.event is None:
        return ""
    gone = {change.path for change in done.changes}
    leading = {path for note in planned.going if note.path in gone for path in note.linked_from}
    words = f"Deleted {restored.files(restored.told(done.changes))}. Nothing is lost: memtui undo brings it back."
    if not leading:
        return words
    first = one_line(min(leading))
    who = first if len(leading) == 1 else f"{first} and {_others(len(leading) - 1)}"
    return f"{words} {who} still {'links' if len(leading) == 1 else 'link'} there."


def _others(count: int) -> str:
    return "1 other note" if count == 1 else f"{count:,} other notes"


def _record(planned: "Plan", done: Restored | None) -> dict[str, object]:
    """The plan and what came of it, for programs."""
    return {
        "schema": output.SCHEMA,
        "done": done is not None and done.event is not None,
        "dry_run": done is None,
        "older_than_seconds": planned.older_than_us // 1_000_000,
        "unread": planned.unread,
        "notes": [_note_record(note) for note in planned.going],
        "bytes": planned.bytes,
        "stay": [{"path": str(MemoryPath.of(note.path)), "why": note.why} for note in planned.staying],
        "caution": planned.caution or None,
        "problem": (done.problem or None) if done is not None else None,
        "left": [left.sentence for left in done.left] if done is not None else [],
        "event": done.event.seq if done is not None and done.event is not None else None,
    }


def _note_record(note: "Going") -> dict[str, object]:
    return {
        "path": str(MemoryPath.of(note.path)),
        "bytes": note.bytes,
        "why": note.why,
        "days": note.age.days,
        "known": note.age.known,
        "linked_from": [str(MemoryPath.of(path)) for path in note.linked_from],
        "read": _deed(note.read),
        "change": _deed(note.change),
    }


def _deed(deed: "Deed | None") -> dict[str, object] | None:
    return None if deed is None else {"event": deed.seq, "at": output.utc(deed.at_us), "by": deed.who}


VERB = Verb(
    "prune",
    "let old notes go, or old texts",
    (
        ("memtui prune --older-than 90d", "which notes nobody needs, and why"),
        ("memtui prune --older-than 90d --apply", "delete them; undo brings them back"),
        ("memtui prune --record --older-than 1y", "old texts, from the record, for good"),
    ),
    _arguments,
    _run,
    (
        "Pinned and protected notes stay. With --record: never events, nor what stands.",
        "Exit codes: 0 done or nothing to do, 1 not wanted, 4 read-only, 5 changed.",
    ),
)
