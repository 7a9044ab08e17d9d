"""What a mistyped word is likely to mean: one measure of likeness and one sentence for every `Did you mean`."""

from collections.abc import Iterable


def find_nearest(word: str, candidates: Iterable[str], *, cutoff: float = 0.6, dotted: bool = False) -> str | None:
    """The candidate that is most like a word, whatever its case; `None` if none is. Of equals the first one.

    `cutoff` is the least likeness, from 0 to 1. `dotted`: the last part of a dotted name may be alike alone, such as
    `light` and `ui.light`.
    """
    import difflib  # noqa: PLC0415 - start-up: only typing errors need it

    known = list(candidates)
    folded = {candidate.casefold(): candidate for candidate in reversed(known)}
    if found := difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=cutoff):
        return folded[found[0]]
    if not dotted:
        return None
    last = {candidate.casefold().rpartition(".")[2]: candidate for candidate in reversed(known)}
    found = difflib.get_close_matches(word.casefold().rpartition(".")[2], last, n=1, cutoff=0.75)
    return last[found[0]] if found else None


def format_suggestion(
    word: str,
    candidates: Iterable[str],
    otherwise: str = "",
    *,
    shown: str = "{}",
    cutoff: float = 0.6,
    dotted: bool = False,
) -> str:
    """`Did you mean ls?`, or the sentence `otherwise`; `shown` is the name's format, such as `'{}'`."""
    nearest = find_nearest(word, candidates, cutoff=cutoff, dotted=dotted)
    return otherwise if nearest is None else f"Did you mean {shown.format(nearest)}?"
