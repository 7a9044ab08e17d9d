"""`memtui show`: one note, as it is or as an agent is shown it. No journal is opened, and nothing changes."""

import argparse
import contextlib
import os
import sys

from memtui.cli import output, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.errors import LeavesRoot
from memtui.core.events import Agent, sha256
from memtui.core.listing import human_size
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.core.snapshot import Kind
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.store.base import Content, NotRegular, TooLarge
from memtui.store.folder import FolderStore


def _arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="relative to the folder, or /memories/...")
    parser.add_argument("--as-model", action="store_true", help="the exact answer that an agent's `view` gets")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    path = places.folder(options)
    place = places.place(arguments.path, path)
    if arguments.as_model:
        return _show_as_model(place, path, options)
    with contextlib.closing(places.store(path)) as store:
        content = _read(store, place)
    if options.json:
        output.document(_record(content, place, path))
    elif output.is_terminal(sys.stdout):
        output.text(content.data.decode("utf-8", "surrogateescape"))
    else:
        output.exact(content.data)
    return Exit.OK


def _show_as_model(place: MemoryPath, path: str, options: Options) -> int:
    """Ask as an agent would, with a journal that is forgotten at once: looking is recorded nowhere."""
    with Engine(places.store(path), Journal(None), read_only=True) as engine:
        answer = engine.execute({"command": "view", "path": str(place)}, actor=Agent("memtui show"))
    if options.json:
        record = {
            "schema": output.SCHEMA,
            "path": str(place),
            "text": answer.text,
            "is_error": answer.is_error,
        }
        output.document(record)
    else:
        output.text(answer.text if answer.text.endswith("\n") else answer.text + "\n")
    return Exit.MISSING if answer.is_error else Exit.OK


def _read(store: FolderStore, place: MemoryPath) -> Content:
    name = str(place)
    limit = Settings().max_read_bytes
    try:
        node = store.node(place, follow=True)
        if node is None:
            raise FileNotFoundError
        if node.kind is Kind.DIRECTORY:
            raise Failure(Exit.MISSING, f"{name} is a directory. To see what is in it: memtui ls")
        return store.read(place, limit=limit)
    except LeavesRoot:
        raise Failure(
            Exit.REFUSED, f"Refused: {name} leads out of the memory folder by a link. Nothing was read."
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise Failure(Exit.MISSING, f"Nothing at {name}. What is there is listed by: memtui ls") from None
    except NotRegular:
        raise Failure(Exit.MISSING, f"{name} is no regular file, so it was not opened.") from None
    except TooLarge as error:
        sizes = f"{human_size(error.size)}; the limit is {human_size(limit)}"
        raise Failure(Exit.MISSING, f"{name} is too large to show: {sizes}.") from None
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise Failure(Exit.MISSING, f"{name} cannot be read: {reason}.") from error


def _record(content: Content, place: MemoryPath, path: str) -> dict[str, object]:
    try:
        text = content.data.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    return {
        "schema": output.SCHEMA,
        "path": str(place),
        "real": os.path.join(path, content.node.path),
        "size": len(content.data),
        "modified": output.utc(content.node.mtime_ns // 1_000),
        "sha256": sha256(content.data),
        "text": text,
    }


VERB = Verb(
    "show",
    "print a note, or what an agent is shown of it",
    (
        ("memtui show notes/today.md", "the note; its exact bytes in a pipe"),
        ("memtui show notes/today.md --as-model", "numbered, and cut as it is for an agent"),
    ),
    _arguments,
    _run,
    (
        "On a terminal hidden characters are made visible. With --json one document:",
        "path, real, size, modified, sha256, text (null where it is not UTF-8).",
    ),
)
