"""Notes of which it is known what should be found in them: the clean ones, with one thing put into each.

The secrets are made when they are asked for, and are nobody's; see `memtui.scan.samples`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from memtui.audit.rules.secrets import RULES as SECRETS
from memtui.scan.samples import make_sample
from tests.audit.corpus import SEED, clean_notes
from tests.audit.corpus.attacks import ATTACKS, MISSED
from tests.audit.corpus.maker import Maker
from tests.audit.corpus.plants import MEANT, PLANTS

_EACH = 8
"""Notes for each rule about secrets."""
_CARRIERS = (
    "Use {} for staging until Friday.",
    "- key of the demo account: `{}`",
    "export SERVICE_VALUE={}",
    '{{"service": "demo", "value": "{}"}}',
    "| demo | {} | Ada |",
    "He wrote: “{}”",
    "```\nrun --with {}\n```",
    "value: '{}'  # rotate in March",
)
_OWN_LINES = frozenset(
    {"private-key", "google-account", "password-assignment", "authorization-header", "azure-signature"}
)
"""What brings its own words with it."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A note of which it is known what is in it.

    Attributes:
        path: Where it lies.
        text: What it says.
        rule: The rule that should find something; empty where none should.
        start: Where in the text that stands.
        end: The character behind it.
    """

    path: str
    text: str
    rule: str = ""
    start: int = 0
    end: int = 0


def secret_notes() -> Iterator[Labelled]:
    """Notes with a secret each, for each rule about secrets several."""
    maker = Maker(SEED + 1)
    hosts = [(path, text) for path, text in clean_notes().items() if path.endswith(".md") and len(text) < 4_000]
    for rule in SECRETS:
        for number in range(_EACH):
            value = make_sample(rule.id, number)
            line = value if rule.id in _OWN_LINES else _CARRIERS[number % len(_CARRIERS)].format(value)
            yield _within(maker, maker.one(hosts), line, rule.id)


def planted_notes() -> Iterator[Labelled]:
    """Notes with something planted in each."""
    maker = Maker(SEED + 2)
    hosts = [(path, text) for path, text in clean_notes().items() if path.endswith(".md") and "```" not in text]
    for rule, lines in PLANTS.items():
        for line in lines:
            for _ in range(2):
                yield _within(maker, maker.one(hosts), line, rule)
    for rule, lines in ATTACKS.items():
        for line in lines:
            yield _within(maker, maker.one(hosts), line, rule)
    for line in MISSED:
        yield _within(maker, maker.one(hosts), line, "assistant-address")


def meant_notes() -> Iterator[Labelled]:
    """Notes of orders that are meant to be there, and what reads like a plant."""
    for number, line in enumerate(MEANT.strip().split("\n")):
        yield Labelled(f"meant/{number:02d}.md", f"# A rule\n\n- {line}\n")


def _within(maker: Maker, host: tuple[str, str], line: str, rule: str) -> Labelled:
    """A note with a line put behind one of its paragraphs, not into code or front matter."""
    path, text = host
    fences = [
        place for place in range(len(text)) if text.startswith("\n\n", place) and text.count("```", 0, place) % 2 == 0
    ]
    places = [place for place in fences if not text.startswith("---") or text.find("\n---", 3, place) > 0]
    at = maker.one(places) if places else len(text)
    whole = f"{text[:at]}\n\n{line}\n{text[at:]}"
    return Labelled(path, whole, rule, at + 2, at + 2 + len(line))
