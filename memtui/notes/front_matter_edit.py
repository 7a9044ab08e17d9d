"""Writes one property into the front matter of a note; all other bytes stay as they are.

Each edit is read back: where the front matter does not say exactly what it said before and the new value, nothing is
written. So a form of YAML that is not foreseen here is refused, and never damaged.
"""

import re
from collections.abc import Iterator

from memtui.core.unicode import to_one_line
from memtui.notes.front_matter import find_front_matter_end, parse_front_matter

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_/-]*")
_KEYWORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_LAST_LINE = re.compile(r"(?:---|\.\.\.)[ \t]*\r?\n?\Z")
_MARK = "node_type"
"""What Claude Code writes first below `metadata`."""
_MARKED = re.compile(rf"^(?P<indent>[ ]+){_MARK}:[^\r\n]*(?P<end>\r?\n)", re.MULTILINE)
_FLOW = re.compile(r"(?P<start>tags[ \t]*:[ \t]*\[)(?P<items>[^\[\]{}#\"'\r\n]*)\][ \t]*\r?\Z")
_EMPTY = re.compile(r"tags[ \t]*:[ \t]*\r?\Z")
_ITEM = re.compile(r"(?P<indent>[ \t]*-[ \t]+)[^\r\n]*\r?\Z")


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


def add_tag(text: str, tag: str) -> str | None:
    """A note with one more tag in its front matter; `None` as for `set_property`, and where it has the tag.

    Args:
        tag: Without `#`.
    """
    before = parse_front_matter(text)
    tags = before.properties.get("tags")
    if tags is None and "tags" not in before.properties:
        edited = _insert_line(text, f"tags: [{_quote(tag)}]")
        return _check(text, edited, {**before.properties, "tags": [tag]})
    if not isinstance(tags, list) or tag in tags:
        return None
    wanted = {**before.properties, "tags": [*tags, tag]}
    return next(
        (edited for each in _list_with_tag(text, _quote(tag)) if (edited := _check(text, each, wanted)) is not None),
        None,
    )


def _list_with_tag(text: str, written: str) -> Iterator[str]:
    """The text with one more item in its list of tags, if it is in brackets or one item a line."""
    end = find_front_matter_end(text)
    lines = text[:end].split("\n")
    for at, line in enumerate(lines):
        if (flow := _FLOW.match(line)) is not None:
            items = flow["items"].rstrip()
            joined = f"{items}{', ' if items.strip() else ''}{written}"
            edited = flow["start"] + joined + line[flow.end("items") :]
            yield "\n".join([*lines[:at], edited, *lines[at + 1 :]]) + text[end:]
        elif _EMPTY.match(line) is not None:
            last = at
            while last + 1 < len(lines) and _ITEM.match(lines[last + 1]) is not None:
                last += 1
            item = _ITEM.match(lines[last]) if last > at else None
            if item is not None:
                new = item["indent"] + written + ("\r" if lines[last].endswith("\r") else "")
                yield "\n".join([*lines[: last + 1], new, *lines[last + 1 :]]) + text[end:]


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


def _quote(word: str) -> str:
    if _PLAIN.fullmatch(word) and word.casefold() not in _KEYWORDS:
        return word
    return '"' + to_one_line(word).replace("\\", "\\\\").replace('"', '\\"') + '"'
