"""How many of what they should find the rules find, and how much else: over the corpus, by rule and by family."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from memtui.scan.injection import find_injections
from memtui.scan.secrets import find_secrets
from memtui.scan.spots import Spot
from tests.audit.corpus import clean_notes
from tests.audit.corpus.labelled import Labelled, meant_notes, planted_notes, secret_notes


@dataclass(frozen=True)
class Rates:
    """How often rules were right.

    Attributes:
        right: What the rule found that should.
        missed: What it did not find.
        wrong: What a rule found where nothing is.
    """

    right: int
    missed: int
    wrong: int

    @property
    def precision(self) -> float:
        """How much of what was told is so."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """How much of what is so was told."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


@dataclass(frozen=True)
class Accuracy(Rates):
    """What came out for one family.

    Attributes:
        family: Which.
        clean: Clean notes that were looked at.
        alarmed: Clean notes of which something was told.
        by_rule: Clean notes of which each rule told something.
        misses: What was missed, a few words of each.
        alarms: What was told wrongly, a few words of each.
    """

    family: str
    clean: int
    alarmed: int
    by_rule: Counter[str] = field(default_factory=Counter)
    misses: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()


def accuracy() -> list[Accuracy]:
    """Precision and recall of the families that look at one text: secrets and what was planted."""
    clean = [Labelled(path, text) for path, text in clean_notes().items()]
    return [
        measured("secret", lambda text, _: find_secrets(text), list(secret_notes()), clean),
        measured("planted", find_injections, list(planted_notes()), [*clean, *meant_notes()]),
    ]


def measured(
    family: str,
    look: Callable[[str, str], Iterable[Spot]],
    labelled: Sequence[Labelled],
    clean: Sequence[Labelled],
) -> Accuracy:
    """Measure one family.

    Args:
        family: Its name.
        look: What finds spots in a text, given its path.
        labelled: Notes with something in each. A spot of any rule within it is no wrong one.
        clean: Notes with nothing.
    """
    right = missed = wrong = alarmed = 0
    by_rule: Counter[str] = Counter()
    misses, alarms = [], []
    for note in labelled:
        spots = list(look(note.text, note.path))
        inside = [spot for spot in spots if spot.start < note.end and note.start < max(spot.end, spot.start + 1)]
        if any(spot.rule == note.rule for spot in inside):
            right += 1
        else:
            missed += 1
            misses.append(f"{note.rule}: {note.text[note.start : note.end][:60]!r}")
        wrong += len(spots) - len(inside)
    for note in clean:
        spots = list(look(note.text, note.path))
        wrong += len(spots)
        alarmed += bool(spots)
        by_rule.update({spot.rule for spot in spots})
        alarms += [f"{spot.rule}: {note.path}: {note.text[spot.start : spot.end][:60]!r}" for spot in spots]
    return Accuracy(right, missed, wrong, family, len(clean), alarmed, by_rule, tuple(misses), tuple(alarms))
