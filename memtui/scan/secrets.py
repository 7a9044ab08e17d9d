"""Secrets in a note: keys by forms that their issuers have published, and what is named as a secret.

And nothing else: a rule that cries at every long word is a rule that nobody reads. A place is found once, by the rule
that knows most of it. The rules are in `rules/secrets.toml`.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memtui.notes.spans import find_long_numbers, make_numeric_outline
from memtui.scan.credentials import find_in_addresses, find_in_files, find_named, find_private_keys, find_signed_tokens
from memtui.scan.decoders import decode_lines, find_encoded, find_wrapped
from memtui.scan.passwords import find_assigned, find_beside
from memtui.scan.personal import find_accounts, find_cards, find_national_ids
from memtui.scan.rule_matches import NO_SECRET_RULES, SecretRules
from memtui.scan.spots import Spot
from memtui.scan.tokens import SEQUENTIAL_RULE, find_clues, find_long_words, find_tokens, join_words, lower_text
from memtui.scan.work_budget import WorkBudget


def find_secrets(text: str, budget: WorkBudget | None = None) -> Iterator[Spot]:
    """The secrets in a text, by rule, not in order. Of each, `masked` is what nobody is shown who did not ask."""
    spans, budget = find_long_words(text), budget or WorkBudget()
    others = list(find_wrapped(text, spans, budget))
    for decoded in decode_lines(text):
        words = find_long_words(decoded.text)
        others += _drop_overlaps(decoded.locate(each) for each in _start_detectors(decoded.text, words, budget))
    plain = _drop_overlaps(_start_detectors(text, spans, budget))
    yield from _merge_overlaps([*others, *plain]) if others else plain


_BY_NAME = ("password-assignment", "weak-password", SEQUENTIAL_RULE)
_WORK = 8_000_000
"""Characters of a text that are looked at again, as a part of something else."""
_MOST = 20_000
"""Secrets of one text that are looked for: whoever keeps more keeps them somewhere else."""


class SecretScan:
    """The secrets of a text, found once, however many ask, and only as far as its budget goes.

    Args:
        rules: Of a person's own files: what they find comes last, also where another rule has found it.
        path: Of the text's file, relative to the folder; for those rules.
    """

    def __init__(self, text: str, rules: SecretRules = NO_SECRET_RULES, path: str = "") -> None:
        self._text, self._path = text, path
        self._rules: SecretRules | None = rules
        self._budget = WorkBudget(_WORK)
        self._left = find_secrets(text, self._budget)
        self._found: list[Spot] = []
        self.is_cut = False

    def __iter__(self) -> Iterator[Spot]:
        at = 0
        while at < len(self._found) or self._find_next():
            yield self._found[at]
            at += 1

    def _find_next(self) -> bool:
        spot = next(self._left, None)
        if spot is not None and len(self._found) < _MOST:
            self._found.append(spot)
            return True
        self.is_cut = self.is_cut or spot is not None or self._budget.is_spent
        self._left = iter(())
        return self._apply_rules()

    def _apply_rules(self) -> bool:
        """Whether the person's own rules find something; they are asked once."""
        if self._rules is None:
            return False
        matches, self._rules = self._rules.find(self._text, self._path), None
        self._found += matches.spots
        self.is_cut = self.is_cut or matches.is_cut
        return bool(matches.spots)


def find_new_secrets(before: str, after: str) -> list[Spot]:
    """The secrets of a text that are certain by their issuer's shape and do not stand in another one, in order."""
    spans, lowered = find_long_words(after), lower_text(after)
    words = join_words(after, spans)
    sources = [find_private_keys(after), find_signed_tokens(after)]
    if words:
        sources += [find_tokens(after, words), find_named(after, lowered, find_clues(lowered))]
    found = [spot for spot in _drop_overlaps(sources) if spot.is_certain]
    new = [spot for spot in found if not before or after[slice(*_get_span(spot))] not in before]
    return sorted(new, key=_get_span)


def redact_spots(text: str, spots: Iterable[Spot]) -> str:
    """A text without some secrets: in the place of each stands what it was."""
    for spot in sorted(spots, key=_get_span, reverse=True):
        start, end = _get_span(spot)
        text = f"{text[:start]}[redacted: {spot.words}]{text[end:]}"
    return text


def _drop_overlaps(sources: Iterable[Iterator[Spot]]) -> Iterator[Spot]:
    """The spots of some detectors, without those that overlap a spot of an earlier one."""
    taken: list[tuple[int, int]] = []
    for source in sources:
        for spot in source:
            span = _get_span(spot)
            at = bisect_left(taken, span)
            if (at and taken[at - 1][1] > span[0]) or (at < len(taken) and taken[at][0] < span[1]):
                continue
            taken.insert(at, span)
            yield spot


def _get_span(spot: Spot) -> tuple[int, int]:
    """The characters of a secret, from and to."""
    return spot.masked or (spot.start, spot.end)


def _merge_overlaps(spots: list[Spot]) -> Iterator[Spot]:
    """Of spots over one another the one that knows most, or covers the others; it hides what all of them do.

    What stands there in two halves is one spot, though a half may look like a whole.
    """
    spots.sort(key=_get_span)
    at = 0
    while at < len(spots):
        start, end = _get_span(spots[at])
        group = [spots[at]]
        while at + len(group) < len(spots) and _get_span(following := spots[at + len(group)])[0] < end:
            end = max(end, _get_span(following)[1])
            group.append(following)
        at += len(group)
        best = min(map(_rank_knowledge, group))
        known = [spot for spot in group if _rank_knowledge(spot) == best]
        widest = [spot for spot in known if _get_span(spot) == (start, end)]
        yield widest[-1] if widest else replace(known[0], masked=(start, end))


def _rank_knowledge(spot: Spot) -> int:
    """0 for a rule that knows an issuer's form, more for one that knows the name before the value only."""
    return _BY_NAME.index(spot.rule) + 1 if spot.rule in _BY_NAME else 0


def _start_detectors(text: str, spans: list[tuple[int, int]], budget: WorkBudget) -> list[Iterator[Spot]]:
    """What looks for secrets, those first that know most."""
    lowered, words, outline = lower_text(text), join_words(text, spans), make_numeric_outline(text)
    clues, numbers = find_clues(lowered), find_long_numbers(text, outline)
    found = [find_private_keys(text), find_signed_tokens(text)]
    if words:
        found += [find_tokens(text, words), find_encoded(text, spans)]
    found += [find_named(text, lowered, clues, words), find_in_files(text, clues), find_in_addresses(text)]
    if numbers:
        found += [find_cards(text, outline), find_accounts(text, outline)]
    if numbers or words:
        found.append(find_national_ids(text, lowered, words, numbers))
    return [*found, find_assigned(text, lowered, clues, budget), find_beside(text, lowered, clues, budget)]
