"""`memtui ls`: the files of a memory folder. Only the store is asked, so looking changes nothing."""

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Sequence

from memtui.cli import context, event_text, output, times
from memtui.cli.context import load_config, load_memory_settings, open_memory
from memtui.cli.output import ExitCode, Failure, NotFound, format_os_error
from memtui.cli.parsing import Options, Parser, Verb, parse_event_count
from memtui.core import edits
from memtui.core.errors import Refusal, SymlinkEscape
from memtui.core.events import Agent, EntryKind, Event, sha256
from memtui.core.history import Stats, StatsEntry
from memtui.core.messages import MessageKey
from memtui.core.paths import ROOT, MemoryPath
from memtui.core.settings import Budget, Settings, compute_budgets
from memtui.core.times import PointInTime
from memtui.core.wording import COLUMN, PLAIN, format_age, format_size
from memtui.store.base import FileContent, FileTooLarge, Node, NotRegularFile
from memtui.store.folder import FolderStore


def add_ls_options(parser: Parser) -> None:
    parser.add_value("folder", "DIR", "the memory folder", nargs="?")
    parser.add_flag("-a --all", "hidden files as well")
    parser.add_flag("-0 --null", "paths only, exact, each ended by a NUL byte")


def run_ls(options: Options, arguments: argparse.Namespace) -> int:
    path = context.resolve_folder(options, arguments.folder)
    files, closed = _list_files(path, hidden=arguments.all)
    if arguments.null:
        output.write_bytes(b"".join(os.fsencode(node.path) + b"\0" for node in files))
    elif options.json:
        output.print_json({"folder": path, "files": [_serialize_node(node, path) for node in files]})
    else:
        _print_files(files)
        if not files and not options.quiet:
            output.print_message("Nothing is remembered here yet.")
    for directory in closed:
        output.print_message(f"Not listed: {MemoryPath.from_relative(directory)} cannot be read: permission denied.")
    return ExitCode.MISSING if closed else ExitCode.OK


def _list_files(path: str, *, hidden: bool) -> tuple[list[Node], list[str]]:
    """All but directories, and the directories that could not be looked into, each in order."""
    files: list[Node] = []
    closed: list[str] = []
    with contextlib.closing(context.open_folder_store(path)) as store:
        for node in store.scan(ROOT):
            if not hidden and any(part.startswith(".") for part in node.path.split("/")):
                continue
            if node.kind is not EntryKind.DIRECTORY:
                files.append(node)
            elif not os.access(os.path.join(path, node.path), os.R_OK | os.X_OK):
                closed.append(node.path)
    files.sort(key=lambda node: node.path.split("/"))
    return files, sorted(closed)


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


# `memtui stats`: how much is recorded, of which path, and by whom.

_SHARES = 10


def add_stats_options(parser: Parser) -> None:
    parser.add_value("folder", "DIR", "the memory folder", nargs="?")
    parser.add_value(
        "-n --top", "N", "how many paths and actors; 10 if not given", type=parse_event_count, default=_SHARES
    )


def run_stats(options: Options, arguments: argparse.Namespace) -> int:
    path = context.resolve_folder(options, arguments.folder)
    with open_memory(path, options) as memory:
        stats = memory.history.get_stats(limit=arguments.top)
        totals = memory.get_totals()
        budgets = compute_budgets(files=totals.files, bytes=totals.bytes, tokens=None, memory=memory.settings)
    if options.json:
        output.print_json(_serialize_stats(stats, budgets))
    else:
        _print_stats(stats, budgets)
    return ExitCode.OK


def _print_stats(stats: Stats, budgets: Sequence[Budget]) -> None:
    span = f"  {_format_time(stats.first)} to {_format_time(stats.last)}" if stats.first and stats.last else ""
    redacted = f"  {stats.redacted:,} of them redacted" if stats.redacted else ""
    output.print_line(f"events    {stats.events:>9,}{span}")
    output.print_line(f"versions  {stats.versions:>9,}{redacted}")
    output.print_line(
        f"texts     {format_size(stats.text_bytes, COLUMN):>9}  packed {format_size(stats.kept_bytes, COLUMN)}"
    )
    output.print_line(f"journal   {format_size(stats.journal_bytes, COLUMN):>9}  on the disk")
    for budget in budgets:
        output.print_line(f"budget    {budget.percent:>9}  {budget.summary.rpartition(', ')[0]}")
    _print_shares("path", stats.paths)
    _print_shares("actor", stats.actors)


def _format_time(event: Event) -> str:
    return f"{event.at.astimezone():%Y-%m-%d %H:%M}"


def _print_shares(title: str, shares: Sequence[StatsEntry]) -> None:
    if not shares:
        return
    output.print_line("")
    output.print_line(f"{'events':>8}  {'changes':>8}  {'versions':>8}  {'texts':>8}  {title}")
    for share in shares:
        size = format_size(share.bytes, COLUMN)
        output.print_line(
            f"{share.events:>8,}  {share.changes:>8,}  {share.versions:>8,}"
            f"  {size:>8}  {output.pad_cell(share.name, 0)}"
        )


def _serialize_stats(stats: Stats, budgets: Sequence[Budget]) -> dict[str, object]:
    return {
        "events": stats.events,
        "versions": stats.versions,
        "redacted": stats.redacted,
        "text_bytes": stats.text_bytes,
        "packed_bytes": stats.kept_bytes,
        "journal_bytes": stats.journal_bytes,
        "first": output.format_utc(stats.first.at_us) if stats.first else None,
        "last": output.format_utc(stats.last.at_us) if stats.last else None,
        "budgets": [
            {
                "name": each.name,
                "used": each.used,
                "of": each.limit,
                "share": round(each.share, 6),
                "setting": each.setting,
            }
            for each in budgets
        ],
        "paths": [
            {"path": str(MemoryPath.from_relative(share.name)), **_serialize_share(share)} for share in stats.paths
        ],
        "actors": [{"actor": share.name, **_serialize_share(share)} for share in stats.actors],
    }


def _serialize_share(share: StatsEntry) -> dict[str, object]:
    return {"events": share.events, "changes": share.changes, "versions": share.versions, "text_bytes": share.bytes}


STATS_VERB = Verb("stats", add_stats_options, run_stats)


# `memtui show`: one note, as it is or was, or as an agent is shown it.
#
# What stands there now is read from the folder alone: no journal is opened, and nothing changes. What stood there
# once is in the journal.


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
    if options.json:
        output.print_json(_serialize_content(content, spot.path, path))
    else:
        _print_bytes(content.data)
    return ExitCode.OK


def _show_version(place: MemoryPath, when: PointInTime, path: str, options: Options, *, as_model: bool) -> int:
    with open_memory(path, options) as memory:
        seq = times.find_seq(memory, when)
        if place.is_root:
            raise NotFound("That is the whole folder. What was in it then: memtui diff 0 MOMENT --stat")
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
    from memtui.engine import Engine  # noqa: PLC0415 - start-up: a listing needs no engine
    from memtui.journal.sqlite import Journal  # noqa: PLC0415 - start-up: a listing needs no journal

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


def _read_content(store: FolderStore, place: MemoryPath) -> FileContent:
    name = str(place)
    limit = Settings().max_read_bytes
    try:
        node = store.get_node(place, follow=True)
        if node is None:
            raise FileNotFoundError
        if node.kind is EntryKind.DIRECTORY:
            raise NotFound(f"{name} is a directory. To see what is in it: memtui ls")
        return store.read(place, limit=limit)
    except SymlinkEscape:
        raise Failure(
            ExitCode.REFUSED, f"Refused: {name} leads out of the memory folder by a link. Nothing was read."
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"Nothing at {name}. What is there is listed by: memtui ls") from None
    except NotRegularFile:
        raise NotFound(f"{name} is no regular file, so it was not opened.") from None
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
