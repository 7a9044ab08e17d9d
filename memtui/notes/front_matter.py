"""Front matter of a note: the YAML between two `---` lines at the top, as values.

YAML is read as events: nothing is constructed, no alias is expanded, size and depth are limited. A value that begins
with a character reserved by YAML (`globs: *.py`) is text, and so is a description with a colon in it. An entry that is
not YAML is reported; the others are read.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from memtui.core.lazy_dataclass import dataclass

_MAX_CHARACTERS = 16_384
_MAX_DEPTH = 16
_BEGIN = re.compile(r"\ufeff?---[ \t]*\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$\n?", re.MULTILINE)
_ENTRY = re.compile(r"^(?![ \t\r\n#\]}]|-(?:\s|$))", re.MULTILINE)  # the beginning of an entry at the top level
_RESERVED = re.compile(r"^([ ]*+(?:(?:-|[\w.-]++:)[ ]++)++)([&*!@`%][^\r\n]*)", re.MULTILINE)
"""A value that YAML takes for an anchor, an alias or a tag, or does not allow."""
_SENTENCE = re.compile(r"^(description:[ ]++)([^\s\"'\[{|>#][^\r\n]*|\"[^\"\r\n]*\"[ ]+[^\s#][^\r\n]*)", re.MULTILINE)
"""The sentence about a note, in which agents write colons; the programs that they run in read it to the line's end."""
_PLAIN_LINE = re.compile(
    r"(?P<indent>(?:  )?)(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*):(?: (?P<value>[A-Za-z0-9](?:[A-Za-z0-9_ /.,+()*=;!'-]|"
    r":(?! ))*(?<![ :]))?)?|- (?P<item>[A-Za-z0-9](?:[A-Za-z0-9_/.-]| (?=[A-Za-z0-9]))*))"
)
"""A line that reads in YAML as it looks: a name and a word or a sentence, or a word of a list."""
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9_]{0,17})")
_FLOAT = re.compile(r"[-+]?[0-9]{1,17}\.[0-9]{0,17}(?:[eE][-+]?[0-9]{1,3})?")
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "Null": None, "~": None, "": None}
_PROBLEMS = {
    "mapping values are not allowed": "a second colon; put the value in quotes",
    "unexpected end of stream": "a quote is not closed",
    "expected ':'": "a name and a colon were expected",
    "expected ',' or": "a bracket is not closed",
}
"""Our words for the usual problems, by a part of the YAML parser's."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a note.

    Attributes:
        end: The offset in characters at which the body begins.
        lines: With both borders; 0 if there is no front matter.
        problem: The first unreadable entry, as a sentence; else empty.
    """

    properties: Mapping[str, object] = field(default_factory=dict)
    end: int = 0
    lines: int = 0
    problem: str = ""


def parse_front_matter(text: str) -> FrontMatter:
    """Read the front matter of a note; empty if there is none."""
    begin = _BEGIN.match(text)
    if begin is None:
        return FrontMatter()
    end = _END.search(text, begin.end(), _MAX_CHARACTERS)
    if end is None:
        return FrontMatter()  # a rule at the top, and no front matter
    inside = text[begin.end() : end.start()]
    lines = text.count("\n", 0, end.end()) + (not end.group().endswith("\n"))
    problems: list[str] = []
    if (plain := _read_plain_lines(inside)) is not None:
        return FrontMatter(plain, end.end(), lines)
    try:
        properties = _read_mapping(inside, 2, problems)
    except _YamlProblem:
        properties, problems = _read_entries(inside)
    return FrontMatter(properties, end.end(), lines, problems[0] if problems else "")


def find_front_matter_end(text: str) -> int:
    """Offset at which a note itself begins, behind its front matter, which is not parsed."""
    begin = _BEGIN.match(text) if text.startswith(("---", "\ufeff---")) else None
    end = _END.search(text, begin.end(), _MAX_CHARACTERS) if begin is not None else None
    return end.end() if end is not None else 0


def read_properties(text: str) -> Mapping[str, object]:
    """The values of the front matter, with those of `metadata` that are not at the top level as well."""
    if not text.startswith(("---", "\ufeff---")):
        return {}
    properties = parse_front_matter(text).properties
    metadata = properties.get("metadata")
    return {**metadata, **properties} if isinstance(metadata, dict) else properties


class _YamlProblem(Exception):
    """A text that cannot be read: the reason as a clause, and the line, from 0."""

    def __init__(self, words: str, line: int = 0) -> None:
        self.words, self.line = words, line


def _format_problem(line: int, words: str) -> str:
    return f"Line {line}, in the front matter: {words}."


def _read_plain_lines(text: str) -> dict[str, object] | None:
    """The mapping of a text that is as plain as most are, many times as fast as a parser; `None` for any other text."""
    properties: dict[str, object] = {}
    last = ""
    """The name of the last entry, where nothing stands behind it."""
    for line in text[:-1].split("\n"):
        found = _PLAIN_LINE.fullmatch(line)
        if found is None:
            return None
        indent, name, value, item = found.groups()
        above = properties.get(last) if last else None
        if item is not None:
            if not last or isinstance(above, dict):
                return None
            if above is None:
                properties[last] = items = []
                is_indented = bool(indent)
            elif bool(indent) != is_indented:
                return None
            items.append(_parse_plain(item))
        elif indent:
            if not last or isinstance(above, list) or value is None:
                return None
            if above is None:
                properties[last] = entries = {}
            if name in entries:
                return None
            entries[name] = _parse_plain(value)
        else:
            if name in properties:
                return None
            properties[name] = _parse_plain(value) if value is not None else None
            last = name if value is None else ""
    return properties


def _read_entries(text: str) -> tuple[dict[str, object], list[str]]:
    """The entries of the top level, each read alone, and the problems of those that cannot be read."""
    properties: dict[str, object] = {}
    problems: list[str] = []
    starts = sorted({0, *(found.start() for found in _ENTRY.finditer(text))})
    number = 2  # from 1, and the first line is the border
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        entry = text[start:end]
        try:
            try:
                found = _read_mapping(entry, number, problems)
            except _YamlProblem:
                found = _read_mapping(_SENTENCE.sub(_quote_value, _RESERVED.sub(_quote_value, entry)), number, problems)
        except _YamlProblem as error:
            problems.append(_format_problem(number + error.line, error.words))
            found = {}
        problems += [
            _format_problem(number, f"the name {name!r} appears twice") for name in found if name in properties
        ]
        properties |= found
        number += entry.count("\n")
    return properties, problems


def _quote_value(found: re.Match[str]) -> str:
    value = found[2].rstrip().replace("'", "''")
    return f"{found[1]}'{value}'"


def _read_mapping(text: str, number: int, problems: list[str]) -> dict[str, object]:
    """The mapping that a text is in YAML; empty if the text says nothing.

    Args:
        problems: Receives duplicate names.

    Raises:
        _YamlProblem: It is no mapping, or has an unsupported part.
    """
    import yaml  # noqa: PLC0415 - start-up: not every note has front matter

    try:
        events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        next(events)
        if isinstance(next(events), yaml.StreamEndEvent):
            return {}
        value = _build_value(next(events), events, number, problems)
        next(events)
        if isinstance(value, dict) and isinstance(next(events), yaml.StreamEndEvent):
            return value
    except yaml.MarkedYAMLError as error:
        mark = error.context_mark if re.search("quoted|flow", str(error.context)) else error.problem_mark
        words = next((ours for part, ours in _PROBLEMS.items() if part in str(error.problem)), error.problem)
        raise _YamlProblem(words or "it cannot be read", mark.line if mark else 0) from None
    except (yaml.YAMLError, UnicodeError):
        raise _YamlProblem("a character that YAML does not allow") from None
    raise _YamlProblem("a name and a colon were expected")


def _build_value(event: Any, events: Iterator[Any], number: int, problems: list[str], depth: int = 0) -> object:
    """The value that begins with an event; reads the events up to its end."""
    line = event.start_mark.line
    if getattr(event, "anchor", None) or getattr(event, "tag", None):
        raise _YamlProblem("anchors, aliases and tags are not read; put the value in quotes", line)
    if hasattr(event, "value"):
        return _parse_plain(event.value) if event.implicit[0] else event.value
    if depth > _MAX_DEPTH:
        raise _YamlProblem("it is nested too deeply", line)
    kind = type(event).__name__
    if kind == "SequenceStartEvent":
        items: list[object] = []
        while type(event := next(events)).__name__ != "SequenceEndEvent":
            items.append(_build_value(event, events, number, problems, depth + 1))
        return items
    pairs: dict[str, object] = {}
    while type(event := next(events)).__name__ != "MappingEndEvent":
        name = getattr(event, "value", "")
        if not name:
            raise _YamlProblem("a name and a colon were expected", event.start_mark.line)
        if name in pairs:  # of readers, some take the first, some the last, and some none
            problems.append(_format_problem(number + event.start_mark.line, f"the name {name!r} appears twice"))
        pairs[name] = _build_value(next(events), events, number, problems, depth + 1)
    return pairs


def _parse_plain(text: str) -> object:
    """The value of a scalar without quotes: a word of YAML, a number, or the text. Dates stay text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
