"""Which note a link means, by the rules of the agent whose folder it is.

A name may be that of a file, a title, an alias, a permalink or a path. Programs differ in what they try first: most
look for the file, Basic Memory for the permalink and the title. Where several notes are equally near, the link is
ambiguous, and all of them are named.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterator

from memtui.knowledge.model import ParsedNote
from memtui.notes.links import Link, LinkTargets, make_link_key, strip_note_kind

BASIC_MEMORY = "basic-memory"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_WORD = re.compile(r"[^\w/.-]+|_")
_IS_PERMALINK = re.compile(r"[a-z0-9.]++(?:[/-][a-z0-9.]++)*+")
_HYPHENS = re.compile(r"-{2,}")


class NoteNames:
    """The names of all notes of a folder.

    Args:
        dialect: The name of the kind of folder; empty for none in particular.
    """

    def __init__(self, dialect: str = "") -> None:
        self._is_basic = dialect == BASIC_MEMORY
        self._targets = LinkTargets(())
        self._by_permalink: dict[str, list[str]] = {}
        self._by_exact_title: dict[str, list[str]] = {}

    def add(self, path: str, note: ParsedNote | None) -> None:
        """Add a file, which is not there yet, and the note in it."""
        self._targets.add(path, note.names if note is not None else ())
        self._by_permalink.setdefault(_get_permalink(path, note), []).append(path)
        if note is not None:
            self._by_exact_title.setdefault(note.title, []).append(path)

    def remove(self, path: str, note: ParsedNote | None) -> None:
        """Remove what was added."""
        self._targets.remove(path, note.names if note is not None else ())
        self._by_permalink[_get_permalink(path, note)].remove(path)
        if note is not None:
            self._by_exact_title[note.title].remove(path)

    def resolve(self, link: Link, source: str) -> tuple[str, ...]:
        """The notes that a link may mean, the nearest one first: none, one, or several where it is ambiguous."""
        if link.kind == "wiki" and link.path and not link.path.startswith(("./", "../")):
            if self._is_basic and (found := self._resolve_basic(link, source)):
                return found
            return self._targets.find_all(link, source) or tuple(self.find_permalink(link.path))
        return self._targets.find_all(link, source)

    def _resolve_basic(self, link: Link, source: str) -> tuple[str, ...]:
        """In Basic Memory's order: a path from here, then permalinks and titles; paths are for the others as well."""
        wanted = (link.path or "").replace("::", "/", 1)
        here = source.rpartition("/")[0]
        if "/" in wanted and here:
            beside = self._targets.find_at(posixpath.join(here, wanted))
            if beside is not None:
                return (beside,)
        found = list(dict.fromkeys([*self.find_permalink(wanted), *self._by_exact_title.get(wanted, ())]))
        near = [path for path in found if path.rpartition("/")[0] == here]
        return (near[0],) if len(near) == 1 else tuple(sorted(found, key=lambda path: (path.count("/"), path)))

    def find_permalink(self, wanted: str) -> list[str]:
        """The notes of a permalink, declared or made of their paths."""
        plain = wanted.strip("/")
        return self._by_permalink.get(plain) or self._by_permalink.get(make_permalink(plain), [])


def make_permalink(path: str) -> str:
    """The permalink of a path, as Basic Memory makes one: lower case, hyphens between words, folders kept.

    Latin letters lose their accents. Letters of other scripts stay, where Basic Memory spells some in Latin ones.
    """
    if _IS_PERMALINK.fullmatch(path):
        return path.removesuffix(".md")
    plain = unicodedata.normalize("NFC", path)
    plain = plain[: -len(".md")] if plain.casefold().endswith(".md") else plain
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFD", plain)
        plain = unicodedata.normalize("NFC", "".join(each for each in decomposed if not "\u0300" <= each <= "\u036f"))
    plain = _HUMP.sub("-", plain).lower().replace("'", "")
    plain = _HYPHENS.sub("-", _NO_WORD.sub("-", plain))
    return "/".join(part.strip("-") for part in plain.split("/"))


def _get_permalink(path: str, note: ParsedNote | None) -> str:
    """The permalink of a note: as it declares it, or made of its path."""
    return (note.permalink.strip("/") if note is not None else "") or make_permalink(path)


def list_note_keys(path: str, note: ParsedNote | None) -> set[str]:
    """The keys under which links may mean a note."""
    names = {path, path.rpartition(".")[0], _get_permalink(path, note), *(note.names if note is not None else ())}
    keys = set(map(make_link_key, names))
    keys |= set(map(strip_note_kind, keys))
    keys.add(path.casefold().rpartition("/")[2])
    return keys


def iter_link_keys(link: Link) -> Iterator[str]:
    """The keys of what a link may mean: where none of them gains or loses a note, it means what it meant."""
    if link.path:
        yield make_link_key(link.path)
        if link.kind == "wiki":
            yield make_link_key(make_permalink(link.path))
