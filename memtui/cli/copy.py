"""`memtui copy`: memories with all that happened to them, to another folder or one SQLite file."""

import argparse

from memtui.cli import context, output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, format_os_error
from memtui.cli.parsing import Parser, Verb
from memtui.copying import CopyRefused, copy
from memtui.core.paths import format_path, resolve_place
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count


def add_copy_options(parser: Parser) -> None:
    """Declare the arguments of `copy`."""
    parser.add_value("source", "FROM", "a folder, sqlite:FILE or an address")
    parser.add_value("target", "TO", "an empty or new folder, a new sqlite:FILE, or a store")


def run_copy(options: Options, given: argparse.Namespace) -> int:
    """Run `copy`, and print what was copied. Raises `Failure` where nothing was."""
    context.require_writable(options, "Not copied")
    source = context.resolve_existing_folder(given.source)
    target = resolve_place(given.target)
    try:
        done = copy(source, target, state=options.state, settings=context.load_memory_settings(options, source))
    except CopyRefused as refusal:
        raise Failure(ExitCode.REFUSED, str(refusal)) from refusal
    except OSError as error:
        shown = format_path(target)
        raise Failure(ExitCode.MISSING, f"{shown} cannot be written: {format_os_error(error)}. Not copied.") from error
    seq, head = done.head
    if options.json:
        document = {"from": source, "to": target, "files": done.files, "left": list(done.left), "events": seq}
        output.print_json({**document, "head": head})
    elif not options.quiet:
        counted = f"{format_count(done.files, 'file')} and {format_count(seq, 'event')}"
        output.print_message(f"Copied {counted} to {format_path(target)}. Head: {seq}:{head[:16]}")
    for path in done.left:
        output.print_message(f"Not copied: {to_one_line(path)} is no file, or cannot be read.")
    return ExitCode.OK if not done.left else ExitCode.MISSING


COPY_VERB = Verb("copy", add_copy_options, run_copy)
