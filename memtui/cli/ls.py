"""`memtui ls`: the files of a memory folder. Only the store is asked, so looking changes nothing."""

import argparse
import contextlib
import os
import time

from memtui.cli import output, places
from memtui.cli.exits import Exit
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.listing import human_size
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.snapshot import Kind
from memtui.store.base import Node


def _arguments(parser: Parser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the memory folder")
    parser.add_argument("-a", "--all", action="store_true", help="hidden files as well")
    parser.add_argument("-0", "--null", action="store_true", help="paths only, exact, each ended by a NUL byte")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    path = places.folder(options, arguments.folder)
    files, closed = _files(path, hidden=arguments.all)
    if arguments.null:
        output.exact(b"".join(os.fsencode(node.path) + b"\0" for node in files))
    elif options.json:
        output.document({"schema": output.SCHEMA, "folder": path, "files": [_record(node, path) for node in files]})
    else:
        _print_table(files)
        if not files and not options.quiet:
            output.message("Nothing is remembered here yet.")
    for directory in closed:
        output.message(f"Not listed: {MemoryPath.of(directory)} cannot be read: permission denied.")
    return Exit.MISSING if closed else Exit.OK


def _files(path: str, *, hidden: bool) -> tuple[list[Node], list[str]]:
    """All but directories, and the directories that could not be looked into, each in order."""
    files: list[Node] = []
    closed: list[str] = []
    with contextlib.closing(places.store(path)) as store:
        for node in store.scan(ROOT):
            if not hidden and any(part.startswith(".") for part in node.path.split("/")):
                continue
            if node.kind is not Kind.DIRECTORY:
                files.append(node)
            elif not os.access(os.path.join(path, node.path), os.R_OK | os.X_OK):
                closed.append(node.path)
    files.sort(key=lambda node: node.path.split("/"))
    return files, sorted(closed)


def _print_table(files: list[Node]) -> None:
    now = time.time()
    rows = [
        (
            human_size(node.size) if node.kind is Kind.FILE else "-",
            output.age(now - node.mtime_ns / 1e9),
            node.kind.value,
            output.cell(node.path, 0),
        )
        for node in files
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    for size, age, kind, name in rows:
        output.line(f"{size:>{widths[0]}}  {age:>{widths[1]}}  {kind:<{widths[2]}}  {name}")


def _record(node: Node, path: str) -> dict[str, object]:
    return {
        "path": str(MemoryPath.of(node.path)),
        "real": os.path.join(path, node.path),
        "kind": node.kind.value,
        "size": node.size,
        "modified": output.utc(node.mtime_ns // 1_000),
    }


VERB = Verb(
    "ls",
    "list the files",
    (
        ("memtui ls ~/app/memories", "size, age, kind and path of each file"),
        ("memtui ls -0 | xargs -0 -n1 memtui show", "print them all"),
    ),
    _arguments,
    _run,
    ("With --json one document: folder, files: path, real, kind, size, modified.",),
)
