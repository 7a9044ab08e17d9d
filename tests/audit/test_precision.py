"""How often the rules are right, over a corpus of notes as people and agents write them."""

from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from memtui.audit.registry import RULES
from memtui.audit.rules import injection, orders, secrets
from memtui.scan.flags import find_spots
from tests.audit.corpus import clean_notes
from tests.audit.corpus.accuracy import Accuracy, accuracy
from tests.audit.corpus.labelled import planted_notes, secret_notes

FLOORS = {"secret": (0.99, 0.99), "planted": (0.97, 0.95)}
"""Precision and recall, at least. The corpus and the rules are by the same hands: other notes will do worse."""
_A_TENTH = 0.1


@cache
def _accuracy() -> dict[str, Accuracy]:
    return {measured.family: measured for measured in accuracy()}


@pytest.mark.parametrize("family", FLOORS)
def test_precision_and_recall_are_above_their_floors(family: str) -> None:
    measured = _accuracy()[family]
    precision, recall = FLOORS[family]
    assert measured.precision >= precision, measured.alarms
    assert measured.recall >= recall, measured.misses


def test_no_clean_note_has_a_secret() -> None:
    assert _accuracy()["secret"].alarms == ()


def test_every_rule_of_these_families_has_notes_that_it_should_find() -> None:
    assert {note.rule for note in secret_notes()} == {rule.id for rule in secrets.RULES}
    assert {note.rule for note in planted_notes()} == {rule.id for rule in injection.RULES} - {
        rule.id for rule in orders.RULES
    }


def test_no_rule_over_one_text_that_is_on_fires_on_a_tenth_of_clean_notes() -> None:
    notes = clean_notes()
    fired: Counter[str] = Counter()
    for path, text in notes.items():
        fired.update({spot.rule for spot in find_spots(text, path)})
    loud = {rule: count for rule, count in fired.items() if count > _A_TENTH * len(notes)}
    assert [rule for rule in loud if rule not in RULES or RULES[rule].is_on] == []


def test_the_corpus_is_large_of_many_kinds_and_the_same_in_every_run() -> None:
    notes = clean_notes()
    assert len(notes) >= 400
    assert len({path.rpartition(".")[2] for path in notes}) >= 8
    assert len(set(notes.values())) == len(notes)
    assert notes == clean_notes()
    scripts: list[Callable[[str], bool]] = [
        lambda letter: "\u4e00" <= letter <= "\u9fff",
        lambda letter: "\u0600" <= letter <= "\u06ff",
        lambda letter: "\u0590" <= letter <= "\u05ff",
        lambda letter: "\U0001f300" <= letter <= "\U0001faff",
    ]
    for is_of in scripts:
        assert any(any(map(is_of, text)) for text in notes.values())
