"""Which verbs there are."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from memtui.cli.verb import Verb

GROUPS: Mapping[str, tuple[str, ...]] = {
    "look": ("ls", "show", "search", "stats", "places", "demo"),
    "look back": ("log", "diff", "blame", "origin", "import-transcripts"),
    "review": ("audit", "review", "verify", "export"),
    "take back": ("undo", "redo", "restore"),
    "put in order": ("mv", "cp", "rm", "protect", "prune", "redact"),
    "with agents": ("chat", "run", "mcp", "hook", "replay"),
    "set up": ("config", "doctor", "completion"),
}
"""The names of the verbs by what they are for, in the order in which help lists them."""

_NAMES = tuple(name for names in GROUPS.values() for name in names)
_MODULES = {"places": "places_verb"}
"""Modules that are not named as their verb."""


class _Verbs(Mapping[str, Verb]):
    """The verbs by name. Each is in the module of its name, which is loaded when it is asked for: the browser's first
    paint does not wait for verbs that nobody named.
    """

    def __getitem__(self, name: str) -> Verb:
        if name not in _NAMES:
            raise KeyError(name)
        verb: Verb = import_module(f"memtui.cli.{_MODULES.get(name, name.replace('-', '_'))}").VERB
        return verb

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


VERBS = _Verbs()
"""The verbs, in the order in which help lists them."""
