"""`memtui search`: names, texts and the past of a memory folder, for people and for pipes."""

import argparse
import os
import sys
import time

from memtui.cli import found_text, output, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import opened
from memtui.cli.verb import Options, Parser, Verb
from memtui.search.found import Found, Scope
from memtui.search.query import BadQuery, Query, parse

_FEW = 20
"""Names, notes and lines of the past that are shown where all three are looked through."""
_ALL = sys.maxsize


def _arguments(parser: Parser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+", help="words, filters (by:claude), re: an expression")
    parser.add_argument("--names", action="store_true", help="only names, letters in order as in fzf")
    parser.add_argument("--text", action="store_true", help="only lines of notes as they are now")
    parser.add_argument("--past", action="store_true", help="only lines of all versions, deleted notes too")
    parser.add_argument("-n", "--limit", metavar="N", type=_count, help="at most N of each sort; 0 for all")
    parser.add_argument("-a", "--all", action="store_true", help="hidden files as well")
    parser.add_argument("-0", "--null", action="store_true", help="paths only, exact, each ended by a NUL byte")


def _count(given: str) -> int:
    if not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise argparse.ArgumentTypeError(f"{given!r} is no number of hits")
    return int(given)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    scope = _scope(arguments)
    query = _query(arguments.query, scope)
    path = places.folder(options)
    is_for_person = output.is_terminal(sys.stdout) and not (options.json or arguments.null)
    with opened(path, options) as memory:
        from memtui.search.finder import Finder  # deferred: what is wrong with the query is said without it

        finder = Finder(memory, hidden=arguments.all)
        finder.refresh(scope=scope if not query.filters.concerns_text else Scope.ALL)
        limit = _limit(arguments.limit, scope)
        found = finder.find(query, scope, limit=limit, per_note=_ALL, whole_lines=not is_for_person)
    if arguments.null:
        output.exact(b"".join(os.fsencode(each) + b"\0" for each in found_text.paths(found)))
    elif options.json:
        output.document(found_text.record(found, path, query.written))
    elif is_for_person:
        found_text.show(found)
    else:
        found_text.print_lines(found)
    if not (options.quiet or options.json):
        _tell(found, is_for_person=is_for_person)
    if found.problem:
        output.message(found.problem)
    return Exit.OK if found.names.hits or found.text.notes or found.past.hits else Exit.FINDINGS


def _scope(arguments: argparse.Namespace) -> Scope:
    scopes = [scope for scope in (Scope.NAMES, Scope.TEXT, Scope.PAST) if getattr(arguments, scope.value)]
    if len(scopes) > 1:
        raise Failure(Exit.USAGE, f"memtui search: --{scopes[0]} and --{scopes[1]} exclude each other. Name one.")
    return scopes[0] if scopes else Scope.ALL


def _query(words: list[str], scope: Scope) -> Query:
    try:
        query = parse(" ".join(words), now_us=time.time_ns() // 1_000)
    except BadQuery as error:
        raise Failure(Exit.USAGE, f"memtui search: {error}") from None
    if query.is_empty:
        raise Failure(Exit.USAGE, "memtui search: the query is empty. See: memtui search --help")
    if scope in (Scope.TEXT, Scope.PAST) and not query.looks_for_something:
        raise Failure(
            Exit.USAGE,
            f"memtui search: --{scope} needs a word to look for. What passes filters is listed by --names.",
        )
    return query


def _limit(given: int | None, scope: Scope) -> int:
    if given is None:
        return _FEW if scope is Scope.ALL else _ALL
    return given or _ALL


def _tell(found: Found, *, is_for_person: bool) -> None:
    """What is not shown, beside the output."""
    names, notes = found.names.total - len(found.names.hits), found.text.total_notes - len(found.text.notes)
    past = found.past.total - len(found.past.hits)
    hidden = [(names, "name", "names"), (notes, "note", "notes"), (past, "line of the past", "lines of the past")]
    more = [f"{count:,} more {one if count == 1 else several}" for count, one, several in hidden if count > 0]
    if more:
        output.message(f"Not shown: {', '.join(more)}. All of them: --limit 0")
    if found.past.gone_texts and is_for_person:
        several = found.past.gone_texts != 1
        versions = f"{found.past.gone_texts:,} versions were" if several else "1 version was"
        output.message(f"{versions} not looked through: the text is not kept any more.")
    if found.is_empty and is_for_person:
        looked = f" in {found.text.looked:,} notes" if found.text.looked else ""
        output.message(f"Nothing found{looked}.")


VERB = Verb(
    "search",
    "find notes, now and then",
    (
        ("memtui search pg migration", "names, lines, and lines that are gone"),
        ("memtui search --text 're:v\\d+'", "path:line:text in a pipe"),
        ("memtui search --past token by:claude", "who brought it, who took it away"),
    ),
    _arguments,
    _run,
    (
        "All words have to be there; !word must not; 'exact ^start end$; capitals count",
        "if typed. Filters: by: since: until: in: tag: type: flag: (type:json, !tag:old).",
        "In a pipe of the past: path@event:line:text, a tab, when it came and went.",
        "Exit code: 0 found, 1 nothing, 2 a query that cannot be read.",
    ),
)
