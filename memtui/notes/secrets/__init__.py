"""Secrets in a note: keys by shapes that their issuers have published, and what is named as a secret.

And nothing else: a rule that cries at every long word is a rule that nobody reads. A place is told once, by the rule
that knows most of it.
"""

from bisect import bisect_left
from collections.abc import Iterator

from memtui.notes.outline import has_long_number, numeric
from memtui.notes.secrets.assignments import assigned
from memtui.notes.secrets.cards import cards
from memtui.notes.secrets.ids import ids
from memtui.notes.secrets.joined import Joined
from memtui.notes.secrets.named import named, private_keys, signed_tokens
from memtui.notes.secrets.passwords import in_addresses
from memtui.notes.secrets.shapes import long_words, shaped
from memtui.notes.secrets.told import told
from memtui.notes.spots import Spot


def secrets(text: str) -> Iterator[Spot]:
    """The secrets in a text, by rule, not in order. Of each, `masked` is what nobody is shown who did not ask."""
    taken: list[tuple[int, int]] = []
    joined = Joined(text)
    sources = _sources(text)
    if joined.is_other:  # what stands there in two halves first: one half may look like a whole
        sources = [joined.back(each) for each in _sources(joined.text)] + sources
    for source in sources:
        for spot in source:
            span = spot.masked or (spot.start, spot.end)
            at = bisect_left(taken, span)
            if (at and taken[at - 1][1] > span[0]) or (at < len(taken) and taken[at][0] < span[1]):
                continue
            taken.insert(at, span)
            yield spot


def _sources(text: str) -> list[Iterator[Spot]]:
    """What looks for secrets, those first that know most."""
    lowered, words, outline = _lowered(text), long_words(text), numeric(text)
    is_numbered = has_long_number(outline)
    return [
        private_keys(text), signed_tokens(text), shaped(text, words), named(text, lowered), in_addresses(text),
        cards(text) if is_numbered else iter(()), ids(text, lowered, words, outline if is_numbered else b""),
        assigned(text, lowered), told(text, lowered),
    ]  # fmt: skip


def _lowered(text: str) -> str:
    """The text in lower case, with every character in its place."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(small if len(small := character.lower()) == 1 else character for character in text)
    return lowered
