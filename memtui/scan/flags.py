"""What a reviewer should look at in a note: secrets, hidden text, planted instructions, and what cannot be read.

Nothing is changed here; a spot says where to look.
"""

from collections.abc import Mapping

from memtui.scan.hidden import find_hidden
from memtui.scan.injection import find_injections
from memtui.scan.secrets import find_secrets
from memtui.scan.spots import Spot
from memtui.scan.syntax import find_broken

FLAGS: Mapping[str, str] = {
    "secret": "a key, a token or a password that its issuer would know",
    "hidden": "characters, comments or elements that are not shown when the note is read",
    "planted": "words that may have been put there to steer the model",
    "broken": "no text, or JSON, YAML, TOML, XML or front matter that cannot be read",
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
    finders = {
        "secret": find_secrets(text),
        "hidden": find_hidden(text, path),
        "planted": find_injections(text, path),
        "broken": find_broken(text, path),
    }
    return frozenset(flag for flag, spots in finders.items() if next(spots, None))


def find_spots(text: str, path: str) -> list[Spot]:
    """All places of a note that are to be looked at, in order."""
    spots = (*find_secrets(text), *find_hidden(text, path), *find_injections(text, path), *find_broken(text, path))
    return sorted(spots, key=lambda spot: (spot.start, spot.end))
