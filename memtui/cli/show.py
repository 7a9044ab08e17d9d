"""`memtui show`: one note, as it is or was, or as an agent is shown it.

What stands there now is read from the folder alone: no journal is opened, and nothing changes. What stood there once
is in the journal.
"""

import argparse
import contextlib
import os
import sys

from memtui.cli import context, event_text, output, times
from memtui.cli.context import load_config, load_memory_settings, open_memory
from memtui.cli.ls import print_listing
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, format_os_error
from memtui.cli.parsing import Parser, Verb
from memtui.core import edits
from memtui.core.errors import Refusal, SymlinkEscape
from memtui.core.events import Agent, EntryKind, Event, sha256
from memtui.core.messages import MessageKey
from memtui.core.paths import MemoryPath
from memtui.core.settings import Settings
from memtui.core.times import PointInTime
from memtui.core.wording import PLAIN, format_size
from memtui.store.base import FileContent, FileTooLarge, NotRegularFile, ReadableStore


def add_show_options(parser: Parser) -> None:
    parser.add_value("path", "PATH", "relative to the folder, or /memories/...; PATH@MOMENT")
    parser.add_value("--at", "MOMENT", "as it was: 41, 2026-11-20, 10:14, 2h ago", type=times.parse_moment)
    parser.add_flag("--as-model", "the exact answer that an agent's `view` gets")


def run_show(options: Options, arguments: argparse.Namespace) -> int:
    path = context.resolve_folder(options)
    spot = times.parse_versioned_path(arguments.path, path, arguments.at)
    if spot.moment is not None:
        return _show_version(spot.path, spot.moment, path, options, as_model=arguments.as_model)
    if arguments.as_model:
        return _show_as_model(spot.path, path, options)
    with contextlib.closing(context.open_folder_store(path)) as store:
        content = _read_content(store, spot.path)
    if content is None:
        return print_listing(path, spot.path, options, hidden=False)
    if options.json:
        output.print_json(_serialize_content(content, spot.path, path))
    else:
        _print_bytes(content.data)
    return ExitCode.OK


def _show_version(place: MemoryPath, when: PointInTime, path: str, options: Options, *, as_model: bool) -> int:
    with open_memory(path, options) as memory:
        seq = times.find_seq(memory, when)
        if place.is_root:
            raise NotFound("That is the whole folder. For what was in it then: memtui diff 0 MOMENT --stat")
        version = times.require_version(memory, place, seq, when)
        data = times.require_text(memory, place, version, when)
        event = memory.history.find_last_event(place.relative, seq)
    if as_model:
        return _show_text_as_model(data, place, path, options)
    if options.json:
        output.print_json(_serialize_version(data, place, path, seq, event))
    else:
        _print_bytes(data)
    return ExitCode.OK


def _print_bytes(data: bytes) -> None:
    if output.is_terminal(sys.stdout):
        output.print_text(data.decode("utf-8", "surrogateescape"))
    else:
        output.write_bytes(data)


def _show_as_model(place: MemoryPath, path: str, options: Options) -> int:
    """Ask as an agent would, with a journal that is forgotten at once: looking is recorded nowhere."""
    settings = load_memory_settings(options, path)
    from memtui.engine import Engine  # noqa: PLC0415 - start-up: a note as it stands needs no engine
    from memtui.journal.sqlite import Journal  # noqa: PLC0415 - start-up: a note as it stands needs no journal

    with Engine(context.open_folder_store(path), Journal(None), settings=settings, read_only=True) as engine:
        answer = engine.execute({"command": "view", "path": str(place)}, actor=Agent("memtui show"))
    return _print_answer(answer.text, place, options, is_error=answer.is_error)


def _show_text_as_model(data: bytes, place: MemoryPath, path: str, options: Options) -> int:
    """Print the answer that an agent would have got then."""
    settings = load_config(options, path).config.memory
    try:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise Refusal(MessageKey.NOT_UTF8, path=place) from None
        answer = edits.format_view(text, str(place), limit=settings.view_char_limit)
    except Refusal as refusal:
        return _print_answer(refusal.format_text(settings.messages), place, options, is_error=True)
    return _print_answer(answer, place, options, is_error=False)


def _print_answer(text: str, place: MemoryPath, options: Options, *, is_error: bool) -> int:
    if options.json:
        output.print_json({"path": str(place), "text": text, "is_error": is_error})
    else:
        output.print_text(text if text.endswith("\n") else text + "\n")
    return ExitCode.MISSING if is_error else ExitCode.OK


def _read_content(store: ReadableStore, place: MemoryPath) -> FileContent | None:
    """The content of a file; `None` for a directory. Raises `Failure` for what cannot be read."""
    name = str(place)
    limit = Settings().max_read_bytes
    try:
        node = store.get_node(place, follow=True)
        if node is None:
            raise FileNotFoundError
        if node.kind is EntryKind.DIRECTORY:
            return None
        return store.read(place, limit=limit)
    except SymlinkEscape:
        raise Failure(
            ExitCode.REFUSED, f"Refused: {name} leads out of the memory folder by a link. Nothing was read."
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"Nothing at {name}. To list the files: memtui ls") from None
    except NotRegularFile:
        raise NotFound(f"{name} is not a regular file, so it was not opened.") from None
    except FileTooLarge as error:
        sizes = f"{format_size(error.size, PLAIN)}; the limit is {format_size(limit, PLAIN)}"
        raise NotFound(f"{name} is too large to show: {sizes}.") from None
    except OSError as error:
        raise NotFound(f"{name} cannot be read: {format_os_error(error)}.") from error


def _serialize_content(content: FileContent, place: MemoryPath, path: str) -> dict[str, object]:
    return {
        "path": str(place),
        "real": os.path.join(path, content.node.path),
        "size": len(content.data),
        "modified": output.format_utc(content.node.mtime_ns // 1_000),
        "sha256": sha256(content.data),
        "text": _decode_text(content.data),
    }


def _serialize_version(data: bytes, place: MemoryPath, path: str, seq: int, event: Event | None) -> dict[str, object]:
    return {
        "path": str(place),
        "at": seq,
        "size": len(data),
        "modified": output.format_utc(event.at_us) if event else None,
        "sha256": sha256(data),
        "text": _decode_text(data),
        "event": event_text.serialize_event(event, path) if event else None,
    }


def _decode_text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


SHOW_VERB = Verb("show", add_show_options, run_show)
