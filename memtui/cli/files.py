"""`memtui mv`: give memories other names, with their history."""

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial

from memtui.cli import context, output, restore
from memtui.cli.context import open_memory, require_writable
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError
from memtui.cli.parsing import Parser, Verb
from memtui.cli.restore import get_exit_code
from memtui.core.events import EntryKind
from memtui.core.history import ActionResult
from memtui.core.paths import MemoryPath
from memtui.core.unicode import to_one_line
from memtui.engine import Engine
from memtui.flows import link_rewriting
from memtui.flows.link_rewriting import PlannedLinks
from memtui.knowledge.rewriting import LinkChange, LinkPlan

# `memtui mv` and `memtui cp`.


def add_move_options(parser: Parser) -> None:
    """Declare the arguments of both."""
    parser.add_value("paths", "PATH", "files, and last the new name or a directory", nargs="+")
    parser.add_flag("-n --dry-run", "only list what would change")
    add_links_option(parser)


_LINKS = ("ask", "rewrite", "leave")
_NO_LINKS: Mapping[str, object] = {"broken_links": [], "rewritten_links": []}


def add_links_option(parser: Parser, default: str = "ask") -> None:
    """Declare the option that says what becomes of links."""
    names = sorted(_LINKS, key=lambda each: each != default)
    parser.add_value("--links", "HOW", f"links that break: {', '.join(names)}", choices=_LINKS, default=default)


def choose_rewriting(options: Options, given: argparse.Namespace, plan: LinkPlan, question: str) -> bool:
    """Whether links are rewritten: as the person said, or says now if she can be asked."""
    if not plan.rewritten or given.links != "ask":
        return bool(given.links == "rewrite")
    if given.dry_run or options.json or not output.is_terminal(sys.stdin) or not output.is_terminal(sys.stderr):
        return False
    output.print_message(f"{link_rewriting.format_places(plan.rewritten)}.")
    return restore.confirm(f"{question} {link_rewriting.format_count_of_links(plan.rewritten)}?", "Not rewritten")


def print_links(options: Options, plan: LinkPlan, *, is_rewritten: bool, is_rehearsed: bool) -> None:
    """Say what became of the links, and how they would follow."""
    words = link_rewriting.format_done(plan, is_rewritten=is_rewritten, is_rehearsed=is_rehearsed)
    if words and not options.json:
        again = " --links rewrite rewrites them." if plan.rewritten and not is_rewritten else ""
        output.print_message(f"{words}{again}")


def serialize_links(plan: LinkPlan, *, is_rewritten: bool) -> dict[str, object]:
    """What became of the links, as JSON."""
    broken = plan.left if is_rewritten else plan.changes
    return {
        "broken_links": [_serialize_link(each) for each in broken],
        "rewritten_links": [_serialize_link(each) for each in plan.rewritten] if is_rewritten else [],
    }


def _serialize_link(each: LinkChange) -> dict[str, object]:
    place = {"path": str(MemoryPath.from_relative(each.source)), "line": each.link.line, "target": each.link.target}
    return {
        **place,
        **({"written": each.written} if each.written else {}),
        **({"left": each.left} if each.left else {}),
    }


def run_move(options: Options, given: argparse.Namespace, verb: str, past: str) -> int:
    """Run `mv` or `cp`, and print the result. Raises `Failure` for arguments that contradict."""
    if len(given.paths) < 2:
        raise UsageError(f"memtui {verb}: give a target: memtui {verb} {given.paths[0]} NEW")
    if not given.dry_run:
        require_writable(options, f"Not {past}")
    path = context.resolve_folder(options)
    with open_memory(path, options) as memory:
        pairs = _resolve_targets(memory, given.paths, path, verb)
        plan_links, act = (
            (link_rewriting.plan_moved_links, link_rewriting.move)
            if verb == "mv"
            else (link_rewriting.plan_copied_links, link_rewriting.copy)
        )
        memory.reconcile()
        planned = plan_links(memory, pairs)
        rewrite = choose_rewriting(options, given, planned.plan, "Rewrite")
        result, plan = act(memory, pairs, planned if rewrite else PlannedLinks(), rehearse=given.dry_run)
        plan = plan if rewrite else planned.plan
        if result.changes:
            print_links(options, plan, is_rewritten=rewrite, is_rehearsed=given.dry_run)
        if given.dry_run and result.changes and not options.json:
            for old, new in pairs.items():
                output.print_line(f"{to_one_line(old)} -> {to_one_line(new)}")
            return ExitCode.OK
        done = _format_moved(pairs, result, past) if result.event else ""
        more = serialize_links(plan, is_rewritten=rewrite) if result.changes else _NO_LINKS
        code = restore.print_result(result, options, done, folder=path, dry_run=given.dry_run, more=more)
        has_name_already = result.event is None and not result.changes and not result.skipped
        return ExitCode.FINDINGS if has_name_already else code


def _resolve_targets(memory: Engine, words: Sequence[str], path: str, verb: str) -> dict[str, str]:
    *sources, target = words
    place = context.parse_memory_path(target, path)
    entry = memory.get_entry(place.relative) if not place.is_root else None
    into = place.is_root or target.endswith("/") or (entry is not None and entry.kind is EntryKind.DIRECTORY)
    if len(sources) > 1 and not into:
        raise UsageError(
            f"memtui {verb}: {place} is not a directory, so it cannot hold several files. To create it, write {target}/"
        )
    pairs: dict[str, str] = {}
    for source in sources:
        old = context.parse_memory_path(source, path)
        if old.is_root:
            raise UsageError(f"memtui {verb}: that is the whole folder. Name a file in it.")
        name = "/".join((*place.parts, old.name)) if into else place.relative
        pairs[old.relative] = name
    return pairs


def _format_moved(pairs: Mapping[str, str], result: ActionResult, past: str) -> str:
    count = sum(not result.skipped or old not in {skipped.path for skipped in result.skipped} for old in pairs)
    if len(pairs) == 1:
        old, new = next(iter(pairs.items()))
        what = f"{past.capitalize()} {old} to {new}"
    else:
        what = f"{past.capitalize()} {count:,} items"
    return f"{to_one_line(what)}. {restore.format_undo_hint(result)}"


MV_VERB = Verb("mv", add_move_options, partial(run_move, verb="mv", past="moved"))
CP_VERB = Verb("cp", add_move_options, partial(run_move, verb="cp", past="copied"))


# `memtui rm`: delete memories; every text stays in the record.

_NOT_DELETED = "Not deleted"


def add_rm_options(parser: Parser) -> None:
    parser.add_value("paths", "PATH", "files, or directories with everything in them", nargs="+")
    restore.add_confirm_options(parser)
    add_links_option(parser)


def run_rm(options: Options, arguments: argparse.Namespace) -> int:
    if not arguments.dry_run:
        require_writable(options, _NOT_DELETED)
    path = context.resolve_folder(options)
    found = [context.parse_memory_path(given, path) for given in arguments.paths]
    if any(place.is_root for place in found):
        raise UsageError("memtui rm: that is the whole folder. Name a file in it.")
    paths = list(dict.fromkeys(place.relative for place in found))
    with open_memory(path, options) as memory:
        memory.reconcile()
        planned = link_rewriting.plan_deleted_links(memory, paths)
        rewrite = choose_rewriting(options, arguments, planned.plan, "Keep only the words of")
        links = planned if rewrite else PlannedLinks()

        def act(rehearse: bool) -> ActionResult:
            result, plan = link_rewriting.delete(memory, paths, links, rehearse=rehearse)
            if result.changes and (arguments.dry_run or not rehearse):
                print_links(options, plan if rewrite else planned.plan, is_rewritten=rewrite, is_rehearsed=rehearse)
            return result

        return restore.run_with_confirmation(
            act,
            options,
            arguments,
            done=lambda result: _format_deleted(paths, result),
            question="Delete this?",
            not_done=_NOT_DELETED,
            folder=path,
            ask=len(paths) > 1 or _is_directory(memory, paths[0]) or not memory.can_be_kept(paths[0]),
        )


def _is_directory(memory: Engine, path: str) -> bool:
    entry = memory.get_entry(path)
    return entry is not None and entry.kind is EntryKind.DIRECTORY


def _format_deleted(paths: list[str], result: ActionResult) -> str:
    what = paths[0] if len(paths) == 1 else restore.format_file_count(result.changes)
    end = "What was too large to keep is deleted for good." if result.unkept else restore.format_undo_hint(result)
    return f"{to_one_line(f'Deleted {what}')}. {end}"


RM_VERB = Verb("rm", add_rm_options, run_rm)


# `memtui protect`: let no agent change some memories, or say which ones.


def add_protect_options(parser: Parser) -> None:
    parser.add_value("paths", "PATH", "files, or directories with everything in them", nargs="*")
    parser.add_flag("--off", "let agents change them again")
    parser.add_flag("--list", "list what is protected, as without a PATH")


def run_protect(options: Options, arguments: argparse.Namespace) -> int:
    if arguments.off and not arguments.paths:
        raise UsageError("memtui protect: --off needs a PATH. See: memtui protect --list")
    if arguments.list and (arguments.paths or arguments.off):
        raise UsageError("memtui protect: --list goes with no PATH and no --off. See: memtui protect --help")
    if arguments.paths:
        require_writable(options, "Nothing was changed")
    path = context.resolve_folder(options)
    paths = list(dict.fromkeys(context.parse_memory_path(given, path).relative for given in arguments.paths))
    with open_memory(path, options) as memory:
        return (
            _change_protection(memory, options, paths, off=arguments.off) if paths else _list_protected(memory, options)
        )


def _list_protected(memory: Engine, options: Options) -> int:
    protected = [str(MemoryPath.from_relative(path)) for path in memory.files.get_protected()]
    if options.json:
        output.print_json({"protected": protected})
        return ExitCode.OK
    for path in protected:
        output.print_line(to_one_line(path))
    if not protected and not options.quiet:
        output.print_message(
            "Nothing is protected: agents may change everything. To protect a file: memtui protect PATH"
        )
    return ExitCode.OK


def _change_protection(memory: Engine, options: Options, paths: list[str], *, off: bool) -> int:
    result = memory.files.unprotect(paths) if off else memory.files.protect(paths)
    if options.json:
        protected = [str(MemoryPath.from_relative(path)) for path in memory.files.get_protected()]
        done, problem = result.event is not None, result.problem or None
        output.print_json({"done": done, "problem": problem, "protected": protected})
    elif result.problem:
        output.print_message(result.problem)
    elif not options.quiet:
        output.print_line(_format_protected(paths, off=off))
    if result.problem and not result.skipped:
        return ExitCode.FINDINGS
    return get_exit_code(result)


def _format_protected(paths: list[str], *, off: bool) -> str:
    what = to_one_line(str(MemoryPath.from_relative(paths[0]))) if len(paths) == 1 else f"{len(paths):,} paths"
    if off:
        return f"No longer protected: {what}. Agents may change {'it' if len(paths) == 1 else 'them'} again."
    quoted = [shlex.quote(path or ".") for path in paths]
    back = " ".join(["memtui protect --off", *(path if to_one_line(path) == path else "PATH" for path in quoted)])
    it = "it" if len(paths) == 1 else "them"
    return f"Protected: {what}. Agents can view {it}, but not change {it}. Undo: {back}"


PROTECT_VERB = Verb("protect", add_protect_options, run_protect)
