"""From and to on the command line: what `memtui mv` and `memtui cp` have in common."""

import argparse
from collections.abc import Callable, Mapping, Sequence

from memtui.cli import output, places, restored
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.verb import Options, Parser
from memtui.core.restoring import Restored
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.engine import Engine

Act = Callable[[Engine, Mapping[str, str], bool], Restored]
"""Does it, or only rehearses: given the memory and new names by old ones."""


def arguments(parser: Parser) -> None:
    """Declare what both take."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="what, and last where to: a new name or a directory")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would change")


def run(options: Options, given: argparse.Namespace, verb: str, past: str, act: Act) -> int:
    """Do it and tell what came of it.

    Args:
        options: Those of all verbs.
        given: What `arguments` declared.
        verb: Its name.
        past: Such as `moved`.
        act: Does it.

    Returns:
        The exit code.

    Raises:
        Failure: The words make no sense together.
    """
    if len(given.paths) < 2:
        raise Failure(Exit.USAGE, f"memtui {verb}: say where to: memtui {verb} {given.paths[0]} NEW")
    if not given.dry_run:
        insist_on_writing(options, f"Not {past}")
    path = places.folder(options)
    with opened(path, options) as memory:
        pairs = _pairs(memory, given.paths, path, verb)
        result = act(memory, pairs, given.dry_run)
        if given.dry_run and result.changes and not options.json:
            for old, new in pairs.items():
                output.line(f"{one_line(old)} -> {one_line(new)}")
            return Exit.OK
        done = _done(pairs, result, past) if result.event else ""
        code = restored.tell(result, options, done, folder=path, dry_run=given.dry_run)
        is_so = result.event is None and not result.changes and not result.left
        return Exit.FINDINGS if is_so else code


def _pairs(memory: Engine, words: Sequence[str], path: str, verb: str) -> dict[str, str]:
    *sources, target = words
    place = places.place(target, path)
    entry = memory.entry(place.relative) if not place.is_root else None
    into = place.is_root or target.endswith("/") or (entry is not None and entry.kind is Kind.DIRECTORY)
    if len(sources) > 1 and not into:
        raise Failure(
            Exit.USAGE,
            f"memtui {verb}: {place} is no directory, and several things cannot have one name. To make it one, "
            f"write {target}/",
        )
    pairs: dict[str, str] = {}
    for source in sources:
        old = places.place(source, path)
        if old.is_root:
            raise Failure(Exit.USAGE, f"memtui {verb}: that is the whole folder. Name what is in it.")
        name = "/".join((*place.parts, old.name)) if into else place.relative
        pairs[old.relative] = name
    return pairs


def _done(pairs: Mapping[str, str], result: Restored, past: str) -> str:
    count = sum(not result.left or old not in {left.path for left in result.left} for old in pairs)
    if len(pairs) == 1:
        old, new = next(iter(pairs.items()))
        what = f"{past.capitalize()} {old} to {new}"
    else:
        what = f"{past.capitalize()} {count:,} things"
    return f"{one_line(what)}. memtui undo takes it back."
