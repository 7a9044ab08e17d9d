"""Notes that give one thing two values: a time zone here, another one there.

Only what is written as a key and a value is compared, only for keys of which a person or a project has one, and only
where both lines are plainly about the same: the user, one note and section, or one directory that is no catalogue. What
is dated, struck through or told as the past is no contradiction, nor is a value that is only said more exactly.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from memtui.audit.families.upkeep.forms import forms_of
from memtui.audit.findings import Family, Hit, Severity
from memtui.audit.prose import DATED, Lines, is_of_its_time, prose
from memtui.audit.rule import Rule
from memtui.audit.subject import Note, Subject
from memtui.core.visible import one_line
from memtui.notes.front_matter import end_of, properties_of
from memtui.notes.kinds import type_of
from memtui.notes.plain import without_fences

_RULE = Rule(
    id="contradiction",
    family=Family.UPKEEP,
    severity=Severity.WARN,
    title="two values of one thing",
    why="An agent believes whichever it reads first. Compared are lines such as `timezone: X` or `prefers X` about the "
    "user, or about the same note or directory; dated and former values are not.",
    do="Find out which one holds, and take the other out.",
    bad="- Timezone: Europe/Berlin\n- Timezone: America/New_York",
    good="- Timezone: Europe/Berlin\n- Formerly: America/New_York",
)
RULES = (_RULE,)

_KEYS: Mapping[str, str] = {
    "timezone": "timezone",
    "time zone": "timezone",
    "tz": "timezone",
    "editor": "editor",
    "text editor": "editor",
    "ide": "editor",
    "language": "language",
    "email": "email",
    "e mail": "email",
    "email address": "email",
    "name": "name",
    "full name": "name",
    "pronouns": "pronouns",
    "birthday": "birthday",
    "shell": "shell",
    "operating system": "operating system",
    "os": "operating system",
    "theme": "theme",
    "color scheme": "theme",
    "colour scheme": "theme",
    "indentation": "indentation",
    "currency": "currency",
    "units": "units",
    "date format": "date format",
    "package manager": "package manager",
    "default branch": "default branch",
    "main branch": "default branch",
    "test framework": "test framework",
    "test runner": "test framework",
    "port": "port",
    "version": "version",
}
_LAST_WORDS = frozenset(key.rpartition(" ")[2] for key in _KEYS)
_ENDS_OF_KEYS = tuple(_LAST_WORDS)
_LONGEST_WORD = max(map(len, _LAST_WORDS))
_BETWEEN = re.compile(r"[\s_-]+")
_LONGEST_KEYS = sorted(_KEYS, key=len, reverse=True)
_ONLY_OF_USER = frozenset({"language", "email", "name", "pronouns", "birthday", "units", "currency", "theme", "shell"})
"""Keys that many things in a folder have, so that only those of the user are compared."""
_ONLY_QUALIFIED = frozenset({"port", "version"})
"""Keys that say nothing without what they are of: `API port`, `Python version`."""
_IN_FRONT_MATTER = frozenset({"timezone", "editor", "package manager", "default branch", "shell", "test framework"})
"""Keys that front matter has about what the note is about, not about the note itself."""

_ANY = re.compile("|".join(key.replace(" ", "[ _-]") for key in _KEYS) + "|prefers", re.IGNORECASE)
"""What a note must hold to be looked at more closely."""
_ENTRY = re.compile(
    r"(?P<indent>[ \t]{0,12})(?:[-*+][ \t]{1,4})?(?:\[[ xX]\][ \t])?(?:\*\*|__|`)?(?P<key>[^\W\d_][\w '’/-]{0,60}?)"
    r"(?:\*\*|__|`)?[ \t]?:(?:\*\*|__)?[ \t]{1,8}(?P<value>\S.{0,200})$"
)
_ROW = re.compile(
    r"[ \t]{0,4}\|[ \t]{0,20}(?:\*\*|__|`)?(?P<key>[^\W\d_][\w '’/-]{0,60}?)(?:\*\*|__|`)?[ \t]{0,40}\|[ \t]{0,20}"
    r"(?P<value>[^|\s][^|]{0,200}?)[ \t]{0,80}\|[ \t]*$"
)
"""A row of a table of two columns."""
_SENTENCE = re.compile(
    r"\b(?:the[ ])?user(?:['’]s)?[ ](?P<key>[a-z][a-z -]{0,40}?)[ ]is[ ](?P<value>[^\s.,;][^,;\n]{0,80})", re.IGNORECASE
)
_PREFERS = re.compile(
    r"\buser[ ](?:strongly[ ]|always[ ])?prefers[ ](?:to[ ]use[ ]|using[ ]|the[ ])?(?P<value>[\w .-]{2,40})",
    re.IGNORECASE,
)
_ENDS = r"(?=\s*(?:(?:over|to|and)\b|rather than\b|[.,;:)]|$))"
"""What follows a preference that holds everywhere, and not only for something."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.{1,200}?)[ \t#]*$")
_PAST = re.compile(
    r"\b(?:was|were|formerly|former|previous(?:ly)?|old|older|until|till|since|before|after|used to|no longer|not|"
    r"never|deprecated|legacy|changed|moved|switched|migrat\w*|replaced|instead|history|archived?|except|unless|if|when|"
    r"for|during|currently|temporar\w*|planned|future|next|default[s]? to|or|vs(?![ ]?code)|either|depends)\b|"
    r"n['’]t\b|~~|->|→|=>",
    re.IGNORECASE,
)
_WORDS_OF_USERS = "user users me myself prefs pref preference preferences profile personal about"
_USERS = frozenset(_WORDS_OF_USERS.split())
_WORDS_OF_ALL = """
user preference preferences profile about general setting settings environment tool tools basic basics fact facts setup
technical note notes overview summary info information details memory contact me
"""
_KINDS = ("feedback", "project", "reference", "user")
_GENERIC = frozenset(_WORDS_OF_ALL.split())
"""Headings that say nothing of what stands below them is about."""
_SINGLE = frozenset({"notes", "memories", "preferences", "settings", "docs", "facts", "details", "basics", "prefs"})
"""Names of directories that are in the plural and no catalogues."""
_LEADING = re.compile(
    r"(?:(?:the|my|your|his|her|their|current|preferred|favou?rite|primary|main|default|project|local|user(?:['’]?s)?)\s+)+",
    re.IGNORECASE,
)
_TERMS: Mapping[str, tuple[str, str]] = {
    **{term: ("indentation", term) for term in ("tabs", "spaces")},
    **{term: ("theme", term.split()[0]) for term in ("dark mode", "light mode", "dark theme", "light theme")},
    **{term: ("package manager", term) for term in ("npm", "yarn", "pnpm", "bun")},
    **{
        term: ("editor", value)
        for term, value in (
            ("vim", "vim"), ("neovim", "neovim"), ("emacs", "emacs"), ("vs code", "vs code"), ("vscode", "vs code"),
            ("zed", "zed"), ("sublime text", "sublime text"), ("helix", "helix"), ("nano", "nano"),
        )
    },
    **{term: ("test framework", term) for term in ("jest", "vitest", "mocha", "pytest", "unittest")},
}  # fmt: skip
_LONGEST_TERMS = sorted(_TERMS, key=len, reverse=True)
_SPELLINGS = {
    "mac os x": "macos",
    "osx": "macos",
    "€": "eur",
    "euro": "eur",
    "$": "usd",
    "us dollar": "usd",
    "£": "gbp",
    "vscode": "vs code",
    "visual studio code": "vs code",
    "nvim": "neovim",
    "utc+0": "utc",
    "gmt": "utc",
}
_LANGUAGES_BY_CODE = """
en:english de:german fr:french es:spanish it:italian pt:portuguese nl:dutch pl:polish ru:russian uk:ukrainian
ja:japanese zh:chinese ko:korean ar:arabic hi:hindi tr:turkish sv:swedish da:danish no:norwegian fi:finnish cs:czech
el:greek he:hebrew vi:vietnamese th:thai id:indonesian hu:hungarian ro:romanian deutsch:german français:french
español:spanish italiano:italian português:portuguese 日本語:japanese 中文:chinese
"""
_LANGUAGES = dict(each.split(":") for each in _LANGUAGES_BY_CODE.split())
_SOMETIMES = re.compile(
    r"\b(?:on|at|in|with|under|per|each|every|only|least|most|min(?:imum)?|max(?:imum)?|up to|and up|newer|later|"
    r"local(?:ly|host)?|host|container|docker|inside|outside|beta|alpha|preview|staging|prod(?:uction)?|dev(?:elopment)?|ci|server|laptop|"
    r"work|home|office|travel(?:l?ing)?|usually|mostly|sometimes)\b",
    re.IGNORECASE,
)
"""What tells that a value holds somewhere, and not everywhere."""
_RANGE = re.compile(r"[<>^~*+]|\bx\b|\b(?:latest|lts|stable|nightly|rc)", re.IGNORECASE)
_BRACKETS = re.compile(r"\(([^()]{0,100})\)")
_ZONE = re.compile(r"[A-Z]{2,5}|(?:UTC|GMT)[ ]?[+-][ ]?[\d:]{1,5}")
_WORDS_OF_FILES = """
memory memories claude agents readme index project projects config configuration convention conventions workflow
workflows build stack tech architecture context common main global current local state status working key quick core
"""
_OF_ANY_FILE = _GENERIC | _USERS | frozenset(_WORDS_OF_FILES.split()) | frozenset(_KINDS)
"""Words in names of files that do not say what a note is about."""
_NO_VALUE = re.compile(
    r"[<{\[(]|(?:tbd|todo|unknown|none|n/?a|various|see|any|same|varies|ask|\?|-)\b|\W*$", re.IGNORECASE
)
_LONGEST_LINE = 400
_LONGEST_VALUE = 60
_COMPARED = 20
"""With how many facts of the same each is compared."""
_MOST = 400
"""Entries of one note that are compared; a note of more is a table of data."""


class _Fact(NamedTuple):
    """One key with its value, and what they are about."""

    path: str
    line: int
    start: int
    end: int
    about: tuple[str, ...]
    """What it is about: of two facts about the same, each key has one value."""
    key: str
    shown: str
    values: frozenset[str]
    subject: frozenset[str]
    """Words of the note's name that say what it is about."""
    place: str
    """What stands in brackets behind the value: when, or for what, it holds."""


def across(subject: Subject) -> Iterator[Hit]:
    """Facts about the same, with values that exclude each other."""
    facts: dict[tuple[tuple[str, ...], str], list[_Fact]] = {}
    for note, text in prose(subject):
        subject.go_on()
        for fact in _facts(note, text):
            facts.setdefault((fact.about, fact.key), []).append(fact)
    for (about, _), group in facts.items():
        if about[0] == "directory" and len({fact.path for fact in group}) > 2:
            continue  # it is a catalogue: each note has its own
        for at, fact in enumerate(group):
            first = next((each for each in group[: min(at, _COMPARED)] if _exclude(each, fact)), None)
            if first is not None:
                where = f"line {first.line}" if first.path == fact.path else f"{one_line(first.path)}:{first.line}"
                words = f"{fact.key} is {one_line(fact.shown)} here and {one_line(first.shown)} in {where}"
                yield Hit(
                    rule=_RULE.id,
                    path=fact.path,
                    words=words,
                    start=fact.start,
                    end=fact.end,
                    facts={"key": fact.key, "of": first.path, "of_line": first.line},
                )


def _facts(note: Note, text: str) -> list[_Fact]:
    """What a note says of whom; nothing if it is about a day, or about the past."""
    if ":" not in text and "|" not in text and "user" not in text.casefold():
        return []  # what is compared is written so
    if is_of_its_time(note.path) or not _ANY.search(text):
        return []
    end = end_of(text)
    said = _said_below(text, end)
    is_matter = bool(end) and _ANY.search(text, 0, end) is not None
    if not said and not is_matter:
        return []  # as nearly all notes: what they are about does not matter
    words = set(re.split(r"[\W_]+", note.path.rpartition("/")[2].casefold().rpartition(".")[0]))
    is_user = bool(words & _USERS) or ("user" in text[:end].casefold() and type_of(note.path, text) == "user")
    found = list(_in_front_matter(note, text, end, is_user)) if is_matter else []
    found += _in_lines(note, text, said, is_user)
    return _without_records(found) if len(found) <= _MOST else []


def _in_front_matter(note: Note, text: str, end: int, is_user: bool) -> Iterator[_Fact]:
    for name, value in properties_of(text).items():
        key = _KEYS.get(name.casefold().replace("_", " ").replace("-", " ").strip())
        if key not in _IN_FRONT_MATTER or not isinstance(value, str | int | float):
            continue
        values = _values(key, str(value))
        at = re.compile(rf"^\s*{re.escape(name)}\s*:.*$", re.MULTILINE).search(text, 0, end)
        if values and at is not None:
            line = text.count("\n", 0, at.start()) + 1
            about, shown, subject = _about(note, (), is_user, ""), str(value), _subject_of(note.path)
            yield _Fact(note.path, line, at.start(), at.end(), about, key, shown, values, subject, "")


def _in_lines(note: Note, text: str, said: "Mapping[int, list[_Said]]", is_user: bool) -> Iterator[_Fact]:
    """What the lines of a note say, by number, of what they are about."""
    if not said:
        return
    lines = Lines(text)
    headings: list[tuple[int, str]] = []
    parents: list[tuple[int, str]] = []
    last = max(said)
    for number, raw in enumerate(_below(text, end_of(text)), text.count("\n", 0, end_of(text)) + 1):
        if number > last:
            return
        line = raw.rstrip("\r")
        if len(line) > _LONGEST_LINE or not line.strip():
            continue
        if heading := _HEADING.match(line) if "#" in line[:4] else None:
            level = len(heading[1])
            headings = [each for each in headings if each[0] < level]
            headings.append((level, heading[2].strip().casefold()))
            parents = []
            continue
        stripped = line.lstrip()
        indent = len(line) - len(stripped)
        parents = [each for each in parents if each[0] < indent]
        above = [name for _, name in parents]
        if stripped.startswith(("-", "*", "+")):
            parents.append((indent, line.strip(" \t-*+").casefold()[:80]))
        if number not in said or _is_of_the_past(line) or any(_is_of_the_past(name) for _, name in headings):
            continue
        sections = [name for level, name in headings if level > 1]
        context = tuple(name for name in (*sections, *above) if not _is_generic(name))
        start = lines.at(number)
        for key, qualifier, shown, values, of_user, (begin, stop) in said[number]:
            if (key in _ONLY_OF_USER and not (is_user or of_user)) or (key in _ONLY_QUALIFIED and not qualifier):
                continue
            about = _about(note, context, is_user or of_user, qualifier)
            subject, place = _subject_of(note.path), _place_of(key, shown)
            yield _Fact(note.path, number, start + begin, start + stop, about, key, shown, values, subject, place)


@lru_cache(maxsize=4_096)
def _is_of_the_past(words: str) -> bool:
    """Whether a line or a heading tells of a day, or of what was."""
    return _PAST.search(words) is not None or DATED.search(words) is not None


@lru_cache(maxsize=4_096)
def _is_generic(heading: str) -> bool:
    """Whether a heading says nothing of what the lines below it are about."""
    return set(re.split(r"[\W_]+", heading)) <= _GENERIC


_Said = tuple[str, str, str, frozenset[str], bool, tuple[int, int]]


def _below(text: str, end: int) -> list[str]:
    """The lines behind the front matter, fenced blocks blanked out."""
    return without_fences(text).split("\n")[text.count("\n", 0, end) :]


def _said_below(text: str, end: int) -> dict[int, list[_Said]]:
    """What the lines of a text may say, by number, whatever that is about and whenever it was so: of most nothing."""
    has_user = "user" in text.casefold()
    said: dict[int, list[_Said]] = {}
    for number, raw in enumerate(_below(text, end), text.count("\n", 0, end) + 1):
        head, colon, _ = raw.partition(":")
        if not colon and "|" in raw:
            head = raw.lstrip(" \t|").partition("|")[0]
        is_entry = head and head.rstrip(" \t*_`")[-_LONGEST_WORD:].casefold().endswith(_ENDS_OF_KEYS)
        if not is_entry and not (has_user and "user" in raw.casefold()):
            continue
        line = raw.rstrip("\r")
        if len(line) <= _LONGEST_LINE and (found := list(_said(line))):
            said[number] = found
    return said


def _said(line: str) -> Iterator[_Said]:
    """The keys and values of a line: key, what it is of, value as written, as compared, whether of the user, where."""
    if (found := _ENTRY.match(line) or _ROW.match(line)) is not None:
        known = _known(found["key"])
        values = _values(known[0], found["value"]) if known is not None else frozenset()
        if known is not None and values:
            shown = found["value"].strip(" `*_\"'.")
            yield (
                *known,
                shown,
                values,
                bool(re.match(r"(?:the )?user\b", found["key"], re.IGNORECASE)),
                found.span("value"),
            )
            return
    if "user" not in line.casefold():
        return
    for found in _SENTENCE.finditer(line):
        known = _known(found["key"])
        value = found["value"].partition(". ")[0].rstrip(".")
        values = _values(known[0], value) if known is not None else frozenset()
        if known is not None and values:
            yield (
                *known,
                value.strip(" `*_\"'"),
                values,
                True,
                (found.start("value"), found.start("value") + len(value)),
            )
    for found in _PREFERS.finditer(line):
        value = found["value"].casefold()
        term = next((each for each in _LONGEST_TERMS if re.match(rf"{re.escape(each)}{_ENDS}", value)), None)
        if term is not None:
            key, one = _TERMS[term]
            begin = found.start("value")
            yield key, "", found["value"][: len(term)], frozenset({one}), True, (begin, begin + len(term))


@lru_cache(maxsize=4_096)
def _known(written: str) -> tuple[str, str] | None:
    """The key that is meant, and what it is of, such as `API` of a port; `None` if it is none of ours."""
    key = " ".join(_BETWEEN.split(written.casefold())).strip()
    if key.rpartition(" ")[2] not in _LAST_WORDS:
        return None
    if key in _KEYS:
        return _KEYS[key], ""
    if key.startswith("project ") and _KEYS.get(key[8:]) in _ONLY_OF_USER:
        return _KEYS[key[8:]], "project"
    key = _LEADING.sub("", key, count=1) if _LEADING.match(key) else key
    if key in _KEYS:
        return _KEYS[key], ""
    for each in _LONGEST_KEYS:
        if key.endswith(f" {each}"):
            qualifier = key[: -len(each) - 1].strip()
            if len(qualifier.split()) <= 3:
                return _KEYS[each], qualifier
    return None


@lru_cache(maxsize=4_096)
def _values(key: str, written: str) -> frozenset[str]:
    """The values that are compared; empty for none that could be."""
    plain = re.sub(r"\([^()]{0,100}\)|[*`_\"']", " ", written).strip().rstrip(".")
    plain = " ".join(plain.casefold().split())
    if not plain or len(plain) > _LONGEST_VALUE or _NO_VALUE.match(plain) or "://" in plain:
        return frozenset()
    if _SOMETIMES.search(plain) or plain in _KEYS or (key == "version" and _RANGE.search(plain)):
        return frozenset()
    if key == "language":
        plain = re.sub(r"\b([a-z]{2,9})(?:[-_][a-z]{2,4})?\b|[^\W\d_]+", _language, plain)
    if key == "port":
        return frozenset(re.findall(r"(?<![\w.])\d{2,5}(?![\w.])", plain))
    if key == "version":
        return frozenset(re.findall(r"(?:(?<![a-z\d])|\bv)(\d+(?:\.\d+){0,3})", plain)[:1])
    parts = re.split(r",|;|\band\b|&|\+(?!\d)|/" if key not in ("timezone", "date format") else r",|;", plain)
    return frozenset(_SPELLINGS.get(part.strip(), part.strip()) for part in parts if part.strip())


def _language(found: re.Match[str]) -> str:
    """A language as it is called in English, whatever its code or its country."""
    return _LANGUAGES.get(found[1] or found.group(), found[1] or found.group())


@lru_cache(maxsize=256)
def _subject_of(path: str) -> frozenset[str]:
    """What a note is about, by the words of its name; empty for one that may be about anything."""
    words = re.split(r"[\W_]+", path.rpartition("/")[2].casefold().rpartition(".")[0])
    return frozenset(word for word in words if len(word) > 1 and word not in _OF_ANY_FILE)


def _place_of(key: str, shown: str) -> str:
    """What stands in brackets behind a value, save another name for a time zone."""
    inside = (each.strip() for each in _BRACKETS.findall(shown))
    return " ".join(
        " ".join(each for each in inside if key != "timezone" or not _ZONE.fullmatch(each)).casefold().split()
    )


def _are_of_one(one: _Fact, other: _Fact) -> bool:
    """Whether two facts may be about the same thing, by the notes that they stand in and what is said beside them."""
    if (
        _SOMETIMES.search(one.place)
        or _SOMETIMES.search(other.place)
        or (one.place and other.place not in ("", one.place))
    ):
        return False
    if one.path == other.path or one.about[0] == "user":
        return True
    if one.subject and other.subject and one.subject != other.subject:
        return False
    return not _is_series(one.path, other.path)


def _is_series(one: str, other: str) -> bool:
    """Whether two notes are of a row of such: `server-a` and `server-b`, `host1` and `host2`."""
    stems = [path.rpartition("/")[2].casefold().rpartition(".")[0] for path in (one, other)]
    first, second = (re.sub(r"(?:[\W_]+[a-z]|[\W_]*\d+)$", "", stem) for stem in stems)
    return first == second and bool(first) and stems[0] != first and stems[1] != second


def _exclude(one: _Fact, other: _Fact) -> bool:
    """Whether two facts cannot both be so: no value of one is one of the other's, or says the same less exactly."""
    if not _are_of_one(one, other):
        return False
    mine, theirs = (forms_of(fact.key, fact.values) for fact in (one, other))
    if mine is not None and theirs is not None:
        return not mine.keys().isdisjoint(theirs.keys()) and all(
            mine[form] != theirs[form] for form in mine.keys() & theirs.keys()
        )
    return not any(_may_be_same(one.key, each, another) for each in one.values for another in other.values)


def _may_be_same(key: str, one: str, other: str) -> bool:
    if one == other:
        return True
    if key == "version":
        return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
    mine, theirs = set(re.findall(r"\w+", one)), set(re.findall(r"\w+", other))
    return mine <= theirs or theirs <= mine


def _about(note: Note, context: tuple[str, ...], is_user: bool, qualifier: str) -> tuple[str, ...]:
    """What a fact is about: the user, a directory, or one note and no other."""
    directory = note.path.rpartition("/")[0]
    if is_user:
        return ("user", qualifier, *context)
    name = directory.rpartition("/")[2].casefold()
    is_catalogue = name in ("people", "team", "staff") or (name.endswith("s") and name not in _SINGLE)
    if is_catalogue:
        return ("note", note.path, qualifier, *context)
    return ("directory", directory, qualifier, *context)


def _without_records(facts: list[_Fact]) -> list[_Fact]:
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
