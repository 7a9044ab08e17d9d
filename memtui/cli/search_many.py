"""`memtui search --everywhere`: one query in all memory folders of this machine, and in the stores that were opened
before, as one report by folder."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.cli import context, output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, NotFound, UsageError, colorize, show_progress_line
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
from memtui.core.wording import format_count
from memtui.places.folders import MemoryLocation, find_memory_folders, format_owner, format_project
from memtui.recent_stores import find_recent_stores
from memtui.search.query import Query
from memtui.search.results import Scope, SearchResults

if TYPE_CHECKING:
    from memtui.search.everywhere import FolderResults

_HEADING = "1;36"


def search_everywhere(options: Options, arguments: argparse.Namespace, query: Query, scope: Scope) -> int:
    """Search every folder, print what was found as each is done, and return the exit code."""
    require_no_folder(options, "search")
    loaded = context.load_config(options)
    context.report_setting_problems(loaded, options)
    found = [*find_memory_folders(limit=None), *find_recent_stores()]
    places = [place for place in found if place.files or not place.responds or not place.is_folder]
    if not places:
        raise NotFound("No memory folder found in the usual places. Nothing was searched. Name one: --dir DIR")
    from memtui.search.everywhere import search_folders  # noqa: PLC0415 - start-up: errors in a query come first

    get_config = context.make_config_getter(options, loaded)
    is_for_person = output.is_terminal(sys.stdout) and not (options.json or arguments.null)
    report = _Report(options, is_for_person=is_for_person, null=arguments.null)
    with show_progress_line(quiet=options.quiet or is_for_person) as progress:
        for number, each in enumerate(
            search_folders(
                places, query, scope,
                limit=get_limit(arguments.limit, scope), per_note=ALL, hidden=arguments.all,
                whole_lines=not is_for_person, get_settings=lambda folder: get_config(folder).config.memory,
                asks_servers=not options.read_only,
            ),
            start=1,
        ):  # fmt: skip
            if progress is not None:
                progress("search", number, len(places))
            report.add(each)
    report.finish(query)
    return ExitCode.OK if report.folders else ExitCode.FINDINGS


class _Report:
    """Prints what is found folder by folder, and behind it what was not searched."""

    def __init__(self, options: Options, *, is_for_person: bool, null: bool) -> None:
        self._options = options
        self._is_for_person = is_for_person
        self._null = null
        self._kept: list[FolderResults] = []
        """What a JSON document is made of."""
        self._problems: dict[str, None] = {}
        self._omitted = (0, 0, 0)
        self._searched = 0
        self.folders = 0
        """Folders in which something was found."""

    def add(self, each: "FolderResults") -> None:
        """Take the results of one folder, and print them unless they are part of a document."""
        self._searched += each.is_searched
        is_found = has_hits(each.found)
        if is_found:
            names, notes, past = count_omitted(each.found)
            self._omitted = self._omitted[0] + names, self._omitted[1] + notes, self._omitted[2] + past
            if not self._options.json:
                self._print_folder(each)
            self.folders += 1
        if self._options.json and (is_found or each.problem):
            self._kept.append(each)
        if each.problem and not self._options.quiet:
            but = "" if each.is_searched else " was not searched"
            self._problems[f"{each.place.display_path}{but}: {each.problem.rstrip('.')}."] = None
        if each.found.problem:
            self._problems[each.found.problem] = None

    def _print_folder(self, each: "FolderResults") -> None:
        folder = _get_address(each.place)
        if self._null:
            paths = [os.fsencode(os.path.join(folder, path)) + b"\0" for path in list_paths(each.found)]
            output.write_bytes(b"".join(paths))
        elif self._is_for_person:
            heading = colorize(_format_heading(each.place), _HEADING)
            output.print_line(f"\n{heading}" if self.folders else heading)
            print_grouped(each.found)
        else:
            print_lines(each.found, folder)

    def finish(self, query: Query) -> None:
        """Print the document, and beside the output what was left out."""
        if self._options.json:
            output.print_json(_serialize(self._kept, query, self._searched))
        output.flush()
        for words in self._problems:
            output.print_message(words)
        if not (self._options.quiet or self._options.json):
            print_more(self._omitted)
            if self._is_for_person and not self.folders:
                output.print_message(f"Nothing found in {format_count(self._searched, 'folder')}.")


def require_no_folder(options: Options, verb: str) -> None:
    """Raise `UsageError` where one folder or its state is named beside `--everywhere`."""
    for option, given in (("--dir", options.directory), ("--state", options.state)):
        if given is not None:
            raise UsageError(f"memtui {verb}: --everywhere and {option} do not go together. Leave one of them out.")


def has_hits(found: SearchResults) -> bool:
    """Whether anything matches; names with typing errors alone do not."""
    return bool(found.names.hits or found.text.notes or found.past.hits)


def _get_address(place: MemoryLocation) -> str:
    """The path of a folder, or the address of a store, in which no secret is shown."""
    return place.path if place.is_folder else place.display_path


def _format_heading(place: MemoryLocation) -> str:
    """`Claude Code  ~/.claude/projects/-app/memory  for ~/app`."""
    return "  ".join(filter(None, (format_owner(place), place.display_path, format_project(place))))


def _serialize(kept: "Sequence[FolderResults]", query: Query, searched: int) -> dict[str, object]:
    """The results of each folder that has any, as those of one folder; keys may be added, none is removed."""
    return {
        "query": query.written,
        "searched": searched,
        "folders": [
            {**_serialize_place(each.place), **_serialize_found(each, query)} for each in kept if each.is_searched
        ],
        "not_searched": [
            {**_serialize_place(each.place), "problem": each.problem} for each in kept if not each.is_searched
        ],
    }


def _serialize_found(each: "FolderResults", query: Query) -> dict[str, object]:
    found = serialize_results(each.found, _get_address(each.place), query.written)
    return {**found, "problem": each.found.problem or each.problem}


def _serialize_place(place: MemoryLocation) -> dict[str, object]:
    return {
        "folder": _get_address(place),
        "owner": str(place.owner),
        "name": place.name or None,
        "project": place.project,
    }
