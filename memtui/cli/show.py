"""`memtui show`: one note, as it is or was, or as an agent is shown it.

What stands there now is read from the folder alone: no journal is opened, and nothing changes. What stood there
once is in the journal.
"""

import argparse
import contextlib
import os
import sys

from memtui.cli import event_text, moments, output, places
from memtui.cli.configured import configured, memory_settings
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import opened
from memtui.cli.verb import Options, Parser, Verb
from memtui.core import edits
from memtui.core.errors import LeavesRoot, Refusal
from memtui.core.events import Agent, Event, sha256
from memtui.core.listing import human_size
from memtui.core.messages import Message
from memtui.core.moments import Moment
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.core.snapshot import Kind
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.store.base import Content, NotRegular, TooLarge
from memtui.store.folder import FolderStore


def _arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="relative to the folder, or /memories/...; PATH@MOMENT")
    parser.add_argument("--at", metavar="MOMENT", type=moments.moment, help="as it was: 41, 2026-11-20, 10:14, 2h ago")
    parser.add_argument("--as-model", action="store_true", help="the exact answer that an agent's `view` gets")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    path = places.folder(options)
    spot = moments.spot(arguments.path, path, arguments.at)
    if spot.moment is not None:
        return _show_then(spot.place, spot.moment, path, options, as_model=arguments.as_model)
    if arguments.as_model:
        return _show_as_model(spot.place, path, options)
    with contextlib.closing(places.store(path)) as store:
        content = _read(store, spot.place)
    if options.json:
        output.document(_record(content, spot.place, path))
    else:
        _print(content.data)
    return Exit.OK


def _show_then(place: MemoryPath, when: Moment, path: str, options: Options, *, as_model: bool) -> int:
    with opened(path, options) as memory:
        seq = moments.seq_of(memory, when)
        if place.is_root:
            raise Failure(Exit.MISSING, "That is the whole folder. What was in it then: memtui diff 0 MOMENT --stat")
        version = moments.insist_on_version(memory, place, seq, when)
        data = moments.insist_on_text(memory, place, version, when)
        event = memory.history.last_touching(place.relative, seq)
    if as_model:
        return _show_text_as_model(data, place, path, options)
    if options.json:
        output.document(_record_then(data, place, path, seq, event))
    else:
        _print(data)
    return Exit.OK


def _print(data: bytes) -> None:
    if output.is_terminal(sys.stdout):
        output.text(data.decode("utf-8", "surrogateescape"))
    else:
        output.exact(data)


def _show_as_model(place: MemoryPath, path: str, options: Options) -> int:
    """Ask as an agent would, with a journal that is forgotten at once: looking is recorded nowhere."""
    settings = memory_settings(options, path)
    with Engine(places.store(path), Journal(None), settings=settings, read_only=True) as engine:
        answer = engine.execute({"command": "view", "path": str(place)}, actor=Agent("memtui show"))
    return _print_answer(answer.text, place, options, is_error=answer.is_error)


def _show_text_as_model(data: bytes, place: MemoryPath, path: str, options: Options) -> int:
    """What an agent would have been answered, had it looked then."""
    settings = configured(options, path).config.memory
    try:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise Refusal(Message.NOT_UTF8, path=place) from None
        answer = edits.view(text, str(place), limit=settings.view_char_limit)
    except Refusal as refusal:
        return _print_answer(refusal.text(settings.messages), place, options, is_error=True)
    return _print_answer(answer, place, options, is_error=False)


def _print_answer(text: str, place: MemoryPath, options: Options, *, is_error: bool) -> int:
    if options.json:
        output.document({"schema": output.SCHEMA, "path": str(place), "text": text, "is_error": is_error})
    else:
        output.text(text if text.endswith("\n") else text + "\n")
    return Exit.MISSING if is_error else Exit.OK


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
    return {
        "schema": output.SCHEMA,
        "path": str(place),
        "real": os.path.join(path, content.node.path),
        "size": len(content.data),
        "modified": output.utc(content.node.mtime_ns // 1_000),
        "sha256": sha256(content.data),
        "text": _text(content.data),
    }


def _record_then(data: bytes, place: MemoryPath, path: str, seq: int, event: Event | None) -> dict[str, object]:
    return {
        "schema": output.SCHEMA,
        "path": str(place),
        "at": seq,
        "size": len(data),
        "modified": output.utc(event.at_us) if event else None,
        "sha256": sha256(data),
        "text": _text(data),
        "event": event_text.record(event, path) if event else None,
    }


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


VERB = Verb(
    "show",
    "print a note, now or then",
    (
        ("memtui show notes/today.md", "the note; its exact bytes in a pipe"),
        ("memtui show notes/today.md@41", "as it was right after event 41"),
        ("memtui show notes/today.md --at yesterday", "as of the end of that day"),
        ("memtui show notes/today.md --as-model", "numbered and cut, as for an agent"),
    ),
    _arguments,
    _run,
    (
        "On a terminal hidden characters are made visible. With --json one document:",
        "path, real, size, modified, sha256, text (null where it is not UTF-8); of the",
        "past without real, and with at and event. Exit code 3: it was not there then,",
        "or its text is not kept. With --at all of PATH is the path, @ or not.",
    ),
)
