"""What is said to a model in a text.

Notes are full of orders for an agent, and rightly: to use a tool, never to do this, to ignore a directory. What is
told here is another kind of order: to drop what it was told before, to be somebody else, to keep things from the
person it works for, to write itself into further notes.
"""

from collections.abc import Iterator

from memtui.notes.planted.identities import IDENTITIES
from memtui.notes.planted.instructions import INSTRUCTIONS
from memtui.notes.planted.phrase import BEHIND, FURTHEST, Phrase, Piece, heads_of, may_be_unparted
from memtui.notes.planted.secrecy import SECRECY
from memtui.notes.planted.tongues import TONGUES

PHRASES = (*INSTRUCTIONS, *IDENTITIES, *SECRECY, *TONGUES)

_UNPARTED: list[tuple[str, int]] = []
"""Words of scripts without blanks, and the numbers of the phrases that are looked for near them."""
_BY_HEAD: dict[str, set[int]] = {}
"""The numbers of all other phrases by the first letters of what they are looked for near."""
for _number, _phrase in enumerate(PHRASES):
    for _head in _phrase.kinds[0].heads:
        _BY_HEAD.setdefault(_head, set()).add(_number)
    _UNPARTED += [(word, _number) for word, heads in _phrase.kinds[0].words if heads is None]
_FIRST = frozenset(_BY_HEAD)
_KNOWN = frozenset(head for each in PHRASES for kind in each.kinds for _, heads in kind.words for head in heads or ())


_LONG = 4_000
"""Characters that are looked through at once: in a long text nearly all words stand somewhere."""


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a folded text, and the first letters of the words in and around each."""
    if len(text) <= _LONG:
        return [Piece(0, len(text), heads_of(text))]
    return [
        Piece(start, start + _LONG, heads_of(text[max(0, start - FURTHEST) : start + _LONG + BEHIND]))
        for start in range(0, len(text), _LONG)
    ]


def heads_in(pieces: list[Piece]) -> frozenset[str]:
    """The first letters of all words of a text, given its pieces."""
    return pieces[0].heads.union(*[piece.heads for piece in pieces[1:]])


def phrases(text: str, pieces: list[Piece]) -> Iterator[tuple[Phrase, int, int]]:
    """What is said to a model in a folded text, which is looked through piece by piece: the phrase, and where."""
    told: set[tuple[str, int, int]] = set()
    for piece in pieces:
        for phrase, start, end in _in_piece(text, piece):
            if (phrase.rule, start, end) not in told:
                told.add((phrase.rule, start, end))
                yield phrase, start, end


def _in_piece(text: str, piece: Piece) -> Iterator[tuple[Phrase, int, int]]:
    numbers: set[int] = set()
    for head in _FIRST & piece.heads:
        numbers |= _BY_HEAD[head]
    if may_be_unparted(text[piece.start : piece.end]):
        numbers.update([number for word, number in _UNPARTED if text.find(word, piece.start, piece.end + 8) >= 0])
    if not numbers:
        return
    piece = piece._replace(heads=_KNOWN & piece.heads)
    for number in sorted(numbers):
        phrase = PHRASES[number]
        for start, end in phrase.places(text, piece):
            yield phrase, start, end
