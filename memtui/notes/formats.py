"""Whether a text can be read as JSON, YAML, TOML or XML, and where it cannot.

Nothing is built from a text: numbers are not converted, no object is constructed, no entity is expanded and nothing is
fetched, so that a text that was made to fill the memory of its readers, or to make them call somebody, does neither.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

_DEEPEST = 200
"""Levels of nesting beyond which a text is not looked at any further."""
_SLOWLY_READ = 100_000
"""Characters that are read where only a slow reader of YAML, or of TOML, is at hand."""
_MOST_PARTS = 64
"""Points in one line of TOML: a key of more parts is none that anybody wrote."""
_MOST_READ = 8_000_000
"""Characters that are read at all."""


class Fault(NamedTuple):
    """Why a text cannot be read.

    Attributes:
        rule: The rule that says so, such as `broken-json`.
        at: Where, in characters from its beginning.
        words: Why, as a clause.
    """

    rule: str
    at: int
    words: str


def json_fault(text: str) -> Fault | None:
    """What is wrong with a text as JSON; `None` if nothing is. A mark at its beginning is passed over.

    A name that stands twice in one object is a fault as well: of such a text some readers take the first value, some
    the last one, and some none (RFC 8259, section 4).
    """
    mark = text.startswith("\ufeff")
    if not text[mark:].strip():
        return Fault("broken-json", 0, "it is empty")
    if len(text) > _MOST_READ:
        return None
    try:
        json.loads(
            text[mark:],
            parse_int=_nothing,
            parse_float=_nothing,
            parse_constant=_no_constant,
            object_pairs_hook=_insist_on_one,
        )
    except json.JSONDecodeError as error:
        return Fault("broken-json", error.pos + mark, f"{_lower(error.msg)}, line {error.lineno}")
    except RecursionError:
        return Fault("broken-json", 0, "it is nested too deeply")
    except _Twice as error:
        return _twice("broken-json", text, str(error), re.escape(json.dumps(str(error), ensure_ascii=False)) + r"\s*:")
    except _NotAllowed as error:
        return Fault("broken-json", max(0, text.find(str(error))), f"{error} is no number in JSON")
    return None


def commented_json_fault(text: str) -> Fault | None:
    """The same of JSON with comments and commas behind the last value, as many editors write their settings."""
    if len(text) > _MOST_READ:
        return None
    return json_fault(_TRAILING.sub(_blank, _COMMENT.sub(_blank, text)))


_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/')
_TRAILING = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[\]}])')


def _blank(found: re.Match[str]) -> str:
    """A string as it is; of all else only the line ends."""
    return found.group() if found[1] else re.sub(r"[^\n]", " ", found.group())


def _twice(rule: str, text: str, name: str, pattern: str) -> Fault:
    """That a name stands twice, at its second place as far as that can be told."""
    places = [found.start() for _, found in zip(range(2), re.finditer(pattern, text), strict=False)]
    return Fault(
        rule, places[-1] if places else 0, f"the name {json.dumps(name[:80], ensure_ascii=False)} stands twice"
    )


def toml_fault(text: str) -> Fault | None:
    """What is wrong with a text as TOML; `None` if nothing is, or if reading it would cost too much."""
    import tomllib  # deferred: few notes are TOML

    if text.startswith("\ufeff"):
        fault = toml_fault(text[1:])
        return None if fault is None else fault._replace(at=fault.at + 1)
    if len(text) > _SLOWLY_READ or any(line.count(".") > _MOST_PARTS for line in text.split("\n")):
        return None  # the reader's memory grows with the square of a key's parts
    try:
        tomllib.loads(text, parse_float=_nothing)
    except tomllib.TOMLDecodeError as error:
        words = str(error)
        place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", words)
        at = len(text)
        if place and place[1]:
            at = _at(text, int(place[1]), int(place[2]))
        return Fault("broken-toml", at, _lower(words[: place.start()] if place else words))
    except RecursionError:
        return Fault("broken-toml", 0, "it is nested too deeply")
    except ValueError as error:  # a number that is too long
        return Fault("broken-toml", 0, _lower(str(error)).partition(";")[0])
    return None


def yaml_fault(text: str) -> Fault | None:
    """What is wrong with a text as YAML, of one or several documents; `None` if nothing is.

    Only the events of the text are read: aliases are not followed, tags are not believed.
    """
    import yaml  # deferred: few notes are YAML

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if len(text) > (_SLOWLY_READ if loader is yaml.SafeLoader else _MOST_READ):
        return None
    open_: list[_Open] = []
    try:
        for event in yaml.parse(text, Loader=loader):
            at = event.start_mark.index if event.start_mark else 0
            if isinstance(event, yaml.CollectionEndEvent):
                open_.pop()
                continue
            name = event.value if isinstance(event, yaml.ScalarEvent) else None
            if isinstance(event, yaml.NodeEvent) and open_ and not open_[-1].takes(name):
                return Fault(
                    "broken-yaml", at, f"the name {json.dumps(str(name)[:80], ensure_ascii=False)} stands twice"
                )
            if isinstance(event, yaml.CollectionStartEvent):
                open_.append(_Open(is_mapping=isinstance(event, yaml.MappingStartEvent)))
                if len(open_) > _DEEPEST:
                    return Fault("broken-yaml", at, "it is nested too deeply")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = min(mark.index, len(text)) if mark else 0
        return Fault(
            "broken-yaml", at, f"{error.problem or 'it cannot be read'}, line {text.count(chr(10), 0, at) + 1}"
        )
    except yaml.reader.ReaderError as error:
        at = max(0, min(error.position, len(text)))
        return Fault("broken-yaml", at, f"a character that is not allowed, U+{_code(error.character):04X}")
    except RecursionError:
        return Fault("broken-yaml", 0, "it is nested too deeply")
    except yaml.YAMLError:
        return Fault("broken-yaml", 0, "it cannot be read")
    return None


class _Open:
    """A mapping or a list whose end has not been read."""

    def __init__(self, *, is_mapping: bool) -> None:
        self._is_mapping = is_mapping
        self._is_name_next = is_mapping
        self._names: set[str] = set()

    def takes(self, name: object) -> bool:
        """Whether what comes next in it may stand there: a name may do so once (YAML 1.2.2, section 3.2.1.3)."""
        is_name = self._is_name_next
        self._is_name_next = self._is_mapping and not is_name
        if not is_name or not isinstance(name, str) or name == "<<":
            return True
        is_new = name not in self._names
        self._names.add(name)
        return is_new


def xml_fault(text: str) -> Fault | None:
    """What is wrong with a text as XML; `None` if nothing is.

    Reading ends where an entity is declared: what is behind it is not judged. Several elements one behind the other
    are taken for well-formed, since agents write notes so.
    """
    fault = _xml_fault(text)
    if fault is None or fault.words.partition(",")[0] != _SEVERAL:
        return fault
    begin = text.find("?>") + 2 if text.lstrip("\ufeff \n\t\r").startswith("<?xml") else 0
    inside = _xml_fault(f"<memtui>{text[begin:]}</memtui>")
    if inside is None:
        return None
    at = min(len(text), max(0, inside.at - len("<memtui>") + begin))
    return Fault(inside.rule, at, f"{inside.words.partition(', line ')[0]}, line {text.count(chr(10), 0, at) + 1}")


_SEVERAL = "junk after document element"


class _EntityDeclared(Exception):
    """The text declares an entity."""


class _NotAllowed(Exception):
    """The text holds what Python reads as JSON and others do not."""


def _xml_fault(text: str) -> Fault | None:
    from xml.parsers import expat  # deferred: few notes are XML

    body = text.removeprefix("\ufeff")
    mark = len(text) - len(body)
    if not body.strip():
        return Fault("broken-xml", 0, "it is empty")
    if len(body) > _MOST_READ:
        return None
    parser = expat.ParserCreate("utf-8")
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.EntityDeclHandler = _refuse_entity
    data = body.encode("utf-8", "replace")
    try:
        parser.Parse(data, True)
    except _EntityDeclared:
        at = len(data[: max(0, parser.CurrentByteIndex)].decode("utf-8", "replace"))
        return Fault("xml-entity", at + mark, "it declares entities, which readers may be made to expand or to fetch")
    except expat.ExpatError as error:
        at = len(data[: max(0, parser.ErrorByteIndex)].decode("utf-8", "replace"))
        return Fault("broken-xml", at + mark, f"{expat.ErrorString(error.code)}, line {error.lineno}")
    return None


def _refuse_entity(*_: object) -> None:
    raise _EntityDeclared


class _Twice(Exception):
    """A name stands twice in one object."""


def _insist_on_one(pairs: list[tuple[str, Any]]) -> None:
    names = set()
    for name, _ in pairs:
        if name in names:
            raise _Twice(name)
        names.add(name)


def _no_constant(name: str) -> None:
    raise _NotAllowed(name)


_nothing: Callable[[str], None] = lambda _: None  # noqa: E731 - what numbers become


def _at(text: str, line: int, column: int) -> int:
    """Where a line and a column, both from 1, are in a text."""
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
    return min(len(text), at + column - 1)


def _code(character: object) -> int:
    if isinstance(character, int):
        return character
    return ord(character[:1]) if isinstance(character, str) and character else 0


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]
