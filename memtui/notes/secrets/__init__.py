"""Secrets in a note: keys by shapes that their issuers have published, and what is named as a secret.

And nothing else: a rule that cries at every long word is a rule that nobody reads. A place is told once, by the rule
that knows most of it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memtui.notes.outline import long_numbers, numeric
from memtui.notes.secrets.accounts import accounts
from memtui.notes.secrets.assignments import assigned
from memtui.notes.secrets.cards import cards
from memtui.notes.secrets.clues import clues_of, lowered_of
from memtui.notes.secrets.encoded import encoded
from memtui.notes.secrets.files import in_files
from memtui.notes.secrets.ids import ids
from memtui.notes.secrets.named import named, private_keys, signed_tokens
from memtui.notes.secrets.passwords import in_addresses
from memtui.notes.secrets.readings import readings
from memtui.notes.secrets.shaped import long_spans, shaped, words_of
from memtui.notes.secrets.told import told
from memtui.notes.secrets.wrapped import wrapped
from memtui.notes.spots import Spot


def secrets(text: str) -> Iterator[Spot]:
    """The secrets in a text, by rule, not in order. Of each, `masked` is what nobody is shown who did not ask."""
    spans = long_spans(text)
    others = list(wrapped(text, spans))
    for reading in readings(text):
        words = long_spans(reading.text)
        others += _once(reading.back(each) for each in _sources(reading.text, words))
    plain = _once(_sources(text, spans))
    yield from _settled([*others, *plain]) if others else plain


def _once(sources: Iterable[Iterator[Spot]]) -> Iterator[Spot]:
    """What some sources tell of, but of places of which one has told before nothing more."""
    taken: list[tuple[int, int]] = []
    for source in sources:
        for spot in source:
            span = _span(spot)
            at = bisect_left(taken, span)
            if (at and taken[at - 1][1] > span[0]) or (at < len(taken) and taken[at][0] < span[1]):
                continue
            taken.insert(at, span)
            yield spot


def _span(spot: Spot) -> tuple[int, int]:
    """The characters of a secret, from and to."""
    return spot.masked or (spot.start, spot.end)


def _settled(spots: list[Spot]) -> Iterator[Spot]:
    """Of spots over one another the one that knows most, or covers the others; it hides what all of them do.

    What stands there in two halves is told as one, though a half may look like a whole.
    """
    spots.sort(key=_span)
    at = 0
    while at < len(spots):
        start, end = _span(spots[at])
        group = [spots[at]]
        while at + len(group) < len(spots) and _span(following := spots[at + len(group)])[0] < end:
            end = max(end, _span(following)[1])
            group.append(following)
        at += len(group)
        known = [spot for spot in group if spot.rule != "password-assignment"] or group
        widest = [spot for spot in known if _span(spot) == (start, end)]
        yield widest[-1] if widest else replace(known[0], masked=(start, end))


def _sources(text: str, spans: list[tuple[int, int]]) -> list[Iterator[Spot]]:
    """What looks for secrets, those first that know most.

    Args:
        text: The text.
        spans: Its long words, from and to.
    """
    lowered, words, outline = lowered_of(text), words_of(text, spans), numeric(text)
    clues, numbers = clues_of(lowered), long_numbers(text, outline)
    found = [private_keys(text), signed_tokens(text)]
    if words:
        found += [shaped(text, words), encoded(text, spans)]
    found += [named(text, lowered, clues), in_files(text, clues), in_addresses(text)]
    if numbers:
        found += [cards(text, outline), accounts(text, outline)]
    if numbers or words:
        found.append(ids(text, lowered, words, numbers))
    return [*found, assigned(text, lowered, clues), told(text, lowered, clues)]
