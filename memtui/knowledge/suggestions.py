"""What may be done to a folder's notes so that they tie together: proposals, which nothing carries out by itself.

Here are those that the graph tells: notes that name each other without a link, and notes without the type or the tag
that their neighbours have. `memtui.flows.suggestions` adds what the audit finds, and carries out what is accepted.
"""

import hashlib
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.knowledge.graph import Edge, get_folder
from memtui.knowledge.mentions import Mention, find_mentions_by_text
from memtui.knowledge.model import ParsedNote
from memtui.knowledge.schemas import SCHEMA_TYPE
from memtui.notes.memory_index import is_auto_loaded

SuggestionKind = Literal["index", "link", "categorise", "merge", "split"]
SUGGESTION_KINDS: tuple[SuggestionKind, ...] = get_args(SuggestionKind)
MOST_SUGGESTIONS = 2_000
"""Of each kind."""
_WORD = re.compile(r"[^\W_]+")
_DIGITS = 10
_LONGEST = 60  # characters of a name in a reason
_MOST_LINKS = 20  # suggested for one note
_RARE = 3
"""In how many notes a word in lower case may stand to be taken for a name."""
_FEWEST, _SHARE = 3, 0.75
"""How many neighbours have to agree, and which share of them."""
_NO_NAMES = frozenset({"readme", "index", "_index", "home", "notes", "todo", "inbox", "memory"})
"""Names of notes that are words of the language when they stand in a text."""

_COMMANDS = {"merge": "memtui merge", "split": "memtui split"}

IsKept = Callable[[str], bool]
"""Whether a note is not to be changed, by its path."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something that may be done.

    Attributes:
        kind: One of `SUGGESTION_KINDS`.
        notes: The paths of the notes that it is about, the one that would change first.
        reason: Why, as one line of words.
        is_acceptable: Whether memtui can do it in one step; else a person has to.
        line: Of the first note, from 1; 0 for all of it.
        field: With `categorise`, `type` or `tags`; else empty.
        value: With `categorise`, the type or the tag; else empty.
        mention: With `link`, the name that would become a link.
    """

    kind: SuggestionKind
    notes: tuple[str, ...]
    reason: str
    is_acceptable: bool = True
    line: int = 0
    field: str = ""
    value: str = ""
    mention: Mention | None = None

    @property
    def id(self) -> str:
        """The same as long as the same is suggested of the same notes, wherever in them: ten hexadecimal digits."""
        parts = "\0".join((self.kind, *self.notes, self.field, self.value))
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def format_command(suggestion: Suggestion) -> str:
    """The command that does the same and has more options, on one line; empty where there is none."""
    command = _COMMANDS.get(suggestion.kind)
    return " ".join([command, *(to_one_line(shlex.quote(path)) for path in suggestion.notes)]) if command else ""


def describe_suggestion(suggestion: Suggestion) -> str:
    """What would be done, as a clause on one line: `link a.md to b.md`."""
    names = [to_one_line(path) for path in suggestion.notes]
    match suggestion.kind:
        case "index":
            return f"name {names[0]} in {names[1]}"
        case "link":
            return f"link {names[0]} to {names[1]}"
        case "categorise":
            what = "the type" if suggestion.field == "type" else "the tag"
            return f"give {names[0]} {what} {to_one_line(suggestion.value)}"
        case "merge":
            return f"merge {names[1]} into {names[0]}"
        case "split":
            return f"split {names[0]}"


# Links


def suggest_links(
    notes: Sequence[ParsedNote], edges: Iterable[Edge], texts: Iterable[tuple[str, str]], is_kept: IsKept
) -> list[Suggestion]:
    """Notes that name another one and have no link to it, each pair once, by path.

    A name that several notes have is left out, and so is a word in lower case that stands in more than a few notes: it
    is rather a word of the language. Headings are left as they are.

    Args:
        texts: What the notes say; of those that are not to be changed, nothing is suggested.
    """
    linked: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        linked[edge.source].update(edge.targets)
    named = [note for note in notes if _is_named(note)]
    names = {note.path: {_normalize(name) for name in note.names} for note in notes}
    own = ((path, text) for path, text in texts if not (is_auto_loaded(path) or is_kept(path)))
    found: dict[tuple[str, str], Mention] = {}
    sources: dict[tuple[str, str], set[str]] = defaultdict(set)
    plain: set[tuple[str, str]] = set()
    """The pairs of which the first name is only a word, as far as its letters tell."""
    for text, mentions in find_mentions_by_text(named, own, linked):
        lines = text.split("\n")
        for mention in mentions:
            words, line = _normalize(mention.words), lines[mention.line - 1]
            if len(mention.targets) != 1 or words in names[mention.source] or not _has_letters(words):
                continue
            pair = mention.source, mention.targets[0]
            sources[words, pair[1]].add(pair[0])
            if pair not in found and not line.lstrip(" >").startswith("#"):
                found[pair] = mention
                if _is_plain_word(mention.words, line[: mention.span[0]]):
                    plain.add(pair)
    suggested: list[Suggestion] = []
    count: Counter[str] = Counter()
    for (source, target), mention in sorted(found.items()):
        if (source, target) in plain and len(sources[_normalize(mention.words), target]) > _RARE:
            continue
        count[source] += 1
        if count[source] <= _MOST_LINKS:
            reason = f"names it without a link: {_shorten(mention.words)}"
            suggested.append(Suggestion("link", (source, target), reason, line=mention.line, mention=mention))
    return suggested[:MOST_SUGGESTIONS]


def _is_named(note: ParsedNote) -> bool:
    """Whether the name of a note in a text is likely to mean it."""
    stem = note.path.rpartition("/")[2].partition(".")[0].casefold()
    return stem not in _NO_NAMES and note.type != SCHEMA_TYPE and not is_auto_loaded(note.path)


def _normalize(name: str) -> str:
    """A name as it is looked for: its words, in lower case."""
    return " ".join(_WORD.findall(name.casefold()))


def _has_letters(words: str) -> bool:
    return any(sign.isalpha() for sign in words)


def _is_plain_word(words: str, before: str) -> bool:
    """Whether a name is written as any word is: in lower case, or with a capital at the start of a sentence."""
    start = before.rstrip(" \t-*+>|_\"'([0123456789")
    return words.isalpha() and (words.islower() or not start or start.endswith((".", ":", "!", "?")))


# Types and tags


def suggest_categories(notes: Sequence[ParsedNote], edges: Sequence[Edge], is_kept: IsKept) -> list[Suggestion]:
    """Notes without the type or the tag that their neighbours have, by path."""
    known = {note.path: note for note in notes}
    ways = [edge for edge in edges if len(edge.targets) == 1 and edge.targets[0] in known]
    by_folder: dict[str, list[ParsedNote]] = defaultdict(list)
    for note in notes:
        if not _is_left_out(note, is_kept):
            by_folder[get_folder(note.path)].append(note)
    related: dict[str, set[str]] = defaultdict(set)
    into: dict[str, set[str]] = defaultdict(set)
    beside: dict[str, set[str]] = defaultdict(set)
    for edge in ways:
        source, target = edge.source, edge.targets[0]
        if edge.relation:
            related[edge.relation].add(target)
            into[target].add(edge.relation)
        if source != target and not (is_auto_loaded(source) or is_auto_loaded(target)):
            beside[source].add(target)
            beside[target].add(source)
    types = _CommonTypes(by_folder, related, known)
    suggested: list[Suggestion] = []
    for note in sorted(notes, key=lambda note: note.path):
        if _is_left_out(note, is_kept) or note.type == SCHEMA_TYPE:
            continue
        if not note.type and (found := types.find(note, into.get(note.path, ()))) is not None:
            suggested.append(Suggestion("categorise", (note.path,), found[1], field="type", value=found[0]))
        suggested += _suggest_tags(note, [known[path] for path in sorted(beside.get(note.path, ()))])
    return suggested[:MOST_SUGGESTIONS]


def _is_left_out(note: ParsedNote, is_kept: IsKept) -> bool:
    stem = note.path.rpartition("/")[2].partition(".")[0].casefold()
    return stem in _NO_NAMES or is_auto_loaded(note.path) or is_kept(note.path)


class _CommonTypes:
    """Which type the notes of a directory have in common, and those that a relation leads to."""

    def __init__(
        self,
        by_folder: Mapping[str, Sequence[ParsedNote]],
        related: Mapping[str, Iterable[str]],
        known: Mapping[str, ParsedNote],
    ) -> None:
        self._by_folder = {name: _count_types(found) for name, found in by_folder.items()}
        self._by_relation = {name: _count_types([known[path] for path in targets]) for name, targets in related.items()}

    def find(self, note: ParsedNote, relations: Iterable[str]) -> tuple[str, str] | None:
        """The type that a note without one is likely to have, and why; `None` if nothing tells."""
        for relation in sorted(relations):
            if (common := _find_common(self._by_relation[relation])) is not None:
                kind, count, total = common
                where = f"notes that the relation {_shorten(relation)} leads to"
                return kind, f"{count:,} of {total:,} {where} have the type {_shorten(kind)}"
        folder = get_folder(note.path)
        if folder and (common := _find_common(self._by_folder[folder])) is not None:
            kind, count, total = common
            return kind, f"{count:,} of {total:,} notes beside it have the type {_shorten(kind)}"
        return None


def _count_types(notes: Iterable[ParsedNote]) -> Counter[str]:
    """How many notes there are of each type; of those without one, under the empty word."""
    return Counter("" if note.type == SCHEMA_TYPE else note.type for note in notes)


def _find_common(counts: Counter[str]) -> tuple[str, int, int] | None:
    """The type that enough have of those that have one, how many do, and of how many; `None` for none.

    At least half of all have to have a type: else to have none is the habit.
    """
    typed = counts.total() - counts[""]
    if 2 * typed < counts.total():
        return None
    for kind, count in counts.most_common(2):
        if kind and count >= _FEWEST and count >= _SHARE * typed:
            return kind, count, typed
    return None


def _suggest_tags(note: ParsedNote, beside: Sequence[ParsedNote]) -> Iterator[Suggestion]:
    """The tags that linked notes have in common."""
    counts = Counter(tag for other in beside for tag in other.tags)
    has = {tag.casefold() for tag in note.tags}
    for tag, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
        if count < _FEWEST or count < _SHARE * len(beside):
            return
        if tag.casefold() not in has:
            what = f"{count:,} of {format_count(len(beside), 'linked note')} have the tag #{_shorten(tag)}"
            yield Suggestion("categorise", (note.path,), what, field="tags", value=tag)


def _shorten(word: str) -> str:
    shown = to_one_line(word)
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "..."
