"""All observations of a folder or of a note as a table: filtered by what a person types, and sorted."""

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from memtui.core.lazy_dataclass import dataclass
from memtui.knowledge.graph import Graph
from memtui.knowledge.model import Observation

SortKey = Literal["note", "category", "tag", "time"]
SORT_KEYS: tuple[SortKey, ...] = get_args(SortKey)
_NAMES = ("category", "tag", "note")


@dataclass(frozen=True, slots=True)
class NotedObservation:
    """An observation, and the note that states it."""

    path: str
    title: str
    observation: Observation


@dataclass(frozen=True, slots=True)
class ObservationFilter:
    """Which observations are wanted, in lower case; empty for all, and several of a sort are either of them.

    Attributes:
        notes: Parts of the path or the title.
        words: Each has to be found in the observation.
    """

    categories: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def accepts(self, each: NotedObservation) -> bool:
        """Whether an observation is wanted."""
        stated = each.observation
        if self.categories and stated.category.casefold() not in self.categories:
            return False
        if self.tags and self.tags.isdisjoint(tag.casefold() for tag in stated.tags):
            return False
        where = f"{each.path} {each.title}".casefold()
        if self.notes and not any(part in where for part in self.notes):
            return False
        text = f"{stated.category} {stated.content} {stated.context}".casefold()
        return all(word in text for word in self.words)


def collect_observations(graph: Graph, path: str | None = None) -> list[NotedObservation]:
    """The observations of a note, or of all notes, in the order of paths and lines.

    Of all notes, lines that have only a tag are left out: those are no statements in most folders.
    """
    notes = [graph.get_note(path)] if path is not None else sorted(graph.notes, key=lambda note: note.path)
    return [
        NotedObservation(note.path, note.title, each)
        for note in notes
        if note is not None
        for each in note.observations
        if each.category or path is not None
    ]


def parse_observation_filter(text: str) -> ObservationFilter:
    """Read `category:decision tag:#money note:billing some words`."""
    chosen: dict[str, list[str]] = {name: [] for name in _NAMES}
    words: list[str] = []
    for word in text.casefold().split():
        name, colon, value = word.partition(":")
        if not colon or name not in chosen:
            words.append(word)
        elif value:
            chosen[name].append(value)
    tags = frozenset(each.removeprefix("#") for each in chosen["tag"])
    return ObservationFilter(frozenset(chosen["category"]), tags, tuple(chosen["note"]), tuple(words))


def sort_observations(found: Iterable[NotedObservation], by: SortKey) -> Sequence[NotedObservation]:
    """The observations in an order; what has no category, tag or time comes last, and equal ones stay as they are."""

    def get_key(each: NotedObservation) -> tuple[bool, str]:
        stated = each.observation
        match by:
            case "note":
                word = each.path
            case "category":
                word = stated.category.casefold()
            case "tag":
                word = min((tag.casefold() for tag in stated.tags), default="")
            case "time":
                word = (stated.time.start or stated.time.end) if stated.time is not None else ""
        return not word, word

    return sorted(found, key=get_key)
