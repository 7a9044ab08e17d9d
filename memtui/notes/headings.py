"""The headings of a note, as links name them behind `#`."""

import re
import unicodedata

from memtui.notes.front_matter import front_matter_of
from memtui.notes.plain import without_code

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.{1,400}?)[ \t#]*$", re.MULTILINE)
_UNDERLINED = re.compile(r"^(?![ \t]*[-=#>*+|])(.{1,400})\n {0,3}(?:=+|-{2,})[ \t]*$", re.MULTILINE)


def line_of(text: str, fragment: str) -> int | None:
    """The line, from 1, that a link's fragment names; `None` if there is none.

    A heading is named by its words, by the words of the headings above it and its own (`Plan#Risks`), or as it becomes
    an anchor (`open-questions`); a block by its mark (`^abc`).
    """
    if not fragment:
        return None
    if fragment.startswith("^"):
        found = re.search(rf"(?:^|\s){re.escape(fragment)}[ \t]*$", text, re.MULTILINE)
        return text.count("\n", 0, found.end()) + 1 if found else None
    end = front_matter_of(text).end
    body = re.sub(r"[^\n]", " ", text[:end]) + without_code(text)[end:]
    wanted = {_slug(fragment), _slug(fragment.rpartition("#")[2])}
    headings = sorted((found.start(1), found[1]) for kind in (_HEADING, _UNDERLINED) for found in kind.finditer(body))
    for start, heading in headings:
        if _slug(heading) in wanted:
            return text.count("\n", 0, start) + 1
    return None


def _slug(heading: str) -> str:
    """A heading as an anchor: its letters and digits, in lower case, with hyphens between them."""
    plain = unicodedata.normalize("NFKC", heading).casefold()
    return "-".join(re.findall(r"[^\W_]+", plain))
