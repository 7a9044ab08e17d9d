"""What a reviewer should look at in a note: secrets, hidden text, planted instructions, and what cannot be read.

Nothing is changed here; a spot says where to look.
"""

from collections.abc import Mapping

from memtui.notes.broken import broken
from memtui.notes.hidden import hidden
from memtui.notes.planted import planted
from memtui.notes.secrets import secrets
from memtui.notes.spots import Spot as Spot  # noqa: PLC0414 - others ask for it here

FLAGS: Mapping[str, str] = {
    "secret": "a key, a token or a password that its issuer would know",
    "hidden": "characters, comments or elements that are not shown when the note is read",
    "planted": "words that may have been put there to steer the model",
    "broken": "no text, or JSON, YAML, TOML, XML or front matter that cannot be read",
}
"""The flags that there are, and what each means."""


def flags_of(text: str | bytes, path: str) -> frozenset[str]:
    """The flags of a note.

    Args:
        text: What it says; bytes that are not UTF-8 are `broken`.
        path: Where it is, relative to the folder; by its extension it is known as JSON.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError:
            return frozenset({"broken"})
    found = set()
    if next(secrets(text), None):
        found.add("secret")
    if next(hidden(text, path), None):
        found.add("hidden")
    if next(planted(text, path), None):
        found.add("planted")
    if next(broken(text, path), None):
        found.add("broken")
    return frozenset(found)


def spots_of(text: str, path: str) -> list[Spot]:
    """All places of a note that are to be looked at, in order."""
    spots = (*secrets(text), *hidden(text, path), *planted(text, path), *broken(text, path))
    return sorted(spots, key=lambda spot: (spot.start, spot.end))
