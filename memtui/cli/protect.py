"""`memtui protect`: let no agent change some memories, or say which ones."""

import argparse
import shlex

from memtui.cli import output, places
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.restored import code_of
from memtui.cli.verb import Options, Parser, Verb
from memtui.core.paths import MemoryPath
from memtui.core.visible import one_line
from memtui.engine import Engine


def _arguments(parser: Parser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files, or directories with all that is in them")
    parser.add_argument("--off", action="store_true", help="let agents change them again")
    parser.add_argument("--list", action="store_true", help="only list what is protected, as without a PATH")


def _run(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.off and not arguments.paths:
        raise Failure(Exit.USAGE, "memtui protect: name what agents may change again. See: memtui protect --list")
    if arguments.list and (arguments.paths or arguments.off):
        raise Failure(Exit.USAGE, "memtui protect: --list stands alone. See: memtui protect --help")
    if arguments.paths:
        insist_on_writing(options, "Nothing was changed")
    path = places.folder(options)
    paths = list(dict.fromkeys(places.place(given, path).relative for given in arguments.paths))
    with opened(path, options) as memory:
        return _change(memory, options, paths, off=arguments.off) if paths else _list(memory, options)


def _list(memory: Engine, options: Options) -> int:
    protected = [str(MemoryPath.of(path)) for path in memory.files.protected()]
    if options.json:
        output.document({"schema": output.SCHEMA, "protected": protected})
        return Exit.OK
    for path in protected:
        output.line(one_line(path))
    if not protected and not options.quiet:
        output.message("Nothing is protected: agents may change everything. To protect a file: memtui protect PATH")
    return Exit.OK


def _change(memory: Engine, options: Options, paths: list[str], *, off: bool) -> int:
    result = memory.files.unprotect(paths) if off else memory.files.protect(paths)
    if options.json:
        protected = [str(MemoryPath.of(path)) for path in memory.files.protected()]
        done, problem = result.event is not None, result.problem or None
        output.document({"schema": output.SCHEMA, "done": done, "problem": problem, "protected": protected})
    elif result.problem:
        output.message(result.problem)
    elif not options.quiet:
        output.line(_done(paths, off=off))
    if result.problem and not result.left:
        return Exit.FINDINGS
    return code_of(result)


def _done(paths: list[str], *, off: bool) -> str:
    what = one_line(str(MemoryPath.of(paths[0]))) if len(paths) == 1 else f"{len(paths):,} paths"
    if off:
        return f"No longer protected: {what}. Agents may change {'it' if len(paths) == 1 else 'them'} again."
    quoted = [shlex.quote(path or ".") for path in paths]
    back = " ".join(["memtui protect --off", *(path if one_line(path) == path else "PATH" for path in quoted)])
    it = "it" if len(paths) == 1 else "them"
    return f"Protected: {what}. Agents can view {it}, and not change {it}. {back} takes that back."


VERB = Verb(
    "protect",
    "no agent may change it",
    (
        ("memtui protect rules.md people/", "a file, and a directory with all in it"),
        ("memtui protect", "what is protected"),
        ("memtui protect --off rules.md", "agents may change it again"),
    ),
    _arguments,
    _run,
    (
        "An agent's command there is refused with a sentence that says what it can do",
        "instead, and recorded. You are not bound. What programs write without memtui",
        "cannot be kept from it: memtui log says 'a protected path' then. Exit codes: 0",
        "done, 1 it was so already, 3 not there, 4 read-only or outside.",
    ),
)
