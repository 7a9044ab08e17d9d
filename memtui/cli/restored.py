"""What came of putting something back, told: what restore, undo and redo have in common."""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memtui.cli import event_text, output
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser
from memtui.core.events import Change
from memtui.core.paths import MemoryPath
from memtui.core.restoring import Left, Restored, Why
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line

_NAMED = 20
"""How many paths are named before a question."""
_HOPELESS = frozenset({Why.TEXT_GONE, Why.NO_FILE, Why.MISSING})
"""Reasons that no other moment would change: it is not there to be had."""
_MISTAKES = frozenset({Why.BAD_NAME, Why.INTO_ITSELF, Why.TWICE})
"""Reasons that lie in what was asked for."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How a verb speaks.

    Attributes:
        not_done: Such as `Not restored`.
        question: Such as `Restore this?`
    """

    not_done: str
    question: str


def add_common(parser: Parser) -> None:
    """Declare what all verbs take that put something back."""
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would change")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def settle(
    act: Callable[[bool], Restored],
    options: Options,
    wording: Wording,
    done: Callable[[Restored], str],
    *,
    folder: str,
    dry_run: bool,
    ask: bool,
) -> int:
    """Do it, or only say what would be done, and tell what came of it.

    Args:
        act: Does it; only rehearses where it is told so.
        options: Say for whom the answer is.
        wording: How the verb speaks.
        done: The sentence that says that it was done.
        folder: The memory folder, for programs.
        dry_run: Whether it is only rehearsed.
        ask: Whether the person is shown what will change, and asked.

    Returns:
        The exit code.
    """
    if dry_run or ask:
        rehearsed = act(True)
        if dry_run or not rehearsed.changes:
            return tell(rehearsed, options, "", folder=folder, dry_run=dry_run)
        _show(rehearsed, output.message)
        if not asked(wording.question, wording.not_done):
            output.message(f"{wording.not_done}. Nothing was written.")
            return Exit.FINDINGS
    restored = act(False)
    return tell(restored, options, done(restored) if restored.event else "", folder=folder, dry_run=False)


def asked(question: str, not_done: str) -> bool:
    """Ask a person; anything but a clear yes is a no.

    Args:
        question: Without what may be answered.
        not_done: Such as `Not restored`.

    Raises:
        Failure: There is nobody who could be asked.
    """
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
        raise Failure(
            Exit.USAGE,
            f"{not_done}: nobody can be asked here. Nothing was written. Look with --dry-run, then say --yes.",
        )
    output.trace([f"{one_line(question)}  y yes  n no: "])
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def tell(restored: Restored, options: Options, done: str, *, folder: str, dry_run: bool) -> int:
    """Tell what came of it, or would.

    Args:
        restored: What did.
        options: Say for whom the answer is.
        done: The sentence that says that it was done; empty if it was not.
        folder: The memory folder, for programs.
        dry_run: Whether it was only rehearsed.

    Returns:
        The exit code.
    """
    if options.json:
        output.document(record(restored, folder, dry_run=dry_run))
    elif dry_run and restored.changes:
        _show(restored, output.line)
    elif done and not options.quiet:
        output.line(done)
    if restored.problem and not options.json:
        output.message(restored.problem + _hint(restored.left))
    if not options.json:
        for left in restored.left if restored.changes or len(restored.left) > 1 else ():
            output.message(f"Left as it is: {left.sentence}.")
    return code_of(restored)


def code_of(restored: Restored) -> Exit:
    """The exit code that says what came of it."""
    if restored.event is not None:
        return Exit.FINDINGS if restored.problem else Exit.OK
    if not restored.problem:
        return Exit.OK if restored.changes else Exit.MISSING
    if any(left.why in _MISTAKES for left in restored.left):
        return Exit.USAGE
    return Exit.CONFLICT if any(left.why not in _HOPELESS for left in restored.left) else Exit.MISSING


def _hint(left: Sequence[Left]) -> str:
    changed = next((each for each in left if each.why is Why.CHANGED), None)
    return f" See: memtui diff {shlex.quote(changed.path)}" if changed is not None and changed.path else ""


def _show(restored: Restored, printed: Callable[[str], None]) -> None:
    """What would change: how many, and which."""
    files = told(restored.changes)
    printed(f"What changes: {counted(restored.changes)}.")
    shown = files if printed is output.line else files[:_NAMED]
    for change in shown:
        printed(f"  {sign(change)} {one_line(change.path)}")
    if len(files) > len(shown):
        printed(f"  and {len(files) - len(shown):,} more; --dry-run names them all")


def told(changes: Sequence[Change]) -> list[Change]:
    """The changes that a person is told: files and links; directories only where nothing else changes."""
    files = [change for change in changes if _kind(change) is not Kind.DIRECTORY]
    return sorted(files or changes, key=lambda change: change.path.split("/"))


def counted(changes: Sequence[Change]) -> str:
    """How many, such as `1 file goes`, or `3 files: 1 comes back, 2 change`."""
    shown = told(changes)
    signs = [sign(change) for change in shown]
    parts = [
        (count, one if count == 1 else many)
        for mark, one, many in (("+", "comes back", "come back"), ("~", "changes", "change"), ("-", "goes", "go"))
        if (count := signs.count(mark))
    ]
    if len(parts) == 1:
        return f"{files(shown)} {parts[0][1]}"
    return f"{files(shown)}: {', '.join(f'{count:,} {verb}' for count, verb in parts)}"


def files(changes: Sequence[Change]) -> str:
    """How many files, or directories where there are only such."""
    noun = ("file", "files") if any(_kind(change) is not Kind.DIRECTORY for change in changes) else _DIRECTORIES
    return f"{len(changes):,} {noun[len(changes) != 1]}"


_DIRECTORIES = ("directory", "directories")


def sign(change: Change) -> str:
    """`+` for what comes, `-` for what goes, `~` for what becomes something else."""
    return "+" if change.before is None else "-" if change.after is None else "~"


def _kind(change: Change) -> Kind | None:
    version = change.after or change.before
    return version.kind if version else None


def record(restored: Restored, folder: str, *, dry_run: bool) -> dict[str, object]:
    """What came of it, for programs."""
    return {
        "schema": output.SCHEMA,
        "done": restored.event is not None,
        "dry_run": dry_run,
        "problem": restored.problem or None,
        "changes": [event_text.change_record(change) for change in restored.changes],
        "left": [
            {
                "path": str(MemoryPath.of(left.path)),
                "reason": left.why.name.lower(),
                "since": left.since.seq if left.since and left.since.seq else None,
                "detail": left.detail or None,
            }
            for left in restored.left
        ],
        "event": event_text.record(restored.event, folder) if restored.event is not None else None,
    }
