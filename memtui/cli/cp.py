"""`memtui cp`: copy memories to names where nothing stands."""

import argparse
from collections.abc import Mapping

from memtui.cli import targets
from memtui.cli.verb import Options, Verb
from memtui.core.restoring import Restored
from memtui.engine import Engine


def _copy(memory: Engine, pairs: Mapping[str, str], rehearse: bool) -> Restored:
    return memory.files.copy(pairs, rehearse=rehearse)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    return targets.run(options, arguments, "cp", "copied", _copy)


VERB = Verb(
    "cp",
    "copy memories",
    (
        ("memtui cp rules.md rules-2026.md", "a file"),
        ("memtui cp notes backup/", "a directory with all that is in it"),
    ),
    targets.arguments,
    _run,
    (
        "Nothing is written over, and memtui undo takes it back. Several things are one",
        "event. Exit codes: 0 done, 2 no such name can be, 3 not there, 4 read-only or",
        "outside, 5 something is there already.",
    ),
)
