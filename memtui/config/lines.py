"""On which line of a TOML file each thing stands.

Python's parser tells the values and not where they were; a person whose setting is wrong wants the line. It is only
asked about files that the parser has read, so whatever is not understood here is merely not found.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence

_TOKEN = re.compile(
    r"(?P<text>\"\"\"(?:\\.|[^\\])*?\"{3,5}|'''.*?'{3,5}|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')"
    r"|(?P<skip>\#[^\n]*|[ \t\r]+)|(?P<end>\n)|(?P<sign>[\[\]{}=.,])|(?P<bare>[^\s\[\]{}=.,\"'\#]+|.)",
    re.DOTALL,
)
Name = tuple[str, ...]


def lines_of(text: str) -> Mapping[Name, int]:
    """The lines, counted from 1, of all tables and keys outside of inline tables, by their full names.

    Of an array of tables each one's name ends with its number, from 0.
    """
    found: dict[Name, int] = {}
    table: Name = ()
    line = first = 1
    depth = 0
    statement: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(text + "\n"):
        kind, held = match.lastgroup or "", match.group()
        if kind == "end" and depth <= 0:
            table = _take(statement, table, first, found)
            statement, depth = [], 0
        elif kind in ("text", "sign", "bare"):
            first = first if statement else line
            statement.append((kind, held))
            depth += (held in ("[", "{")) - (held in ("]", "}")) if kind == "sign" else 0
        line += held.count("\n")
    return found


def line_of(lines: Mapping[Name, int], name: Name) -> int | None:
    """Where a thing stands, or else what it is in."""
    for length in range(len(name), 0, -1):
        if (line := lines.get(name[:length])) is not None:
            return line
    return None


def _take(statement: Sequence[tuple[str, str]], table: Name, line: int, found: dict[Name, int]) -> Name:
    """Note down what a statement names; returns the table that later ones are in."""
    if not statement:
        return table
    if statement[0] == ("sign", "["):
        name = _name([each for each in statement if each[1] not in ("[", "]")])
        found.setdefault(name, line)
        if statement[1:2] == [("sign", "[")]:  # one of many: they are told apart by their numbers
            number = 0
            while (*name, str(number)) in found:
                number += 1
            name = (*name, str(number))
            found[name] = line
        return name
    if ("sign", "=") in statement:
        name = (*table, *_name(statement[: statement.index(("sign", "="))]))
        for length in range(len(table) + 1, len(name) + 1):
            found.setdefault(name[:length], line)
    return table


def _name(tokens: Sequence[tuple[str, str]]) -> Name:
    return tuple(_plain(kind, held) for kind, held in tokens if kind != "sign")


def _plain(kind: str, held: str) -> str:
    return str(tomllib.loads(f"name = {held}")["name"]) if kind == "text" else held
