"""Instructions in a note that may have been injected for the model that reads it. Heuristics: each says why.

A note is read by an agent as its own memory, so whoever can write one can give orders. Notes are full of orders that
are meant to be there: to use a tool, never to do this, to ignore a directory. What is found here is another kind: to
drop what the model was told before, to be somebody else, to keep things from the person it works for, to send away
what is private, to write itself into further notes. It helps a reviewer to find the place, and is no gate: published
attacks pass all filters of patterns.

The rules are in `rules/injection.toml`: phrases with a regex, and combinations of stems from a lexicon.
"""

from collections.abc import Iterator

from memtui.core.unicode import to_one_line
from memtui.notes.formats import detect_format
from memtui.notes.spans import blank_code
from memtui.scan.folding import fold_text
from memtui.scan.markup import find_imitations
from memtui.scan.payloads import find_payloads
from memtui.scan.phrases import collect_heads, find_phrases, split_pieces
from memtui.scan.spots import Spot

_QUOTED = 60  # characters of what was found that are quoted in the words about it
_PROSE = frozenset({"md", "txt", "html"})  # formats in which tags are no data


def find_injections(text: str, path: str) -> Iterator[Spot]:
    """What in a text may have been injected, by rule, not in order. The words of each say why it is found."""
    fold = fold_text(text)
    pieces = split_pieces(fold.text)
    heads = collect_heads(pieces)
    for phrase, start, end in find_phrases(fold.text, pieces):
        yield _make_spot(phrase.rule, phrase.description, text, *fold.locate(start, end))
    for rule, why, start, end in find_payloads(text, heads, _is_order):
        yield Spot("planted", rule, start, end, why)
    if detect_format(path) in _PROSE and next(find_imitations(fold.text, heads), None):
        for why, start, end in find_imitations(blank_code(fold.text), heads):
            yield _make_spot("tool-imitation", why, text, *fold.locate(start, end))


def _is_order(decoded: str) -> bool:
    """Whether decoded text calls on a model to do something."""
    return next(find_phrases(decoded, split_pieces(decoded)), None) is not None


def _make_spot(rule: str, why: str, text: str, start: int, end: int) -> Spot:
    quoted = text[start : min(end, start + _QUOTED)].strip()
    more = "…" if end - start > _QUOTED else ""
    return Spot("planted", rule, start, end, f"{why}: “{to_one_line(quoted)}{more}”")
