"""What a reviewer should look at in a note: secrets, hidden text, planted instructions, and what cannot be read.

Nothing is changed here; a spot says where to look.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.scan.spots import Spot

FLAGS: Mapping[str, str] = {
    "secret": "a key, a token or a password that its issuer would know",
    "hidden": "characters, comments or elements that are not shown when the note is read",
    "planted": "text that may have been put there to steer the model",
    "broken": "not text, or invalid JSON, YAML, TOML, XML or front matter",
}
"""The flags that there are, and what each means."""


def find_flags(text: str | bytes, path: str) -> frozenset[str]:
    """The flags of a note.

    Args:
        text: Bytes that are not UTF-8 are `broken`.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError:
            return frozenset({"broken"})
    return frozenset(flag for flag, find in _load_finders().items() if next(find(text, path), None))


def find_spots(text: str, path: str) -> "list[Spot]":
    """All places of a note that are to be looked at, in order."""
    spots = chain.from_iterable(find(text, path) for find in _load_finders().values())
    return sorted(spots, key=lambda spot: (spot.start, spot.end))


def _load_finders() -> "Mapping[str, Callable[[str, str], Iterator[Spot]]]":
    """What finds each flag."""
    # start-up: the rules take as long to load as all else that a search or the screens need
    from memtui.scan.hidden import find_hidden  # noqa: PLC0415 - start-up
    from memtui.scan.injection import find_injections  # noqa: PLC0415 - start-up
    from memtui.scan.secrets import find_secrets  # noqa: PLC0415 - start-up
    from memtui.scan.syntax import find_broken  # noqa: PLC0415 - start-up
    from memtui.scan.tokens import SEQUENTIAL_RULE  # noqa: PLC0415 - start-up

    return {
        "secret": lambda text, _: (spot for spot in find_secrets(text) if spot.rule != SEQUENTIAL_RULE),
        "hidden": find_hidden,
        "planted": find_injections,
        "broken": find_broken,
    }
