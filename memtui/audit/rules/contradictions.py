"""Notes that give one thing two values: a time zone here, another one there.

Only lines of a key and a value are compared, only keys that `memtui/scan/rules/upkeep.toml` lists, and only values that
are written in one of the forms listed there: `CET` and `Europe/Berlin` may be the same, `pytest` and `vitest` are used
side by side. Both lines stand in one section of one note: what two notes say is mostly about two things. What is dated,
struck through or under a heading of the past is no contradiction.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from memtui.audit.context import DATED, AuditContext, LineOffsets, Note, is_dated_note, iter_prose_notes
from memtui.audit.model import Hit
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.notes.formats import get_note_type
from memtui.notes.front_matter import find_front_matter_end
from memtui.notes.spans import blank_fences
from memtui.scan.ruleset import Entry, load_rules

_RULE = "contradiction"
IDS = (_RULE,)
_ENTRY = re.compile(
    r"(?P<indent>[ \t]{0,12})(?:[-*+][ \t]{1,4})?(?:\[[ xX]\][ \t])?(?:\*\*|__|`)?(?P<key>[^\W\d_][\w '’/-]{0,60}?)"
    r"(?:\*\*|__|`)?[ \t]?:(?:\*\*|__)?[ \t]{1,8}(?P<value>\S.{0,200})$"
)
_ROW = re.compile(
    r"[ \t]{0,4}\|[ \t]{0,20}(?:\*\*|__|`)?(?P<key>[^\W\d_][\w '’/-]{0,60}?)(?:\*\*|__|`)?[ \t]{0,40}\|[ \t]{0,20}"
    r"(?P<value>[^|\s][^|]{0,200}?)[ \t]{0,80}\|[ \t]*$"
)
"""A row of a table of two columns."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]++([^ \t].{0,199})(?<![ \t#])[ \t#]*+$")
_LEADING = re.compile(
    r"(?:(?:the|my|your|his|her|their|current|preferred|favou?rite|primary|main|default|local|user(?: s)?)\s+)+"
)
_NOT_WORD = re.compile(r"[\W_]+")
_LONGEST_LINE = 400
_LONGEST_QUALIFIER = 3  # words before a key that say what it is of: `API port`, `Python version`
_COMPARED = 20  # with how many facts of the same each is compared
_MOST = 400  # entries of one note that are compared; a note of more is a table of data


class _Key(NamedTuple):
    name: str
    forms: tuple[re.Pattern[str], ...]
    """How a value is written; only values of one form exclude each other."""
    of_user: bool
    """Whether many things in a folder have it, so that only that of the user is compared."""
    is_qualified: bool
    """Whether it says nothing without what it is of."""


class _KeyFact(NamedTuple):
    """One key with its value, and what they are about."""

    path: str
    line: int
    start: int
    end: int
    about: tuple[str, ...]
    """What it is about: of two facts about the same, each key has one value."""
    key: str
    display_value: str
    form: int
    value: str


def _get_entry() -> Entry:
    return load_rules("upkeep")[_RULE]


@cache
def _get_words(name: str) -> frozenset[str]:
    return frozenset(_get_entry().get_words(name))


@cache
def _load_keys() -> Mapping[str, _Key]:
    """The keys, by each way to write them."""
    found: dict[str, _Key] = {}
    for each in _get_entry().get("keys"):
        forms = tuple(map(re.compile, each["forms"]))
        key = _Key(each["name"], forms, each.get("of_user", False), each.get("qualified", False))
        found.update(dict.fromkeys((each["name"], *each.get("aliases", ())), key))
    return found


@cache
def _compile_keys() -> re.Pattern[str]:
    """What a note must hold to be looked at more closely."""
    return re.compile("|".join(key.replace(" ", "[ _-]") for key in _load_keys()), re.IGNORECASE)


def find_contradictions(subject: AuditContext) -> Iterator[Hit]:
    """Facts about the same, with values that exclude each other."""
    facts: dict[tuple[object, ...], list[_KeyFact]] = {}
    for note, text in iter_prose_notes(subject):
        subject.check_cancelled()
        for fact in _read_facts(note, text):
            facts.setdefault((fact.about, fact.key, fact.form), []).append(fact)
    values = format_count(sum(map(len, facts.values())), "value")
    subject.log.counted["values"] = f"no contradiction among {values} of {format_count(len(facts), 'key')}"
    for group in facts.values():
        for at, fact in enumerate(group):
            first = next((each for each in group[: min(at, _COMPARED)] if _are_exclusive(each, fact)), None)
            if first is not None:
                words = (
                    f"{fact.key} is {to_one_line(fact.display_value)} here and "
                    f"{to_one_line(first.display_value)} in line {first.line}"
                )
                about: dict[str, str | int | float] = {"key": fact.key, "of": first.path, "of_line": first.line}
                yield Hit(_RULE, fact.path, words, start=fact.start, end=fact.end, facts=about)


def _read_facts(note: Note, text: str) -> list[_KeyFact]:
    """What a note says of whom; nothing if it is about a day, or about the past."""
    if (":" not in text and "|" not in text) or is_dated_note(note.path) or not _compile_keys().search(text):
        return []
    end = find_front_matter_end(text)
    words = set(_split_name(note.path))
    is_user = bool(words & _get_words("user")) or (
        "user" in text[:end].casefold() and get_note_type(note.path, text) == "user"
    )
    found = list(_read_lines(note, text, end, is_user))
    return _drop_records(found) if len(found) <= _MOST else []


def _read_lines(note: Note, text: str, end: int, is_user: bool) -> Iterator[_KeyFact]:
    """The facts in the lines behind the front matter."""
    lines = LineOffsets(text)
    for number, line, headings, parents in _iter_lines(text, end):
        if ":" not in line and "|" not in line:
            continue
        found = _ENTRY.match(line) or _ROW.match(line)
        known = _find_key(found["key"]) if found is not None else None
        if found is None or known is None or any(_is_past(name) for _, name in headings) or _is_past(line):
            continue
        key, qualifier, names_user = known
        if (key.of_user and not (is_user or names_user)) or (key.is_qualified and not qualifier):
            continue
        shown = found["value"].strip(" `*_\"'.")
        value = " ".join(shown.casefold().split())
        value = _get_entry().get("spellings").get(value, value)
        form = next((at for at, form in enumerate(key.forms) if form.fullmatch(value)), None)
        if form is None:
            continue
        context = _describe_context(headings, parents)
        about = (note.path, qualifier, *context)
        start = lines.to_offset(number) + found.start("value")
        yield _KeyFact(
            note.path, number, start, start + len(found["value"].rstrip()), about, key.name, shown, form, value,
        )  # fmt: skip


def _iter_lines(text: str, end: int) -> Iterator[tuple[int, str, list[tuple[int, str]], list[str]]]:
    """The lines behind the front matter: number, text, the headings with their levels, the list items around it."""
    headings: list[tuple[int, str]] = []
    parents: list[tuple[int, str]] = []
    before = text.count("\n", 0, end)
    for number, raw in enumerate(blank_fences(text).split("\n")[before:], before + 1):
        line = raw.rstrip("\r")
        if len(line) > _LONGEST_LINE or not line.strip():
            continue
        if heading := _HEADING.match(line) if "#" in line[:4] else None:
            level = len(heading[1])
            headings = [*(each for each in headings if each[0] < level), (level, heading[2].strip().casefold())]
            parents = []
            continue
        stripped = line.lstrip()
        indent = len(line) - len(stripped)
        parents = [each for each in parents if each[0] < indent]
        yield number, line, headings, [name for _, name in parents]
        if stripped.startswith(("-", "*", "+")):
            parents.append((indent, line.strip(" \t-*+").casefold()[:80]))


def _describe_context(headings: list[tuple[int, str]], parents: list[str]) -> tuple[str, ...]:
    """The headings below the title and the list items around a line, without general words."""
    names = [*(name for level, name in headings if level > 1), *parents]
    return tuple(name for name in names if not set(_NOT_WORD.split(name)) <= _get_words("general"))


@lru_cache(maxsize=4_096)
def _is_past(words: str) -> bool:
    """Whether a line or a heading tells of a day, or of what was."""
    return _get_entry().get_pattern("past").search(words) is not None or DATED.search(words) is not None


@lru_cache(maxsize=4_096)
def _find_key(written: str) -> tuple[_Key, str, bool] | None:
    """The key that is meant, what it is of, such as `API` of a port, and whether the user is named with it."""
    keys = _load_keys()
    words = " ".join(_NOT_WORD.split(written.casefold())).strip()
    names_user = words.startswith(("user ", "the user ", "user s "))
    bare = _LEADING.sub("", words, count=1) if _LEADING.match(words) and words not in keys else words
    if bare in keys:
        return keys[bare], "", names_user
    parts = bare.split()
    for size in range(1, min(_LONGEST_QUALIFIER, len(parts) - 1) + 1):
        if (name := " ".join(parts[size:])) in keys:
            return keys[name], " ".join(parts[:size]), names_user
    return None


def _split_name(path: str) -> list[str]:
    """The words of a note's name."""
    return _NOT_WORD.split(path.rpartition("/")[2].casefold().rpartition(".")[0])


def _are_exclusive(one: _KeyFact, other: _KeyFact) -> bool:
    """Whether two facts of one form cannot both be so: neither value is the other, or the other said more exactly."""
    return not (f"{one.value}.".startswith(f"{other.value}.") or f"{other.value}.".startswith(f"{one.value}."))


def _drop_records(facts: list[_KeyFact]) -> list[_KeyFact]:
    """Facts without those of lists of things that all have the same keys, which stand in one note."""
    keys: dict[tuple[str, ...], dict[str, int]] = {}
    for fact in facts:
        counts = keys.setdefault(fact.about, {})
        counts[fact.key] = counts.get(fact.key, 0) + 1
    return [
        fact
        for fact in facts
        if keys[fact.about][fact.key] <= 2 and sum(count > 1 for count in keys[fact.about].values()) < 2
    ]
