"""What a mistyped word is likely to mean."""

import difflib
from collections.abc import Iterable


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that is most like a word; `None` if none is."""
    known = list(candidates)
    folded = {candidate.casefold(): candidate for candidate in reversed(known)}
    found = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    if found:
        return folded[found[0]]
    last = {candidate.casefold().rpartition(".")[2]: candidate for candidate in reversed(known)}
    found = difflib.get_close_matches(word.casefold().rpartition(".")[2], last, n=1, cutoff=0.75)
    return last[found[0]] if found else None
