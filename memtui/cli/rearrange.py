"""`memtui merge` and `memtui split`: two notes become one, or one several, and no link breaks."""

import argparse

from memtui.cli import context, output, restore
from memtui.cli.context import open_memory, require_writable
from memtui.cli.files import add_links_option, choose_rewriting, print_links, serialize_links
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError
from memtui.cli.parsing import Parser, Verb
from memtui.core.history import ActionResult
from memtui.core.paths import MemoryPath
from memtui.core.unicode import to_one_line
from memtui.flows import rearranging
from memtui.flows.rearranging import Rearranged, RearrangingRefused


def add_merge_options(parser: Parser) -> None:
    """Declare the arguments of `merge`."""
    parser.add_value("into", "NOTE", "the note that stays")
    parser.add_value("merged", "OTHER", "the note that goes below its text")
    parser.add_flag("-n --dry-run", "only list what would change")
    add_links_option(parser, "rewrite")


def run_merge(options: Options, given: argparse.Namespace) -> int:
    """Run `merge`, and print the result. Raises `Failure` for arguments that contradict."""
    failure = "Not merged"
    if not given.dry_run:
        require_writable(options, failure)
    folder = context.resolve_folder(options)
    into, merged = (_parse_note(word, folder, "merge") for word in (given.into, given.merged))
    with open_memory(folder, options) as memory:
        memory.reconcile()
        try:
            planned = rearranging.plan_merge(memory, merged, into)
        except RearrangingRefused as refusal:
            return _print_refusal(refusal, failure, options, folder, dry_run=given.dry_run)
        rewrites = choose_rewriting(options, given, planned.links, "Rewrite")
        result, done = rearranging.merge(memory, merged, into, planned, rewrites=rewrites, rehearse=given.dry_run)
        planned = done if rewrites else planned
        return _print_result(
            result,
            planned,
            options,
            rearranging.format_merged(merged, into, is_rehearsed=given.dry_run),
            folder,
            rewrites=rewrites,
            dry_run=given.dry_run,
        )


def add_split_options(parser: Parser) -> None:
    """Declare the arguments of `split`."""
    parser.add_value("note", "NOTE", "the note")
    parser.add_value("--level", "N", "of the headings, 1 to 6; else the highest used twice", type=int, default=0)
    parser.add_flag("-n --dry-run", "only list what would change")


def run_split(options: Options, given: argparse.Namespace) -> int:
    """Run `split`, and print the result. Raises `Failure` for arguments that contradict."""
    failure = "Not split"
    if not given.dry_run:
        require_writable(options, failure)
    folder = context.resolve_folder(options)
    path = _parse_note(given.note, folder, "split")
    with open_memory(folder, options) as memory:
        memory.reconcile()
        try:
            planned = rearranging.plan_split(memory, path, given.level)
        except RearrangingRefused as refusal:
            return _print_refusal(refusal, failure, options, folder, dry_run=given.dry_run)
        result, planned = rearranging.split(memory, path, planned, level=given.level, rehearse=given.dry_run)
        done = rearranging.format_split(planned, is_rehearsed=given.dry_run)
        return _print_result(result, planned, options, done, folder, rewrites=True, dry_run=given.dry_run)


def _parse_note(word: str, folder: str, verb: str) -> str:
    place = context.parse_memory_path(word, folder)
    if place.is_root:
        raise UsageError(f"memtui {verb}: that is the whole folder. Name a note in it.")
    return place.relative


def _print_refusal(
    refusal: RearrangingRefused, failure: str, options: Options, folder: str, *, dry_run: bool
) -> ExitCode:
    result = ActionResult(problem=f"{failure}: {refusal}. Nothing was written.")
    restore.print_result(result, options, "", folder=folder, dry_run=dry_run)
    if refusal.is_missing:
        return ExitCode.MISSING
    return ExitCode.REFUSED if refusal.is_kept else ExitCode.USAGE


def _print_result(
    result: ActionResult,
    planned: Rearranged,
    options: Options,
    done: str,
    folder: str,
    *,
    rewrites: bool,
    dry_run: bool,
) -> int:
    """Print what was done, or would be, and what became of the links; return the exit code."""
    if result.changes:
        print_links(options, planned.links, is_rewritten=rewrites, is_rehearsed=dry_run)
        if dry_run and not options.json:
            output.print_line(to_one_line(done))
    sentence = f"{to_one_line(done)} {restore.format_undo_hint(result)}" if result.event is not None else ""
    more = serialize_links(planned.links, is_rewritten=rewrites)
    parts = [str(MemoryPath.from_relative(part)) for part in planned.parts]
    more = {**more, **({"parts": parts} if parts else {})}
    return restore.print_result(result, options, sentence, folder=folder, dry_run=dry_run, more=more)


MERGE_VERB = Verb("merge", add_merge_options, run_merge)
SPLIT_VERB = Verb("split", add_split_options, run_split)
