"""Writes a property of a note's front matter, or into a list of it; all other bytes stay as they are.

Each edit is read back: where the front matter does not say exactly what it said before and the new value, nothing is
written. So a form of YAML that is not foreseen here is refused, and never damaged.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence

from memtui.core.unicode import to_one_line
from memtui.notes.front_matter import find_front_matter_end, parse_front_matter

_PLAIN = re.compile(r"[^\W\d_](?:[\w./-]| (?=\w))*")
"""A value that needs no quotes, in a line as well as in brackets."""
_KEYWORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_LAST_LINE = re.compile(r"(?:---|\.\.\.)[ \t]*\r?\n?\Z")
_MARK = "node_type"
"""What Claude Code writes first below `metadata`."""
_MARKED = re.compile(rf"^(?P<indent>[ ]+){_MARK}:[^\r\n]*(?P<end>\r?\n)", re.MULTILINE)
_ITEM = re.compile(r"([ \t]*)- ")


def set_property(text: str, name: str, value: str) -> str | None:
    """A note with a new property in its front matter, which is made if there is none.

    Where Claude Code keeps properties below `metadata`, so does this.

    Args:
        name: A plain word, such as `type`.

    Returns:
        The text; `None` where there is such a property, or the front matter cannot be read or written.
    """
    properties = parse_front_matter(text).properties
    metadata = properties.get("metadata")
    if name in properties or (isinstance(metadata, dict) and name in metadata):
        return None
    line = f"{name}: {_quote(value)}"
    if isinstance(metadata, dict) and _MARK in metadata:
        return _check(text, _insert_below(text, line), {**properties, "metadata": {**metadata, name: value}})
    return _check(text, _insert_line(text, line), {**properties, name: value})


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
    written = _write_values(lines, name, more, feed, is_there=name in before)
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


def _write_values(
    lines: Sequence[str], name: str, more: Sequence[str], feed: str, *, is_there: bool
) -> list[str] | None:
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


def _insert_line(text: str, line: str) -> str | None:
    """The text with one more line at the end of its front matter."""
    newline = "\r\n" if "\r\n" in text.partition("\n")[0] + "\n" else "\n"
    end = find_front_matter_end(text)
    if end:
        border = _LAST_LINE.search(text[:end])
        return text[: border.start()] + line + newline + text[border.start() :] if border is not None else None
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text[len(mark) :]
    if body.startswith("---"):
        return None  # a rule, or front matter that is not closed
    blank = "" if body.startswith(("\n", "\r")) else newline
    return f"{mark}---{newline}{line}{newline}---{newline}{blank}{body}"


def _insert_below(text: str, line: str) -> str | None:
    """The text with one more line below the mark of Claude Code."""
    mark = _MARKED.search(text, 0, find_front_matter_end(text))
    return text[: mark.end()] + mark["indent"] + line + mark["end"] + text[mark.end() :] if mark is not None else None


def _check(text: str, edited: str | None, wanted: dict[str, object]) -> str | None:
    """The edited text, if it says what is wanted and nothing else."""
    if edited is None or parse_front_matter(text).problem:
        return None
    after = parse_front_matter(edited)
    return edited if after.properties == wanted and not after.problem else None


def _quote(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.casefold() not in _KEYWORDS:
        return value
    return json.dumps(value, ensure_ascii=to_one_line(value) != value)
