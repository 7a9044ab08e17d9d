"""Which verbs there are."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from memtui.cli.verb import Verb

_NAMES = (
    "chat",
    "ls",
    "show",
    "search",
    "log",
    "diff",
    "blame",
    "stats",
    "mv",
    "cp",
    "rm",
    "protect",
    "restore",
    "undo",
    "redo",
    "prune",
    "redact",
    "run",
    "mcp",
    "hook",
    "replay",
    "demo",
    "verify",
    "export",
    "config",
    "doctor",
    "completion",
)


class _Verbs(Mapping[str, Verb]):
    """The verbs by name. Each is in the module of its name, which is loaded when it is asked for: the browser's first
    paint does not wait for verbs that nobody named.
    """

    def __getitem__(self, name: str) -> Verb:
        if name not in _NAMES:
            raise KeyError(name)
        verb: Verb = import_module(f"memtui.cli.{name}").VERB
        return verb

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


VERBS = _Verbs()
"""The verbs, in the order in which help lists them."""
