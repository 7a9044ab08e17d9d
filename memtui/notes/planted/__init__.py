"""Instructions in a note that may have been planted for the model that reads it. Heuristics: each says why.

A note is read by an agent as its own memory, so whoever can write one can give orders. Notes are full of orders that
are meant to be there, so only those are told that an honest note has no reason for. They help a reviewer to find the
place, and are no gate: published attacks pass all filters of patterns.
"""

from collections.abc import Iterator

from memtui.core.visible import one_line
from memtui.notes.kinds import format_of
from memtui.notes.plain import without_code
from memtui.notes.planted.carried import carried
from memtui.notes.planted.encoded import encoded
from memtui.notes.planted.folding import folded
from memtui.notes.planted.markup import imitations
from memtui.notes.planted.phrases import heads_in, phrases, pieces_of
from memtui.notes.planted.sending import sendings
from memtui.notes.planted.spelled import spelled
from memtui.notes.spots import Spot

_QUOTED = 60
"""Characters of what was found that are quoted in the words about it."""
_WRITTEN = frozenset({"md", "txt", "html"})
"""Formats in which tags are no data."""


def planted(text: str, path: str) -> Iterator[Spot]:
    """What in a text may have been planted, by rule, not in order. The words of each say why it is told."""
    fold = folded(text)
    pieces = pieces_of(fold.text)
    heads = heads_in(pieces)
    for phrase, start, end in phrases(fold.text, pieces):
        yield _spot(phrase.rule, phrase.why, text, *fold.span(start, end))
    for why, start, end in sendings(fold.text, heads):
        yield _spot("fetch-or-send", why, text, *fold.span(start, end))
    for rule, why, start, end in encoded(text, heads, _is_order):
        yield Spot("planted", rule, start, end, why)
    for why, start, end in spelled(fold.text, heads, _is_order):
        yield _spot("encoded-payload", why, text, *fold.span(start, end))
    for why, start, end in carried(text):
        yield _spot("data-in-link", why, text, start, end)
    if format_of(path) in _WRITTEN and next(imitations(fold.text, heads), None):
        for why, start, end in imitations(without_code(fold.text), heads):
            yield _spot("tool-imitation", why, text, *fold.span(start, end))


def _is_order(said: str) -> bool:
    """Whether decoded text calls on a model to do something."""
    pieces = pieces_of(said)
    heads = heads_in(pieces)
    return next(phrases(said, pieces), None) is not None or next(sendings(said, heads), None) is not None


def _spot(rule: str, why: str, text: str, start: int, end: int) -> Spot:
    quoted = text[start : min(end, start + _QUOTED)].strip()
    more = "…" if end - start > _QUOTED else ""
    return Spot("planted", rule, start, end, f"{why}: “{one_line(quoted)}{more}”")
