"""Notes that give one thing two values: a time zone here, another one there.

Only what is written as a key and a value is compared, only for keys of which a person or a project has one, and only
where both lines are plainly about the same: the user, one note and section, or one directory that is no catalogue. What
is dated, struck through or told as the past is no contradiction, nor is a value that is only said more exactly.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

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
    r"never|deprecated|legacy|changed|moved|switched|migrat\w*|replaced|instead|history|archived?|except|unless|if|when|for|"
    r"during|currently|temporar\w*|planned|future|next|default[s]? to|or|vs|either|depends)\b|n['’]t\b|~~|->|→|=>",
    re.IGNORECASE,
)
_WORDS_OF_USERS = "user users me myself prefs pref preference preferences profile personal about"
_USERS = frozenset(_WORDS_OF_USERS.split())
_WORDS_OF_ALL = """
user preference preferences profile about general setting settings environment tool tools basic basics fact facts setup
technical note notes overview summary info information details memory contact me
"""
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
_SPELLINGS = {"vscode": "vs code", "visual studio code": "vs code", "nvim": "neovim", "utc+0": "utc", "gmt": "utc"}
_NO_VALUE = re.compile(
    r"[<{\[(]|(?:tbd|todo|unknown|none|n/?a|various|see|any|same|varies|ask|\?|-)\b|\W*$", re.IGNORECASE
)
_LONGEST_LINE = 400
_LONGEST_VALUE = 60
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


def across(subject: Subject) -> Iterator[Hit]:
    """Facts about the same, with values that exclude each other."""
    facts: dict[tuple[tuple[str, ...], str], list[_Fact]] = {}
    for note, text in prose(subject):
        for fact in _facts(note, text):
            facts.setdefault((fact.about, fact.key), []).append(fact)
    for (about, _), group in facts.items():
        if about[0] == "directory" and len({fact.path for fact in group}) > 2:
            continue  # it is a catalogue: each note has its own
        first, *others = group
        for fact in others:
            if _exclude(first, fact):
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
    if ":" not in text and "user" not in text.casefold():
        return []  # what is compared is written so
    if is_of_its_time(note.path) or not _ANY.search(text):
        return []
    words = set(re.split(r"[\W_]+", note.path.rpartition("/")[2].casefold().rpartition(".")[0]))
    is_user = bool(words & _USERS) or type_of(note.path, text) == "user"
    found = [*_in_front_matter(note, text, is_user), *_in_lines(note, text, is_user)]
    return _without_records(found) if len(found) <= _MOST else []


def _in_front_matter(note: Note, text: str, is_user: bool) -> Iterator[_Fact]:
    end = end_of(text)
    for name, value in properties_of(text).items() if end else ():
        key = _KEYS.get(name.casefold().replace("_", " ").replace("-", " ").strip())
        if key not in _IN_FRONT_MATTER or not isinstance(value, str | int | float):
            continue
        values = _values(key, str(value))
        at = re.compile(rf"^\s*{re.escape(name)}\s*:.*$", re.MULTILINE).search(text, 0, end)
        if values and at is not None:
            line = text.count("\n", 0, at.start()) + 1
            yield _Fact(note.path, line, at.start(), at.end(), _about(note, (), is_user, ""), key, str(value), values)


def _in_lines(note: Note, text: str, is_user: bool) -> Iterator[_Fact]:
    first = text.count("\n", 0, end_of(text))
    below = without_fences(text).split("\n")[first:]
    said = {number: found for number, raw in enumerate(below, first + 1) if (found := _said_in(raw))}
    if not said:
        return  # as nearly all notes: what stands above their lines does not matter
    lines = Lines(text)
    headings: list[tuple[int, str]] = []
    parents: list[tuple[int, str]] = []
    for number, raw in enumerate(below, first + 1):
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
        above = tuple(name for _, name in parents)
        if stripped.startswith(("-", "*", "+")):
            parents.append((indent, line.strip(" \t-*+").casefold()[:80]))
        if number not in said or _PAST.search(line) or DATED.search(line):
            continue
        sections = tuple(name for level, name in headings if level > 1)
        if any(_PAST.search(name) or DATED.search(name) for _, name in headings):
            continue
        start = lines.at(number)
        for key, qualifier, shown, values, of_user, (begin, stop) in said[number]:
            if (key in _ONLY_OF_USER and not (is_user or of_user)) or (key in _ONLY_QUALIFIED and not qualifier):
                continue
            context = tuple(name for name in (*sections, *above) if not set(re.split(r"[\W_]+", name)) <= _GENERIC)
            about = _about(note, context, is_user or of_user, qualifier)
            yield _Fact(note.path, number, start + begin, start + stop, about, key, shown, values)


_Said = tuple[str, str, str, frozenset[str], bool, tuple[int, int]]


def _said_in(raw: str) -> list[_Said]:
    """What a line may say, whatever that is about and whenever it was so: of nearly all lines nothing."""
    if ":" not in raw and "user" not in raw.casefold():
        return []
    line = raw.rstrip("\r")
    return list(_said(line)) if len(line) <= _LONGEST_LINE else []


def _said(line: str) -> Iterator[_Said]:
    """The keys and values of a line: key, what it is of, value as written, as compared, whether of the user, where."""
    if (found := _ENTRY.match(line)) is not None:
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


def _known(written: str) -> tuple[str, str] | None:
    """The key that is meant, and what it is of, such as `API` of a port; `None` if it is none of ours."""
    key = " ".join(_BETWEEN.split(written.casefold())).strip()
    if key.rpartition(" ")[2] not in _LAST_WORDS:
        return None
    if key in _KEYS:
        return _KEYS[key], ""
    key = _LEADING.sub("", key, count=1) if _LEADING.match(key) else key
    if key in _KEYS:
        return _KEYS[key], ""
    for each in _LONGEST_KEYS:
        if key.endswith(f" {each}"):
            qualifier = key[: -len(each) - 1].strip()
            if len(qualifier.split()) <= 3:
                return _KEYS[each], qualifier
    return None


def _values(key: str, written: str) -> frozenset[str]:
    """The values that are compared; empty for none that could be."""
    plain = re.sub(r"\([^()]{0,100}\)|[*`_\"']", " ", written).strip().rstrip(".")
    plain = " ".join(plain.casefold().split())
    if not plain or len(plain) > _LONGEST_VALUE or _NO_VALUE.match(plain) or "://" in plain:
        return frozenset()
    if key == "port":
        return frozenset(re.findall(r"(?<![\w.])\d{2,5}(?![\w.])", plain))
    if key == "version":
        return frozenset(re.findall(r"(?:(?<![a-z\d])|\bv)(\d+(?:\.\d+){0,3})", plain)[:1])
    parts = re.split(r",|;|\band\b|&|\+(?!\d)|/" if key not in ("timezone", "date format") else r",|;", plain)
    return frozenset(_SPELLINGS.get(part.strip(), part.strip()) for part in parts if part.strip())


def _exclude(one: _Fact, other: _Fact) -> bool:
    """Whether two facts cannot both be so: no value of one is one of the other's, or says the same less exactly."""
    return not any(_may_be_same(one.key, mine, theirs) for mine in one.values for theirs in other.values)


def _may_be_same(key: str, one: str, other: str) -> bool:
    if one == other:
        return True
    if key == "version":
        return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
    if key == "timezone" and ("/" in one) != ("/" in other):
        return True  # `CET` and `Europe/Berlin` may well be the same
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
