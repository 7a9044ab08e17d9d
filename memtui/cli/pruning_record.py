"""`memtui prune --record`: remove old texts from the record. Events stay, and so does whatever stands in the folder."""

import argparse
import time

from memtui.cli import output, places
from memtui.cli.exits import Exit
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.restored import asked
from memtui.cli.verb import Options
from memtui.core.listing import human_size
from memtui.core.redaction import Pruned


def prune_record(options: Options, arguments: argparse.Namespace, not_done: str) -> int:
    """Remove them, after a question.

    Args:
        options: Those of all verbs.
        arguments: With `older_than` in microseconds, `max_bytes`, `dry_run` and `yes`.
        not_done: Such as `Nothing was removed`.

    Returns:
        The exit code.
    """
    if not arguments.dry_run:
        insist_on_writing(options, not_done)
    path = places.folder(options)
    older_than_us = None
    if arguments.older_than is not None:
        older_than_us = max(0, time.time_ns() // 1_000 - arguments.older_than)
    with opened(path, options) as memory:
        pruned = memory.prune(older_than_us=older_than_us, max_bytes=arguments.max_bytes, rehearse=True)
        if pruned.texts and not arguments.dry_run:
            if not arguments.yes:
                output.message(f"What goes for good: {_counted(pruned)}. Events stay, and what stands in the folder.")
                if not asked("Remove these texts?", not_done):
                    output.message(f"{not_done}.")
                    return Exit.FINDINGS
            pruned = memory.prune(older_than_us=older_than_us, max_bytes=arguments.max_bytes)
    if options.json:
        output.document(_record(pruned, dry_run=arguments.dry_run))
    elif not options.quiet:
        output.line(_sentence(pruned, dry_run=arguments.dry_run))
    return Exit.OK


def _sentence(pruned: Pruned, *, dry_run: bool) -> str:
    kept = f"{human_size(pruned.kept_bytes)} are kept"
    if not pruned.texts:
        return f"Nothing is to be removed; {kept}."
    return f"{'What would go' if dry_run else 'Removed'}: {_counted(pruned)}; {kept}."


def _counted(pruned: Pruned) -> str:
    return f"{pruned.texts:,} old {'text' if pruned.texts == 1 else 'texts'}, {human_size(pruned.bytes)}"


def _record(pruned: Pruned, *, dry_run: bool) -> dict[str, object]:
    return {
        "schema": output.SCHEMA,
        "done": bool(pruned.events),
        "dry_run": dry_run,
        "texts": pruned.texts,
        "bytes": pruned.bytes,
        "kept_bytes": pruned.kept_bytes,
        "events": [event.seq for event in pruned.events],
    }
