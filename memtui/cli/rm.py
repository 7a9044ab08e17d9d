"""`memtui rm`: delete memories; every text stays in the record."""

import argparse

from memtui.cli import places, restored
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.restored import Wording
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.restoring import Restored
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.engine import Engine

_WORDING = Wording("Not deleted", "Delete this?")


def _arguments(parser: Parser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", help="files, or directories with all that is in them")
    restored.add_common(parser)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    if not arguments.dry_run:
        insist_on_writing(options, _WORDING.not_done)
    path = places.folder(options)
    found = [places.place(given, path) for given in arguments.paths]
    if any(place.is_root for place in found):
        raise Failure(Exit.USAGE, "memtui rm: that is the whole folder. Name what is in it.")
    paths = list(dict.fromkeys(place.relative for place in found))
    with opened(path, options) as memory:
        return restored.settle(
            lambda rehearse: memory.files.delete(paths, rehearse=rehearse),
            options,
            _WORDING,
            lambda result: _done(paths, result),
            folder=path,
            dry_run=arguments.dry_run,
            ask=not arguments.yes and (len(paths) > 1 or _is_directory(memory, paths[0])),
        )


def _is_directory(memory: Engine, path: str) -> bool:
    entry = memory.entry(path)
    return entry is not None and entry.kind is Kind.DIRECTORY


def _done(paths: list[str], result: Restored) -> str:
    what = paths[0] if len(paths) == 1 else restored.files(result.changes)
    return f"{one_line(f'Deleted {what}')}. Nothing is lost: memtui undo brings it back."


VERB = Verb(
    "rm",
    "delete memories",
    (
        ("memtui rm scratch.md", "a file"),
        ("memtui rm -y old notes/done", "directories with all in them, unasked"),
    ),
    _arguments,
    _run,
    (
        "Every text stays in the record: memtui undo brings all of it back. Directories",
        "and several files are asked about: --yes where there is no terminal.",
        "Exit codes: 0 done, 1 not wanted, 3 not there, 4 read-only, 5 changed just now.",
    ),
)
