"""Names of notes that stand in a text, and are no link there.

All names are looked for at once, word by word, so that the time grows with the text and not with the number of names.
What stands in code, in front matter, in an address or in a link is no mention.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memtui.core.lazy_dataclass import dataclass
from memtui.knowledge.model import ParsedNote
from memtui.notes.front_matter import find_front_matter_end
from memtui.notes.links import find_links_in
from memtui.notes.spans import blank_code

_WORD = re.compile(r"[^\W_]+")
_BETWEEN = frozenset(" _-./:'\u2019\n\t")
_MOST_BETWEEN = 2  # characters between two words of a name
_MOST_WORDS = 12  # of a name that is looked for
_SHORTEST = 4  # characters of a name of one word: a shorter one is a word of the language
_MOST = 1_000  # mentions of one text
_FEW = 20  # names, up to which a search for each is the fastest
_PATHS = ""
"""The key of the notes of a name that ends there; no word is empty."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text.

    Attributes:
        source: The path of the note in which it stands.
        targets: The paths of the notes that are called so.
        line: From 1.
        span: The columns in that line, in characters. Where the name goes on in the next line, up to the line's end.
        words: As it is written there.
    """

    source: str
    targets: tuple[str, ...]
    line: int
    span: tuple[int, int]
    words: str


class MentionFinder:
    """Finds the names of notes in texts."""

    def __init__(self, notes: Iterable[ParsedNote]) -> None:
        self._first: dict[str, Any] = {}
        for note in notes:
            for name in {*note.names, _get_stem(note.path)}:
                self._add(name, note.path)

    def _add(self, name: str, path: str) -> None:
        words = [found.group().casefold() for found in _WORD.finditer(name[:400])]
        if not words or len(words) > _MOST_WORDS:
            return
        if len(words) == 1 and (len(words[0]) < _SHORTEST or words[0].isdecimal()):
            return
        node = self._first
        for word in words:
            node = node.setdefault(word, {})
        node.setdefault(_PATHS, set()).add(path)

    def may_mention(self, text: str) -> bool:
        """Whether a text may hold a name, by its first word; faster than to look."""
        if len(self._first) > _FEW:
            return not self._first.keys().isdisjoint(map(str.casefold, _WORD.findall(text)))
        lower = text.casefold()
        return any(word in lower for word in self._first)

    def find(self, text: str, path: str) -> list[Mention]:
        """The names of other notes in a note, in order; of overlapping ones the first and longest."""
        words = list(_WORD.finditer(_blank_all(text, path)))
        folded = [found.group().casefold() for found in words]
        found: list[Mention] = []
        at, line, line_start = 0, 1, 0
        while at < len(words) and len(found) < _MOST:
            end, paths = self._match(words, folded, at)
            targets = tuple(sorted(paths - {path})) if end else ()
            if not targets:
                at += 1
                continue
            start, stop = words[at].start(), words[end - 1].end()
            breaks = text.count("\n", line_start, start)
            if breaks:
                line, line_start = line + breaks, text.rfind("\n", 0, start) + 1
            until = text.find("\n", start, stop)
            span = (start - line_start, (stop if until < 0 else until) - line_start)
            found.append(Mention(path, targets, line, span, text[start:stop]))
            at = end
        return found

    def _match(self, words: list[re.Match[str]], folded: list[str], at: int) -> tuple[int, set[str]]:
        """The end of the longest name that begins at a word, and the notes of it; 0 for none."""
        node = self._first.get(folded[at])
        best: tuple[int, set[str]] = (0, set())
        while node is not None:
            at += 1
            if _PATHS in node:
                best = at, node[_PATHS]
            if at >= len(words) or not _are_beside(words[at - 1], words[at]):
                break
            node = node.get(folded[at])
        return best


def _are_beside(left: re.Match[str], right: re.Match[str]) -> bool:
    between = left.string[left.end() : right.start()] if right.start() - left.end() <= _MOST_BETWEEN else "#"
    return _BETWEEN.issuperset(between)


def _get_stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _blank_all(text: str, path: str) -> str:
    """The text with all that is no plain text as blanks; each character keeps its place."""
    start = find_front_matter_end(text)
    body = blank_code(text)
    signs = list(body)
    signs[:start] = " " * start
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    for link in find_links_in(text, path, body, start):
        first, last = (starts[link.line - 1] + column for column in link.span)
        signs[first:last] = "\0" * (last - first)  # no blank: a name does not go on behind a link
    return "".join(signs)


def find_mentions(
    notes: Iterable[ParsedNote], texts: Iterable[tuple[str, str]], linked: Mapping[str, Iterable[str]]
) -> Iterator[Mention]:
    """The names of some notes in some texts, without those whose note the text links to anyway.

    Args:
        notes: Whose names are looked for.
        texts: Where: paths and texts.
        linked: The paths of the notes that each of these links to.
    """
    for _, found in find_mentions_by_text(notes, texts, linked):
        yield from found


def find_mentions_by_text(
    notes: Iterable[ParsedNote], texts: Iterable[tuple[str, str]], linked: Mapping[str, Iterable[str]]
) -> Iterator[tuple[str, list[Mention]]]:
    """The same text by text: each that has mentions, with them."""
    finder = MentionFinder(notes)
    for path, text in texts:
        if finder.may_mention(text):
            there = set(linked.get(path, ()))
            if found := [each for each in finder.find(text, path) if not there.issuperset(each.targets)]:
                yield text, found
