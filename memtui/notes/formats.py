"""Whether a text parses as JSON, YAML, TOML or XML, and the position of the error.

Nothing is built from a text: numbers are not converted, no object is constructed, no entity is expanded and nothing is
fetched, so that a text that was made to fill the memory of its readers, or to make them call somebody, does neither.
"""

import json
import re
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from memtui.notes.front_matter import read_properties
from memtui.notes.spans import blank_text

_DEEPEST = 200  # levels of nesting beyond which a text is not looked at any further
_SLOWLY_READ = 100_000  # characters that are read where only a slow reader of YAML, or of TOML, is at hand
_MOST_PARTS = 64  # points in one line of TOML: a key of more parts is none that anybody wrote
_MOST_READ = 8_000_000  # characters that are read at all


class FormatProblem(NamedTuple):
    """Why a text cannot be read."""

    rule: str
    offset: int  # in characters
    words: str


def check_json(text: str) -> FormatProblem | None:
    """What is wrong with a text as JSON; `None` if nothing is. A mark at its beginning is passed over.

    A name that appears twice in one object is a fault as well: of such a text some readers take the first value, some
    the last one, and some none (RFC 8259, section 4).
    """
    mark = text.startswith("\ufeff")
    if not text[mark:].strip():
        return FormatProblem("broken-json", 0, "it is empty")
    if len(text) > _MOST_READ:
        return None
    try:
        json.loads(
            text[mark:],
            parse_int=_nothing,
            parse_float=_nothing,
            parse_constant=_reject_constant,
            object_pairs_hook=_reject_duplicate_keys,
        )
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and _has_json_lines(text[mark:]):
            return None
        return FormatProblem("broken-json", error.pos + mark, f"{_lower_first(error.msg)}, line {error.lineno}")
    except RecursionError:
        return FormatProblem("broken-json", 0, "it is nested too deeply")
    except _DuplicateKey as error:
        name = str(error)
        pattern = re.escape(json.dumps(name, ensure_ascii=False)) + r"\s*:"
        places = [found.start() for found in islice(re.finditer(pattern, text), 2)]  # the second, if it is found
        return FormatProblem("broken-json", places[-1] if places else 0, _describe_duplicate(name))
    except _NonStandardJson as error:
        return FormatProblem("broken-json", max(0, text.find(str(error))), f"{error} is no number in JSON")
    return None


_OF_SERVER = re.compile(r'\s*\{\s*"type"\s*:\s*"(?:entity|relation)"')


def _has_json_lines(text: str) -> bool:
    """Whether each line is an object with a type: so a server of MCP keeps a memory, in a file called `memory.json`."""
    lines = [line for line in text.split("\n") if line.strip()]
    return all(_OF_SERVER.match(line) is not None and check_json(line) is None for line in lines)


def check_jsonc(text: str) -> FormatProblem | None:
    """The same of JSON with comments and commas behind the last value, as many editors write their settings."""
    if len(text) > _MOST_READ:
        return None
    return check_json(_TRAILING.sub(_blank_comment, _COMMENT.sub(_blank_comment, text)))


_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*+"?|/\*(?:[^*]|\*(?!/))*+\Z)|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/')
_TRAILING = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)|,(?=\s*[\]}])')


def _blank_comment(found: re.Match[str]) -> str:
    """A string, or a comment that never ends, as it is; of all else only the line ends."""
    return found.group() if found[1] else blank_text(found.group())


def _describe_duplicate(name: str) -> str:
    return f"the name {json.dumps(name[:80], ensure_ascii=False)} appears twice"


def check_toml(text: str) -> FormatProblem | None:
    """What is wrong with a text as TOML; `None` if nothing is, or if reading it would cost too much."""
    import tomllib  # noqa: PLC0415 - start-up: few notes are TOML

    if text.startswith("\ufeff"):
        fault = check_toml(text[1:])
        return None if fault is None else fault._replace(offset=fault.offset + 1)
    if len(text) > _SLOWLY_READ or any(line.count(".") > _MOST_PARTS for line in text.split("\n")):
        return None  # the reader's memory grows with the square of a key's parts
    try:
        tomllib.loads(text, parse_float=_nothing)
    except tomllib.TOMLDecodeError as error:
        words = str(error)
        place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", words)
        at = len(text)
        if place and place[1]:
            at = _to_offset(text, int(place[1]), int(place[2]))
        return FormatProblem("broken-toml", at, _lower_first(words[: place.start()] if place else words))
    except RecursionError:
        return FormatProblem("broken-toml", 0, "it is nested too deeply")
    except ValueError as error:  # a number that is too long
        return FormatProblem("broken-toml", 0, _lower_first(str(error)).partition(";")[0])
    return None


def check_yaml(text: str) -> FormatProblem | None:
    """What is wrong with a text as YAML, of one or several documents; `None` if nothing is.

    Only the events of the text are read: aliases are not followed, tags are not believed.
    """
    import yaml  # noqa: PLC0415 - start-up: few notes are YAML

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if len(text) > (_SLOWLY_READ if loader is yaml.SafeLoader else _MOST_READ):
        return None
    open_: list[_OpenCollection] = []
    try:
        for event in yaml.parse(text, Loader=loader):
            at = event.start_mark.index if event.start_mark else 0
            if isinstance(event, yaml.CollectionEndEvent):
                open_.pop()
                continue
            name = event.value if isinstance(event, yaml.ScalarEvent) else None
            if isinstance(event, yaml.NodeEvent) and open_ and not open_[-1].accepts(name):
                return FormatProblem("broken-yaml", at, _describe_duplicate(str(name)))
            if isinstance(event, yaml.CollectionStartEvent):
                open_.append(_OpenCollection(is_mapping=isinstance(event, yaml.MappingStartEvent)))
                if len(open_) > _DEEPEST:
                    return FormatProblem("broken-yaml", at, "it is nested too deeply")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = min(mark.index, len(text)) if mark else 0
        return FormatProblem("broken-yaml", at, _add_line(error.problem or "it cannot be read", text, at))
    except yaml.reader.ReaderError as error:
        at = max(0, min(error.position, len(text)))
        code = _get_code_point(error.character)
        return FormatProblem("broken-yaml", at, f"a character that is not allowed, U+{code:04X}")
    except UnicodeEncodeError as error:  # half of a pair, which the fast reader does not take
        code = ord(text[error.start])
        return FormatProblem("broken-yaml", error.start, f"a character that is not allowed, U+{code:04X}")
    except RecursionError:
        return FormatProblem("broken-yaml", 0, "it is nested too deeply")
    except yaml.YAMLError:
        return FormatProblem("broken-yaml", 0, "it cannot be read")
    return None


class _OpenCollection:
    """A mapping or a list whose end has not been read."""

    def __init__(self, *, is_mapping: bool) -> None:
        self._is_mapping = is_mapping
        self._is_name_next = is_mapping
        self._names: set[str] = set()

    def accepts(self, name: object) -> bool:
        """Whether what comes next in it may stand there: a name may do so once (YAML 1.2.2, section 3.2.1.3)."""
        is_name = self._is_name_next
        self._is_name_next = self._is_mapping and not is_name
        if not is_name or not isinstance(name, str) or name == "<<":
            return True
        is_new = name not in self._names
        self._names.add(name)
        return is_new


def check_xml(text: str) -> FormatProblem | None:
    """What is wrong with a text as XML; `None` if nothing is.

    Reading ends where an entity is declared: what is behind it is not judged. Several elements one behind the other
    are taken for well-formed, since agents write notes so.
    """
    fault = _parse_xml(text)
    if fault is None or fault.words.partition(",")[0] != _SEVERAL:
        return fault
    begin = text.find("?>") + 2 if text.lstrip("\ufeff \n\t\r").startswith("<?xml") else 0
    inside = _parse_xml(f"<memtui>{text[begin:]}</memtui>")
    if inside is None:
        return None
    at = min(len(text), max(0, inside.offset - len("<memtui>") + begin))
    return FormatProblem(inside.rule, at, _add_line(inside.words.partition(", line ")[0], text, at))


def _add_line(words: str, text: str, at: int) -> str:
    return f"{words}, line {text.count(chr(10), 0, at) + 1}"


_SEVERAL = "junk after document element"


class _EntityDeclared(Exception):
    """The text declares an entity."""


class _NonStandardJson(Exception):
    """The text holds what Python reads as JSON and others do not."""


def _parse_xml(text: str) -> FormatProblem | None:
    from xml.parsers import expat  # noqa: PLC0415 - start-up: few notes are XML

    body = text.removeprefix("\ufeff")
    mark = len(text) - len(body)
    if not body.strip():
        return FormatProblem("broken-xml", 0, "it is empty")
    if len(body) > _MOST_READ:
        return None
    parser = expat.ParserCreate("utf-8")
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.EntityDeclHandler = _reject_entity
    data = body.encode("utf-8", "replace")
    try:
        parser.Parse(data, True)
    except _EntityDeclared:
        at = len(data[: max(0, parser.CurrentByteIndex)].decode("utf-8", "replace"))
        words = "it declares entities, which readers may be made to expand or to fetch"
        return FormatProblem("xml-entity", at + mark, words)
    except expat.ExpatError as error:
        at = len(data[: max(0, parser.ErrorByteIndex)].decode("utf-8", "replace"))
        return FormatProblem("broken-xml", at + mark, f"{expat.ErrorString(error.code)}, line {error.lineno}")
    return None


def _reject_entity(*_: object) -> None:
    raise _EntityDeclared


class _DuplicateKey(Exception):
    """A name appears twice in one object."""


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> None:
    names = set()
    for name, _ in pairs:
        if name in names:
            raise _DuplicateKey(name)
        names.add(name)


def _reject_constant(name: str) -> None:
    raise _NonStandardJson(name)


_nothing: Callable[[str], None] = lambda _: None  # noqa: E731 - what numbers become


def _to_offset(text: str, line: int, column: int) -> int:
    """Where a line and a column, both from 1, are in a text."""
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
    return min(len(text), at + column - 1)


def _get_code_point(character: object) -> int:
    if isinstance(character, int):
        return character
    return ord(character[:1]) if isinstance(character, str) and character else 0


def _lower_first(words: str) -> str:
    return words[:1].lower() + words[1:]


# The type of a note, from its front matter and its format.

_FORMATS = dict.fromkeys(("markdown", "mdown", "mkd", "mdx"), "md") | dict.fromkeys(("text", "log"), "txt")
_FORMATS |= {"htm": "html", "yml": "yaml", "ndjson": "jsonl"}
_TYPED = frozenset({"md", "txt", ""})  # formats whose notes may begin with front matter
_OTHER_NAMES = {"md": ("markdown",), "txt": ("text",), "yaml": ("yml",)}


@lru_cache(maxsize=1 << 14)
def detect_format(path: str) -> str:
    """The format of a file by its name: `md`, `json`, `xml`, `txt` or whatever its extension says; `txt` without."""
    name = path.rpartition("/")[2].lstrip(".")
    extension = name.rpartition(".")[2].casefold() if "." in name else ""
    return _FORMATS.get(extension, extension) or "txt"


def get_note_type(path: str, text: str) -> str:
    """What a note says it is (`feedback`, `project`), in lower case; its format if it says nothing."""
    return _read_declared_type(path, text) or detect_format(path)


def get_note_types(path: str, text: str) -> frozenset[str]:
    """All words that `type:` finds a note by, in lower case: its format, and what its front matter says."""
    kind = detect_format(path)
    return frozenset({kind, *_OTHER_NAMES.get(kind, ()), _read_declared_type(path, text)} - {""})


def _read_declared_type(path: str, text: str) -> str:
    if detect_format(path) not in _TYPED or not text.startswith(("---", "\ufeff---")):
        return ""
    declared = read_properties(text).get("type")
    return declared.strip().casefold() if isinstance(declared, str) else ""
