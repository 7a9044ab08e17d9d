"""The front matter of a note: the lines between two `---` at its very top, as values.

Memories carry what they are there: a name, a description, a type, tags. Claude Code has two generations of it, with
the `type` at the top or within `metadata`. What is read is the part of YAML that people and agents write by hand:
mappings, lists, quoted and plain values, blocks of text. Anchors, tags and the like stay text, nothing is built and
nothing expands; what cannot be read is told as a problem, and the rest of it is still there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_MAX_CHARACTERS = 16_384
_MAX_DEPTH = 16
_BEGIN = re.compile(r"\ufeff?---[ \t]*\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$\n?", re.MULTILINE)
_KEY = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'"""
    r"""|[^\s#&*!|>%@`"'\[\]{},-][^#]{0,200}?|-[^\s#][^#]{0,200}?)\s*:(?=\s|$)"""
)
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9_]{0,17})")
_FLOAT = re.compile(r"[-+]?[0-9]{1,17}\.[0-9]{0,17}(?:[eE][-+]?[0-9]{1,3})?")
_BLOCK = re.compile(r"([|>])([-+]?[1-9]?[-+]?)\s*(?:#.*)?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", '"': '"', "\\": "\\", "/": "/", " ": " ", "e": "\x1b"}
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "Null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands at the top of a note.

    Attributes:
        properties: Its values by their names.
        end: Where the note itself begins: the characters before it.
        lines: How many lines it takes, its borders included; 0 if there is none.
        problem: What could not be read of it, as a sentence; empty if all could.
    """

    properties: Mapping[str, object] = field(default_factory=dict)
    end: int = 0
    lines: int = 0
    problem: str = ""


def front_matter_of(text: str) -> FrontMatter:
    """Read the front matter of a note; without one, there is nothing in it."""
    begin = _BEGIN.match(text)
    if begin is None:
        return FrontMatter()
    end = _END.search(text, begin.end(), _MAX_CHARACTERS)
    if end is None:
        return FrontMatter()  # a rule at the top, and no front matter
    inside = text[begin.end() : end.start()]
    lines = text.count("\n", 0, end.end()) + (not end.group().endswith("\n"))
    reader = _Reader(inside)
    properties = reader.read()
    return FrontMatter(properties, end.end(), lines, reader.problem)


def end_of(text: str) -> int:
    """Where a note itself begins, behind its front matter; what that says is not read."""
    begin = _BEGIN.match(text) if text.startswith(("---", "\ufeff---")) else None
    end = _END.search(text, begin.end(), _MAX_CHARACTERS) if begin is not None else None
    return end.end() if end is not None else 0


def properties_of(text: str) -> Mapping[str, object]:
    """The values of the front matter, those of `metadata` among them where they are not at the top as well."""
    if not text.startswith(("---", "\ufeff---")):
        return {}
    properties = front_matter_of(text).properties
    metadata = properties.get("metadata")
    return {**metadata, **properties} if isinstance(metadata, dict) else properties


class _Unreadable(Exception):
    """A line that is none of what can be read."""


@dataclass(slots=True)
class _Line:
    """A line that says something: how far it is indented, and what is there."""

    number: int
    indent: int
    text: str


class _Reader:
    """Reads the lines of a front matter from the top down."""

    def __init__(self, text: str) -> None:
        self.problem = ""
        self._raw = text.split("\n")
        self._at = 0

    def read(self) -> dict[str, object]:
        """All of it, as far as it can be read."""
        properties: dict[str, object] = {}
        while (line := self._peek()) is not None:
            try:
                if line.indent:
                    raise _Unreadable("it is indented for no reason")
                self._take_entry(properties, line, 0)
            except _Unreadable as error:
                self.problem = self.problem or f"Line {line.number + 1}, in the front matter: {error}."
                self._at = max(self._at, line.number)  # go on behind it
        return properties

    def _peek(self) -> _Line | None:
        """The next line that says something."""
        while self._at < len(self._raw):
            raw = self._raw[self._at].rstrip("\r")
            text = raw.lstrip(" ")
            if text.strip() and not text.startswith("#"):
                return _Line(self._at + 1, len(raw) - len(text), text.rstrip())
            self._at += 1
        return None

    def _take_entry(self, into: dict[str, object], line: _Line, depth: int) -> None:
        """`key: value`, with whatever of the value stands on the lines below."""
        self._at = line.number
        found = _KEY.match(line.text)
        if found is None:
            raise _Unreadable("a name and a colon were expected")
        key = _scalar(found[1])
        name = "" if key is None else str(key)
        if name in into:  # of readers, some take the first, some the last, and some none
            self.problem = (
                self.problem or f"Line {line.number + 1}, in the front matter: the name {name!r} stands twice."
            )
        into[name] = self._value(line.text[found.end() :].strip(), line.indent, depth)

    def _value(self, written: str, indent: int, depth: int) -> object:
        """A value that begins on this line, or stands below it."""
        if depth > _MAX_DEPTH:
            raise _Unreadable("it is nested too deeply")
        if block := _BLOCK.fullmatch(written):
            return self._block(block[1] == "|", block[2], indent)
        written = _without_comment(written)
        if written:
            return self._inline(written, indent)
        below = self._peek()
        if below is None or below.indent < indent:
            return None
        if _is_item(below.text):
            return self._list(below.indent, depth) if below.indent >= indent else None
        return self._mapping(below.indent, depth) if below.indent > indent else None

    def _inline(self, written: str, indent: int) -> object:
        """A value on one line, or one that goes on below, further indented."""
        opened = written[0]
        if opened in "[{":
            while not _is_closed(written) and (more := self._continued(indent, closing="]}")) is not None:
                written += " " + _without_comment(more)
            return _Flow(written).read()
        if opened in "\"'":
            while not _is_quoted(written) and (more := self._continued(indent)) is not None:
                written += " " + more
            if not _is_quoted(written):
                raise _Unreadable("a quote is not closed")
            return _scalar(written)
        if _KEY.match(written):
            raise _Unreadable("a second colon; put the value in quotes")
        while (more := self._continued(indent)) is not None:
            written += " " + _without_comment(more)
        return _scalar(written)

    def _continued(self, indent: int, closing: str = "") -> str | None:
        """The next line, if it is indented further than this, or begins with what closes a value."""
        below = self._peek()
        if below is None or (below.indent <= indent and not (closing and below.text[0] in closing)):
            return None
        self._at = below.number
        return below.text

    def _mapping(self, indent: int, depth: int) -> dict[str, object]:
        into: dict[str, object] = {}
        while (line := self._peek()) is not None and line.indent == indent and not _is_item(line.text):
            self._take_entry(into, line, depth + 1)
        return into

    def _list(self, indent: int, depth: int) -> list[object]:
        into: list[object] = []
        while (line := self._peek()) is not None and line.indent == indent and _is_item(line.text):
            inside = line.text[1:].lstrip(" ")
            if _KEY.match(inside) and not inside.startswith(("[", "{")):
                # "- name: value": a mapping that begins on the line of its item
                further = indent + len(line.text) - len(inside)
                self._raw[line.number - 1] = " " * further + inside
                into.append(self._mapping(further, depth + 1))
            else:
                self._at = line.number
                into.append(self._value(inside, indent + 1, depth + 1))
        return into

    def _block(self, literal: bool, signs: str, indent: int) -> str:
        """The lines of `|` or `>`."""
        lines: list[str] = []
        width: int | None = None
        while self._at < len(self._raw):
            raw = self._raw[self._at].rstrip("\r")
            here = len(raw) - len(raw.lstrip(" "))
            if raw.strip():
                if here <= indent and not (indent == 0 and here > 0):
                    break
                width = here if width is None else min(width, here)
            lines.append(raw)
            self._at += 1
        while lines and not lines[-1].strip():
            lines.pop()
        cut = [line[width or 0 :] for line in lines]
        text = "\n".join(cut) if literal else _folded(cut)
        return text if "-" in signs or not text else text + "\n"


class _Flow:
    """Reads `[a, "b"]` and `{a: b}`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> object:
        value = self._value(0)
        if self._text[self._at :].strip():
            raise _Unreadable("something stands behind the closing bracket")
        return value

    def _value(self, depth: int) -> object:
        if depth > _MAX_DEPTH:
            raise _Unreadable("it is nested too deeply")
        self._skip()
        match self._text[self._at : self._at + 1]:
            case "[":
                return self._items(depth)
            case "{":
                return self._pairs(depth)
            case _:
                return self._word(",]}")

    def _items(self, depth: int) -> list[object]:
        into: list[object] = []
        self._at += 1
        while not self._closes("]"):
            into.append(self._value(depth + 1))
            self._comma("]")
        return into

    def _pairs(self, depth: int) -> dict[str, object]:
        into: dict[str, object] = {}
        self._at += 1
        while not self._closes("}"):
            key = self._word(":,}")
            self._skip()
            if self._text[self._at : self._at + 1] == ":":
                self._at += 1
                self._skip()
                is_empty = self._text[self._at : self._at + 1] in (",", "}")
                into[str(key)] = None if is_empty else self._value(depth + 1)
            else:
                into[str(key)] = None
            self._comma("}")
        return into

    def _word(self, ends: str) -> object:
        self._skip()
        start = self._at
        if (quote := self._text[start : start + 1]) in ("'", '"') and quote:
            found = re.compile(r'"(?:[^"\\]|\\.)*"' if quote == '"' else r"'(?:[^']|'')*'").match(self._text, start)
            if found is None:
                raise _Unreadable("a quote is not closed")
            self._at = found.end()
            return _scalar(found.group())
        while self._at < len(self._text) and self._text[self._at] not in ends:
            self._at += 1
        return _scalar(self._text[start : self._at].strip())

    def _comma(self, closing: str) -> None:
        self._skip()
        if self._text[self._at : self._at + 1] == ",":
            self._at += 1
        elif self._text[self._at : self._at + 1] != closing:
            raise _Unreadable("a bracket is not closed")

    def _closes(self, closing: str) -> bool:
        self._skip()
        if self._at >= len(self._text):
            raise _Unreadable("a bracket is not closed")
        if self._text[self._at] != closing:
            return False
        self._at += 1
        return True

    def _skip(self) -> None:
        while self._text[self._at : self._at + 1] in (" ", "\t", "\n") and self._at < len(self._text):
            self._at += 1


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _is_closed(text: str) -> bool:
    """Whether the brackets of a flow value are closed, those in quotes left out."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'', "", text)
    return bare.count("[") + bare.count("{") <= bare.count("]") + bare.count("}")


def _is_quoted(text: str) -> bool:
    pattern = r'"(?:[^"\\]|\\.)*"' if text[0] == '"' else r"'(?:[^']|'')*'"
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def _without_comment(text: str) -> str:
    """The text without a comment behind it; a `#` in quotes or within a word is none."""
    if "#" not in text:
        return text
    found = re.compile(r"(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|(?<!\s)#|[^#\"']|[\"'])*").match(text)
    return (found.group() if found else text).rstrip()


def _folded(lines: list[str]) -> str:
    """Lines as one, an empty line being a break."""
    text = ""
    for line in lines:
        if not line.strip():
            text += "\n"
        elif text and not text.endswith("\n"):
            text += " " + line
        else:
            text += line
    return text


def _scalar(text: str) -> object:
    """A plain or quoted value."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", _unescaped, text[1:-1], flags=re.DOTALL)
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _unescaped(found: re.Match[str]) -> str:
    what = found[1]
    if what[0] in "ux" and len(what) > 1:
        return chr(int(what[1:], 16))
    return _ESCAPES.get(what, what)
