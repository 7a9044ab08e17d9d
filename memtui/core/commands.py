"""The six commands as values, and their validation.

Input comes from a model, often cut off in mid-stream, so `parse_command` reads a raw mapping and trusts nothing in it.
Behind it every field has its type and every path is validated.
"""

from collections.abc import Mapping
from typing import NamedTuple

from memtui.core.errors import Refusal
from memtui.core.lazy_dataclass import dataclass
from memtui.core.messages import MessageKey, quote_value
from memtui.core.paths import ROOT, MemoryPath, is_root_path, parse_path


@dataclass(frozen=True, slots=True)
class View:
    """Show a file or a directory; `view_range` is as given, still to be validated against the file, `None` for all."""

    path: MemoryPath
    view_range: object = None


@dataclass(frozen=True, slots=True)
class Create:
    """Write a whole file."""

    path: MemoryPath
    file_text: str


@dataclass(frozen=True, slots=True)
class StrReplace:
    """Replace a text that stands once in a file."""

    path: MemoryPath
    old_str: str
    new_str: str


@dataclass(frozen=True, slots=True)
class Insert:
    """Put a text after a line; line 0 is the top."""

    path: MemoryPath
    insert_line: int
    insert_text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a file, a link, or a directory with all below it."""

    path: MemoryPath


@dataclass(frozen=True, slots=True)
class Rename:
    """Move a file or directory to a name that is free."""

    old_path: MemoryPath
    new_path: MemoryPath


Command = View | Create | StrReplace | Insert | Delete | Rename
ChangeCommand = Create | StrReplace | Insert | Delete | Rename
"""The commands that write."""

FIELDS: Mapping[str, tuple[str, ...]] = {
    "view": ("path", "view_range"),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str", "new_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
ALIASES: Mapping[tuple[str, str], str] = {("insert", "insert_text"): "new_str", ("rename", "old_path"): "path"}
"""Other names that models use for a field, by command and canonical name."""

RECORDED_CHARACTERS = 16_384
"""The most that the journal keeps of a text in a command's input; what was written is kept whole, as a version."""

RECORDED_BYTES = 65_536
"""The most that the journal keeps of a command's input, as JSON."""
_SHORT = 1_024

_ABSENT = object()


class ParsedCommand(NamedTuple):
    """A command, and which aliases its sender used."""

    command: Command
    aliases: tuple[str, ...]


def parse_command(raw: object) -> ParsedCommand:
    """Make a command of a caller's input, of any type; raises `Refusal` (CONTRACT.md, "Inputs" and "Paths")."""
    if not isinstance(raw, Mapping):
        raise Refusal(MessageKey.NOT_A_MAPPING)
    name = raw.get("command", _ABSENT)
    if name is _ABSENT:
        raise Refusal(MessageKey.NOT_A_MAPPING)
    if not isinstance(name, str) or name not in FIELDS:
        raise Refusal(MessageKey.UNKNOWN_COMMAND, command=quote_value(name))
    fields = _FieldReader(name, raw)
    return ParsedCommand(_build_command(name, fields), tuple(fields.aliases))


def _build_command(name: str, fields: "_FieldReader") -> Command:
    match name:
        case "view":
            return View(fields.get_path("path"), fields.get_optional("view_range"))
        case "create":
            path, file_text = fields.get_required("path"), fields.get_text("file_text")
            return Create(parse_path(path, making=True), file_text)
        case "str_replace":
            path, old_str = fields.get_required("path"), fields.get_text("old_str")
            new_str = "" if fields.get_optional("new_str") is None else fields.get_text("new_str")
            replacement = StrReplace(parse_path(path), old_str, new_str)
            if not old_str:
                raise Refusal(MessageKey.EMPTY_OLD_STR)
            return replacement
        case "insert":
            path, line = fields.get_required("path"), fields.get_integer("insert_line")
            return Insert(parse_path(path), line, fields.get_text("insert_text"))
        case "delete":
            path = fields.get_required("path")
            return Delete(ROOT if is_root_path(path) else parse_path(path))
        case _:
            old_path, new_path = fields.get_required("old_path"), fields.get_required("new_path")
            return Rename(ROOT if is_root_path(old_path) else parse_path(old_path), parse_path(new_path, making=True))


class _FieldReader:
    """Reads one mapping's fields, noting the aliases used."""

    def __init__(self, command: str, raw: Mapping[object, object]) -> None:
        self._command = command
        self._raw = raw
        self.aliases: list[str] = []

    def get_optional(self, field: str) -> object:
        return self._raw.get(field)

    def get_required(self, field: str) -> object:
        value = self._raw.get(field, _ABSENT)
        alias = ALIASES.get((self._command, field))
        if (value is _ABSENT or value is None) and alias is not None and alias in self._raw:
            self.aliases.append(alias)
            value = self._raw[alias]
        if value is _ABSENT:
            raise Refusal(MessageKey.FIELD_MISSING, field=field, command=self._command)
        return value

    def get_path(self, field: str) -> MemoryPath:
        return parse_path(self.get_required(field))

    def get_text(self, field: str) -> str:
        value = self.get_required(field)
        if not isinstance(value, str):
            raise Refusal(MessageKey.NOT_A_STRING, field=field)
        if not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise Refusal(MessageKey.NOT_UNICODE, field=field) from None
        return value

    def get_integer(self, field: str) -> int:
        value = self.get_required(field)
        number = as_integer(value)
        if number is None:
            raise Refusal(MessageKey.NOT_AN_INTEGER, field=field, value=quote_value(value))
        return number


def as_integer(value: object) -> int | None:
    """The integer that a JSON value is: an `int` or an integral `float`, never a `bool` or a `str`."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def filter_arguments(raw: object) -> dict[str, object]:
    """What the journal keeps of an input: the fields that the command has, and no others.

    A `create` that is applied is kept as its version; see the engine.
    """
    if not isinstance(raw, Mapping):
        return {"input": quote_value(raw)}
    name = raw.get("command")
    if not isinstance(name, str) or name not in FIELDS:
        return {"command": quote_value(name)}
    names = {"command", *FIELDS[name], *(ALIASES.get((name, field), field) for field in FIELDS[name])}
    return {field: _truncate(raw[field], RECORDED_CHARACTERS) for field in names if field in raw}


def encode_arguments(recorded: Mapping[str, object]) -> str:
    """What the journal keeps of an input as JSON, never longer than `RECORDED_BYTES`."""
    import json  # noqa: PLC0415 - start-up: not before the first paint

    for kept in (recorded, {field: _truncate(value, _SHORT) for field, value in recorded.items()}):
        try:
            text = json.dumps(kept, ensure_ascii=True, sort_keys=True)
        except (TypeError, ValueError, RecursionError):
            break
        if len(text) <= RECORDED_BYTES:
            return text
    return json.dumps(quote_value(recorded), ensure_ascii=True)


def _truncate(value: object, limit: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit]}[... {len(value) - limit:,} more characters]"
    if isinstance(value, list | tuple | dict) and _estimate_length(value, limit) > limit:
        return f"[{type(value).__name__} of {len(value):,}, too large to keep]"
    return value


def _estimate_length(value: object, limit: int) -> int:
    """About how many characters a value takes, counted no further than a limit."""
    total = 0
    todo = [value]
    while todo and total <= limit:
        each = todo.pop()
        total += 1 + (len(each) if isinstance(each, str | list | tuple | dict) else 20)
        if total <= limit and isinstance(each, dict):
            todo += (*each.keys(), *each.values())
        elif total <= limit and isinstance(each, list | tuple):
            todo += each
    return total
