"""Which files are notes that somebody wrote in sentences, and where things stand in them."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from memtui.audit.subject import Note, Subject
from memtui.notes.front_matter import end_of
from memtui.notes.index import is_index
from memtui.notes.kinds import format_of

_PROSE = frozenset({"md", "txt"})
_WORDS_OF_OLD = """
archive archived archives history old log logs journal journals diary session sessions daily changelog meeting meetings
decisions adr backup backups template templates example examples tmp trash
"""
_OLD = frozenset(_WORDS_OF_OLD.split())
DATED = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_./]?(?:0[1-9]|1[0-2])(?:[-_./]?\d\d)?)?(?!\d)")
"""A year, a month or a day."""
_LOADED = frozenset({"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"})


def prose(subject: Subject) -> Iterator[tuple[Note, str]]:
    """The notes in sentences and their texts, in order; hidden ones are none."""
    for note in subject.notes.values():
        if is_prose(note.path) and (text := note.text) is not None:
            yield note, text


def is_prose(path: str) -> bool:
    """Whether a file is a note in sentences by its name, and not a hidden one."""
    return format_of(path) in _PROSE and not is_hidden(path)


def is_hidden(path: str) -> bool:
    """Whether a file, or a directory that it is in, is hidden."""
    return path.startswith(".") or "/." in path


def is_loaded_unasked(path: str) -> bool:
    """Whether a file is given to every session, so that nobody is ever seen to read it."""
    return is_index(path) or path.rpartition("/")[2] in _LOADED


def is_of_its_time(path: str) -> bool:
    """Whether a note tells of a day, or of the past, by its name or its directory: it need not hold today."""
    return bool(DATED.search(path) or _OLD & set(re.split(r"[\W_]+", path.casefold())))


def body_of(text: str) -> str:
    """What a note says below its front matter."""
    return text[end_of(text) :]


class Lines:
    """Turns lines and columns into characters of a text, for many places in one text."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def at(self, line: int, column: int = 0) -> int:
        """The character at a column, from 0, of a line, from 1."""
        return self._starts[line - 1] + column

    def line_of(self, at: int) -> int:
        """The line, from 1, that a character is in."""
        return bisect_right(self._starts, at)
