"""Notes as URIs: `memory:///notes/today.md`. Pure, and exact both ways, whatever a name holds.

Each name is percent-encoded as its bytes, so that a name with a line feed, a control character or bytes that are no
text is a URI like any other, and none can be taken for a separator.
"""

import re
from urllib.parse import quote, unquote_to_bytes

from memtui.core.paths import MemoryPath

ROOT_URI = "memory:///"
TEMPLATE = "memory:///{+path}"
_START = re.compile("memory:///", re.IGNORECASE)
_LONGEST = 8_192


def uri_of(relative: str) -> str:
    """The URI of a path relative to the folder; `""` is the folder."""
    return ROOT_URI + "/".join(quote(part.encode("utf-8", "surrogateescape"), safe="") for part in relative.split("/"))


def place_of(uri: str) -> MemoryPath:
    """The place that a URI names, by one spelling or another.

    Raises:
        ValueError: It names none; the words say why.
    """
    match = _START.match(uri)
    if match is None or len(uri) > _LONGEST or "?" in uri or "#" in uri:
        raise ValueError("A memory's URI is memory:/// and its path, percent-encoded, such as memory:///notes/today.md")
    parts = tuple(_part(part) for part in uri[match.end() :].split("/") if part)
    return MemoryPath(parts)


def _part(encoded: str) -> str:
    try:
        name = unquote_to_bytes(encoded).decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        name = ""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise ValueError("That URI names nothing that can be in the memory folder.")
    return name
