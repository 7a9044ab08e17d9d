"""`memtui ls`: the files of a memory folder. Only the store is asked, so looking changes nothing."""

import argparse
import contextlib
import os
import time
from typing import TYPE_CHECKING

from memtui.cli import context, output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode
from memtui.cli.parsing import Parser, Verb
from memtui.core.events import EntryKind
from memtui.core.paths import NO_FOLDER, ROOT, MemoryPath
from memtui.core.wording import COLUMN, format_age, format_size
from memtui.store.base import Node

if TYPE_CHECKING:
    from memtui.store.folder import FolderStore
    from memtui.store.sqlite import SqliteStore


def add_ls_options(parser: Parser) -> None:
    parser.add_value("folder", "DIR", "the memory folder, or a path inside it", nargs="?")
    parser.add_flag("-a --all", "hidden files as well")
    parser.add_flag("-0 --null", "paths only, exact, each ended by a NUL byte")


def run_ls(options: Options, arguments: argparse.Namespace) -> int:
    path, place = context.resolve_word(options, arguments.folder)
    return print_listing(path, place, options, hidden=arguments.all, null=arguments.null)


def print_listing(path: str, place: MemoryPath, options: Options, *, hidden: bool, null: bool = False) -> int:
    """Print the files at a place and below it, and return the exit code. Raises `Failure` where nothing is."""
    files, closed = _list_files(path, place, hidden=hidden)
    if null:
        output.write_bytes(b"".join(os.fsencode(node.path) + b"\0" for node in files))
    elif options.json:
        output.print_json({"folder": path, "files": [_serialize_node(node, path) for node in files]})
    else:
        _print_files(files)
        if not files and not closed and not options.quiet:
            output.print_message("Nothing is remembered here yet.")
    for directory in closed:
        output.print_message(f"Not listed: {MemoryPath.from_relative(directory)} cannot be read: permission denied.")
    return ExitCode.MISSING if closed else ExitCode.OK


def _list_files(path: str, place: MemoryPath, *, hidden: bool) -> tuple[list[Node], list[str]]:
    """All but directories, and the directories that could not be looked into, each in order."""
    above = place.relative
    files: list[Node] = []
    closed: list[str] = []
    with contextlib.closing(context.open_folder_store(path)) as store:
        if not place.is_root and not _is_there(store, path, place):
            raise context.make_missing_failure(place, path)
        for node in store.scan(ROOT):
            if above and node.path != above and not node.path.startswith(f"{above}/"):
                continue
            if not hidden and node.path != above and (node.path.startswith(".") or "/." in node.path):
                continue
            if node.kind is not EntryKind.DIRECTORY:
                files.append(node)
            elif not store.is_accessible(MemoryPath.from_relative(node.path), os.R_OK | os.X_OK):
                closed.append(node.path)
    files.sort(key=lambda node: node.path.split("/"))
    return files, sorted(closed)


def _is_there(store: "FolderStore | SqliteStore", path: str, place: MemoryPath) -> bool:
    if path.startswith(NO_FOLDER):
        return store.get_node(place) is not None
    return os.path.lexists(os.path.join(path, *place.parts))  # also where a link leads out of the folder


def _print_files(files: list[Node]) -> None:
    now = time.time()
    rows = [
        (
            format_size(node.size, COLUMN) if node.kind is EntryKind.FILE else "-",
            format_age(now - node.mtime_ns / 1e9),
            node.kind.value,
            output.pad_cell(node.path, 0),
        )
        for node in files
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    for size, age, kind, name in rows:
        output.print_line(f"{size:>{widths[0]}}  {age:>{widths[1]}}  {kind:<{widths[2]}}  {name}")


def _serialize_node(node: Node, path: str) -> dict[str, object]:
    return {
        "path": str(MemoryPath.from_relative(node.path)),
        "real": os.path.join(path, node.path),
        "kind": node.kind.value,
        "size": node.size,
        "modified": output.format_utc(node.mtime_ns // 1_000),
    }


LS_VERB = Verb("ls", add_ls_options, run_ls)
