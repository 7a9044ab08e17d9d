"""Secrets in base64, as the files of Kubernetes and of containers hold them: whoever can read can decode them."""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memtui.notes.secrets.named import private_keys, signed_tokens
from memtui.notes.secrets.passwords import in_addresses
from memtui.notes.secrets.shaped import long_spans, shaped, words_of
from memtui.notes.spots import Spot

_FEWEST = 24
_WORD = re.compile(rf"[A-Za-z0-9+/_-]{{{_FEWEST},}}(?:={{1,2}}(?![A-Za-z0-9+/=]))?")
_URL_SAFE = str.maketrans("-_", "+/")


def encoded(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Spot]:
    """Secrets that stand in base64; what is masked is all of it.

    Args:
        text: The text.
        spans: Its long words, from and to.
    """
    for start, end in spans:
        if end - start < _FEWEST:
            continue
        for word in _WORD.finditer(text, start, end):
            written = word.group()
            if written.lower() == written or written.upper() == written:
                continue  # of one case only, it says nothing
            said = decoded(written)
            spot = next(_in(said), None) if said else None
            if spot is not None:
                yield replace(
                    spot, start=word.start(), end=word.end(), words=f"{spot.words}, in base64", masked=word.span()
                )


def decoded(word: str) -> str:
    """What a word says in base64; empty if it is none, or says what nobody could read."""
    word = word.rstrip("=").translate(_URL_SAFE)
    try:
        said = base64.b64decode(word + "=" * (-len(word) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        return ""
    return said if said.isprintable() or said.translate(_ENDS).isprintable() else ""


_ENDS = str.maketrans("\n\r\t", "   ")


def _in(said: str) -> Iterator[Spot]:
    yield from private_keys(said)
    yield from signed_tokens(said)
    yield from shaped(said, words_of(said, long_spans(said)))
    yield from in_addresses(said)
