"""`memtui mv`: give memories other names, with their history."""

import argparse
from collections.abc import Mapping

from memtui.cli import targets
from memtui.cli.verb import Options, Verb
from memtui.core.restoring import Restored
from memtui.engine import Engine


def _move(memory: Engine, pairs: Mapping[str, str], rehearse: bool) -> Restored:
    return memory.files.move(pairs, rehearse=rehearse)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    return targets.run(options, arguments, "mv", "moved", _move)


VERB = Verb(
    "mv",
    "rename or move memories",
    (
        ("memtui mv notes/today.md notes/monday.md", "another name"),
        ("memtui mv a.md b.md archive/", "into a directory, made if missing"),
    ),
    targets.arguments,
    _run,
    (
        "History goes along, nothing is written over, and memtui undo takes it back.",
        "Several things are one event. Exit codes: 0 done, 1 it is called so already, 2",
        "no such name can be, 3 not there, 4 read-only or outside, 5 something is there.",
    ),
)
