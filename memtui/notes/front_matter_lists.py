"""Add values to a list of a note's front matter, in the form in which it is written; nothing else there changes."""

import json
import re
from collections.abc import Collection, Mapping, Sequence

from memtui.notes.front_matter import find_front_matter_end, parse_front_matter

_PLAIN = re.compile(r"[^\W\d_](?:[\w./-]| (?=\w))*")
"""A value that needs no quotes, in a line as well as in brackets."""
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})
_ITEM = re.compile(r"([ \t]*)- ")


def add_to_list(text: str, name: str, values: Collection[str]) -> str:
    """A note whose front matter names some more values, as far as that can be written without doubt.

    A note without front matter is given some; one whose entry is written in another form than a list in brackets, a
    list of lines or one word stays as it is.

    Args:
        text: The note.
        name: Of the entry, such as `tags`.
        values: Those that are there already are not added.
    """
    end = find_front_matter_end(text)
    before = dict(parse_front_matter(text).properties)
    known = _read_values(before, name)
    more = [value for value in dict.fromkeys(values) if value not in known]
    if not more:
        return text
    lines = text[:end].split("\n")
    feed = "\r" if lines[0].endswith("\r") or (not end and "\r\n" in text) else ""
    if not end:
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        lines = [f"{mark}---{feed}", f"---{feed}", ""]
    written = _write(lines, name, more, feed, is_there=name in before)
    if written is None:
        return text
    changed = "\n".join(written) + (text[end:] if end else text.removeprefix("\ufeff"))
    after = parse_front_matter(changed)
    expected = {**before, name: [*known, *more]}
    is_right = not after.problem and {**after.properties, name: _read_values(after.properties, name)} == expected
    return changed if is_right else text


def _read_values(properties: Mapping[str, object], name: str) -> list[object]:
    value = properties.get(name)
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _write(lines: Sequence[str], name: str, more: Sequence[str], feed: str, *, is_there: bool) -> list[str] | None:
    """The lines of the front matter with more values; `None` where its form is another one."""
    quoted = [_quote(value) for value in more]
    last = max(number for number, line in enumerate(lines) if line.strip())  # the border
    if not is_there:
        return [*lines[:last], f"{name}:{feed}", *(f"- {value}{feed}" for value in quoted), *lines[last:]]
    at = next((number for number, line in enumerate(lines) if line.startswith(f"{name}:")), None)
    if at is None:
        return None
    value = lines[at].partition(":")[2].strip()
    if value.startswith("[") and value.endswith("]"):
        inside = value[1:-1].strip().rstrip(",")
        return [*lines[:at], f"{name}: [{', '.join(filter(None, (inside, *quoted)))}]{feed}", *lines[at + 1 :]]
    if _PLAIN.fullmatch(value) and " " not in value:
        return [*lines[:at], f"{name}: [{', '.join((value, *quoted))}]{feed}", *lines[at + 1 :]]
    if value:
        return None
    end = at + 1
    indent = ""
    while end < last and (item := _ITEM.match(lines[end])) is not None:
        indent = item[1]
        end += 1
    return [*lines[:end], *(f"{indent}- {value}{feed}" for value in quoted), *lines[end:]]


def _quote(value: str) -> str:
    is_plain = _PLAIN.fullmatch(value) and value.casefold() not in _WORDS
    return value if is_plain else json.dumps(value, ensure_ascii=False)
