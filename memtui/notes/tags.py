"""The tags of a note: those of its front matter, and `#tags` within the text."""

import re

from memtui.notes.front_matter import front_matter_of, properties_of
from memtui.notes.plain import without_code

_INLINE = re.compile(r"(?<![^\s(\[{>,;])#(?=[\w/-]*[^\W\d])([\w/-]+)")
_PARTED = re.compile(r"[,\s]+")
_NAMES = ("tags", "tag")


def tags_of(text: str) -> frozenset[str]:
    """The tags of a note as they are written, without `#`; what stands in code is none."""
    found = set(_declared(text))
    if "#" in text:
        body = without_code(text[front_matter_of(text).end :])
        found.update(tag.strip("/") for tag in _INLINE.findall(body))
    found.discard("")
    return frozenset(found)


def _declared(text: str) -> list[str]:
    """The tags of the front matter: a list, or words parted by commas or spaces."""
    properties = properties_of(text)
    tags: list[str] = []
    for name, value in properties.items():
        if name.casefold() not in _NAMES or value is None:
            continue
        if isinstance(value, list):
            tags += [str(one) for one in value if isinstance(one, str | int | float)]
        elif isinstance(value, str | int | float):
            tags += _PARTED.split(str(value))
    return [tag.strip().lstrip("#").strip("/") for tag in tags]
