"""`memtui search`: names, texts and the past of a memory folder, for people and for pipes."""

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtui.cli import context, output
from memtui.cli.context import open_memory
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError
from memtui.cli.parsing import Parser, Verb, make_count_parser
from memtui.cli.search_output import (
    ALL,
    count_omitted,
    get_limit,
    list_paths,
    print_grouped,
    print_lines,
    print_more,
    serialize_results,
)
from memtui.core.paths import NO_FOLDER, format_path
from memtui.fs.state import get_state_directory
from memtui.search.query import InvalidQuery, Query, parse_query
from memtui.search.results import Scope, SearchResults
from memtui.search.text_scan import can_scan, scan_texts
from memtui.store.open_folder import ReadOnlyFolder

if TYPE_CHECKING:  # for start-up cost
    from memtui.engine import Observer


def add_search_options(parser: Parser) -> None:
    parser.add_value("query", "QUERY", "words, filters (by:claude), re:REGEX", nargs="+")
    parser.add_flag("--names", "only names, fuzzy as in fzf")
    parser.add_flag("--text", "only lines of notes as they are now")
    parser.add_flag("--past", "only lines of all versions, deleted notes too")
    parser.add_value("-n --limit", "N", "at most N of each kind; 0: all", type=make_count_parser("number of hits"))
    parser.add_flag("-a --all", "hidden files as well")
    parser.add_flag("-0 --null", "paths only, exact, each ended by a NUL byte")
    parser.add_flag("--everywhere", "in all folders and stores that memtui places lists")


def run_search(options: Options, arguments: argparse.Namespace) -> int:
    scope = _parse_scope(arguments)
    query = _parse_query(arguments.query, scope)
    if arguments.everywhere:
        from memtui.cli.search_many import search_everywhere  # noqa: PLC0415 - start-up: only for many folders

        return search_everywhere(options, arguments, query, scope)
    path = context.resolve_folder(options)
    is_for_person = output.is_terminal(sys.stdout) and not (options.json or arguments.null)
    limit = get_limit(arguments.limit, scope)
    if scope is Scope.TEXT and can_scan(query) and not path.startswith(NO_FOLDER):
        found = _scan(path, options, query, hidden=arguments.all, limit=limit, whole_lines=not is_for_person)
    else:
        with _open_for(query, scope, path, options) as memory:
            from memtui.search.finder import Finder  # noqa: PLC0415 - start-up: errors in a query come first

            finder = Finder(memory, hidden=arguments.all)
            finder.refresh(scope=scope if not query.filters.concerns_text else Scope.ALL)
            found = finder.find(query, scope, limit=limit, per_note=ALL, whole_lines=not is_for_person)
    if arguments.null:
        output.write_bytes(b"".join(os.fsencode(each) + b"\0" for each in list_paths(found)))
    elif options.json:
        output.print_json(serialize_results(found, path, query.written))
    elif is_for_person:
        print_grouped(found)
    else:
        print_lines(found)
    if not (options.quiet or options.json):
        _print_omitted(found, is_for_person=is_for_person)
    if found.problem:
        output.print_message(found.problem)
    return ExitCode.OK if found.names.hits or found.text.notes or found.past.hits else ExitCode.FINDINGS


def _scan(path: str, options: Options, query: Query, *, hidden: bool, limit: int, whole_lines: bool) -> SearchResults:
    """Search the notes as they are now, without the record and the engine."""
    settings = context.load_memory_settings(options, path)
    with contextlib.closing(
        ReadOnlyFolder(path, title=format_path(path), state=str(get_state_directory(path, options.state)))
    ) as store:
        return scan_texts(
            store, query, hidden=hidden, most=settings.read_limit, limit=limit, per_note=ALL, whole_lines=whole_lines
        )


@contextlib.contextmanager
def _open_for(query: Query, scope: Scope, path: str, options: Options) -> Iterator["Observer"]:
    """The memory; for lines of notes as they are now, whoever wrote them, without its record."""
    filters = query.filters
    if scope is not Scope.TEXT or filters.concerns_actors or filters.concerns_time or path.startswith(NO_FOLDER):
        with open_memory(path, options) as memory:
            yield memory
        return
    from memtui.memory import make_record, observe_unrecorded  # noqa: PLC0415 - start-up: loads the engine

    settings = context.load_memory_settings(options, path)
    state = get_state_directory(path, options.state)
    with observe_unrecorded(path, make_record(), state=state, settings=settings) as observer:
        yield observer


def _parse_scope(arguments: argparse.Namespace) -> Scope:
    scopes = [scope for scope in (Scope.NAMES, Scope.TEXT, Scope.PAST) if getattr(arguments, scope.value)]
    if len(scopes) > 1:
        raise UsageError(f"memtui search: --{scopes[0]} and --{scopes[1]} do not go together. Leave one out.")
    return scopes[0] if scopes else Scope.ALL


def _parse_query(words: list[str], scope: Scope) -> Query:
    try:
        query = parse_query(" ".join(words), now_us=time.time_ns() // 1_000)
    except InvalidQuery as error:
        raise UsageError(f"memtui search: {error}") from None
    if query.is_empty:
        raise UsageError("memtui search: the query is empty. See: memtui search --help")
    if scope in (Scope.TEXT, Scope.PAST) and not query.has_positive_terms:
        raise UsageError(f"memtui search: --{scope} needs a word to search for. For filters alone use --names.")
    return query


def _print_omitted(found: SearchResults, *, is_for_person: bool) -> None:
    """Print beside the output how much is not shown."""
    print_more(count_omitted(found))
    if found.past.missing_texts and is_for_person:
        several = found.past.missing_texts != 1
        versions = f"{found.past.missing_texts:,} versions were" if several else "1 version was"
        output.print_message(f"{versions} not searched: the text is not kept any more.")
    if found.is_empty and is_for_person:
        looked = f" in {found.text.looked:,} notes" if found.text.looked else ""
        output.print_message(f"Nothing found{looked}.")


SEARCH_VERB = Verb("search", add_search_options, run_search)
